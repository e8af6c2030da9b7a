//! Screens and recordings: attach, snapshot, logs, replay.

use edgeplane_types::Epoch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Watches or controls an agent's terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttachParams {
    /// Name or id.
    pub agent: String,
    /// Also write and resize. There is one controller at a time.
    #[serde(default)]
    pub control: bool,
    /// Take the control from whoever has it.
    #[serde(default)]
    pub takeover: bool,
    /// Columns of the viewer's terminal; the controller's size is the agent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cols: Option<u16>,
    /// Rows of the viewer's terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u16>,
}

/// An attachment: the screen as it is, and where live output goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttachResult {
    /// Its id.
    pub attachment: String,
    /// The epoch.
    pub epoch: Epoch,
    /// Bytes that restore the screen, in base64.
    pub screen: String,
    /// Offset of the first live byte that follows.
    pub offset: u64,
    /// Columns of the agent's terminal.
    pub cols: u16,
    /// Rows of the agent's terminal.
    pub rows: u16,
    /// Whether this attachment controls.
    pub control: bool,
    /// Whether the program has pipes and no terminal.
    pub pipes: bool,
}

/// An `attach/output` notification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttachOutput {
    /// Whose it is.
    pub attachment: String,
    /// Offset of the first byte.
    pub offset: u64,
    /// The bytes in base64.
    pub data: String,
    /// Whether the bytes restore the whole screen because the viewer was too slow for the live ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resynchronised: bool,
}

/// Names an attachment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DetachParams {
    /// Its id.
    pub attachment: String,
}

/// Types keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteParams {
    /// Through this attachment, which must control.
    pub attachment: String,
    /// The bytes in base64.
    pub data: String,
}

/// Changes the terminal's size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResizeParams {
    /// Through this attachment, which must control.
    pub attachment: String,
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
}

/// The screen as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SnapshotResult {
    /// The epoch.
    pub epoch: Epoch,
    /// One line a row, trailing blanks cut.
    pub text: String,
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
    /// Row and column of the cursor, from zero.
    pub cursor: (u16, u16),
    /// Bytes of output that the screen shows.
    pub offset: u64,
    /// Bytes of output that there are.
    pub head: u64,
    /// The window title that the program set.
    pub title: String,
    /// The screen as the rules of terminal adapters see it, in the form of a recorded screen.
    #[serde(default)]
    pub recorded: String,
}

/// Reads a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordingParams {
    /// Name or id, also of a retired agent by id.
    pub agent: String,
    /// The epoch; the newest if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Epoch>,
    /// From the first event at or after this offset of output.
    #[serde(default)]
    pub offset: u64,
    /// Instead of `offset`: the last this many bytes of output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_bytes: Option<u64>,
    /// Most bytes of output to give; 1 MiB if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_bytes: Option<u64>,
}

/// A part of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordingResult {
    /// The epoch.
    pub epoch: Epoch,
    /// What happened, in order.
    pub items: Vec<RecordingItem>,
    /// What to give as `offset` to read on.
    pub next: u64,
    /// Whether there was nothing more at the time.
    pub end: bool,
    /// Whether the epoch is over.
    pub over: bool,
    /// Columns of the terminal at the first item.
    pub cols: u16,
    /// Rows of the terminal at the first item.
    pub rows: u16,
    /// Whether the program has pipes and no terminal.
    #[serde(default)]
    pub pipes: bool,
}

/// One event of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordingItem {
    /// Microseconds since 1970.
    pub at_us: i64,
    /// Offset of output at the event.
    pub offset: u64,
    /// `o` output, `e` standard error, `i` input, `k` hidden keys, `r` size, `m` message, `g` gap, `x` exit.
    pub code: char,
    /// Output in base64; of the others, their text.
    pub data: String,
}
