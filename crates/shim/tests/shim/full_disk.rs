//! A recording without space: a gap that is told and counted, or a program that waits.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use edgeplane_wire::{
    cast::CastEvent,
    shim::{FromShim, InputKind, InputOutcome, OutputStream},
    spec::{LaunchSpec, OnFull},
};
use tempfile::TempDir;

use crate::harness::{Conn, Shim, epoch_dir, eventually, skip, spec};
use crate::recorded::Recorded;

/// Space that is not there.
const NO_SPACE: i32 = 28;

/// A file system of one mebibyte, unmounted with the value.
struct SmallDisk(TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let dir = epoch_dir();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(dir.path()).output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self(dir)),
            _ => {
                skip("a full disk", "no file system can be mounted here");
                None
            }
        }
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Takes all space, and gives it back when the file is removed.
    fn fill(&self) -> PathBuf {
        let path = self.path().join("filler");
        let error = fs::write(&path, vec![0; 2 << 20]).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(NO_SPACE));
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("-l").arg(self.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()));
    }
}

/// Prints twenty thousand digits for each line that it reads.
const PRINTS: &str = "while read d; do head -c 20000 /dev/zero | tr '\\0' \"$d\"; echo; done";

const PRINTED: u64 = 20_001;

fn gap(conn: &mut Conn) -> (u64, u64, i32) {
    conn.expect("gap", |frame| match frame {
        FromShim::Gap { from, to, errno } => Some((*from, *to, *errno)),
        _ => None,
    })
}

/// SHIM-028
#[test]
fn missing_output_is_counted_and_the_program_runs_on() {
    let Some(disk) = SmallDisk::mount() else { return };
    let mut shim = Shim::launch(spec(disk.path(), PRINTS));
    shim.control.input(1, InputKind::Message, b"1\n");
    shim.control.until_shown("1\n");
    let filler = disk.fill();
    shim.control.input(2, InputKind::Keys, b"2\n");
    let (from, to, errno) = gap(&mut shim.control);
    assert_eq!((from, errno), (to, NO_SPACE));
    assert!((PRINTED..2 * PRINTED).contains(&from), "what fits the last page is recorded: {from}");
    shim.control.until_shown("2\n");
    assert_eq!(shim.control.status().head, 2 * PRINTED, "missing bytes count, and were shown");
    fs::remove_file(filler).unwrap();
    let (gap_from, gap_to, _) = loop {
        // Attempts while it was full may have closed and opened it.
        let found = gap(&mut shim.control);
        if found.0 != found.1 && found.1 == 2 * PRINTED {
            break found;
        }
    };
    shim.control.input(3, InputKind::Message, b"3\n");
    shim.control.until_shown("3\n");
    shim.control.send(&edgeplane_wire::shim::ToShim::CloseInput);
    assert_eq!(shim.finish().output_bytes, 3 * PRINTED);
    let recorded = Recorded::read(disk.path());
    assert_eq!(recorded.segments, [(1, 0, 3 * PRINTED)]);
    let missing: u64 = recorded
        .events
        .iter()
        .map(|event| if let CastEvent::Gap { bytes, .. } = event { *bytes } else { 0 })
        .sum();
    assert!(gap_to - gap_from <= missing);
    assert_eq!(recorded.stream(OutputStream::Out).len() as u64, 3 * PRINTED - missing);
    assert_eq!(recorded.range(2 * PRINTED, 3 * PRINTED).len() as u64, PRINTED);
    assert_eq!(recorded.range(0, PRINTED).len() as u64, PRINTED);
}

/// SHIM-036
#[test]
fn message_that_cannot_be_marked_is_not_begun() {
    let Some(disk) = SmallDisk::mount() else { return };
    let mut shim = Shim::launch(spec(disk.path(), PRINTS));
    let filler = disk.fill();
    // More than the last page has room for: from here on there is a gap.
    shim.control.input(1, InputKind::Keys, b"1\n");
    gap(&mut shim.control);
    shim.control.until_shown("1\n");
    assert_eq!(shim.control.input(2, InputKind::Message, b"2\n"), InputOutcome::Full);
    fs::remove_file(filler).unwrap();
    // Offered again as long as it is refused, as the daemon does.
    eventually("it is written", || {
        shim.control.input(2, InputKind::Message, b"2\n") == InputOutcome::Written
    });
    shim.control.until_shown("2\n");
    shim.control.send(&edgeplane_wire::shim::ToShim::CloseInput);
    assert_eq!(shim.finish().output_bytes, 2 * PRINTED, "the program read it once");
}

/// SHIM-029
#[test]
fn program_waits_for_space_and_nothing_is_lost() {
    let Some(disk) = SmallDisk::mount() else { return };
    let script = format!("{PRINTS}; echo END");
    let mut shim = Shim::launch(LaunchSpec { on_full: OnFull::Pause, ..spec(disk.path(), &script) });
    shim.control.input(1, InputKind::Message, b"1\n");
    shim.control.until_shown("1\n");
    let filler = disk.fill();
    shim.control.input(2, InputKind::Keys, &b"2\n3\n4\n5\n6\n7\n8\n9\n".repeat(5));
    // More than the pipe holds is on its way: the program stands still, and so does the recording.
    let mut last = (0, 0);
    eventually("the head stands still", || {
        let head = shim.control.status().head;
        last = if head == last.0 { (head, last.1 + 1) } else { (head, 0) };
        last.1 > 50
    });
    assert!(last.0 < 10 * PRINTED);
    fs::remove_file(filler).unwrap();
    shim.control.send(&edgeplane_wire::shim::ToShim::CloseInput);
    let exit = shim.finish();
    assert_eq!(exit.output_bytes, 41 * PRINTED + 4);
    let recorded = Recorded::read(disk.path());
    assert_eq!(recorded.segments, [(1, 0, exit.output_bytes)]);
    assert!(!recorded.events.iter().any(|event| matches!(event, CastEvent::Gap { .. })));
    assert!(recorded.text().ends_with("9\nEND\n"));
    assert_eq!(recorded.stream(OutputStream::Out).len() as u64, exit.output_bytes);
}

/// SHIM-030
#[test]
fn end_is_told_and_recorded_without_any_space() {
    for on_full in [OnFull::Gap, OnFull::Pause] {
        let Some(disk) = SmallDisk::mount() else { return };
        let mut shim = Shim::launch(LaunchSpec { on_full, ..spec(disk.path(), PRINTS) });
        let _filler = disk.fill();
        shim.control.send(&edgeplane_wire::shim::ToShim::Input {
            id: [1; 16],
            kind: InputKind::Keys,
            bytes: b"1\n",
        });
        shim.control.send(&edgeplane_wire::shim::ToShim::CloseInput);
        let exit = shim.finish();
        assert_eq!(exit.output_bytes, PRINTED, "{on_full:?}");
        assert_eq!(shim.exit_record(), Some(exit));
        let recorded = Recorded::read(disk.path());
        assert!((recorded.stream(OutputStream::Out).len() as u64) < PRINTED);
    }
}
