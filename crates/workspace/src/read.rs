//! Reading files, on as many threads as there are processors, also a single large one.
//!
//! A file that changes while it is read is read again, a few times; then what was read last is kept, and said to be so.
//! One that changed a moment ago is waited for: a further change at the same tick of the clock would not show.

use std::{
    cell::RefCell,
    fs::File,
    os::{fd::OwnedFd, unix::fs::FileExt as _},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use edgeplane_os::wait::{Deadline, until};
use rustix::{
    fs::{Mode, OFlags, SeekFrom, fstat, openat, seek},
    io::Errno,
};

use crate::{
    checkpoint::Why,
    content::{Content, object_bytes, objects_in},
    error::WorkspaceError,
    id::Id,
    object::OBJECT_BYTES_MAX,
    pool::Pool,
    seen::{Kind, Seen},
    stat_index::Kept,
    store::Session,
};

/// A larger file is left out: the list of its pieces alone would take as much room as many workspaces.
const FILE_BYTES_MAX: u64 = 1 << 40;

/// How often a file is read that changes meanwhile.
const ATTEMPTS: u32 = 3;

/// So much of a piece is read and hashed at a time: it stays in the cache of one processor.
const HASHED_BYTES: usize = 512 * 1024;

/// What became of reading a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was read.
    File {
        /// What the kernel said when it began.
        seen: Seen,
        kept: Kept,
        /// Whether it was the same at the end.
        is_settled: bool,
    },
    /// It is no more.
    Gone,
    /// It is left out.
    LeftOut(Why),
}

/// Where an outcome is put.
pub(crate) type Slot = Arc<OnceLock<Outcome>>;

/// A file that is to be read.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) folder: Arc<OwnedFd>,
    pub(crate) name: Vec<u8>,
    pub(crate) slot: Slot,
}

/// A file that is read in pieces, by whoever has time.
#[derive(Debug)]
struct Large {
    job: Job,
    file: File,
    seen: Seen,
    /// Whether a change since reading began would show.
    is_sure: bool,
    has_holes: bool,
    ids: Mutex<Vec<Id>>,
    /// The pieces that it had when it was read last: what they are made of need not be found anew.
    former: Vec<Id>,
    /// Whether it ended early.
    is_short: AtomicBool,
    /// Pieces that are not read yet.
    left: AtomicU64,
}

/// What is to be read.
#[derive(Debug)]
enum Work {
    Files(Vec<Job>),
    Piece(Arc<Large>, u64),
}

/// Those who read.
#[derive(Debug)]
pub(crate) struct Readers<'a> {
    pool: &'a Pool<Work>,
    reading: &'a Reading<'a>,
}

/// For whom is read, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading<'a> {
    pub(crate) session: &'a Session,
    /// Nanoseconds in which two changes of a file may look like one.
    pub(crate) tick: i64,
}

impl Reading<'_> {
    fn now(&self) -> i64 {
        self.session.clock().now().as_micros().saturating_mul(1_000)
    }

    /// Whether a change from now on would show.
    fn would_show(&self, seen: &Seen) -> bool {
        seen.changed.saturating_add(self.tick) < self.now()
    }

    /// Waits until a change would show, unless that is long: the clock was set back since, or the file changes on.
    fn wait(&self, file: &File, seen: Seen) -> Seen {
        let is_soon = seen.changed.saturating_sub(self.now()) < self.tick;
        if self.would_show(&seen) || !is_soon {
            return seen;
        }
        let tick = Duration::from_nanos(self.tick.unsigned_abs());
        until(Deadline::after(tick.saturating_mul(2)), || self.would_show(&seen));
        // What it is now is what is read.
        fstat(file).map_or(seen, |stat| Seen::of(&stat))
    }

    /// Whether a file is what it was when reading began, and would not be had it changed.
    fn is_settled(&self, file: &File, seen: &Seen, is_sure: bool) -> bool {
        let later = fstat(file).map(|stat| Seen::of(&stat));
        let is_of_the_future = seen.changed > self.now();
        later.is_ok_and(|later| seen.is_still(&later)) && (is_sure || is_of_the_future)
    }
}

impl Readers<'_> {
    /// Runs `walk` beside those who read what it finds, until all of it is read.
    pub(crate) fn beside<R>(
        reading: &Reading<'_>,
        walk: impl FnOnce(&Readers<'_>) -> Result<R, WorkspaceError>,
    ) -> Result<R, WorkspaceError> {
        let read = |work| match work {
            Work::Files(jobs) => jobs.iter().try_for_each(|job| {
                settle(job, read_file(reading, job)?);
                Ok(())
            }),
            Work::Piece(large, piece) => read_piece(reading, &large, piece),
        };
        Pool::beside(read, |pool| walk(&Readers { pool, reading }))
    }

    /// Has small files read.
    pub(crate) fn files(&self, jobs: Vec<Job>) -> Result<(), WorkspaceError> {
        self.pool.hand_on(Work::Files(jobs))
    }

    /// Has a large file read, in pieces.
    pub(crate) fn large(&self, job: Job, former: Option<Content>) -> Result<(), WorkspaceError> {
        let (file, seen) = match open(self.reading, &job) {
            Ok(opened) => opened,
            Err(outcome) => {
                settle(&job, outcome);
                return Ok(());
            }
        };
        let pieces = objects_in(seen.size);
        if pieces < 2 {
            drop(file);
            return self.files(vec![job]);
        }
        let mut data = Data::of(&file, &seen);
        let with_data: Vec<u64> = (0..pieces).filter(|piece| data.is_in(*piece)).collect();
        let ids = vec![Id::ZEROS; usize::try_from(pieces).unwrap_or(0)];
        let large = Arc::new(Large {
            has_holes: has_holes(&file, &seen),
            is_sure: self.reading.would_show(&seen),
            file,
            seen,
            ids: Mutex::new(ids),
            // What is not there any more helps nobody, and harms nobody.
            former: former
                .and_then(|content| self.reading.session.objects(&content).ok())
                .unwrap_or_default(),
            is_short: AtomicBool::new(false),
            // One more, which is this one's own: a file of nothing but holes is over as well.
            left: AtomicU64::new((with_data.len() as u64).saturating_add(1)),
            job,
        });
        for piece in with_data {
            self.pool.hand_on(Work::Piece(large.clone(), piece))?;
        }
        self.pool.hand_on(Work::Piece(large, u64::MAX))
    }
}

fn settle(job: &Job, outcome: Outcome) {
    // There is one reader for each file, and it settles it once.
    job.slot.set(outcome).unwrap_or_default();
}

fn read_piece(reading: &Reading<'_>, large: &Large, piece: u64) -> Result<(), WorkspaceError> {
    if piece != u64::MAX {
        let wanted = object_bytes(large.seen.size, piece);
        let number = usize::try_from(piece);
        let former = number.ok().and_then(|number| large.former.get(number).copied());
        let id = with_buffer(wanted, |buffer| match fill_hashed(&large.file, buffer, at(piece)) {
            Ok((count, id)) if count == wanted => reading.session.put_hashed(id, buffer, former).map(Some),
            _ => Ok(None),
        })?;
        match (id, number) {
            (Some(id), Ok(piece)) => {
                let mut ids = large.ids.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(slot) = ids.get_mut(piece) {
                    *slot = id;
                }
            }
            _ => large.is_short.store(true, Ordering::Relaxed),
        }
    }
    if large.left.fetch_sub(1, Ordering::AcqRel) > 1 {
        return Ok(());
    }
    let is_settled = reading.is_settled(&large.file, &large.seen, large.is_sure);
    if large.is_short.load(Ordering::Relaxed) || !is_settled {
        settle(&large.job, read_file(reading, &large.job)?);
        return Ok(());
    }
    let content = {
        let ids = large.ids.lock().unwrap_or_else(PoisonError::into_inner);
        reading.session.put_list(large.seen.size, &ids)?
    };
    let kept = Kept { content, has_holes: large.has_holes, is_sure: large.is_sure };
    settle(&large.job, Outcome::File { seen: large.seen, kept, is_settled });
    Ok(())
}

fn read_file(reading: &Reading<'_>, job: &Job) -> Result<Outcome, WorkspaceError> {
    let mut last = Outcome::Gone;
    for _ in 0..ATTEMPTS {
        let (file, seen) = match open(reading, job) {
            Ok(opened) => opened,
            Err(outcome) => return Ok(outcome),
        };
        let is_sure = reading.would_show(&seen);
        let Some((content, size)) = read_through(reading.session, &file, &seen)? else {
            return Ok(Outcome::LeftOut(Why::Unreadable));
        };
        let is_settled = size == seen.size && reading.is_settled(&file, &seen, is_sure);
        let kept = Kept { content, has_holes: has_holes(&file, &seen), is_sure: is_sure && is_settled };
        last = Outcome::File { seen, kept, is_settled };
        if is_settled {
            break;
        }
    }
    Ok(last)
}

/// Opens a file as what it is: no link is followed, no pipe waited at.
fn open(reading: &Reading<'_>, job: &Job) -> Result<(File, Seen), Outcome> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = openat(&job.folder, job.name.as_slice(), flags, Mode::empty());
    let file = File::from(opened.map_err(|error| match error {
        Errno::NOENT => Outcome::Gone,
        // It was a file a moment ago.
        Errno::LOOP | Errno::NXIO | Errno::NODEV => Outcome::LeftOut(Why::Changing),
        _ => Outcome::LeftOut(Why::Unreadable),
    })?);
    let seen =
        fstat(&file).map(|stat| Seen::of(&stat)).map_err(|_error| Outcome::LeftOut(Why::Unreadable))?;
    match seen.kind() {
        Kind::File if seen.size > FILE_BYTES_MAX => Err(Outcome::LeftOut(Why::TooLarge)),
        Kind::File => {
            let seen = reading.wait(&file, seen);
            Ok((file, seen))
        }
        Kind::Folder | Kind::Link | Kind::Other(_) => Err(Outcome::LeftOut(Why::Changing)),
    }
}

/// Reads a file from its beginning and says how much there was; `None` if the kernel cannot read it.
fn read_through(
    session: &Session,
    file: &File,
    seen: &Seen,
) -> Result<Option<(Content, u64)>, WorkspaceError> {
    let mut data = Data::of(file, seen);
    let mut ids = Vec::new();
    let mut size: u64 = 0;
    for piece in 0..objects_in(seen.size) {
        let wanted = object_bytes(seen.size, piece);
        if !data.is_in(piece) {
            ids.push(Id::ZEROS);
            size = size.saturating_add(wanted as u64);
            continue;
        }
        let read = with_buffer(wanted, |buffer| match fill(file, buffer, at(piece)) {
            Ok(count) => {
                let id = session.put_object(buffer.get(..count).unwrap_or_default())?;
                Ok(Some((id, count)))
            }
            Err(_unreadable) => Ok(None),
        })?;
        let Some((id, count)) = read else { return Ok(None) };
        size = size.saturating_add(count as u64);
        if count > 0 {
            ids.push(id);
        }
        if count < wanted {
            break;
        }
    }
    Ok(Some((session.put_list(size, &ids)?, size)))
}

fn at(piece: u64) -> u64 {
    piece.saturating_mul(OBJECT_BYTES_MAX as u64)
}

fn fill(file: &File, buffer: &mut [u8], at: u64) -> std::io::Result<usize> {
    let mut count = 0;
    while let Some(rest) = buffer.get_mut(count..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, at.saturating_add(count as u64)) {
            Ok(0) => break,
            Ok(more) => count = count.saturating_add(more),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

/// The same, with the digest of what there was: taken of each part while the processor still has it at hand.
fn fill_hashed(file: &File, buffer: &mut [u8], at: u64) -> std::io::Result<(usize, Id)> {
    let (mut hasher, mut count) = (blake3::Hasher::new(), 0_usize);
    for part in buffer.chunks_mut(HASHED_BYTES) {
        let read = fill(file, part, at.saturating_add(count as u64))?;
        hasher.update(part.get(..read).unwrap_or_default());
        count = count.saturating_add(read);
        if read < part.len() {
            break;
        }
    }
    Ok((count, Id::from_bytes(*hasher.finalize().as_bytes())))
}

thread_local! {
    /// Room for a piece; made once, for the kernel clears what it gives.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

fn with_buffer<R>(bytes: usize, work: impl FnOnce(&mut [u8]) -> R) -> R {
    BUFFER.with_borrow_mut(|buffer| {
        if buffer.len() < bytes {
            buffer.resize(bytes, 0);
        }
        work(buffer.get_mut(..bytes).unwrap_or_default())
    })
}

fn has_holes(file: &File, seen: &Seen) -> bool {
    seen.has_holes && seek(file, SeekFrom::Hole(0)).is_ok_and(|at| at < seen.size)
}

/// Where a file has data.
struct Data<'a> {
    file: &'a File,
    has_holes: bool,
    /// Where the next data is, as far as that was asked.
    next: Option<u64>,
}

impl<'a> Data<'a> {
    fn of(file: &'a File, seen: &Seen) -> Self {
        Self { file, has_holes: seen.has_holes, next: None }
    }

    /// Whether a piece has any; pieces are asked for in order.
    fn is_in(&mut self, piece: u64) -> bool {
        if !self.has_holes {
            return true;
        }
        let (start, end) = (at(piece), at(piece.saturating_add(1)));
        let next = self.next.filter(|next| *next >= start).unwrap_or_else(|| {
            match seek(self.file, SeekFrom::Data(start)) {
                Ok(next) => next,
                Err(Errno::NXIO) => u64::MAX,
                Err(_cannot_say) => start,
            }
        });
        self.next = Some(next);
        next < end
    }
}
