//! Who watches: many observers, one controller, none of them ever waited for.

use std::time::Duration;

use base64::Engine as _;
use edgeplane_wire::{
    api::{stream::StreamState, terminal::AttachOutput},
    rpc,
};
use tokio::time::Instant;

use crate::outbound::{NotSent, Outbound};

/// How often a viewer that fell behind is looked at again.
const RESYNCHRONISE_PERIOD: Duration = Duration::from_millis(20);

/// Most viewers of one agent.
pub(super) const VIEWERS_MAX: usize = 64;

/// Most bytes of output in one line to a viewer.
const CHUNK_BYTES_MAX: usize = 64 << 10;

/// One viewer.
#[derive(Debug)]
pub(super) struct Viewer {
    pub(super) attachment: String,
    pub(super) control: bool,
    outbound: Outbound,
    /// Whether it missed output and needs the whole screen.
    behind: bool,
}

/// Everybody who watches an agent.
#[derive(Debug, Default)]
pub(super) struct Viewers {
    list: Vec<Viewer>,
    gone: Vec<String>,
    /// When those that fell behind or left are to be looked at. It stands still until then, however busy the agent.
    look_at: Option<Instant>,
}

pub(super) fn base64(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

fn output_line(attachment: &str, offset: u64, bytes: &[u8], resynchronised: bool) -> Vec<u8> {
    let output =
        AttachOutput { attachment: attachment.to_owned(), offset, data: base64(bytes), resynchronised };
    rpc::notification("attach/output", output)
}

fn state_line(id: &str, state: &str, reason: &str) -> Vec<u8> {
    let (id, state, reason) = (id.to_owned(), state.to_owned(), Some(reason.to_owned()));
    let state = StreamState { id, state, reason, repaired: None };
    rpc::notification("stream/state", state)
}

impl Viewers {
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn add(&mut self, attachment: String, control: bool, outbound: Outbound) {
        self.list.push(Viewer { attachment, control, outbound, behind: false });
    }

    pub(super) fn find(&self, attachment: &str) -> Option<&Viewer> {
        self.list.iter().find(|viewer| viewer.attachment == attachment)
    }

    pub(super) fn controller(&self) -> Option<&Viewer> {
        self.list.iter().find(|viewer| viewer.control)
    }

    /// Makes the controller an observer and tells it.
    pub(super) fn depose(&mut self) {
        for viewer in self.list.iter_mut().filter(|viewer| viewer.control) {
            viewer.control = false;
            let line = state_line(&viewer.attachment, "observing", "somebody else took the control");
            // A viewer that is behind learns it when it types.
            drop(viewer.outbound.offer(line));
        }
    }

    pub(super) fn remove(&mut self, attachment: &str) -> bool {
        let before = self.list.len();
        self.list.retain(|viewer| viewer.attachment != attachment);
        self.list.len() < before
    }

    /// Gives live output to everyone who can take it now.
    pub(super) fn show(&mut self, offset: u64, bytes: &[u8]) {
        for viewer in self.list.iter_mut().filter(|viewer| !viewer.behind) {
            let mut at = offset;
            for chunk in bytes.chunks(CHUNK_BYTES_MAX) {
                match viewer.outbound.offer(output_line(&viewer.attachment, at, chunk, false)) {
                    Ok(()) => at = at.saturating_add(u64::try_from(chunk.len()).unwrap_or(u64::MAX)),
                    Err(NotSent::Full) => {
                        viewer.behind = true;
                        break;
                    }
                    Err(NotSent::Gone) => {
                        self.gone.push(viewer.attachment.clone());
                        break;
                    }
                }
            }
        }
        self.plan();
    }

    /// Whether somebody has seen everything so far.
    pub(super) fn follow_live(&self) -> bool {
        self.list.iter().any(|viewer| !viewer.behind)
    }

    /// Whether anybody is attached.
    pub(super) fn are_there(&self) -> bool {
        !self.list.is_empty()
    }

    /// Output went by that nobody was shown.
    pub(super) fn missed(&mut self) {
        for viewer in &mut self.list {
            viewer.behind = true;
        }
        self.plan();
    }

    /// Plans a look, unless there is nothing to look at or it is planned already.
    pub(super) fn plan(&mut self) {
        let busy = !self.gone.is_empty() || self.list.iter().any(|viewer| viewer.behind);
        if busy && self.look_at.is_none() {
            self.look_at = Some(Instant::now() + RESYNCHRONISE_PERIOD);
        }
    }

    /// The planned look has been taken.
    pub(super) fn looked_at(&mut self) {
        self.look_at = None;
    }

    /// When the viewers that are behind are to be looked at.
    pub(super) fn timer(&self) -> Option<Instant> {
        self.look_at
    }

    /// Whether somebody who is behind can take a screen now.
    pub(super) fn wants_screen(&self) -> bool {
        self.list.iter().any(|viewer| viewer.behind && viewer.outbound.has_drained())
    }

    /// Gives the screen to those who were behind and have room.
    pub(super) fn resynchronise(&mut self, offset: u64, screen: &[u8]) {
        for viewer in self.list.iter_mut().filter(|viewer| viewer.behind && viewer.outbound.has_drained()) {
            let line = output_line(&viewer.attachment, offset, screen, true);
            viewer.behind = viewer.outbound.offer(line).is_err();
        }
    }

    /// Attachments whose connection is gone.
    pub(super) fn take_gone(&mut self) -> Vec<String> {
        for viewer in self.list.iter().filter(|viewer| viewer.outbound.is_gone()) {
            self.gone.push(viewer.attachment.clone());
        }
        let mut gone = std::mem::take(&mut self.gone);
        gone.sort_unstable();
        gone.dedup();
        gone
    }

    /// Ends every attachment and says why.
    pub(super) fn end_all(&mut self, reason: &str) {
        for viewer in self.list.drain(..) {
            let line = state_line(&viewer.attachment, "ended", reason);
            let outbound = viewer.outbound;
            if outbound.offer(line.clone()) == Err(NotSent::Full) {
                // The last word waits for its reader, not the engine for it.
                tokio::spawn(async move { drop(outbound.send(line).await) });
            }
        }
    }
}
