//! The moments that the measured program reports.

use std::{
    os::unix::net::UnixDatagram,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context as _;

/// How long a report may take before the measurement is given up.
const REPORT_TIME_MAX: Duration = Duration::from_secs(60);

/// Where reports arrive.
#[derive(Debug)]
pub(crate) struct Reports {
    socket: UnixDatagram,
    path: PathBuf,
}

/// One report.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Report {
    /// Nanoseconds of the monotonic clock, read by the program itself.
    pub(crate) at_ns: u64,
    pub(crate) pid: u32,
}

impl Reports {
    pub(crate) fn open(path: PathBuf) -> anyhow::Result<Self> {
        let socket = UnixDatagram::bind(&path).context("cannot listen for reports")?;
        socket.set_read_timeout(Some(REPORT_TIME_MAX))?;
        Ok(Self { socket, path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn next(&self) -> anyhow::Result<Report> {
        let mut bytes = [0; 16];
        self.socket.recv(&mut bytes).context("no report from the measured program")?;
        let word = |from: usize| {
            let part = bytes.get(from..from + 8).and_then(|part| part.try_into().ok());
            u64::from_ne_bytes(part.unwrap_or_default())
        };
        Ok(Report { at_ns: word(0), pid: u32::try_from(word(8)).unwrap_or(0) })
    }

    pub(crate) fn take(&self, count: usize) -> anyhow::Result<Vec<Report>> {
        (0..count).map(|_| self.next()).collect()
    }
}

impl Drop for Reports {
    fn drop(&mut self) {
        // The same measurement may be made again.
        drop(std::fs::remove_file(&self.path));
    }
}
