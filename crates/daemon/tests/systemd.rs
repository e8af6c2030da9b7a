//! A node that systemd keeps alive: a real user manager, in namespaces of its own, where this machine can have one.
//!
//! systemd is not init on every machine that runs the tests. Its user manager needs no more than folders of its own and
//! a cgroup that it may write; so the unit is installed, killed and stopped by the program itself, for the user nobody.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

use edgeplane_testkit::{Binaries, terminal};

/// Run as root in a mount and a process namespace. Says what it found, a line each.
const OUTSIDE: &str = r#"
set -eu
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system "$HOME_OF_NOBODY"
for group in /sys/fs/cgroup/unified /sys/fs/cgroup/systemd /sys/fs/cgroup; do
    if [ -e "$group/cgroup.procs" ] && mkdir -p "$group/$GROUP/user" 2>/dev/null; then
        echo $$ > "$group/$GROUP/user/cgroup.procs"
        chown -R 65534:65534 "$group/$GROUP"
    fi
done
chown 65534:65534 "$HOME_OF_NOBODY"
chmod 700 "$HOME_OF_NOBODY"
exec setpriv --reuid 65534 --regid 65534 --clear-groups env -i \
    HOME="$HOME_OF_NOBODY" XDG_RUNTIME_DIR="$HOME_OF_NOBODY" USER=nobody \
    PATH="$PROGRAMS:/usr/bin:/bin" MANIFEST="$MANIFEST" sh -c "$INSIDE"
"#;

/// Run as nobody.
const INSIDE: &str = r#"
until_so() { for _ in $(seq 600); do "$@" >/dev/null 2>&1 && return; sleep 0.05; done; echo "never: $*" >&2; exit 1; }
process() { edgeplane agent get shell -o json | tr -d ' \n' | sed 's/.*"status":.*"process":{[^}]*"pid":\([0-9]*\).*/\1/'; }
main_pid() { systemctl --user show -p MainPID --value edgeplane.service; }
another_answers() { [ "$(main_pid)" != "$1" ] && edgeplane daemon status; }
/lib/systemd/systemd --user >"$HOME/systemd.log" 2>&1 &
until_so test -S "$XDG_RUNTIME_DIR/systemd/private"
until_so systemctl --user is-system-running
echo "up=$(edgeplane daemon up --systemd 2>&1 | tr '\n' ' ')"
echo "active=$(systemctl --user is-active edgeplane.service)"
edgeplane apply -f "$MANIFEST" && edgeplane agent wait shell --phase running --timeout 20s
before=$(process); daemon=$(main_pid)
echo "before=$before"
kill -9 "$daemon"
until_so another_answers "$daemon"
edgeplane agent wait shell --phase running --timeout 20s
echo "after_kill=$(process)"
echo "down=$(edgeplane daemon down 2>&1 | tr '\n' ' ')"
echo "inactive=$(systemctl --user is-active edgeplane.service)"
echo "alive=$(kill -0 "$before" && echo yes)"
edgeplane daemon up --systemd
edgeplane agent wait shell --phase running --timeout 20s
echo "after_stop=$(process)"
edgeplane delete shell
edgeplane daemon down
echo "end=reached"
"#;

/// What is missing for a user manager in a namespace.
fn missing() -> Option<&'static str> {
    let is_there = |path: &str| Path::new(path).exists();
    if edgeplane_os::proc::uid(std::process::id()).unwrap() != 0 {
        return Some("needs root");
    }
    if !is_there("/lib/systemd/systemd") || !is_there("/usr/bin/systemctl") {
        return Some("systemd is not installed");
    }
    let namespaces = Command::new("unshare").args(["--mount", "--pid", "--fork", "true"]).status();
    (!namespaces.is_ok_and(|status| status.success())).then_some("no namespaces may be made here")
}

#[test]
fn unit_keeps_the_daemon_alive_and_leaves_agents_alone() {
    if let Some(why) = missing() {
        eprintln!("SKIPPED: the systemd unit: {why}");
        return;
    }
    let dir = tempfile::Builder::new().prefix("sd-").tempdir_in("/tmp").unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    // nobody may not look into the folder that the programs were built in.
    let binaries = Binaries::built();
    for program in [&binaries.cli, &binaries.daemon, &binaries.shim] {
        fs::copy(program, dir.path().join(program.file_name().unwrap())).unwrap();
    }
    let manifest = dir.path().join("shell.yaml");
    fs::write(&manifest, terminal("shell", &["/bin/cat"], "")).unwrap();
    fs::set_permissions(&manifest, fs::Permissions::from_mode(0o644)).unwrap();
    let group = format!("edgeplane-test-{}", std::process::id());
    let output = Command::new("unshare")
        .args(["--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", OUTSIDE])
        .env("INSIDE", INSIDE)
        .env("HOME_OF_NOBODY", "/run/nobody")
        .env("GROUP", &group)
        .env("PROGRAMS", dir.path())
        .env("MANIFEST", &manifest)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let all = format!("{said}\n{}", String::from_utf8_lossy(&output.stderr));
    remove_groups(&group);
    let found: BTreeMap<&str, &str> = said.lines().filter_map(|line| line.split_once('=')).collect();
    assert_eq!(found.get("end"), Some(&"reached"), "{all}");
    assert_eq!(found["active"], "active", "{all}");
    assert!(found["up"].contains("node") && found["up"].contains("is up"), "{all}");
    assert!(found["before"].parse::<u32>().is_ok_and(|pid| pid > 1), "{all}");
    assert_eq!(found["after_kill"], found["before"], "{all}");
    assert!(found["down"].contains("the daemon is stopped; 1 agent keeps running"), "{all}");
    assert_eq!((found["inactive"], found["alive"]), ("inactive", "yes"), "{all}");
    assert_eq!(found["after_stop"], found["before"], "{all}");
}

/// Removes what the manager left of its cgroups, the innermost first.
fn remove_groups(name: &str) {
    for root in ["/sys/fs/cgroup/unified", "/sys/fs/cgroup/systemd", "/sys/fs/cgroup"] {
        remove_group(&Path::new(root).join(name));
    }
}

fn remove_group(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        remove_group(&entry.path());
    }
    // Not empty for a moment while its processes end; it is only litter then.
    drop(fs::remove_dir(dir));
}
