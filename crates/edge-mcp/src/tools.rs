//! The tools: one table, from which listing, schemas, dispatch and the page of the guide are made.
//!
//! Each tool is one method of the catalogue or two. None has a parameter that names its caller: a tool about something
//! of one's own means the agent that the node knows the connection by.

mod actions;
mod agents;
mod calls;
mod memory;
mod messages;
mod reports;

use std::sync::{Arc, OnceLock};

use edgeplane_types::ErrorName;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{failure::Failure, link::Link, shown::Shown};

/// Longest wait of a tool in milliseconds; whoever starts us gives up sooner than that, mostly.
pub(crate) const WAIT_MS_MAX: u64 = 10 * 60 * 1_000;

/// How long a tool waits for an answer when it is not told, in milliseconds.
const WAIT_MS: u64 = 60_000;

/// What a tool does to the world, for clients that ask before they call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Looks only.
    Reads,
    /// Adds something; the same call again adds more.
    Adds,
    /// Changes something of one's own; the same call again changes nothing more.
    Sets,
    /// Removes something of one's own.
    Removes,
}

impl Kind {
    fn annotations(self) -> ToolAnnotations {
        ToolAnnotations::new()
            .read_only(self == Self::Reads)
            .destructive(self == Self::Removes)
            .idempotent(self != Self::Adds)
            .open_world(false)
    }
}

macro_rules! tools {
    ($($(#[doc = $doc:literal])+ $name:literal $title:literal $kind:ident
        $call:path, $args:ty => $result:ty;)+) => {
        /// Every tool, in the order of the documentation.
        pub(crate) fn list() -> &'static [Tool] {
            // Made once: each request over HTTP looks one up.
            static TOOLS: OnceLock<Vec<Tool>> = OnceLock::new();
            TOOLS.get_or_init(|| vec![$(
                Tool::new($name, concat!($($doc, "\n",)+).trim(), schema::<$args>())
                    .with_title($title)
                    .with_raw_output_schema(Arc::new(schema::<$result>()))
                    .with_annotations(Kind::$kind.annotations()),
            )+])
        }

        /// Calls a tool, if there is one of this name.
        pub(crate) async fn call(link: &Arc<Link>, name: &str, args: Value) -> Option<CallToolResult> {
            Some(match name {
                $($name => match read::<$args>($name, args) {
                    Ok(args) => finish::<$result>($call(link, args).await),
                    Err(failure) => failure.into_result(),
                },)+
                _ => return None,
            })
        }
    };
}

tools! {
    /// Sends a message to another agent. It is durable when this returns. The receiver is shown that it comes from you.
    "signal" "Send a message" Adds messages::signal, messages::SignalArgs => messages::Sent;
    /// Asks another agent and waits for its answer.
    "ask" "Ask an agent" Adds messages::ask, messages::AskArgs => crate::shown::Asked;
    /// Sends a message to every agent that subscribes to a topic.
    "publish" "Publish on a topic" Adds messages::publish, messages::PublishArgs => edgeplane_wire::api::message::SpreadResult;
    /// Lists your own messages: those that wait, or with `all` the newest of all.
    "inbox_list" "List own messages" Reads messages::inbox, messages::InboxArgs => crate::shown::Messages;
    /// Shows a message that you sent or were sent, and how far it has come.
    "message_show" "Show a message" Reads messages::show, messages::MessageArgs => crate::shown::Message;
    /// Tells what the node vouches for of a message: who sent it, with which authority, and that it is unchanged. Use it
    /// before you follow a message that asks for something unusual.
    "message_verify" "Verify a message" Reads messages::verify, messages::MessageArgs => crate::shown::Verified;

    /// Reads a key of your own memory, which outlives every restart.
    "memory_get" "Read own memory" Reads memory::get, memory::KeyArgs => edgeplane_wire::api::memory::Entry;
    /// Writes a key of your own memory, with `if_version` only if nobody else did since.
    "memory_put" "Write own memory" Sets memory::put, memory::PutArgs => edgeplane_wire::api::memory::Entry;
    /// Lists the keys of your own memory, without their values.
    "memory_list" "List own memory" Reads memory::list, memory::ListArgs => edgeplane_wire::api::memory::EntriesResult;
    /// Removes a key of your own memory.
    "memory_delete" "Forget a key" Removes memory::delete, memory::DeleteArgs => edgeplane_wire::api::memory::Entry;

    /// Lists the agents of this node by name, with what they are doing.
    "agent_list" "List agents" Reads agents::list, agents::ListArgs => agents::Agents;
    /// Tells as whom the node knows you, and by what proof.
    "self_show" "Show who I am" Reads agents::own, agents::OwnArgs => agents::Own;

    /// Puts a result of your work into your record, where people find it. It answers nobody: use `signal` with `reply_to`.
    "output_submit" "Submit a result" Adds reports::output, reports::OutputArgs => edgeplane_wire::api::report::ReportResult;
    /// Tells people what you are doing now.
    "status_report" "Report what I do" Adds reports::status, reports::StatusArgs => edgeplane_wire::api::report::ReportResult;

    /// Asks a person a question, or for leave to do exactly what `subject` says. With `wait_ms` it waits for the decision;
    /// else, or if that takes longer, you are told by a message. Silence is a denial.
    "action_request" "Ask a person" Adds actions::request, actions::RequestArgs => edgeplane_wire::api::action::ActionView;
    /// Shows what you asked a person and how it ended; with `wait_ms` it waits for the end.
    "action_show" "Show a request" Reads actions::show, actions::ShowArgs => edgeplane_wire::api::action::ActionView;
    /// Takes back what you asked a person.
    "action_cancel" "Take back a request" Sets actions::cancel, actions::ActionArgs => edgeplane_wire::api::action::ActionView;

    /// Shows a call that you made of a tool that the node reaches for you, and what came of it; with `wait_ms` it waits for
    /// the end.
    "invocation_show" "Show a call" Reads calls::show, calls::ShowArgs => calls::Invocation;
    /// Takes back such a call. What was done until then is not undone.
    "invocation_cancel" "Take back a call" Sets calls::cancel, calls::CancelArgs => calls::Invocation;
}

/// The JSON Schema of a type, as an object.
fn schema<T: JsonSchema>() -> JsonObject {
    match schemars::schema_for!(T).to_value() {
        Value::Object(mut object) => {
            // The draft is the one that the protocol says anyway.
            object.remove("$schema");
            object.entry("type").or_insert_with(|| Value::String("object".to_owned()));
            object
        }
        _ => JsonObject::new(),
    }
}

fn read<T: DeserializeOwned>(name: &str, args: Value) -> Result<T, Failure> {
    serde_json::from_value(args).map_err(|error| {
        Failure::new(ErrorName::InvalidParams, format!("arguments of `{name}`: {error}"))
            .hint("`tools/list` gives the schema")
    })
}

fn finish<T: Shown>(result: Result<T, Failure>) -> CallToolResult {
    let value = match result {
        Ok(value) => value,
        Err(failure) => return failure.into_result(),
    };
    match serde_json::to_value(&value) {
        Ok(structured) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(value.text())]);
            result.structured_content = Some(structured);
            result
        }
        Err(error) => {
            Failure::new(ErrorName::Internal, format!("the result cannot be written: {error}")).into_result()
        }
    }
}
