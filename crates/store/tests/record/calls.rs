//! Keys that calls were made under.

use edgeplane_types::{
    Fact, Timestamp,
    fact::{CallEnd, UnkeptReason},
};

use crate::support::{Maker, assert_sound, node, open, stream, text_body};

fn began(key: &str) -> Fact {
    Fact::CallBegan { method: "m".into(), key_digest: key.into(), params_digest: "p".into() }
}

fn ended(key: &str, end: CallEnd) -> Fact {
    Fact::CallEnded { key_digest: key.into(), end }
}

/// Proves CALL-024, CALL-026.
#[test]
fn keys_are_kept_for_two_days_and_freed_by_what_changed_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let at = |hours: i64, facts: Vec<Fact>| {
        let mut batch = maker.batch(node(), facts);
        for event in &mut batch.events {
            event.ts = Timestamp::from_micros(hours * 3_600_000_000);
        }
        batch.bodies.push(text_body("result"));
        store.append(batch)
    };
    let known = |key: &str| store.reader().call(key).unwrap();
    let done = CallEnd::Done { digest: text_body("result").digest().to_string(), bytes: 6 };
    at(0, vec![began("a"), began("b"), began("c"), ended("a", done.clone())]).unwrap();
    let row = known("a").unwrap();
    assert_eq!((row.method.as_str(), row.params_digest.as_str(), row.end), ("m", "p", Some(done)));
    assert_eq!(known("b").unwrap().end, None, "whoever began it may have died");
    at(1, vec![ended("c", CallEnd::Released)]).unwrap();
    assert_eq!(known("c"), None);
    at(2, vec![began("c"), ended("c", CallEnd::Unkept { why: UnkeptReason::Secret })]).unwrap();
    assert!(at(3, vec![began("a")]).is_err(), "a key stands for one call");
    assert!(store.append(maker.batch(stream(1), [began("z")])).is_err(), "in the node's stream");
    at(48, vec![began("d")]).unwrap();
    assert!(known("a").is_some() && known("b").is_some());
    at(49, vec![began("e")]).unwrap();
    assert!(known("a").is_none() && known("b").is_none() && known("c").is_some());
    // One that ends behind its time has no row any more.
    at(60, vec![ended("b", CallEnd::Released), began("b")]).unwrap();
    assert!(known("b").is_some() && known("c").is_none());
    assert_sound(&store.reader());
}
