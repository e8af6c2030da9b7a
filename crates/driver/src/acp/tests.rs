//! What programs say, and what they are answered, line by line.

use edgeplane_types::MessageId;
use serde_json::{Value, json};

use super::*;

fn heard(value: &Value) -> Heard {
    hear(value.to_string().as_bytes())
}

fn update(fields: &Value) -> UpdateKind {
    let line = json!({ "jsonrpc": "2.0", "method": "session/update",
                       "params": { "sessionId": "s", "update": fields } });
    match heard(&line) {
        Heard::Update(update) => update.kind,
        other => panic!("{other:?}"),
    }
}

/// Proves DRV-004.
#[test]
fn updates_are_read_and_unknown_ones_are_named() {
    let text = json!({ "type": "text", "text": "hi\u{1b}[2J" });
    let chunk =
        |kind: &str| update(&json!({ "sessionUpdate": kind, "content": text, "_meta": { "x": 1.5 } }));
    assert_eq!(chunk("agent_message_chunk"), UpdateKind::Text("hi\u{1b}[2J".to_owned()));
    assert_eq!(chunk("agent_thought_chunk"), UpdateKind::Thought("hi\u{1b}[2J".to_owned()));
    assert_eq!(chunk("user_message_chunk"), UpdateKind::Told);
    let tool = update(&json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "failed",
                               "content": [{ "type": "diff", "path": "/a", "newText": "b" }], "_meta": {} }));
    let value = json!({ "toolCallId": "t", "status": "failed",
                        "content": [{ "type": "diff", "path": "/a", "newText": "b" }] });
    assert_eq!(tool, UpdateKind::Tool { call: "t".to_owned(), status: Some("failed".to_owned()), value });
    let usage = update(&json!({ "sessionUpdate": "usage_update", "used": 5, "size": 9,
                                "cost": { "amount": 0.5, "currency": "EUR" } }));
    let expected = Usage {
        total_tokens: Some(5),
        context_tokens: Some(9),
        cost: Some("0.5 EUR".to_owned()),
        ..Usage::default()
    };
    assert_eq!(usage, UpdateKind::Usage(expected));
    for odd in [
        json!({ "sessionUpdate": "something_new", "x": [1, 2.5] }),
        json!({ "sessionUpdate": "agent_message_chunk" }),
        json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": 7 } }),
        json!({ "sessionUpdate": "tool_call", "toolCallId": 7 }),
        json!({ "sessionUpdate": 7 }),
        json!(null),
        json!("text"),
    ] {
        assert!(matches!(update(&odd), UpdateKind::Unknown { .. }), "{odd}");
    }
}

/// Proves DRV-004.
#[test]
fn too_large_a_piece_is_kept_in_part_or_by_its_size() {
    let long = "é".repeat(ITEM_BYTES_MAX);
    let content = json!({ "type": "text", "text": long });
    let UpdateKind::Text(text) =
        update(&json!({ "sessionUpdate": "agent_message_chunk", "content": content }))
    else {
        panic!("no text")
    };
    assert_eq!(text.len(), ITEM_BYTES_MAX);
    let tool = json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "big", "rawOutput": long });
    let UpdateKind::Tool { value, .. } = update(&tool) else { panic!("no tool") };
    assert_eq!((&value["toolCallId"], &value["title"]), (&json!("t"), &json!("big")));
    assert!(value["tooLarge"].as_u64().unwrap() > 2 << 20);
}

/// Proves DRV-006.
#[test]
fn question_for_leave_offers_its_own_answers() {
    let option = |id: &str, kind: &str| json!({ "optionId": id, "name": id, "kind": kind });
    let question = |options: Value| {
        json!({ "jsonrpc": "2.0", "id": 5, "method": "session/request_permission", "params": {
            "sessionId": "s", "toolCall": { "toolCallId": "t", "title": "rm -rf\n\u{202e}x" }, "options": options } })
    };
    let all = json!([
        option("no", "reject_once"),
        option("ever", "allow_always"),
        option("yes", "allow_once"),
        option("new", "something_else")
    ]);
    let Heard::Permission(asked) = heard(&question(all)) else { panic!("not read") };
    assert_eq!(asked.title(), "rm -rf x");
    assert_eq!(asked.allows().unwrap().option_id, "yes");
    assert_eq!(asked.refuses().unwrap().option_id, "no");
    let line = String::from_utf8(permission_selected(&asked.id, "yes")).unwrap();
    let answer = r#"{"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}"#;
    assert_eq!(line, format!("{answer}\n"));
    let Heard::Permission(asked) = heard(&question(json!([option("ever", "allow_always")]))) else {
        panic!("not read")
    };
    assert_eq!(asked.allows().unwrap().option_id, "ever");
    assert_eq!(asked.refuses(), None);
    let many: Vec<Value> = (0..40).map(|number| option(&number.to_string(), "allow_once")).collect();
    for odd in [json!([]), json!(many), json!([option(&"x".repeat(300), "allow_once")]), json!(null)] {
        assert!(matches!(heard(&question(odd.clone())), Heard::Refused { id: Some(_), .. }), "{odd}");
    }
}

/// Proves DRV-016.
#[test]
fn lines_that_cannot_be_used_are_told_apart() {
    for text in ["hello", "", "\u{0}", "{]", r#"{"level":"info"}"#, "[1]", "{"] {
        assert_eq!(hear(text.as_bytes()), Heard::Text, "{text}");
    }
    for odd in [
        json!({ "id": "nobody", "result": {} }),
        json!({ "id": 7, "result": {} }),
        json!({ "id": "edgeplane:prompt:msg_x", "result": {} }),
        json!({ "id": [1], "method": "x" }),
        json!({ "id": "x".repeat(300), "method": "x" }),
        json!({ "id": 1, "method": "fs/read_text_file", "params": { "path": 1 } }),
        json!({ "id": null, "error": { "code": 1, "message": "x" } }),
        json!({ "id": "edgeplane:new", "error": "text" }),
    ] {
        assert!(matches!(heard(&odd), Heard::Refused { .. }), "{odd}");
    }
    assert_eq!(heard(&json!({ "method": "_x/\u{7}y" })), Heard::Unknown { method: "_x/y".to_owned() });
    assert!(matches!(heard(&json!({ "id": 1, "method": "terminal/resize" })), Heard::Unserved { .. }));
}

/// Proves DRV-003.
#[test]
fn id_of_a_request_says_what_was_asked() {
    let message_id = MessageId::from_parts(1, [7; 10]);
    for asked in [Asked::Initialize, Asked::New, Asked::Load, Asked::Resume, Asked::Prompt(message_id)] {
        let answer = heard(&json!({ "id": asked.id(), "result": { "x": 1 } }));
        assert_eq!(answer, Heard::Answer(asked, Ok(json!({ "x": 1 }))));
    }
    let failure =
        json!({ "code": -32603, "message": "Internal error", "data": { "details": "a\nb\u{1b}[1m" } });
    let answer = heard(&json!({ "id": Asked::New.id(), "error": failure }));
    let message = "Internal error: a b".to_owned();
    assert_eq!(answer, Heard::Answer(Asked::New, Err(Failure { code: -32603, message })));
}

fn wanted(mode: Option<&str>, model: Option<&str>) -> Wanted {
    Wanted {
        cwd: "/work".to_owned(),
        auth_method: None,
        mode: mode.map(str::to_owned),
        model: model.map(str::to_owned),
        servers: Vec::new(),
        former: None,
        files: true,
        commands: true,
    }
}

/// What a session that is opened with this answer comes to.
fn opening(wanted: Wanted, answer: Value) -> (Session, Vec<Act>) {
    let (mut session, _) = Session::begin(wanted);
    session.answered(Asked::Initialize, Ok(json!({ "protocolVersion": 1 })));
    let acts = session.answered(Asked::New, Ok(answer));
    (session, acts)
}

fn sent(acts: &[Act]) -> Value {
    match acts {
        [Act::Send(line)] => serde_json::from_slice(line).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// Proves DRV-001, DRV-002.
#[test]
fn mode_and_model_are_set_where_they_are_offered_in_either_form() {
    let options = json!({ "sessionId": "s", "configOptions": [
        { "id": "m", "category": "model", "currentValue": "a",
          "options": [{ "group": "g", "options": [{ "value": "a" }, { "value": "b" }] }] },
        { "id": "how", "category": "mode", "currentValue": "plan", "options": [{ "value": "plan" }] } ] });
    let (mut session, acts) = opening(wanted(Some("plan"), Some("b")), options.clone());
    let line = sent(&acts);
    assert_eq!(line["method"], "session/set_config_option");
    assert_eq!(line["params"], json!({ "sessionId": "s", "configId": "m", "value": "b" }));
    assert_eq!(session.name(), None, "it takes nothing before that is so");
    // An answer to what was not asked now changes nothing.
    assert!(session.answered(Asked::Mode, Ok(Value::Null)).is_empty());
    assert!(session.answered(Asked::New, Ok(json!({ "sessionId": "other" }))).is_empty());
    let acts = session.answered(Asked::Model, Ok(json!({})));
    assert!(matches!(&acts[..], [Act::Opened(opened)] if opened.session == "s"), "{acts:?}");
    assert_eq!(session.name(), Some("s"));

    let (session, acts) = opening(wanted(Some("root"), None), options);
    let why = "it has no mode `root`; it offers plan".to_owned();
    assert_eq!(acts, [Act::Failed { why: why.clone(), may_pass: false }]);
    assert_eq!((session.name(), session.failure()), (None, Some(why.as_str())));
    let lists =
        json!({ "sessionId": "s", "modes": { "currentModeId": "a", "availableModes": [{ "id": "b" }] } });
    let (mut session, acts) = opening(wanted(Some("b"), None), lists);
    assert_eq!(sent(&acts)["method"], "session/set_mode");
    let refused = Failure { code: -32602, message: "no".to_owned() };
    let acts = session.answered(Asked::Mode, Err(refused));
    assert!(matches!(&acts[..], [Act::Failed { may_pass: false, .. }]), "{acts:?}");
}
