//! What a shim is told when it is launched: one epoch's program, terminal, limits and places.
//!
//! Binary, because the shim must not carry a JSON parser; strings are bytes, because paths are.

use crate::bytes::{DecodeError, Reader, put_block};

/// Longest encoded specification in bytes: arguments and environment together stay below the kernel's own limit.
pub const SPEC_BYTES_MAX: usize = 2 << 20;

/// Most entries of one list.
const LIST_MAX: usize = 16_384;

/// What to do when the recording cannot be written for want of space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFull {
    /// Record a gap; the program runs on.
    Gap,
    /// Stop reading the program's output until there is space.
    Pause,
}

/// A limit of the program's process, as `setrlimit` takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceLimit {
    /// The kernel's number of the resource.
    pub resource: u32,
    /// The soft limit.
    pub soft: u64,
    /// The hard limit.
    pub hard: u64,
}

/// As whom the program runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunAs {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
    /// Further groups.
    pub groups: Vec<u32>,
}

/// Everything a shim needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchSpec {
    /// The agent's id.
    pub agent_id: [u8; 16],
    /// The agent's name, for people who read process lists and recordings.
    pub name: Vec<u8>,
    /// The epoch.
    pub epoch: u64,
    /// The epoch's key: whoever knows it may control the shim.
    pub key: [u8; 32],
    /// Folder of the exit record and the recording; exists, mode 0700.
    pub epoch_dir: Vec<u8>,
    /// Where the shim listens.
    pub socket: Vec<u8>,
    /// The program's path, or a name to be found on the `PATH` of `env`.
    pub program: Vec<u8>,
    /// The program's arguments, its own name first.
    pub argv: Vec<Vec<u8>>,
    /// The program's whole environment, `NAME=value`.
    pub env: Vec<Vec<u8>>,
    /// The program's folder.
    pub cwd: Vec<u8>,
    /// Columns and rows of its terminal, or `None` for pipes.
    pub terminal: Option<(u16, u16)>,
    /// As whom it runs, or `None` for the shim's own user.
    pub run_as: Option<RunAs>,
    /// Whether it and its descendants may never gain rights.
    pub no_new_privs: bool,
    /// Limits of its process.
    pub limits: Vec<ResourceLimit>,
    /// The v2 cgroup that it is born in, or `None` without one.
    pub cgroup: Option<Vec<u8>>,
    /// The `cgroup.procs` files of v1 hierarchies that it enters before it runs.
    pub v1_procs: Vec<Vec<u8>>,
    /// Stop signal for a machine shutdown.
    pub stop_signal: i32,
    /// Grace in milliseconds for a machine shutdown.
    pub grace_ms: u64,
    /// Size in bytes at which a recording segment is complete.
    pub segment_bytes_max: u64,
    /// Age in milliseconds at which a recording segment with output is complete.
    pub segment_age_max_ms: u64,
    /// What to do without space.
    pub on_full: OnFull,
}

const FORMAT: u16 = 1;

pub(crate) fn put_list(out: &mut Vec<u8>, items: &[Vec<u8>]) {
    out.extend_from_slice(&u32::try_from(items.len()).unwrap_or(u32::MAX).to_le_bytes());
    for item in items {
        put_block(out, item);
    }
}

fn count(r: &mut Reader<'_>) -> Result<usize, DecodeError> {
    let count = usize::try_from(r.u32()?).map_err(|_beyond| DecodeError::Limit)?;
    if count > LIST_MAX { Err(DecodeError::Limit) } else { Ok(count) }
}

pub(crate) fn bytes(r: &mut Reader<'_>) -> Result<Vec<u8>, DecodeError> {
    r.block(SPEC_BYTES_MAX).map(<[u8]>::to_vec)
}

pub(crate) fn list(r: &mut Reader<'_>) -> Result<Vec<Vec<u8>>, DecodeError> {
    (0..count(r)?).map(|_| bytes(r)).collect()
}

fn flag(r: &mut Reader<'_>) -> Result<bool, DecodeError> {
    match r.u8()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(DecodeError::Value),
    }
}

impl LaunchSpec {
    /// The specification as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(4096);
        out.extend_from_slice(&FORMAT.to_le_bytes());
        out.extend_from_slice(&self.agent_id);
        put_block(&mut out, &self.name);
        out.extend_from_slice(&self.epoch.to_le_bytes());
        out.extend_from_slice(&self.key);
        put_block(&mut out, &self.epoch_dir);
        put_block(&mut out, &self.socket);
        put_block(&mut out, &self.program);
        put_list(&mut out, &self.argv);
        put_list(&mut out, &self.env);
        put_block(&mut out, &self.cwd);
        let (cols, rows) = self.terminal.unwrap_or((0, 0));
        out.push(u8::from(self.terminal.is_some()));
        out.extend_from_slice(&cols.to_le_bytes());
        out.extend_from_slice(&rows.to_le_bytes());
        out.push(u8::from(self.run_as.is_some()));
        if let Some(run_as) = &self.run_as {
            out.extend_from_slice(&run_as.uid.to_le_bytes());
            out.extend_from_slice(&run_as.gid.to_le_bytes());
            out.extend_from_slice(&u32::try_from(run_as.groups.len()).unwrap_or(u32::MAX).to_le_bytes());
            for group in &run_as.groups {
                out.extend_from_slice(&group.to_le_bytes());
            }
        }
        out.push(u8::from(self.no_new_privs));
        out.extend_from_slice(&u32::try_from(self.limits.len()).unwrap_or(u32::MAX).to_le_bytes());
        for limit in &self.limits {
            out.extend_from_slice(&limit.resource.to_le_bytes());
            out.extend_from_slice(&limit.soft.to_le_bytes());
            out.extend_from_slice(&limit.hard.to_le_bytes());
        }
        out.push(u8::from(self.cgroup.is_some()));
        put_block(&mut out, self.cgroup.as_deref().unwrap_or_default());
        put_list(&mut out, &self.v1_procs);
        out.extend_from_slice(&self.stop_signal.to_le_bytes());
        out.extend_from_slice(&self.grace_ms.to_le_bytes());
        out.extend_from_slice(&self.segment_bytes_max.to_le_bytes());
        out.extend_from_slice(&self.segment_age_max_ms.to_le_bytes());
        out.push(u8::from(self.on_full == OnFull::Pause));
        out
    }

    /// Reads a specification.
    ///
    /// # Errors
    /// If the bytes are not one, or of a format that this shim does not know.
    pub fn decode(encoded: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(encoded);
        let r = &mut reader;
        if r.u16()? != FORMAT {
            return Err(DecodeError::Value);
        }
        let spec = Self {
            agent_id: r.array()?,
            name: bytes(r)?,
            epoch: r.u64()?,
            key: r.array()?,
            epoch_dir: bytes(r)?,
            socket: bytes(r)?,
            program: bytes(r)?,
            argv: list(r)?,
            env: list(r)?,
            cwd: bytes(r)?,
            terminal: terminal(r)?,
            run_as: run_as(r)?,
            no_new_privs: flag(r)?,
            limits: limits(r)?,
            cgroup: cgroup(r)?,
            v1_procs: list(r)?,
            stop_signal: r.i32()?,
            grace_ms: r.u64()?,
            segment_bytes_max: r.u64()?,
            segment_age_max_ms: r.u64()?,
            on_full: if flag(r)? { OnFull::Pause } else { OnFull::Gap },
        };
        reader.end()?;
        Ok(spec)
    }
}

fn terminal(r: &mut Reader<'_>) -> Result<Option<(u16, u16)>, DecodeError> {
    let (has, cols, rows) = (flag(r)?, r.u16()?, r.u16()?);
    match (has, cols, rows) {
        (false, _, _) => Ok(None),
        (true, 0, _) | (true, _, 0) => Err(DecodeError::Value),
        (true, cols, rows) => Ok(Some((cols, rows))),
    }
}

fn run_as(r: &mut Reader<'_>) -> Result<Option<RunAs>, DecodeError> {
    if !flag(r)? {
        return Ok(None);
    }
    let (uid, gid) = (r.u32()?, r.u32()?);
    let groups = (0..count(r)?).map(|_| r.u32()).collect::<Result<_, _>>()?;
    Ok(Some(RunAs { uid, gid, groups }))
}

fn limits(r: &mut Reader<'_>) -> Result<Vec<ResourceLimit>, DecodeError> {
    (0..count(r)?).map(|_| Ok(ResourceLimit { resource: r.u32()?, soft: r.u64()?, hard: r.u64()? })).collect()
}

fn cgroup(r: &mut Reader<'_>) -> Result<Option<Vec<u8>>, DecodeError> {
    let (has, path) = (flag(r)?, bytes(r)?);
    Ok(has.then_some(path))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spec() -> LaunchSpec {
        LaunchSpec {
            agent_id: [1; 16],
            name: b"shell".to_vec(),
            epoch: 3,
            key: [2; 32],
            epoch_dir: b"/state/agents/a/3".to_vec(),
            socket: b"/run/x.sock".to_vec(),
            program: b"/bin/bash".to_vec(),
            argv: vec![b"bash".to_vec(), b"-i".to_vec()],
            env: vec![b"PATH=/bin".to_vec()],
            cwd: b"/".to_vec(),
            terminal: Some((80, 24)),
            run_as: Some(RunAs { uid: 1, gid: 2, groups: vec![3, 4] }),
            no_new_privs: true,
            limits: vec![ResourceLimit { resource: 7, soft: 64, hard: 128 }],
            cgroup: Some(b"/sys/fs/cgroup/x/work".to_vec()),
            v1_procs: vec![b"/sys/fs/cgroup/memory/x/cgroup.procs".to_vec()],
            stop_signal: 15,
            grace_ms: 10_000,
            segment_bytes_max: 1 << 22,
            segment_age_max_ms: 3_600_000,
            on_full: OnFull::Pause,
        }
    }

    #[test]
    fn specification_survives_its_bytes() {
        let plain = LaunchSpec { terminal: None, run_as: None, cgroup: None, on_full: OnFull::Gap, ..spec() };
        for spec in [spec(), plain] {
            assert_eq!(LaunchSpec::decode(&spec.encode()), Ok(spec));
        }
    }

    #[test]
    fn every_cut_is_refused() {
        let bytes = spec().encode();
        for len in 0..bytes.len() {
            assert!(LaunchSpec::decode(&bytes[..len]).is_err(), "{len}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _spec = LaunchSpec::decode(&bytes);
        }
    }
}
