//! The form in which a folder is written down: its entries in the order of their names, one after the other.

use crate::{content::Content, error::WorkspaceError, id::Id, store::Session};

/// How a folder begins; another form would begin otherwise.
const MAGIC: &[u8; 4] = b"EPT1";

/// The longest name that Linux has.
const NAME_BYTES_MAX: usize = 255;

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: Vec<u8>,
    pub(crate) node: Node,
}

/// What a name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    File {
        mode: u16,
        /// Whether zeros in it are to take no room.
        has_holes: bool,
        content: Content,
    },
    Folder {
        mode: u16,
        content: Content,
    },
    Link {
        target: Vec<u8>,
    },
}

impl Session {
    /// Keeps a folder.
    pub(crate) fn put_tree(&self, entries: &[Entry]) -> Result<Content, WorkspaceError> {
        self.put(&written(entries))
    }

    /// Reads a folder.
    pub(crate) fn read_tree(&self, content: &Content) -> Result<Vec<Entry>, WorkspaceError> {
        let bytes = self.read(content)?;
        let damaged = || WorkspaceError::Damaged { id: content.id, reason: "it is not a folder" };
        read(&bytes).ok_or_else(damaged)
    }
}

fn written(entries: &[Entry]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for Entry { name, node } in entries {
        let (kind, mode) = match node {
            Node::File { mode, has_holes: false, .. } => (1, *mode),
            Node::File { mode, has_holes: true, .. } => (2, *mode),
            Node::Folder { mode, .. } => (3, *mode),
            Node::Link { .. } => (4, 0),
        };
        bytes.push(kind);
        bytes.extend_from_slice(&mode.to_le_bytes());
        put_sized(&mut bytes, name);
        match node {
            Node::File { content, .. } | Node::Folder { content, .. } => put_content(&mut bytes, content),
            Node::Link { target } => put_sized(&mut bytes, target),
        }
    }
    bytes
}

pub(crate) fn put_content(bytes: &mut Vec<u8>, content: &Content) {
    bytes.extend_from_slice(&content.size.to_le_bytes());
    bytes.push(content.depth);
    bytes.extend_from_slice(content.id.as_bytes());
}

/// Names and targets of links are never as long as the number that says how long they are allows.
pub(crate) fn put_sized(bytes: &mut Vec<u8>, text: &[u8]) {
    let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(text.get(..usize::from(length)).unwrap_or_default());
}

fn read(bytes: &[u8]) -> Option<Vec<Entry>> {
    let mut rest = Reader(bytes.strip_prefix(MAGIC)?);
    let mut entries: Vec<Entry> = Vec::new();
    while !rest.0.is_empty() {
        let (kind, mode) = (rest.byte()?, rest.small()?);
        let name = rest.sized()?.to_vec();
        // A name that is a path would be written somewhere else.
        let is_name = !matches!(name.as_slice(), b"" | b"." | b"..")
            && name.len() <= NAME_BYTES_MAX
            && !name.iter().any(|byte| matches!(byte, 0 | b'/'));
        if !is_name || entries.last().is_some_and(|last| last.name >= name) {
            return None;
        }
        let node = match kind {
            1 => Node::File { mode, has_holes: false, content: rest.content()? },
            2 => Node::File { mode, has_holes: true, content: rest.content()? },
            3 => Node::Folder { mode, content: rest.content()? },
            4 => Node::Link { target: rest.sized()?.to_vec() },
            _ => return None,
        };
        entries.push(Entry { name, node });
    }
    Some(entries)
}

/// What of some bytes has not been read.
#[derive(Debug)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    pub(crate) fn small(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.take(2)?.try_into().ok()?))
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    pub(crate) fn sized(&mut self) -> Option<&'a [u8]> {
        let length = self.small()?;
        self.take(usize::from(length))
    }

    pub(crate) fn content(&mut self) -> Option<Content> {
        let (size, depth) = (self.number()?, self.byte()?);
        let id = Id::from_bytes(self.take(Id::BYTES)?.try_into().ok()?);
        Some(Content { size, depth, id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(name: &[u8]) -> Entry {
        Entry { name: name.to_vec(), node: Node::Link { target: b"x".to_vec() } }
    }

    #[test]
    fn names_that_are_paths_or_out_of_order_are_refused() {
        assert_eq!(read(&written(&[link(b"a"), link(b"b")])), Some(vec![link(b"a"), link(b"b")]));
        for bad in [&b"a/b"[..], b"..", b".", b"", b"a\0"] {
            assert_eq!(read(&written(&[link(bad)])), None, "{bad:?}");
        }
        assert_eq!(read(&written(&[link(b"b"), link(b"a")])), None);
        assert_eq!(read(&written(&[link(b"a"), link(b"a")])), None);
        assert_eq!(read(b"EPT0"), None);
    }
}
