//! The catalogue as Python: types, methods and errors of `clients/python`.
//!
//! Knows Python and nothing of how a call is carried: the modules beside the generated ones do that.

use std::fmt::Write as _;

use edgeplane_types::ErrorName;
use edgeplane_wire::catalogue::MethodEffect;
use serde_json::Value;

use super::{
    model::{self, CONTEXT, Field, Form, Model, REF, Served, pascal},
    page,
};

/// Words that Python keeps for itself, as far as a method or a field may be called so.
const KEYWORDS: &[&str] = &[
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else",
    "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not",
    "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

const MADE: &str =
    "# Made by `cargo xtask generate` from crates/wire/src/catalogue. A change of this file is lost.\n";

/// `types.py`: every type that crosses the wire.
pub(super) fn types(model: &Model) -> anyhow::Result<String> {
    let mut text = format!("\"\"\"Every type of the catalogue, as it crosses the wire.\"\"\"\n\n{MADE}");
    text.push_str(
        "from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, Tuple, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired
",
    );
    // A name that is an expression stands behind those it is made of only by quoting them, so the order is free.
    for (name, schema) in &model.types {
        text.push_str("\n\n");
        match model::form(name, schema) {
            Form::Words(words) => write_words(&mut text, name, schema, &words)?,
            Form::Object(fields) => write_object(&mut text, name, schema, &fields)?,
            Form::Union(variants) => {
                for (name, variant) in &variants {
                    write_object(&mut text, name, variant, &model::fields(variant))?;
                    text.push_str("\n\n");
                }
                let names: Vec<String> = variants.iter().map(|(name, _)| quoted(name)).collect();
                writeln!(text, "{name} = Union[{}]", names.join(", "))?;
                write_about(&mut text, schema)?;
            }
            Form::Other => {
                writeln!(text, "{name} = {}", expression(schema, Names::Quoted))?;
                write_about(&mut text, schema)?;
            }
        }
    }
    Ok(text)
}

fn write_words(
    text: &mut String,
    name: &str,
    schema: &Value,
    words: &[(String, String)],
) -> anyhow::Result<()> {
    writeln!(text, "{name} = Literal[")?;
    for (word, about) in words {
        let about = if about.is_empty() { String::new() } else { format!("  # {about}") };
        writeln!(text, "    {},{about}", quoted(word))?;
    }
    writeln!(text, "]")?;
    write_about(text, schema)
}

fn write_object(text: &mut String, name: &str, schema: &Value, fields: &[Field<'_>]) -> anyhow::Result<()> {
    let of = |field: &Field<'_>| {
        let kind = expression(field.schema, Names::Bare);
        if field.is_required { kind } else { format!("NotRequired[{kind}]") }
    };
    if fields.iter().any(|field| KEYWORDS.contains(&field.name)) {
        // A field that is called as a word of the language can only be written this way.
        writeln!(text, "{name} = TypedDict(\n    {},\n    {{", quoted(name))?;
        for field in fields {
            writeln!(text, "        {}: {},", quoted(field.name), quoted(&of(field).replace('"', "'")))?;
        }
        writeln!(text, "    }},\n)")?;
        return write_about(text, schema);
    }
    writeln!(text, "class {name}(TypedDict):")?;
    let about = model::about(schema);
    writeln!(text, "    {}", docstring(if about.is_empty() { name } else { &about }))?;
    if !fields.is_empty() {
        text.push('\n');
    }
    for field in fields {
        let about = model::about(field.schema);
        if !about.is_empty() {
            writeln!(text, "    # {about}")?;
        }
        writeln!(text, "    {}: {}", field.name, of(field))?;
    }
    Ok(())
}

fn write_about(text: &mut String, schema: &Value) -> anyhow::Result<()> {
    let about = model::about(schema);
    if !about.is_empty() {
        writeln!(text, "{}", docstring(&about))?;
    }
    Ok(())
}

/// Whether names of types stand in an annotation, which nobody evaluates, or in an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    Bare,
    Quoted,
}

/// A schema as a type.
fn expression(schema: &Value, names: Names) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|target| target.strip_prefix(REF)) {
        return if names == Names::Quoted { quoted(name) } else { name.to_owned() };
    }
    if let Some(word) = schema["const"].as_str() {
        return format!("Literal[{}]", quoted(word));
    }
    if let Some(all) = schema["enum"].as_array() {
        let words: Vec<String> = all.iter().filter_map(Value::as_str).map(quoted).collect();
        return format!("Literal[{}]", words.join(", "));
    }
    if let Some(all) = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
        let some: Vec<String> =
            all.iter().filter(|one| one["type"] != "null").map(|one| expression(one, names)).collect();
        let one =
            if let [one] = some.as_slice() { one.clone() } else { format!("Union[{}]", some.join(", ")) };
        return if some.len() < all.len() { format!("Optional[{one}]") } else { one };
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let some: Vec<String> =
        kinds.iter().filter(|kind| **kind != "null").map(|kind| of_kind(kind, schema, names)).collect();
    let one = match some.as_slice() {
        [] => "Any".to_owned(),
        [one] => one.clone(),
        several => format!("Union[{}]", several.join(", ")),
    };
    if kinds.contains(&"null") { format!("Optional[{one}]") } else { one }
}

fn of_kind(kind: &str, schema: &Value, names: Names) -> String {
    match kind {
        "string" => "str".to_owned(),
        "integer" => "int".to_owned(),
        "number" => "float".to_owned(),
        "boolean" => "bool".to_owned(),
        "array" => match (schema["prefixItems"].as_array(), schema.get("items")) {
            (Some(parts), _) => {
                let parts: Vec<String> = parts.iter().map(|part| expression(part, names)).collect();
                format!("Tuple[{}]", parts.join(", "))
            }
            (None, Some(items)) => format!("List[{}]", expression(items, names)),
            (None, None) => "List[Any]".to_owned(),
        },
        _ => match schema.get("additionalProperties").filter(|values| values.is_object()) {
            Some(values) => format!("Dict[str, {}]", expression(values, names)),
            None => "Dict[str, Any]".to_owned(),
        },
    }
}

/// `methods.py`: one method for each row of the catalogue.
pub(super) fn methods(model: &Model) -> anyhow::Result<String> {
    let mut text = format!(
        "\"\"\"Every method of the catalogue, by profile and object: `client.runtime.agent.signal(...)`.\"\"\"\n\n{MADE}"
    );
    text.push_str(
        "from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, Tuple, Union, cast

from . import types as t
from .caller import Caller, Group
",
    );
    let profiles = model.profiles();
    for profile in &profiles {
        for (object, methods) in &profile.objects {
            write!(text, "\n\nclass {}{}(Group):\n", pascal(profile.name), pascal(object))?;
            writeln!(text, "    \"\"\"`{}/{object}.*`\"\"\"", profile.name)?;
            for served in methods {
                write_method(&mut text, model, served)?;
            }
        }
        write!(text, "\n\nclass {}(Group):\n    \"\"\"`{}/*`\"\"\"\n", pascal(profile.name), profile.name)?;
        write!(
            text,
            "\n    def __init__(self, caller: Caller) -> None:\n        super().__init__(caller)\n"
        )?;
        for (object, _) in &profile.objects {
            let class = format!("{}{}", pascal(profile.name), pascal(object));
            writeln!(text, "        self.{} = {class}(caller)", safe(object))?;
        }
        for served in &profile.own {
            write_method(&mut text, model, served)?;
        }
    }
    text.push_str("\n\nclass Catalogue:\n    \"\"\"Every profile.\"\"\"\n\n    def __init__(self, caller: Caller) -> None:\n");
    for profile in &profiles {
        writeln!(text, "        self.{} = {}(caller)", safe(profile.name), pascal(profile.name))?;
    }
    Ok(text)
}

fn write_method(text: &mut String, model: &Model, served: &Served) -> anyhow::Result<()> {
    let method = served.method;
    let fields = model.types.get(&served.params).map(model::fields).unwrap_or_default();
    write!(text, "\n    def {}(\n        self,\n        *,\n", safe(served.action()))?;
    for field in &fields {
        let kind = annotation(field.schema);
        let kind = if field.is_required || kind.starts_with("Optional[") {
            kind
        } else {
            format!("Optional[{kind}]")
        };
        let default = if field.is_required { "" } else { " = None" };
        writeln!(text, "        {}: {kind}{default},", safe(field.name))?;
    }
    write!(text, "        ctx: Optional[t.{CONTEXT}] = None,\n    ) -> t.{}:\n", served.result)?;
    let errors: Vec<&str> = method.errors.iter().map(|error| error.as_str()).collect();
    let errors = if errors.is_empty() { "none".to_owned() } else { errors.join(", ") };
    let effect = if method.effect == MethodEffect::Read { "reads" } else { "writes" };
    writeln!(text, "        \"\"\"{}", escaped(method.summary.trim()))?;
    writeln!(text, "\n        `{}`: {effect}; a token needs: {};", method.name, page::need(method))?;
    writeln!(text, "        a repetition without a key {}. Errors of its own:", page::repeat(method))?;
    writeln!(text, "        {errors}.")?;
    if !fields.is_empty() {
        text.push('\n');
    }
    for field in &fields {
        let about = model::about(field.schema);
        writeln!(text, "        :param {}: {}", safe(field.name), escaped(&about))?;
    }
    writeln!(text, "        \"\"\"")?;
    let pairs = |is_required: bool| {
        let some = fields.iter().filter(|field| field.is_required == is_required);
        let pairs: Vec<String> =
            some.map(|field| format!("{}: {}", quoted(field.name), safe(field.name))).collect();
        format!("{{{}}}", pairs.join(", "))
    };
    writeln!(text, "        required: Dict[str, Any] = {}", pairs(true))?;
    writeln!(text, "        optional: Dict[str, Any] = {}", pairs(false))?;
    let (name, repeat) = (quoted(method.name), quoted(method.repeat.as_str()));
    writeln!(text, "        result = self._call({name}, required, optional, ctx, {repeat})")?;
    writeln!(text, "        return cast(t.{}, result)", served.result)?;
    Ok(())
}

/// A type in `methods.py`, where the named ones stand in the module `t`.
fn annotation(schema: &Value) -> String {
    let mut schema = schema.clone();
    of_module(&mut schema);
    expression(&schema, Names::Bare)
}

fn of_module(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for (word, value) in fields.iter_mut() {
                let name = value.as_str().and_then(|target| target.strip_prefix(REF));
                match name.map(|name| format!("{REF}t.{name}")) {
                    Some(target) if word == "$ref" => *value = Value::String(target),
                    _ => of_module(value),
                }
            }
        }
        Value::Array(all) => all.iter_mut().for_each(of_module),
        _ => {}
    }
}

/// `names.py`: an exception for each name of an error.
pub(super) fn names(model: &Model) -> anyhow::Result<String> {
    let mut text = format!("\"\"\"An exception for each name of an error.\"\"\"\n\n{MADE}");
    text.push_str("from __future__ import annotations\n\nfrom typing import Dict, Type\n\nfrom .errors import NodeError\n");
    let known = model.types.get("ErrorName").map(|schema| model::form("ErrorName", schema));
    let words = match known {
        Some(Form::Words(words)) => words,
        _ => Vec::new(),
    };
    for error in ErrorName::ALL {
        let about =
            words.iter().find(|(word, _)| word == error.as_str()).map_or("", |(_, about)| about.as_str());
        write!(text, "\n\nclass {}(NodeError):\n    {}\n", pascal(error.as_str()), docstring(about))?;
        writeln!(text, "\n    NAME = {}", quoted(error.as_str()))?;
        writeln!(text, "    CODE = {}\n    HTTP_STATUS = {}", error.code(), error.http_status())?;
    }
    text.push_str("\n\nBY_NAME: Dict[str, Type[NodeError]] = {\n");
    for error in ErrorName::ALL {
        writeln!(text, "    {}: {},", quoted(error.as_str()), pascal(error.as_str()))?;
    }
    text.push_str("}\n");
    Ok(text)
}

/// A name as Python takes it.
fn safe(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("{name}_") } else { name.to_owned() }
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

fn docstring(text: &str) -> String {
    format!("\"\"\"{}\"\"\"", escaped(text))
}

/// Text for a docstring, in which a backslash would begin something and a last quote would end it.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "'")
}
