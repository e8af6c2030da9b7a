//! An action in full, as a person reads it before deciding.
//!
//! What the agent wrote stands indented under a heading, so that it can imitate none of the lines that the node vouches
//! for.

use edgeplane_types::decision::Verdict;
use edgeplane_wire::api::action::{ActionView, OptionView, VoteView};
use serde_json::Value;

use super::{approvals, kind_word, outcome_word};
use crate::{command::inbox::short_time, json, text};

/// What stands before each line of what the agent wrote.
const INDENT: &str = "    ";

/// The lines of an action.
pub(super) fn lines(view: &ActionView) -> Vec<String> {
    let action = &view.action;
    let mut out = vec![
        field("action", &format!("{}, {}", action.id, kind_word(action.kind))),
        field("asked by", &format!("{} as {}, epoch {}", view.agent, action.principal, action.epoch)),
        field("state", &state(view)),
        field("decided by", &who_decides(view)),
    ];
    out.extend(view.votes.iter().map(|vote| field("vote", &vote_line(vote))));
    out.extend(action.causation.map(|id| field("because of", &id.to_string())));
    out.extend(view.told_by.map(|id| field("told by", &id.to_string())));
    out.extend(view.answer.as_ref().map(|answer| field("answer", &answer.to_string())));
    out.push("prompt:".to_owned());
    out.extend(indented(&action.prompt));
    if !action.choices.is_empty() {
        out.push("choices:".to_owned());
        out.extend(action.choices.iter().flat_map(|c| indented(&format!("{}: {}", c.value, c.label))));
    }
    if let Some(schema) = &action.schema {
        out.push("schema of the answer:".to_owned());
        out.extend(indented(&json::pretty(schema)));
    }
    if !view.options.is_empty() {
        out.push("options that its program offers, for --option:".to_owned());
        for OptionView { id, name, kind, reach } in &view.options {
            out.extend(indented(&format!("{id}: {name}")));
            // The word is the node's where it knows it, and so is the reach.
            out.extend(indented(&format!("    {kind}, {reach}")));
        }
    }
    match (&view.subject, &action.subject_digest) {
        (Some(subject), _) => {
            out.push("subject, word for word:".to_owned());
            out.extend(indented(&match subject {
                Value::String(text) => text.clone(),
                other => json::pretty(other),
            }));
        }
        (None, Some(digest)) => out.push(field("subject", &format!("erased; its digest is {digest}"))),
        (None, None) => {}
    }
    out.push(field("digest", &action.digest));
    out
}

fn field(name: &str, value: &str) -> String {
    format!("{:<12}{}", format!("{name}:"), text::one_line(value))
}

fn indented(text: &str) -> Vec<String> {
    text::lines(text).lines().map(|line| format!("{INDENT}{line}")).collect()
}

fn state(view: &ActionView) -> String {
    match view.outcome {
        None => format!("pending until {}", short_time(&view.action.expires_at)),
        Some(outcome) => {
            let at = view.resolved_at.as_ref().map(short_time).unwrap_or_default();
            let reason = view.reason.as_deref().unwrap_or_default();
            format!("{} at {at}: {reason}", outcome_word(outcome))
        }
    }
}

fn who_decides(view: &ActionView) -> String {
    let roles = view.action.roles.iter().map(|role| role.as_str()).collect::<Vec<_>>();
    let who =
        if roles.is_empty() { "any operator".to_owned() } else { format!("roles {}", roles.join(", ")) };
    match view.action.quorum {
        1 => who,
        quorum => format!("{who}; {} of {quorum} have approved", approvals(view)),
    }
}

fn vote_line(vote: &VoteView) -> String {
    let what = match &vote.verdict {
        Verdict::Approve { .. } => "approves".to_owned(),
        Verdict::Deny { reason: Some(reason), .. } => format!("denies: {reason}"),
        Verdict::Deny { reason: None, .. } => "denies".to_owned(),
        Verdict::Answer { .. } => "answers".to_owned(),
    };
    let what = match vote.verdict.option() {
        Some(option) => format!("{what}, with `{option}`"),
        None => what,
    };
    format!("{} at {}: {what}", vote.principal, short_time(&vote.at))
}
