//! The Agent Client Protocol, version 1, from the client's side: JSON-RPC lines on a program's standard streams.
//!
//! Reads little and calmly: programs of many versions speak it, so what is unknown is named and passed over, and only
//! what is used is read. The ids of our requests say what was asked, so an answer can be understood by a daemon that did
//! not ask. It holds no line, no file and no clock, and does not know whether anything is durable.

mod hear;
mod permission;
mod say;
mod session;
mod terminal;
mod update;

pub use hear::{Asked, Failure, Heard, RequestId, hear};
pub use permission::{OptionKind, Permission, PermissionOption};
pub use say::{
    McpServer, Reason, cancel, close, failed, permission_cancelled, permission_selected, prompt, succeeded,
    traced_prompt,
};
pub use session::{Act, Opened, Session, Wanted, Way};
pub use terminal::{Create, Terminal, TerminalAsk, Variable, output_text};
pub use update::{ITEM_BYTES_MAX, Update, UpdateKind, Usage};

#[cfg(test)]
mod tests;
