//! What a server asks of us and tells us. It is given no model and no folder; an answer of a person only where it may ask.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use rmcp::{
    ClientHandler, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
        ElicitationCapability, ErrorData, FormElicitationCapability, Implementation,
        ProgressNotificationParam, ProgressToken, ProtocolVersion,
    },
    service::{NotificationContext, RequestContext},
};
use tokio::sync::watch;

use crate::{Asking, failure::said, questions::Askers};

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
pub(crate) struct Watchers(Arc<Mutex<HashMap<ProgressToken, watch::Sender<Option<Progress>>>>>);

impl Watchers {
    /// Says what was told of a call last: whoever does not keep up misses what was before it.
    pub(crate) fn watch(&self, token: ProgressToken) -> watch::Receiver<Option<Progress>> {
        let (sender, receiver) = watch::channel(None);
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
        watcher.send_replace(Some(Progress { progress: param.progress, total: param.total, message }));
    }
}

/// Hears a server.
#[derive(Debug, Clone)]
pub(crate) struct Handler {
    pub(crate) watchers: Watchers,
    /// Grows whenever the server says that it offers something else now.
    pub(crate) changes: watch::Sender<u64>,
    /// Whether the server may ask people, and whom it asks.
    pub(crate) asking: Asking,
    pub(crate) askers: Askers,
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

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(match self.asking {
            Asking::Declined => ElicitResult::new(ElicitationAction::Decline),
            Asking::Form => self.askers.ask(request).await,
        })
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
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = match self.asking {
            Asking::Declined => None,
            Asking::Form => Some(ElicitationCapability::new().with_form(FormElicitationCapability::new())),
        };
        ClientConfig::new(capabilities, ours).with_protocol_version(ProtocolVersion::V_2025_11_25)
    }
}
