//! Terminal adapters by name: those that come along, and those of the user's own in `adapters/NAME.toml` of the state
//! directory, which come before them.
//!
//! A file is read again when it has changed. A bad one is refused, said once, and what was in force before it stays.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use edgeplane_driver::screen::{ADAPTER_BYTES_MAX, Adapter, SHIPPED};

/// Most adapters of a user's own; files beyond are left alone.
const OWN_MAX: usize = 256;

/// The ending of an adapter's file.
const ENDING: &str = "toml";

/// By what a change of a file is noticed: inode, size and time.
type Look = (u64, u64, i64, i64);

/// One adapter as it is in force.
#[derive(Debug, Clone)]
pub(crate) struct InForce {
    pub(crate) adapter: Option<Arc<Adapter>>,
    pub(crate) text: String,
    /// Its file, if it is a user's own.
    pub(crate) path: Option<PathBuf>,
    /// Why its file is not in force.
    pub(crate) rejected: Option<String>,
}

/// The adapters of a node.
#[derive(Debug)]
pub(crate) struct Adapters {
    dir: PathBuf,
    own: Mutex<BTreeMap<String, (Look, InForce)>>,
}

impl Adapters {
    pub(crate) fn new(state: &Path) -> Self {
        Self { dir: state.join("adapters"), own: Mutex::default() }
    }

    /// The folder of the node's own adapters.
    pub(crate) fn folder(&self) -> &Path {
        &self.dir
    }

    /// The adapter of this name, if one is in force.
    pub(crate) fn get(&self, name: &str) -> Option<Arc<Adapter>> {
        self.find(name)?.adapter
    }

    /// What is known under this name.
    pub(crate) fn find(&self, name: &str) -> Option<InForce> {
        // A name that could leave the folder is none.
        let is_plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        is_plain.then(|| self.own(name).or_else(|| shipped(name))).flatten()
    }

    /// Every adapter, by name.
    pub(crate) fn list(&self) -> Vec<(String, InForce)> {
        let mut names: BTreeSet<String> = SHIPPED.iter().map(|(name, _)| (*name).to_owned()).collect();
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let own = paths.filter(|path| path.extension().is_some_and(|ending| ending == ENDING));
        names.extend(own.take(OWN_MAX).filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())));
        names.into_iter().filter_map(|name| Some((name.clone(), self.find(&name)?))).collect()
    }

    fn own(&self, name: &str) -> Option<InForce> {
        let path = self.dir.join(name).with_extension(ENDING);
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(found) = fs::metadata(&path) else {
            own.remove(name);
            return None;
        };
        let look = (found.ino(), found.len(), found.mtime(), found.mtime_nsec());
        if let Some((_, known)) = own.get(name).filter(|(before, _)| *before == look) {
            return Some(known.clone());
        }
        let before = own.get(name).map(|(_, known)| known.clone()).or_else(|| shipped(name));
        let now = match read(&path, name) {
            Ok((adapter, text)) => {
                InForce { adapter: Some(Arc::new(adapter)), text, path: Some(path), rejected: None }
            }
            Err(problem) => {
                tracing::warn!(adapter = name, problem, "an adapter cannot be read; the one before stays");
                let (adapter, text) = before.map_or((None, String::new()), |old| (old.adapter, old.text));
                InForce { adapter, text, path: Some(path), rejected: Some(problem) }
            }
        };
        own.insert(name.to_owned(), (look, now.clone()));
        Some(now)
    }
}

fn shipped(name: &str) -> Option<InForce> {
    let (_, text) = SHIPPED.iter().find(|(known, _)| *known == name)?;
    let adapter = edgeplane_driver::screen::shipped(name)?;
    Some(InForce { adapter: Some(Arc::new(adapter)), text: (*text).to_owned(), path: None, rejected: None })
}

fn read(path: &Path, name: &str) -> Result<(Adapter, String), String> {
    use io::Read as _;
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut text = String::new();
    let limit = u64::try_from(ADAPTER_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    let opened = fs::File::open(path).and_then(|opened| opened.take(limit).read_to_string(&mut text));
    opened.map_err(|error| format!("{file}: {error}"))?;
    let adapter = Adapter::parse(&text).map_err(|error| format!("{file}: {error}"))?;
    if adapter.name != name {
        return Err(format!("{file}: its name is `{}`, not that of its file", adapter.name));
    }
    Ok((adapter, text))
}
