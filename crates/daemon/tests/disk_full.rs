//! A full disk: refused in clear words, nothing acknowledged is lost, and what must work works.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on ends, and a skip is said"
)]

use std::{fs, process::Command};

use edgeplane_testkit::{Node, NodeOptions, native, terminal, wait::eventually};
use edgeplane_types::{ErrorName, Phase, Rung};
use edgeplane_wire::{
    api::{
        agent::{AgentParams, ChangeParams},
        memory::{KeyParams, PutParams},
        message::InboxParams,
        terminal::RecordingParams,
    },
    catalogue::{
        AgentFreeze, AgentSnapshot, AgentStop, AgentUnfreeze, InboxList, MemoryGet, MemoryPut, RecordingRead,
    },
};

/// A small disk of its own, unmounted when it goes.
struct Disk {
    dir: tempfile::TempDir,
}

impl Disk {
    /// `None` where nothing may be mounted.
    fn mount(size: &str) -> Option<Self> {
        let dir = tempfile::Builder::new().prefix("edgeplane-disk-").tempdir().unwrap();
        let option = format!("size={size},mode=0700");
        let status =
            Command::new("mount").args(["-t", "tmpfs", "-o", &option, "tmpfs"]).arg(dir.path()).status();
        if !status.is_ok_and(|status| status.success()) {
            eprintln!("SKIPPED: only root can mount the small disk that this test fills");
            return None;
        }
        Some(Self { dir })
    }

    fn ballast(&self) -> std::path::PathBuf {
        self.dir.path().join("ballast")
    }

    /// Leaves not one free page.
    fn fill(&self) {
        use std::io::Write as _;
        let mut file = fs::File::create(self.ballast()).unwrap();
        let page = vec![1_u8; 4096];
        while file.write_all(&page).is_ok() {}
        drop(file);
        assert_eq!(edgeplane_testkit::free_bytes(self.dir.path()), 0);
    }

    fn free(&self) {
        fs::remove_file(self.ballast()).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(self.dir.path()).status());
    }
}

fn node_on(disk: &Disk) -> Node {
    Node::start_with(NodeOptions { state_dir: Some(disk.dir.path().join("state")), ..NodeOptions::default() })
}

fn change(name: &str) -> ChangeParams {
    ChangeParams { agent: name.into(), reason: None }
}

fn put(node: &Node, value: &str) -> Result<(), ErrorName> {
    let params = PutParams {
        agent: Some("shell".into()),
        key: "k".into(),
        value: value.into(),
        if_version: None,
        ttl_ms: None,
    };
    node.connect().try_call::<MemoryPut>(&params).map(drop).map_err(|error| error.name())
}

/// Proves LIFE-019, CALL-028, CALL-041.
#[test]
fn full_disk_refuses_new_things_and_serves_what_must_work() {
    let Some(disk) = Disk::mount("64m") else { return };
    let mut node = node_on(&disk);
    node.run("shell", &terminal("shell", &["/bin/sh"], ""));
    node.run("other", &terminal("other", &["/bin/sh"], ""));
    node.run("sleeper", &native("sleeper", &["/bin/sleep", "1000"], ""));
    put(&node, "before").unwrap();
    node.signal("shell", "true", Some(Rung::Injected));
    let pid = node.pid("sleeper");
    disk.fill();

    let large = "x".repeat(200_000);
    eventually("a message is refused for want of space", || {
        node.try_signal("shell", &large, None).is_err_and(|error| error.name() == ErrorName::StorageFull)
    });
    assert_eq!(put(&node, &large), Err(ErrorName::StorageFull));
    // Under a key it is refused before it has begun, and the key stays free.
    let keyed = |mut params: serde_json::Value, key: &str| {
        params["ctx"] = serde_json::json!({ "idempotency_key": key });
        params
    };
    let under_a_key = keyed(serde_json::json!({ "agent": "shell", "key": "later", "value": 1 }), "later");
    let refused = node.connect().try_raw("memory/entry.put", under_a_key.clone()).unwrap_err();
    assert_eq!((refused.name(), refused.data.retryable), (ErrorName::StorageFull, true));
    assert_eq!(refused.data.retry_after_ms, Some(1_000));
    let refused = node.try_apply(&terminal("late", &["/bin/sh"], "")).unwrap_err();
    assert_eq!(refused.name(), ErrorName::StorageFull);
    assert!(refused.data.hint.unwrap().contains("free space"));

    // What must work: stop, freeze where the machine can, kill, and their exits.
    let frozen = node.connect().try_call::<AgentFreeze>(&change("other")).is_ok();
    if frozen {
        node.wait("other", Phase::Frozen);
        node.connect().call::<AgentUnfreeze>(&change("other"));
        node.wait("other", Phase::Running);
    }
    let stop = keyed(serde_json::json!({ "agent": "other" }), "stop");
    let stopped = node.connect().try_raw("runtime/agent.stop", stop.clone()).unwrap();
    let again = node.connect().try_raw("runtime/agent.stop", stop.clone()).unwrap();
    assert_eq!((&stopped["phase"], &again["meta"]["replayed"]), (&again["phase"], &true.into()));
    node.wait("other", Phase::Stopped);
    assert_eq!(node.pid("sleeper"), pid, "the others do not notice");

    // Killed while the disk is full: what was said to be done is still done afterwards.
    node.kill_daemon();
    node.up();
    assert_eq!(node.pid("sleeper"), pid);

    disk.free();
    eventually("the record grows again", || put(&node, "after").is_ok());
    assert!(node.connect().try_raw("memory/entry.put", under_a_key).is_ok());
    let again = node.connect().try_raw("runtime/agent.stop", stop).unwrap();
    assert_eq!(again["meta"]["replayed"], true, "the next daemon knows it");
    eventually("the stop is in the record", || node.count("other", "agent.stopped") == 1);
    let key = KeyParams { agent: Some("shell".into()), key: "k".into() };
    assert_eq!(node.connect().call::<MemoryGet>(&key).value, Some("after".into()));
    let all = InboxParams { agent: "shell".into(), all: true, limit: 100 };
    assert_eq!(node.connect().call::<InboxList>(&all).items.len(), 1, "the refused message left nothing");
    assert_eq!(node.get("other").status.phase, Phase::Stopped);
    node.verify();
}

/// What the record tells of its room, oldest first: each type with its place.
fn told(node: &Node) -> Vec<(String, u64)> {
    let all = node.events("", &["node.storage_full", "node.storage_resumed"]);
    all.iter().map(|event| (event.event["type"].as_str().unwrap().to_owned(), event.pos)).collect()
}

/// Proves LIFE-034.
#[test]
fn record_tells_from_when_to_when_it_had_no_space() {
    let Some(disk) = Disk::mount("64m") else { return };
    let mut node = node_on(&disk);
    node.run("shell", &terminal("shell", &["/bin/sh"], ""));
    assert_eq!(told(&node), []);
    disk.fill();
    let large = "x".repeat(200_000);
    eventually("a message is refused for want of space", || {
        node.try_signal("shell", &large, None).is_err_and(|error| error.name() == ErrorName::StorageFull)
    });
    node.connect().call::<AgentStop>(&change("shell"));
    node.wait("shell", Phase::Stopped);
    // The next daemon finds the disk as full as the one before, and that is told already.
    node.kill_daemon();
    node.up();
    disk.free();
    eventually("the record tells that it grows again", || {
        told(&node).last().is_some_and(|(kind, _)| kind == "node.storage_resumed")
    });
    let told = told(&node);
    // Without space a small commit may still find a place, so there may be more than one edge; each is told once.
    for (index, (kind, _)) in told.iter().enumerate() {
        let expected = ["node.storage_full", "node.storage_resumed"][index % 2];
        assert_eq!(kind, expected, "{told:?}");
    }
    let stopped = node.events("shell", &["agent.stopped"])[0].pos;
    assert!(told[0].1 < stopped && stopped < told.last().unwrap().1, "{told:?}, stopped at {stopped}");
    let mut shown = node.cli(&["events", "--type", "node.storage_full", "--type", "node.storage_resumed"]);
    let shown = String::from_utf8(shown.output().unwrap().stdout).unwrap();
    assert!(shown.contains("bytes are free") && shown.contains("held_events="), "{shown}");
    node.verify();
}

/// Proves LIFE-032.
#[test]
fn recording_that_cannot_grow_has_a_gap_and_the_program_runs_on() {
    let Some(disk) = Disk::mount("64m") else { return };
    let node = node_on(&disk);
    node.run("shell", &terminal("shell", &["/bin/sh"], ""));
    let done = node.scratch().join("done");
    let mut attached = node.connect();
    let params = serde_json::json!({ "agent": "shell", "control": true });
    let attachment = attached.try_raw("runtime/agent.attach", params).unwrap()["attachment"].clone();
    disk.fill();
    let line = format!("seq 1 200000; touch {}", done.display());
    type_line(&mut attached, attachment.as_str().unwrap(), &line);
    eventually("the program ran on", || done.exists());
    disk.free();
    drop(attached);
    eventually("the gap is in the record", || node.count("shell", "recording.gap") >= 1);
    node.signal("shell", "echo whole-again", Some(Rung::Injected));
    let agent = AgentParams { agent: "shell".into() };
    eventually("output is recorded again", || {
        node.connect().call::<AgentSnapshot>(&agent).text.contains("whole-again")
    });
    let params = RecordingParams {
        agent: "shell".into(),
        epoch: None,
        offset: 0,
        last_bytes: None,
        limit_bytes: Some(4 << 20),
    };
    let read = node.connect().call::<RecordingRead>(&params);
    assert!(read.items.iter().any(|item| item.code == 'g'), "no gap is told");
    node.verify();
}

fn type_line(connection: &mut edgeplane_testkit::Connection, attachment: &str, line: &str) {
    let mut bytes = Vec::new();
    edgeplane_wire::base64::encode_into(format!("{line}\r").as_bytes(), &mut bytes);
    let data = String::from_utf8(bytes).unwrap();
    connection
        .notify("runtime/agent.write", &serde_json::json!({ "attachment": attachment, "data": data }))
        .unwrap();
}

#[test]
fn restart_at_once_waits_for_space_and_its_end_does_not() {
    let Some(disk) = Disk::mount("64m") else { return };
    let node = node_on(&disk);
    let at_once = "restart: { policy: always, backoff: { initial: 0s, max: 0s, jitterPercent: 0 } }";
    node.run("sleeper", &native("sleeper", &["/bin/sleep", "1000"], at_once));
    disk.fill();
    let large = "x".repeat(200_000);
    eventually("nothing new is taken", || {
        node.try_signal("sleeper", &large, None).is_err_and(|error| error.name() == ErrorName::StorageFull)
    });
    edgeplane_testkit::signals::kill(&[node.pid("sleeper")]);
    node.wait("sleeper", Phase::Backoff);
    assert_eq!(node.get("sleeper").status.epoch.0, 1, "no new life without a record of it");
    disk.free();
    eventually("it runs again", || node.get("sleeper").status.epoch.0 == 2);
    node.wait("sleeper", Phase::Running);
    assert_eq!(node.count("sleeper", "agent.exited"), 1);
    node.verify();
}
