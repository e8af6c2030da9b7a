//! Blobs of a workspace: put, shown and read.

use std::io::Read as _;

use base64::Engine as _;
use clap::{Args, Subcommand};
use edgeplane_wire::{
    api::workspace::{
        BLOB_KEEP_MS, BlobGetParams, BlobParams, BlobPutParams, BlobView, ContentEncoding, READ_BYTES_MAX,
    },
    catalogue::{BlobGet, BlobPut, BlobStat},
};

use super::super::{
    checkpoint::{Whose, parse_whose},
    inbox::short_time,
};
use crate::{context::Context, output::Output, quantity::human_bytes};

/// Keep bytes by their digest
///
/// They are kept for a time, and as long as a checkpoint has them in a file, an edge of a task leads to `blob:DIGEST`, or
/// they are pinned.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane workspace blob put reviewer --path report.pdf
  edgeplane workspace blob get reviewer 3f0ac1… > report.pdf")]
pub(super) struct BlobArgs {
    #[command(subcommand)]
    command: BlobCommand,
}

#[derive(Debug, Subcommand)]
enum BlobCommand {
    Put(PutArgs),
    Get(GetArgs),
    Stat(StatArgs),
}

/// Keep bytes, and print their digest
///
/// Those of a file of the workspace, or what is read from standard input, at most 8 MiB.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane workspace blob put reviewer --path report.pdf --pin
  echo done | edgeplane workspace blob put reviewer")]
struct PutArgs {
    /// The agent whose folder it is, or a workspace
    #[arg(value_name = "AGENT|WORKSPACE", value_parser = parse_whose)]
    whose: Whose,
    /// A file of the workspace
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Keep it although nobody refers to it
    #[arg(long)]
    pin: bool,
}

/// Print a blob
///
/// Its bytes as they are.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane workspace blob get reviewer 3f0ac1… > report.pdf
  edgeplane workspace blob get wks_01890000-0000-7000-8000-000000000002 3f0ac1…")]
struct GetArgs {
    #[command(flatten)]
    which: Which,
}

/// Show how a blob is kept
///
/// Its size, and until when it is kept at least.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane workspace blob stat reviewer 3f0ac1…
  edgeplane workspace blob stat reviewer 3f0ac1… -o json")]
struct StatArgs {
    #[command(flatten)]
    which: Which,
}

// Without words of its own: those of what takes it are shown.
#[derive(Debug, Args)]
struct Which {
    /// The agent whose folder it is, or a workspace
    #[arg(value_name = "AGENT|WORKSPACE", value_parser = parse_whose)]
    whose: Whose,
    /// Its digest
    #[arg(value_name = "DIGEST")]
    digest: String,
}

pub(super) fn run(args: &BlobArgs, context: &mut Context) -> anyhow::Result<()> {
    match &args.command {
        BlobCommand::Put(args) => put(args, context),
        BlobCommand::Get(args) => get(&args.which, context),
        BlobCommand::Stat(args) => {
            let (workspace_id, agent) = args.which.whose.parts();
            let digest = args.which.digest.clone();
            let answer = context.ask::<BlobStat>(&BlobParams { workspace_id, agent, digest })?;
            context.show(&answer, |out, view| said(out, &view))
        }
    }
}

fn put(args: &PutArgs, context: &mut Context) -> anyhow::Result<()> {
    let (workspace_id, agent) = args.whose.parts();
    let content = match &args.path {
        Some(_) => None,
        None => {
            let mut bytes = Vec::new();
            std::io::stdin().read_to_end(&mut bytes)?;
            Some(base64::engine::general_purpose::STANDARD.encode(bytes))
        }
    };
    let params = BlobPutParams {
        workspace_id,
        agent,
        content,
        encoding: ContentEncoding::Base64,
        path: args.path.clone(),
        pinned: args.pin.then_some(true),
        keep_ms: BLOB_KEEP_MS,
    };
    let answer = context.ask_at_length::<BlobPut>(&params)?;
    context.show(&answer, |out, view| said(out, &view))
}

fn get(which: &Which, context: &mut Context) -> anyhow::Result<()> {
    let (workspace_id, agent) = which.whose.parts();
    let mut params = BlobGetParams {
        workspace_id,
        agent,
        digest: which.digest.clone(),
        offset: 0,
        limit: READ_BYTES_MAX,
        encoding: Some(ContentEncoding::Base64),
    };
    loop {
        let answer = context.ask_at_length::<BlobGet>(&params)?;
        let next = answer.read()?.next_offset;
        context.show(&answer, |out, part| {
            Ok(out.raw(&base64::engine::general_purpose::STANDARD.decode(&part.content)?)?)
        })?;
        let Some(next) = next else { return Ok(()) };
        params.offset = next;
    }
}

fn said(out: &mut Output, view: &BlobView) -> anyhow::Result<()> {
    let until = match view.pinned {
        true => "pinned".to_owned(),
        false => format!("until {} at least", short_time(&view.expires_at)),
    };
    Ok(out.line(&format!("{}: {}, {until}", view.digest, human_bytes(view.bytes)))?)
}
