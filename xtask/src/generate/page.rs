//! The page of the methods for people: `spec/methods.md`.

use std::{collections::BTreeMap, fmt::Write as _};

use edgeplane_types::ErrorName;
use edgeplane_wire::catalogue::{
    Audience, ERRORS_OF_ALL, ERRORS_OF_WRITES, Method, MethodEffect, Need, Repeat,
};
use serde_json::Value;

use super::schema;

/// What stands before the methods.
const OPENING: &str = "# Methods

<!-- Made by `cargo xtask generate` from crates/wire/src/catalogue. A change of this file is lost. -->

Every verb of every client is one of these methods: one JSON-RPC 2.0 request, one object a line, over the node's socket \
or an epoch's own; over HTTP `POST /v1/rpc` with the same object, or `POST /v1/` and the method's name with its \
parameters alone. Parameters that are not in the list of a method are refused; beside them may stand `ctx`, the \
[context](#requestcontext) of the request. `edgeplane describe-api -o json` gives the same as JSON Schemas, as do \
[openapi.json](openapi.json) and [schemas](schemas/README.md). What has a name and is not served is on a \
[page of its own](not-served.md).

A read changes nothing. Where an agent may call a method for itself, that is its own memory, inbox, screen and recording. \
What a token needs only ever takes away: who may call a method at all is said besides. With `idempotency_key` in its \
context every method acts once, and answers a repetition as it answered first; what a repetition without a key means \
stands with each method.
";

/// The whole page.
pub(super) fn page(methods: &[Method]) -> anyhow::Result<String> {
    let mut page = OPENING.to_owned();
    let mut types = BTreeMap::new();
    page.push_str(&common_errors());
    page.push_str("\n| method | kind | who may call it | |\n|---|---|---|---|\n");
    for method in methods {
        let name = method.name;
        let row = format!(
            "| [{name}](#{}) | {} | {} | {} |",
            anchor(name),
            kind(method),
            audience(method),
            method.summary.trim()
        );
        writeln!(page, "{row}")?;
    }
    for method in methods {
        write_method(&mut page, method)?;
        collect(&mut types, method.params_schema())?;
        collect(&mut types, method.result_schema())?;
    }
    let context = edgeplane_wire::catalogue::notices::context_schema();
    collect(&mut types, context.clone())?;
    types.insert("RequestContext".to_owned(), context);
    page.push_str("\n## Types\n");
    for (name, schema) in &types {
        write!(page, "\n### {name}\n\n{}", schema::definition(schema))?;
    }
    Ok(page)
}

/// What belongs to no method alone.
fn common_errors() -> String {
    let list =
        |errors: &[ErrorName]| errors.iter().map(|error| linked(*error)).collect::<Vec<_>>().join(", ");
    format!(
        "\nEach method may also fail with {}; one that writes also with {}. The number behind an error is its status \
         over HTTP.\n",
        list(ERRORS_OF_ALL),
        list(ERRORS_OF_WRITES)
    )
}

/// An error with its page and its status.
fn linked(error: ErrorName) -> String {
    format!("[{0}](errors/{0}.md) {1}", error.as_str(), error.http_status())
}

fn write_method(page: &mut String, method: &Method) -> anyhow::Result<()> {
    let errors: Vec<String> = method.errors.iter().map(|error| linked(*error)).collect();
    let errors = if errors.is_empty() { "none of its own".to_owned() } else { errors.join(", ") };
    write!(
        page,
        "\n## {name}\n\n{}\n\n- kind: {}\n- who: {}\n- a token needs: {}\n- a repetition: {}\n- over HTTP: \
         `POST /v1/{name}`\n- since: {}\n- errors: {errors}\n",
        method.summary.trim(),
        kind(method),
        audience(method),
        need(method),
        repeat(method),
        method.since,
        name = method.name,
    )?;
    write!(page, "\nParameters:{}", schema::fields(&method.params_schema()))?;
    write!(page, "\nResult:{}", schema::fields(&method.result_schema()))?;
    Ok(())
}

/// What a token must allow, in words.
pub(super) fn need(method: &Method) -> String {
    match method.need {
        Need::Nothing => "nothing".to_owned(),
        Need::Scope(scope) => format!("`{}`", scope.as_str()),
        Need::Uid => "no token is enough; an operator whom the kernel vouches for".to_owned(),
    }
}

/// What a repetition means, in words.
pub(super) fn repeat(method: &Method) -> &'static str {
    match method.repeat {
        Repeat::Safe => "changes nothing",
        Repeat::Same => "leaves what the first made true",
        Repeat::Again => "acts again",
    }
}

/// Adds the types that a schema names. One name is one type on the whole page.
fn collect(types: &mut BTreeMap<String, Value>, mut schema: Value) -> anyhow::Result<()> {
    let Some(Value::Object(found)) = schema.get_mut("$defs").map(Value::take) else { return Ok(()) };
    for (name, definition) in found {
        if let Some(known) = types.insert(name.clone(), definition.clone()) {
            anyhow::ensure!(known == definition, "two types of the catalogue are called `{name}`");
        }
    }
    Ok(())
}

fn kind(method: &Method) -> &'static str {
    match method.effect {
        MethodEffect::Read => "read",
        MethodEffect::Write => "write",
    }
}

pub(super) fn audience(method: &Method) -> &'static str {
    match method.audience {
        Audience::Anyone => "anyone",
        Audience::OwnerOrOperator => "operators, an agent for itself",
        Audience::Governed => {
            "whom the rules let (`supervise`, `attach`, `control`); the shipped ones: operators"
        }
        Audience::Operator => "operators",
    }
}

/// What a heading of these words is called in a link.
pub(super) fn anchor(heading: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    heading.to_lowercase().chars().filter(|c| kept(*c)).collect()
}
