//! `edgeplane agent init`: a manifest to begin with.
//!
//! Owns the templates, which are data, and the writing of all the files of one or none. It looks for no program and starts
//! nothing: what is there on this machine is the question of `agent probe`.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use edgeplane_os::atomic;
use edgeplane_types::{AgentName, ErrorName};
use serde_json::json;

use super::Outcome;
use crate::{
    context::Context,
    failure::{Failure, Misuse},
    output::Format,
    table::{Table, cell},
};

/// The module that programs in Python import.
const MODULE: (&str, &str) =
    ("edgeplane_agent.py", include_str!("../../../../../examples/agents/python/edgeplane_agent.py"));

/// What of a program's name is not the agent's. With a hyphen in it, no name makes a file that hides a library.
const PROGRAM_ENDING: &str = "-agent.py";

/// Rights of the files: programs are to be run.
const MANIFEST_MODE: u32 = 0o644;
const PROGRAM_MODE: u32 = 0o755;

/// What there is to begin with.
#[derive(Debug)]
struct Template {
    name: &'static str,
    about: &'static str,
    /// By driver, the one that is taken unless another is named first.
    manifests: &'static [(DriverWord, &'static str)],
    program: Option<&'static str>,
}

/// How a program is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum DriverWord {
    /// The Agent Client Protocol.
    Acp,
    /// A terminal.
    Terminal,
    /// EdgePlane's own lines.
    Native,
}

impl DriverWord {
    fn as_str(self) -> &'static str {
        match self {
            Self::Acp => "acp",
            Self::Terminal => "terminal",
            Self::Native => "native",
        }
    }
}

macro_rules! template {
    ($file:literal) => {
        include_str!(concat!("../../../templates/", $file))
    };
}

use DriverWord::{Acp, Native, Terminal};

const TEMPLATES: &[Template] = &[
    Template {
        name: "claude-code",
        about: "Claude Code, a coding agent; npm @agentclientprotocol/claude-agent-acp",
        manifests: &[
            (Acp, template!("claude-code.yaml")),
            (Terminal, template!("claude-code.terminal.yaml")),
        ],
        program: None,
    },
    Template {
        name: "codex",
        about: "Codex, a coding agent; npm @agentclientprotocol/codex-acp",
        manifests: &[(Acp, template!("codex.yaml")), (Terminal, template!("codex.terminal.yaml"))],
        program: None,
    },
    Template {
        name: "gemini",
        about: "Gemini CLI, a coding agent; npm @google/gemini-cli",
        manifests: &[(Acp, template!("gemini.yaml")), (Terminal, template!("gemini.terminal.yaml"))],
        program: None,
    },
    Template {
        name: "opencode",
        about: "OpenCode, a coding agent; npm opencode-ai",
        manifests: &[(Acp, template!("opencode.yaml")), (Terminal, template!("opencode.terminal.yaml"))],
        program: None,
    },
    Template {
        name: "qwen",
        about: "Qwen Code, a coding agent; npm @qwen-code/qwen-code",
        manifests: &[(Acp, template!("qwen.yaml")), (Terminal, template!("qwen.terminal.yaml"))],
        program: None,
    },
    Template {
        name: "goose",
        about: "Goose, a general agent",
        manifests: &[(Acp, template!("goose.yaml")), (Terminal, template!("goose.terminal.yaml"))],
        program: None,
    },
    Template {
        name: "aider",
        about: "Aider, a coding agent on a terminal; PyPI aider-chat",
        manifests: &[(Terminal, template!("aider.yaml"))],
        program: None,
    },
    Template {
        name: "shell",
        about: "a shell on a terminal",
        manifests: &[(Terminal, template!("shell.yaml"))],
        program: None,
    },
    Template {
        name: "python",
        about: "a program of your own in Python, without any library",
        manifests: &[(Native, template!("python.yaml"))],
        program: Some(template!("python.py")),
    },
    Template {
        name: "langgraph",
        about: "a LangGraph graph; PyPI langgraph",
        manifests: &[(Native, template!("langgraph.yaml"))],
        program: Some(template!("langgraph.py")),
    },
    Template {
        name: "crewai",
        about: "a CrewAI crew; PyPI crewai",
        manifests: &[(Native, template!("crewai.yaml"))],
        program: Some(template!("crewai.py")),
    },
    Template {
        name: "autogen",
        about: "an AutoGen assistant; PyPI autogen-agentchat",
        manifests: &[(Native, template!("autogen.yaml"))],
        program: Some(template!("autogen.py")),
    },
];

/// Write a manifest to begin with
///
/// Writes a manifest with comments for a known program, and for Python a program with the one file that it needs. Nothing
/// is installed or started: `edgeplane agent probe` finds out whether it works here. Without a template all are listed.
#[derive(Debug, Args)]
#[command(after_help = "\
TEMPLATES:
  claude-code, codex   Claude Code; Codex (acp, terminal)
  gemini, qwen         Gemini CLI; Qwen Code (acp, terminal)
  opencode, goose      OpenCode; Goose (acp, terminal)
  aider, shell         Aider; a shell (terminal)
  python               a program of your own, without any library (native)
  langgraph            a LangGraph graph (native)
  crewai, autogen      a CrewAI crew; an AutoGen assistant (native)

EXAMPLES:
  edgeplane agent init
  edgeplane agent init claude-code --name reviewer
  edgeplane agent init codex --driver terminal --out agents/codex.yaml
  edgeplane agent init python --name helper")]
pub(crate) struct InitArgs {
    /// Which; all are listed without it
    #[arg(value_name = "TEMPLATE")]
    template: Option<String>,
    /// The agent's name; the template's if not given
    #[arg(long, value_name = "NAME", requires = "template")]
    name: Option<AgentName>,
    /// How it is spoken to, where there is a choice
    #[arg(long, value_enum, value_name = "DRIVER", requires = "template")]
    driver: Option<DriverWord>,
    /// The manifest's file; NAME.yaml here if not given
    #[arg(long, value_name = "FILE", requires = "template")]
    out: Option<PathBuf>,
    /// Write over what is there
    #[arg(long, requires = "template")]
    force: bool,
}

/// A file to be written.
#[derive(Debug)]
struct Draft {
    path: PathBuf,
    text: String,
    mode: u32,
}

pub(crate) fn run(args: &InitArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let Some(wanted) = &args.template else { return list(context) };
    let Some(template) = TEMPLATES.iter().find(|template| template.name == wanted) else {
        let names: Vec<_> = TEMPLATES.iter().map(|template| template.name).collect();
        let failure = Failure::new(ErrorName::NotFound, format!("there is no template `{wanted}`"));
        return Err(failure.hint(format!("use one of {}", names.join(", "))).into());
    };
    let (driver, manifest) = choose(template, args.driver)?;
    let name = args.name.as_ref().map_or(template.name, AgentName::as_str);
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.yaml")));
    let drafts = drafts(template, manifest, name, &out);
    write(&drafts, args.force)?;
    say(context, &drafts, &json!({ "template": template.name, "driver": driver.as_str(), "name": name }))?;
    Ok(Outcome::Done)
}

fn list(context: &mut Context) -> anyhow::Result<Outcome> {
    let drivers = |template: &Template| -> Vec<&str> {
        template.manifests.iter().map(|(driver, _)| driver.as_str()).collect()
    };
    if context.out.format() == Format::Table {
        let mut table = Table::new(&["TEMPLATE", "DRIVER", "WHAT IT IS"]);
        for template in TEMPLATES {
            table.row([cell(template.name), drivers(template).join(", "), cell(template.about)]);
        }
        context.out.table(&table)?;
    } else {
        let items: Vec<_> = TEMPLATES
            .iter()
            .map(|template| json!({ "name": template.name, "drivers": drivers(template), "about": template.about }))
            .collect();
        context.out.value(&json!({ "items": items }))?;
    }
    Ok(Outcome::Done)
}

fn choose(template: &Template, wanted: Option<DriverWord>) -> anyhow::Result<(DriverWord, &'static str)> {
    let found = match wanted {
        Some(driver) => template.manifests.iter().find(|(of, _)| *of == driver),
        None => template.manifests.first(),
    };
    found.copied().ok_or_else(|| {
        let there: Vec<_> = template.manifests.iter().map(|(driver, _)| driver.as_str()).collect();
        Misuse(format!("template `{}` has only the driver {}", template.name, there.join(" and "))).into()
    })
}

/// The files of a template under another name.
fn drafts(template: &Template, manifest: &str, name: &str, out: &Path) -> Vec<Draft> {
    let file = out.display().to_string();
    let own = template.name;
    let text = manifest
        .replace(&format!("\n  name: {own}\n"), &format!("\n  name: {name}\n"))
        .replace(&format!("{own}{PROGRAM_ENDING}"), &format!("{name}{PROGRAM_ENDING}"))
        .replace(&format!("edgeplane signal {own} "), &format!("edgeplane signal {name} "))
        .replace(&format!("edgeplane transcript {own} "), &format!("edgeplane transcript {name} "))
        .replace(&format!("edgeplane attach {own} "), &format!("edgeplane attach {name} "))
        .replace("agent probe FILE ", &format!("agent probe {file} "))
        .replace("apply -f FILE ", &format!("apply -f {file} "));
    let mut drafts = vec![Draft { path: out.to_owned(), text, mode: MANIFEST_MODE }];
    if let Some(program) = template.program {
        let beside = |name: &str| out.with_file_name(name);
        let path = beside(&format!("{name}{PROGRAM_ENDING}"));
        drafts.push(Draft { path, text: program.to_owned(), mode: PROGRAM_MODE });
        drafts.push(Draft { path: beside(MODULE.0), text: MODULE.1.to_owned(), mode: MANIFEST_MODE });
    }
    drafts
}

/// Writes all of them, or none if one is there already and is another.
fn write(drafts: &[Draft], force: bool) -> anyhow::Result<()> {
    for draft in drafts {
        let is_there = std::fs::symlink_metadata(&draft.path).is_ok();
        let is_same = is_there && std::fs::read_to_string(&draft.path).is_ok_and(|text| text == draft.text);
        if is_there && !is_same && !force {
            let message = format!("`{}` is there already", draft.path.display());
            let failure = Failure::new(ErrorName::Conflict, message);
            return Err(failure.hint("`--out` names another file, `--force` writes over this one").into());
        }
    }
    for draft in drafts {
        // A bare name lies in the folder where the person stands.
        let path = std::path::absolute(&draft.path)
            .with_context(|| format!("cannot resolve `{}`", draft.path.display()))?;
        atomic::write_atomic(&path, draft.text.as_bytes(), draft.mode)?;
    }
    Ok(())
}

fn say(context: &mut Context, drafts: &[Draft], what: &serde_json::Value) -> anyhow::Result<()> {
    let files: Vec<_> = drafts.iter().map(|draft| draft.path.display().to_string()).collect();
    if context.out.format() != Format::Table {
        let mut value = what.clone();
        if let Some(fields) = value.as_object_mut() {
            fields.insert("files".to_owned(), json!(files));
        }
        return Ok(context.out.value(&value)?);
    }
    for file in &files {
        context.out.line(&format!("wrote {file}"))?;
    }
    let manifest = files.first().map_or("", String::as_str);
    Ok(context.out.line(&format!("next: edgeplane agent probe {manifest}"))?)
}

#[cfg(test)]
mod tests {
    use edgeplane_manifest::{Found, describe, requirements};

    use super::*;

    /// Proves DRV-053.
    #[test]
    fn every_template_is_a_manifest_that_can_be_read_offline() {
        for template in TEMPLATES {
            for (driver, text) in template.manifests {
                for name in [template.name, "another-name"] {
                    let out = Path::new("x/agent.yaml");
                    let drafts = drafts(template, text, name, out);
                    let manifest = drafts.first().unwrap();
                    let found = edgeplane_manifest::parse("agent.yaml", &manifest.text)
                        .unwrap_or_else(|problems| panic!("{} {driver:?}: {problems:?}", template.name));
                    let [agent] = found.as_slice() else { panic!("{} holds several", template.name) };
                    assert_eq!(agent.metadata.name.as_str(), name);
                    let kind = serde_json::to_value(&agent.spec.driver).unwrap()["type"].clone();
                    assert_eq!(kind, driver.as_str(), "{}", template.name);
                    assert!(
                        !requirements(agent).is_empty(),
                        "{}: at least its program is needed",
                        template.name
                    );
                    assert!(!describe(agent, &Found::default()).metadata.description.unwrap().is_empty());
                    assert!(
                        manifest.text.contains("edgeplane agent probe x/agent.yaml"),
                        "{}",
                        manifest.text
                    );
                    let command = agent.spec.command.first().unwrap();
                    assert_eq!(template.program.is_some(), command == &format!("./{name}-agent.py"));
                    assert_eq!(drafts.len(), if template.program.is_some() { 3 } else { 1 });
                }
            }
        }
    }

    /// Proves DRV-053.
    #[test]
    fn help_names_every_template() {
        use clap::Args as _;
        let command = InitArgs::augment_args(clap::Command::new("init"));
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for template in TEMPLATES {
            assert!(help.contains(template.name), "{}", template.name);
        }
    }
}
