//! Stores of context: texts that are searched, ranked and read. None of them is an instruction to anybody.

mod folder;
mod memory;
mod rank;

use std::fmt::Debug;

use edgeplane_proof::Digest;

use crate::NeighbourError;

pub use folder::FolderContexts;
pub use memory::MemoryContexts;

/// Most bytes of a text; one with more is not there.
pub const DOCUMENT_BYTES_MAX: usize = 1 << 20;

/// Longest reference, in bytes.
pub const REFERENCE_BYTES_MAX: usize = 512;

/// Most texts that one search finds.
pub const FOUND_MAX: usize = 100;

/// Longest excerpt, in bytes.
pub const EXCERPT_BYTES_MAX: usize = 400;

/// What a store of contexts is called in errors.
pub(crate) const STORE: &str = "the store of contexts";

/// A text that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// By what it is read.
    pub reference: String,
    /// What it is called.
    pub title: String,
    /// SHA-256 of it.
    pub digest: Digest,
    /// How many bytes it has.
    pub bytes: u64,
    /// How well it fits, in thousandths; comparable within one search only.
    pub score: u64,
    /// A piece of it in which words of the query are.
    pub excerpt: String,
}

/// A text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// What it is called.
    pub title: String,
    /// What it is, as a media type.
    pub media_type: String,
    /// All of it.
    pub text: String,
}

/// Searches and gives texts. What it gives is held against its digest, its size and its bounds by whoever asks.
pub trait ContextStore: Debug + Send + Sync {
    /// The texts that fit best, best first; of equal ones the smaller reference first.
    ///
    /// # Errors
    /// If it cannot search.
    fn search(&self, query: &str, found_max: usize) -> Result<Vec<Found>, NeighbourError>;

    /// A text by its reference.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    fn read(&self, reference: &str) -> Result<Document, NeighbourError>;
}
