//! Programs that end with each turn: how one is called, and what its output means.
//!
//! Between the node and such a program stands a runner, which lives as long as the epoch and starts one process for each
//! turn. Runner and node speak the Agent Client Protocol, so a turn is what it is with any other program: a prompt, its
//! pieces, its end. This holds what both sides must agree on. It starts no process and knows no clock.

mod plan;
mod read;
mod say;

pub use plan::{BadPlan, Output, Plan, PromptBy, is_placeholder};
pub use read::{Piece, Reader, TurnEnd};
pub use say::{Asked, SESSION, Told, Way, answered, asked, failed, piece, report, session_is, told};

#[cfg(test)]
mod tests;
