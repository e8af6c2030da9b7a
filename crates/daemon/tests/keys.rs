//! The node's key, from its first start to its last rotation, and what the node vouches for with it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends at once")]

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::Output,
};

use edgeplane_os::Entropy as _;
use edgeplane_proof::{KeyRing, SignedBatch, signature};
use edgeplane_testkit::{Connection, Node, terminal, wait::eventually};
use edgeplane_types::{ErrorName, MessageId, Rung, SafeLabel};
use edgeplane_wire::{
    api::{
        Empty,
        message::{MessageParams, SignParams, SignResult, VerifyResult},
        security::KeyView,
    },
    catalogue::{KeyList, KeyRotate, MessageSign, MessageVerify, NodeStatus},
};
use serde_json::{Value, json};

fn keys(node: &Node) -> Vec<KeyView> {
    node.connect().call::<KeyList>(&Empty {}).items
}

/// The key that the record calls current; there is exactly one.
fn current(node: &Node) -> KeyView {
    let live: Vec<KeyView> = keys(node).into_iter().filter(|key| key.retired_at.is_none()).collect();
    let [key] = live.as_slice() else { panic!("one key is current: {live:?}") };
    key.clone()
}

fn key_dir(node: &Node) -> PathBuf {
    node.state_dir().join("keys")
}

fn seed_of(node: &Node, key: &SafeLabel) -> PathBuf {
    key_dir(node).join(format!("{key}.seed"))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn ring(keys: &[KeyView]) -> KeyRing {
    let mut ring = KeyRing::default();
    for key in keys {
        ring.add(key.public_key.parse().unwrap()).unwrap();
    }
    ring
}

fn verify(node: &Node, message_id: MessageId) -> VerifyResult {
    node.connect().call::<MessageVerify>(&MessageParams { message_id })
}

/// A node with somebody to speak to, and a message.
fn stage() -> (Node, MessageId) {
    let node = Node::start();
    node.run("listener", &terminal("listener", &["/bin/cat"], ""));
    let sent = node.signal("listener", "hello", Some(Rung::Accepted));
    (node, sent.message_id)
}

/// The one seed that is there is the current key's, nobody else can read it, and the node signs with it.
fn assert_sound(node: &Node, message: MessageId) -> KeyView {
    let key = current(node);
    let files: Vec<PathBuf> =
        fs::read_dir(key_dir(node)).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files, [seed_of(node, &key.key_id)]);
    assert_eq!((mode(&key_dir(node)), mode(&files[0])), (0o700, 0o600));
    let found = verify(node, message);
    assert_eq!((&found.key_id, &found.public_key), (&key.key_id, &key.public_key));
    let signed = signature::verify(&ring(std::slice::from_ref(&key)), &found.envelope, &found.signature);
    assert_eq!(signed.as_ref(), Ok(&key.key_id));
    key
}

fn events_of_keys(node: &Node) -> Vec<(String, Value, Value)> {
    let events = node.events("", &["key.created", "key.retired"]);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    events
        .iter()
        .map(|view| {
            let event = &view.event;
            assert!(text(&event["stream"]).starts_with("node/"), "{event}");
            (text(&event["type"]), event["payload"]["key_id"].clone(), event["actor"].clone())
        })
        .collect()
}

/// Proves SEC-001, SEC-002.
#[test]
fn node_has_a_key_from_its_first_start_on() {
    let (mut node, message) = stage();
    let key = assert_sound(&node, message);
    let [(kind, id, actor)] = &events_of_keys(&node)[..] else { panic!("{:?}", events_of_keys(&node)) };
    assert_eq!((kind.as_str(), id), ("key.created", &json!(key.key_id)));
    assert_eq!(actor, &json!({ "kind": "node", "rule": "first-key" }));
    let seed = fs::read(seed_of(&node, &key.key_id)).unwrap();
    assert_eq!(seed.len(), 32);
    node.kill_daemon();
    node.up();
    assert_eq!(assert_sound(&node, message), key);
    assert_eq!(fs::read(seed_of(&node, &key.key_id)).unwrap(), seed);
    assert_eq!(events_of_keys(&node).len(), 1);
}

/// Proves SEC-003.
#[test]
fn rotation_is_one_commit_and_old_signatures_stay_good() {
    let (node, message) = stage();
    let old = assert_sound(&node, message);
    let signed_before = verify(&node, message);
    let made = node.connect().call::<KeyRotate>(&Empty {});
    let new = assert_sound(&node, message);
    assert_eq!((&made.key_id, made.retired_at), (&new.key_id, None));
    assert_ne!(old.key_id, new.key_id);
    let events = events_of_keys(&node);
    let kinds: Vec<_> = events.iter().map(|(kind, id, _)| (kind.as_str(), id.as_str().unwrap())).collect();
    let (old_id, new_id) = (old.key_id.as_str(), new.key_id.as_str());
    assert_eq!(kinds, [("key.created", old_id), ("key.retired", old_id), ("key.created", new_id)]);
    assert!(events[2].2["name"].as_str().unwrap().starts_with("uid-"), "{events:?}");
    let positions = node.events("", &["key.retired", "key.created"]);
    assert_eq!(positions[1].pos + 1, positions[2].pos, "both are one commit");
    let all = keys(&node);
    assert_eq!(all.len(), 2);
    let signed = signature::verify(&ring(&all), &signed_before.envelope, &signed_before.signature);
    assert_eq!(signed, Ok(old.key_id.clone()));
    let unknown = signature::verify(&ring(&[new]), &signed_before.envelope, &signed_before.signature);
    assert!(unknown.unwrap_err().to_string().contains(old_id));
    // An agent may see the keys, and changes none.
    let mut agent = own_socket(&node, "listener");
    assert_eq!(agent.call::<KeyList>(&Empty {}).items.len(), 2);
    let denied = agent.try_call::<KeyRotate>(&Empty {}).unwrap_err();
    assert_eq!(denied.name(), ErrorName::PermissionDenied);
    node.verify();
}

fn own_socket(node: &Node, name: &str) -> Connection {
    let path = node.get(name).status.identities.network.socket.unwrap();
    Connection::open(Path::new(&path)).unwrap()
}

/// What a crash or somebody else left in the folder of keys, and what becomes of it.
struct Left {
    node: Node,
    message: MessageId,
}

impl Left {
    /// Changes the folder while no daemon runs, and expects the same key.
    fn keeps(&mut self, change: impl Fn(&Path, &Path)) {
        let before = current(&self.node);
        self.change(&change);
        assert_eq!(assert_sound(&self.node, self.message), before);
        assert!(self.check().0 == "ok", "{:?}", self.check());
    }

    /// The same, and expects a rotation by this rule, said aloud.
    fn rotates(&mut self, rule: &str, change: impl Fn(&Path, &Path)) {
        let before = current(&self.node);
        self.change(&change);
        let after = assert_sound(&self.node, self.message);
        assert_ne!(after.key_id, before.key_id);
        let events = events_of_keys(&self.node);
        let actor = json!({ "kind": "node", "rule": rule });
        let [.., (retired, old, by), (created, new, also_by)] = &events[..] else { panic!("{events:?}") };
        assert_eq!((retired.as_str(), created.as_str()), ("key.retired", "key.created"));
        assert_eq!((old, new), (&json!(before.key_id), &json!(after.key_id)));
        assert_eq!((by, also_by), (&actor, &actor));
        let (status, detail) = self.check();
        assert_eq!(status, "warn");
        assert!(detail.contains(before.key_id.as_str()), "{detail}");
        assert!(self.node.log().contains(rule), "the log tells why");
    }

    fn change(&mut self, change: &impl Fn(&Path, &Path)) {
        let seed = seed_of(&self.node, &current(&self.node).key_id);
        self.node.kill_daemon();
        change(&key_dir(&self.node), &seed);
        self.node.up();
    }

    fn check(&self) -> (String, String) {
        let status = self.node.connect().call::<NodeStatus>(&Empty {});
        let check = status.checks.into_iter().find(|check| check.name == "signing key").unwrap();
        (check.status, check.detail)
    }
}

fn put(path: &Path, bytes: &[u8]) {
    edgeplane_os::atomic::write_atomic(path, bytes, 0o600).unwrap();
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Proves SEC-004.
#[test]
fn node_signs_with_the_key_that_the_record_calls_current_wherever_a_crash_came() {
    let (node, message) = stage();
    let mut left = Left { node, message };
    // Before the commit: a seed of a key that never came to be, whole or cut short.
    left.keeps(|dir, _| put(&dir.join("ed25519-0123456789abcdef.seed"), &[7; 32]));
    left.keeps(|dir, _| put(&dir.join(".ed25519-0123456789abcdef.seed.99-0.tmp"), &[7; 9]));
    // After the commit: the old seed is still there.
    let old = current(&left.node);
    let old_seed = fs::read(seed_of(&left.node, &old.key_id)).unwrap();
    left.node.connect().call::<KeyRotate>(&Empty {});
    left.keeps(|dir, _| put(&dir.join(format!("{}.seed", old.key_id)), &old_seed));
    // A folder that others could look into holds nothing that they could read.
    left.keeps(|dir, _| set_mode(dir, 0o755));
}

/// Proves SEC-005.
#[test]
fn seed_that_is_lost_or_was_open_is_replaced_and_it_is_said() {
    let (node, message) = stage();
    let mut left = Left { node, message };
    left.rotates("key-missing", |_, seed| fs::remove_file(seed).unwrap());
    left.rotates("key-missing", |dir, _| fs::remove_dir_all(dir).unwrap());
    left.rotates("key-damaged", |_, seed| put(seed, &[7; 32]));
    left.rotates("key-damaged", |_, seed| put(seed, &[7; 31]));
    left.rotates("key-damaged", |dir, seed| {
        fs::rename(seed, dir.join("elsewhere")).unwrap();
        symlink(dir.join("elsewhere"), seed).unwrap();
        fs::remove_file(dir.join("elsewhere")).unwrap();
    });
    left.rotates("key-open", |_, seed| set_mode(seed, 0o640));
    left.rotates("key-open", |_, seed| set_mode(seed, 0o604));
    left.node.verify();
}

/// Proves SEC-004.
#[test]
fn kill_at_any_moment_of_a_rotation_leaves_one_key() {
    let (mut node, message) = stage();
    let mut known: BTreeSet<String> = BTreeSet::new();
    for round in 0..12_u64 {
        let mut connection = node.connect();
        let line = edgeplane_wire::rpc::request(
            &edgeplane_wire::rpc::Id::Number(1),
            "security/key.rotate",
            json!({}),
        );
        let dir = key_dir(&node);
        let before = names(&dir);
        connection.send(&line).unwrap();
        match round % 3 {
            // As soon as something changes in the folder, or a random while later, or once it is done.
            0 => eventually("a seed is written", || names(&dir) != before),
            1 => spin(),
            _ => drop(connection.read()),
        }
        node.kill_daemon();
        node.up();
        let key = assert_sound(&node, message);
        known.insert(key.key_id.to_string());
    }
    assert!(known.len() > 2, "some rotations were done: {known:?}");
    // Nor was a seed ever missing, which another key would have hidden.
    for (kind, id, actor) in events_of_keys(&node) {
        assert!(actor["kind"] == "operator" || actor["rule"] == "first-key", "{kind} {id} {actor}");
    }
    node.verify();
}

fn names(dir: &Path) -> BTreeSet<PathBuf> {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// Spends up to a few milliseconds.
fn spin() {
    let mut byte = [0; 2];
    edgeplane_os::SystemEntropy.fill(&mut byte);
    for _ in 0..u32::from(u16::from_le_bytes(byte)) * 16 {
        std::hint::spin_loop();
    }
}

/// Proves SEC-010, SEC-011.
#[test]
fn node_vouches_for_a_message_to_those_whom_it_concerns() {
    let (node, message) = stage();
    node.run("other", &terminal("other", &["/bin/cat"], ""));
    let sent = own_socket(&node, "other")
        .try_raw(
            "runtime/agent.signal",
            json!({ "agent": "listener", "parts": [{ "type": "text", "text": "x".repeat(100 << 10) }] }),
        )
        .unwrap();
    let from_other: MessageId = sent["message_id"].as_str().unwrap().parse().unwrap();
    let found = verify(&node, message);
    let uid = edgeplane_os::proc::uid(std::process::id()).unwrap();
    assert_eq!(found.header, format!("[OPERATOR MESSAGE from uid-{uid} on signal]"));
    assert!(found.content_matches && found.chain_verifies, "{found:?}");
    assert_eq!(found.verified_to, found.head);
    assert!(found.seq > 1 && found.seq < found.head, "{found:?}");
    assert_eq!(found.envelope.id, message);

    let as_who = |name: &str, message_id| {
        own_socket(&node, name).try_call::<MessageVerify>(&MessageParams { message_id })
    };
    assert!(as_who("listener", message).is_ok());
    assert_eq!(as_who("other", message).unwrap_err().name(), ErrorName::PermissionDenied);
    let by_sender = as_who("other", from_other).unwrap();
    assert_eq!(by_sender.header, "[PEER MESSAGE from other on signal]");
    let denied = own_socket(&node, "listener")
        .try_call::<MessageSign>(&SignParams { message_ids: vec![message] })
        .unwrap_err();
    assert_eq!(denied.name(), ErrorName::PermissionDenied);

    // Content of this length is a file of its own.
    let digest = &by_sender.envelope.content_digest;
    let body = find(&node.state_dir().join("record"), digest).unwrap();
    let mut bytes = fs::read(&body).unwrap();
    bytes[50] ^= 1;
    fs::set_permissions(&body, fs::Permissions::from_mode(0o600)).unwrap();
    put(&body, &bytes);
    let found = verify(&node, from_other);
    assert!(!found.content_matches && found.chain_verifies, "{found:?}");
}

/// The file below `dir` whose path holds all of a digest.
fn find(dir: &Path, digest: &str) -> Option<PathBuf> {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).find_map(|path| {
        if path.is_dir() {
            return find(&path, digest);
        }
        let plain: String = path.to_string_lossy().chars().filter(char::is_ascii_hexdigit).collect();
        plain.ends_with(digest).then_some(path)
    })
}

/// Proves SEC-012.
#[test]
fn many_messages_leave_with_one_signature() {
    let (node, first) = stage();
    let mut ids = vec![first];
    for number in 0..4 {
        ids.push(node.signal("listener", &format!("number {number}"), Some(Rung::Accepted)).message_id);
    }
    ids.reverse();
    let sign =
        |ids: &[MessageId]| node.connect().try_call::<MessageSign>(&SignParams { message_ids: ids.to_vec() });
    let signed: SignResult = sign(&ids).unwrap();
    assert_eq!(signed.envelopes.iter().map(|envelope| envelope.id).collect::<Vec<_>>(), ids);
    let leaves = signed.leaves.iter().map(|leaf| leaf.parse().unwrap()).collect();
    let batch = SignedBatch { signature: signed.signature.clone(), leaves };
    let ring = ring(&keys(&node));
    let verified = batch.verify(&ring).unwrap();
    for (index, envelope) in signed.envelopes.iter().enumerate() {
        assert_eq!(verified.verify(index, envelope), Ok(&signed.key_id));
        assert!(verified.verify((index + 1) % ids.len(), envelope).is_err());
    }
    let named = |result: Result<SignResult, edgeplane_wire::rpc::RpcError>| result.unwrap_err().name();
    assert_eq!(named(sign(&[])), ErrorName::InvalidParams);
    assert_eq!(named(sign(&vec![first; 1_025])), ErrorName::TooLarge);
    assert_eq!(named(sign(&[first, first])), ErrorName::NotFound);
    let unknown: MessageId = "msg_01890000-0000-7000-8000-000000000002".parse().unwrap();
    assert_eq!(named(sign(&[first, unknown])), ErrorName::NotFound);
}

fn run(node: &Node, words: &[&str]) -> Output {
    node.cli(words).output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Proves SEC-013, SEC-014.
#[test]
fn exported_messages_are_verified_without_a_node() {
    let (mut node, message) = stage();
    let id = message.to_string();
    let shown = stdout(&run(&node, &["message", "show", &id]));
    assert!(shown.contains("accepted") && shown.trim_end().ends_with("hello"), "{shown}");
    assert!(stdout(&run(&node, &["message", "verify", &id])).starts_with("ok: "));
    let file = node.scratch().join("export.json");
    let path = file.to_string_lossy().into_owned();
    fs::copy(write_export(&node, &id), &file).unwrap();
    let text = fs::read_to_string(&file).unwrap();
    let key = current(&node).public_key;
    assert!(stdout(&run(&node, &["message", "verify", "--file", &path])).starts_with("ok: 1 message"));
    node.connect().call::<KeyRotate>(&Empty {});
    let other = current(&node).public_key;
    assert!(stdout(&run(&node, &["message", "verify", "--file", &path])).starts_with("ok: 1 message"));
    node.kill_daemon();

    let offline = |key: &str| run(&node, &["message", "verify", "--file", &path, "--key", key, "-o", "json"]);
    let report: Value = serde_json::from_str(&stdout(&offline(&key))).unwrap();
    assert_eq!((&report["ok"], &report["items"][0]["content"]), (&json!(true), &json!("matches")));
    assert_eq!(
        offline(&other).status.code(),
        Some(1),
        "another key of the same node is not what was asked for"
    );
    assert_eq!(offline("nonsense").status.code(), Some(64));
    let without_key = run(&node, &["message", "verify", "--file", &path]);
    assert_eq!(without_key.status.code(), Some(69), "without a key the node must tell its own");
    for (from, to) in
        [("\"hello\"", "\"hallo\""), ("\"trusted\"", "\"untrusted\""), ("\"operator\"", "\"system\"")]
    {
        assert!(text.contains(from), "{text}");
        put(&file, text.replace(from, to).as_bytes());
        assert_eq!(offline(&key).status.code(), Some(1), "{to}");
    }
    put(&file, b"{}");
    assert_eq!(offline(&key).status.code(), Some(65));
}

fn write_export(node: &Node, id: &str) -> PathBuf {
    let path = node.scratch().join("written.json");
    let text = stdout(&run(node, &["message", "export", "--content", id]));
    put(&path, text.as_bytes());
    path
}
