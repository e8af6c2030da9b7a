//! Programs that do a part of what EdgePlane does, each driven in folders of its own.

pub(crate) mod bare;
pub(crate) mod dtach;
pub(crate) mod scanners;
pub(crate) mod tmux;

/// Whether a program is installed.
pub(crate) fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
