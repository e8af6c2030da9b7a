//! What this machine allows, found once at start and shown by `doctor`.

use edgeplane_os::{
    caps,
    cgroup::{Backend, Backing, Hierarchies},
    limits,
};
use edgeplane_wire::api::core::Check;

fn check(name: &str, status: &str, detail: String, hint: Option<&str>) -> Check {
    Check { name: name.to_owned(), status: status.to_owned(), detail, hint: hint.map(str::to_owned) }
}

fn backing(name: &str, backing: &Backing, missing: &str) -> Check {
    let (status, by) = match backing.backend {
        Backend::V2 => ("ok", "cgroup v2"),
        Backend::V1 => ("ok", "cgroup v1"),
        Backend::None => ("warn", "nothing"),
    };
    let detail = if backing.reason.is_empty() { by.to_owned() } else { format!("{by}: {}", backing.reason) };
    check(name, status, detail, (status == "warn").then_some(missing))
}

/// What the hierarchies of this machine are good for, and what else matters to agents.
pub(crate) fn machine(hierarchies: &Hierarchies, grouped: bool) -> Vec<Check> {
    let report = hierarchies.report();
    let mut checks = vec![
        backing(
            "end of an agent's whole tree",
            &report.kill,
            "without a writable cgroup an agent whose shim is killed ends in `quarantined` when in doubt",
        ),
        backing(
            "freeze",
            &report.freeze,
            "`agent freeze` is not served; run as root or in a delegated cgroup",
        ),
        backing(
            "memory limit",
            &report.memory,
            "agents with `limits.memory` are refused unless `bestEffort`",
        ),
        backing("pids limit", &report.pids, "agents with `limits.pids` are refused unless `bestEffort`"),
        backing("cpu limit", &report.cpu, "agents with `limits.cpu` are refused unless `bestEffort`"),
    ];
    if !grouped {
        checks.push(check(
            "cgroups in use",
            "warn",
            "none: agents are found by mark and descent, evidence best_effort".to_owned(),
            Some("use a systemd unit with `Delegate=yes`, or run as root"),
        ));
    }
    checks.push(check(
        "assurance",
        "warn",
        "open: agents run as the daemon's user, so provenance resists confusion and accident, not an attacker"
            .to_owned(),
        Some("docs/guide/security.md says what that does not protect"),
    ));
    let other_users = if caps::may_become_others() {
        check("agents as other users", "ok", "`spec.user` is served".to_owned(), None)
    } else {
        check(
            "agents as other users",
            "warn",
            "`spec.user` needs root".to_owned(),
            Some("leave `spec.user` out"),
        )
    };
    checks.push(other_users);
    let files = limits::open_files();
    let (status, hint) = if files.soft.is_some_and(|soft| soft < 4_096) {
        ("warn", Some("raise the limit of open files: each live agent takes about four"))
    } else {
        ("ok", None)
    };
    checks.push(check(
        "open files",
        status,
        format!("{} of at most {}", shown(files.soft), shown(files.hard)),
        hint,
    ));
    checks
}

fn shown(limit: Option<u64>) -> String {
    limit.map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string())
}
