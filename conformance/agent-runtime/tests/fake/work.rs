//! What the fake does beside turns: tasks, jobs, subagents, evidence, trials.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::runtime::{ARTIFACT, LARGE, Runtime, Turn, text};

#[derive(Debug)]
pub(crate) struct Task {
    id: String,
    objective: String,
    parent: Value,
    depends_on: Vec<Value>,
    status: &'static str,
    /// Run, turn, state.
    runs: Vec<(String, String, &'static str)>,
    is_limited: bool,
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Runtime {
    pub(crate) fn shown_tasks(&self) -> Vec<Value> {
        let attempts = |task: &Task| {
            let runs = task.runs.iter();
            runs.map(|(run, _, status)| json!({ "runId": run, "status": status })).collect::<Vec<_>>()
        };
        let tasks = self.tasks.iter();
        tasks
            .map(|task| json!({ "taskId": task.id, "status": task.status, "attempts": attempts(task) }))
            .collect()
    }

    pub(crate) fn work(&mut self, method: &str, params: &Value) -> Result<Value, &'static str> {
        Ok(match method {
            "create_task" => {
                let id = self.create(params);
                if params["start"] != false {
                    self.run(&id);
                }
                json!({ "taskId": id })
            }
            "start_task" => {
                self.run(text(params, "taskId"));
                json!({})
            }
            "retry_task" => {
                self.run(text(params, "taskId"));
                json!({})
            }
            "get_task" => self.shown(text(params, "taskId"))?,
            "create_job" => self.create_job(params),
            "get_job" => self.job(),
            "retry_job_item" => {
                let items = self.jobs.last().cloned().unwrap_or_default();
                match self.fault {
                    "a job that is tried again as a whole" => items.iter().for_each(|item| self.run(item)),
                    _ => self.run(text(params, "jobItemId")),
                }
                json!({})
            }
            "export_evidence" => self.pack(params),
            "export_replay" => json!({ "input": "said", "expected": "this" }),
            "spawn_subagent" => {
                let linked = json!({
                    "subagentId": "sub-1", "payload": { "parentThreadId": "thr-worker", "childThreadId": "thr-child" },
                });
                let alone = json!({ "subagentId": "sub-1", "threadId": "thr-child" });
                let event = if self.fault == "a child without a parent" { alone } else { linked };
                self.emit("ses-worker", "subagent.spawned", event);
                json!({ "subagentId": "sub-1", "threadId": "thr-child" })
            }
            "send_subagent_input" => self.of_child("subagent.input"),
            "close_subagent" => self.of_child("subagent.closed"),
            "wait_subagents" => json!({}),
            "list_subagents" => json!({ "items": ["sub-1"] }),
            "start_benchmark_trial" => self.trial(),
            "record_benchmark_reward" => {
                let is_judged = self.fault == "a reward that is judged anew";
                let value = if is_judged { json!(0.5) } else { params["reward"].clone() };
                self.of_trial("benchmark.reward.recorded", &json!({ "reward": { "value": value } }));
                json!({})
            }
            "export_benchmark_trial" => {
                let mut pack = json!({ "runtimeCorrelation": { "runId": "run-1", "taskId": "tsk-1" }, "trajectory": ["t"], "reward": 1 });
                if self.fault == "a trial without its reward" {
                    pack.as_object_mut().unwrap().remove("reward");
                }
                json!({ "pack": pack })
            }
            "compare_benchmark_runs" => {
                self.of_trial(
                    "benchmark.comparison.completed",
                    &json!({ "comparison": { "meanRewardDelta": 0 } }),
                );
                json!({ "comparison": {
                    "baseline": "a", "candidate": "b", "aggregateDeltas": { "reward": 0 },
                    "evidenceCompleteness": 1, "p0Regressions": 0,
                } })
            }
            _ => return Err("unsupported"),
        })
    }

    fn of_child(&mut self, kind: &str) -> Value {
        self.emit("ses-worker", kind, json!({ "subagentId": "sub-1" }));
        json!({})
    }

    fn create(&mut self, params: &Value) -> String {
        let id = self.id("tsk");
        self.tasks.push(Task {
            id: id.clone(),
            objective: text(params, "objective").to_owned(),
            parent: params["parentId"].clone(),
            depends_on: params["dependsOn"].as_array().cloned().unwrap_or_default(),
            status: "draft",
            runs: Vec::new(),
            is_limited: params.get("limits").is_some(),
        });
        id
    }

    fn run(&mut self, id: &str) {
        let Some(at) = self.tasks.iter().position(|task| task.id == id) else { return };
        let (turn, count) = (self.id("trn"), self.tasks[at].runs.len() + 1);
        let overwrites = self.fault == "an attempt that is written over" && count > 1;
        let run = if overwrites { self.tasks[at].runs[0].0.clone() } else { self.id("run") };
        let objective = self.tasks[at].objective.clone();
        let words = objective.clone();
        self.turns.push(Turn {
            id: turn.clone(),
            session: "ses-worker".into(),
            text: words,
            status: "running",
        });
        let of_run = json!({ "taskId": id, "runId": run, "turnId": turn });
        let with = |more: Value| {
            let mut all = of_run.clone();
            all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            all
        };
        let attempt =
            json!({ "taskAttempt": { "runId": run, "status": "preparing", "attemptCount": count } });
        self.emit("ses-worker", "task.attempt.started", with(attempt));
        let is_limited = self.tasks[at].is_limited;
        let fails = is_limited || objective.starts_with("flaky") && self.tried.insert(objective);
        if is_limited {
            let state = json!({ "limitState": { "status": "blocked", "kind": "tokens" } });
            let joined = if self.fault == "a limit without its turn" {
                json!({ "turnId": "trn-other" })
            } else {
                state.clone()
            };
            let mut event = with(state);
            event.as_object_mut().unwrap().extend(joined.as_object().unwrap().clone());
            self.emit("ses-worker", "quota.blocked", event);
        }
        let (kind, status) =
            if fails { ("task.attempt.failed", "failed") } else { ("task.attempt.completed", "completed") };
        self.emit("ses-worker", kind, with(json!({ "taskAttempt": { "runId": run, "status": status } })));
        let task = &mut self.tasks[at];
        task.status = status;
        if overwrites {
            task.runs.clear();
        }
        task.runs.push((run, turn, status));
    }

    fn shown(&self, id: &str) -> Result<Value, &'static str> {
        let task = self.tasks.iter().find(|task| task.id == id).ok_or("not_found")?;
        let to_it = self.tasks.iter().filter(|other| other.depends_on.contains(&json!(id)));
        let mut edges: Vec<_> = to_it.map(|other| other.id.clone()).collect();
        if self.fault == "a graph that is lost" && task.runs.len() > 1 {
            edges.clear();
        }
        let of = |which: fn(&(String, String, &'static str)) -> String| {
            task.runs.iter().map(which).collect::<Vec<_>>()
        };
        Ok(json!({
            "status": task.status, "parentId": task.parent, "edgesFrom": edges, "edgesTo": [],
            "runs": task.runs.iter().map(|run| json!({ "run_id": run.0, "reason": "so" })).collect::<Vec<_>>(),
            "runIds": of(|run| run.0.clone()), "runTurns": of(|run| run.1.clone()),
            "runStates": of(|run| run.2.to_owned()),
        }))
    }

    fn create_job(&mut self, params: &Value) -> Value {
        let inputs = params["items"].as_array().cloned().unwrap_or_default();
        let items: Vec<_> =
            inputs.iter().map(|item| self.create(&json!({ "objective": item["input"] }))).collect();
        for item in &items {
            self.run(item);
        }
        self.jobs.push(items);
        json!({ "jobId": "job-1" })
    }

    fn job(&self) -> Value {
        let ids = self.jobs.last().cloned().unwrap_or_default();
        let items: Vec<_> =
            ids.iter().filter_map(|id| self.tasks.iter().find(|task| task.id == *id)).collect();
        let is_done = items.iter().all(|task| task.status == "completed");
        json!({
            "status": if is_done { "completed" } else { "failed" }, "itemIds": ids,
            "itemStates": items.iter().map(|task| task.status).collect::<Vec<_>>(),
            "itemAttempts": items.iter().map(|task| task.runs.len()).collect::<Vec<_>>(),
            "itemErrors": items.iter().map(|_| "it did not work").collect::<Vec<_>>(),
        })
    }

    fn pack(&self, params: &Value) -> Value {
        let turn = text(params, "turnId");
        let signals: Vec<_> =
            ["timeline", "tools"].iter().map(|name| json!({ "name": name, "status": "exported" })).collect();
        let manifest = json!({
            "signals": signals, "gaps": [],
            "correlation": { "turn": turn, "session": "ses-worker", "thread": "thr-worker" },
        });
        let timeline = format!("{turn} call-{turn} {ARTIFACT}");
        let timeline = if self.fault == "evidence without its failures" { turn.to_owned() } else { timeline };
        let files = [
            ("manifest.json", manifest.to_string()),
            ("timeline", timeline),
            ("bodies/large", "x".repeat(LARGE)),
        ];
        let listed = files.iter().map(|(path, text)| {
            let text = if self.fault == "evidence that was altered" { "other" } else { text.as_str() };
            json!({ "path": path, "digest": sha256(text) })
        });
        json!({
            "digests": listed.collect::<Vec<_>>(),
            "files": files.iter().map(|(path, text)| json!({ "path": path, "data": STANDARD.encode(text) })).collect::<Vec<_>>(),
        })
    }

    fn of_trial(&mut self, kind: &str, more: &Value) {
        let mut event = json!({
            "benchmark": { "trialId": "tri-1" }, "taskId": "tsk-1", "runId": "run-1", "turnId": "trn-1",
            "refs": { "trial": "tri-1" },
        });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.emit("ses-worker", kind, event);
    }

    fn trial(&mut self) -> Value {
        for kind in [
            "benchmark.dataset.resolved",
            "benchmark.configuration.resolved",
            "benchmark.trial.started",
            "benchmark.trial.completed",
        ] {
            self.of_trial(kind, &json!({}));
        }
        match self.fault == "a trial that is given twice" {
            true => json!({ "trialId": self.id("tri") }),
            false => json!({ "trialId": "tri-1" }),
        }
    }
}
