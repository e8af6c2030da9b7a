//! Ending what is left of an epoch, and being sure of it.
//!
//! With a group the kernel says when it is empty. Without one, processes are found by the epoch's mark and by
//! descent; a process that may have slipped out of both leaves a doubt, and a doubt is said.

use std::{collections::BTreeMap, fs, time::Duration};

use edgeplane_os::{
    cgroup::EpochGroup,
    peer, pidfd,
    proc::{self, Stat},
    signals::from_number,
    wait::{Deadline, until},
};
use edgeplane_types::{fact::TreeEvidence, identity::ProcessIdentity};

use crate::{Place, Remains};

/// How long killed processes may take to be gone.
const CLEAR_TIME_MAX: Duration = Duration::from_secs(10);

const SIGKILL: i32 = 9;

/// Kills everything in an epoch's group, the shim too, and waits until the kernel says it is empty.
pub(crate) fn clear_group(group: &EpochGroup) -> Remains {
    let deadline = Deadline::after(CLEAR_TIME_MAX);
    let whole = group.dir().join("cgroup.kill");
    // A v1 freezer has no such file; there the shim is outside of the group and dies on its own.
    drop(fs::write(&whole, "1"));
    if let Err(error) = group.kill(deadline) {
        return Remains::Doubt(format!("cannot end the processes of the group: {error}"));
    }
    let events = group.dir().join("cgroup.events");
    let empty = until(deadline, || match fs::read_to_string(&events) {
        Ok(text) => text.lines().any(|line| line == "populated 0"),
        Err(_) => group.is_empty().unwrap_or(false),
    });
    if empty {
        Remains::Nothing(TreeEvidence::Cgroup)
    } else {
        Remains::Doubt("processes of the group do not end".to_owned())
    }
}

/// Ends the shim of an epoch whose group is gone: it is removed only when it is empty.
pub(crate) fn clear_after_group(shim: Option<&ProcessIdentity>) -> Remains {
    if let Some(shim) = shim {
        kill(shim.pid, Some(shim.start_time));
    }
    Remains::Nothing(TreeEvidence::Cgroup)
}

fn kill(pid: u32, start: Option<u64>) {
    let Some(signal) = from_number(SIGKILL) else { return };
    let Ok(fd) = pidfd::open(pid) else { return };
    // The descriptor pins the process; only then is it certain that the number still means the same one.
    if start.is_none_or(|start| proc::is_same(pid, start)) {
        drop(pidfd::send_signal(&fd, signal));
    }
}

/// Ends what can be found without a group.
pub(crate) fn clear_without_group(place: &Place, shim: Option<&ProcessIdentity>) -> Remains {
    if let Some(shim) = shim {
        kill(shim.pid, Some(shim.start_time));
    }
    let mark = place.mark();
    let mut killed = BTreeMap::new();
    let mut sight = Sight::default();
    let gone = until(Deadline::after(CLEAR_TIME_MAX), || {
        let Ok(marked) = proc::find_marked(mark.as_bytes()) else { return false };
        for pid in marked {
            let below = proc::descendants(pid).unwrap_or_default();
            for pid in below.into_iter().chain([pid]) {
                killed.extend(proc::stat(pid).map(|stat| (pid, stat.start_time)));
                kill(pid, None);
            }
        }
        // Their mark goes with their memory, before they do: what was killed is known by its number from then on.
        killed.retain(|pid, start| {
            proc::stat(*pid).is_ok_and(|stat| stat.start_time == *start && stat.is_alive())
        });
        if !killed.is_empty() || shim.is_some_and(proc::is_running) {
            return false;
        }
        let former = std::mem::replace(&mut sight, Sight::of(shim, mark.as_bytes()));
        // A program that is about to become another one has no environment for a moment: a doubt is looked at twice.
        sight.unsettled.is_empty() && (sight.strays.is_empty() || sight.strays == former.strays)
    });
    if !gone {
        let running = shim.filter(|shim| proc::is_running(shim)).map(|shim| shim.pid);
        let left: Vec<u32> = killed.into_keys().chain(running).collect();
        // Of others it is not said that they are of the epoch.
        sight.strays.append(&mut sight.unsettled);
        if !left.is_empty() || sight.strays.is_empty() {
            return Remains::Doubt(format!("processes of the epoch do not end: {left:?}"));
        }
    }
    if sight.strays.is_empty() {
        return Remains::Nothing(TreeEvidence::BestEffort);
    }
    Remains::Doubt(format!(
        "without a writable cgroup these orphans may belong to it: {}",
        sight.strays.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
    ))
}

/// Orphans of our own user that began after the shim did: any of them may be a descendant that left its session.
#[derive(Debug, Default)]
struct Sight {
    /// Those that nothing attributes, as if they had cleared their environment.
    strays: Vec<u32>,
    /// Those of which it will be known soon: they are ending, or bear the mark after all.
    unsettled: Vec<u32>,
}

impl Sight {
    fn of(shim: Option<&ProcessIdentity>, mark: &[u8]) -> Self {
        let mut sight = Self::default();
        let Some(shim) = shim else { return sight };
        let own = proc::own_uid();
        let above: Vec<u32> =
            peer::ancestry(std::process::id(), |_| false).chain.iter().map(|p| p.pid).collect();
        let may_be_ours = |stat: &Stat| {
            stat.is_alive()
                && (above.contains(&stat.parent) || takes_in_orphans(stat.parent))
                && stat.start_time >= shim.start_time
                && proc::uid(stat.pid).is_ok_and(|uid| uid == own)
        };
        let look = |pid: u32| proc::stat(pid).ok().filter(may_be_ours);
        for pid in proc::all().unwrap_or_default().into_iter().filter(|pid| look(*pid).is_some()) {
            let owner = Owner::of(pid, mark);
            // After its environment: whoever had none because it is ending is seen to be.
            let Some(stat) = look(pid) else { continue };
            match owner {
                Owner::Another => {}
                Owner::ThisEpoch => sight.unsettled.push(pid),
                Owner::Unknown if stat.is_ending => sight.unsettled.push(pid),
                Owner::Unknown => sight.strays.push(pid),
            }
        }
        sight
    }
}

/// Whether orphans may have come to this process. Those of a daemon's own line may be its session's manager; the
/// manager of another session that a former daemon stood under is known by its name.
fn takes_in_orphans(pid: u32) -> bool {
    let Ok(stat) = proc::stat(pid) else { return false };
    let is_manager = || fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "systemd\n");
    pid == 1 || stat.parent == 0 || (stat.parent == 1 && is_manager())
}

/// To whom a process belongs, by its own word.
enum Owner {
    ThisEpoch,
    /// Another epoch; or it is a shim or a daemon.
    Another,
    Unknown,
}

impl Owner {
    fn of(pid: u32, mark: &[u8]) -> Self {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        if matches!(name.trim_end(), "edgeplane-shim" | "edgeplaned" | "edgeplane") {
            return Self::Another;
        }
        let environ = proc::environment(pid);
        let mut marks = environ.split(|b| *b == 0).filter(|entry| entry.starts_with(b"EDGEPLANE_EPOCH="));
        match marks.next() {
            Some(found) if found == mark => Self::ThisEpoch,
            Some(_) => Self::Another,
            None => Self::Unknown,
        }
    }
}
