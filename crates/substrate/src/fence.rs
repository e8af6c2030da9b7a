//! The fence of an epoch: after it stands, no shim of that epoch can begin, however late it comes.
//!
//! A shim holds a lock on its epoch's folder for as long as it lives, and looks for the fence once it has the lock.
//! Whoever puts the fence up holds that lock while doing so; whoever holds it instead is ended first. So between "its
//! tree is empty" and "the next epoch begins" nothing of the old one can come to life.

use std::{fs, time::Duration};

use edgeplane_os::{
    lock::{DirLock, LockError},
    pidfd,
    signals::from_number,
    wait::{Deadline, until},
};

use crate::Place;

/// File that keeps a late shim from beginning. The shim knows the name, too.
pub const FENCE_FILE: &str = "fenced";

/// How long the end of a shim that holds its epoch may take.
const FENCE_TIME_MAX: Duration = Duration::from_secs(10);

const SIGKILL: i32 = 9;

/// Puts the fence up.
///
/// # Errors
/// What is in the way, for people: the epoch must be taken for alive then.
pub(crate) fn put_up(place: &Place) -> Result<(), String> {
    if !place.dir.is_dir() {
        // Not even its folder was made, and whoever makes it is the launch that is being cleared up after.
        return Ok(());
    }
    let mut last = None;
    let up = until(Deadline::after(FENCE_TIME_MAX), || match DirLock::acquire(&place.dir) {
        Ok(_held) => match fs::write(place.dir.join(FENCE_FILE), "") {
            Ok(()) => true,
            Err(error) => {
                last = Some(error.to_string());
                // Without space there is no fence, but there is no shim either: the lock says so.
                error.kind() == std::io::ErrorKind::StorageFull
            }
        },
        Err(LockError::Held { holder, .. }) => {
            end(holder);
            last = Some("its shim does not end".to_owned());
            false
        }
        Err(error) => {
            last = Some(error.to_string());
            false
        }
    });
    if up { Ok(()) } else { Err(last.unwrap_or_else(|| "the epoch cannot be fenced".to_owned())) }
}

/// Ends the shim that holds an epoch. It is one: nothing else takes this lock but a daemon for a moment.
fn end(holder: Option<u32>) {
    let (Some(pid), Some(signal)) = (holder, from_number(SIGKILL)) else { return };
    let Ok(fd) = pidfd::open(pid) else { return };
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    if name.trim_end() == "edgeplane-shim" {
        drop(pidfd::send_signal(&fd, signal));
    }
}

#[cfg(test)]
mod tests {
    use edgeplane_types::{AgentId, Epoch};

    use super::*;

    fn place(dir: &std::path::Path) -> Place {
        Place {
            agent_id: AgentId::from_parts(1, [1; 10]),
            name: "a".parse().unwrap(),
            epoch: Epoch(1),
            dir: dir.to_owned(),
            socket: dir.join("sock"),
        }
    }

    #[test]
    fn fence_stands_once_nobody_holds_the_epoch() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(put_up(&place(&dir.path().join("none"))), Ok(()));
        assert_eq!(put_up(&place(dir.path())), Ok(()));
        assert!(dir.path().join(FENCE_FILE).exists());
    }
}
