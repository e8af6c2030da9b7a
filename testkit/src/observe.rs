//! What a test reads off the machine: memory and files of a process, lines that programs leave.

use std::{fs, path::Path};

use edgeplane_os::{Signal, proc};

use crate::{signals, wait::eventually};

/// Stops a process and waits until it has stopped.
///
/// # Panics
/// If it does not.
pub fn pause(pid: u32) {
    signals::send(pid, Signal::STOP);
    eventually("the process has stopped", || proc::stat(pid).is_ok_and(|stat| stat.state == b'T'));
}

/// Memory of a process that is in use, in bytes.
///
/// # Panics
/// If the kernel does not tell.
#[must_use]
pub fn resident_bytes(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or_else(|| panic!("no resident size of process {pid}")) << 10
}

/// Waits until a file holds a whole line, and gives the file.
///
/// # Panics
/// If it never does.
#[must_use]
pub fn line_of(path: &Path) -> String {
    let mut text = String::new();
    eventually(&format!("a line in `{}`", path.display()), || {
        text = fs::read_to_string(path).unwrap_or_default();
        text.ends_with('\n')
    });
    text
}
