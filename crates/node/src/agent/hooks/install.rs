//! The hooks of an epoch's program: written into the epoch's own folder and named to the program, on a worker.
//!
//! What was done stands in a file beside them, so that a daemon that comes back knows it. Nothing here keeps a program
//! from starting.

use std::{
    collections::BTreeMap,
    fs, io,
    io::Read as _,
    path::{Path, PathBuf},
};

use edgeplane_driver::hooks::{HookKind, Setup, resume_words, set_up, with_words};
use edgeplane_wire::api::agent::HooksState;
use serde::{Deserialize, Serialize};

/// What the program reads.
const HOOKS_FILE: &str = "hooks.json";

/// What was done.
const INSTALLED_FILE: &str = "hooks-installed.json";

/// Longest of these files, and longest configuration of a user that is looked into, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// How a program is to be given its hooks.
#[derive(Debug)]
pub(in crate::agent) struct Hooking {
    pub(in crate::agent) kind: HookKind,
    pub(in crate::agent) is_wanted: bool,
    /// Then it could not read what the node writes.
    pub(in crate::agent) runs_as_another: bool,
    pub(in crate::agent) cli: Option<PathBuf>,
    /// The session that it is to go on with.
    pub(in crate::agent) former: Option<String>,
}

/// How the hooks of an epoch were installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::agent) struct Installed {
    pub(in crate::agent) kind: String,
    pub(in crate::agent) state: HooksState,
    pub(in crate::agent) reason: Option<String>,
    /// The session that the program was told to go on with.
    pub(in crate::agent) resumes: Option<String>,
}

impl Installed {
    /// What a launch left in the folder of its epoch.
    pub(in crate::agent) fn read(dir: &Path) -> Option<Self> {
        serde_json::from_str(&bounded(&dir.join(INSTALLED_FILE))?).ok()
    }
}

/// Gives a program its hooks: adds to what it is started with, and says what was done.
pub(in crate::agent) fn install(
    hooking: &Hooking,
    dir: &Path,
    argv: &mut Vec<String>,
    env: &BTreeMap<String, String>,
) {
    let kind = hooking.kind;
    let (state, reason) = match prepare(hooking, dir, argv, env) {
        Ok(None) => (HooksState::Off, None),
        Ok(Some(setup)) => {
            *argv = with_words(argv, setup.words);
            (HooksState::Installed, None)
        }
        Err((state, why)) => (state, Some(why)),
    };
    let mut resumes = None;
    if state == HooksState::Installed
        && let Some(former) = &hooking.former
        && let Some(words) = resume_words(kind, former, argv)
    {
        *argv = with_words(argv, words);
        resumes = Some(former.clone());
    }
    let done = Installed { kind: kind.as_str().to_owned(), state, reason, resumes };
    let text = serde_json::to_vec(&done).unwrap_or_default();
    if let Err(error) = write(&dir.join(INSTALLED_FILE), &text) {
        tracing::warn!(%error, "what became of a program's hooks cannot be noted");
    }
}

fn prepare(
    hooking: &Hooking,
    dir: &Path,
    argv: &[String],
    env: &BTreeMap<String, String>,
) -> Result<Option<Setup>, (HooksState, String)> {
    let failed = |why: &str| (HooksState::Failed, why.to_owned());
    if !hooking.is_wanted {
        return Ok(None);
    }
    if hooking.runs_as_another {
        return Err(failed("it runs as another user, who cannot read what the node writes"));
    }
    let Some(cli) = hooking.cli.as_ref().and_then(|cli| cli.to_str()) else {
        return Err(failed("there is no `edgeplane` beside the node"));
    };
    let path = dir.join(HOOKS_FILE);
    let Some(file) = path.to_str() else { return Err(failed("its folder's name is no text")) };
    let own = (hooking.kind == HookKind::Codex).then(|| codex_configuration(env)).flatten();
    let setup = set_up(hooking.kind, (cli, file), argv, own.as_deref())
        .map_err(|left| (HooksState::LeftAlone, left.0))?;
    if let Some(text) = &setup.file {
        write(&path, text.as_bytes()).map_err(|error| (HooksState::Failed, error.to_string()))?;
    }
    Ok(Some(setup))
}

/// What the user of Codex has set, which an argument would overrule.
fn codex_configuration(env: &BTreeMap<String, String>) -> Option<String> {
    let home = || env.get("HOME").map(|home| Path::new(home).join(".codex"));
    let folder = env.get("CODEX_HOME").map(PathBuf::from).or_else(home)?;
    bounded(&folder.join("config.toml"))
}

fn bounded(path: &Path) -> Option<String> {
    let mut text = String::new();
    // Never waits: a user may have put anything there.
    let is_plain = fs::metadata(path).is_ok_and(|found| found.is_file());
    let file = fs::File::open(path).ok().filter(|_| is_plain)?;
    file.take(FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    edgeplane_os::atomic::write_atomic(path, bytes, 0o600).map_err(io::Error::other)
}
