//! Requests that fail, wait, break off, or are for nobody.

use serde_json::json;

use super::*;

const CHAT: &str = "/v1/chat/completions";

fn say(text: &str) -> Value {
    json!({ "model": "m", "stream": true, "messages": [{ "role": "user", "content": text }] })
}

/// The text of a streamed answer.
fn text(answered: &Answered) -> String {
    let deltas = answered.events().into_iter();
    deltas.filter_map(|(_, data)| Some(data["choices"][0]["delta"]["content"].as_str()?.to_owned())).collect()
}

#[test]
fn faults_come_before_the_reply_one_a_request() {
    let reply = Reply::new()
        .after(Fault::TooManyRequests { retry_after_s: 7 })
        .after(Fault::Status(500))
        .text("at last");
    let server = ModelServer::start(Script::new().rule(Rule::anywhere("go").reply(reply)));
    let limited = post(&server, CHAT, &say("go"));
    assert_eq!((limited.status, limited.retry_after.as_deref()), (429, Some("7")));
    assert_eq!(post(&server, CHAT, &say("go")).status, 500);
    assert_eq!(text(&post(&server, CHAT, &say("go"))), "at last");
    assert_eq!(server.received_prompts(), ["go"], "a request that failed is no turn");
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn error_has_the_shape_of_its_dialect() {
    let fault = Fault::TooManyRequests { retry_after_s: 1 };
    let server = ModelServer::start(Script::new().rule(Rule::when(|_, _| true).reply(Reply::always(fault))));
    let message = json!([{ "role": "user", "content": "x" }]);
    let anthropic = post(&server, "/v1/messages", &json!({ "messages": message }));
    assert_eq!((anthropic.status, &anthropic.json()["error"]["type"]), (429, &json!("rate_limit_error")));
    let contents = json!([{ "role": "user", "parts": [{ "text": "x" }] }]);
    let gemini = post(&server, "/v1beta/models/m:generateContent", &json!({ "contents": contents }));
    assert_eq!((gemini.status, &gemini.json()["error"]["status"]), (429, &json!("RESOURCE_EXHAUSTED")));
    let openai = post(&server, "/v1/responses", &json!({ "input": "x" }));
    assert_eq!((openai.status, &openai.json()["error"]["code"]), (429, &json!("rate_limit_exceeded")));
}

#[test]
fn used_up_quota_is_told_as_each_provider_tells_it() {
    let rule = Rule::when(|_, _| true).reply(Reply::always(Fault::QuotaUsedUp));
    let server = ModelServer::start(Script::new().rule(rule));
    let contents = json!([{ "role": "user", "parts": [{ "text": "x" }] }]);
    let gemini = post(&server, "/v1beta/models/m:generateContent", &json!({ "contents": contents }));
    let quota = &gemini.json()["error"]["details"][0]["violations"][0]["quotaId"];
    assert!(gemini.status == 429 && quota.as_str().unwrap().contains("PerDay"), "{quota}");
    let openai = post(&server, CHAT, &say("go"));
    assert_eq!((openai.status, &openai.json()["error"]["code"]), (429, &json!("insufficient_quota")));
}

#[test]
fn cut_answer_begins_and_breaks() {
    let rule = Rule::anywhere("go").reply(Reply::new().after(Fault::Cut).text("half").text("whole"));
    let server = ModelServer::start(Script::new().rule(rule));
    assert!(try_post(&server, CHAT, &say("go")).is_err(), "the connection breaks");
    assert_eq!(text(&post(&server, CHAT, &say("go"))), "halfwhole");
    let inside = Reply::new().text("a").step(Step::Cut).text("b");
    server.rule(Rule::anywhere("inside").reply(inside));
    assert!(try_post(&server, CHAT, &say("inside")).is_err(), "the connection breaks");
}

#[test]
fn stalled_request_is_never_answered() {
    let rule = Rule::anywhere("go").reply(Reply::new().after(Fault::Stall).text("now"));
    let server = ModelServer::start(Script::new().rule(rule));
    let hasty = ureq::Agent::config_builder().timeout_global(Some(std::time::Duration::from_millis(300)));
    let hasty: ureq::Agent = hasty.build().into();
    let stalled = hasty.post(format!("{}{CHAT}", server.url())).send(say("go").to_string());
    assert!(matches!(stalled, Err(ureq::Error::Timeout(_))), "{stalled:?}");
    assert_eq!(text(&post(&server, CHAT, &say("go"))), "now");
}

#[test]
fn held_reply_has_sent_what_comes_before() {
    use std::io::Read as _;
    let hold = Hold::new();
    let rule = Rule::anywhere("go").reply(Reply::new().text("before").hold(&hold).text(" after"));
    let server = ModelServer::start(Script::new().rule(rule));
    let mut response = agent().post(format!("{}{CHAT}", server.url())).send(say("go").to_string()).unwrap();
    let mut reader = response.body_mut().as_reader();
    let mut so_far = String::new();
    while !so_far.contains("before") {
        let mut piece = [0; 4096];
        let count = reader.read(&mut piece).unwrap();
        assert_ne!(count, 0, "the answer ended: {so_far}");
        so_far.push_str(std::str::from_utf8(&piece[..count]).unwrap());
    }
    hold.wait_until_reached();
    assert!(!so_far.contains("after"));
    hold.release();
    reader.read_to_string(&mut so_far).unwrap();
    assert!(so_far.contains(" after") && so_far.contains("[DONE]"), "{so_far}");
    assert_eq!(hold.times_abandoned(), 0);
}

#[test]
fn held_reply_notices_that_nobody_listens() {
    let hold = Hold::new();
    let rule = Rule::anywhere("go").reply(Reply::new().text("before").hold(&hold));
    let server = ModelServer::start(Script::new().rule(rule));
    let response = agent().post(format!("{}{CHAT}", server.url())).send(say("go").to_string()).unwrap();
    hold.wait_until_reached();
    drop(response);
    hold.wait_until_abandoned();
}

#[test]
fn request_that_fits_nothing_gets_a_short_answer() {
    let server = ModelServer::start(Script::new().rule(Rule::on("say hello").says("Hello.")));
    assert_eq!(text(&post(&server, CHAT, &say("Make a title of: say hello"))), "Ok.");
    assert_eq!(server.received_prompts(), Vec::<String>::new(), "it offers no tools");
    assert_eq!(server.requests()[0].rule, None);
}

#[test]
fn tool_that_nobody_offers_is_a_problem() {
    let server =
        ModelServer::start(Script::new().rule(Rule::anywhere("go").reply(Reply::new().shell("true"))));
    assert!(text(&post(&server, CHAT, &say("go"))).contains("The script cannot go on"));
    assert_eq!(server.problems().len(), 1);
}

#[test]
fn bad_requests_are_answered_and_stray_ones_kept() {
    let server = ModelServer::start(Script::new());
    let bad = agent().post(format!("{}{CHAT}", server.url())).send("{").unwrap();
    assert_eq!(bad.status().as_u16(), 400);
    assert_eq!(post(&server, "/v1/nothing", &json!({})).status, 404);
    assert_eq!(server.strays(), ["POST /v1/nothing"]);
    assert_eq!(post(&server, "/v1beta/models/m:embed", &json!({})).status, 404);
}

#[test]
fn newer_text_decides_and_an_older_turn_does_not() {
    let server = ModelServer::start(
        Script::new().rule(Rule::anywhere("first").says("1")).rule(Rule::anywhere("second").says("2")),
    );
    let turn = |last: &str| {
        let (user, model) =
            (json!({ "role": "user", "content": "first" }), json!({ "role": "assistant", "content": "1" }));
        let last = json!({ "role": "user", "content": last });
        json!({ "model": "m", "stream": true, "messages": [user, model, last] })
    };
    assert_eq!(text(&post(&server, CHAT, &turn("second"))), "2");
    assert_eq!(text(&post(&server, CHAT, &turn("third"))), "Ok.");
    assert_eq!(server.received_prompts(), ["second"]);
}

#[test]
fn server_comes_back_where_it_was() {
    let server = ModelServer::start(Script::new());
    let port = server.port();
    drop(server);
    let again = ModelServer::start_at(port, Script::new()).unwrap();
    assert_eq!(text(&post(&again, CHAT, &say("x"))), "Ok.");
}

#[test]
fn script_is_read_from_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("script.json");
    let steps = r#"{"rules": [{"on": "go", "anywhere": true, "replies": [[{"status": 500}, {"text": "a"}, {"text": "b"}]]}]}"#;
    std::fs::write(&path, steps).unwrap();
    let server = ModelServer::start(Script::read(&path).unwrap());
    assert_eq!(post(&server, CHAT, &say("go")).status, 500);
    assert_eq!(text(&post(&server, CHAT, &say("go"))), "ab");
    std::fs::write(&path, r#"{"rules": [{"if": "go"}]}"#).unwrap();
    assert!(matches!(Script::read(&path), Err(ScriptError::Parse { .. })));
}
