//! The catalogue as TypeScript: types and methods of `clients/typescript`.
//!
//! Knows TypeScript and nothing of how a call is carried: the modules beside the generated ones do that.

use std::fmt::Write as _;

use edgeplane_types::ErrorName;
use edgeplane_wire::catalogue::MethodEffect;
use serde_json::Value;

use super::{
    model::{self, Field, Form, Model, REF, Served, pascal},
    page,
};

const MADE: &str =
    "// Made by `cargo xtask generate` from crates/wire/src/catalogue. A change of this file is lost.\n";

/// `types.ts`: every type that crosses the wire.
pub(super) fn types(model: &Model) -> anyhow::Result<String> {
    let mut text = format!("{MADE}\n/** Any value of JSON. */\nexport type Json = unknown;\n");
    for (name, schema) in &model.types {
        text.push('\n');
        write_comment(&mut text, "", &model::about(schema))?;
        match model::form(name, schema) {
            Form::Words(words) => {
                writeln!(text, "export type {name} =")?;
                for (word, about) in &words {
                    write_comment(&mut text, "  ", about)?;
                    writeln!(text, "  | {}", quoted(word))?;
                }
                close(&mut text);
            }
            Form::Object(fields) => write_object(&mut text, name, &fields)?,
            Form::Union(variants) => {
                let names: Vec<&str> = variants.iter().map(|(name, _)| name.as_str()).collect();
                writeln!(text, "export type {name} = {};", names.join(" | "))?;
                for (name, variant) in &variants {
                    text.push('\n');
                    write_comment(&mut text, "", &model::about(variant))?;
                    write_object(&mut text, name, &model::fields(variant))?;
                }
            }
            Form::Other => writeln!(text, "export type {name} = {};", expression(schema))?,
        }
    }
    text.push_str(
        "\n/** Every notification with the type of its parameters. */\nexport interface Notices {\n",
    );
    for told in &model.notices {
        write_comment(&mut text, "  ", told.notice.summary)?;
        writeln!(text, "  {}: {};", quoted(told.notice.name), told.params)?;
    }
    text.push_str("}\n");
    write_errors(&mut text)?;
    Ok(text)
}

/// Ends a list of words with a semicolon behind the last.
fn close(text: &mut String) {
    let end = text.trim_end().len();
    text.truncate(end);
    text.push_str(";\n");
}

fn write_object(text: &mut String, name: &str, fields: &[Field<'_>]) -> anyhow::Result<()> {
    if fields.is_empty() {
        writeln!(text, "export type {name} = Record<string, never>;")?;
        return Ok(());
    }
    writeln!(text, "export interface {name} {{")?;
    for field in fields {
        write_comment(text, "  ", &model::about(field.schema))?;
        let mark = if field.is_required { "" } else { "?" };
        writeln!(text, "  {}{mark}: {};", field.name, expression(field.schema))?;
    }
    writeln!(text, "}}")?;
    Ok(())
}

fn write_errors(text: &mut String) -> anyhow::Result<()> {
    text.push_str("\n/** What belongs to each name of an error. */\nexport const ERRORS = {\n");
    for error in ErrorName::ALL {
        writeln!(
            text,
            "  {}: {{ code: {}, httpStatus: {}, retryable: {} }},",
            error.as_str(),
            error.code(),
            error.http_status(),
            error.is_retryable()
        )?;
    }
    text.push_str(
        "} as const satisfies Record<ErrorName, { code: number; httpStatus: number; retryable: boolean }>;\n",
    );
    Ok(())
}

/// A schema as a type.
fn expression(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|target| target.strip_prefix(REF)) {
        return name.to_owned();
    }
    if let Some(word) = schema["const"].as_str() {
        return quoted(word);
    }
    if let Some(all) = schema["enum"].as_array() {
        return all.iter().filter_map(Value::as_str).map(quoted).collect::<Vec<_>>().join(" | ");
    }
    if let Some(all) = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
        return all.iter().map(expression).collect::<Vec<_>>().join(" | ");
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if kinds.is_empty() {
        return "Json".to_owned();
    }
    kinds.iter().map(|kind| of_kind(kind, schema)).collect::<Vec<_>>().join(" | ")
}

fn of_kind(kind: &str, schema: &Value) -> String {
    match kind {
        "string" | "boolean" | "null" => kind.to_owned(),
        "integer" | "number" => "number".to_owned(),
        "array" => match (schema["prefixItems"].as_array(), schema.get("items")) {
            (Some(parts), _) => {
                format!("[{}]", parts.iter().map(expression).collect::<Vec<_>>().join(", "))
            }
            (None, Some(items)) => format!("Array<{}>", expression(items)),
            (None, None) => "Array<Json>".to_owned(),
        },
        _ => match schema.get("additionalProperties").filter(|values| values.is_object()) {
            Some(values) => format!("Record<string, {}>", expression(values)),
            None => "Record<string, Json>".to_owned(),
        },
    }
}

/// `methods.ts`: one method for each row of the catalogue.
pub(super) fn methods(model: &Model) -> anyhow::Result<String> {
    let mut text = format!(
        "{MADE}\nimport {{ Group, type Caller, type Options }} from \"./caller.js\";\nimport type * as t from \"./types.js\";\n"
    );
    let profiles = model.profiles();
    for profile in &profiles {
        for (object, methods) in &profile.objects {
            let class = format!("{}{}", pascal(profile.name), pascal(object));
            writeln!(text, "\n/** `{}/{object}.*` */\nexport class {class} extends Group {{", profile.name)?;
            for (at, served) in methods.iter().enumerate() {
                write_method(&mut text, model, served, at > 0)?;
            }
            text.push_str("}\n");
        }
        let class = pascal(profile.name);
        writeln!(text, "\n/** `{}/*` */\nexport class {class} extends Group {{", profile.name)?;
        for (object, _) in &profile.objects {
            writeln!(text, "  readonly {object}: {class}{};", pascal(object))?;
        }
        text.push_str("\n  constructor(caller: Caller) {\n    super(caller);\n");
        for (object, _) in &profile.objects {
            writeln!(text, "    this.{object} = new {class}{}(caller);", pascal(object))?;
        }
        text.push_str("  }\n");
        for served in &profile.own {
            write_method(&mut text, model, served, true)?;
        }
        text.push_str("}\n");
    }
    text.push_str("\n/** Every profile. */\nexport class Catalogue {\n");
    for profile in &profiles {
        writeln!(text, "  readonly {}: {};", profile.name, pascal(profile.name))?;
    }
    text.push_str("\n  constructor(caller: Caller) {\n");
    for profile in &profiles {
        writeln!(text, "    this.{} = new {}(caller);", profile.name, pascal(profile.name))?;
    }
    text.push_str("  }\n}\n");
    Ok(text)
}

fn write_method(text: &mut String, model: &Model, served: &Served, is_apart: bool) -> anyhow::Result<()> {
    let method = served.method;
    let fields = model.types.get(&served.params).map(model::fields).unwrap_or_default();
    let default = if fields.iter().any(|field| field.is_required) { "" } else { " = {}" };
    let errors: Vec<&str> = method.errors.iter().map(|error| error.as_str()).collect();
    let errors = if errors.is_empty() { "none".to_owned() } else { errors.join(", ") };
    let effect = if method.effect == MethodEffect::Read { "reads" } else { "writes" };
    if is_apart {
        text.push('\n');
    }
    writeln!(text, "  /**\n   * {}\n   *", commented(method.summary.trim()))?;
    writeln!(text, "   * `{}`: {effect}; a token needs: {};", method.name, page::need(method))?;
    writeln!(text, "   * a repetition without a key {}. Errors of its own:", page::repeat(method))?;
    writeln!(text, "   * {errors}.\n   */")?;
    let (params, result, action) = (&served.params, &served.result, served.action());
    writeln!(text, "  {action}(params: t.{params}{default}, options?: Options): Promise<t.{result}> {{")?;
    let (name, repeat) = (quoted(method.name), quoted(method.repeat.as_str()));
    writeln!(text, "    return this.call({name}, params, {repeat}, options);\n  }}")?;
    Ok(())
}

fn write_comment(text: &mut String, indent: &str, about: &str) -> anyhow::Result<()> {
    if !about.is_empty() {
        writeln!(text, "{indent}/** {} */", commented(about))?;
    }
    Ok(())
}

/// Text for a comment, which its own end would end.
fn commented(text: &str) -> String {
    text.replace("*/", "*\u{200b}/")
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}
