//! What a server asks of us and tells us. It is given nothing: no model, no folder, no answer of a person.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use rmcp::{
    ClientHandler, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam, ProgressToken,
        ProtocolVersion,
    },
    service::NotificationContext,
};
use tokio::sync::{mpsc, watch};

use crate::{failure::said, limits::PROGRESS_MAX};

/// How far a call is.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// How far.
    pub progress: f64,
    /// Of how much, if the server says.
    pub total: Option<f64>,
    /// What the server says of it, cut and cleaned.
    pub message: Option<String>,
}

/// Who wants to know of progress, by the token of their call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watchers(Arc<Mutex<HashMap<ProgressToken, mpsc::Sender<Progress>>>>);

impl Watchers {
    /// Says what is told of a call, until the receiver is dropped.
    pub(crate) fn watch(&self, token: ProgressToken) -> mpsc::Receiver<Progress> {
        let (sender, receiver) = mpsc::channel(PROGRESS_MAX);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(token, sender);
        receiver
    }

    pub(crate) fn forget(&self, token: &ProgressToken) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(token);
    }

    fn tell(&self, param: &ProgressNotificationParam) {
        let watchers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(watcher) = watchers.get(&param.progress_token) else { return };
        let message = param.message.as_deref().map(said);
        // Whoever does not keep up misses some of it: the next says how far it is.
        drop(watcher.try_send(Progress { progress: param.progress, total: param.total, message }));
    }
}

/// Hears a server.
#[derive(Debug, Clone)]
pub(crate) struct Handler {
    pub(crate) watchers: Watchers,
    /// Grows whenever the server says that it offers something else now.
    pub(crate) changes: watch::Sender<u64>,
}

impl Handler {
    fn changed(&self) {
        self.changes.send_modify(|changes| *changes = changes.wrapping_add(1));
    }
}

impl ClientHandler for Handler {
    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.watchers.tell(&params);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed();
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed();
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed();
    }

    fn get_info(&self) -> ClientConfig {
        let ours = Implementation::new("edgeplane", env!("CARGO_PKG_VERSION"));
        // The newer form is asked for apart; this is what the older one begins with.
        ClientConfig::new(ClientCapabilities::default(), ours)
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
    }
}
