//! Packs: files of many objects, written once, with an index at their end.
//!
//! A pack is whole and durable under its name or not there. Its index is held to a digest of its own; each object is
//! held to its own when it is read.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufWriter, Write as _},
    os::unix::fs::{FileExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use edgeplane_os::{Entropy as _, SystemEntropy, atomic::write_atomic};

use crate::{error::WorkspaceError, id::Id};

/// How a pack begins and ends.
const MAGIC: &[u8; 8] = b"EPPACK1\n";

/// An object in the index: digest, place, stored and real size, form.
pub(crate) const ROW_BYTES: usize = 49;

/// Where the index begins, how many objects it has, its digest, and the mark of the end.
const FOOTER_BYTES: usize = 56;

/// A pack that is larger is closed and the next one begun, so that removing from one never copies much.
pub(crate) const PACK_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// What is written at one go.
const BUFFER_BYTES: usize = 1024 * 1024;

/// How a whole pack is called.
pub(crate) const PACK_ENDING: &str = "pack";

/// How the list of what counts as not there any more in a pack is called.
const DROPPED_ENDING: &str = "dropped";

/// How one that is being written is called; a leftover is removed by the next collection.
pub(crate) const PARTIAL_ENDING: &str = "partial";

/// How the bytes of an object stand in the pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As they are.
    Plain,
    /// Compressed.
    Zstd,
    /// Not at all: the objects of which it is made, one after the other.
    Parts,
}

impl Form {
    fn number(self) -> u8 {
        match self {
            Self::Plain => 0,
            Self::Zstd => 1,
            Self::Parts => 2,
        }
    }

    fn from_number(number: u8) -> Option<Self> {
        [Self::Plain, Self::Zstd, Self::Parts].into_iter().find(|form| form.number() == number)
    }
}

/// An object of a pack.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) id: Id,
    pub(crate) offset: u64,
    /// Its bytes in the pack.
    pub(crate) stored: u32,
    /// The bytes that it stands for.
    pub(crate) size: u32,
    pub(crate) form: Form,
}

fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> WorkspaceError {
    move |source| WorkspaceError::Store { what, path: path.to_owned(), source }
}

/// A pack that is being written.
#[derive(Debug)]
pub(crate) struct PackWriter {
    file: BufWriter<File>,
    partial: PathBuf,
    path: PathBuf,
    rows: Vec<Row>,
    at: u64,
}

impl PackWriter {
    pub(crate) fn create(folder: &Path) -> Result<Self, WorkspaceError> {
        let mut name = [0; 16];
        SystemEntropy.fill(&mut name);
        let name = format!("{:032x}", u128::from_le_bytes(name));
        let partial = folder.join(format!("{name}.{PARTIAL_ENDING}"));
        let path = folder.join(format!("{name}.{PACK_ENDING}"));
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&partial);
        let mut file =
            BufWriter::with_capacity(BUFFER_BYTES, file.map_err(failed("make the pack", &partial))?);
        file.write_all(MAGIC).map_err(failed("write the pack", &partial))?;
        Ok(Self { file, partial, path, rows: Vec::new(), at: MAGIC.len() as u64 })
    }

    /// How many bytes it has so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.at
    }

    pub(crate) fn append(
        &mut self,
        id: Id,
        form: Form,
        size: u32,
        stored: &[u8],
    ) -> Result<Row, WorkspaceError> {
        let length = u32::try_from(stored.len()).unwrap_or(u32::MAX);
        self.file.write_all(stored).map_err(failed("write the pack", &self.partial))?;
        let row = Row { id, offset: self.at, stored: length, size, form };
        self.at = self.at.saturating_add(u64::from(length));
        self.rows.push(row);
        Ok(row)
    }

    /// Writes the index, makes all of it durable and gives it its name. The folder is not synced.
    pub(crate) fn seal(mut self) -> Result<Pack, WorkspaceError> {
        let written = self.write_index().and_then(|()| self.file.get_ref().sync_all());
        written.map_err(failed("write the pack", &self.partial))?;
        std::fs::rename(&self.partial, &self.path).map_err(failed("name the pack", &self.path))?;
        let file = self
            .file
            .into_inner()
            .map_err(|error| failed("write the pack", &self.path)(error.into_error()))?;
        Ok(Pack { file, path: self.path, rows: self.rows, dropped: Vec::new() })
    }

    fn write_index(&mut self) -> io::Result<()> {
        let mut index = Vec::with_capacity(self.rows.len().saturating_mul(ROW_BYTES));
        for row in &self.rows {
            index.extend_from_slice(row.id.as_bytes());
            index.extend_from_slice(&row.offset.to_le_bytes());
            index.extend_from_slice(&row.stored.to_le_bytes());
            index.extend_from_slice(&row.size.to_le_bytes());
            index.push(row.form.number());
        }
        self.file.write_all(&index)?;
        self.file.write_all(&self.at.to_le_bytes())?;
        self.file.write_all(&(self.rows.len() as u64).to_le_bytes())?;
        self.file.write_all(Id::of(&index).as_bytes())?;
        self.file.write_all(MAGIC)?;
        self.file.flush()
    }
}

/// A pack that is whole.
#[derive(Debug)]
pub(crate) struct Pack {
    file: File,
    path: PathBuf,
    rows: Vec<Row>,
    /// What a collection found unused in it: what it was made of may be gone, so it counts as not there.
    dropped: Vec<Id>,
}

impl Pack {
    /// Opens a pack; `None` if it is damaged.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>, WorkspaceError> {
        let file = File::open(path).map_err(failed("open the pack", path))?;
        let rows = read_index(&file).map_err(failed("read the pack", path))?;
        let (Some(mut rows), Some(dropped)) = (rows, read_dropped(path)?) else { return Ok(None) };
        rows.retain(|row| dropped.binary_search(&row.id).is_err());
        Ok(Some(Self { file, path: path.to_owned(), rows, dropped }))
    }

    /// Remembers, durably, that these objects of it count as not there from here on.
    pub(crate) fn drop_objects(&self, unused: &[Id]) -> Result<(), WorkspaceError> {
        let mut all: Vec<Id> = self.dropped.iter().chain(unused).copied().collect();
        all.sort_unstable();
        all.dedup();
        let mut bytes: Vec<u8> = all.iter().flat_map(Id::as_bytes).copied().collect();
        let digest = Id::of(&bytes);
        bytes.extend_from_slice(digest.as_bytes());
        let path = self.path.with_extension(DROPPED_ENDING);
        write_atomic(&path, &bytes, 0o600).map_err(|error| failed("write", &path)(io::Error::other(error)))
    }

    /// Removes it.
    pub(crate) fn remove(&self) -> Result<(), WorkspaceError> {
        // First the objects: what was dropped must not be there again, for however short.
        std::fs::remove_file(&self.path).map_err(failed("remove the pack", &self.path))?;
        match std::fs::remove_file(self.path.with_extension(DROPPED_ENDING)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", &self.path)(error)),
            _ => Ok(()),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives away what is in it; it is asked for only once.
    pub(crate) fn take_rows(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.rows)
    }

    /// Reads the stored bytes of an object.
    pub(crate) fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), WorkspaceError> {
        self.file.read_exact_at(into, offset).map_err(failed("read the pack", &self.path))
    }
}

/// What of a pack was dropped; `None` if that cannot be told.
fn read_dropped(pack: &Path) -> Result<Option<Vec<Id>>, WorkspaceError> {
    let path = pack.with_extension(DROPPED_ENDING);
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Some(Vec::new())),
        Err(error) => return Err(failed("read", &path)(error)),
    };
    let Some((ids, digest)) = bytes.split_last_chunk::<{ Id::BYTES }>() else { return Ok(None) };
    let is_whole = Id::of(ids).as_bytes() == digest;
    Ok(is_whole.then(|| ids.as_chunks::<{ Id::BYTES }>().0.iter().map(|id| Id::from_bytes(*id)).collect()))
}

fn read_index(file: &File) -> io::Result<Option<Vec<Row>>> {
    let length = file.metadata()?.len();
    let Some(footer_at) = length.checked_sub(FOOTER_BYTES as u64) else { return Ok(None) };
    let mut footer = [0; FOOTER_BYTES];
    file.read_exact_at(&mut footer, footer_at)?;
    let (start, count) = (number(&footer, 0), number(&footer, 8));
    let index_bytes = count.checked_mul(ROW_BYTES as u64);
    if footer.get(48..) != Some(MAGIC.as_slice()) || index_bytes != footer_at.checked_sub(start) {
        return Ok(None);
    }
    let mut index = vec![0; usize::try_from(index_bytes.unwrap_or(0)).unwrap_or(0)];
    file.read_exact_at(&mut index, start)?;
    if footer.get(16..48) != Some(Id::of(&index).as_bytes().as_slice()) {
        return Ok(None);
    }
    Ok(index.chunks_exact(ROW_BYTES).map(|row| row_of(row, start)).collect())
}

fn row_of(row: &[u8], end: u64) -> Option<Row> {
    let id = Id::from_bytes(row.get(..32)?.try_into().ok()?);
    let small = |at: usize| Some(u32::from_le_bytes(row.get(at..at + 4)?.try_into().ok()?));
    let (offset, stored, size) = (number(row, 32), small(40)?, small(44)?);
    let inside = offset.checked_add(u64::from(stored))? <= end;
    let form = Form::from_number(*row.get(48)?)?;
    inside.then_some(Row { id, offset, stored, size, form })
}

fn number(bytes: &[u8], at: usize) -> u64 {
    let eight = bytes.get(at..at.saturating_add(8)).and_then(|eight| eight.try_into().ok());
    eight.map_or(0, u64::from_le_bytes)
}
