//! How an implementation is spoken to: its own names for the commands, and what stands where in what it says.

use std::{collections::BTreeMap, path::Path};

use serde::Deserialize;
use serde_json::Value;

/// EdgePlane's own, which is used if no other is given.
const EDGEPLANE: &str = include_str!("../mapping/edgeplane.toml");

/// Why there is no mapping.
#[derive(Debug, thiserror::Error)]
pub enum MappingError {
    /// A file cannot be read.
    #[error("cannot read `{path}`")]
    Read {
        /// Which.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A file is none.
    #[error("`{path}` is no mapping")]
    Parse {
        /// Which.
        path: String,
        /// Why.
        #[source]
        source: toml::de::Error,
    },
}

/// A whole mapping.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// What the implementation is called, for the report.
    pub name: String,
    /// The path of its JSON-RPC 2.0 endpoint.
    pub rpc: String,
    /// Where in an error its stable name stands.
    pub error_name: String,
    /// The names of errors that say that a command is not served.
    pub not_served: Vec<String>,
    /// How events are followed.
    pub stream: Stream,
    /// What a decision about an action looks like, by `approve` and `deny`.
    pub decisions: BTreeMap<String, Value>,
    /// What an exported pack of evidence looks like.
    pub pack: Pack,
    /// What is published about bounds.
    pub limits: Limits,
    /// The commands by the standard's names, and some more that scenarios need.
    pub commands: BTreeMap<String, Command>,
    /// Which agent plays which part. A scenario that needs a part that nobody plays is not applicable.
    #[serde(default)]
    pub agents: BTreeMap<String, String>,
    /// What to say so that an agent does something, by what it is to do.
    #[serde(default)]
    pub prompts: BTreeMap<String, String>,
    /// Other values that templates may name.
    #[serde(default)]
    pub values: BTreeMap<String, Value>,
}

/// One command.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// The method.
    pub method: String,
    /// Its parameters, with places to fill.
    #[serde(default)]
    pub params: Value,
    /// What of its result has which name, by JSON pointers in which `*` means each of a list.
    #[serde(default)]
    pub result: BTreeMap<String, String>,
}

/// Server-sent events.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// The path and query of a session's events, with `{sessionId}` and `{projection}`. What comes next is added to it.
    pub path: String,
    /// From the first event on.
    pub from_start: String,
    /// The snapshot first, and what follows it.
    pub with_snapshot: String,
    /// From a place that is gone, with `{cursor}`, asking for a repair.
    pub stale: String,
    /// The public form of the standard, as `projection`.
    pub public: String,
    /// The strict form.
    pub strict: String,
    /// Further snapshots of a session, as `projection`, that are in the public form.
    #[serde(default)]
    pub snapshots: Vec<String>,
    /// The name of the notification that carries an event.
    pub entry: String,
    /// Where in it the event stands.
    pub event: String,
    /// The name of what comes first.
    pub begin: String,
    /// Where in that a snapshot stands, if one was asked for.
    pub snapshot: String,
    /// Where in that the sequence stands up to which the snapshot goes.
    pub through: String,
    /// The name of the notification that says that a place was gone.
    pub repaired: String,
    /// Where in that the word stands.
    pub repaired_at: String,
    /// Which word it is.
    pub repaired_word: String,
}

/// A pack of evidence.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pack {
    /// Where in the answer the files stand: a list of objects.
    pub files: String,
    /// Where in a file its path stands.
    pub path: String,
    /// Where in a file its bytes stand, in base64.
    pub data: String,
    /// Where in the answer the files' digests stand, with `path` and `digest`; SHA-256, hexadecimal.
    pub digests: String,
    /// The path of the file that describes the pack.
    pub manifest: String,
    /// Where in that the kinds of signals stand, with `name` and `status`.
    pub signals: String,
    /// Where in that the correlation stands.
    pub correlation: String,
    /// Where in that what is known to be missing stands.
    pub gaps: String,
    /// What the timeline is called among the signals, and the others that must have a status.
    pub names: Vec<String>,
}

/// What is published about bounds.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// No event has more bytes, as JSON.
    pub event_bytes: usize,
}

/// What the one who set the implementation up says beside its mapping: who plays which part this time.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fixture {
    #[serde(default)]
    agents: BTreeMap<String, String>,
    #[serde(default)]
    prompts: BTreeMap<String, String>,
    #[serde(default)]
    values: BTreeMap<String, Value>,
}

impl Mapping {
    /// EdgePlane's, or the one in a file, with what a fixture says over it.
    ///
    /// # Errors
    /// If a file cannot be read or is no mapping.
    pub fn load(file: Option<&Path>, fixture: Option<&Path>) -> Result<Self, MappingError> {
        let (path, text) = match file {
            Some(file) => (file.display().to_string(), read(file)?),
            None => ("mapping/edgeplane.toml".to_owned(), EDGEPLANE.to_owned()),
        };
        let mut mapping: Self =
            toml::from_str(&text).map_err(|source| MappingError::Parse { path, source })?;
        if let Some(fixture) = fixture {
            let said: Fixture = toml::from_str(&read(fixture)?)
                .map_err(|source| MappingError::Parse { path: fixture.display().to_string(), source })?;
            mapping.agents.extend(said.agents);
            mapping.prompts.extend(said.prompts);
            mapping.values.extend(said.values);
        }
        Ok(mapping)
    }
}

fn read(path: &Path) -> Result<String, MappingError> {
    std::fs::read_to_string(path)
        .map_err(|source| MappingError::Read { path: path.display().to_string(), source })
}

#[cfg(test)]
mod tests {
    use super::Mapping;
    use crate::scenarios::COMMANDS;

    #[test]
    fn the_own_mapping_is_one_and_names_every_command_of_the_standard() {
        let mapping = Mapping::load(None, None).unwrap();
        let missing: Vec<_> =
            COMMANDS.iter().filter(|command| !mapping.commands.contains_key(**command)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        assert_eq!(COMMANDS.len(), 47);
    }
}
