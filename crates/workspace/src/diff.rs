//! What differs between two checkpoints: exactly, for the same bytes have the same digest.

use std::{
    cmp::Ordering,
    ffi::OsStr,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use crate::{
    content::Content,
    error::WorkspaceError,
    id::Id,
    store::Session,
    tree::{Entry, Node},
};

/// What something was, or is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// A file of this size.
    File {
        /// Its bytes.
        bytes: u64,
        /// Its permissions.
        mode: u16,
    },
    /// A folder.
    Folder {
        /// Its permissions.
        mode: u16,
    },
    /// A symbolic link.
    Link,
}

/// How something differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    /// It was not there.
    Added(Side),
    /// It is no more.
    Removed(Side),
    /// It holds something else, or leads elsewhere; its permissions may differ, too.
    Content(Side, Side),
    /// Its permissions differ, and nothing else.
    Mode(Side, Side),
    /// It is another kind of thing.
    Kind(Side, Side),
}

/// Something that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its path beneath the folder; empty for the folder itself.
    pub path: PathBuf,
    /// How.
    pub changed: Changed,
}

impl Node {
    fn side(&self) -> Side {
        match self {
            Self::File { mode, content, .. } => Side::File { bytes: content.size, mode: *mode },
            Self::Folder { mode, .. } => Side::Folder { mode: *mode },
            Self::Link { .. } => Side::Link,
        }
    }
}

impl Session {
    /// What differs, in the order of the paths. What is left out of either is not compared.
    ///
    /// # Errors
    /// If one of them is not in the store, or damaged.
    pub fn diff(&self, before: Id, after: Id) -> Result<Vec<Change>, WorkspaceError> {
        let (before, after) = (self.get(before)?, self.get(after)?);
        let mut changes = Vec::new();
        if before.mode != after.mode {
            let changed =
                Changed::Mode(Side::Folder { mode: before.mode }, Side::Folder { mode: after.mode });
            changes.push(Change { path: PathBuf::new(), changed });
        }
        self.compare(Path::new(""), (&before.tree, &after.tree), &mut changes)?;
        Ok(changes)
    }

    fn compare(
        &self,
        path: &Path,
        (before, after): (&Content, &Content),
        changes: &mut Vec<Change>,
    ) -> Result<(), WorkspaceError> {
        if before == after {
            return Ok(());
        }
        let (before, after) = (self.read_tree(before)?, self.read_tree(after)?);
        for (before, after) in side_by_side(&before, &after) {
            match (before, after) {
                (Some(before), None) => self.whole(path, before, (Changed::Removed, changes))?,
                (None, Some(after)) => self.whole(path, after, (Changed::Added, changes))?,
                (Some(before), Some(after)) => self.pair(path, (before, after), changes)?,
                (None, None) => {}
            }
        }
        Ok(())
    }

    fn pair(
        &self,
        path: &Path,
        (before, after): (&Entry, &Entry),
        changes: &mut Vec<Change>,
    ) -> Result<(), WorkspaceError> {
        let path = path.join(OsStr::from_bytes(&after.name));
        let (old, new) = (before.node.side(), after.node.side());
        let changed = match (&before.node, &after.node) {
            (Node::File { content: old_content, mode: old_mode, .. }, Node::File { content, mode, .. }) => {
                if old_content != content {
                    Some(Changed::Content(old, new))
                } else {
                    (old_mode != mode).then_some(Changed::Mode(old, new))
                }
            }
            (Node::Link { target: old_target }, Node::Link { target }) => {
                (old_target != target).then_some(Changed::Content(old, new))
            }
            (Node::Folder { mode: old_mode, content: old_content }, Node::Folder { mode, content }) => {
                if old_mode != mode {
                    changes.push(Change { path: path.clone(), changed: Changed::Mode(old, new) });
                }
                return self.compare(&path, (old_content, content), changes);
            }
            (Node::File { .. } | Node::Folder { .. } | Node::Link { .. }, _) => {
                changes.push(Change { path: path.clone(), changed: Changed::Kind(old, new) });
                self.inside(&path, &before.node, (Changed::Removed, changes))?;
                return self.inside(&path, &after.node, (Changed::Added, changes));
            }
        };
        changes.extend(changed.map(|changed| Change { path, changed }));
        Ok(())
    }

    /// Something that is on one side only, and all that is in it.
    fn whole(
        &self,
        path: &Path,
        entry: &Entry,
        (how, changes): (fn(Side) -> Changed, &mut Vec<Change>),
    ) -> Result<(), WorkspaceError> {
        let path = path.join(OsStr::from_bytes(&entry.name));
        changes.push(Change { path: path.clone(), changed: how(entry.node.side()) });
        self.inside(&path, &entry.node, (how, changes))
    }

    fn inside(
        &self,
        path: &Path,
        node: &Node,
        (how, changes): (fn(Side) -> Changed, &mut Vec<Change>),
    ) -> Result<(), WorkspaceError> {
        let Node::Folder { content, .. } = node else { return Ok(()) };
        self.read_tree(content)?.iter().try_for_each(|entry| self.whole(path, entry, (how, changes)))
    }
}

/// Two lists in the order of their names, side by side.
fn side_by_side<'a>(before: &'a [Entry], after: &'a [Entry]) -> Vec<(Option<&'a Entry>, Option<&'a Entry>)> {
    let (mut before, mut after) = (before.iter().peekable(), after.iter().peekable());
    let mut pairs = Vec::new();
    loop {
        let order = match (before.peek(), after.peek()) {
            (Some(one), Some(other)) => one.name.cmp(&other.name),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return pairs,
        };
        pairs.push(match order {
            Ordering::Less => (before.next(), None),
            Ordering::Equal => (before.next(), after.next()),
            Ordering::Greater => (None, after.next()),
        });
    }
}
