//! Little-endian primitives for binary frames.
//!
//! Everything decoded here comes from another process, so every read is checked and nothing panics.

/// Why bytes are not what they should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes end too early.
    #[error("the frame ends before its fields do")]
    Short,
    /// The bytes go on after the last field.
    #[error("the frame has bytes after its last field")]
    Long,
    /// A length is beyond its limit.
    #[error("a length in the frame is beyond its limit")]
    Limit,
    /// A value is none of those allowed.
    #[error("a field of the frame holds a value that it may not hold")]
    Value,
}

/// Reads fields off the front of a slice.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Reads from the start of `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The next `len` bytes.
    ///
    /// # Errors
    /// `Short` if there are fewer.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        let (head, tail) = self.rest.split_at_checked(len).ok_or(DecodeError::Short)?;
        self.rest = tail;
        Ok(head)
    }

    /// The next `N` bytes.
    ///
    /// # Errors
    /// `Short` if there are fewer.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (head, tail) = self.rest.split_first_chunk::<N>().ok_or(DecodeError::Short)?;
        self.rest = tail;
        Ok(*head)
    }

    /// One byte.
    ///
    /// # Errors
    /// `Short` if there is none.
    pub fn u8(&mut self) -> Result<u8, DecodeError> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    /// Two bytes.
    ///
    /// # Errors
    /// `Short` if there are fewer.
    pub fn u16(&mut self) -> Result<u16, DecodeError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    /// Four bytes.
    ///
    /// # Errors
    /// `Short` if there are fewer.
    pub fn u32(&mut self) -> Result<u32, DecodeError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Four bytes, signed.
    ///
    /// # Errors
    /// `Short` if there are fewer.
    pub fn i32(&mut self) -> Result<i32, DecodeError> {
        Ok(i32::from_le_bytes(self.array()?))
    }

    /// Eight bytes.
    ///
    /// # Errors
    /// `Short` if there are fewer.
    pub fn u64(&mut self) -> Result<u64, DecodeError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A length of four bytes and that many bytes, at most `limit`.
    ///
    /// # Errors
    /// `Limit` if the length is greater, `Short` if there are fewer bytes.
    pub fn block(&mut self, limit: usize) -> Result<&'a [u8], DecodeError> {
        let len = usize::try_from(self.u32()?).map_err(|_beyond| DecodeError::Limit)?;
        if len > limit {
            return Err(DecodeError::Limit);
        }
        self.take(len)
    }

    /// Everything that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// Ends reading.
    ///
    /// # Errors
    /// `Long` if something is left.
    pub fn end(self) -> Result<(), DecodeError> {
        if self.rest.is_empty() { Ok(()) } else { Err(DecodeError::Long) }
    }
}

/// Appends a length of four bytes and the bytes themselves.
pub fn put_block(out: &mut Vec<u8>, bytes: &[u8]) {
    // Callers hold less than 4 GiB by their own limits; a longer block would be cut, never mis-framed.
    let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(bytes.get(..usize::try_from(len).unwrap_or(bytes.len())).unwrap_or(bytes));
}
