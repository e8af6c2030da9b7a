//! Model providers: which models an agent may work with. The node calls none of them.

use std::{
    fmt::Debug,
    sync::atomic::{AtomicU64, Ordering},
};

use crate::NeighbourError;

/// A model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// What it is called where it is asked for.
    pub id: String,
    /// What it is called for people.
    pub title: Option<String>,
}

/// Knows models.
pub trait ModelProvider: Debug + Send + Sync {
    /// The models that an agent may work with. `reported` are those that its own program names.
    ///
    /// # Errors
    /// If it cannot tell.
    fn models(&self, agent: &str, reported: Vec<Model>) -> Result<Vec<Model>, NeighbourError>;
}

/// The default: what programs report is all that is known.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReportedModels;

impl ModelProvider for ReportedModels {
    fn models(&self, _agent: &str, reported: Vec<Model>) -> Result<Vec<Model>, NeighbourError> {
        Ok(reported)
    }
}

/// The double: knows models besides, and counts how often it is asked.
#[derive(Debug, Default)]
pub struct MemoryModels {
    models: Vec<Model>,
    calls: AtomicU64,
}

impl MemoryModels {
    /// With these models besides what programs report.
    #[must_use]
    pub fn new(models: Vec<Model>) -> Self {
        Self { models, calls: AtomicU64::new(0) }
    }

    /// How often it was asked.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }
}

impl ModelProvider for MemoryModels {
    fn models(&self, _agent: &str, mut reported: Vec<Model>) -> Result<Vec<Model>, NeighbourError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        reported.extend(self.models.iter().cloned());
        Ok(reported)
    }
}
