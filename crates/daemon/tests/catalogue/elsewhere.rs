//! What other tests show, because it needs a machine or a program in a state that they bring about.

use std::{fs, path::Path};

/// A method, what is shown of it (`success` or the name of a failure), and which test shows it.
const SHOWN: &[(&str, &str, &str, &str)] = &[
    ("runtime/node.stop", "success", "crates/daemon/tests/catalogue.rs", "node_is_told_to_end_once"),
    // Only for the moment in which it is being retired.
    ("runtime/agent.stop", "invalid_state", "crates/lifecycle/src/agent/tests.rs", LEGAL_PAIRS),
    ("runtime/agent.restart", "invalid_state", "crates/lifecycle/src/agent/tests.rs", LEGAL_PAIRS),
    ("runtime/agent.release", "success", "crates/daemon/tests/containment.rs", QUARANTINE),
    // More than 200,000 events, or 256 MiB of them and of what they refer to.
    ("evidence/pack.export", "too_large", "crates/node/src/evidence.rs", PACK),
    // The same pack with a trial's files.
    ("benchmark/trial.export", "too_large", "crates/node/src/evidence.rs", PACK),
    // A hundred thousand tasks.
    ("runtime/task.create", "quota_exhausted", "crates/daemon/tests/graphs.rs", GRAPH),
    // A shim of a release before.
    ("runtime/process.write", "unsupported", "crates/node/src/agent/acp/commands/input.rs", OLDER_SHIM),
    // While something else is being done with it.
    ("workspace/delete", "locked", WORKSPACES, LOCKED),
    // Over HTTP, where one answer is all that is heard.
    (
        "capability/invoke",
        "unsupported",
        "crates/daemon/tests/bindings/calls.rs",
        "what_goes_on_behind_its_answer_wants_a_stream",
    ),
    (
        "runtime/subagent.spawn",
        "locked",
        "crates/daemon/tests/subagents/isolation.rs",
        "folder_that_is_in_use_is_not_forked",
    ),
    ("workspace/checkpoint.create", "locked", WORKSPACES, LOCKED),
    ("workspace/checkpoint.restore", "locked", WORKSPACES, LOCKED),
    ("workspace/checkpoint.delete", "locked", WORKSPACES, LOCKED),
    ("workspace/file.write", "locked", WORKSPACES, LOCKED),
    ("workspace/file.move", "locked", WORKSPACES, LOCKED),
    ("workspace/file.delete", "locked", WORKSPACES, LOCKED),
    ("runtime/hook.report", "success", "crates/daemon/tests/hooks.rs", HOOKS),
];

const WORKSPACES: &str = "crates/daemon/tests/workspaces.rs";
const LOCKED: &str = "one_thing_is_done_with_a_workspace_at_a_time";
const LEGAL_PAIRS: &str = "legal_pairs_lead_where_the_table_says_and_all_others_are_refused";
const OLDER_SHIM: &str = "a_shim_of_an_older_release_is_not_written_to";
const QUARANTINE: &str = "without_a_cgroup_a_possible_orphan_ends_in_quarantine";
const PACK: &str = "pack_that_would_be_too_large_is_refused_before_it_is_made";
const GRAPH: &str = "graph_has_room_for_a_hundred_thousand_tasks_and_no_more";
const HOOKS: &str = "a_program_says_by_its_hooks_what_it_took_and_did";

/// What every method that names `storage_full` says of a full disk.
const STORAGE_FULL: (&str, &str) =
    ("crates/daemon/tests/catalogue/full_disk.rs", "full_disk_is_said_by_each_method_whose_row_names_it");

/// Whether another test shows it.
pub(crate) fn shown(method: &str, what: &str) -> bool {
    what == "storage_full" || SHOWN.iter().any(|(of, shown, _, _)| (*of, *shown) == (method, what))
}

/// The tests that are named are there.
pub(crate) fn check() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let named = SHOWN.iter().map(|(_, _, file, test)| (*file, *test)).chain([STORAGE_FULL]);
    for (file, test) in named {
        let text = fs::read_to_string(root.join(file)).unwrap();
        assert!(text.contains(&format!("fn {test}(")), "{file} has no test `{test}`");
    }
}
