//! Bytes of an unfinished character, held back until the rest of it comes or its time is over.

/// Most bytes that can be held: a character has four.
const HELD_BYTES_MAX: usize = 3;

/// The held bytes of one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Held {
    bytes: [u8; HELD_BYTES_MAX],
    len: u8,
    due_us: u64,
}

impl Held {
    /// Nothing.
    pub(super) const EMPTY: Self = Self { bytes: [0; HELD_BYTES_MAX], len: 0, due_us: 0 };

    /// Holds `bytes` until `due_us`; there are at most three.
    pub(super) fn new(bytes: &[u8], due_us: u64) -> Self {
        let mut held = Self { due_us, ..Self::EMPTY };
        for (slot, byte) in held.bytes.iter_mut().zip(bytes) {
            *slot = *byte;
            held.len = held.len.saturating_add(1);
        }
        held
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }

    pub(super) fn due_us(&self) -> Option<u64> {
        (self.len > 0).then_some(self.due_us)
    }

    pub(super) fn is_due(&self, now_us: u64) -> bool {
        self.len > 0 && self.due_us <= now_us
    }
}
