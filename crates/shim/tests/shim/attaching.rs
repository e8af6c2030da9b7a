//! Connections: who is let in, what each may do, and finding the epoch again after a daemon's death.

use edgeplane_os::wait::{Deadline, until};
use edgeplane_wire::shim::{EpochState, FromShim, InputKind, InputOutcome, Role, ToShim, VERSIONS};

use crate::harness::{KEY, Shim, epoch_dir, spec};
use crate::recorded::Recorded;

/// SHIM-024
#[test]
fn next_daemon_finds_the_epoch_as_it_is() {
    let dir = epoch_dir();
    let mut shim = Shim::launch(spec(dir.path(), "cat"));
    shim.control.input(1, InputKind::Message, b"before\n");
    shim.control.until_shown("before");
    // The daemon dies; the program writes meanwhile.
    shim.control = {
        let mut next = shim.connect(KEY, Role::Control);
        let status = next.hello();
        assert_eq!((status.epoch, status.state, status.pid), (3, EpochState::Running, shim.started.pid));
        assert_eq!(status.start, shim.started.start);
        next
    };
    let head = shim.control.subscribe();
    assert_eq!(head, 7);
    assert_eq!(Recorded::read(dir.path()).range(0, head), b"before\n");
    assert_eq!(shim.control.input(2, InputKind::Message, b"after\n"), InputOutcome::Written);
    assert_eq!(shim.control.until_shown("after"), "after\n");
    shim.control.send(&ToShim::CloseInput);
    assert_eq!(shim.finish().output_bytes, 13);
}

/// SHIM-024
#[test]
fn who_does_not_prove_itself_is_refused() {
    let dir = epoch_dir();
    let mut shim = Shim::launch(spec(dir.path(), "cat"));
    let mut wrong = KEY;
    wrong[31] ^= 1;
    assert_eq!(shim.connect(wrong, Role::Control).refusal(), "the key is not this epoch's");

    let mut early = shim.dial();
    early.send(&ToShim::Status);
    assert_eq!(early.refusal(), "the first frame must be a hello");

    let mut newer = shim.dial();
    let beyond = VERSIONS.1 + 1;
    newer.send(&ToShim::Hello {
        version_min: beyond,
        version_max: beyond + 3,
        key: KEY,
        role: Role::Observe,
    });
    assert_eq!(newer.refusal(), "no version of the protocol is spoken by both sides");

    let mut noise = shim.dial();
    std::io::Write::write_all(&mut noise.stream, &[255; 300]).unwrap();
    assert_eq!(noise.refusal(), "the frame is longer than it may be");

    let mut silent = shim.dial();
    assert_eq!(silent.refusal(), "no key was shown in time");

    let mut twice = shim.connect(KEY, Role::Control);
    twice.hello();
    twice.send(&ToShim::Launch { spec: b"" });
    assert_eq!(twice.refusal(), "the program was launched already");

    shim.control.send(&ToShim::CloseInput);
    shim.finish();
}

/// SHIM-024
#[test]
fn highest_version_of_both_sides_is_spoken() {
    let dir = epoch_dir();
    let mut shim = Shim::launch(spec(dir.path(), "cat"));
    let mut newer = shim.dial();
    newer.send(&ToShim::Hello { version_min: 1, version_max: VERSIONS.1 + 7, key: KEY, role: Role::Observe });
    let version = newer.expect("hello", |frame| match frame {
        FromShim::Hello { version, .. } => Some(*version),
        _ => None,
    });
    assert_eq!(version, VERSIONS.1);
    shim.control.send(&ToShim::CloseInput);
    shim.finish();
}

/// SHIM-025
#[test]
fn observer_reads_and_does_not_control() {
    let dir = epoch_dir();
    let mut shim = Shim::launch(spec(dir.path(), "cat"));
    let mut observer = shim.connect(KEY, Role::Observe);
    observer.hello();
    observer.subscribe();
    shim.control.input(1, InputKind::Message, b"seen\n");
    observer.until_shown("seen");
    assert_eq!(observer.status().pid, shim.started.pid);
    for frame in [
        ToShim::Input { id: [2; 16], kind: InputKind::Keys, bytes: b"no" },
        ToShim::Resize { cols: 1, rows: 1 },
        ToShim::Signal { signal: 9, scope: edgeplane_wire::shim::SignalScope::Program },
        ToShim::Stop { grace_ms: 0, signal: 9 },
        ToShim::Kill,
        ToShim::CloseInput,
        ToShim::Sync,
    ] {
        let mut observer = shim.connect(KEY, Role::Observe);
        observer.hello();
        observer.send(&frame);
        assert_eq!(observer.refusal(), "an observer may only read", "{frame:?}");
    }
    assert_eq!(shim.control.status().state, EpochState::Running);
    shim.control.send(&ToShim::CloseInput);
    observer.exit();
    assert_eq!(shim.finish().output_bytes, 5);
}

/// SHIM-025
#[test]
fn connections_are_bounded_and_strangers_give_way() {
    let dir = epoch_dir();
    let mut shim = Shim::launch(spec(dir.path(), "cat"));
    let strangers: Vec<_> = (0..8).map(|_| shim.dial()).collect();
    let mut known: Vec<_> = (0..8).map(|_| shim.connect(KEY, Role::Observe)).collect();
    for conn in &mut known {
        conn.hello();
    }
    drop(strangers);
    assert_eq!(shim.connect(KEY, Role::Control).refusal(), "too many connections to the shim");
    known.pop();
    let is_let_in = until(Deadline::after(crate::harness::SOON), || {
        let mut conn = shim.connect(KEY, Role::Control);
        conn.expect("answer", |frame| match frame {
            FromShim::Hello { .. } => Some(true),
            FromShim::Refused { .. } => Some(false),
            _ => None,
        })
    });
    assert!(is_let_in);
    shim.control.send(&ToShim::CloseInput);
    shim.finish();
}

/// SHIM-024
#[test]
fn socket_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let dir = epoch_dir();
    let mut shim = Shim::launch(spec(dir.path(), "cat"));
    for name in ["sock", "000001.cast", "exit"] {
        let mode = std::fs::metadata(dir.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    shim.control.send(&ToShim::CloseInput);
    shim.finish();
}
