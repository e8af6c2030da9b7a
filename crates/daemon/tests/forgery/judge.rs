//! What came of an attempt, compared with what must have.

use std::collections::BTreeSet;

use edgeplane_testkit::{
    forgery::{self, Seen},
    wait::eventually_some,
};
use edgeplane_types::{Authority, ErrorName};
use edgeplane_wire::{
    api::message::{MessageParams, VerifyResult},
    catalogue::MessageVerify,
    rpc::RpcError,
};
use serde_json::{Value, json};

use crate::{
    stage::{COMMENT, Stage},
    table::{
        Known,
        Must::{Held, Nothing, Refused, Seen as Delivered, Typed},
        Row, Truth,
    },
};

/// A text of the table, with the operator's name.
pub(crate) fn named(stage: &Stage, text: &str) -> String {
    text.replace("UID", &stage.uid())
}

/// Makes an attempt and compares. A close look asks the command line, too.
pub(crate) fn judge(stage: &Stage, row: &Row, is_close: bool) {
    stage.unburden();
    stage.mark();
    let answer = (row.attack)(stage);
    if let Err(error) = &answer
        && error.message.starts_with("SKIPPED")
    {
        eprintln!("{}: {}", error.message, row.name);
        return;
    }
    match (row.must, answer) {
        (Delivered(truth), Ok(sent)) => {
            let id = accepted(stage, &sent, "reader");
            handed(stage, row, truth, &id);
            vouched_for(stage, truth, &id, is_close);
        }
        (Typed(truth), Ok(sent)) => {
            let id = accepted(stage, &sent, "typed");
            let text = stage.typed();
            compare(stage, truth, &forgery::read(&text, COMMENT).unwrap(), &id);
            plain(stage, row, &text);
            vouched_for(stage, truth, &id, is_close);
        }
        (Held(reason), Ok(sent)) => held(stage, reason, &accepted(stage, &sent, "lines")),
        (Nothing, Ok(_)) => untouched(stage, &of_others(stage)),
        (Refused(name, what), Err(error)) => refused(stage, name, what, &error),
        (must, answer) => panic!("must be {must:?}, is {answer:?}"),
    }
}

/// None of these lines stands below a header in anything that the program was handed.
pub(crate) fn nowhere(stage: &Stage, wanted: &BTreeSet<String>) {
    for text in stage.all_handed() {
        let lines = text.split('\n').skip(1).map(|line| line.strip_prefix("| ").unwrap_or(line));
        let found = lines.clone().find(|line| wanted.contains(*line));
        assert_eq!(found, None, "{text:?}");
    }
}

/// The events since the attempt began that are not about the attacker itself.
fn of_others(stage: &Stage) -> Vec<Value> {
    let own = format!("agent/{}", stage.node.get("mallory").status.identities.audit.agent_id);
    let events = stage.since().into_iter().map(|view| view.event);
    events.filter(|event| event["stream"] != own.as_str()).collect()
}

/// Exactly this message came to anybody but the attacker; gives its id.
fn accepted(stage: &Stage, sent: &Value, to: &str) -> String {
    let id = sent["message_id"].as_str().unwrap_or_else(|| panic!("no message: {sent}"));
    let events = of_others(stage);
    untouched_but(stage, &events, Some(id));
    let view = get(stage, id);
    assert_eq!(view["agent"], to, "{view}");
    id.to_owned()
}

fn untouched(stage: &Stage, events: &[Value]) {
    untouched_but(stage, events, None);
}

/// Nothing was accepted but this message, no other came further but by being written, and no words are anybody else's.
fn untouched_but(stage: &Stage, events: &[Value], message_id: Option<&str>) {
    let accepted: Vec<&Value> = events.iter().filter(|event| event["type"] == "message.accepted").collect();
    let ids: Vec<_> =
        accepted.iter().filter_map(|event| event["payload"]["envelope"]["id"].as_str()).collect();
    assert_eq!(ids, message_id.into_iter().collect::<Vec<_>>(), "what was accepted");
    for event in events {
        let kind = event["type"].as_str().unwrap();
        let climbed = kind.starts_with("message.") || kind.starts_with("turn.") || kind.starts_with("item.");
        let is_own = message_id.is_some_and(|id| event["payload"]["message_id"] == id);
        let is_usual = matches!(kind, "message.accepted" | "message.injected");
        assert!(!climbed || is_usual || is_own, "{event}");
    }
    // What the attacker's program says of itself names no message but its own.
    for view in stage.since() {
        let named = &view.event["payload"]["message_id"];
        let kind = view.event["type"].as_str().unwrap();
        if matches!(kind, "turn.completed" | "item.reported") && !named.is_null() {
            assert_eq!(get(stage, named.as_str().unwrap())["agent"], "mallory", "{}", view.event);
        }
    }
}

fn get(stage: &Stage, id: &str) -> Value {
    stage.node.connect().try_raw("runtime/message.get", json!({ "message_id": id })).unwrap()
}

/// What the native program was handed says whose it is, and nothing in it says something else.
fn handed(stage: &Stage, row: &Row, truth: Truth, id: &str) {
    let line = stage.handed(id);
    let params = &line["params"];
    let text = params["text"].as_str().unwrap();
    let seen = forgery::read(text, "").unwrap_or_else(|error| panic!("{error}: {text:?}"));
    compare(stage, truth, &seen, id);
    plain(stage, row, text);
    assert_eq!(params["channel"], seen.channel.to_lowercase().as_str(), "{params}");
    assert_eq!(params["source"], seen.principal.as_str(), "{params}");
    assert_eq!(params["authority"], truth.weighs.as_str(), "{params}");
    assert_eq!(params["source_agent"].is_null(), !is_agents(truth), "{params}");
    assert_eq!(params["redelivered"], Value::Null, "{params}");
    assert_eq!(params["preview"] == true, truth.is_preview, "{params}");
}

fn is_agents(truth: Truth) -> bool {
    !matches!(truth.proof, Known::ServiceToken | Known::Nothing)
}

fn compare(stage: &Stage, truth: Truth, seen: &Seen, id: &str) {
    let (channel, principal, ingress, is_again) = forgery::header(&named(stage, truth.header)).unwrap();
    let found = (&seen.channel, &seen.principal, &seen.ingress, seen.is_again);
    assert_eq!(found, (&channel, &principal, &ingress, is_again), "the header");
    let mut lines: Vec<String> = seen.origin.iter().map(|origin| format!("origin: {origin}")).collect();
    lines.extend(seen.behalf.iter().map(|behalf| format!("on behalf of {behalf}")));
    let expected: Vec<String> = truth.lines.iter().map(|line| named(stage, line)).collect();
    assert_eq!(lines, expected, "the lines of the node");
    let is_found = ["TOOL", "DOCUMENT", "WEB"].contains(&&*channel);
    let nonce = &id[id.len() - 12..];
    let fence = (truth.weighs > Authority::Delegated || is_found)
        .then(|| (truth.weighs.as_str().to_owned(), nonce.to_owned()));
    assert_eq!(seen.fence, fence, "the fence");
    assert_eq!(seen.preview.is_some(), truth.is_preview, "what is said of the rest");
    assert_eq!(forgery::mistakable(seen), None, "the content: {:?}", seen.content);
    assert!(
        truth.shown.is_empty() || seen.content.iter().any(|line| line == truth.shown),
        "{:?} in {:?}",
        truth.shown,
        seen.content
    );
}

/// Nothing in a text acts on a terminal, and no line is what was wanted.
fn plain(stage: &Stage, row: &Row, text: &str) {
    assert_eq!(forgery::acting(text), None, "it acts");
    let wanted = named(stage, row.wants);
    let unmarked = |line| ["# ", "| "].iter().find_map(|mark| str::strip_prefix(line, mark)).unwrap_or(line);
    let lines = text.split('\n').map(unmarked);
    assert!(wanted.is_empty() || lines.clone().skip(1).all(|line| line != wanted), "{wanted:?} in {text:?}");
}

/// The record says the same of a message as its header.
fn vouched_for(stage: &Stage, truth: Truth, id: &str, is_close: bool) {
    let params = MessageParams { message_id: id.parse().unwrap() };
    let found: VerifyResult = stage.node.connect().call::<MessageVerify>(&params);
    assert_eq!(found.header, named(stage, truth.header));
    assert!(found.content_matches && found.chain_verifies, "{found:?}");
    let event = stage
        .since()
        .into_iter()
        .map(|view| view.event)
        .find(|event| event["type"] == "message.accepted" && event["payload"]["envelope"]["id"] == id);
    let event = event.unwrap();
    let envelope = &event["payload"]["envelope"];
    let (channel, principal, ingress, _) = forgery::header(&found.header).unwrap();
    let source = &envelope["source"];
    let expected = [channel.to_lowercase(), principal.clone(), ingress, truth.weighs.to_string()];
    let recorded = [&envelope["channel"], &source["principal"], &envelope["ingress"], &envelope["authority"]];
    assert_eq!(recorded.map(|value| value.as_str().unwrap().to_owned()), expected, "{envelope}");
    assert!(proofs(truth.proof).contains(&source["proof"].as_str().unwrap()), "{envelope}");
    assert_eq!(source["agent_id"].is_null(), !is_agents(truth), "{envelope}");
    assert_eq!((&event["actor"]["kind"], &event["actor"]["name"]), (&json!(actor(truth)), &json!(principal)));
    let name = source["display_name"].as_str().unwrap_or_default();
    assert!(forgery::acting(name).is_none() && !name.contains('\n'), "{name:?}");
    if is_close {
        shown(stage, envelope, id);
    }
}

fn proofs(known: Known) -> &'static [&'static str] {
    match known {
        Known::Socket => &["epoch_socket"],
        Known::Sight => &["cgroup_and_ancestry", "ancestry"],
        Known::Descent => &["ancestry"],
        Known::Disagreement => &["disagreement"],
        Known::Driver => &["driver"],
        Known::EpochToken => &["epoch_token"],
        Known::ServiceToken => &["service_token"],
        Known::Nothing => &["none"],
    }
}

fn actor(truth: Truth) -> &'static str {
    match truth.proof {
        Known::ServiceToken => "service",
        Known::Nothing => "unproven",
        _ => "agent",
    }
}

/// What the command line shows of a message, for programs and for people.
fn shown(stage: &Stage, envelope: &Value, id: &str) {
    let run = |args: &[&str]| {
        let output = stage.node.cli(&[&["message", "show", id], args].concat()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let view: Value = serde_json::from_str(&run(&["-o", "json"])).unwrap();
    let expected = [&envelope["channel"], &envelope["source"], &envelope["authority"], &envelope["ingress"]];
    assert_eq!([&view["channel"], &view["source_detail"], &view["authority"], &view["ingress"]], expected);
    assert_eq!(view["source"], envelope["source"]["principal"]);
    let page = run(&[]);
    let acting = page.chars().find(|c| *c != '\n' && c.is_control());
    assert_eq!(acting, None, "{page:?}");
    let said = |name: &str| {
        let mut lines = page.lines().take_while(|line| !line.is_empty());
        let line = lines.find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name}: {page}"));
        line[name.len()..].trim().to_owned()
    };
    let source = &envelope["source"];
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let by = format!("{}, by {}, ", word(&source["principal"]), word(&source["proof"]));
    assert!(said("source").starts_with(&by), "{page}");
    assert_eq!(said("authority"), word(&envelope["authority"]));
}

fn held(stage: &Stage, reason: &str, id: &str) {
    let view = eventually_some("it is kept back", || {
        let view = get(stage, id);
        view["reason"].as_str().is_some_and(|found| found.contains(reason)).then_some(view)
    });
    let receipts = view["receipts"].as_array().unwrap();
    assert!(receipts.iter().all(|receipt| receipt["rung"] != "injected"), "{view}");
}

/// The error is the one, nobody hears of it, and what a rule refuses is an event with the rule's name.
fn refused(stage: &Stage, name: ErrorName, what: &str, error: &RpcError) {
    assert_eq!(error.name(), name, "{error}");
    assert!(error.message.contains(what), "{what:?} in {error}");
    assert!(!error.message.contains(char::is_control), "{:?}", error.message);
    untouched(stage, &of_others(stage));
    if matches!(name, ErrorName::PolicyBlocked | ErrorName::RateLimited) {
        let (_, rule) = error.message.rsplit_once("rule ").unwrap();
        let rule = rule.split(' ').next().unwrap();
        eventually_some("the refusal is an event", || {
            let events = stage.since().into_iter().map(|view| view.event);
            events
                .into_iter()
                .find(|event| event["type"] == "request.refused" && event["payload"]["rule"] == rule)
        });
    }
}
