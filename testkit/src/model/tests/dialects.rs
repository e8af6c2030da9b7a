//! Each dialect, streamed and whole: a text, a tool call, and the text after its result.

use serde_json::json;

use super::*;

/// "make it": a text in two pieces with a call of the shell behind it, then a text.
fn script() -> Script {
    let first = Reply::new().text("I ").text("will.").shell("touch made");
    Script::new().rule(Rule::on("make it").reply(first).says("Made."))
}

fn shell_schema() -> Value {
    json!({ "type": "object", "properties": { "command": { "type": "string" } }, "required": ["command"] })
}

/// What is the same of both calls of the model, whatever the dialect.
#[track_caller]
fn check_received(server: &ModelServer) {
    assert_eq!(server.received_prompts(), ["make it"]);
    assert_eq!(server.tool_results(), ["it was made"]);
    let calls: Vec<(Option<usize>, usize)> =
        server.requests().iter().map(|request| (request.rule, request.calls)).collect();
    assert_eq!(calls, [(Some(0), 0), (Some(0), 1)]);
    assert_eq!(server.problems(), Vec::<String>::new());
}

fn chat_request(stream: bool, more: &[Value]) -> Value {
    let tool = json!({ "type": "function", "function": { "name": "bash", "parameters": shell_schema() } });
    let mut messages = vec![json!({ "role": "system", "content": "be good" })];
    messages.push(json!({ "role": "user", "content": "make it" }));
    messages.extend_from_slice(more);
    json!({ "model": "m", "stream": stream, "tools": [tool], "messages": messages })
}

#[test]
fn chat_completions_whole() {
    let server = ModelServer::start(script());
    let first = post(&server, "/v1/chat/completions", &chat_request(false, &[])).json();
    let said = &first["choices"][0];
    assert_eq!(
        (said["finish_reason"].as_str(), said["message"]["content"].as_str()),
        (Some("tool_calls"), Some("I will."))
    );
    let call = &said["message"]["tool_calls"][0];
    assert_eq!(call["function"]["arguments"], r#"{"command":"touch made"}"#);
    let more = [
        json!({ "role": "assistant", "content": "I will.", "tool_calls": [call] }),
        json!({ "role": "tool", "tool_call_id": call["id"], "content": "it was made" }),
    ];
    let second = post(&server, "/v1/chat/completions", &chat_request(false, &more)).json();
    assert_eq!(second["choices"][0]["message"]["content"], "Made.");
    assert_eq!(second["choices"][0]["finish_reason"], "stop");
    check_received(&server);
}

#[test]
fn chat_completions_streamed() {
    let server = ModelServer::start(script());
    let events = post(&server, "/v1/chat/completions", &chat_request(true, &[])).events();
    let deltas: Vec<&Value> = events.iter().map(|(_, data)| &data["choices"][0]["delta"]).collect();
    let text: Vec<&str> = deltas.iter().filter_map(|delta| delta["content"].as_str()).collect();
    assert_eq!(text, ["", "I ", "will."]);
    let calls: Vec<&Value> = deltas
        .iter()
        .filter(|delta| delta.get("tool_calls").is_some())
        .map(|delta| &delta["tool_calls"][0])
        .collect();
    assert_eq!(calls[0]["function"]["name"], "bash");
    assert_eq!(calls[1]["function"]["arguments"], r#"{"command":"touch made"}"#);
    assert!(events.iter().any(|(_, data)| data["choices"][0]["finish_reason"] == "tool_calls"));
    assert_eq!(events.last().unwrap().1, "[DONE]");
}

fn responses_request(stream: bool, more: &[Value]) -> Value {
    let tool = json!({ "type": "function", "name": "shell", "parameters": shell_schema() });
    let context = json!({ "type": "input_text", "text": "<environment_context>here</environment_context>" });
    let mut input = vec![json!({ "type": "message", "role": "user", "content": [context] })];
    let prompt = json!({ "type": "input_text", "text": "make it" });
    input.push(json!({ "type": "message", "role": "user", "content": [prompt] }));
    input.extend_from_slice(more);
    json!({ "model": "m", "stream": stream, "instructions": "be good", "tools": [tool], "input": input })
}

#[test]
fn responses_whole() {
    let server = ModelServer::start(script());
    let first = post(&server, "/v1/responses", &responses_request(false, &[])).json();
    assert_eq!(first["status"], "completed");
    assert_eq!(first["output"][0]["content"][0]["text"], "I will.");
    let call = &first["output"][1];
    assert_eq!(
        (call["name"].as_str(), call["arguments"].as_str()),
        (Some("shell"), Some(r#"{"command":"touch made"}"#))
    );
    let more = [
        first["output"][0].clone(),
        call.clone(),
        json!({ "type": "function_call_output", "call_id": call["call_id"], "output": "it was made" }),
    ];
    let second = post(&server, "/v1/responses", &responses_request(false, &more)).json();
    assert_eq!(second["output"][0]["content"][0]["text"], "Made.");
    check_received(&server);
}

#[test]
fn responses_streamed() {
    let server = ModelServer::start(script());
    let events = post(&server, "/v1/responses", &responses_request(true, &[])).events();
    let names: Vec<&str> = events.iter().map(|(name, _)| name.strip_prefix("response.").unwrap()).collect();
    let expected = [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ];
    assert_eq!(names, expected);
    for (number, (name, data)) in events.iter().enumerate() {
        assert_eq!(
            (data["sequence_number"].as_u64(), data["type"].as_str()),
            (Some(number as u64), Some(name.as_str()))
        );
    }
    let whole = &events.last().unwrap().1["response"];
    assert_eq!(whole["output"][0]["content"][0]["text"], "I will.");
    assert_eq!(whole["output"][1]["name"], "shell");
    assert!(whole["usage"]["total_tokens"].as_u64().unwrap() > 0);
}

#[test]
fn responses_name_the_namespace_of_a_tool() {
    let server = ModelServer::start(
        Script::new().rule(Rule::on("ask b").reply(Reply::new().call("signal", json!({ "agent": "b" })))),
    );
    let signal = json!({ "type": "function", "name": "signal", "parameters": {} });
    let tools = json!([{ "type": "web_search" }, { "type": "namespace", "name": "mcp__edgeplane", "tools": [signal] }]);
    let body = json!({ "model": "m", "input": "ask b", "tools": tools });
    let call = post(&server, "/v1/responses", &body).json()["output"][0].clone();
    assert_eq!((call["name"].as_str(), call["namespace"].as_str()), (Some("signal"), Some("mcp__edgeplane")));
}

fn anthropic_request(stream: bool, more: &[Value]) -> Value {
    let tool = json!({ "name": "Bash", "input_schema": shell_schema() });
    let reminder = json!({ "type": "text", "text": "<system-reminder>careful</system-reminder>" });
    let prompt = json!({ "type": "text", "text": "make it" });
    let mut messages = vec![json!({ "role": "user", "content": [reminder, prompt] })];
    messages.extend_from_slice(more);
    json!({ "model": "m", "stream": stream, "max_tokens": 9, "tools": [tool], "messages": messages })
}

#[test]
fn messages_whole() {
    let server = ModelServer::start(script());
    let first = post(&server, "/v1/messages", &anthropic_request(false, &[])).json();
    assert_eq!(first["stop_reason"], "tool_use");
    assert_eq!(first["content"][0]["text"], "I will.");
    let call = &first["content"][1];
    assert_eq!((call["name"].as_str(), &call["input"]), (Some("Bash"), &json!({ "command": "touch made" })));
    let result = json!({ "type": "tool_result", "tool_use_id": call["id"], "content": "it was made" });
    let reminder = json!({ "type": "text", "text": "<system-reminder>careful</system-reminder>" });
    let more = [
        json!({ "role": "assistant", "content": first["content"] }),
        json!({ "role": "user", "content": [result, reminder] }),
    ];
    let second = post(&server, "/v1/messages", &anthropic_request(false, &more)).json();
    assert_eq!(
        (second["content"][0]["text"].as_str(), second["stop_reason"].as_str()),
        (Some("Made."), Some("end_turn"))
    );
    check_received(&server);
    let counted = post(&server, "/v1/messages/count_tokens", &anthropic_request(false, &more)).json();
    assert!(counted["input_tokens"].as_u64().unwrap() > 0);
}

#[test]
fn messages_streamed() {
    let server = ModelServer::start(script());
    let events = post(&server, "/v1/messages", &anthropic_request(true, &[])).events();
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "message_start",
        "ping",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ];
    assert_eq!(names, expected);
    assert_eq!(events[4].1["delta"], json!({ "type": "text_delta", "text": "will." }));
    assert_eq!(events[7].1["index"], 1);
    assert_eq!(events[7].1["delta"]["partial_json"], r#"{"command":"touch made"}"#);
    assert_eq!(events[9].1["delta"]["stop_reason"], "tool_use");
}

fn gemini_request(more: &[Value]) -> Value {
    let tool = json!({ "name": "run_shell_command", "parametersJsonSchema": shell_schema() });
    let mut contents = vec![json!({ "role": "user", "parts": [{ "text": "make it" }] })];
    contents.extend_from_slice(more);
    json!({ "contents": contents, "tools": [{ "functionDeclarations": [tool] }] })
}

#[test]
fn generate_content_whole() {
    let server = ModelServer::start(script());
    let path = "/v1beta/models/gemini-x:generateContent";
    let first = post(&server, path, &gemini_request(&[])).json();
    let content = &first["candidates"][0]["content"];
    assert_eq!(content["parts"][0]["text"], "I will.");
    let call = &content["parts"][1]["functionCall"];
    assert_eq!(call["args"], json!({ "command": "touch made" }));
    let answer =
        json!({ "id": call["id"], "name": "run_shell_command", "response": { "output": "it was made" } });
    let more = [content.clone(), json!({ "role": "user", "parts": [{ "functionResponse": answer }] })];
    let second = post(&server, path, &gemini_request(&more)).json();
    assert_eq!(second["candidates"][0]["content"]["parts"][0]["text"], "Made.");
    assert_eq!(second["candidates"][0]["finishReason"], "STOP");
    assert_eq!(second["modelVersion"], "gemini-x");
    check_received(&server);
    let counted = post(&server, "/v1/models/gemini-x:countTokens", &gemini_request(&[])).json();
    assert!(counted["totalTokens"].as_u64().unwrap() > 0);
}

#[test]
fn generate_content_streamed_as_events_and_as_a_list() {
    let server = ModelServer::start(script());
    let path = "/v1beta/models/gemini-x:streamGenerateContent";
    let events = post(&server, &format!("{path}?alt=sse"), &gemini_request(&[])).events();
    let events: Vec<Value> = events.into_iter().map(|(_, data)| data).collect();
    let list = post(&server, path, &gemini_request(&[])).json();
    for chunks in [&events, list.as_array().unwrap()] {
        let parts: Vec<&Value> =
            chunks.iter().map(|chunk| &chunk["candidates"][0]["content"]["parts"][0]).collect();
        assert_eq!((parts[0]["text"].as_str(), parts[1]["text"].as_str()), (Some("I "), Some("will.")));
        assert_eq!(parts[2]["functionCall"]["name"], "run_shell_command");
        assert_eq!(chunks.last().unwrap()["candidates"][0]["finishReason"], "STOP");
    }
}

#[test]
fn models_are_listed_in_each_dialect() {
    let server = ModelServer::start(Script::new());
    assert_eq!(get(&server, "/v1/models")["data"][0]["id"], "mock-model");
    assert_eq!(get(&server, "/v1/models/other")["id"], "other");
    assert_eq!(get(&server, "/v1beta/models")["models"][0]["name"], "models/mock-model");
}
