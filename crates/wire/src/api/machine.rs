//! The machine: processes that agents had run, what surrounds an agent's program, and the machine itself.
//!
//! What is not known is said in words and never left to be guessed: `unknown` is what could be known and is not,
//! `unavailable` what cannot be known now, `not_applicable` what there is nothing of here.

use std::collections::BTreeMap;

use edgeplane_types::{
    AgentId, Authority, Epoch, InputId, MessageId, NodeId, NodeName, Phase, ProcessId, Timestamp, TurnId,
    life::ExitStatus,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::core::Check;

/// How a process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProcessStatus {
    /// It is there and does nothing: its agent is suspended.
    Idle,
    /// It runs.
    Running,
    /// It ended.
    Exited,
    /// It could not be run.
    Failed,
    /// Whether it runs, or how it ended, could not be seen.
    Unknown,
}

/// Which processes to list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListProcessesParams {
    /// Of this agent: name or id.
    pub agent: String,
    /// Only those of this status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ProcessStatus>,
    /// Most processes to look at, at most 500; 50 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Where a former list ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// Processes of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessesResult {
    /// Newest first, without their output.
    pub items: Vec<AgentProcess>,
    /// What to give as `cursor` for those before; nothing if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Names a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProcessParams {
    /// Which.
    pub process_id: ProcessId,
    /// Most bytes of output to show from its beginning and from its end each, at most 65,536; 4,096 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<u32>,
}

/// Bytes of a process's output that are given at a time where nobody says how many, and at most.
pub const PROCESS_READ_BYTES: (u32, u32) = (64 << 10, 1 << 20);

/// Reads a part of what a process wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadProcessParams {
    /// Which.
    pub process_id: ProcessId,
    /// Offset of the first byte to give, counted from the first that it wrote; zero without.
    #[serde(default)]
    pub from: u64,
    /// Most bytes to give: 64 KiB without, 1 MiB at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_max: Option<u32>,
}

/// A part of what a process wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessBytes {
    /// The process.
    pub process_id: ProcessId,
    /// How it is.
    pub status: ProcessStatus,
    /// Offset of the first byte that is given; later than what was asked for where what lies before is not kept.
    pub from: u64,
    /// Offset from which to go on.
    pub next: u64,
    /// The bytes, both of its streams in one, in base64.
    pub data: String,
    /// Whether nothing comes behind them: it has ended, and they are the last that are kept.
    pub end: bool,
}

/// Writes to a process's standard input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteProcessParams {
    /// Which.
    pub process_id: ProcessId,
    /// What to write, as text. This or `data`, or neither with `close`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What to write, as base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// Whether nothing comes after it: the process then reads the end of its input.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub close: bool,
    /// The caller's id for it: what is written under an id is written once, whoever dies meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_id: Option<InputId>,
    /// How long the answer may wait for the process to read, in milliseconds; 5,000 without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
}

/// What became of something that was to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProcessInputStatus {
    /// The process was given all of it.
    Written,
    /// It waits for the process to read.
    Queued,
}

/// What became of a write to a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WriteProcessResult {
    /// The process.
    pub process_id: ProcessId,
    /// The input's id.
    pub input_id: InputId,
    /// What became of it.
    pub status: ProcessInputStatus,
    /// How many bytes it has.
    pub input_bytes: u64,
    /// SHA-256 of them.
    pub input_digest: String,
}

/// What was written to a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessInput {
    /// How often.
    pub writes: u64,
    /// Bytes that it was given.
    pub written_bytes: u64,
    /// Whether its input was closed.
    pub closed: bool,
}

/// Ends a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TerminateParams {
    /// Which.
    pub process_id: ProcessId,
    /// How long it may take to end by itself after it was asked to, in milliseconds; it is not asked without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace_ms: Option<u64>,
    /// Why, for the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A process that an agent's program had the node run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentProcess {
    /// Its id.
    pub process_id: ProcessId,
    /// The agent's name.
    pub agent: String,
    /// The agent.
    pub agent_id: AgentId,
    /// The epoch in which it was run.
    pub epoch: Epoch,
    /// How it is.
    pub status: ProcessStatus,
    /// Program and arguments, shortened.
    pub command: String,
    /// Its folder.
    pub cwd: String,
    /// The names of the variables that its program asked for; values are in no record.
    pub variables: Vec<String>,
    /// What the words that led to it weigh.
    pub authority: Authority,
    /// The message in whose turn it was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// The turn in which it was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// When it began.
    pub started_at: Timestamp,
    /// When its end was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<ExitStatus>,
    /// Why it could not be run, or why its end is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether somebody asked for its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub terminating: bool,
    /// What was written to it, if it can be written to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<ProcessInput>,
    /// What it wrote, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<ProcessOutput>,
}

/// What of a process's output is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Truncation {
    /// All of it.
    None,
    /// Its beginning is missing.
    Head,
    /// Its middle is missing.
    Middle,
}

/// What a process wrote, both of its streams in one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessOutput {
    /// Its beginning, if that is kept; what is no text is replaced.
    pub head: String,
    /// Its end; empty if the head is all there is.
    pub tail: String,
    /// What is missing between them or before.
    pub truncation: Truncation,
    /// Bytes that it wrote.
    pub written_bytes: u64,
    /// Bytes that are kept: the last ones.
    pub kept_bytes: u64,
    /// Offset of the first byte that is kept; those before it are gone.
    pub kept_from: u64,
    /// SHA-256 of what is kept, once that is in the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// What surrounds an agent's program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EnvironmentView {
    /// The agent's name.
    pub agent: String,
    /// The agent.
    pub agent_id: AgentId,
    /// The epoch that lives, or the last one.
    pub epoch: Epoch,
    /// Where the agent stands.
    pub phase: Phase,
    /// When this was looked at.
    pub as_of: Timestamp,
    /// `epoch` if it was read from what runs, `manifest` if nothing runs and it is what the next epoch gets.
    pub source: String,
    /// Whether what runs was started with another manifest than the one that is shown here.
    pub stale: bool,
    /// The folder that its program begins in.
    pub cwd: String,
    /// Further folders that it was given.
    pub additional_roots: Vec<String>,
    /// The shell of its user.
    pub shell: String,
    /// The operating system.
    pub os: String,
    /// The processor's architecture.
    pub arch: String,
    /// As whom it runs.
    pub user: UserView,
    /// The names of its variables; values are never told.
    pub variables: Vec<String>,
    /// What keeps it in.
    pub sandbox: SandboxView,
    /// What its processes may use together, and each of them.
    pub limits: Vec<LimitView>,
    /// What it may reach: `host` is all that the machine may.
    pub network: String,
    /// What keeps its epochs: `shim`.
    pub substrate: String,
    /// How messages become what its program reads.
    pub driver: String,
    /// Its program.
    pub program: String,
    /// The program's own word for what it is, with its version.
    pub version: String,
}

/// As whom a program runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UserView {
    /// Name, `unknown` if this machine has none for it.
    pub name: String,
    /// User id.
    pub uid: u32,
    /// Group id, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gid: Option<u32>,
}

/// What keeps a program in, as it is applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SandboxView {
    /// `none`: no folder and no call of the kernel is kept from it beyond what its user may.
    pub profile: String,
    /// Whether its manifest says that it may never gain rights.
    pub no_new_privs_asked: bool,
    /// Whether the kernel keeps that: `yes`, `no`, `unavailable`.
    pub no_new_privs: String,
    /// The kernel's filter of calls: `none`, `strict`, `filter`, `unavailable`.
    pub seccomp: String,
    /// The directory of its control group.
    pub cgroup: String,
}

/// A limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LimitView {
    /// `memory` in bytes, `pids`, `cpu` in thousandths of a processor, `open_files`.
    pub name: String,
    /// What the manifest asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<u64>,
    /// What the kernel keeps now, read from where it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_force: Option<u64>,
    /// `in_force`, `not_asked`, `missing` if the machine lacks it, `unavailable` if nothing runs.
    pub state: String,
    /// Where it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// Names a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostParams {
    /// Name or id of its node.
    pub host: String,
}

/// Which hosts to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListHostsParams {
    /// Only those with all of these labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// Hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostsResult {
    /// This machine; a node that belongs to no fleet knows no other.
    pub items: Vec<HostView>,
}

/// A machine on which agents live.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostView {
    /// Its node.
    pub host_id: NodeId,
    /// Its node's name.
    pub name: NodeName,
    /// `ready`, `held` under an override over the whole node, `storage_full` or `damaged`.
    pub status: String,
    /// What it is: `os`, `arch` and `node`.
    pub labels: BTreeMap<String, String>,
    /// The kernel's release.
    pub kernel: String,
    /// What tells this start of the machine from others.
    pub boot_id: String,
    /// What the machine has.
    pub capacity: CapacityView,
    /// What is in use of it now, by whomever.
    pub load: LoadView,
    /// What is left when each agent that may live takes all that its limits allow.
    pub left: LeftView,
    /// How many agents are in each phase.
    pub agents: BTreeMap<String, u64>,
    /// What the machine allows, as `doctor` shows it.
    pub features: Vec<Check>,
    /// When this was looked at.
    pub as_of: Timestamp,
}

/// What a machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapacityView {
    /// Thousandths of processors that the daemon may use.
    pub cpu_milli: u64,
    /// Bytes of memory; nothing if the kernel does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

/// What is in use of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoadView {
    /// Processes that ran or waited to, on average over a minute, in thousandths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_minute_milli: Option<u64>,
    /// The same over five minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub five_minutes_milli: Option<u64>,
    /// The same over a quarter of an hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fifteen_minutes_milli: Option<u64>,
    /// Bytes of memory that could be had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_available_bytes: Option<u64>,
}

/// What is left of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftView {
    /// Thousandths of processors; zero if more was promised than there is.
    pub cpu_milli: u64,
    /// Bytes of memory; nothing if it is not known how much there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Agents that may live and have no limit of processor time: they are not counted.
    pub without_cpu_limit: u64,
    /// Agents that may live and have no limit of memory: they are not counted.
    pub without_memory_limit: u64,
}
