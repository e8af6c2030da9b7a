//! The screen of an agent and those who attach to it.

use std::{path::Path, time::Duration};

use edgeplane_driver::{
    notice::{NoticeStyle, notice_lines},
    render::Rendered,
    screen::Fixture,
    terminal,
};
use edgeplane_manifest::{Driver, Notice};
use edgeplane_types::{ErrorName, Fact};
use edgeplane_wire::{
    api::terminal::{AttachParams, AttachResult, SnapshotResult},
    rpc::RpcError,
    shim::{InputKind, ToShim},
};
use tokio::time::Instant;

use super::{Actor, native, viewers};
use crate::{
    keyframes,
    outbound::Outbound,
    record::{Draft, Origin, refused},
    recordings::{self, Chunk},
    screen::Screen,
};

/// Output that is shown on the model at once; more waits until it is looked at or the program is quiet.
const AT_ONCE_BYTES_MAX: usize = 64 << 10;

/// How long a program is quiet before a model that lags is brought up to date, so that its questions are answered.
const QUIET: Duration = Duration::from_millis(20);

/// Bytes of keys that wait for a program that does not read.
const KEYS_WAITING_MAX: usize = 1 << 20;

impl Actor {
    /// Output for the model: at once while there is little, later while there is much.
    pub(super) fn screen_output(&mut self, offset: u64, bytes: &[u8]) {
        let Some(live) = &mut self.live else { return };
        let Some((cols, rows)) = live.size else { return };
        if live.screen.is_none() && offset == 0 {
            live.screen = Some(Screen::new(cols, rows, 0));
        }
        let Some(screen) = &mut live.screen else { return };
        if screen.offset() == offset && bytes.len() <= AT_ONCE_BYTES_MAX {
            screen.show(bytes);
            self.answer_program();
        }
    }

    /// Types the contract into a program whose manifest asks for it, as comments where it has them, and behind it what
    /// was before the epoch. A quotation that a terminal might cut is not typed at all. Where an adapter reads the screen
    /// nothing is typed before it allows that: there the first message is led by it.
    pub(super) fn type_notice(&mut self) {
        let Driver::Terminal { adapter: None, comment, notice: Notice::Type, submit, .. } =
            self.manifest.spec.driver.clone()
        else {
            return;
        };
        let Some(live) = &mut self.live else { return };
        let style = if comment.is_some() { NoticeStyle::Comments } else { NoticeStyle::OneLine };
        let typing = terminal::Typing { comment, submit: submit.as_str().as_bytes().to_vec() };
        let notice = terminal::keys(&Rendered::written(notice_lines(style)), &typing);
        let past = std::mem::take(&mut live.past);
        let past = past.iter().map(|past| terminal::keys(past, &typing));
        let past = past.into_iter().find(|keys| terminal::check(keys).is_ok()).unwrap_or_default();
        let keys = [notice, past].concat();
        // Typed once in an epoch: the shim knows it again.
        let id = native::input_id(live.place.epoch, 0);
        if let Some(link) = &mut live.link {
            link.send(&ToShim::Input { id, kind: InputKind::Keys, bytes: &keys });
        }
    }

    /// Replies to what the program asked its terminal. The shim answers at once what needs no screen, and takes from
    /// this what it waits for still: an answer that comes late is typed text to a program that has given up.
    fn answer_program(&mut self) {
        let Some(live) = &mut self.live else { return };
        let Some(screen) = &mut live.screen else { return };
        let (answers, through) = (screen.take_answers(), screen.offset());
        if answers.is_empty() {
            return;
        }
        let id = edgeplane_wire::terminal::reply_id(through);
        if let Some(link) = &mut live.link {
            link.send(&ToShim::Input { id, kind: InputKind::Keys, bytes: &answers });
        }
    }

    pub(super) fn screen_timer(&self) -> Option<Instant> {
        let live = self.live.as_ref()?;
        // Output that came before anybody listened makes no model by itself, and may ask for the cursor's place.
        let shown = live.screen.as_ref().map_or(0, Screen::offset);
        let lags = live.size.is_some() && shown < live.head;
        lags.then(|| live.output_at.map(|at| at + QUIET)).flatten()
    }

    pub(super) async fn screen_due(&mut self, now: Instant) {
        if self.screen_timer().is_some_and(|at| at <= now) {
            self.show_all().await;
        }
    }

    /// Brings the model up to the last byte taken in.
    pub(super) async fn show_all(&mut self) {
        let Some(live) = &mut self.live else { return };
        let Some((cols, rows)) = live.size else { return };
        let screen = live.screen.take().unwrap_or_else(|| Screen::new(cols, rows, 0));
        let (head, dir) = (live.head, live.place.dir.clone());
        let fresh = screen.offset() == 0;
        let work = tokio::task::spawn_blocking(move || bring_up(screen, &dir, head, fresh));
        match work.await {
            Ok(mut screen) => {
                screen.resize(cols, rows);
                if let Some(live) = &mut self.live {
                    live.screen = Some(screen);
                }
                self.answer_program();
            }
            Err(_) => tracing::error!(agent = %self.identity.name, "bringing up its screen was cut off"),
        }
    }

    /// Gives viewers that fell behind the screen as it is, and forgets those that left.
    pub(super) async fn resynchronise_viewers(&mut self) {
        self.viewers.looked_at();
        self.forget_gone_viewers().await;
        if self.viewers.wants_screen() {
            self.show_all().await;
            if let Some(live) = &self.live {
                let restored = live.screen.as_ref().map(Screen::restore).unwrap_or_default();
                self.viewers.resynchronise(live.head, &restored);
            }
        }
        self.viewers.plan();
    }

    async fn forget_gone_viewers(&mut self) {
        for attachment in self.viewers.take_gone() {
            self.detach(&attachment, "its connection ended").await;
        }
    }

    pub(super) async fn attach(
        &mut self,
        params: &AttachParams,
        origin: Origin,
        outbound: Outbound,
    ) -> Result<AttachResult, RpcError> {
        let name = self.identity.name.clone();
        if self.live.as_ref().is_none_or(|live| live.process.is_none()) {
            let phase = self.life.state().phase();
            return Err(RpcError::new(
                ErrorName::InvalidState,
                format!("agent `{name}` has no terminal while {phase}"),
            )
            .hint(format!("`edgeplane logs {name}` and `edgeplane replay {name}` show what it did")));
        }
        if let (true, Some(cols), Some(rows)) = (params.control, params.cols, params.rows) {
            check_size((cols, rows))?;
        }
        self.forget_gone_viewers().await;
        if self.viewers.len() >= viewers::VIEWERS_MAX {
            return Err(RpcError::new(
                ErrorName::Backpressure,
                format!("agent `{name}` has too many viewers"),
            ));
        }
        let taken = self.viewers.controller().is_some();
        if params.control && taken && !params.takeover {
            return Err(RpcError::new(ErrorName::Locked, format!("somebody else controls agent `{name}`"))
                .hint("watch without `--control`, or take it over with `--takeover`"));
        }
        self.show_all().await;
        let attachment = format!("att-{}", self.shared.record.mint().id::<edgeplane_types::SubscriptionId>());
        let mut draft = Draft::default();
        let epoch = self.last_epoch;
        let opened = Fact::AttachOpened {
            attachment: attachment.clone(),
            control: params.control,
            epoch,
            takeover: params.control && taken,
        };
        self.shared.record.add(&mut draft, self.stream(), &origin, opened);
        self.shared.record.commit(draft).await.map_err(|error| refused(&error))?;
        if params.control {
            self.viewers.depose();
        }
        self.viewers.add(attachment.clone(), params.control, outbound);
        if let (true, Some(cols), Some(rows)) = (params.control, params.cols, params.rows) {
            self.resize(&attachment, (cols, rows))?;
        }
        let Some(live) = &self.live else {
            return Err(RpcError::new(ErrorName::InvalidState, format!("agent `{name}` ended this moment")));
        };
        let (cols, rows) = live.size.unwrap_or((0, 0));
        Ok(AttachResult {
            attachment,
            epoch,
            screen: viewers::base64(&live.screen.as_ref().map(Screen::restore).unwrap_or_default()),
            offset: live.head,
            cols,
            rows,
            control: params.control,
            pipes: live.size.is_none(),
        })
    }

    pub(super) async fn detach(&mut self, attachment: &str, reason: &str) {
        if self.viewers.remove(attachment) {
            let fact = Fact::AttachClosed { attachment: attachment.to_owned(), reason: reason.to_owned() };
            self.note_fact(fact, &Origin::node("attach")).await;
        }
    }

    fn check_control(&self, attachment: &str) -> Result<(), RpcError> {
        match self.viewers.find(attachment) {
            None => Err(RpcError::new(ErrorName::NotFound, "no such attachment")),
            Some(viewer) if !viewer.control => {
                Err(RpcError::new(ErrorName::PermissionDenied, "this attachment only observes")
                    .hint("attach with `--control`"))
            }
            Some(_) => Ok(()),
        }
    }

    pub(super) fn write_keys(&mut self, attachment: &str, bytes: &[u8]) -> Result<(), RpcError> {
        self.check_control(attachment)?;
        let mut id = [0; 16];
        self.shared.record.mint().entropy.fill(&mut id);
        let Some(link) = self.live.as_mut().and_then(|live| live.link.as_mut()) else {
            return Err(RpcError::new(ErrorName::Unavailable, "the shim of the agent cannot be reached now"));
        };
        if link.waiting() > KEYS_WAITING_MAX {
            return Err(RpcError::new(ErrorName::Backpressure, "the agent does not read what is typed"));
        }
        link.send(&ToShim::Input { id, kind: InputKind::Keys, bytes });
        Ok(())
    }

    pub(super) fn resize(&mut self, attachment: &str, size: (u16, u16)) -> Result<(), RpcError> {
        self.check_control(attachment)?;
        check_size(size)?;
        let (cols, rows) = size;
        let Some(live) = self.live.as_mut().filter(|live| live.size.is_some()) else { return Ok(()) };
        if live.size == Some(size) {
            return Ok(());
        }
        live.size = Some(size);
        if let Some(screen) = &mut live.screen {
            screen.resize(cols, rows);
        }
        if let Some(link) = &mut live.link {
            link.send(&ToShim::Resize { cols, rows });
        }
        Ok(())
    }

    pub(super) async fn snapshot(&mut self) -> Result<SnapshotResult, RpcError> {
        let name = self.identity.name.clone();
        self.show_all().await;
        let Some(live) = &self.live else {
            let phase = self.life.state().phase();
            return Err(RpcError::new(
                ErrorName::InvalidState,
                format!("agent `{name}` has no screen while {phase}"),
            )
            .hint(format!("`edgeplane logs {name}` shows what it wrote")));
        };
        let Some(screen) = &live.screen else {
            return Err(RpcError::new(
                ErrorName::InvalidState,
                format!("agent `{name}` has pipes and no screen"),
            )
            .hint(format!("`edgeplane logs {name}` shows what it wrote")));
        };
        let (cols, rows) = screen.size();
        Ok(SnapshotResult {
            epoch: live.place.epoch,
            text: screen.text(),
            cols,
            rows,
            cursor: screen.cursor(),
            offset: screen.offset(),
            head: live.head,
            title: screen.title().to_owned(),
            recorded: Fixture { program: String::new(), view: screen.view() }.text(),
        })
    }
}

fn check_size((cols, rows): (u16, u16)) -> Result<(), RpcError> {
    if (2..=1000).contains(&cols) && (2..=1000).contains(&rows) {
        return Ok(());
    }
    Err(RpcError::new(ErrorName::InvalidParams, "a terminal has 2 to 1,000 columns and rows"))
}

/// Shows the recording on a model up to `head`. A fresh model begins at the newest keyframe.
fn bring_up(screen: Screen, dir: &Path, head: u64, fresh: bool) -> Screen {
    let mut screen = if fresh { keyframes::newest(dir, head).unwrap_or(screen) } else { screen };
    if let Err(error) = show_recording(&mut screen, dir, head) {
        tracing::warn!(error = %crate::record::chain(&error), "cannot read a recording for its screen");
    }
    let missing = head.saturating_sub(screen.offset());
    screen.skip(missing);
    screen
}

fn show_past(screen: &mut Screen, piece: &mut Vec<u8>, head: u64) {
    screen.show(piece);
    piece.clear();
    // Questions of the past have been answered, or nobody waits for them.
    if screen.offset() < head {
        drop(screen.take_answers());
    }
}

fn show_recording(screen: &mut Screen, dir: &Path, head: u64) -> Result<(), recordings::RecordingError> {
    for number in recordings::segments_from(dir, screen.offset())? {
        let segment = recordings::Segment::open(dir, number)?;
        let starts_here = segment.header()?.is_some_and(|header| header.edgeplane.offset == screen.offset());
        if starts_here && number > 1 {
            keyframes::save(dir, number, screen);
        }
        // Shown in one piece, because of a long piece the model passes over what has scrolled away.
        let mut piece = Vec::with_capacity(1 << 20);
        let end = recordings::segment_output(&segment, screen.offset()..head, |_, chunk| match chunk {
            Chunk::Output(_, bytes) => piece.extend_from_slice(bytes),
            Chunk::Missing(bytes) => {
                show_past(screen, &mut piece, head);
                screen.skip(bytes);
            }
            Chunk::Size(cols, rows) => {
                show_past(screen, &mut piece, head);
                screen.resize(cols, rows);
            }
        })?;
        show_past(screen, &mut piece, head);
        if end {
            break;
        }
    }
    Ok(())
}
