//! Output: recorded before it is shown, whole, counted once, slowed by nobody who watches.

use std::io::Read;

use edgeplane_wire::{
    cast::{CastEvent, CastReader},
    shim::{FromShim, InputKind, OutputStream, Role},
    spec::LaunchSpec,
};

use crate::harness::{KEY, Shim, epoch_dir, eventually, spec, terminal_spec};
use crate::recorded::Recorded;

/// Runs of the check that nothing is lost at the end.
const RUNS: u64 = 200;

/// Programs that print a number of bytes, known by their checksum, and exit at once.
///
/// SHIM-010, SHIM-021
#[test]
fn nothing_is_lost_of_programs_that_print_and_exit_at_once() {
    for run in 0..RUNS {
        let terminal = (run % 2 == 0).then_some((80, 24));
        // Spread over 0 to about 96 KiB by an odd multiplier; the run says which case it was.
        let count = run * 7919 % 98_304;
        let dir = epoch_dir();
        // Without echo: random bytes may ask the terminal something, and its answer is typed.
        let script =
            format!("stty raw -echo 2>/dev/null; head -c {count} /dev/urandom | tee {}", path(&dir, "copy"));
        let mut shim = Shim::launch(LaunchSpec { terminal, ..spec(dir.path(), &script) });
        let exit = shim.finish();
        let written = std::fs::read(dir.path().join("copy")).unwrap();
        assert_eq!(written.len() as u64, count, "run {run}");
        assert_eq!(exit.output_bytes, count, "run {run}");
        assert!(
            Recorded::read(dir.path()).stream(OutputStream::Out) == written,
            "run {run}: recorded bytes differ"
        );
        if shim.control.lags.is_empty() {
            assert!(shim.control.shown() == written, "run {run}: shown bytes differ");
        }
    }
}

fn path(dir: &tempfile::TempDir, name: &str) -> String {
    dir.path().join(name).to_str().unwrap().to_owned()
}

/// SHIM-010
#[test]
fn what_is_shown_was_recorded_before() {
    let dir = epoch_dir();
    let mut shim =
        Shim::launch(spec(dir.path(), "for i in 1 2 3 4 5 6 7 8 9; do echo line $i; done; read x"));
    let mut seen = 0;
    while seen < 63 {
        let end = shim.control.expect("output", |frame| match frame {
            FromShim::Output { offset, bytes, .. } => Some(offset + bytes.len() as u64),
            _ => None,
        });
        let recorded = std::fs::read(dir.path().join("000001.cast")).unwrap();
        let mut reader = CastReader::new(&recorded).unwrap().unwrap();
        while reader.next_event().unwrap().is_some() {}
        assert!(reader.offset() >= end);
        seen = end;
    }
    shim.control.send(&edgeplane_wire::shim::ToShim::CloseInput);
    shim.finish();
}

/// SHIM-011
#[test]
fn torn_character_is_put_together_and_a_lone_half_is_kept_as_it_is() {
    let dir = epoch_dir();
    let script = "printf 'a\\342'; read x; printf '\\202\\254b'; read x; printf 'c\\360\\237'; read x";
    let mut shim = Shim::launch(spec(dir.path(), script));
    shim.control.until_shown("a");
    // The half is shown by itself once the program has been quiet; then the rest of it stands alone as well.
    while shim.control.shown() != b"a\xe2" {
        shim.control.expect("half", |frame| matches!(frame, FromShim::Output { .. }).then_some(()));
    }
    shim.control.input(1, InputKind::Message, b"\n");
    shim.control.until_shown("b");
    shim.control.input(2, InputKind::Message, b"\n");
    while shim.control.shown() != b"a\xe2\x82\xacbc\xf0\x9f" {
        shim.control.expect("half", |frame| matches!(frame, FromShim::Output { .. }).then_some(()));
    }
    shim.control.input(3, InputKind::Message, b"\n");
    assert_eq!(shim.finish().output_bytes, 8);
    assert_eq!(Recorded::read(dir.path()).stream(OutputStream::Out), b"a\xe2\x82\xacbc\xf0\x9f");

    // Quickly enough it is one character in one event.
    let dir = epoch_dir();
    let mut shim = Shim::launch(spec(
        dir.path(),
        "dd if=/dev/zero bs=8191 count=1 2>/dev/null | tr '\\0' x; printf '€'",
    ));
    shim.finish();
    let events = Recorded::read(dir.path()).events;
    let whole = events.iter().all(|event| match event {
        CastEvent::Output { bytes, .. } => std::str::from_utf8(bytes).is_ok(),
        _ => true,
    });
    assert!(whole);
}

/// SHIM-012
#[test]
fn slow_client_slows_nobody_and_finds_what_it_missed_in_the_recording() {
    const BYTES: u64 = 10 << 20;
    let dir = epoch_dir();
    let script = format!("read x; head -c {BYTES} /dev/zero | tr '\\0' 'y'; echo END; read x");
    let mut shim = Shim::launch(spec(dir.path(), &script));
    let mut slow = shim.connect(KEY, Role::Observe);
    slow.hello();
    assert_eq!(slow.subscribe(), 0);
    shim.control.input(1, InputKind::Message, b"\n");
    // The slow one reads nothing while the other sees everything, live or told as missed.
    let control = &mut shim.control;
    eventually("the other client sees the end", || {
        let total = BYTES + 4;
        let covered = control.live.last().map_or(0, |(offset, _, bytes)| offset + bytes.len() as u64);
        let told = control.lags.last().map_or(0, |(_, to)| *to);
        if covered.max(told) < total {
            control.expect("output", |frame| {
                matches!(frame, FromShim::Output { .. } | FromShim::Lagged { .. }).then_some(())
            });
        }
        covered.max(told) >= total
    });
    assert_eq!(control.status().head, BYTES + 4);
    let lag = slow.expect("lag", |frame| match frame {
        FromShim::Lagged { from, to } => Some((*from, *to)),
        _ => None,
    });
    let shown = slow.shown();
    assert_eq!(lag.0, shown.len() as u64);
    let missed = Recorded::read(dir.path()).range(lag.0, lag.1);
    assert_eq!(missed.len() as u64, lag.1 - lag.0);
    let mut all = shown;
    all.extend_from_slice(&missed);
    if lag.1 == BYTES + 4 {
        assert!(all.ends_with(b"yyEND\n"));
    }
    // Live output goes on from there, also for the slow one.
    shim.control.input(2, InputKind::Message, b"\n");
    slow.exit();
    shim.finish();
}

/// SHIM-010
#[test]
fn output_of_a_terminal_without_programs_is_seen_again_when_one_opens_it() {
    let dir = epoch_dir();
    // For a moment nobody has the terminal open; whoever opens it again is heard.
    let script = "t=$(tty); exec <&- >&- 2>&-; sleep 0.3; echo back >$t";
    let mut shim = Shim::launch(terminal_spec(dir.path(), script));
    shim.finish();
    assert_eq!(shim.control.shown_text(), "back\r\n");
}

/// SHIM-010
#[test]
fn end_of_output_before_the_end_of_the_program_is_no_end() {
    let dir = epoch_dir();
    let mut shim = Shim::launch(spec(dir.path(), "echo out; exec >&- 2>&-; read x; exit 3"));
    shim.control.until_shown("out");
    let mut probe = [0; 1];
    shim.control.stream.set_nonblocking(true).unwrap();
    assert!(shim.control.stream.read(&mut probe).is_err(), "nothing more is said");
    shim.control.stream.set_nonblocking(false).unwrap();
    shim.control.input(1, InputKind::Message, b"\n");
    assert_eq!(shim.finish().value, 3);
}
