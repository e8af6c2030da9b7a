//! A pack is made, and then each kind of byte of it is flipped, left out, put in or moved: each is found and named.

use edgeplane_types::AgentId;
use serde_json::json;

use super::*;

fn key(number: u8) -> SigningKey {
    SigningKey::from_seed([number; 32])
}

fn stream() -> StreamName {
    StreamName::Agent(AgentId::from_parts(7, [7; 10]))
}

fn hex(digest: &Digest) -> String {
    digest.to_string()
}

/// A pack of four events, the third of which names a body that is in it.
fn pack() -> BTreeMap<String, Vec<u8>> {
    let body = b"the body".to_vec();
    let body_digest = digest(&body);
    let stream = stream();
    let mut before = chain::genesis(&stream);
    let mut lines = Vec::new();
    for seq in 1..=4_u64 {
        let mut event = json!({ "seq": seq, "stream": stream.to_string(), "type": "item.reported" });
        if seq == 3 {
            event["payload"] =
                json!({ "body_digest": hex(&body_digest), "secret_digest": hex(&digest(b"no")) });
        }
        let bytes = canonical::to_vec(&event).unwrap();
        let hash = chain::link(&before, &bytes);
        let text = String::from_utf8(bytes).unwrap();
        let line = EventLine {
            seq,
            pos: seq + 10,
            prev_hash: before,
            hash,
            event: RawValue::from_string(text).unwrap(),
        };
        lines.push(serde_json::to_string(&line).unwrap());
        before = hash;
    }
    let events = (lines.join("\n") + "\n").into_bytes();
    let part = |path: &str, bytes: &[u8]| Part {
        path: path.to_owned(),
        digest: digest(bytes),
        bytes: bytes.len() as u64,
    };
    let (events_path, path) = ("events/one.jsonl", body_path(&body_digest));
    let public = key(1).public().clone();
    let manifest = Manifest {
        format: FORMAT.to_owned(),
        pack_id: "x".to_owned(),
        made_at: Timestamp::from_micros(5),
        node: json!({ "name": "n" }),
        scope: json!({ "node": true }),
        correlation: json!({}),
        agents: Vec::new(),
        streams: vec![StreamPart {
            stream,
            path: events_path.to_owned(),
            from_seq: 1,
            to_seq: 4,
            before: chain::genesis(&stream),
            head: before,
            newest_seq: 4,
        }],
        parts: vec![part(events_path, &events), part(&path, &body)],
        bodies: vec![BodyRef { digest: body_digest, status: "inline".to_owned(), reason: None }],
        recordings: Vec::new(),
        keys: vec![Key {
            key_id: public.key_id().clone(),
            public_key: public.to_string(),
            created_at: Timestamp::from_micros(1),
            retired_at: None,
        }],
        signals: Vec::new(),
        known_gaps: Vec::new(),
    };
    let bytes = manifest_bytes(&manifest).unwrap();
    let signature = key(1).sign_pack(&bytes).into_bytes();
    BTreeMap::from([
        (events_path.to_owned(), events),
        (path, body),
        (MANIFEST.to_owned(), bytes),
        (SIGNATURE.to_owned(), signature),
    ])
}

fn look(files: &BTreeMap<String, Vec<u8>>) -> Report {
    verify(files, &KeyRing::default(), false)
}

fn named(report: &Report, part: &str, what: &str) {
    let found = report.problems.iter().any(|one| one.part.contains(part) && one.what.contains(what));
    assert!(found && !report.ok, "`{part}` `{what}`: {:#?}", report.problems);
}

/// Proves EVD-001, EVD-003.
#[test]
fn whole_pack_verifies_and_says_by_whose_key() {
    let files = pack();
    let report = look(&files);
    assert!(report.ok, "{:#?}", report.problems);
    assert_eq!((report.events, report.bodies, report.parts), (4, 1, 2));
    assert!(!report.signer_is_known);
    let ring = |number: u8| {
        let mut ring = KeyRing::default();
        ring.add(key(number).public().clone()).unwrap();
        ring
    };
    assert!(verify(&files, &ring(1), true).signer_is_known);
    named(&verify(&files, &ring(2), true), SIGNATURE, "");
}

/// Proves EVD-003: one bit of any byte of any file.
#[test]
fn every_flipped_byte_is_found() {
    let files = pack();
    for (path, bytes) in &files {
        for at in 0..bytes.len() {
            let mut altered = files.clone();
            altered.get_mut(path).unwrap()[at] ^= 1;
            assert!(!look(&altered).ok, "byte {at} of {path}");
        }
    }
}

/// Proves EVD-003.
#[test]
fn what_is_left_out_put_in_or_moved_is_named() {
    let files = pack();
    for path in files.keys() {
        let mut fewer = files.clone();
        fewer.remove(path);
        named(&look(&fewer), path, "");
    }
    let mut more = files.clone();
    more.insert("events/two.jsonl".to_owned(), Vec::new());
    named(&look(&more), "events/two.jsonl", "put in");

    let events = String::from_utf8(files["events/one.jsonl"].clone()).unwrap();
    let lines: Vec<&str> = events.lines().collect();
    let with = |lines: &[&str]| {
        let mut altered = files.clone();
        altered.insert("events/one.jsonl".to_owned(), (lines.join("\n") + "\n").into_bytes());
        look(&altered)
    };
    named(&with(&[lines[0], lines[2], lines[3]]), "one.jsonl", "event 3 stands where event 2 should");
    named(&with(&[lines[0], lines[2], lines[1], lines[3]]), "one.jsonl", "stands where");
    named(&with(&lines[..3]), "one.jsonl", "should end with event 4");
    let forged = lines[1].replace("item.reported", "item.deported");
    named(&with(&[lines[0], &forged, lines[2], lines[3]]), "one.jsonl", "event 2 was altered");
}

/// Proves EVD-003: whoever signs anew has another key, and a manifest that forgets something is found out.
#[test]
fn forger_with_a_key_of_their_own_is_told_from_the_node() {
    let files = pack();
    let mut manifest: Manifest = serde_json::from_slice(&files[MANIFEST]).unwrap();
    manifest.bodies.clear();
    manifest.parts.retain(|part| !part.path.starts_with("bodies/"));
    let bytes = manifest_bytes(&manifest).unwrap();
    let mut forged = files.clone();
    forged.retain(|path, _| !path.starts_with("bodies/"));
    forged.insert(MANIFEST.to_owned(), bytes.clone());
    named(&look(&forged), SIGNATURE, "");
    forged.insert(SIGNATURE.to_owned(), key(1).sign_pack(&bytes).into_bytes());
    let report = look(&forged);
    named(&report, MANIFEST, "does not list body");
    assert_eq!(report.problems.len(), 1, "{:#?}", report.problems);
    forged.insert(SIGNATURE.to_owned(), key(9).sign_pack(&bytes).into_bytes());
    named(&look(&forged), SIGNATURE, "");
}

#[test]
fn digests_of_secrets_are_not_followed() {
    let body = digest(b"b");
    let event =
        json!({ "a": [{ "x_digest": hex(&body) }], "secret_digest": hex(&digest(b"s")), "digest": "short" });
    assert_eq!(referenced(&event), BTreeSet::from([body]));
}
