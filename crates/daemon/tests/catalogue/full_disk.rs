//! What every method that writes says when there is no room left to write.

use std::{fs, io::Write as _, process::Command};

use edgeplane_testkit::{NodeOptions, wait::eventually};
use edgeplane_types::ErrorName;
use edgeplane_wire::catalogue;
use serde_json::json;

use super::{Good, METHODS, Who, World, all, keyed, words};

/// Before the disk is full, everything that the calls are about is made; then each is made under a key.
///
/// Proves CALL-060.
#[test]
fn full_disk_is_said_by_each_method_whose_row_names_it() {
    let dir = tempfile::Builder::new().prefix("edgeplane-disk-").tempdir().unwrap();
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=256m,mode=0700", "tmpfs"]).arg(dir.path());
    if !mount.status().is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: only root can mount the small disk that this test fills");
        return;
    }
    let world =
        World::with(NodeOptions { state_dir: Some(dir.path().join("state")), ..NodeOptions::default() });
    let agent = world.stopped("");
    let mut ready = Vec::new();
    for case in all() {
        let row = catalogue::find(case.method).unwrap();
        if let Some(success) = case.success.filter(|_| row.errors.contains(&ErrorName::StorageFull)) {
            ready.push((case.method, success(&world)));
        }
    }
    // Its success needs a program with hooks; that there is no room is said before.
    let report = Good { talk: world.talk(Who::Agent(&world.cat())), params: words::hook("codex") };
    ready.push(("runtime/hook.report", report));
    let named = METHODS.iter().filter(|row| row.errors.contains(&ErrorName::StorageFull));
    assert_eq!(ready.len(), named.count());
    let ballast = dir.path().join("ballast");
    let mut file = fs::File::create(&ballast).unwrap();
    let page = vec![1_u8; 4096];
    while file.write_all(&page).is_ok() {}
    drop(file);
    let put = |bytes: usize| {
        let put = json!({ "agent": agent, "key": "k", "value": "x".repeat(bytes) });
        world.ask("memory/entry.put", put).map_err(|error| error.name())
    };
    // What is left of pages that are begun is used up, too.
    for bytes in [200_000, 4_000, 1] {
        eventually("there is no room", || put(bytes) == Err(ErrorName::StorageFull));
    }
    let mut wrong = Vec::new();
    for (method, good) in &mut ready {
        match (good.talk)(method, keyed(&good.params)) {
            Err(error) if error.name() == ErrorName::StorageFull => {}
            other => wrong.push(format!("{method}: {other:?}")),
        }
    }
    drop(ready);
    fs::remove_file(&ballast).unwrap();
    eventually("there is room", || put(1).is_ok());
    drop(world);
    drop(Command::new("umount").arg("-l").arg(dir.path()).status());
    assert!(wrong.is_empty(), "{wrong:#?}");
}
