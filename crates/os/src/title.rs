//! What process lists show of this process: its arguments and its first environment.
//!
//! Owns the memory in which the kernel finds both. It deliberately changes nothing that the process itself reads.
#![expect(unsafe_code, reason = "the kernel reads both from this process's memory, which no library writes")]

use std::{fs, io, ops::Range, ptr};

/// Where the kernel finds arguments and environment of this process, and how much room each has.
#[derive(Debug, Clone)]
pub struct Title {
    arguments: Range<usize>,
    environment: Range<usize>,
}

impl Title {
    /// Finds them.
    ///
    /// # Errors
    /// When `/proc` does not say.
    pub fn find() -> io::Result<Self> {
        let unknown = || io::Error::other("`/proc/self/stat` does not say where the arguments are");
        let bytes = fs::read("/proc/self/stat")?;
        let end = bytes.iter().rposition(|byte| *byte == b')').ok_or_else(unknown)?;
        let rest = bytes.get(end.saturating_add(1)..).and_then(|rest| std::str::from_utf8(rest).ok());
        // Field 3 comes first behind the name; these are fields 48 to 51.
        let mut fields = rest.ok_or_else(unknown)?.split_ascii_whitespace().skip(45);
        let mut next = || fields.next()?.parse::<usize>().ok().filter(|address| *address != 0);
        let mut range = || Some(next()?..next()?);
        let (arguments, environment) = range().zip(range()).ok_or_else(unknown)?;
        Ok(Self { arguments, environment })
    }

    /// Shows these instead; each is cut to the room it has.
    pub fn set(&self, arguments: &[&[u8]], environment: &[&[u8]]) {
        write(&self.arguments, arguments);
        write(&self.environment, environment);
    }
}

fn write(room: &Range<usize>, words: &[&[u8]]) {
    let mut bytes: Vec<u8> = Vec::with_capacity(room.len());
    for word in words {
        bytes.extend_from_slice(word);
        bytes.push(0);
    }
    // The last byte stays zero: the kernel takes another as the sign of a title that runs on.
    bytes.truncate(room.len().saturating_sub(1));
    bytes.resize(room.len(), 0);
    // SAFETY: the kernel put this many bytes there when it started the program, and they stay mapped and writable for
    // the life of the process. Rust holds no reference into them: its standard library copies arguments and variables
    // whenever it is asked.
    unsafe {
        ptr::copy_nonoverlapping(bytes.as_ptr(), ptr::with_exposed_provenance_mut(room.start), room.len())
    };
}
