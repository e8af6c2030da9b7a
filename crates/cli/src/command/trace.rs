//! `edgeplane trace`: what became of a request, and where its time went.

mod draw;

use clap::Args;
use edgeplane_types::ThreadId;
use edgeplane_wire::{
    api::trace::{Explanation, TraceParams, TraceVerdict, Waterfall},
    catalogue::{TraceExplain, TraceGet},
};

use self::draw::{Canvas, Glyphs};
use super::Outcome;
use crate::{
    context::Context,
    output::{Color, Format, Output, paint},
};

/// Columns where there is no terminal to ask.
const COLUMNS: u16 = 100;

/// Show what became of a request and where its time went
///
/// Reads the record alone: the request, the wait in a queue or for a program, each turn with its tools and commands, the
/// people it waited for, and the questions that agents asked each other, with what came of them. One verdict says what
/// the time went to. It needs no tracing backend, and works for what happened before one was configured.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane trace --agent reviewer
  edgeplane trace --message msg_0190a5b2-5b1e-7c3d-9f00-0123456789ab
  edgeplane trace 4bf92f3577b34da6a3ce929d0e0e4736
  edgeplane trace --agent reviewer -o json | jq .explanation.verdict")]
pub(crate) struct TraceArgs {
    /// The id of a trace, a message, a turn or a thread
    #[arg(value_name = "ID", value_parser = parse_id, required_unless_present_any = ["thread", "agent", "message"])]
    #[arg(conflicts_with_all = ["thread", "agent", "message"])]
    id: Option<Box<TraceParams>>,
    /// The newest message of this thread
    #[arg(long, value_name = "ID", conflicts_with_all = ["agent", "message"])]
    thread: Option<ThreadId>,
    /// This agent's newest turn, by name or id
    #[arg(long, value_name = "NAME", conflicts_with = "message")]
    agent: Option<String>,
    /// This message
    #[arg(long, value_name = "ID")]
    message: Option<edgeplane_types::MessageId>,
    /// Draw with ASCII only [default: where the locale is not UTF-8]
    #[arg(long)]
    ascii: bool,
}

fn parse_id(text: &str) -> Result<Box<TraceParams>, String> {
    let mut params = TraceParams::default();
    match text.split_once('_').map(|(kind, _)| kind) {
        Some("msg") => params.message_id = text.parse().ok(),
        Some("trn") => params.turn_id = text.parse().ok(),
        Some("thr") => params.thread_id = text.parse().ok(),
        _ => params.trace_id = text.parse().ok(),
    }
    if params == TraceParams::default() {
        return Err(format!(
            "`{text}` is no id of a trace (32 hexadecimal digits), a message, a turn or a thread"
        ));
    }
    Ok(Box::new(params))
}

pub(crate) fn run(args: &TraceArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let params = match &args.id {
        Some(params) => params.as_ref().clone(),
        None => TraceParams {
            thread_id: args.thread,
            agent: args.agent.clone(),
            message_id: args.message,
            ..TraceParams::default()
        },
    };
    let mut node = context.connect()?;
    let waterfall = context.ask_over::<TraceGet>(&mut node, &params)?;
    // Asked for by its own id: of an agent a newer turn may have begun in between.
    let same = TraceParams { trace_id: Some(waterfall.read()?.trace_id), ..TraceParams::default() };
    let explanation = match context.ask_over::<TraceExplain>(&mut node, &same) {
        Ok(explanation) => explanation,
        // What was recorded before there were traces has none that could be named.
        Err(_) => context.ask_over::<TraceExplain>(&mut node, &params)?,
    };
    match context.out.format() {
        Format::Table => {
            let is_utf8 =
                ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| context.env.get(name)).is_some_and(
                    |locale| locale.to_string_lossy().to_lowercase().replace('-', "").contains("utf8"),
                );
            let glyphs = if args.ascii || !is_utf8 { Glyphs::ASCII } else { Glyphs::UNICODE };
            let columns = context.out.manner.width.unwrap_or(COLUMNS);
            print(&mut context.out, (&waterfall.read()?, &explanation.read()?), &Canvas { columns, glyphs })?;
        }
        Format::Json | Format::Yaml => {
            let both =
                serde_json::json!({ "trace": waterfall.value()?, "explanation": explanation.value()? });
            context.out.value(&both)?;
        }
    }
    Ok(Outcome::Done)
}

fn print(
    out: &mut Output,
    (waterfall, explanation): (&Waterfall, &Explanation),
    canvas: &Canvas,
) -> anyhow::Result<()> {
    for line in draw::head(waterfall, canvas) {
        out.line(&line)?;
    }
    for line in draw::spans(waterfall, canvas) {
        out.line(&line)?;
    }
    for gap in &waterfall.gaps {
        out.line(&paint(Color::Yellow, &format!("gap: {}", gap.what)))?;
    }
    out.line("")?;
    let color = match explanation.verdict {
        TraceVerdict::Healthy => Color::Green,
        TraceVerdict::ReplayGap | TraceVerdict::ApprovalWait | TraceVerdict::QueueWait => Color::Yellow,
        TraceVerdict::RuntimeDelay
        | TraceVerdict::InferenceTimeout
        | TraceVerdict::WorkspaceLock
        | TraceVerdict::ConnectorPermission => Color::Red,
    };
    let verdict = paint(color, explanation.verdict.as_str());
    out.line(&format!("verdict  {verdict}  {}", explanation.reason))?;
    if let Some(slowest) = &explanation.slowest {
        let ms = draw::duration(slowest.ms);
        out.line(&format!("slowest  {}  {ms}, owner {}", slowest.name, draw::owner(&slowest.owner)))?;
    }
    if let Some(next) = draw::next(waterfall, explanation) {
        out.line(&format!("next     {next}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_id_is_of_shows() {
        let uuid = "0190a5b2-5b1e-7c3d-9f00-0123456789ab";
        assert!(parse_id(&format!("msg_{uuid}")).unwrap().message_id.is_some());
        assert!(parse_id(&format!("trn_{uuid}")).unwrap().turn_id.is_some());
        assert!(parse_id(&format!("thr_{uuid}")).unwrap().thread_id.is_some());
        assert!(parse_id("4bf92f3577b34da6a3ce929d0e0e4736").unwrap().trace_id.is_some());
        for bad in ["", "reviewer", "msg_x", "00000000000000000000000000000000"] {
            assert!(parse_id(bad).is_err(), "{bad}");
        }
    }
}
