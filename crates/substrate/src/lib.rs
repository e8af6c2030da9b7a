//! Where an epoch lives: bring one up, find it again, end it beyond doubt.
//!
//! A backend knows processes, groups, folders and sockets. It does not know why an agent is started, what it
//! says, or what is recorded. Everything here blocks; engines call it from workers.
#![forbid(unsafe_code)]

pub mod fence;
mod nursery;
pub mod remains;
pub mod shim;

use std::{os::unix::net::UnixStream, path::PathBuf};

use edgeplane_types::{AgentId, AgentName, Epoch, fact::TreeEvidence, identity::ProcessIdentity};
use edgeplane_wire::spec::{OnFull, ResourceLimit, RunAs};

/// Which epoch, and where its things are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The agent.
    pub agent_id: AgentId,
    /// Its name.
    pub name: AgentName,
    /// The epoch.
    pub epoch: Epoch,
    /// Folder of its exit record, key and recording.
    pub dir: PathBuf,
    /// Where its shim listens.
    pub socket: PathBuf,
}

impl Place {
    /// The name of its group.
    #[must_use]
    pub fn group(&self) -> String {
        format!("{}.{}", self.agent_id, self.epoch)
    }

    /// The variable that marks every process of it.
    #[must_use]
    pub fn mark(&self) -> String {
        format!("EDGEPLANE_EPOCH={}.{}", self.agent_id, self.epoch)
    }
}

/// What is to be run.
#[derive(Debug, Clone)]
pub struct Program {
    /// The program.
    pub program: Vec<u8>,
    /// Its arguments, its own name first.
    pub argv: Vec<Vec<u8>>,
    /// Its environment, but for what the backend adds.
    pub env: Vec<Vec<u8>>,
    /// Its folder.
    pub cwd: Vec<u8>,
    /// Columns and rows, or `None` for pipes.
    pub terminal: Option<(u16, u16)>,
    /// As whom it runs.
    pub run_as: Option<RunAs>,
    /// Whether it may never gain rights.
    pub no_new_privs: bool,
    /// Limits of its process.
    pub limits: Vec<ResourceLimit>,
    /// Limits of its whole tree.
    pub group_limits: edgeplane_os::cgroup::Limits,
    /// Whether it runs although a limit of its tree cannot be kept here.
    pub best_effort: bool,
    /// Stop signal and grace in milliseconds for a machine shutdown.
    pub stop: (i32, u64),
    /// Size and age in bytes and milliseconds at which a recording segment is complete.
    pub segment: (u64, u64),
    /// What to do without space.
    pub on_full: OnFull,
}

/// An epoch that is being brought up.
#[derive(Debug)]
pub struct Launched {
    /// Where its shim answers; the first frame says whether the program runs.
    pub link: UnixStream,
    /// The shim's process, to be reaped by the caller.
    pub shim: edgeplane_os::process::Spawned,
    /// Its group, where it has one.
    pub group: Option<PathBuf>,
    /// Limits that were asked for and are not kept.
    pub unenforced: Vec<String>,
}

/// What is left of an epoch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remains {
    /// Nothing, and this is why we know.
    Nothing(TreeEvidence),
    /// Something may be.
    Doubt(String),
}

/// What became of an epoch that a former daemon left.
#[derive(Debug)]
pub enum Found {
    /// It lives: its shim answers here, and has been greeted with its key.
    Alive(UnixStream),
    /// It ended in good order.
    Ended(edgeplane_wire::shim::Exit),
    /// Its shim does not answer.
    Lost(String),
}

/// A kind of place for epochs.
pub trait Substrate: std::fmt::Debug + Send + Sync {
    /// Brings up an epoch; the program runs once the link says so. `born` is told of the shim before that is told
    /// what to run, so that the program's first word has a known speaker.
    ///
    /// # Errors
    /// If not even the shim could be started; nothing is left then.
    fn launch(
        &self,
        place: &Place,
        program: &Program,
        born: &dyn Fn(&edgeplane_os::process::Spawned),
    ) -> Result<Launched, shim::LaunchError>;

    /// Looks for an epoch that a former daemon left.
    fn find(&self, place: &Place) -> Found;

    /// Ends whatever is left of an epoch, its shim too, and says whether anything is. `group` is the one it is known
    /// to have had: without that, a group that is not there proves nothing.
    fn clear(&self, place: &Place, shim: Option<&ProcessIdentity>, group: Option<&str>) -> Remains;

    /// Suspends every process of an epoch.
    ///
    /// # Errors
    /// If this machine cannot, or some process did not stop in time; all run on then.
    fn freeze(&self, place: &Place) -> Result<(), shim::FreezeError>;

    /// Lets them go on.
    ///
    /// # Errors
    /// If this machine cannot.
    fn thaw(&self, place: &Place) -> Result<(), shim::FreezeError>;

    /// Whether an epoch is suspended.
    fn is_frozen(&self, place: &Place) -> bool;

    /// The limits that the kernel keeps for an epoch now; nothing where it has no group.
    fn limits(&self, place: &Place) -> Vec<edgeplane_os::cgroup::InForce>;

    /// Removes the group of an epoch that is over.
    fn forget(&self, place: &Place);

    /// Gives back what the node itself took of the machine, if no epoch needs it any more.
    fn close(&self);

    /// Which epoch a group belongs to, by the kernel's id of the group.
    fn epoch_of_group(&self, group_id: u64) -> Option<(AgentId, Epoch)>;
}
