//! Who is at the other end of a unix socket.
//!
//! Owns the reading of peer credentials and of ancestry. It deliberately draws no conclusion: which agent a peer
//! belongs to, and what it may say, is decided by those who know agents.
#![expect(
    unsafe_code,
    reason = "SO_PEERPIDFD has no safe call, and SO_PEERCRED none that takes a foreign pid"
)]

mod ancestry;

use std::{
    io,
    mem::MaybeUninit,
    os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd},
};

use crate::{pidfd, proc};

pub use ancestry::{Ancestry, AncestryEnd, ProcRef, ancestry};

/// Why a peer is not known.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    /// The socket has no peer with credentials.
    #[error("cannot read the credentials of a peer")]
    Credentials(#[source] io::Error),
}

/// The process that connected, or that made the pair; a process it handed the socket to is not seen.
#[derive(Debug)]
pub struct Peer {
    /// Its number then, zero if it is outside this process's namespace; by itself no identity.
    pub pid: u32,
    /// Its effective user then.
    pub uid: u32,
    /// Its effective group then.
    pub gid: u32,
    /// A handle of the very process, where the kernel gives one (6.5; for a reaped peer 6.16).
    pub pidfd: Option<OwnedFd>,
    /// Whether it still runs.
    pub alive: bool,
    /// Its cgroup on the v2 hierarchy, where the kernel tells (6.13; for a reaped peer 6.15).
    pub cgroup_id: Option<u64>,
    /// Its parent now, where the kernel tells.
    pub parent: Option<u32>,
    /// When it started, if it was not reaped before anybody could look.
    pub start_time: Option<u64>,
}

/// Reads who is at the other end of `socket`.
///
/// # Errors
/// When the socket has no peer with credentials, as one that is not connected.
pub fn peer_of(socket: &impl AsFd) -> Result<Peer, PeerError> {
    let unknown = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let credentials = option(socket, libc::SO_PEERCRED, unknown).map_err(PeerError::Credentials)?;
    let pid = u32::try_from(credentials.pid).unwrap_or(0);
    let pidfd = peer_pidfd(socket);
    let info = pidfd.as_ref().and_then(pidfd::info).unwrap_or_default();
    // Read before the handle is polled: if the process is alive after the reading, the number was still its own.
    let stat = (pid != 0).then(|| proc::stat(pid).ok()).flatten();
    let alive = match &pidfd {
        Some(pidfd) => !pidfd::is_exited(pidfd).unwrap_or(true),
        None => stat.is_some_and(|found| found.is_alive()),
    };
    // A zombie keeps its number until it is reaped, and the handle's information says whether it was.
    let is_own = alive || info.pids.is_some_and(|(number, _parent)| number == pid);
    Ok(Peer {
        pid,
        uid: credentials.uid,
        gid: credentials.gid,
        alive,
        cgroup_id: info.cgroup_id,
        parent: info.pids.map(|(_number, parent)| parent),
        start_time: stat.filter(|_found| is_own).map(|found| found.start_time),
        pidfd,
    })
}

fn peer_pidfd(socket: &impl AsFd) -> Option<OwnedFd> {
    let number = option(socket, libc::SO_PEERPIDFD, -1_i32).ok().filter(|number| *number >= 0)?;
    // SAFETY: the kernel just opened it for this call, close-on-exec, and nobody else knows the number.
    Some(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Reads a socket option of plain integers; what the kernel does not fill stays as `empty`.
fn option<T: Copy + Plain>(socket: &impl AsFd, name: i32, empty: T) -> io::Result<T> {
    let mut value = MaybeUninit::new(empty);
    let mut length = libc::socklen_t::try_from(size_of::<T>()).unwrap_or(0);
    let socket = socket.as_fd().as_raw_fd();
    // SAFETY: the value is writable for `length` bytes, both outlive the call, and the socket is borrowed for it.
    let result = unsafe {
        libc::getsockopt(socket, libc::SOL_SOCKET, name, value.as_mut_ptr().cast(), &raw mut length)
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it was initialised as `empty`, and any bytes the kernel put over it are valid for a plain type.
    Ok(unsafe { value.assume_init() })
}

/// Types for which every pattern of bytes is a value.
trait Plain {}
impl Plain for i32 {}
impl Plain for libc::ucred {}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn own_socket_pair_names_this_process() {
        let (one, _other) = UnixStream::pair().unwrap();
        let peer = peer_of(&one).unwrap();
        let me = std::process::id();
        assert_eq!((peer.pid, peer.uid), (me, rustix::process::geteuid().as_raw()));
        assert!(peer.alive);
        assert_eq!(peer.start_time, Some(proc::stat(me).unwrap().start_time));
        if peer.pidfd.is_none() {
            crate::testing::skip("handle of a peer", "this kernel does not know SO_PEERPIDFD");
            return;
        }
        assert!(peer.cgroup_id.is_some() || pidfd::info(peer.pidfd.as_ref().unwrap()).is_none());
    }

    #[test]
    fn what_is_not_a_socket_has_no_peer() {
        let (reader, _writer) = crate::fd::pipe().unwrap();
        assert!(matches!(peer_of(&reader), Err(PeerError::Credentials(_))));
    }
}
