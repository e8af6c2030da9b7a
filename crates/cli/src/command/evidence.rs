//! `edgeplane evidence`: packs that prove by themselves what the record says, verified without any node.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use base64::Engine as _;
use clap::{Args, Subcommand};
use edgeplane_os::atomic;
use edgeplane_proof::{KeyRing, PublicKey, pack};
use edgeplane_types::{MessageId, ThreadId, Timestamp, TurnId};
use edgeplane_wire::{
    api::evidence::{CaseExportParams, GapsParams, PackBodies, PackFile, PackParams, PackRef, PackScope},
    catalogue::{Call as _, GapList, PackExport, ReplayExport},
};

use super::Outcome;
use crate::{
    context::{Answer, Context},
    failure::Misuse,
    output::{Color, Format, paint},
    quantity::counted,
    table::{Table, cell},
    text,
};

/// Most bytes of a pack that is read.
const PACK_BYTES_MAX: u64 = 1 << 30;

/// Letters of a reason that a table shows.
const REASON_CHARS: usize = 80;

/// Take evidence away, and verify it anywhere
///
/// A pack holds the events of an agent, a thread, a turn, a message or the whole node as the record holds them, with their
/// chain, and a signed manifest that names every file. `verify` needs no node.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane evidence export reviewer -d pack --bodies
  edgeplane evidence verify pack
  edgeplane evidence gaps reviewer")]
pub(crate) struct EvidenceArgs {
    #[command(subcommand)]
    command: EvidenceCommand,
}

#[derive(Debug, Subcommand)]
enum EvidenceCommand {
    Export(ExportArgs),
    Verify(VerifyArgs),
    Replay(ReplayArgs),
    Gaps(GapsArgs),
}

/// Write a pack
///
/// The folder must not be there yet. Bodies that may hold a secret are withheld also with `--bodies`, and the manifest says
/// which and why; recordings are named by their digests.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane evidence export reviewer -d pack
  edgeplane evidence export --message msg_01890000-0000-7000-8000-000000000002 -d pack --bodies
  edgeplane evidence export --node -d pack")]
struct ExportArgs {
    /// An agent: name or id, also of one that is retired
    #[arg(value_name = "AGENT", group = "scope")]
    agent: Option<String>,
    /// A thread
    #[arg(long, value_name = "THREAD", group = "scope")]
    thread: Option<ThreadId>,
    /// A turn
    #[arg(long, value_name = "TURN", group = "scope")]
    turn: Option<TurnId>,
    /// A message
    #[arg(long, value_name = "MESSAGE", group = "scope")]
    message: Option<MessageId>,
    /// The node and all its agents
    #[arg(long, group = "scope")]
    node: bool,
    /// The folder to write
    #[arg(short = 'd', long = "dir", value_name = "DIR")]
    dir: PathBuf,
    /// Only events from this moment on, such as 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    from: Option<Timestamp>,
    /// Only events up to this moment
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    to: Option<Timestamp>,
    /// With the bodies that events name
    #[arg(long)]
    bodies: bool,
}

/// Verify a pack, without any node
///
/// Looks at the signature, each file, each chain and each reference, and names whatever was altered, left out, put in or
/// moved. Without `--key` the keys that the pack names are used: that shows that nothing was changed since it was made, not
/// who made it. Ends with code 1 if anything is wrong.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane evidence verify pack
  edgeplane evidence verify pack --key 11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo -o json")]
struct VerifyArgs {
    /// The folder of the pack
    #[arg(value_name = "PACK")]
    pack: PathBuf,
    /// A public key that is believed, as `edgeplane node keys` shows it; may be given several times
    // One in sixty-four begins with a hyphen.
    #[arg(long, value_name = "PUBLIC", allow_hyphen_values = true)]
    key: Vec<String>,
}

/// Show what is needed to run a turn again
///
/// Its input, options and context, what it had at hand, and the digest of what came of it.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane evidence replay trn_01890000-0000-7000-8000-000000000002
  edgeplane evidence replay trn_01890000-0000-7000-8000-000000000002 -o json > case.json")]
struct ReplayArgs {
    /// The turn; the one of a message has the message's id with `trn_`
    #[arg(value_name = "TURN")]
    turn: TurnId,
}

/// List what the record cannot show
///
/// Gaps and unsealed segments of recordings, messages of which a crash left unknown whether they were injected, ends that
/// nobody saw, stretches in which nobody looked, bodies that were erased; each with its reason.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane evidence gaps
  edgeplane evidence gaps reviewer -o json")]
struct GapsArgs {
    /// Only of this agent: name or id
    #[arg(value_name = "AGENT")]
    agent: Option<String>,
}

fn parse_time(text: &str) -> Result<Timestamp, String> {
    serde_json::from_value(serde_json::Value::String(text.to_owned()))
        .map_err(|_bad| format!("`{text}` is no moment such as 2026-01-31T12:00:00Z"))
}

pub(crate) fn run(args: &EvidenceArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match &args.command {
        EvidenceCommand::Export(args) => export(args, context),
        EvidenceCommand::Verify(args) => verify(args, context),
        EvidenceCommand::Replay(args) => {
            let answer = context.ask::<ReplayExport>(&CaseExportParams { turn_id: args.turn })?;
            let value = answer.value()?;
            match context.out.format() {
                Format::Table => context.out.text(&serde_json::to_string_pretty(&value)?)?,
                Format::Json | Format::Yaml => context.out.value(&value)?,
            }
            Ok(Outcome::Done)
        }
        EvidenceCommand::Gaps(args) => {
            let answer = context.ask::<GapList>(&GapsParams { agent: args.agent.clone() })?;
            context.show(&answer, |out, result| {
                if result.items.is_empty() {
                    out.note("no gaps are known");
                    return Ok(());
                }
                let mut table = Table::new(&["KIND", "FROM", "TO", "STREAM", "WHAT", "REASON"]);
                for gap in result.items {
                    let time = |at: Option<Timestamp>| at.map_or_else(String::new, |at| at.to_string());
                    table.row([
                        cell(&gap.kind),
                        time(gap.from),
                        time(gap.to),
                        cell(gap.stream.unwrap_or_default()),
                        cell(gap.subject.unwrap_or_default()),
                        cell(text::excerpt(&gap.reason, REASON_CHARS)),
                    ]);
                }
                Ok(out.table(&table)?)
            })?;
            Ok(Outcome::Done)
        }
    }
}

fn export(args: &ExportArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let scope = match (&args.agent, args.thread, args.turn, args.message, args.node) {
        (Some(agent), ..) => PackScope::Agent(agent.clone()),
        (_, Some(id), ..) => PackScope::ThreadId(id),
        (_, _, Some(id), ..) => PackScope::TurnId(id),
        (_, _, _, Some(id), _) => PackScope::MessageId(id),
        (.., true) => PackScope::Node(true),
        _ => return Err(Misuse("name an agent, a thread, a turn, a message or `--node`".to_owned()).into()),
    };
    if args.dir.exists() {
        return Err(Misuse(format!("`{}` is there already", args.dir.display())).into());
    }
    let bodies = if args.bodies { PackBodies::Inline } else { PackBodies::Refs };
    let params = PackParams { scope, from: args.from, to: args.to, bodies, write: false };
    let mut node = context.connect()?;
    let answer = Answer::<PackExport>::new(node.call(PackExport::NAME, &params, context.long_patience())?);
    let result = answer.read()?;
    write_files((&result.refs, &result.files, result.path.as_deref()), &args.dir)?;
    let mut shown = answer.value()?;
    if let Some(fields) = shown.as_object_mut() {
        fields.remove("files");
    }
    match context.out.format() {
        Format::Table => {
            let line = format!(
                "{} in `{}`: {} in {}, signed by {}",
                result.pack_id,
                args.dir.display(),
                counted(result.events, "event"),
                counted(u64::try_from(result.refs.len()).unwrap_or(0), "file"),
                result.signed_by
            );
            context.out.line(&cell(line))?;
        }
        Format::Json | Format::Yaml => context.out.value(&shown)?,
    }
    Ok(Outcome::Done)
}

/// Puts a pack where it was asked for: from the answer, or from where the node wrote it on this machine.
pub(crate) fn write_files(
    (refs, files, path): (&[PackRef], &[PackFile], Option<&str>),
    dir: &Path,
) -> anyhow::Result<()> {
    for folder in [dir.to_owned(), dir.join("events"), dir.join("bodies")] {
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
    }
    for file in refs {
        // What the node says is data: nothing is written beside the folder.
        let is_plain =
            Path::new(&file.path).components().all(|part| matches!(part, std::path::Component::Normal(_)));
        anyhow::ensure!(is_plain, "the node names a file `{}`", cell(&file.path));
        let bytes = match (path, files.iter().find(|one| one.path == file.path)) {
            (_, Some(found)) => base64::engine::general_purpose::STANDARD
                .decode(&found.data)
                .context("the node's answer is not base64")?,
            (Some(from), None) => {
                let path = Path::new(from).join(&file.path);
                std::fs::read(&path)
                    .with_context(|| format!("cannot read `{}` where the node wrote it", path.display()))?
            }
            (None, None) => anyhow::bail!("the node left out `{}`", cell(&file.path)),
        };
        atomic::write_atomic(&dir.join(&file.path), &bytes, 0o600)?;
    }
    Ok(())
}

fn verify(args: &VerifyArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut ring = KeyRing::default();
    for text in &args.key {
        let key: PublicKey = text.parse().map_err(|error| Misuse(format!("`--key`: {error}")))?;
        ring.add(key).map_err(|error| Misuse(format!("`--key`: {error}")))?;
    }
    let mut files = BTreeMap::new();
    let mut left = PACK_BYTES_MAX;
    read(&args.pack, "", &mut files, &mut left)?;
    let report = pack::verify(&files, &ring, !args.key.is_empty());
    match context.out.format() {
        Format::Json | Format::Yaml => context.out.value(&serde_json::to_value(&report)?)?,
        Format::Table => {
            let out = &mut context.out;
            for problem in &report.problems {
                let line = format!("{}: {}", cell(&problem.part), cell(&problem.what));
                out.line(&paint(Color::Red, &line))?;
            }
            let counts = format!(
                "{}, {}, {}",
                counted(report.events, "event"),
                counted(report.parts, "file"),
                counted(report.bodies, "body in it")
            );
            let by = report.signed_by.as_ref().map_or_else(|| "nobody".to_owned(), ToString::to_string);
            let known =
                if report.signer_is_known { "a key that you gave" } else { "a key that the pack names" };
            let verdict = if report.ok { "as it was made" } else { "NOT as it was made" };
            out.line(&format!("{verdict}: {counts}; signed by {by}, {known}"))?;
        }
    }
    Ok(if report.ok { Outcome::Done } else { Outcome::Found })
}

/// Reads the files of a folder and of the folders in it; links are not followed.
fn read(
    folder: &Path,
    prefix: &str,
    files: &mut BTreeMap<String, Vec<u8>>,
    left: &mut u64,
) -> anyhow::Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot read `{}`", folder.display()))?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type()?;
        if kind.is_dir() && prefix.matches('/').count() < 4 {
            read(&entry.path(), &format!("{name}/"), files, left)?;
            continue;
        }
        anyhow::ensure!(kind.is_file(), "`{}` is no file: that is no pack", cell(&name));
        let size = entry.metadata()?.len();
        *left =
            left.checked_sub(size).with_context(|| format!("a pack has at most {PACK_BYTES_MAX} bytes"))?;
        let bytes = std::fs::read(entry.path())
            .with_context(|| format!("cannot read `{}`", entry.path().display()))?;
        files.insert(name, bytes);
    }
    Ok(())
}
