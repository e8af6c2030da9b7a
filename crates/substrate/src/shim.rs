//! The own shim as a substrate: one small process per epoch, in a cgroup of its own where the machine allows it.

use std::{
    ffi::{CString, OsStr},
    fs, io,
    io::Write as _,
    os::{
        fd::{AsFd, BorrowedFd},
        unix::{ffi::OsStrExt as _, net::UnixStream},
    },
    path::{Path, PathBuf},
    time::Duration,
};

use edgeplane_os::{
    cgroup::{CgroupError, EpochGroup, NodeGroup, Shortfall},
    entropy::Entropy as _,
    process::{SpawnError, SpawnSpec, Spawned, spawn},
    sock::{self, SockError},
    wait::Deadline,
};
use edgeplane_types::{AgentId, Epoch, identity::ProcessIdentity};
use edgeplane_wire::{
    shim::{Exit, Role, ToShim, VERSIONS},
    spec::LaunchSpec,
};

use crate::{Found, Launched, Place, Program, Remains, Substrate, fence, nursery::Nursery, remains};

/// How long a freeze may take before it is given up.
const FREEZE_TIME_MAX: Duration = Duration::from_secs(5);

/// How long an ended group may take to become removable.
const REMOVE_TIME_MAX: Duration = Duration::from_millis(500);

/// How long writing the launch specification to a newborn shim may take.
const LAUNCH_WRITE_TIME_MAX: Duration = Duration::from_secs(10);

/// File of the epoch's key.
const KEY_FILE: &str = "key";

/// File of the epoch's exit record.
pub const EXIT_FILE: &str = "exit";

/// Why an epoch could not be brought up.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// Its folder or key.
    #[error("cannot prepare `{}`", path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Its group.
    #[error("cannot make the control group of {group}")]
    Group {
        /// Its name.
        group: String,
        /// Why.
        #[source]
        source: CgroupError,
    },
    /// Its control socket.
    #[error("cannot make the shim's control socket")]
    Socket(#[source] SockError),
    /// The shim.
    #[error("cannot start the shim")]
    Shim(#[source] Box<SpawnError>),
    /// A text of the manifest cannot be given to a program.
    #[error("a text for the program holds a zero byte")]
    ZeroByte,
    /// The specification did not reach the shim.
    #[error("cannot hand the launch specification to the shim")]
    Handover(#[source] io::Error),
}

/// Why an epoch could not be suspended or let go on.
#[derive(Debug, thiserror::Error)]
pub enum FreezeError {
    /// There is no freezer.
    #[error("this machine has no writable cgroup to freeze an agent with")]
    Unsupported,
    /// It did not work.
    #[error("cannot change whether the agent is frozen")]
    Failed(#[from] CgroupError),
}

/// Epochs under our own shim.
#[derive(Debug)]
pub struct OwnShim {
    /// The shim's program.
    program: PathBuf,
    /// The node's group, where the machine allows one.
    groups: Option<NodeGroup>,
    nursery: Nursery,
}

impl OwnShim {
    /// Epochs under the shim at `program`, in groups below `groups` if there are any.
    #[must_use]
    pub fn new(program: PathBuf, groups: Option<NodeGroup>) -> Self {
        Self { nursery: Nursery::new(program.clone()), program, groups }
    }

    fn group(&self, place: &Place) -> Option<EpochGroup> {
        self.groups.as_ref()?.open_epoch(&place.group()).ok()
    }

    fn create_group(&self, place: &Place, program: &Program) -> Result<Option<EpochGroup>, LaunchError> {
        let Some(groups) = &self.groups else { return Ok(None) };
        let shortfall = if program.best_effort { Shortfall::Accept } else { Shortfall::Refuse };
        let group = groups
            .create_epoch(&place.group(), &program.group_limits, shortfall)
            .map_err(|source| LaunchError::Group { group: place.group(), source })?;
        Ok(Some(group))
    }

    /// Starts the shim with the other end of its control connection.
    fn start(&self, place: &Place, group: Option<&EpochGroup>) -> Result<Started, LaunchError> {
        let group_failed = |source| LaunchError::Group { group: place.group(), source };
        let born_in = match group {
            Some(group) => group.shim_placement().open().map_err(group_failed)?.0,
            None => None,
        };
        if let Some(cgroup) = &born_in {
            let (ours, theirs) = sock::pair().map_err(LaunchError::Socket)?;
            if let Some(shim) = self.nursery.bear(place, theirs.as_fd(), cgroup.as_fd()) {
                return Ok((ours, shim));
            }
        }
        self.start_program(place, born_in.as_ref().map(AsFd::as_fd))
    }

    /// Starts the shim's program, with its control connection as descriptor 3.
    fn start_program(&self, place: &Place, cgroup: Option<BorrowedFd<'_>>) -> Result<Started, LaunchError> {
        let (ours, theirs) = sock::pair().map_err(LaunchError::Socket)?;
        let null = fs::File::options()
            .read(true)
            .write(true)
            .open("/dev/null")
            .map_err(|source| LaunchError::Folder { path: "/dev/null".into(), source })?;
        let text = |text: String| CString::new(text).map_err(|_zero| LaunchError::ZeroByte);
        let argv = [
            text("edgeplane-shim".into())?,
            text("run".into())?,
            text(place.name.to_string())?,
            text(place.epoch.to_string())?,
        ];
        let envp = [text(place.mark())?];
        let mut spec = SpawnSpec::bare(self.program.as_os_str(), &argv, &envp, [null.as_fd(); 3]);
        let fds = [(theirs.as_fd(), 3)];
        spec.extra_fds = &fds;
        spec.new_session = true;
        spec.cgroup = cgroup;
        spec.cwd = Some(c"/");
        let shim = spawn(&spec).map_err(|error| LaunchError::Shim(Box::new(error)))?;
        Ok((ours, shim))
    }
}

type Started = (UnixStream, Spawned);

fn folder_failed(path: &Path) -> impl FnOnce(io::Error) -> LaunchError + '_ {
    move |source| LaunchError::Folder { path: path.to_owned(), source }
}

/// Makes the epoch's folder with a fresh key in it.
fn prepare(place: &Place) -> Result<[u8; 32], LaunchError> {
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(&place.dir).map_err(folder_failed(&place.dir))?;
    let mut key = [0; 32];
    edgeplane_os::entropy::SystemEntropy.fill(&mut key);
    let path = place.dir.join(KEY_FILE);
    // Not synced: a key is worth nothing after the power is gone, and with it the shim.
    fs::File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&path)
        .and_then(|mut file| file.write_all(&key))
        .map_err(folder_failed(&path))?;
    Ok(key)
}

fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

fn specification(place: &Place, program: &Program, key: [u8; 32], group: Option<&EpochGroup>) -> LaunchSpec {
    let placement = group.map(EpochGroup::work_placement);
    let mut env = program.env.clone();
    env.push(place.mark().into_bytes());
    LaunchSpec {
        agent_id: *place.agent_id.as_bytes(),
        name: place.name.as_str().as_bytes().to_vec(),
        epoch: place.epoch.0,
        key,
        epoch_dir: bytes(&place.dir),
        socket: bytes(&place.socket),
        program: program.program.clone(),
        argv: program.argv.clone(),
        env,
        cwd: program.cwd.clone(),
        terminal: program.terminal,
        run_as: program.run_as.clone(),
        no_new_privs: program.no_new_privs,
        limits: program.limits.clone(),
        cgroup: placement.as_ref().and_then(|p| p.cgroup.as_deref()).map(bytes),
        v1_procs: placement.iter().flat_map(|p| &p.v1_procs).map(|path| bytes(path)).collect(),
        stop_signal: program.stop.0,
        grace_ms: program.stop.1,
        segment_bytes_max: program.segment.0,
        segment_age_max_ms: program.segment.1,
        on_full: program.on_full,
    }
}

/// Writes the specification and leaves the link ready for an engine.
fn hand_over(link: &UnixStream, spec: &LaunchSpec) -> io::Result<()> {
    let encoded = spec.encode();
    let mut frame = Vec::with_capacity(encoded.len().saturating_add(16));
    ToShim::Launch { spec: &encoded }.encode(&mut frame);
    link.set_nonblocking(false)?;
    link.set_write_timeout(Some(LAUNCH_WRITE_TIME_MAX))?;
    (&*link).write_all(&frame)?;
    link.set_write_timeout(None)?;
    link.set_nonblocking(true)
}

impl Substrate for OwnShim {
    fn launch(
        &self,
        place: &Place,
        program: &Program,
        born: &dyn Fn(&Spawned),
    ) -> Result<Launched, LaunchError> {
        let key = prepare(place)?;
        let group = self.create_group(place, program)?;
        let launched = self.start(place, group.as_ref()).and_then(|(link, shim)| {
            born(&shim);
            hand_over(&link, &specification(place, program, key, group.as_ref()))
                .map_err(LaunchError::Handover)?;
            Ok(Launched {
                link,
                shim,
                group: group.as_ref().map(|group| group.dir().to_owned()),
                unenforced: group
                    .iter()
                    .flat_map(EpochGroup::unenforced)
                    .map(|controller| controller.name().to_owned())
                    .collect(),
            })
        });
        if launched.is_err() {
            let dir = group.as_ref().map(|group| group.dir().to_string_lossy());
            let _remains = self.clear(place, None, dir.as_deref());
        }
        launched
    }

    fn find(&self, place: &Place) -> Found {
        match greet(place) {
            Ok(link) => Found::Alive(link),
            // The exit record is written before the socket goes, so this order cannot miss it.
            Err(why) => match exit_record(&place.dir) {
                Some(exit) => Found::Ended(exit),
                None => Found::Lost(why),
            },
        }
    }

    fn clear(&self, place: &Place, shim: Option<&ProcessIdentity>, group: Option<&str>) -> Remains {
        if let Err(why) = fence::put_up(place) {
            return Remains::Doubt(why);
        }
        let remains = match (self.group(place), group) {
            (Some(group), _) => remains::clear_group(&group),
            (None, Some(_)) if self.groups.is_some() => remains::clear_after_group(shim),
            (None, _) => remains::clear_without_group(place, shim),
        };
        if matches!(remains, Remains::Nothing(_)) {
            self.forget(place);
        }
        remains
    }

    fn freeze(&self, place: &Place) -> Result<(), FreezeError> {
        let group = self.group(place).ok_or(FreezeError::Unsupported)?;
        Ok(group.freeze(Deadline::after(FREEZE_TIME_MAX))?)
    }

    fn thaw(&self, place: &Place) -> Result<(), FreezeError> {
        let group = self.group(place).ok_or(FreezeError::Unsupported)?;
        Ok(group.thaw()?)
    }

    fn is_frozen(&self, place: &Place) -> bool {
        self.group(place).is_some_and(|group| group.is_frozen().unwrap_or(false))
    }

    fn limits(&self, place: &Place) -> Vec<edgeplane_os::cgroup::InForce> {
        self.group(place).map(|group| group.in_force()).unwrap_or_default()
    }

    fn forget(&self, place: &Place) {
        if let Some(group) = self.group(place) {
            // A group that cannot be removed now is found and removed at the next start.
            drop(group.remove(Deadline::after(REMOVE_TIME_MAX)));
        }
        drop(fs::remove_file(&place.socket));
    }

    fn close(&self) {
        if let Some(groups) = &self.groups {
            // It fails while an agent lives, and the next daemon needs it then.
            drop(groups.remove());
        }
    }

    fn epoch_of_group(&self, group_id: u64) -> Option<(AgentId, Epoch)> {
        let path = self.groups.as_ref()?.find(group_id)?;
        let (agent, epoch) = path.components().next()?.as_os_str().to_str()?.split_once('.')?;
        Some((agent.parse().ok()?, Epoch(epoch.parse().ok()?)))
    }
}

/// Connects to a shim and sends the greeting with the epoch's key.
fn greet(place: &Place) -> Result<UnixStream, String> {
    let key = fs::read(place.dir.join(KEY_FILE)).map_err(|error| format!("no key of the epoch: {error}"))?;
    let key = key.try_into().map_err(|_cut| "the key of the epoch is damaged".to_owned())?;
    let link = sock::connect(&place.socket).map_err(|error| format!("no answer of the shim: {error}"))?;
    let mut frame = Vec::new();
    let hello = ToShim::Hello { version_min: VERSIONS.0, version_max: VERSIONS.1, key, role: Role::Control };
    hello.encode(&mut frame);
    link.set_nonblocking(true)
        .and_then(|()| (&link).write_all(&frame))
        .map_err(|error| format!("the shim does not read: {error}"))?;
    Ok(link)
}

/// The exit record of an epoch, if its shim wrote one.
#[must_use]
pub fn exit_record(dir: &Path) -> Option<Exit> {
    let bytes = edgeplane_os::atomic::read_preallocated(&dir.join(EXIT_FILE)).ok().flatten()?;
    Exit::decode(&bytes).ok()
}

/// The shim beside the running program, or where the caller's environment says.
#[must_use]
pub fn locate(configured: Option<&OsStr>, own_program: &Path) -> PathBuf {
    match configured {
        Some(path) => PathBuf::from(path),
        None => own_program.with_file_name("edgeplane-shim"),
    }
}
