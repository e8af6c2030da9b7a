//! What comes from a live shim: frames, and the output in them, each byte once and in order.

use std::path::Path;

use edgeplane_driver::lines::Found;
use edgeplane_types::{Epoch, Fact};
use edgeplane_wire::shim::{FromShim, OutputStream, ToShim, split_frame};
use tokio::time::Instant;

use super::{Actor, Done};
use crate::{
    keyframes,
    record::{Draft, Origin},
    recordings::{self, Chunk},
};

/// Output that was missed is read back for viewers up to this many bytes; after more they get the screen as it is.
const SHOWN_BYTES_MAX: u64 = 8 << 20;

/// Output that is read back at one go.
const CAUGHT_UP_BYTES_MAX: u64 = 8 << 20;

/// A frame that must outlive the buffer it came in.
enum Kept {
    Greeted(u16, edgeplane_wire::shim::Status),
    Command([u8; 16], String),
    CommandInput([u8; 16], [u8; 16], edgeplane_wire::shim::InputOutcome),
    Status(edgeplane_wire::shim::Status),
    Started(edgeplane_wire::shim::Status),
    LaunchFailed(String),
    Exited(edgeplane_wire::shim::Exit),
    Input([u8; 16], edgeplane_wire::shim::InputOutcome),
    Head(u64),
    Sealed { segment: u32, from: u64, to: u64 },
    Gap { from: u64, to: u64, errno: i32 },
    Refused(String),
    Nothing,
}

impl Actor {
    /// Handles every whole frame that has come in.
    pub(super) async fn frames(&mut self) {
        let Some(link) = self.live.as_mut().and_then(|live| live.link.as_mut()) else { return };
        let buffer = link.take_incoming();
        let mut used = 0;
        loop {
            let rest = buffer.get(used..).unwrap_or_default();
            let (kept, len) = match split_frame(rest) {
                Ok(None) => break,
                Ok(Some((body, len))) => match FromShim::decode(body) {
                    Ok(FromShim::Output { offset, stream, bytes }) => {
                        self.output(offset, stream, bytes).await;
                        (Kept::Nothing, len)
                    }
                    Ok(frame) => (keep(&frame), len),
                    Err(error) => return self.link_lost(&bad_frame(error)).await,
                },
                Err(error) => return self.link_lost(&bad_frame(error)).await,
            };
            used = used.saturating_add(len);
            self.frame(kept).await;
            if self.live.as_ref().is_none_or(|live| live.link.is_none()) {
                return;
            }
        }
        if let Some(link) = self.live.as_mut().and_then(|live| live.link.as_mut()) {
            link.put_back(buffer, used);
        }
    }

    async fn frame(&mut self, kept: Kept) {
        match kept {
            Kept::Nothing => {}
            Kept::Greeted(version, status) => {
                if let Some(live) = &mut self.live {
                    live.shim_version = version;
                }
                self.status_told(status).await;
            }
            Kept::Command(id, why) => self.command_told(id, why).await,
            Kept::CommandInput(id, input, outcome) => {
                self.command_input_done((id, input), outcome).await;
            }
            Kept::Status(status) => self.status_told(status).await,
            Kept::Started(status) => self.program_started(status).await,
            Kept::LaunchFailed(why) => self.program_refused(why).await,
            Kept::Exited(exit) => {
                self.catch_up(exit.output_bytes).await;
                self.program_exited(exit).await;
            }
            Kept::Input(id, outcome) => self.input_done(id, outcome).await,
            Kept::Head(head) => self.catch_up(head).await,
            Kept::Sealed { segment, from, to } => self.seal(segment, from, to),
            Kept::Gap { from, to, errno } => self.gap(from, to, errno).await,
            Kept::Refused(why) => {
                let error = std::io::Error::other(format!("the shim refused us: {why}"));
                self.link_lost(&error).await;
            }
        }
    }

    async fn status_told(&mut self, status: edgeplane_wire::shim::Status) {
        if self.life.state().phase() == edgeplane_types::Phase::Unobservable {
            self.shim_answered(status).await;
        } else {
            self.take_status(&status);
        }
    }

    /// Live output. Bytes below the head were read from the recording already; bytes beyond it were missed.
    async fn output(&mut self, offset: u64, stream: OutputStream, bytes: &[u8]) {
        let Some(live) = &self.live else { return };
        if offset > live.head {
            self.catch_up(offset).await;
        }
        let head = self.live.as_ref().map_or(0, |live| live.head);
        let known = usize::try_from(head.saturating_sub(offset)).unwrap_or(usize::MAX);
        let Some(bytes) = bytes.get(known..).filter(|bytes| !bytes.is_empty()) else { return };
        self.take_output(stream, bytes).await;
    }

    /// The next bytes of output.
    async fn take_output(&mut self, stream: OutputStream, bytes: &[u8]) {
        let now = Instant::now();
        let Some(live) = &mut self.live else { return };
        let offset = live.head;
        live.head = live.head.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        live.output_at = Some(now);
        self.gate.unread(now);
        self.viewers.show(offset, bytes);
        if self.live.as_ref().is_some_and(|live| live.lines.is_some()) {
            self.native_output(stream, bytes).await;
        } else {
            self.screen_output(offset, bytes);
        }
    }

    /// Reads from the recording what was not seen live, up to `to`.
    pub(super) async fn catch_up(&mut self, to: u64) {
        let Some(live) = &self.live else { return };
        let (from, dir) = (live.head, live.place.dir.clone());
        if from >= to {
            return;
        }
        let is_terminal = live.lines.is_none();
        if is_terminal && !(self.viewers.follow_live() && to.saturating_sub(from) <= SHOWN_BYTES_MAX) {
            // A screen is brought up to date when it is looked at; viewers get it anew.
            if let Some(live) = &mut self.live {
                live.head = to;
                live.output_at = Some(Instant::now());
            }
            self.gate.unread(Instant::now());
            self.viewers.missed();
            return;
        }
        while let Some(from) = self.live.as_ref().map(|live| live.head).filter(|head| *head < to) {
            let end = to.min(from.saturating_add(CAUGHT_UP_BYTES_MAX));
            self.catch_up_part(&dir, from..end, is_terminal).await;
            self.skip_output(end);
        }
    }

    /// A part of it. Whoever asks something meanwhile is answered, and other engines have their turn.
    async fn catch_up_part(&mut self, dir: &Path, range: std::ops::Range<u64>, is_terminal: bool) {
        let dir = dir.to_owned();
        let read = tokio::task::spawn_blocking(move || {
            let mut chunks: Vec<(u64, OutputStream, Vec<u8>)> = Vec::new();
            let mut missing = 0_u64;
            recordings::output_between(&dir, range, |offset, chunk| match chunk {
                Chunk::Output(stream, bytes) => chunks.push((offset, stream, bytes.to_vec())),
                Chunk::Missing(bytes) => missing = missing.saturating_add(bytes),
                Chunk::Size(..) => {}
            })
            .map(|()| (chunks, missing))
        });
        match self.serving(read).await {
            Ok(Ok((chunks, missing))) => {
                for (offset, stream, bytes) in chunks {
                    if is_terminal {
                        self.skip_output(offset);
                    }
                    self.take_output(stream, &bytes).await;
                    self.serving(tokio::task::yield_now()).await;
                }
                if missing > 0 {
                    tracing::warn!(agent = %self.identity.name, missing, "output is missing from the recording");
                }
            }
            Ok(Err(error)) => {
                tracing::warn!(agent = %self.identity.name, error = %crate::record::chain(&error), "cannot read back output");
            }
            Err(_) => {}
        }
    }

    /// Waits for something and does meanwhile what others ask.
    async fn serving<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            // Both arms take one whole thing or nothing.
            tokio::select! {
                biased;
                done = &mut work => return done,
                Some(command) = self.mailbox.recv() => self.command(command).await,
            }
        }
    }

    /// Goes on at an offset; viewers that have not seen what lies before it get the screen anew.
    fn skip_output(&mut self, to: u64) {
        let Some(live) = self.live.as_mut().filter(|live| live.head < to) else { return };
        live.head = to;
        self.viewers.missed();
    }

    /// Takes in what an epoch that is over had said and nobody heard.
    pub(super) async fn finish_output(&mut self, end: u64) {
        self.catch_up(end).await;
    }

    /// A program runs now: it is greeted, and what waits for it comes.
    pub(super) async fn running(&mut self) {
        self.stir();
        if let Some(link) = self.live.as_mut().and_then(|live| live.link.as_mut()) {
            link.send(&ToShim::Subscribe);
        }
        self.greet();
        self.acp_flush().await;
        self.run_hook(super::health::Moment::PostStart);
        self.pump().await;
    }

    /// Tells a program first what it has to know.
    pub(super) fn greet(&mut self) {
        if self.is_native() {
            self.greet_native();
        } else if self.is_acp() {
            self.greet_acp();
        } else {
            self.type_notice();
        }
    }

    /// An epoch is over: everything that lived with it ends, its history stays.
    pub(super) async fn epoch_over(&mut self, epoch: Epoch) {
        self.shared.died(self.identity.id, epoch);
        self.acp_flush().await;
        if self.is_acp() {
            self.cancel_permissions(epoch).await;
            self.settle_commands(epoch).await;
        }
        self.viewers.end_all("the epoch is over");
        self.seal_rest(epoch);
        if let Some(live) = self.live.take_if(|live| live.place.epoch == epoch) {
            live.serving.cancel();
            self.last_output_bytes = self.last_output_bytes.max(live.head);
            drop(std::fs::remove_file(self.shared.epoch_socket(self.identity.id, epoch)));
        }
        self.activity = edgeplane_types::ActivityReport::UNKNOWN;
        self.closing = None;
        self.delivery.epoch_over();
        self.gate.epoch_over();
        self.hooks_over(epoch).await;
        self.health.turn_ended(None);
        self.expiry.epoch_over();
    }

    /// A segment is complete: it is made durable and its digest goes into the record.
    fn seal(&self, segment: u32, from: u64, to: u64) {
        let Some(live) = &self.live else { return };
        if let Some(screen) = live.screen.as_ref().filter(|screen| screen.offset() == to) {
            keyframes::save(&live.place.dir, segment.saturating_add(1), screen);
        }
        self.seal_in(live.place.epoch, live.place.dir.clone(), vec![(segment, from, Some(to))]);
    }

    /// The segments of an epoch that is over and that nobody sealed yet.
    pub(super) fn seal_rest(&self, epoch: Epoch) {
        let dir = self.shared.place(self.identity.id, &self.identity.name, epoch).dir;
        let id = self.identity.id;
        let Ok(sealed) = self.shared.record.look_up(|reader| reader.segments(&id, epoch)) else { return };
        let all = recordings::segments(&dir).unwrap_or_default();
        let open: Vec<_> = all
            .into_iter()
            .filter(|segment| sealed.iter().all(|row| row.segment != *segment))
            .map(|segment| (segment, 0, None))
            .collect();
        self.seal_in(epoch, dir, open);
    }

    fn seal_in(&self, epoch: Epoch, dir: std::path::PathBuf, segments: Vec<(u32, u64, Option<u64>)>) {
        if segments.is_empty() {
            return;
        }
        let done = self.workers.0.clone();
        let work = self.shared.tasks.spawn_blocking(move || {
            segments
                .into_iter()
                .filter_map(|(segment, _, _)| sealed(&dir, epoch, segment))
                .collect::<Vec<_>>()
        });
        self.shared.tasks.spawn(async move {
            for fact in work.await.unwrap_or_default() {
                drop(done.send(Done::Sealed(epoch, Box::new(fact))).await);
            }
        });
    }

    pub(super) async fn segment_sealed(&mut self, epoch: Epoch, fact: Fact, origin: &Origin) {
        let Fact::RecordingSealed { segment, .. } = &fact else { return };
        let (id, number) = (self.identity.id, *segment);
        let known = self.shared.record.look_up(|reader| reader.segments(&id, epoch));
        if known.is_ok_and(|rows| rows.iter().any(|row| row.segment == number)) {
            return;
        }
        self.note_fact(fact, origin).await;
        self.look_for_excess();
    }

    async fn gap(&mut self, from: u64, to: u64, errno: i32) {
        let Some(live) = &self.live else { return };
        if to <= from {
            tracing::warn!(agent = %self.identity.name, errno, "its recording cannot be written");
            return;
        }
        let reason = std::io::Error::from_raw_os_error(errno).to_string();
        let fact = Fact::RecordingGap { epoch: live.place.epoch, from_offset: from, to_offset: to, reason };
        self.note_fact(fact, &Origin::node("recorder")).await;
    }

    /// Records something that happened and that nothing waits for. Without space it waits itself.
    pub(super) async fn note_fact(&mut self, fact: Fact, origin: &Origin) {
        let mut draft = Draft::default();
        self.shared.record.add(&mut draft, self.stream(), origin, fact);
        self.pending(draft).await;
    }

    /// Cuts a native program's output into lines.
    async fn native_output(&mut self, stream: OutputStream, bytes: &[u8]) {
        let Some(live) = &mut self.live else { return };
        let Some(lines) = &mut live.lines else { return };
        let mut found = Vec::new();
        match stream {
            OutputStream::Out => lines.feed(bytes, &mut found),
            // Standard error is a log; it only moves the offset.
            OutputStream::Err => lines.pass(bytes.len()),
        }
        let is_acp = self.is_acp();
        for line in found {
            match line {
                Found::Line { bytes, end } if is_acp => self.acp_line(&bytes, end).await,
                Found::Line { bytes, end } => self.native_line(&bytes, end).await,
                Found::TooLong { .. } if is_acp => self.acp_offence("a line longer than the limit").await,
                Found::TooLong { end } => self.native_line_too_long(end).await,
            }
        }
        // What came together becomes durable together.
        self.acp_flush().await;
    }
}

fn bad_frame(error: edgeplane_wire::bytes::DecodeError) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidData, error)
}

fn keep(frame: &FromShim<'_>) -> Kept {
    match frame {
        FromShim::Hello { version, status } => Kept::Greeted(*version, *status),
        FromShim::Command { id, text, .. } => Kept::Command(*id, String::from_utf8_lossy(text).into_owned()),
        FromShim::CommandInput { id, input, outcome } => Kept::CommandInput(*id, *input, *outcome),
        FromShim::Status(status) => Kept::Status(*status),
        FromShim::Started(status) => Kept::Started(*status),
        FromShim::LaunchFailed { text, .. } => Kept::LaunchFailed(String::from_utf8_lossy(text).into_owned()),
        FromShim::Exited(exit) => Kept::Exited(*exit),
        FromShim::Input { id, outcome } => Kept::Input(*id, *outcome),
        FromShim::Subscribed { head } | FromShim::Lagged { to: head, .. } => Kept::Head(*head),
        FromShim::Sealed { segment, from, to } => Kept::Sealed { segment: *segment, from: *from, to: *to },
        FromShim::Gap { from, to, errno } => Kept::Gap { from: *from, to: *to, errno: *errno },
        FromShim::Refused { text } => Kept::Refused(String::from_utf8_lossy(text).into_owned()),
        FromShim::Output { .. } | FromShim::Synced { .. } => Kept::Nothing,
    }
}

/// Makes a segment durable and computes its digest.
fn sealed(dir: &std::path::Path, epoch: Epoch, segment: u32) -> Option<Fact> {
    let path = recordings::segment_path(dir, segment);
    let file = std::fs::File::open(&path).and_then(|file| file.sync_data().map(|()| file));
    let opened = recordings::Segment::open(dir, segment);
    let (Ok(_), Ok(opened)) = (file, opened) else {
        tracing::warn!(path = %path.display(), "cannot seal a segment");
        return None;
    };
    let from_offset = opened.header().ok().flatten()?.edgeplane.offset;
    let mut to_offset = from_offset;
    drop(opened.visit(|timed| {
        to_offset = timed.end();
        std::ops::ControlFlow::Continue(())
    }));
    let bytes = opened.bytes();
    Some(Fact::RecordingSealed {
        epoch,
        segment,
        from_offset,
        to_offset,
        file_bytes: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        digest: edgeplane_proof::digest(bytes).to_string(),
    })
}
