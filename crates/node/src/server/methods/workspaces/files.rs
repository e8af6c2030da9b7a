//! Files of workspaces: who may see and change them, within which bounds, and how they are shown.

use std::path::Path;

use base64::Engine as _;
use edgeplane_types::{ErrorName, Timestamp, WorkspaceId};
use edgeplane_wire::{
    api::workspace::{
        ContentEncoding, FILES_MAX, FileChangeView, FileDeleteParams, FileKind, FileListParams,
        FileListResult, FileMoveParams, FileParams, FileReadParams, FileReadResult, FileSearchParams,
        FileSearchResult, FileView, FileWriteParams, FoundLine, LINES_MAX, READ_BYTES_MAX, WRITE_BYTES_MAX,
    },
    rpc::RpcError,
};
use edgeplane_workspace::{
    About, Case, FileError, Files, Folders, InnerPath, Listing, Pattern, Rules, Search, SearchAt, Version,
    shown,
};

use super::{Session, invalid, meant, origin};
use crate::workspaces::{self, Changed, Changing, What, blocking, not_done};

/// A path that somebody names.
pub(super) fn inner(what: &str, text: &str) -> Result<InnerPath, RpcError> {
    InnerPath::parse(text)
        .map_err(|error| invalid(format!("`{what}` is no path beneath the folder: {error}")))
}

fn version(text: Option<&str>) -> Result<Option<Version>, RpcError> {
    let parsed = text.map(str::parse).transpose();
    parsed.map_err(|error| invalid(format!("`if_version` is neither a version nor `absent`: {error}")))
}

fn folders(are_made: bool) -> Folders {
    if are_made { Folders::Made } else { Folders::There }
}

/// Does something with the files of a workspace, on a thread that may block.
async fn with_files<T: Send + 'static>(
    session: &Session,
    whose: (Option<WorkspaceId>, Option<&str>),
    work: impl FnOnce(&Files) -> Result<T, FileError> + Send + 'static,
) -> Result<T, RpcError> {
    let row = meant(session, whose).await?;
    let done = blocking(move || Files::open(Path::new(&row.folder)).and_then(|files| work(&files)));
    done.await?.map_err(|error| not_done(&error))
}

fn kind(kind: edgeplane_workspace::FileKind) -> FileKind {
    match kind {
        edgeplane_workspace::FileKind::File => FileKind::File,
        edgeplane_workspace::FileKind::Folder => FileKind::Folder,
        edgeplane_workspace::FileKind::Link => FileKind::Link,
        edgeplane_workspace::FileKind::Pipe => FileKind::Pipe,
        edgeplane_workspace::FileKind::Socket => FileKind::Socket,
        edgeplane_workspace::FileKind::Device => FileKind::Device,
    }
}

fn view(path: &InnerPath, about: &About) -> FileView {
    let kind = kind(about.kind);
    FileView {
        path: path.to_string(),
        kind,
        bytes: (kind == FileKind::File).then_some(about.bytes),
        mode: format!("{:04o}", about.mode),
        modified_at: Timestamp::from_micros(about.modified_us),
        target: about.target.as_deref().map(shown),
        version: about.version.map(|version| version.to_string()),
        closed: about.is_closed,
    }
}

pub(in crate::server) async fn list(
    session: &Session,
    params: FileListParams,
) -> Result<FileListResult, RpcError> {
    let folder = inner("path", &params.path)?;
    let after = params.cursor.as_deref().map(|text| inner("cursor", text)).transpose()?;
    let limit = usize::try_from(params.limit.clamp(1, FILES_MAX)).unwrap_or(1);
    let is_recursive = params.recursive;
    let (found, has_more) =
        with_files(session, (params.workspace_id, params.agent.as_deref()), move |files| {
            files.list(Listing { folder: &folder, is_recursive, after: after.as_ref(), limit })
        })
        .await?;
    let next_cursor = found.last().filter(|_| has_more).map(|(path, _)| path.to_string());
    Ok(FileListResult { files: found.iter().map(|(path, about)| view(path, about)).collect(), next_cursor })
}

pub(in crate::server) async fn stat(session: &Session, params: FileParams) -> Result<FileView, RpcError> {
    let path = inner("path", &params.path)?;
    with_files(session, (params.workspace_id, params.agent.as_deref()), move |files| {
        files.stat(&path).map(|about| view(&path, &about))
    })
    .await
}

pub(in crate::server) async fn read(
    session: &Session,
    params: FileReadParams,
) -> Result<FileReadResult, RpcError> {
    let path = inner("path", &params.path)?;
    let limit = usize::try_from(params.limit.clamp(1, READ_BYTES_MAX)).unwrap_or(1);
    let (offset, named) = (params.offset, path.clone());
    let whose = (params.workspace_id, params.agent.as_deref());
    let part = with_files(session, whose, move |files| files.read(&path, offset, limit)).await?;
    let what = || format!("`{named}`");
    let (content, encoding, count) = encoded(what, (&part.bytes, part.total), (offset, params.encoding))?;
    let next = offset.saturating_add(count);
    Ok(FileReadResult {
        path: named.to_string(),
        content,
        encoding,
        offset,
        bytes: part.total,
        next_offset: (next < part.total).then_some(next),
        version: part.version.map(|version| version.to_string()),
        unsettled: !part.is_settled,
    })
}

/// Bytes as they stand in an answer, and how many of them: text ends with a whole letter.
pub(in crate::server) fn encoded(
    what: impl Fn() -> String,
    (bytes, total): (&[u8], u64),
    (offset, wanted): (u64, Option<ContentEncoding>),
) -> Result<(String, ContentEncoding, u64), RpcError> {
    let is_last = offset.saturating_add(bytes.len() as u64) >= total;
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        // A letter that goes on behind the range begins the next one.
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 && !is_last => {
            bytes.get(..error.valid_up_to()).and_then(|bytes| std::str::from_utf8(bytes).ok())
        }
        Err(_) => None,
    };
    match (text, wanted) {
        (Some(text), None | Some(ContentEncoding::Utf8)) => {
            Ok((text.to_owned(), ContentEncoding::Utf8, text.len() as u64))
        }
        (None, Some(ContentEncoding::Utf8)) => {
            let what = format!("what is read of {} is no text", what());
            Err(RpcError::new(ErrorName::InvalidState, what).hint("ask for `base64`"))
        }
        (_, Some(ContentEncoding::Base64)) | (None, None) => {
            let text = base64::engine::general_purpose::STANDARD.encode(bytes);
            Ok((text, ContentEncoding::Base64, bytes.len() as u64))
        }
    }
}

/// Bytes as they stand in a request: no more than may be written at once.
pub(in crate::server) fn content(text: String, encoding: ContentEncoding) -> Result<Vec<u8>, RpcError> {
    let bytes = match encoding {
        ContentEncoding::Utf8 => text.into_bytes(),
        ContentEncoding::Base64 => base64::engine::general_purpose::STANDARD
            .decode(&text)
            .map_err(|error| invalid(format!("`content` is not base64: {error}")))?,
    };
    if bytes.len() > WRITE_BYTES_MAX {
        let what = format!("`content` has {} bytes, more than {WRITE_BYTES_MAX}", bytes.len());
        return Err(RpcError::new(ErrorName::TooLarge, what));
    }
    Ok(bytes)
}

pub(in crate::server) async fn search(
    session: &Session,
    params: FileSearchParams,
) -> Result<FileSearchResult, RpcError> {
    let within = inner("path", &params.path)?;
    let case = if params.ignore_case { Case::Ignored } else { Case::Kept };
    let read = if params.regex { Pattern::expression } else { Pattern::words };
    let pattern = read(&params.pattern, case)
        .map_err(|error| invalid(format!("`pattern` cannot be searched for: {error}")))?;
    let from = params.cursor.as_deref().map(place).transpose()?;
    let rules = Rules { keep_ignored: params.ignored, keep_git: params.git };
    let limit = usize::try_from(params.limit.clamp(1, LINES_MAX)).unwrap_or(1);
    let whose = (params.workspace_id, params.agent.as_deref());
    let found = with_files(session, whose, move |files| {
        files.search(Search { pattern: &pattern, within: &within, rules, from, limit })
    })
    .await?;
    let line = |found: edgeplane_workspace::Found| FoundLine {
        path: found.path.to_string(),
        line: found.line,
        offset: found.offset,
        text: found.text,
        cut: found.is_cut,
    };
    Ok(FileSearchResult {
        lines: found.found.into_iter().map(line).collect(),
        files: found.files,
        bytes: found.bytes,
        binary: found.binary,
        too_large: found.too_large,
        unreadable: found.unreadable,
        next_cursor: found.next.map(|at| format!("{}:{}", at.line, at.path)),
    })
}

fn place(cursor: &str) -> Result<SearchAt, RpcError> {
    let none = || invalid("`cursor` is none that a search gave out");
    let (line, path) = cursor.split_once(':').ok_or_else(none)?;
    let line = line.parse().map_err(|_bad| none())?;
    Ok(SearchAt { path: InnerPath::parse(path).map_err(|_bad| none())?, line })
}

pub(in crate::server) async fn write(
    session: &Session,
    params: FileWriteParams,
) -> Result<FileChangeView, RpcError> {
    let bytes = content(params.content, params.encoding)?;
    let whose = (params.workspace_id, params.agent.as_deref());
    let only = (params.path.as_str(), params.if_version.as_deref(), (params.lock, params.binding_epoch));
    put(session, whose, only, (bytes, params.folders)).await
}

/// Writes bytes to a file for whoever may.
pub(in crate::server) async fn put(
    session: &Session,
    whose: (Option<WorkspaceId>, Option<&str>),
    only: (&str, Option<&str>, (Option<u64>, Option<u64>)),
    (bytes, folders_are_made): (Vec<u8>, bool),
) -> Result<FileChangeView, RpcError> {
    change(session, whose, only, What::Write { bytes, folders: folders(folders_are_made) }).await
}

/// All that a file of a workspace holds, if that is at most so many bytes and nobody is changing it.
pub(in crate::server) async fn taken(
    session: &Session,
    whose: (Option<WorkspaceId>, Option<&str>),
    (path, bytes_max): (&str, usize),
) -> Result<(WorkspaceId, Vec<u8>), RpcError> {
    let path = inner("path", path)?;
    let row = meant(session, whose).await?;
    let (folder, named) = (row.folder, path.clone());
    let read =
        blocking(move || Files::open(Path::new(&folder)).and_then(|files| files.read(&named, 0, bytes_max)));
    let part = read.await?.map_err(|error| not_done(&error))?;
    if part.total > u64::try_from(bytes_max).unwrap_or(u64::MAX) {
        let what = format!("`{path}` has {} bytes, more than {bytes_max}", part.total);
        return Err(RpcError::new(ErrorName::TooLarge, what));
    }
    if !part.is_settled {
        let what = format!("`{path}` is being changed");
        return Err(RpcError::new(ErrorName::InvalidState, what).hint("try again when nobody writes to it"));
    }
    Ok((row.id, part.bytes))
}

pub(in crate::server) async fn rename(
    session: &Session,
    params: FileMoveParams,
) -> Result<FileChangeView, RpcError> {
    let what = What::Move { to: inner("to", &params.to)?, folders: folders(params.folders) };
    let whose = (params.workspace_id, params.agent.as_deref());
    change(
        session,
        whose,
        (&params.path, params.if_version.as_deref(), (params.lock, params.binding_epoch)),
        what,
    )
    .await
}

pub(in crate::server) async fn delete(
    session: &Session,
    params: FileDeleteParams,
) -> Result<FileChangeView, RpcError> {
    let whose = (params.workspace_id, params.agent.as_deref());
    change(
        session,
        whose,
        (&params.path, params.if_version.as_deref(), (params.lock, params.binding_epoch)),
        What::Delete,
    )
    .await
}

async fn change(
    session: &Session,
    whose: (Option<WorkspaceId>, Option<&str>),
    (path, if_version, (lock, binding)): (&str, Option<&str>, (Option<u64>, Option<u64>)),
    what: What,
) -> Result<FileChangeView, RpcError> {
    let (path, if_version) = (inner("path", path)?, version(if_version)?);
    let row = meant(session, whose).await?;
    let wanted = Changing { workspace: row.id, path, what, if_version, lock, binding };
    let done: Changed = workspaces::change(&session.shared, wanted, origin(session)).await?;
    Ok(FileChangeView {
        workspace_id: row.id,
        write_seq: done.write_seq,
        kind: done.kind,
        path: done.path,
        to: done.to,
        before: done.before,
        version: done.after,
        bytes: done.bytes,
    })
}
