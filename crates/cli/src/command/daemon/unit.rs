//! The systemd unit: for machines where systemd keeps the daemon alive.
//!
//! Owns its text, its place and the few calls of `systemctl`.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::Context as _;
use edgeplane_os::dirs::{self, StateDirs};
use edgeplane_types::ErrorName;

use crate::{context::Context, failure::Failure};

const NAME: &str = "edgeplane.service";

/// Whether systemd is there to be asked.
pub(crate) fn is_systemd_there() -> bool {
    Path::new("/run/systemd/system").is_dir()
}

/// The unit. `KillMode=process` leaves the agents alone when the daemon is stopped; `Delegate=yes` gives it the cgroups
/// below its own.
pub(super) fn text(daemon: &Path, dirs: &StateDirs, uid: u32) -> String {
    let wanted_by = if uid == 0 { "multi-user.target" } else { "default.target" };
    format!(
        "[Unit]\n\
         Description=EdgePlane node\n\
         Documentation=https://github.com/edgeplane/edgeplane\n\
         StartLimitIntervalSec=0\n\
         \n\
         [Service]\n\
         ExecStart={}\n\
         Environment={} {}\n\
         Delegate=yes\n\
         KillMode=process\n\
         Restart=always\n\
         RestartSec=100ms\n\
         TimeoutStopSec=30s\n\
         LimitNOFILE=65536\n\
         \n\
         [Install]\n\
         WantedBy={wanted_by}\n",
        quoted(daemon),
        quoted(Path::new(&format!("{}={}", dirs::STATE_DIR, dirs.state.display()))),
        quoted(Path::new(&format!("{}={}", dirs::RUNTIME_DIR, dirs.runtime.display()))),
    )
}

/// A path as a unit file wants it: `%` doubled, and quoted where it holds blanks or quotes.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string().replace('%', "%%").replace('\\', "\\\\").replace('"', "\\\"");
    if text.contains([' ', '"', '\'', '\\']) { format!("\"{text}\"") } else { text }
}

/// Where the unit belongs.
fn place(context: &Context) -> anyhow::Result<PathBuf> {
    if context.env.uid == 0 {
        return Ok(Path::new("/etc/systemd/system").join(NAME));
    }
    let config = context.env.get("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let config = config.or_else(|| context.env.get("HOME").map(|home| Path::new(&home).join(".config")));
    Ok(config.context("neither HOME nor XDG_CONFIG_HOME is set")?.join("systemd/user").join(NAME))
}

/// Writes the unit, enables and starts it, and warns if it would end with the login.
pub(super) fn install(daemon: &Path, dirs: &StateDirs, context: &Context) -> anyhow::Result<()> {
    if !is_systemd_there() {
        let failure = Failure::new(ErrorName::Unsupported, "systemd does not run this machine");
        return Err(failure.hint("leave `--systemd` out: a watchdog keeps the daemon alive").into());
    }
    let place = place(context)?;
    let folder = place.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    let text = text(daemon, dirs, context.env.uid);
    edgeplane_os::atomic::write_atomic(&place, text.as_bytes(), 0o644)?;
    context.out.note(&format!("wrote {}", place.display()));
    systemctl(context, &["daemon-reload"])?;
    systemctl(context, &["enable", "--now", NAME])?;
    if let Some(warning) = linger_warning(context) {
        context.out.note(&warning);
    }
    Ok(())
}

/// What to say if a user's units end when the user logs out.
pub(crate) fn linger_warning(context: &Context) -> Option<String> {
    let user = context.env.get("USER").and_then(|user| user.into_string().ok())?;
    let lingers = Path::new("/var/lib/systemd/linger").join(&user).exists();
    (context.env.uid != 0 && !lingers).then(|| {
        format!("when {user} logs out systemd ends the daemon and its agents; `loginctl enable-linger {user}` keeps them")
    })
}

/// Whether our unit keeps a daemon alive now.
pub(super) fn is_active(context: &Context) -> bool {
    let is_installed = place(context).is_ok_and(|place| place.exists());
    is_systemd_there() && is_installed && systemctl(context, &["is-active", "--quiet", NAME]).is_ok()
}

/// Stops it until it is started again.
pub(super) fn stop(context: &Context) -> anyhow::Result<()> {
    systemctl(context, &["stop", NAME])
}

fn systemctl(context: &Context, arguments: &[&str]) -> anyhow::Result<()> {
    let mut command = Command::new("systemctl");
    if context.env.uid != 0 {
        command.arg("--user");
    }
    command.args(arguments).stdin(Stdio::null());
    let output = command.output().context("cannot run `systemctl`")?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let message = format!("`systemctl {}` failed: {}", arguments.join(" "), said.trim());
    Err(Failure::new(ErrorName::Unavailable, message).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_leaves_agents_alone_and_quotes_paths() {
        let dirs =
            StateDirs { state: "/my state/100%".into(), runtime: "/run/e".into(), socket: "/run/e/s".into() };
        let text = text(Path::new("/usr/bin/edgeplaned"), &dirs, 0);
        for line in [
            "ExecStart=/usr/bin/edgeplaned",
            "Environment=\"EDGEPLANE_STATE_DIR=/my state/100%%\" EDGEPLANE_RUNTIME_DIR=/run/e",
            "Delegate=yes",
            "KillMode=process",
            "Restart=always",
            "WantedBy=multi-user.target",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
        }
        assert!(!text.lines().any(|line| line.starts_with(' ')), "{text}");
    }
}
