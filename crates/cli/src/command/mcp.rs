//! `edgeplane mcp`: the node's tools for a program that speaks the Model Context Protocol.

use anyhow::Context as _;
use clap::Args;
use edgeplane_client::Client;
use edgeplane_edge_mcp::{Choice, Way, serve_stdio};

use super::Outcome;
use crate::{context::Context, token::Token};

/// Serve the node's tools to a program that speaks the Model Context Protocol
///
/// An agent's own program starts it and speaks to it over standard input and output: tools to signal and ask other agents,
/// to read its inbox, verify messages, keep memory, submit results and ask people; resources with its transcript, its
/// messages and its events. Who calls is what the node can prove of the process, as with every command: inside an agent it
/// is that agent, and no argument can make it another. Outside of any agent it is you, and what is an agent's own fails.
///
/// What the node reaches for agents comes after the node's own tools: tools of declared servers, what other agents offer,
/// methods, workflows. Rules say what is shown and may be called; with `--capabilities` fewer are shown.
///
/// Over HTTP the daemon itself serves the same, if it is told to with `--mcp-listen`.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane mcp
  edgeplane mcp --capabilities none
  edgeplane mcp --capabilities 'github/*,agent:*'
  edgeplane mcp --socket /run/edgeplane/edgeplaned.sock
  echo '{ \"mcpServers\": { \"edgeplane\": { \"command\": \"edgeplane\", \"args\": [\"mcp\"] } } }' > .mcp.json

The program that starts it must pass on EDGEPLANE_SOCKET; see docs/guide/mcp.md.")]
pub(crate) struct McpArgs {
    /// Which capabilities are tools, too: `all`, `none`, or patterns of their names such as `github/*`, with commas between
    #[arg(long, value_name = "all|none|GLOB", default_value = "all")]
    capabilities: Choice,
}

pub(crate) fn run(args: &McpArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let path = context.socket()?;
    let token = context.token()?.map(Token::into_text);
    let connect = move || -> edgeplane_edge_mcp::Connecting {
        let path = path.clone();
        Box::pin(async move { Client::connect(&path).await })
    };
    let way = Way { connect: Box::new(connect), token };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let served = runtime.block_on(serve_stdio(way, args.capabilities.clone()));
    // A read of standard input that nobody ends is not waited for.
    runtime.shutdown_background();
    served?;
    Ok(Outcome::Done)
}
