//! `edgeplane policy`: the rules of who may say what to whom.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use edgeplane_types::{Authority, Channel, PolicyAction, PolicyLayer, SafeLabel};
use edgeplane_wire::{
    api::{
        Empty,
        policy::{CheckParams, ExplainParams, ExplainResult, PolicyFile, RulesResult},
    },
    catalogue::{DecisionExplain, RuleCheck, RuleList, RuleReload},
};
use serde_json::Value;

use super::Outcome;
use crate::{
    context::Context,
    output::{Color, Output, paint},
    table::{Table, cell},
};

/// Look at the rules: who may send what to whom, with which force
///
/// Rules are files in `policy/organisation` and `policy/node` of the state directory, and `spec.policy` of a manifest. A
/// layer further down can only tighten. Files are read again within a second of a change; a bad one is refused while the
/// rules before stay in force.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane policy list
  edgeplane policy explain --from writer --to reviewer
  edgeplane policy test rules.cedar --from external --to reviewer")]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    command: PolicyCommand,
}

#[derive(Debug, Subcommand)]
enum PolicyCommand {
    List(ListArgs),
    Explain(ExplainArgs),
    Test(TestArgs),
    Reload(ReloadArgs),
}

/// List the rules that are in force
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane policy list
  edgeplane policy list -o json | jq '.rejected'")]
struct ListArgs {}

/// Read the files of rules now
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane policy reload
  edgeplane policy reload -o json | jq .digest")]
struct ReloadArgs {}

/// Tell what the rules say of a request, and which rule decides
///
/// The request is only imagined: nothing is sent. The exit code is 1 if it would be refused.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane policy explain --from writer --to reviewer
  edgeplane policy explain --from external --to reviewer --bytes 100000
  edgeplane policy explain --from writer --to reviewer --action supervise
  edgeplane policy explain --from service:ci --to reviewer -o json")]
struct ExplainArgs {
    #[command(flatten)]
    request: RequestArgs,
    /// The agent it is wanted of
    #[arg(long, value_name = "NAME")]
    to: String,
}

/// Look whether files of rules could be put in force, and what they would say
///
/// With `--to` a request is decided as if they were in force in the place of their layer. The exit code is 1 if something
/// is wrong with them or they would refuse it.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane policy test rules.cedar
  edgeplane policy test rules.cedar --from writer --to reviewer
  edgeplane policy test org/a.cedar org/b.cedar --layer organisation")]
struct TestArgs {
    /// The files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The layer they are for: organisation, node or agent
    #[arg(long, default_value = "node", value_parser = layer)]
    layer: PolicyLayer,
    #[command(flatten)]
    request: RequestArgs,
    /// The agent that a request is wanted of
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
}

#[derive(Debug, Args)]
struct RequestArgs {
    /// Who wants it: an agent, operator, node, external or service:NAME; left out: you
    #[arg(long, value_name = "WHO")]
    from: Option<String>,
    /// What is wanted: send, attach, control, supervise or approve
    #[arg(long, default_value = "send", value_parser = action)]
    action: PolicyAction,
    /// On which channel; left out: the sender's own
    #[arg(long, value_parser = channel)]
    channel: Option<Channel>,
    /// With which authority; left out: the most that the sender has
    #[arg(long, value_parser = authority)]
    authority: Option<Authority>,
    /// How many bytes of content
    #[arg(long, default_value_t = 0)]
    bytes: u64,
    /// On which topic
    #[arg(long)]
    topic: Option<SafeLabel>,
    /// After how many agents
    #[arg(long, default_value_t = 0)]
    hops: u32,
}

impl RequestArgs {
    fn params(&self, to: &str) -> ExplainParams {
        ExplainParams {
            action: self.action,
            from: self.from.clone(),
            to: to.to_owned(),
            channel: self.channel,
            authority: self.authority,
            bytes: self.bytes,
            topic: self.topic.clone(),
            hops: self.hops,
        }
    }
}

fn one_of<T: Copy>(text: &str, all: &'static [T], word: impl Fn(T) -> &'static str) -> Result<T, String> {
    let found = all.iter().copied().find(|value| word(*value) == text);
    found.ok_or_else(|| {
        let words: Vec<_> = all.iter().map(|value| word(*value)).collect();
        format!("use one of {}", words.join(", "))
    })
}

fn layer(text: &str) -> Result<PolicyLayer, String> {
    one_of(text, PolicyLayer::ALL, PolicyLayer::as_str)
}

fn action(text: &str) -> Result<PolicyAction, String> {
    one_of(text, PolicyAction::ALL, PolicyAction::as_str)
}

fn channel(text: &str) -> Result<Channel, String> {
    one_of(text, Channel::ALL, Channel::as_str)
}

fn authority(text: &str) -> Result<Authority, String> {
    one_of(text, Authority::ALL, Authority::as_str)
}

pub(crate) fn run(args: &PolicyArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match &args.command {
        PolicyCommand::List(_) => {
            let answer = context.ask::<RuleList>(&Empty {})?;
            context.show(&answer, |out, result| list(out, &result))?;
            Ok(Outcome::Done)
        }
        PolicyCommand::Reload(_) => {
            let answer = context.ask::<RuleReload>(&Empty {})?;
            let is_clean = answer.read()?.rejected.is_empty();
            context.show(&answer, |out, result| list(out, &result))?;
            Ok(if is_clean { Outcome::Done } else { Outcome::Found })
        }
        PolicyCommand::Explain(args) => {
            let answer = context.ask::<DecisionExplain>(&args.request.params(&args.to))?;
            let allowed = answer.read()?.allowed;
            context.show(&answer, |out, result| explain(out, &result))?;
            Ok(if allowed { Outcome::Done } else { Outcome::Found })
        }
        PolicyCommand::Test(args) => test(args, context),
    }
}

fn test(args: &TestArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut files = Vec::with_capacity(args.files.len());
    for path in &args.files {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
        files.push(PolicyFile { name: path.display().to_string(), text });
    }
    let request = args.to.as_ref().map(|to| args.request.params(to));
    let answer = context.ask::<RuleCheck>(&CheckParams { layer: args.layer, files, request })?;
    let result = answer.read()?;
    context.show(&answer, |out, result| {
        if !result.ok {
            for problem in &result.problems {
                out.line(&format!("{} {}", paint(Color::Red, "wrong"), cell(problem)))?;
            }
            return Ok(());
        }
        let rules = crate::quantity::counted(result.rules, "rule");
        out.line(&format!("{}: {rules} for the layer {}", paint(Color::Green, "ok"), args.layer.as_str()))?;
        result.decision.as_ref().map_or(Ok(()), |decision| explain(out, decision))
    })?;
    let passes = result.ok && result.decision.is_none_or(|decision| decision.allowed);
    Ok(if passes { Outcome::Done } else { Outcome::Found })
}

fn list(out: &mut Output, result: &RulesResult) -> anyhow::Result<()> {
    let mut table = Table::new(&["LAYER", "RULE", "EFFECT", "FILE", "LINE"]);
    for rule in &result.items {
        table.row([
            rule.layer.as_str().to_owned(),
            rule.id.to_string(),
            rule.effect.clone(),
            cell(&rule.file),
            rule.line.to_string(),
        ]);
    }
    out.table(&table)?;
    for problem in &result.rejected {
        out.line(&format!("{} {}", paint(Color::Red, "not in force:"), cell(problem)))?;
    }
    out.note(&format!("files are read from {}", result.folders.join(" and ")));
    Ok(())
}

fn explain(out: &mut Output, result: &ExplainResult) -> anyhow::Result<()> {
    let layer = result.layer.map_or("node", PolicyLayer::as_str);
    if result.allowed {
        let mut limits = Vec::new();
        limits.extend(result.authority.map(|authority| format!("authority {authority}")));
        limits.extend(result.rate_per_minute.map(|rate| format!("{rate} a minute")));
        limits.extend(result.bytes_max.map(|bytes| format!("at most {bytes} bytes")));
        let limits = limits.join(", ");
        out.line(&format!(
            "{} by rule {} of layer {layer}: {limits}",
            paint(Color::Green, "allowed"),
            result.rule
        ))?;
    } else {
        let reason = result.reason.as_deref().unwrap_or_default();
        out.line(&format!(
            "{} by rule {} of layer {layer}: {}",
            paint(Color::Red, "refused"),
            result.rule,
            cell(reason)
        ))?;
    }
    let mut table = Table::new(&["LAYER", "RULE", "EFFECT", "AUTHORITY", "FILE"]);
    let mut rows = 0_usize;
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or("-").to_owned();
    for layer in result.detail.as_array().into_iter().flatten() {
        for rule in layer.get("matched").and_then(Value::as_array).into_iter().flatten() {
            let line = rule.get("line").and_then(Value::as_u64).unwrap_or(0);
            rows = rows.saturating_add(1);
            table.row([
                text(layer, "layer"),
                cell(text(rule, "rule")),
                text(rule, "effect"),
                text(rule, "authority"),
                format!("{}:{line}", cell(text(rule, "file"))),
            ]);
        }
    }
    if rows > 0 {
        out.table(&table)?;
    }
    Ok(())
}
