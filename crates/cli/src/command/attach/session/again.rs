//! An attachment whose node went away, and what of the output did not come live.
//!
//! Owns the way back: look for a node, attach anew, read from the recording what was printed meanwhile, go on at the
//! very byte. All of it happens in the session's own loop, so the keys that leave work at every moment.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use edgeplane_client::CallError;
use edgeplane_os::{sock, wait::Deadline};
use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::terminal::{AttachParams, AttachResult, RecordingParams, RecordingResult},
    rpc::RpcError,
};
use serde_json::value::RawValue;

use super::{End, Input, Link, QUIET_AT_END, Session};
use crate::{
    command::{
        attach::wire,
        recording::{self, PAGE_BYTES},
    },
    lasting::{BACK, GONE, Loss, is_nobody_there},
    node::{Node, Patience},
    output,
    quantity::{counted, missing_output},
    terminal::filter::{Filter, Viewer},
    token,
};

/// How long a node that takes connections may take to answer a greeting.
const GREETING_TIME: Duration = Duration::from_secs(5);

/// Output up to this much is read back although a new screen would do; a screen shows no more than the end of it.
const READ_BACK_BYTES_MAX: u64 = PAGE_BYTES;

/// How an attachment stands with the node.
#[derive(Debug)]
pub(super) enum Standing {
    /// Output comes live.
    Live,
    /// Attached; what did not come live is read from the recording.
    Behind { request: i64, gap: Gap },
    /// Nobody listens; due for the next look.
    Away { due: Deadline },
    /// Connected, and asked to attach.
    Asking { request: i64 },
    /// The agent takes no viewers now: the recording tells whether its epoch is over.
    Judging { request: i64 },
    /// It is not over; due for asking again.
    Refused { due: Deadline },
}

/// Output that is missing between what was played and what comes live.
#[derive(Debug)]
pub(super) struct Gap {
    /// Where live output had come to.
    goal: u64,
    /// The screen at an offset, to be shown once everything before it was played.
    screen: Option<(u64, Vec<u8>)>,
}

impl Session {
    /// Whether there is an attachment to type into.
    pub(super) fn is_attached(&self) -> bool {
        matches!(self.standing, Standing::Live | Standing::Behind { .. })
    }

    /// Whether there is a connection.
    pub(super) fn is_connected(&self) -> bool {
        !matches!(self.standing, Standing::Away { .. })
    }

    /// When to look or to ask again.
    pub(super) fn again_due(&self) -> Option<Deadline> {
        match self.standing {
            Standing::Away { due } | Standing::Refused { due } => Some(due),
            _ => None,
        }
    }

    /// The node is gone: from here on it is waited for, unless nobody wants that.
    pub(super) fn lost(&mut self) -> Option<End> {
        if self.plan.loss == Loss::Ends {
            return Some(End::NodeGone);
        }
        if !std::mem::replace(&mut self.was_lost, true) {
            let unknown = self.paste.as_ref().filter(|paste| paste.retry_due.is_none());
            let keys = unknown.map(|paste| {
                format!(
                    "; the {} pasted last may not be typed",
                    counted(u64::try_from(paste.bytes.len()).unwrap_or(u64::MAX), "byte")
                )
            });
            self.say(&format!("{GONE}{}", keys.unwrap_or_default()));
            // What was refused is offered again; what nobody answered for must not be typed twice.
            self.paste.take_if(|paste| paste.retry_due.is_none());
        }
        self.leave_due = None;
        self.resize_due = None;
        self.standing = Standing::Away { due: Deadline::after(self.pauses.take_next()) };
        None
    }

    /// Looks for the node, or asks for the agent, if it is time.
    pub(super) fn look_again(&mut self) -> anyhow::Result<()> {
        match self.standing {
            Standing::Away { due } if due.has_passed() => match sock::connect(&self.plan.socket) {
                Ok(stream) => {
                    let mut node = Node::over(stream, false)?;
                    if let Err(error) = self.greet(&mut node) {
                        if error.name() != ErrorName::Unavailable {
                            return Err(error.into());
                        }
                        // It went again before it answered.
                        self.standing = Standing::Away { due: Deadline::after(self.pauses.take_next()) };
                        return Ok(());
                    }
                    self.pauses.connected();
                    self.link = Link::new(node.into_parts());
                    self.ask_to_attach(self.controls);
                    Ok(())
                }
                Err(error) => {
                    let error = anyhow::Error::new(error);
                    if !is_nobody_there(&error) {
                        return Err(error);
                    }
                    self.standing = Standing::Away { due: Deadline::after(self.pauses.take_next()) };
                    Ok(())
                }
            },
            Standing::Refused { due } if due.has_passed() => {
                self.ask_to_attach(self.controls);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Shows the token again: the next node knows nobody from the one before.
    fn greet(&self, node: &mut Node) -> Result<(), CallError> {
        match &self.plan.token {
            Some(token) => token::greet(node, Some(token), Patience::within(GREETING_TIME)).map(drop),
            None => Ok(()),
        }
    }

    fn ask_to_attach(&mut self, control: bool) {
        let size = self.stage.size().filter(|_| control);
        let params = AttachParams {
            agent: self.plan.agent.clone(),
            control,
            // Whoever took the control meanwhile keeps it.
            takeover: false,
            cols: size.map(|(cols, _)| cols),
            rows: size.map(|(_, rows)| rows),
        };
        let request = self.link.number();
        self.link.push(wire::attach(request, &params));
        self.size = size.or(self.size);
        self.standing = Standing::Asking { request };
    }

    /// Asks for what follows what was played.
    fn ask_to_read(&mut self) -> i64 {
        let request = self.link.number();
        let params = RecordingParams {
            agent: self.plan.agent.clone(),
            epoch: Some(self.epoch),
            offset: self.offset,
            last_bytes: None,
            limit_bytes: Some(PAGE_BYTES),
        };
        self.link.push(wire::recording(request, &params));
        request
    }

    /// An answer: one on the way back, or to a paste.
    pub(super) fn heard(
        &mut self,
        request: i64,
        outcome: Result<Box<RawValue>, RpcError>,
    ) -> anyhow::Result<Option<End>> {
        match &self.standing {
            Standing::Asking { request: asked } if *asked == request => match outcome {
                Ok(raw) => self.attached_again(&serde_json::from_str(raw.get())?),
                Err(error) => self.refused(error),
            },
            Standing::Judging { request: asked } if *asked == request => match outcome {
                Ok(raw) => self.judge(&serde_json::from_str(raw.get())?),
                Err(error) if error.name() == ErrorName::NotFound => Ok(Some(End::Over(error.message))),
                Err(_for_now) => Ok(self.ask_later()),
            },
            Standing::Behind { request: asked, .. } if *asked == request => {
                let page = outcome.map(|raw| serde_json::from_str(raw.get()));
                self.read_on(page.ok().transpose()?.as_ref())?;
                Ok(None)
            }
            _ => {
                self.answered(request, outcome.map(drop));
                Ok(None)
            }
        }
    }

    fn ask_later(&mut self) -> Option<End> {
        self.standing = Standing::Refused { due: Deadline::after(self.pauses.take_next()) };
        None
    }

    fn refused(&mut self, error: RpcError) -> anyhow::Result<Option<End>> {
        match error.name() {
            ErrorName::Locked if self.controls => {
                self.say("somebody else controls it now; watching");
                self.observe();
                self.ask_to_attach(false);
                Ok(None)
            }
            // Its epoch is over, or the new daemon has not found its shim yet.
            ErrorName::InvalidState => {
                let request = self.ask_to_read();
                self.standing = Standing::Judging { request };
                Ok(None)
            }
            ErrorName::NotFound => Ok(Some(End::Over(error.message))),
            name if name.is_retryable() => Ok(self.ask_later()),
            _ => Err(edgeplane_client::CallError::from(error).into()),
        }
    }

    /// Plays the rest of an epoch, and ends with it.
    fn judge(&mut self, page: &RecordingResult) -> anyhow::Result<Option<End>> {
        self.play_page(page, None)?;
        if !page.end {
            let request = self.ask_to_read();
            self.standing = Standing::Judging { request };
            return Ok(None);
        }
        if page.over {
            return Ok(Some(End::Over(format!("epoch {} ended while the node was gone", self.epoch))));
        }
        Ok(self.ask_later())
    }

    fn attached_again(&mut self, attached: &AttachResult) -> anyhow::Result<Option<End>> {
        if std::mem::take(&mut self.was_lost) {
            self.say(BACK);
        }
        self.id.clone_from(&attached.attachment);
        if attached.epoch != self.epoch {
            // Ours is over: nothing of the next one is for us.
            let leave = self.link.number();
            self.link.push(wire::leave(leave, &self.id));
            let request = self.ask_to_read();
            self.standing = Standing::Judging { request };
            return Ok(None);
        }
        if self.controls && !attached.control {
            self.observe();
        }
        if self.input == Input::Ended {
            self.leave_due = Some(Deadline::after(QUIET_AT_END));
        }
        let screen = STANDARD.decode(&attached.screen)?;
        // Before the shim has answered its new daemon, the node's screen is older than ours.
        let is_newer = attached.offset >= self.offset;
        let paints = self.stage.is_terminal() && !attached.pipes && is_newer;
        if paints && attached.offset.saturating_sub(self.offset) > READ_BACK_BYTES_MAX {
            self.paint(attached.offset, &screen)?;
        }
        // What was said of the node stands on the screen, so that is shown anew also if nothing was printed.
        let screen = paints.then_some((attached.offset, screen));
        self.catch_up(Gap { goal: attached.offset, screen })?;
        Ok(None)
    }

    /// Goes on without the control.
    pub(super) fn observe(&mut self) {
        self.controls = false;
        self.paste = None;
        self.filter = Filter::new(Viewer::Watches);
    }

    /// Live output from `offset` on; what was played before is passed over, what is missing before it is read.
    pub(super) fn live(&mut self, offset: u64, bytes: &[u8]) -> anyhow::Result<()> {
        let end = offset.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        match &mut self.standing {
            // The recording has it too.
            Standing::Behind { gap, .. } => gap.goal = gap.goal.max(end),
            Standing::Live if offset > self.offset => self.catch_up(Gap { goal: end, screen: None })?,
            Standing::Live => {
                let known = usize::try_from(self.offset.saturating_sub(offset)).unwrap_or(usize::MAX);
                self.play(bytes.get(known..).unwrap_or_default())?;
                self.offset = self.offset.max(end);
            }
            _ => {}
        }
        Ok(())
    }

    /// A whole screen in place of output that was not sent, because we were too slow for it.
    pub(super) fn resynchronised(&mut self, offset: u64, screen: &[u8]) -> anyhow::Result<()> {
        // A program on pipes has none. A file or a pipe gets bytes as long as they are few.
        let is_little = offset.saturating_sub(self.offset) <= READ_BACK_BYTES_MAX;
        let reads = matches!(self.standing, Standing::Behind { .. }) || is_little;
        if self.pipes || (!self.stage.is_terminal() && reads) {
            return self.live(offset, &[]);
        }
        if self.is_attached() {
            self.paint(offset, screen)?;
            self.standing = Standing::Live;
        }
        Ok(())
    }

    fn paint(&mut self, offset: u64, screen: &[u8]) -> anyhow::Result<()> {
        // What came before may have been cut inside a sequence.
        self.filter = Filter::new(if self.controls { Viewer::Controls } else { Viewer::Watches });
        self.play(screen)?;
        self.offset = offset;
        Ok(())
    }

    /// Goes on live once nothing is missing, else reads.
    fn catch_up(&mut self, mut gap: Gap) -> anyhow::Result<()> {
        if let Some((offset, screen)) = gap.screen.take_if(|(offset, _)| *offset <= self.offset) {
            self.paint(offset, &screen)?;
        }
        self.standing = if self.offset >= gap.goal {
            Standing::Live
        } else {
            Standing::Behind { request: self.ask_to_read(), gap }
        };
        Ok(())
    }

    /// A page of what was missing has come, or cannot be had.
    fn read_on(&mut self, page: Option<&RecordingResult>) -> anyhow::Result<()> {
        let Standing::Behind { gap, .. } = std::mem::replace(&mut self.standing, Standing::Live) else {
            return Ok(());
        };
        let before = self.offset;
        if let Some(page) = page {
            self.play_page(page, gap.screen.as_ref().map(|(offset, _)| *offset))?;
        }
        if self.offset == before {
            // The recording does not have it, or not yet, such as on a full disk.
            let upto = gap.screen.as_ref().map_or(gap.goal, |(offset, _)| *offset);
            self.say(&missing_output(upto.saturating_sub(before)));
            self.offset = upto;
        }
        self.catch_up(gap)
    }

    /// Plays what of a page was not played, `upto` an offset.
    fn play_page(&mut self, page: &RecordingResult, upto: Option<u64>) -> anyhow::Result<()> {
        for item in &page.items {
            let bytes = recording::output(item)?;
            let count = match &bytes {
                Some(bytes) => u64::try_from(bytes.len()).unwrap_or(u64::MAX),
                None if item.code == 'g' => item.data.parse().unwrap_or(0),
                None => 0,
            };
            let end = item.offset.saturating_add(count).min(upto.unwrap_or(u64::MAX));
            if end <= self.offset {
                continue;
            }
            let at = |offset: u64| usize::try_from(offset.saturating_sub(item.offset)).unwrap_or(usize::MAX);
            let (from, to) = (at(self.offset), at(end));
            match bytes {
                Some(bytes) => self.play(bytes.get(from..to).unwrap_or_default())?,
                None => self.say(&missing_output(count)),
            }
            self.offset = end;
        }
        Ok(())
    }

    /// A line about the attachment itself.
    pub(super) fn say(&self, text: &str) {
        if !self.plan.is_quiet {
            output::complain_dimly(&format!("[{text}]\r"));
        }
    }
}
