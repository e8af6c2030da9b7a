//! What clients say, and what is done about it.

use edgeplane_os::{Signal, signals};
use edgeplane_wire::{
    command::CommandSpec,
    shim::{COMMANDS_SINCE, FromShim, InputKind, InputOutcome, LaunchStep, ToShim},
    terminal,
};

use super::{Engine, now_us};
use crate::{
    client::{Client, Standing, Token},
    clients::Hello,
    command_input::Settled,
    commands::Wanted,
    failure::Failure,
};

impl Engine {
    /// Takes apart what came with the launch, before anything is polled.
    pub(super) fn take_frames_of_all(&mut self) {
        let tokens: Vec<Token> = self.clients.iter().map(|client| client.token).collect();
        for token in tokens {
            self.take_frames(token);
        }
    }

    /// Reads once from a client and does what its whole frames say.
    pub(super) fn take_bytes(&mut self, token: Token) {
        let Some(client) = self.clients.get(token) else { return };
        client.receive(self.buffer.as_mut_slice());
        self.take_frames(token);
    }

    fn take_frames(&mut self, token: Token) {
        let Some(inbox) = self.clients.get(token).map(Client::take_inbox) else { return };
        let mut used = 0_usize;
        while let Some(rest) = inbox.get(used..).filter(|rest| !rest.is_empty()) {
            // Who was refused is no longer listened to.
            let Some(client) = self.clients.get(token) else { return };
            if matches!(client.standing, Standing::Refused { .. }) {
                used = inbox.len();
                break;
            }
            match client.next_frame(rest) {
                Ok(Some((body, len))) => {
                    used = used.saturating_add(len);
                    self.take_frame(token, body);
                }
                Ok(None) => break,
                Err(_too_long) => self.refuse(token, "the frame is longer than it may be"),
            }
        }
        if let Some(client) = self.clients.get(token) {
            client.give_back(inbox, used);
        }
    }

    fn take_frame(&mut self, token: Token, body: &[u8]) {
        let Ok(frame) = ToShim::decode(body) else {
            return self.refuse(token, "the frame is none that this shim knows");
        };
        let (is_proven, controls) =
            self.clients.get(token).map_or((false, false), |client| (client.is_proven(), client.controls()));
        match frame {
            ToShim::Hello { version_min, version_max, key, role } => {
                if is_proven {
                    return self.refuse(token, "the conversation is open already");
                }
                self.hello(token, &Hello { versions: (version_min, version_max), key, role });
            }
            _ if !is_proven => self.refuse(token, "the first frame must be a hello"),
            ToShim::Subscribe => self.subscribe(token),
            ToShim::Status => {
                let status = self.status();
                self.clients.send(token, &FromShim::Status(status));
            }
            ToShim::InputState { id } => {
                let outcome = self.inputs.state(&id);
                self.clients.send(token, &FromShim::Input { id, outcome });
            }
            _ if !controls => self.refuse(token, "an observer may only read"),
            ToShim::Launch { .. } => self.refuse(token, "the program was launched already"),
            frame => self.control(token, &frame),
        }
    }

    fn control(&mut self, token: Token, frame: &ToShim<'_>) {
        let now = now_us();
        match *frame {
            ToShim::Input { id, kind, bytes } => {
                if let Some(through) = terminal::replied_through(&id).filter(|_| kind == InputKind::Keys) {
                    self.questions.reply(through, bytes);
                    self.clients.send(token, &FromShim::Input { id, outcome: InputOutcome::Written });
                    return self.answer(now);
                }
                let at_once = self.inputs.push(token, id, kind, bytes);
                if let Some(outcome) = at_once {
                    self.clients.send(token, &FromShim::Input { id, outcome });
                }
                self.write_inputs(now);
            }
            ToShim::CloseInput => {
                self.inputs.end();
                self.write_inputs(now);
            }
            ToShim::Resize { cols, rows } => {
                if self.program.resize(cols, rows) {
                    self.recording.resize(now, cols, rows);
                }
            }
            ToShim::Signal { signal, scope } => match signals::from_number(signal) {
                Some(signal) => self.program.signal(signal, scope),
                None => self.refuse_signal(token),
            },
            ToShim::Stop { grace_ms, signal } => match signals::from_number(signal) {
                Some(signal) => self.stop(now, signal, grace_ms),
                None => self.refuse_signal(token),
            },
            ToShim::Kill => self.stop(now, Signal::KILL, 0),
            ToShim::Run { id, spec } => self.run_command(id, spec),
            ToShim::EndCommand { id } => self.commands.end(&id),
            ToShim::CommandInput { id, input, closes, bytes } => {
                self.command_input(token, id, Wanted { id: input, bytes, closes });
            }
            ToShim::Sync => {
                self.recording.sync(now);
                let offset = self.recording.synced();
                self.clients.send(token, &FromShim::Synced { offset });
            }
            // Answered before the rights were looked at.
            ToShim::Hello { .. }
            | ToShim::Subscribe
            | ToShim::Status
            | ToShim::InputState { .. }
            | ToShim::Launch { .. } => {}
        }
    }

    /// Runs a command; what it is asked once more it does not do again.
    fn run_command(&mut self, id: [u8; 16], spec: &[u8]) {
        if !self.phase.is_running() {
            return self.tell_command(id, 0, "the epoch is ending");
        }
        let result = match CommandSpec::decode(spec) {
            Ok(spec) => self.commands.run(id, &spec, &self.tree),
            Err(error) => Err(Failure::new(LaunchStep::Spec, &error)),
        };
        match result {
            Ok(false) => {}
            // Whoever asks once more has not heard of its end.
            Ok(true) => self.tell_command(id, 0, ""),
            Err(failure) => self.tell_command(id, failure.errno, &failure.text),
        }
    }

    fn command_input(&mut self, token: Token, id: [u8; 16], wanted: Wanted<'_>) {
        match self.commands.write(&id, token, wanted) {
            Some(outcome) => {
                let frame = FromShim::CommandInput { id, input: wanted.id, outcome };
                self.clients.send(token, &frame);
            }
            None => self.write_command(&id),
        }
    }

    /// Writes what a command takes now.
    pub(super) fn write_command(&mut self, id: &[u8; 16]) {
        let clients = &mut self.clients;
        self.commands.pump(id, &mut |Settled { id: input, asked_by, outcome }| {
            clients.send(asked_by, &FromShim::CommandInput { id: *id, input, outcome });
        });
    }

    /// Tells who asks for commands what became of one.
    pub(super) fn tell_command(&mut self, id: [u8; 16], errno: i32, text: &str) {
        let frame = FromShim::Command { id, errno, text: text.as_bytes() };
        self.clients.tell_controllers_since(COMMANDS_SINCE, &frame);
    }

    fn hello(&mut self, token: Token, hello: &Hello) {
        if let Some(version) = self.clients.judge(token, hello, now_us()) {
            let status = self.status();
            self.clients.send(token, &FromShim::Hello { version, status });
        }
    }

    fn subscribe(&mut self, token: Token) {
        let head = self.recording.head();
        if let Some(client) = self.clients.get(token) {
            // What a client that subscribes again had missed, it learns from the offset.
            client.subscribe(head);
        }
    }

    fn refuse_signal(&mut self, token: Token) {
        self.refuse(token, "the signal is none that this shim knows");
    }

    fn refuse(&mut self, token: Token, reason: &str) {
        self.clients.refuse(token, reason, now_us());
    }
}
