//! What a node has written down, read back over its socket.

use edgeplane_types::Epoch;
use edgeplane_wire::{
    api::{
        agent::{AgentView, ChangeParams, ChangeResult, ListParams},
        memory::{EntriesResult, KeyParams, KeysParams},
        message::{InboxParams, MessageView},
        stream::{EventView, ReplayParams, Target},
        terminal::{RecordingItem, RecordingParams},
    },
    base64,
    catalogue::{AgentList, Call, InboxList, MemoryHistory, MemoryList, RecordingRead, StreamReplay},
    rpc::RpcError,
};

use crate::{Node, signals};

/// Events that are asked for at a time.
const PAGE_EVENTS: u32 = 5_000;

/// Messages that are asked for at most.
const INBOX_MESSAGES_MAX: u32 = 10_000;

impl Node {
    /// Asks for a change of an agent's life, such as `AgentFreeze`.
    ///
    /// # Errors
    /// What the node answers.
    pub fn change<C>(&self, agent: &str) -> Result<ChangeResult, RpcError>
    where
        C: Call<Params = ChangeParams, Result = ChangeResult>,
    {
        self.connect().try_call::<C>(&ChangeParams { agent: agent.into(), reason: None })
    }

    /// Every agent, by name.
    #[must_use]
    pub fn list(&self) -> Vec<AgentView> {
        self.connect().call::<AgentList>(&ListParams::default()).items
    }

    /// Kills the daemon, every shim and every process of every agent, all at once: what a reboot does to them.
    ///
    /// # Panics
    /// If one does not end.
    pub fn kill_everything(&mut self) {
        let mut pids = vec![self.daemon_pid()];
        for agent in self.list() {
            let Some(shim) = agent.status.identities.process.shim else { continue };
            pids.push(shim.pid);
            pids.extend(edgeplane_os::proc::descendants(shim.pid).unwrap_or_default());
        }
        for pid in &pids {
            signals::send(*pid, edgeplane_os::Signal::KILL);
        }
        self.kill_daemon();
        signals::kill(&pids);
    }

    /// Every event of these types, oldest first; of the whole node with an empty name, of any type with none.
    #[must_use]
    pub fn events(&self, agent: &str, types: &[&str]) -> Vec<EventView> {
        self.events_by(ReplayParams {
            target: if agent.is_empty() { Target::node() } else { Target::agent(agent) },
            types: types.iter().map(|kind| (*kind).to_owned()).collect(),
            limit: Some(PAGE_EVENTS),
            ..ReplayParams::default()
        })
    }

    /// Every event that these parameters ask for, page by page.
    #[must_use]
    pub fn events_by(&self, mut params: ReplayParams) -> Vec<EventView> {
        let mut connection = self.connect();
        let mut all = Vec::new();
        loop {
            let page = connection.call::<StreamReplay>(&params);
            let (next, end) = (page.next, page.end);
            all.extend(page.events());
            if end {
                return all;
            }
            params.after = Some(next);
        }
    }

    /// Everything that an epoch's recording holds; of the newest one if none is named.
    #[must_use]
    pub fn recording(&self, agent: &str, epoch: Option<Epoch>) -> Vec<RecordingItem> {
        let mut connection = self.connect();
        let mut all = Vec::new();
        let mut params =
            RecordingParams { agent: agent.into(), epoch, offset: 0, last_bytes: None, limit_bytes: None };
        loop {
            let page = connection.call::<RecordingRead>(&params);
            all.extend(page.items);
            if page.end {
                return all;
            }
            params.offset = page.next;
        }
    }

    /// The output in an epoch's recording, checked to lie gapless from its first byte on.
    ///
    /// # Panics
    /// If a byte is missing or there twice.
    #[must_use]
    pub fn output(&self, agent: &str, epoch: Option<Epoch>) -> Vec<u8> {
        let mut output: Vec<u8> = Vec::new();
        for item in self.recording(agent, epoch) {
            assert_eq!(usize::try_from(item.offset), Ok(output.len()), "{agent}: {item:?} is out of place");
            if matches!(item.code, 'o' | 'e') {
                output.extend(base64::decode(&item.data).expect("output is base64"));
            }
        }
        output
    }

    /// An agent's messages, also those that no longer wait.
    #[must_use]
    pub fn inbox(&self, agent: &str) -> Vec<MessageView> {
        let params = InboxParams { agent: agent.into(), all: true, limit: INBOX_MESSAGES_MAX };
        self.connect().call::<InboxList>(&params).items
    }

    /// The keys of an agent's memory.
    #[must_use]
    pub fn memory(&self, agent: &str) -> EntriesResult {
        self.connect().call::<MemoryList>(&KeysParams { agent: Some(agent.into()), prefix: None })
    }

    /// The versions of a key of an agent's memory; none if it was never written.
    #[must_use]
    pub fn versions(&self, agent: &str, key: &str) -> EntriesResult {
        let params = KeyParams { agent: Some(agent.into()), key: key.into() };
        let none = EntriesResult { items: Vec::new() };
        self.connect().try_call::<MemoryHistory>(&params).unwrap_or(none)
    }
}
