//! One segment's file, which only ever ends in a whole line that was meant to be there.
//!
//! Owns the position, and cutting off what a failed write left. It deliberately does not know what lines mean.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use edgeplane_os::atomic::sync_dir;

/// An open segment.
#[derive(Debug)]
pub(super) struct SegmentFile {
    file: File,
    path: PathBuf,
    /// Bytes of whole lines.
    len: u64,
    /// Whether a failed write left something behind them that could not be cut off yet.
    is_torn: bool,
    /// Whether its name is durable.
    is_name_synced: bool,
}

impl SegmentFile {
    /// Makes segment `number` in `dir`, which must not have it, and writes its header.
    ///
    /// # Errors
    /// When either fails; the file is then not there.
    pub(super) fn create(dir: &Path, number: u32, header: &[u8]) -> io::Result<Self> {
        let path = dir.join(segment_name(number));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let mut segment = Self { file, path, len: 0, is_torn: false, is_name_synced: false };
        if let Err(error) = segment.append(header) {
            segment.remove();
            return Err(error);
        }
        Ok(segment)
    }

    /// Removes the file; that it cannot be is no error worth more than the one that led here.
    pub(super) fn remove(&self) {
        drop(std::fs::remove_file(&self.path));
    }

    /// Bytes of whole lines.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Appends lines, all of them or none.
    ///
    /// # Errors
    /// When they do not fit or the disk fails; what was written of them is cut off.
    pub(super) fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        if self.is_torn {
            self.file.set_len(self.len)?;
            self.is_torn = false;
        }
        if let Err(error) = self.file.write_all_at(lines, self.len) {
            self.is_torn = self.file.set_len(self.len).is_err();
            return Err(error);
        }
        self.len = self.len.saturating_add(u64::try_from(lines.len()).unwrap_or(u64::MAX));
        Ok(())
    }

    /// Makes the lines durable, and the name the first time.
    ///
    /// # Errors
    /// When the disk fails.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        if !self.is_name_synced {
            sync_dir(self.path.parent().unwrap_or(Path::new(".")))?;
            self.is_name_synced = true;
        }
        Ok(())
    }
}

/// `000001.cast` and so on; more digits where six are not enough.
fn segment_name(number: u32) -> String {
    let mut digits = Vec::with_capacity(10);
    edgeplane_wire::cast::put_number(&mut digits, u64::from(number));
    let mut name = String::with_capacity(16);
    for _missing in digits.len()..6 {
        name.push('0');
    }
    name.push_str(&String::from_utf8_lossy(&digits));
    name.push_str(".cast");
    name
}
