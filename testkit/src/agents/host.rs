//! A node with one real program as its agent, and the model that it talks to.

use std::path::{Path, PathBuf};

use edgeplane_types::DeliveryMode;
use serde_json::{Map, Value, json};

use super::Launch;
use crate::{
    Node,
    model::{ModelServer, Script},
    wait::{AGENT_PATIENCE, eventually_within},
    words,
};

/// The agent's name.
const NAME: &str = "coder";

impl Launch {
    /// The manifest of an agent with this program and exactly its environment; `spec` is the rest of it.
    #[must_use]
    pub fn manifest(&self, name: &str, mut spec: Value) -> String {
        let env: Map<String, Value> =
            self.env.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        spec["command"] = json!(self.argv);
        spec["env"] = json!(env);
        let manifest = json!({ "apiVersion": "edgeplane.dev/v1alpha1", "kind": "Agent",
                               "metadata": { "name": name }, "spec": spec });
        manifest.to_string()
    }
}

/// A node with the agent `coder`.
#[derive(Debug)]
pub struct Host {
    /// The node.
    pub node: Node,
    /// The model.
    pub server: ModelServer,
    /// The agent's folder.
    pub work: PathBuf,
}

impl Host {
    /// Starts all of it. `launch` is given HOME and the model's port, `driver` is the manifest's.
    #[must_use]
    pub fn start(launch: impl FnOnce(&Path, u16) -> Launch, driver: &Value, script: Script) -> Self {
        let node = Node::start();
        let server = ModelServer::start(script);
        let (home, work) = (node.scratch().join("home"), node.scratch().join("work"));
        for folder in [&home, &work] {
            std::fs::create_dir_all(folder).expect("a folder for the program");
        }
        let spec = json!({ "cwd": work, "stop": { "grace": "2s" }, "driver": driver,
                           "restart": { "backoff": { "initial": "10ms" } } });
        node.apply(&launch(&home, server.port()).manifest(NAME, spec));
        Self { node, server, work }
    }

    /// Sends it a message; gives its id.
    #[must_use]
    pub fn signal(&self, text: &str) -> String {
        self.node.signal_with(&words(NAME, text, DeliveryMode::Queue))
    }

    /// The payloads of its events of a kind.
    #[must_use]
    pub fn facts(&self, kind: &str) -> Vec<Value> {
        self.node.facts(NAME, kind)
    }

    /// The end of a message's turn.
    #[must_use]
    pub fn turn(&self, message: &str) -> Value {
        self.node.turn(NAME, message, AGENT_PATIENCE)
    }

    /// Waits as long as a real program may take.
    ///
    /// # Panics
    /// If it was not enough.
    pub fn soon(&self, what: &str, condition: impl FnMut() -> bool) {
        eventually_within(AGENT_PATIENCE, what, condition);
    }

    /// How often the model was asked this, as the whole text that a session is shown.
    #[must_use]
    pub fn asked(&self, text: &str) -> usize {
        let end = format!(" on signal]\n{text}");
        self.server.received_prompts().iter().filter(|prompt| prompt.ends_with(&end)).count()
    }

    /// Whether the model was shown `before` when it was last asked `text`.
    #[must_use]
    pub fn was_shown(&self, text: &str, before: &str) -> bool {
        let requests = self.server.requests();
        let last = requests.iter().rfind(|request| request.body.to_string().contains(text));
        last.is_some_and(|request| request.body.to_string().contains(before))
    }
}
