//! Graphs of very many tasks.

use edgeplane_testkit::{Node, graph::write_graph};
use edgeplane_types::EdgeKind;
use edgeplane_wire::api::work::TaskGraphResult;
use serde_json::json;

/// A node whose record holds a graph; gives the root and the edges.
fn node_with(tasks: usize, edges_each: usize) -> (Node, edgeplane_types::TaskId, usize) {
    let mut node = Node::start();
    node.stop_daemon();
    let (root, edges) = write_graph(&node.state_dir(), tasks, edges_each);
    node.up();
    (node, root, edges)
}

/// Proves WORK-014.
#[test]
fn graph_of_ten_thousand_tasks_is_shown_whole() {
    let (node, root, edges) = node_with(10_000, 5);
    assert!((49_000..=50_000).contains(&edges), "{edges}");
    let found = node.connect().try_raw("runtime/task.graph", json!({ "task_id": root })).unwrap();
    let graph: TaskGraphResult = serde_json::from_value(found).unwrap();
    assert_eq!((graph.root_id, graph.tasks.len(), graph.edges.len()), (root, 10_000, edges));
    assert!(graph.tasks.iter().skip(1).all(|task| task.parent == Some(0)));
    // Tasks were drawn to older ones only.
    assert!(graph.edges.iter().all(|edge| edge.kind == EdgeKind::DependsOn && edge.to < Some(edge.from)));
    let few = json!({ "task_id": root, "tasks_max": 9_999 });
    let refused = node.connect().try_raw("runtime/task.graph", few).unwrap_err();
    assert_eq!(refused.name().as_str(), "too_large");
    node.verify();
}

/// Proves WORK-014.
#[test]
fn graph_is_shown_whole_or_not_at_all() {
    let (node, root, edges) = node_with(10_001, 1);
    let many = json!({ "task_id": root, "tasks_max": 20_000 });
    let found = node.connect().try_raw("runtime/task.graph", many).unwrap();
    let graph: TaskGraphResult = serde_json::from_value(found).unwrap();
    assert_eq!((graph.tasks.len(), graph.edges.len()), (10_001, edges));
    let refused = node.connect().try_raw("runtime/task.graph", json!({ "task_id": root })).unwrap_err();
    assert_eq!(refused.name().as_str(), "too_large");
}

/// Proves WORK-014.
#[test]
fn graph_has_room_for_a_hundred_thousand_tasks_and_no_more() {
    let (node, root, _) = node_with(99_999, 0);
    let part = json!({ "title": "one more", "parent_id": root, "start": false });
    node.connect().try_raw("runtime/task.create", part.clone()).unwrap();
    let refused = node.connect().try_raw("runtime/task.create", part).unwrap_err();
    assert_eq!(refused.name().as_str(), "quota_exhausted");
    // Another graph has room of its own.
    node.connect().try_raw("runtime/task.create", json!({ "title": "elsewhere", "start": false })).unwrap();
}
