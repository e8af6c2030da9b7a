//! `edgeplane apply`: declare agents and their schedules.

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use clap::Args;
use edgeplane_types::{Desired, ErrorName, Phase};
use edgeplane_wire::{
    api::agent::{AgentParams, ApplyParams, ApplyResult, Change, Document},
    catalogue::{AgentApply, AgentGet},
};

use super::{
    Outcome,
    agent::change::{self, WAIT_TIME},
    daemon,
};
use crate::{
    context::Context,
    failure::Failure,
    node::Node,
    output::{Color, Output, paint},
};

/// Declare agents, schedules, connectors and workflows, or change what is declared
///
/// Hands manifests to the node, which takes all of them or none: if anything is wrong it says where, what was found and
/// what would be right, and no running agent is touched. What a manifest says is recorded as what is wanted; agents are
/// then started, or restarted where the change needs it. Starts the daemon if it is not running.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane apply -f reviewer.yaml
  edgeplane apply -f ./agents --dry-run
  edgeplane apply -f ./agents --wait --timeout 30s
  cat reviewer.yaml | edgeplane apply -f -")]
pub(crate) struct ApplyArgs {
    /// A file, a folder of .yaml and .yml files, or `-` for standard input; may be given several times
    #[arg(short, long = "file", required = true, value_name = "PATH")]
    files: Vec<PathBuf>,
    /// Only say what would change
    #[arg(long)]
    dry_run: bool,
    /// Wait until every agent that should run does, at most 60s or `--timeout`
    #[arg(short, long, conflicts_with = "dry_run")]
    wait: bool,
}

pub(crate) fn run(args: &ApplyArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let documents = documents(&args.files)?;
    let mut node = connect(context)?;
    node.doing = Some("applying".to_owned());
    let params = ApplyParams { documents, dry_run: args.dry_run };
    let answer = context.ask_over::<AgentApply>(&mut node, &params)?;
    let result = answer.read()?;
    context.show(&answer, |out, result| print(out, &result, args.dry_run))?;
    if args.wait {
        context.out.flush()?;
        wait_for(&result, &mut node, context)?;
    }
    Ok(Outcome::Done)
}

/// Connects; a daemon that is not running is started, since whoever declares agents wants one.
fn connect(context: &Context) -> anyhow::Result<Node> {
    match context.connect() {
        // A socket that was named is somebody else's to serve.
        Err(error) if !context.socket_is_given() && daemon::up::can_start(context) => {
            context.out.note("the daemon is not running; starting it");
            daemon::up::start(context).map_err(|start| start.context(error.to_string()))?;
            context.connect()
        }
        other => other,
    }
}

fn print(out: &mut Output, result: &ApplyResult, dry_run: bool) -> anyhow::Result<()> {
    for applied in &result.items {
        let change = word(applied.change, dry_run);
        let note = applied.note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
        out.line(&format!("{} {change}{note}", applied.name))?;
    }
    for applied in &result.schedules {
        out.line(&format!("{}/{} {}", applied.agent, applied.name, word(applied.change, dry_run)))?;
    }
    for applied in &result.resources {
        out.line(&format!("{} {}", applied.uri, word(applied.change, dry_run)))?;
    }
    Ok(())
}

fn word(change: Change, dry_run: bool) -> String {
    match (change, dry_run) {
        (Change::Created, false) => paint(Color::Green, "created"),
        (Change::Updated, false) => paint(Color::Yellow, "updated"),
        (Change::Removed, false) => paint(Color::Red, "removed"),
        (Change::Created, true) => paint(Color::Green, "would be created"),
        (Change::Updated, true) => paint(Color::Yellow, "would be updated"),
        (Change::Removed, true) => paint(Color::Red, "would be removed"),
        (Change::Unchanged, _) => paint(Color::Dim, "unchanged"),
    }
}

fn wait_for(result: &ApplyResult, node: &mut Node, context: &Context) -> anyhow::Result<()> {
    let deadline = edgeplane_os::wait::Deadline::after(context.timeout().unwrap_or(WAIT_TIME));
    for applied in &result.items {
        let agent =
            context.ask_over::<AgentGet>(node, &AgentParams { agent: applied.name.clone() })?.read()?;
        if agent.status.desired != Desired::Running {
            continue;
        }
        node.doing = Some(format!("waiting for {}", applied.name));
        let answer = change::wait(node, &applied.name, &[Phase::Running], deadline.remaining())?;
        let now = answer.read()?;
        if now.phase != Phase::Running {
            let message = format!("agent `{}` is {}", applied.name, now.phase);
            let hint =
                format!("`edgeplane agent history {0}` and `edgeplane logs {0}` tell why", applied.name);
            return Err(Failure::new(ErrorName::InvalidState, message).hint(hint).into());
        }
        context.out.note(&format!("{} is running, epoch {}", applied.name, now.epoch));
    }
    Ok(())
}

/// Reads the files that `paths` name, as the node wants them.
pub(crate) fn documents(paths: &[PathBuf]) -> anyhow::Result<Vec<Document>> {
    let mut documents = Vec::new();
    for path in paths {
        if path == Path::new("-") {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .context("cannot read manifests from standard input")?;
            let folder = std::env::current_dir().context("cannot tell the current folder")?;
            documents.push(Document { file: "standard input".to_owned(), text, folder: text_of(&folder)? });
            continue;
        }
        for file in files(path)? {
            documents.push(document(&file)?);
        }
    }
    Ok(documents)
}

fn document(file: &Path) -> anyhow::Result<Document> {
    let text = std::fs::read_to_string(file).map_err(|error| unreadable(file, error))?;
    let whole = std::fs::canonicalize(file).map_err(|error| unreadable(file, error))?;
    let folder = whole.parent().unwrap_or(Path::new("/"));
    Ok(Document { file: file.display().to_string(), text, folder: text_of(folder)? })
}

fn unreadable(path: &Path, error: std::io::Error) -> anyhow::Error {
    let name = match error.kind() {
        std::io::ErrorKind::NotFound => ErrorName::NotFound,
        std::io::ErrorKind::PermissionDenied => ErrorName::PermissionDenied,
        _ => ErrorName::InvalidManifest,
    };
    anyhow::Error::new(error).context(Failure::new(name, format!("cannot read `{}`", path.display())))
}

fn text_of(folder: &Path) -> anyhow::Result<String> {
    folder.to_str().map(str::to_owned).with_context(|| format!("folder `{}` is not text", folder.display()))
}

/// The file itself, or the manifests in a folder by name; folders in it are left alone.
fn files(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let found = std::fs::metadata(path).map_err(|error| unreadable(path, error))?;
    if !found.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = std::fs::read_dir(path).map_err(|error| unreadable(path, error))?;
    let mut files = Vec::new();
    for entry in entries {
        let file = entry.map_err(|error| unreadable(path, error))?.path();
        let is_manifest = file.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
        if is_manifest && file.is_file() {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() {
        let message = format!("no .yaml or .yml file in `{}`", path.display());
        return Err(Failure::new(ErrorName::NotFound, message).into());
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_gives_its_manifests_in_order_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b.yaml", "a.yml", "notes.txt", "c.yaml.bak"] {
            std::fs::write(dir.path().join(name), name).unwrap();
        }
        std::fs::create_dir(dir.path().join("d.yaml")).unwrap();
        let found = documents(&[dir.path().to_owned()]).unwrap();
        let texts: Vec<_> = found.iter().map(|document| document.text.as_str()).collect();
        assert_eq!(texts, ["a.yml", "b.yaml"]);
        assert!(found.iter().all(|document| Path::new(&document.folder).is_absolute()));
    }

    #[test]
    fn missing_file_and_empty_folder_are_not_found() {
        let dir = tempfile::tempdir().unwrap();
        for path in [dir.path().to_owned(), dir.path().join("none.yaml")] {
            let error = documents(&[path]).unwrap_err();
            assert_eq!(crate::failure::Report::of(&error).unwrap().exit_code, 66);
        }
    }
}
