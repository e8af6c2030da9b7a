//! `edgeplane agent install`: run an agent's preparation, because somebody asked.

use std::path::Path;

use anyhow::Context as _;
use clap::Args;
use edgeplane_client::Notification;
use edgeplane_wire::{
    api::agent::{AgentParams, ApplyParams},
    catalogue::{AgentApply, AgentInstall, Call},
};
use serde_json::Value;

use super::Outcome;
use crate::{
    command::apply,
    context::{Answer, Context},
    output::Format,
    quantity::human_millis,
};

/// Run an agent's preparation steps
///
/// Carries out `spec.prepare` of the manifest with progress: builds an environment, fetches a model or a package by its
/// digest. Nothing is ever installed by itself, and this can be repeated: what is done is not done again. A file is
/// applied first, and every agent in it is installed.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane agent install reviewer
  edgeplane agent install ./agents/reviewer.yaml
  edgeplane agent install reviewer -o json | jq '.steps[].outcome'")]
pub(crate) struct InstallArgs {
    /// The agent's name or id, or a file of manifests
    #[arg(value_name = "NAME|FILE")]
    target: String,
}

pub(crate) fn run(args: &InstallArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut node = context.connect()?;
    let names = if is_file(&args.target) {
        let documents = apply::documents(&[Path::new(&args.target).to_owned()])?;
        let answer = context.ask_over::<AgentApply>(&mut node, &ApplyParams { documents, dry_run: false })?;
        answer.read()?.items.into_iter().map(|applied| applied.name).collect()
    } else {
        vec![args.target.clone()]
    };
    let mut answers = Vec::new();
    let is_quiet = context.out.manner.quiet;
    for name in &names {
        node.doing = Some(format!("installing {name}"));
        let params = AgentParams { agent: name.clone() };
        let mut watch = |notification: Notification| {
            let shows = !is_quiet && notification.method == "core/progress";
            shows.then(|| progress_text(name, &notification.params))
        };
        let raw = node
            .call_watching(AgentInstall::NAME, &params, context.long_patience(), &mut watch)
            .with_context(|| format!("cannot install `{name}`"))?;
        answers.push(Answer::<AgentInstall>::new(raw));
    }
    show(context, &answers)?;
    Ok(Outcome::Done)
}

/// A name has neither a slash nor an ending.
fn is_file(target: &str) -> bool {
    target.contains('/') || target.ends_with(".yaml") || target.ends_with(".yml")
}

/// What a progress notification says, whatever fields it has.
fn progress_text(name: &str, params: &Value) -> String {
    let field = |key: &str| params.get(key).and_then(Value::as_str).unwrap_or_default();
    let said: Vec<_> =
        ["step", "state", "text"].iter().map(|key| field(key)).filter(|text| !text.is_empty()).collect();
    if said.is_empty() {
        format!("{name}: {}", crate::json::compact(params))
    } else {
        format!("{name}: {}", said.join(": "))
    }
}

fn show(context: &mut Context, answers: &[Answer<AgentInstall>]) -> anyhow::Result<()> {
    if context.out.format() != Format::Table {
        let values = answers.iter().map(Answer::value).collect::<anyhow::Result<Vec<_>>>()?;
        return match values.as_slice() {
            [one] => Ok(context.out.value(one)?),
            several => Ok(context.out.value(&serde_json::json!({ "items": several }))?),
        };
    }
    for answer in answers {
        let result = answer.read()?;
        if result.steps.is_empty() {
            context.out.line(&format!("{} needs no preparation", result.name))?;
        }
        for step in result.steps {
            let took = human_millis(step.took_ms);
            context.out.line(&format!("{}: {} {} ({took})", result.name, step.name, step.outcome))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_and_names_are_told_apart() {
        assert!(is_file("./a") && is_file("a.yaml") && is_file("dir/a.yml"));
        assert!(!is_file("reviewer") && !is_file("agt_018f0000"));
    }

    #[test]
    fn progress_is_shown_whatever_it_holds() {
        assert_eq!(progress_text("a", &json!({ "step": "venv", "state": "running" })), "a: venv: running");
        assert_eq!(progress_text("a", &json!({ "odd": 1 })), "a: {\"odd\":1}");
    }
}
