//! Passing descriptors along with bytes.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// How many descriptors one message carries: a terminal or three pipes, a key and a listener, with room to spare.
pub const FDS_MAX: usize = 8;

const ANCILLARY_BYTES: usize = rustix::cmsg_space!(ScmRights(FDS_MAX));

/// Why bytes and descriptors did not pass.
#[derive(Debug, thiserror::Error)]
pub enum PassError {
    /// More than one message carries.
    #[error("cannot pass {count} descriptors at once: the most is {FDS_MAX}")]
    TooMany {
        /// How many there were.
        count: usize,
    },
    /// The other side is gone or does not take them.
    #[error("cannot send descriptors")]
    Send(#[source] io::Error),
    /// Nothing arrived.
    #[error("cannot receive descriptors")]
    Receive(#[source] io::Error),
    /// More arrived than there was room for; what did arrive is closed.
    #[error("a message or its descriptors were cut off")]
    Cut,
}

/// What arrived.
#[derive(Debug)]
pub struct Received {
    /// How many bytes; zero at the end of the stream.
    pub bytes: usize,
    /// The descriptors, in the order they were sent; none of them is inherited by programs.
    pub fds: Vec<OwnedFd>,
}

/// Sends `bytes`, at least one, together with `fds`, and says how many bytes went.
///
/// # Errors
/// When there are too many descriptors or the other side does not take them.
pub fn send_with_fds(socket: impl AsFd, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> Result<usize, PassError> {
    let mut space = [MaybeUninit::uninit(); ANCILLARY_BYTES];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if fds.len() > FDS_MAX || (!fds.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(fds))) {
        return Err(PassError::TooMany { count: fds.len() });
    }
    let slices = [IoSlice::new(bytes)];
    rustix::io::retry_on_intr(|| sendmsg(&socket, &slices, &mut ancillary, SendFlags::NOSIGNAL))
        .map_err(|source| PassError::Send(source.into()))
}

/// Receives into `bytes`, and whatever descriptors came along.
///
/// # Errors
/// When nothing arrived, or more than there was room for.
pub fn recv_with_fds(socket: impl AsFd, bytes: &mut [u8]) -> Result<Received, PassError> {
    let mut space = [MaybeUninit::uninit(); ANCILLARY_BYTES];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut slices = [IoSliceMut::new(bytes)];
    let received =
        rustix::io::retry_on_intr(|| recvmsg(&socket, &mut slices, &mut ancillary, RecvFlags::CMSG_CLOEXEC))
            .map_err(|source| PassError::Receive(source.into()))?;
    let mut fds = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            fds.extend(rights);
        }
    }
    if received.flags.intersects(ReturnFlags::CTRUNC | ReturnFlags::TRUNC) {
        return Err(PassError::Cut);
    }
    Ok(Received { bytes: received.bytes, fds })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fd::{Transfer, pipe, read, write},
        sock::pair_of_messages,
    };

    #[test]
    fn passed_descriptor_is_the_same_open_file() {
        let (one, other) = pair_of_messages().unwrap();
        let (reader, writer) = pipe().unwrap();
        send_with_fds(&one, b"here", &[reader.as_fd()]).unwrap();
        drop(reader);
        let mut bytes = [0; 8];
        let received = recv_with_fds(&other, &mut bytes).unwrap();
        assert_eq!((received.bytes, received.fds.len()), (4, 1));
        write(&writer, b"yes").unwrap();
        assert_eq!(read(&received.fds[0], &mut bytes).unwrap(), Transfer::Moved(3));
        let flags = rustix::io::fcntl_getfd(&received.fds[0]).unwrap();
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
    }

    #[test]
    fn too_many_descriptors_and_cut_messages_are_errors() {
        let (one, other) = pair_of_messages().unwrap();
        let many = [one.as_fd(); FDS_MAX + 1];
        assert!(matches!(send_with_fds(&one, b"x", &many), Err(PassError::TooMany { count: 9 })));
        send_with_fds(&one, b"longer", &many[..FDS_MAX]).unwrap();
        assert!(matches!(recv_with_fds(&other, &mut [0; 2]), Err(PassError::Cut)));
    }
}
