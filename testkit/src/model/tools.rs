//! Which of the offered tools does what the script means, and with which arguments.

use serde_json::{Map, Value, json};

use super::{
    Action, Offered,
    asked::{Form, items},
};

/// Names of tools that run a command line, the likeliest first.
const SHELLS: &[&str] = &[
    "exec_command",
    "shell_command",
    "shell",
    "local_shell",
    "run_shell_command",
    "Bash",
    "bash",
    "run_command",
    "run_terminal_cmd",
    "execute_command",
    "terminal",
];

/// Names of tools that write a whole file, the likeliest first.
const WRITERS: &[&str] = &[
    "write_file",
    "Write",
    "write",
    "create_file",
    "write_to_file",
    "str_replace_based_edit_tool",
    "apply_patch",
];

/// Names of arguments for the same thing.
const COMMANDS: &[&str] = &["command", "cmd", "script", "commands", "command_line"];
const PATHS: &[&str] = &["file_path", "path", "absolute_path", "filePath", "filename", "file"];
const CONTENTS: &[&str] = &["content", "contents", "file_text", "text", "new_string"];
const PATCHES: &[&str] = &["input", "patch"];

/// A call of an offered tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    /// What the program will answer under.
    pub(super) id: String,
    pub(super) name: String,
    pub(super) namespace: Option<String>,
    pub(super) input: Input,
}

/// What a tool gets.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Input {
    Arguments(Map<String, Value>),
    Text(String),
    Command(Vec<String>),
}

impl Input {
    /// As a JSON object, for dialects that know nothing else.
    pub(super) fn object(&self) -> Value {
        match self {
            Self::Arguments(arguments) => Value::Object(arguments.clone()),
            Self::Text(text) => json!({ "input": text }),
            Self::Command(words) => json!({ "command": words }),
        }
    }
}

/// The call that does what the script means, or why no offered tool can.
pub(super) fn choose(action: &Action, tools: &[Offered], id: String) -> Result<Call, String> {
    let found = match action {
        Action::Shell { command, with_leave } => shell(tools).and_then(|tool| {
            let input = shell_input(tool, command)?;
            Some((tool, if *with_leave { ask_leave(tool, input) } else { input }))
        }),
        Action::Write { path, content } => writer(tools, path, content),
        Action::Tool { name, arguments } => {
            named(tools, name).map(|tool| (tool, given(&tool.form, arguments)))
        }
    };
    let Some((tool, input)) = found else {
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        return Err(format!("no tool for {action:?} among {names:?}"));
    };
    Ok(Call { id, name: tool.name.clone(), namespace: tool.namespace.clone(), input })
}

fn shell(tools: &[Offered]) -> Option<&Offered> {
    first_named(tools, SHELLS).or_else(|| {
        let like = |tool: &&Offered| {
            let name = tool.name.to_lowercase();
            ["shell", "bash", "exec", "command"].iter().any(|part| name.contains(part))
        };
        tools.iter().filter(|tool| shell_input(tool, "").is_some()).find(like)
    })
}

fn shell_input(tool: &Offered, command: &str) -> Option<Input> {
    let words = || vec!["bash".to_owned(), "-lc".to_owned(), command.to_owned()];
    match &tool.form {
        Form::LocalShell => Some(Input::Command(words())),
        Form::Freeform => None,
        Form::Function(schema) => {
            let (name, about) = argument(schema, COMMANDS)?;
            let value = if is_list(about) { json!(words()) } else { json!(command) };
            Some(Input::Arguments(filled(schema, [(name, value)])))
        }
    }
}

/// Says that the call needs leave, if the tool lets the model say so.
fn ask_leave(tool: &Offered, input: Input) -> Input {
    let (Form::Function(schema), Input::Arguments(mut arguments)) = (&tool.form, input.clone()) else {
        return input;
    };
    let lets =
        items(&schema["properties"]["sandbox_permissions"]["enum"]).contains(&json!("require_escalated"));
    if lets {
        arguments.insert("sandbox_permissions".to_owned(), json!("require_escalated"));
        arguments.insert("justification".to_owned(), json!("The script asks for it."));
    }
    Input::Arguments(arguments)
}

/// The writing tool, or failing that the shell with a here-document.
fn writer<'a>(tools: &'a [Offered], path: &str, content: &str) -> Option<(&'a Offered, Input)> {
    let fits = WRITERS.iter().find_map(|name| {
        let tool = tools.iter().find(|tool| tool.name == *name)?;
        Some((tool, writer_input(tool, path, content)?))
    });
    fits.or_else(|| {
        let tool = shell(tools)?;
        let command = format!("cat > '{path}' <<'END_OF_CONTENT'\n{content}\nEND_OF_CONTENT");
        Some((tool, shell_input(tool, &command)?))
    })
}

fn writer_input(tool: &Offered, path: &str, content: &str) -> Option<Input> {
    match &tool.form {
        Form::LocalShell => None,
        Form::Freeform => Some(Input::Text(patch(path, content))),
        Form::Function(schema) => {
            let whole = argument(schema, PATHS).zip(argument(schema, CONTENTS));
            if let Some(((at, _), (with, _))) = whole {
                let mut given = vec![(at, json!(path)), (with, json!(content))];
                // Of a tool that does several things with files, the one that makes a new one.
                given.extend(argument(schema, &["command"]).map(|(name, _)| (name, json!("create"))));
                return Some(Input::Arguments(filled(schema, given)));
            }
            let (name, _) = argument(schema, PATCHES)?;
            Some(Input::Arguments(filled(schema, [(name, json!(patch(path, content)))])))
        }
    }
}

fn patch(path: &str, content: &str) -> String {
    let added: String = content.lines().map(|line| format!("+{line}\n")).collect();
    format!("*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch")
}

fn given(form: &Form, arguments: &Value) -> Input {
    match (form, arguments) {
        (Form::Freeform, Value::String(text)) => Input::Text(text.clone()),
        (_, Value::Object(arguments)) => Input::Arguments(arguments.clone()),
        (_, other) => Input::Text(other.to_string()),
    }
}

fn first_named<'a>(tools: &'a [Offered], names: &[&str]) -> Option<&'a Offered> {
    names.iter().find_map(|name| tools.iter().find(|tool| tool.name == *name))
}

fn named<'a>(tools: &'a [Offered], name: &str) -> Option<&'a Offered> {
    if let Some(tool) = tools.iter().find(|tool| tool.name == name) {
        return Some(tool);
    }
    let mut ending = tools.iter().filter(|tool| tool.name.ends_with(name));
    let only = ending.next()?;
    ending.next().is_none().then_some(only)
}

/// The first of these names that the schema has, and what it says about it.
fn argument<'a>(schema: &'a Value, names: &[&'a str]) -> Option<(&'a str, &'a Value)> {
    names.iter().find_map(|name| Some((*name, schema.get("properties")?.get(name)?)))
}

fn is_list(about: &Value) -> bool {
    // Gemini writes the names of types in capitals.
    about["type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("array"))
}

/// The given arguments, and something harmless for whatever else the schema requires.
fn filled<'a>(schema: &Value, given: impl IntoIterator<Item = (&'a str, Value)>) -> Map<String, Value> {
    let mut all: Map<String, Value> =
        given.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    for name in items(&schema["required"]).iter().filter_map(Value::as_str) {
        if !all.contains_key(name) {
            all.insert(name.to_owned(), harmless(&schema["properties"][name]));
        }
    }
    all
}

/// Something that fits a schema and says nothing.
pub(super) fn harmless(about: &Value) -> Value {
    if let Some(first) = items(&about["enum"]).first() {
        return first.clone();
    }
    match about["type"].as_str().unwrap_or_default().to_lowercase().as_str() {
        "boolean" => json!(false),
        "number" | "integer" => json!(0),
        "array" => json!([]),
        "object" => Value::Object(filled(about, [])),
        _ => json!("as the script says"),
    }
}

#[cfg(test)]
mod tests;
