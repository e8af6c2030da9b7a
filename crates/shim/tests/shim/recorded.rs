//! Reading a recording back.

use std::path::Path;

use edgeplane_wire::{
    cast::{CastEvent, CastReader},
    shim::OutputStream,
};

/// What a folder's segments tell, in order.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub(crate) events: Vec<CastEvent>,
    /// Number, first offset and offset after the last of each segment.
    pub(crate) segments: Vec<(u32, u64, u64)>,
}

impl Recorded {
    pub(crate) fn read(dir: &Path) -> Self {
        let mut recorded = Self::default();
        for number in 1.. {
            let path = dir.join(format!("{number:06}.cast"));
            let Ok(bytes) = std::fs::read(&path) else { break };
            let Some(mut reader) = CastReader::new(&bytes).unwrap() else { break };
            let place = reader.header().edgeplane.clone();
            assert_eq!(place.segment, number);
            while let Some((_, event)) = reader.next_event().unwrap() {
                recorded.events.push(event);
            }
            recorded.segments.push((number, place.offset, reader.offset()));
        }
        recorded
    }

    /// The bytes of one stream.
    pub(crate) fn stream(&self, wanted: OutputStream) -> Vec<u8> {
        let mut all = Vec::new();
        for event in &self.events {
            if let CastEvent::Output { stream, bytes, .. } = event
                && *stream == wanted
            {
                all.extend_from_slice(bytes);
            }
        }
        all
    }

    /// The bytes of standard output or the terminal, as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stream(OutputStream::Out)).into_owned()
    }

    /// Bytes with offsets from `from` to `to`; gaps are left out.
    pub(crate) fn range(&self, from: u64, to: u64) -> Vec<u8> {
        let mut all = Vec::new();
        for event in &self.events {
            if let CastEvent::Output { offset, bytes, .. } = event {
                let numbered = (*offset..).zip(bytes);
                all.extend(numbered.filter(|(at, _)| (from..to).contains(at)).map(|(_, byte)| *byte));
            }
        }
        all
    }

    /// Codes and data of everything but output and gaps.
    pub(crate) fn others(&self) -> Vec<(char, &str)> {
        let other = |event| match event {
            &CastEvent::Other { code, ref data } => Some((code, data.as_str())),
            _ => None,
        };
        self.events.iter().filter_map(other).collect()
    }
}
