//! Tools by which an agent says what it did and does.

use std::sync::Arc;

use edgeplane_types::{Activity, MessageId, SafeLabel};
use edgeplane_wire::{
    api::report::{ItemParams, ReportResult, StatusParams},
    catalogue::{ItemReport, StatusReport},
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{failure::Failure, link::Link, shown::Shown};

impl Shown for ReportResult {}

fn output_kind() -> SafeLabel {
    SafeLabel::sanitized("output")
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutputArgs {
    /// The result: at most 4 MiB.
    text: String,
    /// Of which kind it is, such as `output`, `summary` or `patch`.
    #[serde(default = "output_kind")]
    kind: SafeLabel,
    /// The message that asked for it; one of your own.
    #[serde(default)]
    message_id: Option<MessageId>,
}

pub(super) async fn output(link: &Arc<Link>, args: OutputArgs) -> Result<ReportResult, Failure> {
    // Asked first, so that an operator hears what to do instead of a rule's name.
    link.own_id().await?;
    let OutputArgs { text, kind, message_id } = args;
    Ok(link.call::<ItemReport>(&ItemParams { kind, text, message_id }).await?)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatusArgs {
    /// What you are doing.
    activity: Activity,
    /// The same in a few words.
    #[serde(default)]
    text: String,
}

pub(super) async fn status(link: &Arc<Link>, args: StatusArgs) -> Result<ReportResult, Failure> {
    link.own_id().await?;
    Ok(link.call::<StatusReport>(&StatusParams { activity: args.activity, text: args.text }).await?)
}
