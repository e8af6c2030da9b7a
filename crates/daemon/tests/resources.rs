//! Resources end to end: versions over a daemon's death, writers that race, connectors that are applied with agents,
//! and secrets that are nowhere.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on ends at once")]

use std::path::Path;

use edgeplane_os::failpoint;
use edgeplane_testkit::{Node, peers::speak_as, terminal, wait::eventually};
use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};

const LIMITS: &str = "edgeplane://config/limits";

fn ask(node: &Node, method: &str, params: Value) -> Result<Value, RpcError> {
    node.connect().try_raw(method, params)
}

fn made(node: &Node, method: &str, params: Value) -> Value {
    ask(node, method, params).unwrap()
}

fn versions(node: &Node, uri: &str) -> Vec<(u64, bool)> {
    let history = made(node, "resource/history", json!({ "uri": uri }));
    let items = history["items"].as_array().unwrap().iter();
    items.map(|item| (item["version"].as_u64().unwrap(), item["deleted"] == true)).collect()
}

/// Proves RES-002, RES-005, RES-006, RES-008.
#[test]
fn versions_stay_over_ends_and_over_the_daemons_death() {
    let mut node = Node::start();
    let first = made(&node, "resource/put", json!({ "uri": LIMITS, "value": { "b": 1, "a": { "x": 1 } } }));
    assert_eq!((&first["version"], &first["unchanged"]), (&json!(1), &Value::Null));
    let again = made(&node, "resource/put", json!({ "uri": LIMITS, "value": { "a": { "x": 1 }, "b": 1 } }));
    assert_eq!(
        (&again["version"], &again["unchanged"], &again["etag"]),
        (&json!(1), &json!(true), &first["etag"])
    );
    made(&node, "resource/patch", json!({ "uri": LIMITS, "patch": { "a": { "x": null, "y": 2 } } }));
    made(&node, "resource/delete", json!({ "uri": LIMITS, "reason": "not needed" }));
    assert_eq!(ask(&node, "resource/get", json!({ "uri": LIMITS })).unwrap_err().name(), ErrorName::NotFound);
    node.kill_daemon();
    node.up();
    let fourth =
        made(&node, "resource/put", json!({ "uri": LIMITS, "value": "back", "labels": { "team": "docs" } }));
    assert_eq!(fourth["version"], 4);
    assert_eq!(versions(&node, LIMITS), [(4, false), (3, true), (2, false), (1, false)]);
    let at = |version: u64| made(&node, "resource/get", json!({ "uri": LIMITS, "at_version": version }));
    assert_eq!(at(1)["value"], json!({ "a": { "x": 1 }, "b": 1 }));
    assert_eq!(at(2)["value"], json!({ "a": { "y": 2 }, "b": 1 }));
    assert_eq!((&at(3)["value"], &at(3)["deleted"]), (&Value::Null, &json!(true)));
    assert_eq!(
        ask(&node, "resource/get", json!({ "uri": LIMITS, "at_version": 5 })).unwrap_err().name(),
        ErrorName::NotFound
    );
    let some = made(&node, "resource/get", json!({ "uri": LIMITS, "at_version": 1, "fields": ["b"] }));
    assert_eq!(some["value"], json!({ "b": 1 }));
    let known = made(&node, "resource/get", json!({ "uri": LIMITS, "if_none_match": fourth["etag"] }));
    assert_eq!((&known["not_modified"], &known["value"]), (&json!(true), &Value::Null));
    let listed = made(&node, "resource/list", json!({ "labels": { "team": "docs" } }));
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    let page = made(&node, "resource/history", json!({ "uri": LIMITS, "limit": 3 }));
    let rest =
        made(&node, "resource/history", json!({ "uri": LIMITS, "limit": 3, "cursor": page["next_cursor"] }));
    assert_eq!((&rest["items"][0]["version"], &rest["next_cursor"]), (&json!(1), &Value::Null));
    node.verify();
}

/// Proves RES-007.
#[test]
fn of_several_who_write_at_one_version_one_does() {
    let node = Node::start();
    made(&node, "resource/put", json!({ "uri": LIMITS, "value": 0 }));
    let writers: Vec<_> = (1..=8)
        .map(|number| {
            let mut connection = node.connect();
            let put = json!({ "uri": LIMITS, "value": number, "if_version": 1 });
            std::thread::spawn(move || connection.try_raw("resource/put", put))
        })
        .collect();
    let results: Vec<_> = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
    for error in results.into_iter().filter_map(Result::err) {
        assert_eq!(error.name(), ErrorName::VersionConflict);
        assert!(error.message.contains("is at version 2, not at version 1"), "{error}");
        assert_eq!(error.data.violations, [json!({ "field": "if_version", "found": 2 })]);
    }
    let absent =
        ask(&node, "resource/put", json!({ "uri": "edgeplane://config/x", "value": 1, "if_version": 3 }));
    assert!(absent.unwrap_err().message.contains("is not there"));
    made(&node, "resource/put", json!({ "uri": "edgeplane://config/x", "value": 1, "if_version": 0 }));
}

fn connector(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: edgeplane.dev/v1alpha1\nkind: Connector\nmetadata: {{name: {name}}}\nspec:\n  {spec}\n"
    )
}

/// Proves RES-010, RES-012.
#[test]
fn connectors_are_applied_with_agents_or_not_at_all() {
    let node = Node::start();
    let stdio = connector(
        "tickets",
        "transport: {stdio: {command: [./server], env: {API_TOKEN: {secretRef: {file: token}}}}}",
    );
    let agent = terminal("one", &["/bin/cat"], "run: stopped");
    let wrong = stdio.replace("command", "comand");
    let refused = node.try_apply(&format!("{agent}\n---\n{wrong}")).unwrap_err();
    assert_eq!(refused.name(), ErrorName::InvalidManifest, "{refused}");
    assert!(refused.message.contains("spec.transport.stdio.comand"), "{refused}");
    assert_eq!(made(&node, "runtime/agent.list", json!({}))["items"], json!([]));
    let uri = "edgeplane://connector/tickets";
    assert_eq!(ask(&node, "resource/get", json!({ "uri": uri })).unwrap_err().name(), ErrorName::NotFound);

    let both = format!("{agent}\n---\n{stdio}");
    let applied = serde_json::to_value(node.try_apply(&both).unwrap()).unwrap();
    assert_eq!(applied["resources"], json!([{ "uri": uri, "change": "created", "version": 1 }]));
    let again = serde_json::to_value(node.try_apply(&both).unwrap()).unwrap();
    assert_eq!(again["resources"], json!([{ "uri": uri, "change": "unchanged", "version": 1 }]));
    let shown = made(&node, "resource/get", json!({ "uri": uri }));
    let program = &shown["value"]["transport"]["stdio"];
    assert!(program["command"][0].as_str().unwrap().starts_with('/'), "{shown}");
    assert_eq!(program["env"]["API_TOKEN"]["secretRef"]["file"], "***");
    assert_eq!(shown["masked"], json!(["/transport/stdio/env/API_TOKEN/secretRef/file"]));
    assert_eq!(
        (&shown["value"]["policy"]["default"], &shown["value"]["allow"]),
        (&json!("ask"), &json!(["*"]))
    );

    let back = ask(&node, "resource/put", json!({ "uri": uri, "value": shown["value"] })).unwrap_err();
    assert_eq!(back.name(), ErrorName::InvalidParams, "{back}");
    let patched = made(&node, "resource/patch", json!({ "uri": uri, "patch": { "enabled": false } }));
    assert_eq!(patched["version"], 2);
    let shown = made(&node, "resource/get", json!({ "uri": uri }));
    assert_eq!((&shown["value"]["enabled"], shown["masked"].as_array().unwrap().len()), (&json!(false), 1));
    let updated = serde_json::to_value(node.try_apply(&stdio).unwrap()).unwrap();
    assert_eq!(updated["resources"][0], json!({ "uri": uri, "change": "updated", "version": 3 }));
}

/// Proves RES-003.
#[test]
fn agents_schedules_and_rules_can_be_read_as_resources() {
    let node = Node::start();
    let more = "run: stopped\nschedules: [{name: nightly, every: 1h, content: x}]";
    node.apply(&terminal("one", &["/bin/cat"], more));
    node.apply(&terminal("one", &["/bin/sh"], more));
    let uri = "edgeplane://agent/one";
    let agent = made(&node, "resource/get", json!({ "uri": uri }));
    assert_eq!((&agent["version"], &agent["value"]["spec"]["command"]), (&json!(2), &json!(["/bin/sh"])));
    let before = made(&node, "resource/get", json!({ "uri": uri, "at_version": 1 }));
    assert_eq!(before["value"]["spec"]["command"], json!(["/bin/cat"]));
    let schedule = made(&node, "resource/get", json!({ "uri": "edgeplane://schedule/one/nightly" }));
    assert_eq!((&schedule["value"]["content"], &schedule["scope"]), (&json!("x"), &agent["scope"]));
    let rules = made(&node, "resource/get", json!({ "uri": "edgeplane://policy/rules" }));
    assert!(rules["value"]["rules"].as_u64().unwrap() > 0, "{rules}");
    let refused = ask(&node, "resource/put", json!({ "uri": uri, "value": {} })).unwrap_err();
    assert_eq!(refused.name(), ErrorName::Unsupported);
    assert!(refused.data.hint.unwrap().contains("edgeplane apply"));
    made(&node, "runtime/agent.retire", json!({ "agent": "one" }));
    eventually("it is no more", || versions(&node, uri) == [(3, true), (2, false), (1, false)]);
    assert_eq!(versions(&node, "edgeplane://schedule/one/nightly").first(), Some(&(2, true)));
}

/// Proves RES-011.
#[test]
fn a_secret_that_was_refused_is_nowhere_on_the_disk() {
    let mut node = Node::start();
    let secret = "hunter2-4711-hunter2";
    for (method, params) in [
        ("resource/put", json!({ "uri": LIMITS, "value": { "db": { "password": secret } } })),
        (
            "resource/put",
            json!({ "uri": "edgeplane://connector/c", "value": {
            "transport": { "http": { "url": "https://x", "headers": { "Authorization": format!("Bearer {secret}") } } },
        } }),
        ),
        (
            "resource/put",
            json!({ "uri": "edgeplane://connector/c", "value": {
            "transport": { "http": { "url": "https://x" } }, "credentials": secret,
        } }),
        ),
    ] {
        let mut params = params;
        params["ctx"] = json!({ "idempotency_key": params.to_string().len().to_string() });
        let error = ask(&node, method, params).unwrap_err();
        assert_eq!(error.name(), ErrorName::InvalidParams, "{error}");
        assert!(!format!("{error:?}").contains(secret), "{error:?}");
    }
    let file =
        connector("c", &format!("transport: {{stdio: {{command: [x], env: {{DB_PASSWORD: {secret}}}}}}}"));
    let error = node.try_apply(&file).unwrap_err();
    assert!(!format!("{error:?}").contains(secret) && error.message.contains("secretRef"), "{error:?}");
    node.stop_daemon();
    assert_eq!(files_with(&node.state_dir(), secret.as_bytes()), Vec::<String>::new());
}

fn files_with(dir: &Path, bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with(&path, bytes));
        } else if let Ok(content) = std::fs::read(&path)
            && content.windows(bytes.len()).any(|window| window == bytes)
        {
            found.push(path.display().to_string());
        }
    }
    found
}

/// Proves RES-002, RES-007.
#[test]
fn a_daemon_that_dies_before_a_version_is_durable_leaves_the_one_before() {
    let mut node = Node::start();
    made(&node, "resource/put", json!({ "uri": LIMITS, "value": 1 }));
    let folder = node.state_dir().join(failpoint::FOLDER);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("resource.changing"), "1").unwrap();
    let put = json!({ "uri": LIMITS, "value": 2, "ctx": { "idempotency_key": "k" } });
    assert!(ask(&node, "resource/put", put.clone()).is_err());
    eventually("the daemon has died", || node.has_ended());
    node.up();
    assert_eq!(versions(&node, LIMITS), [(1, false)]);
    // What became of a call that died in between is not known to its key.
    let unknown = ask(&node, "resource/put", put).unwrap_err();
    assert_eq!(unknown.name(), ErrorName::OutcomeUnknown, "{unknown}");
    made(&node, "resource/put", json!({ "uri": LIMITS, "value": 2, "if_version": 1 }));
    assert_eq!(versions(&node, LIMITS), [(2, false), (1, false)]);
}

/// Proves RES-013.
#[test]
fn an_agent_neither_reads_nor_writes_resources() {
    let node = Node::start();
    edgeplane_testkit::peers::run_peer(&node, "one", "");
    made(&node, "resource/put", json!({ "uri": LIMITS, "value": 1 }));
    let mut agent = speak_as(&node, "one");
    for (method, params) in [
        ("resource/get", json!({ "uri": LIMITS })),
        ("resource/get", json!({ "uri": "edgeplane://agent/one" })),
        ("resource/put", json!({ "uri": LIMITS, "value": 2 })),
    ] {
        assert_eq!(
            agent.try_raw(method, params).unwrap_err().name(),
            ErrorName::PermissionDenied,
            "{method}"
        );
    }
    assert_eq!(agent.try_raw("resource/list", json!({})).unwrap()["items"], json!([]));
    let hidden = agent.try_raw("core/health", json!({ "ctx": { "selectors": { "resource_uri": LIMITS } } }));
    assert_eq!(hidden.unwrap_err().name(), ErrorName::NotFound);
    made(&node, "core/health", json!({ "ctx": { "selectors": { "resource_uri": LIMITS } } }));
}
