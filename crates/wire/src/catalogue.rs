//! The method catalogue: one table, from which dispatch, description, schemas and clients are made.
//!
//! Every verb of every client is a row here. A method that is not here does not exist.

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    api::{self, Empty},
    rpc::RpcError,
};
use edgeplane_types::ErrorName;

/// Whether a method changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MethodEffect {
    /// It does not.
    Read,
    /// It does.
    Write,
}

impl MethodEffect {
    /// The word that programs read.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// Who may call a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Operators and agents.
    Anyone,
    /// Operators, and agents for themselves.
    OwnerOrOperator,
    /// Whoever the rules let; the shipped ones let operators only.
    Governed,
    /// Operators only.
    Operator,
}

/// One row of the catalogue.
#[derive(Debug)]
pub struct Method {
    /// `profile/object.action`.
    pub name: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// Whether it changes anything.
    pub effect: MethodEffect,
    /// Who may call it.
    pub audience: Audience,
    /// Error names of its own.
    pub errors: &'static [ErrorName],
    /// Version that began to serve it.
    pub since: &'static str,
    params: fn() -> Value,
    result: fn() -> Value,
}

impl Method {
    /// JSON Schema of the parameters.
    #[must_use]
    pub fn params_schema(&self) -> Value {
        (self.params)()
    }

    /// JSON Schema of the result.
    #[must_use]
    pub fn result_schema(&self) -> Value {
        (self.result)()
    }
}

fn schema<T: JsonSchema>() -> Value {
    schemars::schema_for!(T).to_value()
}

/// A method as a type, for typed callers.
pub trait Call {
    /// Its name.
    const NAME: &'static str;
    /// Its parameters.
    type Params: Serialize + DeserializeOwned;
    /// Its result.
    type Result: Serialize + DeserializeOwned;
}

macro_rules! catalogue {
    ($($(#[doc = $doc:literal])+ $name:literal $call:ident($params:ty) -> $result:ty,
        $effect:ident, $audience:ident, [$($error:ident),*], $since:literal;)+) => {
        /// Every method, in the order of the documentation.
        pub const METHODS: &[Method] = &[$(Method {
            name: $name,
            summary: concat!($($doc,)+),
            effect: MethodEffect::$effect,
            audience: Audience::$audience,
            errors: &[$(ErrorName::$error),*],
            since: $since,
            params: schema::<$params>,
            result: schema::<$result>,
        },)+];

        $(
            #[doc = concat!("`", $name, "`:", $($doc,)+)]
            #[derive(Debug, Clone, Copy)]
            pub enum $call {}

            impl Call for $call {
                const NAME: &'static str = $name;
                type Params = $params;
                type Result = $result;
            }
        )+

        /// A request with its parameters read.
        #[derive(Debug, Clone)]
        pub enum Request {
            $(
                #[doc = concat!("`", $name, "`")]
                $call($params),
            )+
        }

        impl Request {
            /// Reads the parameters of a method.
            ///
            /// # Errors
            /// `method_not_found` or `invalid_params`.
            pub fn read(method: &str, params: Value) -> Result<Self, RpcError> {
                match method {
                    $($name => read(method, params).map(Self::$call),)+
                    _ => Err(unknown(method)),
                }
            }

            /// The method's row.
            #[must_use]
            pub fn method(&self) -> &'static str {
                match self { $(Self::$call(_) => $name,)+ }
            }
        }
    };
}

fn read<P: DeserializeOwned>(method: &str, params: Value) -> Result<P, RpcError> {
    let params = if params.is_null() { Value::Object(serde_json::Map::new()) } else { params };
    serde_json::from_value(params).map_err(|error| {
        RpcError::new(ErrorName::InvalidParams, format!("parameters of {method}: {error}"))
            .hint(format!("`core/describe` gives the schema of {method}"))
    })
}

fn unknown(method: &str) -> RpcError {
    let shown: String = method.chars().take(80).collect();
    let error = RpcError::new(ErrorName::MethodNotFound, format!("no method `{shown}`"));
    error.hint("`core/describe` lists the methods")
}

/// The row of a method.
#[must_use]
pub fn find(name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.name == name)
}

catalogue! {
    /// Greets the node: versions, and as whom it knows the caller.
    "core/initialize" CoreInitialize(api::core::InitializeParams) -> api::core::InitializeResult,
        Read, Anyone, [Unsupported], "0.1";
    /// Lists the methods with their schemas.
    "core/describe" CoreDescribe(api::core::DescribeParams) -> api::core::DescribeResult,
        Read, Anyone, [], "0.1";
    /// Tells whether the node serves.
    "core/health" CoreHealth(Empty) -> api::core::HealthResult,
        Read, Anyone, [], "0.1";

    /// Tells how the daemon is.
    "runtime/node.status" NodeStatus(Empty) -> api::node::NodeStatus,
        Read, Anyone, [], "0.1";
    /// Ends the daemon in good order; agents run on.
    "runtime/node.stop" NodeStop(Empty) -> Empty,
        Write, Operator, [], "0.1";

    /// Declares agents or changes what is declared, all or nothing.
    "runtime/agent.apply" AgentApply(api::agent::ApplyParams) -> api::agent::ApplyResult,
        Write, Operator, [InvalidManifest, Conflict, StorageFull], "0.1";
    /// Lists agents by name.
    "runtime/agent.list" AgentList(api::agent::ListParams) -> api::agent::ListResult,
        Read, Anyone, [], "0.1";
    /// Shows an agent.
    "runtime/agent.get" AgentGet(api::agent::AgentParams) -> api::agent::AgentView,
        Read, Anyone, [NotFound], "0.1";
    /// Runs an agent's preparation steps; progress comes as `core/progress` notifications.
    "runtime/agent.install" AgentInstall(api::agent::AgentParams) -> api::agent::InstallResult,
        Write, Operator, [NotFound, InvalidState], "0.1";
    /// Makes an agent run.
    "runtime/agent.start" AgentStart(api::agent::ChangeParams) -> api::agent::ChangeResult,
        Write, Governed, [PolicyBlocked, NotFound, InvalidState, StorageFull], "0.1";
    /// Makes an agent end and stay ended.
    "runtime/agent.stop" AgentStop(api::agent::ChangeParams) -> api::agent::ChangeResult,
        Write, Governed, [PolicyBlocked, NotFound, InvalidState], "0.1";
    /// Makes an agent end and begin anew.
    "runtime/agent.restart" AgentRestart(api::agent::ChangeParams) -> api::agent::ChangeResult,
        Write, Governed, [PolicyBlocked, NotFound, InvalidState, StorageFull], "0.1";
    /// Suspends every process of an agent.
    "runtime/agent.freeze" AgentFreeze(api::agent::ChangeParams) -> api::agent::ChangeResult,
        Write, Governed, [PolicyBlocked, NotFound, InvalidState, Unsupported], "0.1";
    /// Lets a frozen agent go on.
    "runtime/agent.unfreeze" AgentUnfreeze(api::agent::ChangeParams) -> api::agent::ChangeResult,
        Write, Governed, [PolicyBlocked, NotFound, InvalidState], "0.1";
    /// Ends an idle agent until a message comes for it; its context is what its program can go on with.
    "runtime/agent.hibernate" AgentHibernate(api::agent::ChangeParams) -> api::agent::ChangeResult,
        Write, Governed, [PolicyBlocked, NotFound, InvalidState], "0.1";
    /// Ends an agent and frees its name; its history stays.
    "runtime/agent.retire" AgentRetire(api::agent::ChangeParams) -> api::agent::ChangeResult,
        Write, Operator, [NotFound, InvalidState, StorageFull], "0.1";
    /// Says what an agent owns that is removed when it is retired, and what stays.
    "runtime/retirement.plan" RetirementPlan(api::agent::AgentParams) -> api::agent::RetirementPlan,
        Read, Operator, [NotFound], "0.4";
    /// Ends an agent, frees its name and removes what it owned, as its plan says; its history stays.
    "runtime/retirement.perform" RetirementPerform(api::agent::RetireParams) -> api::agent::ChangeResult,
        Write, Operator, [NotFound, InvalidState, Conflict, StorageFull], "0.4";
    /// Vouches that nothing is left of a quarantined agent.
    "runtime/agent.release" AgentRelease(api::agent::ChangeParams) -> api::agent::ChangeResult,
        Write, Operator, [NotFound, InvalidState], "0.1";
    /// Waits until an agent is in one of some phases.
    "runtime/agent.wait" AgentWait(api::agent::WaitParams) -> api::agent::ChangeResult,
        Read, Anyone, [NotFound, DeadlineExceeded], "0.1";
    /// Lists an agent's epochs.
    "runtime/epoch.list" EpochList(api::agent::AgentParams) -> api::agent::EpochsResult,
        Read, Anyone, [NotFound], "0.1";

    /// Sends a message to an agent.
    "runtime/agent.signal" AgentSignal(api::message::SignalParams) -> api::message::SignalResult,
        Write, Anyone, [NotFound, TooLarge, Backpressure, RateLimited, IdempotencyMismatch, PolicyBlocked, StorageFull], "0.1";
    /// Lists an agent's messages.
    "runtime/inbox.list" InboxList(api::message::InboxParams) -> api::message::InboxResult,
        Read, OwnerOrOperator, [NotFound], "0.1";
    /// Shows a message and its receipts.
    "runtime/message.get" MessageGet(api::message::MessageParams) -> api::message::MessageView,
        Read, OwnerOrOperator, [NotFound], "0.1";
    /// Submits content as a tool's result, a document or a web page.
    "runtime/message.submit" MessageSubmit(api::message::SubmitParams) -> api::message::SignalResult,
        Write, Anyone, [NotFound, TooLarge, Backpressure, IdempotencyMismatch, PolicyBlocked, StorageFull], "0.2";
    /// Sends a message to every agent that subscribes to a topic.
    "runtime/topic.publish" TopicPublish(api::message::PublishParams) -> api::message::SpreadResult,
        Write, Anyone, [TooLarge, IdempotencyMismatch, PolicyBlocked, StorageFull], "0.2";
    /// Sends a message to every agent whose labels are as asked for.
    "runtime/agent.broadcast" AgentBroadcast(api::message::BroadcastParams) -> api::message::SpreadResult,
        Write, Anyone, [TooLarge, IdempotencyMismatch, PolicyBlocked, StorageFull], "0.2";
    /// Asks an agent and waits for its answer; parts of it come as `ask/part` notifications.
    "runtime/agent.ask" AgentAsk(api::message::AskParams) -> api::message::AskResult,
        Write, Anyone, [NotFound, TooLarge, Backpressure, IdempotencyMismatch, PolicyBlocked, StorageFull], "0.2";
    /// Tells what the node vouches for of a message, signed.
    "runtime/message.verify" MessageVerify(api::message::MessageParams) -> api::message::VerifyResult,
        Read, OwnerOrOperator, [NotFound], "0.2";
    /// Signs messages that leave the node, with one signature for all.
    "runtime/message.sign" MessageSign(api::message::SignParams) -> api::message::SignResult,
        Read, Operator, [NotFound, TooLarge], "0.2";
    /// Lists messages that did not reach their agent.
    "runtime/dead_letter.list" DeadLetterList(api::message::DeadLettersParams) -> api::message::DeadLettersResult,
        Read, OwnerOrOperator, [NotFound], "0.2";
    /// Lets a message that did not reach its agent wait once more.
    "runtime/dead_letter.replay" DeadLetterReplay(api::message::MessageParams) -> api::message::MessageView,
        Write, Operator, [NotFound, InvalidState, StorageFull], "0.2";
    /// Takes a message that did not reach its agent off the list.
    "runtime/dead_letter.drop" DeadLetterDrop(api::message::DropParams) -> Empty,
        Write, Operator, [NotFound, InvalidState, StorageFull], "0.2";

    /// Reports a piece of work or a remark of the calling agent.
    "runtime/item.report" ItemReport(api::report::ItemParams) -> api::report::ReportResult,
        Write, Anyone, [PermissionDenied, Fenced, NotFound, TooLarge, StorageFull], "0.3";
    /// Reports what the calling agent is doing.
    "runtime/status.report" StatusReport(api::report::StatusParams) -> api::report::ReportResult,
        Write, Anyone, [PermissionDenied, Fenced, TooLarge, StorageFull], "0.3";
    /// Reports what a hook of the calling agent's program said.
    "runtime/hook.report" HookReport(api::report::HookParams) -> api::report::HookResult,
        Write, Anyone, [PermissionDenied, Fenced, InvalidParams, Unsupported, StorageFull], "0.3";
    /// Reads what was said to an agent and by it, and what it did.
    "runtime/transcript.read" TranscriptRead(api::report::TranscriptParams) -> api::report::TranscriptResult,
        Read, OwnerOrOperator, [NotFound], "0.3";

    /// Asks a person: a question, or leave to do something.
    "runtime/action.open" ActionOpen(api::action::OpenParams) -> api::action::ActionView,
        Write, OwnerOrOperator, [NotFound, InvalidParams, TooLarge, Backpressure, IdempotencyMismatch, StorageFull], "0.2";
    /// Lists what waits for a person.
    "runtime/action.list" ActionList(api::action::ListParams) -> api::action::ListResult,
        Read, OwnerOrOperator, [NotFound], "0.2";
    /// Shows an action.
    "runtime/action.get" ActionGet(api::action::ActionParams) -> api::action::ActionView,
        Read, OwnerOrOperator, [NotFound], "0.2";
    /// Approves, denies or answers an action.
    "runtime/action.decide" ActionDecide(api::action::DecideParams) -> api::action::ActionView,
        Write, Anyone, [NotFound, InvalidParams, InvalidState, Conflict, PermissionDenied, PolicyBlocked, StorageFull], "0.2";
    /// Takes an action back.
    "runtime/action.cancel" ActionCancel(api::action::ActionParams) -> api::action::ActionView,
        Write, OwnerOrOperator, [NotFound, InvalidState, StorageFull], "0.2";

    /// Lists schedules.
    "runtime/schedule.list" ScheduleList(api::schedule::ListParams) -> api::schedule::ListResult,
        Read, OwnerOrOperator, [NotFound], "0.2";
    /// Tells what became of a schedule's occurrences.
    "runtime/schedule.history" ScheduleHistory(api::schedule::HistoryParams) -> api::schedule::HistoryResult,
        Read, OwnerOrOperator, [NotFound], "0.2";
    /// Runs a schedule now; its plan is not touched.
    "runtime/schedule.run" ScheduleRun(api::schedule::ScheduleParams) -> api::schedule::RunResult,
        Write, Operator, [NotFound, Backpressure, PolicyBlocked, StorageFull], "0.2";
    /// Lets a schedule rest; what comes due meanwhile is skipped.
    "runtime/schedule.pause" SchedulePause(api::schedule::ScheduleParams) -> api::schedule::ScheduleView,
        Write, Operator, [NotFound, StorageFull], "0.2";
    /// Lets a paused schedule run again.
    "runtime/schedule.resume" ScheduleResume(api::schedule::ScheduleParams) -> api::schedule::ScheduleView,
        Write, Operator, [NotFound, StorageFull], "0.2";
    /// Ends a schedule that is not part of a manifest; its history stays.
    "runtime/schedule.remove" ScheduleRemove(api::schedule::ScheduleParams) -> Empty,
        Write, Operator, [NotFound, InvalidState, StorageFull], "0.2";

    /// Lists the terminal adapters that are in force.
    "runtime/adapter.list" AdapterList(Empty) -> api::adapter::AdaptersResult,
        Read, Operator, [], "0.3";
    /// Reads an adapter's text, and tells what it says of a screen.
    "runtime/adapter.check" AdapterCheck(api::adapter::AdapterCheckParams) -> api::adapter::AdapterCheckResult,
        Read, Operator, [NotFound, InvalidParams, InvalidState], "0.3";

    /// Lists the rules that are in force.
    "policy/rule.list" RuleList(Empty) -> api::policy::RulesResult,
        Read, Operator, [], "0.2";
    /// Tells what the rules say of a request, and which of them decides.
    "policy/decision.explain" DecisionExplain(api::policy::ExplainParams) -> api::policy::ExplainResult,
        Read, Operator, [NotFound], "0.2";
    /// Looks whether rules could be put in force, and what they would say.
    "policy/rule.check" RuleCheck(api::policy::CheckParams) -> api::policy::CheckResult,
        Read, Operator, [NotFound, TooLarge], "0.2";
    /// Reads the files of rules now instead of within a second.
    "policy/rule.reload" RuleReload(Empty) -> api::policy::RulesResult,
        Write, Operator, [StorageFull], "0.2";

    /// Makes a token for a person or a program.
    "security/token.create" TokenCreate(api::security::CreateParams) -> api::security::CreateResult,
        Write, Operator, [StorageFull], "0.2";
    /// Lists the tokens that were made.
    "security/token.list" TokenList(Empty) -> api::security::TokensResult,
        Read, Operator, [], "0.2";
    /// Makes a token worth nothing.
    "security/token.revoke" TokenRevoke(api::security::RevokeParams) -> Empty,
        Write, Operator, [NotFound, StorageFull], "0.2";
    /// Gives the calling agent a short token of its epoch, for where its socket cannot be reached.
    "security/token.epoch" TokenEpoch(Empty) -> api::security::EpochTokenResult,
        Read, Anyone, [PermissionDenied], "0.2";
    /// Lists the keys that the node signs or has signed with.
    "security/key.list" KeyList(Empty) -> api::security::KeysResult,
        Read, Anyone, [], "0.2";
    /// Makes a new key; what the old one signed stays valid.
    "security/key.rotate" KeyRotate(Empty) -> api::security::KeyView,
        Write, Operator, [StorageFull], "0.2";

    /// Watches or controls an agent's terminal; output comes as `attach/output` notifications.
    "runtime/agent.attach" AgentAttach(api::terminal::AttachParams) -> api::terminal::AttachResult,
        Write, Governed, [PolicyBlocked, NotFound, InvalidState, Locked], "0.1";
    /// Ends an attachment; the agent does not notice.
    "runtime/agent.detach" AgentDetach(api::terminal::DetachParams) -> Empty,
        Write, Governed, [NotFound], "0.1";
    /// Types keys through a controlling attachment.
    "runtime/agent.write" AgentWrite(api::terminal::WriteParams) -> Empty,
        Write, Governed, [NotFound, PermissionDenied, Backpressure], "0.1";
    /// Changes the terminal's size through a controlling attachment.
    "runtime/agent.resize" AgentResize(api::terminal::ResizeParams) -> Empty,
        Write, Governed, [NotFound, PermissionDenied], "0.1";
    /// Shows an agent's screen as text.
    "runtime/agent.snapshot" AgentSnapshot(api::agent::AgentParams) -> api::terminal::SnapshotResult,
        Read, OwnerOrOperator, [NotFound, InvalidState], "0.1";
    /// Reads a recording, also of an epoch or agent that is gone.
    "runtime/recording.read" RecordingRead(api::terminal::RecordingParams) -> api::terminal::RecordingResult,
        Read, OwnerOrOperator, [NotFound], "0.1";

    /// Reads a key of an agent's memory.
    "memory/entry.get" MemoryGet(api::memory::KeyParams) -> api::memory::Entry,
        Read, OwnerOrOperator, [NotFound], "0.1";
    /// Writes a key of an agent's memory.
    "memory/entry.put" MemoryPut(api::memory::PutParams) -> api::memory::Entry,
        Write, OwnerOrOperator, [NotFound, VersionConflict, TooLarge, QuotaExhausted, StorageFull], "0.1";
    /// Lists the keys of an agent's memory.
    "memory/entry.list" MemoryList(api::memory::KeysParams) -> api::memory::EntriesResult,
        Read, OwnerOrOperator, [NotFound], "0.1";
    /// Removes a key of an agent's memory.
    "memory/entry.delete" MemoryDelete(api::memory::DeleteParams) -> api::memory::Entry,
        Write, OwnerOrOperator, [NotFound, VersionConflict, StorageFull], "0.1";
    /// Lists the versions of a key of an agent's memory.
    "memory/entry.history" MemoryHistory(api::memory::KeyParams) -> api::memory::EntriesResult,
        Read, OwnerOrOperator, [NotFound], "0.1";

    /// Reads events of the record.
    "stream/read" StreamRead(api::stream::ReadParams) -> api::stream::ReadResult,
        Read, Anyone, [NotFound], "0.1";
    /// Follows events of the record; they come as `stream/event` notifications.
    "stream/subscribe" StreamSubscribe(api::stream::SubscribeParams) -> api::stream::SubscribeResult,
        Read, Anyone, [NotFound], "0.1";
    /// Ends a subscription.
    "stream/unsubscribe" StreamUnsubscribe(api::stream::SubscriptionParams) -> Empty,
        Read, Anyone, [NotFound], "0.1";

    /// Recomputes every chain and every recording's digest.
    "evidence/audit.verify" AuditVerify(Empty) -> api::node::AuditResult,
        Read, Operator, [], "0.1";
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_method_name(name: &str) -> bool {
        let word = |w: &str| !w.is_empty() && w.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        let Some((profile, rest)) = name.split_once('/') else { return false };
        let parts: Vec<_> = rest.split('.').collect();
        word(profile) && (1..=2).contains(&parts.len()) && parts.iter().all(|p| word(p))
    }

    #[test]
    fn names_follow_the_grammar_and_are_unique() {
        for (index, method) in METHODS.iter().enumerate() {
            assert!(is_method_name(method.name), "{}", method.name);
            assert!(METHODS[index + 1..].iter().all(|other| other.name != method.name), "{}", method.name);
            assert!(method.summary.trim().ends_with('.'), "{}", method.name);
            assert!(method.params_schema().is_object() && method.result_schema().is_object());
        }
    }

    #[test]
    fn parameters_are_read_or_named() {
        let request = Request::read("runtime/agent.get", serde_json::json!({ "agent": "a" })).unwrap();
        assert_eq!(request.method(), "runtime/agent.get");
        assert!(Request::read("core/health", Value::Null).is_ok());
        let unknown = Request::read("runtime/agent.fly", Value::Null).unwrap_err();
        assert_eq!(unknown.name(), ErrorName::MethodNotFound);
        for params in
            [serde_json::json!({}), serde_json::json!({ "agent": "a", "agnet": 1 }), serde_json::json!([])]
        {
            let error = Request::read("runtime/agent.get", params).unwrap_err();
            assert_eq!(error.name(), ErrorName::InvalidParams);
        }
    }
}
