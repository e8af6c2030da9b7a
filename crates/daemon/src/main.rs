//! `edgeplaned`: reads its options, brings a node up, and takes it down when asked.
#![forbid(unsafe_code)]

mod issuers;
mod mcp;

use std::{collections::HashMap, net::SocketAddr, path::PathBuf, process::ExitCode};

use anyhow::Context as _;
use clap::{Parser, Subcommand};
use edgeplane_node::{Config, Node};
use edgeplane_os::{dirs::StateDirs, limits, proc, signals};
use edgeplane_types::NodeName;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

/// The node daemon of EdgePlane. Runs in the foreground and logs to standard error.
///
/// `edgeplane daemon up` starts it in the background. Agents outlive it: ending it, even with SIGKILL, ends no agent.
#[derive(Debug, Parser)]
#[command(name = "edgeplaned", version, after_help = EXAMPLES)]
struct Options {
    /// Folder of the record and the recordings [default: XDG state home, or /var/lib/edgeplane for root]
    #[arg(long, env = "EDGEPLANE_STATE_DIR", value_name = "DIR")]
    state_dir: Option<PathBuf>,

    /// Folder of the sockets [default: XDG runtime dir, or /run/edgeplane for root]
    #[arg(long, env = "EDGEPLANE_RUNTIME_DIR", value_name = "DIR")]
    runtime_dir: Option<PathBuf>,

    /// The socket to listen on [default: edgeplaned.sock in the runtime folder]
    #[arg(long, env = "EDGEPLANE_SOCKET", value_name = "PATH")]
    socket: Option<PathBuf>,

    /// The shim's program [default: edgeplane-shim beside this one]
    #[arg(long, env = "EDGEPLANE_SHIM", value_name = "PATH")]
    shim: Option<PathBuf>,

    /// Name of a new node [default: this machine's name]
    #[arg(long, env = "EDGEPLANE_NODE_NAME", value_name = "NAME")]
    node_name: Option<NodeName>,

    /// Give agents no cgroups even where this machine allows them
    #[arg(long, env = "EDGEPLANE_NO_CGROUPS")]
    no_cgroups: bool,

    /// Serve the Model Context Protocol over HTTP here, such as 127.0.0.1:8931 [default: not at all]
    #[arg(long, env = "EDGEPLANE_MCP_LISTEN", value_name = "ADDRESS", value_parser = mcp::parse_address)]
    mcp_listen: Option<SocketAddr>,

    #[command(flatten)]
    issuers: issuers::IssuerOptions,

    /// What to log, such as `info` or `edgeplane_node=debug`
    #[arg(long, env = "EDGEPLANE_LOG", default_value = "info", value_name = "FILTER")]
    log: String,

    #[command(subcommand)]
    verb: Option<Verb>,
}

/// What can be done to a state directory without serving it.
#[derive(Debug, Subcommand)]
enum Verb {
    /// Looks at the record
    Audit {
        #[command(subcommand)]
        verb: AuditVerb,
    },
}

#[derive(Debug, Subcommand)]
enum AuditVerb {
    /// Recomputes every chain and every recording's digest and prints what it found as JSON
    Verify,
}

const EXAMPLES: &str = "\
Examples:
  edgeplaned
  edgeplaned --state-dir ./state --runtime-dir ./run --log debug
  EDGEPLANE_STATE_DIR=/srv/agents edgeplaned --no-cgroups
  edgeplaned --mcp-listen 127.0.0.1:8931
  edgeplaned --oidc-issuer https://login.example --oidc-audience edgeplane --jwks https://login.example/keys";

/// Descriptors that a large node has open: some four for each of four thousand agents.
const OPEN_FILES_FORESEEN: u32 = 16_384;

fn main() -> ExitCode {
    let options = Options::parse();
    match run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: Options) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&options.log).with_context(|| format!("`--log {}`", options.log))?;
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false).init();
    if let Some(Verb::Audit { verb: AuditVerb::Verify }) = options.verb {
        return audit(options);
    }
    end_on_panic();
    // The watchdog reads its signals from a descriptor and has them blocked, which its children inherit.
    signals::unblock_all().context("cannot be told to end")?;
    signals::forbid_tracing().context("cannot forbid tracing of this process")?;
    if let Err(error) = limits::raise_open_files() {
        tracing::warn!(%error, "cannot raise the limit of open files");
    }
    if let Err(error) = limits::make_room_for_files(OPEN_FILES_FORESEEN) {
        tracing::warn!(%error, "cannot make room for open files");
    }
    let mcp_listen = options.mcp_listen;
    let config = config(options)?;
    // One thread serves everything that does not block: a call costs no switch between threads.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(16)
        .build()
        .context("cannot start the runtime")?;
    runtime.block_on(serve(config, mcp_listen))
}

/// Verifies a record that no daemon need serve.
fn audit(options: Options) -> anyhow::Result<()> {
    use std::io::Write as _;
    let state = config(options)?.dirs.state;
    let report = edgeplane_node::verify_offline(&state)
        .with_context(|| format!("cannot verify the record in `{}`", state.display()))?;
    let text = serde_json::to_string_pretty(&report).context("cannot write the report")?;
    writeln!(std::io::stdout(), "{text}").context("cannot write the report")?;
    anyhow::ensure!(report.ok, "the record does not verify");
    Ok(())
}

/// Crash-only: half a daemon is worse than none, and the ordinary start recovers.
fn end_on_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        report(info);
        std::process::abort();
    }));
}

fn config(options: Options) -> anyhow::Result<Config> {
    let environment: HashMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let uid = proc::uid(std::process::id()).context("cannot find out whose process this is")?;
    let given = [
        (edgeplane_os::dirs::STATE_DIR, &options.state_dir),
        (edgeplane_os::dirs::RUNTIME_DIR, &options.runtime_dir),
        (edgeplane_os::dirs::SOCKET, &options.socket),
    ];
    let dirs = StateDirs::resolve(uid, |name| {
        let option = given.iter().find(|(of, _)| *of == name).and_then(|(_, path)| path.as_ref());
        option.map(|path| path.clone().into_os_string()).or_else(|| std::env::var_os(name))
    })?;
    let own = std::env::current_exe().context("cannot find this program's own file")?;
    let shim = options.shim.unwrap_or_else(|| own.with_file_name("edgeplane-shim"));
    let cli = own.with_file_name("edgeplane");
    let (name, cgroups) = (options.node_name, !options.no_cgroups);
    let issuers = options.issuers.read()?;
    Ok(Config { dirs, shim, cli, name, environment, cgroups, issuers })
}

async fn serve(config: Config, mcp_listen: Option<SocketAddr>) -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let node = Node::start(config).await.context("cannot start the node")?;
    let mcp = mcp_listen.map(|address| tokio::spawn(mcp::serve(address, node.edge())));
    tracing::info!("serving");
    let reason = tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
        () = node.ended() => "asked to",
    };
    tracing::info!(reason, "ending; agents run on");
    if let Some(mcp) = mcp {
        mcp.abort();
    }
    node.stop(reason).await;
    Ok(())
}
