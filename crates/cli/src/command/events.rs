//! `edgeplane events`: the record, read and followed.

mod line;

use std::collections::BTreeMap;

use clap::Args;
use edgeplane_client::CallError;
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
use crate::{
    context::Context,
    failure::Failure,
    lasting::{Lasting, Loss},
    node::Node,
    output::Format,
};

/// Events asked for at a time.
const PAGE: u32 = 1_000;

/// Print the events of the record
///
/// Every change of every agent, every message and every start of the node is an event, in the order in which it was
/// recorded. With `-o json` each is one object a line, with at least `type`, `stream`, `seq`, `ts`, `payload`, `pos` and
/// `hash`; that form is stable. `-f` goes on as they come: from now on, unless `--after` or `--limit` says from where; and where it
/// was, without a gap or a double, when a daemon that died is back.
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
    /// With `-f`, end when the daemon does instead of waiting for the next one
    #[arg(long, requires = "follow")]
    no_reconnect: bool,
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
    let loss = if args.follow { Loss::of_flag(args.no_reconnect) } else { Loss::Ends };
    let mut node = Lasting::open(context, loss)?;
    let names = names(context, &mut node.node);
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
    let mut node = Lasting::open(context, Loss::Ends)?;
    let names = names(context, &mut node.node);
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
    node: &mut Lasting,
    context: &mut Context,
) -> anyhow::Result<Option<u64>> {
    let mut left = params.limit;
    let mut last = None;
    loop {
        params.limit = Some(left.map_or(PAGE, |left| if params.newest { left } else { left.min(PAGE) }));
        let page = node.ask::<StreamRead>(&params, context)?.read()?;
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
    node: &mut Lasting,
    context: &mut Context,
) -> anyhow::Result<()> {
    // Subscriptions count by the node's positions, so the number of an agent's stream is of no use here.
    let after = last.or(if args.agent.is_none() { args.after } else { None });
    let mut params = SubscribeParams { agent: args.agent.clone(), after, types: args.types.clone() };
    let mut names = names.clone();
    let mut record_end = 0;
    loop {
        let head = node.ask::<StreamSubscribe>(&params, context)?.read()?.head;
        check_record(record_end, head)?;
        // From here on there is a place to go on from, also if nothing is seen before the node is gone.
        let after = params.after.get_or_insert(head);
        let before = *after;
        context.out.flush()?;
        let lost = follow_until_lost(after, &mut names, &mut node.node, context)?;
        record_end = if *after == before { head } else { head.max(*after) };
        context.out.flush()?;
        node.survive(lost.into(), context)?;
    }
}

/// A record that is shorter than it was is another one, and nothing that was asked for comes from it.
fn check_record(record_end: u64, head: u64) -> anyhow::Result<()> {
    if head >= record_end {
        return Ok(());
    }
    let message =
        format!("the record went to {record_end}, and that of the node that is back ends at {head}");
    Err(Failure::new(ErrorName::ReplayGap, message)
        .hint("see whether the node has another state directory now")
        .into())
}

/// Prints events as they come, with `after` at the last one, until the connection is no more; gives how it ended.
fn follow_until_lost(
    after: &mut u64,
    names: &mut BTreeMap<String, String>,
    node: &mut Node,
    context: &mut Context,
) -> anyhow::Result<CallError> {
    loop {
        let notification = match node.next_notification(None) {
            Ok(Some(notification)) => notification,
            Ok(None) => continue,
            Err(lost) => return Ok(lost),
        };
        match notification.method.as_str() {
            "stream/event" => {
                let event: StreamEvent = serde_json::from_value(notification.params)?;
                line::learn(&event.event, names);
                print(&event.event, names, context)?;
                *after = event.event.pos;
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
