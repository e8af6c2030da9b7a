//! Every name of OpenTelemetry that leaves the process, in one place.
//!
//! Those that begin with `gen_ai.` are of the conventions for generative AI, as they were when this revision was pinned;
//! all of them are in development there. Those that begin with `rt.` are our own.

/// `service.name`.
pub const SERVICE: &str = "edgeplaned";
/// Which node.
pub const SERVICE_INSTANCE_ID: &str = "service.instance.id";
/// Which release.
pub const SERVICE_VERSION: &str = "service.version";
/// The instrumentation scope.
pub const SCOPE: &str = "edgeplane";

/// Always `jsonrpc`.
pub const RPC_SYSTEM_NAME: &str = "rpc.system.name";
/// The method of the catalogue; `_OTHER` for one that nobody knows.
pub const RPC_METHOD: &str = "rpc.method";
/// Our error's name.
pub const ERROR_TYPE: &str = "error.type";
/// What was asked for when everything in the trace began with it.
pub const OPERATION: &str = "rt.operation";
/// The principal.
pub const USER_ID: &str = "user.id";
/// The thread, where the request is bound to one.
pub const THREAD_ID: &str = "rt.thread.id";
/// The same as [`THREAD_ID`], as the conventions call it.
pub const CONVERSATION_ID: &str = "gen_ai.conversation.id";
/// The namespace.
pub const TENANT_ID: &str = "rt.tenant.id";
/// Who runs the model: the node only sees the agent.
pub const PROVIDER_NAME: &str = "gen_ai.provider.name";
/// What is known of the provider of an agent's model.
pub const PROVIDER_UNKNOWN: &str = "_OTHER";
/// An agent's name.
pub const AGENT_NAME: &str = "gen_ai.agent.name";
/// Which part of a request's way a span is.
pub const SEGMENT: &str = "rt.segment";
/// Who answers for a span's time.
pub const OWNER: &str = "rt.owner";
/// `input` or `output`.
pub const TOKEN_TYPE: &str = "gen_ai.token.type";
/// Attribute of a turn with what it was given.
pub const USAGE_INPUT: &str = "gen_ai.usage.input_tokens";
/// Attribute of a turn with what it made.
pub const USAGE_OUTPUT: &str = "gen_ai.usage.output_tokens";

/// How long requests took, in seconds.
pub const CALL_DURATION: &str = "rpc.server.call.duration";
/// How long turns took, in seconds.
pub const INVOKE_AGENT_DURATION: &str = "gen_ai.invoke_agent.duration";
/// How long uses of tools took, in seconds.
pub const EXECUTE_TOOL_DURATION: &str = "gen_ai.execute_tool.duration";
/// Tokens of a turn, as its program said.
pub const TOKEN_USAGE: &str = "gen_ai.client.token.usage";
/// How long messages waited for a busy agent, in seconds.
pub const QUEUE_WAIT: &str = "rt.turn.queue.wait";
/// How long people were waited for, in seconds.
pub const ACTION_WAIT: &str = "rt.action.wait";
/// How long messages waited for a program that did not run, in seconds.
pub const RECOVERY_DURATION: &str = "rt.run.recovery.duration";
/// Events by which a follower of the record was behind.
pub const STREAM_LAG: &str = "rt.stream.lag";
/// Parts that are missing of recordings and streams.
pub const STREAM_GAPS: &str = "rt.stream.gaps";
/// Turns that were over faster than they could be looked at.
pub const PASSED_OVER: &str = "rt.telemetry.passed_over";
