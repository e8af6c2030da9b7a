//! OpenAPI as it is served, against the node that serves it: valid by its own schema, and true.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]
#![expect(clippy::print_stderr, reason = "what is not shown is said aloud")]

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use edgeplane_testkit::{Node, NodeOptions, native, terminal};
use edgeplane_types::{Scope, TokenKind};
use serde_json::{Value, json};

/// The same requests each time; a failure names the request that shows it.
const SEED: &str = "20261101";

/// Requests of each kind to each method, by an operator and by a service, most of whose requests are refused.
const EXAMPLES: [&str; 2] = ["8", "3"];

/// What is not tried, each with its reason. Nothing here would end the node: `runtime/node.stop` needs more than a token.
const EXCLUDED: &[(&str, &str)] = &[("/v1/stream", "its answer has no end, which the suite would wait for")];

/// Milliseconds after which a call that waits for something is answered.
const DEADLINE_MS: u32 = 2_000;

fn root(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(below)
}

/// Where the programs of the suite are, or a loud word on why there are none.
fn programs() -> Option<PathBuf> {
    let output = Command::new(root("scripts/schemathesis.sh")).output().unwrap();
    if output.status.success() {
        return Some(PathBuf::from(String::from_utf8(output.stdout).unwrap().trim()));
    }
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(
        std::env::var_os("EDGEPLANE_REQUIRE_AGENTS").is_none_or(|value| value != "1"),
        "schemathesis cannot be installed, and it is required here:\n{why}"
    );
    eprintln!("SKIPPED: OpenAPI against a node: schemathesis cannot be installed:\n{why}");
    None
}

const VALIDATE: &str = r#"
import json, sys
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
document = json.load(open(sys.argv[1]))
OpenAPIV31SpecValidator(document).validate()
Draft202012Validator.check_schema(json.load(open(sys.argv[2])))
print(len(document["paths"]))
"#;

/// Proves CLNT-004.
#[test]
fn document_is_valid_by_the_schema_of_openapi() {
    let Some(programs) = programs() else { return };
    let mut command = Command::new(programs.join("python"));
    command.args(["-c", VALIDATE]);
    command.arg(root("spec/openapi.json")).arg(root("spec/schemas/edgeplane.schema.json"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let paths: usize = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap();
    assert_eq!(paths, edgeplane_wire::catalogue::METHODS.len() + 2);
}

/// What there is on the node that is tried, by the name of the field that names it. Ends of the agent are asked for
/// another one's.
fn there_is(node: &Node) -> Value {
    for name in ["shell", "spare"] {
        node.run(name, &terminal(name, &["sh"], ""));
    }
    let worker = native("worker", &["/bin/cat"], "run: stopped");
    node.apply(&worker);
    let mut connection = node.connect();
    let mut made = |method: &str, params: Value| connection.try_raw(method, params).unwrap();
    let words = json!([{ "type": "text", "text": "x" }]);
    let turn = made("conversation/turn.start", json!({ "agent": "worker", "input": words }));
    let asked = json!({ "agent": "shell", "kind": "approval", "prompt": "May I?" });
    let action = made("conversation/action.open", asked)["action"].clone();
    let session = made("conversation/session.list", json!({ "agent": "worker" }))["items"][0].clone();
    json!({
        "agent": "shell", "spare": "spare", "message_id": turn["message_id"], "turn_id": turn["turn_id"],
        "thread_id": turn["thread_id"], "session_id": session["session_id"], "action_id": action["id"],
    })
}

fn try_as(examples: &str, token: impl FnOnce(&Node) -> String) {
    let Some(programs) = programs() else { return };
    let node = Node::start_with(NodeOptions { env: Node::over_http(), ..NodeOptions::default() });
    let there_is = there_is(&node);
    let access = node.access(&token(&node));
    let url = format!("http://{}", access.address);
    let bearer = format!("Authorization: Bearer {}", access.token);

    let mut command = Command::new(programs.join("st"));
    command.arg("--config-file").arg(root("testkit/schemathesis/schemathesis.toml"));
    command.args(["run", &format!("{url}/v1/openapi.json"), "--url", &url, "--header", &bearer]);
    command.args(["--header", &format!("X-Deadline-Ms: {DEADLINE_MS}")]);
    command.args(["--checks", "not_a_server_error,status_code_conformance"]);
    command.args(["--checks", "content_type_conformance,response_schema_conformance"]);
    command.args(["--phases", "fuzzing", "--mode", "all", "--max-examples", examples, "--seed", SEED]);
    command.args(["--no-shrink", "--continue-on-failure", "--request-timeout", "30", "--no-color"]);
    for (path, _) in EXCLUDED {
        command.args(["--exclude-path", path]);
    }
    // The suite keeps what it has found in the folder where it runs.
    command.current_dir(node.scratch()).env("PYTHONDONTWRITEBYTECODE", "1").stdin(Stdio::null());
    command.env("PYTHONPATH", root("testkit/schemathesis")).env("SCHEMATHESIS_HOOKS", "hooks");
    command.env("EDGEPLANE_TRIED", there_is.to_string());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains(&format!("Tested: {}", edgeplane_wire::catalogue::METHODS.len() + 1)), "{said}");
    assert!(!said.contains("401 Unauthorized"), "it was somebody: {said}");
    node.verify();
}

/// All that a service may do: what only a person may is refused, which is an answer like any other.
///
/// Proves CLNT-005.
#[test]
fn served_document_is_true_for_a_service() {
    let scopes = [Scope::Read, Scope::Signal];
    try_as(EXAMPLES[1], |node| node.token("schemathesis", TokenKind::Service, &scopes, &[]).token);
}

/// All that anybody may do over a network.
///
/// Proves CLNT-005.
#[test]
fn served_document_is_true_for_an_operator() {
    try_as(EXAMPLES[0], |node| node.remote_token("schemathesis", Scope::ALL, &["role"]).token);
}
