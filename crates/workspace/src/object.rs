//! Objects: pieces of content under their digest, whole or as a list of smaller ones.

use std::{cell::RefCell, collections::HashMap};

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
            // Before they are hashed, for which nobody would use the digest.
            return Ok(Id::ZEROS);
        }
        self.put_hashed(Id::of(bytes), bytes, None)
    }

    /// The same for bytes of which the digest is known. `former` is what was in their place before: where its parts are
    /// there still, the bytes need not be searched for where to cut.
    pub(crate) fn put_hashed(&self, id: Id, bytes: &[u8], former: Option<Id>) -> Result<Id, WorkspaceError> {
        if is_zeros(bytes) {
            return Ok(Id::ZEROS);
        }
        if self.knows(id) {
            return Ok(id);
        }
        if bytes.len() <= WHOLE_BYTES_MAX {
            return self.put_whole(id, bytes);
        }
        let former = former.map(|former| self.former_parts(former, bytes.len())).unwrap_or_default();
        let (mut parts, mut at) = (Vec::new(), 0_usize);
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let (part, part_id) = match still(rest, former.get(&at)) {
                Some(found) => found,
                None => {
                    let part = first_piece(rest);
                    (part, if is_zeros(part) { Id::ZEROS } else { self.put_part(part)? })
                }
            };
            if part.len() == bytes.len() {
                return self.put_whole(id, bytes);
            }
            parts.extend_from_slice(part_id.as_bytes());
            parts.extend_from_slice(&length(part).to_le_bytes());
            at = at.saturating_add(part.len());
        }
        self.append(id, Form::Parts, length(bytes), &parts)?;
        Ok(id)
    }

    /// The parts of an object, each under the place where it begins. Where a part ends depends on nothing but the bytes
    /// from its beginning on and how many there are; so only an object of the same size serves.
    fn former_parts(&self, id: Id, size: usize) -> HashMap<usize, (Id, usize)> {
        let place = self.place(id).filter(|place| {
            place.pack.is_some() && place.form == Form::Parts && usize::try_from(place.size) == Ok(size)
        });
        let stored = place.and_then(|place| self.stored(id, &place).ok()).unwrap_or_default();
        let mut at = 0_usize;
        let mut found = HashMap::new();
        for (part, length) in parts_of(&stored) {
            if part == Id::ZEROS || self.knows(part) {
                found.insert(at, (part, length));
            }
            at = at.saturating_add(length);
        }
        found
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

/// The first piece of these bytes, if it is the former one: its end is then where a search would end.
fn still<'b>(bytes: &'b [u8], former: Option<&(Id, usize)>) -> Option<(&'b [u8], Id)> {
    let (id, length) = *former?;
    let part = bytes.get(..length).filter(|part| !part.is_empty())?;
    let is_it = if id == Id::ZEROS { is_zeros(part) } else { Id::of(part) == id };
    is_it.then_some((part, id))
}

fn first_piece(bytes: &[u8]) -> &[u8] {
    let (least, usual, most) = PIECE_BYTES;
    let piece = FastCDC::new(bytes, least, usual, most).next();
    piece.and_then(|piece| bytes.get(..piece.length)).unwrap_or(bytes)
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use edgeplane_os::SystemClock;

    use super::*;
    use crate::store::Store;

    fn noise(mut state: u64, count: usize) -> Vec<u8> {
        let step = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            u8::try_from(state >> 56).unwrap()
        };
        std::iter::repeat_with(step).take(count).collect()
    }

    /// How an object is cut by a store that knows nothing, or what was there before.
    fn cut(bytes: &[u8], former: Option<&[u8]>) -> Vec<(Id, usize)> {
        let dir = tempfile::tempdir().unwrap();
        let session = Store::new(dir.path(), Arc::new(SystemClock)).unwrap().session().unwrap();
        let former = former.map(|former| session.put_object(former).unwrap());
        session.seal().unwrap();
        let id = session.put_hashed(Id::of(bytes), bytes, former).unwrap();
        session.seal().unwrap();
        assert!(session.read_object(id).unwrap() == bytes);
        let place = session.place(id).unwrap();
        if place.form == Form::Parts {
            parts_of(&session.stored(id, &place).unwrap()).collect()
        } else {
            Vec::new()
        }
    }

    /// Proves WSP-005.
    #[test]
    fn an_object_is_cut_alike_whatever_was_there_before() {
        let former = noise(7, OBJECT_BYTES_MAX);
        let changed = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = former.clone();
            change(&mut bytes);
            bytes
        };
        let over = |at: usize, count: usize| {
            changed(&move |bytes: &mut Vec<u8>| {
                let end = (at + count).min(bytes.len());
                bytes[at..end].copy_from_slice(&noise(9, end - at));
            })
        };
        let cases = [
            over(0, 1),
            over(0, 100_000),
            over(1_000_000, 65_536),
            over(OBJECT_BYTES_MAX - 1, 1),
            over(300_000, 3_000_000),
            changed(&|bytes| bytes[900_000..2_000_000].fill(0)),
            changed(&|bytes| bytes.rotate_left(17)),
            changed(&|bytes| bytes.truncate(3_000_000)),
            changed(&|bytes| drop(bytes.drain(500_000..500_100))),
            noise(8, OBJECT_BYTES_MAX),
            noise(8, 70_000),
        ];
        for (number, bytes) in cases.iter().enumerate() {
            let anew = cut(bytes, None);
            assert_eq!(cut(bytes, Some(&former)), anew, "case {number}");
            assert_eq!(cut(&former, Some(bytes)), cut(&former, None), "case {number}, back");
        }
    }
}
