//! Attempts to pass for somebody else by what is said, and a reader that believes the contract alone.
//!
//! The renderer and a whole node are judged by the same attempts.

mod cases;
mod reader;

pub use cases::{Case, NONCE, RANDOM, cases};
pub use reader::{Seen, acting, header, mistakable, read};
