//! Who a node is: its id, its name, and the state directory in which it is that.
//!
//! A copy of a state directory holds the same id, the same agents and the same live epochs. A daemon on it would take
//! the processes of the original for its own and end them, so it must not start. A directory is the original while it
//! is at its place or is the same inode: one that was moved keeps the inode, one that was restored from a backup, or
//! whose file system numbers inodes anew, keeps the place. Device numbers change with a start of the machine and say
//! nothing.

use std::{
    fs, io,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use edgeplane_os::Mint;
use edgeplane_types::{NodeId, NodeName};
use serde::{Deserialize, Serialize};

use crate::{record::chain, shared::NodeIdentity};

/// Why it is not known who the node is.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// Its file.
    #[error("cannot use `{}`", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Its file is damaged.
    #[error("`{}` is not a node's description", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// There is a record and nobody whose it is.
    #[error("`{}` is gone and the record beside it is not: put the file back; a new node needs an empty state directory", path.display())]
    Missing {
        /// Which file.
        path: PathBuf,
    },
    /// The state directory is a copy of another.
    #[error(
        "`{copy}` is a copy of `{original}`, the state directory of node `{name}`: a second node needs an empty state \
         directory, and its agents applied there; if this one was moved or restored and no daemon runs on the other, \
         remove `home` from `{copy}/node.json`"
    )]
    Copied {
        /// Where it is.
        copy: String,
        /// Of which it is one.
        original: String,
        /// Whose that is.
        name: NodeName,
    },
}

/// What a node's file says.
#[derive(Debug, Serialize, Deserialize)]
struct NodeFile {
    id: NodeId,
    name: NodeName,
    /// The state directory that was this node's when a daemon last started on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    home: Option<Home>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Home {
    path: String,
    inode: u64,
}

impl Home {
    fn of(state: &Path) -> io::Result<Self> {
        let path = fs::canonicalize(state)?;
        let inode = fs::metadata(&path)?.ino();
        Ok(Self { path: path.to_string_lossy().into_owned(), inode })
    }
}

/// Who the node of this state directory is: as its file says, or newly made with the name that `name` gives.
pub(crate) fn establish(
    state: &Path,
    mint: &Mint,
    name: impl FnOnce() -> NodeName,
) -> Result<NodeIdentity, IdentityError> {
    let path = state.join("node.json");
    let failed = |source| IdentityError::File { path: path.clone(), source };
    let here = Home::of(state).map_err(failed)?;
    let file = match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice::<NodeFile>(&bytes)
            .map_err(|source| IdentityError::Damaged { path: path.clone(), source })?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // The file is made before the record: with a record and without it, somebody took it away.
            if state.join("record").exists() {
                return Err(IdentityError::Missing { path });
            }
            let file = NodeFile { id: mint.id(), name: name(), home: Some(here) };
            write(&path, &file).map_err(failed)?;
            return Ok(NodeIdentity { id: file.id, name: file.name });
        }
        Err(error) => return Err(failed(error)),
    };
    match &file.home {
        Some(home) if home.path != here.path && home.inode != here.inode => {
            return Err(IdentityError::Copied {
                copy: here.path,
                original: home.path.clone(),
                name: file.name,
            });
        }
        Some(home) if *home == here => {}
        Some(_) | None => {
            let moved = NodeFile { id: file.id, name: file.name.clone(), home: Some(here) };
            // A full disk keeps no daemon from starting; the next start notes it.
            if let Err(error) = write(&path, &moved) {
                tracing::warn!(error = %chain(&error), "cannot note where the state directory is");
            }
        }
    }
    Ok(NodeIdentity { id: file.id, name: file.name })
}

fn write(path: &Path, file: &NodeFile) -> io::Result<()> {
    let bytes = serde_json::to_vec_pretty(file)?;
    edgeplane_os::atomic::write_atomic(path, &bytes, 0o600).map_err(io::Error::other)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_in(state: &Path) -> Result<NodeId, IdentityError> {
        establish(state, &Mint::system(), || "vm".parse().unwrap()).map(|identity| identity.id)
    }

    fn folder(path: PathBuf) -> PathBuf {
        fs::create_dir(&path).unwrap();
        path
    }

    /// Copies the file of one state directory into another.
    fn copy(from: &Path, to: &Path) {
        fs::copy(from.join("node.json"), to.join("node.json")).unwrap();
    }

    /// Proves LIFE-035.
    #[test]
    fn moved_or_restored_directory_keeps_the_identity_and_a_copy_has_none() {
        let root = tempfile::tempdir().unwrap();
        let first = folder(root.path().join("first"));
        let id = id_in(&first).unwrap();
        assert_eq!(id_in(&first).unwrap(), id);

        let moved = root.path().join("moved");
        fs::rename(&first, &moved).unwrap();
        assert_eq!(id_in(&moved).unwrap(), id, "the same inode at another place");

        let copied = folder(root.path().join("copied"));
        copy(&moved, &copied);
        let refused = id_in(&copied).unwrap_err().to_string();
        assert!(refused.contains("moved`, the state directory of node `vm`"), "{refused}");
        assert!(refused.contains("remove `home`"), "{refused}");
        assert!(id_in(&copied).is_err(), "a refusal changes nothing");

        fs::rename(&moved, root.path().join("away")).unwrap();
        fs::rename(&copied, &moved).unwrap();
        assert_eq!(id_in(&moved).unwrap(), id, "another inode at the same place");
    }

    /// Proves LIFE-035.
    #[test]
    fn directory_without_a_home_is_at_home_where_it_is() {
        let root = tempfile::tempdir().unwrap();
        let (first, second) = (folder(root.path().join("a")), folder(root.path().join("b")));
        let id = id_in(&first).unwrap();
        copy(&first, &second);
        let text = fs::read_to_string(second.join("node.json")).unwrap();
        let mut file: serde_json::Value = serde_json::from_str(&text).unwrap();
        file.as_object_mut().unwrap().remove("home");
        edgeplane_os::atomic::write_atomic(&second.join("node.json"), file.to_string().as_bytes(), 0o600)
            .unwrap();
        assert_eq!(id_in(&second).unwrap(), id);
        let home: NodeFile = serde_json::from_slice(&fs::read(second.join("node.json")).unwrap()).unwrap();
        assert_eq!(home.home, Some(Home::of(&second).unwrap()));
    }

    #[test]
    fn record_without_an_identity_gets_no_new_one() {
        let root = tempfile::tempdir().unwrap();
        folder(root.path().join("record"));
        assert!(matches!(id_in(root.path()), Err(IdentityError::Missing { .. })));
    }
}
