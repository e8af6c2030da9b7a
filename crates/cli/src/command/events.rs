//! `edgeplane events`: the record, read and followed.

mod line;

use std::collections::BTreeMap;

use clap::Args;
use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::{
        agent::ListParams,
        stream::{EventView, ReadParams, StreamEvent, StreamState, SubscribeParams},
    },
    catalogue::{AgentList, StreamRead, StreamSubscribe},
};
use serde_json::Value;

use super::{Outcome, agent::list};
use crate::{context::Context, failure::Failure, node::Node, output::Format};

/// Events asked for at a time.
const PAGE: u32 = 1_000;

/// Print the events of the record
///
/// Every change of every agent, every message and every start of the node is an event, in the order in which it was
/// recorded. With `-o json` each is one object a line, with at least `type`, `stream`, `seq`, `ts`, `payload`, `pos` and
/// `hash`; that form is stable. `-f` goes on as they come: from now on, unless `--after` or `--limit` says from where.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane events -f
  edgeplane events --agent reviewer --type 'message.*' --limit 20
  edgeplane events --after 0 -o json | jq -r .type | sort | uniq -c
  edgeplane events -f --type agent.failed --type agent.exited")]
pub(crate) struct EventsArgs {
    /// Go on as they come, until interrupted
    #[arg(short, long)]
    follow: bool,
    /// Only this agent's, by name or id
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Only this type; may end in `.*` and be given several times
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,
    /// Only after this position of the node; with `--agent`, this number of its stream
    #[arg(long, value_name = "POS")]
    after: Option<u64>,
    /// The newest N, or with `--after` the next N
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
}

pub(crate) fn run(args: &EventsArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut node = context.connect()?;
    let names = names(context, &mut node);
    let params = ReadParams {
        agent: args.agent.clone(),
        after: args.after.unwrap_or(0),
        types: args.types.clone(),
        limit: args.limit,
        newest: args.limit.is_some() && args.after.is_none(),
    };
    // To follow from now on, nothing is read.
    let reads = !args.follow || args.after.is_some() || args.limit.is_some();
    let last = if reads { read_all(params, &names, &mut node, context)? } else { None };
    if args.follow {
        follow(args, last, &names, &mut node, context)?;
    }
    Ok(Outcome::Done)
}

/// Prints the events that `params` names, and nothing else.
pub(crate) fn print_all(params: ReadParams, context: &mut Context) -> anyhow::Result<()> {
    let mut node = context.connect()?;
    let names = names(context, &mut node);
    read_all(params, &names, &mut node, context).map(drop)
}

/// The names of agents by their streams, for people; programs have the ids.
fn names(context: &Context, node: &mut Node) -> BTreeMap<String, String> {
    if context.out.format() != Format::Table {
        return BTreeMap::new();
    }
    let params = ListParams { retired: true, ..ListParams::default() };
    // Without names the ids are shown.
    let agents = context.ask_over::<AgentList>(node, &params).and_then(|answer| answer.read());
    let agents = agents.map(|result| result.items).unwrap_or_default();
    let named = agents
        .iter()
        .map(|agent| (agent.status.identities.audit.stream.to_string(), list::name(agent).to_owned()));
    named.collect()
}

/// Prints page after page; gives the position of the last event.
fn read_all(
    mut params: ReadParams,
    names: &BTreeMap<String, String>,
    node: &mut Node,
    context: &mut Context,
) -> anyhow::Result<Option<u64>> {
    let mut left = params.limit;
    let mut last = None;
    loop {
        params.limit = Some(left.map_or(PAGE, |left| if params.newest { left } else { left.min(PAGE) }));
        let page = context.ask_over::<StreamRead>(node, &params)?.read()?;
        for event in &page.items {
            print(event, names, context)?;
            last = Some(event.pos);
        }
        let count = u32::try_from(page.items.len()).unwrap_or(u32::MAX);
        left = left.map(|left| left.saturating_sub(count));
        // A page that does not lead on would be read for ever.
        let goes_on = page.next > params.after && !page.end && !params.newest && left != Some(0);
        if !goes_on {
            return Ok(last);
        }
        params.after = page.next;
    }
}

fn follow(
    args: &EventsArgs,
    last: Option<u64>,
    names: &BTreeMap<String, String>,
    node: &mut Node,
    context: &mut Context,
) -> anyhow::Result<()> {
    // Subscriptions count by the node's positions, so the number of an agent's stream is of no use here.
    let after = last.or(if args.agent.is_none() { args.after } else { None });
    let params = SubscribeParams { agent: args.agent.clone(), after, types: args.types.clone() };
    context.ask_over::<StreamSubscribe>(node, &params)?;
    context.out.flush()?;
    let mut names = names.clone();
    while let Some(notification) = node.next_notification(None)? {
        match notification.method.as_str() {
            "stream/event" => {
                let event: StreamEvent = serde_json::from_value(notification.params)?;
                line::learn(&event.event, &mut names);
                print(&event.event, &names, context)?;
                if !node.has_held() {
                    context.out.flush()?;
                }
            }
            "stream/state" => {
                let state: StreamState = serde_json::from_value(notification.params)?;
                if state.state == "ended" {
                    let reason = state.reason.unwrap_or_else(|| "no reason given".to_owned());
                    let message = format!("the node ended the subscription: {reason}");
                    return Err(Failure::new(ErrorName::Unavailable, message).into());
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn print(event: &EventView, names: &BTreeMap<String, String>, context: &mut Context) -> anyhow::Result<()> {
    match context.out.format() {
        Format::Table => Ok(context.out.line(&line::of(event, names))?),
        Format::Json | Format::Yaml => Ok(context.out.item(event)?),
    }
}

/// A text field of an event.
fn field<'a>(event: &'a EventView, name: &str) -> &'a str {
    event.event.get(name).and_then(Value::as_str).unwrap_or_default()
}
