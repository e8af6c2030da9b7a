//! Folds of generated records: what they say, that they are always the same, and that what is exported meets the
//! schemas of Agent Runtime.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests stop at the first thing that is not as it should be"
)]

mod exporting;
mod folding;
mod lives;
mod outputs;
mod schemas;
mod states;
mod support;
mod words;
