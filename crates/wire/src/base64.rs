//! Base64 with padding, without allocation beyond the output.
//!
//! The shim writes it and may not grow by a crate's tables; elsewhere the `base64` crate serves.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn symbol(sextet: u32) -> u8 {
    ALPHABET.get(usize::try_from(sextet & 63).unwrap_or(0)).copied().unwrap_or(b'A')
}

/// Appends `bytes` in base64 to `out`.
pub fn encode_into(bytes: &[u8], out: &mut Vec<u8>) {
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        out.push(symbol(word >> 18));
        out.push(symbol(word >> 12));
        out.push(if chunk.len() > 1 { symbol(word >> 6) } else { b'=' });
        out.push(if chunk.len() > 2 { symbol(word) } else { b'=' });
    }
}

fn value(symbol: u8) -> Option<u32> {
    Some(u32::from(match symbol {
        b'A'..=b'Z' => symbol - b'A',
        b'a'..=b'z' => symbol - b'a' + 26,
        b'0'..=b'9' => symbol - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

/// Reads base64 with padding; `None` if it is not.
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    if !bytes.len().is_multiple_of(4) {
        return None;
    }
    let mut out = Vec::with_capacity(bytes.len() / 4 * 3);
    let count = bytes.len() / 4;
    for (index, chunk) in bytes.chunks_exact(4).enumerate() {
        let [a, b, c, d] = chunk else { return None };
        let last = index + 1 == count;
        let word = value(*a)? << 18 | value(*b)? << 12;
        match (*c, *d) {
            (b'=', b'=') if last => out.extend_from_slice(word.to_be_bytes().get(1..2)?),
            (c, b'=') if last => out.extend_from_slice((word | value(c)? << 6).to_be_bytes().get(1..3)?),
            (c, d) => out.extend_from_slice((word | value(c)? << 6 | value(d)?).to_be_bytes().get(1..4)?),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bytes_survive_their_text(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let mut text = Vec::new();
            encode_into(&bytes, &mut text);
            prop_assert_eq!(decode(std::str::from_utf8(&text).unwrap()), Some(bytes));
        }

        #[test]
        fn no_text_panics(text in ".{0,40}") {
            let _decoded = decode(&text);
        }
    }

    #[test]
    fn known_vectors_match() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            let mut out = Vec::new();
            encode_into(bytes.as_bytes(), &mut out);
            assert_eq!(out, text.as_bytes());
        }
    }
}
