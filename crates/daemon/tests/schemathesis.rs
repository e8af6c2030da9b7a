//! OpenAPI as it is served, against the node that serves it: valid by its own schema, and true.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]
#![expect(clippy::print_stderr, reason = "what is not shown is said aloud")]

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use edgeplane_testkit::{Node, NodeOptions, terminal};
use edgeplane_types::{Scope, TokenKind};

/// The same requests each time; a failure names the request that shows it.
const SEED: &str = "20261101";

/// Requests of each kind to each method.
const EXAMPLES: &str = "8";

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

/// Proves CLNT-005.
#[test]
fn served_document_is_true_of_the_node_that_serves_it() {
    let Some(programs) = programs() else { return };
    let node = Node::start_with(NodeOptions { env: Node::over_http(), ..NodeOptions::default() });
    node.run("shell", &terminal("shell", &["sh"], ""));
    // All that a token over HTTP can have: what only a person may do is refused, which is an answer like any other.
    let token = node.token("schemathesis", TokenKind::Service, &[Scope::Read, Scope::Signal], &[]);
    let access = node.access(&token.token);
    let url = format!("http://{}", access.address);
    let bearer = format!("Authorization: Bearer {}", access.token);

    let mut command = Command::new(programs.join("st"));
    command.arg("--config-file").arg(root("testkit/schemathesis/schemathesis.toml"));
    command.args(["run", &format!("{url}/v1/openapi.json"), "--url", &url, "--header", &bearer]);
    command.args(["--header", &format!("X-Deadline-Ms: {DEADLINE_MS}")]);
    command.args(["--checks", "not_a_server_error,status_code_conformance"]);
    command.args(["--checks", "content_type_conformance,response_schema_conformance"]);
    command.args(["--phases", "fuzzing", "--mode", "all", "--max-examples", EXAMPLES, "--seed", SEED]);
    command.args(["--no-shrink", "--continue-on-failure", "--request-timeout", "30", "--no-color"]);
    for (path, _) in EXCLUDED {
        command.args(["--exclude-path", path]);
    }
    // The suite keeps what it has found in the folder where it runs.
    command.current_dir(node.scratch()).env("PYTHONDONTWRITEBYTECODE", "1").stdin(Stdio::null());
    command.env("PYTHONPATH", root("testkit/schemathesis")).env("SCHEMATHESIS_HOOKS", "hooks");
    command.env("EDGEPLANE_TRIED_AGENT", "shell");
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains(&format!("Tested: {}", edgeplane_wire::catalogue::METHODS.len() + 1)), "{said}");
    assert!(!said.contains("401 Unauthorized"), "it was somebody: {said}");
    node.verify();
}
