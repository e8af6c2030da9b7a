//! Every frame survives its bytes; no bytes do harm.

use proptest::prelude::*;

use super::*;

fn status() -> Status {
    Status {
        epoch: 7,
        state: EpochState::Running,
        shim_pid: 11,
        shim_start: 12,
        pid: 13,
        start: 14,
        head: 15,
        synced: 16,
        segment: 17,
        cols: 80,
        rows: 24,
    }
}

fn check_to(frame: &ToShim<'_>) {
    let mut out = b"before".to_vec();
    frame.encode(&mut out);
    let (body, len) = split_frame(&out[6..]).unwrap().unwrap();
    assert_eq!(len, out.len() - 6);
    assert_eq!(&ToShim::decode(body).unwrap(), frame);
    assert_eq!(split_frame(&out[6..out.len() - 1]), Ok(None));
}

fn check_from(frame: &FromShim<'_>) {
    let mut out = Vec::new();
    frame.encode(&mut out);
    let (body, _) = split_frame(&out).unwrap().unwrap();
    assert_eq!(&FromShim::decode(body).unwrap(), frame);
}

#[test]
fn frames_survive_their_bytes() {
    check_to(&ToShim::Hello { version_min: 1, version_max: 3, key: [9; 32], role: Role::Control });
    check_to(&ToShim::Subscribe);
    check_to(&ToShim::Input { id: [3; 16], kind: InputKind::Message, bytes: b"hello" });
    check_to(&ToShim::Resize { cols: 132, rows: 43 });
    check_to(&ToShim::Signal { signal: 2, scope: SignalScope::Foreground });
    check_to(&ToShim::Status);
    check_to(&ToShim::Sync);
    check_to(&ToShim::CloseInput);
    check_to(&ToShim::InputState { id: [4; 16] });
    check_to(&ToShim::Stop { grace_ms: 10_000, signal: 15 });
    check_to(&ToShim::Kill);
    check_to(&ToShim::Launch { spec: b"spec" });
    check_to(&ToShim::Run { id: [5; 16], spec: b"command" });
    check_to(&ToShim::EndCommand { id: [5; 16] });
    check_to(&ToShim::CommandInput { id: [5; 16], input: [6; 16], closes: true, bytes: b"yes" });
    check_to(&ToShim::CommandInput { id: [5; 16], input: [6; 16], closes: false, bytes: b"" });
    check_from(&FromShim::Hello { version: 1, status: status() });
    check_from(&FromShim::Subscribed { head: 5 });
    check_from(&FromShim::Output { offset: 5, stream: OutputStream::Err, bytes: b"\xff\x00" });
    check_from(&FromShim::Lagged { from: 1, to: 2 });
    check_from(&FromShim::Input { id: [1; 16], outcome: InputOutcome::Duplicate });
    check_from(&FromShim::Exited(Exit {
        value: 9,
        signaled: true,
        output_bytes: 77,
        cgroup_empty: true,
        tree_empty: true,
        ended_at: 123,
        ran_ms: 456,
    }));
    check_from(&FromShim::Synced { offset: 5 });
    check_from(&FromShim::Sealed { segment: 1, from: 2, to: 3 });
    check_from(&FromShim::Gap { from: 1, to: 2, errno: 28 });
    check_from(&FromShim::Status(status()));
    check_from(&FromShim::Started(status()));
    check_from(&FromShim::LaunchFailed { step: LaunchStep::Program, errno: 2, text: b"no such file" });
    check_from(&FromShim::Refused { text: b"wrong key" });
    check_from(&FromShim::Command { id: [5; 16], errno: 2, text: b"no such file" });
    check_from(&FromShim::CommandInput { id: [5; 16], input: [6; 16], outcome: InputOutcome::Written });
}

#[test]
fn oversized_and_empty_frames_are_refused() {
    assert_eq!(split_frame(&u32::MAX.to_le_bytes()), Err(DecodeError::Limit));
    assert_eq!(split_frame(&[0; 8]), Err(DecodeError::Limit));
    assert_eq!(split_frame(&[1, 0, 0]), Ok(None));
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _to = ToShim::decode(&bytes);
        let _from = FromShim::decode(&bytes);
        let _split = split_frame(&bytes);
        let _exit = Exit::decode(&bytes);
    }
}
