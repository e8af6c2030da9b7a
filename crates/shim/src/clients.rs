//! Everybody connected to the shim.
//!
//! Owns admission: who may connect, how many, and that each proves itself in time. It deliberately does not know what
//! frames do to a program.

use std::{
    io,
    os::unix::net::{UnixListener, UnixStream},
};

use edgeplane_os::peer::peer_of;
use edgeplane_wire::shim::{FromShim, OutputStream, Role, VERSIONS};

use crate::client::{Client, Standing, Token};

/// Connections taken from the socket; more are refused. One daemon, its successor, and tools.
const ACCEPTED_MAX: usize = 8;

/// How long a peer may take to prove itself, or to take a refusal.
const HELLO_US: u64 = 2_000_000;

/// What a peer says first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hello {
    pub(crate) versions: (u16, u16),
    pub(crate) key: [u8; 32],
    pub(crate) role: Role,
}

/// All connections.
#[derive(Debug)]
pub(crate) struct Clients {
    key: [u8; 32],
    own_uid: u32,
    all: Vec<Client>,
    next_token: u32,
    frame: Vec<u8>,
}

impl Clients {
    /// Begins with the connection that the shim was born with, which is trusted.
    pub(crate) fn new(key: [u8; 32], own_uid: u32, first: Client) -> Self {
        let next_token = first.token.0.saturating_add(1);
        Self { key, own_uid, all: vec![first], next_token, frame: Vec::new() }
    }

    /// Every connection.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Client> {
        self.all.iter()
    }

    /// The connection with this token, unless it ended.
    pub(crate) fn get(&mut self, token: Token) -> Option<&mut Client> {
        self.all.iter_mut().find(|client| client.token == token)
    }

    /// Takes the connections that wait at the listener.
    pub(crate) fn accept(&mut self, listener: &UnixListener, now_us: u64) {
        // Each is new work for one round of the loop; whoever waits still is taken in the next.
        for _one in 0..ACCEPTED_MAX {
            let Ok((stream, _address)) = listener.accept() else { return };
            // One that cannot be made non-blocking or has no credentials cannot be served either.
            drop(self.admit(stream, now_us));
        }
    }

    fn admit(&mut self, stream: UnixStream, now_us: u64) -> io::Result<()> {
        let until_us = now_us.saturating_add(HELLO_US);
        let token = Token(self.next_token);
        self.next_token = self.next_token.wrapping_add(1);
        let peer = peer_of(&stream).map_err(io::Error::other)?;
        let mut client = Client::new(stream, token, Standing::Unproven { until_us })?;
        if peer.uid != self.own_uid && peer.uid != 0 {
            client.refuse("only the user that owns the agent may connect to its shim", until_us);
        } else if !self.has_room() {
            client.refuse("too many connections to the shim", until_us);
        }
        self.all.push(client);
        Ok(())
    }

    /// Whether one more fits, the oldest that has proven nothing giving way: strangers cannot keep a daemon out.
    fn has_room(&mut self) -> bool {
        // The first connection came by descriptor and is not counted; once it is gone there is room for one more.
        if self.all.len() <= ACCEPTED_MAX {
            return true;
        }
        let stranger = self.all.iter().position(|client| !client.is_proven());
        stranger.map(|at| self.all.remove(at)).is_some()
    }

    /// Judges what a peer said first; the version to speak if it is let in.
    pub(crate) fn judge(&mut self, token: Token, hello: &Hello, now_us: u64) -> Option<u16> {
        let until_us = now_us.saturating_add(HELLO_US);
        let key_is_right = is_equal(&self.key, &hello.key);
        let client = self.get(token)?;
        let (lowest, highest) = VERSIONS;
        let version = highest.min(hello.versions.1);
        if !key_is_right {
            client.refuse("the key is not this epoch's", until_us);
        } else if version < lowest.max(hello.versions.0) {
            client.refuse("no version of the protocol is spoken by both sides", until_us);
        } else {
            client.standing = Standing::Proven(hello.role);
            client.version = version;
            return Some(version);
        }
        None
    }

    /// Refuses a peer and ends its connection.
    pub(crate) fn refuse(&mut self, token: Token, reason: &str, now_us: u64) {
        if let Some(client) = self.get(token) {
            client.refuse(reason, now_us.saturating_add(HELLO_US));
        }
    }

    /// Answers one peer, if it is still there.
    pub(crate) fn send(&mut self, token: Token, frame: &FromShim<'_>) {
        if let Some(client) = self.get(token) {
            client.send(frame);
        }
    }

    /// Tells everybody who controls.
    pub(crate) fn tell_controllers(&mut self, frame: &FromShim<'_>) {
        for client in self.all.iter_mut().filter(|client| client.controls()) {
            client.send(frame);
        }
    }

    /// Tells everybody who controls and speaks this version.
    pub(crate) fn tell_controllers_since(&mut self, version: u16, frame: &FromShim<'_>) {
        for client in self.all.iter_mut().filter(|client| client.controls() && client.version >= version) {
            client.send(frame);
        }
    }

    /// Tells everybody who proved themselves the last thing there is to tell, after what they missed up to `head`.
    pub(crate) fn tell_end(&mut self, frame: &FromShim<'_>, head: u64) {
        for client in self.all.iter_mut().filter(|client| client.is_proven()) {
            client.tell_lag(head);
            client.send(frame);
        }
    }

    /// Whether somebody who controls is there.
    pub(crate) fn any_controls(&self) -> bool {
        self.all.iter().any(|client| client.controls() && !client.is_gone())
    }

    /// Shows output to everybody who subscribed and keeps up.
    pub(crate) fn show(&mut self, offset: u64, stream: OutputStream, bytes: &[u8]) {
        if !self.all.iter().any(|client| client.is_subscribed) {
            return;
        }
        self.frame.clear();
        FromShim::Output { offset, stream, bytes }.encode(&mut self.frame);
        for client in &mut self.all {
            client.show(&self.frame, offset);
        }
    }

    /// Whether anybody has still something to take.
    pub(crate) fn any_wants_to_send(&self) -> bool {
        self.all.iter().any(|client| client.wants_to_send() && !client.is_gone())
    }

    /// When the next connection's time to prove itself, or to take its refusal, is over.
    pub(crate) fn due_us(&self) -> Option<u64> {
        self.all.iter().filter_map(|client| until(client.standing)).min()
    }

    /// Ends connections whose time is over and forgets all that ended.
    pub(crate) fn tick(&mut self, now_us: u64) {
        for client in &mut self.all {
            match client.standing {
                Standing::Unproven { until_us } if until_us <= now_us => {
                    client.refuse("no key was shown in time", now_us.saturating_add(HELLO_US));
                }
                Standing::Refused { until_us } if until_us <= now_us => client.leave(),
                _ => {}
            }
        }
        self.all.retain(|client| !client.is_gone());
    }
}

fn until(standing: Standing) -> Option<u64> {
    match standing {
        Standing::Unproven { until_us } | Standing::Refused { until_us } => Some(until_us),
        Standing::Proven(_) => None,
    }
}

/// Compares without telling by the time taken how much was equal.
fn is_equal(one: &[u8; 32], other: &[u8; 32]) -> bool {
    let difference = one.iter().zip(other).fold(0_u8, |all, (a, b)| all | (a ^ b));
    std::hint::black_box(difference) == 0
}
