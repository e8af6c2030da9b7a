//! Installing: an agent's `prepare` steps, run because somebody asked, with their progress.

use std::{path::Path, process::Stdio, sync::Arc, time::Duration};

use edgeplane_manifest::{Deployment, FetchSource, Manifest, PrepareStep};
use edgeplane_proof::digest;
use edgeplane_types::{ErrorName, Fact, Generation, StreamName};
use edgeplane_wire::{
    api::agent::{AgentParams, InstallResult, InstallStep},
    rpc::{self, RpcError},
};
use tokio::{io::AsyncReadExt as _, time::Instant};

use super::{Session, agent};
use crate::{
    agent::{AgentHandle, Command},
    artifact,
    record::{Draft, Origin, chain, refused},
    schedule::Declared,
};

/// Bytes of a failed step's last words that are shown.
const LAST_WORDS_BYTES_MAX: usize = 2_000;

pub(in crate::server) async fn install(
    session: &Session,
    params: &AgentParams,
) -> Result<InstallResult, RpcError> {
    let handle = agent(session, &params.agent)?;
    let (manifest, generation) = put_artifact(session, &handle).await?;
    let folder = session.shared.agents_dir().join(handle.id.to_string()).join("workspace");
    let origin = Origin::actor(session.caller.actor());
    let stream = StreamName::Agent(handle.id);
    let mut steps = Vec::new();
    let total = manifest.spec.prepare.len();
    for (index, step) in manifest.spec.prepare.iter().enumerate() {
        let name = step.name().to_string();
        progress(session, &format!("{}/{total} {name}", index.saturating_add(1)));
        let began = Instant::now();
        match prepare(&manifest, step, &folder, session).await {
            Ok(outcome) => steps.push(InstallStep {
                name,
                outcome: outcome.to_owned(),
                took_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            }),
            Err(reason) => {
                let fact =
                    Fact::AgentInstallFailed { generation, step: name.clone(), reason: reason.clone() };
                record(session, stream, &origin, fact).await?;
                return Err(RpcError::new(
                    ErrorName::InvalidState,
                    format!("step `{name}` failed: {reason}"),
                )
                .hint("mend the cause and install again; steps that are done are not repeated"));
            }
        }
    }
    let count = u32::try_from(steps.len()).unwrap_or(u32::MAX);
    record(session, stream, &origin, Fact::AgentInstalled { generation, steps: count }).await?;
    Ok(InstallResult { name: handle.name.to_string(), steps })
}

/// Puts the agent's artifact in place, if it has one, and gives its manifest with the paths inside it.
async fn put_artifact(
    session: &Session,
    handle: &AgentHandle,
) -> Result<(Arc<Manifest>, Generation), RpcError> {
    let (manifest, generation) = handle.ask(Command::Manifest).await?;
    let Deployment::Artifact(wanted) = manifest.spec.deployment.clone() else {
        return Ok((manifest, generation));
    };
    progress(session, &format!("artifact {}", wanted.path.as_str()));
    let agents_dir = session.shared.agents_dir();
    let place = artifact::place(&agents_dir, handle.id, &wanted);
    let origin = Origin::actor(session.caller.actor());
    let work = tokio::task::spawn_blocking(move || artifact::install(&wanted, &place));
    let put = work.await.unwrap_or_else(|_cut| Err("the work was cut off".to_owned()));
    if let Err(reason) = put {
        let fact =
            Fact::AgentInstallFailed { generation, step: "artifact".to_owned(), reason: reason.clone() };
        record(session, StreamName::Agent(handle.id), &origin, fact).await?;
        return Err(RpcError::new(ErrorName::InvalidState, reason)
            .hint("mend the artifact or its digest in the manifest"));
    }
    let resolved = artifact::resolved(&agents_dir, handle.id, manifest.as_ref().clone());
    if resolved == *manifest {
        return Ok((manifest, generation));
    }
    let resolved = Arc::new(resolved);
    let given = Arc::clone(&resolved);
    let generation = handle.ask(|reply| Command::Update(Declared::manifest(given), origin, reply)).await??;
    Ok((resolved, generation))
}

async fn record(session: &Session, stream: StreamName, origin: &Origin, fact: Fact) -> Result<(), RpcError> {
    let mut draft = Draft::default();
    session.shared.record.add(&mut draft, stream, origin, fact);
    session.shared.record.commit(draft).await.map(drop).map_err(|error| refused(&error))
}

fn progress(session: &Session, text: &str) {
    let line = rpc::notification("core/progress", serde_json::json!({ "text": text }));
    // A caller that does not read its progress does without.
    drop(session.outbound.offer(line));
}

async fn prepare(
    manifest: &Arc<Manifest>,
    step: &PrepareStep,
    workspace: &Path,
    session: &Session,
) -> Result<&'static str, String> {
    let folder = manifest.spec.cwd.as_ref().map_or(workspace, |cwd| Path::new(cwd.as_str()));
    std::fs::create_dir_all(folder)
        .map_err(|error| format!("cannot make `{}`: {error}", folder.display()))?;
    match step {
        PrepareStep::Run { run, creates, timeout, .. } => {
            if creates.as_ref().is_some_and(|path| folder.join(path.as_str()).exists()) {
                return Ok("present");
            }
            run_step(run, folder, Duration::from_millis(timeout.as_millis()), session).await?;
            match creates {
                Some(path) if !folder.join(path.as_str()).exists() => {
                    Err(format!("it ended well and `{}` is still not there", path.as_str()))
                }
                _ => Ok("done"),
            }
        }
        PrepareStep::Fetch { fetch, .. } => {
            let FetchSource::File(from) = &fetch.from;
            let (from, to) = (folder.join(from.as_str()), folder.join(fetch.to.as_str()));
            let wanted = fetch.digest.as_str().to_owned();
            let work = tokio::task::spawn_blocking(move || fetch_file(&from, &to, &wanted));
            work.await.unwrap_or_else(|_cut| Err("the copy was cut off".to_owned()))
        }
    }
}

async fn run_step(
    argv: &[String],
    folder: &Path,
    timeout: Duration,
    session: &Session,
) -> Result<(), String> {
    let Some((program, args)) = argv.split_first() else { return Err("no command".to_owned()) };
    let passed =
        session.shared.environment.iter().filter(|(name, _)| edgeplane_manifest::is_env_passed(name));
    let mut child = tokio::process::Command::new(program)
        .args(args)
        .current_dir(folder)
        .env_clear()
        .envs(passed)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("cannot run `{program}`: {error}"))?;
    let mut said = Vec::new();
    let errors = child.stderr.take();
    let work = async {
        if let Some(mut errors) = errors {
            drop(errors.read_to_end(&mut said).await);
        }
        child.wait().await
    };
    match tokio::time::timeout(timeout, work).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => {
            let start = said.len().saturating_sub(LAST_WORDS_BYTES_MAX);
            let words = String::from_utf8_lossy(said.get(start..).unwrap_or_default()).trim().to_owned();
            Err(format!("{status}: {}", edgeplane_driver::render::clean(&words)))
        }
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("not done within {timeout:?}")),
    }
}

/// Copies a file whose digest is known; a wrong one is never put in place.
fn fetch_file(from: &Path, to: &Path, wanted: &str) -> Result<&'static str, String> {
    let of = |path: &Path| std::fs::read(path).map(|bytes| (format!("sha256:{}", digest(&bytes)), bytes));
    if of(to).is_ok_and(|(found, _)| found == wanted) {
        return Ok("present");
    }
    let (found, bytes) = of(from).map_err(|error| format!("cannot read `{}`: {error}", from.display()))?;
    if found != wanted {
        return Err(format!("`{}` has digest {found}, expected {wanted}", from.display()));
    }
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent)
            .map_err(|error| format!("cannot make `{}`: {error}", parent.display()))?;
    }
    edgeplane_os::atomic::write_atomic(to, &bytes, 0o644).map_err(|error| chain(&error))?;
    Ok("done")
}
