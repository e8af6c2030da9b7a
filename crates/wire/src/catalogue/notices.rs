//! What the node says unasked, while a request or a subscription is open.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::schema;
use crate::{api, rpc};

/// A notification that the node sends.
#[derive(Debug)]
pub struct Notice {
    /// `profile/object.action`, as it stands in `method`.
    pub name: &'static str,
    /// When it comes.
    pub summary: &'static str,
    params: fn() -> Value,
}

impl Notice {
    /// JSON Schema of its parameters.
    #[must_use]
    pub fn params_schema(&self) -> Value {
        (self.params)()
    }
}

/// How far a request has come, in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    /// For people.
    pub text: String,
}

/// Every notification.
pub const NOTICES: &[Notice] = &[
    Notice {
        name: "core/progress",
        summary: "Tells how far a long request has come.",
        params: schema::<Progress>,
    },
    Notice {
        name: "stream/event",
        summary: "Brings an event of a subscription.",
        params: schema::<api::stream::StreamEvent>,
    },
    Notice {
        name: "stream/state",
        summary: "Tells how a subscription or an attachment is, and why it ended.",
        params: schema::<api::stream::StreamState>,
    },
    Notice {
        name: "ask/part",
        summary: "Brings a part of an answer before it is whole.",
        params: schema::<api::message::AskPart>,
    },
    Notice {
        name: "attach/output",
        summary: "Brings output of a terminal that is watched.",
        params: schema::<api::terminal::AttachOutput>,
    },
];

/// JSON Schema of the context of a request, which stands as `ctx` beside its parameters.
#[must_use]
pub fn context_schema() -> Value {
    schema::<rpc::RequestContext>()
}

/// JSON Schema of a failure.
#[must_use]
pub fn error_schema() -> Value {
    schema::<rpc::RpcError>()
}
