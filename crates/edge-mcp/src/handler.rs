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
        CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
        CompletionInfo, GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, MetaObject,
        PaginatedRequestParams, ProgressNotificationParam, ProgressToken, ProtocolVersion,
        ReadResourceRequestParams, ReadResourceResponse, Reference, ResourceUpdatedNotificationParam,
        ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
        UnsubscribeRequestParams,
    },
    service::{Peer, RequestContext, SubscriptionContext},
};
use serde_json::{Value, json};
use tokio::{sync::broadcast::Receiver, task::JoinHandle};

use crate::{
    capabilities::{self, Calling, Capabilities, Given, Part, Shown},
    failure::Failure,
    link::{Change, Link},
    prompts, resources, tools, watch,
};

/// The revisions that are served. Older ones have no structured results, without which no tool here makes sense.
const VERSIONS: [ProtocolVersion; 3] =
    [ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];

/// How often a caller that asks for it is told that a tool still waits: often enough for those that give up on silence.
const PROGRESS_EVERY: Duration = Duration::from_secs(2);

/// Where the metadata of a list of tools say what was left out of it, and why.
const LEFT_OUT: &str = "dev.edgeplane/left_out";

/// One server: for a program on standard streams, for a session, or for one request.
#[derive(Debug)]
pub(crate) struct Handler {
    link: Arc<Link>,
    capabilities: Arc<Capabilities>,
    /// What this session was shown; others of the same caller may have been shown something else.
    shown: Shown,
    /// The digest of the list that this session was told of last.
    told: Arc<Mutex<Option<String>>>,
    followed: Arc<Mutex<BTreeSet<String>>>,
    follower: Mutex<Option<JoinHandle<()>>>,
    teller: Mutex<Option<JoinHandle<()>>>,
}

impl Drop for Handler {
    fn drop(&mut self) {
        for task in [&mut self.follower, &mut self.teller] {
            if let Some(task) = task.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
                task.abort();
            }
        }
    }
}

impl Handler {
    pub(crate) fn new(link: Arc<Link>, capabilities: Arc<Capabilities>) -> Self {
        Self {
            link,
            capabilities,
            shown: Shown::default(),
            told: Arc::default(),
            followed: Arc::default(),
            follower: Mutex::new(None),
            teller: Mutex::new(None),
        }
    }

    /// Tells the peer of a session that the list of tools is another one, as long as there is somebody to be told.
    fn tell_of_tools(&self, peer: Peer<RoleServer>) {
        let mut teller = self.teller.lock().unwrap_or_else(PoisonError::into_inner);
        if teller.as_ref().is_some_and(|teller| !teller.is_finished()) {
            return;
        }
        let (mut current, told) = (self.capabilities.follow(), Arc::clone(&self.told));
        *teller = Some(tokio::spawn(async move {
            loop {
                let seen = current.borrow_and_update().clone();
                let is_other = seen.is_some() && {
                    let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                    let is_other = *told != seen;
                    *told = seen;
                    is_other
                };
                if is_other && peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
                if current.changed().await.is_err() {
                    return;
                }
            }
        }));
    }

    /// Calls what is no tool of the node itself.
    async fn call_capability(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let known = match self.capabilities.find(&self.shown, &request.name).await {
            Ok(Some(known)) => known,
            Ok(None) => {
                return Err(no_tool(&request.name));
            }
            Err(failure) => return Ok(failure.into_result()),
        };
        let peer = is_session(&context).then(|| context.peer.clone());
        let calling = Calling {
            known,
            arguments: request.arguments.unwrap_or_default(),
            given: Given::of(&context.meta),
            trace: context.meta.get_traceparent().map(str::to_owned),
            token: context.meta.get_progress_token(),
            peer: context.peer,
            cancelled: context.ct,
        };
        let failure = match Box::pin(capabilities::call(&self.link, calling)).await {
            Ok(result) => return Ok(result),
            Err(failure) => failure,
        };
        match failure.name {
            ErrorName::Cancelled => Err(ErrorData::internal_error("cancelled", None)),
            ErrorName::VersionConflict | ErrorName::NotFound => {
                self.capabilities.look_again();
                if let Some(peer) = peer {
                    // Whoever is gone needs no list.
                    drop(peer.notify_tool_list_changed().await);
                }
                let hint = match failure.name {
                    ErrorName::VersionConflict => {
                        "the tool has changed since it was listed: list the tools again, and look at it"
                    }
                    _ => "if it is the tool that is gone, list the tools again",
                };
                Ok(failure.hint(hint).into_result())
            }
            _ => Ok(failure.into_result()),
        }
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

/// Whether a request is of a session, whose peer is told what changes.
fn is_session(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version.as_str() < ProtocolVersion::V_2026_07_28.as_str())
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

/// What a request that stays open is told next.
struct Touched {
    uris: Vec<String>,
    tools: bool,
}

/// What such a request follows of the list of tools, and the list that it was told of last.
struct Tools {
    current: tokio::sync::watch::Receiver<Option<String>>,
    told: Option<String>,
}

async fn resources_changed(
    link: &Arc<Link>,
    changes: &mut Option<Receiver<Change>>,
    followed: &BTreeSet<String>,
) -> Option<Vec<String>> {
    match changes {
        Some(changes) => watch::changed(link, changes, followed).await,
        None => std::future::pending().await,
    }
}

/// Waits until the list is another one; false once that will not be told any more. Cancel-safe: what is seen is kept.
async fn tools_changed(tools: &mut Option<Tools>) -> bool {
    let Some(tools) = tools else { return std::future::pending().await };
    loop {
        let seen = tools.current.borrow_and_update().clone();
        if seen.is_some() && tools.told != seen {
            // The first that is seen is what whoever listed nothing was told of at the beginning.
            let is_first = tools.told.is_none();
            tools.told = seen;
            if !is_first {
                return true;
            }
        }
        if tools.current.changed().await.is_err() {
            return false;
        }
    }
}

fn no_tool(name: &str) -> ErrorData {
    let shown: String = name.chars().take(80).collect();
    ErrorData::invalid_params(format!("no tool `{shown}`"), None)
}

/// A page of the list of tools, with what was left out of it.
fn listed(mut tools: Vec<Tool>, part: Part) -> ListToolsResult {
    tools.extend(part.tools);
    let mut result = ListToolsResult::with_all_items(tools);
    result.next_cursor = part.next;
    if !part.left_out.is_empty() {
        let mut meta = MetaObject::default();
        meta.insert(LEFT_OUT.to_owned(), json!(part.left_out));
        result.meta = Some(meta);
    }
    result
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
            .enable_tool_list_changed()
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
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let part = self.capabilities.part(&self.shown, cursor.as_deref()).await;
        if cursor.is_some() {
            return part.map(|part| listed(Vec::new(), part)).map_err(Failure::into_protocol);
        }
        // The node's own tools are there whatever becomes of the others; when those come, it is told.
        let part = part.unwrap_or_else(|failure| {
            tracing::warn!(error = failure.message, "capabilities cannot be listed");
            let left_out = vec![format!("the capabilities of the node: {}", failure.message)];
            Part { left_out, ..Part::default() }
        });
        if self.capabilities.are_wanted() && is_session(&context) {
            let digest = part.digest.clone().unwrap_or_default();
            *self.told.lock().unwrap_or_else(PoisonError::into_inner) = Some(digest);
            self.tell_of_tools(context.peer);
        }
        Ok(listed(tools::list().to_vec(), part))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::list().iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.get_tool(&request.name).is_none() {
            return Box::pin(self.call_capability(request, context)).await.map(Into::into);
        }
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
            called = edgeplane_client::traced(trace, call) => called.ok_or_else(|| no_tool(&request.name))?,
        };
        Ok(called.into())
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
        let mut filter = SubscriptionFilter::builder();
        if !ours.is_empty() {
            filter = filter.resource_subscriptions(ours);
        }
        if requested.tools_list_changed == Some(true) && self.capabilities.are_wanted() {
            filter = filter.tools_list_changed();
        }
        Some(filter.build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let accepted = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        let followed: BTreeSet<String> = accepted.into_iter().collect();
        let mut changes = match followed.is_empty() {
            true => None,
            false => Some(self.link.watch().await.map_err(|error| Failure::from(error).into_protocol())?),
        };
        let mut tools = context.accepted().tools_list_changed.map(|_| {
            let told = self.capabilities.last_listed();
            Tools { current: self.capabilities.follow(), told }
        });
        // The kit has acknowledged before it let us listen: what came in between was told to nobody.
        let is_unlisted = tools.as_ref().is_some_and(|tools| tools.told.is_none());
        let mut touched = Some(Touched { uris: followed.iter().cloned().collect(), tools: is_unlisted });
        loop {
            let Some(Touched { uris, tools: are_tools }) = touched.take() else { return Ok(()) };
            if are_tools && context.sink().notify_tool_list_changed().await.is_err() {
                return Ok(());
            }
            for uri in uris {
                let told: Result<(), _> = context.sink().notify_resource_updated(uri).await;
                if told.is_err() {
                    return Ok(());
                }
            }
            // Losing the race loses nothing that anybody still waits for.
            touched = tokio::select! {
                () = context.cancelled() => return Ok(()),
                uris = resources_changed(&self.link, &mut changes, &followed) => {
                    uris.map(|uris| Touched { uris, tools: false })
                }
                is_open = tools_changed(&mut tools) => {
                    is_open.then(|| Touched { uris: Vec::new(), tools: true })
                }
            };
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
