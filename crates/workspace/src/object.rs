//! Objects: pieces of content under their digest, whole or as a list of smaller ones.

use std::cell::RefCell;

use fastcdc::v2020::FastCDC;
use zstd::bulk::{Compressor, Decompressor};

use crate::{
    error::WorkspaceError,
    id::Id,
    pack::Form,
    store::{Place, Session},
};

/// The largest object. Content is divided here whatever it is, so that several processors work on one file and what has
/// not changed is known by one digest; within, it is cut where its bytes say.
pub(crate) const OBJECT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Content up to here is kept as it is; cutting it would cost more than it saves.
const WHOLE_BYTES_MAX: usize = 64 * 1024;

/// Pieces: least, usual and most.
const PIECE_BYTES: (usize, usize, usize) = (16 * 1024, 64 * 1024, 256 * 1024);

/// A digest and a size, of a part.
const PART_BYTES: usize = 36;

/// The level of compression: text shrinks to a third, and a disk is not outrun.
const LEVEL: i32 = 1;

thread_local! {
    /// A compressor is large and can be used again.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Whether these bytes are nothing but zeros: the first is one, and each is like the one before it.
pub(crate) fn is_zeros(bytes: &[u8]) -> bool {
    match bytes {
        [] => true,
        [first, rest @ ..] => *first == 0 && Some(rest) == bytes.get(..rest.len()),
    }
}

impl Session {
    /// Keeps at most [`OBJECT_BYTES_MAX`] bytes.
    pub(crate) fn put_object(&self, bytes: &[u8]) -> Result<Id, WorkspaceError> {
        if is_zeros(bytes) {
            return Ok(Id::ZEROS);
        }
        let id = Id::of(bytes);
        if self.knows(id) {
            return Ok(id);
        }
        if bytes.len() <= WHOLE_BYTES_MAX {
            return self.put_whole(id, bytes);
        }
        let (least, usual, most) = PIECE_BYTES;
        let mut parts = Vec::new();
        for piece in FastCDC::new(bytes, least, usual, most) {
            let end = piece.offset.saturating_add(piece.length);
            let part = bytes.get(piece.offset..end).unwrap_or_default();
            if part.len() == bytes.len() {
                return self.put_whole(id, bytes);
            }
            let part_id = if is_zeros(part) { Id::ZEROS } else { self.put_part(part)? };
            parts.extend_from_slice(part_id.as_bytes());
            parts.extend_from_slice(&length(part).to_le_bytes());
        }
        self.append(id, Form::Parts, length(bytes), &parts)?;
        Ok(id)
    }

    fn put_part(&self, bytes: &[u8]) -> Result<Id, WorkspaceError> {
        let id = Id::of(bytes);
        if self.knows(id) { Ok(id) } else { self.put_whole(id, bytes) }
    }

    fn put_whole(&self, id: Id, bytes: &[u8]) -> Result<Id, WorkspaceError> {
        // What hardly shrinks is kept as it is, so that reading it costs nothing.
        match compressed(bytes).filter(|packed| packed.len() < bytes.len().saturating_sub(bytes.len() / 16)) {
            Some(packed) => self.append(id, Form::Zstd, length(bytes), &packed)?,
            None => self.append(id, Form::Plain, length(bytes), bytes)?,
        }
        Ok(id)
    }

    /// Reads an object and holds it to its digest.
    pub(crate) fn read_object(&self, id: Id) -> Result<Vec<u8>, WorkspaceError> {
        let place = self.place(id).ok_or(WorkspaceError::Missing(id))?;
        let size = usize::try_from(place.size).unwrap_or(usize::MAX);
        if size > OBJECT_BYTES_MAX {
            return Err(WorkspaceError::Damaged { id, reason: "it is too large" });
        }
        if place.form != Form::Parts {
            return self.read_whole(id, &place);
        }
        let mut bytes = Vec::with_capacity(size);
        for (part, length) in parts_of(&self.stored(id, &place)?) {
            let end = bytes.len().saturating_add(length);
            if end > size {
                return Err(WorkspaceError::Damaged { id, reason: "its parts are larger than it is" });
            }
            if part == Id::ZEROS {
                bytes.resize(end, 0);
                continue;
            }
            let place = self.place(part).ok_or(WorkspaceError::Missing(part))?;
            if place.form == Form::Parts || usize::try_from(place.size) != Ok(length) {
                return Err(WorkspaceError::Damaged { id, reason: "a part is something else" });
            }
            bytes.extend_from_slice(&self.read_whole(part, &place)?);
        }
        // Each part was held to its digest; this holds their order to it.
        if Id::of(&bytes) == id { Ok(bytes) } else { Err(damaged(id)) }
    }

    fn read_whole(&self, id: Id, place: &Place) -> Result<Vec<u8>, WorkspaceError> {
        let stored = self.stored(id, place)?;
        let bytes = match place.form {
            Form::Zstd => {
                let size = usize::try_from(place.size).unwrap_or(0).min(OBJECT_BYTES_MAX);
                decompressed(&stored, size).ok_or_else(|| damaged(id))?
            }
            Form::Plain | Form::Parts => stored,
        };
        if Id::of(&bytes) == id { Ok(bytes) } else { Err(damaged(id)) }
    }

    /// The objects of which one is made; none if it is whole.
    pub(crate) fn parts(&self, id: Id) -> Result<Vec<Id>, WorkspaceError> {
        let place = self.place(id).ok_or(WorkspaceError::Missing(id))?;
        if place.form != Form::Parts {
            return Ok(Vec::new());
        }
        let stored = self.stored(id, &place)?;
        Ok(parts_of(&stored).map(|(part, _length)| part).filter(|part| *part != Id::ZEROS).collect())
    }

    /// The bytes of an object as they stand in its pack.
    pub(crate) fn stored(&self, id: Id, place: &Place) -> Result<Vec<u8>, WorkspaceError> {
        let pack = place.pack.and_then(|number| self.pack(number)).ok_or(WorkspaceError::Missing(id))?;
        let mut stored = vec![0; usize::try_from(place.stored).unwrap_or(0)];
        pack.read(place.offset, &mut stored)?;
        Ok(stored)
    }
}

fn damaged(id: Id) -> WorkspaceError {
    WorkspaceError::Damaged { id, reason: "its bytes are not those that were kept" }
}

fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}

fn parts_of(stored: &[u8]) -> impl Iterator<Item = (Id, usize)> {
    stored.chunks_exact(PART_BYTES).filter_map(|part| {
        let id = Id::from_bytes(*part.first_chunk()?);
        let length = u32::from_le_bytes(*part.last_chunk()?);
        Some((id, usize::try_from(length).ok()?))
    })
}

/// The bytes in their small form; `None` if that cannot be made, which is no reason not to keep them.
fn compressed(bytes: &[u8]) -> Option<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|slot| {
        let compressor = match slot {
            Some(compressor) => compressor,
            None => slot.insert(Compressor::new(LEVEL).ok()?),
        };
        compressor.compress(bytes).ok()
    })
}

fn decompressed(bytes: &[u8], size: usize) -> Option<Vec<u8>> {
    DECOMPRESSOR.with_borrow_mut(|slot| {
        let decompressor = match slot {
            Some(decompressor) => decompressor,
            None => slot.insert(Decompressor::new().ok()?),
        };
        decompressor.decompress(bytes, size).ok().filter(|bytes| bytes.len() == size)
    })
}
