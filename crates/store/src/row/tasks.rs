//! Tasks, edges and runs.

use edgeplane_types::{
    AgentId, EdgeKind, RunId, RunState, TaskId, TaskState, Timestamp,
    fact::{Actor, RunEnded, RunStarted, TaskCreated, TaskMoved, TaskPlan, TaskProgressed},
};

/// A task as the engine decides by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRow {
    /// Position of its beginning in the record; the cursor of a list.
    pub pos: u64,
    /// Its id.
    pub id: TaskId,
    /// The task at the root of its graph.
    pub root: TaskId,
    /// The task that it is a part of.
    pub parent: Option<TaskId>,
    /// Whose work it is.
    pub assignee: Option<AgentId>,
    /// The agent that wants it done, if it is one.
    pub creator: Option<AgentId>,
    /// What it is called.
    pub title: String,
    /// Where it is.
    pub state: TaskState,
    /// Grows with each change.
    pub version: u64,
    /// How many runs were admitted.
    pub attempts: u32,
    /// Whether it is to be ended.
    pub is_cancelled: bool,
}

/// All that the record says of a task itself.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskStory {
    /// What is decided by.
    pub row: TaskRow,
    /// What it began with; of what was changed since, `plan` says what holds.
    pub created: TaskCreated,
    /// Who wanted it.
    pub by: Actor,
    /// When.
    pub created_at: Timestamp,
    /// What is to be done.
    pub plan: TaskPlan,
    /// Its last move, if it has moved.
    pub moved: Option<TaskMoved>,
    /// When it moved last, or began.
    pub moved_at: Timestamp,
    /// How far it is, if somebody said so.
    pub progress: Option<(TaskProgressed, Timestamp)>,
    /// Why it is to be ended, if it is.
    pub cancelled: Option<String>,
}

/// An edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeRow {
    /// The task that it begins at.
    pub task: TaskId,
    /// How they are joined.
    pub kind: EdgeKind,
    /// The task that it leads to.
    pub to: Option<TaskId>,
    /// The address that it leads to.
    pub uri: Option<String>,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// Position of its beginning in the record; the cursor of a list.
    pub pos: u64,
    /// Its id.
    pub id: RunId,
    /// Where it is.
    pub state: RunState,
    /// What it began with.
    pub started: RunStarted,
    /// When it was admitted.
    pub started_at: Timestamp,
    /// When its program began.
    pub begun_at: Option<Timestamp>,
    /// How and when it ended.
    pub ended: Option<(RunEnded, Timestamp)>,
}

/// How far the parts of a task are, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TaskTally {
    /// Parts.
    pub all: u64,
    /// Those that are over.
    pub over: u64,
    /// Those that are completed, put away or not.
    pub done: u64,
    /// Those that were begun once, or are over.
    pub begun: u64,
}

/// A graph as a reader draws it. Tasks are named by their places in it, from 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GraphRows {
    /// Its tasks, oldest first.
    pub tasks: Vec<GraphTask>,
    /// The edges that begin at one of them, in the order of these.
    pub edges: Vec<GraphEdge>,
}

/// A task of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphTask {
    /// Its id.
    pub id: TaskId,
    /// The place of the task that it is a part of.
    pub parent: Option<u32>,
    /// What it is called.
    pub title: String,
    /// Where it is.
    pub state: TaskState,
    /// How many runs there were.
    pub attempts: u32,
}

/// An edge of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphEdge {
    /// The place of the task that it begins at.
    pub from: u32,
    /// How they are joined.
    pub kind: EdgeKind,
    /// What it leads to.
    pub end: GraphEnd,
}

/// What an edge of a graph leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GraphEnd {
    /// The task at this place.
    Place(u32),
    /// A task of another graph.
    Task(TaskId),
    /// An address.
    Uri(String),
}
