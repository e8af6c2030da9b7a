//! How a call fails: as words that a model can act upon, and as data for programs.

use edgeplane_client::CallError;
use edgeplane_types::{ErrorName, error::Effect};
use rmcp::{
    ErrorData,
    model::{CallToolResult, ContentBlock, MetaObject},
};
use serde_json::{Value, json};

/// Where a result's metadata holds the failure for programs.
pub(crate) const META: &str = "dev.edgeplane/error";

/// Why there is no result.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) name: ErrorName,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    pub(crate) effect: Effect,
    pub(crate) retryable: bool,
}

impl Failure {
    pub(crate) fn new(name: ErrorName, message: impl Into<String>) -> Self {
        Self {
            name,
            message: message.into(),
            hint: None,
            effect: Effect::None,
            retryable: name.is_retryable(),
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The failure as the result of a tool: the model reads it and may do something else.
    pub(crate) fn into_result(self) -> CallToolResult {
        let mut meta = MetaObject::default();
        meta.insert(META.to_owned(), self.data());
        CallToolResult::error(vec![ContentBlock::text(self.text())]).with_meta(Some(meta))
    }

    /// The failure as an answer of the protocol, for what is no tool.
    pub(crate) fn into_protocol(self) -> ErrorData {
        let (text, data) = (self.text(), Some(self.data()));
        match self.name {
            ErrorName::NotFound => ErrorData::resource_not_found(text, data),
            ErrorName::InvalidParams | ErrorName::InvalidState | ErrorName::PermissionDenied => {
                ErrorData::invalid_params(text, data)
            }
            _ => ErrorData::internal_error(text, data),
        }
    }

    fn text(&self) -> String {
        let mut text = format!("{}: {}", self.name.as_str(), self.message);
        if let Some(hint) = &self.hint {
            text.push_str("\nhint: ");
            text.push_str(hint);
        }
        if self.effect == Effect::Unknown {
            text.push_str("\nIt may have taken effect: look before you repeat it.");
        }
        text
    }

    fn data(&self) -> Value {
        json!({
            "name": self.name.as_str(),
            "message": self.message,
            "hint": self.hint,
            "retryable": self.retryable,
            "effect": self.effect,
        })
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        let name = error.name();
        if let CallError::Rpc(error) = error {
            let data = error.data;
            return Self {
                name,
                message: error.message,
                hint: data.hint,
                effect: data.effect,
                retryable: data.retryable,
            };
        }
        let effect = if name == ErrorName::OutcomeUnknown { Effect::Unknown } else { Effect::None };
        let failure = Self { effect, ..Self::new(name, chain(&error)) };
        match error {
            CallError::Connect { .. } => failure.hint("`edgeplane daemon up` starts the node"),
            _ => failure,
        }
    }
}

/// An error and everything under it, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
