//! Single files of a workspace.
//!
//! A path is relative to the folder. A byte of a name that is no text, a control byte and a backslash stand in it as
//! `\xNN`, so that every name can be shown and named.

use edgeplane_types::{FileChangeKind, Timestamp, WorkspaceId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes that one answer gives where nobody says how many.
pub const READ_BYTES: u32 = 256 << 10;

/// Most bytes of a file in one answer.
pub const READ_BYTES_MAX: u32 = 2 << 20;

/// Most bytes of a file that is written.
pub const WRITE_BYTES_MAX: usize = 8 << 20;

/// Most files in one answer of a list.
pub const FILES_MAX: u32 = 5_000;

/// Most lines in one answer of a search.
pub const LINES_MAX: u32 = 1_000;

fn here() -> String {
    ".".to_owned()
}

fn files() -> u32 {
    1_000
}

fn lines() -> u32 {
    100
}

fn read_bytes() -> u32 {
    READ_BYTES
}

/// What something in a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// A plain file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A device.
    Device,
}

/// How bytes stand in JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContentEncoding {
    /// As text.
    #[default]
    Utf8,
    /// In base64.
    Base64,
}

/// Which files to list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileListParams {
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// Or the agent whose own it is; it becomes known by this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The folder.
    #[serde(default = "here")]
    pub path: String,
    /// Also what is in the folders in it.
    #[serde(default)]
    pub recursive: bool,
    /// Most files, at most 5,000.
    #[serde(default = "files")]
    pub limit: u32,
    /// Where a former list ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// Names a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileParams {
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// Or the agent whose own it is; it becomes known by this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its path.
    pub path: String,
}

/// Something in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileView {
    /// Its path.
    pub path: String,
    /// What it is.
    pub kind: FileKind,
    /// Its bytes, of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Its permissions in octal digits.
    pub mode: String,
    /// When its contents changed.
    pub modified_at: Timestamp,
    /// Where a link leads, as it says. No link is followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// BLAKE3 of what a file holds: a list does not tell it, and a file of more than 256 MiB has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether what is in a folder was to be listed and could not be.
    #[serde(default)]
    pub closed: bool,
}

/// Files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileListResult {
    /// By path.
    pub files: Vec<FileView>,
    /// Where the next list begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Which bytes of a file to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileReadParams {
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// Or the agent whose own it is; it becomes known by this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its path.
    pub path: String,
    /// From this byte on.
    #[serde(default)]
    pub offset: u64,
    /// Most bytes, at most 2 MiB.
    #[serde(default = "read_bytes")]
    pub limit: u32,
    /// How they are to stand in the answer: as text if they are, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<ContentEncoding>,
}

/// Some bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileReadResult {
    /// Its path.
    pub path: String,
    /// The bytes.
    pub content: String,
    /// How they stand in `content`.
    pub encoding: ContentEncoding,
    /// The first of them.
    pub offset: u64,
    /// How many the file has.
    pub bytes: u64,
    /// Where the next part begins; nothing, if this was the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
    /// BLAKE3 of all that the file holds; a file of more than 256 MiB has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether it changed each time it was read, so that this may be half of a change.
    #[serde(default)]
    pub unsettled: bool,
}

/// What to find in files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileSearchParams {
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// Or the agent whose own it is; it becomes known by this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The text, in one line.
    pub pattern: String,
    /// Whether it is a regular expression.
    #[serde(default)]
    pub regex: bool,
    /// Whether large and small letters are the same.
    #[serde(default)]
    pub ignore_case: bool,
    /// In this folder or file.
    #[serde(default = "here")]
    pub path: String,
    /// Whether to search what git ignores.
    #[serde(default)]
    pub ignored: bool,
    /// Whether to search `.git`.
    #[serde(default)]
    pub git: bool,
    /// Most lines, at most 1,000.
    #[serde(default = "lines")]
    pub limit: u32,
    /// Where a former search ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A line that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundLine {
    /// In which file.
    pub path: String,
    /// Its number, from 1.
    pub line: u64,
    /// Where in the file the match begins, in bytes.
    pub offset: u64,
    /// The line; what is no text in it is replaced.
    pub text: String,
    /// Whether that is only what is around the match.
    #[serde(default)]
    pub cut: bool,
}

/// What was found, and what was not looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileSearchResult {
    /// By file and line.
    pub lines: Vec<FoundLine>,
    /// Files that were searched.
    pub files: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// Files that are no text, and were not searched.
    pub binary: u64,
    /// Files of more than 16 MiB, which were not searched.
    pub too_large: u64,
    /// Files and folders that could not be read.
    pub unreadable: u64,
    /// Where the next search goes on, if a bound was reached: that of lines, 100,000 files or 256 MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Writes a file, whole or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileWriteParams {
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// Or the agent whose own it is; it becomes known by this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its path.
    pub path: String,
    /// What it will hold, at most 8 MiB.
    pub content: String,
    /// How that stands in `content`.
    #[serde(default)]
    pub encoding: ContentEncoding,
    /// Only if it holds this now: the `version` that was read, or `absent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_version: Option<String>,
    /// Make the folders on its way.
    #[serde(default)]
    pub folders: bool,
    /// The token of the caller's lock on it, if it is locked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<u64>,
    /// The number of the binding under which it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding_epoch: Option<u64>,
}

/// Gives a file, folder or link another path, which nothing has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileMoveParams {
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// Or the agent whose own it is; it becomes known by this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its path.
    pub path: String,
    /// The path that it gets.
    pub to: String,
    /// Only if it holds this now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_version: Option<String>,
    /// Make the folders on its way.
    #[serde(default)]
    pub folders: bool,
    /// The token of the caller's lock on it, if it is locked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<u64>,
    /// The number of the binding under which it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding_epoch: Option<u64>,
}

/// Removes a file, a link, or a folder with nothing in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileDeleteParams {
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// Or the agent whose own it is; it becomes known by this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its path.
    pub path: String,
    /// Only if it holds this now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_version: Option<String>,
    /// The token of the caller's lock on it, if it is locked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<u64>,
    /// The number of the binding under which it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding_epoch: Option<u64>,
}

/// A change that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileChangeView {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// Its number in the workspace, from 1, without gaps.
    pub write_seq: u64,
    /// What was done.
    pub kind: FileChangeKind,
    /// The path that was named.
    pub path: String,
    /// The path that it has now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// What was there: `absent`, or BLAKE3 of its bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// What is there now, the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}
