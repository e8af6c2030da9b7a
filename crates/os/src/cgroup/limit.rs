//! Limits and the files that carry them.

use std::path::{Path, PathBuf};

use super::{CgroupError, detect::Controller, file};

/// How long a period of processor time is, in microseconds: the kernel's own default.
const CPU_PERIOD_US: u64 = 100_000;

/// The shortest share of a period that the kernel accepts, in microseconds.
const CPU_QUOTA_US_MIN: u64 = 1_000;

/// What the processes of an epoch may use together; `None` is without bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory.
    pub memory_bytes: Option<u64>,
    /// Processes and threads.
    pub pids: Option<u64>,
    /// Thousandths of one processor: 1,500 is one and a half.
    pub cpu_milli: Option<u64>,
}

/// What happens with a limit that nothing here can keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortfall {
    /// The group is not made.
    Refuse,
    /// The group is made without, and says so.
    Accept,
}

impl Limits {
    /// No limit at all.
    pub const NONE: Self = Self { memory_bytes: None, pids: None, cpu_milli: None };

    /// The controllers that the set limits need.
    pub(super) fn controllers(&self) -> impl Iterator<Item = Controller> + use<> {
        let value = *self;
        Controller::LIMITS.into_iter().filter(move |controller| value.of(*controller).is_some())
    }

    fn of(&self, controller: Controller) -> Option<u64> {
        match controller {
            Controller::Memory => self.memory_bytes,
            Controller::Pids => self.pids,
            Controller::Cpu => self.cpu_milli,
            Controller::Freezer => None,
        }
    }

    /// Writes the limit of one controller into a v2 group.
    pub(super) fn write_v2(&self, controller: Controller, dir: &Path) -> Result<(), CgroupError> {
        let Some(value) = self.of(controller) else { return Ok(()) };
        match controller {
            Controller::Memory => file::write(&dir.join("memory.max"), &value.to_string()),
            Controller::Pids => file::write(&dir.join("pids.max"), &value.to_string()),
            Controller::Cpu => {
                file::write(&dir.join("cpu.max"), &format!("{} {CPU_PERIOD_US}", quota(value)))
            }
            Controller::Freezer => Ok(()),
        }
    }

    /// Writes the limit of one controller into a group of its v1 hierarchy.
    pub(super) fn write_v1(&self, controller: Controller, dir: &Path) -> Result<(), CgroupError> {
        let Some(value) = self.of(controller) else { return Ok(()) };
        match controller {
            Controller::Memory => file::write(&dir.join("memory.limit_in_bytes"), &value.to_string()),
            Controller::Pids => file::write(&dir.join("pids.max"), &value.to_string()),
            Controller::Cpu => {
                file::write(&dir.join("cpu.cfs_period_us"), &CPU_PERIOD_US.to_string())?;
                file::write(&dir.join("cpu.cfs_quota_us"), &quota(value).to_string())
            }
            Controller::Freezer => Ok(()),
        }
    }
}

fn quota(milli: u64) -> u64 {
    milli.saturating_mul(CPU_PERIOD_US / 1_000).max(CPU_QUOTA_US_MIN)
}

/// A limit that the kernel keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InForce {
    /// What is limited: `memory`, `pids` or `cpu`.
    pub name: &'static str,
    /// The file where the limit stands.
    pub path: PathBuf,
    /// Bytes, processes or thousandths of a processor; `None` is without bound.
    pub value: Option<u64>,
}

/// The limits that stand in a group's directory, of either version.
pub(super) fn in_force(dir: &Path) -> Vec<InForce> {
    let read = |name: &str| file::read(&dir.join(name)).ok();
    let whole = |name: &'static str, file: &str| {
        let text = read(file)?;
        Some(InForce { name, path: dir.join(file), value: text.trim().parse().ok() })
    };
    let milli = |quota: &str, period: &str| {
        let (quota, period): (u64, u64) = (quota.parse().ok()?, period.parse().ok()?);
        quota.saturating_mul(1_000).checked_div(period)
    };
    let cpu = match read("cpu.max") {
        Some(text) => {
            let value = text.trim().split_once(' ').and_then(|(quota, period)| milli(quota, period));
            Some(InForce { name: "cpu", path: dir.join("cpu.max"), value })
        }
        None => read("cpu.cfs_quota_us").zip(read("cpu.cfs_period_us")).map(|(quota, period)| InForce {
            name: "cpu",
            path: dir.join("cpu.cfs_quota_us"),
            value: milli(quota.trim(), period.trim()),
        }),
    };
    let memory = whole("memory", "memory.max").or_else(|| whole("memory", "memory.limit_in_bytes"));
    memory.into_iter().chain(whole("pids", "pids.max")).chain(cpu).collect()
}
