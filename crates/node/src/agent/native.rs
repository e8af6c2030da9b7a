//! A native program's words: facts that become durable with the offset they were read at, and requests.
//!
//! A line is handled once. What it makes durable carries the offset after it, so a daemon that died in between
//! goes on behind it; what it asks of others carries a key made of that offset, so asking again changes nothing.

use std::time::Duration;

use edgeplane_driver::{
    native::{self, Said, SessionStart},
    notice::NOTICE,
    render::Rendered,
};
use edgeplane_store::AppendError;
use edgeplane_substrate::Place;
use edgeplane_types::{
    Activity, ActivityReport, Epoch, Evidence, Fact, SafeLabel,
    fact::{Actor as FactActor, Consumed},
};
use edgeplane_wire::{
    api::core::PROTOCOL_VERSIONS,
    rpc::{self, Id},
    shim::{InputKind, OutputStream, ToShim},
};
use tokio::{
    sync::{Notify, oneshot},
    time::Instant,
};

use super::Actor;
use crate::{
    caller::{Caller, CallingAgent, Living as _},
    record::{Draft, Origin},
    recordings::{self, Chunk},
    server,
};

/// Most bytes of one answer or item that are kept; more is cut, and the log says so.
const OUTPUT_BYTES_MAX: usize = 4 << 20;

/// How long facts that found no space wait before they are offered again.
const UNRECORDED_RETRY: Duration = Duration::from_millis(500);

/// Facts of one agent that may wait for space; beyond it, its output is left where it is.
pub(super) const UNRECORDED_MAX: usize = 1_000;

/// Where the search for a program's last line begins, in bytes before its end.
const LAST_LINE_BYTES: u64 = 16 << 10;

/// Methods that change nothing and may take for ever: nothing waits for them.
const WAITING_METHODS: [&str; 1] = ["runtime/agent.wait"];

/// The id of an input that answers what stands at an offset: the same after a crash, so the shim can tell a double.
pub(super) fn input_id(epoch: Epoch, offset: u64) -> [u8; 16] {
    let mut id = [0xe5; 16];
    let (high, low) = id.split_at_mut(8);
    high.copy_from_slice(&(epoch.0 ^ 0xed6e_0000_0000_0000).to_le_bytes());
    low.copy_from_slice(&offset.to_le_bytes());
    id
}

impl Actor {
    pub(super) fn native_origin(&self, epoch: Epoch, end: u64) -> Origin {
        Origin {
            actor: FactActor::Agent {
                agent_id: self.identity.id,
                name: SafeLabel::from(&self.identity.name),
            },
            cause: None,
            consumed: Some(Consumed { epoch, offset: end }),
            trace: None,
        }
    }

    pub(super) fn greet_native(&mut self) {
        let Some(live) = &mut self.live else { return };
        let epoch = live.place.epoch;
        let past = std::mem::take(&mut live.past);
        let past = past.first().map(Rendered::text);
        let line = native::session_start(&SessionStart {
            protocol: PROTOCOL_VERSIONS.first().copied().unwrap_or_default(),
            tenant: &self.identity.tenant,
            agent: &self.identity.name,
            agent_id: self.identity.id,
            node: &self.shared.identity.name,
            epoch,
            session_id: self.identity.session_id,
            continuity: self.continuity,
            notice: NOTICE,
            rehydration: past.as_deref(),
        });
        if let Some(link) = &mut live.link {
            // Offset zero lies before any line, so no answer has this id.
            link.send(&ToShim::Input { id: input_id(epoch, 0), kind: InputKind::Keys, bytes: &line });
        }
    }

    /// One line of a native program.
    pub(super) async fn native_line(&mut self, line: &[u8], end: u64) {
        let Some(epoch) = self.live.as_ref().map(|live| live.place.epoch) else { return };
        match native::read(line) {
            Said::Text => {}
            Said::Refused { id, reason } => {
                tracing::info!(agent = %self.identity.name, reason, "a line of its protocol cannot be used");
                if let Some(id) = id {
                    let error = rpc::RpcError::new(edgeplane_types::ErrorName::InvalidRequest, reason);
                    self.reply_native(epoch, end, &rpc::failure(Some(&id), &error));
                }
            }
            Said::Activity { state } => {
                self.activity = ActivityReport { state, evidence: Evidence::Protocol };
                // Of an agent that forgets it ends the epoch to end a turn, which takes a clearer word than this.
                if state == Activity::Idle && !self.forgets() {
                    self.turn_over().await;
                }
            }
            Said::Observe { message_id } => {
                let Some(message_id) = self.own_message(message_id) else { return };
                let fact = Fact::MessageObserved { message_id, epoch, evidence: Evidence::Protocol };
                self.shared.failpoint("observed.before");
                self.native_fact(fact, epoch, end).await;
                self.shared.failpoint("observed.after");
            }
            Said::Closed => self.program_closed(Some((epoch, end))).await,
            Said::Pong { number } => self.ponged(number).await,
            Said::TurnComplete { message_id, output } => {
                self.turn_ended(message_id);
                let message_id = message_id.and_then(|named| self.own_message(named));
                let authority = Some(self.weight_of_words(epoch));
                let origin = self.native_origin(epoch, end);
                let mut draft = Draft::default();
                let (output_digest, output_bytes) = draft.body(bounded(output).into_bytes());
                let turn_id = self.turn_id_of(message_id);
                let stream = self.stream();
                let turn = Fact::TurnCompleted {
                    turn_id,
                    epoch,
                    message_id,
                    output_digest,
                    output_bytes,
                    authority,
                    outcome: None,
                };
                self.shared.record.add(&mut draft, stream, &origin, turn);
                if let Some(message_id) = message_id {
                    let fact = Fact::MessageTurnEnded { message_id, epoch, evidence: Evidence::Protocol };
                    self.shared.record.add(&mut draft, stream, &origin, fact);
                }
                self.shared.failpoint("ended.before");
                self.pending(draft).await;
                self.shared.failpoint("ended.after");
                self.pump().await;
            }
            Said::Item { kind, text, message_id } => {
                let message_id = self.turn_of_item(epoch, message_id);
                let authority = Some(self.weight_of_words(epoch));
                let origin = self.native_origin(epoch, end);
                let mut draft = Draft::default();
                let (body_digest, body_bytes) = draft.body(bounded(text).into_bytes());
                let fact = Fact::ItemReported { epoch, kind, body_digest, body_bytes, message_id, authority };
                self.shared.record.add(&mut draft, self.stream(), &origin, fact);
                self.pending(draft).await;
            }
            Said::Request { id, method, params } => {
                self.native_request(epoch, end, id, (method, params)).await
            }
        }
    }

    async fn native_fact(&mut self, fact: Fact, epoch: Epoch, end: u64) {
        let origin = self.native_origin(epoch, end);
        let mut draft = Draft::default();
        self.shared.record.add(&mut draft, self.stream(), &origin, fact);
        self.pending(draft).await;
    }

    /// Makes facts durable. Without space they wait, in their order, and the output after them waits in the shim.
    pub(super) async fn pending(&mut self, draft: Draft) {
        if self.unrecorded.is_empty() {
            match self.shared.record.commit(draft.clone()).await {
                Ok(_) => return,
                Err(error @ (AppendError::StorageFull | AppendError::Backpressure)) => {
                    tracing::warn!(agent = %self.identity.name, %error, "what happened to it waits to be recorded");
                    self.unrecorded_at = Some(Instant::now() + UNRECORDED_RETRY);
                }
                Err(error) => {
                    let error = crate::record::chain(&error);
                    tracing::error!(agent = %self.identity.name, %error, "what happened to it cannot be recorded");
                    return;
                }
            }
        }
        self.unrecorded.push_back(draft);
    }

    /// When facts that wait for space are offered again.
    pub(super) fn unrecorded_timer(&self) -> Option<Instant> {
        (!self.unrecorded.is_empty()).then_some(self.unrecorded_at).flatten()
    }

    /// Offers the facts that wait for space again, in their order.
    pub(super) async fn unrecorded_due(&mut self, now: Instant) {
        if self.unrecorded_timer().is_none_or(|at| at > now) {
            return;
        }
        while let Some(draft) = self.unrecorded.front() {
            if self.shared.record.commit(draft.clone()).await.is_err() {
                self.unrecorded_at = Some(now + UNRECORDED_RETRY);
                return;
            }
            self.unrecorded.pop_front();
        }
    }

    pub(super) async fn native_line_too_long(&mut self, end: u64) {
        tracing::warn!(agent = %self.identity.name, end, "a line of it is longer than the limit and was passed over");
    }

    /// A request: of its own memory it is served here, where the offset is; of anything else by the dispatcher.
    async fn native_request(&mut self, epoch: Epoch, end: u64, id: Id, call: (String, serde_json::Value)) {
        let agent = CallingAgent { id: self.identity.id, name: self.identity.name.clone(), epoch };
        let caller = Caller::driver(agent, self.shared.assurance());
        let (method, params) = call;
        let origin = self.native_origin(epoch, end);
        match self.own_memory_request(&method, &params, &caller) {
            Some(Ok(request)) => {
                let result = self.memory(request, &origin).await;
                let line = match result {
                    Ok(super::MemoryAnswer::Entry(entry)) => rpc::success(&id, entry),
                    Ok(super::MemoryAnswer::Entries(entries)) => rpc::success(&id, entries),
                    Err(error) => rpc::failure(Some(&id), &error),
                };
                self.reply_native(epoch, end, &line);
            }
            Some(Err(error)) => self.reply_native(epoch, end, &rpc::failure(Some(&id), &error)),
            None => self.ask_for_native(caller, (epoch, end), id, (method, params)).await,
        }
    }

    /// Asks the dispatcher on the program's behalf, and goes on only when the question has had its effect: a daemon
    /// that dies before then finds no later line handled, and asks again.
    async fn ask_for_native(
        &mut self,
        caller: Caller,
        (epoch, end): (Epoch, u64),
        id: Id,
        (method, params): (String, serde_json::Value),
    ) {
        let shared = std::sync::Arc::clone(&self.shared);
        let own = self.identity.id;
        let (answered, answer) = oneshot::channel();
        let effect = std::sync::Arc::new(Notify::new());
        if WAITING_METHODS.contains(&method.as_str()) {
            effect.notify_one();
        }
        let applied = std::sync::Arc::clone(&effect);
        self.shared.tasks.spawn(async move {
            let key = format!("{own}.{epoch}.{end}");
            let names = (&id, key.as_str());
            let line = server::call_for_agent(&shared, &caller, (&method, params), names, effect).await;
            if shared.stopping.is_cancelled() {
                // Whoever was asked may have ended with the daemon. The next one asks again.
                return;
            }
            if let Err(line) = answered.send(line)
                && let Ok(handle) = shared.agent(&edgeplane_types::Tenant::default(), &own.to_string())
            {
                handle.tell_native(epoch, end, line).await;
            }
        });
        self.until_applied((epoch, end), answer, &applied).await;
    }

    /// Waits for an answer, or for word that what it is about is durable. Its own mailbox is served meanwhile: what
    /// is asked may be about itself, or of somebody who asks it.
    async fn until_applied(
        &mut self,
        (epoch, end): (Epoch, u64),
        mut answer: oneshot::Receiver<Vec<u8>>,
        applied: &Notify,
    ) {
        let stopping = self.shared.stopping.clone();
        loop {
            // Every arm takes one whole thing or nothing.
            let line = tokio::select! {
                biased;
                line = &mut answer => line.ok(),
                () = stopping.cancelled() => return self.cut_off().await,
                () = applied.notified() => {
                    answer.close();
                    answer.try_recv().ok()
                }
                Some(command) = self.mailbox.recv() => {
                    self.command(command).await;
                    continue;
                }
            };
            if let Some(line) = line {
                self.reply_native(epoch, end, &line);
            } else if stopping.is_cancelled() {
                return self.cut_off().await;
            }
            return;
        }
    }

    /// Ends this engine where it stands, as a crash would: the daemon ends, and the next one goes on from the record.
    async fn cut_off(&self) {
        self.is_cut_off.cancel();
        std::future::pending().await
    }

    /// Answers the last line that was handled once more, if it was a question: its answer may have died with the
    /// daemon. The shim knows it by its id and writes it once.
    pub(super) async fn answer_again(&mut self, place: &Place) {
        let Some(end) = self.live.as_ref().map(|live| live.head).filter(|end| *end > 0) else { return };
        let dir = place.dir.clone();
        let read = tokio::task::spawn_blocking(move || last_line(&dir, end));
        let Ok(Some(line)) = read.await else { return };
        let Said::Request { id, method, params } = native::read(&line) else { return };
        let agent =
            CallingAgent { id: self.identity.id, name: self.identity.name.clone(), epoch: place.epoch };
        let caller = Caller::driver(agent, self.shared.assurance());
        let Some(Ok(request)) = self.own_memory_request(&method, &params, &caller) else { return };
        if let Ok(Some(entry)) = self.written_entry(&request, place.epoch) {
            self.reply_native(place.epoch, end, &rpc::success(&id, entry));
        }
    }

    /// Writes an answer to the program, once.
    pub(super) fn reply_native(&mut self, epoch: Epoch, end: u64, line: &[u8]) {
        let Some(live) = self.live.as_mut().filter(|live| live.place.epoch == epoch) else { return };
        let Some(link) = &mut live.link else { return };
        if link.waiting() > super::link::WAITING_BYTES_MAX {
            tracing::warn!(agent = %self.identity.name, "it does not read its answers; one is dropped");
            return;
        }
        link.send(&ToShim::Input { id: input_id(epoch, end), kind: InputKind::Keys, bytes: line });
    }
}

/// The line of standard output that ends at `end`.
pub(super) fn last_line(dir: &std::path::Path, end: u64) -> Option<Vec<u8>> {
    let mut window = LAST_LINE_BYTES;
    loop {
        let from = end.saturating_sub(window);
        let mut out = Vec::new();
        let read = recordings::output_between(dir, from..end, |_, chunk| {
            if let Chunk::Output(OutputStream::Out, bytes) = chunk {
                out.extend_from_slice(bytes);
            }
        });
        read.ok()?;
        let line = out.strip_suffix(b"\n")?;
        match line.iter().rposition(|byte| *byte == b'\n') {
            Some(before) => return line.get(before.saturating_add(1)..).map(<[u8]>::to_vec),
            None if from == 0 => return Some(line.to_vec()),
            None => window = window.saturating_mul(16),
        }
    }
}

fn bounded(mut text: String) -> String {
    if text.len() > OUTPUT_BYTES_MAX {
        let cut = text.floor_char_boundary(OUTPUT_BYTES_MAX);
        text.truncate(cut);
        tracing::warn!("an output of more than {OUTPUT_BYTES_MAX} bytes was cut");
    }
    text
}
