//! What may be asked, at each of its bounds.

use super::*;

#[track_caller]
fn check(change: impl FnOnce(&mut Request), kind: ActionKind, expected: &Result<(), RequestError>) {
    let mut request = request(kind);
    change(&mut request);
    assert_eq!(&open(request, at(OPENED_MS)).map(|_| ()), expected);
}

fn question(change: impl FnOnce(&mut Request), expected: &Result<(), RequestError>) {
    check(change, ActionKind::Question, expected);
}

fn approval(change: impl FnOnce(&mut Request), expected: &Result<(), RequestError>) {
    check(change, ActionKind::Approval, expected);
}

fn choice(value: &str) -> Choice {
    Choice { value: label(value), label: value.into() }
}

/// Proves ACT-001.
#[test]
fn opened_action_is_what_was_asked() {
    let asked = Request {
        subject_digest: Some("ef".repeat(32)),
        roles: labels(&["ops"]),
        quorum: 2,
        ..request(ActionKind::Approval)
    };
    let action = open(asked.clone(), at(OPENED_MS)).unwrap();
    let Action { id, kind, agent_id, epoch, principal, prompt, digest, .. } = action.clone();
    assert_eq!((id, kind, agent_id, epoch), (asked.id, asked.kind, asked.agent_id, asked.epoch));
    assert_eq!((principal, prompt, digest), (asked.principal, asked.prompt, asked.digest));
    assert_eq!((action.subject_digest, action.roles), (asked.subject_digest, asked.roles));
    assert_eq!((action.quorum, action.expires_at), (2, at(END_MS)));
}

/// Proves ACT-001.
#[test]
fn texts_and_lists_have_bounds() {
    let what = "prompt";
    approval(|r| r.prompt = "x".repeat(PROMPT_BYTES_MAX), &Ok(()));
    let (found, max) = (PROMPT_BYTES_MAX + 1, PROMPT_BYTES_MAX);
    approval(|r| r.prompt = "x".repeat(found), &Err(RequestError::TooLong { what, found, max }));
    for empty in ["", " \n\t"] {
        approval(|r| r.prompt = empty.into(), &Err(RequestError::Empty { what }));
    }

    let choices = |count: usize| (0..count).map(|n| choice(&n.to_string())).collect::<Vec<_>>();
    question(|r| r.choices = choices(CHOICES_MAX), &Ok(()));
    let (found, max) = (CHOICES_MAX + 1, CHOICES_MAX);
    let what = "choices";
    question(|r| r.choices = choices(found), &Err(RequestError::TooMany { what, found, max }));
    let double = Err(RequestError::DoubleChoice { value: label("a") });
    question(|r| r.choices = vec![choice("a"), choice("b"), choice("a")], &double);
    let labelled = |text: String| vec![Choice { value: label("a"), label: text }];
    let what = "label of a choice";
    question(|r| r.choices = labelled("x".repeat(LABEL_BYTES_MAX)), &Ok(()));
    let (found, max) = (LABEL_BYTES_MAX + 1, LABEL_BYTES_MAX);
    question(|r| r.choices = labelled("x".repeat(found)), &Err(RequestError::TooLong { what, found, max }));
    question(|r| r.choices = labelled(String::new()), &Err(RequestError::Empty { what }));

    let (found, max) = (ROLES_MAX + 1, ROLES_MAX);
    approval(|r| r.roles = vec![label("ops"); ROLES_MAX], &Ok(()));
    let many = Err(RequestError::TooMany { what: "roles", found, max });
    approval(|r| r.roles = vec![label("ops"); found], &many);
}

/// Proves ACT-001.
#[test]
fn quorum_and_time_have_bounds() {
    for quorum in [1, QUORUM_MAX] {
        approval(|r| r.quorum = quorum, &Ok(()));
    }
    for found in [0, QUORUM_MAX + 1, u32::MAX] {
        approval(|r| r.quorum = found, &Err(RequestError::Quorum { found }));
    }
    for lasts in [LASTS_MS_MIN, LASTS_MS_MAX] {
        approval(|r| r.lasts_ms = Some(lasts), &Ok(()));
    }
    for found_ms in [0, LASTS_MS_MIN - 1, LASTS_MS_MAX + 1, u64::MAX] {
        approval(|r| r.lasts_ms = Some(found_ms), &Err(RequestError::Lasts { found_ms }));
    }
    let action = open(Request { lasts_ms: None, ..request(ActionKind::Question) }, at(0)).unwrap();
    assert_eq!(action.expires_at, at(24 * 60 * 60 * 1_000));
}

/// Proves ACT-001.
#[test]
fn parts_go_together_or_it_is_not_opened() {
    let form = |problem| Err(RequestError::Form { problem });
    let schema = || Some(json!({ "type": "string" }));
    approval(|r| r.choices = vec![choice("a")], &form("an approval has no choices: ask a question"));
    approval(|r| r.schema = schema(), &form("an approval has no schema: ask a question"));
    question(|r| r.quorum = 2, &form("a question is answered by one person: its quorum is 1"));
    question(|r| r.schema = schema(), &Ok(()));
    let both = form("a question has choices or a schema, not both");
    question(|r| (r.schema, r.choices) = (schema(), vec![choice("a")]), &both);
}

/// Proves ACT-001 and ACT-002.
#[test]
fn digests_have_one_spelling() {
    for bad in [String::new(), "a".repeat(63), "a".repeat(65), "A".repeat(64), "g".repeat(64), "ä".repeat(32)]
    {
        let wrong = |what| Err(RequestError::Digest { what });
        approval(|r| r.digest = bad.clone(), &wrong("digest"));
        approval(|r| r.subject_digest = Some(bad.clone()), &wrong("digest of the subject"));
    }
}

/// Proves ACT-012.
#[test]
fn schema_that_is_not_understood_is_refused_by_its_keyword() {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string", "pattern": "^a" } } });
    let request = Request { schema: Some(schema), ..request(ActionKind::Question) };
    let error = open(request, at(OPENED_MS)).unwrap_err();
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(source.to_string(), "the keyword `pattern` at `#/properties/name` is not supported");
}
