//! `edgeplane events`: the record and what is made of it, read and followed.

mod follow;
mod line;

use std::collections::BTreeMap;

use clap::{ArgGroup, Args};
use edgeplane_wire::{
    api::{
        agent::ListParams,
        stream::{EventView, LOG, ReplayParams, Snapshot, SnapshotView, SubscribeParams, Target, TargetKind},
    },
    catalogue::{AgentList, StreamReplay, StreamSubscribe},
};
use serde_json::{Value, json};

use super::{Outcome, agent::list};
use crate::{
    context::Context,
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
/// `hash`; that form is stable. `-f` goes on as they come: from now on, unless `--after`, `--cursor` or `--limit` says from where; and where it
/// was, without a gap or a double, when a daemon that died is back.
///
/// With `--projection` it prints what is made of the events instead; with `-o json` each entry is an object with its
/// number `n` and `event`, and while it is followed its `cursor`.
#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("target").args(["agent", "session", "thread"])),
    group(ArgGroup::new("place").args(["after", "cursor"])),
    after_help = "\
EXAMPLES:
  edgeplane events -f
  edgeplane events --agent reviewer --type 'message.*' --limit 20
  edgeplane events --after 0 -o json | jq -r .type | sort | uniq -c
  edgeplane events -f --type agent.failed --type agent.exited
  edgeplane events -f --projection agent.status --agent reviewer --snapshot -o json"
)]
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
    /// Only of this session, by id; with `--projection`
    #[arg(long, value_name = "ID", requires = "projection")]
    session: Option<String>,
    /// Only of this thread, by id; with `--projection`
    #[arg(long, value_name = "ID", requires = "projection")]
    thread: Option<String>,
    /// What is made of the events instead of the events; `edgeplane projection list` names what there is
    #[arg(long, value_name = "NAME")]
    projection: Option<String>,
    /// Only this type; may end in `.*` and be given several times
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,
    /// Only after this position of the node; with `--agent`, this number of its stream
    #[arg(long, value_name = "POS")]
    after: Option<u64>,
    /// Only after the place that a cursor names, as `-o json` prints one with `--projection`
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    /// The newest N, or with `--after` the next N
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    /// First the state of the projection, and with `-f` what follows it
    #[arg(long, conflicts_with_all = ["after", "cursor", "limit"])]
    snapshot: bool,
}

impl EventsArgs {
    fn target(&self) -> Target {
        let named = |kind, id: &Option<String>| id.clone().map(|id| Target { kind, id: Some(id) });
        named(TargetKind::Agent, &self.agent)
            .or_else(|| named(TargetKind::Session, &self.session))
            .or_else(|| named(TargetKind::Thread, &self.thread))
            .unwrap_or_default()
    }

    fn projection(&self) -> String {
        self.projection.clone().unwrap_or_else(|| LOG.to_owned())
    }
}

pub(crate) fn run(args: &EventsArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let loss = if args.follow { Loss::of_flag(args.no_reconnect) } else { Loss::Ends };
    let mut node = Lasting::open(context, loss)?;
    let mut names = names(context, &mut node.node);
    let mut subscribe = SubscribeParams {
        target: args.target(),
        projection: args.projection(),
        types: args.types.clone(),
        ..SubscribeParams::default()
    };
    if args.snapshot {
        subscribe.snapshot = if args.follow { Snapshot::First } else { Snapshot::Only };
    }
    if args.snapshot && !args.follow {
        let result = node.ask::<StreamSubscribe>(&subscribe, context)?.read()?;
        print_snapshot(result.snapshot.as_ref(), context)?;
        return Ok(Outcome::Done);
    }
    // To follow from now on, nothing is read.
    if !args.follow || args.after.is_some() || args.cursor.is_some() || args.limit.is_some() {
        let params = ReplayParams {
            target: args.target(),
            projection: args.projection(),
            after: args.after,
            cursor: args.cursor.clone(),
            types: args.types.clone(),
            limit: args.limit,
            newest: args.limit.is_some() && args.after.is_none() && args.cursor.is_none(),
            ..ReplayParams::default()
        };
        subscribe.cursor = Some(read_all(params, &names, &mut node, context)?);
    }
    if args.follow {
        follow::follow(subscribe, &mut names, &mut node, context)?;
    }
    Ok(Outcome::Done)
}

/// Prints the events that `params` names, and nothing else.
pub(crate) fn print_all(params: ReplayParams, context: &mut Context) -> anyhow::Result<()> {
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

/// Prints page after page; gives the place behind the last.
fn read_all(
    mut params: ReplayParams,
    names: &BTreeMap<String, String>,
    node: &mut Lasting,
    context: &mut Context,
) -> anyhow::Result<String> {
    let mut left = params.limit;
    loop {
        params.limit = Some(left.map_or(PAGE, |left| if params.newest { left } else { left.min(PAGE) }));
        let page = node.ask::<StreamReplay>(&params, context)?.read()?;
        let count = u32::try_from(page.items.len()).unwrap_or(u32::MAX);
        for item in page.items {
            print(&Entry { n: item.n, cursor: None, event: item.event }, &params.projection, names, context)?;
        }
        left = left.map(|left| left.saturating_sub(count));
        // A page that does not lead on would be read for ever.
        let leads_on = params.cursor.as_ref() != Some(&page.cursor);
        if !leads_on || page.end || params.newest || left == Some(0) {
            return Ok(page.cursor);
        }
        params.after = None;
        params.cursor = Some(page.cursor);
    }
}

/// An entry of a projection on its way to the reader.
struct Entry {
    n: u64,
    cursor: Option<String>,
    event: Value,
}

fn print(
    entry: &Entry,
    projection: &str,
    names: &BTreeMap<String, String>,
    context: &mut Context,
) -> anyhow::Result<()> {
    let is_log = projection == LOG;
    match context.out.format() {
        Format::Table if is_log => {
            let Some(event) = EventView::of(entry.event.clone()) else { return Ok(()) };
            Ok(context.out.line(&line::of(&event, names))?)
        }
        Format::Table => {
            let mut event = entry.event.clone();
            if let Some(fields) = event.as_object_mut() {
                fields.insert("stream".to_owned(), json!(format!("{projection} {}", entry.n)));
            }
            let view = EventView { pos: entry.n, hash: String::new(), event };
            Ok(context.out.line(&line::of(&view, names))?)
        }
        Format::Json | Format::Yaml if is_log => Ok(context.out.item(&entry.event)?),
        Format::Json | Format::Yaml => {
            let mut object = json!({ "n": entry.n, "event": entry.event });
            if let (Some(cursor), Some(fields)) = (&entry.cursor, object.as_object_mut()) {
                fields.insert("cursor".to_owned(), json!(cursor));
            }
            Ok(context.out.item(&object)?)
        }
    }
}

/// Prints the state that entries so far make together.
fn print_snapshot(snapshot: Option<&SnapshotView>, context: &mut Context) -> anyhow::Result<()> {
    let Some(snapshot) = snapshot else { return Ok(()) };
    match context.out.format() {
        Format::Table => {
            context.out.line(&crate::json::pretty(&snapshot.state))?;
            context.out.note(&format!("as of {}, digest {}", snapshot.as_of_seq, snapshot.digest));
            Ok(())
        }
        Format::Json | Format::Yaml => Ok(context.out.item(&json!({ "snapshot": snapshot }))?),
    }
}

/// A text field of an event.
fn field<'a>(event: &'a EventView, name: &str) -> &'a str {
    event.event.get(name).and_then(Value::as_str).unwrap_or_default()
}
