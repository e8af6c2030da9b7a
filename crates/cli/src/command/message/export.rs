//! `edgeplane message export`: messages that leave the node, with its signature over all of them.
//!
//! Owns the form of the file, for writing and for reading. Envelopes are kept as JSON values: a field that this program
//! does not know is signed all the same.

use clap::Args;
use edgeplane_types::{MessageId, Part};
use edgeplane_wire::{
    api::message::{MessageParams, SignParams},
    catalogue::{MessageGet, MessageSign},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{command::Outcome, context::Context, json};

/// Write messages with the node's signature
///
/// Prints a JSON document with the envelopes of up to 1,024 messages and one signature over all of them. It can be
/// verified anywhere with `edgeplane message verify --file`, as long as somebody knows the node's public key. With
/// `--content` the words go along; without, the document holds their digests only.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane message export msg_01890000-0000-7000-8000-000000000002 > message.json
  edgeplane message export --content msg_01890000-0000-7000-8000-000000000002 > message.json")]
pub(super) struct ExportArgs {
    /// The messages' ids
    #[arg(value_name = "MESSAGE", required = true, num_args = 1..)]
    ids: Vec<MessageId>,
    /// Also what the messages say
    #[arg(long)]
    content: bool,
}

/// What is exported.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Export {
    /// The envelopes, in the order of the leaves.
    pub(super) envelopes: Vec<Value>,
    /// SHA-256 of each canonical envelope.
    pub(super) leaves: Vec<String>,
    /// The detached signature over the leaves.
    pub(super) signature: String,
    /// The key that made it, as whoever wrote the file says.
    pub(super) key_id: String,
    /// That key. Nobody should believe it because it stands here.
    pub(super) public_key: String,
    /// What the messages say, in the same order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) contents: Option<Vec<Option<Vec<Part>>>>,
}

pub(super) fn run(args: &ExportArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut node = context.connect()?;
    let params = SignParams { message_ids: args.ids.clone() };
    let mut document = context.ask_over::<MessageSign>(&mut node, &params)?.value()?;
    if args.content {
        let mut contents = Vec::with_capacity(args.ids.len());
        for id in &args.ids {
            let params = MessageParams { message_id: *id };
            contents.push(context.ask_over::<MessageGet>(&mut node, &params)?.read()?.parts);
        }
        if let Some(fields) = document.as_object_mut() {
            fields.insert("contents".to_owned(), serde_json::to_value(contents)?);
        }
    }
    context.out.raw(json::pretty(&document).as_bytes())?;
    context.out.raw(b"\n")?;
    Ok(Outcome::Done)
}
