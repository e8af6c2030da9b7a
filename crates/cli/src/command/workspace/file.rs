//! The files of a workspace: listed, read, searched and changed through the node.

use std::{
    io::{IsTerminal as _, Read as _},
    path::{Path, PathBuf},
};

use base64::Engine as _;
use clap::Args;
use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::workspace::{
        ContentEncoding, FileChangeView, FileDeleteParams, FileListParams, FileListResult, FileMoveParams,
        FileParams, FileReadParams, FileSearchParams, FileSearchResult, FileView, FileWriteParams,
        READ_BYTES_MAX,
    },
    catalogue::{FileDelete, FileList, FileMove, FileRead, FileSearch, FileStat, FileWrite},
};

use super::super::{
    checkpoint::{Whose, parse_whose},
    inbox::short_time,
};
use crate::{
    context::Context,
    failure::Failure,
    output::Output,
    quantity::{counted, human_bytes},
    table::{Table, cell},
};

// Without words of its own: those of what takes it are shown.
#[derive(Debug, Args)]
struct Which {
    /// The agent whose folder it is, or a workspace
    #[arg(value_name = "AGENT|WORKSPACE", value_parser = parse_whose)]
    whose: Whose,
    /// The path
    #[arg(value_name = "PATH")]
    path: String,
}

#[derive(Debug, Args)]
struct Only {
    /// Only if it holds this now: a version, or `absent`
    #[arg(long, value_name = "VERSION")]
    if_version: Option<String>,
    /// The token of a lock on it
    #[arg(long, value_name = "TOKEN")]
    lock: Option<u64>,
    /// The number of a binding under which it is done
    #[arg(long, value_name = "NUMBER")]
    binding: Option<u64>,
}

/// List the files of a workspace
///
/// A name that is no text is shown with `\xNN` for each such byte, and can be named so.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane workspace files reviewer
  edgeplane workspace files reviewer src --recursive -o json")]
pub(super) struct FilesArgs {
    /// The agent whose folder it is, or a workspace
    #[arg(value_name = "AGENT|WORKSPACE", value_parser = parse_whose)]
    whose: Whose,
    /// A folder in it
    #[arg(value_name = "PATH", default_value = ".")]
    path: String,
    /// What is in the folders in it, too
    #[arg(short, long)]
    recursive: bool,
    /// Most files
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000)]
    limit: u32,
    /// Where a former list ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

/// Show what a file is
///
/// With its version, by which `write`, `move` and `remove` can be made to depend on what it holds.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane workspace stat reviewer notes.txt
  edgeplane workspace stat reviewer notes.txt -o json | jq -r .version")]
pub(super) struct StatArgs {
    #[command(flatten)]
    which: Which,
}

/// Print a file
///
/// Its bytes as they are, unless they go to a terminal: then without what would act on it.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane workspace read reviewer notes.txt
  edgeplane workspace read reviewer image.png > image.png")]
pub(super) struct ReadArgs {
    #[command(flatten)]
    which: Which,
}

/// Find text in files
///
/// What git ignores and `.git` are passed over unless they are asked for.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane workspace search reviewer TODO
  edgeplane workspace search reviewer 'fn +main' --regex --path src")]
pub(super) struct SearchArgs {
    /// The agent whose folder it is, or a workspace
    #[arg(value_name = "AGENT|WORKSPACE", value_parser = parse_whose)]
    whose: Whose,
    /// The text, in one line
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pattern: String,
    /// It is a regular expression
    #[arg(long)]
    regex: bool,
    /// Large and small letters are the same
    #[arg(short, long)]
    ignore_case: bool,
    /// In this folder or file
    #[arg(long, value_name = "PATH", default_value = ".")]
    path: String,
    /// Search what git ignores, too
    #[arg(long)]
    ignored: bool,
    /// Search `.git`, too
    #[arg(long)]
    git: bool,
    /// Most lines
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    limit: u32,
    /// Where a former search ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

/// Write a file
///
/// Whole or not at all; one that is there keeps its permissions. The bytes come from a file or standard input.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  echo hello | edgeplane workspace write reviewer notes.txt
  edgeplane workspace write reviewer src/new.rs --from new.rs --folders --if-version absent")]
pub(super) struct WriteArgs {
    #[command(flatten)]
    which: Which,
    /// Where the bytes are, instead of standard input
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    #[command(flatten)]
    only: Only,
    /// Make the folders on its way
    #[arg(long)]
    folders: bool,
}

/// Give a file, folder or link another path
///
/// Nothing may have that path.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane workspace move reviewer notes.txt done.txt
  edgeplane workspace move reviewer notes.txt old/notes.txt --folders")]
pub(super) struct MoveArgs {
    #[command(flatten)]
    which: Which,
    /// The path that it gets
    #[arg(value_name = "TO")]
    to: String,
    #[command(flatten)]
    only: Only,
    /// Make the folders on its way
    #[arg(long)]
    folders: bool,
}

/// Remove a file, a link, or a folder with nothing in it
///
/// What is removed comes back only from a checkpoint.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane workspace remove reviewer notes.txt
  edgeplane workspace remove wks_01890000-0000-7000-8000-000000000002 old/notes.txt")]
pub(super) struct RemoveArgs {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    only: Only,
}

pub(super) fn files(args: &FilesArgs, context: &mut Context) -> anyhow::Result<()> {
    let (workspace_id, agent) = args.whose.parts();
    let params = FileListParams {
        workspace_id,
        agent,
        path: args.path.clone(),
        recursive: args.recursive,
        limit: args.limit,
        cursor: args.cursor.clone(),
    };
    let answer = context.ask_at_length::<FileList>(&params)?;
    context.show(&answer, |out, list| table(out, &list))
}

pub(super) fn stat(args: &StatArgs, context: &mut Context) -> anyhow::Result<()> {
    let (workspace_id, agent) = args.which.whose.parts();
    let answer = context.ask_at_length::<FileStat>(&FileParams {
        workspace_id,
        agent,
        path: args.which.path.clone(),
    })?;
    context.show(&answer, |out, view| {
        let version = view.version.clone();
        table(out, &FileListResult { files: vec![view], next_cursor: None })?;
        Ok(version.map_or(Ok(()), |version| out.line(&format!("version {version}")))?)
    })
}

pub(super) fn read(args: &ReadArgs, context: &mut Context) -> anyhow::Result<()> {
    let (workspace_id, agent) = args.which.whose.parts();
    let mut params = FileReadParams {
        workspace_id,
        agent,
        path: args.which.path.clone(),
        offset: 0,
        limit: READ_BYTES_MAX,
        encoding: None,
    };
    let mut version = None;
    loop {
        let answer = context.ask_at_length::<FileRead>(&params)?;
        let part = answer.read()?;
        if params.offset > 0 && part.version != version {
            let what = format!("`{}` was changed while it was read", cell(&args.which.path));
            return Err(Failure::new(ErrorName::VersionConflict, what).into());
        }
        context.show(&answer, |out, part| print(out, part.content, part.encoding))?;
        let Some(next) = part.next_offset else { return Ok(()) };
        (params.offset, version) = (next, part.version);
    }
}

/// Prints bytes as they stand in an answer: as they are, but to a terminal without what would act on it.
pub(crate) fn print(out: &mut Output, content: String, encoding: ContentEncoding) -> anyhow::Result<()> {
    let bytes = match encoding {
        ContentEncoding::Utf8 => content.into_bytes(),
        ContentEncoding::Base64 => base64::engine::general_purpose::STANDARD.decode(&content)?,
    };
    match std::str::from_utf8(&bytes) {
        Ok(text) if std::io::stdout().is_terminal() => Ok(out.text(text)?),
        _ => Ok(out.raw(&bytes)?),
    }
}

/// What a file or standard input holds, as it stands in a request.
pub(crate) fn given(from: Option<&Path>) -> anyhow::Result<(String, ContentEncoding)> {
    let bytes = match from {
        Some(file) => std::fs::read(file).map_err(|error| {
            let failure = Failure::new(ErrorName::NotFound, format!("cannot read `{}`", file.display()));
            anyhow::Error::new(error).context(failure)
        })?,
        None => {
            let mut bytes = Vec::new();
            std::io::stdin().read_to_end(&mut bytes)?;
            bytes
        }
    };
    Ok(match String::from_utf8(bytes) {
        Ok(text) => (text, ContentEncoding::Utf8),
        Err(error) => {
            let text = base64::engine::general_purpose::STANDARD.encode(error.as_bytes());
            (text, ContentEncoding::Base64)
        }
    })
}

pub(super) fn search(args: &SearchArgs, context: &mut Context) -> anyhow::Result<()> {
    let (workspace_id, agent) = args.whose.parts();
    let params = FileSearchParams {
        workspace_id,
        agent,
        pattern: args.pattern.clone(),
        regex: args.regex,
        ignore_case: args.ignore_case,
        path: args.path.clone(),
        ignored: args.ignored,
        git: args.git,
        limit: args.limit,
        cursor: args.cursor.clone(),
    };
    let answer = context.ask_at_length::<FileSearch>(&params)?;
    context.show(&answer, |out, found| found_lines(out, &found))
}

pub(super) fn write(args: &WriteArgs, context: &mut Context) -> anyhow::Result<()> {
    let (workspace_id, agent) = args.which.whose.parts();
    let (content, encoding) = given(args.from.as_deref())?;
    let params = FileWriteParams {
        workspace_id,
        agent,
        path: args.which.path.clone(),
        content,
        encoding,
        if_version: args.only.if_version.clone(),
        folders: args.folders,
        lock: args.only.lock,
        binding_epoch: args.only.binding,
    };
    let answer = context.ask_at_length::<FileWrite>(&params)?;
    context.show(&answer, |out, change| said(out, "written", &change))
}

pub(super) fn rename(args: &MoveArgs, context: &mut Context) -> anyhow::Result<()> {
    let (workspace_id, agent) = args.which.whose.parts();
    let params = FileMoveParams {
        workspace_id,
        agent,
        path: args.which.path.clone(),
        to: args.to.clone(),
        if_version: args.only.if_version.clone(),
        folders: args.folders,
        lock: args.only.lock,
        binding_epoch: args.only.binding,
    };
    let answer = context.ask_at_length::<FileMove>(&params)?;
    context.show(&answer, |out, change| said(out, "moved", &change))
}

pub(super) fn remove(args: &RemoveArgs, context: &mut Context) -> anyhow::Result<()> {
    let (workspace_id, agent) = args.which.whose.parts();
    let (path, if_version) = (args.which.path.clone(), args.only.if_version.clone());
    let params = FileDeleteParams {
        workspace_id,
        agent,
        path,
        if_version,
        lock: args.only.lock,
        binding_epoch: args.only.binding,
    };
    let answer = context.ask_at_length::<FileDelete>(&params)?;
    context.show(&answer, |out, change| said(out, "removed", &change))
}

fn said(out: &mut Output, what: &str, change: &FileChangeView) -> anyhow::Result<()> {
    let to = change.to.as_deref().map(|to| format!(" to `{}`", cell(to))).unwrap_or_default();
    Ok(out.line(&format!("`{}` is {what}{to}: change {}", cell(&change.path), change.write_seq))?)
}

fn table(out: &mut Output, list: &FileListResult) -> anyhow::Result<()> {
    if list.files.is_empty() {
        out.note("no files");
        return Ok(());
    }
    let mut table = Table::new(&["KIND", "MODE", "SIZE", "CHANGED", "PATH"]);
    for file in &list.files {
        table.row([
            word(file),
            cell(&file.mode),
            file.bytes.map(human_bytes).unwrap_or_default(),
            short_time(&file.modified_at),
            path(file),
        ]);
    }
    if let Some(cursor) = &list.next_cursor {
        out.note(&format!("there are more: `--cursor '{}'`", cell(cursor)));
    }
    Ok(out.table(&table)?)
}

fn word(file: &FileView) -> String {
    let word = serde_json::to_value(file.kind).ok();
    word.and_then(|word| word.as_str().map(ToOwned::to_owned)).unwrap_or_default()
}

fn path(file: &FileView) -> String {
    let closed = if file.closed { " (cannot be listed)" } else { "" };
    match &file.target {
        Some(target) => format!("{} -> {}", cell(&file.path), cell(target)),
        None => format!("{}{closed}", cell(&file.path)),
    }
}

fn found_lines(out: &mut Output, found: &FileSearchResult) -> anyhow::Result<()> {
    for line in &found.lines {
        let cut = if line.cut { " …" } else { "" };
        out.line(&format!("{}:{}: {}{cut}", cell(&line.path), line.line, cell(&line.text)))?;
    }
    let passed_over =
        [(found.binary, "no text"), (found.too_large, "too large"), (found.unreadable, "unreadable")];
    let passed_over = passed_over.iter().filter(|(count, _)| *count > 0);
    let passed_over: String = passed_over.map(|(count, why)| format!(", {count} {why}")).collect();
    out.note(&format!("searched {}{passed_over}", counted(found.files, "file")));
    if let Some(cursor) = &found.next_cursor {
        out.note(&format!("there is more: `--cursor '{}'`", cell(cursor)));
    }
    Ok(())
}
