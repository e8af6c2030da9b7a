//! Jobs through real agents: items dealt out, reported once, tried again elsewhere, over dying agents and daemons.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

#[path = "jobs/crafts.rs"]
mod crafts;
#[path = "jobs/stage.rs"]
mod stage;

use std::collections::BTreeSet;

use edgeplane_testkit::{
    Node,
    peers::speak_as,
    random::Random,
    wait::{eventually, eventually_some},
    words,
};
use edgeplane_types::{DeliveryMode, JobItemState, JobState, RunState, TaskId};
use serde_json::{Value, json};
use stage::{
    allow, arm, call, call_if_alive, detail, disarm, done, job, labelled, lines, refused, runs, try_call,
    wait_for, wait_for_items, worker,
};

const AGENTS: [&str; 2] = ["alpha", "beta"];

/// Proves JOB-001, JOB-002.
#[test]
fn items_are_dealt_out_one_to_each_agent_that_is_idle() {
    let node = Node::start();
    for name in ["alpha", "beta", "gamma"] {
        worker(&node, name);
    }
    let items: Vec<String> = (0..7).map(|n| n.to_string()).collect();
    let items: Vec<&str> = items.iter().map(String::as_str).collect();
    let all = json!({ "agents": ["alpha", "beta", "gamma"], "objective": "Do it.\ngate go {item}" });
    let id = job(&node, &items, &all);
    let running = wait_for_items(&node, id, JobItemState::Running, 3);
    let agents: BTreeSet<_> = running.iter().map(|item| item.agent.clone().unwrap()).collect();
    assert_eq!(agents.len(), 3, "{running:?}");
    // What is said of the job follows what its items do.
    let found = wait_for(&node, id, JobState::Running);
    assert_eq!((found.counts.pending, found.items), (4, 7));
    allow(&node, "go");
    let over = wait_for(&node, id, JobState::Completed);
    assert_eq!((over.counts.completed, over.counts.pending, over.counts.failed), (7, 0, 0));
    assert_eq!(done(&node).values().copied().collect::<Vec<_>>(), [1; 7]);
    for item in detail(&node, id).items {
        assert_eq!(item.attempts, 1);
        let output = call(&node, "conversation/output.get", json!({ "output_id": item.output_id.unwrap() }));
        assert!(item.title.ends_with(output["text"].as_str().unwrap()), "{}", item.title);
    }
    // With a bound there are fewer at a time, however many agents there are.
    let one = json!({ "agents": ["alpha", "beta", "gamma"], "parallelism": 1 });
    let id = job(&node, &["gate on a", "gate on b"], &one);
    let first = wait_for_items(&node, id, JobItemState::Running, 1);
    assert_eq!(detail(&node, id).job.counts.pending, 1);
    allow(&node, "on");
    wait_for(&node, id, JobState::Completed);
    let second = detail(&node, id).items.into_iter().find(|item| item.item_id != first[0].item_id).unwrap();
    let (first, second) = (&runs(&node, first[0].item_id)[0], &runs(&node, second.item_id)[0]);
    assert!(Some(second.started_at) >= first.ended_at);
    node.verify();
}

/// Proves JOB-001.
#[test]
fn agent_has_one_item_at_a_time_though_there_is_room_for_more() {
    let node = Node::start();
    for name in AGENTS {
        worker(&node, name);
    }
    let more = json!({ "agents": AGENTS, "parallelism": 7 });
    let id = job(&node, &["work 0", "gate go 1", "gate go 2", "gate go 3", "gate go 4"], &more);
    // Whoever has done the first item is given the next one, and the other one none beside its own.
    let counts = eventually_some("the next one is given", || {
        let counts = detail(&node, id).job.counts;
        (counts.completed == 1 && counts.running >= 2).then_some(counts)
    });
    assert_eq!((counts.running, counts.pending), (2, 2));
    allow(&node, "go");
    wait_for(&node, id, JobState::Completed);
    node.verify();
}

/// Proves JOB-003.
#[test]
fn item_of_an_agent_that_dies_is_a_failed_attempt_and_goes_to_another_one() {
    let node = Node::start();
    for name in AGENTS {
        worker(&node, name);
    }
    let more = json!({ "agents": AGENTS, "attempts": 3 });
    let id = job(&node, &["frail 1", "work 2", "work 3"], &more);
    wait_for(&node, id, JobState::Completed);
    let first = &detail(&node, id).items[0];
    let attempts = runs(&node, first.item_id);
    let found: Vec<_> = attempts.iter().map(|run| (run.attempt, run.state)).collect();
    assert_eq!(found, [(1, RunState::Failed), (2, RunState::Completed)]);
    assert_ne!(attempts[0].agent, attempts[1].agent);
    assert_eq!(done(&node)["1"], 1);
    node.verify();
}

/// Proves JOB-003.
#[test]
fn item_that_waits_for_an_agent_that_is_stopped_is_given_back() {
    let node = Node::start();
    worker(&node, "alpha");
    // It is busy with something that is no run, so the item waits in its inbox.
    node.signal_with(&words("alpha", "hold", DeliveryMode::Queue));
    let id = job(&node, &["work 1"], &json!({ "labels": { "team": "x" }, "attempts": 2 }));
    assert_eq!(detail(&node, id).job.counts.pending, 1, "nobody has the label yet");
    let item = detail(&node, id).items[0].item_id;
    call(&node, "runtime/job_item.assign", json!({ "item_id": item, "agent": "alpha" }));
    assert_eq!(detail(&node, id).items[0].state, JobItemState::Running);
    let again = json!({ "item_id": item, "agent": "alpha" });
    assert_eq!(refused(&node, "runtime/job_item.assign", again), "invalid_state");
    node.stop("alpha");
    wait_for_items(&node, id, JobItemState::Pending, 1);
    labelled(&node, "beta", "team: x");
    wait_for(&node, id, JobState::Completed);
    let attempts = runs(&node, item);
    let found: Vec<_> = attempts.iter().map(|run| (run.agent.as_str(), run.state)).collect();
    assert_eq!(found, [("alpha", RunState::Failed), ("beta", RunState::Completed)]);
    node.verify();
}

/// Proves JOB-004.
#[test]
fn what_came_of_an_item_is_reported_once_by_whoever_holds_it() {
    let node = Node::start();
    worker(&node, "alpha");
    let more = json!({ "agents": ["alpha"], "report": "explicit", "attempts": 2 });
    let id = job(&node, &["tell 1", "twice 2", "work silent"], &more);
    wait_for(&node, id, JobState::Failed);
    let items = detail(&node, id).items;
    let states: Vec<_> = items.iter().map(|item| (item.state, item.attempts)).collect();
    let reported = JobItemState::Reported;
    assert_eq!(states, [(reported, 1), (reported, 1), (JobItemState::Failed, 2)]);
    assert_eq!(items[0].result, Some(json!({ "told": "1" })));
    assert_eq!(items[1].result, Some(json!("2")));
    assert_eq!(items[2].reason.as_deref(), Some("its agent ended its turn and reported nothing"));
    // The same again is the same; another one is refused, whoever says it.
    assert_eq!(lines(&node, "answers"), ["fenced", "ok", "ok", "ok"]);
    let late = json!({ "item_id": items[0].item_id, "result": "late" });
    assert_eq!(refused(&node, "runtime/job_item.report", late), "fenced");
    let strange = json!({ "item_id": items[2].item_id, "result": "late" });
    assert_eq!(refused(&node, "runtime/job_item.report", strange), "fenced");
    // Where the turn's end is the report there is no other one.
    let id = job(&node, &["gate go 5"], &json!({ "agents": ["alpha"] }));
    let running = wait_for_items(&node, id, JobItemState::Running, 1);
    let other = json!({ "item_id": running[0].item_id, "result": 1 });
    assert_eq!(refused(&node, "runtime/job_item.report", other), "invalid_state");
    allow(&node, "go");
    wait_for(&node, id, JobState::Completed);
    node.verify();
}

/// Proves JOB-004.
#[test]
fn agent_that_lost_an_item_does_not_report_it() {
    let node = Node::start();
    for name in AGENTS {
        worker(&node, name);
    }
    let more = json!({ "agents": AGENTS, "report": "explicit", "attempts": 2 });
    let id = job(&node, &["frail x"], &more);
    let item = detail(&node, id).items[0].item_id;
    eventually("it has failed twice, for nobody reports it", || runs(&node, item).len() == 2);
    let first = runs(&node, item)[0].agent.clone();
    eventually("it runs again", || try_call(&node, "runtime/agent.get", json!({ "agent": first })).is_ok());
    wait_for(&node, id, JobState::Failed);
    node.wait(&first, edgeplane_types::Phase::Running);
    let mut old = speak_as(&node, &first);
    let said = old.try_raw("runtime/job_item.report", json!({ "item_id": item, "result": 1 }));
    assert_eq!(said.unwrap_err().name().as_str(), "fenced");
    node.verify();
}

/// Proves JOB-005.
#[test]
fn cancelled_job_leaves_what_is_done() {
    let node = Node::start();
    worker(&node, "alpha");
    let id = job(&node, &["work 1", "hold", "work 3"], &json!({ "agents": ["alpha"] }));
    wait_for_items(&node, id, JobItemState::Completed, 1);
    wait_for_items(&node, id, JobItemState::Running, 1);
    let cancel = json!({ "job_id": id, "reason": "wrong list" });
    call(&node, "runtime/job.cancel", cancel.clone());
    let over = wait_for(&node, id, JobState::Cancelled);
    assert_eq!(over.cancelled_because.as_deref(), Some("wrong list"));
    let states: Vec<_> = detail(&node, id).items.iter().map(|item| item.task_state.as_str()).collect();
    assert_eq!(states, ["completed", "cancelled", "cancelled"]);
    call(&node, "runtime/job.cancel", cancel);
    let retry = json!({ "item_id": detail(&node, id).items[2].item_id });
    assert_eq!(refused(&node, "runtime/job_item.retry", retry), "invalid_state");
    assert_eq!(done(&node).get("3"), None, "it was never begun");
    node.verify();
}

/// Proves JOB-006.
#[test]
fn item_that_failed_is_tried_again_alone_and_its_job_goes_on() {
    let node = Node::start();
    worker(&node, "alpha");
    let id = job(&node, &["work 1", "bad 2", "work 3"], &json!({ "agents": ["alpha"] }));
    let failed = wait_for(&node, id, JobState::Failed);
    assert_eq!((failed.counts.completed, failed.counts.failed), (2, 1));
    let item = detail(&node, id).items[1].item_id;
    let retry = json!({ "item_id": item, "reason": "once more" });
    call(&node, "runtime/job_item.retry", retry);
    eventually("it was tried again", || {
        runs(&node, item).iter().filter(|run| run.state.is_over()).count() == 2
    });
    wait_for(&node, id, JobState::Failed);
    let attempts = runs(&node, item);
    assert_eq!(attempts[1].reason, attempts[0].reason);
    assert_eq!(done(&node)["1"], 1, "nothing else was done again");
    assert_eq!(done(&node)["3"], 1);
    let fine = detail(&node, id).items[0].item_id;
    assert_eq!(refused(&node, "runtime/job_item.retry", json!({ "item_id": fine })), "invalid_state");
    node.verify();
}

/// Proves JOB-007.
#[test]
fn agents_are_found_by_their_labels_whenever_they_come() {
    let node = Node::start();
    labelled(&node, "other", "capability: count");
    let more = json!({ "labels": { "team": "x" }, "capability": "read" });
    let id = job(&node, &["work 1", "work 2"], &more);
    assert_eq!(detail(&node, id).job.counts.pending, 2);
    labelled(&node, "reader", "team: x, capability: read");
    wait_for(&node, id, JobState::Completed);
    assert!(detail(&node, id).items.iter().all(|item| item.agent.as_deref() == Some("reader")));
    node.verify();
}

/// Proves JOB-007.
#[test]
fn an_agent_is_given_what_an_operator_says_that_it_is_able_to_do() {
    let node = Node::start();
    for name in AGENTS {
        labelled(&node, name, "team: x");
    }
    let more = json!({ "labels": { "team": "x" }, "capability": "read" });
    let id = job(&node, &["work 1", "work 2"], &more);
    // What it says of itself alone gives it nothing.
    let offer = json!({ "name": "read" });
    speak_as(&node, "alpha").try_raw("capability/register", offer.clone()).unwrap();
    assert_eq!(detail(&node, id).job.counts.pending, 2);
    node.connect().try_raw("capability/register", json!({ "agent": "beta", "name": "read" })).unwrap();
    wait_for(&node, id, JobState::Completed);
    assert!(detail(&node, id).items.iter().all(|item| item.agent.as_deref() == Some("beta")));
    // It ends with the offer.
    node.connect().try_raw("capability/withdraw", json!({ "capability": "agent:beta/read" })).unwrap();
    let late = job(&node, &["work 3"], &more);
    let marked = json!({ "agents": ["beta"] });
    wait_for(&node, job(&node, &["work 4"], &marked), JobState::Completed);
    assert_eq!(detail(&node, late).job.counts.pending, 1);
    node.verify();
}

/// Proves JOB-008.
#[test]
fn job_is_made_whole_and_once() {
    let node = Node::start();
    worker(&node, "alpha");
    let id = "tsk_01890000-0000-7000-8000-000000000002";
    let item = "tsk_01890000-0000-7000-8000-000000000003";
    let params = |input: &str| {
        let items = json!([{ "item_id": item, "input": input }, { "input": "work 2" }]);
        json!({ "job_id": id, "title": "J", "items": items, "agents": ["alpha"] })
    };
    call(&node, "runtime/job.create", params("work 1"));
    call(&node, "runtime/job.create", params("work 1"));
    wait_for(&node, id.parse().unwrap(), JobState::Completed);
    assert_eq!(detail(&node, id.parse().unwrap()).items[0].item_id.to_string(), item);
    assert_eq!(done(&node).values().copied().collect::<Vec<_>>(), [1, 1]);
    assert_eq!(refused(&node, "runtime/job.create", params("work 7")), "conflict");
    // One item's id is taken, so no item is made.
    let mut other = params("work 1");
    other["job_id"] = json!("tsk_01890000-0000-7000-8000-000000000009");
    assert_eq!(refused(&node, "runtime/job.create", other), "conflict");
    let list = call(&node, "runtime/job.list", json!({ "all": true }));
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
    let more = json!({ "title": "more", "parent_id": id });
    assert_eq!(refused(&node, "runtime/task.create", more), "invalid_state");
    node.verify();
}

/// Proves JOB-009.
#[test]
fn agents_make_jobs_for_others_and_decide_about_their_own() {
    let node = Node::start();
    for name in AGENTS {
        worker(&node, name);
    }
    let operators = job(&node, &["gate go 1"], &json!({ "agents": ["beta"] }));
    let running = wait_for_items(&node, operators, JobItemState::Running, 1);
    let mut alpha = speak_as(&node, "alpha");
    let mut beta = speak_as(&node, "beta");
    let params = json!({ "title": "mine", "items": [{ "input": "work 1" }], "agents": ["beta"] });
    let own: TaskId =
        serde_json::from_value(alpha.try_raw("runtime/job.create", params).unwrap()["job_id"].clone())
            .unwrap();
    let list = alpha.try_raw("runtime/job.list", json!({})).unwrap();
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
    assert_eq!(detail(&node, own).job.created_by.as_str(), "alpha");
    let name = |said: Result<serde_json::Value, edgeplane_wire::rpc::RpcError>| {
        said.unwrap_err().name().as_str().to_owned()
    };
    assert_eq!(name(alpha.try_raw("runtime/job.get", json!({ "job_id": operators }))), "not_found");
    assert_eq!(name(beta.try_raw("runtime/job.cancel", json!({ "job_id": operators }))), "not_found");
    let item = json!({ "item_id": running[0].item_id });
    assert_eq!(name(beta.try_raw("runtime/job_item.retry", item)), "permission_denied");
    allow(&node, "go");
    wait_for(&node, own, JobState::Completed);
    // Each of them is told in the words of Agent Runtime what concerns it.
    let told = |agent: &str, id: TaskId| {
        let session = node.get(agent).status.identities.session.session_id;
        let target = json!({ "kind": "session", "id": session });
        let read = json!({ "projection": "agentruntime.events", "target": target, "types": ["job.*"], "limit": 1_000 });
        let said = call(&node, "stream/replay", read)["items"].as_array().unwrap().clone();
        let events = said.iter().map(|item| &item["event"]["payload"]);
        let of_job = events.filter(|event| event["jobId"] == id.to_string());
        of_job.map(|event| event["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let whole = ["job.created", "job.started", "job.item.started", "job.item.completed", "job.progress"];
    eventually("its end is told", || told("alpha", own).len() == 6);
    let mut found = told("alpha", own);
    assert_eq!(found.pop().as_deref(), Some("job.completed"));
    found.sort();
    let mut whole = whole.map(str::to_owned);
    whole.sort();
    assert_eq!(found, whole);
    assert_eq!(told("beta", own), ["job.item.started", "job.item.completed"]);
    node.verify();
}

/// Proves JOB-002, JOB-005.
#[test]
fn job_of_ten_thousand_items_is_made_and_ended_at_once_and_none_is_larger() {
    let node = Node::start();
    let items: Vec<_> = (0..10_000).map(|n| json!({ "input": n })).collect();
    let params = json!({ "title": "J", "items": items, "capability": "nobody-has-it" });
    let made = call(&node, "runtime/job.create", params.clone());
    assert_eq!((&made["items"], &made["counts"]["pending"]), (&json!(10_000), &json!(10_000)));
    let mut more = params;
    more["items"].as_array_mut().unwrap().push(json!({ "input": "one more" }));
    assert_eq!(refused(&node, "runtime/job.create", more.clone()), "invalid_params");
    more["items"] = json!([{ "input": "x".repeat(900_000) }]);
    more["objective"] = json!("{item}".repeat(40));
    assert_eq!(refused(&node, "runtime/job.create", more), "invalid_params");
    let id: TaskId = serde_json::from_value(made["job_id"].clone()).unwrap();
    call(&node, "runtime/job.cancel", json!({ "job_id": id }));
    assert_eq!(wait_for(&node, id, JobState::Cancelled).counts.failed, 10_000);
    node.verify();
}

/// Points of a job's life at which a daemon dies: the first two while it is made.
const POINTS: [&str; 7] =
    ["job.before", "job.after", "deal.before", "deal.after", "run.saying", "task.before", "task.after"];

const ITEMS: u64 = 200;

/// Lets daemons die under a job until so many have, or all is done; says how many died.
fn kill(node: &mut Node, (id, params): (TaskId, &Value), kills: u64, random: &mut Random) -> u64 {
    // How many of its passages a daemon lives at most.
    let apart = (4 * ITEMS / kills).max(1);
    let mut died = 0;
    for kill in 0..kills {
        let (point, passage) = match usize::try_from(kill).unwrap() {
            first @ 0..2 => (first, 1),
            _ => (2 + usize::try_from(random.draw() % 5).unwrap(), 1 + random.draw() % apart),
        };
        // Every other one dies wherever it is.
        let at_once = kill > 2 && kill % 2 == 0;
        if !at_once {
            arm(node, POINTS[point], passage);
        }
        // Whoever did not hear says it again.
        call_if_alive(node, "runtime/job.create", params.clone());
        if at_once {
            node.kill_daemon();
        }
        let is_done = |node: &Node| {
            let found = call_if_alive(node, "runtime/job.get", json!({ "job_id": id, "limit": 1 }));
            found.is_some_and(|found| found["job"]["state"] == "completed")
        };
        eventually("the daemon has died, or all is done", || node.has_ended() || is_done(node));
        disarm(node);
        if node.has_ended() {
            died += 1;
            node.up();
        }
    }
    died
}

/// Proves JOB-010, WSP-012, CAP-006: however often daemons die, `EDGEPLANE_JOB_KILLS` times or five, while each item calls a
/// tool and has its agent's folder kept.
#[test]
fn every_item_is_done_once_however_often_daemons_die() {
    let kills: u64 = std::env::var("EDGEPLANE_JOB_KILLS").map_or(5, |text| text.parse().unwrap());
    let mut random = Random::seeded("every_item_is_done_once_however_often_daemons_die");
    let mut node = Node::start();
    let names: Vec<String> = (0..10).map(|n| format!("worker-{n}")).collect();
    crafts::tools(&node);
    for name in &names {
        worker(&node, name);
    }
    // So slow that the job lasts for all of them.
    let ms = 40 * kills;
    let input = |n: u64| if n % 20 == 7 { format!("frail {n}") } else { format!("craft {ms} {n}") };
    let inputs: Vec<String> = (0..ITEMS).map(input).collect();
    let list: Vec<_> = inputs.iter().map(|input| json!({ "input": input })).collect();
    let id: TaskId = "tsk_01890000-0000-7000-8000-000000000002".parse().unwrap();
    let params = json!({ "job_id": id, "title": "J", "items": list, "agents": names, "attempts": 4 });
    let died = kill(&mut node, (id, &params), kills, &mut random);
    call(&node, "runtime/job.create", params);
    let over = wait_for(&node, id, JobState::Completed);
    assert_eq!((over.counts.completed, over.counts.failed), (ITEMS, 0));
    eprintln!("{died} of {kills} daemons died");
    assert!(2 * died >= kills, "{died} of {kills} daemons died");
    let found = detail(&node, id).items;
    assert_eq!(found.len(), inputs.len());
    for (item, input) in found.iter().zip(&inputs) {
        let attempts = runs(&node, item.item_id);
        let good = attempts.iter().filter(|run| run.state == RunState::Completed).count();
        assert_eq!(good, 1, "{input}: {attempts:?}");
        assert!(attempts.iter().zip(1..).all(|(run, number)| run.attempt == number && run.state.is_over()));
        assert!(attempts.windows(2).all(|two| two[0].agent != two[1].agent), "{input}: {attempts:?}");
        assert_eq!(attempts.len(), if input.starts_with("frail") { 2 } else { 1 }, "{input}: {attempts:?}");
    }
    assert!(done(&node).values().all(|count| *count == 1), "{:?}", done(&node));
    assert_eq!(done(&node).len(), inputs.len());
    let graph = call(&node, "runtime/task.graph", json!({ "task_id": id }));
    let tasks = graph["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), inputs.len() + 1);
    assert!(tasks.iter().skip(1).all(|task| task["parent"] == 0 && task["state"] == "completed"));
    crafts::check(&mut node, inputs.iter().filter(|input| input.starts_with("craft")).count());
    node.verify();
}
