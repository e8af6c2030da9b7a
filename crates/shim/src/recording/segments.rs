//! When a segment ends and when it is durable.

use edgeplane_os::{Clock, SystemClock};
use edgeplane_wire::cast;

use super::{Notice, Plan, Recording, file::SegmentFile, full::RETRY_US};

/// How long written lines may stay unsynced.
pub(super) const SYNC_US: u64 = 5_000_000;

impl Recording {
    /// Makes the recording durable; after a failure [`Recording::synced`] never rises again.
    pub(crate) fn sync(&mut self, now_us: u64) {
        if self.dirty_since_us.is_none() {
            return;
        }
        match self.file.sync() {
            Ok(()) => {
                self.dirty_since_us = None;
                if !self.is_durability_lost {
                    self.synced = self.missing.map_or(self.head, |missing| missing.from);
                }
            }
            Err(_unsynced) => {
                self.dirty_since_us = Some(now_us);
                self.is_durability_lost = true;
            }
        }
    }

    /// Whether the segment reached its age.
    pub(super) fn is_old(&self, now_us: u64) -> bool {
        now_us.saturating_sub(self.segment_started_us) >= self.plan.segment_age_max_us
    }

    /// Goes on in a new segment if this one holds output and nothing is in the way.
    pub(super) fn rotate(&mut self, now_us: u64) {
        let holds_output = self.head > self.segment_from;
        if !holds_output || self.is_full() || now_us < self.rotate_not_before_us {
            return;
        }
        let segment = self.segment.saturating_add(1);
        self.lines.clear();
        put_header(&mut self.lines, &self.plan, segment, self.head);
        match SegmentFile::create(&self.plan.dir, segment, &self.lines) {
            Ok(file) => {
                self.sync(now_us);
                self.notices.push(Notice::Sealed {
                    segment: self.segment,
                    from: self.segment_from,
                    to: self.head,
                });
                self.file = file;
                self.segment = segment;
                self.segment_from = self.head;
                self.segment_started_us = now_us;
                self.last_event_us = now_us;
                self.dirty_since_us = Some(now_us);
            }
            // The old segment goes on for now.
            Err(_no_space) => self.rotate_not_before_us = now_us.saturating_add(RETRY_US),
        }
    }
}

/// Appends a segment's header.
pub(super) fn put_header(lines: &mut Vec<u8>, plan: &Plan, segment: u32, offset: u64) {
    let (cols, rows) = plan.size;
    let place = cast::PlaceRef {
        name: &plan.name,
        agent: &plan.agent,
        epoch: plan.epoch,
        segment,
        offset,
        started_us: SystemClock.now().as_micros(),
        cols,
        rows,
        pipes: plan.pipes,
    };
    cast::put_header(lines, &place);
}
