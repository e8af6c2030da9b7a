//! The runner against a small runtime that keeps to the standard, and against the same with one fault at a time.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

#[path = "fake/runtime.rs"]
mod runtime;
#[path = "fake/server.rs"]
mod server;
#[path = "fake/work.rs"]
mod work;

use std::{fmt::Write as _, path::PathBuf, process::Command, time::Duration};

use edgeplane_conformance::{
    http::Client,
    mapping::Mapping,
    report::{self, Outcome},
    scenarios::{COMMANDS, SCENARIOS},
    schemas::Schemas,
    world::{Options, World},
};

/// Everything that a scenario may give; a template leaves out what is not given.
const PLACES: &[&str] = &[
    "agent",
    "sessionId",
    "threadId",
    "turnId",
    "text",
    "key",
    "actionId",
    "decision",
    "title",
    "objective",
    "parentId",
    "dependsOn",
    "start",
    "limits",
    "taskId",
    "limit",
    "cursor",
    "processId",
    "items",
    "agents",
    "jobId",
    "jobItemId",
    "subagentId",
    "projection",
    "trialId",
    "reward",
];

/// Everything that a scenario may look for.
const RESULTS: &[&str] = &[
    "sessionId",
    "threadId",
    "turnId",
    "disposition",
    "turns",
    "next",
    "state",
    "through",
    "taskId",
    "status",
    "parentId",
    "edgesFrom",
    "edgesTo",
    "runs",
    "runIds",
    "runTurns",
    "runStates",
    "jobId",
    "itemIds",
    "itemStates",
    "itemAttempts",
    "itemErrors",
    "subagentId",
    "trialId",
    "pack",
    "comparison",
];

/// The mapping of the fake, whose methods are called as the standard calls them.
fn mapping(folder: &std::path::Path) -> PathBuf {
    let mut text = String::from(include_str!("fake/mapping.toml"));
    for verb in [
        "short",
        "long",
        "large",
        "gated",
        "artifact",
        "flaky",
        "spend",
        "write",
        "denied",
        "forbidden",
        "process",
        "hooked",
    ] {
        writeln!(text, "{verb} = \"{verb} {{word}}\"").unwrap();
    }
    let params: Vec<_> = PLACES.iter().map(|place| format!("{place} = \"{{{place}}}\"")).collect();
    let result: Vec<_> = RESULTS.iter().map(|name| format!("{name} = \"/{name}\"")).collect();
    let more = [
        "health",
        "find_session",
        "read_snapshot",
        "read_preview",
        "list_queue",
        "list_turns",
        "compact_thread",
        "retry_job_item",
    ];
    for command in COMMANDS.iter().chain(&more) {
        writeln!(
            text,
            "[commands.{command}]\nmethod = \"{command}\"\nparams = {{ {} }}\nresult = {{ {} }}",
            params.join(", "),
            result.join(", ")
        )
        .unwrap();
    }
    let path = folder.join("mapping.toml");
    std::fs::write(&path, text).unwrap();
    path
}

/// What comes of some scenarios against a runtime with a fault.
fn play(fault: &'static str, ids: &[&str]) -> Vec<(&'static str, Outcome)> {
    let url = server::serve(fault);
    let folder = tempfile::tempdir().unwrap();
    let mapping = Mapping::load(Some(&mapping(folder.path())), None).unwrap();
    let client = Client::new(&url, None, &mapping.rpc, &mapping.error_name);
    let options =
        Options { patience: Duration::from_millis(1_500), restart: Some("true".to_owned()), publish: None };
    let mut world = World::new(client, mapping, Schemas::load().unwrap(), (options, "1".to_owned()));
    let chosen = SCENARIOS.iter().filter(|scenario| ids.is_empty() || ids.contains(&scenario.id));
    chosen.map(|scenario| (scenario.id, report::play(&mut world, *scenario).outcome)).collect()
}

#[test]
fn whoever_keeps_to_the_standard_passes_all_of_it() {
    let outcomes = play("", &[]);
    assert_eq!(outcomes.len(), 18);
    for (id, outcome) in outcomes {
        assert_eq!(outcome, Outcome::Passed, "{id}");
    }
}

/// Each fault with the scenario that must see it, and what it must say.
const FAULTS: [(&str, &str, &str); 29] = [
    ("AC-1", "output before acceptance", "output is event"),
    ("AC-1", "a request that acts twice", "made two turns"),
    ("AC-1", "a number left out", "comes next"),
    ("AC-1", "a vendor's type", "fake.words"),
    ("AC-2", "an invalid fixture", "is not valid"),
    ("AC-3", "a large result inline", "no reference to its output"),
    ("AC-4", "leave by silence", "by silence"),
    ("AC-5", "a queue that is forgotten", "the queue is []"),
    ("AC-6", "a compaction that forgets", "the open action is gone"),
    ("AC-7", "a child without a parent", "does not name its parent"),
    ("AC-8", "an attempt that is written over", "the attempts are"),
    ("AC-8", "a graph that is lost", "lost an edge"),
    ("AC-9", "evidence without its failures", "is not in it"),
    ("AC-9", "evidence that was altered", "is not what its digest says"),
    ("AC-10", "history in one piece", "a page of 10 has"),
    ("AC-11", "permission after the act", "stands before"),
    ("AC-11", "a denial without a cause", "what caused the denial"),
    ("AC-11", "a refusal that nobody is told of", "permission was denied"),
    ("AC-12", "a hook that nobody sees", "what the hook did"),
    ("AC-13", "output cut in silence", "output.truncated"),
    ("AC-14", "a choice that is not explained", "capabilityGap"),
    ("AC-15", "a limit without its turn", "not joined to turn"),
    ("AC-16", "a gap behind a reconnection", "the reconnected client hears"),
    ("AC-16", "no word of a gap", "word of the gap"),
    ("AC-17", "a job that is tried again as a whole", "the attempts are"),
    ("AC-18", "a trial without its reward", "reward"),
    ("AC-18", "a trial that is given twice", "is another trial"),
    ("AC-18", "a reward that is judged anew", "not as it was recorded"),
    ("AC-4", "a number left out", "comes next"),
];

#[test]
fn each_fault_fails_the_scenario_that_looks_for_it() {
    let played = std::thread::scope(|scope| {
        let plays = FAULTS.map(|(id, fault, _)| scope.spawn(move || play(fault, &[id])));
        plays.map(|play| play.join().unwrap().pop().expect("one scenario was played").1)
    });
    for ((id, fault, why), outcome) in FAULTS.iter().zip(played) {
        let Outcome::Failed(found) = &outcome else { panic!("{id}, {fault}: {outcome:?}") };
        assert!(found.iter().any(|one| one.contains(why)), "{id}, {fault}: {found:#?}");
    }
    let seen: std::collections::BTreeSet<_> = FAULTS.iter().map(|(id, ..)| *id).collect();
    assert_eq!(seen.len(), 18, "each scenario can fail");
}

/// Runs the program, and gives its status and what it told.
fn runner(url: &str, mapping: &std::path::Path, more: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agent-runtime-conformance"));
    command.args(["--url", url, "--patience", "2", "--mapping"]).arg(mapping).args(more);
    let out = command.output().unwrap();
    (out.status.code().unwrap(), String::from_utf8(out.stdout).unwrap())
}

#[test]
fn what_is_not_brought_or_not_served_is_said_and_the_status_is_that_of_failures() {
    let url = server::serve("a large result inline");
    let folder = tempfile::tempdir().unwrap();
    let mapping = mapping(folder.path());
    let run = |more: &[&str]| runner(&url, &mapping, more);
    let (status, told) = run(&["--only", "AC-1"]);
    assert_eq!(status, 0, "{told}");
    assert!(
        told.starts_with("AC-1   passed         a turn is accepted") && told.contains("1 passed"),
        "{told}"
    );
    let (status, told) = run(&["--only", "AC-3"]);
    assert_eq!(status, 1, "{told}");
    assert!(told.contains("AC-3   failed") && told.contains("no reference to its output"), "{told}");
    // Without a way to restart it, one scenario cannot be played; that is no failure, unless all are wanted.
    let url = server::serve("");
    let run = |more: &[&str]| runner(&url, &mapping, more);
    let (status, told) = run(&["--only", "AC-5", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!((status, json["scenarios"][0]["outcome"].as_str()), (0, Some("not applicable")), "{told}");
    assert_eq!(run(&["--only", "AC-1", "--only", "AC-5", "--whole"]).0, 1);
    assert_eq!(run(&["--only", "AC-99"]).0, 2);
}
