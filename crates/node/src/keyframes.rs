//! Keyframes: the screen at the start of a recording segment, so that a screen is never far from its recording.
//!
//! A file beside the segment: a line of JSON, then the bytes that restore the screen. It is made from the recording
//! and can be made again; nothing but time is lost with it. The shim has no screen, so the node writes it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{record::chain, recordings, screen::Screen};

#[derive(Debug, Serialize, Deserialize)]
struct Head {
    offset: u64,
    cols: u16,
    rows: u16,
}

fn path(dir: &Path, segment: u32) -> PathBuf {
    dir.join(format!("{segment:06}.key"))
}

/// Keeps the screen as it is at the start of a segment, unless that is kept already.
pub(crate) fn save(dir: &Path, segment: u32, screen: &Screen) {
    let path = path(dir, segment);
    if path.exists() {
        return;
    }
    let (cols, rows) = screen.size();
    let head = Head { offset: screen.offset(), cols, rows };
    let Ok(mut bytes) = serde_json::to_vec(&head) else { return };
    bytes.push(b'\n');
    bytes.extend_from_slice(&screen.restore());
    if let Err(error) = edgeplane_os::atomic::write_atomic(&path, &bytes, 0o600) {
        tracing::warn!(error = %chain(&error), "cannot keep a keyframe");
    }
}

fn load(dir: &Path, segment: u32) -> Option<Screen> {
    let bytes = fs::read(path(dir, segment)).ok()?;
    let end = bytes.iter().position(|b| *b == b'\n')?;
    let head: Head = serde_json::from_slice(bytes.get(..end)?).ok()?;
    let mut screen = Screen::new(head.cols, head.rows, 0);
    screen.show(bytes.get(end.checked_add(1)?..)?);
    drop(screen.take_answers());
    Some(screen.at(head.offset))
}

/// The screen at the newest kept place that is not after `head`; else an empty one where the recording begins.
pub(crate) fn newest(dir: &Path, head: u64) -> Option<Screen> {
    let mut all = recordings::segments(dir).ok()?;
    let first = *all.first()?;
    all.reverse();
    for segment in all {
        if let Some(screen) = load(dir, segment).filter(|screen| screen.offset() <= head) {
            return Some(screen);
        }
    }
    let header = recordings::Segment::open(dir, first).ok()?.header().ok().flatten()?;
    Some(Screen::new(header.term.cols, header.term.rows, header.edgeplane.offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves LIFE-028.
    #[test]
    fn kept_screen_is_the_same_screen() {
        let dir = tempfile::tempdir().unwrap();
        let mut screen = Screen::new(60, 12, 0);
        screen.show(b"one\r\n\x1b[?1049h\x1b[3;5H\x1b[7mtwo\x1b[m\x1b[?25l");
        save(dir.path(), 2, &screen);
        let kept = load(dir.path(), 2).unwrap();
        assert_eq!(
            (kept.text(), kept.cursor(), kept.offset()),
            (screen.text(), screen.cursor(), screen.offset())
        );
        assert_eq!(kept.restore(), screen.restore());
    }
}
