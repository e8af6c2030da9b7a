//! An epoch that is over never begins, and a message that was cut short leaves its mark.

use edgeplane_os::{lock::DirLock, proc};
use edgeplane_wire::shim::{FromShim, InputKind, LaunchStep, ToShim};

use crate::harness::{Birth, Shim, epoch_dir, eventually, spec, start};
use crate::recorded::Recorded;

fn refusal(spec: &edgeplane_wire::spec::LaunchSpec) -> String {
    let (spawned, mut control) = start(Birth::plain());
    control.send(&ToShim::Launch { spec: &spec.encode() });
    let text = control.expect("refusal", |frame| match frame {
        FromShim::LaunchFailed { step: LaunchStep::Prepare, text, .. } => {
            Some(String::from_utf8_lossy(text).into_owned())
        }
        _ => None,
    });
    eventually("the shim ends", || !proc::stat(spawned.pid).is_ok_and(|stat| stat.is_alive()));
    text
}

/// SHIM-035
#[test]
fn fenced_or_held_epoch_is_refused() {
    let dir = epoch_dir();
    let spec = spec(dir.path(), "touch ran; sleep 100");
    let held = DirLock::acquire(dir.path()).unwrap();
    assert!(refusal(&spec).contains("in use"));
    drop(held);
    std::fs::write(dir.path().join("fenced"), "").unwrap();
    assert!(refusal(&spec).contains("fenced"));
    std::fs::remove_file(dir.path().join("fenced")).unwrap();
    let mut shim = Shim::launch(crate::harness::spec(dir.path(), "exit 0"));
    shim.finish();
}

/// SHIM-036
#[test]
fn message_cut_short_is_marked_and_not_recorded_as_input() {
    let dir = epoch_dir();
    // The program reads nothing, so the pipe takes only the first part of a long message.
    let mut shim = Shim::launch(spec(dir.path(), "sleep 100"));
    let long = vec![b'x'; 1 << 20];
    shim.control.send(&ToShim::Input { id: [7; 16], kind: InputKind::Message, bytes: &long });
    let marked = || {
        let recorded = Recorded::read(dir.path());
        recorded.others().iter().any(|(code, _)| *code == 'm')
    };
    eventually("the mark is written", marked);
    shim.kill_shim();
    eventually("the shim is gone", || DirLock::acquire(dir.path()).is_ok());
    let recorded = Recorded::read(dir.path());
    let codes: Vec<char> = recorded.others().iter().map(|(code, _)| *code).collect();
    assert_eq!(codes, ['m']);
}
