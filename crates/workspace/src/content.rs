//! Contents of any size: objects one after the other.

use crate::{error::WorkspaceError, id::Id, object::OBJECT_BYTES_MAX, store::Session};

/// Lists of lists; four of them would name more bytes than there are.
const DEPTH_MAX: u8 = 3;

/// What a file holds, or what a folder was written down as.
///
/// The same bytes have the same content, however they came to be: where they are divided depends on nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Content {
    pub(crate) size: u64,
    /// Zero if `id` is the content; else it is a list of the objects, itself as deep a content less one.
    pub(crate) depth: u8,
    pub(crate) id: Id,
}

/// How many objects a content of this size has.
pub(crate) fn objects_in(size: u64) -> u64 {
    size.div_ceil(OBJECT_BYTES_MAX as u64)
}

/// The size of the object with this number in a content.
pub(crate) fn object_bytes(size: u64, number: u64) -> usize {
    let before = number.saturating_mul(OBJECT_BYTES_MAX as u64);
    usize::try_from(size.saturating_sub(before)).unwrap_or(usize::MAX).min(OBJECT_BYTES_MAX)
}

impl Session {
    /// Keeps bytes.
    pub(crate) fn put(&self, bytes: &[u8]) -> Result<Content, WorkspaceError> {
        let ids: Result<Vec<_>, _> =
            bytes.chunks(OBJECT_BYTES_MAX).map(|part| self.put_object(part)).collect();
        self.put_list(bytes.len() as u64, &ids?)
    }

    /// Keeps which objects make a content of this size.
    pub(crate) fn put_list(&self, size: u64, ids: &[Id]) -> Result<Content, WorkspaceError> {
        match ids {
            [] => Ok(Content { size, depth: 0, id: Id::ZEROS }),
            [id] => Ok(Content { size, depth: 0, id: *id }),
            _ => {
                let list: Vec<u8> = ids.iter().flat_map(Id::as_bytes).copied().collect();
                let of_list = self.put(&list)?;
                Ok(Content { size, depth: of_list.depth.saturating_add(1), id: of_list.id })
            }
        }
    }

    /// The objects of a content, in order.
    pub(crate) fn objects(&self, content: &Content) -> Result<Vec<Id>, WorkspaceError> {
        match list_of(content)? {
            None if content.size == 0 => Ok(Vec::new()),
            None => Ok(vec![content.id]),
            Some(list) => {
                let bytes = self.read(&list)?;
                Ok(bytes.as_chunks::<{ Id::BYTES }>().0.iter().map(|id| Id::from_bytes(*id)).collect())
            }
        }
    }

    /// Reads a content whole. For what this crate wrote down itself; files are read object by object.
    pub(crate) fn read(&self, content: &Content) -> Result<Vec<u8>, WorkspaceError> {
        let mut bytes = Vec::new();
        for (number, id) in (0..).zip(self.objects(content)?) {
            bytes.extend_from_slice(&self.read_sized(id, object_bytes(content.size, number))?);
        }
        if bytes.len() as u64 == content.size { Ok(bytes) } else { Err(wrong_size(content.id)) }
    }

    /// Reads an object that has this size.
    pub(crate) fn read_sized(&self, id: Id, size: usize) -> Result<Vec<u8>, WorkspaceError> {
        let bytes = if id == Id::ZEROS { vec![0; size] } else { self.read_object(id)? };
        if bytes.len() == size { Ok(bytes) } else { Err(wrong_size(id)) }
    }
}

/// The list of a content that is not a single object.
pub(crate) fn list_of(content: &Content) -> Result<Option<Content>, WorkspaceError> {
    let (id, objects) = (content.id, objects_in(content.size));
    match content.depth.checked_sub(1) {
        None if objects <= 1 => Ok(None),
        Some(depth) if objects > 1 && depth < DEPTH_MAX => {
            Ok(Some(Content { size: objects.saturating_mul(Id::BYTES as u64), depth, id }))
        }
        _ => Err(wrong_size(id)),
    }
}

fn wrong_size(id: Id) -> WorkspaceError {
    WorkspaceError::Damaged { id, reason: "it has another size" }
}
