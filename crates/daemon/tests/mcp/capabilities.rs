//! The capabilities of the node as tools: what is listed to whom, and what a call of it comes to.

use std::path::Path;

use edgeplane_testkit::{Connection, Node, mcp, native, peers::speak_as, terminal, wait::eventually};
use edgeplane_types::{Scope, TokenKind};
use edgeplane_wire::{api::Empty, catalogue::TokenEpoch};
use serde_json::{Value, json};

use crate::{SESSIONS, STATELESS, Talk, listening, run_host, web::Ask};

/// What holds for the tools of the connector of these tests.
const POLICY: &str = "
  policy:
    default: ask
    allow: [echo, add, fail, die, wait, steps, big]
    deny: [die]
    effects: {echo: read, add: none, append: write}";

/// Where tools say which capability they are.
const META: &str = "dev.edgeplane/capability";

/// A connector over the scripted server.
pub(crate) fn declare(node: &Node, name: &str, mode: &str, more: &str) {
    let program = node.program("server.py", mcp::SERVER).display().to_string();
    let file = |ending| node.scratch().join(format!("{name}.{ending}")).display().to_string();
    let (log, state) = (file("mcp"), file("state"));
    node.apply(&format!(
        "apiVersion: edgeplane.dev/v1alpha1
kind: Connector
metadata: {{name: {name}}}
spec:
  transport:
    stdio:
      command: [python3, -u, {program}, {mode}]
      env: {{MCP_LOG: {log}, MCP_STATE: {state}}}
  timeoutMs: 60000
{more}
"
    ));
}

fn node(mode: &str) -> Node {
    let node = Node::start();
    declare(&node, "tools", mode, POLICY);
    run_host(&node, "worker", "");
    node
}

/// All pages of the list of tools: those that are capabilities.
pub(crate) fn capabilities(talk: &mut Talk) -> Vec<Value> {
    let (mut found, mut params) = (Vec::new(), json!({}));
    loop {
        let page = talk.ask("tools/list", params).unwrap();
        let tools = page["tools"].as_array().unwrap().iter();
        found.extend(tools.filter(|tool| tool["_meta"].get(META).is_some()).cloned());
        let Some(next) = page["nextCursor"].as_str() else { return found };
        params = json!({ "cursor": next });
    }
}

pub(crate) fn named<'a>(tools: &'a [Value], name: &str) -> Option<&'a Value> {
    tools.iter().find(|tool| tool["name"] == name)
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

fn call_of(result: &Value) -> &Value {
    &result["_meta"]["dev.edgeplane/invocation"]
}

fn server_log(node: &Node, name: &str) -> String {
    std::fs::read_to_string(node.scratch().join(format!("{name}.mcp"))).unwrap_or_default()
}

fn as_agent(node: &Node, name: &str) -> Connection {
    let socket = node.get(name).status.identities.network.socket.unwrap();
    Connection::open(Path::new(&socket)).unwrap()
}

/// Proves MCP-040, MCP-043 and MCP-045.
#[test]
fn what_the_node_reaches_is_listed_and_called() {
    let node = node("plain");
    for version in SESSIONS.into_iter().chain([STATELESS]) {
        let mut talk = Talk::within(&node, "worker", version);
        let list = talk.ask("tools/list", json!({})).unwrap();
        assert_eq!(list["tools"][0]["name"], "signal", "the node's own come first");
        let tools = capabilities(&mut talk);
        let echo = named(&tools, "tools__echo").unwrap_or_else(|| panic!("{list}"));
        assert_eq!(echo["inputSchema"]["required"], json!(["text"]));
        assert_eq!(echo["_meta"][META]["name"], "tools/echo");
        let hints = json!({
            "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false,
        });
        assert_eq!(echo["annotations"], hints);
        // What nobody vouches for is the worst, whatever its server says.
        let fail = named(&tools, "tools__fail").unwrap();
        assert_eq!(
            (&fail["annotations"]["readOnlyHint"], &fail["annotations"]["destructiveHint"]),
            (&json!(false), &json!(true))
        );
        let append = named(&tools, "tools__append").unwrap()["description"].as_str().unwrap();
        assert!(
            append.contains("a person is asked") && append.contains("In the words of its server"),
            "{append}"
        );
        // What rules refuse, what is read and filled in, and what there is a tool for already, is none.
        for name in ["tools__die", "tools__memo___one", "tools__greet", "edgeplane_memory__entry_get"] {
            assert!(named(&tools, name).is_none(), "{name}");
        }
        assert!(named(&tools, "edgeplane_runtime__task_list").is_some());

        let said = talk.call("tools__echo", json!({ "text": "as it is: \u{1b}[1m" }));
        assert_eq!((text(&said), &said["isError"]), ("as it is: \u{1b}[1m", &json!(false)), "{said}");
        assert_eq!(call_of(&said)["status"], "succeeded");
        let sum = talk.call("tools__add", json!({ "a": 1, "b": 2 }));
        assert_eq!(sum["structuredContent"], json!({ "sum": 3 }));
        let failed = talk.call("tools__fail", json!({}));
        assert_eq!((text(&failed), &failed["isError"]), ("it cannot be done", &json!(true)));
        let tasks = talk.done("edgeplane_runtime__task_list", json!({}));
        assert!(tasks["items"].is_array(), "{tasks}");
        assert!(talk.fails("tools__echo", json!({})).starts_with("invalid_params: "));
        for name in ["tools__die", "tools__none", "none__echo", "__", "a_0123456789"] {
            let refused = talk.ask("tools/call", json!({ "name": name, "arguments": {} })).unwrap_err();
            assert_eq!(refused["code"], -32602, "{name}: {refused}");
        }
    }
    assert_eq!(node.count("worker", "invocation.ended"), 12);
    node.verify();
}

/// Proves MCP-040.
#[test]
fn what_rules_refuse_an_agent_is_no_tool_of_it() {
    let node = node("plain");
    let forbid = r#"policy: |
    @id("all") permit (principal, action, resource);
    @id("no-sums") @reason("not here") forbid (principal, action == Action::"invoke", resource)
    when { context has capability && context.capability == "tools/add" };"#;
    run_host(&node, "other", forbid);
    let mut first = Talk::within(&node, "worker", STATELESS);
    let mut other = Talk::within(&node, "other", STATELESS);
    assert!(named(&capabilities(&mut first), "tools__add").is_some());
    let tools = capabilities(&mut other);
    assert!(named(&tools, "tools__add").is_none() && named(&tools, "tools__echo").is_some());
    let sum = json!({ "name": "tools__add", "arguments": { "a": 1, "b": 2 } });
    assert!(other.ask("tools/call", sum).is_err());
    assert_eq!(node.count("other", "invocation.requested"), 0);
}

/// Proves MCP-044 and MCP-049.
#[test]
fn what_has_changed_since_it_was_listed_is_not_called() {
    let node = node("plain");
    let mut talks: Vec<Talk> =
        [SESSIONS[0], STATELESS].map(|version| Talk::within(&node, "worker", version)).into();
    let before: Vec<Value> = talks.iter_mut().flat_map(capabilities).collect();
    let digest = named(&before, "tools__echo").unwrap()["_meta"][META]["digest"].clone();
    std::fs::write(node.scratch().join("tools.state"), "changed").unwrap();
    edgeplane_testkit::signals::kill(&crate::changes::servers(&node));
    eventually("the node knows it", || {
        let found = node.connect().try_raw("capability/get", json!({ "capability": "tools/echo" }));
        found.is_ok_and(|found| found["digest"] != digest)
    });
    for talk in &mut talks {
        for _time in 0..2 {
            let refused = talk.fails("tools__echo", json!({ "text": "x" }));
            assert!(
                refused.starts_with("version_conflict: ") && refused.contains("list the tools again"),
                "{refused}"
            );
        }
    }
    talks[0].notification("notifications/tools/list_changed");
    assert!(!server_log(&node, "tools").contains("tools/call"));
    for talk in &mut talks {
        let now = capabilities(talk);
        assert!(named(&now, "tools__echo").unwrap()["inputSchema"]["properties"]["added"].is_object());
        assert_eq!(text(&talk.call("tools__echo", json!({ "text": "x" }))), "x");
        // Whoever keeps a list itself says which one it looked at.
        let meta = json!({ META: { "digest": digest } });
        let params = json!({ "name": "tools__echo", "arguments": { "text": "x" }, "_meta": meta });
        let refused = talk.ask("tools/call", params).unwrap();
        assert_eq!(refused["_meta"]["dev.edgeplane/error"]["name"], "version_conflict", "{refused}");
    }
}

/// Proves MCP-041, MCP-042, MCP-043 and MCP-050.
#[test]
fn a_hostile_server_harms_no_list_and_no_caller() {
    let node = Node::start();
    declare(&node, "evil", "hostile", "  policy: {default: allow}");
    declare(&node, "gone", "gone", "");
    run_host(&node, "worker", "");
    let mut talk = Talk::within(&node, "worker", SESSIONS[0]);
    let list = talk.ask("tools/list", json!({})).unwrap();
    let tools = capabilities(&mut talk);
    let evil: Vec<&Value> =
        tools.iter().filter(|tool| tool["name"].as_str().unwrap().starts_with("evil__")).collect();
    assert_eq!(evil.len(), 7, "{evil:?}");
    let mut names: Vec<&str> = evil.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    for name in &names {
        let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        assert!(name.len() <= 48 && name.chars().all(legal), "{name}");
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 7, "two tools have one name");
    let left_out = list["_meta"]["dev.edgeplane/left_out"].to_string();
    assert!(left_out.contains("`evil/huge`: its input schema has more than 64 KiB"), "{left_out}");
    assert!(left_out.contains("connector `gone`: "), "{left_out}");
    for tool in &evil {
        let words = format!("{}{}", tool["title"], tool["description"]);
        assert!(!words.contains("[OPERATOR") || words.contains("\\\\[OPERATOR"), "{words}");
        assert!(!words.contains("u001b") && words.len() < 6_000, "{words}");
        assert_eq!(tool["annotations"]["destructiveHint"], true, "{tool}");
        assert_eq!(tool["annotations"]["readOnlyHint"], false, "{tool}");
        assert!(tool.get("outputSchema").is_none() && !tool.to_string().contains("x-mcp-header"), "{tool}");
        // Each leads to itself, and what its server says of the node is not believed.
        let native = tool["_meta"][META]["name"].as_str().unwrap().strip_prefix("evil/").unwrap();
        let said = talk.call(tool["name"].as_str().unwrap(), json!({}));
        assert_eq!(said["structuredContent"]["called"], native, "{said}");
        assert_eq!(call_of(&said)["status"], "succeeded", "{said}");
        assert!(said["_meta"].get("dev.edgeplane/error").is_none(), "{said}");
    }
}

/// Proves MCP-045.
#[test]
fn model_knows_what_to_do_when_a_person_is_asked() {
    let node = node("plain");
    let path = node.scratch().join("written");
    let append = |wait: u64, line: &str| {
        json!({
            "name": "tools__append", "arguments": { "path": path, "text": line },
            "_meta": { "dev.edgeplane/wait_ms": wait },
        })
    };
    let decide = |verdict: Value| {
        let waits =
            || node.facts("worker", "action.opened").len() - node.facts("worker", "action.resolved").len();
        eventually("a person is asked", || waits() > 0);
        let list =
            node.connect().try_raw("conversation/action.list", json!({ "agent": "worker", "limit": 1 }));
        let action = list.unwrap()["items"][0]["action"].clone();
        let params = json!({ "action_id": action["id"], "digest": action["digest"], "verdict": verdict });
        node.connect().try_raw("conversation/action.respond", params).unwrap();
    };
    let mut talk = Talk::within(&node, "worker", STATELESS);
    let pending = talk.ask("tools/call", append(0, "first")).unwrap();
    assert_eq!((&pending["isError"], &call_of(&pending)["status"]), (&json!(true), &json!("waiting")));
    let invocation = call_of(&pending)["invocation_id"].as_str().unwrap().to_owned();
    for said in
        ["Not called yet", "invocation_show", &invocation, call_of(&pending)["action_id"].as_str().unwrap()]
    {
        assert!(text(&pending).contains(said), "{said}: {pending}");
    }
    let show = json!({ "invocation_id": invocation });
    assert_eq!(talk.done("invocation_show", show.clone())["status"], "waiting");
    let waiting =
        json!({ "name": "invocation_show", "arguments": { "invocation_id": invocation, "wait_ms": 60_000 } });
    let id = talk.send("tools/call", waiting);
    decide(json!({ "verdict": "approve" }));
    let shown = talk.answer(id).unwrap();
    assert_eq!(shown["structuredContent"]["status"], "succeeded", "{shown}");
    assert!(text(&shown).contains("appended"), "{shown}");

    // Who decides while the call is waited for has its answer come at once.
    let id = talk.send("tools/call", append(60_000, "second"));
    decide(json!({ "verdict": "approve" }));
    assert_eq!(text(&talk.answer(id).unwrap()), "appended");
    let id = talk.send("tools/call", append(60_000, "third"));
    decide(json!({ "verdict": "deny", "reason": "not today" }));
    let denied = talk.answer(id).unwrap();
    assert!(text(&denied).starts_with("policy_blocked: ") && text(&denied).contains("not today"), "{denied}");
    let pending = talk.ask("tools/call", append(0, "fourth")).unwrap();
    let named = json!({ "invocation_id": call_of(&pending)["invocation_id"] });
    assert_eq!(talk.done("invocation_cancel", named)["status"], "cancelled");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "first\nsecond\n");
}

/// Proves MCP-046 and MCP-047.
#[test]
fn progress_comes_through_and_a_call_is_taken_back() {
    let node = node("curious");
    for version in [SESSIONS[0], STATELESS] {
        let gate = node.scratch().join(format!("gate-{version}"));
        let mut talk = Talk::within(&node, "worker", version);
        let steps = json!({
            "name": "tools__steps", "arguments": { "steps": 5, "path": gate },
            "_meta": { "progressToken": "p" },
        });
        let id = talk.send("tools/call", steps);
        let (mut last, mut told) = (-1.0, json!(null));
        while told["message"] != "a step" || last < 4.5 {
            told = talk.notification("notifications/progress");
            let progress = told["progress"].as_f64().unwrap();
            assert!(told["progressToken"] == "p" && progress > last, "{told}");
            last = progress;
        }
        assert_eq!(told["total"].as_f64(), Some(5.0), "{told}");
        std::fs::write(&gate, "").unwrap();
        assert_eq!(text(&talk.answer(id).unwrap()), "done");

        let count = || node.facts("worker", "invocation.ended").len();
        let before = count();
        let never = json!({ "path": node.scratch().join("never") });
        let calls = || server_log(&node, "tools").matches("\"tools/call\"").count();
        let made = calls();
        let id = talk.send("tools/call", json!({ "name": "tools__wait", "arguments": never }));
        eventually("it is being made", || calls() > made);
        let cancelled = json!({ "requestId": id, "reason": "enough" });
        talk.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled }));
        eventually("it is over", || count() > before);
        assert_eq!(node.facts("worker", "invocation.ended").pop().unwrap()["state"], "cancelled");
        let told = || server_log(&node, "tools").matches("notifications/cancelled").count();
        let times = if version == STATELESS { 2 } else { 1 };
        eventually("its server is told", || told() == times);
        assert!(talk.done("self_show", json!({})).is_object());
    }
    node.verify();
}

/// Proves MCP-040 and MCP-050.
#[test]
fn long_lists_are_paged_and_long_answers_read_in_parts() {
    let node = Node::start();
    declare(&node, "many", "many", "");
    declare(&node, "tools", "plain", "  policy: {default: allow}");
    run_host(&node, "worker", "");
    let mut talk = Talk::within(&node, "worker", STATELESS);
    let first = talk.ask("tools/list", json!({})).unwrap();
    assert!(first["nextCursor"].is_string() && first["tools"].as_array().unwrap().len() <= 520, "{first}");
    let tools = capabilities(&mut talk);
    let mut names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names.iter().filter(|name| name.starts_with("many__")).count(), 2_048);
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count, "a tool is listed twice");
    for cursor in ["", "7", "x:many/t1"] {
        assert_eq!(
            talk.ask("tools/list", json!({ "cursor": cursor })).unwrap_err()["code"],
            -32602,
            "{cursor}"
        );
    }
    let big = talk.call("tools__big", json!({ "bytes": 600_000 }));
    let shown = text(&big).len();
    assert!(shown <= 256 << 10 && big["content"][1]["text"].as_str().unwrap().contains("invocation_show"));
    let (mut whole, mut offset) = (String::new(), json!(0));
    while !offset.is_null() {
        let part = json!({ "invocation_id": call_of(&big)["invocation_id"], "offset": offset });
        let part = talk.done("invocation_show", part);
        whole.push_str(part["output"].as_str().unwrap());
        offset = part["next"].clone();
    }
    let whole: Value = serde_json::from_str(&whole).unwrap();
    assert_eq!(text(&whole).len(), 600_000);
    let beyond = json!({ "invocation_id": call_of(&big)["invocation_id"], "offset": 10_000_000 });
    assert!(talk.fails("invocation_show", beyond).starts_with("invalid_params: "));
}

/// Proves MCP-044.
#[test]
fn a_key_calls_once_over_the_protocol_too() {
    let node = Node::start();
    declare(&node, "tools", "plain", "  policy: {default: allow}");
    run_host(&node, "worker", "");
    let mut talk = Talk::within(&node, "worker", STATELESS);
    let path = node.scratch().join("written");
    let call = json!({
        "name": "tools__append", "arguments": { "path": path, "text": "x" },
        "_meta": { "dev.edgeplane/idempotency_key": "once" },
    });
    // A program that was started anew calls by the names that it knew.
    let first = talk.ask("tools/call", call.clone()).unwrap();
    let again = talk.ask("tools/call", call).unwrap();
    assert_eq!(
        (text(&first), call_of(&first)["invocation_id"].clone()),
        ("appended", call_of(&again)["invocation_id"].clone())
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "x\n");
}

/// Proves MCP-048.
#[test]
fn whoever_starts_it_chooses_which_are_tools() {
    let node = node("plain");
    let listed = |choice: &str| {
        let mut talk = Talk::outside_with(&node, STATELESS, &["--capabilities", choice]);
        let tools = capabilities(&mut talk);
        let called = talk.ask("tools/call", json!({ "name": "tools__echo", "arguments": { "text": "x" } }));
        let names: Vec<String> = tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
        (names, called.is_ok())
    };
    assert_eq!(listed("none"), (vec![], false));
    assert_eq!(listed("tools/a*"), (vec!["tools__add".to_owned(), "tools__append".to_owned()], false));
    let (all, called) = listed("tools/echo,edgeplane:runtime/task.*");
    assert!(
        called
            && all.iter().all(|name| name == "tools__echo" || name.starts_with("edgeplane_runtime__task_")),
        "{all:?}"
    );
    let refused = node.cli(&["mcp", "--capabilities", "everything"]).output().unwrap();
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("such as `github/*`"), "{refused:?}");
}

/// Proves MCP-040 and MCP-045.
#[test]
fn what_agents_offer_and_workflows_are_tools_and_a_dead_daemon_is_told() {
    let mut node = node("plain");
    node.run("helper", &native("helper", &["/bin/sh", "-c", "exec cat > /dev/null"], ""));
    node.apply(&terminal("listener", &["/bin/cat"], "run: stopped"));
    let offer = json!({
        "agent": "helper", "name": "count.letters", "permission": "allow",
        "input_schema": { "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] },
        "output_schema": { "type": "object", "properties": { "letters": { "type": "integer" } } },
    });
    node.connect().try_raw("capability/register", offer).unwrap();
    let steps = json!([{ "name": "draft", "agent": "helper", "text": "Write about ${input.topic}" }]);
    let input =
        json!({ "type": "object", "properties": { "topic": { "type": "string" } }, "required": ["topic"] });
    let value = json!({ "description": "Writes", "input": input, "steps": steps });
    let put = json!({ "uri": "edgeplane://workflow/release", "value": value });
    node.connect().try_raw("resource/put", put).unwrap();
    let mut talk = Talk::within(&node, "worker", SESSIONS[0]);
    let tools = capabilities(&mut talk);
    let of_helper =
        tools.iter().find(|tool| tool["_meta"][META]["name"] == "agent:helper/count.letters").unwrap();
    let name = of_helper["name"].as_str().unwrap().to_owned();
    assert!(name.starts_with("agent_helper__count_letters_"), "{name}");
    assert_eq!(of_helper["outputSchema"]["type"], "object");
    let release = named(&tools, "workflow_release__run").unwrap();
    assert_eq!(release["inputSchema"]["required"], json!(["topic"]));
    let begun = json!({
        "name": "workflow_release__run", "arguments": { "topic": "cranes" }, "_meta": { "dev.edgeplane/wait_ms": 0 },
    });
    let begun = talk.ask("tools/call", begun).unwrap();
    assert_eq!(call_of(&begun)["status"], "waiting", "{begun}");
    let answer = |output: Value| {
        eventually("it is told", || {
            node.count("helper", "capability.called") > node.count("helper", "capability.settled")
        });
        let told = node.facts("helper", "capability.called").pop().unwrap();
        let params = json!({ "invocation_id": told["invocation_id"], "output": output });
        as_agent(&node, "helper").try_raw("capability/invocation.complete", params).unwrap();
    };
    let call = json!({ "name": name, "arguments": { "text": "abc" } });
    let id = talk.send("tools/call", call.clone());
    answer(json!({ "letters": 3 }));
    assert_eq!(talk.answer(id).unwrap()["structuredContent"], json!({ "letters": 3 }));
    // What lacks what its schema says would be taken for a broken server.
    let id = talk.send("tools/call", call);
    answer(json!("three"));
    let bare = talk.answer(id).unwrap();
    assert_eq!((&bare["isError"], text(&bare)), (&json!(true), "three"));

    let never = json!({ "path": node.scratch().join("never") });
    let id = talk.send("tools/call", json!({ "name": "tools__wait", "arguments": never }));
    eventually("it is being made", || server_log(&node, "tools").contains("never"));
    node.kill_daemon();
    node.up();
    let unknown = talk.answer(id).unwrap();
    assert!(text(&unknown).starts_with("outcome_unknown: "), "{unknown}");
    assert!(text(&unknown).contains("It may have taken effect"), "{unknown}");
}

/// Proves MCP-022 and MCP-040.
#[test]
fn over_http_they_are_the_bearers() {
    let (node, address) = listening();
    declare(&node, "tools", "plain", POLICY);
    let token = speak_as(&node, "worker").call::<TokenEpoch>(&Empty {}).token;
    let list = |token: &str| {
        Ask::stateless(&address, token, "tools/list", json!({})).send().message()["result"].clone()
    };
    let listed = list(&token);
    assert!(named(listed["tools"].as_array().unwrap(), "tools__echo").is_some(), "{listed}");
    let params = json!({ "name": "tools__echo", "arguments": { "text": "over http" } });
    let said = Ask::stateless(&address, &token, "tools/call", params).send().message()["result"].clone();
    assert_eq!(text(&said), "over http", "{said}");
    assert_eq!(node.count("worker", "invocation.ended"), 1);
    // A service may call none, and is shown none.
    let service = node.token("hooks", TokenKind::Service, &[Scope::Signal, Scope::Read], &[]);
    let listed = list(&service.token);
    let tools = listed["tools"].as_array().unwrap();
    assert!(tools.len() > 10 && tools.iter().all(|tool| tool["_meta"].get(META).is_none()), "{listed}");
}
