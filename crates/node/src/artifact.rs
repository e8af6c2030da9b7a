//! Artifacts: an agent's program as a folder or an archive, checked against its digest and put in place.
//!
//! What is put in place is named by its digest, so installing twice changes nothing and an interrupted one is begun
//! again. Blocking.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use edgeplane_manifest::{Artifact, Deployment, FilePath, Manifest};
use edgeplane_proof::digest;
use edgeplane_types::AgentId;

/// Most files in an artifact's folder.
const FILES_MAX: usize = 100_000;

/// Where the artifact of a manifest is put.
pub(crate) fn place(agents_dir: &Path, agent: AgentId, artifact: &Artifact) -> PathBuf {
    let hex = artifact.digest.as_str().trim_start_matches("sha256:");
    let name = format!("artifact-{}", hex.get(..16).unwrap_or(hex));
    agents_dir.join(agent.to_string()).join(name)
}

/// The manifest with its paths inside the artifact, if it has one and that is in place; else as it is.
pub(crate) fn resolved(agents_dir: &Path, agent: AgentId, manifest: Manifest) -> Manifest {
    let Deployment::Artifact(artifact) = &manifest.spec.deployment else { return manifest };
    let place = place(agents_dir, agent, artifact);
    if !place.is_dir() {
        return manifest;
    }
    let folder: Option<FilePath> = place.to_str().and_then(|place| place.parse().ok());
    folder.and_then(|folder| manifest.resolved_in_artifact(&folder).ok()).unwrap_or(manifest)
}

/// Checks an artifact and puts it in place; tells whether it was there already.
pub(crate) fn install(artifact: &Artifact, place: &Path) -> Result<bool, String> {
    if place.is_dir() {
        return Ok(true);
    }
    let from = Path::new(artifact.path.as_str());
    let shown = from.display();
    let metadata = fs::metadata(from).map_err(|error| format!("cannot read `{shown}`: {error}"))?;
    let found = if metadata.is_dir() {
        folder_digest(from).map_err(|error| format!("cannot read `{shown}`: {error}"))?
    } else {
        format!(
            "sha256:{}",
            digest(&fs::read(from).map_err(|error| format!("cannot read `{shown}`: {error}"))?)
        )
    };
    if found != artifact.digest.as_str() {
        return Err(format!("`{shown}` has digest {found}, expected {}", artifact.digest.as_str()));
    }
    let making = place.with_extension("making");
    drop(fs::remove_dir_all(&making));
    fs::create_dir_all(&making).map_err(|error| format!("cannot make `{}`: {error}", making.display()))?;
    let put = if metadata.is_dir() {
        copy_folder(from, &making).map_err(|e| e.to_string())
    } else {
        unpack(from, &making)
    };
    put.map_err(|error| format!("cannot put `{shown}` in place: {error}"))?;
    fs::rename(&making, place).map_err(|error| format!("cannot put `{shown}` in place: {error}"))?;
    Ok(false)
}

/// SHA-256 over a line for each file, sorted by path: `x` or `-` for whether it may be run, a blank, the digest of its
/// bytes, two blanks, its path.
fn folder_digest(folder: &Path) -> io::Result<String> {
    let mut lines = Vec::new();
    for path in files(folder)? {
        let bytes = fs::read(folder.join(&path))?;
        let run = if is_executable(&folder.join(&path))? { 'x' } else { '-' };
        lines.push((path.clone(), format!("{run} {}  {}\n", digest(&bytes), path.display())));
    }
    lines.sort();
    let text: String = lines.into_iter().map(|(_, line)| line).collect();
    Ok(format!("sha256:{}", digest(text.as_bytes())))
}

fn is_executable(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(fs::metadata(path)?.permissions().mode() & 0o111 != 0)
}

/// Every file below a folder, relative to it. A link or device could stand for anything, so none is taken.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(below) = waiting.pop() {
        for entry in fs::read_dir(folder.join(&below))? {
            let entry = entry?;
            let (path, kind) = (below.join(entry.file_name()), entry.file_type()?);
            if kind.is_dir() {
                waiting.push(path);
            } else if kind.is_file() {
                found.push(path);
            } else {
                return Err(io::Error::other(format!("`{}` is neither a file nor a folder", path.display())));
            }
            if found.len() > FILES_MAX {
                return Err(io::Error::other(format!("it holds more than {FILES_MAX} files")));
            }
        }
    }
    Ok(found)
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    for path in files(from)? {
        let target = to.join(&path);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::copy(from.join(&path), target)?;
    }
    Ok(())
}

/// Unpacks with the machine's own `tar`, which reads every compression that it knows and leaves the folder to nobody.
fn unpack(archive: &Path, to: &Path) -> Result<(), String> {
    let output = Command::new("tar")
        .arg("--extract")
        .arg("--no-same-owner")
        .arg("--no-same-permissions")
        .arg("--file")
        .arg(archive)
        .arg("--directory")
        .arg(to)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| format!("cannot run `tar`: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let words = edgeplane_driver::render::clean(String::from_utf8_lossy(&output.stderr).trim());
    Err(format!("tar: {}", words.chars().take(500).collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn artifact(path: &Path, digest: &str) -> Artifact {
        Artifact { path: path.to_str().unwrap().parse().unwrap(), digest: digest.parse().unwrap() }
    }

    /// Proves LIFE-030.
    #[test]
    fn folder_is_checked_and_copied_once() {
        let dir = tempfile::tempdir().unwrap();
        let from = dir.path().join("from");
        fs::create_dir_all(from.join("sub")).unwrap();
        fs::write(from.join("sub/a"), "one").unwrap();
        fs::write(from.join("b"), "two").unwrap();
        let found = folder_digest(&from).unwrap();
        let place = dir.path().join("place");
        assert_eq!(install(&artifact(&from, &found), &place), Ok(false));
        assert_eq!(fs::read_to_string(place.join("sub/a")).unwrap(), "one");
        assert_eq!(install(&artifact(&from, &found), &place), Ok(true));
        fs::write(from.join("b"), "changed").unwrap();
        let refused = install(&artifact(&from, &found), &dir.path().join("other")).unwrap_err();
        assert!(refused.contains("has digest"), "{refused}");
    }

    /// Proves LIFE-030.
    #[test]
    fn archive_is_checked_and_unpacked() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("run"), "#!/bin/sh\n").unwrap();
        let archive = dir.path().join("agent.tar.gz");
        let made = Command::new("tar")
            .arg("-czf")
            .arg(&archive)
            .arg("-C")
            .arg(dir.path())
            .arg("run")
            .status()
            .unwrap();
        assert!(made.success());
        let found = format!("sha256:{}", digest(&fs::read(&archive).unwrap()));
        let place = dir.path().join("place");
        assert_eq!(install(&artifact(&archive, &found), &place), Ok(false));
        assert_eq!(fs::read_to_string(place.join("run")).unwrap(), "#!/bin/sh\n");
        let other = "sha256:".to_owned() + &"0".repeat(64);
        assert!(install(&artifact(&archive, &other), &dir.path().join("no")).is_err());
        assert!(!dir.path().join("no").exists());
    }

    /// Proves LIFE-030.
    #[test]
    fn links_are_not_taken() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join("link")).unwrap();
        assert!(folder_digest(dir.path()).is_err());
    }
}
