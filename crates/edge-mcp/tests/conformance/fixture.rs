//! The server that the suite asks for: its tools, prompts and resources, by the names that the suite calls them.
//!
//! It is written as the JSON that goes over the wire, which is what the suite describes. Nothing of it ships.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
        GetPromptRequestParams, GetPromptResponse, Implementation, InputRequiredResult, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
        ServerNotification, ServerRequest, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter,
        Tool, UnsubscribeRequestParams,
    },
    service::{RequestContext, SubscriptionContext, SubscriptionSink},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::inputs;

/// One red pixel.
const IMAGE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==";

/// No sound.
const AUDIO: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

/// Reads what was written here as JSON.
pub(crate) fn of<T: DeserializeOwned>(value: Value) -> T {
    let written = value.to_string();
    serde_json::from_value(value).unwrap_or_else(|error| panic!("{error}: {written}"))
}

/// A complete result with these fields.
pub(crate) fn complete<T: DeserializeOwned>(mut value: Value) -> T {
    value["resultType"] = json!("complete");
    of(value)
}

fn cached<T: DeserializeOwned>(mut value: Value) -> T {
    value["ttlMs"] = json!(60_000);
    value["cacheScope"] = json!("public");
    complete(value)
}

fn text(words: &str) -> Value {
    json!({ "type": "text", "text": words })
}

fn content(parts: &[Value]) -> CallToolResponse {
    CallToolResponse::Complete(complete(json!({ "content": parts })))
}

/// What all requests of one fixture share.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    sinks: BTreeMap<u64, SubscriptionSink>,
    subscribed: u64,
    /// How often the list of this name has changed.
    changes: BTreeMap<&'static str, u64>,
}

/// The fixture, as one request meets it.
#[derive(Debug)]
pub(crate) struct Fixture {
    lists: Arc<Mutex<Lists>>,
    /// The changes there had been when this request's subscription was accepted.
    accepted_at: Mutex<BTreeMap<&'static str, u64>>,
}

impl Fixture {
    pub(crate) fn new(lists: Arc<Mutex<Lists>>) -> Self {
        Self { lists, accepted_at: Mutex::default() }
    }

    async fn list_changed(&self, of: &'static str) {
        let sinks: Vec<SubscriptionSink> = {
            let mut lists = self.lists.lock().unwrap();
            *lists.changes.entry(of).or_default() += 1;
            lists.sinks.values().cloned().collect()
        };
        for sink in sinks {
            told_of(&sink, of).await;
        }
    }
}

async fn told_of(sink: &SubscriptionSink, of: &str) {
    // One that has not asked for this kind is not told.
    drop(match of {
        "tools" => sink.notify_tool_list_changed().await,
        _ => sink.notify_prompt_list_changed().await,
    });
}

fn tools() -> Vec<Tool> {
    let plain = json!({ "type": "object", "properties": {} });
    let named = |name: &str| {
        let word = |property: &str| json!({ "type": "object", "properties": { property: { "type": "string" } }, "required": [property] });
        let schema = match name {
            "test_sampling" => word("prompt"),
            "test_elicitation" => word("message"),
            "test_custom_header" => json!({
                "type": "object",
                "properties": { "value": { "type": "string", "x-mcp-header": "Value" } },
                "required": ["value"],
            }),
            "json_schema_2020_12_tool" => inputs::whole_schema(),
            _ => plain.clone(),
        };
        of(json!({ "name": name, "description": format!("The fixture {name}"), "inputSchema": schema }))
    };
    let plain_tools = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_tool_with_logging",
        "test_error_handling",
        "test_tool_with_progress",
        "test_sampling",
        "test_elicitation",
        "test_elicitation_sep1034_defaults",
        "test_elicitation_sep1330_enums",
        "test_custom_header",
        "test_trigger_tool_change",
        "test_trigger_prompt_change",
        "test_missing_capability",
        "test_streaming_elicitation",
        "test_logging_tool",
        "json_schema_2020_12_tool",
    ];
    plain_tools.into_iter().chain(inputs::TOOLS).map(named).collect()
}

/// What a tool gives that does nothing.
fn still(name: &str, arguments: &Value) -> Option<CallToolResponse> {
    let embedded = |uri: &str, mime: &str, text: &str| json!({ "type": "resource", "resource": { "uri": uri, "mimeType": mime, "text": text } });
    let image = json!({ "type": "image", "data": IMAGE, "mimeType": "image/png" });
    Some(match name {
        "test_simple_text" => content(&[text("This is a simple text response for testing.")]),
        "test_image_content" => content(&[image]),
        "test_audio_content" => {
            content(&[json!({ "type": "audio", "data": AUDIO, "mimeType": "audio/wav" })])
        }
        "test_embedded_resource" => content(&[embedded(
            "test://embedded-resource",
            "text/plain",
            "This is an embedded resource content.",
        )]),
        "test_multiple_content_types" => content(&[
            text("Multiple content types test:"),
            image,
            embedded("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
        ]),
        "test_error_handling" => {
            let parts = [text("This tool intentionally returns an error for testing")];
            CallToolResponse::Complete(complete(json!({ "content": parts, "isError": true })))
        }
        "test_custom_header" => content(&[text(arguments["value"].as_str()?)]),
        "json_schema_2020_12_tool" => content(&[text("Hello!")]),
        _ => return None,
    })
}

/// Asks the client for something and gives what it said as text.
async fn ask(context: &RequestContext<RoleServer>, request: Value) -> CallToolResponse {
    let request: ServerRequest = of(request);
    match context.peer.send_request(request).await {
        Ok(answer) => {
            let answer = serde_json::to_value(answer).unwrap_or_default();
            let words = match answer["content"]["text"].as_str() {
                Some(words) => format!("LLM response: {words}"),
                None => format!(
                    "User response: action={}, content={}",
                    answer["action"].as_str().unwrap_or("?"),
                    answer["content"]
                ),
            };
            content(&[text(&words)])
        }
        Err(error) => {
            let parts = [text(&format!("the client refused: {error}"))];
            CallToolResponse::Complete(complete(json!({ "content": parts, "isError": true })))
        }
    }
}

async fn tell(context: &RequestContext<RoleServer>, method: &str, params: Value) {
    let notification: ServerNotification = of(json!({ "method": method, "params": params }));
    // Whoever has gone misses it.
    drop(context.peer.send_notification(notification).await);
}

/// A tool that speaks with the client before it is done.
async fn speaking(
    name: &str,
    arguments: &Value,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let elicit = |message: &str, schema: Value| json!({ "method": "elicitation/create", "params": { "message": message, "requestedSchema": schema } });
    Ok(match name {
        "test_tool_with_logging" => {
            for words in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                tell(context, "notifications/message", json!({ "level": "info", "data": words })).await;
            }
            content(&[text("Logging test completed")])
        }
        "test_logging_tool" => {
            if let Some(level) = context.meta.log_level() {
                tell(context, "notifications/message", json!({ "level": level, "data": "asked for" })).await;
            }
            content(&[text("Logging tool completed")])
        }
        "test_tool_with_progress" => {
            for progress in [0, 50, 100] {
                if let Some(token) = context.meta.get_progress_token() {
                    let params = json!({ "progressToken": token, "progress": progress, "total": 100 });
                    tell(context, "notifications/progress", params).await;
                }
            }
            content(&[text("Progress test completed")])
        }
        "test_sampling" => {
            let words = text(arguments["prompt"].as_str().unwrap_or("Hello"));
            let messages = json!([{ "role": "user", "content": words }]);
            let params = json!({ "messages": messages, "maxTokens": 100 });
            ask(context, json!({ "method": "sampling/createMessage", "params": params })).await
        }
        "test_elicitation" => {
            let message = arguments["message"].as_str().unwrap_or("Please tell");
            ask(context, elicit(message, inputs::person_schema())).await
        }
        "test_elicitation_sep1034_defaults" => {
            ask(context, elicit("All have defaults", inputs::defaults_schema())).await
        }
        "test_elicitation_sep1330_enums" => ask(context, elicit("Choose", inputs::choices_schema())).await,
        "test_missing_capability" => {
            let capabilities = context.meta.client_capabilities().unwrap_or_default();
            if capabilities.sampling.is_none() {
                let required = of(json!({ "sampling": {} }));
                return Err(ErrorData::missing_required_client_capability(required));
            }
            content(&[text("Required capability declared")])
        }
        other => return Err(ErrorData::invalid_params(format!("no tool {other}"), None)),
    })
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let capabilities: ServerCapabilities = of(json!({
            "tools": { "listChanged": true },
            "prompts": { "listChanged": true },
            "resources": { "listChanged": true, "subscribe": true },
            "logging": {},
            "completions": {},
        }));
        ServerConfig::new(capabilities).with_server_info(Implementation::new("edgeplane-fixture", "1"))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools().into_iter().find(|tool| tool.name == name)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(cached(json!({ "tools": tools() })))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.clone().unwrap_or_default());
        if let Some(result) = still(&request.name, &arguments) {
            return Ok(result);
        }
        if let Some(result) = inputs::tool(&request, &context)? {
            return Ok(result);
        }
        match request.name.as_ref() {
            "test_trigger_tool_change" => self.list_changed("tools").await,
            "test_trigger_prompt_change" => self.list_changed("prompts").await,
            other => return speaking(other, &arguments, &context).await,
        }
        Ok(content(&[text("triggered")]))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resource = |uri: &str, name: &str, mime: &str| json!({ "uri": uri, "name": name, "description": name, "mimeType": mime });
        Ok(cached(json!({ "resources": [
            resource("test://static-text", "Static text", "text/plain"),
            resource("test://static-binary", "Static bytes", "image/png"),
            resource("test://watched-resource", "Watched text", "text/plain"),
        ] })))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(cached(json!({ "resourceTemplates": [{
            "uriTemplate": "test://template/{id}/data",
            "name": "Data of an id",
            "description": "Data of an id",
            "mimeType": "application/json",
        }] })))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let plain = |words: &str| json!({ "uri": uri, "mimeType": "text/plain", "text": words });
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let shown = match (uri.as_str(), id) {
            ("test://static-text", _) => plain("This is the content of the static text resource."),
            ("test://watched-resource", _) => plain("Watched resource content"),
            ("test://static-binary", _) => json!({ "uri": uri, "mimeType": "image/png", "blob": IMAGE }),
            (_, Some(id)) => {
                let words = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
                json!({ "uri": uri, "mimeType": "application/json", "text": words.to_string() })
            }
            _ => {
                let data = Some(json!({ "uri": uri }));
                return Err(ErrorData::resource_not_found(format!("no resource {uri}"), data));
            }
        };
        Ok(ReadResourceResponse::Complete(cached(json!({ "contents": [shown] }))))
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.accepted_at.lock().unwrap().clone_from(&self.lists.lock().unwrap().changes);
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let sink = context.sink();
        // The kit has acknowledged before it let us listen: who changed a list since then found no sink of ours.
        let (key, missed) = {
            let mut lists = self.lists.lock().unwrap();
            lists.subscribed += 1;
            let key = lists.subscribed;
            lists.sinks.insert(key, sink.clone());
            let accepted_at = self.accepted_at.lock().unwrap();
            let missed = lists.changes.iter().filter(|(of, count)| accepted_at.get(*of) != Some(*count));
            (key, missed.map(|(of, _)| *of).collect::<Vec<_>>())
        };
        for of in missed {
            told_of(sink, of).await;
        }
        context.cancelled().await;
        self.lists.lock().unwrap().sinks.remove(&key);
        Ok(())
    }

    async fn subscribe(
        &self,
        _request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn set_level(
        &self,
        _request: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompt = |name: &str| json!({ "name": name, "description": format!("The fixture {name}") });
        let mut with_args = prompt("test_prompt_with_arguments");
        with_args["arguments"] = json!([
            { "name": "arg1", "description": "First", "required": true },
            { "name": "arg2", "description": "Second", "required": true },
        ]);
        Ok(cached(json!({ "prompts": [
            prompt("test_simple_prompt"),
            with_args,
            prompt("test_prompt_with_embedded_resource"),
            prompt("test_prompt_with_image"),
            prompt("test_input_required_result_prompt"),
        ] })))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let said = |part: Value| json!({ "role": "user", "content": part });
        let messages = match request.name.as_str() {
            "test_simple_prompt" => json!([said(text("This is a simple prompt for testing."))]),
            "test_prompt_with_arguments" => {
                let argument = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
                let (first, second) = (argument("arg1"), argument("arg2"));
                json!([said(text(&format!("Prompt with arguments: arg1='{first}', arg2='{second}'")))])
            }
            "test_prompt_with_embedded_resource" => {
                let uri = arguments["resourceUri"].as_str().unwrap_or("test://static-text");
                let resource =
                    json!({ "uri": uri, "mimeType": "text/plain", "text": "Embedded resource content" });
                json!([
                    said(json!({ "type": "resource", "resource": resource })),
                    said(text("Please process the embedded resource above.")),
                ])
            }
            "test_prompt_with_image" => json!([
                said(json!({ "type": "image", "data": IMAGE, "mimeType": "image/png" })),
                said(text("Please analyze the image above.")),
            ]),
            "test_input_required_result_prompt" => {
                let response = request.input_responses.as_ref().and_then(|all| all.get("user_context"));
                let Some(words) = response.and_then(|response| response["content"]["context"].as_str())
                else {
                    let question = inputs::elicit("Which context?", "context", "string");
                    let requests = BTreeMap::from([("user_context".to_owned(), question)]);
                    return Ok(InputRequiredResult::from_input_requests(requests).into());
                };
                json!([said(text(&format!("Prompt with context: {words}")))])
            }
            other => return Err(ErrorData::invalid_params(format!("no prompt {other}"), None)),
        };
        Ok(GetPromptResponse::Complete(complete(json!({ "messages": messages }))))
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(complete(json!({ "completion": { "values": ["paris", "park", "party"], "hasMore": false } })))
    }
}
