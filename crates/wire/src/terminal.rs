//! What the terminal of an agent says of itself when its program asks, and how a reply of the terminal's model is told
//! from keys.
//!
//! A shim answers at once what no screen is needed for. Where the cursor stands only the daemon's model knows; its
//! reply is an input like any other, so that older shims take it as they always did.

/// It works.
pub const WORKS: &[u8] = b"\x1b[0n";

/// A VT220 with colour: what programs made for xterm-256color expect at least.
pub const DEVICE: &[u8] = b"\x1b[?62;22c";

/// The same, asked the other way.
pub const DEVICE_VERSION: &[u8] = b"\x1b[>1;10;0c";

/// Its name.
pub const NAME: &[u8] = b"\x1bP>|edgeplane\x1b\\";

/// No keyboard protocol is spoken: the flags are none.
pub const KEYBOARD: &[u8] = b"\x1b[?0u";

/// The colour of its text.
pub const FOREGROUND: &[u8] = b"\x1b]10;rgb:e6e6/e6e6/e6e6\x1b\\";

/// The colour behind it.
pub const BACKGROUND: &[u8] = b"\x1b]11;rgb:0000/0000/0000\x1b\\";

/// Its size in characters.
#[must_use]
pub fn size(cols: u16, rows: u16) -> Vec<u8> {
    format!("\x1b[8;{rows};{cols}t").into_bytes()
}

/// Where the cursor stands, counted from zero.
#[must_use]
pub fn cursor(row: u16, col: u16) -> Vec<u8> {
    format!("\x1b[{};{}R", row.saturating_add(1), col.saturating_add(1)).into_bytes()
}

/// What the ids of replies begin with; no message and no key has such a one.
const REPLY: [u8; 8] = *b"\xffanswer\0";

/// The id of what the model replies to the questions in the first `through` bytes of output.
#[must_use]
pub fn reply_id(through: u64) -> [u8; 16] {
    let mut id = [0; 16];
    let (head, tail) = id.split_at_mut(REPLY.len());
    head.copy_from_slice(&REPLY);
    tail.copy_from_slice(&through.to_le_bytes());
    id
}

/// How much output the reply with this id answers, if it is one.
#[must_use]
pub fn replied_through(id: &[u8; 16]) -> Option<u64> {
    let (head, tail) = id.split_first_chunk::<8>()?;
    let tail: [u8; 8] = tail.try_into().ok()?;
    (*head == REPLY).then(|| u64::from_le_bytes(tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_reply_says_what_it_answers_and_other_ids_are_none() {
        for through in [0, 1, 1 << 40, u64::MAX] {
            assert_eq!(replied_through(&reply_id(through)), Some(through));
        }
        assert_eq!(replied_through(&[0; 16]), None);
        assert_eq!(replied_through(&[0xff; 16]), None);
    }
}
