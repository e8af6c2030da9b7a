//! A scripted server and its connector, in a folder of their own.

use std::{fs, path::PathBuf, sync::Arc, time::Duration};

use edgeplane_connector::{
    Asking, Call, CallFailure, Connector, Failure, Limits, Listening, MARK, OfferKind, Program, Said,
    Session, Target,
};
use edgeplane_os::proc;
use edgeplane_testkit::wait::eventually;
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A server that is talked to.
pub(crate) struct Bench {
    pub(crate) connector: Connector,
    target: Target,
    mark: String,
    folder: TempDir,
}

/// Short times, so that nothing is waited for long; what is offered is believed for this long.
pub(crate) fn limits(greeting: Duration) -> Limits {
    let is_short = greeting > Duration::ZERO;
    Limits {
        greeting: if is_short { greeting } else { Limits::standard().greeting },
        fresh: if is_short { Limits::standard().fresh } else { Duration::ZERO },
        end: Duration::from_millis(500),
        ..Limits::standard()
    }
}

/// A call of a tool.
pub(crate) fn call(tool: &str, input: &Value) -> Call {
    let input = input.as_object().unwrap().clone();
    Call { kind: OfferKind::Tool, native_id: tool.to_owned(), input, timeout: Duration::from_secs(20) }
}

/// The most memory that this process had, in KiB.
pub(crate) fn memory_peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

impl Bench {
    pub(crate) fn new(mode: &str) -> Self {
        Self::with(mode, Limits { end: Duration::from_millis(500), ..Limits::standard() })
    }

    pub(crate) fn with(mode: &str, limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("server.py");
        fs::write(&script, edgeplane_testkit::mcp::SERVER).unwrap();
        let mark = folder.path().display().to_string();
        let place = |name: &str| folder.path().join(name).display().to_string();
        let target = Target::Program(Program {
            command: ["python3", "-u", &script.display().to_string(), mode].map(str::to_owned).to_vec(),
            environment: vec![
                ("PATH".to_owned(), std::env::var("PATH").unwrap()),
                ("MCP_LOG".to_owned(), place("log")),
                ("MCP_STATE".to_owned(), place("state")),
            ],
            folder: folder.path().to_owned(),
            search_path: std::env::var_os("PATH").unwrap(),
            mark: mark.clone(),
        });
        let of_connector = target.clone();
        let connector = Connector::new(Arc::new(move || Ok(of_connector.clone())), limits);
        Self { connector, target, mark, folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What the server was told.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    pub(crate) fn set_state(&self, state: &str) {
        fs::write(self.path("state"), state).unwrap();
    }

    pub(crate) async fn digest(&self, tool: &str) -> String {
        let inventory = self.connector.inventory().await.unwrap();
        inventory.find(OfferKind::Tool, tool).unwrap().digest.clone()
    }

    pub(crate) async fn call(&self, call: Call) -> Result<Said, CallFailure> {
        let digest = self.digest(&call.native_id).await;
        self.call_as(call, &digest).await
    }

    pub(crate) async fn call_as(&self, call: Call, digest: &str) -> Result<Said, CallFailure> {
        self.connector.call(call, digest, &CancellationToken::new(), Listening::default()).await
    }

    /// A connection of its own, without the connector.
    pub(crate) async fn open(&self) -> Session {
        Session::open(&self.target, Limits::standard(), Asking::Declined).await.unwrap()
    }

    /// Waits until it may be connected to again.
    pub(crate) async fn rested(&self) {
        while let Err(failure) = self.connector.inventory().await {
            match failure {
                Failure::Resting { more, .. } => {
                    tokio::time::timeout(more, std::future::pending::<()>()).await.unwrap_err()
                }
                Failure::Ended(_) => continue,
                other => panic!("{other}"),
            };
        }
    }

    pub(crate) fn mark_entry(&self) -> Vec<u8> {
        format!("{MARK}={}", self.mark).into_bytes()
    }

    /// No process of the server lives.
    pub(crate) async fn nothing_is_left(&self) {
        let mark = self.mark_entry();
        tokio::task::spawn_blocking(move || {
            eventually("nothing is left", || proc::find_marked(&mark).unwrap().is_empty());
        })
        .await
        .unwrap();
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        edgeplane_connector::end_marked(&self.mark);
    }
}
