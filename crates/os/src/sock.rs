//! Unix sockets: listening, connecting, pairs, and passing descriptors.
//!
//! Owns the care that a path in the file system needs: leftovers of dead processes, length, mode. It deliberately knows
//! no frame and no peer: see [`crate::peer`].

mod passing;

use std::{
    fs::Permissions,
    io,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::{
            fs::{FileTypeExt, PermissionsExt},
            net::{UnixListener, UnixStream},
        },
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Mode, OFlags},
    io::Errno,
    net::{
        AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect as connect_to, listen,
        socket_with, socketpair,
    },
};

pub use passing::{FDS_MAX, PassError, Received, recv_with_fds, send_with_fds};

/// What fits a socket address, without the closing zero.
const ADDRESS_BYTES_MAX: usize = 107;

/// How many connections may wait to be accepted; further callers wait or see an error, as they choose.
const BACKLOG: i32 = 128;

/// Why a socket cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum SockError {
    /// The path ends in nothing that can be a socket.
    #[error("`{}` is not a path of a socket", path.display())]
    NoName {
        /// What was asked for.
        path: PathBuf,
    },
    /// Somebody listens there.
    #[error("`{}` is in use by a running process", path.display())]
    InUse {
        /// The socket.
        path: PathBuf,
    },
    /// Something else than a socket is there; it is left alone.
    #[error("`{}` exists and is not a socket", path.display())]
    NotASocket {
        /// The path.
        path: PathBuf,
    },
    /// The socket cannot be made.
    #[error("cannot listen on `{}`", path.display())]
    Listen {
        /// The socket.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// Nobody answers, or the caller may not ask.
    #[error("cannot connect to `{}`", path.display())]
    Connect {
        /// The socket.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// No pair is left.
    #[error("cannot make a pair of sockets")]
    Pair(#[source] io::Error),
}

/// A path in a form that fits a socket address.
///
/// A long one goes through a handle of its directory, which the address names in `/proc`.
struct Address {
    address: SocketAddrUnix,
    /// Keeps the number in the address meaning the directory.
    _dir: Option<OwnedFd>,
}

impl Address {
    fn of(path: &Path) -> io::Result<Option<Self>> {
        let Some(name) = path.file_name() else { return Ok(None) };
        if path.as_os_str().len() <= ADDRESS_BYTES_MAX {
            return Ok(Some(Self { address: SocketAddrUnix::new(path)?, _dir: None }));
        }
        let dir = path.parent().unwrap_or(Path::new("/"));
        let dir = rustix::fs::open(dir, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let short = Path::new("/proc/self/fd").join(dir.as_raw_fd().to_string()).join(name);
        Ok(Some(Self { address: SocketAddrUnix::new(&short)?, _dir: Some(dir) }))
    }
}

/// Listens at `path`, with mode 0600 and, if given, another owner; a leftover that nobody answers at is replaced.
///
/// The directory must be the caller's own, and only one process may listen there by agreement (a lock): between finding
/// a leftover dead and replacing it, another could have done so.
///
/// # Errors
/// When somebody listens there, something else is there, or the socket cannot be made; a failed attempt leaves none.
pub fn bind_listener(path: &Path, owner: Option<u32>) -> Result<UnixListener, SockError> {
    let error = |source: io::Error| SockError::Listen { path: path.to_owned(), source };
    let address = Address::of(path).map_err(error)?;
    let address = address.ok_or_else(|| SockError::NoName { path: path.to_owned() })?;
    let kind = SocketType::STREAM;
    let socket = socket_with(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)
        .map_err(|source| error(source.into()))?;
    match bind(&socket, &address.address) {
        Err(Errno::ADDRINUSE) => {
            remove_leftover(path, &address)?;
            bind(&socket, &address.address).map_err(|source| error(source.into()))?;
        }
        result => result.map_err(|source| error(source.into()))?,
    }
    // Nobody can connect before `listen`, so nobody can before the mode is right.
    open_up(path, owner).and_then(|()| Ok(listen(&socket, BACKLOG)?)).map_err(|source| {
        // The first failure is the one to report.
        drop(std::fs::remove_file(path));
        error(source)
    })?;
    Ok(UnixListener::from(socket))
}

fn open_up(path: &Path, owner: Option<u32>) -> io::Result<()> {
    std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
    match owner {
        Some(owner) => std::os::unix::fs::lchown(path, Some(owner), None),
        None => Ok(()),
    }
}

fn remove_leftover(path: &Path, address: &Address) -> Result<(), SockError> {
    let error = |source: io::Error| SockError::Listen { path: path.to_owned(), source };
    if !std::fs::symlink_metadata(path).map_err(error)?.file_type().is_socket() {
        return Err(SockError::NotASocket { path: path.to_owned() });
    }
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let probe = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
        .map_err(|source| error(source.into()))?;
    match connect_to(&probe, &address.address) {
        Err(Errno::CONNREFUSED) => std::fs::remove_file(path).map_err(error),
        // A full queue is a sign of life too.
        Ok(()) | Err(Errno::AGAIN) => Err(SockError::InUse { path: path.to_owned() }),
        Err(source) => Err(error(source.into())),
    }
}

/// Connects to the socket at `path`.
///
/// # Errors
/// When nobody listens there or the caller may not connect.
pub fn connect(path: &Path) -> Result<UnixStream, SockError> {
    let error = |source: io::Error| SockError::Connect { path: path.to_owned(), source };
    let address = Address::of(path).map_err(error)?;
    let address = address.ok_or_else(|| SockError::NoName { path: path.to_owned() })?;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
        .map_err(|source| error(source.into()))?;
    connect_to(&socket, &address.address).map_err(|source| error(source.into()))?;
    Ok(UnixStream::from(socket))
}

/// Two connected sockets that carry a stream of bytes; neither is inherited.
///
/// # Errors
/// When no descriptor is left.
pub fn pair() -> Result<(UnixStream, UnixStream), SockError> {
    let (one, other) = pair_of(SocketType::STREAM)?;
    Ok((UnixStream::from(one), UnixStream::from(other)))
}

/// Two connected sockets that keep message boundaries and order; neither is inherited.
///
/// # Errors
/// When no descriptor is left.
pub fn pair_of_messages() -> Result<(OwnedFd, OwnedFd), SockError> {
    pair_of(SocketType::SEQPACKET)
}

fn pair_of(kind: SocketType) -> Result<(OwnedFd, OwnedFd), SockError> {
    socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)
        .map_err(|source| SockError::Pair(source.into()))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    fn check_round_trip(path: &Path) {
        let listener = bind_listener(path, None).unwrap();
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
        let mut client = connect(path).unwrap();
        let (mut server, _address) = listener.accept().unwrap();
        client.write_all(b"x").unwrap();
        let mut byte = [0];
        server.read_exact(&mut byte).unwrap();
        assert_eq!(byte, *b"x");
    }

    #[test]
    fn short_and_long_paths_work() {
        let dir = tempfile::tempdir().unwrap();
        check_round_trip(&dir.path().join("s"));
        let deep = dir.path().join("d".repeat(100)).join("e".repeat(100));
        std::fs::create_dir_all(&deep).unwrap();
        check_round_trip(&deep.join("s"));
    }

    #[test]
    fn leftover_is_replaced_and_a_live_listener_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        let first = bind_listener(&path, None).unwrap();
        assert!(matches!(bind_listener(&path, None), Err(SockError::InUse { .. })));
        connect(&path).unwrap();
        drop(first);
        assert!(path.exists(), "the name outlives the listener");
        let _second = bind_listener(&path, None).unwrap();
        connect(&path).unwrap();
    }

    #[test]
    fn ordinary_file_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        std::fs::write(&path, b"precious").unwrap();
        assert!(matches!(bind_listener(&path, None), Err(SockError::NotASocket { .. })));
        assert_eq!(std::fs::read(&path).unwrap(), b"precious");
        assert!(matches!(bind_listener(Path::new("/"), None), Err(SockError::NoName { .. })));
        assert!(matches!(connect(&dir.path().join("none")), Err(SockError::Connect { .. })));
    }

    #[test]
    fn messages_keep_their_boundaries() {
        let (one, other) = pair_of_messages().unwrap();
        crate::fd::write(&one, b"ab").unwrap();
        crate::fd::write(&one, b"c").unwrap();
        let mut bytes = [0; 8];
        assert_eq!(crate::fd::read(&other, &mut bytes).unwrap(), crate::fd::Transfer::Moved(2));
        assert_eq!(crate::fd::read(&other, &mut bytes).unwrap(), crate::fd::Transfer::Moved(1));
    }
}
