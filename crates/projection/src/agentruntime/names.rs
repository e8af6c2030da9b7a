//! Every name of the standard that is used here.

/// This runtime's own form of the public events and snapshots.
pub(crate) const PUBLIC_VERSION: &str = "edgeplane-agentruntime-0.4.0";

/// The strict form, named by the profile itself.
pub(crate) const LIME_VERSION: &str = "lime-profile-0.4.0";

pub(crate) const SESSION_CREATED: &str = "session.created";
pub(crate) const SESSION_UPDATED: &str = "session.updated";
pub(crate) const THREAD_STARTED: &str = "thread.started";
pub(crate) const THREAD_UPDATED: &str = "thread.updated";
pub(crate) const TURN_SUBMITTED: &str = "turn.submitted";
pub(crate) const TURN_STARTED: &str = "turn.started";
pub(crate) const TURN_COMPLETED: &str = "turn.completed";
pub(crate) const TURN_FAILED: &str = "turn.failed";
pub(crate) const RUN_STATUS: &str = "run.status";
pub(crate) const QUEUE_CHANGED: &str = "queue.changed";
pub(crate) const ROUTING_SINGLE_CANDIDATE: &str = "routing.single_candidate";
pub(crate) const MODEL_COMPLETED: &str = "model.completed";
pub(crate) const MODEL_DELTA: &str = "model.delta";
pub(crate) const REASONING_DELTA: &str = "reasoning.delta";
pub(crate) const REASONING_SUMMARY: &str = "reasoning.summary";
pub(crate) const TOOL_CATALOG_RESOLVED: &str = "tool.catalog.resolved";
pub(crate) const TOOL_STARTED: &str = "tool.started";
pub(crate) const TOOL_PROGRESS: &str = "tool.progress";
pub(crate) const TOOL_RESULT: &str = "tool.result";
pub(crate) const TOOL_FAILED: &str = "tool.failed";
pub(crate) const ACTION_REQUIRED: &str = "action.required";
pub(crate) const ACTION_RESOLVED: &str = "action.resolved";
pub(crate) const PERMISSION_REQUESTED: &str = "permission.requested";
pub(crate) const PERMISSION_EVALUATED: &str = "permission.evaluated";
pub(crate) const PERMISSION_RESOLVED: &str = "permission.resolved";
pub(crate) const CONTEXT_RESOLVED: &str = "context.resolved";
pub(crate) const COST_RECORDED: &str = "cost.recorded";
pub(crate) const ARTIFACT_CHANGED: &str = "artifact.changed";
pub(crate) const EVIDENCE_CHANGED: &str = "evidence.changed";
pub(crate) const PROCESS_STARTED: &str = "process.started";
pub(crate) const PROCESS_INPUT: &str = "process.input";
pub(crate) const PROCESS_COMPLETED: &str = "process.completed";
pub(crate) const PROCESS_FAILED: &str = "process.failed";
pub(crate) const PROCESS_TERMINATED: &str = "process.terminated";
pub(crate) const OUTPUT_TRUNCATED: &str = "output.truncated";
pub(crate) const OUTPUT_EXPIRED: &str = "output.expired";
pub(crate) const HOOK_COMPLETED: &str = "hook.completed";
pub(crate) const HOOK_FAILED: &str = "hook.failed";
pub(crate) const HISTORY_RECONSTRUCTED: &str = "history.reconstructed";
pub(crate) const CHANNEL_CONNECTED: &str = "channel.connected";
pub(crate) const CHANNEL_DISCONNECTED: &str = "channel.disconnected";
pub(crate) const JOB_CREATED: &str = "job.created";
pub(crate) const JOB_PROGRESS: &str = "job.progress";
pub(crate) const JOB_CANCELLED: &str = "job.cancelled";
pub(crate) const JOB_ITEM_STARTED: &str = "job.item.started";
pub(crate) const JOB_ITEM_FAILED: &str = "job.item.failed";
pub(crate) const RUNTIME_WARNING: &str = "runtime.warning";
pub(crate) const RUNTIME_ERROR: &str = "runtime.error";
