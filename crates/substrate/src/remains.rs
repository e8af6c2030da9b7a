//! Ending what is left of an epoch, and being sure of it.
//!
//! With a group the kernel says when it is empty. Without one, processes are found by the epoch's mark and by
//! descent; a process that may have slipped out of both leaves a doubt, and a doubt is said.

use std::{fs, time::Duration};

use edgeplane_os::{
    cgroup::EpochGroup,
    peer, pidfd, proc,
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

fn is_alive(pid: u32) -> bool {
    proc::stat(pid).is_ok_and(|stat| stat.is_alive())
}

/// Ends what can be found without a group.
pub(crate) fn clear_without_group(place: &Place, shim: Option<&ProcessIdentity>) -> Remains {
    if let Some(shim) = shim {
        kill(shim.pid, Some(shim.start_time));
    }
    let mark = place.mark();
    let mut last = Vec::new();
    let gone = until(Deadline::after(CLEAR_TIME_MAX), || {
        let Ok(marked) = proc::find_marked(mark.as_bytes()) else { return false };
        last = marked.into_iter().filter(|pid| is_alive(*pid)).collect();
        for pid in &last {
            for below in proc::descendants(*pid).unwrap_or_default() {
                kill(below, None);
            }
            kill(*pid, None);
        }
        last.is_empty() && shim.is_none_or(|shim| !proc::is_running(shim))
    });
    if !gone {
        return Remains::Doubt(format!("processes of the epoch do not end: {last:?}"));
    }
    match strays(shim) {
        strays if strays.is_empty() => Remains::Nothing(TreeEvidence::BestEffort),
        strays => Remains::Doubt(format!(
            "without a writable cgroup these orphans may belong to it: {}",
            strays.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
        )),
    }
}

/// Orphans of our own user that began after the shim did and that nothing attributes: any of them may be a
/// descendant that cleared its environment and left its session.
fn strays(shim: Option<&ProcessIdentity>) -> Vec<u32> {
    let Some(shim) = shim else { return Vec::new() };
    let own = proc::own_uid();
    let above: Vec<u32> = peer::ancestry(std::process::id(), |_| false).chain.iter().map(|p| p.pid).collect();
    let is_stray = |pid: &u32| {
        let Ok(stat) = proc::stat(*pid) else { return false };
        stat.is_alive()
            && (above.contains(&stat.parent) || takes_in_orphans(stat.parent))
            && stat.start_time >= shim.start_time
            && proc::uid(*pid).is_ok_and(|uid| uid == own)
            && !is_ours(*pid)
    };
    proc::all().unwrap_or_default().into_iter().filter(is_stray).collect()
}

/// Whether orphans may have come to this process. Those of a daemon's own line may be its session's manager; the
/// manager of another session that a former daemon stood under is known by its name.
fn takes_in_orphans(pid: u32) -> bool {
    let Ok(stat) = proc::stat(pid) else { return false };
    let is_manager = || fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "systemd\n");
    pid == 1 || stat.parent == 0 || (stat.parent == 1 && is_manager())
}

/// Whether a process is a shim or daemon, or says of which epoch it is.
fn is_ours(pid: u32) -> bool {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    if matches!(name.trim_end(), "edgeplane-shim" | "edgeplaned" | "edgeplane") {
        return true;
    }
    let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environ.split(|b| *b == 0).any(|variable| variable.starts_with(b"EDGEPLANE_EPOCH="))
}
