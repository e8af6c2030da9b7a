//! How the agent comes to the machine: deployment and preparation. Both are carried out only when somebody asks.

use edgeplane_types::SafeLabel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    quantity::DurationMs,
    words::{Digest, FilePath},
};

/// Time a step of preparation has.
pub const PREPARE_TIMEOUT: DurationMs = DurationMs::from_secs(600);

/// In which form the agent is brought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Deployment {
    /// Its program is on the machine: it is run here as a service.
    Service(Service),
    /// It comes as a folder or an archive, which is checked against its digest and unpacked before use.
    Artifact(Artifact),
}

impl Deployment {
    /// What holds unless a manifest says otherwise: a service.
    #[must_use]
    pub const fn standard() -> Self {
        Self::Service(Service {})
    }
}

/// The program is on the machine. Nothing more to say yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Service {}

/// A folder or an archive with its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Artifact {
    /// Where it lies.
    pub path: FilePath,
    /// What it must be: the digest of the archive, or of the folder's sorted list of paths and digests.
    pub digest: Digest,
}

/// A step that makes the agent ready to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum PrepareStep {
    /// Runs a command, for example to build an environment.
    Run {
        /// Its name, unique in the agent.
        name: SafeLabel,
        /// The program and its arguments. No shell reads it.
        #[schemars(length(min = 1, max = 1024))]
        run: Vec<String>,
        /// A path that is there when the step has been done; then it is skipped.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        creates: Option<FilePath>,
        /// Time it has; after that it is killed and has failed.
        #[serde(default = "prepare_timeout")]
        #[schemars(extend("x-edgeplane-min" = "1s", "x-edgeplane-max" = "1d"))]
        timeout: DurationMs,
    },
    /// Brings a model or a package to its place, checked against its digest.
    Fetch {
        /// Its name, unique in the agent.
        name: SafeLabel,
        /// What, where from, where to.
        fetch: Fetch,
    },
}

impl PrepareStep {
    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &SafeLabel {
        match self {
            Self::Run { name, .. } | Self::Fetch { name, .. } => name,
        }
    }
}

/// A model or a package by digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fetch {
    /// Where it is.
    pub from: FetchSource,
    /// The path it is put at.
    pub to: FilePath,
    /// What it must be.
    pub digest: Digest,
}

/// Where a model or a package is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum FetchSource {
    /// In this file of the machine.
    File(FilePath),
}

fn prepare_timeout() -> DurationMs {
    PREPARE_TIMEOUT
}
