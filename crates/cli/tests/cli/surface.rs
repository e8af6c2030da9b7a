//! What programs rely on: the machine output, field by field.

use edgeplane_types::ErrorName;
use serde_json::{Value, json};

use crate::fake::{
    Fake, MESSAGE, PATIENCE, Says, TIME, change, entry, event, node_status, page, signalled, stderr, stdout,
    view,
};

fn json_of(fake: &Fake, words: &[&str]) -> Value {
    let output = fake.run(&[words, &["-o", "json"]].concat());
    assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

#[test]
fn answers_are_printed_as_they_are() {
    let message = json!({ "message_id": MESSAGE, "agent": "reviewer", "channel": "operator", "ingress": "signal",
        "source": "uid-1000", "source_detail": { "principal": "uid-1000", "proof": "uid", "assurance": "open" },
        "authority": "trusted", "receipts": [], "accepted_at": TIME, "content_digest": "00", "parts": [] });
    let audit =
        json!({ "ok": true, "events": 9, "streams": 2, "segments": 1, "unsealed": 1, "problems": [] });
    let cases: [(&[&str], &str, Value); 9] = [
        (&["agent", "get", "reviewer"], "runtime/agent.get", view()),
        (&["agent", "list"], "runtime/agent.list", json!({ "items": [view()] })),
        (&["ps"], "runtime/agent.list", json!({ "items": [] })),
        (&["agent", "stop", "reviewer"], "runtime/agent.stop", change("stopping", 3)),
        (&["signal", "reviewer", "--content", "x"], "runtime/agent.signal", signalled()),
        (&["inbox", "reviewer"], "runtime/inbox.list", json!({ "items": [message] })),
        (&["daemon", "status"], "runtime/node.status", node_status()),
        (&["audit", "verify"], "evidence/audit.verify", audit),
        (&["memory", "get", "reviewer", "tone"], "memory/entry.get", entry()),
    ];
    for (words, method, answer) in cases {
        let fake = Fake::saying(method, Says::result(answer.clone()));
        assert_eq!(json_of(&fake, words), answer, "{words:?}");
        let yaml = fake.run(&[words, &["-o", "yaml"]].concat());
        let back: Value = serde_saphyr::from_str(&stdout(&yaml)).unwrap();
        assert_eq!(back, answer, "{words:?} as YAML");
    }
}

#[test]
fn several_agents_are_items() {
    let fake = Fake::saying("runtime/agent.stop", Says::result(change("stopping", 3)));
    let several = json_of(&fake, &["agent", "stop", "a", "b"]);
    assert_eq!(several["items"].as_array().map(Vec::len), Some(2));
}

#[test]
fn events_are_one_object_a_line_over_pages() {
    let fake = Fake::new();
    fake.says("stream/replay", page(&[event(1, "agent.declared"), event(2, "agent.starting")], 2, false));
    fake.says("stream/replay", page(&[event(3, "agent.started")], 3, true));
    let output = fake.run(&["events", "-o", "json"]);
    let lines: Vec<Value> = stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines, [event(1, "agent.declared"), event(2, "agent.starting"), event(3, "agent.started")]);
    for field in ["type", "stream", "seq", "ts", "payload", "pos", "hash", "id", "actor"] {
        assert!(lines.iter().all(|line| line.get(field).is_some()), "{field}");
    }
    let places: Vec<_> = fake.asked().into_iter().map(|(_, params)| params["cursor"].clone()).collect();
    assert_eq!(places, [Value::Null, json!("behind-2")]);
}

#[test]
fn errors_are_json_on_standard_error() {
    let fake = Fake::saying("runtime/agent.get", Says::error(ErrorName::NotFound, "no agent `reviewer`"));
    let output = fake.run(&["agent", "get", "reviewer", "-o", "json"]);
    assert_eq!(output.status.code(), Some(66));
    assert!(output.stdout.is_empty());
    let error: Value = serde_json::from_str(&stderr(&output)).unwrap();
    let expected = json!({ "error": { "name": "not_found", "message": "no agent `reviewer`", "hint": "the hint",
        "retryable": false, "effect": "none" } });
    assert_eq!(error, expected);
    let output = fake.run(&["agent", "get", "reviewer"]);
    assert_eq!(stderr(&output), "error: no agent `reviewer`\nhint: the hint\n");
}

#[test]
fn exit_code_is_that_of_the_name() {
    for name in ErrorName::ALL {
        let fake = Fake::saying("runtime/agent.get", Says::error(*name, "no"));
        let code = fake.run(&["agent", "get", "reviewer"]).status.code();
        assert_eq!(code, Some(i32::from(name.exit_code())), "{}", name.as_str());
    }
}

#[test]
fn audit_with_problems_ends_with_one() {
    let problem = json!({ "stream": "agent/x", "seq": 4, "type": "agent.started", "what": "hash differs" });
    let audit = json!({ "ok": false, "events": 9, "streams": 2, "segments": 1, "unsealed": 0, "problems": [problem] });
    let fake = Fake::saying("evidence/audit.verify", Says::result(audit));
    let output = fake.run(&["audit", "verify"]);
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert!(
        text.starts_with("damaged: 9 events in 2 streams, 1 recording segment, 0 of them")
            && text.contains("hash differs"),
        "{text}"
    );
}

/// Proves MSG-012.
#[test]
fn signal_that_did_not_come_far_enough_ends_with_75() {
    let mut answer = signalled();
    answer["timed_out"] = json!(true);
    let fake = Fake::saying("runtime/agent.signal", Says::result(answer));
    let words = ["signal", "reviewer", "--content", "x", "--wait", "turn-ended", "--timeout", "10ms"];
    let output = fake.run(&words);
    assert_eq!(output.status.code(), Some(75));
    assert!(stdout(&output).starts_with(MESSAGE), "{}", stdout(&output));
}

#[test]
fn tables_are_free_of_control_characters_and_colours() {
    let fake = Fake::new();
    fake.says("runtime/agent.list", Says::result(json!({ "items": [view()] })));
    fake.says("runtime/agent.get", Says::result(view()));
    fake.says("memory/entry.get", Says::result(entry()));
    for words in [&["ps"][..], &["agent", "describe", "reviewer"], &["memory", "get", "reviewer", "tone"]] {
        let text = stdout(&fake.run(words));
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
        assert!(!text.contains(['\u{2060}', '\u{2061}', '\u{2063}', '\u{2064}']), "{text:?}");
        assert!(text.lines().all(|line| line == line.trim_end()), "{text:?}");
    }
    let list = stdout(&fake.run(&["ps"]));
    assert!(list.starts_with("NAME       PHASE     ACTIVITY"), "{list}");
}

#[test]
fn doctor_finds_the_record_where_the_node_keeps_it() {
    let dir = tempfile::tempdir().unwrap();
    let record = dir.path().join("state/record");
    let detail = || {
        let output = crate::fake::edgeplane(dir.path()).args(["doctor", "-o", "json"]).output().unwrap();
        let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
        let checks = report["checks"].as_array().unwrap();
        let check = checks.iter().find(|check| check["name"] == "record").unwrap();
        (check["status"].clone(), check["detail"].as_str().unwrap().to_owned())
    };
    assert_eq!(detail(), (json!("ok"), "none yet".to_owned()));
    std::fs::create_dir_all(&record).unwrap();
    let mut database = b"SQLite format 3\0".to_vec();
    database.resize(2048, 0);
    std::fs::write(record.join("record.db"), &database).unwrap();
    // What was committed last is there first.
    std::fs::write(record.join("record.db-wal"), [0; 1024]).unwrap();
    assert_eq!(detail(), (json!("ok"), "record/record.db, 3.0 KiB".to_owned()));
    std::fs::write(record.join("record.db"), "something else, and long enough").unwrap();
    assert_eq!(detail(), (json!("fail"), "record/record.db is not a database".to_owned()));
}

#[test]
fn doctor_tells_a_dead_a_hung_and_a_living_daemon_apart() {
    let find = |report: &Value, name: &str| {
        report["checks"]
            .as_array()
            .unwrap()
            .iter()
            .find(|check| check["name"] == name)
            .cloned()
            .unwrap_or_default()
    };
    let fake = Fake::saying("runtime/node.status", Says::result(node_status()));
    let output = fake.run(&["doctor", "-o", "json"]);
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(find(&report, "daemon")["status"], "ok", "{report}");
    assert_eq!(find(&report, "node: screens")["status"], "warn");
    assert_eq!(output.status.code(), Some(i32::from(report["ok"] != true)));

    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("s");
    let run = || {
        let output = crate::fake::edgeplane(dir.path())
            .arg("--socket")
            .arg(&socket)
            .args(["doctor", "-o", "json"])
            .output()
            .unwrap();
        serde_json::from_str::<Value>(&stdout(&output)).unwrap()
    };
    assert_eq!(find(&run(), "daemon")["status"], "warn");
    let silent = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let started = edgeplane_os::wait::Deadline::after(PATIENCE);
    let hung = find(&run(), "daemon");
    assert!(!started.has_passed());
    assert_eq!(hung["status"], "fail");
    assert!(hung["detail"].as_str().unwrap().contains("hangs"), "{hung}");
    assert!(hung["hint"].as_str().unwrap().contains("kill -ABRT"), "{hung}");
    drop(silent);
    let dead = find(&run(), "daemon");
    assert_eq!(dead["status"], "fail");
    assert!(dead["detail"].as_str().unwrap().contains("left its socket"), "{dead}");
}
