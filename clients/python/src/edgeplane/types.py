"""Every type of the catalogue, as it crosses the wire."""

# Made by `cargo xtask generate` from crates/wire/src/catalogue. A change of this file is lost.
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, Tuple, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class Action(TypedDict):
    """Something that waits for a person."""

    # Its id.
    id: ActionId
    # What is asked for.
    kind: ActionKind
    # The agent that asks.
    agent_id: AgentId
    # In which of its epochs.
    epoch: Epoch
    # As whom it asks; whoever has the same principal cannot answer.
    principal: SafeLabel
    # What a person reads.
    prompt: str
    # SHA-256 of the canonical JSON of exactly what is asked: prompt, choices, schema and subject.
    digest: str
    # How many different principals must approve.
    quorum: int
    # When silence becomes a denial.
    expires_at: Timestamp
    # The answers to choose from; none: `schema` or any words.
    choices: NotRequired[List[Choice]]
    # The JSON Schema of an answer.
    schema: NotRequired[Any]
    # What is to be done, word for word, in the body store under this digest.
    subject_digest: NotRequired[Optional[str]]
    # Who may decide: any of these roles; none: any operator.
    roles: NotRequired[List[SafeLabel]]
    # The message that led to it.
    causation: NotRequired[Optional[MessageId]]
    # The asker's key against asking twice.
    idempotency_key: NotRequired[Optional[str]]


ActionId = str


ActionKind = Literal[
    "question",  # An answer: one of some choices, or a value of a schema, or words.
    "approval",  # Leave to do exactly what the digest names.
]
"""What is asked for."""


class ActionListParams(TypedDict):
    """Lists actions."""

    # Only of this agent: name or id.
    agent: NotRequired[Optional[str]]
    # Also those that are decided.
    all: NotRequired[bool]
    # Most to list, at most 200.
    limit: NotRequired[int]


class ActionListResult(TypedDict):
    """The actions."""

    # Those that end first come first; with `all`, the newest first.
    items: List[ActionView]


ActionOutcome = Literal[
    "approved",  # Enough said yes.
    "denied",  # Somebody said no.
    "answered",  # It was answered.
    "expired",  # Nobody decided in time: the same as a denial.
    "cancelled",  # The one who asked took it back, or is gone.
]
"""How an action ended."""


class ActionParams(TypedDict):
    """Names an action."""

    # Its id.
    action_id: ActionId


class ActionView(TypedDict):
    """An action."""

    # What is asked.
    action: Action
    # The name of the agent that asks.
    agent: str
    # Who has said what so far.
    votes: List[VoteView]
    # What is to be done, word for word. Lists leave it out.
    subject: NotRequired[Any]
    # The answers that the agent's program offers, if it asks for leave in its own words. Lists leave them out.
    options: NotRequired[List[OptionView]]
    # How it ended, if it has.
    outcome: NotRequired[Optional[ActionOutcome]]
    # The answer, of a question.
    answer: NotRequired[Any]
    # Why it ended so, in words.
    reason: NotRequired[Optional[str]]
    # When it ended.
    resolved_at: NotRequired[Optional[Timestamp]]
    # The message by which the agent was told.
    told_by: NotRequired[Optional[MessageId]]


Activity = Literal[
    "idle",  # Ready for the next message.
    "working",  # In a turn.
    "awaiting_input",  # Asked a question.
    "awaiting_approval",  # Asked for permission.
    "quota_paused",  # Stopped by a provider's quota.
    "error",  # Stopped by an error that it shows; it may take the next message.
    "unknown",  # Not known, and not guessed.
]
"""What an agent is doing right now."""


class AdapterCheckParams(TypedDict):
    """Asks what an adapter says of a screen."""

    # The adapter's text.
    adapter: str
    # The agent whose screen is read.
    agent: NotRequired[Optional[str]]
    # A recorded screen to read instead.
    screen: NotRequired[Optional[str]]


class AdapterCheckResult(TypedDict):
    """What an adapter says of a screen."""

    # The adapter's name.
    name: str
    # The state: `idle`, `busy`, `dialog`, `quota_paused`, `error` or `unknown`. Without a screen, nothing.
    state: NotRequired[Optional[str]]
    # What stands in the composer, if there is one.
    composer: NotRequired[Optional[str]]
    # The rules that match.
    matched: NotRequired[List[str]]


class AdapterView(TypedDict):
    """An adapter."""

    # What manifests call it.
    name: str
    # The program in words.
    title: str
    # Versions of the program that its recorded screens are from.
    recorded: List[str]
    # Its text.
    text: str
    # Its file, if it is one of the node's own.
    file: NotRequired[Optional[str]]
    # Why its file is not in force, and what came before it is.
    rejected: NotRequired[Optional[str]]


class AdaptersResult(TypedDict):
    """The adapters that are in force."""

    # By name.
    items: List[AdapterView]
    # The folder of the node's own adapters, which come before those that come along.
    folder: str


AgentId = str


class AgentListParams(TypedDict):
    """Lists agents."""

    # Only those with all of these labels.
    labels: NotRequired[Dict[str, str]]
    # Only those in this phase; `retired` needs no more to be said.
    phase: NotRequired[Optional[Phase]]
    # Also those that are retired, from the record: at most 1,000, those that were declared last.
    retired: NotRequired[bool]


class AgentListResult(TypedDict):
    """Agents, by name; of one name the living one first, then the retired, newest first."""

    # The agents.
    items: List[AgentView]


AgentName = str
"""1 to 63 lower-case letters, digits or `-`, beginning and ending with a letter or digit"""


class AgentParams(TypedDict):
    """Names an agent, by name or id."""

    # Name or id.
    agent: str


class AgentStatus(TypedDict):
    """Where an agent stands."""

    # As the node observes it.
    phase: Phase
    # As it is meant to be.
    desired: Desired
    # Version of what is wanted.
    generation: Generation
    # Version that its program was started with.
    observedGeneration: Generation
    # What it is doing.
    activity: Activity
    # How that is known.
    activityEvidence: Evidence
    # Its newest epoch.
    epoch: Epoch
    # Restarts by policy since somebody last started it.
    restarts: int
    # How much context the newest epoch began with.
    continuity: Continuity
    # Messages that wait for it.
    waitingMessages: int
    # Bytes of output of its newest epoch.
    outputBytes: int
    # All seven identities.
    identities: Identities
    # Why it is in its phase, where there is something to say.
    reason: NotRequired[Optional[str]]
    # Its program's process, while one lives.
    process: NotRequired[Optional[ProcessIdentity]]
    # When its newest epoch started.
    startedAt: NotRequired[Optional[Timestamp]]
    # When the next start is due, in backoff.
    nextStartAt: NotRequired[Optional[Timestamp]]
    # How many of its messages are on each rung; they add up to all that were accepted.
    messages: NotRequired[Dict[str, int]]
    # Whether its probe, if it has one, last succeeded.
    healthy: NotRequired[Optional[bool]]
    # The hooks of its program, where its adapter names some.
    hooks: NotRequired[Optional[HooksView]]
    # Its replicas, if it is a set of agents that share its name.
    replicas: NotRequired[Optional[ReplicasView]]
    # The name of the set whose replica it is.
    set: NotRequired[Optional[str]]


class AgentView(TypedDict):
    """An agent: its manifest and where it stands."""

    # Version of the manifest's form.
    apiVersion: str
    # Always `Agent`.
    kind: str
    # Its metadata, with its id.
    metadata: Any
    # Its manifest's `spec`, defaults filled in.
    spec: Any
    # Where it stands.
    status: AgentStatus


class Answer(TypedDict):
    """An answer to a question."""

    # The agent that gave it.
    source: SafeLabel
    # What it weighs.
    authority: Authority
    # Its words, as they were said.
    text: str
    # Its words as a session is to see them, with the header of their source.
    rendered: str
    # The message that brought it; without one it is the output of the turn that the question began.
    message_id: NotRequired[Optional[MessageId]]


class Applied(TypedDict):
    """What was done to one agent."""

    # The agent's name.
    name: str
    # What changed.
    change: Change
    # Version of what is wanted of it.
    generation: Generation
    # The agent's id; absent in a dry run of a new one.
    agent_id: NotRequired[Optional[AgentId]]
    # What the change means for a running program.
    note: NotRequired[Optional[str]]


class AppliedSchedule(TypedDict):
    """What was done to one schedule."""

    # The agent that its messages are for.
    agent: AgentName
    # Its name.
    name: AgentName
    # What changed.
    change: Change


class ApplyParams(TypedDict):
    """Declares agents or changes what is declared. All or nothing."""

    # The files.
    documents: List[Document]
    # Only say what would change.
    dry_run: NotRequired[bool]


class ApplyResult(TypedDict):
    """What an apply did, agent by agent and schedule by schedule."""

    # The agents, in the order of the documents.
    items: List[Applied]
    # Their schedules, agent by agent, wherever they were declared.
    schedules: NotRequired[List[AppliedSchedule]]


class AskParams(TypedDict):
    """Asks an agent and waits for its answer."""

    # Name or id.
    agent: str
    # The question.
    parts: List[Part]
    # Which waiting message goes first.
    priority: NotRequired[Priority]
    # Key against asking twice: with the same key the answer to the first question comes.
    idempotency_key: NotRequired[Optional[str]]
    # The message that made the sender ask.
    causation: NotRequired[Optional[MessageId]]
    # Longest wait in milliseconds, a minute if it is left out. With 0 the answer is looked for and not waited for.
    timeout_ms: NotRequired[Optional[int]]
    # Send what the agent says meanwhile as `ask/part` notifications, in order.
    stream: NotRequired[bool]


class AskPart(TypedDict):
    """What an agent said on its way to an answer."""

    # The question.
    message_id: MessageId
    # Its number, from 1, without gaps.
    number: int
    # Of which kind, as the agent says.
    kind: SafeLabel
    # What it said, as it was said.
    text: str
    # The same as a session is to see it, with the header of its source.
    rendered: str


class AskResult(TypedDict):
    """A question and what was answered."""

    # The question.
    message_id: MessageId
    # The agent that was asked.
    agent: str
    # How far the question came.
    receipts: List[Receipt]
    # The answer, unless there was none in time.
    answer: NotRequired[Optional[Answer]]
    # Whether the time was over before an answer came. It may still come.
    timed_out: NotRequired[bool]
    # Why there is no answer and none will come.
    reason: NotRequired[Optional[str]]


Assurance = Literal[
    "open",  # The agent has the daemon's uid: resists confusion and accident, not an attacker.
    "guarded",  # State directory, cgroup filesystem and other sockets are hidden from the agent.
    "sealed",  # The kernel makes it true that no process in the agent speaks as another.
]
"""How strong the separation is that a proof of origin rests on."""


class AttachOutput(TypedDict):
    """An `attach/output` notification."""

    # Whose it is.
    attachment: str
    # Offset of the first byte.
    offset: int
    # The bytes in base64.
    data: str
    # Whether the bytes restore the whole screen because the viewer was too slow for the live ones.
    resynchronised: NotRequired[bool]


class AttachParams(TypedDict):
    """Watches or controls an agent's terminal."""

    # Name or id.
    agent: str
    # Also write and resize. There is one controller at a time.
    control: NotRequired[bool]
    # Take the control from whoever has it.
    takeover: NotRequired[bool]
    # Columns of the viewer's terminal; the controller's size is the agent's.
    cols: NotRequired[Optional[int]]
    # Rows of the viewer's terminal.
    rows: NotRequired[Optional[int]]


class AttachResult(TypedDict):
    """An attachment: the screen as it is, and where live output goes on."""

    # Its id.
    attachment: str
    # The epoch.
    epoch: Epoch
    # Bytes that restore the screen, in base64.
    screen: str
    # Offset of the first live byte that follows.
    offset: int
    # Columns of the agent's terminal.
    cols: int
    # Rows of the agent's terminal.
    rows: int
    # Whether this attachment controls.
    control: bool
    # Whether the program has pipes and no terminal.
    pipes: bool


class AuditProblem(TypedDict):
    """One thing that is wrong with the record."""

    # The stream.
    stream: str
    # The event in it, zero if it is not one event's.
    seq: int
    # The event's type, as far as it can be read.
    type: str
    # What is wrong.
    what: str


class AuditResult(TypedDict):
    """What a verification found."""

    # Whether nothing is wrong.
    ok: bool
    # Events that were recomputed.
    events: int
    # Streams they are in.
    streams: int
    # Recording segments whose digest was recomputed.
    segments: int
    # Segments still being written: they have no digest yet.
    unsealed: int
    # What is wrong, the first in each stream or recording.
    problems: List[AuditProblem]


class AuditView(TypedDict):
    """Where the agent's history stands."""

    # The agent's id, the same through every epoch.
    agentId: AgentId
    # Its stream in the record.
    stream: StreamName
    # Events in it.
    events: int
    # Hash of the newest one, lower-case hexadecimal.
    head: str
    # When the agent was declared.
    declaredAt: Timestamp


Authority = Literal[
    "trusted",  # From one who may instruct.
    "delegated",  # From one who acts for such a one.
    "advisory",  # Worth considering.
    "external",  # From outside.
    "untrusted",  # Not to be followed.
]
"""How an instruction is to be weighed, weightiest first."""


class AuthorityView(TypedDict):
    """How the agent's word is weighed."""

    # The highest authority that its messages can carry to others.
    asSender: Authority
    # How well the node can tell its processes from others.
    assurance: Assurance
    # What decides.
    decidedBy: str


class BehalfParam(TypedDict):
    """One for whom a sender says that it speaks."""

    # For whom.
    principal: SafeLabel
    # The message by which that one asked for it; without one in the sender's own inbox it is a mere claim.
    message_id: NotRequired[Optional[MessageId]]


class Belonging(TypedDict):
    """One kind of what an agent owns."""

    # Which: `recordings`, `folder`, `memory`, `schedules`, `messages`, `dead_letters`, `actions`, `program`, `topics`, `record`, `workspace`.
    kind: str
    # How many there are.
    count: int
    # Their bytes on this machine, as far as they were looked at. Not part of what the digest is of, because they grow.
    bytes: int
    # Names or places, the first 100.
    names: NotRequired[List[str]]


class BroadcastParams(TypedDict):
    """Sends a message to every agent whose labels have these values."""

    # What to say.
    parts: List[Part]
    # Labels and their values; all must be met. None means every agent.
    selector: NotRequired[Dict[str, SafeLabel]]
    # Which waiting message goes first.
    priority: NotRequired[Priority]
    # Milliseconds after which it is no longer worth delivering.
    expires_in_ms: NotRequired[Optional[int]]
    # Key against sending it twice.
    idempotency_key: NotRequired[Optional[str]]
    # The message that made the sender send it.
    causation: NotRequired[Optional[MessageId]]


class CallerView(TypedDict):
    """As whom the node knows a caller."""

    # The name that a header would show.
    principal: SafeLabel
    # By what that is known.
    proof: Proof
    # What the proof is worth.
    assurance: Assurance
    # The agent that the caller is, if it is one.
    agent_id: NotRequired[Optional[AgentId]]
    # What else is to be said of it.
    note: NotRequired[Optional[str]]


Change = Literal[
    "created",  # It is new.
    "updated",  # It is different.
    "unchanged",  # It is as it was.
    "removed",  # It is no more: a schedule that its agent's manifest no longer declares.
]
"""What changed about a declaration."""


class ChangeParams(TypedDict):
    """Names an agent and says why."""

    # Name or id.
    agent: str
    # Why, for the record.
    reason: NotRequired[Optional[str]]


class ChangeResult(TypedDict):
    """Where an agent stands after a request; the change itself may still be under way."""

    # Its name.
    name: str
    # Its id.
    agent_id: AgentId
    # Its phase now.
    phase: Phase
    # What it is meant to do.
    desired: Desired
    # Its newest epoch.
    epoch: Epoch


Channel = Literal[
    "operator",  # A person who runs the node.
    "peer",  # Another agent.
    "scheduler",  # A schedule.
    "system",  # The node or its control plane.
    "workflow",  # A workflow engine.
    "tool",  # What a tool returned.
    "document",  # A retrieved document.
    "web",  # A web page.
    "external",  # Anything whose origin is not proven.
]
"""The kind of an inbound message."""


class Check(TypedDict):
    """One thing that was looked at."""

    # Its name.
    name: str
    # `ok`, `warn` or `fail`.
    status: str
    # What was found.
    detail: str
    # What to do about it.
    hint: NotRequired[Optional[str]]


class CheckParams(TypedDict):
    """Looks whether rules could be put in force."""

    # The files.
    files: List[PolicyFile]
    # The layer they are for.
    layer: NotRequired[PolicyLayer]
    # A request to be decided as if they were in force.
    request: NotRequired[Optional[ExplainParams]]


class CheckResult(TypedDict):
    """What is wrong with rules, or what they would say."""

    # Whether they could be put in force.
    ok: bool
    # How many rules there are.
    rules: int
    # What is wrong, each with file, line and column.
    problems: List[str]
    # What they would say of the request.
    decision: NotRequired[Optional[ExplainResult]]


class Choice(TypedDict):
    """One answer that may be chosen."""

    # What is given back.
    value: SafeLabel
    # What a person reads.
    label: str


class ContentOrigin(TypedDict):
    """Where content was found that somebody submits: never who speaks."""

    # Its address, such as the page's URL or the document's path.
    uri: NotRequired[Optional[str]]
    # The tool that returned it.
    tool: NotRequired[Optional[SafeLabel]]
    # When it was fetched, as the one who submits it says.
    retrieved_at: NotRequired[Optional[Timestamp]]


Continuity = Literal[
    "full",  # The program resumed its own session.
    "partial",  # Facts and quotations were handed over; the program's own context is gone.
    "none",  # A fresh start.
]
"""How much of the former context a new epoch has."""


class CreateParams(TypedDict):
    """Makes a token."""

    # As whom its bearer is known.
    principal: SafeLabel
    # For a person or for a program.
    kind: TokenKind
    # What its bearer may do.
    scopes: List[Scope]
    # Roles in which its bearer decides pending actions.
    roles: NotRequired[List[SafeLabel]]
    # Milliseconds until it is worth nothing; left out: until it is revoked.
    expires_in_ms: NotRequired[Optional[int]]


class CreateResult(TypedDict):
    """A token, this once."""

    # Its id.
    token_id: TokenId
    # The secret. The node keeps its digest only and cannot show it again.
    token: str
    # When it is worth nothing.
    expires_at: NotRequired[Optional[Timestamp]]


class DeadLettersParams(TypedDict):
    """Lists messages that did not reach their agent."""

    # Only of this agent: name or id.
    agent: NotRequired[Optional[str]]
    # Most to list.
    limit: NotRequired[int]
    # Only those behind the one with this position, as the last page said.
    cursor: NotRequired[int]


class DeadLettersResult(TypedDict):
    """Messages that did not reach their agent."""

    # In the order of their arrival.
    items: List[MessageView]
    # Where the next page begins, if there is one.
    next: NotRequired[Optional[int]]


class DecideParams(TypedDict):
    """Decides an action."""

    # Its id.
    action_id: ActionId
    # The digest of what was looked at: a decision is about exactly that.
    digest: str
    # What is decided.
    verdict: Verdict


class DeleteParams(TypedDict):
    """Removes a key."""

    # The key.
    key: str
    # Name or id.
    agent: NotRequired[Optional[str]]
    # Remove only if the key is at this version.
    if_version: NotRequired[Optional[int]]


DeliveryMode = Literal[
    "queue",  # After the turn.
    "steer",  # Into the turn.
    "interrupt",  # Ends the turn.
]
"""How a message meets a running turn."""


class DescribeParams(TypedDict):
    """Asks which methods there are."""

    # Only this profile.
    profile: NotRequired[Optional[str]]


class DescribeResult(TypedDict):
    """The catalogue."""

    # The methods, in the catalogue's order.
    methods: List[MethodView]


Desired = Literal[
    "running",  # Kept running.
    "stopped",  # Kept ended, whatever its restart policy says.
    "frozen",  # Kept suspended.
    "hibernated",  # Kept ended until a message comes.
    "retired",  # Ended for good: its name becomes free as soon as nothing of it is left.
]
"""What an agent is meant to be doing."""


class DetachParams(TypedDict):
    """Names an attachment."""

    # Its id.
    attachment: str


Detail = Literal[
    "everything",  # Everything that the record knows of it.
    "words",  # What was said: messages, answers and remarks.
]
"""How much of what an agent did a transcript tells."""


class Document(TypedDict):
    """A file of manifests, as text: the node itself says where it is wrong."""

    # Its name in messages.
    file: str
    # Its content.
    text: str
    # The folder that relative paths in it start from.
    folder: str


class DropParams(TypedDict):
    """Drops a message that did not reach its agent."""

    # Its id.
    message_id: MessageId
    # Why, for the record.
    reason: NotRequired[str]


Effect = Literal[
    "none",  # It did not.
    "applied",  # It did.
    "unknown",  # It may have.
]
"""Whether a failed request changed anything."""


class Empty(TypedDict):
    """Nothing to say."""


class EntriesResult(TypedDict):
    """Keys or versions."""

    # Keys in order, or versions oldest first.
    items: List[Entry]


class Entry(TypedDict):
    """A key and what it holds."""

    # The key.
    key: str
    # Grows with each write of the key, also across removals.
    version: int
    # Size of that JSON in bytes.
    bytes: int
    # When it was written or removed.
    at: Timestamp
    # The value; left out in lists, and after a removal.
    value: NotRequired[Any]
    # SHA-256 of the value's canonical JSON; absent after a removal.
    digest: NotRequired[Optional[str]]
    # When it will be forgotten.
    expires_at: NotRequired[Optional[Timestamp]]
    # The epoch that wrote it, if the agent itself did.
    epoch: NotRequired[Optional[Epoch]]
    # Whether this version is a removal.
    deleted: NotRequired[bool]


class Envelope(TypedDict):
    """Everything about a message but its content, which stands in the body store under `content_digest`."""

    # Its id.
    id: MessageId
    # The agent it is for.
    target: AgentId
    # Its kind.
    channel: Channel
    # The way it came in.
    ingress: Ingress
    # Who speaks.
    source: Source
    # How it is to be weighed; decided by the node.
    authority: Authority
    # How many agents it has passed through.
    hops: int
    # How it meets a running turn.
    mode: DeliveryMode
    # Which waiting message goes first.
    priority: Priority
    # SHA-256 of the canonical JSON of its parts, lower-case hexadecimal.
    content_digest: str
    # Size of that canonical JSON in bytes.
    content_bytes: int
    # For whom the source speaks, nearest first.
    on_behalf_of: NotRequired[List[OnBehalfOf]]
    # The topic it was published on.
    topic: NotRequired[Optional[SafeLabel]]
    # Where its content was found.
    origin: NotRequired[Optional[ContentOrigin]]
    # The rule that let it in, and by which its authority was decided.
    rule: NotRequired[Optional[SafeLabel]]
    # The thread it belongs to.
    thread: NotRequired[Optional[ThreadId]]
    # The message it answers.
    reply_to: NotRequired[Optional[MessageId]]
    # The message that made its sender send it.
    causation: NotRequired[Optional[MessageId]]
    # When it is no longer worth delivering.
    expires_at: NotRequired[Optional[Timestamp]]
    # The sender's key against doubles.
    idempotency_key: NotRequired[Optional[str]]
    # W3C trace context.
    traceparent: NotRequired[Optional[str]]


Epoch = int
"""One shim's life under an agent: a number that only grows, and the fencing token of every effect."""


class EpochTokenResult(TypedDict):
    """A token of the calling agent's epoch."""

    # The token. It dies with the epoch.
    token: str
    # When it is worth nothing in any case; ask for another before.
    expires_at: Timestamp


class EpochView(TypedDict):
    """One epoch."""

    # Its number.
    epoch: Epoch
    # Bytes of output, of the living epoch so far.
    output_bytes: int
    # When its program ran.
    started_at: NotRequired[Optional[Timestamp]]
    # When it was over.
    ended_at: NotRequired[Optional[Timestamp]]
    # How it ended.
    end: NotRequired[Optional[str]]


class EpochsResult(TypedDict):
    """An agent's past epochs."""

    # Oldest first.
    items: List[EpochView]


class ErrorData(TypedDict):
    """The half of a failure that programs read."""

    # The contract.
    name: ErrorName
    # Whether an identical retry can help.
    retryable: bool
    # Whether anything was changed.
    effect: Effect
    # What to do next, for people.
    hint: NotRequired[Optional[str]]
    # Everything that is wrong, where it is more than one thing.
    violations: NotRequired[List[Any]]


ErrorName = Literal[
    "parse_error",  # The bytes are not JSON.
    "invalid_request",  # The JSON is not a request.
    "method_not_found",  # No such method.
    "invalid_params",  # The parameters are not what the method takes.
    "internal",  # A defect of ours.
    "unauthenticated",  # The caller has not proven who it is.
    "permission_denied",  # The caller may not do this.
    "policy_blocked",  # A rule refuses it.
    "not_found",  # No such thing, or none that the caller may see.
    "conflict",  # Something of that name is there already.
    "version_conflict",  # It has changed since it was read.
    "idempotency_mismatch",  # The key was used for something else.
    "fenced",  # The caller's epoch is over.
    "replay_gap",  # The wanted part of the stream is gone.
    "invalid_state",  # The thing is in a state that does not allow this.
    "too_large",  # Larger than the limit.
    "unsupported",  # Known, but not served here.
    "invalid_manifest",  # The manifest is wrong.
    "locked",  # Somebody else holds it.
    "rate_limited",  # Too often.
    "quota_exhausted",  # A limit of number or size is reached.
    "backpressure",  # The receiver's queue is full.
    "cancelled",  # The caller took it back.
    "unavailable",  # The node cannot serve this now.
    "outcome_unknown",  # Whether it took effect is not known: read, then decide.
    "deadline_exceeded",  # Not done in the time given.
    "storage_full",  # No space for the record: nothing was changed.
    "record_damaged",  # The record failed verification and is read-only.
]
"""What went wrong, as a name that programs may rely on."""


EventId = str


class EventView(TypedDict):
    """An event with its place in the record."""

    # Its place on the node.
    pos: int
    # Its hash, lower-case hexadecimal.
    hash: str


Evidence = Literal[
    "kernel",  # The kernel said so.
    "protocol",  # The program said so in a protocol.
    "hook",  # The program's hook said so.
    "shim",  # The shim wrote the bytes.
    "screen",  # A rule read it off the screen.
    "silence",  # Nothing was heard for a while.
    "best_effort",  # The best that this machine allows; not proof.
]
"""By what means something is known, from strongest to weakest."""


ExplainParams = TypedDict(
    "ExplainParams",
    {
        "to": "str",
        "action": "NotRequired[PolicyAction]",
        "from": "NotRequired[Optional[str]]",
        "channel": "NotRequired[Optional[Channel]]",
        "authority": "NotRequired[Optional[Authority]]",
        "bytes": "NotRequired[int]",
        "topic": "NotRequired[Optional[SafeLabel]]",
        "hops": "NotRequired[int]",
    },
)
"""A request that is only imagined."""


class ExplainResult(TypedDict):
    """What the rules say of a request, and which of them."""

    # Whether it passes.
    allowed: bool
    # The deciding rule.
    rule: SafeLabel
    # Every layer with the rules that matched, in full.
    detail: Any
    # The layer that refused it, or the lowest that decided.
    layer: NotRequired[Optional[PolicyLayer]]
    # Why it is refused.
    reason: NotRequired[Optional[str]]
    # The authority that is granted.
    authority: NotRequired[Optional[Authority]]
    # Most messages of a pair in a minute.
    rate_per_minute: NotRequired[Optional[int]]
    # Most bytes of content.
    bytes_max: NotRequired[Optional[int]]


Generation = int
"""Version of what is wanted of an agent: grows with each change of its manifest or desire."""


class HealthResult(TypedDict):
    """How the node is."""

    # `ok` or `degraded`.
    status: str
    # What was looked at.
    checks: List[Check]


class HistoryParams(TypedDict):
    """Asks what became of a schedule's occurrences."""

    # Its agent: name or id.
    agent: str
    # Its name.
    name: AgentName
    # Most to list.
    limit: NotRequired[int]


class HistoryResult(TypedDict):
    """What became of a schedule's occurrences."""

    # Newest first.
    items: List[OccurrenceView]


class HookParams(TypedDict):
    """Reports what a hook of the calling agent's own program said."""

    # Whose hook: `claude-code` or `codex`; that of the agent's adapter.
    kind: SafeLabel
    # What the program handed to its hook.
    report: Any


class HookResult(TypedDict):
    """What a hook's report made known. Nothing of it is proof: it is the agent's word about itself."""

    # The epoch that said it.
    epoch: Epoch
    # The events that hold it; none if it says nothing new.
    events: List[EventId]
    # Messages that its program says it took, by their exact text.
    taken: List[MessageId]
    # Messages whose turn it says is over.
    ended: List[MessageId]


HooksState = Literal[
    "installed",  # They were.
    "off",  # Its manifest says that they are not to be.
    "left_alone",  # Its user has set what would have to be set.
    "failed",  # They could not be.
]
"""Whether a program's hooks were installed."""


class HooksView(TypedDict):
    """Whether a program's hooks report to the node, and what they said last."""

    # Whose hooks, such as `claude-code`.
    kind: SafeLabel
    # Whether they were installed for its newest epoch.
    state: HooksState
    # Why they were not, where there is something to say.
    reason: NotRequired[Optional[str]]
    # When one reported last to this daemon.
    heardAt: NotRequired[Optional[Timestamp]]
    # What the program asks a person, as its hook says it. Nobody but a person at its terminal can answer it.
    asks: NotRequired[Optional[str]]


class Identities(TypedDict):
    """All seven identities in one place."""

    # Which executable, where, under which supervisor.
    process: ProcessView
    # Which live context.
    session: SessionView
    # How others reach it.
    network: NetworkView
    # As whom it may act.
    principal: PrincipalView
    # What survives an invocation.
    memory: MemoryView
    # How its own word and words to it are weighed.
    authority: AuthorityView
    # Where its history stands.
    audit: AuditView


class InboxParams(TypedDict):
    """Lists an agent's messages."""

    # Name or id.
    agent: str
    # Also those that no longer wait, in the order of their arrival; else in the order of delivery.
    all: NotRequired[bool]
    # Most to list: with `all` the newest, else the next to be delivered.
    limit: NotRequired[int]


class InboxResult(TypedDict):
    """An agent's messages."""

    # Waiting ones in the order of their delivery; with `all`, in the order of arrival.
    items: List[MessageView]


Ingress = Literal[
    "signal",  # `edgeplane signal` or the method behind it.
    "driver",  # An agent's own words over its driver.
    "node",  # The node itself.
    "ask",  # A question whose answer is waited for.
    "topic",  # Published on a topic that the agent subscribes to.
    "broadcast",  # Sent to every agent that a selector names.
    "schedule",  # A schedule came due.
    "submit",  # Content that somebody submits as such: a tool's result, a document, a page.
    "action",  # The answer to a pending action.
]
"""The way a message came in."""


class InitializeParams(TypedDict):
    """Greets a node."""

    # Protocol versions that the caller speaks, as dates.
    versions: NotRequired[List[str]]
    # The caller's program and version, for logs.
    client: NotRequired[Optional[str]]
    # A token by which the caller is to be known on this connection from here on. It never makes an agent another.
    token: NotRequired[Optional[str]]


class InitializeResult(TypedDict):
    """The node's greeting."""

    # The protocol version to speak.
    version: str
    # The daemon's version.
    server: str
    # The node.
    node_id: NodeId
    # The node's name.
    node: NodeName
    # As whom the node knows the caller.
    caller: CallerView
    # Profiles that are served.
    profiles: List[str]


class InstallResult(TypedDict):
    """Runs an agent's `prepare` steps."""

    # The agent's name.
    name: str
    # What was done, step by step.
    steps: List[InstallStep]


class InstallStep(TypedDict):
    """One step of an installation."""

    # Its name.
    name: str
    # `done`, or `present` if there was nothing to do.
    outcome: str
    # How long it took in milliseconds.
    took_ms: int


ItemId = str


class ItemParams(TypedDict):
    """Reports a piece of work or a remark; the calling agent is its author."""

    # Of which kind, in the agent's words, such as `output` or `note`.
    kind: SafeLabel
    # What there is to say: at most 4 MiB.
    text: str
    # The message whose turn it belongs to; one of the agent's own.
    message_id: NotRequired[Optional[MessageId]]


class KeyParams(TypedDict):
    """Names a key. An agent that asks for itself leaves `agent` out."""

    # The key.
    key: str
    # Name or id.
    agent: NotRequired[Optional[str]]


class KeyView(TypedDict):
    """One key."""

    # Its id.
    key_id: SafeLabel
    # The public half, base64url.
    public_key: str
    # Since when it signs.
    created_at: Timestamp
    # Since when it signs no more. What it signed stays valid.
    retired_at: NotRequired[Optional[Timestamp]]


class KeysParams(TypedDict):
    """Lists keys."""

    # Name or id.
    agent: NotRequired[Optional[str]]
    # Only keys that begin so.
    prefix: NotRequired[Optional[str]]


class KeysResult(TypedDict):
    """The keys that the node signs or has signed with."""

    # Oldest first.
    items: List[KeyView]


class MemoryView(TypedDict):
    """What survives an invocation."""

    # Address of the agent's key-value store.
    store: str
    # Live keys in it.
    keys: int
    # The folder it works in.
    workspace: str


MessageId = str


class MessageParams(TypedDict):
    """Names a message."""

    # Its id.
    message_id: MessageId


class MessageView(TypedDict):
    """A message."""

    # Its id.
    message_id: MessageId
    # The agent it is for.
    agent: str
    # Its kind.
    channel: Channel
    # The way it came in.
    ingress: Ingress
    # Who speaks, as the header shows it.
    source: SafeLabel
    # Who speaks, with the proof.
    source_detail: Source
    # How it is to be weighed.
    authority: Authority
    # How far it has come, and how that is known.
    receipts: List[Receipt]
    # When it was accepted.
    accepted_at: Timestamp
    # SHA-256 of its content.
    content_digest: str
    # The replica that has it, if it is for a set and was handed to one.
    replica: NotRequired[Optional[str]]
    # Its content, unless it was erased.
    parts: NotRequired[Optional[List[Part]]]
    # The message it answers.
    reply_to: NotRequired[Optional[MessageId]]
    # The message that made its sender send it.
    causation: NotRequired[Optional[MessageId]]
    # For whom its source speaks, nearest first.
    on_behalf_of: NotRequired[List[OnBehalfOf]]
    # The topic it was published on.
    topic: NotRequired[Optional[SafeLabel]]
    # Where its content was found.
    origin: NotRequired[Optional[ContentOrigin]]
    # The rule that let it in.
    rule: NotRequired[Optional[SafeLabel]]
    # How it meets a running turn.
    mode: NotRequired[DeliveryMode]
    # Which waiting message goes first.
    priority: NotRequired[Priority]
    # How many agents it has passed through.
    hops: NotRequired[int]
    # When it is no longer worth delivering.
    expires_at: NotRequired[Optional[Timestamp]]
    # Why it came no further, where there is a reason; `held: ` and why, of one that waits and is not delivered.
    reason: NotRequired[Optional[str]]


class MethodView(TypedDict):
    """One method."""

    # `profile/object.action`.
    name: str
    # What it does.
    summary: str
    # `read` or `write`.
    effect: str
    # Error names of its own, beside those every method has.
    errors: List[str]
    # Who may call it: `anyone`, `owner` (operators, and agents for themselves), `governed` (whom the rules let) or `operator`.
    audience: str
    # What a token must allow: a scope, `none`, or `uid` where no token is enough.
    needs: str
    # What calling it once more means: `safe`, `same` or `again`. With an idempotency key it acts once.
    repeat: str
    # Whether this version serves it. One that is not served answers `unsupported` and has no schemas.
    served: bool
    # Version of EdgePlane that began to serve it.
    since: NotRequired[Optional[str]]
    # JSON Schema of its parameters.
    params: NotRequired[Any]
    # JSON Schema of its result.
    result: NotRequired[Any]


MissReason = Literal[
    "node_down",  # The node was not there.
    "clock_jump",  # The clock was put forward past them.
    "deadline",  # Later than the deadline allows.
]
"""Why occurrences were missed."""


class NetworkView(TypedDict):
    """How others reach the agent."""

    # Its name.
    name: AgentName
    # Its name and its node's.
    address: str
    # The node's name.
    node: NodeName
    # The namespace of the name.
    tenant: Tenant
    # The socket that its processes speak to, while an epoch lives.
    socket: NotRequired[Optional[str]]


NodeId = str


NodeName = str
"""1 to 63 lower-case letters, digits or `-`, beginning and ending with a letter or digit"""


class NodeStatus(TypedDict):
    """How the daemon is."""

    # The daemon's process.
    pid: int
    # The daemon's version.
    version: str
    # Seconds since it began to serve.
    uptimeSeconds: int
    # When it began to serve.
    startedAt: Timestamp
    # The node.
    nodeId: NodeId
    # The node's name.
    node: NodeName
    # Where its record is.
    stateDir: str
    # Where its sockets are.
    runtimeDir: str
    # Where it listens.
    socket: str
    # How many agents are in each phase.
    agents: Dict[str, int]
    # Events in the record.
    events: int
    # `ok`, `storage_full` or `damaged`.
    record: str
    # What this machine allows, as `doctor` shows it.
    checks: List[Check]
    # How many messages are on each rung; they add up to all that were accepted.
    messages: NotRequired[Dict[str, int]]
    # Descriptors that the daemon has open; 0 where it does not tell.
    openFiles: NotRequired[int]


class OccurrenceViewRan(TypedDict):
    """Its message was sent."""

    outcome: Literal["ran"]
    # Why.
    cause: RunCause
    # The message.
    message_id: MessageId
    # When it was due; of several, the first.
    due_at: Timestamp
    # When that was recorded.
    at: Timestamp


class OccurrenceViewSkipped(TypedDict):
    """It sent nothing."""

    outcome: Literal["skipped"]
    # Why.
    reason: SkipReason
    # The same in words.
    detail: str
    # When it was due; of several, the first.
    due_at: Timestamp
    # When that was recorded.
    at: Timestamp


class OccurrenceViewMissed(TypedDict):
    """It could not be sent."""

    outcome: Literal["missed"]
    # Why.
    reason: MissReason
    # When the last of them was due.
    to: Timestamp
    # How many.
    count: int
    # When it was due; of several, the first.
    due_at: Timestamp
    # When that was recorded.
    at: Timestamp


OccurrenceView = Union["OccurrenceViewRan", "OccurrenceViewSkipped", "OccurrenceViewMissed"]
"""What became of one occurrence, or of several that were missed together."""


class OnBehalfOf(TypedDict):
    """One for whom a source says that it speaks.  It never raises what a message weighs: it is shown, and where it is proven it can only lower."""

    # For whom.
    principal: SafeLabel
    # What that one's own message weighed; where it is not proven, `untrusted`.
    authority: Authority
    # Whether the node found that message in the source's own inbox.
    proven: bool
    # The message by which that one asked for it, if it came to the source.
    message_id: NotRequired[Optional[MessageId]]


class OpenParams(TypedDict):
    """Asks a person."""

    # A question or an approval.
    kind: ActionKind
    # What a person reads.
    prompt: str
    # The agent that asks: name or id. Left out: the calling agent.
    agent: NotRequired[Optional[str]]
    # The answers to choose from.
    choices: NotRequired[List[Choice]]
    # The JSON Schema of an answer.
    schema: NotRequired[Any]
    # What is to be done, word for word: what is approved is this and nothing else.
    subject: NotRequired[Any]
    # Who may decide: any of these roles; none: any operator.
    roles: NotRequired[List[SafeLabel]]
    # How many different persons must approve.
    quorum: NotRequired[int]
    # Milliseconds after which silence is a denial; left out: a day.
    expires_in_ms: NotRequired[Optional[int]]
    # The message that led to it.
    causation: NotRequired[Optional[MessageId]]
    # Key against asking twice.
    idempotency_key: NotRequired[Optional[str]]


class OptionView(TypedDict):
    """An answer that an agent's program offers."""

    # The program's own name for it, which is given as `option`.
    id: str
    # What the program says that it is.
    name: str
    # The protocol's word for what it means: `allow_once`, `allow_always`, `reject_once`, `reject_always`, `other`.
    kind: str
    # How far it reaches, as far as that is known.
    reach: str


class PartText(TypedDict):
    """Words."""

    type: Literal["text"]
    # The words, in UTF-8.
    text: str


class PartData(TypedDict):
    """A value."""

    type: Literal["data"]
    # Any JSON value.
    data: Any


class PartReference(TypedDict):
    """Something kept elsewhere."""

    type: Literal["reference"]
    # Where it is.
    uri: str
    # SHA-256 of it as lower-case hexadecimal, where known.
    digest: NotRequired[Optional[str]]


Part = Union["PartText", "PartData", "PartReference"]
"""One part of a message's content."""


Phase = Literal[
    "declared",  # Known by manifest, never started.
    "starting",  # An epoch is being brought up.
    "running",  # The program runs.
    "frozen",  # Every process of the epoch is suspended.
    "hibernated",  # Ended on purpose, to be woken by the next message.
    "backoff",  # Waiting before the next start.
    "unobservable",  # The shim cannot be reached and its tree has not been seen empty.
    "stopping",  # Asked to end, still there.
    "stopped",  # Ended, and meant to be.
    "failed",  # Ended, and not to be started again without a person.
    "quarantined",  # Its tree could not be proven empty: nothing starts until someone decides.
    "retired",  # Gone; its name is free.
]
"""Where an agent is in its life, as the node observes it."""


PolicyAction = Literal[
    "send",  # Send it a message, on whatever way it comes in.
    "attach",  # Watch its terminal.
    "control",  # Type into its terminal.
    "supervise",  # Start, stop, restart, freeze or thaw it.
    "approve",  # Decide a pending action of it.
    "run",  # Have the node run a command inside it.
]
"""What somebody wants to do to an agent."""


class PolicyFile(TypedDict):
    """A file of rules."""

    # Its name, for messages.
    name: str
    # Its text.
    text: str


PolicyLayer = Literal[
    "organisation",  # Those who run many nodes.
    "node",  # Those who run this one.
    "agent",  # Those who declared the agent.
]
"""Who laid down a rule. One further down may only tighten."""


class PrincipalView(TypedDict):
    """As whom the agent may act."""

    # The declared principal, or the agent itself.
    name: str
    # The uid of its processes.
    uid: int
    # For whom it acts, nearest first.
    onBehalfOf: List[str]


Priority = Literal[
    "high",  # Before the others.
    "normal",  # In order of arrival.
    "low",  # After the others.
]
"""Which waiting message goes first."""


class ProcessIdentity(TypedDict):
    """A process beyond doubt: a pid alone is never an identity."""

    # The kernel's number, reused after the process ends.
    pid: int
    # Clock ticks between boot and the start of the process.
    startTime: int
    # The kernel's id of this boot.
    bootId: str


class ProcessView(TypedDict):
    """Which executable runs, where, under which supervisor."""

    # The epoch, if one was ever started.
    epoch: Epoch
    # The program that runs.
    executable: str
    # The node that supervises it.
    node: NodeId
    # The program's process, while one lives.
    process: NotRequired[Optional[ProcessIdentity]]
    # The shim's process, while one lives.
    shim: NotRequired[Optional[ProcessIdentity]]
    # The epoch's cgroup relative to the hierarchy's root, where there is one.
    cgroup: NotRequired[Optional[str]]


class Progress(TypedDict):
    """How far a request has come, in words."""

    # For people.
    text: str


Proof = Literal[
    "uid",  # The peer's uid, and nothing naming an agent.
    "epoch_socket",  # The socket belongs to one epoch.
    "cgroup",  # The peer's cgroup is the agent's.
    "ancestry",  # The peer descends from the agent's shim.
    "cgroup_and_ancestry",  # Cgroup and ancestry agree.
    "disagreement",  # Socket, cgroup and ancestry do not name the same agent.
    "cgroup_after_exit",  # The peer had ended; the kernel kept its cgroup.
    "driver",  # The agent's own output, read by its shim.
    "node",  # The node speaks.
    "epoch_token",  # A token that the node gave to one epoch.
    "operator_token",  # A token that an operator made for a person.
    "service_token",  # A token that an operator made for a program, such as a workflow engine.
    "none",  # Nothing could be proven.
]
"""By what the node knows who speaks."""


class PublishParams(TypedDict):
    """Sends a message to every agent that subscribes to a topic."""

    # The topic.
    topic: SafeLabel
    # What to say.
    parts: List[Part]
    # Which waiting message goes first.
    priority: NotRequired[Priority]
    # Milliseconds after which it is no longer worth delivering.
    expires_in_ms: NotRequired[Optional[int]]
    # Key against publishing it twice.
    idempotency_key: NotRequired[Optional[str]]
    # The message that made the sender publish it.
    causation: NotRequired[Optional[MessageId]]


class PutParams(TypedDict):
    """Writes a key."""

    # The key.
    key: str
    # Any JSON value.
    value: Any
    # Name or id.
    agent: NotRequired[Optional[str]]
    # Write only if the key is at this version; zero means that it must not exist.
    if_version: NotRequired[Optional[int]]
    # Milliseconds after which it is forgotten.
    ttl_ms: NotRequired[Optional[int]]


class ReadParams(TypedDict):
    """Reads events."""

    # Only this agent's, by name or id.
    agent: NotRequired[Optional[str]]
    # Only after this position of the node (or, with `agent`, this number of its stream).
    after: NotRequired[int]
    # Only these types; a type may end in `.*`.
    types: NotRequired[List[str]]
    # Most to read; 1,000 if not given.
    limit: NotRequired[Optional[int]]
    # Read the newest ones instead of the oldest.
    newest: NotRequired[bool]


class ReadResult(TypedDict):
    """Events."""

    # Oldest first.
    items: List[EventView]
    # What to give as `after` to read on.
    next: int
    # Whether there was nothing more at the time.
    end: bool


class Receipt(TypedDict):
    """One rung of a message's way, and how it is known."""

    # How far it came.
    rung: Rung
    # How that is known.
    evidence: Evidence
    # When.
    at: Timestamp


class RecordingItem(TypedDict):
    """One event of a recording."""

    # Microseconds since 1970.
    at_us: int
    # Offset of output at the event.
    offset: int
    # `o` output, `e` standard error, `i` input, `k` hidden keys, `r` size, `m` message, `g` gap, `x` exit.
    code: str
    # Output in base64; of the others, their text.
    data: str


class RecordingParams(TypedDict):
    """Reads a recording."""

    # Name or id, also of a retired agent by id.
    agent: str
    # The epoch; the newest if not given.
    epoch: NotRequired[Optional[Epoch]]
    # From the first event at or after this offset of output.
    offset: NotRequired[int]
    # Instead of `offset`: the last this many bytes of output.
    last_bytes: NotRequired[Optional[int]]
    # Most bytes of output to give; 1 MiB if not given.
    limit_bytes: NotRequired[Optional[int]]


class RecordingResult(TypedDict):
    """A part of a recording."""

    # The epoch.
    epoch: Epoch
    # What happened, in order.
    items: List[RecordingItem]
    # What to give as `offset` to read on.
    next: int
    # Whether there was nothing more at the time.
    end: bool
    # Whether the epoch is over.
    over: bool
    # Columns of the terminal at the first item.
    cols: int
    # Rows of the terminal at the first item.
    rows: int
    # Whether the program has pipes and no terminal.
    pipes: NotRequired[bool]


class ReplicasView(TypedDict):
    """The replicas of a set."""

    # How many there are meant to be.
    wanted: int
    # How many run.
    running: int
    # Their names, in order.
    names: List[str]


class ReportResult(TypedDict):
    """A report that is in the record."""

    # The event that holds it.
    event_id: EventId
    # The epoch that said it.
    epoch: Epoch
    # The message whose turn it was found to belong to.
    message_id: NotRequired[Optional[MessageId]]


class RequestContext(TypedDict):
    """What precedes a method's own parameters: who asks, for how long, under which trace."""

    # The caller's name for this request.
    request_id: NotRequired[Optional[str]]
    # The caller's key against doing it twice.
    idempotency_key: NotRequired[Optional[str]]
    # Milliseconds that the caller waits.
    deadline_ms: NotRequired[Optional[int]]
    # W3C trace context.
    traceparent: NotRequired[Optional[str]]
    # What else the systems of that trace say of it.
    tracestate: NotRequired[Optional[str]]
    # The namespace; `local` if not given.
    tenant: NotRequired[Optional[str]]


class ResizeParams(TypedDict):
    """Changes the terminal's size."""

    # Through this attachment, which must control.
    attachment: str
    # Columns.
    cols: int
    # Rows.
    rows: int


class RetireParams(TypedDict):
    """Retires an agent with all that it owns."""

    # Name or id.
    agent: str
    # Digest of a plan of `runtime/retirement.plan`: what that says is removed, and nothing is done if it is not what the agent owns now.
    plan: str
    # Why, for the record.
    reason: NotRequired[Optional[str]]


class RetirementPlan(TypedDict):
    """What an agent owns, and what becomes of it when it is retired with its belongings."""

    # Its name.
    name: str
    # Its id.
    agent_id: AgentId
    # SHA-256 of what is removed, to be named when it is done.
    digest: str
    # What is removed.
    removes: List[Belonging]
    # What stays.
    stays: List[Belonging]
    # The same of its replicas, if it is a set.
    replicas: NotRequired[List[RetirementPlan]]


class RevokeParams(TypedDict):
    """Revokes a token."""

    # Its id.
    token_id: TokenId
    # Why, for the record.
    reason: NotRequired[str]


class RpcError(TypedDict):
    """A failure as it crosses the wire."""

    # The number that belongs to `data.name`.
    code: int
    # For people.
    message: str
    # For programs.
    data: ErrorData


class RuleView(TypedDict):
    """One rule."""

    # Who laid it down.
    layer: PolicyLayer
    # Its id.
    id: SafeLabel
    # `permit` or `forbid`.
    effect: str
    # The file it stands in.
    file: str
    # The line it begins on.
    line: int


class RulesResult(TypedDict):
    """The rules that are in force."""

    # SHA-256 over all of them.
    digest: str
    # When they came into force.
    since: Timestamp
    # Every rule.
    items: List[RuleView]
    # Files that could not be read, each with its first problem; the rules before stay in force.
    rejected: List[str]
    # Where own files are looked for.
    folders: List[str]


RunCause = Literal[
    "due",  # It was due.
    "catch_up",  # It was due while the node could not serve, and the catch-up rule lets it run late.
    "manual",  # Somebody asked.
]
"""Why an occurrence ran."""


class RunResult(TypedDict):
    """A schedule that was run by hand."""

    # The message that it sent.
    message_id: MessageId


Rung = Literal[
    "accepted",  # In the record, on stable storage.
    "injected",  # Written to the program.
    "observed",  # The program acted on it.
    "turn_ended",  # The turn it began has ended.
    "rejected",  # Refused after acceptance.
    "expired",  # Its time ran out before injection.
    "ambiguous",  # A crash left unknown whether it was injected.
    "dead_lettered",  # Given up.
]
"""How far a message has come."""


SafeLabel = str
"""1 to 128 of the characters A-Z a-z 0-9 . _ @ -"""


class ScheduleListParams(TypedDict):
    """Lists schedules."""

    # Only of this agent: name or id.
    agent: NotRequired[Optional[str]]


class ScheduleListResult(TypedDict):
    """The schedules."""

    # By agent and name.
    items: List[ScheduleView]


class ScheduleParams(TypedDict):
    """Names a schedule."""

    # Its agent: name or id.
    agent: str
    # Its name.
    name: AgentName


class ScheduleView(TypedDict):
    """A schedule."""

    # Its agent.
    agent: AgentName
    # Its name.
    name: AgentName
    # When it is due, in the words of its declaration, such as `0 9 * * mon-fri Europe/Berlin`.
    when: str
    # Its whole declaration.
    spec: Any
    # Whether it was declared in its agent's manifest.
    in_manifest: bool
    # Whether it waits to be resumed.
    paused: bool
    # Every occurrence up to here is accounted for.
    accounted_until: Timestamp
    # How often it ran.
    ran: int
    # How often it was skipped.
    skipped: int
    # How often it was missed.
    missed: int
    # When it is due next.
    next_at: NotRequired[Optional[Timestamp]]


Scope = Literal[
    "read",  # Read what the node knows.
    "signal",  # Send messages.
    "attach",  # Watch terminals.
    "control",  # Type into terminals.
    "supervise",  # Start, stop and declare agents.
    "approve",  # Decide pending actions.
]
"""One right of a token."""


SessionId = str


class SessionView(TypedDict):
    """Which live context the agent holds."""

    # The session that the epochs of this agent continue.
    sessionId: SessionId
    # The program's own handle for resuming, where it has one.
    resumeHandle: NotRequired[Optional[str]]


class SignParams(TypedDict):
    """Signs messages that leave the node, with one signature for all."""

    # Their ids; at most 1,024.
    message_ids: List[MessageId]


class SignResult(TypedDict):
    """Messages with the node's signature over all of them."""

    # The envelopes, in the order they were asked for.
    envelopes: List[Envelope]
    # SHA-256 of each canonical envelope, lower-case hexadecimal.
    leaves: List[str]
    # The detached signature over the canonical list of leaves.
    signature: str
    # The key that made it.
    key_id: SafeLabel
    # That key, base64url.
    public_key: str


class SignalParams(TypedDict):
    """Sends a message to an agent."""

    # Name or id.
    agent: str
    # What to say: at most 4 MiB of JSON, data at most 64 lists and objects deep.
    parts: List[Part]
    # How it meets a running turn.
    mode: NotRequired[DeliveryMode]
    # Which waiting message goes first.
    priority: NotRequired[Priority]
    # Milliseconds after which it is no longer worth delivering.
    expires_in_ms: NotRequired[Optional[int]]
    # Key against sending it twice.
    idempotency_key: NotRequired[Optional[str]]
    # The message it answers.
    reply_to: NotRequired[Optional[MessageId]]
    # The message that made the sender send this one, if it is not the one that it answers.
    causation: NotRequired[Optional[MessageId]]
    # For whom the sender speaks, nearest first; at most eight. It is shown, and never raises what is said.
    on_behalf_of: NotRequired[List[BehalfParam]]
    # Less authority than the sender has; more is refused.
    authority: NotRequired[Optional[Authority]]
    # A name that the sender gives itself, of at most 256 bytes; shown to people, never proof.
    display_name: NotRequired[Optional[str]]
    # Answer only when it has come this far.
    wait: NotRequired[Optional[Rung]]
    # Longest wait in milliseconds.
    timeout_ms: NotRequired[Optional[int]]


class SignalResult(TypedDict):
    """How far a message has come."""

    # Its id.
    message_id: MessageId
    # The agent it is for.
    agent: str
    # Rungs so far, oldest first.
    receipts: List[Receipt]
    # Whether the rung that was waited for was not reached in time.
    timed_out: NotRequired[bool]
    # Whether the key had been used for the same message before.
    duplicate: NotRequired[bool]
    # Why it will not come as far as was waited for.
    reason: NotRequired[Optional[str]]


SkipReason = Literal[
    "overlap",  # The one before had not ended.
    "paused",  # Its schedule was paused.
    "refused",  # A rule refused the message.
    "backpressure",  # The agent's inbox was full, or the disk was.
]
"""Why an occurrence did not run although the node served."""


class SnapshotResult(TypedDict):
    """The screen as text."""

    # The epoch.
    epoch: Epoch
    # One line a row, trailing blanks cut.
    text: str
    # Columns.
    cols: int
    # Rows.
    rows: int
    # Row and column of the cursor, from zero.
    cursor: Tuple[int, int]
    # Bytes of output that the screen shows.
    offset: int
    # Bytes of output that there are.
    head: int
    # The window title that the program set.
    title: str
    # The screen as the rules of terminal adapters see it, in the form of a recorded screen.
    recorded: NotRequired[str]


class Source(TypedDict):
    """Who speaks, as far as the node can prove it."""

    # Name that the header shows: proven, never chosen by the sender.
    principal: SafeLabel
    # By what the node knows.
    proof: Proof
    # What the proof is worth.
    assurance: Assurance
    # The speaking agent, if it is one of this node's.
    agent_id: NotRequired[Optional[AgentId]]
    # A name that the sender gave itself. Shown to people, never in the header.
    display_name: NotRequired[Optional[str]]


Spoken = Literal[
    "message",  # A message that the agent was given.
    "turn",  # The agent's answer to a turn; its pieces may stand before it.
    "item",  # What the agent said besides.
    "piece",  # A piece of what happens in a turn: `text`, `thought`, `content`, `tool_call` or `plan`. Pieces of a text that follow each other are one entry; those with the same `item_id` are one item.
    "usage",  # What a turn or the session has used.
    "file",  # A file that the node wrote because the program asked for it.
    "command",  # A command that the node ran because the program asked for it: it `started`, or it `ended`.
    "question",  # The agent asks people for something.
    "vote",  # A person said what they think of it.
    "decision",  # It is decided.
    "session",  # The program's session takes messages, or cannot come about.
    "epoch",  # The epoch began, failed or ended.
]
"""Who said or did it, and how."""


class SpreadItem(TypedDict):
    """What became of it for one agent."""

    # The agent.
    agent: str
    # The message, if it was accepted.
    message_id: NotRequired[Optional[MessageId]]
    # Whether the key had been used for the same message before.
    duplicate: NotRequired[bool]
    # Why it was not accepted.
    error: NotRequired[Optional[ErrorName]]
    # The same in words.
    detail: NotRequired[Optional[str]]


class SpreadResult(TypedDict):
    """What became of a message to many, an agent each, by name."""

    # One entry for every agent that was meant; the sender is not among them.
    items: List[SpreadItem]


class StatusParams(TypedDict):
    """Reports what the calling agent is doing."""

    # What it is doing. A report never ends a turn: it is made within one.
    activity: Activity
    # The same in a few words: at most 4 MiB.
    text: NotRequired[str]


class StreamEvent(TypedDict):
    """A `stream/event` notification."""

    # Whose it is.
    subscription_id: SubscriptionId
    # The event.
    event: EventView


StreamName = str


class StreamState(TypedDict):
    """A `stream/state` notification."""

    # Whose it is: a subscription or an attachment.
    id: str
    # `live`, `resynchronised` or `ended`.
    state: str
    # Why.
    reason: NotRequired[Optional[str]]


class SubmitParams(TypedDict):
    """Submits content as what it is: a tool's result, a document, a web page."""

    # Name or id.
    agent: str
    # `tool`, `document` or `web`.
    channel: Channel
    # The content.
    parts: List[Part]
    # Where it was found.
    origin: NotRequired[Optional[ContentOrigin]]
    # Which waiting message goes first.
    priority: NotRequired[Priority]
    # Milliseconds after which it is no longer worth delivering.
    expires_in_ms: NotRequired[Optional[int]]
    # Key against submitting it twice.
    idempotency_key: NotRequired[Optional[str]]
    # The message that asked for it.
    reply_to: NotRequired[Optional[MessageId]]


class SubscribeParams(TypedDict):
    """Follows events: those after `after`, and then each as it is committed, as `stream/event` notifications."""

    # Only this agent's, by name or id.
    agent: NotRequired[Optional[str]]
    # After this position of the node; from now on if not given.
    after: NotRequired[Optional[int]]
    # Only these types; a type may end in `.*`.
    types: NotRequired[List[str]]


class SubscribeResult(TypedDict):
    """A subscription."""

    # Its id.
    subscription_id: SubscriptionId
    # The newest position at the time.
    head: int


SubscriptionId = str


class SubscriptionParams(TypedDict):
    """Names a subscription."""

    # Its id.
    subscription_id: SubscriptionId


Tenant = str
"""1 to 63 lower-case letters, digits or `-`, beginning and ending with a letter or digit"""


ThreadId = str


Timestamp = str


TokenId = str


TokenKind = Literal[
    "operator",  # A person with some of an operator's rights.
    "service",  # A program, such as a workflow engine: its messages come in on `workflow`.
]
"""For whom a token speaks."""


class TokenView(TypedDict):
    """A token, without its secret."""

    # Its id.
    token_id: TokenId
    # As whom its bearer is known.
    principal: SafeLabel
    # For a person or for a program.
    kind: TokenKind
    # What its bearer may do.
    scopes: List[Scope]
    # Roles in which its bearer decides pending actions.
    roles: List[SafeLabel]
    # When it was made.
    created_at: Timestamp
    # When it is worth nothing.
    expires_at: NotRequired[Optional[Timestamp]]
    # Since when it is worth nothing, and why.
    revoked: NotRequired[Optional[str]]


class TokensResult(TypedDict):
    """The tokens that were made."""

    # Oldest first.
    items: List[TokenView]


class TranscriptEntry(TypedDict):
    """One entry of a transcript."""

    # Its number in the agent's stream; of pieces told as one, the last one's.
    seq: int
    # When.
    at: Timestamp
    # The epoch that heard, said or did it.
    epoch: Epoch
    # Who said or did it, and how.
    spoken: Spoken
    # Of which kind: of what the agent said besides and of pieces; of a session and an epoch, what became of it.
    kind: NotRequired[Optional[SafeLabel]]
    # The message, or the one whose turn it belongs to.
    message_id: NotRequired[Optional[MessageId]]
    # The turn that ended.
    turn_id: NotRequired[Optional[TurnId]]
    # The item that a piece belongs to.
    item_id: NotRequired[Optional[ItemId]]
    # The question, vote or decision.
    action_id: NotRequired[Optional[ActionId]]
    # How far it is: of a use of a tool its state, of a turn and a decision the outcome, of an epoch and a session the continuity.
    status: NotRequired[Optional[SafeLabel]]
    # What it weighs, where that is known.
    authority: NotRequired[Optional[Authority]]
    # What was said; of a message as its session saw it, with header and fence; of a decision and an end the reason. Nothing if it was erased.
    text: NotRequired[Optional[str]]
    # What it is, where that is more than a text. Long texts in it are shortened.
    data: NotRequired[Any]
    # Whether there is more of it than is shown: at most 16 KiB are.
    is_cut: NotRequired[bool]


class TranscriptParams(TypedDict):
    """Reads what was said to an agent, by it, and what it did."""

    # Name or id. Left out: the calling agent.
    agent: NotRequired[Optional[str]]
    # Only what stands behind this number of the agent's stream. Left out: the newest.
    after: NotRequired[Optional[int]]
    # Most entries, at most 500; 50 if not given. Long ones may make it fewer.
    limit: NotRequired[Optional[int]]
    # Only what belongs to this epoch.
    epoch: NotRequired[Optional[Epoch]]
    # Only the turn of this message.
    message_id: NotRequired[Optional[MessageId]]
    # How much is told; everything if not given.
    detail: NotRequired[Detail]


class TranscriptResult(TypedDict):
    """What was said to an agent and by it, and what it did, oldest first."""

    # The entries.
    items: List[TranscriptEntry]
    # What to give as `after` to read on.
    next: int
    # Whether there was nothing more at the time. A part without entries need not be the last one: so many events are looked through for each.
    end: bool


TurnId = str


class VerdictApprove(TypedDict):
    """Leave is given."""

    verdict: Literal["approve"]
    # Which of the answers that are offered is given, by its id; left out: the one that allows just this once.
    option: NotRequired[Optional[str]]


class VerdictDeny(TypedDict):
    """Leave is refused."""

    verdict: Literal["deny"]
    # Why, in their words.
    reason: NotRequired[Optional[str]]
    # Which of the answers that are offered is given, by its id; left out: the one that refuses just this once.
    option: NotRequired[Optional[str]]


class VerdictAnswer(TypedDict):
    """The answer to a question."""

    verdict: Literal["answer"]
    # A choice, a value of the schema, or words.
    value: Any


Verdict = Union["VerdictApprove", "VerdictDeny", "VerdictAnswer"]
"""What one person said."""


class VerifyResult(TypedDict):
    """What the node vouches for of a message."""

    # Its envelope, as it stands in the record.
    envelope: Envelope
    # The line that its session was shown first.
    header: str
    # Whether its content is what the envelope's digest says.
    content_matches: bool
    # Whether every event that was looked at, from the message's own on, is chained to the one before it.
    chain_verifies: bool
    # Number of the message's event in the agent's stream.
    seq: int
    # Number of the last event that was looked at and is right; at most 100,000 are.
    verified_to: int
    # Number of the stream's newest event.
    head: int
    # The node's detached signature over the canonical envelope.
    signature: str
    # The key that made it.
    key_id: SafeLabel
    # That key, base64url.
    public_key: str
    # Why it could not be looked at: it was erased, or is not there.
    content_problem: NotRequired[Optional[str]]
    # What is wrong with the first that is not.
    chain_problem: NotRequired[Optional[str]]


class VoteView(TypedDict):
    """What one person said."""

    # Who.
    principal: SafeLabel
    # What.
    verdict: Verdict
    # When.
    at: Timestamp


class WaitParams(TypedDict):
    """Waits until an agent is in one of some phases."""

    # Name or id.
    agent: str
    # Any of these will do.
    phases: List[Phase]
    # Longest wait in milliseconds.
    timeout_ms: int


class WriteParams(TypedDict):
    """Types keys."""

    # Through this attachment, which must control.
    attachment: str
    # The bytes in base64.
    data: str
