//! Input: each once, whole, in order, and recorded as far as it may be.

use edgeplane_os::Signal;
use edgeplane_wire::{
    shim::{FromShim, InputKind, InputOutcome, Role, SignalScope, ToShim},
    spec::LaunchSpec,
};

use crate::harness::{KEY, Shim, epoch_dir, spec, terminal_spec};
use crate::recorded::Recorded;

/// SHIM-013, SHIM-015
#[test]
fn input_is_written_once_per_id() {
    let dir = epoch_dir();
    let mut shim = Shim::launch(spec(dir.path(), "cat"));
    assert_eq!(shim.control.input(1, InputKind::Message, b"one\n"), InputOutcome::Written);
    assert_eq!(shim.control.input(1, InputKind::Message, b"one\n"), InputOutcome::Duplicate);
    assert_eq!(shim.control.input(2, InputKind::Message, b"two\n"), InputOutcome::Written);
    for (id, expected) in [(1, InputOutcome::Written), (2, InputOutcome::Written), (9, InputOutcome::Unknown)]
    {
        shim.control.send(&ToShim::InputState { id: [id; 16] });
        assert_eq!(shim.control.outcome(id), expected);
    }
    shim.control.send(&ToShim::CloseInput);
    shim.finish();
    assert_eq!(shim.control.shown_text(), "one\ntwo\n");
    let recorded = Recorded::read(dir.path());
    let first = ('m', "msg_01010101-0101-0101-0101-010101010101");
    let second = ('m', "msg_02020202-0202-0202-0202-020202020202");
    assert_eq!(recorded.others(), [first, ('i', "one\n"), second, ('i', "two\n"), ('x', "0")]);
}

/// SHIM-013
#[test]
fn old_ids_are_forgotten_and_the_last_256_are_not() {
    let dir = epoch_dir();
    let mut shim = Shim::launch(spec(dir.path(), "cat >/dev/null"));
    let id = |number: u16| {
        let mut id = [0; 16];
        id[..2].copy_from_slice(&number.to_le_bytes());
        id
    };
    let outcome_of = |control: &mut crate::harness::Conn, frame: &ToShim<'_>, id: [u8; 16]| {
        control.send(frame);
        control.expect("outcome", |frame| match frame {
            FromShim::Input { id: found, outcome } if *found == id => Some(*outcome),
            _ => None,
        })
    };
    for number in 0..257 {
        let frame = ToShim::Input { id: id(number), kind: InputKind::Message, bytes: b"x" };
        assert_eq!(outcome_of(&mut shim.control, &frame, id(number)), InputOutcome::Written);
    }
    for (number, expected) in
        [(0, InputOutcome::Unknown), (1, InputOutcome::Written), (256, InputOutcome::Written)]
    {
        let frame = ToShim::InputState { id: id(number) };
        assert_eq!(outcome_of(&mut shim.control, &frame, id(number)), expected, "{number}");
    }
    shim.control.send(&ToShim::CloseInput);
    shim.finish();
}

/// SHIM-014
#[test]
fn input_is_completed_after_the_sender_is_gone() {
    const BYTES: usize = 3 << 20;
    let dir = epoch_dir();
    let go = dir.path().join("go");
    let script =
        format!("while ! test -e {}; do sleep 0.01; done; head -c {BYTES} | wc -c; read x", go.display());
    let mut shim = Shim::launch(spec(dir.path(), &script));
    let mut daemon = shim.connect(KEY, Role::Control);
    daemon.hello();
    daemon.send(&ToShim::Input { id: [1; 16], kind: InputKind::Message, bytes: &vec![b'z'; BYTES] });
    // Once the state is known the whole frame has arrived, and most of it cannot have been written yet.
    daemon.send(&ToShim::InputState { id: [1; 16] });
    assert_eq!(daemon.outcome(1), InputOutcome::Queued);
    drop(daemon);
    std::fs::File::create(&go).unwrap();
    let text = shim.control.until_shown("\n");
    assert_eq!(text.trim(), BYTES.to_string());
    let mut next = shim.connect(KEY, Role::Control);
    next.hello();
    next.send(&ToShim::InputState { id: [1; 16] });
    assert_eq!(next.outcome(1), InputOutcome::Written);
    assert_eq!(next.input(1, InputKind::Message, b"never"), InputOutcome::Duplicate);
    next.send(&ToShim::CloseInput);
    shim.finish();
}

/// SHIM-014
#[test]
fn half_of_an_input_is_none() {
    let dir = epoch_dir();
    let mut shim = Shim::launch(spec(dir.path(), "cat"));
    let mut daemon = shim.connect(KEY, Role::Control);
    daemon.hello();
    let mut frame = Vec::new();
    ToShim::Input { id: [1; 16], kind: InputKind::Message, bytes: &[b'z'; 5000] }.encode(&mut frame);
    std::io::Write::write_all(&mut daemon.stream, &frame[..4000]).unwrap();
    drop(daemon);
    let mut next = shim.connect(KEY, Role::Control);
    next.hello();
    next.send(&ToShim::InputState { id: [1; 16] });
    assert_eq!(next.outcome(1), InputOutcome::Unknown);
    next.send(&ToShim::CloseInput);
    assert_eq!(shim.finish().output_bytes, 0);
}

/// SHIM-014
#[test]
fn queue_has_bounds_and_a_sender_that_asks_again_hears_the_outcome() {
    let dir = epoch_dir();
    let mut shim = Shim::launch(spec(dir.path(), "read x; cat >/dev/null"));
    // More than a pipe holds, so that nothing behind it is written.
    let big = vec![b'a'; 1 << 20];
    shim.control.send(&ToShim::Input { id: [100; 16], kind: InputKind::Message, bytes: &big });
    for id in 1..64 {
        shim.control.send(&ToShim::Input { id: [id; 16], kind: InputKind::Message, bytes: b"x" });
    }
    assert_eq!(shim.control.input(64, InputKind::Message, b"x"), InputOutcome::Full);
    let mut next = shim.connect(KEY, Role::Control);
    next.hello();
    assert_eq!(next.input(5, InputKind::Message, b"x"), InputOutcome::Queued);
    shim.control.send(&ToShim::Kill);
    assert_eq!(next.outcome(5), InputOutcome::Closed);
    assert_eq!(shim.control.outcome(100), InputOutcome::Closed);
    shim.finish();
}

/// SHIM-016
#[test]
fn line_too_long_for_the_terminal_is_refused_whole() {
    let dir = epoch_dir();
    let mut shim =
        Shim::launch(terminal_spec(dir.path(), "stty -echo; echo ready; read a; echo ${#a}; cat >/dev/null"));
    shim.control.until_shown("ready");
    let mut long = vec![b'a'; 4096];
    long.push(b'\n');
    assert_eq!(shim.control.input(1, InputKind::Message, &long), InputOutcome::LineTooLong);
    assert_eq!(shim.control.input(2, InputKind::Message, &long[1..]), InputOutcome::Written);
    shim.control.until_shown("4095");
    // Many lines in one input are as good as one each.
    assert_eq!(
        shim.control.input(3, InputKind::Message, &[b"short\n".as_slice(); 2000].concat()),
        InputOutcome::Written
    );
    shim.control.send(&ToShim::CloseInput);
    assert_eq!(shim.finish().value, 0);
    let recorded = Recorded::read(dir.path());
    assert_eq!(recorded.others().iter().filter(|(code, _)| *code == 'm').count(), 2);

    // A terminal that does not collect lines takes any.
    let dir = epoch_dir();
    let mut shim = Shim::launch(terminal_spec(dir.path(), "stty raw; echo ready; head -c 9000 | wc -c"));
    shim.control.until_shown("ready");
    assert_eq!(shim.control.input(1, InputKind::Message, &[b'a'; 9000]), InputOutcome::Written);
    shim.control.until_shown("9000");
    shim.finish();
}

/// SHIM-015
#[test]
fn keys_that_are_not_echoed_are_only_counted() {
    let dir = epoch_dir();
    let script = "echo one; read a; stty -echo; echo two; read b; stty echo; echo $a $b";
    let mut shim = Shim::launch(terminal_spec(dir.path(), script));
    shim.control.until_shown("one");
    shim.control.input(1, InputKind::Keys, b"open\n");
    shim.control.until_shown("two");
    shim.control.input(2, InputKind::Keys, b"hidden\n");
    shim.finish();
    let recorded = Recorded::read(dir.path());
    assert_eq!(recorded.others(), [('i', "open\n"), ('k', "7"), ('x', "0")]);
    assert!(recorded.text().ends_with("open hidden\r\n"));
}

/// SHIM-014
#[test]
fn program_that_reads_no_more_is_told() {
    let dir = epoch_dir();
    let mut shim = Shim::launch(spec(dir.path(), "exec <&-; echo closed; sleep 1000"));
    shim.control.until_shown("closed");
    assert_eq!(shim.control.input(1, InputKind::Message, b"x\n"), InputOutcome::Closed);
    shim.control.send(&ToShim::InputState { id: [1; 16] });
    assert_eq!(shim.control.outcome(1), InputOutcome::Closed);
    shim.control.send(&ToShim::Kill);
    shim.finish();
}

/// SHIM-017
#[test]
fn input_ends_behind_what_waits() {
    for terminal in [None, Some((80, 24))] {
        let dir = epoch_dir();
        let given = LaunchSpec { terminal, ..spec(dir.path(), "echo ready; cat; echo end") };
        let mut shim = Shim::launch(given);
        shim.control.until_shown("ready");
        shim.control.send(&ToShim::Input { id: [1; 16], kind: InputKind::Message, bytes: b"last\n" });
        shim.control.send(&ToShim::CloseInput);
        shim.finish();
        assert!(shim.control.shown_text().replace('\r', "").ends_with("last\nend\n"));
    }
}

/// SHIM-018
#[test]
fn size_and_signals_reach_the_program() {
    let dir = epoch_dir();
    let script = "trap 'stty size' WINCH; trap 'echo usr' USR1; echo ready; while :; do read x; done";
    let mut shim = Shim::launch(terminal_spec(dir.path(), script));
    shim.control.until_shown("ready");
    shim.control.send(&ToShim::Resize { cols: 132, rows: 50 });
    shim.control.until_shown("50 132");
    let status = shim.control.status();
    assert_eq!((status.cols, status.rows), (132, 50));
    shim.control.send(&ToShim::Signal { signal: Signal::USR1.as_raw(), scope: SignalScope::Program });
    shim.control.until_shown("usr");
    shim.control.send(&ToShim::Kill);
    shim.finish();
    assert!(Recorded::read(dir.path()).others().contains(&('r', "132x50")));

    // The foreground group is not the shell's when a shell with job control runs something.
    let dir = epoch_dir();
    let script =
        "set -m; sh -c 'trap \"echo inner; exit\" INT; echo ready; while :; do sleep 0.05; done'; echo outer";
    let mut shim = Shim::launch(terminal_spec(dir.path(), script));
    shim.control.until_shown("ready");
    shim.control.send(&ToShim::Signal { signal: Signal::INT.as_raw(), scope: SignalScope::Foreground });
    shim.control.until_shown("outer");
    assert!(shim.control.shown_text().contains("inner"));
    shim.finish();
}
