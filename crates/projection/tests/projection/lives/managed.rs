//! What becomes of messages, epochs and agents besides their work.

use edgeplane_proof::digest;
use edgeplane_types::{
    Authority, Channel, Continuity, Desired, Fact, Generation, MessageId, PolicyAction, PolicyLayer,
    StreamName, TurnId,
    fact::{
        Actor, Cause, ClosingReason, MemoryPut, RequestRefused, ThreadCompacted, ThreadRolledBack, ToldBy,
        TreeEvidence,
    },
    identity::ProcessIdentity,
    life::ExitStatus,
    schedule::{MissReason, RunCause, SkipReason},
};

use super::{World, label};

impl World {
    /// What becomes of messages that are not put to anybody.
    pub(super) fn fate(&mut self, which: usize) {
        if let Some(message_id) = self.lives[which].given_up.pop() {
            if self.chance.one_in(2) {
                let reason = "not wanted".to_owned();
                return self.add(which, Fact::MessageDropped { message_id, reason });
            }
            self.lives[which].waiting.push(message_id);
            return self.add(which, Fact::MessageRequeued { message_id });
        }
        let Some(message_id) = self.lives[which].waiting.pop() else { return self.accept(which) };
        let (reason, epoch) = ("no room".to_owned(), self.lives[which].epoch);
        let member = self.lives[which].agent;
        let fact = match self.chance.below(6) {
            0 => Fact::MessageRejected { message_id, reason },
            1 => Fact::MessageExpired { message_id },
            2 => Fact::MessageAmbiguous { message_id, epoch, reason },
            3 => return self.add(which, Fact::MessageAssigned { message_id, member }),
            4 => return self.add(which, Fact::MessageReturned { message_id, set: member, reason }),
            _ => Fact::MessageDeadLettered { message_id, reason },
        };
        self.lives[which].given_up.push(message_id);
        self.add(which, fact);
    }

    pub(super) fn start(&mut self, which: usize) {
        let life = &mut self.lives[which];
        life.epoch = life.epoch.next();
        let epoch = life.epoch;
        let cause = self.chance.pick(&[Cause::Request, Cause::RestartPolicy, Cause::Message]);
        self.add(which, Fact::AgentStarting { epoch, cause });
        if self.chance.one_in(8) {
            self.add(which, Fact::AgentStartFailed { epoch, reason: "no such program".to_owned() });
            return self.add(which, Fact::AgentBackedOff { delay_ms: 1_000, restarts: 1 });
        }
        self.lives[which].runs = true;
        let process = ProcessIdentity { pid: 7, start_time: 99, boot_id: "boot".to_owned() };
        let continuity = self.chance.pick(&[Continuity::Full, Continuity::Partial, Continuity::None]);
        let shim = process.clone();
        self.add(which, Fact::AgentStarted { epoch, process, shim, cgroup: None, continuity });
        if self.chance.one_in(6) {
            return self.add(which, Fact::SessionFailed { epoch, reason: "no answer".to_owned() });
        }
        let (details_digest, details_bytes) = self.body();
        let fact = Fact::SessionOpened {
            epoch,
            native_id: "native-1".to_owned(),
            continuity,
            program: Some("an agent 1.0".to_owned()),
            lost: self.chance.one_in(3).then(|| "its store is gone".to_owned()),
            resumable: true,
            closable: false,
            details_digest,
            details_bytes,
        };
        self.add(which, fact);
    }

    pub(super) fn exit(&mut self, which: usize) {
        let epoch = self.lives[which].epoch;
        if self.chance.one_in(2) {
            let told_by = ToldBy::Signal;
            let reason = ClosingReason::Stop;
            self.add(which, Fact::SessionClosing { epoch, reason, told_by, grace_ms: 500 });
            self.add(which, Fact::AgentStopping { epoch, cause: Cause::Request, signal: 15, grace_ms: 500 });
            self.add(which, Fact::SessionClosed { epoch, answered: false });
        }
        let status = self.chance.pick(&[
            ExitStatus::Code(0),
            ExitStatus::Code(3),
            ExitStatus::Signal(9),
            ExitStatus::Unknown,
        ]);
        let tree = TreeEvidence::Cgroup;
        self.add(which, Fact::AgentExited { epoch, status, output_bytes: 10, tree, ran_ms: 5_000 });
        let life = &mut self.lives[which];
        let cut = std::mem::take(&mut life.open);
        (life.runs, life.frozen, life.text) = (false, false, None);
        life.over.clear();
        life.tools.clear();
        life.commands.clear();
        for message_id in cut {
            if self.chance.one_in(2) {
                self.lives[which].waiting.push(message_id);
                self.add(which, Fact::MessageRequeued { message_id });
            }
        }
        let reason = "ended too often".to_owned();
        match self.chance.below(5) {
            0 => self.add(which, Fact::AgentFailed { reason }),
            1 => self.add(which, Fact::AgentStopped {}),
            2 => self.add(which, Fact::AgentQuarantined { epoch, reason }),
            _ => self.add(which, Fact::AgentBackedOff { delay_ms: 500, restarts: 1 }),
        }
    }

    pub(super) fn record_output(&mut self, which: usize) {
        let (digest, file_bytes) = self.body();
        let epoch = self.lives[which].epoch;
        let fact = match self.chance.below(4) {
            0 => Fact::RecordingGap { epoch, from_offset: 5, to_offset: 9, reason: "disk full".to_owned() },
            1 => Fact::RecordingPruned { epoch, through_segment: 1, file_bytes, reason: "age".to_owned() },
            _ => {
                let (from_offset, to_offset) = (0, file_bytes);
                Fact::RecordingSealed { epoch, segment: 2, from_offset, to_offset, file_bytes, digest }
            }
        };
        self.add(which, fact);
    }

    /// What people and the node do to an agent.
    pub(super) fn manage(&mut self, which: usize) {
        let (epoch, runs) = (self.lives[which].epoch, self.lives[which].runs);
        let reason = "asked".to_owned();
        match self.chance.below(17) {
            15 => self.artifact(which),
            16 => {
                let message_id = self.lives[which].open.last().copied();
                self.context(which, message_id);
            }
            14 => self.boundary(which),
            0 if runs => {
                self.lives[which].frozen = true;
                self.add(which, Fact::AgentFrozen { epoch });
            }
            1 if runs => self.add(which, Fact::AgentUnobservable { epoch, reason }),
            2 if runs => {
                let frozen = self.lives[which].frozen;
                self.add(which, Fact::AgentAdopted { epoch, output_bytes: 5, frozen });
            }
            3 => {
                let status = self.chance.pick(&[ExitStatus::Code(0), ExitStatus::Code(2)]);
                self.add(which, Fact::AgentHookRan { hook: "preStart".to_owned(), status, took_ms: 3 });
            }
            4 => {
                let healthy = self.chance.one_in(2);
                self.add(which, Fact::AgentProbed { healthy, reason });
            }
            5 => self.attach(which),
            6 => self.schedule(which),
            7 => {
                let desired = self.chance.pick(&[Desired::Running, Desired::Hibernated, Desired::Stopped]);
                self.lives[which].desired = desired;
                self.add(which, Fact::AgentDesired { desired, generation: Generation(3), reason });
            }
            8 => {
                let (generation, manifest_digest) = (Generation(2), digest(b"new").to_string());
                self.add(which, Fact::AgentUpdated { generation, manifest_digest });
            }
            9 => {
                let (value_digest, value_bytes) = self.body();
                let key = "notes".to_owned();
                let fact = Fact::MemoryPut(MemoryPut {
                    key,
                    version: 1,
                    value_digest,
                    value_bytes,
                    expires_at: None,
                });
                self.add(which, fact);
            }
            // Of a busy one the whole record is that of its first agents.
            10 if !runs && !self.busy && self.chance.one_in(6) => {
                self.lives[which].retired = true;
                self.add(which, Fact::AgentRetired { reason });
            }
            11 | 12 => self.child(which),
            _ => {
                let (message_id, authority) = (self.id(MessageId::from_parts), Authority::Advisory);
                self.add(which, Fact::AnswerHeard { epoch, message_id, authority });
            }
        }
    }

    pub(super) fn attach(&mut self, which: usize) {
        if let Some(attachment) = self.lives[which].attached.take() {
            return self.add(which, Fact::AttachClosed { attachment, reason: "left".to_owned() });
        }
        let attachment = format!("att-{}", self.pos);
        self.lives[which].attached = Some(attachment.clone());
        let epoch = self.lives[which].epoch;
        self.add(which, Fact::AttachOpened { attachment, control: true, epoch, takeover: false });
    }

    pub(super) fn schedule(&mut self, which: usize) {
        let (name, at) = ("nightly".parse().unwrap(), self.at);
        if !self.lives[which].scheduled {
            self.lives[which].scheduled = true;
            let (spec_digest, spec_bytes) = self.body();
            let fact = Fact::ScheduleDeclared { name, spec_digest, spec_bytes, in_manifest: true };
            return self.add(which, fact);
        }
        let fact = match self.chance.below(6) {
            0 => {
                self.lives[which].scheduled = false;
                Fact::ScheduleRemoved { name, reason: "asked".to_owned() }
            }
            1 => Fact::SchedulePaused { name },
            2 => Fact::ScheduleResumed { name },
            3 => {
                let (due_at, reason) = (at, SkipReason::Overlap);
                Fact::ScheduleSkipped { name, due_at, reason, detail: String::new() }
            }
            4 => Fact::ScheduleMissed { name, from: at, to: at, count: 2, reason: MissReason::NodeDown },
            _ => {
                let message_id = self.id(MessageId::from_parts);
                Fact::ScheduleRan { name, due_at: at, message_id, cause: RunCause::Due }
            }
        };
        self.add(which, fact);
    }

    /// What stands in the node's own stream.
    pub(super) fn of_node(&mut self) {
        let agent_id = self.lives.first().map(|life| life.agent);
        let fact = match self.chance.below(4) {
            0 => Fact::PolicyLoaded { digest: digest(b"rules").to_string(), rules: 4, files: Vec::new() },
            1 => Fact::PolicyRejected { file: "a.cedar".to_owned(), problem: "no".to_owned() },
            2 => Fact::NodeStopped { reason: "asked".to_owned() },
            _ => Fact::RequestRefused(RequestRefused {
                action: PolicyAction::Send,
                agent_id,
                principal: label("planner"),
                channel: Some(Channel::Peer),
                capability: None,
                causation: None,
                layer: PolicyLayer::Node,
                rule: label(self.chance.pick(&["no-web", "quiet-hours"])),
                reason: "not allowed".to_owned(),
                count: 3,
            }),
        };
        self.node_seq += 1;
        let (stream, seq) = (StreamName::Node(self.node), self.node_seq);
        self.push(stream, seq, Actor::Node { rule: label("policy") }, fact);
    }

    /// Somebody writes a summary of what a thread was told.
    fn boundary(&mut self, which: usize) {
        let (epoch, threads) = (self.lives[which].epoch, self.lives[which].threads.clone());
        let Some(last) = self.lives[which].ended else { return };
        if self.chance.one_in(3) {
            let removed = vec![TurnId::from_bytes(*last.as_bytes())];
            self.lives[which].ended = None;
            let thread_id = self.chance.pick(&threads);
            let reason = "it went the wrong way".to_owned();
            let cut = ThreadRolledBack { thread_id, epoch, to_turn: None, removed, surviving: 0, reason };
            return self.add(which, Fact::ThreadRolledBack(cut));
        }
        let (summary_digest, summary_bytes) = self.body();
        let fact = Fact::ThreadCompacted(ThreadCompacted {
            thread_id: self.chance.pick(&threads),
            epoch,
            through: TurnId::from_bytes(*last.as_bytes()),
            turns: 1 + self.chance.next() % 9,
            summary_digest,
            summary_bytes,
            authority: Authority::Trusted,
            tokens_before: self.chance.one_in(2).then_some(90_000),
            open_actions: self.lives[which].actions.iter().map(|(id, _)| *id).collect(),
            reason: "long".to_owned(),
        });
        self.add(which, fact);
    }
}
