//! `edgeplane daemon logs`: what the daemon said, and the file it is kept in.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context as _;
use clap::Args;
use edgeplane_os::{dirs::StateDirs, poll};
use edgeplane_types::ErrorName;

use crate::{command::Outcome, context::Context, failure::Failure};

/// Size at which the log is set aside; one older one is kept.
pub(super) const LOG_BYTES_MAX: u64 = 8 << 20;

/// Bytes looked through for the last lines.
const TAIL_BYTES: u64 = 256 << 10;

/// Pause between two looks for more.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Print what the daemon said
///
/// Reads `daemon.log` in the state directory, so it works whether or not the daemon runs. It is for finding defects and
/// kept to 16 MiB; what happened to agents is in the record, which `edgeplane events` reads. Under systemd the journal
/// has it: `journalctl --user -u edgeplane`.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane daemon logs
  edgeplane daemon logs -n 500
  edgeplane daemon logs -f")]
pub(crate) struct LogsArgs {
    /// Go on as lines come, until interrupted
    #[arg(short, long)]
    follow: bool,
    /// Only the last lines
    #[arg(short = 'n', long, value_name = "LINES", default_value_t = 100)]
    tail: usize,
}

/// Where the log is.
pub(super) fn path(dirs: &StateDirs) -> PathBuf {
    dirs.state.join("daemon.log")
}

/// Opens the log for whoever writes it.
pub(super) fn open_for_writing(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}

/// Sets a log that has grown large aside. Its writer goes on in the same file, which is emptied; a line that it writes
/// at that moment may be lost, which a log bears.
pub(super) fn rotate(path: &Path, bytes_max: u64) -> io::Result<()> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    if file.metadata()?.len() > bytes_max {
        std::fs::copy(path, path.with_extension("log.1"))?;
        file.set_len(0)?;
    }
    Ok(())
}

pub(super) fn run(args: &LogsArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let path = path(&context.dirs()?);
    let mut file = File::open(&path).map_err(|error| {
        let failure = Failure::new(ErrorName::NotFound, format!("cannot read `{}`", path.display()));
        let hint = "there is a log once the daemon was started with `edgeplane daemon up`; under systemd see journalctl";
        anyhow::Error::new(error).context(failure.hint(hint))
    })?;
    for line in tail(&mut file, args.tail)? {
        context.out.line(&line)?;
    }
    if args.follow {
        follow(file, &path, context)?;
    }
    Ok(Outcome::Done)
}

fn follow(file: File, path: &Path, context: &mut Context) -> anyhow::Result<()> {
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    loop {
        if reader.read_until(b'\n', &mut line).with_context(|| format!("cannot read `{}`", path.display()))?
            == 0
        {
            context.out.flush()?;
            poll::wait(&mut [], Some(LOOK_EVERY))?;
            // Emptied since: begin anew.
            let position = reader.stream_position()?;
            if reader.get_ref().metadata()?.size() < position {
                reader.seek(SeekFrom::Start(0))?;
            }
        } else if line.ends_with(b"\n") {
            context.out.line(String::from_utf8_lossy(line.trim_ascii_end()).as_ref())?;
            line.clear();
        }
    }
}

/// The last lines of the log, if there is one.
pub(super) fn last_lines(path: &Path, count: usize) -> Vec<String> {
    File::open(path).and_then(|mut file| tail(&mut file, count)).unwrap_or_default()
}

/// The last lines of a file, which is then at its end.
fn tail(file: &mut File, count: usize) -> io::Result<Vec<String>> {
    let size = file.metadata()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    if size > TAIL_BYTES && !lines.is_empty() {
        // Cut at its begin.
        lines.remove(0);
    }
    Ok(lines.split_off(lines.len().saturating_sub(count)))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn last_lines_of_a_file_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("daemon.log");
        assert!(last_lines(&path, 3).is_empty());
        std::fs::write(&path, "a\nb\nc\nd").unwrap();
        assert_eq!(last_lines(&path, 3), ["b", "c", "d"]);
        assert_eq!(last_lines(&path, 9).len(), 4);
        std::fs::write(&path, format!("{}\nend\n", "x".repeat(400 << 10))).unwrap();
        assert_eq!(last_lines(&path, 9), ["end"]);
    }

    #[test]
    fn large_log_is_set_aside_and_its_writer_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("daemon.log");
        let mut writer = open_for_writing(&path).unwrap();
        writer.write_all(b"0123456789").unwrap();
        rotate(&path, 10).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"0123456789");
        writer.write_all(b"x").unwrap();
        rotate(&path, 10).unwrap();
        writer.write_all(b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::read(dir.path().join("daemon.log.1")).unwrap(), b"0123456789x");
    }
}
