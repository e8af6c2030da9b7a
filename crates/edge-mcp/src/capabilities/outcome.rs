//! What came of a call, as a model reads it.
//!
//! A server's answer is handed on as it gave it. Where there is none, the words are the node's and say what to do.

use edgeplane_driver::render;
use edgeplane_types::{BackingKind, ErrorName, InvocationState, error::Effect};
use edgeplane_wire::api::capability::InvocationView;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Value, json};

use crate::failure::Failure;

/// Where a result's metadata say which call it is of.
const META: &str = "dev.edgeplane/invocation";

/// Longest answer that is handed on in bytes of JSON: what a model can read at one go. `invocation_show` has the rest.
const OUTPUT_BYTES_MAX: usize = 256 << 10;

/// Longest words of a hook in bytes.
const HOOK_BYTES_MAX: usize = 4 << 10;

/// A call as the result of its tool.
pub(crate) fn result(view: &InvocationView, has_output: bool) -> CallToolResult {
    let mut meta = MetaObject::default();
    meta.insert(META.to_owned(), about(view));
    let words = hook_words(view);
    let mut result = match (view.status, view.output.is_some()) {
        (InvocationState::Succeeded, _) | (InvocationState::Failed, true) => given(view, has_output),
        (InvocationState::Waiting, _) => CallToolResult::error(vec![ContentBlock::text(pending(view))]),
        _ => failure(view).into_result(),
    };
    result.content.extend(words.into_iter().map(ContentBlock::text));
    // Of the metadata only ours are kept: a server could say there what only the node says.
    let own = result.meta.take().into_iter().flat_map(|meta| meta.0);
    meta.0.extend(own.filter(|(key, _)| key == crate::failure::META));
    result.with_meta(Some(meta))
}

fn about(view: &InvocationView) -> Value {
    let mut about = json!({
        "invocation_id": view.invocation_id,
        "status": view.status,
        "capability": view.name,
        "digest": view.capability_digest,
    });
    if let Some(action_id) = view.action_id {
        about["action_id"] = json!(action_id);
    }
    if let Some(digest) = &view.output_digest {
        about["output"] = json!({ "digest": digest, "bytes": view.output_bytes });
    }
    about
}

/// What a hook would have whoever calls know.
fn hook_words(view: &InvocationView) -> Vec<String> {
    let said = view.hooks.iter().filter_map(|run| {
        let (words, _) = render::words(run.context.as_ref()?, HOOK_BYTES_MAX);
        Some(format!("Hook `{}` of `{}` adds: {words}", run.hook, view.backing.owner))
    });
    said.collect()
}

/// What its server, its agent or the node answered.
fn given(view: &InvocationView, has_output: bool) -> CallToolResult {
    let is_error = view.status == InvocationState::Failed;
    let output = view.output.clone().unwrap_or(Value::Null);
    let bytes = serde_json::to_vec(&output).map_or(0, |json| json.len());
    let mut result = match view.backing.kind {
        BackingKind::Connector => from_server(output),
        BackingKind::Agent | BackingKind::Builtin | BackingKind::Workflow | BackingKind::Automation => {
            from_value(output)
        }
    };
    if is_error {
        result.is_error = Some(true);
    }
    if bytes > OUTPUT_BYTES_MAX {
        cut(&mut result, view, bytes);
    }
    // Clients that check what they are given by the schema take an answer without it for a broken server.
    if has_output && result.structured_content.is_none() && result.is_error != Some(true) {
        result
            .content
            .push(ContentBlock::text("It was called, and what came of it lacks what its schema says."));
        result.is_error = Some(true);
    }
    result
}

/// What a server of the protocol answered, as it came.
fn from_server(mut output: Value) -> CallToolResult {
    if let Some(object) = output.as_object_mut() {
        object.remove("_meta");
        // Whatever it calls it, it is what came of the call.
        object.remove("resultType");
    }
    match serde_json::from_value::<CallToolResult>(output.clone()) {
        Ok(result) => result,
        Err(_unknown) => CallToolResult::success(vec![ContentBlock::text(output.to_string())]),
    }
}

fn from_value(output: Value) -> CallToolResult {
    let text = match &output {
        Value::String(text) => text.clone(),
        output => serde_json::to_string_pretty(output).unwrap_or_default(),
    };
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = output.is_object().then_some(output);
    result
}

/// Leaves of an answer what a model can read, and says where the rest is.
fn cut(result: &mut CallToolResult, view: &InvocationView, bytes: usize) {
    let mut room = OUTPUT_BYTES_MAX;
    if let Some(structured) = &result.structured_content {
        let size = serde_json::to_vec(structured).map_or(usize::MAX, |json| json.len());
        match room.checked_sub(size) {
            Some(rest) => room = rest,
            None => result.structured_content = None,
        }
    }
    let mut kept = Vec::new();
    for block in std::mem::take(&mut result.content) {
        let size = serde_json::to_vec(&block).map_or(usize::MAX, |json| json.len());
        match (room.checked_sub(size), block) {
            (Some(rest), block) => {
                room = rest;
                kept.push(block);
            }
            (None, ContentBlock::Text(text)) => {
                kept.push(ContentBlock::text(beginning(&text.text, room).to_owned()));
                room = 0;
            }
            // A part of a picture is none.
            (None, _) => {}
        }
    }
    kept.push(ContentBlock::text(format!(
        "[… {bytes} bytes in all: the tool invocation_show with invocation_id {} and offset reads them]",
        view.invocation_id
    )));
    result.content = kept;
}

/// As much of a text as fits, whole characters only.
fn beginning(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or_default()
}

/// What is said of a call about which a person is asked.
pub(crate) fn pending(view: &InvocationView) -> String {
    let action = view.action_id.map(|id| format!(" ({id})")).unwrap_or_default();
    format!(
        "Not called yet: a person is asked whether `{}` may be called with exactly this{action}. Do not call it again, \
         that would ask again. When they agree the node calls it once by itself; the tool invocation_show with \
         invocation_id {} and wait_ms waits for what comes of it, and invocation_cancel takes it back.",
        view.name, view.invocation_id
    )
}

/// Why there is no answer.
fn failure(view: &InvocationView) -> Failure {
    let reason = view.reason.as_deref().unwrap_or("no reason is given");
    let (reason, _) = render::words(reason, HOOK_BYTES_MAX);
    let name = &view.name;
    match view.status {
        InvocationState::Denied => Failure::new(
            ErrorName::PolicyBlocked,
            format!("`{name}` was not called, leave was refused: {reason}"),
        )
        .hint("do it in another way, or ask a person with `action_request`"),
        InvocationState::Cancelled => {
            let failure =
                Failure::new(ErrorName::Cancelled, format!("the call of `{name}` was taken back: {reason}"));
            Failure { effect: Effect::Unknown, ..failure }
        }
        InvocationState::OutcomeUnknown => {
            let what = format!("whether `{name}` was called, or what came of it, is not known: {reason}");
            Failure { effect: Effect::Unknown, ..Failure::new(ErrorName::OutcomeUnknown, what) }
        }
        _ => Failure::new(ErrorName::UpstreamFailed, format!("`{name}` failed: {reason}")),
    }
}
