//! Which words of Agent Runtime are told, and what those of jobs and of what processes write say.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use edgeplane_types::Fact;
use serde_json::Value;

use crate::{
    exporting::{exported, kind},
    lives::world,
    schemas::file,
};

/// The names in the first column of the guide's table of what is not told.
fn not_told() -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/projections.md");
    let guide = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = guide.lines().skip_while(|line| !line.starts_with("| not told |")).skip(2);
    let rows = lines.take_while(|line| line.starts_with('|'));
    let mut names = BTreeSet::new();
    for row in rows {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        assert!(cells[2].len() > 20, "a reason: {row}");
        for name in cells[1].split(',') {
            assert!(names.insert(name.trim().trim_matches('`').to_owned()), "twice: {name}");
        }
    }
    names
}

fn of_standard() -> BTreeSet<String> {
    let schema = file("schemas/agentruntime-event.schema.json");
    let names = schema["properties"]["type"]["enum"].as_array().unwrap();
    names.iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// Proves PROJ-040.
#[test]
fn every_word_of_the_standard_is_told_or_it_is_said_why_not() {
    let mut told = BTreeSet::new();
    for seed in [7, 31, 43] {
        let busy = world(seed, 3, 15_000, false);
        told.extend(
            exported(&busy, "agentruntime.lime").iter().flatten().map(|event| kind(event).to_owned()),
        );
    }
    let (standard, not_told) = (of_standard(), not_told());
    assert_eq!(standard.len(), 120);
    let both: Vec<_> = told.intersection(&not_told).collect();
    assert!(both.is_empty(), "told after all: {both:?}");
    let known: BTreeSet<_> = told.union(&not_told).cloned().collect();
    let neither: Vec<_> = standard.difference(&known).collect();
    assert!(neither.is_empty(), "neither told in these lives nor explained: {neither:?}");
    assert!(known.is_subset(&standard), "{:?}", known.difference(&standard));
}

/// Proves PROJ-041.
#[test]
fn what_a_process_wrote_is_named_with_what_is_kept_and_what_is_not() {
    let busy = world(11, 2, 12_000, false);
    let told: Vec<Value> = exported(&busy, "agentruntime.lime").into_iter().flatten().collect();
    let of = |process: &str, wanted: &str| -> Vec<&Value> {
        told.iter().filter(|event| event["processId"] == process && kind(event) == wanted).collect()
    };
    let (mut whole, mut cut) = (0, 0);
    for stored in &busy.record {
        let Fact::CommandEnded { process_id, output_digest, output_bytes, written_bytes, .. } =
            &stored.event.fact
        else {
            continue;
        };
        let process = process_id.to_string();
        let reference = format!("sha256:{output_digest}");
        let output = of(&process, "process.output");
        assert_eq!(output.len(), usize::from(*written_bytes > 0), "{process}");
        for event in output {
            assert_eq!(event["outputRef"], reference);
            assert_eq!(event["payload"]["toOffset"], *written_bytes);
            assert_eq!(event["payload"]["fromOffset"], written_bytes - output_bytes);
        }
        let spilled = of(&process, "output.spilled");
        assert_eq!(spilled.len(), usize::from(*output_bytes > 0));
        assert!(spilled.iter().all(|event| event["output"]["sizeBytes"] == *output_bytes));
        let truncated = of(&process, "output.truncated");
        assert_eq!(truncated.len(), usize::from(output_bytes < written_bytes));
        assert!(truncated.iter().all(|event| event["output"]["truncation"] == "tail"));
        whole += usize::from(truncated.is_empty());
        cut += truncated.len();
    }
    assert!(whole > 5 && cut > 5, "{whole} {cut}");
}

/// Proves PROJ-042.
#[test]
fn each_attempt_at_an_item_is_told_and_an_item_is_completed_once() {
    let (mut completed, mut failed, mut progressed) = (0, 0, 0);
    for seed in [3, 7, 31] {
        let busy = world(seed, 3, 15_000, false);
        let items: BTreeMap<String, String> = busy
            .record
            .iter()
            .filter_map(|stored| match &stored.event.fact {
                Fact::RunStarted(started) => Some((started.run_id, started.job_id?)),
                _ => None,
            })
            .map(|(run, job)| (run.to_string(), job.to_string()))
            .collect();
        for events in exported(&busy, "agentruntime.lime") {
            let mut open = BTreeSet::new();
            for event in &events {
                let run = event["runId"].as_str().unwrap_or_default().to_owned();
                match kind(event) {
                    "job.item.started" if event["payload"]["because"] == "run.started" => {
                        assert_eq!(
                            Some(&event["jobId"]),
                            items.get(&run).map(|job| job.clone().into()).as_ref()
                        );
                        assert_eq!(event["jobItemId"], event["taskId"]);
                        assert!(open.insert(run), "{event}");
                    }
                    "task.attempt.started" if items.contains_key(&run) => {
                        assert!(!open.contains(&run), "an attempt is told before the item");
                    }
                    "job.item.failed" if event["payload"]["because"] == "run.ended" => {
                        assert!(open.remove(&run), "an attempt that began: {event}");
                        failed += 1;
                    }
                    "job.item.completed" if event["payload"]["because"] == "run.ended" => {
                        assert!(open.remove(&run), "{event}");
                        completed += 1;
                    }
                    "job.progress" if event["payload"]["because"] == "task.moved" => {
                        assert!(event["job"]["completedItems"].as_u64().unwrap() > 0, "{event}");
                        progressed += 1;
                    }
                    "task.attempt.completed" | "task.attempt.failed" => {}
                    _ => {}
                }
            }
        }
    }
    assert!(completed > 5 && failed > 5 && progressed > 0, "{completed} {failed} {progressed}");
}
