"""Every type of the catalogue, as it crosses the wire."""

# Made by `cargo xtask generate` from crates/wire/src/catalogue. A change of this file is lost.
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, Tuple, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class AckParams(TypedDict):
    """Tells how far a subscriber has come. Exactly one of `n` and `cursor` is given."""

    # Which subscription.
    subscription_id: SubscriptionId
    # The number of an entry; it and everything before it is done with.
    n: NotRequired[Optional[int]]
    # The cursor of that entry.
    cursor: NotRequired[Optional[str]]


class AckResult(TypedDict):
    """What a subscriber has told to be done with."""

    # Everything up to here.
    acked: int
    # Entries that are on their way.
    inflight: int


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


class AddCertificateParams(TypedDict):
    """Makes a client certificate a credential: whoever proves to have its key is known by it."""

    # SHA-256 of the certificate's DER form, as 64 hexadecimal digits with or without colons.
    fingerprint: str
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


class AddCertificateResult(TypedDict):
    """A certificate that counts from now on."""

    # Its id, by which it is listed and revoked like a token.
    token_id: TokenId
    # When it is worth nothing.
    expires_at: NotRequired[Optional[Timestamp]]


class Affected(TypedDict):
    """What an override, or its end, did to one agent."""

    # The agent's name.
    agent: str
    # Its id.
    agent_id: AgentId
    # Where it was.
    before: Phase
    # Where it was when the answer was given; it may be on its way still.
    after: NotRequired[Optional[Phase]]
    # What could not be done to it.
    error: NotRequired[Optional[AffectedError]]


class AffectedError(TypedDict):
    """Why an override could not do to an agent what it says."""

    # The error's name, as methods answer it.
    name: str
    # What is the matter, and what was done instead.
    message: str


class AfterWrite(TypedDict):
    """A change of a file."""

    # Its number in the workspace.
    write_seq: int


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


class AgentProcess(TypedDict):
    """A process that an agent's program had the node run."""

    # Its id.
    process_id: ProcessId
    # The agent's name.
    agent: str
    # The agent.
    agent_id: AgentId
    # The epoch in which it was run.
    epoch: Epoch
    # How it is.
    status: ProcessStatus
    # Program and arguments, shortened.
    command: str
    # Its folder.
    cwd: str
    # The names of the variables that its program asked for; values are in no record.
    variables: List[str]
    # What the words that led to it weigh.
    authority: Authority
    # When it began.
    started_at: Timestamp
    # The message in whose turn it was run.
    message_id: NotRequired[Optional[MessageId]]
    # The turn in which it was run.
    turn_id: NotRequired[Optional[TurnId]]
    # When its end was known.
    ended_at: NotRequired[Optional[Timestamp]]
    # How it ended.
    exit: NotRequired[Optional[ExitStatus]]
    # Why it could not be run, or why its end is not known.
    reason: NotRequired[Optional[str]]
    # Whether somebody asked for its end.
    terminating: NotRequired[bool]
    # What was written to it, if it can be written to.
    input: NotRequired[Optional[ProcessInput]]
    # What it wrote, if that was asked for.
    output: NotRequired[Optional[ProcessOutput]]


class AgentState(TypedDict):
    """How it is with an agent."""

    # Its name.
    name: AgentName
    # Where it is in its life.
    phase: Phase
    # Its newest epoch.
    epoch: Epoch
    # How much of the former context that epoch began with.
    continuity: Continuity
    # Why it is not as it should be.
    reason: NotRequired[Optional[str]]


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
    # The overrides that hold it, newest first.
    overrides: NotRequired[List[OverrideMark]]
    # Its replicas, if it is a set of agents that share its name.
    replicas: NotRequired[Optional[ReplicasView]]
    # The name of the set whose replica it is.
    set: NotRequired[Optional[str]]
    # The agent whose child it is, if it is one.
    parent: NotRequired[Optional[AgentId]]


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


class AppliedResource(TypedDict):
    """What was done to one resource."""

    # Which.
    uri: ResourceUri
    # What changed.
    change: Change
    # Its version; in a dry run the one that it would have.
    version: int


class AppliedSchedule(TypedDict):
    """What was done to one schedule."""

    # The agent that its messages are for.
    agent: AgentName
    # Its name.
    name: AgentName
    # What changed.
    change: Change


class ApplyOverrideParams(TypedDict):
    """Decides over agents."""

    # Which agents, those to come included: `{"node": true}`, `{"agents": [names]}` or `{"labels": {key: value}}`.
    scope: OverrideScope
    # What is done to them.
    kind: WantedKind
    # Why, for the record and for whoever finds an agent held.
    reason: str
    # After how many milliseconds it lifts itself; never without.
    expires_in_ms: NotRequired[Optional[int]]
    # How long the answer may wait for agents to come to rest, in milliseconds; 5,000 without.
    wait_ms: NotRequired[Optional[int]]


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
    # The resources that the documents declare: connectors.
    resources: NotRequired[List[AppliedResource]]


class ArtifactDeleteParams(TypedDict):
    """Ends an artifact with all its versions."""

    # Its id or its name.
    artifact: str
    # The agent that owns it.
    agent: NotRequired[Optional[str]]
    # Only if it is at this version.
    if_version: NotRequired[Optional[int]]
    # Why, for the record.
    reason: NotRequired[Optional[str]]


class ArtifactDetail(TypedDict):
    """An artifact and its versions."""

    # The version that was asked for.
    artifact: ArtifactView
    # The newest 100 versions, newest first.
    versions: List[ArtifactView]


ArtifactDiffParams = TypedDict(
    "ArtifactDiffParams",
    {
        "artifact": "str",
        "agent": "NotRequired[Optional[str]]",
        "from": "NotRequired[Optional[int]]",
        "to": "NotRequired[Optional[int]]",
    },
)
"""Which versions of an artifact to compare."""


ArtifactDiffResult = TypedDict(
    "ArtifactDiffResult",
    {
        "from": "ArtifactView",
        "to": "ArtifactView",
        "same": "bool",
        "text": "NotRequired[Optional[str]]",
        "added": "NotRequired[Optional[int]]",
        "removed": "NotRequired[Optional[int]]",
        "untold": "NotRequired[Optional[DiffUntold]]",
    },
)
"""What differs between two versions of an artifact."""


class ArtifactExportParams(TypedDict):
    """Writes a version of an artifact to a file of a workspace."""

    # Its id or its name.
    artifact: str
    # To which file.
    to: ArtifactFile
    # The agent that owns it.
    agent: NotRequired[Optional[str]]
    # Which version; the newest, if not given.
    version: NotRequired[Optional[int]]
    # Only if the file holds this now: a version of the file, or `absent`.
    if_version: NotRequired[Optional[str]]
    # Make the folders on its way.
    folders: NotRequired[bool]
    # The token of a lock on the file.
    lock: NotRequired[Optional[int]]


class ArtifactExportResult(TypedDict):
    """A version of an artifact that is in a file now."""

    # Which.
    artifact: ArtifactView
    # What became of the file.
    file: FileChangeView


class ArtifactFile(TypedDict):
    """A file of a workspace."""

    # Its path.
    path: str
    # The workspace.
    workspace_id: NotRequired[Optional[WorkspaceId]]
    # Or the agent whose own it is; it becomes known by this.
    agent: NotRequired[Optional[str]]


ArtifactId = str


class ArtifactListParams(TypedDict):
    """Which artifacts to list."""

    # Only those of this agent.
    agent: NotRequired[Optional[str]]
    # Only those whose name begins so.
    prefix: NotRequired[Optional[str]]
    # Only those with all of these labels.
    labels: NotRequired[Dict[str, SafeLabel]]
    # Most artifacts that are looked at, at most 500.
    limit: NotRequired[int]
    # Where a former list ended.
    cursor: NotRequired[Optional[int]]


class ArtifactListResult(TypedDict):
    """Artifacts."""

    # The newest version of each, in the order in which they were first published.
    items: List[ArtifactView]
    # Where the next list begins.
    next_cursor: NotRequired[Optional[int]]


class ArtifactParams(TypedDict):
    """Names an artifact, or a version of it."""

    # Its id or its name.
    artifact: str
    # The agent that owns it.
    agent: NotRequired[Optional[str]]
    # Which version; the newest, if not given.
    version: NotRequired[Optional[int]]


class ArtifactPublishParams(TypedDict):
    """Publishes bytes: those of `content`, of an output, or of a file of a workspace; exactly one of the three."""

    # Under which name. If there is one of this name already, this becomes its next version.
    name: SafeLabel
    # The agent that owns it; without, the calling agent, or the node.
    agent: NotRequired[Optional[str]]
    # What the bytes are; if not given, text or plain bytes, whichever they are.
    media_type: NotRequired[Optional[str]]
    # By what it is found; those of the version before, if not given.
    labels: NotRequired[Optional[Dict[str, SafeLabel]]]
    # The bytes themselves.
    content: NotRequired[Optional[str]]
    # How they stand in `content`.
    encoding: NotRequired[ContentEncoding]
    # Or the output that they are.
    output_id: NotRequired[Optional[OutputId]]
    # Or the file that holds them.
    file: NotRequired[Optional[ArtifactFile]]
    # Only if it is at this version; 0: only if there is none of this name.
    if_version: NotRequired[Optional[int]]


class ArtifactReadParams(TypedDict):
    """Which bytes of an artifact to read."""

    # Its id or its name.
    artifact: str
    # The agent that owns it.
    agent: NotRequired[Optional[str]]
    # Which version; the newest, if not given.
    version: NotRequired[Optional[int]]
    # From this byte on.
    offset: NotRequired[int]
    # Most bytes, at most 2 MiB.
    limit: NotRequired[int]
    # How they are to stand in the answer: as text if they are, if nothing is said.
    encoding: NotRequired[Optional[ContentEncoding]]


class ArtifactReadResult(TypedDict):
    """Some bytes of an artifact. All of its bytes were held against its digest before."""

    # Which.
    artifact_id: ArtifactId
    # Which version.
    version: int
    # SHA-256 of all bytes of this version.
    digest: str
    # What they are.
    media_type: str
    # The bytes that were asked for.
    content: str
    # How they stand in `content`.
    encoding: ContentEncoding
    # The first of them.
    offset: int
    # How many there are in all.
    bytes: int
    # Where the next part begins; nothing, if this was the last.
    next_offset: NotRequired[Optional[int]]


class ArtifactSource1(TypedDict):
    """What a turn came to."""

    output: Dict[str, Any]


class ArtifactSource2(TypedDict):
    """A file of a workspace."""

    file: Dict[str, Any]


ArtifactSource = Union["ArtifactSource1", "ArtifactSource2"]
"""Where the bytes of an artifact were taken from."""


class ArtifactView(TypedDict):
    """A version of an artifact."""

    # Its id.
    artifact_id: ArtifactId
    # The name of this version, for edges of tasks and parts of messages.
    uri: str
    # Its name.
    name: SafeLabel
    # The number of this version.
    version: int
    # The number of the newest.
    newest: int
    # What the bytes are, as their publisher says.
    media_type: str
    # SHA-256 of the bytes.
    digest: str
    # How many there are.
    bytes: int
    # When this version was published.
    published_at: Timestamp
    # By whom.
    by: str
    # The agent that owns it; absent: the node.
    agent: NotRequired[Optional[str]]
    # By what it is found.
    labels: NotRequired[Dict[str, SafeLabel]]
    # Where the bytes were taken from, if they did not come with the request.
    source: NotRequired[Optional[ArtifactSource]]
    # When the artifact ended.
    deleted_at: NotRequired[Optional[Timestamp]]
    # Whether the newest version held the same, so that none was made.
    unchanged: NotRequired[bool]


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


class AutomationCauseEvent(TypedDict):
    """An event of the record."""

    kind: Literal["event"]
    # Its id.
    event_id: EventId
    # Its position in the record.
    pos: int
    # What it is called.
    event_type: str


class AutomationCauseSchedule(TypedDict):
    """It came due."""

    kind: Literal["schedule"]
    # When it was due.
    due_at: Timestamp
    # Why it ran.
    cause: RunCause


class AutomationCauseWebhook(TypedDict):
    """Something was delivered to it over HTTP."""

    kind: Literal["webhook"]
    # What its sender calls the delivery.
    delivery: str
    # SHA-256 of what was delivered, in the body store.
    body_digest: str
    # Its size in bytes.
    body_bytes: int
    # Whether it is JSON; else it is text.
    is_json: bool


class AutomationCauseHand(TypedDict):
    """Somebody had it fire by hand."""

    kind: Literal["hand"]
    # SHA-256 of what they gave in place of an event, in the body store.
    given_digest: NotRequired[Optional[str]]
    # Its size in bytes.
    given_bytes: NotRequired[int]


AutomationCause = Union["AutomationCauseEvent", "AutomationCauseSchedule", "AutomationCauseWebhook", "AutomationCauseHand"]
"""What had an automation fire."""


class AutomationParams(TypedDict):
    """Names an automation."""

    # Its name.
    name: AgentName
    # How many of its firings to show, at most 200; the newest.
    firings: NotRequired[int]


class AutomationView(TypedDict):
    """An automation and what it did."""

    # Its name.
    name: AgentName
    # Its version, as a resource.
    version: int
    # Whether it fires.
    enabled: bool
    # What has it fire: `event`, `schedule` or `webhook`.
    on: str
    # When, in its own words.
    when: str
    # What it does, in a few words.
    does: str
    # As whom it acts: whoever declared it.
    acts_as: SafeLabel
    # How often it fired.
    fired: int
    # How many of its firings ended otherwise than well.
    failed: int
    # How often it did not fire.
    skipped: int
    # How many of its firings are not over.
    waiting: int
    # When it is due next, if it fires by the clock.
    due_at: NotRequired[Optional[Timestamp]]
    # Its newest firings, newest first.
    firings: NotRequired[List[FiringView]]


class AutomationsResult(TypedDict):
    """Automations."""

    # Those that there are and may be seen, by name.
    items: List[AutomationView]


class AwaitInvocationParams(TypedDict):
    """Waits for an invocation."""

    # Which.
    invocation_id: InvocationId
    # How long at most, in milliseconds; then it is shown as it is.
    timeout_ms: int


BackingKind = Literal[
    "connector",  # A server that the node speaks to.
    "agent",  # An agent that registered it.
    "builtin",  # A method of the node itself.
    "workflow",  # Tasks, as a resource says them.
    "automation",  # A task or a method, as a resource says it.
]
"""What is behind a capability."""


class BarrierAwaitParams(TypedDict):
    """Waits until what was written has arrived."""

    # Of what.
    target: BarrierTarget
    # Up to where.
    through: BarrierThrough
    # Which projection of a stream; `log` if not given.
    projection: NotRequired[str]
    # Where, by the ids of nodes: this one, which is also meant if none is named.
    replicas: NotRequired[List[NodeId]]
    # How long to wait, in milliseconds, at most ten minutes.
    timeout_ms: NotRequired[int]


class BarrierReceipt(TypedDict):
    """It has arrived."""

    # The digest of all that is said here besides.
    id: str
    # Of what.
    target: BarrierTarget
    # Everything up to this number is there.
    through_seq: int
    # When that was seen.
    reached_at: Timestamp
    # Where.
    replicas: List[ReplicaPlace]
    # The digest of the newest checkpoint of the workspace, if it has all these changes and no more.
    tree_digest: NotRequired[Optional[str]]


class BarrierTarget(TypedDict):
    """Of what something has to arrive: exactly one of the two."""

    # Changes of files of this workspace.
    workspace_id: NotRequired[Optional[WorkspaceId]]
    # Entries of a stream.
    stream: NotRequired[Optional[Target]]


class BarrierThrough(TypedDict):
    """Up to where: exactly one of the three."""

    # This number: a `write_seq` of a workspace, the number of an entry of a stream.
    seq: NotRequired[Optional[int]]
    # The place in a stream that a cursor names.
    cursor: NotRequired[Optional[str]]
    # These changes of a workspace, by their numbers, at most 1,000.
    write_ids: NotRequired[List[int]]


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


class BindingAttachParams(TypedDict):
    """Binds a workspace to a run, or to the live epoch of an agent, with which the binding ends."""

    # The workspace.
    workspace_id: WorkspaceId
    # What may be done under it; one at a time may write.
    mode: BindingMode
    # The run; its agent works under the binding.
    run_id: NotRequired[Optional[RunId]]
    # Or the agent.
    agent: NotRequired[Optional[str]]


class BindingDetachParams(TypedDict):
    """Ends a binding."""

    # The workspace.
    workspace_id: WorkspaceId
    # The number of the binding.
    binding_epoch: int


BindingMode = Literal[
    "ro",  # It is looked at.
    "rw",  # It is changed.
]
"""What may be done with a workspace under a binding."""


class BindingParam(TypedDict):
    """The workspace that a run is bound to as soon as there is a run."""

    # The workspace.
    workspace_id: WorkspaceId
    # What may be done under the binding; one at a time may write.
    mode: BindingMode


class BindingView(TypedDict):
    """A binding of a workspace."""

    # The workspace.
    workspace_id: WorkspaceId
    # Its number on the node, which only grows: the fencing token of what is done under it.
    binding_epoch: int
    # What may be done under it.
    mode: BindingMode
    # The folder of the workspace.
    root: str
    # Its id.
    agent_id: AgentId
    # Who asked for it.
    by: SafeLabel
    # Since when.
    attached_at: Timestamp
    # The agent that works under it.
    agent: NotRequired[Optional[str]]
    # The run that it ends with.
    run_id: NotRequired[Optional[RunId]]
    # The epoch of the agent that it ends with, if it is bound to no run.
    epoch: NotRequired[Optional[Epoch]]


class BlobGetParams(TypedDict):
    """Which bytes of a blob to read."""

    # BLAKE3 of its bytes.
    digest: str
    # The workspace.
    workspace_id: NotRequired[Optional[WorkspaceId]]
    # Or the agent whose own it is; it becomes known by this.
    agent: NotRequired[Optional[str]]
    # From this byte on.
    offset: NotRequired[int]
    # Most bytes, at most 2 MiB.
    limit: NotRequired[int]
    # How they are to stand in the answer: as text if they are, if nothing is said.
    encoding: NotRequired[Optional[ContentEncoding]]


class BlobParams(TypedDict):
    """Names a blob."""

    # BLAKE3 of its bytes.
    digest: str
    # The workspace.
    workspace_id: NotRequired[Optional[WorkspaceId]]
    # Or the agent whose own it is; it becomes known by this.
    agent: NotRequired[Optional[str]]


class BlobPutParams(TypedDict):
    """Keeps bytes under their digest. Those that are kept already are kept for longer."""

    # The workspace.
    workspace_id: NotRequired[Optional[WorkspaceId]]
    # Or the agent whose own it is; it becomes known by this.
    agent: NotRequired[Optional[str]]
    # The bytes, at most 8 MiB.
    content: NotRequired[Optional[str]]
    # How they stand in `content`.
    encoding: NotRequired[ContentEncoding]
    # Instead: a file of the workspace, of at most 256 MiB, of which what it holds now is kept.
    path: NotRequired[Optional[str]]
    # Whether it is kept although nobody refers to it, until somebody says otherwise or the workspace ends. Left out: as it was.
    pinned: NotRequired[Optional[bool]]
    # How long it is kept at least, in milliseconds, at most 30 days.
    keep_ms: NotRequired[int]


class BlobReadResult(TypedDict):
    """Some bytes of a blob."""

    # BLAKE3 of all of them.
    digest: str
    # The bytes.
    content: str
    # How they stand in `content`.
    encoding: ContentEncoding
    # The first of them.
    offset: int
    # How many the blob has.
    bytes: int
    # Where the next part begins; nothing, if this was the last.
    next_offset: NotRequired[Optional[int]]


class BlobView(TypedDict):
    """A blob."""

    # The workspace.
    workspace_id: WorkspaceId
    # BLAKE3 of its bytes.
    digest: str
    # How many it has.
    bytes: int
    # Whether it is kept although nobody refers to it.
    pinned: bool
    # Until when it is kept at least.
    expires_at: Timestamp
    # Who put it last.
    by: SafeLabel
    # When.
    put_at: Timestamp


class BlockText(TypedDict):
    """Words."""

    type: Literal["text"]
    # The words; of a message as its session saw it, with header and fence.
    text: str
    # Whether there is more of it than is shown: at most 16 KiB are.
    is_cut: NotRequired[bool]


class BlockData(TypedDict):
    """A value."""

    type: Literal["data"]
    # Any JSON value; long texts in it are shortened.
    data: Any


Block = Union["BlockText", "BlockData"]
"""A part of an item's content."""


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


class CancelParams(TypedDict):
    """Takes a request back."""

    # The `request_id` of its context.
    request_id: str
    # Why, for the one who waits for it.
    reason: NotRequired[str]


class CancelResult(TypedDict):
    """What became of taking a request back."""

    # Whether the caller had such a request that was still being worked on.
    cancelled: bool


class CapabilitiesResult(TypedDict):
    """Capabilities."""

    # By name. Those that whoever asks may not call are left out for an agent.
    items: List[CapabilityView]
    # How it stands with the connectors that were asked.
    connectors: List[ConnectorStanding]
    # What to give as `cursor` for those after; nothing if there are none.
    next_cursor: NotRequired[Optional[str]]
    # Changes whenever the list does, all of it, as whoever asks sees it. Only in what has no `cursor`.
    digest: NotRequired[Optional[str]]


class CapabilityBacking(TypedDict):
    """What is behind a capability."""

    # What kind of thing.
    kind: BackingKind
    # The connector, the agent or the workflow that offers it, or the profile of a method.
    owner: AgentName
    # What that calls it, letter for letter.
    native_id: str
    # The agent that offers it, by its id.
    agent_id: NotRequired[Optional[AgentId]]
    # The agent's epoch that offers it.
    epoch: NotRequired[Optional[Epoch]]


CapabilityEffect = TypedDict(
    "CapabilityEffect",
    {
        "class": "EffectClass",
        "vouched": "bool",
        "reversible": "bool",
    },
)
"""What a capability does at most."""


CapabilityId = str


CapabilityKind = Literal[
    "tool",  # Something that is called.
    "resource",  # Something that is read.
    "prompt",  # A text with places to fill.
    "operation",  # Something that is done by the node or an agent.
    "workflow",  # Tasks that are joined, begun and ended together.
    "automation",  # Something that is done when something happens, and can be had done by hand.
]
"""What a capability is."""


class CapabilityParams(TypedDict):
    """Names a capability."""

    # Its id, or its name: `CONNECTOR/TOOL`, `CONNECTOR/resource:URI`, `CONNECTOR/prompt:NAME`, `agent:AGENT/NAME`, `edgeplane:METHOD`, `workflow:NAME/run`.
    capability: str


class CapabilityView(TypedDict):
    """A capability."""

    # Its id: the same as long as its owner and its native name are.
    capability_id: CapabilityId
    # Its name: `CONNECTOR/TOOL`, `CONNECTOR/resource:URI`, `CONNECTOR/prompt:NAME`, `agent:AGENT/NAME`, `edgeplane:METHOD`, `workflow:NAME/run`.
    name: str
    # What it is.
    kind: CapabilityKind
    # What it does at most.
    effect: CapabilityEffect
    # Calls of it run beside each other: `parallel`.
    concurrency: str
    # What holds for a call by whoever asks.
    policy: PermissionView
    # How long a call may take, in milliseconds.
    timeout_ms: int
    # What is behind it.
    backing: CapabilityBacking
    # Changes whenever its server says something else of it.
    digest: str
    # What it is called, as its server says: for people, never for a decision.
    title: NotRequired[Optional[str]]
    # What it is for, as its server says.
    description: NotRequired[Optional[str]]
    # What a call is given, as a JSON Schema; in lists only if they are asked for.
    input_schema: NotRequired[Any]
    # What a call gives, as a JSON Schema, if its server says.
    output_schema: NotRequired[Any]
    # What its server claims of it. Not to be believed.
    annotations: NotRequired[Any]


class CapacityView(TypedDict):
    """What a machine has."""

    # Thousandths of processors that the daemon may use.
    cpu_milli: int
    # Bytes of memory; nothing if the kernel does not tell.
    memory_bytes: NotRequired[Optional[int]]


class CaseExportParams(TypedDict):
    """Names a turn."""

    # Which.
    turn_id: TurnId


class CaseExportResult(TypedDict):
    """What is needed to run a turn again and to judge what comes of it."""

    # `edgeplane-replay/1`.
    format: str
    # The turn.
    turn_id: TurnId
    # The message that began it.
    message_id: MessageId
    # The agent's name.
    agent: str
    # The agent.
    agent_id: AgentId
    # What it was given: the envelope and, unless it was erased, the content.
    input: Any
    # How it was given: driver, mode, priority, program.
    options: Any
    # What it had before it, by reference: manifest, session, memory, recording.
    context: Any
    # What it had at hand, by reference.
    inventory: Any
    # What came of it then, by digest.
    expected: Any
    # Where the record says so.
    evidence: Any
    # What people or programs noted of it; EdgePlane notes nothing.
    grader_notes: List[str]
    # What of each kind of signal is in it.
    signals: List[SignalView]
    # What is missing, and why.
    known_gaps: List[GapView]
    # SHA-256 of the case in its one spelling, without this field.
    digest: str


Change = Literal[
    "created",  # It is new.
    "updated",  # It is different.
    "unchanged",  # It is as it was.
    "removed",  # It is no more: a schedule that its agent's manifest no longer declares.
]
"""What changed about a declaration."""


ChangeKind = Literal[
    "added",  # It was not there.
    "removed",  # It is no more.
    "content",  # It holds something else, or leads elsewhere.
    "mode",  # Its permissions differ, and nothing else.
    "kind",  # It is another kind of thing.
]
"""How something differs."""


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


class ChangeView(TypedDict):
    """Something that differs."""

    # Its path beneath the folder, `.` for the folder itself; bytes that are no text are shown as `\xNN`.
    path: str
    # How.
    change: ChangeKind
    # What it was.
    before: NotRequired[Optional[ThingView]]
    # What it is.
    after: NotRequired[Optional[ThingView]]


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


CheckpointCause = Literal[
    "asked",  # Somebody asked for it.
    "restore",  # It is what was there before a restore.
    "before_call",  # A manifest wants it before a call that may do something.
]
"""Why a checkpoint is made."""


class CheckpointCreateParams(TypedDict):
    """Keeps the state of a workspace."""

    # The workspace.
    workspace_id: NotRequired[Optional[WorkspaceId]]
    # Or the agent whose own it is; it becomes known by this.
    agent: NotRequired[Optional[str]]
    # What it is, for people.
    label: NotRequired[Optional[str]]
    # The number of the binding under which it is done.
    binding_epoch: NotRequired[Optional[int]]
    # The change of a file that is to be in it: it is waited for.
    after: NotRequired[Optional[AfterWrite]]
    # How long that is waited for, in milliseconds, at most ten minutes.
    timeout_ms: NotRequired[int]
    # Whether to keep what git ignores.
    ignored: NotRequired[bool]
    # Whether to keep `.git`.
    git: NotRequired[bool]


class CheckpointDeleteParams(TypedDict):
    """Ends a checkpoint."""

    # Which.
    checkpoint_id: CheckpointId
    # Why, for the record.
    reason: NotRequired[Optional[str]]


class CheckpointDetail(TypedDict):
    """A checkpoint, with what is not in it."""

    # The checkpoint.
    checkpoint: CheckpointView
    # What is not in it, as far as it is listed.
    left_out: NotRequired[List[LeftOutView]]


class CheckpointDiffParams(TypedDict):
    """What differs between two checkpoints."""

    # From this one.
    before_id: CheckpointId
    # To this one.
    after_id: CheckpointId
    # Most changes, at most 10,000.
    limit: NotRequired[int]


class CheckpointDiffResult(TypedDict):
    """What differs."""

    # As far as it is told, by path.
    changes: List[ChangeView]
    # How much differs.
    total: int


CheckpointId = str


class CheckpointListParams(TypedDict):
    """Which checkpoints to list."""

    # Of this workspace.
    workspace_id: NotRequired[Optional[WorkspaceId]]
    # Or of the workspace of this agent.
    agent: NotRequired[Optional[str]]
    # Those that are not kept, too: failed, lost, deleted.
    all: NotRequired[bool]
    # Most checkpoints, at most 500.
    limit: NotRequired[int]
    # Where a former list ended.
    cursor: NotRequired[Optional[str]]


class CheckpointListResult(TypedDict):
    """Checkpoints."""

    # The newest first.
    checkpoints: List[CheckpointView]
    # Where the next list begins.
    next_cursor: NotRequired[Optional[str]]


class CheckpointParams(TypedDict):
    """Names a checkpoint."""

    # Which.
    checkpoint_id: CheckpointId


class CheckpointRestoreParams(TypedDict):
    """Brings a workspace back to a checkpoint of it."""

    # Which.
    checkpoint_id: CheckpointId
    # Do it even if somebody is at work in the folder.
    force: NotRequired[bool]
    # The token of the caller's lock, if there is one in the workspace.
    lock: NotRequired[Optional[int]]
    # The number of the binding under which it is done.
    binding_epoch: NotRequired[Optional[int]]
    # Whether what git ignores is kept and touched, too.
    ignored: NotRequired[bool]
    # Whether `.git` is kept and touched, too.
    git: NotRequired[bool]


class CheckpointRestoreResult(TypedDict):
    """What a restore did."""

    # The checkpoint of what was there before.
    before: CheckpointView
    # What was done.
    counts: RestoreCounts
    # What was left as it is, as far as it is listed.
    conflicts: NotRequired[List[ConflictView]]


CheckpointState = Literal[
    "started",  # It is being made.
    "created",  # It is kept.
    "failed",  # It could not be made.
    "lost",  # The node ended while it was made: nothing is kept.
    "deleted",  # It is kept no more.
]
"""Where a checkpoint is."""


class CheckpointView(TypedDict):
    """A checkpoint."""

    # Its id.
    checkpoint_id: CheckpointId
    # The workspace.
    workspace_id: WorkspaceId
    # Where it is.
    state: CheckpointState
    # Why it was made.
    cause: CheckpointCause
    # Who asked for it.
    by: SafeLabel
    # When it was begun.
    started_at: Timestamp
    # What it is, for people.
    label: NotRequired[Optional[str]]
    # The call before which it was made.
    invocation_id: NotRequired[Optional[InvocationId]]
    # BLAKE3 of what is kept: the same states have the same one.
    digest: NotRequired[Optional[str]]
    # What is in it.
    counts: NotRequired[Optional[FolderCounts]]
    # How many bytes the store had more by it.
    bytes_new: NotRequired[Optional[int]]
    # How many things in the folder are not in it.
    left_out: NotRequired[int]
    # How many files changed each time they were read, so that what is kept of them may be half of a change.
    unsettled: NotRequired[int]
    # Whether whoever worked in the folder was suspended while it was made.
    frozen: NotRequired[bool]
    # The number of the last change of a file that is in it.
    write_seq: NotRequired[int]
    # Why nothing is kept.
    reason: NotRequired[Optional[str]]
    # When it was kept.
    created_at: NotRequired[Optional[Timestamp]]


class Choice(TypedDict):
    """One answer that may be chosen."""

    # What is given back.
    value: SafeLabel
    # What a person reads.
    label: str


class CompactionView(TypedDict):
    """The newest boundary of a thread."""

    # The last turn before it.
    through: TurnId
    # How many turns the summary stands for.
    turns: int
    # SHA-256 of the summary.
    summary_digest: str
    # Its size.
    summary_bytes: int
    # Who wrote it.
    by: SafeLabel
    # What it weighs.
    authority: Authority
    # When it was drawn.
    at: Timestamp


class ComparisonView(TypedDict):
    """A comparison."""

    # How it was.
    baseline: SideView
    # How it is.
    candidate: SideView
    # The reward from which on a trial counts as a success.
    successAt: float
    # The manifests that both sides have.
    manifestHashes: List[str]
    # By how much the candidate has more.
    aggregateDeltas: DeltasView
    # The share of trials of which all is there.
    evidenceCompleteness: CompletenessView
    # What worked before and must not fail, and failed.
    p0Regressions: RegressionsView
    # Whether the candidate may take the baseline's place.
    promotion: PromotionView
    # The one thing that is other.
    changedVariable: NotRequired[Optional[str]]


class CompleteInvocationParams(TypedDict):
    """Answers a call. Exactly one of `output` and `error` is given."""

    # Which.
    invocation_id: InvocationId
    # What came of it: at most 4 MiB of JSON.
    output: NotRequired[Any]
    # Why it went wrong: at most 4 KiB.
    error: NotRequired[Optional[str]]


class CompletenessView(TypedDict):
    """The share of trials of which all is there."""

    # Of the baseline.
    baseline: float
    # Of the candidate.
    candidate: float


class ConflictView(TypedDict):
    """Something that a restore left as it is."""

    # Its path; bytes that are no text are shown as `\xNN`.
    path: str
    # Why.
    reason: str


class ConnectorStanding(TypedDict):
    """How it stands with a connector."""

    # Which.
    connector: AgentName
    # Whether its server answers.
    available: bool
    # Which version of the protocol it speaks.
    protocol: NotRequired[Optional[str]]
    # Why it does not answer.
    failure: NotRequired[Optional[str]]
    # What its server lists and is not offered, and why.
    left_out: NotRequired[List[str]]


ContentEncoding = Literal[
    "utf8",  # As text.
    "base64",  # In base64.
]
"""How bytes stand in JSON."""


class ContentOrigin(TypedDict):
    """Where content was found that somebody submits: never who speaks."""

    # Its address, such as the page's URL or the document's path.
    uri: NotRequired[Optional[str]]
    # The tool that returned it.
    tool: NotRequired[Optional[SafeLabel]]
    # When it was fetched, as the one who submits it says.
    retrieved_at: NotRequired[Optional[Timestamp]]


Context = Literal[
    "own",  # The agent's program has no other session or thread.
    "shared",  # The agent's program has one live context in each epoch, and all its threads share it. Their turns never overlap.
]
"""Whether a program has a context for this alone."""


class ContextChosen(TypedDict):
    """A text that was chosen."""

    # Which.
    reference: str
    # What it is called.
    title: str
    # SHA-256 of it.
    digest: str
    # How many bytes it has.
    bytes: int
    # All of it.
    text: str
    # How well it fits the query, in thousandths; none if it was named.
    score: NotRequired[Optional[int]]


class ContextFound(TypedDict):
    """A text that was found."""

    # By what it is read.
    reference: str
    # What it is called.
    title: str
    # SHA-256 of it, as the store says.
    digest: str
    # How many bytes it has, as the store says.
    bytes: int
    # How well it fits, in thousandths; comparable within one answer only.
    score: int
    # A piece of it.
    excerpt: str


ContextId = str


ContextIsolation = Literal[
    "fresh",  # Nothing.
    "forked",  # All of it.
]
"""What a subagent knows of what its parent was told and said."""


class ContextLeftOut(TypedDict):
    """A text that was left out."""

    # Which.
    reference: str
    # Why.
    reason: OmissionReason
    # How many bytes it has, where that is known.
    bytes: NotRequired[Optional[int]]
    # How well it fits the query, in thousandths.
    score: NotRequired[Optional[int]]


class ContextReadParams(TypedDict):
    """Which text to read."""

    # Which.
    reference: str
    # From this byte on; from the beginning of the letter that is there.
    offset: NotRequired[int]
    # Most bytes, at most 2 MiB.
    limit: NotRequired[int]


class ContextReadResult(TypedDict):
    """A text, or a part of it."""

    # Which.
    reference: str
    # What it is called.
    title: str
    # What it is, as the store says.
    media_type: str
    # SHA-256 of all of it.
    digest: str
    # How many bytes it has.
    bytes: int
    # The part that was asked for.
    text: str
    # Where that begins.
    offset: int
    # What it is: a document.
    channel: Channel
    # What it weighs at most.
    authority: Authority
    # Where the next part begins; nothing, if this was the last.
    next_offset: NotRequired[Optional[int]]


ContextRebuilt = Literal[
    "not",  # Nothing was taken out, so nothing is done.
    "now",  # Its epoch ends, and the next one begins anew, without its former session.
    "at_next_start",  # It does not run: its next epoch begins anew.
]
"""What a rollback or a compaction makes of a program's context. A program cannot forget."""


class ContextResolveParams(TypedDict):
    """Chooses texts for a budget, by a query, by references, or by both: what is named comes first."""

    # The agent for which it is; without, the calling agent, or nobody but the node.
    agent: NotRequired[Optional[str]]
    # The turn of that agent in which it is asked for.
    turn_id: NotRequired[Optional[TurnId]]
    # Words. At most 4 KiB.
    query: NotRequired[Optional[str]]
    # Texts that are named, in their order. At most 100.
    references: NotRequired[List[str]]
    # Most texts that the query may choose, at most 100; 10 if not given.
    limit: NotRequired[Optional[int]]
    # Room in bytes, at most 2 MiB; 64 KiB if nothing is said.
    budget_bytes: NotRequired[Optional[int]]
    # Room in tokens, each taken as four bytes. With both, the smaller counts.
    budget_tokens: NotRequired[Optional[int]]


class ContextResolveResult(TypedDict):
    """What was chosen and what was left out, as the record says it."""

    # Its id in the record.
    context_id: ContextId
    # What was chosen: what was named first, then best first.
    selected: List[ContextChosen]
    # What was not.
    left_out: List[ContextLeftOut]
    # How many bytes there was room for.
    budget_bytes: int
    # How many were used.
    used_bytes: int
    # How many tokens that is taken to be.
    used_tokens: int
    # What all of it is: documents.
    channel: Channel
    # What all of it weighs at most.
    authority: Authority


class ContextSearchParams(TypedDict):
    """What to search for."""

    # Words. At most 4 KiB.
    query: str
    # Most texts, at most 100.
    limit: NotRequired[int]


class ContextSearchResult(TypedDict):
    """What was found."""

    # Best first.
    items: List[ContextFound]
    # What all of it is: documents.
    channel: Channel
    # What all of it weighs at most.
    authority: Authority


Continuity = Literal[
    "full",  # The program resumed its own session.
    "partial",  # Facts and quotations were handed over; the program's own context is gone.
    "none",  # A fresh start.
]
"""How much of the former context a new epoch has."""


class CostView(TypedDict):
    """What something cost."""

    # Whether it is known.
    price: PriceState
    # What the session has cost since it began, in the program's own words.
    session: NotRequired[Optional[str]]
    # What sessions before had cost at their ends, oldest first, the newest of them.
    former_sessions: NotRequired[List[str]]


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
    # Whether that of a person also counts where the kernel says nothing of its bearer: over a network connection. Whoever finds it is then that person, an agent of this machine, too.
    remote: NotRequired[bool]


class CreateResult(TypedDict):
    """A token, this once."""

    # Its id.
    token_id: TokenId
    # The secret. The node keeps its digest only and cannot show it again.
    token: str
    # When it is worth nothing.
    expires_at: NotRequired[Optional[Timestamp]]


class CriterionView(TypedDict):
    """Something that must be true before a task is completed."""

    # In words.
    text: str
    # Whether somebody said that it is.
    is_true: bool


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


class DelegatedPrincipal(TypedDict):
    """For whom a service speaks: an identity beside its own, never instead of it."""

    # The user.
    user_id: SafeLabel
    # What the user may do; of that counts what the service may do, too.
    scopes: NotRequired[List[str]]
    # Where the service keeps what it knows of the user.
    claims_ref: NotRequired[Optional[str]]
    # For whom the user speaks, nearest first.
    on_behalf_of: NotRequired[List[SafeLabel]]


class DeleteParams(TypedDict):
    """Removes a key."""

    # The key.
    key: str
    # Name or id.
    agent: NotRequired[Optional[str]]
    # Remove only if the key is at this version.
    if_version: NotRequired[Optional[int]]


class DeleteResourceParams(TypedDict):
    """Ends a resource."""

    # Which.
    uri: ResourceUri
    # End it only if it is at this version.
    if_version: NotRequired[Optional[int]]
    # Why, for the record.
    reason: NotRequired[Optional[str]]


class DeliverWebhookParams(TypedDict):
    """Hands over a delivery, as it came over HTTP."""

    # The automation that it is for.
    name: str
    # What its sender calls it: the key against taking it twice.
    id: str
    # When it was signed, in seconds since 1970.
    timestamp: str
    # Its signatures, parted by spaces: `v1,` and the base64 of HMAC-SHA256 over `ID.TIMESTAMP.BODY`.
    signatures: str
    # Whether it is JSON; else it is text.
    is_json: bool
    # What was delivered, in base64: at most 256 KiB.
    body: str


class DeliverWebhookResult(TypedDict):
    """What became of a delivery."""

    # The firing.
    firing_id: FiringId
    # Whether it was delivered before.
    replayed: bool


class DeliveryCreateParams(TypedDict):
    """Hands an output over."""

    # What to hand over.
    output_id: OutputId
    # To whom.
    destination: DestinationParam
    # Its id, by the caller's choice, as a UUID of version 7: then it is the key against doing it twice.
    delivery_id: NotRequired[Optional[DeliveryId]]


DeliveryId = str


class DeliveryListParams(TypedDict):
    """Lists deliveries."""

    # Those of an agent's outputs and to that agent, by name or id.
    agent: NotRequired[Optional[str]]
    # Most to list, at most 500.
    limit: NotRequired[int]
    # Where the page before ended.
    cursor: NotRequired[int]


class DeliveryListResult(TypedDict):
    """Deliveries."""

    # In the order in which they were asked for.
    items: List[DeliveryView]
    # What to give as `cursor` to read on, if there is more.
    next: NotRequired[Optional[int]]


DeliveryMode = Literal[
    "queue",  # After the turn.
    "steer",  # Into the turn.
    "interrupt",  # Ends the turn.
]
"""How a message meets a running turn."""


class DeliveryParams(TypedDict):
    """Names a delivery."""

    # Its id.
    delivery_id: DeliveryId


DeliveryState = Literal[
    "pending",  # It is not there yet.
    "delivered",  # The agent's program was given it.
    "acknowledged",  # The agent's program acted on it, or who was to have it says that they do.
    "failed",  # It came to nothing.
]
"""How far a delivery is."""


DeliveryView = TypedDict(
    "DeliveryView",
    {
        "delivery_id": "DeliveryId",
        "output_id": "OutputId",
        "output_digest": "str",
        "from": "str",
        "authority": "Authority",
        "state": "DeliveryState",
        "created_at": "Timestamp",
        "to_agent": "NotRequired[Optional[str]]",
        "message_id": "NotRequired[Optional[MessageId]]",
        "to_principal": "NotRequired[Optional[SafeLabel]]",
        "reason": "NotRequired[Optional[str]]",
        "acknowledged_by": "NotRequired[Optional[SafeLabel]]",
        "acknowledged_at": "NotRequired[Optional[Timestamp]]",
    },
)
"""A delivery."""


class DeltasView(TypedDict):
    """By how much the candidate has more. What is not known of either side is `null`."""

    # The share of trials that took too long.
    timeoutRate: float
    # The share of trials of which all is there.
    evidenceCompleteness: float
    # The mean reward.
    meanReward: NotRequired[Optional[float]]
    # The share of successes.
    successRate: NotRequired[Optional[float]]
    # The time that half of the trials took at most, in milliseconds.
    latencyP50Ms: NotRequired[Optional[int]]
    # The time that 95 % of the trials took at most, in milliseconds.
    latencyP95Ms: NotRequired[Optional[int]]
    # Tokens of a trial, where they are known of each.
    tokensPerTrial: NotRequired[Optional[float]]


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


class DestinationParamAgent(TypedDict):
    """An agent: it gets a message with the words, which weighs no more than they do."""

    to: Literal["agent"]
    # Name or id.
    agent: str


class DestinationParamCaller(TypedDict):
    """The caller: it waits until they acknowledge it."""

    to: Literal["caller"]


DestinationParam = Union["DestinationParamAgent", "DestinationParamCaller"]
"""Who is to have an output."""


class DetachParams(TypedDict):
    """Names an attachment."""

    # Its id.
    attachment: str


Detail = Literal[
    "everything",  # Everything that the record knows of it.
    "words",  # What was said: messages, answers and remarks.
]
"""How much of what an agent did a transcript tells."""


DiffUntold = Literal[
    "binary",  # One of the two is no text.
    "too_large",  # One of the two has more than 1 MiB.
    "too_different",  # More than 2,000 lines differ.
]
"""Why no lines are told of what differs."""


Disposition = Literal[
    "started",  # It is on its way to the program, or there.
    "queued",  # It waits.
    "steered",  # It goes into the turn that runs, and is none of its own.
]
"""What became of a turn at once."""


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


EdgeKind = Literal[
    "depends_on",  # It begins when the other one is completed.
    "delegated",  # It hands a part of its work to the other one.
    "source",  # It came of the other one.
    "produced",  # It made this.
    "consumed",  # It used this.
    "evidence",  # This shows what it did.
]
"""How a task is joined to another one, or to something that it made or used."""


class EdgeView(TypedDict):
    """An edge."""

    # The task that it begins at.
    task_id: TaskId
    # How they are joined.
    kind: EdgeKind
    # The task that it leads to.
    to: NotRequired[Optional[TaskId]]
    # The address that it leads to.
    uri: NotRequired[Optional[str]]


Effect = Literal[
    "none",  # It did not.
    "applied",  # It did.
    "unknown",  # It may have.
]
"""Whether a failed request changed anything."""


EffectClass = Literal[
    "none",  # Nothing: it computes.
    "read",  # It looks at something.
    "write",  # It changes something, and what it changed can be found.
    "external",  # It reaches beyond this machine. What nobody vouches for is taken to.
    "destructive",  # What it does cannot be undone.
]
"""What a call may do at most."""


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


class EntryPoint(TypedDict):
    """Where a trace came in."""

    # What was asked for.
    operation: str
    # As whom.
    user_id: str
    # Whom it was for, if it was an agent.
    agent: NotRequired[Optional[str]]


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
    # The open turn it goes into. It is part of that turn and none of its own, and comes to nothing if that is over.
    into_turn: NotRequired[Optional[TurnId]]
    # What its fence ends with, by the node's choice, where its sender chose its id. Else its id says it.
    fence: NotRequired[Optional[SafeLabel]]
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


class EnvironmentView(TypedDict):
    """What surrounds an agent's program."""

    # The agent's name.
    agent: str
    # The agent.
    agent_id: AgentId
    # The epoch that lives, or the last one.
    epoch: Epoch
    # Where the agent stands.
    phase: Phase
    # When this was looked at.
    as_of: Timestamp
    # `epoch` if it was read from what runs, `manifest` if nothing runs and it is what the next epoch gets.
    source: str
    # Whether what runs was started with another manifest than the one that is shown here.
    stale: bool
    # The folder that its program begins in.
    cwd: str
    # Further folders that it was given.
    additional_roots: List[str]
    # The shell of its user.
    shell: str
    # The operating system.
    os: str
    # The processor's architecture.
    arch: str
    # As whom it runs.
    user: UserView
    # The names of its variables; values are never told.
    variables: List[str]
    # What keeps it in.
    sandbox: SandboxView
    # What its processes may use together, and each of them.
    limits: List[LimitView]
    # What it may reach: `host` is all that the machine may.
    network: str
    # What keeps its epochs: `shim`.
    substrate: str
    # How messages become what its program reads.
    driver: str
    # Its program.
    program: str
    # The program's own word for what it is, with its version.
    version: str


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
    # Milliseconds after which a retry may succeed, where that is known.
    retry_after_ms: NotRequired[Optional[int]]
    # Who failed: the node's name.
    service: NotRequired[Optional[str]]
    # What failed: the method.
    operation: NotRequired[Optional[str]]
    # What the request named, by the names of its fields.
    ids: NotRequired[Dict[str, str]]
    # Whether the key of the request was used before, and this is what came of it then.
    replayed: NotRequired[bool]
    # Everything that is wrong, where it is more than one thing.
    violations: NotRequired[List[Any]]
    # Of a `replay_gap`: what can be had instead of what is gone.
    gap: NotRequired[Optional[Gap]]


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
    "wrong_workspace",  # What is spoken of belongs to another workspace.
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
    "upstream_failed",  # What the node uses for this failed, or gave something else than it was given.
    "unavailable",  # The node cannot serve this now.
    "outcome_unknown",  # Whether it took effect is not known: read, then decide.
    "deadline_exceeded",  # Not done in the time given.
    "storage_full",  # No space for the record: nothing was changed.
    "record_damaged",  # The record failed verification and is read-only.
]
"""What went wrong, as a name that programs may rely on."""


EventId = str


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


ExitStatus = Union[Dict[str, Any], Dict[str, Any], Literal["unknown"]]
"""How a process ended."""


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


class Explanation(TypedDict):
    """Why a trace took as long as it did."""

    # The trace.
    trace_id: TraceId
    # The moment as of which it was looked at.
    as_of: Timestamp
    # Where it came in.
    entry_point: EntryPoint
    # Exactly one.
    verdict: TraceVerdict
    # The rule that gave it.
    rule: str
    # The same in words.
    reason: str
    # Who answers for the slowest span on the critical path.
    owner: Owner
    # What was waited for at each moment, from the beginning to the end.
    critical_path: List[PathStretch]
    # The events that the verdict rests on.
    evidence: List[TraceEvidence]
    # That span.
    slowest: NotRequired[Optional[PathStretch]]


FileChangeKind = Literal[
    "write",  # It is written.
    "move",  # It gets another path.
    "delete",  # It is removed.
]
"""What is done to a file."""


class FileChangeView(TypedDict):
    """A change that was made."""

    # The workspace.
    workspace_id: WorkspaceId
    # Its number in the workspace, from 1, without gaps.
    write_seq: int
    # What was done.
    kind: FileChangeKind
    # The path that was named.
    path: str
    # The path that it has now.
    to: NotRequired[Optional[str]]
    # What was there: `absent`, or BLAKE3 of its bytes.
    before: NotRequired[Optional[str]]
    # What is there now, the same.
    version: NotRequired[Optional[str]]
    # Its bytes.
    bytes: NotRequired[Optional[int]]


class FileDeleteParams(TypedDict):
    """Removes a file, a link, or a folder with nothing in it."""

    # Its path.
    path: str
    # The workspace.
    workspace_id: NotRequired[Optional[WorkspaceId]]
    # Or the agent whose own it is; it becomes known by this.
    agent: NotRequired[Optional[str]]
    # Only if it holds this now.
    if_version: NotRequired[Optional[str]]
    # The token of the caller's lock on it, if it is locked.
    lock: NotRequired[Optional[int]]
    # The number of the binding under which it is done.
    binding_epoch: NotRequired[Optional[int]]


FileKind = Literal[
    "file",  # A plain file.
    "folder",  # A folder.
    "link",  # A symbolic link.
    "pipe",  # A pipe.
    "socket",  # A socket.
    "device",  # A device.
]
"""What something in a folder is."""


class FileListParams(TypedDict):
    """Which files to list."""

    # The workspace.
    workspace_id: NotRequired[Optional[WorkspaceId]]
    # Or the agent whose own it is; it becomes known by this.
    agent: NotRequired[Optional[str]]
    # The folder.
    path: NotRequired[str]
    # Also what is in the folders in it.
    recursive: NotRequired[bool]
    # Most files, at most 5,000.
    limit: NotRequired[int]
    # Where a former list ended.
    cursor: NotRequired[Optional[str]]


class FileListResult(TypedDict):
    """Files."""

    # By path.
    files: List[FileView]
    # Where the next list begins.
    next_cursor: NotRequired[Optional[str]]


class FileMoveParams(TypedDict):
    """Gives a file, folder or link another path, which nothing has."""

    # Its path.
    path: str
    # The path that it gets.
    to: str
    # The workspace.
    workspace_id: NotRequired[Optional[WorkspaceId]]
    # Or the agent whose own it is; it becomes known by this.
    agent: NotRequired[Optional[str]]
    # Only if it holds this now.
    if_version: NotRequired[Optional[str]]
    # Make the folders on its way.
    folders: NotRequired[bool]
    # The token of the caller's lock on it, if it is locked.
    lock: NotRequired[Optional[int]]
    # The number of the binding under which it is done.
    binding_epoch: NotRequired[Optional[int]]


class FileParams(TypedDict):
    """Names a file."""

    # Its path.
    path: str
    # The workspace.
    workspace_id: NotRequired[Optional[WorkspaceId]]
    # Or the agent whose own it is; it becomes known by this.
    agent: NotRequired[Optional[str]]


class FileReadParams(TypedDict):
    """Which bytes of a file to read."""

    # Its path.
    path: str
    # The workspace.
    workspace_id: NotRequired[Optional[WorkspaceId]]
    # Or the agent whose own it is; it becomes known by this.
    agent: NotRequired[Optional[str]]
    # From this byte on.
    offset: NotRequired[int]
    # Most bytes, at most 2 MiB.
    limit: NotRequired[int]
    # How they are to stand in the answer: as text if they are, if nothing is said.
    encoding: NotRequired[Optional[ContentEncoding]]


class FileReadResult(TypedDict):
    """Some bytes of a file."""

    # Its path.
    path: str
    # The bytes.
    content: str
    # How they stand in `content`.
    encoding: ContentEncoding
    # The first of them.
    offset: int
    # How many the file has.
    bytes: int
    # Where the next part begins; nothing, if this was the last.
    next_offset: NotRequired[Optional[int]]
    # BLAKE3 of all that the file holds; a file of more than 256 MiB has none.
    version: NotRequired[Optional[str]]
    # Whether it changed each time it was read, so that this may be half of a change.
    unsettled: NotRequired[bool]


class FileSearchParams(TypedDict):
    """What to find in files."""

    # The text, in one line.
    pattern: str
    # The workspace.
    workspace_id: NotRequired[Optional[WorkspaceId]]
    # Or the agent whose own it is; it becomes known by this.
    agent: NotRequired[Optional[str]]
    # Whether it is a regular expression.
    regex: NotRequired[bool]
    # Whether large and small letters are the same.
    ignore_case: NotRequired[bool]
    # In this folder or file.
    path: NotRequired[str]
    # Whether to search what git ignores.
    ignored: NotRequired[bool]
    # Whether to search `.git`.
    git: NotRequired[bool]
    # Most lines, at most 1,000.
    limit: NotRequired[int]
    # Where a former search ended.
    cursor: NotRequired[Optional[str]]


class FileSearchResult(TypedDict):
    """What was found, and what was not looked at."""

    # By file and line.
    lines: List[FoundLine]
    # Files that were searched.
    files: int
    # Bytes in them.
    bytes: int
    # Files that are no text, and were not searched.
    binary: int
    # Files of more than 16 MiB, which were not searched.
    too_large: int
    # Files and folders that could not be read.
    unreadable: int
    # Where the next search goes on, if a bound was reached: that of lines, 100,000 files or 256 MiB.
    next_cursor: NotRequired[Optional[str]]


class FileView(TypedDict):
    """Something in a folder."""

    # Its path.
    path: str
    # What it is.
    kind: FileKind
    # Its permissions in octal digits.
    mode: str
    # When its contents changed.
    modified_at: Timestamp
    # Its bytes, of a file.
    bytes: NotRequired[Optional[int]]
    # Where a link leads, as it says. No link is followed.
    target: NotRequired[Optional[str]]
    # BLAKE3 of what a file holds: a list does not tell it, and a file of more than 256 MiB has none.
    version: NotRequired[Optional[str]]
    # Whether what is in a folder was to be listed and could not be.
    closed: NotRequired[bool]


class FileWriteParams(TypedDict):
    """Writes a file, whole or not at all."""

    # Its path.
    path: str
    # What it will hold, at most 8 MiB.
    content: str
    # The workspace.
    workspace_id: NotRequired[Optional[WorkspaceId]]
    # Or the agent whose own it is; it becomes known by this.
    agent: NotRequired[Optional[str]]
    # How that stands in `content`.
    encoding: NotRequired[ContentEncoding]
    # Only if it holds this now: the `version` that was read, or `absent`.
    if_version: NotRequired[Optional[str]]
    # Make the folders on its way.
    folders: NotRequired[bool]
    # The token of the caller's lock on it, if it is locked.
    lock: NotRequired[Optional[int]]
    # The number of the binding under which it is done.
    binding_epoch: NotRequired[Optional[int]]


class FireAutomationParams(TypedDict):
    """Has an automation fire by hand."""

    # Its name.
    name: AgentName
    # What is found below `event` in its placeholders; whole numbers only. It weighs as little as the words of others.
    event: NotRequired[Any]


FiringId = str


FiringState = Literal[
    "open",  # It is to be acted on, or is acted on.
    "succeeded",  # What it was to do is done.
    "failed",  # What it was to do was refused or failed.
    "withdrawn",  # Its automation was withdrawn before anything was done.
    "outcome_unknown",  # Whether anything was done cannot be known.
]
"""Where a firing is."""


class FiringView(TypedDict):
    """One time that an automation fired."""

    # Its id.
    firing_id: FiringId
    # Which automation.
    automation: AgentName
    # Which version of it.
    version: int
    # Why.
    cause: AutomationCause
    # How many automations caused each other before it.
    hops: int
    # When.
    at: Timestamp
    # Where it is.
    state: FiringState
    # When it was over.
    ended_at: NotRequired[Optional[Timestamp]]
    # The name of the failure.
    error: NotRequired[Optional[ErrorName]]
    # Why it failed, for people.
    reason: NotRequired[Optional[str]]
    # The task or job that it makes, if it makes one.
    task_id: NotRequired[Optional[TaskId]]
    # The trace of what it does.
    trace_id: NotRequired[Optional[TraceId]]


class FolderCounts(TypedDict):
    """What there is in a folder."""

    # Files.
    files: int
    # Folders, without itself.
    folders: int
    # Symbolic links.
    links: int
    # Bytes in files.
    bytes: int


class FoundLine(TypedDict):
    """A line that was found."""

    # In which file.
    path: str
    # Its number, from 1.
    line: int
    # Where in the file the match begins, in bytes.
    offset: int
    # The line; what is no text in it is replaced.
    text: str
    # Whether that is only what is around the match.
    cut: NotRequired[bool]


From = Literal[
    "start",  # At the oldest there is.
    "latest",  # Behind the newest there is.
]
"""Where reading begins, if it is not behind a number or a cursor."""


class Gap(TypedDict):
    """What can be had of a stream instead of what was asked for."""

    # The oldest number that there is.
    oldest_seq: int
    # The number that a snapshot would stand for, behind which the stream goes on without a gap.
    snapshot_seq: int
    # The version of the projection that is served.
    projection_version: int


GapView = TypedDict(
    "GapView",
    {
        "kind": "str",
        "reason": "str",
        "stream": "NotRequired[Optional[str]]",
        "seq": "NotRequired[Optional[int]]",
        "from": "NotRequired[Optional[Timestamp]]",
        "to": "NotRequired[Optional[Timestamp]]",
        "epoch": "NotRequired[Optional[Epoch]]",
        "subject": "NotRequired[Optional[str]]",
    },
)
"""Something that the record cannot show."""


class GapsParams(TypedDict):
    """Whose gaps to list."""

    # Of this agent: name or id, also of one that is retired; of the node and all its agents without.
    agent: NotRequired[Optional[str]]


class GapsResult(TypedDict):
    """What is missing."""

    # By stream, then in the order in which it came to be.
    items: List[GapView]
    # Whether there is more than is told.
    truncated: bool


Generation = int
"""Version of what is wanted of an agent: grows with each change of its manifest or desire."""


class GetResourceParams(TypedDict):
    """Names a version of a resource."""

    # Which.
    uri: ResourceUri
    # Of this version; the newest without.
    at_version: NotRequired[Optional[int]]
    # Leave the value out if its etag is this.
    if_none_match: NotRequired[Optional[str]]
    # Only these keys of the value, which must be an object then; all without.
    fields: NotRequired[List[str]]


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


HookDecision = Literal[
    "continue",  # It has nothing against it.
    "block",  # It stops the call, or keeps back what came of it.
    "allow",  # Nobody needs to be asked, unless somebody says otherwise in so many words.
    "deny",  # The call is refused.
    "ask",  # A person is to be asked.
]
"""What a hook says."""


class HookParams(TypedDict):
    """Reports what a hook of the calling agent's own program said."""

    # Whose hook: `claude-code` or `codex`; that of the agent's adapter.
    kind: SafeLabel
    # What the program handed to its hook.
    report: Any


HookPoint = Literal[
    "pre_tool_use",  # Before a call is made, or a person is asked about it.
    "permission_request",  # Before a person is asked.
    "post_tool_use",  # After a call that went well.
    "post_tool_failure",  # After a call that went wrong.
]
"""When a hook around a call is asked."""


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


class HookRun(TypedDict):
    """What a hook made of a call."""

    # Which.
    hook: SafeLabel
    # When it was asked.
    point: HookPoint
    # How long it took, in milliseconds.
    took_ms: int
    # What it said; nothing if it failed.
    decision: NotRequired[Optional[HookDecision]]
    # Why, or how it failed.
    reason: NotRequired[Optional[str]]
    # What it would have whoever calls know.
    context: NotRequired[Optional[str]]
    # Whether it changed what is given, or what came of it.
    changed: NotRequired[bool]


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


class HostParams(TypedDict):
    """Names a host."""

    # Name or id of its node.
    host: str


class HostView(TypedDict):
    """A machine on which agents live."""

    # Its node.
    host_id: NodeId
    # Its node's name.
    name: NodeName
    # `ready`, `held` under an override over the whole node, `storage_full` or `damaged`.
    status: str
    # What it is: `os`, `arch` and `node`.
    labels: Dict[str, str]
    # The kernel's release.
    kernel: str
    # What tells this start of the machine from others.
    boot_id: str
    # What the machine has.
    capacity: CapacityView
    # What is in use of it now, by whomever.
    load: LoadView
    # What is left when each agent that may live takes all that its limits allow.
    left: LeftView
    # How many agents are in each phase.
    agents: Dict[str, int]
    # What the machine allows, as `doctor` shows it.
    features: List[Check]
    # When this was looked at.
    as_of: Timestamp


class HostsResult(TypedDict):
    """Hosts."""

    # This machine; a node that belongs to no fleet knows no other.
    items: List[HostView]


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


class Incident(TypedDict):
    """Something that went wrong."""

    # The turn.
    turn_id: TurnId
    # What became of it.
    state: TurnState
    # Why.
    reason: NotRequired[Optional[str]]


class InferenceLimit(TypedDict):
    """A limit of an agent's inference."""

    # What is limited: `provider_quota`, `budget`.
    kind: str
    # How it stands.
    state: InferenceLimitState
    # What that means, in words.
    detail: str
    # How that is known.
    evidence: NotRequired[Optional[Evidence]]


InferenceLimitState = Literal[
    "exhausted",  # It is used up: the agent waits.
    "open",  # The agent works or could.
    "unreported",  # Nobody says how it stands.
    "none",  # There is none.
]
"""How a limit stands."""


class InferenceLimitsResult(TypedDict):
    """What holds an agent's inference back."""

    # The agent's name.
    agent: str
    # The agent.
    agent_id: AgentId
    # Each limit.
    items: List[InferenceLimit]


class InferenceParams(TypedDict):
    """Names the agent whose inference is meant."""

    # Name or id.
    agent: str


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
    "task",  # A run of a task.
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


InputId = str


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


InterruptOutcome = Literal[
    "accepted",  # It is durable that the turn is to end, and its program is asked. A turn that waited is over with that.
    "no_op",  # The turn was over already.
]
"""What became of a request for the end of a turn."""


class InterruptView(TypedDict):
    """That somebody asked for the end of a turn."""

    # When.
    at: Timestamp
    # Why.
    reason: str


InvocationCause = Literal[
    "credentials",  # Its server does not accept what it is shown.
    "hook",  # A hook stopped it, or keeps back what came of it.
    "checkpoint",  # No checkpoint could be made before it.
]
"""What had an invocation end without being done."""


InvocationId = str


class InvocationParams(TypedDict):
    """Names an invocation."""

    # Which.
    invocation_id: InvocationId


class InvocationProgressed(TypedDict):
    """The server of an invocation says how far it is."""

    # The invocation.
    invocation_id: InvocationId
    # How far, as a decimal number.
    done: str
    # Of how much, if its server says.
    total: NotRequired[Optional[str]]
    # What its server says of it, cut and cleaned.
    message: NotRequired[Optional[str]]


InvocationState = Literal[
    "waiting",  # It waits for leave.
    "running",  # It is being made.
    "succeeded",  # It was made, and the server says that it went well.
    "failed",  # It was not made, or the server says that it went wrong.
    "denied",  # Leave was refused, or nobody gave it in time.
    "cancelled",  # It was taken back. What the server did until then cannot be known.
    "outcome_unknown",  # Whether it was made, or what came of it, cannot be known.
]
"""Where an invocation is."""


class InvocationView(TypedDict):
    """A call of a capability."""

    # Its id.
    invocation_id: InvocationId
    # Where it is.
    status: InvocationState
    # What is called.
    capability_id: CapabilityId
    # Its name.
    name: str
    # What is behind it.
    backing: CapabilityBacking
    # The digest of what is called.
    capability_digest: str
    # SHA-256 of exactly what it is given.
    input_digest: str
    # What held for it.
    permission: Permission
    # The rule that says so.
    rule: SafeLabel
    # When it was asked for.
    asked_at: Timestamp
    # By whom.
    by: str
    # What it is given; what looks like a secret is masked. The agent that is to answer it sees it exactly, or not at all.
    input: NotRequired[Any]
    # The action by which a person is asked.
    action_id: NotRequired[Optional[ActionId]]
    # The checkpoint of the caller's folder that was made before it.
    checkpoint_id: NotRequired[Optional[CheckpointId]]
    # What came of it, as it came.
    output: NotRequired[Any]
    # SHA-256 of that.
    output_digest: NotRequired[Optional[str]]
    # Its size in bytes.
    output_bytes: NotRequired[int]
    # How far it was when its server said so last.
    progress: NotRequired[Optional[InvocationProgressed]]
    # Why it ended so.
    reason: NotRequired[Optional[str]]
    # What had it end without being done, where that is more than its server's word.
    cause: NotRequired[Optional[InvocationCause]]
    # The hooks that were asked about it, in their order.
    hooks: NotRequired[List[HookRun]]
    # When it ended.
    ended_at: NotRequired[Optional[Timestamp]]


InvokeMode = Literal[
    "await",  # Until it is over, or waits for leave.
    "async",  # Not at all: the answer says what it is called.
    "streaming",  # Until it is over, or waits for leave; how far it is comes as `core/progress` notifications before the answer.
]
"""How a call is waited for."""


class InvokeParams(TypedDict):
    """Calls a capability."""

    # Its id or its name.
    capability: str
    # The digest of what was looked at; it is not called if it is another one by now.
    digest: NotRequired[Optional[str]]
    # What it is given: an object.
    input: NotRequired[Any]
    # How it is waited for.
    mode: NotRequired[InvokeMode]
    # How long it may take, in milliseconds; at most what is said of the capability.
    timeout_ms: NotRequired[Optional[int]]


class Isolation(TypedDict):
    """What divides a subagent from its parent."""

    # Which folder it works in.
    workspace: NotRequired[WorkspaceIsolation]
    # Which memory it has.
    memory: NotRequired[MemoryIsolation]
    # What it may do.
    permission: NotRequired[PermissionIsolation]
    # What it knows of what its parent was told and said.
    context: NotRequired[ContextIsolation]


ItemId = str


class ItemListParams(TypedDict):
    """Lists the items of a turn or a thread."""

    # Those of a turn.
    turn_id: NotRequired[Optional[TurnId]]
    # Those of a thread; what was rolled back is left out.
    thread_id: NotRequired[Optional[ThreadId]]
    # Behind this number in the agent's stream.
    after: NotRequired[int]
    # Most to list, at most 500. Long ones may make it fewer.
    limit: NotRequired[int]


class ItemListResult(TypedDict):
    """Items."""

    # Oldest first.
    items: List[ItemView]
    # What to give as `after` to read on, if there may be more.
    next: NotRequired[Optional[int]]


class ItemParams(TypedDict):
    """Reports a piece of work or a remark; the calling agent is its author."""

    # Of which kind, in the agent's words, such as `output` or `note`.
    kind: SafeLabel
    # What there is to say: at most 4 MiB.
    text: str
    # The message whose turn it belongs to; one of the agent's own.
    message_id: NotRequired[Optional[MessageId]]


class ItemView(TypedDict):
    """An item: one step of a turn."""

    # Its number in the agent's stream; of pieces told as one, the last one's.
    seq: int
    # When.
    at: Timestamp
    # The turn that it is part of.
    turn_id: TurnId
    # Who said or did it, and how.
    spoken: Spoken
    # What it holds.
    blocks: List[Block]
    # Its id, where pieces of it come one after the other.
    item_id: NotRequired[Optional[ItemId]]
    # The message that it shows, if it is one.
    message_id: NotRequired[Optional[MessageId]]
    # Of which kind.
    kind: NotRequired[Optional[SafeLabel]]
    # How far it is.
    status: NotRequired[Optional[SafeLabel]]
    # What it weighs, where that is known.
    authority: NotRequired[Optional[Authority]]


class JobCancelParams(TypedDict):
    """Has a job ended."""

    # Its id.
    job_id: TaskId
    # Why, for people: at most 1,024 bytes.
    reason: NotRequired[Optional[str]]


class JobCounts(TypedDict):
    """How many items of a job are where."""

    # Those that wait for an agent.
    pending: int
    # Those that are worked on.
    running: int
    # Those that are done, without a report.
    completed: int
    # Those that are over and not done.
    failed: int
    # Those that are done and reported.
    reported: int


class JobCreateParams(TypedDict):
    """Makes a job. Whoever may be given items is named by `agents`, or by `labels` and `capability`."""

    # What it is called: 1 to 256 bytes.
    title: str
    # 1 to 10,000 items, all of them together at most 32 MiB.
    items: List[JobItemInput]
    # Its id, by the caller's choice, as a UUID of version 7: then it is the key against making it twice.
    job_id: NotRequired[Optional[TaskId]]
    # What is to be done with each item, which stands where `{item}` stands, or below it. Without it an item says it itself.
    objective: NotRequired[Optional[str]]
    # The agents that may be given items, by name or id; at most 1,000.
    agents: NotRequired[List[str]]
    # Labels that an agent has to have to be given items.
    labels: NotRequired[Dict[str, SafeLabel]]
    # What an agent has to have as its label `capability`, or to offer under this name with an operator's word for it.
    capability: NotRequired[Optional[SafeLabel]]
    # How many items are worked on at a time, at most; without it as many as there are agents.
    parallelism: NotRequired[Optional[int]]
    # How many runs of an item there are at most before it fails, 1 to 100.
    attempts: NotRequired[int]
    # What counts as the report of an item: the end of the turn, or what its agent reports in it.
    report: NotRequired[JobReport]
    # What each run may use.
    limits: NotRequired[RunLimits]
    # How urgent it is.
    priority: NotRequired[Priority]


class JobDetail(TypedDict):
    """A job and a page of its items."""

    # The job.
    job: JobView
    # Its items, in the order in which they were given.
    items: List[JobItemView]
    # What to give as `cursor` for the next page, if there is one.
    next: NotRequired[Optional[int]]


class JobGetParams(TypedDict):
    """Asks for a job and a page of its items."""

    # Its id.
    job_id: TaskId
    # Only this item, with its result however long that is.
    item_id: NotRequired[Optional[TaskId]]
    # Only items that are there.
    state: NotRequired[Optional[JobItemState]]
    # What the page before gave as `next`.
    cursor: NotRequired[int]
    # Most items, at most 500.
    limit: NotRequired[int]


class JobItemAssignParams(TypedDict):
    """Gives an item that waits to an agent, whoever is idle and however many are worked on."""

    # The item.
    item_id: TaskId
    # The agent, by name or id.
    agent: str


class JobItemInput(TypedDict):
    """An item of a job."""

    # What stands for it in the objective: a text as it is, anything else as JSON.
    input: Any
    # Its id, by the caller's choice, as a UUID of version 7.
    item_id: NotRequired[Optional[TaskId]]


class JobItemReportParams(TypedDict):
    """Says what came of an item. The first report counts; the same one again by the same run changes nothing."""

    # The item.
    item_id: TaskId
    # The run that says so; it must be the one that lives.
    run_id: NotRequired[Optional[RunId]]
    # What came of it: at most 256 KiB as JSON.
    result: NotRequired[Any]
    # The output of the agent that holds what came of it.
    output_id: NotRequired[Optional[OutputId]]


class JobItemRetryParams(TypedDict):
    """Has an item tried again that failed."""

    # The item.
    item_id: TaskId
    # Why, for people: at most 1,024 bytes.
    reason: NotRequired[Optional[str]]


JobItemState = Literal[
    "pending",  # It waits for an agent.
    "running",  # An agent works on it.
    "completed",  # It is done.
    "failed",  # It is over and not done, or nobody can know whether it is.
    "reported",  # It is done, and its agent reported what came of it.
]
"""Where an item of a job is."""


class JobItemView(TypedDict):
    """An item."""

    # Its id; the task of the same id shows all of its runs.
    item_id: TaskId
    # The job.
    job_id: TaskId
    # What it is called.
    title: str
    # Where it is.
    state: JobItemState
    # Where its task is.
    task_state: TaskState
    # How many runs there were.
    attempts: int
    # Why its newest run ended so, or why there is one.
    reason: NotRequired[Optional[str]]
    # Who was given it last.
    agent: NotRequired[Optional[str]]
    # The same by id.
    agent_id: NotRequired[Optional[AgentId]]
    # The newest run.
    run_id: NotRequired[Optional[RunId]]
    # The output in which it was done.
    output_id: NotRequired[Optional[OutputId]]
    # What was reported of it; left out where it is long and many are shown, or erased.
    result: NotRequired[Any]
    # Size of what was reported, as JSON.
    result_bytes: NotRequired[Optional[int]]
    # When it was reported.
    reported_at: NotRequired[Optional[Timestamp]]


class JobListParams(TypedDict):
    """Which jobs a list shows."""

    # Also those that are over.
    all: NotRequired[bool]
    # What the page before gave as `next`.
    cursor: NotRequired[int]
    # Most entries, at most 500.
    limit: NotRequired[int]


class JobListResult(TypedDict):
    """A list of jobs."""

    # Oldest first.
    items: List[JobView]
    # What to give as `cursor` for the next page, if there is one.
    next: NotRequired[Optional[int]]


JobReport = Literal[
    "turn",  # The end of its agent's turn.
    "explicit",  # What its agent reports before its turn ends.
]
"""What counts as the report of an item of a job."""


JobState = Literal[
    "pending",  # Nobody works on it.
    "running",  # Items of it are worked on, or wait for an agent.
    "completed",  # All of its items are done.
    "failed",  # All of its items are over and one is not done, or somebody said that it failed.
    "cancelled",  # Somebody had it ended.
]
"""Where a job is."""


class JobView(TypedDict):
    """A job."""

    # Its id.
    job_id: TaskId
    # What it is called.
    title: str
    # Where it is.
    state: JobState
    # How many items it has.
    items: int
    # How many of them are where.
    counts: JobCounts
    # What counts as the report of an item.
    report: JobReport
    # Who wants it done.
    created_by: SafeLabel
    # When it was made.
    created_at: Timestamp
    # When it came where it is.
    moved_at: Timestamp
    # Why it is there.
    reason: NotRequired[Optional[str]]
    # Why it is to be ended, if it is.
    cancelled_because: NotRequired[Optional[str]]
    # The agents that may be given items, if they are named.
    agents: NotRequired[List[str]]
    # The labels of those who may be given items.
    labels: NotRequired[Dict[str, SafeLabel]]
    # How many items are worked on at a time, at most.
    parallelism: NotRequired[Optional[int]]


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


class LeftOutView(TypedDict):
    """Something in a folder that is not kept."""

    # Its path; bytes that are no text are shown as `\xNN`.
    path: str
    # Why: `socket`, `pipe`, `device`, `other_file_system`, `unreadable`, `changing`, `too_large`.
    why: str


class LeftView(TypedDict):
    """What is left of a machine."""

    # Thousandths of processors; zero if more was promised than there is.
    cpu_milli: int
    # Agents that may live and have no limit of processor time: they are not counted.
    without_cpu_limit: int
    # Agents that may live and have no limit of memory: they are not counted.
    without_memory_limit: int
    # Bytes of memory; nothing if it is not known how much there is.
    memory_bytes: NotRequired[Optional[int]]


class LiftOverrideParams(TypedDict):
    """Lifts an override."""

    # Which.
    override_id: OverrideId
    # Why, for the record.
    reason: str
    # How long the answer may wait for agents to go on, in milliseconds; 5,000 without.
    wait_ms: NotRequired[Optional[int]]


class LiftView(TypedDict):
    """The end of an override."""

    # Why.
    reason: str
    # By whom.
    by: str
    # When.
    at: Timestamp


class LimitView(TypedDict):
    """A limit."""

    # `memory` in bytes, `pids`, `cpu` in thousandths of a processor, `open_files`.
    name: str
    # `in_force`, `not_asked`, `missing` if the machine lacks it, `unavailable` if nothing runs.
    state: str
    # What the manifest asks for.
    asked: NotRequired[Optional[int]]
    # What the kernel keeps now, read from where it stands.
    in_force: NotRequired[Optional[int]]
    # Where it stands.
    path: NotRequired[Optional[str]]


class ListCapabilitiesParams(TypedDict):
    """Which capabilities to list."""

    # Only those of this connector.
    connector: NotRequired[Optional[AgentName]]
    # Only those with this behind them.
    backing: NotRequired[Optional[BackingKind]]
    # Only those of this kind.
    kind: NotRequired[Optional[CapabilityKind]]
    # Most capabilities, at most 500; 100 if not given.
    limit: NotRequired[Optional[int]]
    # Where a former list ended.
    cursor: NotRequired[Optional[str]]
    # Whether their schemas are shown, too. Such a list ends at 2 MiB, wherever that is; `next_cursor` goes on.
    schemas: NotRequired[bool]


class ListHostsParams(TypedDict):
    """Which hosts to list."""

    # Only those with all of these labels.
    labels: NotRequired[Dict[str, str]]


class ListModelsParams(TypedDict):
    """Of which agents to list models."""

    # Of this agent: name or id; an operator leaves it out for all.
    agent: NotRequired[Optional[str]]


class ListOverridesParams(TypedDict):
    """Which overrides to list."""

    # Only those that cover this agent now: name or id.
    agent: NotRequired[Optional[str]]
    # Also those that were lifted.
    lifted: NotRequired[bool]


class ListProcessesParams(TypedDict):
    """Which processes to list."""

    # Of this agent: name or id.
    agent: str
    # Only those of this status.
    status: NotRequired[Optional[ProcessStatus]]
    # Most processes to look at, at most 500; 50 if not given.
    limit: NotRequired[Optional[int]]
    # Where a former list ended.
    cursor: NotRequired[Optional[str]]


class ListResourcesParams(TypedDict):
    """Which resources to list."""

    # Only those of this kind.
    kind: NotRequired[Optional[ResourceKind]]
    # Only those whose name begins so.
    prefix: NotRequired[Optional[str]]
    # Only those that have all of these labels.
    labels: NotRequired[Dict[str, SafeLabel]]
    # Most resources to look at, at most 500; 100 if not given.
    limit: NotRequired[Optional[int]]
    # Where a former list ended.
    cursor: NotRequired[Optional[str]]


class LoadView(TypedDict):
    """What is in use of a machine."""

    # Processes that ran or waited to, on average over a minute, in thousandths.
    one_minute_milli: NotRequired[Optional[int]]
    # The same over five minutes.
    five_minutes_milli: NotRequired[Optional[int]]
    # The same over a quarter of an hour.
    fifteen_minutes_milli: NotRequired[Optional[int]]
    # Bytes of memory that could be had.
    memory_available_bytes: NotRequired[Optional[int]]


class LockAcquireParams(TypedDict):
    """Takes a lock, or has one for longer. Two programs of one operator are one holder, so that only the token says which lock is to be had for longer."""

    # The workspace.
    workspace_id: NotRequired[Optional[WorkspaceId]]
    # Or the agent whose own it is; it becomes known by this.
    agent: NotRequired[Optional[str]]
    # On these paths and everything beneath them, at most 64; `.` is the whole workspace.
    paths: NotRequired[List[str]]
    # Instead: the token of the lock that is to be had for longer.
    token: NotRequired[Optional[int]]
    # Whether others may have one besides that is shared, too. Nobody writes then.
    shared: NotRequired[bool]
    # For how long, in milliseconds, from 100 to a day.
    ttl_ms: NotRequired[int]
    # The number of the binding under which it is done.
    binding_epoch: NotRequired[Optional[int]]
    # How long to wait for it, in milliseconds, at most ten minutes.
    wait_ms: NotRequired[int]


class LockListParams(TypedDict):
    """Which locks to list."""

    # The workspace.
    workspace_id: NotRequired[Optional[WorkspaceId]]
    # Or the agent whose own it is; it becomes known by this.
    agent: NotRequired[Optional[str]]


class LockListResult(TypedDict):
    """Locks."""

    # Those that hold, by their tokens.
    locks: List[LockView]


class LockReleaseParams(TypedDict):
    """Gives a lock back."""

    # Its token.
    token: int
    # The workspace.
    workspace_id: NotRequired[Optional[WorkspaceId]]
    # Or the agent whose own it is.
    agent: NotRequired[Optional[str]]
    # Also if somebody else holds it; only for operators.
    force: NotRequired[bool]


class LockView(TypedDict):
    """A lock."""

    # The workspace.
    workspace_id: WorkspaceId
    # The fencing token, which only grows in a workspace.
    token: int
    # On what: paths, and everything beneath them.
    paths: List[str]
    # Whether others may have one besides.
    shared: bool
    # Who holds it.
    holder: SafeLabel
    # Since when, or since when for longer.
    acquired_at: Timestamp
    # When it ends by itself.
    expires_at: Timestamp
    # The agent that does.
    agent_id: NotRequired[Optional[AgentId]]
    # The epoch of the agent, with which it ends.
    epoch: NotRequired[Optional[Epoch]]


class Marker(TypedDict):
    """Something that is not known."""

    # What.
    of: str
    # How it is not known.
    marker: MarkerWord
    # Why.
    reason: str


MarkerWord = Literal[
    "unknown",  # Nobody can tell now.
    "unavailable",  # There is no such thing here.
    "stale",  # It may be of before.
]
"""How something is not known."""


MemoryIsolation = Literal[
    "own",  # One of its own, empty at first.
    "shared",  # That of its parent.
]
"""Which memory a subagent has."""


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


class MessageVerifyResult(TypedDict):
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
    # The thread that it belongs to, if that is not the agent's first one.
    thread_id: NotRequired[Optional[ThreadId]]
    # The open turn that it went into.
    into_turn: NotRequired[Optional[TurnId]]
    # What its fence ends with, where its sender chose its id.
    fence: NotRequired[Optional[SafeLabel]]
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


Mode = Literal[
    "live",  # Behind the newest entry.
    "replaying",  # Further back.
    "snapshot",  # It does not: only the snapshot was asked for.
]
"""How a subscription begins."""


ModelSource = Literal[
    "manifest",  # The agent's manifest.
    "session",  # Its program, when its session began.
    "unreported",  # Nobody: its program chooses and does not say.
]
"""Who says that a model is there, or is used."""


class ModelView(TypedDict):
    """A model that an agent's program offers."""

    # The agent's name.
    agent: str
    # The agent.
    agent_id: AgentId
    # The model, as its program calls it.
    model: str
    # Whether it is the one that the agent works with.
    current: bool
    # Who says so.
    source: ModelSource
    # What it is called for people.
    title: NotRequired[Optional[str]]
    # The epoch in which that was said.
    epoch: NotRequired[Optional[Epoch]]


class ModelsResult(TypedDict):
    """Models."""

    # By agent, in the order in which its program named them.
    items: List[ModelView]
    # Agents whose programs choose a model and do not say which.
    unreported: List[str]


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
    # The overrides that are in force, newest first.
    overrides: NotRequired[List[OverrideMark]]


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


OmissionReason = Literal[
    "budget",  # There was no room for it.
    "rank",  # So many others fit the query better.
    "policy",  # The node does not give it: it is no reference, or more than may be given.
    "missing",  # It is not there.
]
"""Why something was left out of a context."""


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


OnBusy = Literal[
    "queue",  # It waits.
    "reject",  # It is refused.
    "steer",  # It goes into the turn of its thread that runs.
]
"""What becomes of a turn that comes while another one runs or waits."""


OnGap = Literal[
    "error",  # `replay_gap`.
    "repair",  # A snapshot, and word of what it stands for.
]
"""What is wanted when what was asked for cannot be had any more."""


OnParentExit = Literal[
    "close",  # It is closed.
    "keep",  # It goes on.
]
"""What becomes of a subagent when its parent has ended."""


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


OutputId = str


class OutputListParams(TypedDict):
    """Lists outputs."""

    # Those of a thread.
    thread_id: NotRequired[Optional[ThreadId]]
    # Those of all threads of an agent, by name or id.
    agent: NotRequired[Optional[str]]
    # The newest first.
    newest: NotRequired[bool]
    # Most to look through, at most 500.
    limit: NotRequired[int]
    # Where the page before ended.
    cursor: NotRequired[int]


class OutputListResult(TypedDict):
    """Outputs."""

    # In the order in which they were said, or newest first; without their words.
    items: List[OutputView]
    # What to give as `cursor` to read on, if there is more.
    next: NotRequired[Optional[int]]


class OutputParams(TypedDict):
    """Reads an output."""

    # Its id.
    output_id: OutputId
    # From this byte on, or the beginning of the character that holds it.
    offset: NotRequired[int]
    # Most bytes to read, at most 1 MiB.
    bytes_max: NotRequired[int]


class OutputRef(TypedDict):
    """What a turn came to, by reference."""

    # Its id: the turn's UUID.
    output_id: OutputId
    # SHA-256 of it.
    digest: str
    # Its size.
    bytes: int
    # What it weighs, where that is known.
    authority: NotRequired[Optional[Authority]]


class OutputView(TypedDict):
    """An output."""

    # Its id.
    output_id: OutputId
    # The turn that it is of.
    turn_id: TurnId
    # The thread of that turn.
    thread_id: ThreadId
    # The agent whose words it is.
    agent: str
    # When it was said.
    created_at: Timestamp
    # What it is.
    media_type: str
    # SHA-256 of all of it.
    digest: str
    # Size of all of it.
    bytes: int
    # Where the words begin in the output.
    offset: int
    # What it weighs, where that is known.
    authority: NotRequired[Optional[Authority]]
    # The words, as far as they were asked for. Lists leave them out; of what was erased there are none.
    text: NotRequired[Optional[str]]
    # What to give as `offset` to read on, where the words are cut.
    next_offset: NotRequired[Optional[int]]
    # Why there are no words, if they were erased.
    erased: NotRequired[Optional[str]]
    # Whether the turn was rolled back.
    removed: NotRequired[bool]


OverrideId = str


OverrideKind = Literal[
    "pause",  # They are suspended, and none is begun.
    "stop",  # They are ended, and none is begun.
]
"""What an override does to the agents that it covers."""


class OverrideMark(TypedDict):
    """An override that holds an agent, as the agent's status shows it."""

    # Its id.
    overrideId: OverrideId
    # What it does to the agent.
    kind: OverrideKind
    # Why.
    reason: str
    # Who decided it.
    by: str
    # Since when.
    since: Timestamp
    # When it lifts itself.
    expiresAt: NotRequired[Optional[Timestamp]]


class OverrideParams(TypedDict):
    """Names an override."""

    # Which.
    override_id: OverrideId


class OverrideResult(TypedDict):
    """What came of applying or lifting an override."""

    # The override.
    override_id: OverrideId
    # What it did to each agent that it covers, by name.
    affected: List[Affected]


class OverrideScope1(TypedDict):
    """Every agent of the node; always `true`."""

    node: bool


class OverrideScope2(TypedDict):
    """The agents with these names, and the replicas of sets with these names."""

    agents: List[AgentName]


class OverrideScope3(TypedDict):
    """The agents that have all of these labels."""

    labels: Dict[str, str]


OverrideScope = Union["OverrideScope1", "OverrideScope2", "OverrideScope3"]
"""Which agents an override covers, those to come included."""


class OverrideView(TypedDict):
    """An override."""

    # Its id.
    override_id: OverrideId
    # Which agents it covers.
    scope: OverrideScope
    # What it does to them.
    kind: OverrideKind
    # Why.
    reason: str
    # Who decided it.
    by: str
    # When.
    applied_at: Timestamp
    # The agents that it covers now, by name; none if it was lifted.
    agents: List[str]
    # When it lifts itself.
    expires_at: NotRequired[Optional[Timestamp]]
    # How it was lifted, if it was.
    lifted: NotRequired[Optional[LiftView]]


class OverridesResult(TypedDict):
    """Overrides."""

    # Newest first.
    items: List[OverrideView]


class Owner(TypedDict):
    """Who answers for a span's time."""

    # What it is.
    kind: OwnerKind
    # Its name.
    name: str
    # The agent that it works for, if it is not one itself.
    of: NotRequired[Optional[str]]


OwnerKind = Literal[
    "node",  # The node.
    "agent",  # An agent and whatever model it asks.
    "person",  # A person, or a program in their place.
    "tool",  # A tool or a command.
]
"""What may answer for time."""


PackBodies = Literal[
    "refs",  # They are named by their digests.
    "inline",  # They are in it, but for those that may hold a secret.
]
"""Whether bodies come with a pack."""


class PackFile(TypedDict):
    """A file of a pack, with its bytes."""

    # Its path in the pack.
    path: str
    # Its bytes in base64.
    data: str


PackParams = TypedDict(
    "PackParams",
    {
        "scope": "PackScope",
        "from": "NotRequired[Optional[Timestamp]]",
        "to": "NotRequired[Optional[Timestamp]]",
        "bodies": "NotRequired[PackBodies]",
        "write": "NotRequired[bool]",
    },
)
"""Asks for a pack."""


class PackRef(TypedDict):
    """A file of a pack."""

    # Its path in the pack.
    path: str
    # SHA-256 of it.
    digest: str
    # Its size.
    bytes: int


class PackResult(TypedDict):
    """A pack."""

    # Its id.
    pack_id: str
    # SHA-256 of its manifest, which names all else.
    digest: str
    # The key that signed it.
    signed_by: SafeLabel
    # Events in it.
    events: int
    # Its files, with the manifest and the signature.
    refs: List[PackRef]
    # The folder on the node's machine in which it was written; nothing if it comes with this answer.
    path: NotRequired[Optional[str]]
    # Its files, if it is small.
    files: NotRequired[List[PackFile]]


class PackScope1(TypedDict):
    """An agent's whole stream: name or id, also of one that is retired."""

    agent: str


class PackScope2(TypedDict):
    """The first thread of an agent's session: the agent's whole stream."""

    thread_id: ThreadId


class PackScope3(TypedDict):
    """A turn: the stretch of its agent's stream from its message to its end."""

    turn_id: TurnId


class PackScope4(TypedDict):
    """A message: the stretch of its agent's stream from its acceptance to the last event about it."""

    message_id: MessageId


class PackScope5(TypedDict):
    """Every history on the node: its own, those of agents (retired ones, too), workspaces and tasks; always `true`."""

    node: bool


PackScope = Union["PackScope1", "PackScope2", "PackScope3", "PackScope4", "PackScope5"]
"""What a pack is about."""


class ParentView(TypedDict):
    """Where a fork begins."""

    # The agent that the parent belongs to.
    agent_id: AgentId
    # The parent.
    thread_id: ThreadId
    # The last turn of the parent that is part of the fork's history.
    through: NotRequired[Optional[TurnId]]


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


class PatchResourceParams(TypedDict):
    """Changes a part of a resource."""

    # Which.
    uri: ResourceUri
    # What changes, as a JSON merge patch (RFC 7396): a key with `null` goes.
    patch: Any
    # By what it is found from here on; those that it has without.
    labels: NotRequired[Optional[Dict[str, SafeLabel]]]
    # Change it only if it is at this version.
    if_version: NotRequired[Optional[int]]


PathStretch = TypedDict(
    "PathStretch",
    {
        "span_id": "SpanId",
        "name": "str",
        "segment": "Segment",
        "owner": "Owner",
        "from": "Timestamp",
        "ms": "int",
    },
)
"""A stretch of time and the span that it belongs to."""


Permission = Literal[
    "allow",  # It is made.
    "ask",  # A person is asked first.
    "deny",  # It is refused.
]
"""What holds for a call."""


PermissionIsolation = Literal[
    "inherit",  # What its parent may.
    "narrowed",  # Less: none of its parent's secrets and inherited variables, no calls of capabilities, no subagents.
]
"""What a subagent may do."""


class PermissionView(TypedDict):
    """What holds for a call by whoever asks."""

    # Whether it is made, asked about or refused.
    decision: Permission
    # The rule that says so.
    rule: SafeLabel
    # Why, for people.
    reason: str


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
    "invoke",  # Have the node call a capability for it.
    "spawn",  # Start an agent under it.
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


PriceState = Literal[
    "reported",  # The program says it.
    "unknown",  # Nobody says it.
]
"""What a price is known as."""


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


ProcessBytes = TypedDict(
    "ProcessBytes",
    {
        "process_id": "ProcessId",
        "status": "ProcessStatus",
        "from": "int",
        "next": "int",
        "data": "str",
        "end": "bool",
    },
)
"""A part of what a process wrote."""


ProcessId = str


class ProcessIdentity(TypedDict):
    """A process beyond doubt: a pid alone is never an identity."""

    # The kernel's number, reused after the process ends.
    pid: int
    # Clock ticks between boot and the start of the process.
    startTime: int
    # The kernel's id of this boot.
    bootId: str


class ProcessInput(TypedDict):
    """What was written to a process."""

    # How often.
    writes: int
    # Bytes that it was given.
    written_bytes: int
    # Whether its input was closed.
    closed: bool


ProcessInputStatus = Literal[
    "written",  # The process was given all of it.
    "queued",  # It waits for the process to read.
]
"""What became of something that was to be written."""


class ProcessOutput(TypedDict):
    """What a process wrote, both of its streams in one."""

    # Its beginning, if that is kept; what is no text is replaced.
    head: str
    # Its end; empty if the head is all there is.
    tail: str
    # What is missing between them or before.
    truncation: Truncation
    # Bytes that it wrote.
    written_bytes: int
    # Bytes that are kept: the last ones.
    kept_bytes: int
    # Offset of the first byte that is kept; those before it are gone.
    kept_from: int
    # SHA-256 of what is kept, once that is in the record.
    digest: NotRequired[Optional[str]]


class ProcessParams(TypedDict):
    """Names a process."""

    # Which.
    process_id: ProcessId
    # Most bytes of output to show from its beginning and from its end each, at most 65,536; 4,096 if not given.
    output_bytes: NotRequired[Optional[int]]


ProcessStatus = Literal[
    "idle",  # It is there and does nothing: its agent is suspended.
    "running",  # It runs.
    "exited",  # It ended.
    "failed",  # It could not be run.
    "unknown",  # Whether it runs, or how it ended, could not be seen.
]
"""How a process is."""


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


class ProcessesResult(TypedDict):
    """Processes of an agent."""

    # Newest first, without their output.
    items: List[AgentProcess]
    # What to give as `cursor` for those before; nothing if there are none.
    next_cursor: NotRequired[Optional[str]]


class Progress(TypedDict):
    """How far a request has come, in words."""

    # For people.
    text: str


class ProjectionKind(TypedDict):
    """A projection, whatever it is of."""

    # Its name.
    name: str
    # Its version; numbers and cursors belong to it.
    version: int
    # What it holds.
    summary: str
    # What it can be about.
    targets: List[TargetKind]
    # How many of it are kept up to date at the moment.
    running: int


class ProjectionParams(TypedDict):
    """Names a projection of a target."""

    # Which projection.
    projection: str
    # What it is about; the node if not given.
    target: NotRequired[Target]


class ProjectionVerifyResult(TypedDict):
    """What was compared."""

    # Whether all are equal.
    ok: bool
    # Each projection of each target.
    items: List[Verified]


class ProjectionView(TypedDict):
    """A projection of a target."""

    # Its name.
    name: str
    # Its version.
    version: int
    # What it is about.
    target: Target
    # What all entries so far make together; of the log nothing.
    state: Any
    # The number of its newest entry that the state stands for.
    as_of_seq: int
    # The number of its newest entry.
    head_seq: int
    # The place on the node up to which everything is in it.
    as_of_pos: int
    # What tells whether another who folded the same got the same.
    digest: str


class ProjectionsParams(TypedDict):
    """Which projections are meant."""

    # Only this one.
    projection: NotRequired[Optional[str]]
    # Only those of this target. Without it, those of the node and all that somebody has asked for.
    target: NotRequired[Optional[Target]]


class ProjectionsResult(TypedDict):
    """Projections."""

    # By name.
    items: List[ProjectionKind]


class PromotionView(TypedDict):
    """Whether the candidate may take the baseline's place."""

    # Whether it may.
    eligible: bool
    # What speaks against it.
    reasons: List[str]


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


class PutResourceParams(TypedDict):
    """Writes a resource."""

    # Which: of a kind that is written.
    uri: ResourceUri
    # What it holds: whole numbers only, secrets by reference.
    value: Any
    # By what it is found; those that it has without.
    labels: NotRequired[Optional[Dict[str, SafeLabel]]]
    # Write only if it is at this version; zero means that it must not be there.
    if_version: NotRequired[Optional[int]]


QueueFate = Literal[
    "keep",  # They stay.
    "drop",  # Those of the same thread are not wanted any more.
]
"""What becomes of the turns that wait."""


class QueueListParams(TypedDict):
    """Lists the turns that wait."""

    # Those of a thread.
    thread_id: NotRequired[Optional[ThreadId]]
    # Those of all threads of an agent, by name or id.
    agent: NotRequired[Optional[str]]
    # Most to list, at most 500.
    limit: NotRequired[int]


class QueueRemoveParams(TypedDict):
    """Takes a waiting turn out of the queue."""

    # The turn.
    turn_id: TurnId
    # Why, for people.
    reason: NotRequired[Optional[str]]


class QueueResult(TypedDict):
    """The turns that wait."""

    # In the order of delivery, if no other comes.
    items: List[QueuedTurn]
    # How many wait for the agent in all.
    waiting: int


class QueuedTurn(TypedDict):
    """A turn that waits."""

    # Its place in the order of delivery of the agent, from 1.
    position: int
    # The turn.
    turn: TurnView


Quiet = TypedDict(
    "Quiet",
    {
        "from": "Timestamp",
        "ms": "int",
        "limit_ms": "int",
    },
)
"""The longest time in which a turn showed no sign of life and nothing was waited for."""


ReadProcessParams = TypedDict(
    "ReadProcessParams",
    {
        "process_id": "ProcessId",
        "from": "NotRequired[int]",
        "bytes_max": "NotRequired[Optional[int]]",
    },
)
"""Reads a part of what a process wrote."""


class RebuildResult(TypedDict):
    """What was made anew."""

    # Each projection of each target.
    items: List[Rebuilt]


class Rebuilt(TypedDict):
    """A projection of a target that was made anew."""

    # Its name.
    name: str
    # Its version.
    version: int
    # What it is about.
    target: Target
    # Events of the record that were looked at.
    events: int
    # Events a second.
    events_per_s: int
    # The number of its newest entry.
    as_of_seq: int
    # The place on the node up to which everything is in it.
    as_of_pos: int
    # Its digest.
    digest: str
    # Whether what was kept before had the same digest; if not, its subscribers were told that it ended.
    equal: bool


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


class RegisterCapabilityParams(TypedDict):
    """Has an agent offer a capability for as long as its epoch lives. What it offers by this name already is replaced."""

    # What it is called within the agent; its whole name is `agent:AGENT/NAME`.
    name: SafeLabel
    # Which agent, by name or id; the calling agent if not given.
    agent: NotRequired[Optional[str]]
    # `tool` or `operation`.
    kind: NotRequired[CapabilityKind]
    # What it is called for people: at most 256 bytes.
    title: NotRequired[Optional[str]]
    # What it is for: at most 4 KiB.
    description: NotRequired[Optional[str]]
    # What a call is given, as a JSON Schema of an object.
    input_schema: NotRequired[Any]
    # What a call gives, as a JSON Schema.
    output_schema: NotRequired[Any]
    # What it does at most. It is shown; it is believed if an operator says it.
    effect: NotRequired[EffectClass]
    # What holds for a call by an agent; `ask` if not given. Only an operator may say it.
    permission: NotRequired[Optional[Permission]]
    # How long a call may take, in milliseconds: at most an hour; a minute if not given.
    timeout_ms: NotRequired[int]


class RegistrationView(TypedDict):
    """What an agent offers."""

    # Its id: the same whenever this agent offers something by this name.
    capability_id: CapabilityId
    # Its whole name.
    name: str
    # The agent.
    agent_id: AgentId
    # The epoch that offers it.
    epoch: Epoch
    # Changes whenever something else is said of it.
    digest: str
    # The number of its registration in the agent's stream: its calls come behind it, as `capability.called`.
    seq: int
    # Whether it was offered so before.
    unchanged: NotRequired[bool]


class RegressionsView(TypedDict):
    """What worked before and must not fail, and failed with the candidate."""

    # How many.
    count: int
    # Which, each once.
    names: List[SafeLabel]
    # Trials of the candidate of which nobody said whether there are any.
    unknown: int


class Repair(TypedDict):
    """Something that is uncertain or stuck."""

    # What it is.
    kind: RepairKind
    # Why.
    reason: str
    # What can be done.
    do_next: str
    # The turn, if it is one.
    turn_id: NotRequired[Optional[TurnId]]


RepairKind = Literal[
    "ambiguous",  # Nobody knows whether a message came to the program.
    "interrupted",  # A turn had begun when its epoch ended.
    "held",  # A turn waits and is held back.
    "given_up",  # A turn was given up.
    "agent",  # The agent does not run.
]
"""What is uncertain or stuck."""


class Repaired(TypedDict):
    """What a snapshot stands for."""

    # The version of the projection that the cursor was of.
    from_version: int
    # The last number of that version that the subscriber had; what followed it is not delivered.
    after: int
    # The version that is served.
    projection_version: int
    # The number of that version for which the snapshot stands; what follows it is delivered.
    as_of_seq: int


class ReplayItem(TypedDict):
    """One entry of a projection."""

    # Its number.
    n: int
    # What it says: in the log an event with its place.
    event: Any


ReplayParams = TypedDict(
    "ReplayParams",
    {
        "target": "NotRequired[Target]",
        "projection": "NotRequired[str]",
        "from": "NotRequired[Optional[From]]",
        "after": "NotRequired[Optional[int]]",
        "cursor": "NotRequired[Optional[str]]",
        "types": "NotRequired[List[str]]",
        "limit": "NotRequired[Optional[int]]",
        "newest": "NotRequired[bool]",
    },
)
"""Reads a projection from any point. At most one of `from`, `after` and `cursor` may be given; without one it begins at the oldest."""


class ReplayResult(TypedDict):
    """What was read."""

    # Oldest first.
    items: List[ReplayItem]
    # What to give as `after` to read on.
    next: int
    # What to give as `cursor` to read on.
    cursor: str
    # The oldest number that there is.
    oldest_seq: int
    # The newest number that there is, 0 if there is nothing.
    head_seq: int
    # Whether there was nothing more at the time.
    end: bool


class ReplicaPlace(TypedDict):
    """How far a node is."""

    # Which.
    id: NodeId
    # The number that it has reached.
    seq: int


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
    # W3C trace context. One that is malformed is none: a new trace begins.
    traceparent: NotRequired[Optional[str]]
    # What vendors of tracing keep with it, at most 512 bytes; kept in the record if it is well formed.
    tracestate: NotRequired[Optional[str]]
    # What the caller says beside it, at most 1,024 bytes; kept in the record if it is well formed.
    baggage: NotRequired[Optional[str]]
    # The namespace; `local` if not given.
    tenant: NotRequired[Optional[str]]
    # For whom the caller speaks. Only one whose token has the scope `delegate` may say so.
    principal: NotRequired[Optional[DelegatedPrincipal]]
    # What the request is about. Each must be there and open to the caller, and contradict nothing else that is said.
    selectors: NotRequired[Optional[Selectors]]


class ResizeParams(TypedDict):
    """Changes the terminal's size."""

    # Through this attachment, which must control.
    attachment: str
    # Columns.
    cols: int
    # Rows.
    rows: int


class ResolvePermissionParams(TypedDict):
    """Decides about an invocation that waits for leave."""

    # Which.
    invocation_id: InvocationId
    # The digest of the action that was looked at.
    digest: str
    # What is decided.
    verdict: Verdict


class ResourceHistoryParams(TypedDict):
    """Whose versions to list."""

    # Which.
    uri: ResourceUri
    # Most versions, at most 500; 100 if not given.
    limit: NotRequired[Optional[int]]
    # Where a former list ended.
    cursor: NotRequired[Optional[str]]


ResourceKind = Literal[
    "agent",  # What an agent is meant to be; changed by applying its manifest.
    "schedule",  # A schedule of an agent; changed by applying it.
    "policy",  # The rules in force; changed by changing their files.
    "config",  # Any configuration.
    "profile",  # A reusable part of what agents are given.
    "connector",  # A server whose tools agents may use.
    "automation",  # What is done by itself when something happens.
    "workflow",  # Tasks that are joined.
]
"""What a resource is."""


ResourceUri = str
"""`edgeplane://KIND/NAME`, of a schedule `edgeplane://schedule/AGENT/NAME`"""


class ResourceView(TypedDict):
    """A version of a resource."""

    # Which resource.
    uri: ResourceUri
    # What it is.
    kind: ResourceKind
    # The stream of the record that its versions stand in: the node's, or an agent's.
    scope: StreamName
    # Its number, from 1, without gaps, over ends too.
    version: int
    # When this version was made.
    at: Timestamp
    # By whom.
    by: str
    # SHA-256 of what it holds as it is kept, references unmasked; absent if this version is its end.
    etag: NotRequired[Optional[str]]
    # What it holds, references to secrets masked; left out in lists, where the etag is known, and of an end.
    value: NotRequired[Any]
    # The keys under which something is masked, as JSON pointers.
    masked: NotRequired[List[str]]
    # By what it is found.
    labels: NotRequired[Dict[str, SafeLabel]]
    # Whether this version is its end.
    deleted: NotRequired[bool]
    # Whether the value is left out because its etag is known.
    not_modified: NotRequired[bool]
    # Whether the request found it as it was to be, so that no version was made.
    unchanged: NotRequired[bool]


class ResourcesResult(TypedDict):
    """Resources, or versions of one."""

    # By kind and name, or newest version first; without values.
    items: List[ResourceView]
    # What to give as `cursor` for those after; nothing if there are none.
    next_cursor: NotRequired[Optional[str]]


class RestoreCounts(TypedDict):
    """What a restore did."""

    # Files and links that were written, and folders that were made.
    written: int
    # Files, links and folders that were removed.
    removed: int
    # Things of which the permissions alone were changed.
    modes: int
    # Bytes in the files that were written.
    bytes: int
    # What was left as it is, because it was changed meanwhile or is not kept.
    conflicts: int


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


class RewardRecordParams(TypedDict):
    """Records what somebody says that a trial is worth."""

    # Which trial.
    trial_id: TrialId
    # A number from -1,000,000,000 to 1,000,000,000.
    reward: float
    # What was looked at: at most 32, each 1 to 128 bytes.
    criteria: NotRequired[List[str]]
    # Where more is said.
    details_ref: NotRequired[Optional[str]]
    # What kind of failure it was.
    failure_category: NotRequired[Optional[SafeLabel]]
    # Who says so. It must be the trial's, if that is fixed.
    verifier: NotRequired[Optional[TrialVerifier]]
    # What worked before and must not fail, and failed: at most 100. An empty list says that nothing did, none at all that nobody looked.
    p0_regressions: NotRequired[Optional[List[SafeLabel]]]
    # The number of the reward that counts so far, if this one is to count instead. Both stay in the record.
    supersedes: NotRequired[Optional[int]]


class RewardView(TypedDict):
    """A reward, as it was said."""

    # Which trial.
    trial_id: TrialId
    # The how manieth of the trial it is, from 1. The last one counts.
    number: int
    # The number.
    reward: float
    # Whether it was said before the trial had ended. Such a reward is kept, and no comparison rests on it.
    is_early: bool
    # Who recorded it.
    by: SafeLabel
    # When.
    at: Timestamp
    # What was looked at.
    criteria: NotRequired[List[str]]
    # Where more is said.
    details_ref: NotRequired[Optional[str]]
    # What kind of failure it was.
    failure_category: NotRequired[Optional[SafeLabel]]
    # Who says so.
    verifier: NotRequired[Optional[TrialVerifier]]
    # What worked before and must not fail, and failed; nothing if nobody looked.
    p0_regressions: NotRequired[Optional[List[SafeLabel]]]


class RouteCandidate(TypedDict):
    """A model that a turn could be given to."""

    # Who says so.
    source: ModelSource
    # Whether its price is known.
    price: PriceState
    # The model; absent if its program does not say which.
    model: NotRequired[Optional[str]]


class RouteDecision(TypedDict):
    """Which model a turn of an agent would get, and why."""

    # The agent's name.
    agent: str
    # The agent.
    agent_id: AgentId
    # How it was chosen.
    mode: RouteMode
    # Why: `single_candidate`.
    reason: str
    # All that there were to choose from.
    candidates: List[RouteCandidate]
    # The one that was chosen.
    selected: RouteCandidate
    # What would be tried next: nothing.
    fallback: List[RouteCandidate]
    # What could not be known.
    gaps: List[str]


RouteMode = Literal[
    "single",  # There is one candidate: the agent's own model.
]
"""How a model was chosen."""


class RpcError(TypedDict):
    """A failure as it crosses the wire."""

    # The number that belongs to `data.name`.
    code: int
    # For people.
    message: str
    # For programs. Boxed, because every result has room for it.
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


RunAdmission = Literal[
    "admitted",  # It is; its agent is told.
    "queued",  # The task waits for others, or for its last run to end, and is begun by itself then.
]
"""Whether a run was admitted."""


class RunBindingView(TypedDict):
    """A binding of a run."""

    # The workspace.
    workspace_id: WorkspaceId
    # Its number on the node: the fencing token of what is done under it.
    binding_epoch: int
    # What may be done under it.
    mode: BindingMode
    # Whether it is not over.
    is_live: bool


class RunCancelParams(TypedDict):
    """Has a run end."""

    # Its id.
    run_id: RunId
    # Why, for people: at most 1,024 bytes.
    reason: NotRequired[Optional[str]]


RunCause = Literal[
    "due",  # It was due.
    "catch_up",  # It was due while the node could not serve, and the catch-up rule lets it run late.
    "manual",  # Somebody asked.
]
"""Why an occurrence ran."""


class RunChangeParams(TypedDict):
    """Has something happen to a run and its task."""

    # Its id; it must be the task's last run.
    run_id: RunId
    # Why, for people: at most 1,024 bytes.
    reason: NotRequired[Optional[str]]


class RunCompareParams(TypedDict):
    """Compares trials."""

    # How it was.
    baseline: Trials
    # How it is.
    candidate: Trials
    # The one thing that is other, if the candidate's configuration does not say it.
    changed_variable: NotRequired[Optional[str]]
    # The reward from which on a trial counts as a success.
    success_at: NotRequired[float]


RunId = str


RunLimit = Literal[
    "wall_time",  # Time from its beginning.
    "tokens",  # Tokens that are read and written.
    "cost",  # What it cost.
    "steps",  # Items of its turn.
    "continuations",  # How often it was given to its program again.
]
"""Which of its limits a run passed."""


class RunLimits(TypedDict):
    """What a run may use at most. What is not named is not bounded. Tokens, cost and steps are counted by what its program says: a program that says nothing of them is not ended by them."""

    # Time from its beginning, in milliseconds.
    wall_ms: NotRequired[Optional[int]]
    # Tokens that are read and written.
    tokens: NotRequired[Optional[int]]
    # Cost, in millionths of the currency that its program names.
    cost_micros: NotRequired[Optional[int]]
    # Items of its turn: texts, thoughts, uses of tools.
    steps: NotRequired[Optional[int]]
    # How often it is given to its program again after that has ended in the middle of it.
    continuations: NotRequired[Optional[int]]


class RunListParams(TypedDict):
    """Which runs a list shows."""

    # Of this task.
    task_id: NotRequired[Optional[TaskId]]
    # Of this agent, by name or id.
    agent: NotRequired[Optional[str]]
    # Only those that have not ended.
    live: NotRequired[bool]
    # What the page before gave as `next`.
    cursor: NotRequired[int]
    # Most entries, at most 500.
    limit: NotRequired[int]


class RunListResult(TypedDict):
    """A list of runs."""

    # Oldest first.
    items: List[RunView]
    # What to give as `cursor` for the next page, if there is one.
    next: NotRequired[Optional[int]]


class RunParams(TypedDict):
    """Names a run."""

    # Its id.
    run_id: RunId


class RunResult(TypedDict):
    """A schedule that was run by hand."""

    # The message that it sent.
    message_id: MessageId


class RunStartParams(TypedDict):
    """Has a task worked on: by a first run, or by a further one."""

    # The task.
    task_id: TaskId
    # The run's id, by the caller's choice, as a UUID of version 7: then it is the key against beginning it twice, and the run is refused if it cannot be admitted at once.
    run_id: NotRequired[Optional[RunId]]
    # Who is to do it, by name or id, if that is not whose work it is already.
    agent: NotRequired[Optional[str]]
    # What this run may use, if that is not what the task says.
    limits: NotRequired[Optional[RunLimits]]
    # The workspace that this run is bound to, in the step that makes it; then it is refused if it cannot be admitted at once. A further run of the task is bound to nothing.
    binding: NotRequired[Optional[BindingParam]]
    # The run that it follows; it must be the task's last one, and over.
    retry_of: NotRequired[Optional[RunId]]
    # Why, for people: at most 1,024 bytes.
    reason: NotRequired[Optional[str]]
    # Only if the task is at this version.
    if_version: NotRequired[Optional[int]]


class RunStartResult(TypedDict):
    """What became of the wish for a run."""

    # Whether there is a run.
    admission: RunAdmission
    # Why it is so.
    reason: str
    # Its task.
    task: TaskView
    # The run, if there is one.
    run: NotRequired[Optional[RunView]]


RunState = Literal[
    "preparing",  # Admitted; its program has not been told yet.
    "running",  # Its program works on it.
    "completed",  # Its program ended it as done.
    "failed",  # It ended otherwise.
    "cancelled",  # It was ended because somebody asked for it.
    "timed_out",  # Its time was over.
    "lost",  # Whether it is worked on, or how it ended, cannot be known.
]
"""Where a run is."""


class RunView(TypedDict):
    """A run."""

    # Its id.
    run_id: RunId
    # The task.
    task_id: TaskId
    # The turn that it is; has its UUID.
    turn_id: TurnId
    # The how manieth run of the task it is, from 1.
    attempt: int
    # Who does it.
    agent: str
    # The same by id.
    agent_id: AgentId
    # Where it is.
    state: RunState
    # Why it ended so, or why there is a further one.
    reason: str
    # When it was admitted.
    started_at: Timestamp
    # What it may use.
    limits: NotRequired[RunLimits]
    # The workspaces that it is or was bound to, by the numbers of the bindings.
    bindings: NotRequired[List[RunBindingView]]
    # When its program began.
    begun_at: NotRequired[Optional[Timestamp]]
    # When it ended.
    ended_at: NotRequired[Optional[Timestamp]]
    # What came of it.
    output_id: NotRequired[Optional[OutputId]]


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


class SandboxView(TypedDict):
    """What keeps a program in, as it is applied."""

    # `none`: no folder and no call of the kernel is kept from it beyond what its user may.
    profile: str
    # Whether its manifest says that it may never gain rights.
    no_new_privs_asked: bool
    # Whether the kernel keeps that: `yes`, `no`, `unavailable`.
    no_new_privs: str
    # The kernel's filter of calls: `none`, `strict`, `filter`, `unavailable`.
    seccomp: str
    # The directory of its control group.
    cgroup: str


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
    "delegate",  # Speak for users: what is done then, both must be allowed to do.
]
"""One right of a token."""


class SearchCapabilitiesParams(TypedDict):
    """What to look for."""

    # Words that its name, title or description holds, all of them.
    query: str
    # Only those of this kind.
    kind: NotRequired[Optional[CapabilityKind]]
    # Most capabilities, at most 500; 100 if not given.
    limit: NotRequired[Optional[int]]


Segment = Literal[
    "request",  # Somebody asked the node for something.
    "queue_wait",  # A message waits because its agent is busy with another.
    "runtime_delay",  # A message waits because its agent does not run.
    "delivery",  # A message is on its way to a program that runs and is free.
    "turn",  # An agent works.
    "tool",  # A tool or a command works.
    "approval_wait",  # A person is waited for.
    "connector_permission",  # A call of a connector waits for leave, or is refused.
    "workspace_lock",  # Whoever has a lock on paths of a workspace is waited for.
]
"""Which part of a request's way a span is."""


class Selectors(TypedDict):
    """What a request is about, beside what its parameters say."""

    session_id: NotRequired[Optional[SessionId]]
    thread_id: NotRequired[Optional[ThreadId]]
    turn_id: NotRequired[Optional[TurnId]]
    run_id: NotRequired[Optional[RunId]]
    task_id: NotRequired[Optional[TaskId]]
    agent_id: NotRequired[Optional[AgentId]]
    host_id: NotRequired[Optional[NodeId]]
    workspace_id: NotRequired[Optional[WorkspaceId]]
    binding_epoch: NotRequired[Optional[int]]
    resource_uri: NotRequired[Optional[str]]
    capability_id: NotRequired[Optional[CapabilityId]]
    invocation_id: NotRequired[Optional[InvocationId]]
    subscription_id: NotRequired[Optional[SubscriptionId]]


class SessionArchiveParams(TypedDict):
    """Archives a session."""

    # Its id.
    session_id: SessionId
    # Only if it is at this version.
    if_version: NotRequired[Optional[int]]
    # Why, for people.
    reason: NotRequired[Optional[str]]


class SessionCreateParams(TypedDict):
    """Makes a further session of an agent, with its first thread."""

    # Name or id; an agent may leave its own out.
    agent: NotRequired[Optional[str]]
    # Its id, by the caller's choice: then it is the key against making it twice.
    session_id: NotRequired[Optional[SessionId]]
    # What it is called, at most 256 bytes.
    title: NotRequired[Optional[str]]
    # By what it is found, at most 16.
    labels: NotRequired[Dict[str, SafeLabel]]


class SessionEntry(TypedDict):
    """A session."""

    # Its id.
    session_id: SessionId
    # The agent that owns it.
    agent: str
    # The same by id.
    agent_id: AgentId
    # Whether it is the agent's first one, which it has always had.
    main: bool
    # Its first thread.
    thread_id: ThreadId
    # Whether the agent's program has a context for it alone.
    context: Context
    # Grows with each change.
    version: int
    # When it began.
    created_at: Timestamp
    # What it is called.
    title: NotRequired[Optional[str]]
    # By what it is found.
    labels: NotRequired[Dict[str, SafeLabel]]
    # When it was archived.
    archived_at: NotRequired[Optional[Timestamp]]


SessionId = str


class SessionListParams(TypedDict):
    """Lists sessions."""

    # Only those of this agent.
    agent: NotRequired[Optional[str]]
    # Also archived ones.
    archived: NotRequired[bool]
    # Most to list, at most 500.
    limit: NotRequired[int]
    # Where the page before ended.
    cursor: NotRequired[int]


class SessionListResult(TypedDict):
    """Sessions."""

    # In the order in which they began.
    items: List[SessionEntry]
    # What to give as `cursor` to read on, if there is more.
    next: NotRequired[Optional[int]]


class SessionParams(TypedDict):
    """Names a session."""

    # Its id.
    session_id: SessionId


class SessionView(TypedDict):
    """Which live context the agent holds."""

    # The session that the epochs of this agent continue.
    sessionId: SessionId
    # The program's own handle for resuming, where it has one.
    resumeHandle: NotRequired[Optional[str]]


class Share(TypedDict):
    """A share with the interval in which it lies by 95 %, after Wilson."""

    # The share.
    rate: float
    # Where the interval begins.
    low: float
    # Where it ends.
    high: float


class SideView(TypedDict):
    """One side of a comparison."""

    # Its configuration.
    configuration: TrialConfiguration
    # Trials.
    trials: int
    # Those that have ended.
    ended: int
    # Those whose run was completed.
    completed: int
    # Those whose reward reaches what counts as a success.
    successes: int
    # Those of which nobody said what they are worth since they ended.
    unrewarded: List[TrialId]
    # Those that took longer than they may.
    timeouts: int
    # Cost in millionths, by currency, as far as programs say it.
    costMicros: Dict[str, Used]
    # The share of trials of which all is there: ended, rewarded, without a gap.
    evidenceCompleteness: float
    # Trials with gaps, and which.
    evidenceGaps: Dict[str, List[str]]
    # The share of successes; `null` unless every trial has a reward.
    successRate: NotRequired[Optional[Share]]
    # The mean reward; `null` unless every trial has one.
    meanReward: NotRequired[Optional[float]]
    # The time that half of those that ended took at most, in milliseconds.
    latencyP50Ms: NotRequired[Optional[int]]
    # The time that 95 % of those that ended took at most, in milliseconds.
    latencyP95Ms: NotRequired[Optional[int]]
    # Tokens, as far as programs say them.
    tokens: NotRequired[Optional[Used]]


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


class SignalView(TypedDict):
    """What of a kind of signal there is."""

    # Which kind.
    name: str
    # `exported`, `not_applicable`, `unsupported` or `missing_correlation`.
    status: str


SkipReason = Literal[
    "overlap",  # The one before had not ended.
    "paused",  # Its schedule was paused.
    "refused",  # A rule refused the message.
    "backpressure",  # The agent's inbox was full, or the disk was.
]
"""Why an occurrence did not run although the node served."""


Snapshot = Literal[
    "none",  # It is not.
    "first",  # It is, and then what follows it.
    "only",  # It is, and nothing else.
]
"""Whether the state of the projection is wanted before what follows it."""


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


class SnapshotView(TypedDict):
    """The state of a projection."""

    # What all entries so far make together; of the log nothing.
    state: Any
    # The number of the last of those entries.
    as_of_seq: int
    # What tells whether another who folded the same got the same.
    digest: str


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


class Span(TypedDict):
    """A stretch of a trace."""

    # Its id; the same whenever it is read.
    span_id: SpanId
    # What is done, such as `invoke_agent reviewer`.
    name: str
    # Which part of the way.
    segment: Segment
    # Who answers for its time.
    owner: Owner
    # When it began.
    start: Timestamp
    # How it ended.
    status: SpanStatus
    # The span that it is a part of. One that the trace does not have was somebody else's.
    parent: NotRequired[Optional[SpanId]]
    # When it ended.
    end: NotRequired[Optional[Timestamp]]
    # Why it ended so, or what is waited for.
    reason: NotRequired[Optional[str]]
    # The longest silence, of a turn.
    quiet: NotRequired[Optional[Quiet]]
    # What else is known: names of OpenTelemetry, and of `rt.` where it has none.
    attributes: NotRequired[Dict[str, str]]
    # The positions of the events that it was read from.
    events: NotRequired[List[int]]


SpanId = str


SpanStatus = Literal[
    "ok",  # Well.
    "error",  # Badly; `reason` says how.
    "open",  # Not yet.
    "unknown",  # Nobody said.
]
"""How a span ended."""


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
    # What it is about.
    target: Target
    # Which projection.
    projection: str
    # Its version.
    projection_version: int
    # The entry's number: from 1, without gaps.
    n: int
    # The place behind the entry, from which a later subscription can go on.
    cursor: str
    # What it says: in the log an event with its place.
    event: Any
    # The number of the entry that was delivered before, or of the place where the subscription began; only where types were chosen, so that a gap can be told from what was not wanted.
    prev_n: NotRequired[Optional[int]]


StreamName = str


class StreamPlace(TypedDict):
    """A place in an agent's stream."""

    # The agent, as `stream/replay` and `stream/subscribe` take it.
    target: Target
    # The number of the event at which it begins.
    next_seq: int


class StreamState(TypedDict):
    """A `stream/state` notification."""

    # Whose it is: a subscription or an attachment.
    id: str
    # `live`, `replaying`, `lagging`, `repaired` or `ended`; of an attachment also `resynchronised`.
    state: str
    # Why.
    reason: NotRequired[Optional[str]]
    # Of `repaired`: what the snapshot stands for.
    repaired: NotRequired[Optional[Repaired]]


class SubagentChangeParams(TypedDict):
    """Names a subagent."""

    # Name or id.
    subagent: str
    # Why, for people: at most 1,024 bytes.
    reason: NotRequired[Optional[str]]


class SubagentLimits(TypedDict):
    """What the program of a subagent may use."""

    # Memory, such as `512MiB`.
    memory: NotRequired[Optional[str]]
    # Processes and threads.
    pids: NotRequired[Optional[int]]
    # Processor time per time, such as `500m`.
    cpu: NotRequired[Optional[str]]
    # Open files of each process.
    open_files: NotRequired[Optional[int]]


class SubagentListParams(TypedDict):
    """Which subagents a list shows."""

    # Under this agent, by name or id, also of one that is retired. An agent names itself, one under it, or nobody.
    parent: NotRequired[Optional[str]]
    # How many generations, 1 to 8.
    depth: NotRequired[int]
    # Also those that are retired.
    all: NotRequired[bool]
    # Most entries, at most 10,000.
    limit: NotRequired[int]


class SubagentListResult(TypedDict):
    """Subagents."""

    # Parents before their children, the oldest child first.
    items: List[SubagentView]
    # Whether there are more than the limit.
    more: bool


class SubagentSendParams(TypedDict):
    """Sends a subagent a message."""

    # Name or id.
    subagent: str
    # What to say: at most 4 MiB of JSON.
    parts: List[Part]
    # How it meets a running turn.
    mode: NotRequired[DeliveryMode]
    # Which waiting message goes first.
    priority: NotRequired[Priority]
    # Milliseconds after which it is no longer worth delivering.
    expires_in_ms: NotRequired[Optional[int]]
    # Key against sending it twice.
    idempotency_key: NotRequired[Optional[str]]


class SubagentSpawnParams(TypedDict):
    """Starts an agent under another one. What is left out is as the parent has it."""

    # Its id, by the caller's choice, as a UUID of version 7: then it is the key against starting it twice.
    subagent_id: NotRequired[Optional[AgentId]]
    # Whose child it is, by name or id. An agent names itself or nobody.
    parent: NotRequired[Optional[str]]
    # Its name. Left out: its parent's with the end of its id.
    name: NotRequired[Optional[AgentName]]
    # Its manifest as text, at most 1 MiB, from operators only. Left out: its parent's, with what is said here.
    manifest: NotRequired[Optional[str]]
    # Its program with all arguments.
    command: NotRequired[Optional[List[str]]]
    # Which of its parent's variables it gets, by name; with none named in an empty list it gets none.
    environment: NotRequired[Optional[List[str]]]
    # Its labels, from operators only.
    labels: NotRequired[Optional[Dict[str, SafeLabel]]]
    # What its program may use; each no more than its parent's.
    limits: NotRequired[Optional[SubagentLimits]]
    # What divides it from its parent.
    isolation: NotRequired[Isolation]
    # What becomes of it when its parent has ended. Left out: with a task it is closed, without one it goes on.
    on_parent_exit: NotRequired[Optional[OnParentExit]]
    # The task for which alone it is there: it is retired when that is over. Left out: it stays until it is closed.
    task: NotRequired[Optional[SubagentTask]]


SubagentStatus = Literal[
    "queued",  # It is to begin.
    "running",  # Its program runs, or the run of its task does.
    "blocked",  # It does not go on until something happens that is not its own doing.
    "completed",  # Its task is done.
    "failed",  # Its task failed, or its program does not run any more by itself.
    "cancelled",  # It was ended before its task was done.
    "closed",  # It was ended, and had no task.
]
"""How far a subagent is."""


class SubagentTask(TypedDict):
    """The task for which alone a subagent is there."""

    # What it is called: 1 to 256 bytes.
    title: str
    # Its id, by the caller's choice, as a UUID of version 7.
    task_id: NotRequired[Optional[TaskId]]
    # What is to be done: at most 1 MiB. Without it the title says it.
    objective: NotRequired[Optional[str]]
    # What must be true before it is completed, in words; at most 64.
    acceptance: NotRequired[List[str]]
    # What each run may use.
    limits: NotRequired[RunLimits]
    # How many runs there are at most before it fails, 1 to 100.
    attempts: NotRequired[int]
    # The task that hands a part of its work to it. Left out: the one that the calling agent works on, if it does.
    delegated_by: NotRequired[Optional[TaskId]]


class SubagentView(TypedDict):
    """A subagent."""

    # Which agent it is.
    subagent_id: AgentId
    # Its name.
    name: AgentName
    # Whose child it is.
    parent: str
    # The same by id.
    parent_id: AgentId
    # How many generations it is under the agent that was asked about; 1 for a child.
    depth: int
    # How far it is.
    status: SubagentStatus
    # The phase of the agent that it is.
    phase: Phase
    # The newest epoch of it; 0 before the first.
    epoch: Epoch
    # Its session.
    session_id: SessionId
    # Its first thread.
    thread_id: ThreadId
    # What divides it from its parent.
    isolation: Isolation
    # What becomes of it when its parent has ended.
    on_parent_exit: OnParentExit
    # Who started it.
    spawned_by: SafeLabel
    # When.
    spawned_at: Timestamp
    # Why it is there.
    reason: NotRequired[Optional[str]]
    # The task for which alone it is there.
    task_id: NotRequired[Optional[TaskId]]
    # Where that task is.
    task_state: NotRequired[Optional[TaskState]]
    # The newest run of that task.
    run_id: NotRequired[Optional[RunId]]
    # The message that it was given last.
    last_message_id: NotRequired[Optional[MessageId]]
    # Why it is to be retired, if it is.
    closing_because: NotRequired[Optional[str]]
    # When it was retired.
    closed_at: NotRequired[Optional[Timestamp]]


class SubagentWaitParams(TypedDict):
    """Waits for subagents."""

    # Which, by name or id: 1 to 64. One that is retired is named by its id.
    subagents: List[str]
    # How many of them.
    wait_for: NotRequired[WaitFor]
    # For what.
    until: NotRequired[WaitUntil]
    # Longest wait in milliseconds, at most a day.
    timeout_ms: NotRequired[int]


class SubagentWaitResult(TypedDict):
    """What was waited for."""

    # All that were named, in that order.
    items: List[SubagentView]
    # Those that have come to it.
    reached: List[AgentId]


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


SubscribeParams = TypedDict(
    "SubscribeParams",
    {
        "target": "NotRequired[Target]",
        "projection": "NotRequired[str]",
        "from": "NotRequired[Optional[From]]",
        "after": "NotRequired[Optional[int]]",
        "cursor": "NotRequired[Optional[str]]",
        "snapshot": "NotRequired[Snapshot]",
        "types": "NotRequired[List[str]]",
        "max_inflight": "NotRequired[Optional[int]]",
        "heartbeat_ms": "NotRequired[Optional[int]]",
        "on_gap": "NotRequired[OnGap]",
    },
)
"""Follows a projection: what stands behind the place where it begins, and then each entry as it comes, as `stream/event` notifications. At most one of `from`, `after` and `cursor` may be given; without one it begins behind the newest."""


class SubscribeResult(TypedDict):
    """A subscription."""

    # The version of the projection, to which the numbers belong.
    projection_version: int
    # The number of the first entry that may come.
    next_seq: int
    # The oldest number that there is.
    oldest_seq: int
    # The newest number that there is, 0 if there is nothing.
    head_seq: int
    # The place where it begins.
    cursor: str
    # How it begins.
    mode: Mode
    # Its id; absent if only a snapshot was asked for.
    subscription_id: NotRequired[Optional[SubscriptionId]]
    # The state, if it was asked for or had to stand for what is gone.
    snapshot: NotRequired[Optional[SnapshotView]]


SubscriptionId = str


class SubscriptionParams(TypedDict):
    """Names a subscription."""

    # Its id.
    subscription_id: SubscriptionId


class SubscriptionStatusParams(TypedDict):
    """Which subscriptions to show."""

    # Only this one.
    subscription_id: NotRequired[Optional[SubscriptionId]]


class SubscriptionStatusResult(TypedDict):
    """Subscriptions."""

    # Those of this connection, oldest first.
    items: List[SubscriptionView]


class SubscriptionView(TypedDict):
    """How a subscription is."""

    # Its id.
    subscription_id: SubscriptionId
    # What it is about.
    target: Target
    # Which projection.
    projection: str
    # Its version.
    projection_version: int
    # `live`, `replaying` or `lagging`.
    state: str
    # The number up to which everything was handed over or, for its type, passed over.
    n: int
    # The number up to which the subscriber is done.
    acked: int
    # How many entries it is behind the newest.
    lag: int
    # Entries that were handed over and not acknowledged; counted where `max_inflight` was given.
    inflight: int
    # Most of those.
    max_inflight: NotRequired[Optional[int]]


class TapParams(TypedDict):
    """Follows live what happens. Each filter that is given must let a step through."""

    # Only of this agent, by name or id.
    agent: NotRequired[Optional[str]]
    # Only of this thread.
    thread: NotRequired[Optional[ThreadId]]
    # Only what this principal did or asked for.
    principal: NotRequired[Optional[str]]
    # Only what came of these methods.
    operations: NotRequired[List[str]]


class TapResult(TypedDict):
    """A tap that is open."""

    # Its id.
    tap_id: SubscriptionId


class Target(TypedDict):
    """What a projection is about."""

    # Which kind of thing.
    kind: TargetKind
    # Which one, by its id; an agent also by its name. Left out for this node.
    id: NotRequired[Optional[str]]


TargetKind = Literal[
    "node",  # The node with everything on it.
    "agent",  # One agent.
    "session",  # An agent's session.
    "thread",  # A thread of a session.
    "turn",  # A turn of a thread.
    "trace",  # Everything that belongs to one request.
    "task",  # A task, or the graph that it belongs to.
]
"""The kinds of things that a projection can be about."""


TaskArc = TypedDict(
    "TaskArc",
    {
        "from": "int",
        "kind": "EdgeKind",
        "to": "NotRequired[Optional[int]]",
        "away": "NotRequired[Optional[str]]",
    },
)
"""An edge as a graph shows it: tasks by their places in the list."""


class TaskChangeParams(TypedDict):
    """Has something happen to a task."""

    # Its id.
    task_id: TaskId
    # Why, for people: at most 1,024 bytes.
    reason: NotRequired[Optional[str]]
    # Only if it is at this version.
    if_version: NotRequired[Optional[int]]


class TaskCompleteParams(TypedDict):
    """Says that a task is done. All that must be true before it is completed has to be named, here or before."""

    # Its id.
    task_id: TaskId
    # The run that says so; it must be the one that lives.
    run_id: NotRequired[Optional[RunId]]
    # The numbers, from 0, of what must be true and is.
    accepted: NotRequired[List[int]]
    # Addresses of what it made, at most 64.
    artifacts: NotRequired[List[str]]
    # Addresses of what shows that it is done, at most 64.
    evidence: NotRequired[List[str]]
    # In words: at most 1,024 bytes.
    note: NotRequired[Optional[str]]
    # Only if it is at this version.
    if_version: NotRequired[Optional[int]]


class TaskCreateParams(TypedDict):
    """Writes a task down."""

    # What it is called: 1 to 256 bytes.
    title: str
    # Its id, by the caller's choice, as a UUID of version 7: then it is the key against writing it down twice.
    task_id: NotRequired[Optional[TaskId]]
    # What is to be done: at most 1 MiB. Without it the title says it.
    objective: NotRequired[Optional[str]]
    # The task that it is a part of.
    parent_id: NotRequired[Optional[TaskId]]
    # Whose work it is, by name or id. Without one it is done by its parts, or by whoever says that it is done.
    agent: NotRequired[Optional[str]]
    # The agent's thread in which it is worked on; else its first one.
    thread_id: NotRequired[Optional[ThreadId]]
    # What kind of work it is.
    kind: NotRequired[Optional[SafeLabel]]
    # Who is meant to see it.
    visibility: NotRequired[Visibility]
    # How urgent it is.
    priority: NotRequired[Priority]
    # By what it is found, at most 16.
    labels: NotRequired[Dict[str, SafeLabel]]
    # What must be true before it is completed, in words; at most 64. With none, the good end of a run completes it.
    acceptance: NotRequired[List[str]]
    # What each run may use.
    limits: NotRequired[RunLimits]
    # How many runs there are at most before it fails, 1 to 100.
    attempts: NotRequired[int]
    # The tasks that it depends on, at most 1,000: it begins when all of them are completed.
    depends_on: NotRequired[List[TaskId]]
    # Whether it is to be begun as soon as it can be; else it is a draft.
    start: NotRequired[bool]


class TaskDetail(TypedDict):
    """A task with all that is said of it."""

    # The task.
    task: TaskView
    # The edges that begin at it or lead to it.
    edges: List[EdgeView]
    # Its runs, oldest first; of very many the first 500.
    runs: List[RunView]
    # What is to be done; none of what was erased.
    objective: NotRequired[Optional[str]]


class TaskEdgeParams(TypedDict):
    """Joins a task to another one, or to what an address names; or parts them."""

    # The task that the edge begins at.
    task_id: TaskId
    # How they are joined.
    kind: EdgeKind
    # The task that it leads to: of `depends_on`, `delegated` and `source`.
    to: NotRequired[Optional[TaskId]]
    # The address that it leads to: of `produced`, `consumed` and `evidence`. At most 2,048 bytes.
    uri: NotRequired[Optional[str]]
    # Why, for people: at most 1,024 bytes.
    reason: NotRequired[Optional[str]]


class TaskFailParams(TypedDict):
    """Says that a task failed."""

    # Its id.
    task_id: TaskId
    # Why, for people: at most 1,024 bytes.
    reason: str
    # The run that says so; it must be the one that lives.
    run_id: NotRequired[Optional[RunId]]
    # Only if it is at this version.
    if_version: NotRequired[Optional[int]]


class TaskGraphParams(TypedDict):
    """Asks for a graph."""

    # Any of its tasks.
    task_id: TaskId
    # Most tasks, at most 20,000; a graph with more is refused.
    tasks_max: NotRequired[int]


class TaskGraphResult(TypedDict):
    """A graph."""

    # The task at its root.
    root_id: TaskId
    # Its tasks, oldest first.
    tasks: List[TaskNode]
    # Its edges.
    edges: List[TaskArc]


TaskId = str


class TaskListParams(TypedDict):
    """Which tasks a list shows."""

    # Of the graph with this task at its root.
    root_id: NotRequired[Optional[TaskId]]
    # Parts of this one.
    parent_id: NotRequired[Optional[TaskId]]
    # The work of this agent, by name or id.
    agent: NotRequired[Optional[str]]
    # In this state.
    state: NotRequired[Optional[TaskState]]
    # Also those that are over.
    all: NotRequired[bool]
    # What the page before gave as `next`.
    cursor: NotRequired[int]
    # Most entries, at most 500.
    limit: NotRequired[int]


class TaskListResult(TypedDict):
    """A list of tasks."""

    # Oldest first.
    items: List[TaskView]
    # What to give as `cursor` for the next page, if there is one.
    next: NotRequired[Optional[int]]


class TaskNode(TypedDict):
    """A task as a graph shows it."""

    # Its id.
    task_id: TaskId
    # What it is called.
    title: str
    # Where it is.
    state: TaskState
    # How many runs there were.
    attempts: int
    # The task that it is a part of, by its place in the list.
    parent: NotRequired[Optional[int]]


class TaskParams(TypedDict):
    """Names a task."""

    # Its id.
    task_id: TaskId


class TaskProgressParams(TypedDict):
    """Says how far a task is."""

    # Its id.
    task_id: TaskId
    # The run that says so; it must be the one that lives.
    run_id: NotRequired[Optional[RunId]]
    # What is being done: at most 256 bytes.
    phase: NotRequired[Optional[str]]
    # How much is done.
    done: NotRequired[Optional[int]]
    # How much there is to do.
    total: NotRequired[Optional[int]]
    # The numbers, from 0, of what must be true and is.
    accepted: NotRequired[List[int]]
    # In words: at most 1,024 bytes.
    note: NotRequired[Optional[str]]


class TaskProgressView(TypedDict):
    """How far a task is."""

    # When it was said.
    at: Timestamp
    # The run that says so.
    run_id: NotRequired[Optional[RunId]]
    # What is being done.
    phase: NotRequired[Optional[str]]
    # How much is done.
    done: NotRequired[Optional[int]]
    # How much there is to do.
    total: NotRequired[Optional[int]]
    # In words.
    note: NotRequired[Optional[str]]


TaskState = Literal[
    "draft",  # Written down; nobody is to begin it yet.
    "accepted",  # Meant to be done; not to be begun yet.
    "queued",  # To be begun as soon as somebody takes it.
    "preparing",  # A run of it was admitted; its program has not been told yet.
    "running",  # It is being worked on.
    "waiting_input",  # It waits for words, or for somebody to accept what came of it.
    "waiting_permission",  # It waits for leave.
    "waiting_resource",  # It waits for something that it needs.
    "blocked",  # It waits for tasks that it depends on.
    "paused",  # It rests until somebody lets it go on.
    "retrying",  # It is about to be tried again.
    "cancelling",  # It is to end, and whatever works on it is being told.
    "cancelled",  # It was ended before it was done.
    "timed_out",  # Its time was over.
    "failed",  # It failed.
    "lost",  # Whether it is worked on, or how it ended, cannot be known.
    "completed",  # It is done, and what was to be accepted is.
    "archived",  # It is over and put away.
    "stale",  # What is known of it is old.
    "unknown",  # Nothing is known of it.
]
"""Where a task is. `stale` and `unknown` are what a reader may say of one; no task ever becomes them."""


class TaskUpdateParams(TypedDict):
    """Changes what is to be done in a task that is not over. What is left out stays."""

    # Its id.
    task_id: TaskId
    # Only if it is at this version.
    if_version: NotRequired[Optional[int]]
    # What it is called.
    title: NotRequired[Optional[str]]
    # What is to be done.
    objective: NotRequired[Optional[str]]
    # Whose work it is. A run that lives goes on where it is.
    agent: NotRequired[Optional[str]]
    # How urgent it is.
    priority: NotRequired[Optional[Priority]]
    # By what it is found, in full.
    labels: NotRequired[Optional[Dict[str, SafeLabel]]]
    # What must be true before it is completed, in full.
    acceptance: NotRequired[Optional[List[str]]]
    # What each further run may use, in full.
    limits: NotRequired[Optional[RunLimits]]
    # How many runs there are at most.
    attempts: NotRequired[Optional[int]]


class TaskView(TypedDict):
    """A task."""

    # Its id.
    task_id: TaskId
    # The task at the root of its graph.
    root_id: TaskId
    # What it is called.
    title: str
    # Where it is.
    state: TaskState
    # Who is meant to see it.
    visibility: Visibility
    # How urgent it is.
    priority: Priority
    # How many runs there were.
    attempts: int
    # How many there are at most.
    attempts_max: int
    # What its words weigh at most.
    authority: Authority
    # Who wants it done.
    created_by: SafeLabel
    # When it was written down.
    created_at: Timestamp
    # When it came where it is.
    moved_at: Timestamp
    # Grows with each change.
    version: int
    # The task that it is a part of.
    parent_id: NotRequired[Optional[TaskId]]
    # Why it is there.
    reason: NotRequired[Optional[str]]
    # Whose work it is.
    agent: NotRequired[Optional[str]]
    # The same by id.
    agent_id: NotRequired[Optional[AgentId]]
    # The thread in which it is worked on, if that is not the agent's first one.
    thread_id: NotRequired[Optional[ThreadId]]
    # What kind of work it is.
    kind: NotRequired[Optional[SafeLabel]]
    # By what it is found.
    labels: NotRequired[Dict[str, SafeLabel]]
    # What must be true before it is completed.
    acceptance: NotRequired[List[CriterionView]]
    # What each run may use.
    limits: NotRequired[RunLimits]
    # How far it is.
    progress: NotRequired[Optional[TaskProgressView]]
    # The run that works on it.
    run_id: NotRequired[Optional[RunId]]
    # Why it is to be ended, if it is.
    cancelled_because: NotRequired[Optional[str]]


Tenant = str
"""1 to 63 lower-case letters, digits or `-`, beginning and ending with a letter or digit"""


class TerminateParams(TypedDict):
    """Ends a process."""

    # Which.
    process_id: ProcessId
    # How long it may take to end by itself after it was asked to, in milliseconds; it is not asked without.
    grace_ms: NotRequired[Optional[int]]
    # Why, for the record.
    reason: NotRequired[Optional[str]]


ThingKind = Literal[
    "file",  # A file.
    "folder",  # A folder.
    "link",  # A symbolic link.
]
"""What something is."""


class ThingView(TypedDict):
    """What something was, or is."""

    # What it is.
    kind: ThingKind
    # Its bytes, of a file.
    bytes: NotRequired[Optional[int]]
    # Its permissions in octal digits, but of a link.
    mode: NotRequired[Optional[str]]


class ThreadArchiveParams(TypedDict):
    """Archives a thread."""

    # Its id.
    thread_id: ThreadId
    # Only if it is at this version.
    if_version: NotRequired[Optional[int]]
    # Why, for people.
    reason: NotRequired[Optional[str]]


class ThreadCompactParams(TypedDict):
    """Draws a boundary in a thread: what is up to it is told as a summary from here on."""

    # The thread.
    thread_id: ThreadId
    # What stands for it: 1 to 16,384 bytes. It is quoted as the caller's words.
    summary: str
    # The last turn that the summary stands for; if not said, the newest one that has begun and does not run.
    through: NotRequired[Optional[TurnId]]
    # Whether its program begins anew at once. Else it keeps what it has until its next epoch, and a turn that runs is left alone.
    rebuild: NotRequired[bool]
    # Whether a turn that runs is cut short for it.
    interrupt: NotRequired[bool]
    # Only if the thread is at this version.
    if_version: NotRequired[Optional[int]]
    # Why, for people.
    reason: NotRequired[Optional[str]]


class ThreadCompactResult(TypedDict):
    """What a compaction came to."""

    # The thread as it is now.
    thread: ThreadView
    # The last turn that the summary stands for.
    through: TurnId
    # How many turns it stands for.
    turns: int
    # What becomes of the program's context.
    rebuilt: ContextRebuilt
    # What waits for a person and goes on waiting.
    open_actions: NotRequired[List[ActionId]]
    # Tokens that the program's context held before, as far as it said so.
    tokens_before: NotRequired[Optional[int]]


class ThreadCreateParams(TypedDict):
    """Makes a thread."""

    # Its id, by the caller's choice, as a UUID of version 7: then it is the key against making it twice.
    thread_id: NotRequired[Optional[ThreadId]]
    # The session that it becomes part of; else the agent's first one.
    session_id: NotRequired[Optional[SessionId]]
    # Name or id; an agent may leave its own out.
    agent: NotRequired[Optional[str]]
    # What it is called, at most 256 bytes.
    title: NotRequired[Optional[str]]
    # By what it is found, at most 16.
    labels: NotRequired[Dict[str, SafeLabel]]
    # The thread that it goes on from, with all of its turns so far.
    parent_thread_id: NotRequired[Optional[ThreadId]]


class ThreadForkParams(TypedDict):
    """Makes a thread that goes on from a turn of another one."""

    # The thread to go on from.
    thread_id: ThreadId
    # The last turn that is part of the fork's history; the newest one that was given if not said.
    turn_id: NotRequired[Optional[TurnId]]
    # The agent that the fork belongs to, if it is another one.
    agent: NotRequired[Optional[str]]
    # The fork's id, by the caller's choice: then it is the key against making it twice.
    fork_id: NotRequired[Optional[ThreadId]]
    # What it is called, at most 256 bytes.
    title: NotRequired[Optional[str]]
    # By what it is found, at most 16.
    labels: NotRequired[Dict[str, SafeLabel]]


ThreadId = str


class ThreadListParams(TypedDict):
    """Lists threads."""

    # Only those of this agent.
    agent: NotRequired[Optional[str]]
    # Only those of this session.
    session_id: NotRequired[Optional[SessionId]]
    # Also archived ones.
    archived: NotRequired[bool]
    # Most to list, at most 500.
    limit: NotRequired[int]
    # Where the page before ended.
    cursor: NotRequired[int]


class ThreadListResult(TypedDict):
    """Threads."""

    # In the order in which they began.
    items: List[ThreadView]
    # What to give as `cursor` to read on, if there is more.
    next: NotRequired[Optional[int]]


class ThreadParams(TypedDict):
    """Names a thread."""

    # Its id.
    thread_id: NotRequired[Optional[ThreadId]]
    # An agent by name or id, whose first thread is meant.
    agent: NotRequired[Optional[str]]


class ThreadReadResult(TypedDict):
    """What happens in a thread now."""

    # The thread, with its status.
    thread: ThreadView
    # How it is with the agent behind it.
    agent_state: AgentState
    # The turns that wait, in the order of delivery; at most 50.
    queue: List[QueuedTurn]
    # How many turns wait in all.
    queued: int
    # What waits for a person.
    pending_actions: List[ActionId]
    # What went wrong in the newest turns, newest first.
    incidents: List[Incident]
    # What is not known, and why. What stands here is not healthy by its absence.
    markers: List[Marker]
    # The number of the newest event of the agent that this is made of.
    as_of_seq: int
    # The turn that runs.
    open_turn: NotRequired[Optional[TurnView]]
    # What the newest turn that ended came to.
    last_output: NotRequired[Optional[OutputRef]]


class ThreadResumeResult(TypedDict):
    """What a crash or a stop left in a thread."""

    # The thread, with its status.
    thread: ThreadView
    # How it is with the agent behind it.
    agent_state: AgentState
    # What is uncertain or stuck, newest first, and what can be done.
    repairs: List[Repair]
    # The turn that runs.
    open_turn: NotRequired[Optional[TurnView]]


class ThreadRollbackParams(TypedDict):
    """Takes the last turns of a thread out of its history."""

    # The thread.
    thread_id: ThreadId
    # The last turn that survives; none means that none does.
    to_turn: NotRequired[Optional[TurnId]]
    # Whether a turn that runs is cut short for it.
    interrupt: NotRequired[bool]
    # Only if the thread is at this version.
    if_version: NotRequired[Optional[int]]
    # Why, for people.
    reason: NotRequired[Optional[str]]


class ThreadRollbackResult(TypedDict):
    """What a rollback came to."""

    # The thread as it is now.
    thread: ThreadView
    # The turns that were taken out, oldest first; empty if there was nothing to do.
    removed: List[TurnId]
    # How many turns survive.
    surviving: int
    # What becomes of the program's context.
    rebuilt: ContextRebuilt
    # How much of the former context the program begins with: `partial` where it is told of what survives.
    continuity: Continuity
    # The last turn that survives.
    to_turn: NotRequired[Optional[TurnId]]


ThreadStatus = Literal[
    "idle",  # Nothing is to be done.
    "queued",  # A turn waits.
    "running",  # A turn runs.
    "blocked",  # A turn runs or waits, and a person must do something first.
    "archived",  # It is archived.
    "unknown",  # What its program does cannot be known now.
]
"""How it is with a thread."""


class ThreadToCreate(TypedDict):
    """A thread that is made together with its first turn."""

    # Name or id; an agent may leave its own out.
    agent: NotRequired[Optional[str]]
    # Its id; else it has the UUID of the turn.
    thread_id: NotRequired[Optional[ThreadId]]
    # What it is called, at most 256 bytes.
    title: NotRequired[Optional[str]]
    # By what it is found, at most 16.
    labels: NotRequired[Dict[str, SafeLabel]]


class ThreadUpdateParams(TypedDict):
    """Calls a thread something else."""

    # Its id.
    thread_id: ThreadId
    # What it is called from here on; an empty one is none.
    title: NotRequired[Optional[str]]
    # All labels that it has from here on.
    labels: NotRequired[Optional[Dict[str, SafeLabel]]]
    # Only if it is at this version.
    if_version: NotRequired[Optional[int]]


class ThreadView(TypedDict):
    """A thread."""

    # Its id.
    thread_id: ThreadId
    # The session that it is part of.
    session_id: SessionId
    # The agent that owns it.
    agent: str
    # The same by id.
    agent_id: AgentId
    # Whether it is the agent's first one: that of messages that name none.
    main: bool
    # How it is.
    status: ThreadStatus
    # Whether the agent's program has a context for it alone.
    context: Context
    # How many turns were rolled back.
    removed_turns: int
    # Grows with each change of the thread itself, not with its turns.
    version: int
    # When it began.
    created_at: Timestamp
    # When it was changed last.
    updated_at: Timestamp
    # What it is called.
    title: NotRequired[Optional[str]]
    # By what it is found.
    labels: NotRequired[Dict[str, SafeLabel]]
    # What it was forked from.
    parent: NotRequired[Optional[ParentView]]
    # Up to where it is told as a summary.
    compacted: NotRequired[Optional[CompactionView]]
    # When it was archived.
    archived_at: NotRequired[Optional[Timestamp]]


Timestamp = str


class TokenCounts(TypedDict):
    """Tokens, as a program counts them."""

    # That went in.
    input: int
    # That came out.
    output: int
    # All of them.
    total: int


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
    # SHA-256 of the certificate, if it is no secret but a certificate.
    certificate: NotRequired[Optional[str]]
    # Whether that of a person counts over network connections.
    remote: NotRequired[bool]
    # When it is worth nothing.
    expires_at: NotRequired[Optional[Timestamp]]
    # Since when it is worth nothing, and why.
    revoked: NotRequired[Optional[str]]


class TokensResult(TypedDict):
    """The tokens that were made."""

    # Oldest first.
    items: List[TokenView]


TraceDetail = Literal[
    "brief",  # Its place, its owner and its time.
    "full",  # Its attributes and the events that it was read from, too.
]
"""How much is told of a span."""


class TraceEvidence(TypedDict):
    """An event that a verdict rests on."""

    # Its position.
    pos: int
    # What it shows.
    shows: str


class TraceGap(TypedDict):
    """Something that the record cannot tell."""

    # What is missing.
    what: str
    # When it was noticed.
    at: Timestamp
    # Of which agent.
    agent: NotRequired[Optional[str]]
    # The events that say so.
    events: NotRequired[List[int]]


TraceId = str


class TraceParams(TypedDict):
    """Names a trace by one of five things."""

    # The trace itself.
    trace_id: NotRequired[Optional[TraceId]]
    # The trace of this message.
    message_id: NotRequired[Optional[MessageId]]
    # The trace of this turn.
    turn_id: NotRequired[Optional[TurnId]]
    # The trace of the newest message of this thread.
    thread_id: NotRequired[Optional[ThreadId]]
    # The trace of this agent's newest turn, by name or id.
    agent: NotRequired[Optional[str]]
    # How much is told of each span.
    detail: NotRequired[TraceDetail]


TraceVerdict = Literal[
    "replay_gap",  # A part of what happened is not in the record.
    "approval_wait",  # A person is or was waited for.
    "queue_wait",  # An agent was busy with something else.
    "runtime_delay",  # A program was started, restarted or ended badly.
    "inference_timeout",  # A turn shows no sign of life.
    "workspace_lock",  # A lock on paths of a workspace was waited for, or the request was refused because of one.
    "connector_permission",  # A call of a connector waited for leave, was refused by a rule, or its server does not let the node in.
    "healthy",  # Nothing took longer than it should.
]
"""What a trace comes to: exactly one of these."""


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


class TrialConfiguration(TypedDict):
    """What was set how when the problem was given."""

    # Its name.
    id: SafeLabel
    # What it is known by.
    digest: NotRequired[Optional[str]]
    # The one thing that is other than in the baseline.
    changed_variable: NotRequired[Optional[str]]


class TrialDataset(TypedDict):
    """Which problems are given, and which of them this one is."""

    # Its name.
    id: SafeLabel
    # Its version; two versions are two datasets.
    version: SafeLabel
    # Which of its problems.
    case: SafeLabel
    # Where it is to be had.
    ref: NotRequired[Optional[str]]
    # What its bytes are known by.
    digest: NotRequired[Optional[str]]


class TrialExportParams(TypedDict):
    """Has a trial written out."""

    # Which.
    trial_id: TrialId
    # Whether its pack is written on the node also if it is small.
    write: NotRequired[bool]


class TrialExportResult(TypedDict):
    """A trial, written out: a summary, and a pack of evidence that it can be checked by."""

    # The standard's form.
    schemaVersion: str
    # What was measured.
    benchmark: Any
    # To what of the runtime it belongs.
    runtimeCorrelation: Any
    # Where its parts are: in the pack, and elsewhere.
    refs: Dict[str, str]
    # What was measured about it. What is not known is `null`, never 0.
    metrics: Any
    # What whoever decides about it may want to know.
    decisionInputs: Any
    # What the agent was told, said and did, in the Agent Trajectory Interchange Format.
    trajectory: Any
    # What it is worth, with all that was said before; `null` if nobody said it.
    reward: Any
    # What it made: names and digests.
    artifacts: List[Any]
    # What of each kind of signal is in it.
    signals: List[SignalView]
    # What is missing, and why.
    knownGaps: List[Any]
    # The pack's id.
    packId: str
    # SHA-256 of the pack's manifest, which names all else.
    digest: str
    # The key that signed it.
    signedBy: SafeLabel
    # Its files, with the manifest and the signature.
    fileRefs: List[PackRef]
    # The folder on the node's machine in which it was written; nothing if it comes with this answer.
    path: NotRequired[Optional[str]]
    # Its files, if it is small.
    files: NotRequired[List[PackFile]]


TrialId = str


class TrialRefs(TypedDict):
    """What belongs to a trial elsewhere. Nothing of it is read by the node."""

    # The job of Harbor.
    harbor_job: NotRequired[Optional[str]]
    # The trial of Harbor.
    harbor_trial: NotRequired[Optional[str]]
    # The file that says what the problem is.
    task_toml: NotRequired[Optional[str]]
    # What a check of the agent's quality found.
    qc_report: NotRequired[Optional[str]]
    # What the verifier printed.
    verifier_output: NotRequired[Optional[str]]


TrialRole = Literal[
    "baseline",  # How it was before the change.
    "candidate",  # How it is with the change.
    "control",  # Beside both, to see what changes by itself.
]
"""What a trial is for."""


class TrialStartParams(TypedDict):
    """Gives an agent a task to measure it."""

    # Who is tried: name or id.
    agent: str
    # What it is told, word for word: 1 byte to 256 KiB.
    content: str
    # Which problem it is.
    dataset: TrialDataset
    # What is set how.
    configuration: TrialConfiguration
    # A key of the caller's choice: under the same key the same request is the same trial.
    key: NotRequired[Optional[SafeLabel]]
    # What it is for.
    role: NotRequired[TrialRole]
    # Who will say what it is worth. Then nobody else's word is recorded.
    verifier: NotRequired[Optional[TrialVerifier]]
    # The how manieth of its kind it is.
    repetition: NotRequired[Optional[int]]
    # What it may use.
    limits: NotRequired[RunLimits]
    # What belongs to it elsewhere.
    refs: NotRequired[TrialRefs]


class TrialVerifier(TypedDict):
    """Who says what a trial is worth."""

    # Its name.
    id: SafeLabel
    # Its version; two versions are two verifiers.
    version: SafeLabel


class TrialView(TypedDict):
    """A trial."""

    # Its id.
    trial_id: TrialId
    # The task that it is.
    task_id: TaskId
    # The one run of it.
    run_id: RunId
    # Who is tried.
    agent: str
    # Who is tried.
    agent_id: AgentId
    # Which problem it is.
    dataset: TrialDataset
    # What is set how.
    configuration: TrialConfiguration
    # What it is for.
    role: TrialRole
    # BLAKE3 of all that must be alike in trials that are compared.
    manifest_hash: str
    # Where its task is.
    state: TaskState
    # When it was given.
    started_at: Timestamp
    # Who says what it is worth, if that is fixed.
    verifier: NotRequired[Optional[TrialVerifier]]
    # The how manieth of its kind it is.
    repetition: NotRequired[Optional[int]]
    # How its run ended, if it has.
    outcome: NotRequired[Optional[RunState]]
    # The limit that it passed, if that is why.
    limit: NotRequired[Optional[RunLimit]]
    # When it ended, if it has.
    ended_at: NotRequired[Optional[Timestamp]]
    # The reward that counts.
    reward: NotRequired[Optional[RewardView]]


Trials = Union["TrialId", List["TrialId"], "TrialsOf"]
"""Which trials."""


class TrialsOf(TypedDict):
    """All trials of a configuration with a version of a dataset."""

    # The configuration's name.
    configuration: SafeLabel
    # The dataset's name.
    dataset: SafeLabel
    # Its version.
    version: SafeLabel


Truncation = Literal[
    "none",  # All of it.
    "head",  # Its beginning is missing.
    "middle",  # Its middle is missing.
]
"""What of a process's output is shown."""


TurnId = str


class TurnInterruptParams(TypedDict):
    """Asks for the end of a turn."""

    # The turn.
    turn_id: TurnId
    # Why, for people and the program.
    reason: NotRequired[Optional[str]]
    # What becomes of the turns of its thread that wait. Only operators may drop them.
    queued: NotRequired[QueueFate]


class TurnInterruptResult(TypedDict):
    """What became of a request for the end of a turn."""

    # What became of it.
    outcome: InterruptOutcome
    # The turn as it is now.
    turn: TurnView
    # The waiting turns that were dropped.
    dropped: NotRequired[List[TurnId]]


class TurnListParams(TypedDict):
    """Lists turns."""

    # Those of a thread.
    thread_id: NotRequired[Optional[ThreadId]]
    # Those of all threads of an agent, by name or id.
    agent: NotRequired[Optional[str]]
    # Also those that were rolled back.
    removed: NotRequired[bool]
    # The newest first.
    newest: NotRequired[bool]
    # Most to look through, at most 500.
    limit: NotRequired[int]
    # Where the page before ended.
    cursor: NotRequired[int]


class TurnListResult(TypedDict):
    """Turns."""

    # In the order in which they were accepted, or newest first.
    items: List[TurnView]
    # What to give as `cursor` to read on, if there is more.
    next: NotRequired[Optional[int]]


class TurnParams(TypedDict):
    """Names a turn."""

    # Its id.
    turn_id: TurnId


class TurnStartParams(TypedDict):
    """Begins a turn."""

    # What to say: at most 4 MiB of JSON.
    input: List[Part]
    # The thread; or name an agent, or a thread to make.
    thread_id: NotRequired[Optional[ThreadId]]
    # An agent by name or id, whose first thread is meant.
    agent: NotRequired[Optional[str]]
    # A thread that is made together with the turn.
    create: NotRequired[Optional[ThreadToCreate]]
    # Its id, by the caller's choice, as a UUID of version 7: then it is the key against beginning it twice.
    turn_id: NotRequired[Optional[TurnId]]
    # What becomes of it while another turn runs or waits.
    on_busy: NotRequired[OnBusy]
    # Which waiting turn goes first.
    priority: NotRequired[Priority]
    # Milliseconds after which it is no longer worth beginning.
    expires_in_ms: NotRequired[Optional[int]]
    # What it may use. With limits its task and its run are written down; without, they are read from the turn.
    limits: NotRequired[RunLimits]
    # The workspace that the turn's run is bound to, in the step that makes the turn.
    workspace_id: NotRequired[Optional[WorkspaceId]]
    # What may be done in it: `rw` unless it is said.
    workspace_mode: NotRequired[Optional[BindingMode]]
    # Less authority than the caller has; more is refused.
    authority: NotRequired[Optional[Authority]]
    # Key against beginning it twice.
    idempotency_key: NotRequired[Optional[str]]
    # The message it answers.
    reply_to: NotRequired[Optional[MessageId]]
    # The message that made the caller begin it.
    causation: NotRequired[Optional[MessageId]]
    # For whom the caller speaks, nearest first; at most eight.
    on_behalf_of: NotRequired[List[BehalfParam]]
    # A name that the caller gives itself; shown to people, never proof.
    display_name: NotRequired[Optional[str]]


class TurnStartResult(TypedDict):
    """What a turn that was begun is known by."""

    # The turn; of a steered one, the turn that it goes into.
    turn_id: TurnId
    # The run that the turn is: it has the turn's UUID.
    run_id: RunId
    # The task of which that is a run: with the same UUID, if the turn was not begun for a task.
    task_id: TaskId
    # Its thread.
    thread_id: ThreadId
    # The message that it is.
    message_id: MessageId
    # What became of it at once.
    disposition: Disposition
    # Where to follow it.
    stream: StreamPlace
    # How many waiting turns are delivered before it, and itself; of one that waits.
    queue_position: NotRequired[Optional[int]]
    # The workspaces that its run is bound to.
    bindings: NotRequired[List[RunBindingView]]
    # Whether it had been begun before with this id or key.
    duplicate: NotRequired[bool]


TurnState = Literal[
    "queued",  # It waits.
    "running",  # Its program has it.
    "completed",  # Its program ended it.
    "interrupted",  # It was asked to end and did, or its epoch ended.
    "failed",  # Its program failed, or it was given up.
    "ambiguous",  # Nobody knows whether it came to its program.
    "rejected",  # It was refused after it was accepted, or dropped from the queue.
    "expired",  # Its time was over before it began.
    "unknown",  # Its program has it, and says nothing of the ends of turns.
]
"""How it is with a turn."""


class TurnSteerParams(TypedDict):
    """Says something into a turn that runs."""

    # The turn.
    turn_id: TurnId
    # What to say.
    input: List[Part]
    # Less authority than the caller has; more is refused.
    authority: NotRequired[Optional[Authority]]
    # Key against saying it twice.
    idempotency_key: NotRequired[Optional[str]]


class TurnUsage(TypedDict):
    """What a turn used."""

    # Its tokens.
    tokens: TokenCounts
    # The message that began it.
    message_id: NotRequired[Optional[MessageId]]


class TurnView(TypedDict):
    """A turn."""

    # Its id.
    turn_id: TurnId
    # The run that it is: it has the turn's UUID.
    run_id: RunId
    # The task of which that is a run: with the same UUID, if it was not begun for a task.
    task_id: TaskId
    # Its thread.
    thread_id: ThreadId
    # The agent that it was put to.
    agent: str
    # How it is.
    state: TurnState
    # Grows with each event that is known of it.
    version: int
    # The message that it is; none if the program began the turn by itself.
    message_id: NotRequired[Optional[MessageId]]
    # Why, where there is a reason.
    reason: NotRequired[Optional[str]]
    # Who began it.
    source: NotRequired[Optional[SafeLabel]]
    # On which channel.
    channel: NotRequired[Optional[Channel]]
    # How what was put weighs.
    authority: NotRequired[Optional[Authority]]
    # When it was accepted.
    accepted_at: NotRequired[Optional[Timestamp]]
    # When its program had it.
    started_at: NotRequired[Optional[Timestamp]]
    # When it was over.
    ended_at: NotRequired[Optional[Timestamp]]
    # The epoch that had it last.
    epoch: NotRequired[Optional[Epoch]]
    # Its program's own word for why it ended.
    outcome: NotRequired[Optional[SafeLabel]]
    # What it came to.
    output: NotRequired[Optional[OutputRef]]
    # That somebody asked for its end.
    interrupt: NotRequired[Optional[InterruptView]]
    # Whether it was rolled back and is no part of its thread's history.
    removed: NotRequired[bool]


class UsageView(TypedDict):
    """What an agent used."""

    # The agent's name.
    agent: str
    # The agent.
    agent_id: AgentId
    # Who says so: `program`, or `nobody` if it never said anything.
    said_by: str
    # How often it did.
    reports: int
    # Tokens of all turns.
    tokens: TokenCounts
    # What that cost.
    cost: CostView
    # The newest turns, oldest first.
    turns: List[TurnUsage]
    # Turns before those.
    turns_more: int
    # Number of the newest event that this knows, in the agent's stream.
    as_of_seq: int
    # Tokens that its context holds.
    context_tokens: NotRequired[Optional[int]]


class Used(TypedDict):
    """What was used by those trials that it is known of."""

    # All of it together.
    total: int
    # Trials that it is known of.
    trials: int


class UserView(TypedDict):
    """As whom a program runs."""

    # Name, `unknown` if this machine has none for it.
    name: str
    # User id.
    uid: int
    # Group id, if it is known.
    gid: NotRequired[Optional[int]]


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


class Verified(TypedDict):
    """A projection of a target that was compared with one made anew."""

    # Its name.
    name: str
    # Its version.
    version: int
    # What it is about.
    target: Target
    # The number of its newest entry.
    as_of_seq: int
    # The place on the node up to which everything is in it.
    as_of_pos: int
    # The digest of what is kept.
    digest: str
    # The digest of what was made anew.
    rebuilt: str
    # Whether they are equal.
    equal: bool
    # Events a second.
    events_per_s: int


Visibility = Literal[
    "foreground",  # Whoever asked for it waits for it.
    "background",  # It is done beside other things.
    "internal",  # It is a part of other work.
]
"""Who is meant to see a task."""


class VoteView(TypedDict):
    """What one person said."""

    # Who.
    principal: SafeLabel
    # What.
    verdict: Verdict
    # When.
    at: Timestamp


WaitFor = Literal[
    "any",  # One of them.
    "all",  # Each of them.
]
"""How many of several subagents are waited for."""


class WaitParams(TypedDict):
    """Waits until an agent is in one of some phases."""

    # Name or id.
    agent: str
    # Any of these will do.
    phases: List[Phase]
    # Longest wait in milliseconds.
    timeout_ms: int


WaitUntil = Literal[
    "end",  # That it has come to an end: completed, failed, cancelled or closed.
    "idle",  # That, or that it runs with no message waiting and no turn under way.
]
"""What of a subagent is waited for."""


WantedKind = Literal[
    "stop",  # End the agents, and let none begin.
    "pause",  # Suspend the agents, and let none begin.
    "rollback",  # Undo what they did: not served.
    "modify",  # Change what they do: not served.
]
"""What an override is to do."""


class Waterfall(TypedDict):
    """A trace, read from the record."""

    # Its id.
    trace_id: TraceId
    # The moment as of which open spans are seen.
    as_of: Timestamp
    # The newest event of the record at that moment.
    as_of_pos: int
    # Where it came in.
    entry_point: EntryPoint
    # When it began.
    start: Timestamp
    # Parents before their parts, and those that began first before others.
    spans: List[Span]
    # What the record cannot tell.
    gaps: List[TraceGap]
    # When its last span ended; none while one is open.
    end: NotRequired[Optional[Timestamp]]


class WithdrawCapabilityParams(TypedDict):
    """Takes back what an agent offers. Calls that run may still be answered."""

    # Its id or its whole name.
    capability: str


class WorkspaceCreateParams(TypedDict):
    """Makes a folder known as a workspace: that of an agent, or one that is named. One that is known stays as it is."""

    # The agent whose folder it is.
    agent: NotRequired[Optional[str]]
    # The folder, by its whole path; only for operators.
    folder: NotRequired[Optional[str]]


class WorkspaceDeleteParams(TypedDict):
    """Ends a workspace."""

    # Which.
    workspace_id: WorkspaceId
    # Why, for the record.
    reason: NotRequired[Optional[str]]


WorkspaceId = str


WorkspaceIsolation = Literal[
    "own",  # One of its own, empty at first.
    "shared",  # That of its parent.
    "forked",  # One of its own with what its parent's held when it was spawned.
]
"""Which folder a subagent works in."""


class WorkspaceListParams(TypedDict):
    """Which workspaces to list."""

    # Only that of this agent.
    agent: NotRequired[Optional[str]]
    # Most workspaces, at most 500.
    limit: NotRequired[int]
    # Where a former list ended.
    cursor: NotRequired[Optional[str]]


class WorkspaceListResult(TypedDict):
    """Workspaces."""

    # In the order in which they became known.
    workspaces: List[WorkspaceView]
    # Where the next list begins.
    next_cursor: NotRequired[Optional[str]]


class WorkspaceParams(TypedDict):
    """Names a workspace."""

    # Which.
    workspace_id: WorkspaceId


class WorkspaceView(TypedDict):
    """A workspace."""

    # Its id.
    workspace_id: WorkspaceId
    # Its folder.
    folder: str
    # How many states of it are kept.
    checkpoints: int
    # When it became known.
    created_at: Timestamp
    # The agent whose own it is.
    agent: NotRequired[Optional[str]]
    # Its id.
    agent_id: NotRequired[Optional[AgentId]]
    # The number of the last change of a file by `workspace/file.*`; 0 if there was none.
    write_seq: NotRequired[int]
    # The checkpoint that it is being brought back to.
    restoring: NotRequired[Optional[CheckpointId]]
    # What it is bound to.
    bindings: NotRequired[List[BindingView]]


class WriteParams(TypedDict):
    """Types keys."""

    # Through this attachment, which must control.
    attachment: str
    # The bytes in base64.
    data: str


class WriteProcessParams(TypedDict):
    """Writes to a process's standard input."""

    # Which.
    process_id: ProcessId
    # What to write, as text. This or `data`, or neither with `close`.
    text: NotRequired[Optional[str]]
    # What to write, as base64.
    data: NotRequired[Optional[str]]
    # Whether nothing comes after it: the process then reads the end of its input.
    close: NotRequired[bool]
    # The caller's id for it: what is written under an id is written once, whoever dies meanwhile.
    input_id: NotRequired[Optional[InputId]]
    # How long the answer may wait for the process to read, in milliseconds; 5,000 without.
    wait_ms: NotRequired[Optional[int]]


class WriteProcessResult(TypedDict):
    """What became of a write to a process."""

    # The process.
    process_id: ProcessId
    # The input's id.
    input_id: InputId
    # What became of it.
    status: ProcessInputStatus
    # How many bytes it has.
    input_bytes: int
    # SHA-256 of them.
    input_digest: str
