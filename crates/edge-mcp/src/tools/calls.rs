//! Tools about calls of capabilities that are under way or over.

use std::{sync::Arc, time::Duration};

use edgeplane_types::{ActionId, ErrorName, InvocationId, InvocationState};
use edgeplane_wire::{
    api::capability::{InvocationParams, InvocationView},
    catalogue::{InvocationCancel, InvocationGet},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::WAIT_MS_MAX;
use crate::{
    capabilities::{awaited, pending},
    failure::Failure,
    link::Link,
    shown::Shown,
};

/// Bytes of an answer that are shown at a time.
const PART_BYTES: usize = 128 << 10;

/// A call of a capability.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Invocation {
    /// Its id.
    invocation_id: InvocationId,
    /// Where it is.
    status: InvocationState,
    /// What is called.
    capability: String,
    /// What a person is asked by, if one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    action_id: Option<ActionId>,
    /// Why it ended so.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What came of it, as JSON, from `offset` on.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    /// The `offset` of the rest; nothing if that is all.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<usize>,
}

impl Invocation {
    fn of(view: InvocationView, offset: usize) -> Result<Self, Failure> {
        let whole = view.output.as_ref().map(ToString::to_string);
        let (mut output, mut next) = (None, None);
        if let Some(whole) = &whole {
            let rest = whole.get(offset..).ok_or_else(|| {
                let what = format!("`offset` is not one that was given out: there are {} bytes", whole.len());
                Failure::new(ErrorName::InvalidParams, what)
            })?;
            let part = rest.get(..rest.floor_char_boundary(PART_BYTES)).unwrap_or_default();
            next = (part.len() < rest.len()).then(|| offset.saturating_add(part.len()));
            output = Some(part.to_owned());
        }
        let waits = view.status == InvocationState::Waiting;
        Ok(Self {
            invocation_id: view.invocation_id,
            status: view.status,
            action_id: view.action_id.filter(|_| waits),
            reason: if waits { Some(pending(&view)) } else { view.reason },
            capability: view.name,
            output,
            next,
        })
    }
}

impl Shown for Invocation {
    fn text(&self) -> String {
        let mut text = format!("{}: {} of `{}`", self.status, self.invocation_id, self.capability);
        for more in self.reason.iter().chain(&self.output) {
            text.push('\n');
            text.push_str(more);
        }
        if let Some(next) = self.next {
            text.push_str(&format!("\n[… there is more: offset {next}]"));
        }
        text
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShowArgs {
    /// Its id, such as `inv_…`.
    invocation_id: InvocationId,
    /// Milliseconds to wait until it is over, at most ten minutes; none if left out.
    #[serde(default)]
    wait_ms: Option<u64>,
    /// From which byte of the answer on, as a part before it said.
    #[serde(default)]
    offset: usize,
}

pub(super) async fn show(link: &Arc<Link>, args: ShowArgs) -> Result<Invocation, Failure> {
    let ShowArgs { invocation_id, wait_ms, offset } = args;
    let view = match wait_ms.unwrap_or(0).min(WAIT_MS_MAX) {
        0 => link.call::<InvocationGet>(&InvocationParams { invocation_id }).await?,
        wait => awaited(link, invocation_id, Duration::from_millis(wait)).await?,
    };
    Invocation::of(view, offset)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CancelArgs {
    /// Its id, such as `inv_…`.
    invocation_id: InvocationId,
}

pub(super) async fn cancel(link: &Arc<Link>, args: CancelArgs) -> Result<Invocation, Failure> {
    let params = InvocationParams { invocation_id: args.invocation_id };
    Invocation::of(link.call::<InvocationCancel>(&params).await?, 0)
}
