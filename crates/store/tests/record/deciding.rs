//! What people and rules decide: actions, tokens, keys, policy.

use edgeplane_store::{ActionFilter, AppendError, Store};
use edgeplane_types::{
    Fact, Scope, StreamName, Timestamp, TokenKind,
    decision::{Action, ActionKind, ActionOutcome, Verdict},
};

use crate::{
    decisions::{action, action_id, label, opened, refusal, resolved, token, token_id, voted},
    support::{Maker, agent, assert_sound, message, node, open, stream},
};

fn store() -> (tempfile::TempDir, Store, Maker) {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    (dir, store, Maker::default())
}

#[track_caller]
fn assert_refused(store: &Store, maker: &Maker, (stream, fact): (StreamName, Fact), why: &str) {
    let result = store.append(maker.batch(stream, [fact]));
    let Err(AppendError::Refused { source, .. }) = result else { panic!("{result:?}") };
    assert!(source.to_string().contains(why), "{source}");
}

/// Proves MSG-053.
#[test]
fn action_is_decided_once_and_about_one_digest() {
    let (_dir, store, maker) = store();
    store.append(maker.batch(stream(1), [opened(1, 1, 50), voted(1, "ann", "d")])).unwrap();
    let refused = |stream, fact, why| assert_refused(&store, &maker, (stream, fact), why);
    refused(stream(1), voted(1, "bob", "e"), "names another digest");
    let again = Box::new(Action { idempotency_key: None, ..action(1, 1, 50) });
    refused(stream(1), Fact::ActionOpened { action: again }, "is opened already");
    let other = Box::new(Action { id: action_id(7), ..action(1, 1, 50) });
    refused(stream(1), Fact::ActionOpened { action: other }, "key `key-1` of `asker` is used already");
    refused(stream(2), opened(1, 2, 50), "does not belong into stream");
    refused(stream(2), voted(1, "bob", "d"), "does not belong into stream");
    refused(stream(1), voted(9, "bob", "d"), "was not opened");
    refused(stream(1), resolved(9, ActionOutcome::Denied), "was not opened");
    let read = || store.reader().action(&action_id(1)).unwrap().unwrap();
    let pending = read();
    let by_key = |asker, key| store.reader().action_by_key(&agent(asker), key).unwrap();
    assert_eq!(by_key(1, "key-1").as_ref(), Some(&pending));
    assert_eq!((by_key(1, "key-2"), by_key(2, "key-1")), (None, None));
    assert_eq!((pending.action, pending.votes.len(), pending.resolution), (action(1, 1, 50), 1, None));

    store
        .append(maker.batch(stream(1), [voted(1, "bob", "d"), resolved(1, ActionOutcome::Approved)]))
        .unwrap();
    let decided = read();
    let who: Vec<_> = decided.votes.iter().map(|vote| vote.principal.as_str()).collect();
    assert_eq!((who, &decided.votes[0].verdict), (vec!["ann", "bob"], &Verdict::APPROVE));
    let resolution = decided.resolution.unwrap();
    assert_eq!((resolution.outcome, resolution.by.len()), (ActionOutcome::Approved, 2));
    assert_eq!(resolution.told_by, Some(message(2)));
    assert_eq!(resolution.answer, Some(serde_json::json!({ "go": true })));
    assert!(resolution.at > decided.opened_at);
    refused(stream(1), resolved(1, ActionOutcome::Denied), "is resolved already");
    refused(stream(1), voted(1, "eve", "d"), "is resolved already");
    assert_sound(&store.reader());
}

/// Proves MSG-053.
#[test]
fn pending_actions_are_listed_and_found_by_the_end_of_their_time() {
    let (_dir, store, maker) = store();
    store.append(maker.batch(stream(1), [opened(1, 1, 50), opened(1, 2, 30), opened(1, 3, 40)])).unwrap();
    store.append(maker.batch(stream(2), [opened(2, 4, 20)])).unwrap();
    let reader = store.reader();
    let list = |filter, of: Option<u8>, rows| {
        let rows = reader.actions(filter, of.map(agent).as_ref(), rows).unwrap();
        rows.into_iter().map(|row| row.action.id).collect::<Vec<_>>()
    };
    let (pending, all) = (ActionFilter::Pending, ActionFilter::All);
    assert_eq!(list(pending, None, 9), [1, 2, 3, 4].map(action_id));
    assert_eq!(list(pending, Some(1), 2), [2, 3].map(action_id), "the oldest are left out");
    let next =
        |of: Option<u8>| reader.next_action_expiry(of.map(agent).as_ref()).unwrap().map(Timestamp::as_micros);
    assert_eq!((next(None), next(Some(1)), next(Some(3))), (Some(20), Some(30), None));
    let over = |of: Option<u8>, micros, rows| {
        let now = Timestamp::from_micros(micros);
        reader.expired_actions(of.map(agent).as_ref(), now, rows).unwrap()
    };
    assert_eq!(over(None, 40, 9), [4, 2, 3].map(action_id));
    assert_eq!((over(Some(1), 40, 1), over(Some(1), 29, 9)), (vec![action_id(2)], vec![]));

    store.append(maker.batch(stream(1), [resolved(2, ActionOutcome::Expired)])).unwrap();
    store.append(maker.batch(stream(2), [resolved(4, ActionOutcome::Cancelled)])).unwrap();
    assert_eq!(list(pending, None, 9), [1, 3].map(action_id));
    assert_eq!((list(pending, Some(2), 9), list(all, Some(2), 9)), (vec![], vec![action_id(4)]));
    assert_eq!(list(all, None, 9).len(), 4);
    let count = |of, kind| store.reader().pending_actions(&agent(of), kind).unwrap();
    assert_eq!((count(1, ActionKind::Approval), count(1, ActionKind::Question)), (2, 0));
    assert_eq!(count(2, ActionKind::Approval), 0);
    assert_eq!((next(None), over(None, 40, 9)), (Some(40), vec![action_id(3)]));
}

/// Proves MSG-054.
#[test]
fn token_is_found_by_its_digest_and_ends_once() {
    let (_dir, store, maker) = store();
    store.append(maker.batch(node(), [token(1, "one"), token(2, "two")])).unwrap();
    let found = store.reader().token_by_digest("one").unwrap().unwrap();
    assert_eq!((found.id, found.kind, found.principal.as_str()), (token_id(1), TokenKind::Service, "ci"));
    assert_eq!((found.scopes, found.roles), (vec![Scope::Signal], vec![label("release")]));
    assert_eq!((found.expires_at, found.revoked_at), (Some(Timestamp::from_micros(99)), None));
    assert_eq!(store.reader().token_by_digest("three").unwrap(), None);

    let revoke = |number, reason: &str| {
        let fact = Fact::TokenRevoked { token_id: token_id(number), reason: reason.to_owned() };
        store.append(maker.batch(node(), [fact]))
    };
    let first_at = revoke(1, "lost").unwrap().events[0].event.ts;
    revoke(1, "lost again").unwrap();
    let ended = store.reader().token(&token_id(1)).unwrap().unwrap();
    assert_eq!((ended.revoked_at, ended.revoked_reason.as_deref()), (Some(first_at), Some("lost")));
    assert_eq!(store.reader().token_by_digest("one").unwrap(), Some(ended));
    let tokens = store.reader().tokens().unwrap();
    assert_eq!(tokens.iter().map(|token| token.id).collect::<Vec<_>>(), [token_id(1), token_id(2)]);
    assert_eq!(tokens[1].revoked_at, None);

    assert!(matches!(revoke(9, "x"), Err(AppendError::Refused { .. })));
    let refused = |stream, fact, why| assert_refused(&store, &maker, (stream, fact), why);
    refused(node(), token(1, "three"), "is created already");
    refused(node(), token(3, "two"), "is created already");
    refused(stream(1), token(3, "three"), "does not belong into stream");
    assert_sound(&store.reader());
}

#[test]
fn keys_are_kept_after_they_are_retired() {
    let (_dir, store, maker) = store();
    let key = |id: &str| Fact::KeyCreated { key_id: label(id), public_key: format!("public {id}") };
    let retire = |id: &str| Fact::KeyRetired { key_id: label(id) };
    store.append(maker.batch(node(), [key("k2"), retire("k2"), key("k1")])).unwrap();
    let keys = store.reader().keys().unwrap();
    let shown: Vec<_> = keys.iter().map(|key| (key.id.as_str(), key.retired_at.is_some())).collect();
    assert_eq!((shown, keys[0].public_key.as_str()), (vec![("k2", true), ("k1", false)], "public k2"));
    let refused = |stream, fact, why| assert_refused(&store, &maker, (stream, fact), why);
    refused(node(), key("k2"), "is created already");
    refused(node(), retire("k3"), "was not created");
    refused(stream(1), key("k3"), "does not belong into stream");
    assert_sound(&store.reader());
}

#[test]
fn policy_in_force_and_refusals_are_known() {
    let (_dir, store, maker) = store();
    assert_eq!(store.reader().policy().unwrap(), None);
    let loaded = |digest: &str| Fact::PolicyLoaded {
        digest: digest.to_owned(),
        rules: 2,
        files: vec!["node.cedar".to_owned()],
    };
    let rejected = || Fact::PolicyRejected {
        file: "agent.cedar".to_owned(),
        problem: "a bracket is missing".to_owned(),
    };
    store.append(maker.batch(node(), [loaded("one"), rejected()])).unwrap();
    let policy = store.reader().policy().unwrap().unwrap();
    assert_eq!((policy.digest.as_deref(), policy.rules, policy.files.len()), (Some("one"), 2, 1));
    assert_eq!(policy.rejected.unwrap().0, "agent.cedar");
    store.append(maker.batch(node(), [loaded("two")])).unwrap();
    let policy = store.reader().policy().unwrap().unwrap();
    assert_eq!((policy.digest.as_deref(), policy.rejected), (Some("two"), None));

    store.append(maker.batch(node(), [refusal(Some(1), 1), refusal(Some(2), 7), refusal(None, 1)])).unwrap();
    store.append(maker.batch(node(), [refusal(Some(1), 40)])).unwrap();
    let counts = |of: Option<u8>, rows, before| {
        let rows = store.reader().refusals(of.map(agent).as_ref(), rows, before).unwrap();
        rows.into_iter().map(|row| (row.pos, row.count)).collect::<Vec<_>>()
    };
    assert_eq!(counts(None, 2, None), [(7, 40), (6, 1)]);
    assert_eq!(counts(None, 9, Some(6)), [(5, 7), (4, 1)]);
    assert_eq!(counts(Some(1), 9, None), [(7, 40), (4, 1)]);
    let newest = store.reader().refusals(Some(&agent(1)), 1, None).unwrap().remove(0);
    assert_eq!((newest.principal.as_str(), newest.rule.as_str()), ("eve", "quiet"));
    assert_sound(&store.reader());
}
