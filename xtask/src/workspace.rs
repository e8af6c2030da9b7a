//! Finds the workspace and reads its files. Knows nothing of the rules.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// Folders that hold what was built or fetched, not what was written. Hidden folders are skipped as well.
const FOLDERS_SKIPPED: &[&str] = &["target", "node_modules", "__pycache__"];

/// A file of the workspace as text.
#[derive(Debug)]
pub(crate) struct TextFile {
    /// Relative to the root of the workspace, with `/` between its parts.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl TextFile {
    /// The last part of the path.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

/// Finds the nearest folder, from `start` upwards, that holds the workspace's manifest.
pub(crate) fn find_root(start: &Path) -> anyhow::Result<PathBuf> {
    for folder in start.ancestors() {
        let manifest = folder.join("Cargo.toml");
        if manifest.is_file() && read(&manifest)?.lines().any(|line| line.trim() == "[workspace]") {
            return Ok(folder.to_owned());
        }
    }
    anyhow::bail!("no workspace at or above {}", start.display())
}

/// Reads a whole file as text.
pub(crate) fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Reads every file below `root` whose name ends in one of `endings`, in the order of their paths.
pub(crate) fn read_files(root: &Path, endings: &[&str]) -> anyhow::Result<Vec<TextFile>> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot list {}", folder.display()))?;
            let kind =
                entry.file_type().with_context(|| format!("cannot examine {}", entry.path().display()))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            // A symbolic link is neither, so what it leads to is read once at most.
            if kind.is_dir() && !name.starts_with('.') && !FOLDERS_SKIPPED.contains(&name.as_str()) {
                folders.push(entry.path());
            } else if kind.is_file() && endings.iter().any(|ending| name.ends_with(ending)) {
                let text = read(&entry.path())?;
                files.push(TextFile { path: relative(root, &entry.path())?, text });
            }
        }
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

/// Names `path` from `root` on, with `/` between its parts.
pub(crate) fn relative(root: &Path, path: &Path) -> anyhow::Result<String> {
    let below = path
        .strip_prefix(root)
        .with_context(|| format!("{} is not below {}", path.display(), root.display()))?;
    let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
    Ok(parts.join("/"))
}
