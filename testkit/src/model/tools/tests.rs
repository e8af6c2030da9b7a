//! Tools of several programs, and which call the script becomes there.

use serde_json::json;

use super::*;

fn function(name: &str, schema: Value) -> Offered {
    Offered { name: name.to_owned(), namespace: None, form: Form::Function(schema) }
}

fn schema(properties: &Value, required: &Value) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

#[track_caller]
fn check(action: &Action, tools: &[Offered], name: &str, input: &Value) {
    let call = choose(action, tools, "call_1".to_owned()).unwrap();
    assert_eq!((call.name.as_str(), call.input.object()), (name, input.clone()));
}

fn shell_action() -> Action {
    Action::Shell { command: "touch made".to_owned(), with_leave: false }
}

fn write_action() -> Action {
    Action::Write { path: "/w/a".to_owned(), content: "one\ntwo".to_owned() }
}

#[test]
fn shell_goes_to_whatever_runs_command_lines() {
    let described = schema(
        &json!({ "command": { "type": "string" }, "description": { "type": "string" }, "is_background": { "type": "boolean" } }),
        &json!(["command", "is_background"]),
    );
    check(
        &shell_action(),
        &[function("read_file", json!({})), function("run_shell_command", described)],
        "run_shell_command",
        &json!({ "command": "touch made", "is_background": false }),
    );
    let listed = schema(&json!({ "command": { "type": "array" } }), &json!(["command"]));
    check(
        &shell_action(),
        &[function("shell", listed)],
        "shell",
        &json!({ "command": ["bash", "-lc", "touch made"] }),
    );
    let unknown = schema(&json!({ "script": { "type": "STRING" } }), &json!([]));
    check(
        &shell_action(),
        &[function("my_bash_tool", unknown)],
        "my_bash_tool",
        &json!({ "script": "touch made" }),
    );
    let local = Offered { name: "local_shell".to_owned(), namespace: None, form: Form::LocalShell };
    check(&shell_action(), &[local], "local_shell", &json!({ "command": ["bash", "-lc", "touch made"] }));
}

#[test]
fn leave_is_asked_for_only_where_the_tool_lets_the_model() {
    let action = Action::Shell { command: "touch made".to_owned(), with_leave: true };
    let plain = schema(&json!({ "cmd": { "type": "string" } }), &json!(["cmd"]));
    check(&action, &[function("exec_command", plain)], "exec_command", &json!({ "cmd": "touch made" }));
    let permissions = json!({ "type": "string", "enum": ["use_default", "require_escalated"] });
    let asking =
        schema(&json!({ "cmd": { "type": "string" }, "sandbox_permissions": permissions }), &json!(["cmd"]));
    let input = choose(&action, &[function("exec_command", asking)], String::new()).unwrap().input.object();
    assert_eq!(input["sandbox_permissions"], "require_escalated");
}

#[test]
fn write_goes_to_whatever_writes_files() {
    let writer = schema(&json!({ "file_path": {}, "content": {} }), &json!(["file_path", "content"]));
    check(
        &write_action(),
        &[function("Write", writer)],
        "Write",
        &json!({ "file_path": "/w/a", "content": "one\ntwo" }),
    );
    let patch = Offered { name: "apply_patch".to_owned(), namespace: None, form: Form::Freeform };
    check(
        &write_action(),
        &[patch],
        "apply_patch",
        &json!({ "input": "*** Begin Patch\n*** Add File: /w/a\n+one\n+two\n*** End Patch" }),
    );
    let shell = schema(&json!({ "cmd": { "type": "string" } }), &json!(["cmd"]));
    check(
        &write_action(),
        &[function("exec_command", shell)],
        "exec_command",
        &json!({ "cmd": "cat > '/w/a' <<'END_OF_CONTENT'\none\ntwo\nEND_OF_CONTENT" }),
    );
}

#[test]
fn named_tool_is_found_by_its_end_if_that_is_clear() {
    let action = Action::Tool { name: "signal".to_owned(), arguments: json!({ "agent": "b" }) };
    let one = function("mcp__edgeplane__signal", json!({}));
    check(&action, std::slice::from_ref(&one), "mcp__edgeplane__signal", &json!({ "agent": "b" }));
    let problem = choose(&action, &[one, function("other_signal", json!({}))], String::new()).unwrap_err();
    assert!(problem.contains("other_signal"), "{problem}");
}
