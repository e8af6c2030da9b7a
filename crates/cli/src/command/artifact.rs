//! `edgeplane artifact`: what agents and operators publish under a name.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use edgeplane_types::{ErrorName, OutputId, SafeLabel};
use edgeplane_wire::{
    api::{
        artifact::{
            ARTIFACTS_MAX, ArtifactDeleteParams, ArtifactDiffParams, ArtifactExportParams, ArtifactFile,
            ArtifactListParams, ArtifactParams, ArtifactPublishParams, ArtifactReadParams, ArtifactView,
            DiffUntold,
        },
        workspace::{ContentEncoding, READ_BYTES_MAX},
    },
    catalogue::{
        ArtifactDelete, ArtifactDiff, ArtifactExport, ArtifactGet, ArtifactList, ArtifactPublish,
        ArtifactRead,
    },
};

use super::{
    Outcome,
    checkpoint::{Whose, parse_whose},
    inbox::short_time,
    resource::parse_label,
    workspace::file,
};
use crate::{
    context::Context,
    failure::Failure,
    output::Output,
    quantity::human_bytes,
    table::{Table, cell},
};

/// Publish results under a name, and find, compare and hand out their versions
///
/// An artifact is an agent's, or the node's, which every agent may read. Its bytes are kept beside the record and are
/// held against their digest whenever they are given.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane artifact publish report.md --agent reviewer --file reviewer:out/report.md
  edgeplane artifact list
  edgeplane artifact diff report.md --agent reviewer")]
pub(crate) struct ArtifactArgs {
    #[command(subcommand)]
    command: ArtifactCommand,
}

#[derive(Debug, Subcommand)]
enum ArtifactCommand {
    Publish(PublishArgs),
    List(ListArgs),
    Get(WhichArgs),
    Read(ReadArgs),
    Diff(DiffArgs),
    Export(ExportArgs),
    Delete(DeleteArgs),
}

// Without words of its own: those of what takes it are shown.
#[derive(Debug, Args)]
struct Which {
    /// Its name or its id
    #[arg(value_name = "ARTIFACT")]
    artifact: String,
    /// The agent that owns it; else it is the node's
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
}

/// Publish bytes under a name
///
/// What has the name already becomes the version before. The bytes come from a file here, a file of a workspace, an
/// output, or standard input.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane artifact publish plan.md --from plan.md
  edgeplane artifact publish report.md --agent reviewer --file reviewer:out/report.md --label stage=draft")]
struct PublishArgs {
    /// The name
    #[arg(value_name = "NAME")]
    name: SafeLabel,
    /// The agent that owns it; else the node does
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Where the bytes are, instead of standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["file", "turn_output"])]
    from: Option<PathBuf>,
    /// A file in the folder of an agent or of a workspace that holds the bytes
    #[arg(long, value_name = "AGENT|WORKSPACE:PATH", value_parser = parse_place, conflicts_with = "turn_output")]
    file: Option<Place>,
    /// An output that they are
    #[arg(long = "from-output", value_name = "OUTPUT")]
    turn_output: Option<OutputId>,
    /// What they are, such as `text/markdown`
    #[arg(long, value_name = "MEDIA_TYPE")]
    media_type: Option<String>,
    /// By what it is found
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_label)]
    label: Vec<(String, SafeLabel)>,
    /// Only if it is at this version; 0: only if there is none
    #[arg(long, value_name = "VERSION")]
    if_version: Option<u64>,
}

/// List artifacts
///
/// The newest version of each, in the order in which they were first published.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane artifact list
  edgeplane artifact list --agent reviewer --label stage=draft -o json")]
struct ListArgs {
    /// Only those of this agent
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Only those whose name begins so
    #[arg(long, value_name = "TEXT")]
    prefix: Option<String>,
    /// Only those with this label
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_label)]
    label: Vec<(String, SafeLabel)>,
    /// Where a former list ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<u64>,
}

/// Show an artifact and its versions
///
/// Its name for tasks and messages is in the column URI.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane artifact get plan.md
  edgeplane artifact get report.md --agent reviewer -o json")]
struct WhichArgs {
    #[command(flatten)]
    which: Which,
}

/// Print an artifact
///
/// Its bytes as they are, unless they go to a terminal: then without what would act on it.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane artifact read plan.md
  edgeplane artifact read report.md --agent reviewer --version 2 > report.md")]
struct ReadArgs {
    #[command(flatten)]
    which: Which,
    /// Which version, instead of the newest
    #[arg(long, value_name = "VERSION")]
    version: Option<u64>,
}

/// Show what differs between two versions of an artifact
///
/// In the unified form, if both are texts.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane artifact diff plan.md
  edgeplane artifact diff report.md --agent reviewer --from-version 1 --to-version 4")]
struct DiffArgs {
    #[command(flatten)]
    which: Which,
    /// The version before, instead of the one before the other
    #[arg(long, value_name = "VERSION")]
    from_version: Option<u64>,
    /// The version after, instead of the newest
    #[arg(long, value_name = "VERSION")]
    to_version: Option<u64>,
}

/// Write an artifact to a file of a workspace
///
/// Through the node: as a change of that workspace, with its locks. `artifact read` writes to anywhere else.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane artifact export plan.md --to reviewer:plan.md
  edgeplane artifact export report.md --agent reviewer --version 2 --to planner:in/report.md --folders")]
struct ExportArgs {
    #[command(flatten)]
    which: Which,
    /// Which version, instead of the newest
    #[arg(long, value_name = "VERSION")]
    version: Option<u64>,
    /// The file
    #[arg(long, value_name = "AGENT|WORKSPACE:PATH", value_parser = parse_place)]
    to: Place,
    /// Only if the file holds this now: a version of it, or `absent`
    #[arg(long, value_name = "VERSION")]
    if_version: Option<String>,
    /// Make the folders on its way
    #[arg(long)]
    folders: bool,
    /// The token of a lock on the file
    #[arg(long, value_name = "TOKEN")]
    lock: Option<u64>,
}

/// End an artifact with all its versions
///
/// What was said of it stays in the record; its bytes go.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane artifact delete plan.md
  edgeplane artifact delete report.md --agent reviewer --reason \"replaced by another\"")]
struct DeleteArgs {
    #[command(flatten)]
    which: Which,
    /// Only if it is at this version
    #[arg(long, value_name = "VERSION")]
    if_version: Option<u64>,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// A file of a workspace.
#[derive(Debug, Clone)]
struct Place {
    whose: Whose,
    path: String,
}

impl Place {
    fn file(&self) -> ArtifactFile {
        let (workspace_id, agent) = self.whose.parts();
        ArtifactFile { workspace_id, agent, path: self.path.clone() }
    }
}

fn parse_place(text: &str) -> Result<Place, String> {
    let (whose, path) = text.split_once(':').ok_or("it should be an agent or a workspace, `:` and a path")?;
    Ok(Place { whose: parse_whose(whose)?, path: path.to_owned() })
}

pub(crate) fn run(args: &ArtifactArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match &args.command {
        ArtifactCommand::Publish(args) => publish(args, context)?,
        ArtifactCommand::List(args) => {
            let params = ArtifactListParams {
                agent: args.agent.clone(),
                prefix: args.prefix.clone(),
                labels: args.label.iter().cloned().collect(),
                limit: ARTIFACTS_MAX,
                cursor: args.cursor,
            };
            let answer = context.ask::<ArtifactList>(&params)?;
            context.show(&answer, |out, list| {
                if let Some(cursor) = list.next_cursor {
                    out.note(&format!("there are more: `--cursor {cursor}`"));
                }
                table(out, &list.items)
            })?;
        }
        ArtifactCommand::Get(args) => {
            let Which { artifact, agent } = &args.which;
            let params = ArtifactParams { artifact: artifact.clone(), agent: agent.clone(), version: None };
            let answer = context.ask::<ArtifactGet>(&params)?;
            context.show(&answer, |out, detail| table(out, &detail.versions))?;
        }
        ArtifactCommand::Read(args) => read(args, context)?,
        ArtifactCommand::Diff(args) => diff(args, context)?,
        ArtifactCommand::Export(args) => {
            let params = ArtifactExportParams {
                artifact: args.which.artifact.clone(),
                agent: args.which.agent.clone(),
                version: args.version,
                to: args.to.file(),
                if_version: args.if_version.clone(),
                folders: args.folders,
                lock: args.lock,
            };
            let answer = context.ask_at_length::<ArtifactExport>(&params)?;
            context.show(&answer, |out, done| {
                Ok(out.line(&format!("{} is in `{}`", name(&done.artifact), cell(&done.file.path)))?)
            })?;
        }
        ArtifactCommand::Delete(args) => {
            let params = ArtifactDeleteParams {
                artifact: args.which.artifact.clone(),
                agent: args.which.agent.clone(),
                if_version: args.if_version,
                reason: args.reason.clone(),
            };
            let answer = context.ask::<ArtifactDelete>(&params)?;
            context.show(&answer, |out, view| {
                Ok(out.line(&format!("`{}` ended with {} versions", view.name, view.newest))?)
            })?;
        }
    }
    Ok(Outcome::Done)
}

fn name(view: &ArtifactView) -> String {
    format!("version {} of `{}`", view.version, view.name)
}

fn publish(args: &PublishArgs, context: &mut Context) -> anyhow::Result<()> {
    let (content, encoding) = match (&args.file, args.turn_output) {
        (None, None) => {
            let (content, encoding) = file::given(args.from.as_deref())?;
            (Some(content), encoding)
        }
        _ => (None, ContentEncoding::Utf8),
    };
    let params = ArtifactPublishParams {
        name: args.name.clone(),
        agent: args.agent.clone(),
        media_type: args.media_type.clone(),
        labels: (!args.label.is_empty()).then(|| args.label.iter().cloned().collect()),
        content,
        encoding,
        output_id: args.turn_output,
        file: args.file.as_ref().map(Place::file),
        if_version: args.if_version,
    };
    let answer = context.ask_at_length::<ArtifactPublish>(&params)?;
    context.show(&answer, |out, view| {
        let is = if view.unchanged { "holds this already" } else { "is published" };
        Ok(out.line(&format!("{} {is}: {}", name(&view), view.uri))?)
    })
}

fn read(args: &ReadArgs, context: &mut Context) -> anyhow::Result<()> {
    let mut params = ArtifactReadParams {
        artifact: args.which.artifact.clone(),
        agent: args.which.agent.clone(),
        version: args.version,
        offset: 0,
        limit: READ_BYTES_MAX,
        encoding: None,
    };
    loop {
        let answer = context.ask_at_length::<ArtifactRead>(&params)?;
        let part = answer.read()?;
        if params.version.is_some_and(|version| version != part.version) {
            let what = "another version was given than was asked for";
            return Err(Failure::new(ErrorName::VersionConflict, what).into());
        }
        context.show(&answer, |out, part| file::print(out, part.content, part.encoding))?;
        let Some(next) = part.next_offset else { return Ok(()) };
        // What is published meanwhile is another version.
        (params.offset, params.version) = (next, Some(part.version));
    }
}

fn diff(args: &DiffArgs, context: &mut Context) -> anyhow::Result<()> {
    let params = ArtifactDiffParams {
        artifact: args.which.artifact.clone(),
        agent: args.which.agent.clone(),
        from: args.from_version,
        to: args.to_version,
    };
    let answer = context.ask_at_length::<ArtifactDiff>(&params)?;
    context.show(&answer, |out, found| {
        let why = match found.untold {
            None if found.same => {
                out.note("they are the same");
                return Ok(());
            }
            None => return Ok(out.text(&found.text.unwrap_or_default())?),
            Some(DiffUntold::Binary) => "they are no text",
            Some(DiffUntold::TooLarge) => "they are too large to be compared",
            Some(DiffUntold::TooDifferent) => "too much of them differs",
        };
        let (from, to) = (human_bytes(found.from.bytes), human_bytes(found.to.bytes));
        let is = if found.same { "are the same" } else { "differ" };
        Ok(out.line(&format!("{} ({from}) and {} ({to}) {is}; {why}", name(&found.from), name(&found.to)))?)
    })
}

fn table(out: &mut Output, items: &[ArtifactView]) -> anyhow::Result<()> {
    if items.is_empty() {
        out.note("no artifacts");
        return Ok(());
    }
    let mut table = Table::new(&["NAME", "AGENT", "VERSION", "SIZE", "TYPE", "SINCE", "BY", "URI"]);
    for item in items {
        table.row([
            item.name.to_string(),
            cell(item.agent.as_deref().unwrap_or("-")),
            item.version.to_string(),
            human_bytes(item.bytes),
            cell(&item.media_type),
            short_time(&item.published_at),
            cell(&item.by),
            item.uri.clone(),
        ]);
    }
    Ok(out.table(&table)?)
}
