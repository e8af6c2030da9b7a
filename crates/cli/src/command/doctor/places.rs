//! Directories, disk, lock, record: what can be seen of a node without asking it.

use std::{
    fs::File,
    io::Read,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::Path,
};

use edgeplane_os::{dirs::StateDirs, proc, space};
use edgeplane_wire::api::core::Check;

use super::{fail, ok, warn};
use crate::{
    command::daemon::watchdog,
    context::Context,
    quantity::{counted, human_bytes},
};

/// Free space below which agents will soon be refused, and below which somebody should look.
const FREE_BYTES_FAIL: u64 = 64 << 20;
const FREE_BYTES_WARN: u64 = 1 << 30;

/// The record's database in the state directory.
const RECORD: &str = "record/record.db";

/// What an SQLite file begins with.
const SQLITE: &[u8] = b"SQLite format 3\0";

pub(super) fn look(context: &Context) -> Vec<Check> {
    let dirs = match context.dirs() {
        Ok(dirs) => dirs,
        Err(error) => {
            return vec![fail(
                "directories",
                format!("{error:#}"),
                "set HOME, or EDGEPLANE_STATE_DIR and EDGEPLANE_RUNTIME_DIR",
            )];
        }
    };
    vec![
        directory("state directory", &dirs.state, context.env.uid),
        directory("runtime directory", &dirs.runtime, context.env.uid),
        disk(&dirs.state),
        lock(&dirs),
        socket(context),
        guard(&dirs),
        record(&dirs.state),
        keys(&dirs.state),
    ]
}

fn directory(name: &str, path: &Path, uid: u32) -> Check {
    let shown = path.display();
    let found = match std::fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return warn(name, format!("{shown} is not there yet"), "`edgeplane daemon up` makes it");
        }
        Err(error) => {
            return fail(name, format!("{shown}: {error}"), "make it readable for the daemon's user");
        }
    };
    let mode = found.mode() & 0o7777;
    if !found.is_dir() {
        fail(name, format!("{shown} is not a directory"), "move it away")
    } else if found.uid() != uid && uid != 0 {
        fail(
            name,
            format!("{shown} belongs to user {}, not to {uid}", found.uid()),
            "run as its owner, or name another directory",
        )
    } else if mode & 0o022 != 0 {
        fail(name, format!("{shown} has mode {mode:04o}: others may write"), format!("`chmod 700 {shown}`"))
    } else if mode & 0o055 != 0 {
        warn(name, format!("{shown} has mode {mode:04o}: others may read"), format!("`chmod 700 {shown}`"))
    } else {
        ok(name, format!("{shown}, mode {mode:04o}"))
    }
}

fn disk(state: &Path) -> Check {
    // A directory that is not there yet lies where its parent does.
    let existing = state.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    let name = "disk space";
    match space::free_bytes(existing) {
        Ok(free) if free < FREE_BYTES_FAIL => {
            fail(name, format!("{} free", human_bytes(free)), "make room: nothing new can be recorded soon")
        }
        Ok(free) if free < FREE_BYTES_WARN => {
            warn(name, format!("{} free", human_bytes(free)), "make room soon")
        }
        Ok(free) => ok(name, format!("{} free", human_bytes(free))),
        Err(error) => {
            fail(name, format!("{:#}", anyhow::Error::from(error)), "see whether the file system is mounted")
        }
    }
}

fn lock(dirs: &StateDirs) -> Check {
    let name = "lock";
    let Ok(text) = std::fs::read_to_string(dirs.state.join("lock")) else {
        return ok(name, "nobody holds the state directory");
    };
    match text.trim().parse::<u32>().ok() {
        None => ok(name, "nobody holds the state directory"),
        Some(pid) if proc::stat(pid).is_ok_and(|found| found.is_alive()) => {
            ok(name, format!("process {pid} holds the state directory"))
        }
        Some(pid) => ok(name, format!("left by process {pid}, which is gone; it does not hinder a start")),
    }
}

fn socket(context: &Context) -> Check {
    let name = "socket";
    let path = match context.socket() {
        Ok(path) => path,
        Err(error) => return fail(name, format!("{error:#}"), "name it with --socket or EDGEPLANE_SOCKET"),
    };
    match std::fs::symlink_metadata(&path) {
        Ok(found) if found.file_type().is_socket() => {
            let mode = found.mode() & 0o777;
            if mode & 0o077 == 0 {
                ok(name, path.display().to_string())
            } else {
                fail(
                    name,
                    format!("{} has mode {mode:04o}: others may connect", path.display()),
                    format!("`chmod 600 {}`", path.display()),
                )
            }
        }
        Ok(_) => fail(name, format!("{} is not a socket", path.display()), "move it away"),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            warn(name, format!("{} is not there", path.display()), "`edgeplane daemon up` starts the node")
        }
        Err(error) => {
            fail(name, format!("{}: {error}", path.display()), "see who owns the runtime directory")
        }
    }
}

fn guard(dirs: &StateDirs) -> Check {
    match watchdog::find(dirs) {
        Some(found) => ok("watchdog", format!("process {} restarts the daemon when it is killed", found.pid)),
        None => ok("watchdog", "none of ours; systemd, or whoever started the daemon, must restart it"),
    }
}

/// Whether the record's database can be read and is one.
fn record(state: &Path) -> Check {
    let name = "record";
    let path = state.join(RECORD);
    let mut head = [0; 16];
    match File::open(&path).and_then(|mut file| file.read_exact(&mut head)) {
        Ok(()) if head == SQLITE => {
            let mut log = path.clone().into_os_string();
            log.push("-wal");
            // What was committed last may stand only in the log beside it.
            let files = [path, log.into()];
            let bytes = files.iter().filter_map(|file| std::fs::metadata(file).ok()).map(|found| found.len());
            ok(name, format!("{RECORD}, {}", human_bytes(bytes.sum())))
        }
        Ok(()) => fail(
            name,
            format!("{RECORD} is not a database"),
            "restore it from a backup; `edgeplane audit verify --offline` tells more",
        ),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => ok(name, "none yet"),
        Err(error) => fail(name, format!("{RECORD}: {error}"), "see who owns the state directory"),
    }
}

/// Whether nobody else can read what the node signs with.
fn keys(state: &Path) -> Check {
    let name = "key files";
    let dir = state.join("keys");
    let listed = std::fs::read_dir(&dir).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
    let files = match listed {
        Ok(files) => files,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return ok(name, "none yet"),
        Err(error) => {
            return fail(name, format!("{}: {error}", dir.display()), "see who owns the state directory");
        }
    };
    let paths = std::iter::once(dir).chain(files.iter().map(std::fs::DirEntry::path));
    for path in paths {
        let mode = std::fs::symlink_metadata(&path).map_or(0, |found| found.mode() & 0o7777);
        if mode & 0o077 != 0 {
            return fail(
                name,
                format!("{} has mode {mode:04o}: others may read it", path.display()),
                "whoever could read it can sign as this node: `edgeplane node rotate-key`",
            );
        }
    }
    let count = u64::try_from(files.len()).unwrap_or(u64::MAX);
    ok(name, format!("{} in {}, for the owner alone", counted(count, "file"), state.join("keys").display()))
}
