//! What the agent takes, gives, offers and needs.

use edgeplane_types::SafeLabel;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::{
    model::yes,
    words::{EnvName, FilePath, MediaType},
};

/// One thing that goes into a turn or comes out of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Port {
    /// Its name, unique among the agent's inputs or outputs.
    pub name: SafeLabel,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 8192))]
    pub description: Option<String>,
    /// Its media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<MediaType>,
    /// A JSON Schema for its value. Numbers in it must be whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<InterfaceSchema>,
    /// Whether a turn has it always.
    #[serde(default)]
    pub required: bool,
}

/// A JSON Schema, kept as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InterfaceSchema(pub serde_json::Value);

impl JsonSchema for InterfaceSchema {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "InterfaceSchema".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["object", "boolean"], "description": "a JSON Schema: a mapping, `true` or `false`" })
    }
}

/// Something the agent is good at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Skill {
    /// Its short name, unique in the agent.
    pub id: SafeLabel,
    /// Its name for people. Left out: the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub name: Option<String>,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 8192))]
    pub description: Option<String>,
    /// Requests that it answers well.
    #[serde(default)]
    pub examples: Vec<String>,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<SafeLabel>,
}

/// A secret value by reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Secret {
    /// Its name, unique in the agent, by which `env` speaks of it.
    pub name: SafeLabel,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 8192))]
    pub description: Option<String>,
    /// Where the node finds the value when the agent starts.
    pub from: SecretSource,
    /// In which form the program gets it.
    #[serde(default = "SecretForm::standard", rename = "as")]
    pub form: SecretForm,
    /// Whether the agent may not start without it.
    #[serde(default = "yes")]
    pub required: bool,
}

/// Where the node finds a secret's value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum SecretSource {
    /// In this file, less one line break at its end.
    File(FilePath),
    /// In this variable of the daemon's environment.
    Env(EnvName),
}

/// In which form the program gets a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SecretForm {
    /// A file that only it can read; the variable holds the file's path.
    File,
    /// An open descriptor; the variable holds its number.
    Fd,
    /// The variable holds the value: every process of the agent can read it there.
    Env,
}

impl SecretForm {
    /// What holds unless a manifest says otherwise: a file.
    #[must_use]
    pub const fn standard() -> Self {
        Self::File
    }
}

/// What the program can do beyond taking messages and answering. It is the manifest's word, not yet tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "four capabilities that are independent of each other")]
pub struct Offers {
    /// It keeps several conversations apart.
    #[serde(default)]
    pub sessions: bool,
    /// It can be interrupted in a turn.
    #[serde(default)]
    pub interruption: bool,
    /// It answers piece by piece.
    #[serde(default)]
    pub streaming: bool,
    /// It can continue its own session after a restart.
    #[serde(default)]
    pub resume: bool,
    /// It wants to know beforehand when its epoch ends, and says when it is ready. For the native driver.
    #[serde(default)]
    pub closing: bool,
}

impl Offers {
    /// Nothing beyond messages and answers.
    #[must_use]
    pub const fn none() -> Self {
        Self { sessions: false, interruption: false, streaming: false, resume: false, closing: false }
    }
}

/// What must be there for the agent to work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Needs {
    /// Models, the preferred one first.
    #[serde(default)]
    pub models: Vec<String>,
    /// MCP servers, by the names that its own configuration gives them.
    #[serde(default)]
    pub mcp_servers: Vec<String>,
    /// Other services, such as a database.
    #[serde(default)]
    pub services: Vec<String>,
    /// Variables that its environment must have. Each stands also in `env` or in `inheritEnv`.
    #[serde(default)]
    pub env: Vec<NeededVariable>,
}

impl Needs {
    /// Nothing.
    #[must_use]
    pub const fn none() -> Self {
        Self { models: Vec::new(), mcp_servers: Vec::new(), services: Vec::new(), env: Vec::new() }
    }
}

/// A variable that the agent's environment must have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NeededVariable {
    /// Its name.
    pub name: EnvName,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 8192))]
    pub description: Option<String>,
    /// Whether the agent may not start without it.
    #[serde(default = "yes")]
    pub required: bool,
}
