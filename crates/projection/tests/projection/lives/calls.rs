//! Calls of capabilities: asked for, made, and ended, or never made.

use edgeplane_proof::digest;
use edgeplane_types::{
    BackingKind, CapabilityId, CapabilityKind, CheckpointId, EffectClass, Fact, HookDecision, HookPoint,
    InvocationId, InvocationState, MessageId, Permission, PolicyAction, PolicyLayer,
    fact::{
        CapabilityCalled, CapabilityRegistered, CapabilitySettled, CapabilityWithdrawn, HookCompleted,
        HookFailed, HookStarted, InvocationBegun, InvocationEnded, InvocationProgressed, InvocationRequested,
        RequestRefused,
    },
};

use super::{World, label};

impl World {
    /// A call goes on, or another one is asked for.
    pub(super) fn call(&mut self, which: usize, message: MessageId) {
        if self.chance.one_in(6) {
            return self.offer(which);
        }
        let calls = self.lives[which].calls.len();
        if calls == 0 || self.chance.one_in(3) {
            return self.ask_for_call(which, message);
        }
        let at = self.chance.below(calls);
        let (invocation_id, is_begun) = self.lives[which].calls[at];
        if !is_begun && self.chance.one_in(2) {
            self.lives[which].calls[at].1 = true;
            self.hook_around(which, invocation_id, message);
            // Some are kept before.
            let checkpoint_id = (!at.is_multiple_of(2)).then(|| self.id(CheckpointId::from_parts));
            self.add(which, Fact::InvocationBegun(InvocationBegun { invocation_id, checkpoint_id }));
            // Without a throw of its own, so that all else happens as it would without it.
            if at.is_multiple_of(2) {
                let progressed = InvocationProgressed {
                    invocation_id,
                    done: "1.5".to_owned(),
                    total: Some("3".to_owned()),
                    message: Some("half of it".to_owned()),
                };
                self.add(which, Fact::InvocationProgressed(progressed));
            }
            return;
        }
        let ends: &[InvocationState] = match is_begun {
            true => &[
                InvocationState::Succeeded,
                InvocationState::Failed,
                InvocationState::Cancelled,
                InvocationState::OutcomeUnknown,
            ],
            false => &[InvocationState::Denied, InvocationState::Cancelled, InvocationState::Failed],
        };
        let state = self.chance.pick(ends);
        let has_output = is_begun && self.chance.one_in(2);
        let (body, output_bytes) = self.body();
        let ended = InvocationEnded {
            invocation_id,
            state,
            reason: (state != InvocationState::Succeeded).then(|| "so it was".to_owned()),
            cause: None,
            hooks: Vec::new(),
            output_digest: has_output.then_some(body),
            output_bytes: if has_output { output_bytes } else { 0 },
        };
        self.lives[which].calls.remove(at);
        self.add(which, Fact::InvocationEnded(ended));
    }

    /// The agent offers something, is called, or takes it back.
    fn offer(&mut self, which: usize) {
        let epoch = self.lives[which].epoch;
        let capability_id = CapabilityId::from_parts(1, [u8::try_from(which).unwrap(); 10]);
        let (name, invocation_id) = (label("look-up"), self.id(InvocationId::from_parts));
        let fact = match self.chance.below(5) {
            0 => Fact::CapabilityWithdrawn(CapabilityWithdrawn { capability_id, name, epoch }),
            1 => Fact::CapabilityCalled(CapabilityCalled { invocation_id, capability_id, name, epoch }),
            2 => {
                let state = InvocationState::Succeeded;
                Fact::CapabilitySettled(CapabilitySettled { invocation_id, state })
            }
            _ => {
                let (capability_digest, capability_bytes) = self.body();
                Fact::CapabilityRegistered(Box::new(CapabilityRegistered {
                    capability_id,
                    name,
                    epoch,
                    kind: CapabilityKind::Operation,
                    effect: EffectClass::Read,
                    vouched: false,
                    permission: Permission::Ask,
                    timeout_ms: 1_000,
                    capability_digest,
                    capability_bytes,
                }))
            }
        };
        self.add(which, fact);
    }

    fn ask_for_call(&mut self, which: usize, message: MessageId) {
        let invocation_id = self.id(InvocationId::from_parts);
        let capability_id = self.id(CapabilityId::from_parts);
        let (shown_digest, shown_bytes) = self.body();
        let permission = self.chance.pick(&[Permission::Allow, Permission::Ask]);
        // Without a throw of its own, so that all else happens as it would without it.
        if self.lives[which].calls.len() == 2 {
            self.refused_call(which, message);
        }
        let requested = InvocationRequested {
            invocation_id,
            capability_id,
            backing: BackingKind::Connector,
            owner: "tools".parse().unwrap(),
            offered_by: None,
            kind: CapabilityKind::Tool,
            native_id: "append \"x\"".to_owned(),
            capability_digest: digest(b"capability").to_string(),
            input_digest: shown_digest.clone(),
            shown_digest,
            shown_bytes,
            effect: EffectClass::Write,
            permission,
            rule: label("connector-allow"),
            hooks: Vec::new(),
            timeout_ms: 1_000,
            epoch: Some(self.lives[which].epoch),
            causation: self.chance.one_in(5).then_some(message).map_or(Some(message), |_| None),
        };
        self.lives[which].calls.push((invocation_id, false));
        self.add(which, Fact::InvocationRequested(Box::new(requested)));
    }

    /// A hook is asked before a call, and answers or does not.
    fn hook_around(&mut self, which: usize, invocation_id: InvocationId, message: MessageId) {
        let (hook, point, causation) = (label("lint"), HookPoint::PreToolUse, Some(message));
        let (given_digest, given_bytes) = self.body();
        self.add(
            which,
            Fact::HookStarted(HookStarted {
                invocation_id,
                hook: hook.clone(),
                point,
                causation,
                given_digest: given_digest.clone(),
                given_bytes,
            }),
        );
        let fact = match self.chance.one_in(3) {
            true => Fact::HookFailed(HookFailed {
                invocation_id,
                hook,
                point,
                causation,
                reason: "it did not answer".to_owned(),
                passed_over: true,
                took_ms: 5,
            }),
            false => Fact::HookCompleted(HookCompleted {
                invocation_id,
                hook,
                point,
                causation,
                decision: HookDecision::Continue,
                reason: None,
                input_digest: given_digest.clone(),
                updated_digest: None,
                said_digest: given_digest,
                said_bytes: given_bytes,
                took_ms: 5,
            }),
        };
        self.add(which, fact);
    }

    /// Rules do not let something be called at all: the first is told at once, and the others of its second as a number.
    fn refused_call(&mut self, which: usize, message: MessageId) {
        let refused = |count| {
            Fact::RequestRefused(RequestRefused {
                action: PolicyAction::Invoke,
                agent_id: Some(self.lives[which].agent),
                principal: label("caller"),
                channel: None,
                capability: Some("tools/die".to_owned()),
                causation: Some(message),
                layer: PolicyLayer::Node,
                rule: label("connector-deny"),
                reason: "connector `tools` does not let it be called".to_owned(),
                count,
            })
        };
        for fact in [refused(1), refused(7)] {
            self.add(which, fact);
        }
    }
}
