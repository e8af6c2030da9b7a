//! `edgeplaned`: reads its options, brings a node up, and takes it down when asked.
#![forbid(unsafe_code)]

mod http;
mod issuers;
mod listening;
mod mcp;
mod telemetry;

use std::{collections::HashMap, net::SocketAddr, path::PathBuf, process::ExitCode, sync::Arc};

use anyhow::Context as _;
use clap::{Parser, Subcommand};
use edgeplane_node::{Config, GivenHost, Neighbours, Node};
use edgeplane_os::{dirs::StateDirs, limits, proc, signals};
use edgeplane_telemetry::Telemetry;
use edgeplane_types::NodeName;
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::oneshot,
};
use tracing_subscriber::{EnvFilter, layer::SubscriberExt as _, util::SubscriberInitExt as _};

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

    /// Which capabilities are tools there, too: `all`, `none`, or patterns of names such as `github/*`, with commas between
    #[arg(long, env = "EDGEPLANE_MCP_CAPABILITIES", value_name = "all|none|GLOB", default_value = "all")]
    mcp_capabilities: edgeplane_edge_mcp::Choice,

    #[command(flatten)]
    http: http::HttpOptions,

    #[command(flatten)]
    issuers: issuers::IssuerOptions,

    /// Send spans, logs and metrics to this collector, such as http://127.0.0.1:4318 [default: nowhere]
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT", value_name = "URL")]
    otlp_endpoint: Option<String>,

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
  edgeplaned --http-listen 127.0.0.1:8930
  edgeplaned --http-listen 0.0.0.0:8930 --tls-cert node.pem --tls-key node.key
  edgeplaned --mcp-listen 127.0.0.1:8931
  edgeplaned --mcp-listen 127.0.0.1:8931 --mcp-capabilities 'github/*,agent:*'
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
    let is_audit = matches!(options.verb, Some(Verb::Audit { verb: AuditVerb::Verify }));
    // Whoever serves HTTP has `/metrics` there.
    let measures = !is_audit && (options.http.is_served() || options.otlp_endpoint.is_some());
    // Before there is a runtime: the exporters block, and have threads of their own for it.
    let telemetry = match measures {
        true => Some(telemetry::start(options.otlp_endpoint.clone(), options.node_name.as_ref())),
        false => None,
    };
    let telemetry = telemetry.transpose();
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    let exported = telemetry.as_ref().ok().and_then(Option::as_ref).and_then(|of| of.log_layer());
    tracing_subscriber::registry().with(filter).with(lines).with(exported).init();
    let telemetry = telemetry?;
    if is_audit {
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
    let http = options.http.config()?;
    let listeners = Listeners {
        mcp: options.mcp_listen.map(mcp::config),
        http,
        choice: options.mcp_capabilities.clone(),
        telemetry: telemetry.clone(),
    };
    let observer =
        telemetry.clone().map(|of| Arc::new(telemetry::Watch(of)) as Arc<dyn edgeplane_node::Observer>);
    let config = config(options, observer)?;
    // One thread serves everything that does not block: a call costs no switch between threads.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(16)
        .build()
        .context("cannot start the runtime")?;
    let served = runtime.block_on(serve(config, listeners));
    if let Some(telemetry) = telemetry {
        telemetry.end();
    }
    served
}

/// Verifies a record that no daemon need serve.
fn audit(options: Options) -> anyhow::Result<()> {
    use std::io::Write as _;
    let state = config(options, None)?.dirs.state;
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

fn config(options: Options, observer: Option<Arc<dyn edgeplane_node::Observer>>) -> anyhow::Result<Config> {
    let environment: HashMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let uid = proc::own_uid();
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
    let host = GivenHost { name, environment, observer };
    let neighbours = Neighbours::standard(&dirs.state, Arc::new(host));
    Ok(Config { dirs, shim, cli, cgroups, issuers, neighbours })
}

/// What is listened on besides the node's socket.
#[derive(Debug)]
struct Listeners {
    mcp: Option<edgeplane_gateway::Config>,
    http: Option<edgeplane_gateway::Config>,
    /// Which capabilities are tools of the Model Context Protocol.
    choice: edgeplane_edge_mcp::Choice,
    /// What is measured, for `/metrics`.
    telemetry: Option<Arc<Telemetry>>,
}

async fn serve(config: Config, listeners: Listeners) -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let node = Node::start(config).await.context("cannot start the node")?;
    let mut listening = Vec::new();
    if let Some(config) = listeners.mcp {
        let (end, ending) = oneshot::channel();
        let edge = node.edge();
        let choice = listeners.choice.clone();
        let routes = move || mcp::routes(&edge, &choice);
        let served = listening::serve("the Model Context Protocol", config, routes, ending);
        listening.push((end, tokio::spawn(served)));
    }
    if let Some(config) = listeners.http {
        let (end, ending) = oneshot::channel();
        let edge = node.edge();
        let telemetry = listeners.telemetry;
        let choice = listeners.choice;
        let routes = move || http::routes(&edge, &choice, telemetry.as_ref());
        let served = listening::serve("the protocol over HTTP", config, routes, ending);
        listening.push((end, tokio::spawn(served)));
    }
    tracing::info!("serving");
    let reason = tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
        () = node.ended() => "asked to",
    };
    tracing::info!(reason, "ending; agents run on");
    node.stop(reason).await;
    // Whoever follows a stream hears from the node that it ends, and then from the gateway.
    let mut ends = Vec::new();
    for (end, served) in listening {
        // One that has ended by itself hears nothing.
        let _unheard: Result<(), ()> = end.send(());
        ends.push(served);
    }
    for served in ends {
        served.await.context("a listener failed")?;
    }
    Ok(())
}
