//! Evidence end to end: packs of real nodes, verified without one, and found out when they are altered.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on ends at once")]

use std::{collections::BTreeMap, path::Path};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use edgeplane_proof::{KeyRing, pack};
use edgeplane_testkit::{
    Node, acp,
    peers::{answer, ask},
    signals, terminal,
    wait::eventually,
};
use edgeplane_types::{ErrorName, Phase, Scope, TokenKind};
use edgeplane_wire::{
    catalogue::{METHODS, later::LATER},
    rpc::RpcError,
};
use serde_json::{Value, json};

type Files = BTreeMap<String, Vec<u8>>;

fn raw(node: &Node, method: &str, params: Value) -> Result<Value, RpcError> {
    node.connect().try_raw(method, params)
}

fn export(node: &Node, params: Value) -> (Value, Files) {
    let result = raw(node, "evidence/pack.export", params).unwrap();
    let files = result["files"].as_array().cloned().unwrap_or_default();
    let bytes = |file: &Value| STANDARD.decode(file["data"].as_str().unwrap()).unwrap();
    let files = files.iter().map(|file| (file["path"].as_str().unwrap().to_owned(), bytes(file))).collect();
    (result, files)
}

fn manifest(files: &Files) -> Value {
    serde_json::from_slice(&files[pack::MANIFEST]).unwrap()
}

fn check(files: &Files) -> pack::Report {
    pack::verify(files, &KeyRing::default(), false)
}

fn has(files: &Files, text: &str) -> bool {
    files.values().any(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
}

fn signals_of(manifest: &Value) -> BTreeMap<String, String> {
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    manifest["signals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (word(&one["name"]), word(&one["status"])))
        .collect()
}

/// Proves EVD-001, EVD-002, EVD-004.
#[test]
fn pack_holds_what_the_record_says_and_no_secret() {
    let node = Node::start();
    let secret = node.scratch().join("secret");
    std::fs::write(&secret, "hush-hush-value\n").unwrap();
    let more = format!(
        "secrets: [{{ name: key, from: {{ file: {} }}, as: env }}]\nenv: {{ PLAIN: plain-setting, KEY: {{ secret: key }} }}",
        secret.display()
    );
    node.run("one", &terminal("one", &["/bin/cat"], &more));
    let token = node.token("visitor", TokenKind::Service, &[Scope::Read], &[]).token;
    node.signal("one", "the word is hush-hush-value", None);
    node.signal("one", "nothing to hide", None);

    let (result, files) = export(&node, json!({ "scope": { "node": true }, "bodies": "inline" }));
    let report = check(&files);
    assert!(report.ok, "{:#?}", report.problems);
    assert_eq!(Some(report.events), result["events"].as_u64());
    assert_eq!(report.signed_by.unwrap().to_string(), result["signed_by"].as_str().unwrap());
    for secret in ["hush-hush-value", "plain-setting", token.as_str()] {
        assert!(!has(&files, secret), "{secret}");
    }
    assert!(has(&files, "nothing to hide"));
    let listed = manifest(&files);
    let reasons: Vec<&str> =
        listed["bodies"].as_array().unwrap().iter().filter_map(|body| body["reason"].as_str()).collect();
    assert!(reasons.iter().any(|why| why.contains("secret")), "{reasons:?}");
    assert!(reasons.iter().any(|why| why.contains("variables")), "{reasons:?}");
    let signals = signals_of(&listed);
    let status = |name: &str| signals[name].as_str();
    assert_eq!(
        (status("timeline"), status("turns"), status("routing")),
        ("exported", "not_applicable", "unsupported")
    );
    assert_eq!(status("trace"), "exported");
    // Exactly what is stored, event by event.
    let path = format!("events/agent-{}.jsonl", node.get("one").status.identities.audit.agent_id);
    let text = String::from_utf8(files[&path].clone()).unwrap();
    let history = node.history("one");
    for (line, event) in text.lines().zip(&history) {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(
            (&line["event"], &line["hash"], &line["pos"]),
            (&event.event, &json!(event.hash), &json!(event.pos))
        );
    }
    let (_, refs) = export(&node, json!({ "scope": { "agent": "one" } }));
    assert!(check(&refs).ok && !has(&refs, "nothing to hide"));
    assert!(refs.keys().all(|path| !path.starts_with("bodies/")));
}

/// Proves EVD-001, EVD-002.
#[test]
fn message_turn_and_time_cut_a_stretch_that_still_chains() {
    let node = Node::start();
    let folder = node.scratch().join("coder");
    node.run("coder", &acp("coder", &folder, &[], ("", "")));
    let first = ask(&node, "coder", "say one").message_id.to_string();
    let second = ask(&node, "coder", "say two").message_id.to_string();
    let (_, whole) = export(&node, json!({ "scope": { "agent": "coder" } }));
    let (_, message) = export(&node, json!({ "scope": { "message_id": second }, "bodies": "inline" }));
    let turn = second.replacen("msg_", "trn_", 1);
    let (_, of_turn) = export(&node, json!({ "scope": { "turn_id": turn } }));
    for files in [&whole, &message, &of_turn] {
        let report = check(files);
        assert!(report.ok, "{:#?}", report.problems);
    }
    assert!(has(&whole, &first) && has(&whole, &second));
    assert!(has(&message, &second) && has(&message, "say two"));
    let (whole_events, events) = (check(&whole).events, check(&message).events);
    assert!(
        events > 0 && events < whole_events && check(&of_turn).events == events,
        "{events} of {whole_events}"
    );
    let listed = manifest(&message);
    assert_eq!(
        (&listed["correlation"]["message_id"], &listed["correlation"]["turn_id"]),
        (&json!(second), &json!(turn))
    );
    let session = listed["correlation"]["session_id"].as_str().unwrap().to_owned();
    let thread = session.replacen("ses_", "thr_", 1);
    let (_, of_thread) = export(&node, json!({ "scope": { "thread_id": thread } }));
    assert!(check(&of_thread).ok && has(&of_thread, &first));
    // A stretch of time: nothing from before the second message.
    let from = node.events("coder", &["message.accepted"])[1].event["ts"].clone();
    let (_, late) = export(&node, json!({ "scope": { "agent": "coder" }, "from": from }));
    assert!(check(&late).ok && !has(&late, &first) && has(&late, &second));
    let refused = |params: Value| raw(&node, "evidence/pack.export", params).unwrap_err().name();
    assert_eq!(refused(json!({ "scope": { "agent": "nobody" } })), ErrorName::NotFound);
    let none = "msg_01890000-0000-7000-8000-000000000002";
    assert_eq!(refused(json!({ "scope": { "message_id": none } })), ErrorName::NotFound);
    assert_eq!(refused(json!({ "scope": { "node": false } })), ErrorName::InvalidParams);
    let future = json!({ "scope": { "agent": "coder" }, "from": "2100-01-01T00:00:00Z" });
    assert_eq!(refused(future), ErrorName::NotFound);
}

/// Proves EVD-003, EVD-005.
#[test]
fn pack_is_verified_without_a_node_and_each_tampering_is_named() {
    let mut node = Node::start();
    node.run("one", &terminal("one", &["/bin/cat"], ""));
    node.signal("one", "hello", None);
    let dir = node.scratch().join("pack");
    let place = dir.to_string_lossy().into_owned();
    let keys = raw(&node, "security/key.list", json!({})).unwrap();
    let key = keys["items"][0]["public_key"].as_str().unwrap().to_owned();
    let out = node.cli(&["evidence", "export", "one", "-d", &place, "--bodies"]).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    node.stop("one");
    node.stop_daemon();
    let verify = |more: &[&str]| {
        let args = [&["evidence", "verify", place.as_str()][..], more].concat();
        let out = node.cli(&args).output().unwrap();
        (out.status.code(), String::from_utf8_lossy(&out.stdout).into_owned())
    };
    let (code, said) = verify(&["--key", &key]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("as it was made") && said.contains("a key that you gave"), "{said}");
    assert_eq!(verify(&[]).0, Some(0));
    let mut strangers =
        (0..=u8::MAX).map(|byte| edgeplane_proof::SigningKey::from_seed([byte; 32]).public().to_string());
    // A key is no option, whatever it begins with.
    let stranger = strangers.find(|key| key.starts_with('-')).unwrap();
    assert_eq!(verify(&["--key", &stranger]).0, Some(1), "another's key");

    let files = read(&dir);
    assert!(files.keys().any(|path| path.starts_with("bodies/")), "{:?}", files.keys());
    for (path, bytes) in &files {
        let file = dir.join(path);
        // One byte in the middle, the first and the last; then none of them.
        for at in [0, bytes.len() / 2, bytes.len() - 1] {
            let mut altered = bytes.clone();
            altered[at] ^= 1;
            std::fs::write(&file, &altered).unwrap();
            let (code, said) = verify(&[]);
            assert_eq!(code, Some(1), "byte {at} of {path}: {said}");
            let named = path.as_str() == pack::MANIFEST || said.contains(path.as_str());
            assert!(named, "byte {at} of {path}: {said}");
        }
        std::fs::remove_file(&file).unwrap();
        let (code, said) = verify(&[]);
        assert!(code == Some(1) && said.contains(path.as_str()), "without {path}: {said}");
        std::fs::write(&file, bytes).unwrap();
    }
    let (events, text) = files.iter().find(|(path, _)| path.ends_with(".jsonl")).unwrap();
    let mut lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    lines.swap(1, 2);
    std::fs::write(dir.join(events), lines.concat()).unwrap();
    let (_, said) = verify(&[]);
    assert!(said.contains("event 3 stands where event 2 should"), "{said}");
    std::fs::write(dir.join(events), text).unwrap();
    std::fs::write(dir.join("more.txt"), "x").unwrap();
    assert!(verify(&[]).1.contains("more.txt"), "what was put in is named");
    std::fs::remove_file(dir.join("more.txt")).unwrap();
    assert_eq!(verify(&[]).0, Some(0), "whole again");
}

fn read(dir: &Path) -> Files {
    let mut files = Files::new();
    for folder in ["", "events", "bodies"] {
        for entry in std::fs::read_dir(dir.join(folder)).unwrap().flatten() {
            if entry.file_type().unwrap().is_file() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
                files.insert(path, std::fs::read(entry.path()).unwrap());
            }
        }
    }
    files
}

/// Proves EVD-006: written on the node, for its owner alone, and whole.
#[test]
fn pack_that_is_written_lies_whole_on_the_node() {
    let node = Node::start();
    node.run("one", &terminal("one", &["/bin/cat"], ""));
    let (result, files) = export(&node, json!({ "scope": { "agent": "one" }, "write": true }));
    assert!(files.is_empty());
    let dir = std::path::PathBuf::from(result["path"].as_str().unwrap());
    assert!(dir.starts_with(node.state_dir()));
    let written = read(&dir);
    assert!(check(&written).ok);
    for one in result["refs"].as_array().unwrap() {
        let bytes = &written[one["path"].as_str().unwrap()];
        assert_eq!(one["digest"], edgeplane_proof::digest(bytes).to_string());
    }
}

/// Proves EVD-007.
#[test]
fn replay_case_names_input_context_and_expected_output() {
    let node = Node::start();
    let folder = node.scratch().join("coder");
    node.run("coder", &acp("coder", &folder, &[], ("", "")));
    let asked = ask(&node, "coder", "say something");
    let id = asked.message_id.to_string();
    let words = answer(&asked).text.clone();
    let turn = id.replacen("msg_", "trn_", 1);
    eventually("the turn is over", || node.count("coder", "turn.completed") == 1);
    let case = raw(&node, "evidence/replay.export", json!({ "turn_id": turn })).unwrap();
    assert_eq!((&case["message_id"], &case["agent"]), (&json!(id), &json!("coder")));
    assert!(case["input"]["content"].to_string().contains("say something"), "{case}");
    assert_eq!(case["input"]["envelope"]["id"], json!(id));
    let completed = node.events("coder", &["turn.completed"]).pop().unwrap().event;
    assert_eq!(case["expected"]["output_digest"], completed["payload"]["output_digest"]);
    assert_eq!(case["expected"]["output_bytes"], words.len());
    assert_eq!(case["options"]["driver"], "acp");
    let declared = node.events("coder", &["agent.declared"]).pop().unwrap().event;
    assert_eq!(case["context"]["manifest_digest"], declared["payload"]["manifest_digest"]);
    let evidence = &case["evidence"];
    assert!(evidence["from_seq"].as_u64().unwrap() < evidence["to_seq"].as_u64().unwrap(), "{evidence}");
    let same = raw(&node, "evidence/replay.export", json!({ "turn_id": turn })).unwrap();
    assert_eq!(case["digest"], same["digest"], "the case is a function of the record");
    let nobody = json!({ "turn_id": "trn_01890000-0000-7000-8000-000000000002" });
    assert_eq!(raw(&node, "evidence/replay.export", nobody).unwrap_err().name(), ErrorName::NotFound);
    let by_own = json!({ "turn_id": completed["payload"]["turn_id"] });
    assert_eq!(raw(&node, "evidence/replay.export", by_own).unwrap()["message_id"], json!(id));
}

/// Proves EVD-008.
#[test]
fn what_nobody_saw_is_listed_with_place_and_reason() {
    let mut node = Node::start();
    node.run("one", &terminal("one", &["/bin/cat"], "restart: { policy: never }"));
    let gaps = |node: &Node, params: Value| {
        let result = raw(node, "evidence/gap.list", params).unwrap();
        result["items"].as_array().unwrap().clone()
    };
    let kinds = |items: &[Value]| -> Vec<String> {
        items.iter().map(|gap| gap["kind"].as_str().unwrap().to_owned()).collect()
    };
    let before = gaps(&node, json!({ "agent": "one" }));
    assert_eq!(kinds(&before), ["unsealed_segment"], "what is being written has no digest yet");
    signals::kill(&[node.shim_pid("one")]);
    eventually("its end is known", || node.get("one").status.phase == Phase::Failed);
    node.kill_daemon();
    node.up();
    let items = gaps(&node, json!({ "agent": "one" }));
    let found = kinds(&items);
    assert!(
        found.contains(&"unobservable".to_owned()) && found.contains(&"unseen_end".to_owned()),
        "{items:?}"
    );
    let stretch = items.iter().find(|gap| gap["kind"] == "unobservable").unwrap();
    assert!(stretch["to"].is_string() && stretch["epoch"] == 1 && stretch["reason"] != "", "{stretch}");
    let all = gaps(&node, json!({}));
    let down =
        all.iter().find(|gap| gap["stream"].as_str().is_some_and(|name| name.starts_with("node/"))).unwrap();
    assert_eq!((&down["kind"], &down["reason"]), (&json!("unobservable"), &json!("no daemon looked")));
    let (_, files) = export(&node, json!({ "scope": { "agent": "one" } }));
    assert!(manifest(&files)["known_gaps"].as_array().unwrap().len() >= 2);
    let nobody = raw(&node, "evidence/gap.list", json!({ "agent": "nobody" })).unwrap_err();
    assert_eq!(nobody.name(), ErrorName::NotFound);
    for later in ["evidence/replay.run", "evidence/review.export"] {
        assert_eq!(raw(&node, later, json!({})).unwrap_err().name(), ErrorName::Unsupported, "{later}");
    }
}

/// Names of conversations that are served or not by the time this is read.
const OF_CONVERSATIONS: &str = "conversation/";

/// Proves EVD-009: each command of Agent Runtime has a row, and each method that a row names is one of the catalogue's.
#[test]
fn every_command_of_agent_runtime_has_a_name_here() {
    let page = include_str!("../../../docs/guide/method-names.md");
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let commands: Vec<&str> = rows.iter().map(|row| row[0].trim_matches('`')).collect();
    let wanted = "submit_turn interrupt_turn resume_thread create_task update_task start_task append_task_progress \
        pause_task resume_task cancel_task retry_task complete_task fail_task list_tasks get_task link_tasks \
        unlink_tasks respond_action remove_queued_turn promote_queued_turn get_session get_thread_read \
        get_tool_inventory spawn_subagent send_subagent_input wait_subagents resume_subagent close_subagent \
        list_subagents evaluate_permission resolve_permission get_execution_environment write_process_stdin \
        terminate_process create_job list_jobs get_job cancel_job reconnect_channel ack_events export_evidence \
        export_replay export_review start_benchmark_trial record_benchmark_reward export_benchmark_trial \
        compare_benchmark_runs";
    let wanted: Vec<&str> = wanted.split_whitespace().collect();
    assert_eq!(wanted.len(), 47);
    assert_eq!(commands, wanted);
    for row in &rows {
        for name in row[1].split(',').map(|name| name.trim().trim_matches('`')) {
            let is_served = METHODS.iter().any(|method| method.name == name);
            let is_later = LATER.iter().any(|later| later.name == name);
            let is_anothers = name.starts_with(OF_CONVERSATIONS) || name == "stream/ack";
            assert!(is_served || is_later || is_anothers, "`{}` leads to `{name}`", row[0]);
            if !is_anothers {
                let expected = if is_served { "served" } else { "later" };
                assert_eq!(row[2], expected, "`{name}`");
            }
        }
    }
}
