//! How much of an agent's recordings is kept: the manifest's bounds, oldest first, said in the record before it is
//! done.

use std::{
    fs,
    path::{Path, PathBuf},
};

use edgeplane_manifest::Keep;
use edgeplane_types::{Epoch, Fact};

use super::{Actor, Done};
use crate::{
    record::{Draft, Origin},
    recordings,
};

/// Newest segments of the newest epoch that are kept whatever the bounds say: one is being written, and a message
/// on its way leaves its marks in the two newest.
const SEGMENTS_KEPT: usize = 2;

/// Segments of an epoch that are over their bounds: all up to this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Excess {
    epoch: Epoch,
    through_segment: u32,
    file_bytes: u64,
    whole: bool,
}

impl Actor {
    /// Looks on a worker for what is over its bounds.
    pub(super) fn look_for_excess(&self) {
        let folder = self.shared.agents_dir().join(self.identity.id.to_string());
        let keep = self.manifest.spec.recording.keep.clone();
        let done = self.workers.0.clone();
        let work = self.shared.tasks.spawn_blocking(move || excess(&folder, &keep));
        self.shared.tasks.spawn(async move {
            let found = work.await.unwrap_or_default();
            if !found.is_empty() {
                // The engine has ended; the next one looks again.
                drop(done.send(Done::Excess(found)).await);
            }
        });
    }

    /// Says in the record what will be gone, then lets it go.
    pub(super) async fn prune(&mut self, found: Vec<Excess>) {
        let mut draft = Draft::default();
        for excess in &found {
            let fact = Fact::RecordingPruned {
                epoch: excess.epoch,
                through_segment: excess.through_segment,
                file_bytes: excess.file_bytes,
                reason: "beyond spec.recording.keep".to_owned(),
            };
            self.shared.record.add(&mut draft, self.stream(), &Origin::node("retention"), fact);
        }
        if let Err(error) = self.shared.record.commit(draft).await {
            tracing::warn!(agent = %self.identity.name, error = %crate::record::chain(&error), "old recordings stay");
            return;
        }
        let folder = self.shared.agents_dir().join(self.identity.id.to_string());
        self.shared.tasks.spawn_blocking(move || {
            for excess in found {
                remove(&folder, &excess);
            }
        });
    }
}

fn epochs(folder: &Path) -> Vec<Epoch> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<Epoch> =
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok().map(Epoch)).collect();
    found.sort_unstable();
    found
}

fn epoch_dir(folder: &Path, epoch: Epoch) -> PathBuf {
    folder.join(epoch.to_string())
}

/// What is over the bounds: whole epochs beyond the newest ones, then the oldest segments beyond the bytes.
fn excess(folder: &Path, keep: &Keep) -> Vec<Excess> {
    let epochs = epochs(folder);
    let newest = epochs.last().copied();
    let kept_epochs = usize::try_from(keep.epochs).unwrap_or(usize::MAX).max(1);
    let too_old = epochs.len().saturating_sub(kept_epochs);
    let mut total = 0_u64;
    let mut found = Vec::new();
    // Newest first: what does not fit any more is the oldest.
    for (index, epoch) in epochs.iter().enumerate().rev() {
        let dir = epoch_dir(folder, *epoch);
        let all = recordings::segments(&dir).unwrap_or_default();
        let mut excess = Excess { epoch: *epoch, through_segment: 0, file_bytes: 0, whole: index < too_old };
        for (position, segment) in all.iter().enumerate().rev() {
            let size = fs::metadata(recordings::segment_path(&dir, *segment)).map_or(0, |found| found.len());
            let is_newest = Some(*epoch) == newest && position.saturating_add(SEGMENTS_KEPT) >= all.len();
            if !is_newest && (excess.whole || total.saturating_add(size) > keep.bytes.bytes()) {
                excess.through_segment = excess.through_segment.max(*segment);
                excess.file_bytes = excess.file_bytes.saturating_add(size);
            } else {
                total = total.saturating_add(size);
            }
        }
        if excess.through_segment > 0 {
            found.push(excess);
        }
    }
    found.reverse();
    found
}

fn remove(folder: &Path, excess: &Excess) {
    let dir = epoch_dir(folder, excess.epoch);
    for segment in recordings::segments(&dir).unwrap_or_default() {
        if segment <= excess.through_segment {
            let path = recordings::segment_path(&dir, segment);
            drop(fs::remove_file(path.with_extension("key")));
            if let Err(error) = fs::remove_file(&path) {
                tracing::warn!(path = %path.display(), %error, "cannot remove an old segment");
            }
        }
    }
    if excess.whole {
        // The key, the exit record and secrets' copies of an epoch that is long over.
        drop(fs::remove_dir_all(&dir));
    }
}

#[cfg(test)]
mod tests {
    use edgeplane_manifest::ByteSize;

    use super::*;

    fn folder(epochs: &[(u64, &[u64])]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (epoch, sizes) in epochs {
            let dir = epoch_dir(folder.path(), Epoch(*epoch));
            fs::create_dir_all(&dir).unwrap();
            for (index, size) in sizes.iter().enumerate() {
                let path = recordings::segment_path(&dir, u32::try_from(index).unwrap() + 1);
                fs::write(path, vec![0; usize::try_from(*size).unwrap()]).unwrap();
            }
        }
        folder
    }

    fn check(epochs: &[(u64, &[u64])], keep: (u32, u64), expected: &[(u64, u32, bool)]) {
        let folder = folder(epochs);
        let keep = Keep { epochs: keep.0, bytes: ByteSize::from_bytes(keep.1) };
        let found = excess(folder.path(), &keep);
        let shown: Vec<_> = found.iter().map(|e| (e.epoch.0, e.through_segment, e.whole)).collect();
        assert_eq!(shown, expected);
        for one in &found {
            remove(folder.path(), one);
        }
        assert!(excess(folder.path(), &keep).is_empty(), "nothing is over the bounds afterwards");
    }

    /// Proves LIFE-031.
    #[test]
    fn oldest_goes_first_and_the_newest_always_stays() {
        check(&[(1, &[10]), (2, &[10]), (3, &[10])], (2, 1_000), &[(1, 1, true)]);
        check(&[(1, &[10, 10]), (2, &[10, 10])], (5, 30), &[(1, 1, false)]);
        check(&[(1, &[10, 10]), (2, &[10, 10])], (5, 20), &[(1, 2, false)]);
        check(&[(7, &[10, 10, 10, 10])], (1, 5), &[(7, 2, false)]);
        check(&[(7, &[10])], (1, 5), &[]);
    }
}
