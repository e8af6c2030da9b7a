//! The rules of the style guide that can be read off the text of the files.
//!
//! Each rule is a function from one file to its problems; this module reads the tree, says which files are
//! tests, and gathers what the rules find. Formatting, lints and imports belong to other tools.

mod safety;
mod shape;
mod testing;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context;
use serde::Deserialize;

use crate::problem::Problem;
use crate::requirements;
use crate::source::Source;
use crate::workspace::{self, TextFile};

/// A Rust file and what the rules ask about it.
#[derive(Debug)]
pub(crate) struct RustFile {
    pub(crate) file: TextFile,
    source: Source,
    /// Whether the whole file is compiled for tests only.
    is_test: bool,
    /// Whether a crate begins here that is a library or a program.
    is_crate_root: bool,
}

impl RustFile {
    /// Takes a file apart and judges it by its own path and text alone.
    pub(crate) fn new(file: TextFile) -> Self {
        Self {
            source: Source::new(&file.text),
            is_test: file.name() == "tests.rs" || file.path.split('/').any(|part| part == "tests"),
            is_crate_root: is_usual_root(&file.path),
            file,
        }
    }

    fn path(&self) -> &str {
        &self.file.path
    }

    /// Whether the byte at `offset` is compiled for tests only.
    pub(crate) fn is_test_at(&self, offset: usize) -> bool {
        self.is_test || self.source.is_test(offset)
    }

    /// A problem at the byte `offset`.
    fn problem(&self, offset: usize, message: impl Into<String>) -> Problem {
        Problem::new(self.path(), self.source.line(offset), message)
    }
}

/// Checks the tree at `root`.
pub(crate) fn check_workspace(root: &Path) -> anyhow::Result<Vec<Problem>> {
    let roots = crate_roots(&workspace::read_files(root, &["Cargo.toml"])?)?;
    let rust = rust_files(workspace::read_files(root, &[".rs"])?, &roots);
    let scripts = workspace::read_files(root, &[".py", ".sh"])?;
    let documents = workspace::read_files(root, &[".md"])?;

    let mut problems = Vec::new();
    for file in &rust {
        problems.extend(shape::check(file));
        problems.extend(safety::check(file));
        problems.extend(testing::check(file));
    }
    problems.extend(scripts.iter().flat_map(shape::check_script));
    problems.extend(requirements::check(&documents, &rust, &scripts));
    Ok(problems)
}

/// The part of a manifest that may move a crate's root.
#[derive(Debug, Deserialize)]
struct Manifest {
    lib: Option<Target>,
    #[serde(default)]
    bin: Vec<Target>,
}

#[derive(Debug, Deserialize)]
struct Target {
    path: Option<String>,
}

/// The crate roots that manifests name, beside the usual ones.
fn crate_roots(manifests: &[TextFile]) -> anyhow::Result<BTreeSet<String>> {
    let mut roots = BTreeSet::new();
    for TextFile { path, text } in manifests {
        let manifest: Manifest = toml::from_str(text).with_context(|| format!("cannot parse {path}"))?;
        let folder = path.strip_suffix("Cargo.toml").unwrap_or_default();
        let targets = manifest.bin.into_iter().chain(manifest.lib);
        roots.extend(targets.filter_map(|target| target.path).map(|below| format!("{folder}{below}")));
    }
    Ok(roots)
}

/// Takes the files apart and finds out, from the manifests which are roots, and from each other which are tests.
fn rust_files(files: Vec<TextFile>, named_roots: &BTreeSet<String>) -> Vec<RustFile> {
    let mut files: Vec<RustFile> = files.into_iter().map(RustFile::new).collect();
    for file in &mut files {
        file.is_crate_root |= named_roots.contains(file.path());
    }
    let modules: Vec<String> = files
        .iter()
        .flat_map(|file| file.source.test_modules().iter().map(|name| module_path(file, name)))
        .collect();
    for file in &mut files {
        let path = &file.file.path;
        let below = |module: &String| path.strip_prefix(module.as_str()).unwrap_or_default();
        file.is_test |=
            modules.iter().any(|module| [".rs", "/"].iter().any(|next| below(module).starts_with(next)));
    }
    files
}

fn is_usual_root(path: &str) -> bool {
    let parts: Vec<&str> = path.rsplit('/').collect();
    matches!(
        parts[..],
        ["lib.rs" | "main.rs", "src", ..] | [_, "bin", "src", ..] | ["main.rs", _, "bin", "src", ..]
    )
}

/// Where the module `name`, declared in `parent`, lies: its file without `.rs`, which is also its folder.
fn module_path(parent: &RustFile, name: &str) -> String {
    let stem = parent.path().trim_end_matches(".rs");
    if parent.is_crate_root {
        let folder = stem.rsplit_once('/').map_or("", |(folder, _)| folder);
        return format!("{folder}/{name}");
    }
    format!("{stem}/{name}")
}

#[cfg(test)]
mod tests;
