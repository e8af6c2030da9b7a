"""Every method of the catalogue, by profile and object: `client.runtime.agent.signal(...)`."""

# Made by `cargo xtask generate` from crates/wire/src/catalogue. A change of this file is lost.
from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, Tuple, Union, cast

from . import types as t
from .caller import Caller, Group


class Core(Group):
    """`core/*`"""

    def __init__(self, caller: Caller) -> None:
        super().__init__(caller)

    def initialize(
        self,
        *,
        versions: Optional[List[str]] = None,
        client: Optional[str] = None,
        token: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.InitializeResult:
        """Greets the node: versions, and as whom it knows the caller.

        `core/initialize`: reads; a token needs: nothing;
        a repetition without a key changes nothing. Errors of its own:
        unsupported.

        :param versions: Protocol versions that the caller speaks, as dates.
        :param client: The caller's program and version, for logs.
        :param token: A token by which the caller is to be known on this connection from here on. It never makes an agent another.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"versions": versions, "client": client, "token": token}
        result = self._call("core/initialize", required, optional, ctx, "safe")
        return cast(t.InitializeResult, result)

    def describe(
        self,
        *,
        profile: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.DescribeResult:
        """Lists the methods with their schemas.

        `core/describe`: reads; a token needs: nothing;
        a repetition without a key changes nothing. Errors of its own:
        none.

        :param profile: Only this profile.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"profile": profile}
        result = self._call("core/describe", required, optional, ctx, "safe")
        return cast(t.DescribeResult, result)

    def health(
        self,
        *,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.HealthResult:
        """Tells whether the node serves.

        `core/health`: reads; a token needs: nothing;
        a repetition without a key changes nothing. Errors of its own:
        none.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {}
        result = self._call("core/health", required, optional, ctx, "safe")
        return cast(t.HealthResult, result)

    def cancel(
        self,
        *,
        request_id: str,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.CancelResult:
        """Takes back a request of the caller that is still being worked on; it answers `cancelled`.

        `core/cancel`: writes; a token needs: nothing;
        a repetition without a key leaves what the first made true. Errors of its own:
        none.

        :param request_id: The `request_id` of its context.
        :param reason: Why, for the one who waits for it.
        """
        required: Dict[str, Any] = {"request_id": request_id}
        optional: Dict[str, Any] = {"reason": reason}
        result = self._call("core/cancel", required, optional, ctx, "same")
        return cast(t.CancelResult, result)


class RuntimeNode(Group):
    """`runtime/node.*`"""

    def status(
        self,
        *,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.NodeStatus:
        """Tells how the daemon is.

        `runtime/node.status`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        none.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/node.status", required, optional, ctx, "safe")
        return cast(t.NodeStatus, result)

    def stop(
        self,
        *,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.Empty:
        """Ends the daemon in good order; agents run on.

        `runtime/node.stop`: writes; a token needs: no token is enough; an operator whom the kernel vouches for;
        a repetition without a key leaves what the first made true. Errors of its own:
        none.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/node.stop", required, optional, ctx, "same")
        return cast(t.Empty, result)


class RuntimeAgent(Group):
    """`runtime/agent.*`"""

    def apply(
        self,
        *,
        documents: List[t.Document],
        dry_run: Optional[bool] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ApplyResult:
        """Declares agents or changes what is declared, all or nothing.

        `runtime/agent.apply`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        invalid_manifest, quota_exhausted, storage_full.

        :param documents: The files.
        :param dry_run: Only say what would change.
        """
        required: Dict[str, Any] = {"documents": documents}
        optional: Dict[str, Any] = {"dry_run": dry_run}
        result = self._call("runtime/agent.apply", required, optional, ctx, "same")
        return cast(t.ApplyResult, result)

    def list(
        self,
        *,
        labels: Optional[Dict[str, str]] = None,
        phase: Optional[t.Phase] = None,
        retired: Optional[bool] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.AgentListResult:
        """Lists agents by name.

        `runtime/agent.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        none.

        :param labels: Only those with all of these labels.
        :param phase: Only those in this phase; `retired` needs no more to be said.
        :param retired: Also those that are retired, from the record: at most 1,000, those that were declared last.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"labels": labels, "phase": phase, "retired": retired}
        result = self._call("runtime/agent.list", required, optional, ctx, "safe")
        return cast(t.AgentListResult, result)

    def get(
        self,
        *,
        agent: str,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.AgentView:
        """Shows an agent.

        `runtime/agent.get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param agent: Name or id.
        """
        required: Dict[str, Any] = {"agent": agent}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/agent.get", required, optional, ctx, "safe")
        return cast(t.AgentView, result)

    def install(
        self,
        *,
        agent: str,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.InstallResult:
        """Runs an agent's preparation steps; progress comes as `core/progress` notifications.

        `runtime/agent.install`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_state.

        :param agent: Name or id.
        """
        required: Dict[str, Any] = {"agent": agent}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/agent.install", required, optional, ctx, "again")
        return cast(t.InstallResult, result)

    def start(
        self,
        *,
        agent: str,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ChangeResult:
        """Makes an agent run.

        `runtime/agent.start`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        policy_blocked, not_found, invalid_state, storage_full.

        :param agent: Name or id.
        :param reason: Why, for the record.
        """
        required: Dict[str, Any] = {"agent": agent}
        optional: Dict[str, Any] = {"reason": reason}
        result = self._call("runtime/agent.start", required, optional, ctx, "same")
        return cast(t.ChangeResult, result)

    def stop(
        self,
        *,
        agent: str,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ChangeResult:
        """Makes an agent end and stay ended.

        `runtime/agent.stop`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        policy_blocked, not_found, invalid_state.

        :param agent: Name or id.
        :param reason: Why, for the record.
        """
        required: Dict[str, Any] = {"agent": agent}
        optional: Dict[str, Any] = {"reason": reason}
        result = self._call("runtime/agent.stop", required, optional, ctx, "same")
        return cast(t.ChangeResult, result)

    def restart(
        self,
        *,
        agent: str,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ChangeResult:
        """Makes an agent end and begin anew.

        `runtime/agent.restart`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        policy_blocked, not_found, invalid_state, storage_full.

        :param agent: Name or id.
        :param reason: Why, for the record.
        """
        required: Dict[str, Any] = {"agent": agent}
        optional: Dict[str, Any] = {"reason": reason}
        result = self._call("runtime/agent.restart", required, optional, ctx, "again")
        return cast(t.ChangeResult, result)

    def freeze(
        self,
        *,
        agent: str,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ChangeResult:
        """Suspends every process of an agent.

        `runtime/agent.freeze`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        policy_blocked, not_found, invalid_state, unsupported.

        :param agent: Name or id.
        :param reason: Why, for the record.
        """
        required: Dict[str, Any] = {"agent": agent}
        optional: Dict[str, Any] = {"reason": reason}
        result = self._call("runtime/agent.freeze", required, optional, ctx, "same")
        return cast(t.ChangeResult, result)

    def unfreeze(
        self,
        *,
        agent: str,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ChangeResult:
        """Lets a frozen agent go on.

        `runtime/agent.unfreeze`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        policy_blocked, not_found, invalid_state.

        :param agent: Name or id.
        :param reason: Why, for the record.
        """
        required: Dict[str, Any] = {"agent": agent}
        optional: Dict[str, Any] = {"reason": reason}
        result = self._call("runtime/agent.unfreeze", required, optional, ctx, "same")
        return cast(t.ChangeResult, result)

    def hibernate(
        self,
        *,
        agent: str,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ChangeResult:
        """Ends an idle agent until a message comes for it; its context is what its program can go on with.

        `runtime/agent.hibernate`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        policy_blocked, not_found, invalid_state.

        :param agent: Name or id.
        :param reason: Why, for the record.
        """
        required: Dict[str, Any] = {"agent": agent}
        optional: Dict[str, Any] = {"reason": reason}
        result = self._call("runtime/agent.hibernate", required, optional, ctx, "same")
        return cast(t.ChangeResult, result)

    def retire(
        self,
        *,
        agent: str,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ChangeResult:
        """Ends an agent and frees its name; its history stays.

        `runtime/agent.retire`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_state, storage_full.

        :param agent: Name or id.
        :param reason: Why, for the record.
        """
        required: Dict[str, Any] = {"agent": agent}
        optional: Dict[str, Any] = {"reason": reason}
        result = self._call("runtime/agent.retire", required, optional, ctx, "same")
        return cast(t.ChangeResult, result)

    def release(
        self,
        *,
        agent: str,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ChangeResult:
        """Vouches that nothing is left of a quarantined agent.

        `runtime/agent.release`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_state.

        :param agent: Name or id.
        :param reason: Why, for the record.
        """
        required: Dict[str, Any] = {"agent": agent}
        optional: Dict[str, Any] = {"reason": reason}
        result = self._call("runtime/agent.release", required, optional, ctx, "same")
        return cast(t.ChangeResult, result)

    def wait(
        self,
        *,
        agent: str,
        phases: List[t.Phase],
        timeout_ms: int,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ChangeResult:
        """Waits until an agent is in one of some phases.

        `runtime/agent.wait`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, deadline_exceeded.

        :param agent: Name or id.
        :param phases: Any of these will do.
        :param timeout_ms: Longest wait in milliseconds.
        """
        required: Dict[str, Any] = {"agent": agent, "phases": phases, "timeout_ms": timeout_ms}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/agent.wait", required, optional, ctx, "safe")
        return cast(t.ChangeResult, result)

    def signal(
        self,
        *,
        agent: str,
        parts: List[t.Part],
        mode: Optional[t.DeliveryMode] = None,
        priority: Optional[t.Priority] = None,
        expires_in_ms: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        reply_to: Optional[t.MessageId] = None,
        causation: Optional[t.MessageId] = None,
        on_behalf_of: Optional[List[t.BehalfParam]] = None,
        authority: Optional[t.Authority] = None,
        display_name: Optional[str] = None,
        wait: Optional[t.Rung] = None,
        timeout_ms: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.SignalResult:
        """Sends a message to an agent.

        `runtime/agent.signal`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        not_found, too_large, backpressure, rate_limited, idempotency_mismatch, policy_blocked, storage_full.

        :param agent: Name or id.
        :param parts: What to say: at most 4 MiB of JSON, data at most 64 lists and objects deep.
        :param mode: How it meets a running turn.
        :param priority: Which waiting message goes first.
        :param expires_in_ms: Milliseconds after which it is no longer worth delivering.
        :param idempotency_key: Key against sending it twice.
        :param reply_to: The message it answers.
        :param causation: The message that made the sender send this one, if it is not the one that it answers.
        :param on_behalf_of: For whom the sender speaks, nearest first; at most eight. It is shown, and never raises what is said.
        :param authority: Less authority than the sender has; more is refused.
        :param display_name: A name that the sender gives itself, of at most 256 bytes; shown to people, never proof.
        :param wait: Answer only when it has come this far.
        :param timeout_ms: Longest wait in milliseconds.
        """
        required: Dict[str, Any] = {"agent": agent, "parts": parts}
        optional: Dict[str, Any] = {"mode": mode, "priority": priority, "expires_in_ms": expires_in_ms, "idempotency_key": idempotency_key, "reply_to": reply_to, "causation": causation, "on_behalf_of": on_behalf_of, "authority": authority, "display_name": display_name, "wait": wait, "timeout_ms": timeout_ms}
        result = self._call("runtime/agent.signal", required, optional, ctx, "again")
        return cast(t.SignalResult, result)

    def broadcast(
        self,
        *,
        parts: List[t.Part],
        selector: Optional[Dict[str, t.SafeLabel]] = None,
        priority: Optional[t.Priority] = None,
        expires_in_ms: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        causation: Optional[t.MessageId] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.SpreadResult:
        """Sends a message to every agent whose labels are as asked for.

        `runtime/agent.broadcast`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        too_large.

        :param parts: What to say.
        :param selector: Labels and their values; all must be met. None means every agent.
        :param priority: Which waiting message goes first.
        :param expires_in_ms: Milliseconds after which it is no longer worth delivering.
        :param idempotency_key: Key against sending it twice.
        :param causation: The message that made the sender send it.
        """
        required: Dict[str, Any] = {"parts": parts}
        optional: Dict[str, Any] = {"selector": selector, "priority": priority, "expires_in_ms": expires_in_ms, "idempotency_key": idempotency_key, "causation": causation}
        result = self._call("runtime/agent.broadcast", required, optional, ctx, "again")
        return cast(t.SpreadResult, result)

    def ask(
        self,
        *,
        agent: str,
        parts: List[t.Part],
        priority: Optional[t.Priority] = None,
        idempotency_key: Optional[str] = None,
        causation: Optional[t.MessageId] = None,
        timeout_ms: Optional[int] = None,
        stream: Optional[bool] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.AskResult:
        """Asks an agent and waits for its answer; parts of it come as `ask/part` notifications.

        `runtime/agent.ask`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        not_found, too_large, backpressure, idempotency_mismatch, policy_blocked, unsupported, storage_full.

        :param agent: Name or id.
        :param parts: The question.
        :param priority: Which waiting message goes first.
        :param idempotency_key: Key against asking twice: with the same key the answer to the first question comes.
        :param causation: The message that made the sender ask.
        :param timeout_ms: Longest wait in milliseconds, a minute if it is left out. With 0 the answer is looked for and not waited for.
        :param stream: Send what the agent says meanwhile as `ask/part` notifications, in order.
        """
        required: Dict[str, Any] = {"agent": agent, "parts": parts}
        optional: Dict[str, Any] = {"priority": priority, "idempotency_key": idempotency_key, "causation": causation, "timeout_ms": timeout_ms, "stream": stream}
        result = self._call("runtime/agent.ask", required, optional, ctx, "again")
        return cast(t.AskResult, result)

    def attach(
        self,
        *,
        agent: str,
        control: Optional[bool] = None,
        takeover: Optional[bool] = None,
        cols: Optional[int] = None,
        rows: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.AttachResult:
        """Watches or controls an agent's terminal; output comes as `attach/output` notifications.

        `runtime/agent.attach`: writes; a token needs: `attach`;
        a repetition without a key acts again. Errors of its own:
        policy_blocked, not_found, invalid_state, locked.

        :param agent: Name or id.
        :param control: Also write and resize. There is one controller at a time.
        :param takeover: Take the control from whoever has it.
        :param cols: Columns of the viewer's terminal; the controller's size is the agent's.
        :param rows: Rows of the viewer's terminal.
        """
        required: Dict[str, Any] = {"agent": agent}
        optional: Dict[str, Any] = {"control": control, "takeover": takeover, "cols": cols, "rows": rows}
        result = self._call("runtime/agent.attach", required, optional, ctx, "again")
        return cast(t.AttachResult, result)

    def detach(
        self,
        *,
        attachment: str,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.Empty:
        """Ends an attachment; the agent does not notice.

        `runtime/agent.detach`: writes; a token needs: `attach`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found.

        :param attachment: Its id.
        """
        required: Dict[str, Any] = {"attachment": attachment}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/agent.detach", required, optional, ctx, "same")
        return cast(t.Empty, result)

    def write(
        self,
        *,
        attachment: str,
        data: str,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.Empty:
        """Types keys through a controlling attachment.

        `runtime/agent.write`: writes; a token needs: `control`;
        a repetition without a key acts again. Errors of its own:
        not_found, permission_denied, backpressure.

        :param attachment: Through this attachment, which must control.
        :param data: The bytes in base64.
        """
        required: Dict[str, Any] = {"attachment": attachment, "data": data}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/agent.write", required, optional, ctx, "again")
        return cast(t.Empty, result)

    def resize(
        self,
        *,
        attachment: str,
        cols: int,
        rows: int,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.Empty:
        """Changes the terminal's size through a controlling attachment.

        `runtime/agent.resize`: writes; a token needs: `attach`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, permission_denied.

        :param attachment: Through this attachment, which must control.
        :param cols: Columns.
        :param rows: Rows.
        """
        required: Dict[str, Any] = {"attachment": attachment, "cols": cols, "rows": rows}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/agent.resize", required, optional, ctx, "same")
        return cast(t.Empty, result)

    def snapshot(
        self,
        *,
        agent: str,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.SnapshotResult:
        """Shows an agent's screen as text.

        `runtime/agent.snapshot`: reads; a token needs: `attach`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_state.

        :param agent: Name or id.
        """
        required: Dict[str, Any] = {"agent": agent}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/agent.snapshot", required, optional, ctx, "safe")
        return cast(t.SnapshotResult, result)


class RuntimeRetirement(Group):
    """`runtime/retirement.*`"""

    def plan(
        self,
        *,
        agent: str,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.RetirementPlan:
        """Says what an agent owns that is removed when it is retired, and what stays.

        `runtime/retirement.plan`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param agent: Name or id.
        """
        required: Dict[str, Any] = {"agent": agent}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/retirement.plan", required, optional, ctx, "safe")
        return cast(t.RetirementPlan, result)

    def perform(
        self,
        *,
        agent: str,
        plan: str,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ChangeResult:
        """Ends an agent, frees its name and removes what it owned, as its plan says; its history stays.

        `runtime/retirement.perform`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_state, conflict, storage_full.

        :param agent: Name or id.
        :param plan: Digest of a plan of `runtime/retirement.plan`: what that says is removed, and nothing is done if it is not what the agent owns now.
        :param reason: Why, for the record.
        """
        required: Dict[str, Any] = {"agent": agent, "plan": plan}
        optional: Dict[str, Any] = {"reason": reason}
        result = self._call("runtime/retirement.perform", required, optional, ctx, "same")
        return cast(t.ChangeResult, result)


class RuntimeEpoch(Group):
    """`runtime/epoch.*`"""

    def list(
        self,
        *,
        agent: str,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.EpochsResult:
        """Lists an agent's epochs.

        `runtime/epoch.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param agent: Name or id.
        """
        required: Dict[str, Any] = {"agent": agent}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/epoch.list", required, optional, ctx, "safe")
        return cast(t.EpochsResult, result)


class RuntimeOverride(Group):
    """`runtime/override.*`"""

    def apply(
        self,
        *,
        scope: t.OverrideScope,
        kind: t.WantedKind,
        reason: str,
        expires_in_ms: Optional[int] = None,
        wait_ms: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.OverrideResult:
        """Decides over agents, above everything that they are meant to do, until it is lifted: ends or suspends them.

        `runtime/override.apply`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        invalid_params, not_found, unsupported, quota_exhausted.

        :param scope: Which agents, those to come included: `{'node': true}`, `{'agents': [names]}` or `{'labels': {key: value}}`.
        :param kind: What is done to them.
        :param reason: Why, for the record and for whoever finds an agent held.
        :param expires_in_ms: After how many milliseconds it lifts itself; never without.
        :param wait_ms: How long the answer may wait for agents to come to rest, in milliseconds; 5,000 without.
        """
        required: Dict[str, Any] = {"scope": scope, "kind": kind, "reason": reason}
        optional: Dict[str, Any] = {"expires_in_ms": expires_in_ms, "wait_ms": wait_ms}
        result = self._call("runtime/override.apply", required, optional, ctx, "again")
        return cast(t.OverrideResult, result)

    def lift(
        self,
        *,
        override_id: t.OverrideId,
        reason: str,
        wait_ms: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.OverrideResult:
        """Takes a decision over agents back; what it ended or suspended goes on if nothing else holds it.

        `runtime/override.lift`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        invalid_params, not_found.

        :param override_id: Which.
        :param reason: Why, for the record.
        :param wait_ms: How long the answer may wait for agents to go on, in milliseconds; 5,000 without.
        """
        required: Dict[str, Any] = {"override_id": override_id, "reason": reason}
        optional: Dict[str, Any] = {"wait_ms": wait_ms}
        result = self._call("runtime/override.lift", required, optional, ctx, "same")
        return cast(t.OverrideResult, result)

    def list(
        self,
        *,
        agent: Optional[str] = None,
        lifted: Optional[bool] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.OverridesResult:
        """Lists decisions over agents.

        `runtime/override.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param agent: Only those that cover this agent now: name or id.
        :param lifted: Also those that were lifted.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"agent": agent, "lifted": lifted}
        result = self._call("runtime/override.list", required, optional, ctx, "safe")
        return cast(t.OverridesResult, result)

    def get(
        self,
        *,
        override_id: t.OverrideId,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.OverrideView:
        """Shows a decision over agents.

        `runtime/override.get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param override_id: Which.
        """
        required: Dict[str, Any] = {"override_id": override_id}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/override.get", required, optional, ctx, "safe")
        return cast(t.OverrideView, result)


class RuntimeProcess(Group):
    """`runtime/process.*`"""

    def list(
        self,
        *,
        agent: str,
        status: Optional[t.ProcessStatus] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ProcessesResult:
        """Lists the processes that an agent's program had the node run.

        `runtime/process.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        invalid_params, not_found.

        :param agent: Of this agent: name or id.
        :param status: Only those of this status.
        :param limit: Most processes to look at, at most 500; 50 if not given.
        :param cursor: Where a former list ended.
        """
        required: Dict[str, Any] = {"agent": agent}
        optional: Dict[str, Any] = {"status": status, "limit": limit, "cursor": cursor}
        result = self._call("runtime/process.list", required, optional, ctx, "safe")
        return cast(t.ProcessesResult, result)

    def get(
        self,
        *,
        process_id: t.ProcessId,
        output_bytes: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.AgentProcess:
        """Shows a process, with the beginning and the end of its output.

        `runtime/process.get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param process_id: Which.
        :param output_bytes: Most bytes of output to show from its beginning and from its end each, at most 65,536; 4,096 if not given.
        """
        required: Dict[str, Any] = {"process_id": process_id}
        optional: Dict[str, Any] = {"output_bytes": output_bytes}
        result = self._call("runtime/process.get", required, optional, ctx, "safe")
        return cast(t.AgentProcess, result)

    def read(
        self,
        *,
        process_id: t.ProcessId,
        from_: Optional[int] = None,
        bytes_max: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ProcessBytes:
        """Reads a part of what a process wrote, from any offset on: asked again and again, it follows one that runs.

        `runtime/process.read`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param process_id: Which.
        :param from_: Offset of the first byte to give, counted from the first that it wrote; zero without.
        :param bytes_max: Most bytes to give: 64 KiB without, 1 MiB at most.
        """
        required: Dict[str, Any] = {"process_id": process_id}
        optional: Dict[str, Any] = {"from": from_, "bytes_max": bytes_max}
        result = self._call("runtime/process.read", required, optional, ctx, "safe")
        return cast(t.ProcessBytes, result)

    def write(
        self,
        *,
        process_id: t.ProcessId,
        text: Optional[str] = None,
        data: Optional[str] = None,
        close: Optional[bool] = None,
        input_id: Optional[t.InputId] = None,
        wait_ms: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.WriteProcessResult:
        """Writes to the standard input of a process that an agent's program had the node run, once per id.

        `runtime/process.write`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, invalid_state, unsupported, too_large, backpressure, idempotency_mismatch, unavailable, storage_full.

        :param process_id: Which.
        :param text: What to write, as text. This or `data`, or neither with `close`.
        :param data: What to write, as base64.
        :param close: Whether nothing comes after it: the process then reads the end of its input.
        :param input_id: The caller's id for it: what is written under an id is written once, whoever dies meanwhile.
        :param wait_ms: How long the answer may wait for the process to read, in milliseconds; 5,000 without.
        """
        required: Dict[str, Any] = {"process_id": process_id}
        optional: Dict[str, Any] = {"text": text, "data": data, "close": close, "input_id": input_id, "wait_ms": wait_ms}
        result = self._call("runtime/process.write", required, optional, ctx, "again")
        return cast(t.WriteProcessResult, result)

    def terminate(
        self,
        *,
        process_id: t.ProcessId,
        grace_ms: Optional[int] = None,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.AgentProcess:
        """Ends a process that an agent's program had the node run.

        `runtime/process.terminate`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_state, unavailable.

        :param process_id: Which.
        :param grace_ms: How long it may take to end by itself after it was asked to, in milliseconds; it is not asked without.
        :param reason: Why, for the record.
        """
        required: Dict[str, Any] = {"process_id": process_id}
        optional: Dict[str, Any] = {"grace_ms": grace_ms, "reason": reason}
        result = self._call("runtime/process.terminate", required, optional, ctx, "same")
        return cast(t.AgentProcess, result)


class RuntimeEnvironment(Group):
    """`runtime/environment.*`"""

    def get(
        self,
        *,
        agent: str,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.EnvironmentView:
        """Shows what surrounds an agent's program, as it is applied: folder, user, variables by name, limits, what is missing.

        `runtime/environment.get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_state.

        :param agent: Name or id.
        """
        required: Dict[str, Any] = {"agent": agent}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/environment.get", required, optional, ctx, "safe")
        return cast(t.EnvironmentView, result)


class RuntimeHost(Group):
    """`runtime/host.*`"""

    def list(
        self,
        *,
        labels: Optional[Dict[str, str]] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.HostsResult:
        """Lists the machines that this node knows: its own.

        `runtime/host.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        none.

        :param labels: Only those with all of these labels.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"labels": labels}
        result = self._call("runtime/host.list", required, optional, ctx, "safe")
        return cast(t.HostsResult, result)

    def get(
        self,
        *,
        host: str,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.HostView:
        """Shows a machine: capacity, load, what it allows, agents by phase, what is left.

        `runtime/host.get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param host: Name or id of its node.
        """
        required: Dict[str, Any] = {"host": host}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/host.get", required, optional, ctx, "safe")
        return cast(t.HostView, result)


class RuntimeInbox(Group):
    """`runtime/inbox.*`"""

    def list(
        self,
        *,
        agent: str,
        all: Optional[bool] = None,
        limit: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.InboxResult:
        """Lists an agent's messages.

        `runtime/inbox.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param agent: Name or id.
        :param all: Also those that no longer wait, in the order of their arrival; else in the order of delivery.
        :param limit: Most to list: with `all` the newest, else the next to be delivered.
        """
        required: Dict[str, Any] = {"agent": agent}
        optional: Dict[str, Any] = {"all": all, "limit": limit}
        result = self._call("runtime/inbox.list", required, optional, ctx, "safe")
        return cast(t.InboxResult, result)


class RuntimeMessage(Group):
    """`runtime/message.*`"""

    def get(
        self,
        *,
        message_id: t.MessageId,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.MessageView:
        """Shows a message and its receipts.

        `runtime/message.get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param message_id: Its id.
        """
        required: Dict[str, Any] = {"message_id": message_id}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/message.get", required, optional, ctx, "safe")
        return cast(t.MessageView, result)

    def submit(
        self,
        *,
        agent: str,
        channel: t.Channel,
        parts: List[t.Part],
        origin: Optional[t.ContentOrigin] = None,
        priority: Optional[t.Priority] = None,
        expires_in_ms: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        reply_to: Optional[t.MessageId] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.SignalResult:
        """Submits content as a tool's result, a document or a web page.

        `runtime/message.submit`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        not_found, too_large, backpressure, idempotency_mismatch, policy_blocked, storage_full.

        :param agent: Name or id.
        :param channel: `tool`, `document` or `web`.
        :param parts: The content.
        :param origin: Where it was found.
        :param priority: Which waiting message goes first.
        :param expires_in_ms: Milliseconds after which it is no longer worth delivering.
        :param idempotency_key: Key against submitting it twice.
        :param reply_to: The message that asked for it.
        """
        required: Dict[str, Any] = {"agent": agent, "channel": channel, "parts": parts}
        optional: Dict[str, Any] = {"origin": origin, "priority": priority, "expires_in_ms": expires_in_ms, "idempotency_key": idempotency_key, "reply_to": reply_to}
        result = self._call("runtime/message.submit", required, optional, ctx, "again")
        return cast(t.SignalResult, result)

    def verify(
        self,
        *,
        message_id: t.MessageId,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.MessageVerifyResult:
        """Tells what the node vouches for of a message, signed.

        `runtime/message.verify`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param message_id: Its id.
        """
        required: Dict[str, Any] = {"message_id": message_id}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/message.verify", required, optional, ctx, "safe")
        return cast(t.MessageVerifyResult, result)

    def sign(
        self,
        *,
        message_ids: List[t.MessageId],
        ctx: Optional[t.RequestContext] = None,
    ) -> t.SignResult:
        """Signs messages that leave the node, with one signature for all.

        `runtime/message.sign`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, too_large.

        :param message_ids: Their ids; at most 1,024.
        """
        required: Dict[str, Any] = {"message_ids": message_ids}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/message.sign", required, optional, ctx, "safe")
        return cast(t.SignResult, result)


class RuntimeTopic(Group):
    """`runtime/topic.*`"""

    def publish(
        self,
        *,
        topic: t.SafeLabel,
        parts: List[t.Part],
        priority: Optional[t.Priority] = None,
        expires_in_ms: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        causation: Optional[t.MessageId] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.SpreadResult:
        """Sends a message to every agent that subscribes to a topic.

        `runtime/topic.publish`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        too_large.

        :param topic: The topic.
        :param parts: What to say.
        :param priority: Which waiting message goes first.
        :param expires_in_ms: Milliseconds after which it is no longer worth delivering.
        :param idempotency_key: Key against publishing it twice.
        :param causation: The message that made the sender publish it.
        """
        required: Dict[str, Any] = {"topic": topic, "parts": parts}
        optional: Dict[str, Any] = {"priority": priority, "expires_in_ms": expires_in_ms, "idempotency_key": idempotency_key, "causation": causation}
        result = self._call("runtime/topic.publish", required, optional, ctx, "again")
        return cast(t.SpreadResult, result)


class RuntimeDeadLetter(Group):
    """`runtime/dead_letter.*`"""

    def list(
        self,
        *,
        agent: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.DeadLettersResult:
        """Lists messages that did not reach their agent.

        `runtime/dead_letter.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param agent: Only of this agent: name or id.
        :param limit: Most to list.
        :param cursor: Only those behind the one with this position, as the last page said.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"agent": agent, "limit": limit, "cursor": cursor}
        result = self._call("runtime/dead_letter.list", required, optional, ctx, "safe")
        return cast(t.DeadLettersResult, result)

    def replay(
        self,
        *,
        message_id: t.MessageId,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.MessageView:
        """Lets a message that did not reach its agent wait once more.

        `runtime/dead_letter.replay`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_state, storage_full.

        :param message_id: Its id.
        """
        required: Dict[str, Any] = {"message_id": message_id}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/dead_letter.replay", required, optional, ctx, "same")
        return cast(t.MessageView, result)

    def drop(
        self,
        *,
        message_id: t.MessageId,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.Empty:
        """Takes a message that did not reach its agent off the list.

        `runtime/dead_letter.drop`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_state, storage_full.

        :param message_id: Its id.
        :param reason: Why, for the record.
        """
        required: Dict[str, Any] = {"message_id": message_id}
        optional: Dict[str, Any] = {"reason": reason}
        result = self._call("runtime/dead_letter.drop", required, optional, ctx, "same")
        return cast(t.Empty, result)


class RuntimeItem(Group):
    """`runtime/item.*`"""

    def report(
        self,
        *,
        kind: t.SafeLabel,
        text: str,
        message_id: Optional[t.MessageId] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ReportResult:
        """Reports a piece of work or a remark of the calling agent.

        `runtime/item.report`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        permission_denied, fenced, not_found, too_large, storage_full.

        :param kind: Of which kind, in the agent's words, such as `output` or `note`.
        :param text: What there is to say: at most 4 MiB.
        :param message_id: The message whose turn it belongs to; one of the agent's own.
        """
        required: Dict[str, Any] = {"kind": kind, "text": text}
        optional: Dict[str, Any] = {"message_id": message_id}
        result = self._call("runtime/item.report", required, optional, ctx, "again")
        return cast(t.ReportResult, result)


class RuntimeStatus(Group):
    """`runtime/status.*`"""

    def report(
        self,
        *,
        activity: t.Activity,
        text: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ReportResult:
        """Reports what the calling agent is doing.

        `runtime/status.report`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        permission_denied, fenced, too_large, storage_full.

        :param activity: What it is doing. A report never ends a turn: it is made within one.
        :param text: The same in a few words: at most 4 MiB.
        """
        required: Dict[str, Any] = {"activity": activity}
        optional: Dict[str, Any] = {"text": text}
        result = self._call("runtime/status.report", required, optional, ctx, "same")
        return cast(t.ReportResult, result)


class RuntimeHook(Group):
    """`runtime/hook.*`"""

    def report(
        self,
        *,
        kind: t.SafeLabel,
        report: Any,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.HookResult:
        """Reports what a hook of the calling agent's program said.

        `runtime/hook.report`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        permission_denied, fenced, invalid_params, unsupported, storage_full.

        :param kind: Whose hook: `claude-code` or `codex`; that of the agent's adapter.
        :param report: What the program handed to its hook.
        """
        required: Dict[str, Any] = {"kind": kind, "report": report}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/hook.report", required, optional, ctx, "again")
        return cast(t.HookResult, result)


class RuntimeTranscript(Group):
    """`runtime/transcript.*`"""

    def read(
        self,
        *,
        agent: Optional[str] = None,
        after: Optional[int] = None,
        limit: Optional[int] = None,
        epoch: Optional[t.Epoch] = None,
        message_id: Optional[t.MessageId] = None,
        detail: Optional[t.Detail] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.TranscriptResult:
        """Reads what was said to an agent and by it, and what it did.

        `runtime/transcript.read`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param agent: Name or id. Left out: the calling agent.
        :param after: Only what stands behind this number of the agent's stream. Left out: the newest.
        :param limit: Most entries, at most 500; 50 if not given. Long ones may make it fewer.
        :param epoch: Only what belongs to this epoch.
        :param message_id: Only the turn of this message.
        :param detail: How much is told; everything if not given.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"agent": agent, "after": after, "limit": limit, "epoch": epoch, "message_id": message_id, "detail": detail}
        result = self._call("runtime/transcript.read", required, optional, ctx, "safe")
        return cast(t.TranscriptResult, result)


class RuntimeTask(Group):
    """`runtime/task.*`"""

    def create(
        self,
        *,
        title: str,
        task_id: Optional[t.TaskId] = None,
        objective: Optional[str] = None,
        parent_id: Optional[t.TaskId] = None,
        agent: Optional[str] = None,
        thread_id: Optional[t.ThreadId] = None,
        kind: Optional[t.SafeLabel] = None,
        visibility: Optional[t.Visibility] = None,
        priority: Optional[t.Priority] = None,
        labels: Optional[Dict[str, t.SafeLabel]] = None,
        acceptance: Optional[List[str]] = None,
        limits: Optional[t.RunLimits] = None,
        attempts: Optional[int] = None,
        depends_on: Optional[List[t.TaskId]] = None,
        start: Optional[bool] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.TaskView:
        """Writes a task down, and begins it as soon as it can be begun.

        `runtime/task.create`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        policy_blocked, not_found, invalid_params, invalid_state, conflict, quota_exhausted, storage_full.

        :param title: What it is called: 1 to 256 bytes.
        :param task_id: Its id, by the caller's choice, as a UUID of version 7: then it is the key against writing it down twice.
        :param objective: What is to be done: at most 1 MiB. Without it the title says it.
        :param parent_id: The task that it is a part of.
        :param agent: Whose work it is, by name or id. Without one it is done by its parts, or by whoever says that it is done.
        :param thread_id: The agent's thread in which it is worked on; else its first one.
        :param kind: What kind of work it is.
        :param visibility: Who is meant to see it.
        :param priority: How urgent it is.
        :param labels: By what it is found, at most 16.
        :param acceptance: What must be true before it is completed, in words; at most 64. With none, the good end of a run completes it.
        :param limits: What each run may use.
        :param attempts: How many runs there are at most before it fails, 1 to 100.
        :param depends_on: The tasks that it depends on, at most 1,000: it begins when all of them are completed.
        :param start: Whether it is to be begun as soon as it can be; else it is a draft.
        """
        required: Dict[str, Any] = {"title": title}
        optional: Dict[str, Any] = {"task_id": task_id, "objective": objective, "parent_id": parent_id, "agent": agent, "thread_id": thread_id, "kind": kind, "visibility": visibility, "priority": priority, "labels": labels, "acceptance": acceptance, "limits": limits, "attempts": attempts, "depends_on": depends_on, "start": start}
        result = self._call("runtime/task.create", required, optional, ctx, "again")
        return cast(t.TaskView, result)

    def update(
        self,
        *,
        task_id: t.TaskId,
        if_version: Optional[int] = None,
        title: Optional[str] = None,
        objective: Optional[str] = None,
        agent: Optional[str] = None,
        priority: Optional[t.Priority] = None,
        labels: Optional[Dict[str, t.SafeLabel]] = None,
        acceptance: Optional[List[str]] = None,
        limits: Optional[t.RunLimits] = None,
        attempts: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.TaskView:
        """Changes what is to be done in a task that is not over.

        `runtime/task.update`: writes; a token needs: `signal`;
        a repetition without a key leaves what the first made true. Errors of its own:
        policy_blocked, not_found, invalid_params, invalid_state, version_conflict, storage_full.

        :param task_id: Its id.
        :param if_version: Only if it is at this version.
        :param title: What it is called.
        :param objective: What is to be done.
        :param agent: Whose work it is. A run that lives goes on where it is.
        :param priority: How urgent it is.
        :param labels: By what it is found, in full.
        :param acceptance: What must be true before it is completed, in full.
        :param limits: What each further run may use, in full.
        :param attempts: How many runs there are at most.
        """
        required: Dict[str, Any] = {"task_id": task_id}
        optional: Dict[str, Any] = {"if_version": if_version, "title": title, "objective": objective, "agent": agent, "priority": priority, "labels": labels, "acceptance": acceptance, "limits": limits, "attempts": attempts}
        result = self._call("runtime/task.update", required, optional, ctx, "same")
        return cast(t.TaskView, result)

    def start(
        self,
        *,
        task_id: t.TaskId,
        reason: Optional[str] = None,
        if_version: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.TaskView:
        """Has a task begun that is a draft, or accepted.

        `runtime/task.start`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, invalid_state, version_conflict, storage_full.

        :param task_id: Its id.
        :param reason: Why, for people: at most 1,024 bytes.
        :param if_version: Only if it is at this version.
        """
        required: Dict[str, Any] = {"task_id": task_id}
        optional: Dict[str, Any] = {"reason": reason, "if_version": if_version}
        result = self._call("runtime/task.start", required, optional, ctx, "again")
        return cast(t.TaskView, result)

    def progress(
        self,
        *,
        task_id: t.TaskId,
        run_id: Optional[t.RunId] = None,
        phase: Optional[str] = None,
        done: Optional[int] = None,
        total: Optional[int] = None,
        accepted: Optional[List[int]] = None,
        note: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.TaskView:
        """Says how far a task is.

        `runtime/task.progress`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, invalid_state, fenced, storage_full.

        :param task_id: Its id.
        :param run_id: The run that says so; it must be the one that lives.
        :param phase: What is being done: at most 256 bytes.
        :param done: How much is done.
        :param total: How much there is to do.
        :param accepted: The numbers, from 0, of what must be true and is.
        :param note: In words: at most 1,024 bytes.
        """
        required: Dict[str, Any] = {"task_id": task_id}
        optional: Dict[str, Any] = {"run_id": run_id, "phase": phase, "done": done, "total": total, "accepted": accepted, "note": note}
        result = self._call("runtime/task.progress", required, optional, ctx, "again")
        return cast(t.TaskView, result)

    def pause(
        self,
        *,
        task_id: t.TaskId,
        reason: Optional[str] = None,
        if_version: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.TaskView:
        """Lets a task rest; the run that works on it is asked to end.

        `runtime/task.pause`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, invalid_state, version_conflict, storage_full.

        :param task_id: Its id.
        :param reason: Why, for people: at most 1,024 bytes.
        :param if_version: Only if it is at this version.
        """
        required: Dict[str, Any] = {"task_id": task_id}
        optional: Dict[str, Any] = {"reason": reason, "if_version": if_version}
        result = self._call("runtime/task.pause", required, optional, ctx, "again")
        return cast(t.TaskView, result)

    def resume(
        self,
        *,
        task_id: t.TaskId,
        reason: Optional[str] = None,
        if_version: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.TaskView:
        """Lets a task go on that rests, by a further run if one is needed.

        `runtime/task.resume`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, invalid_state, version_conflict, storage_full.

        :param task_id: Its id.
        :param reason: Why, for people: at most 1,024 bytes.
        :param if_version: Only if it is at this version.
        """
        required: Dict[str, Any] = {"task_id": task_id}
        optional: Dict[str, Any] = {"reason": reason, "if_version": if_version}
        result = self._call("runtime/task.resume", required, optional, ctx, "again")
        return cast(t.TaskView, result)

    def cancel(
        self,
        *,
        task_id: t.TaskId,
        reason: Optional[str] = None,
        if_version: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.TaskView:
        """Has a task and its parts ended: first the intent, then whatever works on them.

        `runtime/task.cancel`: writes; a token needs: `signal`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_params, invalid_state, version_conflict, storage_full.

        :param task_id: Its id.
        :param reason: Why, for people: at most 1,024 bytes.
        :param if_version: Only if it is at this version.
        """
        required: Dict[str, Any] = {"task_id": task_id}
        optional: Dict[str, Any] = {"reason": reason, "if_version": if_version}
        result = self._call("runtime/task.cancel", required, optional, ctx, "same")
        return cast(t.TaskView, result)

    def retry(
        self,
        *,
        task_id: t.TaskId,
        reason: Optional[str] = None,
        if_version: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.TaskView:
        """Begins a further run of a task that failed, was too slow, or is lost.

        `runtime/task.retry`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, invalid_state, version_conflict, storage_full.

        :param task_id: Its id.
        :param reason: Why, for people: at most 1,024 bytes.
        :param if_version: Only if it is at this version.
        """
        required: Dict[str, Any] = {"task_id": task_id}
        optional: Dict[str, Any] = {"reason": reason, "if_version": if_version}
        result = self._call("runtime/task.retry", required, optional, ctx, "again")
        return cast(t.TaskView, result)

    def complete(
        self,
        *,
        task_id: t.TaskId,
        run_id: Optional[t.RunId] = None,
        accepted: Optional[List[int]] = None,
        artifacts: Optional[List[str]] = None,
        evidence: Optional[List[str]] = None,
        note: Optional[str] = None,
        if_version: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.TaskView:
        """Says that a task is done, and what of what must be true is.

        `runtime/task.complete`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, invalid_state, version_conflict, fenced, storage_full.

        :param task_id: Its id.
        :param run_id: The run that says so; it must be the one that lives.
        :param accepted: The numbers, from 0, of what must be true and is.
        :param artifacts: Addresses of what it made, at most 64.
        :param evidence: Addresses of what shows that it is done, at most 64.
        :param note: In words: at most 1,024 bytes.
        :param if_version: Only if it is at this version.
        """
        required: Dict[str, Any] = {"task_id": task_id}
        optional: Dict[str, Any] = {"run_id": run_id, "accepted": accepted, "artifacts": artifacts, "evidence": evidence, "note": note, "if_version": if_version}
        result = self._call("runtime/task.complete", required, optional, ctx, "again")
        return cast(t.TaskView, result)

    def fail(
        self,
        *,
        task_id: t.TaskId,
        reason: str,
        run_id: Optional[t.RunId] = None,
        if_version: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.TaskView:
        """Says that a task failed.

        `runtime/task.fail`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, invalid_state, version_conflict, fenced, storage_full.

        :param task_id: Its id.
        :param reason: Why, for people: at most 1,024 bytes.
        :param run_id: The run that says so; it must be the one that lives.
        :param if_version: Only if it is at this version.
        """
        required: Dict[str, Any] = {"task_id": task_id, "reason": reason}
        optional: Dict[str, Any] = {"run_id": run_id, "if_version": if_version}
        result = self._call("runtime/task.fail", required, optional, ctx, "again")
        return cast(t.TaskView, result)

    def archive(
        self,
        *,
        task_id: t.TaskId,
        reason: Optional[str] = None,
        if_version: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.TaskView:
        """Puts a task away that is over.

        `runtime/task.archive`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, invalid_state, version_conflict, storage_full.

        :param task_id: Its id.
        :param reason: Why, for people: at most 1,024 bytes.
        :param if_version: Only if it is at this version.
        """
        required: Dict[str, Any] = {"task_id": task_id}
        optional: Dict[str, Any] = {"reason": reason, "if_version": if_version}
        result = self._call("runtime/task.archive", required, optional, ctx, "again")
        return cast(t.TaskView, result)

    def get(
        self,
        *,
        task_id: t.TaskId,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.TaskDetail:
        """Shows a task with its edges and runs.

        `runtime/task.get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param task_id: Its id.
        """
        required: Dict[str, Any] = {"task_id": task_id}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/task.get", required, optional, ctx, "safe")
        return cast(t.TaskDetail, result)

    def list(
        self,
        *,
        root_id: Optional[t.TaskId] = None,
        parent_id: Optional[t.TaskId] = None,
        agent: Optional[str] = None,
        state: Optional[t.TaskState] = None,
        all: Optional[bool] = None,
        cursor: Optional[int] = None,
        limit: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.TaskListResult:
        """Lists tasks.

        `runtime/task.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param root_id: Of the graph with this task at its root.
        :param parent_id: Parts of this one.
        :param agent: The work of this agent, by name or id.
        :param state: In this state.
        :param all: Also those that are over.
        :param cursor: What the page before gave as `next`.
        :param limit: Most entries, at most 500.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"root_id": root_id, "parent_id": parent_id, "agent": agent, "state": state, "all": all, "cursor": cursor, "limit": limit}
        result = self._call("runtime/task.list", required, optional, ctx, "safe")
        return cast(t.TaskListResult, result)

    def graph(
        self,
        *,
        task_id: t.TaskId,
        tasks_max: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.TaskGraphResult:
        """Shows how the tasks of a graph are joined.

        `runtime/task.graph`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, too_large.

        :param task_id: Any of its tasks.
        :param tasks_max: Most tasks, at most 20,000; a graph with more is refused.
        """
        required: Dict[str, Any] = {"task_id": task_id}
        optional: Dict[str, Any] = {"tasks_max": tasks_max}
        result = self._call("runtime/task.graph", required, optional, ctx, "safe")
        return cast(t.TaskGraphResult, result)

    def link(
        self,
        *,
        task_id: t.TaskId,
        kind: t.EdgeKind,
        to: Optional[t.TaskId] = None,
        uri: Optional[str] = None,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.EdgeView:
        """Joins a task to another one, or to what an address names.

        `runtime/task.link`: writes; a token needs: `signal`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_params, invalid_state, conflict, storage_full.

        :param task_id: The task that the edge begins at.
        :param kind: How they are joined.
        :param to: The task that it leads to: of `depends_on`, `delegated` and `source`.
        :param uri: The address that it leads to: of `produced`, `consumed` and `evidence`. At most 2,048 bytes.
        :param reason: Why, for people: at most 1,024 bytes.
        """
        required: Dict[str, Any] = {"task_id": task_id, "kind": kind}
        optional: Dict[str, Any] = {"to": to, "uri": uri, "reason": reason}
        result = self._call("runtime/task.link", required, optional, ctx, "same")
        return cast(t.EdgeView, result)

    def unlink(
        self,
        *,
        task_id: t.TaskId,
        kind: t.EdgeKind,
        to: Optional[t.TaskId] = None,
        uri: Optional[str] = None,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.EdgeView:
        """Parts a task from another one, or from what an address names.

        `runtime/task.unlink`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, storage_full.

        :param task_id: The task that the edge begins at.
        :param kind: How they are joined.
        :param to: The task that it leads to: of `depends_on`, `delegated` and `source`.
        :param uri: The address that it leads to: of `produced`, `consumed` and `evidence`. At most 2,048 bytes.
        :param reason: Why, for people: at most 1,024 bytes.
        """
        required: Dict[str, Any] = {"task_id": task_id, "kind": kind}
        optional: Dict[str, Any] = {"to": to, "uri": uri, "reason": reason}
        result = self._call("runtime/task.unlink", required, optional, ctx, "again")
        return cast(t.EdgeView, result)


class RuntimeRun(Group):
    """`runtime/run.*`"""

    def start(
        self,
        *,
        task_id: t.TaskId,
        run_id: Optional[t.RunId] = None,
        agent: Optional[str] = None,
        limits: Optional[t.RunLimits] = None,
        binding: Optional[t.BindingParam] = None,
        retry_of: Optional[t.RunId] = None,
        reason: Optional[str] = None,
        if_version: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.RunStartResult:
        """Has a task worked on: by a first run, or by a further one.

        `runtime/run.start`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        policy_blocked, not_found, invalid_params, invalid_state, unsupported, conflict, version_conflict, fenced, locked, quota_exhausted, storage_full.

        :param task_id: The task.
        :param run_id: The run's id, by the caller's choice, as a UUID of version 7: then it is the key against beginning it twice, and the run is refused if it cannot be admitted at once.
        :param agent: Who is to do it, by name or id, if that is not whose work it is already.
        :param limits: What this run may use, if that is not what the task says.
        :param binding: The workspace that this run is bound to, in the step that makes it; then it is refused if it cannot be admitted at once. A further run of the task is bound to nothing.
        :param retry_of: The run that it follows; it must be the task's last one, and over.
        :param reason: Why, for people: at most 1,024 bytes.
        :param if_version: Only if the task is at this version.
        """
        required: Dict[str, Any] = {"task_id": task_id}
        optional: Dict[str, Any] = {"run_id": run_id, "agent": agent, "limits": limits, "binding": binding, "retry_of": retry_of, "reason": reason, "if_version": if_version}
        result = self._call("runtime/run.start", required, optional, ctx, "again")
        return cast(t.RunStartResult, result)

    def pause(
        self,
        *,
        run_id: t.RunId,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.RunView:
        """Lets a run rest: it is asked to end, and its task rests until it goes on.

        `runtime/run.pause`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, invalid_state, fenced, storage_full.

        :param run_id: Its id; it must be the task's last run.
        :param reason: Why, for people: at most 1,024 bytes.
        """
        required: Dict[str, Any] = {"run_id": run_id}
        optional: Dict[str, Any] = {"reason": reason}
        result = self._call("runtime/run.pause", required, optional, ctx, "again")
        return cast(t.RunView, result)

    def resume(
        self,
        *,
        run_id: t.RunId,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.RunStartResult:
        """Lets the task of a run that rested go on, by a further run.

        `runtime/run.resume`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, invalid_state, fenced, storage_full.

        :param run_id: Its id; it must be the task's last run.
        :param reason: Why, for people: at most 1,024 bytes.
        """
        required: Dict[str, Any] = {"run_id": run_id}
        optional: Dict[str, Any] = {"reason": reason}
        result = self._call("runtime/run.resume", required, optional, ctx, "again")
        return cast(t.RunStartResult, result)

    def get(
        self,
        *,
        run_id: t.RunId,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.RunView:
        """Shows a run.

        `runtime/run.get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param run_id: Its id.
        """
        required: Dict[str, Any] = {"run_id": run_id}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/run.get", required, optional, ctx, "safe")
        return cast(t.RunView, result)

    def list(
        self,
        *,
        task_id: Optional[t.TaskId] = None,
        agent: Optional[str] = None,
        live: Optional[bool] = None,
        cursor: Optional[int] = None,
        limit: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.RunListResult:
        """Lists runs.

        `runtime/run.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param task_id: Of this task.
        :param agent: Of this agent, by name or id.
        :param live: Only those that have not ended.
        :param cursor: What the page before gave as `next`.
        :param limit: Most entries, at most 500.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"task_id": task_id, "agent": agent, "live": live, "cursor": cursor, "limit": limit}
        result = self._call("runtime/run.list", required, optional, ctx, "safe")
        return cast(t.RunListResult, result)

    def cancel(
        self,
        *,
        run_id: t.RunId,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.RunView:
        """Has a run ended; its task has failed then, and may be tried again.

        `runtime/run.cancel`: writes; a token needs: `signal`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_params, invalid_state, storage_full.

        :param run_id: Its id.
        :param reason: Why, for people: at most 1,024 bytes.
        """
        required: Dict[str, Any] = {"run_id": run_id}
        optional: Dict[str, Any] = {"reason": reason}
        result = self._call("runtime/run.cancel", required, optional, ctx, "same")
        return cast(t.RunView, result)


class RuntimeJob(Group):
    """`runtime/job.*`"""

    def create(
        self,
        *,
        title: str,
        items: List[t.JobItemInput],
        job_id: Optional[t.TaskId] = None,
        objective: Optional[str] = None,
        agents: Optional[List[str]] = None,
        labels: Optional[Dict[str, t.SafeLabel]] = None,
        capability: Optional[t.SafeLabel] = None,
        parallelism: Optional[int] = None,
        attempts: Optional[int] = None,
        report: Optional[t.JobReport] = None,
        limits: Optional[t.RunLimits] = None,
        priority: Optional[t.Priority] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.JobView:
        """Makes a job: items that are dealt out to agents, each to one that is idle.

        `runtime/job.create`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        policy_blocked, not_found, invalid_params, conflict, storage_full.

        :param title: What it is called: 1 to 256 bytes.
        :param items: 1 to 10,000 items, all of them together at most 32 MiB.
        :param job_id: Its id, by the caller's choice, as a UUID of version 7: then it is the key against making it twice.
        :param objective: What is to be done with each item, which stands where `{item}` stands, or below it. Without it an item says it itself.
        :param agents: The agents that may be given items, by name or id; at most 1,000.
        :param labels: Labels that an agent has to have to be given items.
        :param capability: What an agent has to have as its label `capability`, or to offer under this name with an operator's word for it.
        :param parallelism: How many items are worked on at a time, at most; without it as many as there are agents.
        :param attempts: How many runs of an item there are at most before it fails, 1 to 100.
        :param report: What counts as the report of an item: the end of the turn, or what its agent reports in it.
        :param limits: What each run may use.
        :param priority: How urgent it is.
        """
        required: Dict[str, Any] = {"title": title, "items": items}
        optional: Dict[str, Any] = {"job_id": job_id, "objective": objective, "agents": agents, "labels": labels, "capability": capability, "parallelism": parallelism, "attempts": attempts, "report": report, "limits": limits, "priority": priority}
        result = self._call("runtime/job.create", required, optional, ctx, "again")
        return cast(t.JobView, result)

    def get(
        self,
        *,
        job_id: t.TaskId,
        item_id: Optional[t.TaskId] = None,
        state: Optional[t.JobItemState] = None,
        cursor: Optional[int] = None,
        limit: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.JobDetail:
        """Shows a job with a page of its items.

        `runtime/job.get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param job_id: Its id.
        :param item_id: Only this item, with its result however long that is.
        :param state: Only items that are there.
        :param cursor: What the page before gave as `next`.
        :param limit: Most items, at most 500.
        """
        required: Dict[str, Any] = {"job_id": job_id}
        optional: Dict[str, Any] = {"item_id": item_id, "state": state, "cursor": cursor, "limit": limit}
        result = self._call("runtime/job.get", required, optional, ctx, "safe")
        return cast(t.JobDetail, result)

    def list(
        self,
        *,
        all: Optional[bool] = None,
        cursor: Optional[int] = None,
        limit: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.JobListResult:
        """Lists jobs.

        `runtime/job.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        none.

        :param all: Also those that are over.
        :param cursor: What the page before gave as `next`.
        :param limit: Most entries, at most 500.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"all": all, "cursor": cursor, "limit": limit}
        result = self._call("runtime/job.list", required, optional, ctx, "safe")
        return cast(t.JobListResult, result)

    def cancel(
        self,
        *,
        job_id: t.TaskId,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.JobView:
        """Has a job ended: what is done stays done, what is worked on is told, what waits is never begun.

        `runtime/job.cancel`: writes; a token needs: `signal`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_params, invalid_state, storage_full.

        :param job_id: Its id.
        :param reason: Why, for people: at most 1,024 bytes.
        """
        required: Dict[str, Any] = {"job_id": job_id}
        optional: Dict[str, Any] = {"reason": reason}
        result = self._call("runtime/job.cancel", required, optional, ctx, "same")
        return cast(t.JobView, result)


class RuntimeJobItem(Group):
    """`runtime/job_item.*`"""

    def assign(
        self,
        *,
        item_id: t.TaskId,
        agent: str,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.JobItemView:
        """Gives an item that waits to an agent.

        `runtime/job_item.assign`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        policy_blocked, not_found, invalid_state, storage_full.

        :param item_id: The item.
        :param agent: The agent, by name or id.
        """
        required: Dict[str, Any] = {"item_id": item_id, "agent": agent}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/job_item.assign", required, optional, ctx, "again")
        return cast(t.JobItemView, result)

    def retry(
        self,
        *,
        item_id: t.TaskId,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.JobItemView:
        """Has an item tried again that failed.

        `runtime/job_item.retry`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, invalid_state, storage_full.

        :param item_id: The item.
        :param reason: Why, for people: at most 1,024 bytes.
        """
        required: Dict[str, Any] = {"item_id": item_id}
        optional: Dict[str, Any] = {"reason": reason}
        result = self._call("runtime/job_item.retry", required, optional, ctx, "again")
        return cast(t.JobItemView, result)

    def report(
        self,
        *,
        item_id: t.TaskId,
        run_id: Optional[t.RunId] = None,
        result: Optional[Any] = None,
        output_id: Optional[t.OutputId] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.JobItemView:
        """Says what came of an item, once.

        `runtime/job_item.report`: writes; a token needs: `signal`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_params, invalid_state, fenced, storage_full.

        :param item_id: The item.
        :param run_id: The run that says so; it must be the one that lives.
        :param result: What came of it: at most 256 KiB as JSON.
        :param output_id: The output of the agent that holds what came of it.
        """
        required: Dict[str, Any] = {"item_id": item_id}
        optional: Dict[str, Any] = {"run_id": run_id, "result": result, "output_id": output_id}
        result = self._call("runtime/job_item.report", required, optional, ctx, "same")
        return cast(t.JobItemView, result)


class RuntimeSubagent(Group):
    """`runtime/subagent.*`"""

    def spawn(
        self,
        *,
        subagent_id: Optional[t.AgentId] = None,
        parent: Optional[str] = None,
        name: Optional[t.AgentName] = None,
        manifest: Optional[str] = None,
        command: Optional[List[str]] = None,
        environment: Optional[List[str]] = None,
        labels: Optional[Dict[str, t.SafeLabel]] = None,
        limits: Optional[t.SubagentLimits] = None,
        isolation: Optional[t.Isolation] = None,
        on_parent_exit: Optional[t.OnParentExit] = None,
        task: Optional[t.SubagentTask] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.SubagentView:
        """Starts an agent under another one, for good or for one task.

        `runtime/subagent.spawn`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        policy_blocked, invalid_manifest, not_found, invalid_params, invalid_state, conflict, locked, quota_exhausted, unsupported, storage_full.

        :param subagent_id: Its id, by the caller's choice, as a UUID of version 7: then it is the key against starting it twice.
        :param parent: Whose child it is, by name or id. An agent names itself or nobody.
        :param name: Its name. Left out: its parent's with the end of its id.
        :param manifest: Its manifest as text, at most 1 MiB, from operators only. Left out: its parent's, with what is said here.
        :param command: Its program with all arguments.
        :param environment: Which of its parent's variables it gets, by name; with none named in an empty list it gets none.
        :param labels: Its labels, from operators only.
        :param limits: What its program may use; each no more than its parent's.
        :param isolation: What divides it from its parent.
        :param on_parent_exit: What becomes of it when its parent has ended. Left out: with a task it is closed, without one it goes on.
        :param task: The task for which alone it is there: it is retired when that is over. Left out: it stays until it is closed.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"subagent_id": subagent_id, "parent": parent, "name": name, "manifest": manifest, "command": command, "environment": environment, "labels": labels, "limits": limits, "isolation": isolation, "on_parent_exit": on_parent_exit, "task": task}
        result = self._call("runtime/subagent.spawn", required, optional, ctx, "again")
        return cast(t.SubagentView, result)

    def send(
        self,
        *,
        subagent: str,
        parts: List[t.Part],
        mode: Optional[t.DeliveryMode] = None,
        priority: Optional[t.Priority] = None,
        expires_in_ms: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.SignalResult:
        """Sends a subagent a message.

        `runtime/subagent.send`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_state, storage_full.

        :param subagent: Name or id.
        :param parts: What to say: at most 4 MiB of JSON.
        :param mode: How it meets a running turn.
        :param priority: Which waiting message goes first.
        :param expires_in_ms: Milliseconds after which it is no longer worth delivering.
        :param idempotency_key: Key against sending it twice.
        """
        required: Dict[str, Any] = {"subagent": subagent, "parts": parts}
        optional: Dict[str, Any] = {"mode": mode, "priority": priority, "expires_in_ms": expires_in_ms, "idempotency_key": idempotency_key}
        result = self._call("runtime/subagent.send", required, optional, ctx, "again")
        return cast(t.SignalResult, result)

    def wait(
        self,
        *,
        subagents: List[str],
        wait_for: Optional[t.WaitFor] = None,
        until: Optional[t.WaitUntil] = None,
        timeout_ms: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.SubagentWaitResult:
        """Waits until subagents have come to an end, or have nothing to do.

        `runtime/subagent.wait`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_params, deadline_exceeded.

        :param subagents: Which, by name or id: 1 to 64. One that is retired is named by its id.
        :param wait_for: How many of them.
        :param until: For what.
        :param timeout_ms: Longest wait in milliseconds, at most a day.
        """
        required: Dict[str, Any] = {"subagents": subagents}
        optional: Dict[str, Any] = {"wait_for": wait_for, "until": until, "timeout_ms": timeout_ms}
        result = self._call("runtime/subagent.wait", required, optional, ctx, "safe")
        return cast(t.SubagentWaitResult, result)

    def resume(
        self,
        *,
        subagent: str,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.SubagentView:
        """Lets a subagent go on that is stopped or suspended.

        `runtime/subagent.resume`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_params, invalid_state, storage_full.

        :param subagent: Name or id.
        :param reason: Why, for people: at most 1,024 bytes.
        """
        required: Dict[str, Any] = {"subagent": subagent}
        optional: Dict[str, Any] = {"reason": reason}
        result = self._call("runtime/subagent.resume", required, optional, ctx, "same")
        return cast(t.SubagentView, result)

    def close(
        self,
        *,
        subagent: str,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.SubagentView:
        """Ends and retires a subagent and all agents under it, the youngest generation first.

        `runtime/subagent.close`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_params.

        :param subagent: Name or id.
        :param reason: Why, for people: at most 1,024 bytes.
        """
        required: Dict[str, Any] = {"subagent": subagent}
        optional: Dict[str, Any] = {"reason": reason}
        result = self._call("runtime/subagent.close", required, optional, ctx, "same")
        return cast(t.SubagentView, result)

    def list(
        self,
        *,
        parent: Optional[str] = None,
        depth: Optional[int] = None,
        all: Optional[bool] = None,
        limit: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.SubagentListResult:
        """Lists the agents under one.

        `runtime/subagent.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_params.

        :param parent: Under this agent, by name or id, also of one that is retired. An agent names itself, one under it, or nobody.
        :param depth: How many generations, 1 to 8.
        :param all: Also those that are retired.
        :param limit: Most entries, at most 10,000.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"parent": parent, "depth": depth, "all": all, "limit": limit}
        result = self._call("runtime/subagent.list", required, optional, ctx, "safe")
        return cast(t.SubagentListResult, result)


class RuntimeSchedule(Group):
    """`runtime/schedule.*`"""

    def list(
        self,
        *,
        agent: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ScheduleListResult:
        """Lists schedules.

        `runtime/schedule.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param agent: Only of this agent: name or id.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"agent": agent}
        result = self._call("runtime/schedule.list", required, optional, ctx, "safe")
        return cast(t.ScheduleListResult, result)

    def history(
        self,
        *,
        agent: str,
        name: t.AgentName,
        limit: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.HistoryResult:
        """Tells what became of a schedule's occurrences.

        `runtime/schedule.history`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param agent: Its agent: name or id.
        :param name: Its name.
        :param limit: Most to list.
        """
        required: Dict[str, Any] = {"agent": agent, "name": name}
        optional: Dict[str, Any] = {"limit": limit}
        result = self._call("runtime/schedule.history", required, optional, ctx, "safe")
        return cast(t.HistoryResult, result)

    def run(
        self,
        *,
        agent: str,
        name: t.AgentName,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.RunResult:
        """Runs a schedule now; its plan is not touched.

        `runtime/schedule.run`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        not_found, backpressure, policy_blocked, storage_full.

        :param agent: Its agent: name or id.
        :param name: Its name.
        """
        required: Dict[str, Any] = {"agent": agent, "name": name}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/schedule.run", required, optional, ctx, "again")
        return cast(t.RunResult, result)

    def pause(
        self,
        *,
        agent: str,
        name: t.AgentName,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ScheduleView:
        """Lets a schedule rest; what comes due meanwhile is skipped.

        `runtime/schedule.pause`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, storage_full.

        :param agent: Its agent: name or id.
        :param name: Its name.
        """
        required: Dict[str, Any] = {"agent": agent, "name": name}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/schedule.pause", required, optional, ctx, "same")
        return cast(t.ScheduleView, result)

    def resume(
        self,
        *,
        agent: str,
        name: t.AgentName,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ScheduleView:
        """Lets a paused schedule run again.

        `runtime/schedule.resume`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, storage_full.

        :param agent: Its agent: name or id.
        :param name: Its name.
        """
        required: Dict[str, Any] = {"agent": agent, "name": name}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/schedule.resume", required, optional, ctx, "same")
        return cast(t.ScheduleView, result)

    def remove(
        self,
        *,
        agent: str,
        name: t.AgentName,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.Empty:
        """Ends a schedule that is not part of a manifest; its history stays.

        `runtime/schedule.remove`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_state, storage_full.

        :param agent: Its agent: name or id.
        :param name: Its name.
        """
        required: Dict[str, Any] = {"agent": agent, "name": name}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/schedule.remove", required, optional, ctx, "same")
        return cast(t.Empty, result)


class RuntimeAdapter(Group):
    """`runtime/adapter.*`"""

    def list(
        self,
        *,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.AdaptersResult:
        """Lists the terminal adapters that are in force.

        `runtime/adapter.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        none.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {}
        result = self._call("runtime/adapter.list", required, optional, ctx, "safe")
        return cast(t.AdaptersResult, result)

    def check(
        self,
        *,
        adapter: str,
        agent: Optional[str] = None,
        screen: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.AdapterCheckResult:
        """Reads an adapter's text, and tells what it says of a screen.

        `runtime/adapter.check`: reads; a token needs: `attach`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_params, invalid_state.

        :param adapter: The adapter's text.
        :param agent: The agent whose screen is read.
        :param screen: A recorded screen to read instead.
        """
        required: Dict[str, Any] = {"adapter": adapter}
        optional: Dict[str, Any] = {"agent": agent, "screen": screen}
        result = self._call("runtime/adapter.check", required, optional, ctx, "safe")
        return cast(t.AdapterCheckResult, result)


class RuntimeRecording(Group):
    """`runtime/recording.*`"""

    def read(
        self,
        *,
        agent: str,
        epoch: Optional[t.Epoch] = None,
        offset: Optional[int] = None,
        last_bytes: Optional[int] = None,
        limit_bytes: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.RecordingResult:
        """Reads a recording, also of an epoch or agent that is gone.

        `runtime/recording.read`: reads; a token needs: `attach`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_state.

        :param agent: Name or id, also of a retired agent by id.
        :param epoch: The epoch; the newest if not given.
        :param offset: From the first event at or after this offset of output.
        :param last_bytes: Instead of `offset`: the last this many bytes of output.
        :param limit_bytes: Most bytes of output to give; 1 MiB if not given.
        """
        required: Dict[str, Any] = {"agent": agent}
        optional: Dict[str, Any] = {"epoch": epoch, "offset": offset, "last_bytes": last_bytes, "limit_bytes": limit_bytes}
        result = self._call("runtime/recording.read", required, optional, ctx, "safe")
        return cast(t.RecordingResult, result)


class Runtime(Group):
    """`runtime/*`"""

    def __init__(self, caller: Caller) -> None:
        super().__init__(caller)
        self.node = RuntimeNode(caller)
        self.agent = RuntimeAgent(caller)
        self.retirement = RuntimeRetirement(caller)
        self.epoch = RuntimeEpoch(caller)
        self.override = RuntimeOverride(caller)
        self.process = RuntimeProcess(caller)
        self.environment = RuntimeEnvironment(caller)
        self.host = RuntimeHost(caller)
        self.inbox = RuntimeInbox(caller)
        self.message = RuntimeMessage(caller)
        self.topic = RuntimeTopic(caller)
        self.dead_letter = RuntimeDeadLetter(caller)
        self.item = RuntimeItem(caller)
        self.status = RuntimeStatus(caller)
        self.hook = RuntimeHook(caller)
        self.transcript = RuntimeTranscript(caller)
        self.task = RuntimeTask(caller)
        self.run = RuntimeRun(caller)
        self.job = RuntimeJob(caller)
        self.job_item = RuntimeJobItem(caller)
        self.subagent = RuntimeSubagent(caller)
        self.schedule = RuntimeSchedule(caller)
        self.adapter = RuntimeAdapter(caller)
        self.recording = RuntimeRecording(caller)


class ConversationAction(Group):
    """`conversation/action.*`"""

    def open(
        self,
        *,
        kind: t.ActionKind,
        prompt: str,
        agent: Optional[str] = None,
        choices: Optional[List[t.Choice]] = None,
        schema: Optional[Any] = None,
        subject: Optional[Any] = None,
        roles: Optional[List[t.SafeLabel]] = None,
        quorum: Optional[int] = None,
        expires_in_ms: Optional[int] = None,
        causation: Optional[t.MessageId] = None,
        idempotency_key: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ActionView:
        """Asks a person: a question, or leave to do something.

        `conversation/action.open`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, too_large, backpressure, idempotency_mismatch, storage_full.

        :param kind: A question or an approval.
        :param prompt: What a person reads.
        :param agent: The agent that asks: name or id. Left out: the calling agent.
        :param choices: The answers to choose from.
        :param schema: The JSON Schema of an answer.
        :param subject: What is to be done, word for word: what is approved is this and nothing else.
        :param roles: Who may decide: any of these roles; none: any operator.
        :param quorum: How many different persons must approve.
        :param expires_in_ms: Milliseconds after which silence is a denial; left out: a day.
        :param causation: The message that led to it.
        :param idempotency_key: Key against asking twice.
        """
        required: Dict[str, Any] = {"kind": kind, "prompt": prompt}
        optional: Dict[str, Any] = {"agent": agent, "choices": choices, "schema": schema, "subject": subject, "roles": roles, "quorum": quorum, "expires_in_ms": expires_in_ms, "causation": causation, "idempotency_key": idempotency_key}
        result = self._call("conversation/action.open", required, optional, ctx, "again")
        return cast(t.ActionView, result)

    def list(
        self,
        *,
        agent: Optional[str] = None,
        all: Optional[bool] = None,
        limit: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ActionListResult:
        """Lists what waits for a person.

        `conversation/action.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param agent: Only of this agent: name or id.
        :param all: Also those that are decided.
        :param limit: Most to list, at most 200.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"agent": agent, "all": all, "limit": limit}
        result = self._call("conversation/action.list", required, optional, ctx, "safe")
        return cast(t.ActionListResult, result)

    def get(
        self,
        *,
        action_id: t.ActionId,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ActionView:
        """Shows an action.

        `conversation/action.get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param action_id: Its id.
        """
        required: Dict[str, Any] = {"action_id": action_id}
        optional: Dict[str, Any] = {}
        result = self._call("conversation/action.get", required, optional, ctx, "safe")
        return cast(t.ActionView, result)

    def respond(
        self,
        *,
        action_id: t.ActionId,
        digest: str,
        verdict: t.Verdict,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ActionView:
        """Approves, denies or answers an action.

        `conversation/action.respond`: writes; a token needs: `approve`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_params, invalid_state, conflict, permission_denied, policy_blocked, storage_full.

        :param action_id: Its id.
        :param digest: The digest of what was looked at: a decision is about exactly that.
        :param verdict: What is decided.
        """
        required: Dict[str, Any] = {"action_id": action_id, "digest": digest, "verdict": verdict}
        optional: Dict[str, Any] = {}
        result = self._call("conversation/action.respond", required, optional, ctx, "same")
        return cast(t.ActionView, result)

    def cancel(
        self,
        *,
        action_id: t.ActionId,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ActionView:
        """Takes an action back.

        `conversation/action.cancel`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_state, storage_full.

        :param action_id: Its id.
        """
        required: Dict[str, Any] = {"action_id": action_id}
        optional: Dict[str, Any] = {}
        result = self._call("conversation/action.cancel", required, optional, ctx, "same")
        return cast(t.ActionView, result)


class ConversationSession(Group):
    """`conversation/session.*`"""

    def create(
        self,
        *,
        agent: Optional[str] = None,
        session_id: Optional[t.SessionId] = None,
        title: Optional[str] = None,
        labels: Optional[Dict[str, t.SafeLabel]] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.SessionEntry:
        """Makes a further session of an agent, with its first thread.

        `conversation/session.create`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, unsupported, conflict, quota_exhausted, storage_full.

        :param agent: Name or id; an agent may leave its own out.
        :param session_id: Its id, by the caller's choice: then it is the key against making it twice.
        :param title: What it is called, at most 256 bytes.
        :param labels: By what it is found, at most 16.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"agent": agent, "session_id": session_id, "title": title, "labels": labels}
        result = self._call("conversation/session.create", required, optional, ctx, "again")
        return cast(t.SessionEntry, result)

    def get(
        self,
        *,
        session_id: t.SessionId,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.SessionEntry:
        """Shows a session.

        `conversation/session.get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param session_id: Its id.
        """
        required: Dict[str, Any] = {"session_id": session_id}
        optional: Dict[str, Any] = {}
        result = self._call("conversation/session.get", required, optional, ctx, "safe")
        return cast(t.SessionEntry, result)

    def list(
        self,
        *,
        agent: Optional[str] = None,
        archived: Optional[bool] = None,
        limit: Optional[int] = None,
        cursor: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.SessionListResult:
        """Lists sessions.

        `conversation/session.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param agent: Only those of this agent.
        :param archived: Also archived ones.
        :param limit: Most to list, at most 500.
        :param cursor: Where the page before ended.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"agent": agent, "archived": archived, "limit": limit, "cursor": cursor}
        result = self._call("conversation/session.list", required, optional, ctx, "safe")
        return cast(t.SessionListResult, result)

    def archive(
        self,
        *,
        session_id: t.SessionId,
        if_version: Optional[int] = None,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.SessionEntry:
        """Lets a session and its threads take no turns any more; their history stays.

        `conversation/session.archive`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_state, version_conflict, storage_full.

        :param session_id: Its id.
        :param if_version: Only if it is at this version.
        :param reason: Why, for people.
        """
        required: Dict[str, Any] = {"session_id": session_id}
        optional: Dict[str, Any] = {"if_version": if_version, "reason": reason}
        result = self._call("conversation/session.archive", required, optional, ctx, "same")
        return cast(t.SessionEntry, result)


class ConversationThread(Group):
    """`conversation/thread.*`"""

    def create(
        self,
        *,
        thread_id: Optional[t.ThreadId] = None,
        session_id: Optional[t.SessionId] = None,
        agent: Optional[str] = None,
        title: Optional[str] = None,
        labels: Optional[Dict[str, t.SafeLabel]] = None,
        parent_thread_id: Optional[t.ThreadId] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ThreadView:
        """Makes a thread.

        `conversation/thread.create`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, invalid_state, unsupported, conflict, quota_exhausted, storage_full.

        :param thread_id: Its id, by the caller's choice, as a UUID of version 7: then it is the key against making it twice.
        :param session_id: The session that it becomes part of; else the agent's first one.
        :param agent: Name or id; an agent may leave its own out.
        :param title: What it is called, at most 256 bytes.
        :param labels: By what it is found, at most 16.
        :param parent_thread_id: The thread that it goes on from, with all of its turns so far.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"thread_id": thread_id, "session_id": session_id, "agent": agent, "title": title, "labels": labels, "parent_thread_id": parent_thread_id}
        result = self._call("conversation/thread.create", required, optional, ctx, "again")
        return cast(t.ThreadView, result)

    def get(
        self,
        *,
        thread_id: Optional[t.ThreadId] = None,
        agent: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ThreadView:
        """Shows a thread.

        `conversation/thread.get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param thread_id: Its id.
        :param agent: An agent by name or id, whose first thread is meant.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"thread_id": thread_id, "agent": agent}
        result = self._call("conversation/thread.get", required, optional, ctx, "safe")
        return cast(t.ThreadView, result)

    def list(
        self,
        *,
        agent: Optional[str] = None,
        session_id: Optional[t.SessionId] = None,
        archived: Optional[bool] = None,
        limit: Optional[int] = None,
        cursor: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ThreadListResult:
        """Lists threads.

        `conversation/thread.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param agent: Only those of this agent.
        :param session_id: Only those of this session.
        :param archived: Also archived ones.
        :param limit: Most to list, at most 500.
        :param cursor: Where the page before ended.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"agent": agent, "session_id": session_id, "archived": archived, "limit": limit, "cursor": cursor}
        result = self._call("conversation/thread.list", required, optional, ctx, "safe")
        return cast(t.ThreadListResult, result)

    def update(
        self,
        *,
        thread_id: t.ThreadId,
        title: Optional[str] = None,
        labels: Optional[Dict[str, t.SafeLabel]] = None,
        if_version: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ThreadView:
        """Calls a thread something else.

        `conversation/thread.update`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_params, version_conflict, storage_full.

        :param thread_id: Its id.
        :param title: What it is called from here on; an empty one is none.
        :param labels: All labels that it has from here on.
        :param if_version: Only if it is at this version.
        """
        required: Dict[str, Any] = {"thread_id": thread_id}
        optional: Dict[str, Any] = {"title": title, "labels": labels, "if_version": if_version}
        result = self._call("conversation/thread.update", required, optional, ctx, "same")
        return cast(t.ThreadView, result)

    def archive(
        self,
        *,
        thread_id: t.ThreadId,
        if_version: Optional[int] = None,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ThreadView:
        """Lets a thread take no turns any more; its history stays.

        `conversation/thread.archive`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_state, version_conflict, storage_full.

        :param thread_id: Its id.
        :param if_version: Only if it is at this version.
        :param reason: Why, for people.
        """
        required: Dict[str, Any] = {"thread_id": thread_id}
        optional: Dict[str, Any] = {"if_version": if_version, "reason": reason}
        result = self._call("conversation/thread.archive", required, optional, ctx, "same")
        return cast(t.ThreadView, result)

    def read(
        self,
        *,
        thread_id: Optional[t.ThreadId] = None,
        agent: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ThreadReadResult:
        """Tells what happens in a thread now.

        `conversation/thread.read`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param thread_id: Its id.
        :param agent: An agent by name or id, whose first thread is meant.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"thread_id": thread_id, "agent": agent}
        result = self._call("conversation/thread.read", required, optional, ctx, "safe")
        return cast(t.ThreadReadResult, result)

    def resume(
        self,
        *,
        thread_id: Optional[t.ThreadId] = None,
        agent: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ThreadResumeResult:
        """Tells what a crash or a stop left uncertain in a thread, and what can be done.

        `conversation/thread.resume`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param thread_id: Its id.
        :param agent: An agent by name or id, whose first thread is meant.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"thread_id": thread_id, "agent": agent}
        result = self._call("conversation/thread.resume", required, optional, ctx, "safe")
        return cast(t.ThreadResumeResult, result)

    def fork(
        self,
        *,
        thread_id: t.ThreadId,
        turn_id: Optional[t.TurnId] = None,
        agent: Optional[str] = None,
        fork_id: Optional[t.ThreadId] = None,
        title: Optional[str] = None,
        labels: Optional[Dict[str, t.SafeLabel]] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ThreadView:
        """Makes a thread that goes on from a turn of another one.

        `conversation/thread.fork`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, invalid_state, unsupported, conflict, quota_exhausted, storage_full.

        :param thread_id: The thread to go on from.
        :param turn_id: The last turn that is part of the fork's history; the newest one that was given if not said.
        :param agent: The agent that the fork belongs to, if it is another one.
        :param fork_id: The fork's id, by the caller's choice: then it is the key against making it twice.
        :param title: What it is called, at most 256 bytes.
        :param labels: By what it is found, at most 16.
        """
        required: Dict[str, Any] = {"thread_id": thread_id}
        optional: Dict[str, Any] = {"turn_id": turn_id, "agent": agent, "fork_id": fork_id, "title": title, "labels": labels}
        result = self._call("conversation/thread.fork", required, optional, ctx, "again")
        return cast(t.ThreadView, result)

    def rollback(
        self,
        *,
        thread_id: t.ThreadId,
        to_turn: Optional[t.TurnId] = None,
        interrupt: Optional[bool] = None,
        if_version: Optional[int] = None,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ThreadRollbackResult:
        """Takes the last turns of a thread out of its history, and lets its program begin anew without them.

        `conversation/thread.rollback`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_state, version_conflict, too_large, unsupported, storage_full.

        :param thread_id: The thread.
        :param to_turn: The last turn that survives; none means that none does.
        :param interrupt: Whether a turn that runs is cut short for it.
        :param if_version: Only if the thread is at this version.
        :param reason: Why, for people.
        """
        required: Dict[str, Any] = {"thread_id": thread_id}
        optional: Dict[str, Any] = {"to_turn": to_turn, "interrupt": interrupt, "if_version": if_version, "reason": reason}
        result = self._call("conversation/thread.rollback", required, optional, ctx, "same")
        return cast(t.ThreadRollbackResult, result)

    def compact(
        self,
        *,
        thread_id: t.ThreadId,
        summary: str,
        through: Optional[t.TurnId] = None,
        rebuild: Optional[bool] = None,
        interrupt: Optional[bool] = None,
        if_version: Optional[int] = None,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ThreadCompactResult:
        """Draws a boundary in a thread: its program begins anew and is told a summary of what is up to it.

        `conversation/thread.compact`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_params, invalid_state, version_conflict, unsupported, storage_full.

        :param thread_id: The thread.
        :param summary: What stands for it: 1 to 16,384 bytes. It is quoted as the caller's words.
        :param through: The last turn that the summary stands for; if not said, the newest one that has begun and does not run.
        :param rebuild: Whether its program begins anew at once. Else it keeps what it has until its next epoch, and a turn that runs is left alone.
        :param interrupt: Whether a turn that runs is cut short for it.
        :param if_version: Only if the thread is at this version.
        :param reason: Why, for people.
        """
        required: Dict[str, Any] = {"thread_id": thread_id, "summary": summary}
        optional: Dict[str, Any] = {"through": through, "rebuild": rebuild, "interrupt": interrupt, "if_version": if_version, "reason": reason}
        result = self._call("conversation/thread.compact", required, optional, ctx, "same")
        return cast(t.ThreadCompactResult, result)


class ConversationTurn(Group):
    """`conversation/turn.*`"""

    def start(
        self,
        *,
        input: List[t.Part],
        thread_id: Optional[t.ThreadId] = None,
        agent: Optional[str] = None,
        create: Optional[t.ThreadToCreate] = None,
        turn_id: Optional[t.TurnId] = None,
        on_busy: Optional[t.OnBusy] = None,
        priority: Optional[t.Priority] = None,
        expires_in_ms: Optional[int] = None,
        limits: Optional[t.RunLimits] = None,
        workspace_id: Optional[t.WorkspaceId] = None,
        workspace_mode: Optional[t.BindingMode] = None,
        authority: Optional[t.Authority] = None,
        idempotency_key: Optional[str] = None,
        reply_to: Optional[t.MessageId] = None,
        causation: Optional[t.MessageId] = None,
        on_behalf_of: Optional[List[t.BehalfParam]] = None,
        display_name: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.TurnStartResult:
        """Begins a turn: says something to an agent in a thread.

        `conversation/turn.start`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, invalid_state, unsupported, too_large, backpressure, rate_limited, conflict, idempotency_mismatch, policy_blocked, locked, quota_exhausted, storage_full.

        :param input: What to say: at most 4 MiB of JSON.
        :param thread_id: The thread; or name an agent, or a thread to make.
        :param agent: An agent by name or id, whose first thread is meant.
        :param create: A thread that is made together with the turn.
        :param turn_id: Its id, by the caller's choice, as a UUID of version 7: then it is the key against beginning it twice.
        :param on_busy: What becomes of it while another turn runs or waits.
        :param priority: Which waiting turn goes first.
        :param expires_in_ms: Milliseconds after which it is no longer worth beginning.
        :param limits: What it may use. With limits its task and its run are written down; without, they are read from the turn.
        :param workspace_id: The workspace that the turn's run is bound to, in the step that makes the turn.
        :param workspace_mode: What may be done in it: `rw` unless it is said.
        :param authority: Less authority than the caller has; more is refused.
        :param idempotency_key: Key against beginning it twice.
        :param reply_to: The message it answers.
        :param causation: The message that made the caller begin it.
        :param on_behalf_of: For whom the caller speaks, nearest first; at most eight.
        :param display_name: A name that the caller gives itself; shown to people, never proof.
        """
        required: Dict[str, Any] = {"input": input}
        optional: Dict[str, Any] = {"thread_id": thread_id, "agent": agent, "create": create, "turn_id": turn_id, "on_busy": on_busy, "priority": priority, "expires_in_ms": expires_in_ms, "limits": limits, "workspace_id": workspace_id, "workspace_mode": workspace_mode, "authority": authority, "idempotency_key": idempotency_key, "reply_to": reply_to, "causation": causation, "on_behalf_of": on_behalf_of, "display_name": display_name}
        result = self._call("conversation/turn.start", required, optional, ctx, "again")
        return cast(t.TurnStartResult, result)

    def steer(
        self,
        *,
        turn_id: t.TurnId,
        input: List[t.Part],
        authority: Optional[t.Authority] = None,
        idempotency_key: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.TurnStartResult:
        """Says something into a turn that runs.

        `conversation/turn.steer`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_state, unsupported, too_large, backpressure, idempotency_mismatch, policy_blocked, storage_full.

        :param turn_id: The turn.
        :param input: What to say.
        :param authority: Less authority than the caller has; more is refused.
        :param idempotency_key: Key against saying it twice.
        """
        required: Dict[str, Any] = {"turn_id": turn_id, "input": input}
        optional: Dict[str, Any] = {"authority": authority, "idempotency_key": idempotency_key}
        result = self._call("conversation/turn.steer", required, optional, ctx, "again")
        return cast(t.TurnStartResult, result)

    def interrupt(
        self,
        *,
        turn_id: t.TurnId,
        reason: Optional[str] = None,
        queued: Optional[t.QueueFate] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.TurnInterruptResult:
        """Asks for the end of a turn.

        `conversation/turn.interrupt`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_params, unsupported, permission_denied, storage_full.

        :param turn_id: The turn.
        :param reason: Why, for people and the program.
        :param queued: What becomes of the turns of its thread that wait. Only operators may drop them.
        """
        required: Dict[str, Any] = {"turn_id": turn_id}
        optional: Dict[str, Any] = {"reason": reason, "queued": queued}
        result = self._call("conversation/turn.interrupt", required, optional, ctx, "same")
        return cast(t.TurnInterruptResult, result)

    def get(
        self,
        *,
        turn_id: t.TurnId,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.TurnView:
        """Shows a turn.

        `conversation/turn.get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param turn_id: Its id.
        """
        required: Dict[str, Any] = {"turn_id": turn_id}
        optional: Dict[str, Any] = {}
        result = self._call("conversation/turn.get", required, optional, ctx, "safe")
        return cast(t.TurnView, result)

    def list(
        self,
        *,
        thread_id: Optional[t.ThreadId] = None,
        agent: Optional[str] = None,
        removed: Optional[bool] = None,
        newest: Optional[bool] = None,
        limit: Optional[int] = None,
        cursor: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.TurnListResult:
        """Lists turns.

        `conversation/turn.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_params.

        :param thread_id: Those of a thread.
        :param agent: Those of all threads of an agent, by name or id.
        :param removed: Also those that were rolled back.
        :param newest: The newest first.
        :param limit: Most to look through, at most 500.
        :param cursor: Where the page before ended.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"thread_id": thread_id, "agent": agent, "removed": removed, "newest": newest, "limit": limit, "cursor": cursor}
        result = self._call("conversation/turn.list", required, optional, ctx, "safe")
        return cast(t.TurnListResult, result)


class ConversationItem(Group):
    """`conversation/item.*`"""

    def list(
        self,
        *,
        turn_id: Optional[t.TurnId] = None,
        thread_id: Optional[t.ThreadId] = None,
        after: Optional[int] = None,
        limit: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ItemListResult:
        """Lists the items of a turn or a thread.

        `conversation/item.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_params.

        :param turn_id: Those of a turn.
        :param thread_id: Those of a thread; what was rolled back is left out.
        :param after: Behind this number in the agent's stream.
        :param limit: Most to list, at most 500. Long ones may make it fewer.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"turn_id": turn_id, "thread_id": thread_id, "after": after, "limit": limit}
        result = self._call("conversation/item.list", required, optional, ctx, "safe")
        return cast(t.ItemListResult, result)


class ConversationQueue(Group):
    """`conversation/queue.*`"""

    def list(
        self,
        *,
        thread_id: Optional[t.ThreadId] = None,
        agent: Optional[str] = None,
        limit: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.QueueResult:
        """Lists the turns that wait, in the order of delivery.

        `conversation/queue.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_params.

        :param thread_id: Those of a thread.
        :param agent: Those of all threads of an agent, by name or id.
        :param limit: Most to list, at most 500.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"thread_id": thread_id, "agent": agent, "limit": limit}
        result = self._call("conversation/queue.list", required, optional, ctx, "safe")
        return cast(t.QueueResult, result)

    def remove(
        self,
        *,
        turn_id: t.TurnId,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.TurnView:
        """Takes a waiting turn out of the queue.

        `conversation/queue.remove`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_state, storage_full.

        :param turn_id: The turn.
        :param reason: Why, for people.
        """
        required: Dict[str, Any] = {"turn_id": turn_id}
        optional: Dict[str, Any] = {"reason": reason}
        result = self._call("conversation/queue.remove", required, optional, ctx, "same")
        return cast(t.TurnView, result)

    def promote(
        self,
        *,
        turn_id: t.TurnId,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.QueueResult:
        """Puts a waiting turn before all others that wait.

        `conversation/queue.promote`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_state, storage_full.

        :param turn_id: Its id.
        """
        required: Dict[str, Any] = {"turn_id": turn_id}
        optional: Dict[str, Any] = {}
        result = self._call("conversation/queue.promote", required, optional, ctx, "same")
        return cast(t.QueueResult, result)


class ConversationOutput(Group):
    """`conversation/output.*`"""

    def get(
        self,
        *,
        output_id: t.OutputId,
        offset: Optional[int] = None,
        bytes_max: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.OutputView:
        """Reads what a turn came to.

        `conversation/output.get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param output_id: Its id.
        :param offset: From this byte on, or the beginning of the character that holds it.
        :param bytes_max: Most bytes to read, at most 1 MiB.
        """
        required: Dict[str, Any] = {"output_id": output_id}
        optional: Dict[str, Any] = {"offset": offset, "bytes_max": bytes_max}
        result = self._call("conversation/output.get", required, optional, ctx, "safe")
        return cast(t.OutputView, result)

    def list(
        self,
        *,
        thread_id: Optional[t.ThreadId] = None,
        agent: Optional[str] = None,
        newest: Optional[bool] = None,
        limit: Optional[int] = None,
        cursor: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.OutputListResult:
        """Lists what turns came to.

        `conversation/output.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_params.

        :param thread_id: Those of a thread.
        :param agent: Those of all threads of an agent, by name or id.
        :param newest: The newest first.
        :param limit: Most to look through, at most 500.
        :param cursor: Where the page before ended.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"thread_id": thread_id, "agent": agent, "newest": newest, "limit": limit, "cursor": cursor}
        result = self._call("conversation/output.list", required, optional, ctx, "safe")
        return cast(t.OutputListResult, result)


class ConversationDelivery(Group):
    """`conversation/delivery.*`"""

    def create(
        self,
        *,
        output_id: t.OutputId,
        destination: t.DestinationParam,
        delivery_id: Optional[t.DeliveryId] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.DeliveryView:
        """Hands an output over.

        `conversation/delivery.create`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, conflict, storage_full.

        :param output_id: What to hand over.
        :param destination: To whom.
        :param delivery_id: Its id, by the caller's choice, as a UUID of version 7: then it is the key against doing it twice.
        """
        required: Dict[str, Any] = {"output_id": output_id, "destination": destination}
        optional: Dict[str, Any] = {"delivery_id": delivery_id}
        result = self._call("conversation/delivery.create", required, optional, ctx, "again")
        return cast(t.DeliveryView, result)

    def ack(
        self,
        *,
        delivery_id: t.DeliveryId,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.DeliveryView:
        """Says that an output that was handed over is there.

        `conversation/delivery.ack`: writes; a token needs: `signal`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_state, storage_full.

        :param delivery_id: Its id.
        """
        required: Dict[str, Any] = {"delivery_id": delivery_id}
        optional: Dict[str, Any] = {}
        result = self._call("conversation/delivery.ack", required, optional, ctx, "same")
        return cast(t.DeliveryView, result)

    def list(
        self,
        *,
        agent: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.DeliveryListResult:
        """Lists deliveries.

        `conversation/delivery.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param agent: Those of an agent's outputs and to that agent, by name or id.
        :param limit: Most to list, at most 500.
        :param cursor: Where the page before ended.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"agent": agent, "limit": limit, "cursor": cursor}
        result = self._call("conversation/delivery.list", required, optional, ctx, "safe")
        return cast(t.DeliveryListResult, result)


class ConversationContext(Group):
    """`conversation/context.*`"""

    def search(
        self,
        *,
        query: str,
        limit: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ContextSearchResult:
        """Finds texts in the store of contexts, best first.

        `conversation/context.search`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        invalid_params, upstream_failed.

        :param query: Words. At most 4 KiB.
        :param limit: Most texts, at most 100.
        """
        required: Dict[str, Any] = {"query": query}
        optional: Dict[str, Any] = {"limit": limit}
        result = self._call("conversation/context.search", required, optional, ctx, "safe")
        return cast(t.ContextSearchResult, result)

    def read(
        self,
        *,
        reference: str,
        offset: Optional[int] = None,
        limit: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ContextReadResult:
        """Reads a text of the store of contexts, or a part of it.

        `conversation/context.read`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_params, upstream_failed.

        :param reference: Which.
        :param offset: From this byte on; from the beginning of the letter that is there.
        :param limit: Most bytes, at most 2 MiB.
        """
        required: Dict[str, Any] = {"reference": reference}
        optional: Dict[str, Any] = {"offset": offset, "limit": limit}
        result = self._call("conversation/context.read", required, optional, ctx, "safe")
        return cast(t.ContextReadResult, result)

    def resolve(
        self,
        *,
        agent: Optional[str] = None,
        turn_id: Optional[t.TurnId] = None,
        query: Optional[str] = None,
        references: Optional[List[str]] = None,
        limit: Optional[int] = None,
        budget_bytes: Optional[int] = None,
        budget_tokens: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ContextResolveResult:
        """Chooses texts for a budget, and records what was chosen and what was left out.

        `conversation/context.resolve`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, upstream_failed, storage_full.

        :param agent: The agent for which it is; without, the calling agent, or nobody but the node.
        :param turn_id: The turn of that agent in which it is asked for.
        :param query: Words. At most 4 KiB.
        :param references: Texts that are named, in their order. At most 100.
        :param limit: Most texts that the query may choose, at most 100; 10 if not given.
        :param budget_bytes: Room in bytes, at most 2 MiB; 64 KiB if nothing is said.
        :param budget_tokens: Room in tokens, each taken as four bytes. With both, the smaller counts.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"agent": agent, "turn_id": turn_id, "query": query, "references": references, "limit": limit, "budget_bytes": budget_bytes, "budget_tokens": budget_tokens}
        result = self._call("conversation/context.resolve", required, optional, ctx, "again")
        return cast(t.ContextResolveResult, result)


class Conversation(Group):
    """`conversation/*`"""

    def __init__(self, caller: Caller) -> None:
        super().__init__(caller)
        self.action = ConversationAction(caller)
        self.session = ConversationSession(caller)
        self.thread = ConversationThread(caller)
        self.turn = ConversationTurn(caller)
        self.item = ConversationItem(caller)
        self.queue = ConversationQueue(caller)
        self.output = ConversationOutput(caller)
        self.delivery = ConversationDelivery(caller)
        self.context = ConversationContext(caller)


class PolicyRule(Group):
    """`policy/rule.*`"""

    def list(
        self,
        *,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.RulesResult:
        """Lists the rules that are in force.

        `policy/rule.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        none.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {}
        result = self._call("policy/rule.list", required, optional, ctx, "safe")
        return cast(t.RulesResult, result)

    def check(
        self,
        *,
        files: List[t.PolicyFile],
        layer: Optional[t.PolicyLayer] = None,
        request: Optional[t.ExplainParams] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.CheckResult:
        """Looks whether rules could be put in force, and what they would say.

        `policy/rule.check`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, too_large.

        :param files: The files.
        :param layer: The layer they are for.
        :param request: A request to be decided as if they were in force.
        """
        required: Dict[str, Any] = {"files": files}
        optional: Dict[str, Any] = {"layer": layer, "request": request}
        result = self._call("policy/rule.check", required, optional, ctx, "safe")
        return cast(t.CheckResult, result)

    def reload(
        self,
        *,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.RulesResult:
        """Reads the files of rules now instead of within a second.

        `policy/rule.reload`: writes; a token needs: no token is enough; an operator whom the kernel vouches for;
        a repetition without a key leaves what the first made true. Errors of its own:
        storage_full.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {}
        result = self._call("policy/rule.reload", required, optional, ctx, "same")
        return cast(t.RulesResult, result)


class PolicyDecision(Group):
    """`policy/decision.*`"""

    def explain(
        self,
        *,
        to: str,
        action: Optional[t.PolicyAction] = None,
        from_: Optional[str] = None,
        channel: Optional[t.Channel] = None,
        authority: Optional[t.Authority] = None,
        bytes: Optional[int] = None,
        topic: Optional[t.SafeLabel] = None,
        hops: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ExplainResult:
        """Tells what the rules say of a request, and which of them decides.

        `policy/decision.explain`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param to: The agent it is wanted of: name or id.
        :param action: What is wanted.
        :param from_: Who wants it: `operator`, `node`, `external`, `service:NAME` or the name of an agent. Left out: the caller.
        :param channel: On which channel; left out: the one that the sender has.
        :param authority: With which authority; left out: the most that the sender has.
        :param bytes: How many bytes of content.
        :param topic: The topic.
        :param hops: How many agents it has passed through.
        """
        required: Dict[str, Any] = {"to": to}
        optional: Dict[str, Any] = {"action": action, "from": from_, "channel": channel, "authority": authority, "bytes": bytes, "topic": topic, "hops": hops}
        result = self._call("policy/decision.explain", required, optional, ctx, "safe")
        return cast(t.ExplainResult, result)


class Policy(Group):
    """`policy/*`"""

    def __init__(self, caller: Caller) -> None:
        super().__init__(caller)
        self.rule = PolicyRule(caller)
        self.decision = PolicyDecision(caller)


class SecurityToken(Group):
    """`security/token.*`"""

    def create(
        self,
        *,
        principal: t.SafeLabel,
        kind: t.TokenKind,
        scopes: List[t.Scope],
        roles: Optional[List[t.SafeLabel]] = None,
        expires_in_ms: Optional[int] = None,
        remote: Optional[bool] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.CreateResult:
        """Makes a token for a person or a program.

        `security/token.create`: writes; a token needs: no token is enough; an operator whom the kernel vouches for;
        a repetition without a key acts again. Errors of its own:
        quota_exhausted, storage_full.

        :param principal: As whom its bearer is known.
        :param kind: For a person or for a program.
        :param scopes: What its bearer may do.
        :param roles: Roles in which its bearer decides pending actions.
        :param expires_in_ms: Milliseconds until it is worth nothing; left out: until it is revoked.
        :param remote: Whether that of a person also counts where the kernel says nothing of its bearer: over a network connection. Whoever finds it is then that person, an agent of this machine, too.
        """
        required: Dict[str, Any] = {"principal": principal, "kind": kind, "scopes": scopes}
        optional: Dict[str, Any] = {"roles": roles, "expires_in_ms": expires_in_ms, "remote": remote}
        result = self._call("security/token.create", required, optional, ctx, "again")
        return cast(t.CreateResult, result)

    def list(
        self,
        *,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.TokensResult:
        """Lists the tokens that were made.

        `security/token.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        none.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {}
        result = self._call("security/token.list", required, optional, ctx, "safe")
        return cast(t.TokensResult, result)

    def revoke(
        self,
        *,
        token_id: t.TokenId,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.Empty:
        """Makes a token worth nothing.

        `security/token.revoke`: writes; a token needs: no token is enough; an operator whom the kernel vouches for;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, storage_full.

        :param token_id: Its id.
        :param reason: Why, for the record.
        """
        required: Dict[str, Any] = {"token_id": token_id}
        optional: Dict[str, Any] = {"reason": reason}
        result = self._call("security/token.revoke", required, optional, ctx, "same")
        return cast(t.Empty, result)

    def epoch(
        self,
        *,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.EpochTokenResult:
        """Gives the calling agent a short token of its epoch, for where its socket cannot be reached.

        `security/token.epoch`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        permission_denied.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {}
        result = self._call("security/token.epoch", required, optional, ctx, "safe")
        return cast(t.EpochTokenResult, result)


class SecurityCertificate(Group):
    """`security/certificate.*`"""

    def add(
        self,
        *,
        fingerprint: str,
        principal: t.SafeLabel,
        kind: t.TokenKind,
        scopes: List[t.Scope],
        roles: Optional[List[t.SafeLabel]] = None,
        expires_in_ms: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.AddCertificateResult:
        """Makes a client certificate the credential of a person or a program.

        `security/certificate.add`: writes; a token needs: no token is enough; an operator whom the kernel vouches for;
        a repetition without a key acts again. Errors of its own:
        invalid_params, conflict, quota_exhausted, storage_full.

        :param fingerprint: SHA-256 of the certificate's DER form, as 64 hexadecimal digits with or without colons.
        :param principal: As whom its bearer is known.
        :param kind: For a person or for a program.
        :param scopes: What its bearer may do.
        :param roles: Roles in which its bearer decides pending actions.
        :param expires_in_ms: Milliseconds until it is worth nothing; left out: until it is revoked.
        """
        required: Dict[str, Any] = {"fingerprint": fingerprint, "principal": principal, "kind": kind, "scopes": scopes}
        optional: Dict[str, Any] = {"roles": roles, "expires_in_ms": expires_in_ms}
        result = self._call("security/certificate.add", required, optional, ctx, "again")
        return cast(t.AddCertificateResult, result)


class SecurityKey(Group):
    """`security/key.*`"""

    def list(
        self,
        *,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.KeysResult:
        """Lists the keys that the node signs or has signed with.

        `security/key.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        none.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {}
        result = self._call("security/key.list", required, optional, ctx, "safe")
        return cast(t.KeysResult, result)

    def rotate(
        self,
        *,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.KeyView:
        """Makes a new key; what the old one signed stays valid.

        `security/key.rotate`: writes; a token needs: no token is enough; an operator whom the kernel vouches for;
        a repetition without a key acts again. Errors of its own:
        storage_full.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {}
        result = self._call("security/key.rotate", required, optional, ctx, "again")
        return cast(t.KeyView, result)


class Security(Group):
    """`security/*`"""

    def __init__(self, caller: Caller) -> None:
        super().__init__(caller)
        self.token = SecurityToken(caller)
        self.certificate = SecurityCertificate(caller)
        self.key = SecurityKey(caller)


class MemoryEntry(Group):
    """`memory/entry.*`"""

    def get(
        self,
        *,
        key: str,
        agent: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.Entry:
        """Reads a key of an agent's memory.

        `memory/entry.get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_state.

        :param key: The key.
        :param agent: Name or id.
        """
        required: Dict[str, Any] = {"key": key}
        optional: Dict[str, Any] = {"agent": agent}
        result = self._call("memory/entry.get", required, optional, ctx, "safe")
        return cast(t.Entry, result)

    def put(
        self,
        *,
        key: str,
        value: Any,
        agent: Optional[str] = None,
        if_version: Optional[int] = None,
        ttl_ms: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.Entry:
        """Writes a key of an agent's memory.

        `memory/entry.put`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        not_found, version_conflict, too_large, quota_exhausted, invalid_state, storage_full.

        :param key: The key.
        :param value: Any JSON value.
        :param agent: Name or id.
        :param if_version: Write only if the key is at this version; zero means that it must not exist.
        :param ttl_ms: Milliseconds after which it is forgotten.
        """
        required: Dict[str, Any] = {"key": key, "value": value}
        optional: Dict[str, Any] = {"agent": agent, "if_version": if_version, "ttl_ms": ttl_ms}
        result = self._call("memory/entry.put", required, optional, ctx, "again")
        return cast(t.Entry, result)

    def list(
        self,
        *,
        agent: Optional[str] = None,
        prefix: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.EntriesResult:
        """Lists the keys of an agent's memory.

        `memory/entry.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_state.

        :param agent: Name or id.
        :param prefix: Only keys that begin so.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"agent": agent, "prefix": prefix}
        result = self._call("memory/entry.list", required, optional, ctx, "safe")
        return cast(t.EntriesResult, result)

    def delete(
        self,
        *,
        key: str,
        agent: Optional[str] = None,
        if_version: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.Entry:
        """Removes a key of an agent's memory.

        `memory/entry.delete`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, version_conflict, invalid_state, storage_full.

        :param key: The key.
        :param agent: Name or id.
        :param if_version: Remove only if the key is at this version.
        """
        required: Dict[str, Any] = {"key": key}
        optional: Dict[str, Any] = {"agent": agent, "if_version": if_version}
        result = self._call("memory/entry.delete", required, optional, ctx, "same")
        return cast(t.Entry, result)

    def history(
        self,
        *,
        key: str,
        agent: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.EntriesResult:
        """Lists the versions of a key of an agent's memory.

        `memory/entry.history`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_state.

        :param key: The key.
        :param agent: Name or id.
        """
        required: Dict[str, Any] = {"key": key}
        optional: Dict[str, Any] = {"agent": agent}
        result = self._call("memory/entry.history", required, optional, ctx, "safe")
        return cast(t.EntriesResult, result)


class Memory(Group):
    """`memory/*`"""

    def __init__(self, caller: Caller) -> None:
        super().__init__(caller)
        self.entry = MemoryEntry(caller)


class StreamProjection(Group):
    """`stream/projection.*`"""

    def list(
        self,
        *,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ProjectionsResult:
        """Lists projections.

        `stream/projection.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        none.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {}
        result = self._call("stream/projection.list", required, optional, ctx, "safe")
        return cast(t.ProjectionsResult, result)

    def get(
        self,
        *,
        projection: str,
        target: Optional[t.Target] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ProjectionView:
        """Shows the state of a projection of a target.

        `stream/projection.get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param projection: Which projection.
        :param target: What it is about; the node if not given.
        """
        required: Dict[str, Any] = {"projection": projection}
        optional: Dict[str, Any] = {"target": target}
        result = self._call("stream/projection.get", required, optional, ctx, "safe")
        return cast(t.ProjectionView, result)

    def rebuild(
        self,
        *,
        projection: Optional[str] = None,
        target: Optional[t.Target] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.RebuildResult:
        """Drops what is kept of projections and makes them anew from the first event; progress comes as `core/progress`.

        `stream/projection.rebuild`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found.

        :param projection: Only this one.
        :param target: Only those of this target. Without it, those of the node and all that somebody has asked for.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"projection": projection, "target": target}
        result = self._call("stream/projection.rebuild", required, optional, ctx, "same")
        return cast(t.RebuildResult, result)

    def verify(
        self,
        *,
        projection: Optional[str] = None,
        target: Optional[t.Target] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ProjectionVerifyResult:
        """Makes projections anew from the first event and compares them with what is kept.

        `stream/projection.verify`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param projection: Only this one.
        :param target: Only those of this target. Without it, those of the node and all that somebody has asked for.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"projection": projection, "target": target}
        result = self._call("stream/projection.verify", required, optional, ctx, "safe")
        return cast(t.ProjectionVerifyResult, result)


class Stream(Group):
    """`stream/*`"""

    def __init__(self, caller: Caller) -> None:
        super().__init__(caller)
        self.projection = StreamProjection(caller)

    def replay(
        self,
        *,
        target: Optional[t.Target] = None,
        projection: Optional[str] = None,
        from_: Optional[t.From] = None,
        after: Optional[int] = None,
        cursor: Optional[str] = None,
        types: Optional[List[str]] = None,
        limit: Optional[int] = None,
        newest: Optional[bool] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ReplayResult:
        """Reads what a projection of the record says, from any point: events of the log, or what was made of them.

        `stream/replay`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, replay_gap.

        :param target: What it is about; the node if not given.
        :param projection: Which projection; `log` if not given.
        :param from_: From where.
        :param after: Only what has a higher number: in the log of the node its position, in that of an agent the number in its stream.
        :param cursor: Only what follows the place that a cursor names.
        :param types: Only these types; a type may end in `*`.
        :param limit: Most to read; 1,000 if not given, 10,000 at most. Long ones may make an answer end earlier.
        :param newest: Read the newest ones instead of the oldest.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"target": target, "projection": projection, "from": from_, "after": after, "cursor": cursor, "types": types, "limit": limit, "newest": newest}
        result = self._call("stream/replay", required, optional, ctx, "safe")
        return cast(t.ReplayResult, result)

    def subscribe(
        self,
        *,
        target: Optional[t.Target] = None,
        projection: Optional[str] = None,
        from_: Optional[t.From] = None,
        after: Optional[int] = None,
        cursor: Optional[str] = None,
        snapshot: Optional[t.Snapshot] = None,
        types: Optional[List[str]] = None,
        max_inflight: Optional[int] = None,
        heartbeat_ms: Optional[int] = None,
        on_gap: Optional[t.OnGap] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.SubscribeResult:
        """Follows a projection of the record; what it says comes as `stream/event` notifications, and how the subscription is as `stream/state`.

        `stream/subscribe`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, replay_gap, quota_exhausted.

        :param target: What it is about; the node if not given.
        :param projection: Which projection; `log` if not given.
        :param from_: From where.
        :param after: Only what has a higher number.
        :param cursor: Only what follows the place that a cursor names.
        :param snapshot: Whether the state is wanted first. What follows it then begins behind it, so none of the three above is given.
        :param types: Only these types; a type may end in `*`.
        :param max_inflight: Most entries on their way that `stream/ack` has not named yet; without it the connection's own bounds hold.
        :param heartbeat_ms: After so many milliseconds without an entry a `stream/state` says that the stream lives; from 100 to an hour.
        :param on_gap: What to do if the place of the cursor is gone.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"target": target, "projection": projection, "from": from_, "after": after, "cursor": cursor, "snapshot": snapshot, "types": types, "max_inflight": max_inflight, "heartbeat_ms": heartbeat_ms, "on_gap": on_gap}
        result = self._call("stream/subscribe", required, optional, ctx, "safe")
        return cast(t.SubscribeResult, result)

    def unsubscribe(
        self,
        *,
        subscription_id: t.SubscriptionId,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.Empty:
        """Ends a subscription.

        `stream/unsubscribe`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param subscription_id: Its id.
        """
        required: Dict[str, Any] = {"subscription_id": subscription_id}
        optional: Dict[str, Any] = {}
        result = self._call("stream/unsubscribe", required, optional, ctx, "safe")
        return cast(t.Empty, result)

    def ack(
        self,
        *,
        subscription_id: t.SubscriptionId,
        n: Optional[int] = None,
        cursor: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.AckResult:
        """Tells how far a subscriber has come; with `max_inflight` it makes room for more.

        `stream/ack`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param subscription_id: Which subscription.
        :param n: The number of an entry; it and everything before it is done with.
        :param cursor: The cursor of that entry.
        """
        required: Dict[str, Any] = {"subscription_id": subscription_id}
        optional: Dict[str, Any] = {"n": n, "cursor": cursor}
        result = self._call("stream/ack", required, optional, ctx, "safe")
        return cast(t.AckResult, result)

    def status(
        self,
        *,
        subscription_id: Optional[t.SubscriptionId] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.SubscriptionStatusResult:
        """Shows the subscriptions of this connection.

        `stream/status`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param subscription_id: Only this one.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"subscription_id": subscription_id}
        result = self._call("stream/status", required, optional, ctx, "safe")
        return cast(t.SubscriptionStatusResult, result)


class InferenceModel(Group):
    """`inference/model.*`"""

    def list(
        self,
        *,
        agent: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ModelsResult:
        """Lists the models that agents' programs say they have.

        `inference/model.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param agent: Of this agent: name or id; an operator leaves it out for all.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"agent": agent}
        result = self._call("inference/model.list", required, optional, ctx, "safe")
        return cast(t.ModelsResult, result)


class InferenceRoute(Group):
    """`inference/route.*`"""

    def resolve(
        self,
        *,
        agent: str,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.RouteDecision:
        """Tells which model a turn of an agent gets, and why: today its own, the single candidate.

        `inference/route.resolve`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_state.

        :param agent: Name or id.
        """
        required: Dict[str, Any] = {"agent": agent}
        optional: Dict[str, Any] = {}
        result = self._call("inference/route.resolve", required, optional, ctx, "safe")
        return cast(t.RouteDecision, result)


class InferenceUsage(Group):
    """`inference/usage.*`"""

    def get(
        self,
        *,
        agent: str,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.UsageView:
        """Tells what an agent used, as its program says it.

        `inference/usage.get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_state.

        :param agent: Name or id.
        """
        required: Dict[str, Any] = {"agent": agent}
        optional: Dict[str, Any] = {}
        result = self._call("inference/usage.get", required, optional, ctx, "safe")
        return cast(t.UsageView, result)


class InferenceLimit(Group):
    """`inference/limit.*`"""

    def get(
        self,
        *,
        agent: str,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.InferenceLimitsResult:
        """Tells what holds an agent's inference back, and what nobody says.

        `inference/limit.get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_state.

        :param agent: Name or id.
        """
        required: Dict[str, Any] = {"agent": agent}
        optional: Dict[str, Any] = {}
        result = self._call("inference/limit.get", required, optional, ctx, "safe")
        return cast(t.InferenceLimitsResult, result)


class Inference(Group):
    """`inference/*`"""

    def __init__(self, caller: Caller) -> None:
        super().__init__(caller)
        self.model = InferenceModel(caller)
        self.route = InferenceRoute(caller)
        self.usage = InferenceUsage(caller)
        self.limit = InferenceLimit(caller)


class Resource(Group):
    """`resource/*`"""

    def __init__(self, caller: Caller) -> None:
        super().__init__(caller)

    def get(
        self,
        *,
        uri: t.ResourceUri,
        at_version: Optional[int] = None,
        if_none_match: Optional[str] = None,
        fields: Optional[List[str]] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ResourceView:
        """Shows a resource: what it holds in a version, secrets masked.

        `resource/get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_params.

        :param uri: Which.
        :param at_version: Of this version; the newest without.
        :param if_none_match: Leave the value out if its etag is this.
        :param fields: Only these keys of the value, which must be an object then; all without.
        """
        required: Dict[str, Any] = {"uri": uri}
        optional: Dict[str, Any] = {"at_version": at_version, "if_none_match": if_none_match, "fields": fields}
        result = self._call("resource/get", required, optional, ctx, "safe")
        return cast(t.ResourceView, result)

    def list(
        self,
        *,
        kind: Optional[t.ResourceKind] = None,
        prefix: Optional[str] = None,
        labels: Optional[Dict[str, t.SafeLabel]] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ResourcesResult:
        """Lists resources: configuration and administrative state.

        `resource/list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        invalid_params.

        :param kind: Only those of this kind.
        :param prefix: Only those whose name begins so.
        :param labels: Only those that have all of these labels.
        :param limit: Most resources to look at, at most 500; 100 if not given.
        :param cursor: Where a former list ended.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"kind": kind, "prefix": prefix, "labels": labels, "limit": limit, "cursor": cursor}
        result = self._call("resource/list", required, optional, ctx, "safe")
        return cast(t.ResourcesResult, result)

    def put(
        self,
        *,
        uri: t.ResourceUri,
        value: Any,
        labels: Optional[Dict[str, t.SafeLabel]] = None,
        if_version: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ResourceView:
        """Writes a resource, as its next version; what it holds already makes none.

        `resource/put`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        invalid_params, version_conflict, too_large, quota_exhausted, unsupported, storage_full.

        :param uri: Which: of a kind that is written.
        :param value: What it holds: whole numbers only, secrets by reference.
        :param labels: By what it is found; those that it has without.
        :param if_version: Write only if it is at this version; zero means that it must not be there.
        """
        required: Dict[str, Any] = {"uri": uri, "value": value}
        optional: Dict[str, Any] = {"labels": labels, "if_version": if_version}
        result = self._call("resource/put", required, optional, ctx, "same")
        return cast(t.ResourceView, result)

    def patch(
        self,
        *,
        uri: t.ResourceUri,
        patch: Any,
        labels: Optional[Dict[str, t.SafeLabel]] = None,
        if_version: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ResourceView:
        """Changes a part of a resource by a JSON merge patch.

        `resource/patch`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_params, version_conflict, too_large, unsupported, storage_full.

        :param uri: Which.
        :param patch: What changes, as a JSON merge patch (RFC 7396): a key with `null` goes.
        :param labels: By what it is found from here on; those that it has without.
        :param if_version: Change it only if it is at this version.
        """
        required: Dict[str, Any] = {"uri": uri, "patch": patch}
        optional: Dict[str, Any] = {"labels": labels, "if_version": if_version}
        result = self._call("resource/patch", required, optional, ctx, "same")
        return cast(t.ResourceView, result)

    def delete(
        self,
        *,
        uri: t.ResourceUri,
        if_version: Optional[int] = None,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ResourceView:
        """Ends a resource; its versions stay, and its count goes on if it is written again.

        `resource/delete`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_params, version_conflict, unsupported, storage_full.

        :param uri: Which.
        :param if_version: End it only if it is at this version.
        :param reason: Why, for the record.
        """
        required: Dict[str, Any] = {"uri": uri}
        optional: Dict[str, Any] = {"if_version": if_version, "reason": reason}
        result = self._call("resource/delete", required, optional, ctx, "same")
        return cast(t.ResourceView, result)

    def history(
        self,
        *,
        uri: t.ResourceUri,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ResourcesResult:
        """Lists the versions of a resource, newest first.

        `resource/history`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_params.

        :param uri: Which.
        :param limit: Most versions, at most 500; 100 if not given.
        :param cursor: Where a former list ended.
        """
        required: Dict[str, Any] = {"uri": uri}
        optional: Dict[str, Any] = {"limit": limit, "cursor": cursor}
        result = self._call("resource/history", required, optional, ctx, "safe")
        return cast(t.ResourcesResult, result)


class CapabilityInvocation(Group):
    """`capability/invocation.*`"""

    def get(
        self,
        *,
        invocation_id: t.InvocationId,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.InvocationView:
        """Shows a call and what came of it.

        `capability/invocation.get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param invocation_id: Which.
        """
        required: Dict[str, Any] = {"invocation_id": invocation_id}
        optional: Dict[str, Any] = {}
        result = self._call("capability/invocation.get", required, optional, ctx, "safe")
        return cast(t.InvocationView, result)

    def await_(
        self,
        *,
        invocation_id: t.InvocationId,
        timeout_ms: int,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.InvocationView:
        """Waits until a call is over.

        `capability/invocation.await`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param invocation_id: Which.
        :param timeout_ms: How long at most, in milliseconds; then it is shown as it is.
        """
        required: Dict[str, Any] = {"invocation_id": invocation_id, "timeout_ms": timeout_ms}
        optional: Dict[str, Any] = {}
        result = self._call("capability/invocation.await", required, optional, ctx, "safe")
        return cast(t.InvocationView, result)

    def cancel(
        self,
        *,
        invocation_id: t.InvocationId,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.InvocationView:
        """Takes a call back; what its server did until then is not undone.

        `capability/invocation.cancel`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found.

        :param invocation_id: Which.
        """
        required: Dict[str, Any] = {"invocation_id": invocation_id}
        optional: Dict[str, Any] = {}
        result = self._call("capability/invocation.cancel", required, optional, ctx, "same")
        return cast(t.InvocationView, result)

    def complete(
        self,
        *,
        invocation_id: t.InvocationId,
        output: Optional[Any] = None,
        error: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.InvocationView:
        """Answers a call of what the calling agent offers; the first answer counts.

        `capability/invocation.complete`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        not_found, permission_denied, invalid_params, invalid_state, fenced, too_large, storage_full.

        :param invocation_id: Which.
        :param output: What came of it: at most 4 MiB of JSON.
        :param error: Why it went wrong: at most 4 KiB.
        """
        required: Dict[str, Any] = {"invocation_id": invocation_id}
        optional: Dict[str, Any] = {"output": output, "error": error}
        result = self._call("capability/invocation.complete", required, optional, ctx, "again")
        return cast(t.InvocationView, result)


class CapabilityPermission(Group):
    """`capability/permission.*`"""

    def evaluate(
        self,
        *,
        capability: str,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.PermissionView:
        """Tells what holds for a call, without making it.

        `capability/permission.evaluate`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, unavailable.

        :param capability: Its id, or its name: `CONNECTOR/TOOL`, `CONNECTOR/resource:URI`, `CONNECTOR/prompt:NAME`, `agent:AGENT/NAME`, `edgeplane:METHOD`, `workflow:NAME/run`.
        """
        required: Dict[str, Any] = {"capability": capability}
        optional: Dict[str, Any] = {}
        result = self._call("capability/permission.evaluate", required, optional, ctx, "safe")
        return cast(t.PermissionView, result)

    def resolve(
        self,
        *,
        invocation_id: t.InvocationId,
        digest: str,
        verdict: t.Verdict,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.InvocationView:
        """Decides about a call that waits for leave.

        `capability/permission.resolve`: writes; a token needs: `approve`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_state, conflict, storage_full.

        :param invocation_id: Which.
        :param digest: The digest of the action that was looked at.
        :param verdict: What is decided.
        """
        required: Dict[str, Any] = {"invocation_id": invocation_id, "digest": digest, "verdict": verdict}
        optional: Dict[str, Any] = {}
        result = self._call("capability/permission.resolve", required, optional, ctx, "same")
        return cast(t.InvocationView, result)


class CapabilityAutomation(Group):
    """`capability/automation.*`"""

    def list(
        self,
        *,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.AutomationsResult:
        """Lists automations with what they did.

        `capability/automation.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        none.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {}
        result = self._call("capability/automation.list", required, optional, ctx, "safe")
        return cast(t.AutomationsResult, result)

    def get(
        self,
        *,
        name: t.AgentName,
        firings: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.AutomationView:
        """Shows an automation and the times that it fired, newest first.

        `capability/automation.get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param name: Its name.
        :param firings: How many of its firings to show, at most 200; the newest.
        """
        required: Dict[str, Any] = {"name": name}
        optional: Dict[str, Any] = {"firings": firings}
        result = self._call("capability/automation.get", required, optional, ctx, "safe")
        return cast(t.AutomationView, result)

    def fire(
        self,
        *,
        name: t.AgentName,
        event: Optional[Any] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.FiringView:
        """Has an automation fire, also one that is not enabled.

        `capability/automation.fire`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, too_large, backpressure, storage_full.

        :param name: Its name.
        :param event: What is found below `event` in its placeholders; whole numbers only. It weighs as little as the words of others.
        """
        required: Dict[str, Any] = {"name": name}
        optional: Dict[str, Any] = {"event": event}
        result = self._call("capability/automation.fire", required, optional, ctx, "again")
        return cast(t.FiringView, result)


class CapabilityWebhook(Group):
    """`capability/webhook.*`"""

    def deliver(
        self,
        *,
        name: str,
        id: str,
        timestamp: str,
        signatures: str,
        is_json: bool,
        body: str,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.DeliverWebhookResult:
        """Hands over what came to `/v1/hooks/NAME`; its signature says whether it counts, not who brings it.

        `capability/webhook.deliver`: writes; a token needs: nothing;
        a repetition without a key leaves what the first made true. Errors of its own:
        invalid_params, too_large, backpressure, idempotency_mismatch, storage_full.

        :param name: The automation that it is for.
        :param id: What its sender calls it: the key against taking it twice.
        :param timestamp: When it was signed, in seconds since 1970.
        :param signatures: Its signatures, parted by spaces: `v1,` and the base64 of HMAC-SHA256 over `ID.TIMESTAMP.BODY`.
        :param is_json: Whether it is JSON; else it is text.
        :param body: What was delivered, in base64: at most 256 KiB.
        """
        required: Dict[str, Any] = {"name": name, "id": id, "timestamp": timestamp, "signatures": signatures, "is_json": is_json, "body": body}
        optional: Dict[str, Any] = {}
        result = self._call("capability/webhook.deliver", required, optional, ctx, "same")
        return cast(t.DeliverWebhookResult, result)


class Capability(Group):
    """`capability/*`"""

    def __init__(self, caller: Caller) -> None:
        super().__init__(caller)
        self.invocation = CapabilityInvocation(caller)
        self.permission = CapabilityPermission(caller)
        self.automation = CapabilityAutomation(caller)
        self.webhook = CapabilityWebhook(caller)

    def list(
        self,
        *,
        connector: Optional[t.AgentName] = None,
        backing: Optional[t.BackingKind] = None,
        kind: Optional[t.CapabilityKind] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        schemas: Optional[bool] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.CapabilitiesResult:
        """Lists what connectors offer, with what holds for each for whoever asks.

        `capability/list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_params.

        :param connector: Only those of this connector.
        :param backing: Only those with this behind them.
        :param kind: Only those of this kind.
        :param limit: Most capabilities, at most 500; 100 if not given.
        :param cursor: Where a former list ended.
        :param schemas: Whether their schemas are shown, too. Such a list ends at 2 MiB, wherever that is; `next_cursor` goes on.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"connector": connector, "backing": backing, "kind": kind, "limit": limit, "cursor": cursor, "schemas": schemas}
        result = self._call("capability/list", required, optional, ctx, "safe")
        return cast(t.CapabilitiesResult, result)

    def get(
        self,
        *,
        capability: str,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.CapabilityView:
        """Shows a capability with its schemas.

        `capability/get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, unavailable.

        :param capability: Its id, or its name: `CONNECTOR/TOOL`, `CONNECTOR/resource:URI`, `CONNECTOR/prompt:NAME`, `agent:AGENT/NAME`, `edgeplane:METHOD`, `workflow:NAME/run`.
        """
        required: Dict[str, Any] = {"capability": capability}
        optional: Dict[str, Any] = {}
        result = self._call("capability/get", required, optional, ctx, "safe")
        return cast(t.CapabilityView, result)

    def search(
        self,
        *,
        query: str,
        kind: Optional[t.CapabilityKind] = None,
        limit: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.CapabilitiesResult:
        """Finds capabilities by words.

        `capability/search`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        invalid_params.

        :param query: Words that its name, title or description holds, all of them.
        :param kind: Only those of this kind.
        :param limit: Most capabilities, at most 500; 100 if not given.
        """
        required: Dict[str, Any] = {"query": query}
        optional: Dict[str, Any] = {"kind": kind, "limit": limit}
        result = self._call("capability/search", required, optional, ctx, "safe")
        return cast(t.CapabilitiesResult, result)

    def invoke(
        self,
        *,
        capability: str,
        digest: Optional[str] = None,
        input: Optional[Any] = None,
        mode: Optional[t.InvokeMode] = None,
        timeout_ms: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.InvocationView:
        """Calls a capability: leave first, then the intent, then the act, then what came of it.

        `capability/invoke`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, policy_blocked, version_conflict, too_large, unavailable, storage_full, unsupported.

        :param capability: Its id or its name.
        :param digest: The digest of what was looked at; it is not called if it is another one by now.
        :param input: What it is given: an object.
        :param mode: How it is waited for.
        :param timeout_ms: How long it may take, in milliseconds; at most what is said of the capability.
        """
        required: Dict[str, Any] = {"capability": capability}
        optional: Dict[str, Any] = {"digest": digest, "input": input, "mode": mode, "timeout_ms": timeout_ms}
        result = self._call("capability/invoke", required, optional, ctx, "again")
        return cast(t.InvocationView, result)

    def register(
        self,
        *,
        name: t.SafeLabel,
        agent: Optional[str] = None,
        kind: Optional[t.CapabilityKind] = None,
        title: Optional[str] = None,
        description: Optional[str] = None,
        input_schema: Optional[Any] = None,
        output_schema: Optional[Any] = None,
        effect: Optional[t.EffectClass] = None,
        permission: Optional[t.Permission] = None,
        timeout_ms: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.RegistrationView:
        """Has an agent offer a capability for as long as its epoch lives.

        `capability/register`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_params, invalid_state, quota_exhausted, too_large, storage_full.

        :param name: What it is called within the agent; its whole name is `agent:AGENT/NAME`.
        :param agent: Which agent, by name or id; the calling agent if not given.
        :param kind: `tool` or `operation`.
        :param title: What it is called for people: at most 256 bytes.
        :param description: What it is for: at most 4 KiB.
        :param input_schema: What a call is given, as a JSON Schema of an object.
        :param output_schema: What a call gives, as a JSON Schema.
        :param effect: What it does at most. It is shown; it is believed if an operator says it.
        :param permission: What holds for a call by an agent; `ask` if not given. Only an operator may say it.
        :param timeout_ms: How long a call may take, in milliseconds: at most an hour; a minute if not given.
        """
        required: Dict[str, Any] = {"name": name}
        optional: Dict[str, Any] = {"agent": agent, "kind": kind, "title": title, "description": description, "input_schema": input_schema, "output_schema": output_schema, "effect": effect, "permission": permission, "timeout_ms": timeout_ms}
        result = self._call("capability/register", required, optional, ctx, "same")
        return cast(t.RegistrationView, result)

    def withdraw(
        self,
        *,
        capability: str,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.RegistrationView:
        """Takes back what an agent offers; calls that run may still be answered.

        `capability/withdraw`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, storage_full.

        :param capability: Its id or its whole name.
        """
        required: Dict[str, Any] = {"capability": capability}
        optional: Dict[str, Any] = {}
        result = self._call("capability/withdraw", required, optional, ctx, "same")
        return cast(t.RegistrationView, result)


class ObserveTrace(Group):
    """`observe/trace.*`"""

    def get(
        self,
        *,
        trace_id: Optional[t.TraceId] = None,
        message_id: Optional[t.MessageId] = None,
        turn_id: Optional[t.TurnId] = None,
        thread_id: Optional[t.ThreadId] = None,
        agent: Optional[str] = None,
        detail: Optional[t.TraceDetail] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.Waterfall:
        """Shows a request and what came of it as spans, read from the record.

        `observe/trace.get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param trace_id: The trace itself.
        :param message_id: The trace of this message.
        :param turn_id: The trace of this turn.
        :param thread_id: The trace of the newest message of this thread.
        :param agent: The trace of this agent's newest turn, by name or id.
        :param detail: How much is told of each span.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"trace_id": trace_id, "message_id": message_id, "turn_id": turn_id, "thread_id": thread_id, "agent": agent, "detail": detail}
        result = self._call("observe/trace.get", required, optional, ctx, "safe")
        return cast(t.Waterfall, result)

    def explain(
        self,
        *,
        trace_id: Optional[t.TraceId] = None,
        message_id: Optional[t.MessageId] = None,
        turn_id: Optional[t.TurnId] = None,
        thread_id: Optional[t.ThreadId] = None,
        agent: Optional[str] = None,
        detail: Optional[t.TraceDetail] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.Explanation:
        """Says where a request's time went: the critical path, who answers for it, and one verdict.

        `observe/trace.explain`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param trace_id: The trace itself.
        :param message_id: The trace of this message.
        :param turn_id: The trace of this turn.
        :param thread_id: The trace of the newest message of this thread.
        :param agent: The trace of this agent's newest turn, by name or id.
        :param detail: How much is told of each span.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"trace_id": trace_id, "message_id": message_id, "turn_id": turn_id, "thread_id": thread_id, "agent": agent, "detail": detail}
        result = self._call("observe/trace.explain", required, optional, ctx, "safe")
        return cast(t.Explanation, result)


class ObserveTap(Group):
    """`observe/tap.*`"""

    def open(
        self,
        *,
        agent: Optional[str] = None,
        thread: Optional[t.ThreadId] = None,
        principal: Optional[str] = None,
        operations: Optional[List[str]] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.TapResult:
        """Follows live what happens, in words; steps come as `observe/tap` notifications.

        `observe/tap.open`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, quota_exhausted.

        :param agent: Only of this agent, by name or id.
        :param thread: Only of this thread.
        :param principal: Only what this principal did or asked for.
        :param operations: Only what came of these methods.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"agent": agent, "thread": thread, "principal": principal, "operations": operations}
        result = self._call("observe/tap.open", required, optional, ctx, "safe")
        return cast(t.TapResult, result)

    def close(
        self,
        *,
        subscription_id: t.SubscriptionId,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.Empty:
        """Ends a tap.

        `observe/tap.close`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param subscription_id: Its id.
        """
        required: Dict[str, Any] = {"subscription_id": subscription_id}
        optional: Dict[str, Any] = {}
        result = self._call("observe/tap.close", required, optional, ctx, "safe")
        return cast(t.Empty, result)


class Observe(Group):
    """`observe/*`"""

    def __init__(self, caller: Caller) -> None:
        super().__init__(caller)
        self.trace = ObserveTrace(caller)
        self.tap = ObserveTap(caller)


class EvidenceAudit(Group):
    """`evidence/audit.*`"""

    def verify(
        self,
        *,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.AuditResult:
        """Recomputes every chain and every recording's digest.

        `evidence/audit.verify`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        none.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {}
        result = self._call("evidence/audit.verify", required, optional, ctx, "safe")
        return cast(t.AuditResult, result)


class EvidencePack(Group):
    """`evidence/pack.*`"""

    def export(
        self,
        *,
        scope: t.PackScope,
        from_: Optional[t.Timestamp] = None,
        to: Optional[t.Timestamp] = None,
        bodies: Optional[t.PackBodies] = None,
        write: Optional[bool] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.PackResult:
        """Makes a signed pack of what the record says of an agent, a thread, a turn, a message or the node.

        `evidence/pack.export`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        invalid_params, not_found, too_large, storage_full.

        :param scope: What it is about.
        :param from_: Only events from this moment on.
        :param to: Only events up to this moment.
        :param bodies: Whether bodies come with it.
        :param write: Whether it is written on the node also if it is small.
        """
        required: Dict[str, Any] = {"scope": scope}
        optional: Dict[str, Any] = {"from": from_, "to": to, "bodies": bodies, "write": write}
        result = self._call("evidence/pack.export", required, optional, ctx, "again")
        return cast(t.PackResult, result)


class EvidenceReplay(Group):
    """`evidence/replay.*`"""

    def export(
        self,
        *,
        turn_id: t.TurnId,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.CaseExportResult:
        """Tells what is needed to run a turn again and to judge what comes of it.

        `evidence/replay.export`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param turn_id: Which.
        """
        required: Dict[str, Any] = {"turn_id": turn_id}
        optional: Dict[str, Any] = {}
        result = self._call("evidence/replay.export", required, optional, ctx, "safe")
        return cast(t.CaseExportResult, result)


class EvidenceGap(Group):
    """`evidence/gap.*`"""

    def list(
        self,
        *,
        agent: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.GapsResult:
        """Lists what the record cannot show, and why.

        `evidence/gap.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param agent: Of this agent: name or id, also of one that is retired; of the node and all its agents without.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"agent": agent}
        result = self._call("evidence/gap.list", required, optional, ctx, "safe")
        return cast(t.GapsResult, result)


class Evidence(Group):
    """`evidence/*`"""

    def __init__(self, caller: Caller) -> None:
        super().__init__(caller)
        self.audit = EvidenceAudit(caller)
        self.pack = EvidencePack(caller)
        self.replay = EvidenceReplay(caller)
        self.gap = EvidenceGap(caller)


class BenchmarkTrial(Group):
    """`benchmark/trial.*`"""

    def start(
        self,
        *,
        agent: str,
        content: str,
        dataset: t.TrialDataset,
        configuration: t.TrialConfiguration,
        key: Optional[t.SafeLabel] = None,
        role: Optional[t.TrialRole] = None,
        verifier: Optional[t.TrialVerifier] = None,
        repetition: Optional[int] = None,
        limits: Optional[t.RunLimits] = None,
        refs: Optional[t.TrialRefs] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.TrialView:
        """Gives an agent a task to measure it: one run, under a dataset and a configuration.

        `benchmark/trial.start`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        policy_blocked, not_found, invalid_params, invalid_state, idempotency_mismatch, storage_full.

        :param agent: Who is tried: name or id.
        :param content: What it is told, word for word: 1 byte to 256 KiB.
        :param dataset: Which problem it is.
        :param configuration: What is set how.
        :param key: A key of the caller's choice: under the same key the same request is the same trial.
        :param role: What it is for.
        :param verifier: Who will say what it is worth. Then nobody else's word is recorded.
        :param repetition: The how manieth of its kind it is.
        :param limits: What it may use.
        :param refs: What belongs to it elsewhere.
        """
        required: Dict[str, Any] = {"agent": agent, "content": content, "dataset": dataset, "configuration": configuration}
        optional: Dict[str, Any] = {"key": key, "role": role, "verifier": verifier, "repetition": repetition, "limits": limits, "refs": refs}
        result = self._call("benchmark/trial.start", required, optional, ctx, "again")
        return cast(t.TrialView, result)

    def export(
        self,
        *,
        trial_id: t.TrialId,
        write: Optional[bool] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.TrialExportResult:
        """Writes a trial out: what was measured, what was said and done, what it is worth, and a signed pack.

        `benchmark/trial.export`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        not_found, too_large, storage_full.

        :param trial_id: Which.
        :param write: Whether its pack is written on the node also if it is small.
        """
        required: Dict[str, Any] = {"trial_id": trial_id}
        optional: Dict[str, Any] = {"write": write}
        result = self._call("benchmark/trial.export", required, optional, ctx, "again")
        return cast(t.TrialExportResult, result)


class BenchmarkReward(Group):
    """`benchmark/reward.*`"""

    def record(
        self,
        *,
        trial_id: t.TrialId,
        reward: float,
        criteria: Optional[List[str]] = None,
        details_ref: Optional[str] = None,
        failure_category: Optional[t.SafeLabel] = None,
        verifier: Optional[t.TrialVerifier] = None,
        p0_regressions: Optional[List[t.SafeLabel]] = None,
        supersedes: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.RewardView:
        """Records what a verifier says that a trial is worth, as it is said.

        `benchmark/reward.record`: writes; a token needs: `signal`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_params, permission_denied, conflict, quota_exhausted, storage_full.

        :param trial_id: Which trial.
        :param reward: A number from -1,000,000,000 to 1,000,000,000.
        :param criteria: What was looked at: at most 32, each 1 to 128 bytes.
        :param details_ref: Where more is said.
        :param failure_category: What kind of failure it was.
        :param verifier: Who says so. It must be the trial's, if that is fixed.
        :param p0_regressions: What worked before and must not fail, and failed: at most 100. An empty list says that nothing did, none at all that nobody looked.
        :param supersedes: The number of the reward that counts so far, if this one is to count instead. Both stay in the record.
        """
        required: Dict[str, Any] = {"trial_id": trial_id, "reward": reward}
        optional: Dict[str, Any] = {"criteria": criteria, "details_ref": details_ref, "failure_category": failure_category, "verifier": verifier, "p0_regressions": p0_regressions, "supersedes": supersedes}
        result = self._call("benchmark/reward.record", required, optional, ctx, "same")
        return cast(t.RewardView, result)


class BenchmarkRun(Group):
    """`benchmark/run.*`"""

    def compare(
        self,
        *,
        baseline: t.Trials,
        candidate: t.Trials,
        changed_variable: Optional[str] = None,
        success_at: Optional[float] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ComparisonView:
        """Compares trials that differ in one thing, and records what came of it.

        `benchmark/run.compare`: writes; a token needs: `signal`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, permission_denied, conflict, storage_full.

        :param baseline: How it was.
        :param candidate: How it is.
        :param changed_variable: The one thing that is other, if the candidate's configuration does not say it.
        :param success_at: The reward from which on a trial counts as a success.
        """
        required: Dict[str, Any] = {"baseline": baseline, "candidate": candidate}
        optional: Dict[str, Any] = {"changed_variable": changed_variable, "success_at": success_at}
        result = self._call("benchmark/run.compare", required, optional, ctx, "again")
        return cast(t.ComparisonView, result)


class Benchmark(Group):
    """`benchmark/*`"""

    def __init__(self, caller: Caller) -> None:
        super().__init__(caller)
        self.trial = BenchmarkTrial(caller)
        self.reward = BenchmarkReward(caller)
        self.run = BenchmarkRun(caller)


class WorkspaceArtifact(Group):
    """`workspace/artifact.*`"""

    def publish(
        self,
        *,
        name: t.SafeLabel,
        agent: Optional[str] = None,
        media_type: Optional[str] = None,
        labels: Optional[Dict[str, t.SafeLabel]] = None,
        content: Optional[str] = None,
        encoding: Optional[t.ContentEncoding] = None,
        output_id: Optional[t.OutputId] = None,
        file: Optional[t.ArtifactFile] = None,
        if_version: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ArtifactView:
        """Publishes bytes under a name; what is published already becomes the next version of it.

        `workspace/artifact.publish`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_params, invalid_state, version_conflict, too_large, quota_exhausted, upstream_failed, storage_full.

        :param name: Under which name. If there is one of this name already, this becomes its next version.
        :param agent: The agent that owns it; without, the calling agent, or the node.
        :param media_type: What the bytes are; if not given, text or plain bytes, whichever they are.
        :param labels: By what it is found; those of the version before, if not given.
        :param content: The bytes themselves.
        :param encoding: How they stand in `content`.
        :param output_id: Or the output that they are.
        :param file: Or the file that holds them.
        :param if_version: Only if it is at this version; 0: only if there is none of this name.
        """
        required: Dict[str, Any] = {"name": name}
        optional: Dict[str, Any] = {"agent": agent, "media_type": media_type, "labels": labels, "content": content, "encoding": encoding, "output_id": output_id, "file": file, "if_version": if_version}
        result = self._call("workspace/artifact.publish", required, optional, ctx, "same")
        return cast(t.ArtifactView, result)

    def get(
        self,
        *,
        artifact: str,
        agent: Optional[str] = None,
        version: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ArtifactDetail:
        """Shows an artifact and its versions.

        `workspace/artifact.get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param artifact: Its id or its name.
        :param agent: The agent that owns it.
        :param version: Which version; the newest, if not given.
        """
        required: Dict[str, Any] = {"artifact": artifact}
        optional: Dict[str, Any] = {"agent": agent, "version": version}
        result = self._call("workspace/artifact.get", required, optional, ctx, "safe")
        return cast(t.ArtifactDetail, result)

    def list(
        self,
        *,
        agent: Optional[str] = None,
        prefix: Optional[str] = None,
        labels: Optional[Dict[str, t.SafeLabel]] = None,
        limit: Optional[int] = None,
        cursor: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ArtifactListResult:
        """Lists artifacts.

        `workspace/artifact.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param agent: Only those of this agent.
        :param prefix: Only those whose name begins so.
        :param labels: Only those with all of these labels.
        :param limit: Most artifacts that are looked at, at most 500.
        :param cursor: Where a former list ended.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"agent": agent, "prefix": prefix, "labels": labels, "limit": limit, "cursor": cursor}
        result = self._call("workspace/artifact.list", required, optional, ctx, "safe")
        return cast(t.ArtifactListResult, result)

    def read(
        self,
        *,
        artifact: str,
        agent: Optional[str] = None,
        version: Optional[int] = None,
        offset: Optional[int] = None,
        limit: Optional[int] = None,
        encoding: Optional[t.ContentEncoding] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ArtifactReadResult:
        """Reads an artifact, or a part of it, after its bytes were held against its digest.

        `workspace/artifact.read`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_state, upstream_failed.

        :param artifact: Its id or its name.
        :param agent: The agent that owns it.
        :param version: Which version; the newest, if not given.
        :param offset: From this byte on.
        :param limit: Most bytes, at most 2 MiB.
        :param encoding: How they are to stand in the answer: as text if they are, if nothing is said.
        """
        required: Dict[str, Any] = {"artifact": artifact}
        optional: Dict[str, Any] = {"agent": agent, "version": version, "offset": offset, "limit": limit, "encoding": encoding}
        result = self._call("workspace/artifact.read", required, optional, ctx, "safe")
        return cast(t.ArtifactReadResult, result)

    def diff(
        self,
        *,
        artifact: str,
        agent: Optional[str] = None,
        from_: Optional[int] = None,
        to: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ArtifactDiffResult:
        """Tells what differs between two versions of an artifact.

        `workspace/artifact.diff`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_state, upstream_failed.

        :param artifact: Its id or its name.
        :param agent: The agent that owns it.
        :param from_: The version before; the one before `to`, if not given.
        :param to: The version after; the newest, if not given.
        """
        required: Dict[str, Any] = {"artifact": artifact}
        optional: Dict[str, Any] = {"agent": agent, "from": from_, "to": to}
        result = self._call("workspace/artifact.diff", required, optional, ctx, "safe")
        return cast(t.ArtifactDiffResult, result)

    def export(
        self,
        *,
        artifact: str,
        to: t.ArtifactFile,
        agent: Optional[str] = None,
        version: Optional[int] = None,
        if_version: Optional[str] = None,
        folders: Optional[bool] = None,
        lock: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ArtifactExportResult:
        """Writes an artifact to a file of a workspace, whole or not at all.

        `workspace/artifact.export`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, invalid_state, version_conflict, locked, fenced, upstream_failed, storage_full.

        :param artifact: Its id or its name.
        :param to: To which file.
        :param agent: The agent that owns it.
        :param version: Which version; the newest, if not given.
        :param if_version: Only if the file holds this now: a version of the file, or `absent`.
        :param folders: Make the folders on its way.
        :param lock: The token of a lock on the file.
        """
        required: Dict[str, Any] = {"artifact": artifact, "to": to}
        optional: Dict[str, Any] = {"agent": agent, "version": version, "if_version": if_version, "folders": folders, "lock": lock}
        result = self._call("workspace/artifact.export", required, optional, ctx, "again")
        return cast(t.ArtifactExportResult, result)

    def delete(
        self,
        *,
        artifact: str,
        agent: Optional[str] = None,
        if_version: Optional[int] = None,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.ArtifactView:
        """Ends an artifact with all its versions; what was said of them stays.

        `workspace/artifact.delete`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        not_found, version_conflict, storage_full.

        :param artifact: Its id or its name.
        :param agent: The agent that owns it.
        :param if_version: Only if it is at this version.
        :param reason: Why, for the record.
        """
        required: Dict[str, Any] = {"artifact": artifact}
        optional: Dict[str, Any] = {"agent": agent, "if_version": if_version, "reason": reason}
        result = self._call("workspace/artifact.delete", required, optional, ctx, "again")
        return cast(t.ArtifactView, result)


class WorkspaceCheckpoint(Group):
    """`workspace/checkpoint.*`"""

    def create(
        self,
        *,
        workspace_id: Optional[t.WorkspaceId] = None,
        agent: Optional[str] = None,
        label: Optional[str] = None,
        binding_epoch: Optional[int] = None,
        after: Optional[t.AfterWrite] = None,
        timeout_ms: Optional[int] = None,
        ignored: Optional[bool] = None,
        git: Optional[bool] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.CheckpointView:
        """Keeps the state of a workspace. Agents that work in it are suspended for a moment where that is possible.

        `workspace/checkpoint.create`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, invalid_state, wrong_workspace, fenced, locked, deadline_exceeded, storage_full.

        :param workspace_id: The workspace.
        :param agent: Or the agent whose own it is; it becomes known by this.
        :param label: What it is, for people.
        :param binding_epoch: The number of the binding under which it is done.
        :param after: The change of a file that is to be in it: it is waited for.
        :param timeout_ms: How long that is waited for, in milliseconds, at most ten minutes.
        :param ignored: Whether to keep what git ignores.
        :param git: Whether to keep `.git`.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"workspace_id": workspace_id, "agent": agent, "label": label, "binding_epoch": binding_epoch, "after": after, "timeout_ms": timeout_ms, "ignored": ignored, "git": git}
        result = self._call("workspace/checkpoint.create", required, optional, ctx, "again")
        return cast(t.CheckpointView, result)

    def get(
        self,
        *,
        checkpoint_id: t.CheckpointId,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.CheckpointDetail:
        """Shows a checkpoint, and what is not in it.

        `workspace/checkpoint.get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param checkpoint_id: Which.
        """
        required: Dict[str, Any] = {"checkpoint_id": checkpoint_id}
        optional: Dict[str, Any] = {}
        result = self._call("workspace/checkpoint.get", required, optional, ctx, "safe")
        return cast(t.CheckpointDetail, result)

    def list(
        self,
        *,
        workspace_id: Optional[t.WorkspaceId] = None,
        agent: Optional[str] = None,
        all: Optional[bool] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.CheckpointListResult:
        """Lists checkpoints, newest first.

        `workspace/checkpoint.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_params.

        :param workspace_id: Of this workspace.
        :param agent: Or of the workspace of this agent.
        :param all: Those that are not kept, too: failed, lost, deleted.
        :param limit: Most checkpoints, at most 500.
        :param cursor: Where a former list ended.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"workspace_id": workspace_id, "agent": agent, "all": all, "limit": limit, "cursor": cursor}
        result = self._call("workspace/checkpoint.list", required, optional, ctx, "safe")
        return cast(t.CheckpointListResult, result)

    def diff(
        self,
        *,
        before_id: t.CheckpointId,
        after_id: t.CheckpointId,
        limit: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.CheckpointDiffResult:
        """Tells what differs between two checkpoints.

        `workspace/checkpoint.diff`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_state.

        :param before_id: From this one.
        :param after_id: To this one.
        :param limit: Most changes, at most 10,000.
        """
        required: Dict[str, Any] = {"before_id": before_id, "after_id": after_id}
        optional: Dict[str, Any] = {"limit": limit}
        result = self._call("workspace/checkpoint.diff", required, optional, ctx, "safe")
        return cast(t.CheckpointDiffResult, result)

    def restore(
        self,
        *,
        checkpoint_id: t.CheckpointId,
        force: Optional[bool] = None,
        lock: Optional[int] = None,
        binding_epoch: Optional[int] = None,
        ignored: Optional[bool] = None,
        git: Optional[bool] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.CheckpointRestoreResult:
        """Brings a workspace back to a checkpoint of it; what was there is kept first.

        `workspace/checkpoint.restore`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_state, locked, wrong_workspace, fenced, storage_full.

        :param checkpoint_id: Which.
        :param force: Do it even if somebody is at work in the folder.
        :param lock: The token of the caller's lock, if there is one in the workspace.
        :param binding_epoch: The number of the binding under which it is done.
        :param ignored: Whether what git ignores is kept and touched, too.
        :param git: Whether `.git` is kept and touched, too.
        """
        required: Dict[str, Any] = {"checkpoint_id": checkpoint_id}
        optional: Dict[str, Any] = {"force": force, "lock": lock, "binding_epoch": binding_epoch, "ignored": ignored, "git": git}
        result = self._call("workspace/checkpoint.restore", required, optional, ctx, "again")
        return cast(t.CheckpointRestoreResult, result)

    def delete(
        self,
        *,
        checkpoint_id: t.CheckpointId,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.CheckpointView:
        """Ends a checkpoint; what nobody else needs of it is removed.

        `workspace/checkpoint.delete`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, invalid_state, locked, storage_full.

        :param checkpoint_id: Which.
        :param reason: Why, for the record.
        """
        required: Dict[str, Any] = {"checkpoint_id": checkpoint_id}
        optional: Dict[str, Any] = {"reason": reason}
        result = self._call("workspace/checkpoint.delete", required, optional, ctx, "again")
        return cast(t.CheckpointView, result)


class WorkspaceFile(Group):
    """`workspace/file.*`"""

    def list(
        self,
        *,
        workspace_id: Optional[t.WorkspaceId] = None,
        agent: Optional[str] = None,
        path: Optional[str] = None,
        recursive: Optional[bool] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.FileListResult:
        """Lists files of a workspace, by path.

        `workspace/file.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_params, invalid_state.

        :param workspace_id: The workspace.
        :param agent: Or the agent whose own it is; it becomes known by this.
        :param path: The folder.
        :param recursive: Also what is in the folders in it.
        :param limit: Most files, at most 5,000.
        :param cursor: Where a former list ended.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"workspace_id": workspace_id, "agent": agent, "path": path, "recursive": recursive, "limit": limit, "cursor": cursor}
        result = self._call("workspace/file.list", required, optional, ctx, "safe")
        return cast(t.FileListResult, result)

    def stat(
        self,
        *,
        path: str,
        workspace_id: Optional[t.WorkspaceId] = None,
        agent: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.FileView:
        """Shows what a file of a workspace is, and its version.

        `workspace/file.stat`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_params, invalid_state.

        :param path: Its path.
        :param workspace_id: The workspace.
        :param agent: Or the agent whose own it is; it becomes known by this.
        """
        required: Dict[str, Any] = {"path": path}
        optional: Dict[str, Any] = {"workspace_id": workspace_id, "agent": agent}
        result = self._call("workspace/file.stat", required, optional, ctx, "safe")
        return cast(t.FileView, result)

    def read(
        self,
        *,
        path: str,
        workspace_id: Optional[t.WorkspaceId] = None,
        agent: Optional[str] = None,
        offset: Optional[int] = None,
        limit: Optional[int] = None,
        encoding: Optional[t.ContentEncoding] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.FileReadResult:
        """Reads a file of a workspace, or a part of it.

        `workspace/file.read`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_params, invalid_state.

        :param path: Its path.
        :param workspace_id: The workspace.
        :param agent: Or the agent whose own it is; it becomes known by this.
        :param offset: From this byte on.
        :param limit: Most bytes, at most 2 MiB.
        :param encoding: How they are to stand in the answer: as text if they are, if nothing is said.
        """
        required: Dict[str, Any] = {"path": path}
        optional: Dict[str, Any] = {"workspace_id": workspace_id, "agent": agent, "offset": offset, "limit": limit, "encoding": encoding}
        result = self._call("workspace/file.read", required, optional, ctx, "safe")
        return cast(t.FileReadResult, result)

    def search(
        self,
        *,
        pattern: str,
        workspace_id: Optional[t.WorkspaceId] = None,
        agent: Optional[str] = None,
        regex: Optional[bool] = None,
        ignore_case: Optional[bool] = None,
        path: Optional[str] = None,
        ignored: Optional[bool] = None,
        git: Optional[bool] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.FileSearchResult:
        """Finds text in the files of a workspace.

        `workspace/file.search`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_params, invalid_state.

        :param pattern: The text, in one line.
        :param workspace_id: The workspace.
        :param agent: Or the agent whose own it is; it becomes known by this.
        :param regex: Whether it is a regular expression.
        :param ignore_case: Whether large and small letters are the same.
        :param path: In this folder or file.
        :param ignored: Whether to search what git ignores.
        :param git: Whether to search `.git`.
        :param limit: Most lines, at most 1,000.
        :param cursor: Where a former search ended.
        """
        required: Dict[str, Any] = {"pattern": pattern}
        optional: Dict[str, Any] = {"workspace_id": workspace_id, "agent": agent, "regex": regex, "ignore_case": ignore_case, "path": path, "ignored": ignored, "git": git, "limit": limit, "cursor": cursor}
        result = self._call("workspace/file.search", required, optional, ctx, "safe")
        return cast(t.FileSearchResult, result)

    def write(
        self,
        *,
        path: str,
        content: str,
        workspace_id: Optional[t.WorkspaceId] = None,
        agent: Optional[str] = None,
        encoding: Optional[t.ContentEncoding] = None,
        if_version: Optional[str] = None,
        folders: Optional[bool] = None,
        lock: Optional[int] = None,
        binding_epoch: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.FileChangeView:
        """Writes a file of a workspace, whole or not at all.

        `workspace/file.write`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, invalid_state, version_conflict, too_large, locked, wrong_workspace, fenced, storage_full.

        :param path: Its path.
        :param content: What it will hold, at most 8 MiB.
        :param workspace_id: The workspace.
        :param agent: Or the agent whose own it is; it becomes known by this.
        :param encoding: How that stands in `content`.
        :param if_version: Only if it holds this now: the `version` that was read, or `absent`.
        :param folders: Make the folders on its way.
        :param lock: The token of the caller's lock on it, if it is locked.
        :param binding_epoch: The number of the binding under which it is done.
        """
        required: Dict[str, Any] = {"path": path, "content": content}
        optional: Dict[str, Any] = {"workspace_id": workspace_id, "agent": agent, "encoding": encoding, "if_version": if_version, "folders": folders, "lock": lock, "binding_epoch": binding_epoch}
        result = self._call("workspace/file.write", required, optional, ctx, "again")
        return cast(t.FileChangeView, result)

    def move(
        self,
        *,
        path: str,
        to: str,
        workspace_id: Optional[t.WorkspaceId] = None,
        agent: Optional[str] = None,
        if_version: Optional[str] = None,
        folders: Optional[bool] = None,
        lock: Optional[int] = None,
        binding_epoch: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.FileChangeView:
        """Gives a file, folder or link of a workspace another path.

        `workspace/file.move`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, invalid_state, conflict, version_conflict, locked, wrong_workspace, fenced, storage_full.

        :param path: Its path.
        :param to: The path that it gets.
        :param workspace_id: The workspace.
        :param agent: Or the agent whose own it is; it becomes known by this.
        :param if_version: Only if it holds this now.
        :param folders: Make the folders on its way.
        :param lock: The token of the caller's lock on it, if it is locked.
        :param binding_epoch: The number of the binding under which it is done.
        """
        required: Dict[str, Any] = {"path": path, "to": to}
        optional: Dict[str, Any] = {"workspace_id": workspace_id, "agent": agent, "if_version": if_version, "folders": folders, "lock": lock, "binding_epoch": binding_epoch}
        result = self._call("workspace/file.move", required, optional, ctx, "again")
        return cast(t.FileChangeView, result)

    def delete(
        self,
        *,
        path: str,
        workspace_id: Optional[t.WorkspaceId] = None,
        agent: Optional[str] = None,
        if_version: Optional[str] = None,
        lock: Optional[int] = None,
        binding_epoch: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.FileChangeView:
        """Removes a file or link of a workspace, or a folder with nothing in it.

        `workspace/file.delete`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, invalid_state, version_conflict, locked, wrong_workspace, fenced, storage_full.

        :param path: Its path.
        :param workspace_id: The workspace.
        :param agent: Or the agent whose own it is; it becomes known by this.
        :param if_version: Only if it holds this now.
        :param lock: The token of the caller's lock on it, if it is locked.
        :param binding_epoch: The number of the binding under which it is done.
        """
        required: Dict[str, Any] = {"path": path}
        optional: Dict[str, Any] = {"workspace_id": workspace_id, "agent": agent, "if_version": if_version, "lock": lock, "binding_epoch": binding_epoch}
        result = self._call("workspace/file.delete", required, optional, ctx, "again")
        return cast(t.FileChangeView, result)


class WorkspaceLock(Group):
    """`workspace/lock.*`"""

    def acquire(
        self,
        *,
        workspace_id: Optional[t.WorkspaceId] = None,
        agent: Optional[str] = None,
        paths: Optional[List[str]] = None,
        token: Optional[int] = None,
        shared: Optional[bool] = None,
        ttl_ms: Optional[int] = None,
        binding_epoch: Optional[int] = None,
        wait_ms: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.LockView:
        """Takes a lock on paths of a workspace, or has one for longer.

        `workspace/lock.acquire`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, locked, wrong_workspace, fenced, quota_exhausted, storage_full.

        :param workspace_id: The workspace.
        :param agent: Or the agent whose own it is; it becomes known by this.
        :param paths: On these paths and everything beneath them, at most 64; `.` is the whole workspace.
        :param token: Instead: the token of the lock that is to be had for longer.
        :param shared: Whether others may have one besides that is shared, too. Nobody writes then.
        :param ttl_ms: For how long, in milliseconds, from 100 to a day.
        :param binding_epoch: The number of the binding under which it is done.
        :param wait_ms: How long to wait for it, in milliseconds, at most ten minutes.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"workspace_id": workspace_id, "agent": agent, "paths": paths, "token": token, "shared": shared, "ttl_ms": ttl_ms, "binding_epoch": binding_epoch, "wait_ms": wait_ms}
        result = self._call("workspace/lock.acquire", required, optional, ctx, "again")
        return cast(t.LockView, result)

    def release(
        self,
        *,
        token: int,
        workspace_id: Optional[t.WorkspaceId] = None,
        agent: Optional[str] = None,
        force: Optional[bool] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.LockView:
        """Gives a lock on paths of a workspace back.

        `workspace/lock.release`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        not_found, permission_denied, fenced, storage_full.

        :param token: Its token.
        :param workspace_id: The workspace.
        :param agent: Or the agent whose own it is.
        :param force: Also if somebody else holds it; only for operators.
        """
        required: Dict[str, Any] = {"token": token}
        optional: Dict[str, Any] = {"workspace_id": workspace_id, "agent": agent, "force": force}
        result = self._call("workspace/lock.release", required, optional, ctx, "again")
        return cast(t.LockView, result)

    def list(
        self,
        *,
        workspace_id: Optional[t.WorkspaceId] = None,
        agent: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.LockListResult:
        """Lists the locks on paths of a workspace.

        `workspace/lock.list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param workspace_id: The workspace.
        :param agent: Or the agent whose own it is; it becomes known by this.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"workspace_id": workspace_id, "agent": agent}
        result = self._call("workspace/lock.list", required, optional, ctx, "safe")
        return cast(t.LockListResult, result)


class WorkspaceBinding(Group):
    """`workspace/binding.*`"""

    def attach(
        self,
        *,
        workspace_id: t.WorkspaceId,
        mode: t.BindingMode,
        run_id: Optional[t.RunId] = None,
        agent: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.BindingView:
        """Binds a workspace to a run or an agent, to be looked at or to be changed, under a number that only grows.

        `workspace/binding.attach`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_params, invalid_state, unsupported, locked, quota_exhausted, storage_full.

        :param workspace_id: The workspace.
        :param mode: What may be done under it; one at a time may write.
        :param run_id: The run; its agent works under the binding.
        :param agent: Or the agent.
        """
        required: Dict[str, Any] = {"workspace_id": workspace_id, "mode": mode}
        optional: Dict[str, Any] = {"run_id": run_id, "agent": agent}
        result = self._call("workspace/binding.attach", required, optional, ctx, "same")
        return cast(t.BindingView, result)

    def detach(
        self,
        *,
        workspace_id: t.WorkspaceId,
        binding_epoch: int,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.BindingView:
        """Ends a binding of a workspace; what is done under it is fenced from then on.

        `workspace/binding.detach`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        not_found, permission_denied, wrong_workspace, fenced, storage_full.

        :param workspace_id: The workspace.
        :param binding_epoch: The number of the binding.
        """
        required: Dict[str, Any] = {"workspace_id": workspace_id, "binding_epoch": binding_epoch}
        optional: Dict[str, Any] = {}
        result = self._call("workspace/binding.detach", required, optional, ctx, "again")
        return cast(t.BindingView, result)


class WorkspaceBlob(Group):
    """`workspace/blob.*`"""

    def put(
        self,
        *,
        workspace_id: Optional[t.WorkspaceId] = None,
        agent: Optional[str] = None,
        content: Optional[str] = None,
        encoding: Optional[t.ContentEncoding] = None,
        path: Optional[str] = None,
        pinned: Optional[bool] = None,
        keep_ms: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.BlobView:
        """Keeps bytes in a workspace under their digest.

        `workspace/blob.put`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, invalid_params, invalid_state, too_large, storage_full.

        :param workspace_id: The workspace.
        :param agent: Or the agent whose own it is; it becomes known by this.
        :param content: The bytes, at most 8 MiB.
        :param encoding: How they stand in `content`.
        :param path: Instead: a file of the workspace, of at most 256 MiB, of which what it holds now is kept.
        :param pinned: Whether it is kept although nobody refers to it, until somebody says otherwise or the workspace ends. Left out: as it was.
        :param keep_ms: How long it is kept at least, in milliseconds, at most 30 days.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"workspace_id": workspace_id, "agent": agent, "content": content, "encoding": encoding, "path": path, "pinned": pinned, "keep_ms": keep_ms}
        result = self._call("workspace/blob.put", required, optional, ctx, "same")
        return cast(t.BlobView, result)

    def get(
        self,
        *,
        digest: str,
        workspace_id: Optional[t.WorkspaceId] = None,
        agent: Optional[str] = None,
        offset: Optional[int] = None,
        limit: Optional[int] = None,
        encoding: Optional[t.ContentEncoding] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.BlobReadResult:
        """Reads bytes by their digest, or a part of them.

        `workspace/blob.get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_params, invalid_state.

        :param digest: BLAKE3 of its bytes.
        :param workspace_id: The workspace.
        :param agent: Or the agent whose own it is; it becomes known by this.
        :param offset: From this byte on.
        :param limit: Most bytes, at most 2 MiB.
        :param encoding: How they are to stand in the answer: as text if they are, if nothing is said.
        """
        required: Dict[str, Any] = {"digest": digest}
        optional: Dict[str, Any] = {"workspace_id": workspace_id, "agent": agent, "offset": offset, "limit": limit, "encoding": encoding}
        result = self._call("workspace/blob.get", required, optional, ctx, "safe")
        return cast(t.BlobReadResult, result)

    def stat(
        self,
        *,
        digest: str,
        workspace_id: Optional[t.WorkspaceId] = None,
        agent: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.BlobView:
        """Shows how bytes are kept.

        `workspace/blob.stat`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_params.

        :param digest: BLAKE3 of its bytes.
        :param workspace_id: The workspace.
        :param agent: Or the agent whose own it is; it becomes known by this.
        """
        required: Dict[str, Any] = {"digest": digest}
        optional: Dict[str, Any] = {"workspace_id": workspace_id, "agent": agent}
        result = self._call("workspace/blob.stat", required, optional, ctx, "safe")
        return cast(t.BlobView, result)


class Workspace(Group):
    """`workspace/*`"""

    def __init__(self, caller: Caller) -> None:
        super().__init__(caller)
        self.artifact = WorkspaceArtifact(caller)
        self.checkpoint = WorkspaceCheckpoint(caller)
        self.file = WorkspaceFile(caller)
        self.lock = WorkspaceLock(caller)
        self.binding = WorkspaceBinding(caller)
        self.blob = WorkspaceBlob(caller)

    def create(
        self,
        *,
        agent: Optional[str] = None,
        folder: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.WorkspaceView:
        """Makes a folder known as a workspace; one that is known stays as it is.

        `workspace/create`: writes; a token needs: `supervise`;
        a repetition without a key leaves what the first made true. Errors of its own:
        not_found, permission_denied, invalid_params, invalid_state, storage_full.

        :param agent: The agent whose folder it is.
        :param folder: The folder, by its whole path; only for operators.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"agent": agent, "folder": folder}
        result = self._call("workspace/create", required, optional, ctx, "same")
        return cast(t.WorkspaceView, result)

    def get(
        self,
        *,
        workspace_id: t.WorkspaceId,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.WorkspaceView:
        """Shows a workspace.

        `workspace/get`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found.

        :param workspace_id: Which.
        """
        required: Dict[str, Any] = {"workspace_id": workspace_id}
        optional: Dict[str, Any] = {}
        result = self._call("workspace/get", required, optional, ctx, "safe")
        return cast(t.WorkspaceView, result)

    def list(
        self,
        *,
        agent: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.WorkspaceListResult:
        """Lists workspaces.

        `workspace/list`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_params.

        :param agent: Only that of this agent.
        :param limit: Most workspaces, at most 500.
        :param cursor: Where a former list ended.
        """
        required: Dict[str, Any] = {}
        optional: Dict[str, Any] = {"agent": agent, "limit": limit, "cursor": cursor}
        result = self._call("workspace/list", required, optional, ctx, "safe")
        return cast(t.WorkspaceListResult, result)

    def delete(
        self,
        *,
        workspace_id: t.WorkspaceId,
        reason: Optional[str] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.WorkspaceView:
        """Ends a workspace and its checkpoints; its folder stays as it is.

        `workspace/delete`: writes; a token needs: `supervise`;
        a repetition without a key acts again. Errors of its own:
        not_found, invalid_params, locked, storage_full.

        :param workspace_id: Which.
        :param reason: Why, for the record.
        """
        required: Dict[str, Any] = {"workspace_id": workspace_id}
        optional: Dict[str, Any] = {"reason": reason}
        result = self._call("workspace/delete", required, optional, ctx, "again")
        return cast(t.WorkspaceView, result)


class SyncBarrier(Group):
    """`sync/barrier.*`"""

    def await_(
        self,
        *,
        target: t.BarrierTarget,
        through: t.BarrierThrough,
        projection: Optional[str] = None,
        replicas: Optional[List[t.NodeId]] = None,
        timeout_ms: Optional[int] = None,
        ctx: Optional[t.RequestContext] = None,
    ) -> t.BarrierReceipt:
        """Waits until what was written has arrived, and gives a receipt.

        `sync/barrier.await`: reads; a token needs: `read`;
        a repetition without a key changes nothing. Errors of its own:
        not_found, invalid_params, unsupported, replay_gap, deadline_exceeded.

        :param target: Of what.
        :param through: Up to where.
        :param projection: Which projection of a stream; `log` if not given.
        :param replicas: Where, by the ids of nodes: this one, which is also meant if none is named.
        :param timeout_ms: How long to wait, in milliseconds, at most ten minutes.
        """
        required: Dict[str, Any] = {"target": target, "through": through}
        optional: Dict[str, Any] = {"projection": projection, "replicas": replicas, "timeout_ms": timeout_ms}
        result = self._call("sync/barrier.await", required, optional, ctx, "safe")
        return cast(t.BarrierReceipt, result)


class Sync(Group):
    """`sync/*`"""

    def __init__(self, caller: Caller) -> None:
        super().__init__(caller)
        self.barrier = SyncBarrier(caller)


class Catalogue:
    """Every profile."""

    def __init__(self, caller: Caller) -> None:
        self.core = Core(caller)
        self.runtime = Runtime(caller)
        self.conversation = Conversation(caller)
        self.policy = Policy(caller)
        self.security = Security(caller)
        self.memory = Memory(caller)
        self.stream = Stream(caller)
        self.inference = Inference(caller)
        self.resource = Resource(caller)
        self.capability = Capability(caller)
        self.observe = Observe(caller)
        self.evidence = Evidence(caller)
        self.benchmark = Benchmark(caller)
        self.workspace = Workspace(caller)
        self.sync = Sync(caller)
