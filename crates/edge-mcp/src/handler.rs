//! The server as the kit of the protocol sees it: which requests there are, and which module answers each.
//!
//! Both generations are served by the same code: `initialize` with its subscriptions of a session, and the one without a
//! handshake whose subscriptions are a request that stays open.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use edgeplane_driver::notice::NOTICE;
use edgeplane_types::ErrorName;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CompletionInfo,
        GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ProgressNotificationParam, ProgressToken, ProtocolVersion, ReadResourceRequestParams,
        ReadResourceResponse, Reference, ResourceUpdatedNotificationParam, ServerCapabilities, ServerConfig,
        SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
    },
    service::{Peer, RequestContext, SubscriptionContext},
};
use serde_json::Value;
use tokio::task::JoinHandle;

use crate::{failure::Failure, link::Link, prompts, resources, tools, watch};

/// The revisions that are served. Older ones have no structured results, without which no tool here makes sense.
const VERSIONS: [ProtocolVersion; 3] =
    [ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];

/// How often a caller that asks for it is told that a tool still waits: often enough for those that give up on silence.
const PROGRESS_EVERY: Duration = Duration::from_secs(2);

/// One server: for a program on standard streams, for a session, or for one request.
#[derive(Debug)]
pub(crate) struct Handler {
    link: Arc<Link>,
    followed: Arc<Mutex<BTreeSet<String>>>,
    follower: Mutex<Option<JoinHandle<()>>>,
}

impl Drop for Handler {
    fn drop(&mut self) {
        if let Some(follower) = self.follower.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            follower.abort();
        }
    }
}

impl Handler {
    pub(crate) fn new(link: Arc<Link>) -> Self {
        Self { link, followed: Arc::default(), follower: Mutex::new(None) }
    }

    /// Tells the peer of a session what changed, as long as there is somebody to be told.
    async fn follow(&self, peer: Peer<RoleServer>) -> Result<(), Failure> {
        let mut changes = self.link.watch().await?;
        let (link, followed) = (Arc::clone(&self.link), Arc::clone(&self.followed));
        let mut follower = self.follower.lock().unwrap_or_else(PoisonError::into_inner);
        if follower.as_ref().is_some_and(|follower| !follower.is_finished()) {
            return Ok(());
        }
        *follower = Some(tokio::spawn(async move {
            loop {
                // Looked at anew for each change: the session may follow more by now, or less.
                let all = followed.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let Some(touched) = watch::changed(&link, &mut changes, &all).await else { return };
                let now = followed.lock().unwrap_or_else(PoisonError::into_inner).clone();
                for uri in touched.into_iter().filter(|uri| now.contains(uri)) {
                    let params = ResourceUpdatedNotificationParam::new(uri);
                    if peer.notify_resource_updated(params).await.is_err() {
                        return;
                    }
                }
            }
        }));
        Ok(())
    }
}

/// Tells whoever wants to know that a tool is still waited for, as long as it is. It ends only if nobody can be told.
async fn tell_waiting(peer: &Peer<RoleServer>, token: Option<ProgressToken>, tool: &str) {
    let Some(token) = token else { return std::future::pending().await };
    let tool: String = tool.chars().take(80).collect();
    let begun = tokio::time::Instant::now();
    loop {
        tokio::time::sleep(PROGRESS_EVERY).await;
        let seconds = begun.elapsed().as_secs_f64();
        let message = format!("`{tool}` has been waiting for {seconds:.0} s");
        let progress = ProgressNotificationParam::new(token.clone(), seconds).with_message(message);
        if peer.notify_progress(progress).await.is_err() {
            return;
        }
    }
}

fn unknown_resource(uri: &str) -> ErrorData {
    let shown: String = uri.chars().take(120).collect();
    Failure::new(ErrorName::NotFound, format!("no resource `{shown}`")).into_protocol()
}

impl ServerHandler for Handler {
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&VERSIONS)
    }

    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_completions()
            .enable_resources()
            .enable_resources_subscribe()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("edgeplane", env!("CARGO_PKG_VERSION"))
                    .with_title("EdgePlane")
                    .with_description(
                        "The node that this agent lives on: its peers, messages, memory, people",
                    ),
            )
            .with_instructions(NOTICE)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::list().to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::list().iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        // Both arms can be given up: the node carries out what it was asked, and says what became of it when asked.
        let token = context.meta.get_progress_token();
        let trace = context.meta.get_traceparent().map(str::to_owned);
        let call = Box::pin(tools::call(&self.link, &request.name, arguments));
        let called = tokio::select! {
            () = context.ct.cancelled() => {
                return Err(ErrorData::internal_error("cancelled", None));
            }
            () = tell_waiting(&context.peer, token, &request.name) => {
                return Err(ErrorData::internal_error("whoever called is gone", None));
            }
            called = edgeplane_client::traced(trace, call) => called,
        };
        let Some(result) = called else {
            let shown: String = request.name.chars().take(80).collect();
            return Err(ErrorData::invalid_params(format!("no tool `{shown}`"), None));
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let open = self.link.open().await.map_err(|error| Failure::from(error).into_protocol())?;
        // Who is no agent has nothing of its own; messages it finds by their addresses.
        let items = if open.own_id().is_some() { resources::list() } else { Vec::new() };
        Ok(ListResourcesResult::with_all_items(items))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let result = resources::read(&self.link, &request.uri).await;
        result.map(Into::into).map_err(Failure::into_protocol)
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let wanted = requested.resource_subscriptions.iter().flatten();
        let ours = wanted.filter(|uri| resources::Address::parse(uri).is_some()).take(watch::RESOURCES_MAX);
        let ours: Vec<String> = ours.cloned().collect();
        let filter = SubscriptionFilter::builder();
        Some(if ours.is_empty() { filter.build() } else { filter.resource_subscriptions(ours).build() })
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let accepted = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        let followed: BTreeSet<String> = accepted.into_iter().collect();
        let mut changes = self.link.watch().await.map_err(|error| Failure::from(error).into_protocol())?;
        // The kit has acknowledged before it let us listen: what came in between was told to nobody.
        let mut touched = Some(followed.iter().cloned().collect());
        loop {
            for uri in touched.into_iter().flatten() {
                let told: Result<(), _> = context.sink().notify_resource_updated(uri).await;
                if told.is_err() {
                    return Ok(());
                }
            }
            // Losing the race loses nothing that anybody still waits for.
            touched = tokio::select! {
                () = context.cancelled() => return Ok(()),
                touched = watch::changed(&self.link, &mut changes, &followed) => touched,
            };
            if touched.is_none() {
                return Ok(());
            }
        }
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if resources::Address::parse(&request.uri).is_none() {
            return Err(unknown_resource(&request.uri));
        }
        let is_full = {
            let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
            let is_full = followed.len() >= watch::RESOURCES_MAX && !followed.contains(&request.uri);
            if !is_full {
                followed.insert(request.uri.clone());
            }
            is_full
        };
        if is_full {
            let what = format!("at most {} resources are followed in a session", watch::RESOURCES_MAX);
            return Err(Failure::new(ErrorName::InvalidParams, what).into_protocol());
        }
        self.follow(context.peer).await.map_err(Failure::into_protocol)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner).remove(&request.uri);
        Ok(())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        prompts::get(&request.name, &arguments).map(Into::into).map_err(Failure::into_protocol)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let Reference::Prompt(prompt) = &request.r#ref else { return Ok(CompleteResult::default()) };
        let argument = &request.argument;
        let values = prompts::complete(&self.link, &prompt.name, &argument.name, &argument.value).await;
        let values = values.map_err(Failure::into_protocol)?;
        let info = CompletionInfo::new(values).map_err(|error| ErrorData::internal_error(error, None))?;
        Ok(CompleteResult::new(info))
    }
}
