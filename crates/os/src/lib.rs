//! The operating system as EdgePlane uses it: processes, terminals, cgroups, sockets, durable files, time, chance.
//!
//! Owns every system call that is not plain file reading, and all the `unsafe` of the workspace. Everything here
//! blocks and is synchronous. It deliberately knows no agent, no protocol, no policy and no global: what it works on
//! arrives as arguments, the environment included. The shim links this crate, so nothing it calls allocates much,
//! starts a thread or panics.
#![deny(unsafe_op_in_unsafe_fn)]

pub mod clock;
pub mod entropy;
pub mod failpoint;
pub mod wait;

pub mod atomic;
pub mod beneath;
pub mod dirs;
pub mod fd;
pub mod lock;
pub mod space;

pub mod peer;
pub mod poll;
pub mod sock;

pub mod caps;
pub mod cgroup;
pub mod group;
pub mod limits;
pub mod memory;
pub mod pidfd;
pub mod proc;
pub mod process;
pub mod pty;
pub mod signals;
pub mod stdio;
pub mod title;

#[cfg(test)]
mod testing;

pub use clock::{Clock, SystemClock};
pub use entropy::{Entropy, FromParts, Mint, SystemEntropy};
pub use signals::Signal;
