//! Large graphs of tasks, written into a node's record while no daemon has it.

use std::path::Path;

use edgeplane_os::Mint;
use edgeplane_store::{Batch, Body, NewEvent, Options, Store};
use edgeplane_types::{
    Authority, EventId, Fact, Priority, RunLimits, SafeLabel, StreamName, TaskId, TaskState, Visibility,
    fact::{Actor, TaskCreated, TaskPlan},
};

/// Tasks that are written at one go.
const PAGE: usize = 500;

/// Writes a graph: a root with `tasks - 1` parts, each of which depends on up to `edges_each` of those before it. Gives
/// the root and how many edges there are.
///
/// # Panics
/// If the record cannot be written.
pub fn write_graph(state: &Path, tasks: usize, edges_each: usize) -> (TaskId, usize) {
    let (store, _) = Store::open(&state.join("record"), &Options::STANDARD).expect("the record opens");
    let mint = Mint::system();
    let ids: Vec<TaskId> = (0..tasks).map(|_| mint.id()).collect();
    let root = *ids.first().expect("a graph has a task");
    let body = Body::new(b"x".to_vec());
    let actor = Actor::Operator { name: SafeLabel::sanitized("uid-0"), user_id: None };
    let mut edges = 0;
    let mut batch = Batch::default();
    for (place, id) in ids.iter().enumerate() {
        // Spread over what is there, always the same.
        let depends_on: Vec<TaskId> = (1..=edges_each.min(place.saturating_sub(1)))
            .filter_map(|step| ids.get(1 + (place * 7 + step * 131) % (place - 1).max(1)).copied())
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect();
        edges += depends_on.len();
        let plan = TaskPlan {
            title: format!("Task number {place}"),
            objective_digest: body.digest().to_string(),
            objective_bytes: 1,
            assignee: None,
            thread: None,
            priority: Priority::Normal,
            labels: std::collections::BTreeMap::new(),
            acceptance: Vec::new(),
            limits: RunLimits::default(),
            attempts_max: 1,
        };
        let created = TaskCreated {
            task_id: *id,
            root_id: root,
            parent_id: (*id != root).then_some(root),
            kind: None,
            visibility: Visibility::Foreground,
            plan,
            depends_on,
            authority: Authority::Trusted,
            epoch: None,
            causation: None,
            state: TaskState::Draft,
        };
        batch.events.push(NewEvent {
            id: mint.id::<EventId>(),
            stream: StreamName::Task(root),
            ts: mint.clock.now(),
            actor: actor.clone(),
            cause: None,
            consumed: None,
            trace: None,
            fact: Fact::TaskCreated(Box::new(created)),
        });
        if batch.events.len() == PAGE || place + 1 == tasks {
            let mut full = std::mem::take(&mut batch);
            full.bodies.push(body.clone());
            store.append(full).expect("the record takes it");
        }
    }
    (root, edges)
}
