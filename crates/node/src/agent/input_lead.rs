//! What the first message of an epoch is led by on a terminal with an adapter: the contract, where the manifest asks for
//! it, and what was before.
//!
//! It is entered with that message, through the same gate and as the same piece. What it says depends on the moment at
//! which it was made, so it stands in the epoch's folder before its first key is typed: a daemon that comes back looks
//! for the same words.

use std::{fs, path::Path};

use edgeplane_driver::{
    notice::{NoticeStyle, notice_lines},
    render::Rendered,
    screen::Paste,
    terminal,
};
use edgeplane_manifest::{Driver, Notice};

use super::Actor;

/// The lines, in the epoch's folder.
const FILE: &str = "first-words.json";

impl Actor {
    /// What stands ahead of the next message: nothing once a message was given in this epoch.
    pub(super) fn lead_words(&self) -> Vec<String> {
        let Driver::Terminal { notice: Notice::Type, .. } = &self.manifest.spec.driver else {
            return Vec::new();
        };
        let Some(live) = &self.live else { return Vec::new() };
        let (id, epoch) = (self.identity.id, live.place.epoch);
        let leading = self.shared.record.look_up(|reader| reader.leading(&id, epoch));
        if !leading.is_ok_and(|leading| leading.is_none_or(|leading| leading.message_id.is_none())) {
            return Vec::new();
        }
        if let Some(lines) = read(&live.place.dir) {
            return lines;
        }
        let lines = self.lead(&live.past);
        let text = serde_json::to_vec(&lines).unwrap_or_default();
        match edgeplane_os::atomic::write_atomic(&live.place.dir.join(FILE), &text, 0o600) {
            Ok(()) => lines,
            Err(error) => {
                tracing::warn!(agent = %self.identity.name, %error, "it is not told the contract");
                Vec::new()
            }
        }
    }

    /// What stood ahead of the first message of this epoch.
    pub(super) fn led_by(&self) -> Vec<String> {
        self.live.as_ref().and_then(|live| read(&live.place.dir)).unwrap_or_default()
    }

    fn lead(&self, past: &[Rendered]) -> Vec<String> {
        let Some(adapter) = self.adapter().filter(|_| !self.goes_on_by_hook()) else { return Vec::new() };
        let is_commented = adapter.comment.is_some() || self.has_comment();
        if adapter.paste == Paste::Lines && !is_commented {
            return notice_lines(NoticeStyle::OneLine);
        }
        let notice = notice_lines(NoticeStyle::Comments);
        let fits = |past: &&Rendered| {
            adapter.paste == Paste::Bracketed
                || past.lines().all(|line| line.len() < terminal::LINE_BYTES_MAX.saturating_sub(LINE_ROOM))
        };
        let past = past.iter().find(fits).into_iter().flat_map(Rendered::lines).map(str::to_owned);
        notice.into_iter().chain(past).collect()
    }

    /// Whether its manifest says what makes a line a comment.
    fn has_comment(&self) -> bool {
        matches!(&self.manifest.spec.driver, Driver::Terminal { comment: Some(_), .. })
    }

    /// Whether a terminal with an adapter can be shown quotations: as one pasted text, or as comments.
    pub(super) fn takes_quotations(&self) -> bool {
        self.adapter().is_some_and(|adapter| adapter.paste == Paste::Bracketed || adapter.comment.is_some())
    }
}

/// Room for a comment sign in a line, in bytes.
const LINE_ROOM: usize = 32;

fn read(dir: &Path) -> Option<Vec<String>> {
    serde_json::from_slice(&fs::read(dir.join(FILE)).ok()?).ok()
}
