//! From a manifest to what a shim is told to run, and the launch itself.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use edgeplane_manifest::{
    Driver, EnvValue, Manifest, OnFull, Secret, SecretForm, SecretSource, StateKind, is_env_passed,
};
use edgeplane_os::{cgroup::Limits, process::Spawned};
use edgeplane_substrate::{Launched, Place, Program, Substrate};
use edgeplane_types::{Continuity, Epoch};
use edgeplane_wire::{cast::TERM_KIND, spec};
use tokio_util::sync::CancellationToken;

use super::{
    Actor, Done, Live,
    hooks::{self, Hooking},
};
use crate::{caller::CallingAgent, record::chain, server, users};

/// The kernel's number of the limit of open files.
const RLIMIT_NOFILE: u32 = 7;

/// Where programs are looked for when nothing says so.
const PATH_STANDARD: &str = "/usr/local/bin:/usr/bin:/bin";

/// Why a program cannot be put together.
#[derive(Debug, thiserror::Error)]
enum ComposeError {
    #[error("secret `{name}` is required and not there: {what}")]
    SecretMissing { name: String, what: String },
    #[error(
        "secret `{0}` is to be handed over as a descriptor, which this version does not do; use `as: file`"
    )]
    SecretByDescriptor(String),
    #[error("no `edgeplane-exec` at `{}`, where `edgeplane-shim` is", .0.display())]
    NoRunner(PathBuf),
    #[error("cannot prepare `{}`", path.display())]
    Prepare {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(
        "user `{user}` may not run EdgePlane's runner `{}`: `{}` is closed to it; install EdgePlane where every user may run it, such as /usr/local/bin, or open that to the user",
        runner.display(),
        closed.display()
    )]
    RunnerClosed { runner: PathBuf, user: String, closed: PathBuf },
    #[error(transparent)]
    User(#[from] users::UserError),
}

/// What a program needs that is not in its manifest.
struct Surroundings {
    environment: std::collections::HashMap<String, String>,
    own: Vec<(String, String)>,
    workspace: PathBuf,
    /// The program that runs others once for each turn.
    runner: PathBuf,
    hooking: Option<Hooking>,
}

impl Actor {
    /// Brings up an epoch. Its socket is there before its program is.
    pub(super) fn launch(&mut self, epoch: Epoch) {
        let place = self.shared.place(self.identity.id, &self.identity.name, epoch);
        self.live = Some(self.unborn(place.clone()));
        self.observed_generation = self.generation;
        self.continuity = Continuity::None;
        self.activity = edgeplane_types::ActivityReport::UNKNOWN;
        self.healthy = None;
        let socket = match self.serve_epoch(epoch) {
            Ok(socket) => socket,
            Err(why) => return self.report_launch(epoch, why),
        };
        let manifest = Arc::clone(&self.manifest);
        let surroundings = self.surroundings(&socket);
        if self.manifest.spec.cwd.is_none()
            && let Err(error) = make_dir(&surroundings.workspace)
        {
            return self.report_launch(epoch, chain(&error));
        }
        let substrate = Arc::clone(&self.shared.substrate);
        let shared = Arc::clone(&self.shared);
        let agent = CallingAgent { id: self.identity.id, name: self.identity.name.clone(), epoch };
        let born = move |shim: &Spawned| shared.came_alive(&agent, (shim.pid, shim.start_time), &[]);
        let done = self.workers.0.clone();
        let hook = self.hook_work(super::health::Moment::PreStart, epoch);
        let forgets = self.manifest.spec.state == StateKind::Stateless && self.manifest.spec.cwd.is_none();
        let workspace = forgets.then(|| surroundings.workspace.clone());
        self.shared.tasks.spawn(async move {
            let mut prevented = match workspace {
                Some(workspace) => emptied(workspace).await.err(),
                None => None,
            };
            if prevented.is_none()
                && let Some(hook) = hook
            {
                prevented = hook.await.map(|failure| format!("its preStart hook failed: {failure}"));
            }
            let result = match prevented {
                Some(why) => Err(why),
                None => bring_up(manifest, (place, surroundings), substrate, born).await,
            };
            // The engine has ended with the daemon; the next daemon finds the epoch.
            drop(done.send(Done::Launched(epoch, result)).await);
        });
    }

    fn report_launch(&self, epoch: Epoch, why: String) {
        let done = self.workers.0.clone();
        self.shared.tasks.spawn(async move { drop(done.send(Done::Launched(epoch, Err(why))).await) });
    }

    /// An epoch of which nothing is there yet.
    pub(super) fn unborn(&self, place: Place) -> Live {
        let structured = self.is_structured();
        Live {
            place,
            link: None,
            shim: None,
            process: None,
            child: None,
            group: None,
            started_at: None,
            head: 0,
            output_at: None,
            launch_deadline: None,
            lines: structured.then(|| edgeplane_driver::lines::Lines::from_offset(0)),
            screen: None,
            size: None,
            serving: CancellationToken::new(),
            past: Vec::new(),
            fail_text: None,
            shim_version: edgeplane_wire::shim::VERSIONS.1,
            acp: None,
        }
    }

    /// Opens the epoch's own socket and serves it.
    pub(super) fn serve_epoch(&self, epoch: Epoch) -> Result<PathBuf, String> {
        let path = self.shared.epoch_socket(self.identity.id, epoch);
        let owner = match &self.manifest.spec.user {
            Some(user) => Some(users::look_up(user.as_str()).map_err(|error| chain(&error))?.uid),
            None => None,
        };
        let listener = edgeplane_os::sock::bind_listener(&path, owner).map_err(|error| chain(&error))?;
        let agent = CallingAgent { id: self.identity.id, name: self.identity.name.clone(), epoch };
        let token = self.live.as_ref().map(|live| live.serving.clone()).unwrap_or_default();
        server::serve(&self.shared, listener, Some(agent), token).map_err(|error| error.to_string())?;
        Ok(path)
    }

    fn surroundings(&self, socket: &Path) -> Surroundings {
        Surroundings {
            environment: self.child_environment().clone(),
            own: self.own_variables(socket),
            workspace: self.workspace(),
            runner: self.shared.runner.clone(),
            hooking: self.hooking(),
        }
    }

    /// The variables of the program of a live epoch.
    pub(super) fn program_environment(&self, epoch: Epoch) -> Result<BTreeMap<String, String>, String> {
        let place = self.shared.place(self.identity.id, &self.identity.name, epoch);
        let surroundings = self.surroundings(&self.shared.epoch_socket(self.identity.id, epoch));
        environment(&self.manifest, &place, &surroundings).map_err(|error| chain(&error))
    }

    /// What tells a process of the agent where it is.
    pub(super) fn own_variables(&self, socket: &Path) -> Vec<(String, String)> {
        let own = [
            ("EDGEPLANE_SOCKET", socket.to_string_lossy().into_owned()),
            ("EDGEPLANE_AGENT", self.identity.name.to_string()),
            ("EDGEPLANE_AGENT_ID", self.identity.id.to_string()),
            ("EDGEPLANE_NODE", self.shared.identity.name.to_string()),
        ];
        own.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The folder that the agent works in.
    pub(super) fn workspace(&self) -> PathBuf {
        match &self.manifest.spec.cwd {
            Some(cwd) => PathBuf::from(cwd.as_str()),
            None => self.shared.agents_dir().join(self.identity.id.to_string()).join("workspace"),
        }
    }
}

/// Leaves nothing in a folder of what an epoch before wrote there.
async fn emptied(dir: PathBuf) -> Result<(), String> {
    let work = tokio::task::spawn_blocking(move || match fs::remove_dir_all(&dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(format!("cannot empty `{}`: {error}", dir.display()))
        }
        _ => make_dir(&dir).map_err(|error| chain(&error)),
    });
    work.await.unwrap_or_else(|error| Err(error.to_string()))
}

/// Puts the program together and starts its shim, on a worker.
async fn bring_up(
    manifest: Arc<Manifest>,
    (place, surroundings): (Place, Surroundings),
    substrate: Arc<dyn Substrate>,
    born: impl Fn(&Spawned) + Send + 'static,
) -> Result<Launched, String> {
    let work = tokio::task::spawn_blocking(move || {
        let program = compose(&manifest, &place, &surroundings).map_err(|error| chain(&error))?;
        substrate.launch(&place, &program, &born).map_err(|error| chain(&error))
    });
    work.await.unwrap_or_else(|_panic| Err("the launch was cut off".to_owned()))
}

fn compose(manifest: &Manifest, place: &Place, around: &Surroundings) -> Result<Program, ComposeError> {
    let spec = &manifest.spec;
    let run_as = spec.user.as_ref().map(|user| users::look_up(user.as_str())).transpose()?;
    make_dir(&place.dir)?;
    let env = environment(manifest, place, around)?;
    let argv = match &around.hooking {
        Some(hooking) => {
            let mut argv: Vec<String> = spec.command.iter().chain(&spec.args).cloned().collect();
            hooks::install(hooking, &place.dir, &mut argv, &env);
            argv.into_iter().map(String::into_bytes).collect()
        }
        None => command(manifest, &around.runner)?,
    };
    let terminal = match spec.driver {
        Driver::Terminal { .. } => Some((spec.terminal.cols, spec.terminal.rows)),
        Driver::Native { .. } | Driver::Acp { .. } | Driver::Exec { .. } => None,
    };
    let open_files = spec.limits.open_files.map(u64::from);
    Ok(Program {
        program: argv.first().cloned().unwrap_or_default(),
        argv,
        env: env.into_iter().map(|(name, value)| format!("{name}={value}").into_bytes()).collect(),
        cwd: around.workspace.as_os_str().as_encoded_bytes().to_vec(),
        terminal,
        run_as,
        no_new_privs: spec.no_new_privs,
        limits: open_files
            .map(|files| spec::ResourceLimit { resource: RLIMIT_NOFILE, soft: files, hard: files })
            .into_iter()
            .collect(),
        group_limits: Limits {
            memory_bytes: spec.limits.memory.map(edgeplane_manifest::ByteSize::bytes),
            pids: spec.limits.pids.map(u64::from),
            cpu_milli: spec.limits.cpu.map(edgeplane_manifest::MilliCpu::as_millis),
        },
        best_effort: spec.limits.best_effort,
        stop: (spec.stop.signal.number(), spec.stop.grace.as_millis()),
        segment: (spec.recording.segment_bytes.bytes(), spec.recording.segment_age.as_millis()),
        // A structured driver would lose facts with its bytes, so it waits for space.
        on_full: match (spec.recording.on_full, &spec.driver) {
            (OnFull::Gap, Driver::Terminal { .. }) => spec::OnFull::Gap,
            (OnFull::Pause | OnFull::Gap, _) => spec::OnFull::Pause,
        },
    })
}

/// The program and its arguments: the agent's own, or where that ends with each turn its runner.
fn command(manifest: &Manifest, runner: &Path) -> Result<Vec<Vec<u8>>, ComposeError> {
    let spec = &manifest.spec;
    let Some(plan) = super::acp::plan(manifest) else {
        return Ok(spec.command.iter().chain(&spec.args).map(|word| word.as_bytes().to_vec()).collect());
    };
    if !runner.is_file() {
        return Err(ComposeError::NoRunner(runner.to_owned()));
    }
    check_runner(manifest, runner)?;
    Ok(vec![runner.as_os_str().as_encoded_bytes().to_vec(), plan.text().into_bytes()])
}

/// Whether the manifest's user may run the runner, where there is one of either.
pub(crate) fn runner_problem(manifest: &Manifest, runner: &Path) -> Option<String> {
    super::acp::plan(manifest)?;
    check_runner(manifest, runner).err().map(|error| chain(&error))
}

fn check_runner(manifest: &Manifest, runner: &Path) -> Result<(), ComposeError> {
    let Some(user) = &manifest.spec.user else { return Ok(()) };
    let run_as = users::look_up(user.as_str())?;
    match users::kept_from(runner, &run_as) {
        None => Ok(()),
        Some(closed) => Err(ComposeError::RunnerClosed {
            runner: runner.to_owned(),
            user: user.as_str().to_owned(),
            closed,
        }),
    }
}

fn make_dir(path: &Path) -> Result<(), ComposeError> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|source| ComposeError::Prepare { path: path.to_owned(), source })
}

fn environment(
    manifest: &Manifest,
    place: &Place,
    around: &Surroundings,
) -> Result<BTreeMap<String, String>, ComposeError> {
    let spec = &manifest.spec;
    let passed = around.environment.iter().filter(|(name, _)| {
        is_env_passed(name) || spec.inherit_env.iter().any(|inherited| inherited.as_str() == name.as_str())
    });
    let mut env: BTreeMap<String, String> =
        passed.map(|(name, value)| (name.clone(), value.clone())).collect();
    env.entry("PATH".to_owned()).or_insert_with(|| PATH_STANDARD.to_owned());
    if matches!(spec.driver, Driver::Terminal { .. }) {
        env.insert("TERM".to_owned(), TERM_KIND.to_owned());
    } else {
        env.remove("TERM");
    }
    for (name, value) in &spec.env {
        let value = match value {
            EnvValue::Text(text) => Some(text.clone()),
            EnvValue::Secret { secret } => {
                let declared = spec.secrets.iter().find(|declared| declared.name == *secret);
                declared.map(|declared| hand_over(declared, place, around)).transpose()?.flatten()
            }
        };
        if let Some(value) = value {
            env.insert(name.as_str().to_owned(), value);
        }
    }
    env.extend(around.own.iter().cloned());
    Ok(env)
}

/// What the variable of a secret holds, or nothing if the secret is not there and need not be.
fn hand_over(secret: &Secret, place: &Place, around: &Surroundings) -> Result<Option<String>, ComposeError> {
    let found = match &secret.from {
        SecretSource::File(path) => fs::read_to_string(path.as_str())
            .map(|text| text.strip_suffix('\n').map(str::to_owned).unwrap_or(text))
            .map_err(|error| format!("`{}`: {error}", path.as_str())),
        SecretSource::Env(name) => around
            .environment
            .get(name.as_str())
            .cloned()
            .ok_or_else(|| format!("the daemon has no variable `{}`", name.as_str())),
    };
    let value = match found {
        Ok(value) => value,
        Err(_) if !secret.required => return Ok(None),
        Err(what) => return Err(ComposeError::SecretMissing { name: secret.name.to_string(), what }),
    };
    match secret.form {
        SecretForm::Env => Ok(Some(value)),
        SecretForm::Fd => Err(ComposeError::SecretByDescriptor(secret.name.to_string())),
        SecretForm::File => {
            let path = place.dir.join(format!("secret-{}", secret.name));
            match write_secret(&path, &value) {
                // The epoch's program was given it, and a command beside it is given the same.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                written => {
                    written.map_err(|source| ComposeError::Prepare { path: path.clone(), source })?;
                }
            }
            Ok(Some(path.to_string_lossy().into_owned()))
        }
    }
}

fn write_secret(path: &Path, value: &str) -> io::Result<()> {
    use std::io::Write as _;
    let mut file = fs::File::options().write(true).create_new(true).mode(0o400).open(path)?;
    file.write_all(value.as_bytes())
}
