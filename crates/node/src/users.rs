//! Users of this machine, from its own lists: whom an agent may run as.

use std::fs;

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

    #[test]
    fn ids_and_groups_are_read() {
        let passwd = "root:x:0:0:root:/root:/bin/bash\nann:x:1000:1001::/home/ann:/bin/sh\n";
        let group = "root:x:0:\naudio:x:29:ann,bob\ndocker:x:999:bob\n";
        let found = find("ann", passwd, group);
        assert_eq!(found, Some(RunAs { uid: 1000, gid: 1001, groups: vec![29] }));
        assert_eq!(find("zoe", passwd, group), None);
    }
}
