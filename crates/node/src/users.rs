//! Users of this machine, from its own lists: whom an agent may run as.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use edgeplane_wire::spec::RunAs;

/// Why an agent cannot run as somebody.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UserError {
    /// The list cannot be read.
    #[error("cannot read `{file}`")]
    List {
        /// Which.
        file: &'static str,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// Nobody has this name.
    #[error("no user `{0}` on this machine")]
    Unknown(String),
}

/// The ids of a user: its own, its group's and its further groups'.
pub(crate) fn look_up(name: &str) -> Result<RunAs, UserError> {
    let read = |file| fs::read_to_string(file).map_err(|source| UserError::List { file, source });
    find(name, &read("/etc/passwd")?, &read("/etc/group")?).ok_or_else(|| UserError::Unknown(name.to_owned()))
}

/// A user by its number, as this machine lists it.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) name: String,
    pub(crate) gid: u32,
    pub(crate) shell: String,
}

/// The user with this number, if this machine has a name for it.
pub(crate) fn known(uid: u32) -> Option<Known> {
    let passwd = fs::read_to_string("/etc/passwd").ok()?;
    passwd.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let [name, _, its_uid, gid, _, _, shell] = fields.as_slice() else { return None };
        if its_uid.parse() != Ok(uid) {
            return None;
        }
        Some(Known { name: (*name).to_owned(), gid: gid.parse().ok()?, shell: (*shell).to_owned() })
    })
}

/// Why a user could not run a program, if that can be seen: a folder above it that is closed to the user, or itself.
pub(crate) fn kept_from(program: &Path, user: &RunAs) -> Option<PathBuf> {
    // Who may everything is kept from nothing.
    if user.uid == 0 {
        return None;
    }
    let whole = program.canonicalize().ok()?;
    let above: Vec<&Path> = whole.ancestors().collect();
    above.into_iter().rev().find(|path| !may_enter(path, user)).map(Path::to_owned)
}

/// Whether a user may pass through a folder, or run a file. What cannot be looked at is left to the start to tell.
fn may_enter(path: &Path, user: &RunAs) -> bool {
    let Ok(found) = fs::metadata(path) else { return true };
    let is_in_group = found.gid() == user.gid || user.groups.contains(&found.gid());
    let bit = match () {
        () if found.uid() == user.uid => 0o100,
        () if is_in_group => 0o010,
        () => 0o001,
    };
    found.mode() & bit != 0
}

fn find(name: &str, passwd: &str, group: &str) -> Option<RunAs> {
    let (uid, gid) = passwd.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let [user, _, uid, gid, ..] = fields.as_slice() else { return None };
        (*user == name).then_some((uid.parse().ok()?, gid.parse().ok()?))
    })?;
    let groups = group.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let [_, _, gid, members] = fields.as_slice() else { return None };
        members.split(',').any(|member| member == name).then(|| gid.parse().ok())?
    });
    Some(RunAs { uid, gid, groups: groups.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves DRV-062.
    #[test]
    fn program_behind_a_closed_folder_is_found_out() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let inner = dir.path().join("inner");
        let program = inner.join("program");
        fs::create_dir(&inner).unwrap();
        fs::write(&program, "").unwrap();
        let owner = fs::metadata(&program).unwrap().uid();
        let stranger = RunAs { uid: owner + 4_000, gid: owner + 4_000, groups: Vec::new() };
        mode(dir.path(), 0o755);
        for (folder, file, expected) in [
            (0o755, 0o755, None),
            (0o711, 0o755, None),
            (0o700, 0o755, Some(&inner)),
            (0o755, 0o750, Some(&program)),
        ] {
            mode(&inner, folder);
            mode(&program, file);
            let found = kept_from(&program, &stranger);
            assert_eq!(found, expected.map(|path| path.canonicalize().unwrap()), "{folder:o} {file:o}");
        }
        assert_eq!(kept_from(&program, &RunAs { uid: 0, gid: 0, groups: Vec::new() }), None);
        let group = RunAs { groups: vec![fs::metadata(&program).unwrap().gid()], ..stranger };
        assert_eq!(kept_from(&program, &group), None, "its group may");
    }

    #[test]
    fn ids_and_groups_are_read() {
        let passwd = "root:x:0:0:root:/root:/bin/bash\nann:x:1000:1001::/home/ann:/bin/sh\n";
        let group = "root:x:0:\naudio:x:29:ann,bob\ndocker:x:999:bob\n";
        let found = find("ann", passwd, group);
        assert_eq!(found, Some(RunAs { uid: 1000, gid: 1001, groups: vec![29] }));
        assert_eq!(find("zoe", passwd, group), None);
    }
}
