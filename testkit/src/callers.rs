//! Messages from others than the operator: from an agent, and from one of whom nothing is proven.

use edgeplane_types::{DeliveryMode, Part, Priority};
use edgeplane_wire::{api::message::SignalParams, catalogue::AgentSignal};

use crate::{Node, terminal, wait::eventually};

/// Asks for one method at a socket, and is gone.
const ASK: &str = r#"
import json, os, socket, sys
talk = socket.socket(socket.AF_UNIX)
talk.connect(sys.argv[1] or os.environ["EDGEPLANE_SOCKET"])
line = {"jsonrpc": "2.0", "id": 1, "method": "runtime/agent.signal", "params": json.loads(sys.argv[2])}
talk.sendall((json.dumps(line) + "\n").encode())
assert "result" in json.loads(talk.makefile("rb").readline())
"#;

/// A message with nothing but a text and a mode.
#[must_use]
pub fn words(agent: &str, text: &str, mode: DeliveryMode) -> SignalParams {
    SignalParams {
        agent: agent.to_owned(),
        parts: vec![Part::Text { text: text.to_owned() }],
        mode,
        priority: Priority::Normal,
        expires_in_ms: None,
        idempotency_key: None,
        reply_to: None,
        causation: None,
        on_behalf_of: Vec::new(),
        authority: None,
        display_name: None,
        wait: None,
        timeout_ms: None,
    }
}

impl Node {
    /// Sends a message as the operator; gives its id.
    ///
    /// # Panics
    /// If it is not taken.
    pub fn signal_with(&self, params: &SignalParams) -> String {
        self.connect().call::<AgentSignal>(params).message_id.to_string()
    }

    /// Sends a message as an agent, which is started for it.
    ///
    /// # Panics
    /// If it is not taken.
    pub fn signal_as_peer(&self, peer: &str, params: &SignalParams) {
        let params = serde_json::to_string(params).expect("parameters are JSON");
        let before = self.inbox_of(&params);
        self.run(peer, &terminal(peer, &["python3", "-c", ASK, "", &params], "restart: { policy: never }"));
        eventually("the peer has spoken", || self.inbox_of(&params) > before);
    }

    fn inbox_of(&self, params: &str) -> usize {
        let params: SignalParams = serde_json::from_str(params).expect("they were written here");
        self.inbox(&params.agent).len()
    }

    /// Sends a message as somebody of whom nothing is proven: a hook, which the daemon started itself.
    ///
    /// # Panics
    /// If it is not taken.
    pub fn signal_unproven(&self, stranger: &str, params: &SignalParams) {
        let params = serde_json::to_string(params).expect("parameters are JSON");
        let socket = self.socket().to_string_lossy().into_owned();
        let command = serde_json::json!(["python3", "-c", ASK, socket, params]);
        let hooks = format!("hooks: {{ postStart: {{ command: {command}, timeout: 20s }} }}");
        self.run(stranger, &terminal(stranger, &["/bin/cat"], &hooks));
        eventually("the stranger has spoken", || self.count(stranger, "agent.hook_ran") == 1);
        let history = self.history(stranger);
        let ran = history.iter().find(|event| event.event["type"] == "agent.hook_ran").expect("it ran");
        assert_eq!(ran.event["payload"]["status"], serde_json::json!({ "code": 0 }), "{ran:?}");
    }
}
