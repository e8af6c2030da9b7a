//! Terminals: what programs write to them, and the one this command runs in.
//!
//! Owns the taking apart of terminal output ([`sequence`]), what of it may be played ([`filter`]) and what of it is text
//! ([`plain`]); and the switching of our own terminal ([`raw`]), with the keys that leave it ([`keys`]).

pub(crate) mod filter;
pub(crate) mod keys;
pub(crate) mod plain;
pub(crate) mod raw;
pub(crate) mod sequence;
