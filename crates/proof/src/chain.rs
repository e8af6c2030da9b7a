//! The hash chain of a stream: each event's hash covers its bytes and every event before it.
//!
//! Four uses of SHA-256 are kept apart by the first byte hashed, so that no value of one can pass for another:
//!
//! | first byte | what is hashed | used as |
//! |---|---|---|
//! | `0x00` | an event's canonical bytes | its leaf (RFC 6962) |
//! | `0x01` | two nodes of a Merkle tree | reserved (RFC 6962) |
//! | `0x02` | the hash before, then the canonical bytes | its hash |
//! | `0x03` | the stream's name | the hash before the first event |
//!
//! Because a chain begins with the stream's name, a whole chain cannot be passed off as another stream's.

use edgeplane_types::StreamName;

use crate::{Digest, digest::digest_parts};

const LEAF: &[u8] = &[0x00];
const LINK: &[u8] = &[0x02];
const GENESIS: &[u8] = &[0x03];

/// The leaf hash of an event.
#[must_use]
pub fn leaf_hash(bytes: &[u8]) -> Digest {
    digest_parts(&[LEAF, bytes])
}

/// The hash of an event that follows one with hash `prev`.
#[must_use]
pub fn link(prev: &Digest, bytes: &[u8]) -> Digest {
    digest_parts(&[LINK, prev.as_bytes(), bytes])
}

/// The hash that stands before the first event of a stream.
#[must_use]
pub fn genesis(stream: &StreamName) -> Digest {
    digest_parts(&[GENESIS, stream.to_string().as_bytes()])
}

/// One stored event as the chain sees it.
#[derive(Debug, Clone, Copy)]
pub struct Link<'a> {
    /// Its number in the stream.
    pub seq: u64,
    /// Its canonical bytes.
    pub bytes: &'a [u8],
    /// Its stored leaf hash.
    pub leaf: Digest,
    /// Its stored hash.
    pub hash: Digest,
}

/// What is wrong with a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// An event is missing, doubled or out of order.
    #[error("event {found} stands where event {expected} should")]
    Seq {
        /// The number that should come.
        expected: u64,
        /// The number that came.
        found: u64,
    },
    /// The bytes are not those that the leaf was made of.
    #[error("the leaf hash of event {seq} does not match its bytes")]
    Leaf {
        /// Which event.
        seq: u64,
    },
    /// The bytes, or those of an event before, are not those that the hash was made of.
    #[error("the hash of event {seq} does not match its bytes and the event before")]
    Hash {
        /// Which event.
        seq: u64,
    },
}

/// Walks a stream and names the first bad event.
#[derive(Debug, Clone, Copy)]
pub struct Verifier {
    seq: u64,
    hash: Digest,
}

impl Verifier {
    /// Begins before the first event of `stream`.
    #[must_use]
    pub fn new(stream: &StreamName) -> Self {
        Self { seq: 0, hash: genesis(stream) }
    }

    /// Begins after an event that is taken for good.
    #[must_use]
    pub fn after(seq: u64, hash: Digest) -> Self {
        Self { seq, hash }
    }

    /// Takes the next event; after an error it goes on from the event as it is stored.
    ///
    /// # Errors
    /// When the event is not the one that follows.
    pub fn step(&mut self, link: &Link<'_>) -> Result<(), Broken> {
        let expected = self.seq.saturating_add(1);
        let before = self.hash;
        self.seq = link.seq;
        self.hash = link.hash;
        if link.seq != expected {
            return Err(Broken::Seq { expected, found: link.seq });
        }
        if leaf_hash(link.bytes) != link.leaf {
            return Err(Broken::Leaf { seq: link.seq });
        }
        if self::link(&before, link.bytes) != link.hash {
            return Err(Broken::Hash { seq: link.seq });
        }
        Ok(())
    }

    /// Number and hash of the last event taken.
    #[must_use]
    pub fn head(&self) -> (u64, Digest) {
        (self.seq, self.hash)
    }
}

#[cfg(test)]
mod tests {
    use edgeplane_types::{AgentId, NodeId};

    use super::*;

    type Row = (u64, Vec<u8>, Digest, Digest);

    fn stream() -> StreamName {
        StreamName::Agent(AgentId::from_parts(7, [7; 10]))
    }

    fn chain(stream: &StreamName, count: u64) -> Vec<Row> {
        let mut prev = genesis(stream);
        (1..=count)
            .map(|seq| {
                let bytes = format!("{{\"seq\":{seq}}}").into_bytes();
                prev = link(&prev, &bytes);
                (seq, bytes.clone(), leaf_hash(&bytes), prev)
            })
            .collect()
    }

    fn check(stream: &StreamName, rows: &[Row], expected: Result<(), Broken>) {
        let mut verifier = Verifier::new(stream);
        let walked = rows.iter().try_for_each(|(seq, bytes, leaf, hash)| {
            verifier.step(&Link { seq: *seq, bytes, leaf: *leaf, hash: *hash })
        });
        assert_eq!(walked, expected);
    }

    #[test]
    fn whole_chain_verifies() {
        check(&stream(), &chain(&stream(), 5), Ok(()));
    }

    #[test]
    fn changed_byte_is_named() {
        for victim in 0..5 {
            let mut rows = chain(&stream(), 5);
            rows[victim].1[0] ^= 1;
            let seq = rows[victim].0;
            check(&stream(), &rows, Err(Broken::Leaf { seq }));
            rows[victim].2 = leaf_hash(&rows[victim].1);
            check(&stream(), &rows, Err(Broken::Hash { seq }));
            // A forger who mends the event's own hash breaks the next.
            let prev = if victim == 0 { genesis(&stream()) } else { rows[victim - 1].3 };
            rows[victim].3 = link(&prev, &rows[victim].1);
            check(&stream(), &rows, if victim == 4 { Ok(()) } else { Err(Broken::Hash { seq: seq + 1 }) });
        }
    }

    #[test]
    fn missing_swapped_and_doubled_events_are_named() {
        let whole = chain(&stream(), 4);
        let without = |victim: usize| [&whole[..victim], &whole[victim + 1..]].concat();
        check(&stream(), &without(1), Err(Broken::Seq { expected: 2, found: 3 }));
        check(&stream(), &without(0), Err(Broken::Seq { expected: 1, found: 2 }));
        let mut swapped = whole.clone();
        swapped.swap(1, 2);
        check(&stream(), &swapped, Err(Broken::Seq { expected: 2, found: 3 }));
        let doubled = [&whole[..2], &whole[1..]].concat();
        check(&stream(), &doubled, Err(Broken::Seq { expected: 3, found: 2 }));
    }

    #[test]
    fn chain_does_not_pass_for_another_stream() {
        let other = StreamName::Node(NodeId::from_parts(7, [7; 10]));
        check(&other, &chain(&stream(), 2), Err(Broken::Hash { seq: 1 }));
    }

    #[test]
    fn leaf_of_nothing_is_the_one_of_rfc_6962() {
        let expected = "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d";
        assert_eq!(leaf_hash(b"").to_string(), expected);
    }
}
