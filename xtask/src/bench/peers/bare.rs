//! References: what the machine does with nobody in between.

use std::{path::Path, process::Child};

use edgeplane_os::Signal;

use crate::bench::{Bench, process, reports::Reports, sample::Samples};

/// Starts the measured program directly: nanoseconds to its first instruction.
pub(crate) fn starts(bench: &Bench, reports: &Reports, count: usize) -> anyhow::Result<Vec<u64>> {
    let mut took = Vec::new();
    for _ in 0..count {
        let mut command = process::silent(&bench.program);
        command.arg("first").arg(reports.path());
        let begin = crate::bench::clock::now_ns();
        let mut child = command.spawn()?;
        took.push(reports.next()?.at_ns.saturating_sub(begin));
        end(&mut child)?;
    }
    Ok(took)
}

/// Kills the measured program and starts it anew once it is waited for: nanoseconds to its first instruction.
pub(crate) fn restarts(bench: &Bench, reports: &Reports, count: usize) -> anyhow::Result<Vec<u64>> {
    let mut command = process::silent(&bench.program);
    command.arg("first").arg(reports.path());
    let mut child = command.spawn()?;
    reports.next()?;
    let mut took = Vec::new();
    for _ in 0..count {
        let begin = crate::bench::clock::now_ns();
        process::kill(child.id(), Signal::KILL)?;
        child.wait()?;
        child = command.spawn()?;
        took.push(reports.next()?.at_ns.saturating_sub(begin));
    }
    end(&mut child)?;
    Ok(took)
}

/// Ends a child and waits for it.
pub(crate) fn end(child: &mut Child) -> anyhow::Result<()> {
    child.kill()?;
    child.wait()?;
    Ok(())
}

/// Microseconds of single-row commits into SQLite with `synchronous=FULL`; nothing without Python.
pub(crate) fn sqlite_commits(dir: &Path, count: usize) -> Option<Samples> {
    let database = dir.join("commit.db");
    let mut command = std::process::Command::new("python3");
    command.args(["-c", include_str!("../commit.py")]).arg(&database).arg(count.to_string());
    let output = command.output().ok().filter(|output| output.status.success())?;
    for ending in ["", "-wal", "-shm"] {
        drop(std::fs::remove_file(dir.join(format!("commit.db{ending}"))));
    }
    let nanos: Vec<u64> = serde_json::from_slice(&output.stdout).ok()?;
    Some(Samples::micros(&nanos))
}

/// Microseconds of appends of 512 bytes to a file, each written through to the disk.
pub(crate) fn appends(dir: &Path, count: usize) -> anyhow::Result<Samples> {
    use std::io::Write as _;
    let path = dir.join("appended");
    let mut file = std::fs::File::create(&path)?;
    let mut nanos = Vec::with_capacity(count);
    for _ in 0..count {
        let begin = crate::bench::clock::now_ns();
        file.write_all(&[b'x'; 512])?;
        file.sync_data()?;
        nanos.push(crate::bench::clock::now_ns() - begin);
    }
    std::fs::remove_file(path)?;
    Ok(Samples::micros(&nanos))
}

/// Milliseconds of appends of a commit's usual length to a file, each written through to the disk and counted from the
/// moment when it was due: what the disk alone takes at a pace.
pub(crate) fn paced_appends(dir: &Path, count: usize, a_second: u64) -> anyhow::Result<Samples> {
    use std::io::Write as _;

    use crate::bench::clock::{now_ns, pass};
    let path = dir.join("paced");
    let mut file = std::fs::File::create(&path)?;
    let gap = 1_000_000_000 / a_second.max(1);
    let mut due = now_ns();
    let mut nanos = Vec::with_capacity(count);
    for _ in 0..count {
        due += gap;
        pass(std::time::Duration::from_nanos(due.saturating_sub(now_ns())));
        file.write_all(&[b'x'; 16 << 10])?;
        file.sync_data()?;
        nanos.push(now_ns().saturating_sub(due));
    }
    std::fs::remove_file(path)?;
    Ok(Samples::millis(&nanos))
}

/// Runs `/bin/true`: nanoseconds until it has ended.
pub(crate) fn trues(count: usize) -> anyhow::Result<Vec<u64>> {
    (0..count).map(|_| process::timed(&mut process::silent("/bin/true"))).collect()
}
