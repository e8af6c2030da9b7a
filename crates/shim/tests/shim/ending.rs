//! The end: of the program, of everything below it, and the telling of it.

use edgeplane_os::{Signal, pidfd, proc};
use edgeplane_wire::{
    shim::{EpochState, FromShim, Role, SignalScope, ToShim},
    spec::LaunchSpec,
};

use crate::harness::{KEY, Shim, epoch_dir, eventually, exit_record, is_alive, spec, terminal_spec};
use crate::recorded::Recorded;

/// The number that a script printed behind `name`.
fn number(text: &str, name: &str) -> u32 {
    let at = text.find(name).unwrap() + name.len();
    text[at..].split_ascii_whitespace().next().unwrap().parse().unwrap()
}

/// A grandchild in a session of its own whose parent is gone, and a program that goes on.
const LEAVES_A_GRANDCHILD: &str =
    "(setsid sh -c 'trap \"\" HUP TERM INT; echo orphan $$ .; while :; do sleep 1000; done' &)";

/// SHIM-019, SHIM-021
#[test]
fn whole_tree_ends_with_the_program() {
    for terminal in [None, Some((80, 24))] {
        let dir = epoch_dir();
        let script = format!("{LEAVES_A_GRANDCHILD}; read x; exit 4");
        let mut shim = Shim::launch(LaunchSpec { terminal, ..spec(dir.path(), &script) });
        let orphan = number(&shim.control.until_shown(" ."), "orphan ");
        assert!(is_alive(orphan));
        shim.control.input(1, edgeplane_wire::shim::InputKind::Keys, b"\n");
        let exit = shim.finish();
        assert_eq!((exit.value, exit.tree_empty), (4, true));
        assert!(proc::stat(orphan).is_err(), "dead and reaped before the end was told");
    }
}

/// SHIM-019
#[test]
fn kill_ends_the_whole_tree_at_once() {
    let dir = epoch_dir();
    let script = format!("trap '' TERM; {LEAVES_A_GRANDCHILD}; while :; do sleep 1000; done");
    let mut shim = Shim::launch(spec(dir.path(), &script));
    let orphan = number(&shim.control.until_shown(" ."), "orphan ");
    shim.control.send(&ToShim::Kill);
    let exit = shim.finish();
    assert_eq!((exit.value, exit.signaled, exit.tree_empty), (Signal::KILL.as_raw(), true, true));
    assert!(proc::stat(orphan).is_err());
    assert_eq!(Recorded::read(dir.path()).others(), [('x', "137")]);
}

/// SHIM-020
#[test]
fn orphans_are_reaped_while_the_program_runs() {
    let dir = epoch_dir();
    let script =
        "for i in 1 2 3 4 5 6 7 8; do (sh -c 'exit 0' &); done; (sleep 0.05; echo late $$ . &) ; read x";
    let mut shim = Shim::launch(spec(dir.path(), script));
    shim.control.until_shown("late");
    eventually("only the program is left", || {
        proc::children(shim.spawned.pid).unwrap() == [shim.started.pid]
    });
    shim.control.send(&ToShim::CloseInput);
    shim.finish();
}

/// SHIM-021
#[test]
fn exit_record_is_written_before_the_end_is_told() {
    for _run in 0..20 {
        let dir = epoch_dir();
        let mut shim = Shim::launch(spec(dir.path(), "read x; exit 7"));
        assert_eq!(exit_record(dir.path()), None);
        shim.control.send(&ToShim::CloseInput);
        let exit = shim.control.exit();
        assert_eq!(exit_record(dir.path()), Some(exit));
        assert_eq!(Recorded::read(dir.path()).others(), [('x', "7")]);
        shim.ended();
    }
}

/// SHIM-021
#[test]
fn end_is_recorded_with_nobody_connected() {
    let dir = epoch_dir();
    let Shim { spawned, control, .. } = Shim::launch(spec(dir.path(), "read x; echo alone; exit 9"));
    // Its input ends with nobody: only the shim holds the other end.
    let mut control = control;
    control.send(&ToShim::CloseInput);
    drop(control);
    edgeplane_os::pidfd::wait(&spawned.pidfd).unwrap();
    let exit = exit_record(dir.path()).unwrap();
    assert_eq!((exit.value, exit.output_bytes), (9, 6));
    assert!(!dir.path().join("sock").exists());
}

/// SHIM-021
#[test]
fn client_that_lags_hears_so_before_the_end() {
    let dir = epoch_dir();
    let mut shim = Shim::launch(spec(dir.path(), "read x; head -c 4000000 /dev/zero; exit 1"));
    let mut slow = shim.connect(KEY, Role::Observe);
    slow.hello();
    slow.subscribe();
    shim.control.send(&ToShim::CloseInput);
    eventually("the record is there", || exit_record(dir.path()).is_some());
    let exit = slow.exit();
    assert_eq!(exit.output_bytes, 4_000_000);
    let covered = slow.live.iter().map(|(_, _, bytes)| bytes.len() as u64).sum::<u64>()
        + slow.lags.iter().map(|(from, to)| to - from).sum::<u64>();
    assert_eq!(covered, 4_000_000, "all of it was shown or told as missed");
    shim.finish();
}

/// SHIM-022
#[test]
fn stop_gives_grace_and_then_kills() {
    let dir = epoch_dir();
    let script = "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.02; done";
    let mut shim = Shim::launch(spec(dir.path(), script));
    shim.control.until_shown("ready");
    shim.control.send(&ToShim::Stop { grace_ms: 60_000, signal: Signal::TERM.as_raw() });
    assert_eq!(shim.finish().value, 0);
    assert!(Recorded::read(dir.path()).text().ends_with("bye\n"));

    let dir = epoch_dir();
    let mut shim =
        Shim::launch(spec(dir.path(), "trap 'echo no' TERM; echo ready; while :; do sleep 0.02; done"));
    shim.control.until_shown("ready");
    shim.control.send(&ToShim::Stop { grace_ms: 300, signal: Signal::TERM.as_raw() });
    assert_eq!(shim.control.status().state, EpochState::Stopping);
    let exit = shim.finish();
    assert_eq!((exit.value, exit.signaled), (Signal::KILL.as_raw(), true));
    assert!(Recorded::read(dir.path()).text().ends_with("no\n"));
}

/// SHIM-022
#[test]
fn stopped_program_is_woken_to_end() {
    let dir = epoch_dir();
    let mut shim =
        Shim::launch(spec(dir.path(), "trap 'exit 6' TERM; echo ready; while :; do sleep 0.02; done"));
    shim.control.until_shown("ready");
    shim.control.send(&ToShim::Signal { signal: Signal::STOP.as_raw(), scope: SignalScope::Program });
    eventually("it is stopped", || proc::stat(shim.started.pid).unwrap().state == b'T');
    shim.control.send(&ToShim::Stop { grace_ms: 60_000, signal: Signal::TERM.as_raw() });
    assert_eq!(shim.finish().value, 6);
}

/// SHIM-023
#[test]
fn shutdown_of_the_machine_is_passed_on_as_the_stop_signal() {
    for signal in [Signal::TERM, Signal::INT] {
        let dir = epoch_dir();
        let script = "trap 'echo got usr2; exit 3' USR2; trap 'echo got term' TERM; echo ready; while :; do sleep 0.02; done";
        let given =
            LaunchSpec { stop_signal: Signal::USR2.as_raw(), grace_ms: 60_000, ..spec(dir.path(), script) };
        let mut shim = Shim::launch(given);
        shim.control.until_shown("ready");
        assert!(pidfd::send_signal(&shim.spawned.pidfd, signal).unwrap());
        assert_eq!(shim.finish().value, 3);
        assert!(shim.control.shown_text().ends_with("got usr2\n"));
    }
}

/// SHIM-023
#[test]
fn other_signals_do_not_end_the_shim() {
    let dir = epoch_dir();
    let mut shim = Shim::launch(terminal_spec(dir.path(), "echo ready; read x; echo still here"));
    shim.control.until_shown("ready");
    for signal in
        [Signal::HUP, Signal::QUIT, Signal::PIPE, Signal::USR1, Signal::TTOU, Signal::TSTP, Signal::XFSZ]
    {
        assert!(pidfd::send_signal(&shim.spawned.pidfd, signal).unwrap());
    }
    shim.control.input(1, edgeplane_wire::shim::InputKind::Keys, b"\n");
    shim.control.until_shown("still here");
    shim.finish();
}

/// SHIM-019
#[test]
fn endless_forking_ends_too() {
    let dir = epoch_dir();
    // Each process starts its successor and ends, so that no list of them is ever complete.
    let script = "f() { (sh -c \"$0\" \"$0\" 2>/dev/null &); }; echo up";
    let chain = format!(
        "cat >{0}/chain <<'E'\n(sh {0}/chain &)\nE\nsh {0}/chain; {script}; read x",
        dir.path().display()
    );
    let mut shim = Shim::launch(spec(dir.path(), &chain));
    shim.control.until_shown("up");
    shim.control.send(&ToShim::Kill);
    let exit = shim.control.expect("exit", |frame| match frame {
        FromShim::Exited(exit) => Some(*exit),
        _ => None,
    });
    assert!(exit.tree_empty);
    shim.ended();
}
