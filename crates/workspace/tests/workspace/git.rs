//! Work trees of git: what it ignores is neither kept nor removed, and nothing of a repository is run.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

use crate::support::{ALL, BY_GIT, Place, look};

fn git(folder: &Path, arguments: &[&str]) {
    let status = Command::new("git")
        .args(["-c", "user.name=x", "-c", "user.email=x@example.org"])
        .args(arguments)
        .current_dir(folder)
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "git {arguments:?}");
}

fn repository(place: &Place) {
    let folder = place.folder();
    git(&folder, &["init", "-q"]);
    fs::write(folder.join(".gitignore"), "target/\n*.log\n").unwrap();
    fs::write(folder.join("kept.rs"), "one").unwrap();
    // What is tracked is kept, even if a rule says otherwise.
    fs::write(folder.join("tracked.log"), "tracked").unwrap();
    git(&folder, &["add", "-f", "."]);
    git(&folder, &["commit", "-qm", "x"]);
    fs::create_dir(folder.join("target")).unwrap();
    fs::write(folder.join("target/built"), "built").unwrap();
    fs::write(folder.join("noise.log"), "noise").unwrap();
    fs::write(folder.join("uncommitted"), "new").unwrap();
}

/// Proves WSP-008.
#[test]
fn what_git_ignores_is_neither_kept_nor_touched() {
    let place = Place::new();
    repository(&place);
    let folder = place.folder();
    let made = place.keep(&BY_GIT);
    assert_eq!(made.checkpoint.counts.files, 4, "{:?}", made.checkpoint);
    assert!(place.keep(&ALL).checkpoint.counts.folders > 1);
    fs::write(folder.join("target/built"), "built again").unwrap();
    fs::write(folder.join("kept.rs"), "two").unwrap();
    fs::write(folder.join("uncommitted"), "newer").unwrap();
    git(&folder, &["commit", "-qam", "y"]);
    let before = look(&folder.join(".git"));
    let (kept, restored) = place.restore(made.checkpoint.id, &BY_GIT);
    assert_eq!((restored.written, restored.removed, restored.conflict_count), (2, 0, 0), "{restored:?}");
    assert_eq!(fs::read_to_string(folder.join("kept.rs")).unwrap(), "one");
    assert_eq!(fs::read_to_string(folder.join("target/built")).unwrap(), "built again");
    assert!(look(&folder.join(".git")) == before);
    place.restore(kept, &BY_GIT);
    assert_eq!(fs::read_to_string(folder.join("uncommitted")).unwrap(), "newer");
}

/// A folder that is to be removed holds ignored files: they stay, and so does it.
///
/// Proves WSP-008.
#[test]
fn a_folder_with_ignored_files_stays() {
    let place = Place::new();
    repository(&place);
    let folder = place.folder();
    let made = place.keep(&BY_GIT);
    fs::create_dir(folder.join("new")).unwrap();
    fs::write(folder.join("new/file"), "x").unwrap();
    fs::write(folder.join("new/file.log"), "x").unwrap();
    let (_kept, restored) = place.restore(made.checkpoint.id, &BY_GIT);
    assert_eq!((restored.removed, restored.conflict_count), (1, 1), "{restored:?}");
    assert!(folder.join("new/file.log").exists() && !folder.join("new/file").exists());
}

/// Proves WSP-008.
#[test]
fn nothing_of_a_repository_is_run() {
    let place = Place::new();
    repository(&place);
    let folder = place.folder();
    let (script, trace) = (place.beside("script"), place.beside("trace"));
    fs::write(&script, format!("#!/bin/sh\ntouch {}\n", trace.display())).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    git(&folder, &["config", "core.fsmonitor", script.to_str().unwrap()]);
    place.keep(&BY_GIT);
    assert!(!trace.exists());
    git(&folder, &["status"]);
    assert!(trace.exists(), "git itself runs it");
}

/// Proves WSP-008.
#[test]
fn a_broken_repository_is_an_error_unless_all_is_kept() {
    let place = Place::new();
    fs::write(place.folder().join(".git"), "nonsense").unwrap();
    let error = place.session().create(&place.folder(), &BY_GIT, "key").unwrap_err();
    assert!(error.to_string().contains("cannot ask git"), "{error}");
    place.keep(&ALL);
}
