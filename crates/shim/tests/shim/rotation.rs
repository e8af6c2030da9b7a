//! Segments: when one ends, what is told, what is durable.

use edgeplane_wire::{
    shim::{FromShim, InputKind, OutputStream, ToShim},
    spec::LaunchSpec,
};

use crate::harness::{Conn, Shim, epoch_dir, spec};
use crate::recorded::Recorded;

fn sealed(conn: &mut Conn) -> (u32, u64, u64) {
    conn.expect("seal", |frame| match frame {
        FromShim::Sealed { segment, from, to } => Some((*segment, *from, *to)),
        _ => None,
    })
}

/// SHIM-026
#[test]
fn segment_ends_at_its_size_between_two_events() {
    let dir = epoch_dir();
    let script = "for i in 1 2 3 4 5; do read x; head -c 700 /dev/zero | tr '\\0' \"$i\"; done";
    let mut shim = Shim::launch(LaunchSpec { segment_bytes_max: 900, ..spec(dir.path(), script) });
    let mut seals = Vec::new();
    for id in 1..=5_u8 {
        shim.control.send(&ToShim::Input { id: [id; 16], kind: InputKind::Message, bytes: b"\n" });
        if id > 1 {
            seals.push(sealed(&mut shim.control));
        }
        shim.control.until_shown(&id.to_string().repeat(700));
    }
    shim.finish();
    assert_eq!(seals, [(1, 0, 700), (2, 700, 1400), (3, 1400, 2100), (4, 2100, 2800)]);
    let recorded = Recorded::read(dir.path());
    let mut expected = seals;
    expected.push((5, 2800, 3500));
    assert_eq!(recorded.segments, expected);
    let whole: String = (1..=5).map(|digit: u8| digit.to_string().repeat(700)).collect();
    assert_eq!(recorded.stream(OutputStream::Out), whole.as_bytes());
}

/// SHIM-026
#[test]
fn segment_ends_at_its_age_only_if_it_holds_output() {
    let dir = epoch_dir();
    let given = LaunchSpec {
        segment_age_max_ms: 50,
        ..spec(dir.path(), "read x; echo one; read x; echo two; read x")
    };
    let mut shim = Shim::launch(given);
    shim.control.input(1, InputKind::Message, b"\n");
    assert_eq!(sealed(&mut shim.control), (1, 0, 4));
    shim.control.input(2, InputKind::Message, b"\n");
    assert_eq!(sealed(&mut shim.control), (2, 4, 8));
    assert_eq!(shim.control.status().segment, 3, "without output no segment follows");
    shim.control.send(&ToShim::CloseInput);
    shim.finish();
    assert_eq!(Recorded::read(dir.path()).segments, [(1, 0, 4), (2, 4, 8), (3, 8, 8)]);
}

/// SHIM-027
#[test]
fn recording_is_durable_when_asked_for_and_by_itself_after_a_while() {
    let dir = epoch_dir();
    let mut shim = Shim::launch(spec(dir.path(), "echo one; read x; echo two; read x"));
    shim.control.until_shown("one");
    shim.control.send(&ToShim::Sync);
    let offset = shim.control.expect("sync", |frame| match frame {
        FromShim::Synced { offset } => Some(*offset),
        _ => None,
    });
    assert_eq!(offset, 4);
    shim.control.input(1, InputKind::Message, b"\n");
    shim.control.until_shown("two");
    assert_eq!(shim.control.status().head, 8);
    crate::harness::eventually("the rest is durable too", || shim.control.status().synced == 8);
    shim.control.send(&ToShim::CloseInput);
    shim.finish();
}
