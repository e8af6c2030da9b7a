// Made by `cargo xtask generate` from crates/wire/src/catalogue. A change of this file is lost.

/** Any value of JSON. */
export type Json = unknown;

/** Tells how far a subscriber has come. Exactly one of `n` and `cursor` is given. */
export interface AckParams {
  /** Which subscription. */
  subscription_id: SubscriptionId;
  /** The number of an entry; it and everything before it is done with. */
  n?: number | null;
  /** The cursor of that entry. */
  cursor?: string | null;
}

/** What a subscriber has told to be done with. */
export interface AckResult {
  /** Everything up to here. */
  acked: number;
  /** Entries that are on their way. */
  inflight: number;
}

/** Something that waits for a person. */
export interface Action {
  /** Its id. */
  id: ActionId;
  /** What is asked for. */
  kind: ActionKind;
  /** The agent that asks. */
  agent_id: AgentId;
  /** In which of its epochs. */
  epoch: Epoch;
  /** As whom it asks; whoever has the same principal cannot answer. */
  principal: SafeLabel;
  /** What a person reads. */
  prompt: string;
  /** SHA-256 of the canonical JSON of exactly what is asked: prompt, choices, schema and subject. */
  digest: string;
  /** How many different principals must approve. */
  quorum: number;
  /** When silence becomes a denial. */
  expires_at: Timestamp;
  /** The answers to choose from; none: `schema` or any words. */
  choices?: Array<Choice>;
  /** The JSON Schema of an answer. */
  schema?: Json;
  /** What is to be done, word for word, in the body store under this digest. */
  subject_digest?: string | null;
  /** Who may decide: any of these roles; none: any operator. */
  roles?: Array<SafeLabel>;
  /** The message that led to it. */
  causation?: MessageId | null;
  /** The asker's key against asking twice. */
  idempotency_key?: string | null;
}

export type ActionId = string;

/** What is asked for. */
export type ActionKind =
  /** An answer: one of some choices, or a value of a schema, or words. */
  | "question"
  /** Leave to do exactly what the digest names. */
  | "approval";

/** Lists actions. */
export interface ActionListParams {
  /** Only of this agent: name or id. */
  agent?: string | null;
  /** Also those that are decided. */
  all?: boolean;
  /** Most to list, at most 200. */
  limit?: number;
}

/** The actions. */
export interface ActionListResult {
  /** Those that end first come first; with `all`, the newest first. */
  items: Array<ActionView>;
}

/** How an action ended. */
export type ActionOutcome =
  /** Enough said yes. */
  | "approved"
  /** Somebody said no. */
  | "denied"
  /** It was answered. */
  | "answered"
  /** Nobody decided in time: the same as a denial. */
  | "expired"
  /** The one who asked took it back, or is gone. */
  | "cancelled";

/** Names an action. */
export interface ActionParams {
  /** Its id. */
  action_id: ActionId;
}

/** An action. */
export interface ActionView {
  /** What is asked. */
  action: Action;
  /** The name of the agent that asks. */
  agent: string;
  /** Who has said what so far. */
  votes: Array<VoteView>;
  /** What is to be done, word for word. Lists leave it out. */
  subject?: Json;
  /** The answers that the agent's program offers, if it asks for leave in its own words. Lists leave them out. */
  options?: Array<OptionView>;
  /** How it ended, if it has. */
  outcome?: ActionOutcome | null;
  /** The answer, of a question. */
  answer?: Json;
  /** Why it ended so, in words. */
  reason?: string | null;
  /** When it ended. */
  resolved_at?: Timestamp | null;
  /** The message by which the agent was told. */
  told_by?: MessageId | null;
}

/** What an agent is doing right now. */
export type Activity =
  /** Ready for the next message. */
  | "idle"
  /** In a turn. */
  | "working"
  /** Asked a question. */
  | "awaiting_input"
  /** Asked for permission. */
  | "awaiting_approval"
  /** Stopped by a provider's quota. */
  | "quota_paused"
  /** Stopped by an error that it shows; it may take the next message. */
  | "error"
  /** Not known, and not guessed. */
  | "unknown";

/** Asks what an adapter says of a screen. */
export interface AdapterCheckParams {
  /** The adapter's text. */
  adapter: string;
  /** The agent whose screen is read. */
  agent?: string | null;
  /** A recorded screen to read instead. */
  screen?: string | null;
}

/** What an adapter says of a screen. */
export interface AdapterCheckResult {
  /** The adapter's name. */
  name: string;
  /** The state: `idle`, `busy`, `dialog`, `quota_paused`, `error` or `unknown`. Without a screen, nothing. */
  state?: string | null;
  /** What stands in the composer, if there is one. */
  composer?: string | null;
  /** The rules that match. */
  matched?: Array<string>;
}

/** An adapter. */
export interface AdapterView {
  /** What manifests call it. */
  name: string;
  /** The program in words. */
  title: string;
  /** Versions of the program that its recorded screens are from. */
  recorded: Array<string>;
  /** Its text. */
  text: string;
  /** Its file, if it is one of the node's own. */
  file?: string | null;
  /** Why its file is not in force, and what came before it is. */
  rejected?: string | null;
}

/** The adapters that are in force. */
export interface AdaptersResult {
  /** By name. */
  items: Array<AdapterView>;
  /** The folder of the node's own adapters, which come before those that come along. */
  folder: string;
}

/** Makes a client certificate a credential: whoever proves to have its key is known by it. */
export interface AddCertificateParams {
  /** SHA-256 of the certificate's DER form, as 64 hexadecimal digits with or without colons. */
  fingerprint: string;
  /** As whom its bearer is known. */
  principal: SafeLabel;
  /** For a person or for a program. */
  kind: TokenKind;
  /** What its bearer may do. */
  scopes: Array<Scope>;
  /** Roles in which its bearer decides pending actions. */
  roles?: Array<SafeLabel>;
  /** Milliseconds until it is worth nothing; left out: until it is revoked. */
  expires_in_ms?: number | null;
}

/** A certificate that counts from now on. */
export interface AddCertificateResult {
  /** Its id, by which it is listed and revoked like a token. */
  token_id: TokenId;
  /** When it is worth nothing. */
  expires_at?: Timestamp | null;
}

/** What an override, or its end, did to one agent. */
export interface Affected {
  /** The agent's name. */
  agent: string;
  /** Its id. */
  agent_id: AgentId;
  /** Where it was. */
  before: Phase;
  /** Where it was when the answer was given; it may be on its way still. */
  after?: Phase | null;
  /** What could not be done to it. */
  error?: AffectedError | null;
}

/** Why an override could not do to an agent what it says. */
export interface AffectedError {
  /** The error's name, as methods answer it. */
  name: string;
  /** What is the matter, and what was done instead. */
  message: string;
}

/** A change of a file. */
export interface AfterWrite {
  /** Its number in the workspace. */
  write_seq: number;
}

export type AgentId = string;

/** Lists agents. */
export interface AgentListParams {
  /** Only those with all of these labels. */
  labels?: Record<string, string>;
  /** Only those in this phase; `retired` needs no more to be said. */
  phase?: Phase | null;
  /** Also those that are retired, from the record: at most 1,000, those that were declared last. */
  retired?: boolean;
}

/** Agents, by name; of one name the living one first, then the retired, newest first. */
export interface AgentListResult {
  /** The agents. */
  items: Array<AgentView>;
}

/** 1 to 63 lower-case letters, digits or `-`, beginning and ending with a letter or digit */
export type AgentName = string;

/** Names an agent, by name or id. */
export interface AgentParams {
  /** Name or id. */
  agent: string;
}

/** A process that an agent's program had the node run. */
export interface AgentProcess {
  /** Its id. */
  process_id: ProcessId;
  /** The agent's name. */
  agent: string;
  /** The agent. */
  agent_id: AgentId;
  /** The epoch in which it was run. */
  epoch: Epoch;
  /** How it is. */
  status: ProcessStatus;
  /** Program and arguments, shortened. */
  command: string;
  /** Its folder. */
  cwd: string;
  /** The names of the variables that its program asked for; values are in no record. */
  variables: Array<string>;
  /** What the words that led to it weigh. */
  authority: Authority;
  /** When it began. */
  started_at: Timestamp;
  /** The message in whose turn it was run. */
  message_id?: MessageId | null;
  /** The turn in which it was run. */
  turn_id?: TurnId | null;
  /** When its end was known. */
  ended_at?: Timestamp | null;
  /** How it ended. */
  exit?: ExitStatus | null;
  /** Why it could not be run, or why its end is not known. */
  reason?: string | null;
  /** Whether somebody asked for its end. */
  terminating?: boolean;
  /** What was written to it, if it can be written to. */
  input?: ProcessInput | null;
  /** What it wrote, if that was asked for. */
  output?: ProcessOutput | null;
}

/** How it is with an agent. */
export interface AgentState {
  /** Its name. */
  name: AgentName;
  /** Where it is in its life. */
  phase: Phase;
  /** Its newest epoch. */
  epoch: Epoch;
  /** How much of the former context that epoch began with. */
  continuity: Continuity;
  /** Why it is not as it should be. */
  reason?: string | null;
}

/** Where an agent stands. */
export interface AgentStatus {
  /** As the node observes it. */
  phase: Phase;
  /** As it is meant to be. */
  desired: Desired;
  /** Version of what is wanted. */
  generation: Generation;
  /** Version that its program was started with. */
  observedGeneration: Generation;
  /** What it is doing. */
  activity: Activity;
  /** How that is known. */
  activityEvidence: Evidence;
  /** Its newest epoch. */
  epoch: Epoch;
  /** Restarts by policy since somebody last started it. */
  restarts: number;
  /** How much context the newest epoch began with. */
  continuity: Continuity;
  /** Messages that wait for it. */
  waitingMessages: number;
  /** Bytes of output of its newest epoch. */
  outputBytes: number;
  /** All seven identities. */
  identities: Identities;
  /** Why it is in its phase, where there is something to say. */
  reason?: string | null;
  /** Its program's process, while one lives. */
  process?: ProcessIdentity | null;
  /** When its newest epoch started. */
  startedAt?: Timestamp | null;
  /** When the next start is due, in backoff. */
  nextStartAt?: Timestamp | null;
  /** How many of its messages are on each rung; they add up to all that were accepted. */
  messages?: Record<string, number>;
  /** Whether its probe, if it has one, last succeeded. */
  healthy?: boolean | null;
  /** The hooks of its program, where its adapter names some. */
  hooks?: HooksView | null;
  /** The overrides that hold it, newest first. */
  overrides?: Array<OverrideMark>;
  /** Its replicas, if it is a set of agents that share its name. */
  replicas?: ReplicasView | null;
  /** The name of the set whose replica it is. */
  set?: string | null;
  /** The agent whose child it is, if it is one. */
  parent?: AgentId | null;
}

/** An agent: its manifest and where it stands. */
export interface AgentView {
  /** Version of the manifest's form. */
  apiVersion: string;
  /** Always `Agent`. */
  kind: string;
  /** Its metadata, with its id. */
  metadata: Json;
  /** Its manifest's `spec`, defaults filled in. */
  spec: Json;
  /** Where it stands. */
  status: AgentStatus;
}

/** An answer to a question. */
export interface Answer {
  /** The agent that gave it. */
  source: SafeLabel;
  /** What it weighs. */
  authority: Authority;
  /** Its words, as they were said. */
  text: string;
  /** Its words as a session is to see them, with the header of their source. */
  rendered: string;
  /** The message that brought it; without one it is the output of the turn that the question began. */
  message_id?: MessageId | null;
}

/** What was done to one agent. */
export interface Applied {
  /** The agent's name. */
  name: string;
  /** What changed. */
  change: Change;
  /** Version of what is wanted of it. */
  generation: Generation;
  /** The agent's id; absent in a dry run of a new one. */
  agent_id?: AgentId | null;
  /** What the change means for a running program. */
  note?: string | null;
}

/** What was done to one resource. */
export interface AppliedResource {
  /** Which. */
  uri: ResourceUri;
  /** What changed. */
  change: Change;
  /** Its version; in a dry run the one that it would have. */
  version: number;
}

/** What was done to one schedule. */
export interface AppliedSchedule {
  /** The agent that its messages are for. */
  agent: AgentName;
  /** Its name. */
  name: AgentName;
  /** What changed. */
  change: Change;
}

/** Decides over agents. */
export interface ApplyOverrideParams {
  /** Which agents, those to come included: `{"node": true}`, `{"agents": [names]}` or `{"labels": {key: value}}`. */
  scope: OverrideScope;
  /** What is done to them. */
  kind: WantedKind;
  /** Why, for the record and for whoever finds an agent held. */
  reason: string;
  /** After how many milliseconds it lifts itself; never without. */
  expires_in_ms?: number | null;
  /** How long the answer may wait for agents to come to rest, in milliseconds; 5,000 without. */
  wait_ms?: number | null;
}

/** Declares agents or changes what is declared. All or nothing. */
export interface ApplyParams {
  /** The files. */
  documents: Array<Document>;
  /** Only say what would change. */
  dry_run?: boolean;
}

/** What an apply did, agent by agent and schedule by schedule. */
export interface ApplyResult {
  /** The agents, in the order of the documents. */
  items: Array<Applied>;
  /** Their schedules, agent by agent, wherever they were declared. */
  schedules?: Array<AppliedSchedule>;
  /** The resources that the documents declare: connectors. */
  resources?: Array<AppliedResource>;
}

/** Ends an artifact with all its versions. */
export interface ArtifactDeleteParams {
  /** Its id or its name. */
  artifact: string;
  /** The agent that owns it. */
  agent?: string | null;
  /** Only if it is at this version. */
  if_version?: number | null;
  /** Why, for the record. */
  reason?: string | null;
}

/** An artifact and its versions. */
export interface ArtifactDetail {
  /** The version that was asked for. */
  artifact: ArtifactView;
  /** The newest 100 versions, newest first. */
  versions: Array<ArtifactView>;
}

/** Which versions of an artifact to compare. */
export interface ArtifactDiffParams {
  /** Its id or its name. */
  artifact: string;
  /** The agent that owns it. */
  agent?: string | null;
  /** The version before; the one before `to`, if not given. */
  from?: number | null;
  /** The version after; the newest, if not given. */
  to?: number | null;
}

/** What differs between two versions of an artifact. */
export interface ArtifactDiffResult {
  /** The version before. */
  from: ArtifactView;
  /** The version after. */
  to: ArtifactView;
  /** Whether the bytes are the same. */
  same: boolean;
  /** The lines that differ, in the unified form with three lines around each change. */
  text?: string | null;
  /** Lines that only `to` has, where they are told. */
  added?: number | null;
  /** Lines that only `from` has, where they are told. */
  removed?: number | null;
  /** Why no lines are told. */
  untold?: DiffUntold | null;
}

/** Writes a version of an artifact to a file of a workspace. */
export interface ArtifactExportParams {
  /** Its id or its name. */
  artifact: string;
  /** To which file. */
  to: ArtifactFile;
  /** The agent that owns it. */
  agent?: string | null;
  /** Which version; the newest, if not given. */
  version?: number | null;
  /** Only if the file holds this now: a version of the file, or `absent`. */
  if_version?: string | null;
  /** Make the folders on its way. */
  folders?: boolean;
  /** The token of a lock on the file. */
  lock?: number | null;
}

/** A version of an artifact that is in a file now. */
export interface ArtifactExportResult {
  /** Which. */
  artifact: ArtifactView;
  /** What became of the file. */
  file: FileChangeView;
}

/** A file of a workspace. */
export interface ArtifactFile {
  /** Its path. */
  path: string;
  /** The workspace. */
  workspace_id?: WorkspaceId | null;
  /** Or the agent whose own it is; it becomes known by this. */
  agent?: string | null;
}

export type ArtifactId = string;

/** Which artifacts to list. */
export interface ArtifactListParams {
  /** Only those of this agent. */
  agent?: string | null;
  /** Only those whose name begins so. */
  prefix?: string | null;
  /** Only those with all of these labels. */
  labels?: Record<string, SafeLabel>;
  /** Most artifacts that are looked at, at most 500. */
  limit?: number;
  /** Where a former list ended. */
  cursor?: number | null;
}

/** Artifacts. */
export interface ArtifactListResult {
  /** The newest version of each, in the order in which they were first published. */
  items: Array<ArtifactView>;
  /** Where the next list begins. */
  next_cursor?: number | null;
}

/** Names an artifact, or a version of it. */
export interface ArtifactParams {
  /** Its id or its name. */
  artifact: string;
  /** The agent that owns it. */
  agent?: string | null;
  /** Which version; the newest, if not given. */
  version?: number | null;
}

/** Publishes bytes: those of `content`, of an output, or of a file of a workspace; exactly one of the three. */
export interface ArtifactPublishParams {
  /** Under which name. If there is one of this name already, this becomes its next version. */
  name: SafeLabel;
  /** The agent that owns it; without, the calling agent, or the node. */
  agent?: string | null;
  /** What the bytes are; if not given, text or plain bytes, whichever they are. */
  media_type?: string | null;
  /** By what it is found; those of the version before, if not given. */
  labels?: Record<string, SafeLabel> | null;
  /** The bytes themselves. */
  content?: string | null;
  /** How they stand in `content`. */
  encoding?: ContentEncoding;
  /** Or the output that they are. */
  output_id?: OutputId | null;
  /** Or the file that holds them. */
  file?: ArtifactFile | null;
  /** Only if it is at this version; 0: only if there is none of this name. */
  if_version?: number | null;
}

/** Which bytes of an artifact to read. */
export interface ArtifactReadParams {
  /** Its id or its name. */
  artifact: string;
  /** The agent that owns it. */
  agent?: string | null;
  /** Which version; the newest, if not given. */
  version?: number | null;
  /** From this byte on. */
  offset?: number;
  /** Most bytes, at most 2 MiB. */
  limit?: number;
  /** How they are to stand in the answer: as text if they are, if nothing is said. */
  encoding?: ContentEncoding | null;
}

/** Some bytes of an artifact. All of its bytes were held against its digest before. */
export interface ArtifactReadResult {
  /** Which. */
  artifact_id: ArtifactId;
  /** Which version. */
  version: number;
  /** SHA-256 of all bytes of this version. */
  digest: string;
  /** What they are. */
  media_type: string;
  /** The bytes that were asked for. */
  content: string;
  /** How they stand in `content`. */
  encoding: ContentEncoding;
  /** The first of them. */
  offset: number;
  /** How many there are in all. */
  bytes: number;
  /** Where the next part begins; nothing, if this was the last. */
  next_offset?: number | null;
}

/** Where the bytes of an artifact were taken from. */
export type ArtifactSource = ArtifactSource1 | ArtifactSource2;

/** What a turn came to. */
export interface ArtifactSource1 {
  output: Record<string, Json>;
}

/** A file of a workspace. */
export interface ArtifactSource2 {
  file: Record<string, Json>;
}

/** A version of an artifact. */
export interface ArtifactView {
  /** Its id. */
  artifact_id: ArtifactId;
  /** The name of this version, for edges of tasks and parts of messages. */
  uri: string;
  /** Its name. */
  name: SafeLabel;
  /** The number of this version. */
  version: number;
  /** The number of the newest. */
  newest: number;
  /** What the bytes are, as their publisher says. */
  media_type: string;
  /** SHA-256 of the bytes. */
  digest: string;
  /** How many there are. */
  bytes: number;
  /** When this version was published. */
  published_at: Timestamp;
  /** By whom. */
  by: string;
  /** The agent that owns it; absent: the node. */
  agent?: string | null;
  /** By what it is found. */
  labels?: Record<string, SafeLabel>;
  /** Where the bytes were taken from, if they did not come with the request. */
  source?: ArtifactSource | null;
  /** When the artifact ended. */
  deleted_at?: Timestamp | null;
  /** Whether the newest version held the same, so that none was made. */
  unchanged?: boolean;
}

/** Asks an agent and waits for its answer. */
export interface AskParams {
  /** Name or id. */
  agent: string;
  /** The question. */
  parts: Array<Part>;
  /** Which waiting message goes first. */
  priority?: Priority;
  /** Key against asking twice: with the same key the answer to the first question comes. */
  idempotency_key?: string | null;
  /** The message that made the sender ask. */
  causation?: MessageId | null;
  /** Longest wait in milliseconds, a minute if it is left out. With 0 the answer is looked for and not waited for. */
  timeout_ms?: number | null;
  /** Send what the agent says meanwhile as `ask/part` notifications, in order. */
  stream?: boolean;
}

/** What an agent said on its way to an answer. */
export interface AskPart {
  /** The question. */
  message_id: MessageId;
  /** Its number, from 1, without gaps. */
  number: number;
  /** Of which kind, as the agent says. */
  kind: SafeLabel;
  /** What it said, as it was said. */
  text: string;
  /** The same as a session is to see it, with the header of its source. */
  rendered: string;
}

/** A question and what was answered. */
export interface AskResult {
  /** The question. */
  message_id: MessageId;
  /** The agent that was asked. */
  agent: string;
  /** How far the question came. */
  receipts: Array<Receipt>;
  /** The answer, unless there was none in time. */
  answer?: Answer | null;
  /** Whether the time was over before an answer came. It may still come. */
  timed_out?: boolean;
  /** Why there is no answer and none will come. */
  reason?: string | null;
}

/** How strong the separation is that a proof of origin rests on. */
export type Assurance =
  /** The agent has the daemon's uid: resists confusion and accident, not an attacker. */
  | "open"
  /** State directory, cgroup filesystem and other sockets are hidden from the agent. */
  | "guarded"
  /** The kernel makes it true that no process in the agent speaks as another. */
  | "sealed";

/** An `attach/output` notification. */
export interface AttachOutput {
  /** Whose it is. */
  attachment: string;
  /** Offset of the first byte. */
  offset: number;
  /** The bytes in base64. */
  data: string;
  /** Whether the bytes restore the whole screen because the viewer was too slow for the live ones. */
  resynchronised?: boolean;
}

/** Watches or controls an agent's terminal. */
export interface AttachParams {
  /** Name or id. */
  agent: string;
  /** Also write and resize. There is one controller at a time. */
  control?: boolean;
  /** Take the control from whoever has it. */
  takeover?: boolean;
  /** Columns of the viewer's terminal; the controller's size is the agent's. */
  cols?: number | null;
  /** Rows of the viewer's terminal. */
  rows?: number | null;
}

/** An attachment: the screen as it is, and where live output goes on. */
export interface AttachResult {
  /** Its id. */
  attachment: string;
  /** The epoch. */
  epoch: Epoch;
  /** Bytes that restore the screen, in base64. */
  screen: string;
  /** Offset of the first live byte that follows. */
  offset: number;
  /** Columns of the agent's terminal. */
  cols: number;
  /** Rows of the agent's terminal. */
  rows: number;
  /** Whether this attachment controls. */
  control: boolean;
  /** Whether the program has pipes and no terminal. */
  pipes: boolean;
}

/** One thing that is wrong with the record. */
export interface AuditProblem {
  /** The stream. */
  stream: string;
  /** The event in it, zero if it is not one event's. */
  seq: number;
  /** The event's type, as far as it can be read. */
  type: string;
  /** What is wrong. */
  what: string;
}

/** What a verification found. */
export interface AuditResult {
  /** Whether nothing is wrong. */
  ok: boolean;
  /** Events that were recomputed. */
  events: number;
  /** Streams they are in. */
  streams: number;
  /** Recording segments whose digest was recomputed. */
  segments: number;
  /** Segments still being written: they have no digest yet. */
  unsealed: number;
  /** What is wrong, the first in each stream or recording. */
  problems: Array<AuditProblem>;
}

/** Where the agent's history stands. */
export interface AuditView {
  /** The agent's id, the same through every epoch. */
  agentId: AgentId;
  /** Its stream in the record. */
  stream: StreamName;
  /** Events in it. */
  events: number;
  /** Hash of the newest one, lower-case hexadecimal. */
  head: string;
  /** When the agent was declared. */
  declaredAt: Timestamp;
}

/** How an instruction is to be weighed, weightiest first. */
export type Authority =
  /** From one who may instruct. */
  | "trusted"
  /** From one who acts for such a one. */
  | "delegated"
  /** Worth considering. */
  | "advisory"
  /** From outside. */
  | "external"
  /** Not to be followed. */
  | "untrusted";

/** How the agent's word is weighed. */
export interface AuthorityView {
  /** The highest authority that its messages can carry to others. */
  asSender: Authority;
  /** How well the node can tell its processes from others. */
  assurance: Assurance;
  /** What decides. */
  decidedBy: string;
}

/** What had an automation fire. */
export type AutomationCause = AutomationCauseEvent | AutomationCauseSchedule | AutomationCauseWebhook | AutomationCauseHand;

/** An event of the record. */
export interface AutomationCauseEvent {
  kind: "event";
  /** Its id. */
  event_id: EventId;
  /** Its position in the record. */
  pos: number;
  /** What it is called. */
  event_type: string;
}

/** It came due. */
export interface AutomationCauseSchedule {
  kind: "schedule";
  /** When it was due. */
  due_at: Timestamp;
  /** Why it ran. */
  cause: RunCause;
}

/** Something was delivered to it over HTTP. */
export interface AutomationCauseWebhook {
  kind: "webhook";
  /** What its sender calls the delivery. */
  delivery: string;
  /** SHA-256 of what was delivered, in the body store. */
  body_digest: string;
  /** Its size in bytes. */
  body_bytes: number;
  /** Whether it is JSON; else it is text. */
  is_json: boolean;
}

/** Somebody had it fire by hand. */
export interface AutomationCauseHand {
  kind: "hand";
  /** SHA-256 of what they gave in place of an event, in the body store. */
  given_digest?: string | null;
  /** Its size in bytes. */
  given_bytes?: number;
}

/** Names an automation. */
export interface AutomationParams {
  /** Its name. */
  name: AgentName;
  /** How many of its firings to show, at most 200; the newest. */
  firings?: number;
}

/** An automation and what it did. */
export interface AutomationView {
  /** Its name. */
  name: AgentName;
  /** Its version, as a resource. */
  version: number;
  /** Whether it fires. */
  enabled: boolean;
  /** What has it fire: `event`, `schedule` or `webhook`. */
  on: string;
  /** When, in its own words. */
  when: string;
  /** What it does, in a few words. */
  does: string;
  /** As whom it acts: whoever declared it. */
  acts_as: SafeLabel;
  /** How often it fired. */
  fired: number;
  /** How many of its firings ended otherwise than well. */
  failed: number;
  /** How often it did not fire. */
  skipped: number;
  /** How many of its firings are not over. */
  waiting: number;
  /** When it is due next, if it fires by the clock. */
  due_at?: Timestamp | null;
  /** Its newest firings, newest first. */
  firings?: Array<FiringView>;
}

/** Automations. */
export interface AutomationsResult {
  /** Those that there are and may be seen, by name. */
  items: Array<AutomationView>;
}

/** Waits for an invocation. */
export interface AwaitInvocationParams {
  /** Which. */
  invocation_id: InvocationId;
  /** How long at most, in milliseconds; then it is shown as it is. */
  timeout_ms: number;
}

/** What is behind a capability. */
export type BackingKind =
  /** A server that the node speaks to. */
  | "connector"
  /** An agent that registered it. */
  | "agent"
  /** A method of the node itself. */
  | "builtin"
  /** Tasks, as a resource says them. */
  | "workflow"
  /** A task or a method, as a resource says it. */
  | "automation";

/** Waits until what was written has arrived. */
export interface BarrierAwaitParams {
  /** Of what. */
  target: BarrierTarget;
  /** Up to where. */
  through: BarrierThrough;
  /** Which projection of a stream; `log` if not given. */
  projection?: string;
  /** Where, by the ids of nodes: this one, which is also meant if none is named. */
  replicas?: Array<NodeId>;
  /** How long to wait, in milliseconds, at most ten minutes. */
  timeout_ms?: number;
}

/** It has arrived. */
export interface BarrierReceipt {
  /** The digest of all that is said here besides. */
  id: string;
  /** Of what. */
  target: BarrierTarget;
  /** Everything up to this number is there. */
  through_seq: number;
  /** When that was seen. */
  reached_at: Timestamp;
  /** Where. */
  replicas: Array<ReplicaPlace>;
  /** The digest of the newest checkpoint of the workspace, if it has all these changes and no more. */
  tree_digest?: string | null;
}

/** Of what something has to arrive: exactly one of the two. */
export interface BarrierTarget {
  /** Changes of files of this workspace. */
  workspace_id?: WorkspaceId | null;
  /** Entries of a stream. */
  stream?: Target | null;
}

/** Up to where: exactly one of the three. */
export interface BarrierThrough {
  /** This number: a `write_seq` of a workspace, the number of an entry of a stream. */
  seq?: number | null;
  /** The place in a stream that a cursor names. */
  cursor?: string | null;
  /** These changes of a workspace, by their numbers, at most 1,000. */
  write_ids?: Array<number>;
}

/** One for whom a sender says that it speaks. */
export interface BehalfParam {
  /** For whom. */
  principal: SafeLabel;
  /** The message by which that one asked for it; without one in the sender's own inbox it is a mere claim. */
  message_id?: MessageId | null;
}

/** One kind of what an agent owns. */
export interface Belonging {
  /** Which: `recordings`, `folder`, `memory`, `schedules`, `messages`, `dead_letters`, `actions`, `program`, `topics`, `record`, `workspace`. */
  kind: string;
  /** How many there are. */
  count: number;
  /** Their bytes on this machine, as far as they were looked at. Not part of what the digest is of, because they grow. */
  bytes: number;
  /** Names or places, the first 100. */
  names?: Array<string>;
}

/** Binds a workspace to a run, or to the live epoch of an agent, with which the binding ends. */
export interface BindingAttachParams {
  /** The workspace. */
  workspace_id: WorkspaceId;
  /** What may be done under it; one at a time may write. */
  mode: BindingMode;
  /** The run; its agent works under the binding. */
  run_id?: RunId | null;
  /** Or the agent. */
  agent?: string | null;
}

/** Ends a binding. */
export interface BindingDetachParams {
  /** The workspace. */
  workspace_id: WorkspaceId;
  /** The number of the binding. */
  binding_epoch: number;
}

/** What may be done with a workspace under a binding. */
export type BindingMode =
  /** It is looked at. */
  | "ro"
  /** It is changed. */
  | "rw";

/** The workspace that a run is bound to as soon as there is a run. */
export interface BindingParam {
  /** The workspace. */
  workspace_id: WorkspaceId;
  /** What may be done under the binding; one at a time may write. */
  mode: BindingMode;
}

/** A binding of a workspace. */
export interface BindingView {
  /** The workspace. */
  workspace_id: WorkspaceId;
  /** Its number on the node, which only grows: the fencing token of what is done under it. */
  binding_epoch: number;
  /** What may be done under it. */
  mode: BindingMode;
  /** The folder of the workspace. */
  root: string;
  /** Its id. */
  agent_id: AgentId;
  /** Who asked for it. */
  by: SafeLabel;
  /** Since when. */
  attached_at: Timestamp;
  /** The agent that works under it. */
  agent?: string | null;
  /** The run that it ends with. */
  run_id?: RunId | null;
  /** The epoch of the agent that it ends with, if it is bound to no run. */
  epoch?: Epoch | null;
}

/** Which bytes of a blob to read. */
export interface BlobGetParams {
  /** BLAKE3 of its bytes. */
  digest: string;
  /** The workspace. */
  workspace_id?: WorkspaceId | null;
  /** Or the agent whose own it is; it becomes known by this. */
  agent?: string | null;
  /** From this byte on. */
  offset?: number;
  /** Most bytes, at most 2 MiB. */
  limit?: number;
  /** How they are to stand in the answer: as text if they are, if nothing is said. */
  encoding?: ContentEncoding | null;
}

/** Names a blob. */
export interface BlobParams {
  /** BLAKE3 of its bytes. */
  digest: string;
  /** The workspace. */
  workspace_id?: WorkspaceId | null;
  /** Or the agent whose own it is; it becomes known by this. */
  agent?: string | null;
}

/** Keeps bytes under their digest. Those that are kept already are kept for longer. */
export interface BlobPutParams {
  /** The workspace. */
  workspace_id?: WorkspaceId | null;
  /** Or the agent whose own it is; it becomes known by this. */
  agent?: string | null;
  /** The bytes, at most 8 MiB. */
  content?: string | null;
  /** How they stand in `content`. */
  encoding?: ContentEncoding;
  /** Instead: a file of the workspace, of at most 256 MiB, of which what it holds now is kept. */
  path?: string | null;
  /** Whether it is kept although nobody refers to it, until somebody says otherwise or the workspace ends. Left out: as it was. */
  pinned?: boolean | null;
  /** How long it is kept at least, in milliseconds, at most 30 days. */
  keep_ms?: number;
}

/** Some bytes of a blob. */
export interface BlobReadResult {
  /** BLAKE3 of all of them. */
  digest: string;
  /** The bytes. */
  content: string;
  /** How they stand in `content`. */
  encoding: ContentEncoding;
  /** The first of them. */
  offset: number;
  /** How many the blob has. */
  bytes: number;
  /** Where the next part begins; nothing, if this was the last. */
  next_offset?: number | null;
}

/** A blob. */
export interface BlobView {
  /** The workspace. */
  workspace_id: WorkspaceId;
  /** BLAKE3 of its bytes. */
  digest: string;
  /** How many it has. */
  bytes: number;
  /** Whether it is kept although nobody refers to it. */
  pinned: boolean;
  /** Until when it is kept at least. */
  expires_at: Timestamp;
  /** Who put it last. */
  by: SafeLabel;
  /** When. */
  put_at: Timestamp;
}

/** A part of an item's content. */
export type Block = BlockText | BlockData;

/** Words. */
export interface BlockText {
  type: "text";
  /** The words; of a message as its session saw it, with header and fence. */
  text: string;
  /** Whether there is more of it than is shown: at most 16 KiB are. */
  is_cut?: boolean;
}

/** A value. */
export interface BlockData {
  type: "data";
  /** Any JSON value; long texts in it are shortened. */
  data: Json;
}

/** Sends a message to every agent whose labels have these values. */
export interface BroadcastParams {
  /** What to say. */
  parts: Array<Part>;
  /** Labels and their values; all must be met. None means every agent. */
  selector?: Record<string, SafeLabel>;
  /** Which waiting message goes first. */
  priority?: Priority;
  /** Milliseconds after which it is no longer worth delivering. */
  expires_in_ms?: number | null;
  /** Key against sending it twice. */
  idempotency_key?: string | null;
  /** The message that made the sender send it. */
  causation?: MessageId | null;
}

/** As whom the node knows a caller. */
export interface CallerView {
  /** The name that a header would show. */
  principal: SafeLabel;
  /** By what that is known. */
  proof: Proof;
  /** What the proof is worth. */
  assurance: Assurance;
  /** The agent that the caller is, if it is one. */
  agent_id?: AgentId | null;
  /** What else is to be said of it. */
  note?: string | null;
}

/** Takes a request back. */
export interface CancelParams {
  /** The `request_id` of its context. */
  request_id: string;
  /** Why, for the one who waits for it. */
  reason?: string;
}

/** What became of taking a request back. */
export interface CancelResult {
  /** Whether the caller had such a request that was still being worked on. */
  cancelled: boolean;
}

/** Capabilities. */
export interface CapabilitiesResult {
  /** By name. Those that whoever asks may not call are left out for an agent. */
  items: Array<CapabilityView>;
  /** How it stands with the connectors that were asked. */
  connectors: Array<ConnectorStanding>;
  /** What to give as `cursor` for those after; nothing if there are none. */
  next_cursor?: string | null;
  /** Changes whenever the list does, all of it, as whoever asks sees it. Only in what has no `cursor`. */
  digest?: string | null;
}

/** What is behind a capability. */
export interface CapabilityBacking {
  /** What kind of thing. */
  kind: BackingKind;
  /** The connector, the agent or the workflow that offers it, or the profile of a method. */
  owner: AgentName;
  /** What that calls it, letter for letter. */
  native_id: string;
  /** The agent that offers it, by its id. */
  agent_id?: AgentId | null;
  /** The agent's epoch that offers it. */
  epoch?: Epoch | null;
}

/** What a capability does at most. */
export interface CapabilityEffect {
  /** What it may do. */
  class: EffectClass;
  /** Whether somebody vouches for that; else the worst is taken. */
  vouched: boolean;
  /** Whether what it does can be undone. */
  reversible: boolean;
}

export type CapabilityId = string;

/** What a capability is. */
export type CapabilityKind =
  /** Something that is called. */
  | "tool"
  /** Something that is read. */
  | "resource"
  /** A text with places to fill. */
  | "prompt"
  /** Something that is done by the node or an agent. */
  | "operation"
  /** Tasks that are joined, begun and ended together. */
  | "workflow"
  /** Something that is done when something happens, and can be had done by hand. */
  | "automation";

/** Names a capability. */
export interface CapabilityParams {
  /** Its id, or its name: `CONNECTOR/TOOL`, `CONNECTOR/resource:URI`, `CONNECTOR/prompt:NAME`, `agent:AGENT/NAME`, `edgeplane:METHOD`, `workflow:NAME/run`. */
  capability: string;
}

/** A capability. */
export interface CapabilityView {
  /** Its id: the same as long as its owner and its native name are. */
  capability_id: CapabilityId;
  /** Its name: `CONNECTOR/TOOL`, `CONNECTOR/resource:URI`, `CONNECTOR/prompt:NAME`, `agent:AGENT/NAME`, `edgeplane:METHOD`, `workflow:NAME/run`. */
  name: string;
  /** What it is. */
  kind: CapabilityKind;
  /** What it does at most. */
  effect: CapabilityEffect;
  /** Calls of it run beside each other: `parallel`. */
  concurrency: string;
  /** What holds for a call by whoever asks. */
  policy: PermissionView;
  /** How long a call may take, in milliseconds. */
  timeout_ms: number;
  /** What is behind it. */
  backing: CapabilityBacking;
  /** Changes whenever its server says something else of it. */
  digest: string;
  /** What it is called, as its server says: for people, never for a decision. */
  title?: string | null;
  /** What it is for, as its server says. */
  description?: string | null;
  /** What a call is given, as a JSON Schema; in lists only if they are asked for. */
  input_schema?: Json;
  /** What a call gives, as a JSON Schema, if its server says. */
  output_schema?: Json;
  /** What its server claims of it. Not to be believed. */
  annotations?: Json;
}

/** What a machine has. */
export interface CapacityView {
  /** Thousandths of processors that the daemon may use. */
  cpu_milli: number;
  /** Bytes of memory; nothing if the kernel does not tell. */
  memory_bytes?: number | null;
}

/** Names a turn. */
export interface CaseExportParams {
  /** Which. */
  turn_id: TurnId;
}

/** What is needed to run a turn again and to judge what comes of it. */
export interface CaseExportResult {
  /** `edgeplane-replay/1`. */
  format: string;
  /** The turn. */
  turn_id: TurnId;
  /** The message that began it. */
  message_id: MessageId;
  /** The agent's name. */
  agent: string;
  /** The agent. */
  agent_id: AgentId;
  /** What it was given: the envelope and, unless it was erased, the content. */
  input: Json;
  /** How it was given: driver, mode, priority, program. */
  options: Json;
  /** What it had before it, by reference: manifest, session, memory, recording. */
  context: Json;
  /** What it had at hand, by reference. */
  inventory: Json;
  /** What came of it then, by digest. */
  expected: Json;
  /** Where the record says so. */
  evidence: Json;
  /** What people or programs noted of it; EdgePlane notes nothing. */
  grader_notes: Array<string>;
  /** What of each kind of signal is in it. */
  signals: Array<SignalView>;
  /** What is missing, and why. */
  known_gaps: Array<GapView>;
  /** SHA-256 of the case in its one spelling, without this field. */
  digest: string;
}

/** What changed about a declaration. */
export type Change =
  /** It is new. */
  | "created"
  /** It is different. */
  | "updated"
  /** It is as it was. */
  | "unchanged"
  /** It is no more: a schedule that its agent's manifest no longer declares. */
  | "removed";

/** How something differs. */
export type ChangeKind =
  /** It was not there. */
  | "added"
  /** It is no more. */
  | "removed"
  /** It holds something else, or leads elsewhere. */
  | "content"
  /** Its permissions differ, and nothing else. */
  | "mode"
  /** It is another kind of thing. */
  | "kind";

/** Names an agent and says why. */
export interface ChangeParams {
  /** Name or id. */
  agent: string;
  /** Why, for the record. */
  reason?: string | null;
}

/** Where an agent stands after a request; the change itself may still be under way. */
export interface ChangeResult {
  /** Its name. */
  name: string;
  /** Its id. */
  agent_id: AgentId;
  /** Its phase now. */
  phase: Phase;
  /** What it is meant to do. */
  desired: Desired;
  /** Its newest epoch. */
  epoch: Epoch;
}

/** Something that differs. */
export interface ChangeView {
  /** Its path beneath the folder, `.` for the folder itself; bytes that are no text are shown as `\xNN`. */
  path: string;
  /** How. */
  change: ChangeKind;
  /** What it was. */
  before?: ThingView | null;
  /** What it is. */
  after?: ThingView | null;
}

/** The kind of an inbound message. */
export type Channel =
  /** A person who runs the node. */
  | "operator"
  /** Another agent. */
  | "peer"
  /** A schedule. */
  | "scheduler"
  /** The node or its control plane. */
  | "system"
  /** A workflow engine. */
  | "workflow"
  /** What a tool returned. */
  | "tool"
  /** A retrieved document. */
  | "document"
  /** A web page. */
  | "web"
  /** Anything whose origin is not proven. */
  | "external";

/** One thing that was looked at. */
export interface Check {
  /** Its name. */
  name: string;
  /** `ok`, `warn` or `fail`. */
  status: string;
  /** What was found. */
  detail: string;
  /** What to do about it. */
  hint?: string | null;
}

/** Looks whether rules could be put in force. */
export interface CheckParams {
  /** The files. */
  files: Array<PolicyFile>;
  /** The layer they are for. */
  layer?: PolicyLayer;
  /** A request to be decided as if they were in force. */
  request?: ExplainParams | null;
}

/** What is wrong with rules, or what they would say. */
export interface CheckResult {
  /** Whether they could be put in force. */
  ok: boolean;
  /** How many rules there are. */
  rules: number;
  /** What is wrong, each with file, line and column. */
  problems: Array<string>;
  /** What they would say of the request. */
  decision?: ExplainResult | null;
}

/** Why a checkpoint is made. */
export type CheckpointCause =
  /** Somebody asked for it. */
  | "asked"
  /** It is what was there before a restore. */
  | "restore"
  /** A manifest wants it before a call that may do something. */
  | "before_call";

/** Keeps the state of a workspace. */
export interface CheckpointCreateParams {
  /** The workspace. */
  workspace_id?: WorkspaceId | null;
  /** Or the agent whose own it is; it becomes known by this. */
  agent?: string | null;
  /** What it is, for people. */
  label?: string | null;
  /** The number of the binding under which it is done. */
  binding_epoch?: number | null;
  /** The change of a file that is to be in it: it is waited for. */
  after?: AfterWrite | null;
  /** How long that is waited for, in milliseconds, at most ten minutes. */
  timeout_ms?: number;
  /** Whether to keep what git ignores. */
  ignored?: boolean;
  /** Whether to keep `.git`. */
  git?: boolean;
}

/** Ends a checkpoint. */
export interface CheckpointDeleteParams {
  /** Which. */
  checkpoint_id: CheckpointId;
  /** Why, for the record. */
  reason?: string | null;
}

/** A checkpoint, with what is not in it. */
export interface CheckpointDetail {
  /** The checkpoint. */
  checkpoint: CheckpointView;
  /** What is not in it, as far as it is listed. */
  left_out?: Array<LeftOutView>;
}

/** What differs between two checkpoints. */
export interface CheckpointDiffParams {
  /** From this one. */
  before_id: CheckpointId;
  /** To this one. */
  after_id: CheckpointId;
  /** Most changes, at most 10,000. */
  limit?: number;
}

/** What differs. */
export interface CheckpointDiffResult {
  /** As far as it is told, by path. */
  changes: Array<ChangeView>;
  /** How much differs. */
  total: number;
}

export type CheckpointId = string;

/** Which checkpoints to list. */
export interface CheckpointListParams {
  /** Of this workspace. */
  workspace_id?: WorkspaceId | null;
  /** Or of the workspace of this agent. */
  agent?: string | null;
  /** Those that are not kept, too: failed, lost, deleted. */
  all?: boolean;
  /** Most checkpoints, at most 500. */
  limit?: number;
  /** Where a former list ended. */
  cursor?: string | null;
}

/** Checkpoints. */
export interface CheckpointListResult {
  /** The newest first. */
  checkpoints: Array<CheckpointView>;
  /** Where the next list begins. */
  next_cursor?: string | null;
}

/** Names a checkpoint. */
export interface CheckpointParams {
  /** Which. */
  checkpoint_id: CheckpointId;
}

/** Brings a workspace back to a checkpoint of it. */
export interface CheckpointRestoreParams {
  /** Which. */
  checkpoint_id: CheckpointId;
  /** Do it even if somebody is at work in the folder. */
  force?: boolean;
  /** The token of the caller's lock, if there is one in the workspace. */
  lock?: number | null;
  /** The number of the binding under which it is done. */
  binding_epoch?: number | null;
  /** Whether what git ignores is kept and touched, too. */
  ignored?: boolean;
  /** Whether `.git` is kept and touched, too. */
  git?: boolean;
}

/** What a restore did. */
export interface CheckpointRestoreResult {
  /** The checkpoint of what was there before. */
  before: CheckpointView;
  /** What was done. */
  counts: RestoreCounts;
  /** What was left as it is, as far as it is listed. */
  conflicts?: Array<ConflictView>;
}

/** Where a checkpoint is. */
export type CheckpointState =
  /** It is being made. */
  | "started"
  /** It is kept. */
  | "created"
  /** It could not be made. */
  | "failed"
  /** The node ended while it was made: nothing is kept. */
  | "lost"
  /** It is kept no more. */
  | "deleted";

/** A checkpoint. */
export interface CheckpointView {
  /** Its id. */
  checkpoint_id: CheckpointId;
  /** The workspace. */
  workspace_id: WorkspaceId;
  /** Where it is. */
  state: CheckpointState;
  /** Why it was made. */
  cause: CheckpointCause;
  /** Who asked for it. */
  by: SafeLabel;
  /** When it was begun. */
  started_at: Timestamp;
  /** What it is, for people. */
  label?: string | null;
  /** The call before which it was made. */
  invocation_id?: InvocationId | null;
  /** BLAKE3 of what is kept: the same states have the same one. */
  digest?: string | null;
  /** What is in it. */
  counts?: FolderCounts | null;
  /** How many bytes the store had more by it. */
  bytes_new?: number | null;
  /** How many things in the folder are not in it. */
  left_out?: number;
  /** How many files changed each time they were read, so that what is kept of them may be half of a change. */
  unsettled?: number;
  /** Whether whoever worked in the folder was suspended while it was made. */
  frozen?: boolean;
  /** The number of the last change of a file that is in it. */
  write_seq?: number;
  /** Why nothing is kept. */
  reason?: string | null;
  /** When it was kept. */
  created_at?: Timestamp | null;
}

/** One answer that may be chosen. */
export interface Choice {
  /** What is given back. */
  value: SafeLabel;
  /** What a person reads. */
  label: string;
}

/** The newest boundary of a thread. */
export interface CompactionView {
  /** The last turn before it. */
  through: TurnId;
  /** How many turns the summary stands for. */
  turns: number;
  /** SHA-256 of the summary. */
  summary_digest: string;
  /** Its size. */
  summary_bytes: number;
  /** Who wrote it. */
  by: SafeLabel;
  /** What it weighs. */
  authority: Authority;
  /** When it was drawn. */
  at: Timestamp;
}

/** A comparison. */
export interface ComparisonView {
  /** How it was. */
  baseline: SideView;
  /** How it is. */
  candidate: SideView;
  /** The reward from which on a trial counts as a success. */
  successAt: number;
  /** The manifests that both sides have. */
  manifestHashes: Array<string>;
  /** By how much the candidate has more. */
  aggregateDeltas: DeltasView;
  /** The share of trials of which all is there. */
  evidenceCompleteness: CompletenessView;
  /** What worked before and must not fail, and failed. */
  p0Regressions: RegressionsView;
  /** Whether the candidate may take the baseline's place. */
  promotion: PromotionView;
  /** The one thing that is other. */
  changedVariable?: string | null;
}

/** Answers a call. Exactly one of `output` and `error` is given. */
export interface CompleteInvocationParams {
  /** Which. */
  invocation_id: InvocationId;
  /** What came of it: at most 4 MiB of JSON. */
  output?: Json;
  /** Why it went wrong: at most 4 KiB. */
  error?: string | null;
}

/** The share of trials of which all is there. */
export interface CompletenessView {
  /** Of the baseline. */
  baseline: number;
  /** Of the candidate. */
  candidate: number;
}

/** Something that a restore left as it is. */
export interface ConflictView {
  /** Its path; bytes that are no text are shown as `\xNN`. */
  path: string;
  /** Why. */
  reason: string;
}

/** How it stands with a connector. */
export interface ConnectorStanding {
  /** Which. */
  connector: AgentName;
  /** Whether its server answers. */
  available: boolean;
  /** Which version of the protocol it speaks. */
  protocol?: string | null;
  /** Why it does not answer. */
  failure?: string | null;
  /** What its server lists and is not offered, and why. */
  left_out?: Array<string>;
}

/** How bytes stand in JSON. */
export type ContentEncoding =
  /** As text. */
  | "utf8"
  /** In base64. */
  | "base64";

/** Where content was found that somebody submits: never who speaks. */
export interface ContentOrigin {
  /** Its address, such as the page's URL or the document's path. */
  uri?: string | null;
  /** The tool that returned it. */
  tool?: SafeLabel | null;
  /** When it was fetched, as the one who submits it says. */
  retrieved_at?: Timestamp | null;
}

/** Whether a program has a context for this alone. */
export type Context =
  /** The agent's program has no other session or thread. */
  | "own"
  /** The agent's program has one live context in each epoch, and all its threads share it. Their turns never overlap. */
  | "shared";

/** A text that was chosen. */
export interface ContextChosen {
  /** Which. */
  reference: string;
  /** What it is called. */
  title: string;
  /** SHA-256 of it. */
  digest: string;
  /** How many bytes it has. */
  bytes: number;
  /** All of it. */
  text: string;
  /** How well it fits the query, in thousandths; none if it was named. */
  score?: number | null;
}

/** A text that was found. */
export interface ContextFound {
  /** By what it is read. */
  reference: string;
  /** What it is called. */
  title: string;
  /** SHA-256 of it, as the store says. */
  digest: string;
  /** How many bytes it has, as the store says. */
  bytes: number;
  /** How well it fits, in thousandths; comparable within one answer only. */
  score: number;
  /** A piece of it. */
  excerpt: string;
}

export type ContextId = string;

/** What a subagent knows of what its parent was told and said. */
export type ContextIsolation =
  /** Nothing. */
  | "fresh"
  /** All of it. */
  | "forked";

/** A text that was left out. */
export interface ContextLeftOut {
  /** Which. */
  reference: string;
  /** Why. */
  reason: OmissionReason;
  /** How many bytes it has, where that is known. */
  bytes?: number | null;
  /** How well it fits the query, in thousandths. */
  score?: number | null;
}

/** Which text to read. */
export interface ContextReadParams {
  /** Which. */
  reference: string;
  /** From this byte on; from the beginning of the letter that is there. */
  offset?: number;
  /** Most bytes, at most 2 MiB. */
  limit?: number;
}

/** A text, or a part of it. */
export interface ContextReadResult {
  /** Which. */
  reference: string;
  /** What it is called. */
  title: string;
  /** What it is, as the store says. */
  media_type: string;
  /** SHA-256 of all of it. */
  digest: string;
  /** How many bytes it has. */
  bytes: number;
  /** The part that was asked for. */
  text: string;
  /** Where that begins. */
  offset: number;
  /** What it is: a document. */
  channel: Channel;
  /** What it weighs at most. */
  authority: Authority;
  /** Where the next part begins; nothing, if this was the last. */
  next_offset?: number | null;
}

/** What a rollback or a compaction makes of a program's context. A program cannot forget. */
export type ContextRebuilt =
  /** Nothing was taken out, so nothing is done. */
  | "not"
  /** Its epoch ends, and the next one begins anew, without its former session. */
  | "now"
  /** It does not run: its next epoch begins anew. */
  | "at_next_start";

/** Chooses texts for a budget, by a query, by references, or by both: what is named comes first. */
export interface ContextResolveParams {
  /** The agent for which it is; without, the calling agent, or nobody but the node. */
  agent?: string | null;
  /** The turn of that agent in which it is asked for. */
  turn_id?: TurnId | null;
  /** Words. At most 4 KiB. */
  query?: string | null;
  /** Texts that are named, in their order. At most 100. */
  references?: Array<string>;
  /** Most texts that the query may choose, at most 100; 10 if not given. */
  limit?: number | null;
  /** Room in bytes, at most 2 MiB; 64 KiB if nothing is said. */
  budget_bytes?: number | null;
  /** Room in tokens, each taken as four bytes. With both, the smaller counts. */
  budget_tokens?: number | null;
}

/** What was chosen and what was left out, as the record says it. */
export interface ContextResolveResult {
  /** Its id in the record. */
  context_id: ContextId;
  /** What was chosen: what was named first, then best first. */
  selected: Array<ContextChosen>;
  /** What was not. */
  left_out: Array<ContextLeftOut>;
  /** How many bytes there was room for. */
  budget_bytes: number;
  /** How many were used. */
  used_bytes: number;
  /** How many tokens that is taken to be. */
  used_tokens: number;
  /** What all of it is: documents. */
  channel: Channel;
  /** What all of it weighs at most. */
  authority: Authority;
}

/** What to search for. */
export interface ContextSearchParams {
  /** Words. At most 4 KiB. */
  query: string;
  /** Most texts, at most 100. */
  limit?: number;
}

/** What was found. */
export interface ContextSearchResult {
  /** Best first. */
  items: Array<ContextFound>;
  /** What all of it is: documents. */
  channel: Channel;
  /** What all of it weighs at most. */
  authority: Authority;
}

/** How much of the former context a new epoch has. */
export type Continuity =
  /** The program resumed its own session. */
  | "full"
  /** Facts and quotations were handed over; the program's own context is gone. */
  | "partial"
  /** A fresh start. */
  | "none";

/** What something cost. */
export interface CostView {
  /** Whether it is known. */
  price: PriceState;
  /** What the session has cost since it began, in the program's own words. */
  session?: string | null;
  /** What sessions before had cost at their ends, oldest first, the newest of them. */
  former_sessions?: Array<string>;
}

/** Makes a token. */
export interface CreateParams {
  /** As whom its bearer is known. */
  principal: SafeLabel;
  /** For a person or for a program. */
  kind: TokenKind;
  /** What its bearer may do. */
  scopes: Array<Scope>;
  /** Roles in which its bearer decides pending actions. */
  roles?: Array<SafeLabel>;
  /** Milliseconds until it is worth nothing; left out: until it is revoked. */
  expires_in_ms?: number | null;
  /** Whether that of a person also counts where the kernel says nothing of its bearer: over a network connection. Whoever finds it is then that person, an agent of this machine, too. */
  remote?: boolean;
}

/** A token, this once. */
export interface CreateResult {
  /** Its id. */
  token_id: TokenId;
  /** The secret. The node keeps its digest only and cannot show it again. */
  token: string;
  /** When it is worth nothing. */
  expires_at?: Timestamp | null;
}

/** Something that must be true before a task is completed. */
export interface CriterionView {
  /** In words. */
  text: string;
  /** Whether somebody said that it is. */
  is_true: boolean;
}

/** Lists messages that did not reach their agent. */
export interface DeadLettersParams {
  /** Only of this agent: name or id. */
  agent?: string | null;
  /** Most to list. */
  limit?: number;
  /** Only those behind the one with this position, as the last page said. */
  cursor?: number;
}

/** Messages that did not reach their agent. */
export interface DeadLettersResult {
  /** In the order of their arrival. */
  items: Array<MessageView>;
  /** Where the next page begins, if there is one. */
  next?: number | null;
}

/** Decides an action. */
export interface DecideParams {
  /** Its id. */
  action_id: ActionId;
  /** The digest of what was looked at: a decision is about exactly that. */
  digest: string;
  /** What is decided. */
  verdict: Verdict;
}

/** For whom a service speaks: an identity beside its own, never instead of it. */
export interface DelegatedPrincipal {
  /** The user. */
  user_id: SafeLabel;
  /** What the user may do; of that counts what the service may do, too. */
  scopes?: Array<string>;
  /** Where the service keeps what it knows of the user. */
  claims_ref?: string | null;
  /** For whom the user speaks, nearest first. */
  on_behalf_of?: Array<SafeLabel>;
}

/** Removes a key. */
export interface DeleteParams {
  /** The key. */
  key: string;
  /** Name or id. */
  agent?: string | null;
  /** Remove only if the key is at this version. */
  if_version?: number | null;
}

/** Ends a resource. */
export interface DeleteResourceParams {
  /** Which. */
  uri: ResourceUri;
  /** End it only if it is at this version. */
  if_version?: number | null;
  /** Why, for the record. */
  reason?: string | null;
}

/** Hands over a delivery, as it came over HTTP. */
export interface DeliverWebhookParams {
  /** The automation that it is for. */
  name: string;
  /** What its sender calls it: the key against taking it twice. */
  id: string;
  /** When it was signed, in seconds since 1970. */
  timestamp: string;
  /** Its signatures, parted by spaces: `v1,` and the base64 of HMAC-SHA256 over `ID.TIMESTAMP.BODY`. */
  signatures: string;
  /** Whether it is JSON; else it is text. */
  is_json: boolean;
  /** What was delivered, in base64: at most 256 KiB. */
  body: string;
}

/** What became of a delivery. */
export interface DeliverWebhookResult {
  /** The firing. */
  firing_id: FiringId;
  /** Whether it was delivered before. */
  replayed: boolean;
}

/** Hands an output over. */
export interface DeliveryCreateParams {
  /** What to hand over. */
  output_id: OutputId;
  /** To whom. */
  destination: DestinationParam;
  /** Its id, by the caller's choice, as a UUID of version 7: then it is the key against doing it twice. */
  delivery_id?: DeliveryId | null;
}

export type DeliveryId = string;

/** Lists deliveries. */
export interface DeliveryListParams {
  /** Those of an agent's outputs and to that agent, by name or id. */
  agent?: string | null;
  /** Most to list, at most 500. */
  limit?: number;
  /** Where the page before ended. */
  cursor?: number;
}

/** Deliveries. */
export interface DeliveryListResult {
  /** In the order in which they were asked for. */
  items: Array<DeliveryView>;
  /** What to give as `cursor` to read on, if there is more. */
  next?: number | null;
}

/** How a message meets a running turn. */
export type DeliveryMode =
  /** After the turn. */
  | "queue"
  /** Into the turn. */
  | "steer"
  /** Ends the turn. */
  | "interrupt";

/** Names a delivery. */
export interface DeliveryParams {
  /** Its id. */
  delivery_id: DeliveryId;
}

/** How far a delivery is. */
export type DeliveryState =
  /** It is not there yet. */
  | "pending"
  /** The agent's program was given it. */
  | "delivered"
  /** The agent's program acted on it, or who was to have it says that they do. */
  | "acknowledged"
  /** It came to nothing. */
  | "failed";

/** A delivery. */
export interface DeliveryView {
  /** Its id. */
  delivery_id: DeliveryId;
  /** What is handed over. */
  output_id: OutputId;
  /** SHA-256 of it. */
  output_digest: string;
  /** The agent whose words it is. */
  from: string;
  /** What it weighs at most. */
  authority: Authority;
  /** How far it is. */
  state: DeliveryState;
  /** When it was asked for. */
  created_at: Timestamp;
  /** The agent that gets it. */
  to_agent?: string | null;
  /** The message by which it does. */
  message_id?: MessageId | null;
  /** Who comes for it. */
  to_principal?: SafeLabel | null;
  /** Why it is no further. */
  reason?: string | null;
  /** Who acknowledged it. */
  acknowledged_by?: SafeLabel | null;
  /** When it was acknowledged. */
  acknowledged_at?: Timestamp | null;
}

/** By how much the candidate has more. What is not known of either side is `null`. */
export interface DeltasView {
  /** The share of trials that took too long. */
  timeoutRate: number;
  /** The share of trials of which all is there. */
  evidenceCompleteness: number;
  /** The mean reward. */
  meanReward?: number | null;
  /** The share of successes. */
  successRate?: number | null;
  /** The time that half of the trials took at most, in milliseconds. */
  latencyP50Ms?: number | null;
  /** The time that 95 % of the trials took at most, in milliseconds. */
  latencyP95Ms?: number | null;
  /** Tokens of a trial, where they are known of each. */
  tokensPerTrial?: number | null;
}

/** Asks which methods there are. */
export interface DescribeParams {
  /** Only this profile. */
  profile?: string | null;
}

/** The catalogue. */
export interface DescribeResult {
  /** The methods, in the catalogue's order. */
  methods: Array<MethodView>;
}

/** What an agent is meant to be doing. */
export type Desired =
  /** Kept running. */
  | "running"
  /** Kept ended, whatever its restart policy says. */
  | "stopped"
  /** Kept suspended. */
  | "frozen"
  /** Kept ended until a message comes. */
  | "hibernated"
  /** Ended for good: its name becomes free as soon as nothing of it is left. */
  | "retired";

/** Who is to have an output. */
export type DestinationParam = DestinationParamAgent | DestinationParamCaller;

/** An agent: it gets a message with the words, which weighs no more than they do. */
export interface DestinationParamAgent {
  to: "agent";
  /** Name or id. */
  agent: string;
}

/** The caller: it waits until they acknowledge it. */
export interface DestinationParamCaller {
  to: "caller";
}

/** Names an attachment. */
export interface DetachParams {
  /** Its id. */
  attachment: string;
}

/** How much of what an agent did a transcript tells. */
export type Detail =
  /** Everything that the record knows of it. */
  | "everything"
  /** What was said: messages, answers and remarks. */
  | "words";

/** Why no lines are told of what differs. */
export type DiffUntold =
  /** One of the two is no text. */
  | "binary"
  /** One of the two has more than 1 MiB. */
  | "too_large"
  /** More than 2,000 lines differ. */
  | "too_different";

/** What became of a turn at once. */
export type Disposition =
  /** It is on its way to the program, or there. */
  | "started"
  /** It waits. */
  | "queued"
  /** It goes into the turn that runs, and is none of its own. */
  | "steered";

/** A file of manifests, as text: the node itself says where it is wrong. */
export interface Document {
  /** Its name in messages. */
  file: string;
  /** Its content. */
  text: string;
  /** The folder that relative paths in it start from. */
  folder: string;
}

/** Drops a message that did not reach its agent. */
export interface DropParams {
  /** Its id. */
  message_id: MessageId;
  /** Why, for the record. */
  reason?: string;
}

/** How a task is joined to another one, or to something that it made or used. */
export type EdgeKind =
  /** It begins when the other one is completed. */
  | "depends_on"
  /** It hands a part of its work to the other one. */
  | "delegated"
  /** It came of the other one. */
  | "source"
  /** It made this. */
  | "produced"
  /** It used this. */
  | "consumed"
  /** This shows what it did. */
  | "evidence";

/** An edge. */
export interface EdgeView {
  /** The task that it begins at. */
  task_id: TaskId;
  /** How they are joined. */
  kind: EdgeKind;
  /** The task that it leads to. */
  to?: TaskId | null;
  /** The address that it leads to. */
  uri?: string | null;
}

/** Whether a failed request changed anything. */
export type Effect =
  /** It did not. */
  | "none"
  /** It did. */
  | "applied"
  /** It may have. */
  | "unknown";

/** What a call may do at most. */
export type EffectClass =
  /** Nothing: it computes. */
  | "none"
  /** It looks at something. */
  | "read"
  /** It changes something, and what it changed can be found. */
  | "write"
  /** It reaches beyond this machine. What nobody vouches for is taken to. */
  | "external"
  /** What it does cannot be undone. */
  | "destructive";

/** Nothing to say. */
export type Empty = Record<string, never>;

/** Keys or versions. */
export interface EntriesResult {
  /** Keys in order, or versions oldest first. */
  items: Array<Entry>;
}

/** A key and what it holds. */
export interface Entry {
  /** The key. */
  key: string;
  /** Grows with each write of the key, also across removals. */
  version: number;
  /** Size of that JSON in bytes. */
  bytes: number;
  /** When it was written or removed. */
  at: Timestamp;
  /** The value; left out in lists, and after a removal. */
  value?: Json;
  /** SHA-256 of the value's canonical JSON; absent after a removal. */
  digest?: string | null;
  /** When it will be forgotten. */
  expires_at?: Timestamp | null;
  /** The epoch that wrote it, if the agent itself did. */
  epoch?: Epoch | null;
  /** Whether this version is a removal. */
  deleted?: boolean;
}

/** Where a trace came in. */
export interface EntryPoint {
  /** What was asked for. */
  operation: string;
  /** As whom. */
  user_id: string;
  /** Whom it was for, if it was an agent. */
  agent?: string | null;
}

/** Everything about a message but its content, which stands in the body store under `content_digest`. */
export interface Envelope {
  /** Its id. */
  id: MessageId;
  /** The agent it is for. */
  target: AgentId;
  /** Its kind. */
  channel: Channel;
  /** The way it came in. */
  ingress: Ingress;
  /** Who speaks. */
  source: Source;
  /** How it is to be weighed; decided by the node. */
  authority: Authority;
  /** How many agents it has passed through. */
  hops: number;
  /** How it meets a running turn. */
  mode: DeliveryMode;
  /** Which waiting message goes first. */
  priority: Priority;
  /** SHA-256 of the canonical JSON of its parts, lower-case hexadecimal. */
  content_digest: string;
  /** Size of that canonical JSON in bytes. */
  content_bytes: number;
  /** For whom the source speaks, nearest first. */
  on_behalf_of?: Array<OnBehalfOf>;
  /** The topic it was published on. */
  topic?: SafeLabel | null;
  /** Where its content was found. */
  origin?: ContentOrigin | null;
  /** The rule that let it in, and by which its authority was decided. */
  rule?: SafeLabel | null;
  /** The thread it belongs to. */
  thread?: ThreadId | null;
  /** The open turn it goes into. It is part of that turn and none of its own, and comes to nothing if that is over. */
  into_turn?: TurnId | null;
  /** What its fence ends with, by the node's choice, where its sender chose its id. Else its id says it. */
  fence?: SafeLabel | null;
  /** The message it answers. */
  reply_to?: MessageId | null;
  /** The message that made its sender send it. */
  causation?: MessageId | null;
  /** When it is no longer worth delivering. */
  expires_at?: Timestamp | null;
  /** The sender's key against doubles. */
  idempotency_key?: string | null;
  /** W3C trace context. */
  traceparent?: string | null;
}

/** What surrounds an agent's program. */
export interface EnvironmentView {
  /** The agent's name. */
  agent: string;
  /** The agent. */
  agent_id: AgentId;
  /** The epoch that lives, or the last one. */
  epoch: Epoch;
  /** Where the agent stands. */
  phase: Phase;
  /** When this was looked at. */
  as_of: Timestamp;
  /** `epoch` if it was read from what runs, `manifest` if nothing runs and it is what the next epoch gets. */
  source: string;
  /** Whether what runs was started with another manifest than the one that is shown here. */
  stale: boolean;
  /** The folder that its program begins in. */
  cwd: string;
  /** Further folders that it was given. */
  additional_roots: Array<string>;
  /** The shell of its user. */
  shell: string;
  /** The operating system. */
  os: string;
  /** The processor's architecture. */
  arch: string;
  /** As whom it runs. */
  user: UserView;
  /** The names of its variables; values are never told. */
  variables: Array<string>;
  /** What keeps it in. */
  sandbox: SandboxView;
  /** What its processes may use together, and each of them. */
  limits: Array<LimitView>;
  /** What it may reach: `host` is all that the machine may. */
  network: string;
  /** What keeps its epochs: `shim`. */
  substrate: string;
  /** How messages become what its program reads. */
  driver: string;
  /** Its program. */
  program: string;
  /** The program's own word for what it is, with its version. */
  version: string;
}

/** One shim's life under an agent: a number that only grows, and the fencing token of every effect. */
export type Epoch = number;

/** A token of the calling agent's epoch. */
export interface EpochTokenResult {
  /** The token. It dies with the epoch. */
  token: string;
  /** When it is worth nothing in any case; ask for another before. */
  expires_at: Timestamp;
}

/** One epoch. */
export interface EpochView {
  /** Its number. */
  epoch: Epoch;
  /** Bytes of output, of the living epoch so far. */
  output_bytes: number;
  /** When its program ran. */
  started_at?: Timestamp | null;
  /** When it was over. */
  ended_at?: Timestamp | null;
  /** How it ended. */
  end?: string | null;
}

/** An agent's past epochs. */
export interface EpochsResult {
  /** Oldest first. */
  items: Array<EpochView>;
}

/** The half of a failure that programs read. */
export interface ErrorData {
  /** The contract. */
  name: ErrorName;
  /** Whether an identical retry can help. */
  retryable: boolean;
  /** Whether anything was changed. */
  effect: Effect;
  /** What to do next, for people. */
  hint?: string | null;
  /** Milliseconds after which a retry may succeed, where that is known. */
  retry_after_ms?: number | null;
  /** Who failed: the node's name. */
  service?: string | null;
  /** What failed: the method. */
  operation?: string | null;
  /** What the request named, by the names of its fields. */
  ids?: Record<string, string>;
  /** Whether the key of the request was used before, and this is what came of it then. */
  replayed?: boolean;
  /** Everything that is wrong, where it is more than one thing. */
  violations?: Array<Json>;
  /** Of a `replay_gap`: what can be had instead of what is gone. */
  gap?: Gap | null;
}

/** What went wrong, as a name that programs may rely on. */
export type ErrorName =
  /** The bytes are not JSON. */
  | "parse_error"
  /** The JSON is not a request. */
  | "invalid_request"
  /** No such method. */
  | "method_not_found"
  /** The parameters are not what the method takes. */
  | "invalid_params"
  /** A defect of ours. */
  | "internal"
  /** The caller has not proven who it is. */
  | "unauthenticated"
  /** The caller may not do this. */
  | "permission_denied"
  /** A rule refuses it. */
  | "policy_blocked"
  /** No such thing, or none that the caller may see. */
  | "not_found"
  /** Something of that name is there already. */
  | "conflict"
  /** It has changed since it was read. */
  | "version_conflict"
  /** The key was used for something else. */
  | "idempotency_mismatch"
  /** What is spoken of belongs to another workspace. */
  | "wrong_workspace"
  /** The caller's epoch is over. */
  | "fenced"
  /** The wanted part of the stream is gone. */
  | "replay_gap"
  /** The thing is in a state that does not allow this. */
  | "invalid_state"
  /** Larger than the limit. */
  | "too_large"
  /** Known, but not served here. */
  | "unsupported"
  /** The manifest is wrong. */
  | "invalid_manifest"
  /** Somebody else holds it. */
  | "locked"
  /** Too often. */
  | "rate_limited"
  /** A limit of number or size is reached. */
  | "quota_exhausted"
  /** The receiver's queue is full. */
  | "backpressure"
  /** The caller took it back. */
  | "cancelled"
  /** What the node uses for this failed, or gave something else than it was given. */
  | "upstream_failed"
  /** The node cannot serve this now. */
  | "unavailable"
  /** Whether it took effect is not known: read, then decide. */
  | "outcome_unknown"
  /** Not done in the time given. */
  | "deadline_exceeded"
  /** No space for the record: nothing was changed. */
  | "storage_full"
  /** The record failed verification and is read-only. */
  | "record_damaged";

export type EventId = string;

/** By what means something is known, from strongest to weakest. */
export type Evidence =
  /** The kernel said so. */
  | "kernel"
  /** The program said so in a protocol. */
  | "protocol"
  /** The program's hook said so. */
  | "hook"
  /** The shim wrote the bytes. */
  | "shim"
  /** A rule read it off the screen. */
  | "screen"
  /** Nothing was heard for a while. */
  | "silence"
  /** The best that this machine allows; not proof. */
  | "best_effort";

/** How a process ended. */
export type ExitStatus = Record<string, Json> | Record<string, Json> | "unknown";

/** A request that is only imagined. */
export interface ExplainParams {
  /** The agent it is wanted of: name or id. */
  to: string;
  /** What is wanted. */
  action?: PolicyAction;
  /** Who wants it: `operator`, `node`, `external`, `service:NAME` or the name of an agent. Left out: the caller. */
  from?: string | null;
  /** On which channel; left out: the one that the sender has. */
  channel?: Channel | null;
  /** With which authority; left out: the most that the sender has. */
  authority?: Authority | null;
  /** How many bytes of content. */
  bytes?: number;
  /** The topic. */
  topic?: SafeLabel | null;
  /** How many agents it has passed through. */
  hops?: number;
}

/** What the rules say of a request, and which of them. */
export interface ExplainResult {
  /** Whether it passes. */
  allowed: boolean;
  /** The deciding rule. */
  rule: SafeLabel;
  /** Every layer with the rules that matched, in full. */
  detail: Json;
  /** The layer that refused it, or the lowest that decided. */
  layer?: PolicyLayer | null;
  /** Why it is refused. */
  reason?: string | null;
  /** The authority that is granted. */
  authority?: Authority | null;
  /** Most messages of a pair in a minute. */
  rate_per_minute?: number | null;
  /** Most bytes of content. */
  bytes_max?: number | null;
}

/** Why a trace took as long as it did. */
export interface Explanation {
  /** The trace. */
  trace_id: TraceId;
  /** The moment as of which it was looked at. */
  as_of: Timestamp;
  /** Where it came in. */
  entry_point: EntryPoint;
  /** Exactly one. */
  verdict: TraceVerdict;
  /** The rule that gave it. */
  rule: string;
  /** The same in words. */
  reason: string;
  /** Who answers for the slowest span on the critical path. */
  owner: Owner;
  /** What was waited for at each moment, from the beginning to the end. */
  critical_path: Array<PathStretch>;
  /** The events that the verdict rests on. */
  evidence: Array<TraceEvidence>;
  /** That span. */
  slowest?: PathStretch | null;
}

/** What is done to a file. */
export type FileChangeKind =
  /** It is written. */
  | "write"
  /** It gets another path. */
  | "move"
  /** It is removed. */
  | "delete";

/** A change that was made. */
export interface FileChangeView {
  /** The workspace. */
  workspace_id: WorkspaceId;
  /** Its number in the workspace, from 1, without gaps. */
  write_seq: number;
  /** What was done. */
  kind: FileChangeKind;
  /** The path that was named. */
  path: string;
  /** The path that it has now. */
  to?: string | null;
  /** What was there: `absent`, or BLAKE3 of its bytes. */
  before?: string | null;
  /** What is there now, the same. */
  version?: string | null;
  /** Its bytes. */
  bytes?: number | null;
}

/** Removes a file, a link, or a folder with nothing in it. */
export interface FileDeleteParams {
  /** Its path. */
  path: string;
  /** The workspace. */
  workspace_id?: WorkspaceId | null;
  /** Or the agent whose own it is; it becomes known by this. */
  agent?: string | null;
  /** Only if it holds this now. */
  if_version?: string | null;
  /** The token of the caller's lock on it, if it is locked. */
  lock?: number | null;
  /** The number of the binding under which it is done. */
  binding_epoch?: number | null;
}

/** What something in a folder is. */
export type FileKind =
  /** A plain file. */
  | "file"
  /** A folder. */
  | "folder"
  /** A symbolic link. */
  | "link"
  /** A pipe. */
  | "pipe"
  /** A socket. */
  | "socket"
  /** A device. */
  | "device";

/** Which files to list. */
export interface FileListParams {
  /** The workspace. */
  workspace_id?: WorkspaceId | null;
  /** Or the agent whose own it is; it becomes known by this. */
  agent?: string | null;
  /** The folder. */
  path?: string;
  /** Also what is in the folders in it. */
  recursive?: boolean;
  /** Most files, at most 5,000. */
  limit?: number;
  /** Where a former list ended. */
  cursor?: string | null;
}

/** Files. */
export interface FileListResult {
  /** By path. */
  files: Array<FileView>;
  /** Where the next list begins. */
  next_cursor?: string | null;
}

/** Gives a file, folder or link another path, which nothing has. */
export interface FileMoveParams {
  /** Its path. */
  path: string;
  /** The path that it gets. */
  to: string;
  /** The workspace. */
  workspace_id?: WorkspaceId | null;
  /** Or the agent whose own it is; it becomes known by this. */
  agent?: string | null;
  /** Only if it holds this now. */
  if_version?: string | null;
  /** Make the folders on its way. */
  folders?: boolean;
  /** The token of the caller's lock on it, if it is locked. */
  lock?: number | null;
  /** The number of the binding under which it is done. */
  binding_epoch?: number | null;
}

/** Names a file. */
export interface FileParams {
  /** Its path. */
  path: string;
  /** The workspace. */
  workspace_id?: WorkspaceId | null;
  /** Or the agent whose own it is; it becomes known by this. */
  agent?: string | null;
}

/** Which bytes of a file to read. */
export interface FileReadParams {
  /** Its path. */
  path: string;
  /** The workspace. */
  workspace_id?: WorkspaceId | null;
  /** Or the agent whose own it is; it becomes known by this. */
  agent?: string | null;
  /** From this byte on. */
  offset?: number;
  /** Most bytes, at most 2 MiB. */
  limit?: number;
  /** How they are to stand in the answer: as text if they are, if nothing is said. */
  encoding?: ContentEncoding | null;
}

/** Some bytes of a file. */
export interface FileReadResult {
  /** Its path. */
  path: string;
  /** The bytes. */
  content: string;
  /** How they stand in `content`. */
  encoding: ContentEncoding;
  /** The first of them. */
  offset: number;
  /** How many the file has. */
  bytes: number;
  /** Where the next part begins; nothing, if this was the last. */
  next_offset?: number | null;
  /** BLAKE3 of all that the file holds; a file of more than 256 MiB has none. */
  version?: string | null;
  /** Whether it changed each time it was read, so that this may be half of a change. */
  unsettled?: boolean;
}

/** What to find in files. */
export interface FileSearchParams {
  /** The text, in one line. */
  pattern: string;
  /** The workspace. */
  workspace_id?: WorkspaceId | null;
  /** Or the agent whose own it is; it becomes known by this. */
  agent?: string | null;
  /** Whether it is a regular expression. */
  regex?: boolean;
  /** Whether large and small letters are the same. */
  ignore_case?: boolean;
  /** In this folder or file. */
  path?: string;
  /** Whether to search what git ignores. */
  ignored?: boolean;
  /** Whether to search `.git`. */
  git?: boolean;
  /** Most lines, at most 1,000. */
  limit?: number;
  /** Where a former search ended. */
  cursor?: string | null;
}

/** What was found, and what was not looked at. */
export interface FileSearchResult {
  /** By file and line. */
  lines: Array<FoundLine>;
  /** Files that were searched. */
  files: number;
  /** Bytes in them. */
  bytes: number;
  /** Files that are no text, and were not searched. */
  binary: number;
  /** Files of more than 16 MiB, which were not searched. */
  too_large: number;
  /** Files and folders that could not be read. */
  unreadable: number;
  /** Where the next search goes on, if a bound was reached: that of lines, 100,000 files or 256 MiB. */
  next_cursor?: string | null;
}

/** Something in a folder. */
export interface FileView {
  /** Its path. */
  path: string;
  /** What it is. */
  kind: FileKind;
  /** Its permissions in octal digits. */
  mode: string;
  /** When its contents changed. */
  modified_at: Timestamp;
  /** Its bytes, of a file. */
  bytes?: number | null;
  /** Where a link leads, as it says. No link is followed. */
  target?: string | null;
  /** BLAKE3 of what a file holds: a list does not tell it, and a file of more than 256 MiB has none. */
  version?: string | null;
  /** Whether what is in a folder was to be listed and could not be. */
  closed?: boolean;
}

/** Writes a file, whole or not at all. */
export interface FileWriteParams {
  /** Its path. */
  path: string;
  /** What it will hold, at most 8 MiB. */
  content: string;
  /** The workspace. */
  workspace_id?: WorkspaceId | null;
  /** Or the agent whose own it is; it becomes known by this. */
  agent?: string | null;
  /** How that stands in `content`. */
  encoding?: ContentEncoding;
  /** Only if it holds this now: the `version` that was read, or `absent`. */
  if_version?: string | null;
  /** Make the folders on its way. */
  folders?: boolean;
  /** The token of the caller's lock on it, if it is locked. */
  lock?: number | null;
  /** The number of the binding under which it is done. */
  binding_epoch?: number | null;
}

/** Has an automation fire by hand. */
export interface FireAutomationParams {
  /** Its name. */
  name: AgentName;
  /** What is found below `event` in its placeholders; whole numbers only. It weighs as little as the words of others. */
  event?: Json;
}

export type FiringId = string;

/** Where a firing is. */
export type FiringState =
  /** It is to be acted on, or is acted on. */
  | "open"
  /** What it was to do is done. */
  | "succeeded"
  /** What it was to do was refused or failed. */
  | "failed"
  /** Its automation was withdrawn before anything was done. */
  | "withdrawn"
  /** Whether anything was done cannot be known. */
  | "outcome_unknown";

/** One time that an automation fired. */
export interface FiringView {
  /** Its id. */
  firing_id: FiringId;
  /** Which automation. */
  automation: AgentName;
  /** Which version of it. */
  version: number;
  /** Why. */
  cause: AutomationCause;
  /** How many automations caused each other before it. */
  hops: number;
  /** When. */
  at: Timestamp;
  /** Where it is. */
  state: FiringState;
  /** When it was over. */
  ended_at?: Timestamp | null;
  /** The name of the failure. */
  error?: ErrorName | null;
  /** Why it failed, for people. */
  reason?: string | null;
  /** The task or job that it makes, if it makes one. */
  task_id?: TaskId | null;
  /** The trace of what it does. */
  trace_id?: TraceId | null;
}

/** What there is in a folder. */
export interface FolderCounts {
  /** Files. */
  files: number;
  /** Folders, without itself. */
  folders: number;
  /** Symbolic links. */
  links: number;
  /** Bytes in files. */
  bytes: number;
}

/** A line that was found. */
export interface FoundLine {
  /** In which file. */
  path: string;
  /** Its number, from 1. */
  line: number;
  /** Where in the file the match begins, in bytes. */
  offset: number;
  /** The line; what is no text in it is replaced. */
  text: string;
  /** Whether that is only what is around the match. */
  cut?: boolean;
}

/** Where reading begins, if it is not behind a number or a cursor. */
export type From =
  /** At the oldest there is. */
  | "start"
  /** Behind the newest there is. */
  | "latest";

/** What can be had of a stream instead of what was asked for. */
export interface Gap {
  /** The oldest number that there is. */
  oldest_seq: number;
  /** The number that a snapshot would stand for, behind which the stream goes on without a gap. */
  snapshot_seq: number;
  /** The version of the projection that is served. */
  projection_version: number;
}

/** Something that the record cannot show. */
export interface GapView {
  /** `recording_gap`, `recording_pruned`, `unsealed_segment`, `ambiguous_message`, `unobservable`, `unseen_end`, `unseen_command_end`, `storage_full`, `erased_body`. */
  kind: string;
  /** Why. */
  reason: string;
  /** The stream that it is known from; nothing for a body of which the stream is not known. */
  stream?: string | null;
  /** The event that it is known from. */
  seq?: number | null;
  /** Since when. */
  from?: Timestamp | null;
  /** Until when; open without, where it is a stretch of time. */
  to?: Timestamp | null;
  /** The epoch. */
  epoch?: Epoch | null;
  /** What is concerned: a message, a process, a digest, a segment, a range of an output. */
  subject?: string | null;
}

/** Whose gaps to list. */
export interface GapsParams {
  /** Of this agent: name or id, also of one that is retired; of the node and all its agents without. */
  agent?: string | null;
}

/** What is missing. */
export interface GapsResult {
  /** By stream, then in the order in which it came to be. */
  items: Array<GapView>;
  /** Whether there is more than is told. */
  truncated: boolean;
}

/** Version of what is wanted of an agent: grows with each change of its manifest or desire. */
export type Generation = number;

/** Names a version of a resource. */
export interface GetResourceParams {
  /** Which. */
  uri: ResourceUri;
  /** Of this version; the newest without. */
  at_version?: number | null;
  /** Leave the value out if its etag is this. */
  if_none_match?: string | null;
  /** Only these keys of the value, which must be an object then; all without. */
  fields?: Array<string>;
}

/** How the node is. */
export interface HealthResult {
  /** `ok` or `degraded`. */
  status: string;
  /** What was looked at. */
  checks: Array<Check>;
}

/** Asks what became of a schedule's occurrences. */
export interface HistoryParams {
  /** Its agent: name or id. */
  agent: string;
  /** Its name. */
  name: AgentName;
  /** Most to list. */
  limit?: number;
}

/** What became of a schedule's occurrences. */
export interface HistoryResult {
  /** Newest first. */
  items: Array<OccurrenceView>;
}

/** What a hook says. */
export type HookDecision =
  /** It has nothing against it. */
  | "continue"
  /** It stops the call, or keeps back what came of it. */
  | "block"
  /** Nobody needs to be asked, unless somebody says otherwise in so many words. */
  | "allow"
  /** The call is refused. */
  | "deny"
  /** A person is to be asked. */
  | "ask";

/** Reports what a hook of the calling agent's own program said. */
export interface HookParams {
  /** Whose hook: `claude-code` or `codex`; that of the agent's adapter. */
  kind: SafeLabel;
  /** What the program handed to its hook. */
  report: Json;
}

/** When a hook around a call is asked. */
export type HookPoint =
  /** Before a call is made, or a person is asked about it. */
  | "pre_tool_use"
  /** Before a person is asked. */
  | "permission_request"
  /** After a call that went well. */
  | "post_tool_use"
  /** After a call that went wrong. */
  | "post_tool_failure";

/** What a hook's report made known. Nothing of it is proof: it is the agent's word about itself. */
export interface HookResult {
  /** The epoch that said it. */
  epoch: Epoch;
  /** The events that hold it; none if it says nothing new. */
  events: Array<EventId>;
  /** Messages that its program says it took, by their exact text. */
  taken: Array<MessageId>;
  /** Messages whose turn it says is over. */
  ended: Array<MessageId>;
}

/** What a hook made of a call. */
export interface HookRun {
  /** Which. */
  hook: SafeLabel;
  /** When it was asked. */
  point: HookPoint;
  /** How long it took, in milliseconds. */
  took_ms: number;
  /** What it said; nothing if it failed. */
  decision?: HookDecision | null;
  /** Why, or how it failed. */
  reason?: string | null;
  /** What it would have whoever calls know. */
  context?: string | null;
  /** Whether it changed what is given, or what came of it. */
  changed?: boolean;
}

/** Whether a program's hooks were installed. */
export type HooksState =
  /** They were. */
  | "installed"
  /** Its manifest says that they are not to be. */
  | "off"
  /** Its user has set what would have to be set. */
  | "left_alone"
  /** They could not be. */
  | "failed";

/** Whether a program's hooks report to the node, and what they said last. */
export interface HooksView {
  /** Whose hooks, such as `claude-code`. */
  kind: SafeLabel;
  /** Whether they were installed for its newest epoch. */
  state: HooksState;
  /** Why they were not, where there is something to say. */
  reason?: string | null;
  /** When one reported last to this daemon. */
  heardAt?: Timestamp | null;
  /** What the program asks a person, as its hook says it. Nobody but a person at its terminal can answer it. */
  asks?: string | null;
}

/** Names a host. */
export interface HostParams {
  /** Name or id of its node. */
  host: string;
}

/** A machine on which agents live. */
export interface HostView {
  /** Its node. */
  host_id: NodeId;
  /** Its node's name. */
  name: NodeName;
  /** `ready`, `held` under an override over the whole node, `storage_full` or `damaged`. */
  status: string;
  /** What it is: `os`, `arch` and `node`. */
  labels: Record<string, string>;
  /** The kernel's release. */
  kernel: string;
  /** What tells this start of the machine from others. */
  boot_id: string;
  /** What the machine has. */
  capacity: CapacityView;
  /** What is in use of it now, by whomever. */
  load: LoadView;
  /** What is left when each agent that may live takes all that its limits allow. */
  left: LeftView;
  /** How many agents are in each phase. */
  agents: Record<string, number>;
  /** What the machine allows, as `doctor` shows it. */
  features: Array<Check>;
  /** When this was looked at. */
  as_of: Timestamp;
}

/** Hosts. */
export interface HostsResult {
  /** This machine; a node that belongs to no fleet knows no other. */
  items: Array<HostView>;
}

/** All seven identities in one place. */
export interface Identities {
  /** Which executable, where, under which supervisor. */
  process: ProcessView;
  /** Which live context. */
  session: SessionView;
  /** How others reach it. */
  network: NetworkView;
  /** As whom it may act. */
  principal: PrincipalView;
  /** What survives an invocation. */
  memory: MemoryView;
  /** How its own word and words to it are weighed. */
  authority: AuthorityView;
  /** Where its history stands. */
  audit: AuditView;
}

/** Lists an agent's messages. */
export interface InboxParams {
  /** Name or id. */
  agent: string;
  /** Also those that no longer wait, in the order of their arrival; else in the order of delivery. */
  all?: boolean;
  /** Most to list: with `all` the newest, else the next to be delivered. */
  limit?: number;
}

/** An agent's messages. */
export interface InboxResult {
  /** Waiting ones in the order of their delivery; with `all`, in the order of arrival. */
  items: Array<MessageView>;
}

/** Something that went wrong. */
export interface Incident {
  /** The turn. */
  turn_id: TurnId;
  /** What became of it. */
  state: TurnState;
  /** Why. */
  reason?: string | null;
}

/** A limit of an agent's inference. */
export interface InferenceLimit {
  /** What is limited: `provider_quota`, `budget`. */
  kind: string;
  /** How it stands. */
  state: InferenceLimitState;
  /** What that means, in words. */
  detail: string;
  /** How that is known. */
  evidence?: Evidence | null;
}

/** How a limit stands. */
export type InferenceLimitState =
  /** It is used up: the agent waits. */
  | "exhausted"
  /** The agent works or could. */
  | "open"
  /** Nobody says how it stands. */
  | "unreported"
  /** There is none. */
  | "none";

/** What holds an agent's inference back. */
export interface InferenceLimitsResult {
  /** The agent's name. */
  agent: string;
  /** The agent. */
  agent_id: AgentId;
  /** Each limit. */
  items: Array<InferenceLimit>;
}

/** Names the agent whose inference is meant. */
export interface InferenceParams {
  /** Name or id. */
  agent: string;
}

/** The way a message came in. */
export type Ingress =
  /** `edgeplane signal` or the method behind it. */
  | "signal"
  /** An agent's own words over its driver. */
  | "driver"
  /** The node itself. */
  | "node"
  /** A question whose answer is waited for. */
  | "ask"
  /** Published on a topic that the agent subscribes to. */
  | "topic"
  /** Sent to every agent that a selector names. */
  | "broadcast"
  /** A schedule came due. */
  | "schedule"
  /** Content that somebody submits as such: a tool's result, a document, a page. */
  | "submit"
  /** The answer to a pending action. */
  | "action"
  /** A run of a task. */
  | "task";

/** Greets a node. */
export interface InitializeParams {
  /** Protocol versions that the caller speaks, as dates. */
  versions?: Array<string>;
  /** The caller's program and version, for logs. */
  client?: string | null;
  /** A token by which the caller is to be known on this connection from here on. It never makes an agent another. */
  token?: string | null;
}

/** The node's greeting. */
export interface InitializeResult {
  /** The protocol version to speak. */
  version: string;
  /** The daemon's version. */
  server: string;
  /** The node. */
  node_id: NodeId;
  /** The node's name. */
  node: NodeName;
  /** As whom the node knows the caller. */
  caller: CallerView;
  /** Profiles that are served. */
  profiles: Array<string>;
}

export type InputId = string;

/** Runs an agent's `prepare` steps. */
export interface InstallResult {
  /** The agent's name. */
  name: string;
  /** What was done, step by step. */
  steps: Array<InstallStep>;
}

/** One step of an installation. */
export interface InstallStep {
  /** Its name. */
  name: string;
  /** `done`, or `present` if there was nothing to do. */
  outcome: string;
  /** How long it took in milliseconds. */
  took_ms: number;
}

/** What became of a request for the end of a turn. */
export type InterruptOutcome =
  /** It is durable that the turn is to end, and its program is asked. A turn that waited is over with that. */
  | "accepted"
  /** The turn was over already. */
  | "no_op";

/** That somebody asked for the end of a turn. */
export interface InterruptView {
  /** When. */
  at: Timestamp;
  /** Why. */
  reason: string;
}

/** What had an invocation end without being done. */
export type InvocationCause =
  /** Its server does not accept what it is shown. */
  | "credentials"
  /** A hook stopped it, or keeps back what came of it. */
  | "hook"
  /** No checkpoint could be made before it. */
  | "checkpoint";

export type InvocationId = string;

/** Names an invocation. */
export interface InvocationParams {
  /** Which. */
  invocation_id: InvocationId;
}

/** The server of an invocation says how far it is. */
export interface InvocationProgressed {
  /** The invocation. */
  invocation_id: InvocationId;
  /** How far, as a decimal number. */
  done: string;
  /** Of how much, if its server says. */
  total?: string | null;
  /** What its server says of it, cut and cleaned. */
  message?: string | null;
}

/** Where an invocation is. */
export type InvocationState =
  /** It waits for leave. */
  | "waiting"
  /** It is being made. */
  | "running"
  /** It was made, and the server says that it went well. */
  | "succeeded"
  /** It was not made, or the server says that it went wrong. */
  | "failed"
  /** Leave was refused, or nobody gave it in time. */
  | "denied"
  /** It was taken back. What the server did until then cannot be known. */
  | "cancelled"
  /** Whether it was made, or what came of it, cannot be known. */
  | "outcome_unknown";

/** A call of a capability. */
export interface InvocationView {
  /** Its id. */
  invocation_id: InvocationId;
  /** Where it is. */
  status: InvocationState;
  /** What is called. */
  capability_id: CapabilityId;
  /** Its name. */
  name: string;
  /** What is behind it. */
  backing: CapabilityBacking;
  /** The digest of what is called. */
  capability_digest: string;
  /** SHA-256 of exactly what it is given. */
  input_digest: string;
  /** What held for it. */
  permission: Permission;
  /** The rule that says so. */
  rule: SafeLabel;
  /** When it was asked for. */
  asked_at: Timestamp;
  /** By whom. */
  by: string;
  /** What it is given; what looks like a secret is masked. The agent that is to answer it sees it exactly, or not at all. */
  input?: Json;
  /** The action by which a person is asked. */
  action_id?: ActionId | null;
  /** The checkpoint of the caller's folder that was made before it. */
  checkpoint_id?: CheckpointId | null;
  /** What came of it, as it came. */
  output?: Json;
  /** SHA-256 of that. */
  output_digest?: string | null;
  /** Its size in bytes. */
  output_bytes?: number;
  /** How far it was when its server said so last. */
  progress?: InvocationProgressed | null;
  /** Why it ended so. */
  reason?: string | null;
  /** What had it end without being done, where that is more than its server's word. */
  cause?: InvocationCause | null;
  /** The hooks that were asked about it, in their order. */
  hooks?: Array<HookRun>;
  /** When it ended. */
  ended_at?: Timestamp | null;
}

/** How a call is waited for. */
export type InvokeMode =
  /** Until it is over, or waits for leave. */
  | "await"
  /** Not at all: the answer says what it is called. */
  | "async"
  /** Until it is over, or waits for leave; how far it is comes as `core/progress` notifications before the answer. */
  | "streaming";

/** Calls a capability. */
export interface InvokeParams {
  /** Its id or its name. */
  capability: string;
  /** The digest of what was looked at; it is not called if it is another one by now. */
  digest?: string | null;
  /** What it is given: an object. */
  input?: Json;
  /** How it is waited for. */
  mode?: InvokeMode;
  /** How long it may take, in milliseconds; at most what is said of the capability. */
  timeout_ms?: number | null;
}

/** What divides a subagent from its parent. */
export interface Isolation {
  /** Which folder it works in. */
  workspace?: WorkspaceIsolation;
  /** Which memory it has. */
  memory?: MemoryIsolation;
  /** What it may do. */
  permission?: PermissionIsolation;
  /** What it knows of what its parent was told and said. */
  context?: ContextIsolation;
}

export type ItemId = string;

/** Lists the items of a turn or a thread. */
export interface ItemListParams {
  /** Those of a turn. */
  turn_id?: TurnId | null;
  /** Those of a thread; what was rolled back is left out. */
  thread_id?: ThreadId | null;
  /** Behind this number in the agent's stream. */
  after?: number;
  /** Most to list, at most 500. Long ones may make it fewer. */
  limit?: number;
}

/** Items. */
export interface ItemListResult {
  /** Oldest first. */
  items: Array<ItemView>;
  /** What to give as `after` to read on, if there may be more. */
  next?: number | null;
}

/** Reports a piece of work or a remark; the calling agent is its author. */
export interface ItemParams {
  /** Of which kind, in the agent's words, such as `output` or `note`. */
  kind: SafeLabel;
  /** What there is to say: at most 4 MiB. */
  text: string;
  /** The message whose turn it belongs to; one of the agent's own. */
  message_id?: MessageId | null;
}

/** An item: one step of a turn. */
export interface ItemView {
  /** Its number in the agent's stream; of pieces told as one, the last one's. */
  seq: number;
  /** When. */
  at: Timestamp;
  /** The turn that it is part of. */
  turn_id: TurnId;
  /** Who said or did it, and how. */
  spoken: Spoken;
  /** What it holds. */
  blocks: Array<Block>;
  /** Its id, where pieces of it come one after the other. */
  item_id?: ItemId | null;
  /** The message that it shows, if it is one. */
  message_id?: MessageId | null;
  /** Of which kind. */
  kind?: SafeLabel | null;
  /** How far it is. */
  status?: SafeLabel | null;
  /** What it weighs, where that is known. */
  authority?: Authority | null;
}

/** Has a job ended. */
export interface JobCancelParams {
  /** Its id. */
  job_id: TaskId;
  /** Why, for people: at most 1,024 bytes. */
  reason?: string | null;
}

/** How many items of a job are where. */
export interface JobCounts {
  /** Those that wait for an agent. */
  pending: number;
  /** Those that are worked on. */
  running: number;
  /** Those that are done, without a report. */
  completed: number;
  /** Those that are over and not done. */
  failed: number;
  /** Those that are done and reported. */
  reported: number;
}

/** Makes a job. Whoever may be given items is named by `agents`, or by `labels` and `capability`. */
export interface JobCreateParams {
  /** What it is called: 1 to 256 bytes. */
  title: string;
  /** 1 to 10,000 items, all of them together at most 32 MiB. */
  items: Array<JobItemInput>;
  /** Its id, by the caller's choice, as a UUID of version 7: then it is the key against making it twice. */
  job_id?: TaskId | null;
  /** What is to be done with each item, which stands where `{item}` stands, or below it. Without it an item says it itself. */
  objective?: string | null;
  /** The agents that may be given items, by name or id; at most 1,000. */
  agents?: Array<string>;
  /** Labels that an agent has to have to be given items. */
  labels?: Record<string, SafeLabel>;
  /** What an agent has to have as its label `capability`, or to offer under this name with an operator's word for it. */
  capability?: SafeLabel | null;
  /** How many items are worked on at a time, at most; without it as many as there are agents. */
  parallelism?: number | null;
  /** How many runs of an item there are at most before it fails, 1 to 100. */
  attempts?: number;
  /** What counts as the report of an item: the end of the turn, or what its agent reports in it. */
  report?: JobReport;
  /** What each run may use. */
  limits?: RunLimits;
  /** How urgent it is. */
  priority?: Priority;
}

/** A job and a page of its items. */
export interface JobDetail {
  /** The job. */
  job: JobView;
  /** Its items, in the order in which they were given. */
  items: Array<JobItemView>;
  /** What to give as `cursor` for the next page, if there is one. */
  next?: number | null;
}

/** Asks for a job and a page of its items. */
export interface JobGetParams {
  /** Its id. */
  job_id: TaskId;
  /** Only this item, with its result however long that is. */
  item_id?: TaskId | null;
  /** Only items that are there. */
  state?: JobItemState | null;
  /** What the page before gave as `next`. */
  cursor?: number;
  /** Most items, at most 500. */
  limit?: number;
}

/** Gives an item that waits to an agent, whoever is idle and however many are worked on. */
export interface JobItemAssignParams {
  /** The item. */
  item_id: TaskId;
  /** The agent, by name or id. */
  agent: string;
}

/** An item of a job. */
export interface JobItemInput {
  /** What stands for it in the objective: a text as it is, anything else as JSON. */
  input: Json;
  /** Its id, by the caller's choice, as a UUID of version 7. */
  item_id?: TaskId | null;
}

/** Says what came of an item. The first report counts; the same one again by the same run changes nothing. */
export interface JobItemReportParams {
  /** The item. */
  item_id: TaskId;
  /** The run that says so; it must be the one that lives. */
  run_id?: RunId | null;
  /** What came of it: at most 256 KiB as JSON. */
  result?: Json;
  /** The output of the agent that holds what came of it. */
  output_id?: OutputId | null;
}

/** Has an item tried again that failed. */
export interface JobItemRetryParams {
  /** The item. */
  item_id: TaskId;
  /** Why, for people: at most 1,024 bytes. */
  reason?: string | null;
}

/** Where an item of a job is. */
export type JobItemState =
  /** It waits for an agent. */
  | "pending"
  /** An agent works on it. */
  | "running"
  /** It is done. */
  | "completed"
  /** It is over and not done, or nobody can know whether it is. */
  | "failed"
  /** It is done, and its agent reported what came of it. */
  | "reported";

/** An item. */
export interface JobItemView {
  /** Its id; the task of the same id shows all of its runs. */
  item_id: TaskId;
  /** The job. */
  job_id: TaskId;
  /** What it is called. */
  title: string;
  /** Where it is. */
  state: JobItemState;
  /** Where its task is. */
  task_state: TaskState;
  /** How many runs there were. */
  attempts: number;
  /** Why its newest run ended so, or why there is one. */
  reason?: string | null;
  /** Who was given it last. */
  agent?: string | null;
  /** The same by id. */
  agent_id?: AgentId | null;
  /** The newest run. */
  run_id?: RunId | null;
  /** The output in which it was done. */
  output_id?: OutputId | null;
  /** What was reported of it; left out where it is long and many are shown, or erased. */
  result?: Json;
  /** Size of what was reported, as JSON. */
  result_bytes?: number | null;
  /** When it was reported. */
  reported_at?: Timestamp | null;
}

/** Which jobs a list shows. */
export interface JobListParams {
  /** Also those that are over. */
  all?: boolean;
  /** What the page before gave as `next`. */
  cursor?: number;
  /** Most entries, at most 500. */
  limit?: number;
}

/** A list of jobs. */
export interface JobListResult {
  /** Oldest first. */
  items: Array<JobView>;
  /** What to give as `cursor` for the next page, if there is one. */
  next?: number | null;
}

/** What counts as the report of an item of a job. */
export type JobReport =
  /** The end of its agent's turn. */
  | "turn"
  /** What its agent reports before its turn ends. */
  | "explicit";

/** Where a job is. */
export type JobState =
  /** Nobody works on it. */
  | "pending"
  /** Items of it are worked on, or wait for an agent. */
  | "running"
  /** All of its items are done. */
  | "completed"
  /** All of its items are over and one is not done, or somebody said that it failed. */
  | "failed"
  /** Somebody had it ended. */
  | "cancelled";

/** A job. */
export interface JobView {
  /** Its id. */
  job_id: TaskId;
  /** What it is called. */
  title: string;
  /** Where it is. */
  state: JobState;
  /** How many items it has. */
  items: number;
  /** How many of them are where. */
  counts: JobCounts;
  /** What counts as the report of an item. */
  report: JobReport;
  /** Who wants it done. */
  created_by: SafeLabel;
  /** When it was made. */
  created_at: Timestamp;
  /** When it came where it is. */
  moved_at: Timestamp;
  /** Why it is there. */
  reason?: string | null;
  /** Why it is to be ended, if it is. */
  cancelled_because?: string | null;
  /** The agents that may be given items, if they are named. */
  agents?: Array<string>;
  /** The labels of those who may be given items. */
  labels?: Record<string, SafeLabel>;
  /** How many items are worked on at a time, at most. */
  parallelism?: number | null;
}

/** Names a key. An agent that asks for itself leaves `agent` out. */
export interface KeyParams {
  /** The key. */
  key: string;
  /** Name or id. */
  agent?: string | null;
}

/** One key. */
export interface KeyView {
  /** Its id. */
  key_id: SafeLabel;
  /** The public half, base64url. */
  public_key: string;
  /** Since when it signs. */
  created_at: Timestamp;
  /** Since when it signs no more. What it signed stays valid. */
  retired_at?: Timestamp | null;
}

/** Lists keys. */
export interface KeysParams {
  /** Name or id. */
  agent?: string | null;
  /** Only keys that begin so. */
  prefix?: string | null;
}

/** The keys that the node signs or has signed with. */
export interface KeysResult {
  /** Oldest first. */
  items: Array<KeyView>;
}

/** Something in a folder that is not kept. */
export interface LeftOutView {
  /** Its path; bytes that are no text are shown as `\xNN`. */
  path: string;
  /** Why: `socket`, `pipe`, `device`, `other_file_system`, `unreadable`, `changing`, `too_large`. */
  why: string;
}

/** What is left of a machine. */
export interface LeftView {
  /** Thousandths of processors; zero if more was promised than there is. */
  cpu_milli: number;
  /** Agents that may live and have no limit of processor time: they are not counted. */
  without_cpu_limit: number;
  /** Agents that may live and have no limit of memory: they are not counted. */
  without_memory_limit: number;
  /** Bytes of memory; nothing if it is not known how much there is. */
  memory_bytes?: number | null;
}

/** Lifts an override. */
export interface LiftOverrideParams {
  /** Which. */
  override_id: OverrideId;
  /** Why, for the record. */
  reason: string;
  /** How long the answer may wait for agents to go on, in milliseconds; 5,000 without. */
  wait_ms?: number | null;
}

/** The end of an override. */
export interface LiftView {
  /** Why. */
  reason: string;
  /** By whom. */
  by: string;
  /** When. */
  at: Timestamp;
}

/** A limit. */
export interface LimitView {
  /** `memory` in bytes, `pids`, `cpu` in thousandths of a processor, `open_files`. */
  name: string;
  /** `in_force`, `not_asked`, `missing` if the machine lacks it, `unavailable` if nothing runs. */
  state: string;
  /** What the manifest asks for. */
  asked?: number | null;
  /** What the kernel keeps now, read from where it stands. */
  in_force?: number | null;
  /** Where it stands. */
  path?: string | null;
}

/** Which capabilities to list. */
export interface ListCapabilitiesParams {
  /** Only those of this connector. */
  connector?: AgentName | null;
  /** Only those with this behind them. */
  backing?: BackingKind | null;
  /** Only those of this kind. */
  kind?: CapabilityKind | null;
  /** Most capabilities, at most 500; 100 if not given. */
  limit?: number | null;
  /** Where a former list ended. */
  cursor?: string | null;
  /** Whether their schemas are shown, too. Such a list ends at 2 MiB, wherever that is; `next_cursor` goes on. */
  schemas?: boolean;
}

/** Which hosts to list. */
export interface ListHostsParams {
  /** Only those with all of these labels. */
  labels?: Record<string, string>;
}

/** Of which agents to list models. */
export interface ListModelsParams {
  /** Of this agent: name or id; an operator leaves it out for all. */
  agent?: string | null;
}

/** Which overrides to list. */
export interface ListOverridesParams {
  /** Only those that cover this agent now: name or id. */
  agent?: string | null;
  /** Also those that were lifted. */
  lifted?: boolean;
}

/** Which processes to list. */
export interface ListProcessesParams {
  /** Of this agent: name or id. */
  agent: string;
  /** Only those of this status. */
  status?: ProcessStatus | null;
  /** Most processes to look at, at most 500; 50 if not given. */
  limit?: number | null;
  /** Where a former list ended. */
  cursor?: string | null;
}

/** Which resources to list. */
export interface ListResourcesParams {
  /** Only those of this kind. */
  kind?: ResourceKind | null;
  /** Only those whose name begins so. */
  prefix?: string | null;
  /** Only those that have all of these labels. */
  labels?: Record<string, SafeLabel>;
  /** Most resources to look at, at most 500; 100 if not given. */
  limit?: number | null;
  /** Where a former list ended. */
  cursor?: string | null;
}

/** What is in use of a machine. */
export interface LoadView {
  /** Processes that ran or waited to, on average over a minute, in thousandths. */
  one_minute_milli?: number | null;
  /** The same over five minutes. */
  five_minutes_milli?: number | null;
  /** The same over a quarter of an hour. */
  fifteen_minutes_milli?: number | null;
  /** Bytes of memory that could be had. */
  memory_available_bytes?: number | null;
}

/** Takes a lock, or has one for longer. Two programs of one operator are one holder, so that only the token says which lock is to be had for longer. */
export interface LockAcquireParams {
  /** The workspace. */
  workspace_id?: WorkspaceId | null;
  /** Or the agent whose own it is; it becomes known by this. */
  agent?: string | null;
  /** On these paths and everything beneath them, at most 64; `.` is the whole workspace. */
  paths?: Array<string>;
  /** Instead: the token of the lock that is to be had for longer. */
  token?: number | null;
  /** Whether others may have one besides that is shared, too. Nobody writes then. */
  shared?: boolean;
  /** For how long, in milliseconds, from 100 to a day. */
  ttl_ms?: number;
  /** The number of the binding under which it is done. */
  binding_epoch?: number | null;
  /** How long to wait for it, in milliseconds, at most ten minutes. */
  wait_ms?: number;
}

/** Which locks to list. */
export interface LockListParams {
  /** The workspace. */
  workspace_id?: WorkspaceId | null;
  /** Or the agent whose own it is; it becomes known by this. */
  agent?: string | null;
}

/** Locks. */
export interface LockListResult {
  /** Those that hold, by their tokens. */
  locks: Array<LockView>;
}

/** Gives a lock back. */
export interface LockReleaseParams {
  /** Its token. */
  token: number;
  /** The workspace. */
  workspace_id?: WorkspaceId | null;
  /** Or the agent whose own it is. */
  agent?: string | null;
  /** Also if somebody else holds it; only for operators. */
  force?: boolean;
}

/** A lock. */
export interface LockView {
  /** The workspace. */
  workspace_id: WorkspaceId;
  /** The fencing token, which only grows in a workspace. */
  token: number;
  /** On what: paths, and everything beneath them. */
  paths: Array<string>;
  /** Whether others may have one besides. */
  shared: boolean;
  /** Who holds it. */
  holder: SafeLabel;
  /** Since when, or since when for longer. */
  acquired_at: Timestamp;
  /** When it ends by itself. */
  expires_at: Timestamp;
  /** The agent that does. */
  agent_id?: AgentId | null;
  /** The epoch of the agent, with which it ends. */
  epoch?: Epoch | null;
}

/** Something that is not known. */
export interface Marker {
  /** What. */
  of: string;
  /** How it is not known. */
  marker: MarkerWord;
  /** Why. */
  reason: string;
}

/** How something is not known. */
export type MarkerWord =
  /** Nobody can tell now. */
  | "unknown"
  /** There is no such thing here. */
  | "unavailable"
  /** It may be of before. */
  | "stale";

/** Which memory a subagent has. */
export type MemoryIsolation =
  /** One of its own, empty at first. */
  | "own"
  /** That of its parent. */
  | "shared";

/** What survives an invocation. */
export interface MemoryView {
  /** Address of the agent's key-value store. */
  store: string;
  /** Live keys in it. */
  keys: number;
  /** The folder it works in. */
  workspace: string;
}

export type MessageId = string;

/** Names a message. */
export interface MessageParams {
  /** Its id. */
  message_id: MessageId;
}

/** What the node vouches for of a message. */
export interface MessageVerifyResult {
  /** Its envelope, as it stands in the record. */
  envelope: Envelope;
  /** The line that its session was shown first. */
  header: string;
  /** Whether its content is what the envelope's digest says. */
  content_matches: boolean;
  /** Whether every event that was looked at, from the message's own on, is chained to the one before it. */
  chain_verifies: boolean;
  /** Number of the message's event in the agent's stream. */
  seq: number;
  /** Number of the last event that was looked at and is right; at most 100,000 are. */
  verified_to: number;
  /** Number of the stream's newest event. */
  head: number;
  /** The node's detached signature over the canonical envelope. */
  signature: string;
  /** The key that made it. */
  key_id: SafeLabel;
  /** That key, base64url. */
  public_key: string;
  /** Why it could not be looked at: it was erased, or is not there. */
  content_problem?: string | null;
  /** What is wrong with the first that is not. */
  chain_problem?: string | null;
}

/** A message. */
export interface MessageView {
  /** Its id. */
  message_id: MessageId;
  /** The agent it is for. */
  agent: string;
  /** Its kind. */
  channel: Channel;
  /** The way it came in. */
  ingress: Ingress;
  /** Who speaks, as the header shows it. */
  source: SafeLabel;
  /** Who speaks, with the proof. */
  source_detail: Source;
  /** How it is to be weighed. */
  authority: Authority;
  /** How far it has come, and how that is known. */
  receipts: Array<Receipt>;
  /** When it was accepted. */
  accepted_at: Timestamp;
  /** SHA-256 of its content. */
  content_digest: string;
  /** The replica that has it, if it is for a set and was handed to one. */
  replica?: string | null;
  /** Its content, unless it was erased. */
  parts?: Array<Part> | null;
  /** The thread that it belongs to, if that is not the agent's first one. */
  thread_id?: ThreadId | null;
  /** The open turn that it went into. */
  into_turn?: TurnId | null;
  /** What its fence ends with, where its sender chose its id. */
  fence?: SafeLabel | null;
  /** The message it answers. */
  reply_to?: MessageId | null;
  /** The message that made its sender send it. */
  causation?: MessageId | null;
  /** For whom its source speaks, nearest first. */
  on_behalf_of?: Array<OnBehalfOf>;
  /** The topic it was published on. */
  topic?: SafeLabel | null;
  /** Where its content was found. */
  origin?: ContentOrigin | null;
  /** The rule that let it in. */
  rule?: SafeLabel | null;
  /** How it meets a running turn. */
  mode?: DeliveryMode;
  /** Which waiting message goes first. */
  priority?: Priority;
  /** How many agents it has passed through. */
  hops?: number;
  /** When it is no longer worth delivering. */
  expires_at?: Timestamp | null;
  /** Why it came no further, where there is a reason; `held: ` and why, of one that waits and is not delivered. */
  reason?: string | null;
}

/** One method. */
export interface MethodView {
  /** `profile/object.action`. */
  name: string;
  /** What it does. */
  summary: string;
  /** `read` or `write`. */
  effect: string;
  /** Error names of its own, beside those every method has. */
  errors: Array<string>;
  /** Who may call it: `anyone`, `owner` (operators, and agents for themselves), `governed` (whom the rules let) or `operator`. */
  audience: string;
  /** What a token must allow: a scope, `none`, or `uid` where no token is enough. */
  needs: string;
  /** What calling it once more means: `safe`, `same` or `again`. With an idempotency key it acts once. */
  repeat: string;
  /** Whether this version serves it. One that is not served answers `unsupported` and has no schemas. */
  served: boolean;
  /** Version of EdgePlane that began to serve it. */
  since?: string | null;
  /** JSON Schema of its parameters. */
  params?: Json;
  /** JSON Schema of its result. */
  result?: Json;
}

/** Why occurrences were missed. */
export type MissReason =
  /** The node was not there. */
  | "node_down"
  /** The clock was put forward past them. */
  | "clock_jump"
  /** Later than the deadline allows. */
  | "deadline";

/** How a subscription begins. */
export type Mode =
  /** Behind the newest entry. */
  | "live"
  /** Further back. */
  | "replaying"
  /** It does not: only the snapshot was asked for. */
  | "snapshot";

/** Who says that a model is there, or is used. */
export type ModelSource =
  /** The agent's manifest. */
  | "manifest"
  /** Its program, when its session began. */
  | "session"
  /** Nobody: its program chooses and does not say. */
  | "unreported";

/** A model that an agent's program offers. */
export interface ModelView {
  /** The agent's name. */
  agent: string;
  /** The agent. */
  agent_id: AgentId;
  /** The model, as its program calls it. */
  model: string;
  /** Whether it is the one that the agent works with. */
  current: boolean;
  /** Who says so. */
  source: ModelSource;
  /** What it is called for people. */
  title?: string | null;
  /** The epoch in which that was said. */
  epoch?: Epoch | null;
}

/** Models. */
export interface ModelsResult {
  /** By agent, in the order in which its program named them. */
  items: Array<ModelView>;
  /** Agents whose programs choose a model and do not say which. */
  unreported: Array<string>;
}

/** How others reach the agent. */
export interface NetworkView {
  /** Its name. */
  name: AgentName;
  /** Its name and its node's. */
  address: string;
  /** The node's name. */
  node: NodeName;
  /** The namespace of the name. */
  tenant: Tenant;
  /** The socket that its processes speak to, while an epoch lives. */
  socket?: string | null;
}

export type NodeId = string;

/** 1 to 63 lower-case letters, digits or `-`, beginning and ending with a letter or digit */
export type NodeName = string;

/** How the daemon is. */
export interface NodeStatus {
  /** The daemon's process. */
  pid: number;
  /** The daemon's version. */
  version: string;
  /** Seconds since it began to serve. */
  uptimeSeconds: number;
  /** When it began to serve. */
  startedAt: Timestamp;
  /** The node. */
  nodeId: NodeId;
  /** The node's name. */
  node: NodeName;
  /** Where its record is. */
  stateDir: string;
  /** Where its sockets are. */
  runtimeDir: string;
  /** Where it listens. */
  socket: string;
  /** How many agents are in each phase. */
  agents: Record<string, number>;
  /** Events in the record. */
  events: number;
  /** `ok`, `storage_full` or `damaged`. */
  record: string;
  /** What this machine allows, as `doctor` shows it. */
  checks: Array<Check>;
  /** How many messages are on each rung; they add up to all that were accepted. */
  messages?: Record<string, number>;
  /** Descriptors that the daemon has open; 0 where it does not tell. */
  openFiles?: number;
  /** The overrides that are in force, newest first. */
  overrides?: Array<OverrideMark>;
}

/** What became of one occurrence, or of several that were missed together. */
export type OccurrenceView = OccurrenceViewRan | OccurrenceViewSkipped | OccurrenceViewMissed;

/** Its message was sent. */
export interface OccurrenceViewRan {
  outcome: "ran";
  /** Why. */
  cause: RunCause;
  /** The message. */
  message_id: MessageId;
  /** When it was due; of several, the first. */
  due_at: Timestamp;
  /** When that was recorded. */
  at: Timestamp;
}

/** It sent nothing. */
export interface OccurrenceViewSkipped {
  outcome: "skipped";
  /** Why. */
  reason: SkipReason;
  /** The same in words. */
  detail: string;
  /** When it was due; of several, the first. */
  due_at: Timestamp;
  /** When that was recorded. */
  at: Timestamp;
}

/** It could not be sent. */
export interface OccurrenceViewMissed {
  outcome: "missed";
  /** Why. */
  reason: MissReason;
  /** When the last of them was due. */
  to: Timestamp;
  /** How many. */
  count: number;
  /** When it was due; of several, the first. */
  due_at: Timestamp;
  /** When that was recorded. */
  at: Timestamp;
}

/** Why something was left out of a context. */
export type OmissionReason =
  /** There was no room for it. */
  | "budget"
  /** So many others fit the query better. */
  | "rank"
  /** The node does not give it: it is no reference, or more than may be given. */
  | "policy"
  /** It is not there. */
  | "missing";

/** One for whom a source says that it speaks.  It never raises what a message weighs: it is shown, and where it is proven it can only lower. */
export interface OnBehalfOf {
  /** For whom. */
  principal: SafeLabel;
  /** What that one's own message weighed; where it is not proven, `untrusted`. */
  authority: Authority;
  /** Whether the node found that message in the source's own inbox. */
  proven: boolean;
  /** The message by which that one asked for it, if it came to the source. */
  message_id?: MessageId | null;
}

/** What becomes of a turn that comes while another one runs or waits. */
export type OnBusy =
  /** It waits. */
  | "queue"
  /** It is refused. */
  | "reject"
  /** It goes into the turn of its thread that runs. */
  | "steer";

/** What is wanted when what was asked for cannot be had any more. */
export type OnGap =
  /** `replay_gap`. */
  | "error"
  /** A snapshot, and word of what it stands for. */
  | "repair";

/** What becomes of a subagent when its parent has ended. */
export type OnParentExit =
  /** It is closed. */
  | "close"
  /** It goes on. */
  | "keep";

/** Asks a person. */
export interface OpenParams {
  /** A question or an approval. */
  kind: ActionKind;
  /** What a person reads. */
  prompt: string;
  /** The agent that asks: name or id. Left out: the calling agent. */
  agent?: string | null;
  /** The answers to choose from. */
  choices?: Array<Choice>;
  /** The JSON Schema of an answer. */
  schema?: Json;
  /** What is to be done, word for word: what is approved is this and nothing else. */
  subject?: Json;
  /** Who may decide: any of these roles; none: any operator. */
  roles?: Array<SafeLabel>;
  /** How many different persons must approve. */
  quorum?: number;
  /** Milliseconds after which silence is a denial; left out: a day. */
  expires_in_ms?: number | null;
  /** The message that led to it. */
  causation?: MessageId | null;
  /** Key against asking twice. */
  idempotency_key?: string | null;
}

/** An answer that an agent's program offers. */
export interface OptionView {
  /** The program's own name for it, which is given as `option`. */
  id: string;
  /** What the program says that it is. */
  name: string;
  /** The protocol's word for what it means: `allow_once`, `allow_always`, `reject_once`, `reject_always`, `other`. */
  kind: string;
  /** How far it reaches, as far as that is known. */
  reach: string;
}

export type OutputId = string;

/** Lists outputs. */
export interface OutputListParams {
  /** Those of a thread. */
  thread_id?: ThreadId | null;
  /** Those of all threads of an agent, by name or id. */
  agent?: string | null;
  /** The newest first. */
  newest?: boolean;
  /** Most to look through, at most 500. */
  limit?: number;
  /** Where the page before ended. */
  cursor?: number;
}

/** Outputs. */
export interface OutputListResult {
  /** In the order in which they were said, or newest first; without their words. */
  items: Array<OutputView>;
  /** What to give as `cursor` to read on, if there is more. */
  next?: number | null;
}

/** Reads an output. */
export interface OutputParams {
  /** Its id. */
  output_id: OutputId;
  /** From this byte on, or the beginning of the character that holds it. */
  offset?: number;
  /** Most bytes to read, at most 1 MiB. */
  bytes_max?: number;
}

/** What a turn came to, by reference. */
export interface OutputRef {
  /** Its id: the turn's UUID. */
  output_id: OutputId;
  /** SHA-256 of it. */
  digest: string;
  /** Its size. */
  bytes: number;
  /** What it weighs, where that is known. */
  authority?: Authority | null;
}

/** An output. */
export interface OutputView {
  /** Its id. */
  output_id: OutputId;
  /** The turn that it is of. */
  turn_id: TurnId;
  /** The thread of that turn. */
  thread_id: ThreadId;
  /** The agent whose words it is. */
  agent: string;
  /** When it was said. */
  created_at: Timestamp;
  /** What it is. */
  media_type: string;
  /** SHA-256 of all of it. */
  digest: string;
  /** Size of all of it. */
  bytes: number;
  /** Where the words begin in the output. */
  offset: number;
  /** What it weighs, where that is known. */
  authority?: Authority | null;
  /** The words, as far as they were asked for. Lists leave them out; of what was erased there are none. */
  text?: string | null;
  /** What to give as `offset` to read on, where the words are cut. */
  next_offset?: number | null;
  /** Why there are no words, if they were erased. */
  erased?: string | null;
  /** Whether the turn was rolled back. */
  removed?: boolean;
}

export type OverrideId = string;

/** What an override does to the agents that it covers. */
export type OverrideKind =
  /** They are suspended, and none is begun. */
  | "pause"
  /** They are ended, and none is begun. */
  | "stop";

/** An override that holds an agent, as the agent's status shows it. */
export interface OverrideMark {
  /** Its id. */
  overrideId: OverrideId;
  /** What it does to the agent. */
  kind: OverrideKind;
  /** Why. */
  reason: string;
  /** Who decided it. */
  by: string;
  /** Since when. */
  since: Timestamp;
  /** When it lifts itself. */
  expiresAt?: Timestamp | null;
}

/** Names an override. */
export interface OverrideParams {
  /** Which. */
  override_id: OverrideId;
}

/** What came of applying or lifting an override. */
export interface OverrideResult {
  /** The override. */
  override_id: OverrideId;
  /** What it did to each agent that it covers, by name. */
  affected: Array<Affected>;
}

/** Which agents an override covers, those to come included. */
export type OverrideScope = OverrideScope1 | OverrideScope2 | OverrideScope3;

/** Every agent of the node; always `true`. */
export interface OverrideScope1 {
  node: boolean;
}

/** The agents with these names, and the replicas of sets with these names. */
export interface OverrideScope2 {
  agents: Array<AgentName>;
}

/** The agents that have all of these labels. */
export interface OverrideScope3 {
  labels: Record<string, string>;
}

/** An override. */
export interface OverrideView {
  /** Its id. */
  override_id: OverrideId;
  /** Which agents it covers. */
  scope: OverrideScope;
  /** What it does to them. */
  kind: OverrideKind;
  /** Why. */
  reason: string;
  /** Who decided it. */
  by: string;
  /** When. */
  applied_at: Timestamp;
  /** The agents that it covers now, by name; none if it was lifted. */
  agents: Array<string>;
  /** When it lifts itself. */
  expires_at?: Timestamp | null;
  /** How it was lifted, if it was. */
  lifted?: LiftView | null;
}

/** Overrides. */
export interface OverridesResult {
  /** Newest first. */
  items: Array<OverrideView>;
}

/** Who answers for a span's time. */
export interface Owner {
  /** What it is. */
  kind: OwnerKind;
  /** Its name. */
  name: string;
  /** The agent that it works for, if it is not one itself. */
  of?: string | null;
}

/** What may answer for time. */
export type OwnerKind =
  /** The node. */
  | "node"
  /** An agent and whatever model it asks. */
  | "agent"
  /** A person, or a program in their place. */
  | "person"
  /** A tool or a command. */
  | "tool";

/** Whether bodies come with a pack. */
export type PackBodies =
  /** They are named by their digests. */
  | "refs"
  /** They are in it, but for those that may hold a secret. */
  | "inline";

/** A file of a pack, with its bytes. */
export interface PackFile {
  /** Its path in the pack. */
  path: string;
  /** Its bytes in base64. */
  data: string;
}

/** Asks for a pack. */
export interface PackParams {
  /** What it is about. */
  scope: PackScope;
  /** Only events from this moment on. */
  from?: Timestamp | null;
  /** Only events up to this moment. */
  to?: Timestamp | null;
  /** Whether bodies come with it. */
  bodies?: PackBodies;
  /** Whether it is written on the node also if it is small. */
  write?: boolean;
}

/** A file of a pack. */
export interface PackRef {
  /** Its path in the pack. */
  path: string;
  /** SHA-256 of it. */
  digest: string;
  /** Its size. */
  bytes: number;
}

/** A pack. */
export interface PackResult {
  /** Its id. */
  pack_id: string;
  /** SHA-256 of its manifest, which names all else. */
  digest: string;
  /** The key that signed it. */
  signed_by: SafeLabel;
  /** Events in it. */
  events: number;
  /** Its files, with the manifest and the signature. */
  refs: Array<PackRef>;
  /** The folder on the node's machine in which it was written; nothing if it comes with this answer. */
  path?: string | null;
  /** Its files, if it is small. */
  files?: Array<PackFile>;
}

/** What a pack is about. */
export type PackScope = PackScope1 | PackScope2 | PackScope3 | PackScope4 | PackScope5;

/** An agent's whole stream: name or id, also of one that is retired. */
export interface PackScope1 {
  agent: string;
}

/** The first thread of an agent's session: the agent's whole stream. */
export interface PackScope2 {
  thread_id: ThreadId;
}

/** A turn: the stretch of its agent's stream from its message to its end. */
export interface PackScope3 {
  turn_id: TurnId;
}

/** A message: the stretch of its agent's stream from its acceptance to the last event about it. */
export interface PackScope4 {
  message_id: MessageId;
}

/** Every history on the node: its own, those of agents (retired ones, too), workspaces and tasks; always `true`. */
export interface PackScope5 {
  node: boolean;
}

/** Where a fork begins. */
export interface ParentView {
  /** The agent that the parent belongs to. */
  agent_id: AgentId;
  /** The parent. */
  thread_id: ThreadId;
  /** The last turn of the parent that is part of the fork's history. */
  through?: TurnId | null;
}

/** One part of a message's content. */
export type Part = PartText | PartData | PartReference;

/** Words. */
export interface PartText {
  type: "text";
  /** The words, in UTF-8. */
  text: string;
}

/** A value. */
export interface PartData {
  type: "data";
  /** Any JSON value. */
  data: Json;
}

/** Something kept elsewhere. */
export interface PartReference {
  type: "reference";
  /** Where it is. */
  uri: string;
  /** SHA-256 of it as lower-case hexadecimal, where known. */
  digest?: string | null;
}

/** Changes a part of a resource. */
export interface PatchResourceParams {
  /** Which. */
  uri: ResourceUri;
  /** What changes, as a JSON merge patch (RFC 7396): a key with `null` goes. */
  patch: Json;
  /** By what it is found from here on; those that it has without. */
  labels?: Record<string, SafeLabel> | null;
  /** Change it only if it is at this version. */
  if_version?: number | null;
}

/** A stretch of time and the span that it belongs to. */
export interface PathStretch {
  /** The span. */
  span_id: SpanId;
  /** Its name. */
  name: string;
  /** Which part of the way it is. */
  segment: Segment;
  /** Who answers for it. */
  owner: Owner;
  /** Since when. */
  from: Timestamp;
  /** For how long. */
  ms: number;
}

/** What holds for a call. */
export type Permission =
  /** It is made. */
  | "allow"
  /** A person is asked first. */
  | "ask"
  /** It is refused. */
  | "deny";

/** What a subagent may do. */
export type PermissionIsolation =
  /** What its parent may. */
  | "inherit"
  /** Less: none of its parent's secrets and inherited variables, no calls of capabilities, no subagents. */
  | "narrowed";

/** What holds for a call by whoever asks. */
export interface PermissionView {
  /** Whether it is made, asked about or refused. */
  decision: Permission;
  /** The rule that says so. */
  rule: SafeLabel;
  /** Why, for people. */
  reason: string;
}

/** Where an agent is in its life, as the node observes it. */
export type Phase =
  /** Known by manifest, never started. */
  | "declared"
  /** An epoch is being brought up. */
  | "starting"
  /** The program runs. */
  | "running"
  /** Every process of the epoch is suspended. */
  | "frozen"
  /** Ended on purpose, to be woken by the next message. */
  | "hibernated"
  /** Waiting before the next start. */
  | "backoff"
  /** The shim cannot be reached and its tree has not been seen empty. */
  | "unobservable"
  /** Asked to end, still there. */
  | "stopping"
  /** Ended, and meant to be. */
  | "stopped"
  /** Ended, and not to be started again without a person. */
  | "failed"
  /** Its tree could not be proven empty: nothing starts until someone decides. */
  | "quarantined"
  /** Gone; its name is free. */
  | "retired";

/** What somebody wants to do to an agent. */
export type PolicyAction =
  /** Send it a message, on whatever way it comes in. */
  | "send"
  /** Watch its terminal. */
  | "attach"
  /** Type into its terminal. */
  | "control"
  /** Start, stop, restart, freeze or thaw it. */
  | "supervise"
  /** Decide a pending action of it. */
  | "approve"
  /** Have the node run a command inside it. */
  | "run"
  /** Have the node call a capability for it. */
  | "invoke"
  /** Start an agent under it. */
  | "spawn";

/** A file of rules. */
export interface PolicyFile {
  /** Its name, for messages. */
  name: string;
  /** Its text. */
  text: string;
}

/** Who laid down a rule. One further down may only tighten. */
export type PolicyLayer =
  /** Those who run many nodes. */
  | "organisation"
  /** Those who run this one. */
  | "node"
  /** Those who declared the agent. */
  | "agent";

/** What a price is known as. */
export type PriceState =
  /** The program says it. */
  | "reported"
  /** Nobody says it. */
  | "unknown";

/** As whom the agent may act. */
export interface PrincipalView {
  /** The declared principal, or the agent itself. */
  name: string;
  /** The uid of its processes. */
  uid: number;
  /** For whom it acts, nearest first. */
  onBehalfOf: Array<string>;
}

/** Which waiting message goes first. */
export type Priority =
  /** Before the others. */
  | "high"
  /** In order of arrival. */
  | "normal"
  /** After the others. */
  | "low";

/** A part of what a process wrote. */
export interface ProcessBytes {
  /** The process. */
  process_id: ProcessId;
  /** How it is. */
  status: ProcessStatus;
  /** Offset of the first byte that is given; later than what was asked for where what lies before is not kept. */
  from: number;
  /** Offset from which to go on. */
  next: number;
  /** The bytes, both of its streams in one, in base64. */
  data: string;
  /** Whether nothing comes behind them: it has ended, and they are the last that are kept. */
  end: boolean;
}

export type ProcessId = string;

/** A process beyond doubt: a pid alone is never an identity. */
export interface ProcessIdentity {
  /** The kernel's number, reused after the process ends. */
  pid: number;
  /** Clock ticks between boot and the start of the process. */
  startTime: number;
  /** The kernel's id of this boot. */
  bootId: string;
}

/** What was written to a process. */
export interface ProcessInput {
  /** How often. */
  writes: number;
  /** Bytes that it was given. */
  written_bytes: number;
  /** Whether its input was closed. */
  closed: boolean;
}

/** What became of something that was to be written. */
export type ProcessInputStatus =
  /** The process was given all of it. */
  | "written"
  /** It waits for the process to read. */
  | "queued";

/** What a process wrote, both of its streams in one. */
export interface ProcessOutput {
  /** Its beginning, if that is kept; what is no text is replaced. */
  head: string;
  /** Its end; empty if the head is all there is. */
  tail: string;
  /** What is missing between them or before. */
  truncation: Truncation;
  /** Bytes that it wrote. */
  written_bytes: number;
  /** Bytes that are kept: the last ones. */
  kept_bytes: number;
  /** Offset of the first byte that is kept; those before it are gone. */
  kept_from: number;
  /** SHA-256 of what is kept, once that is in the record. */
  digest?: string | null;
}

/** Names a process. */
export interface ProcessParams {
  /** Which. */
  process_id: ProcessId;
  /** Most bytes of output to show from its beginning and from its end each, at most 65,536; 4,096 if not given. */
  output_bytes?: number | null;
}

/** How a process is. */
export type ProcessStatus =
  /** It is there and does nothing: its agent is suspended. */
  | "idle"
  /** It runs. */
  | "running"
  /** It ended. */
  | "exited"
  /** It could not be run. */
  | "failed"
  /** Whether it runs, or how it ended, could not be seen. */
  | "unknown";

/** Which executable runs, where, under which supervisor. */
export interface ProcessView {
  /** The epoch, if one was ever started. */
  epoch: Epoch;
  /** The program that runs. */
  executable: string;
  /** The node that supervises it. */
  node: NodeId;
  /** The program's process, while one lives. */
  process?: ProcessIdentity | null;
  /** The shim's process, while one lives. */
  shim?: ProcessIdentity | null;
  /** The epoch's cgroup relative to the hierarchy's root, where there is one. */
  cgroup?: string | null;
}

/** Processes of an agent. */
export interface ProcessesResult {
  /** Newest first, without their output. */
  items: Array<AgentProcess>;
  /** What to give as `cursor` for those before; nothing if there are none. */
  next_cursor?: string | null;
}

/** How far a request has come, in words. */
export interface Progress {
  /** For people. */
  text: string;
}

/** A projection, whatever it is of. */
export interface ProjectionKind {
  /** Its name. */
  name: string;
  /** Its version; numbers and cursors belong to it. */
  version: number;
  /** What it holds. */
  summary: string;
  /** What it can be about. */
  targets: Array<TargetKind>;
  /** How many of it are kept up to date at the moment. */
  running: number;
}

/** Names a projection of a target. */
export interface ProjectionParams {
  /** Which projection. */
  projection: string;
  /** What it is about; the node if not given. */
  target?: Target;
}

/** What was compared. */
export interface ProjectionVerifyResult {
  /** Whether all are equal. */
  ok: boolean;
  /** Each projection of each target. */
  items: Array<Verified>;
}

/** A projection of a target. */
export interface ProjectionView {
  /** Its name. */
  name: string;
  /** Its version. */
  version: number;
  /** What it is about. */
  target: Target;
  /** What all entries so far make together; of the log nothing. */
  state: Json;
  /** The number of its newest entry that the state stands for. */
  as_of_seq: number;
  /** The number of its newest entry. */
  head_seq: number;
  /** The place on the node up to which everything is in it. */
  as_of_pos: number;
  /** What tells whether another who folded the same got the same. */
  digest: string;
}

/** Which projections are meant. */
export interface ProjectionsParams {
  /** Only this one. */
  projection?: string | null;
  /** Only those of this target. Without it, those of the node and all that somebody has asked for. */
  target?: Target | null;
}

/** Projections. */
export interface ProjectionsResult {
  /** By name. */
  items: Array<ProjectionKind>;
}

/** Whether the candidate may take the baseline's place. */
export interface PromotionView {
  /** Whether it may. */
  eligible: boolean;
  /** What speaks against it. */
  reasons: Array<string>;
}

/** By what the node knows who speaks. */
export type Proof =
  /** The peer's uid, and nothing naming an agent. */
  | "uid"
  /** The socket belongs to one epoch. */
  | "epoch_socket"
  /** The peer's cgroup is the agent's. */
  | "cgroup"
  /** The peer descends from the agent's shim. */
  | "ancestry"
  /** Cgroup and ancestry agree. */
  | "cgroup_and_ancestry"
  /** Socket, cgroup and ancestry do not name the same agent. */
  | "disagreement"
  /** The peer had ended; the kernel kept its cgroup. */
  | "cgroup_after_exit"
  /** The agent's own output, read by its shim. */
  | "driver"
  /** The node speaks. */
  | "node"
  /** A token that the node gave to one epoch. */
  | "epoch_token"
  /** A token that an operator made for a person. */
  | "operator_token"
  /** A token that an operator made for a program, such as a workflow engine. */
  | "service_token"
  /** Nothing could be proven. */
  | "none";

/** Sends a message to every agent that subscribes to a topic. */
export interface PublishParams {
  /** The topic. */
  topic: SafeLabel;
  /** What to say. */
  parts: Array<Part>;
  /** Which waiting message goes first. */
  priority?: Priority;
  /** Milliseconds after which it is no longer worth delivering. */
  expires_in_ms?: number | null;
  /** Key against publishing it twice. */
  idempotency_key?: string | null;
  /** The message that made the sender publish it. */
  causation?: MessageId | null;
}

/** Writes a key. */
export interface PutParams {
  /** The key. */
  key: string;
  /** Any JSON value. */
  value: Json;
  /** Name or id. */
  agent?: string | null;
  /** Write only if the key is at this version; zero means that it must not exist. */
  if_version?: number | null;
  /** Milliseconds after which it is forgotten. */
  ttl_ms?: number | null;
}

/** Writes a resource. */
export interface PutResourceParams {
  /** Which: of a kind that is written. */
  uri: ResourceUri;
  /** What it holds: whole numbers only, secrets by reference. */
  value: Json;
  /** By what it is found; those that it has without. */
  labels?: Record<string, SafeLabel> | null;
  /** Write only if it is at this version; zero means that it must not be there. */
  if_version?: number | null;
}

/** What becomes of the turns that wait. */
export type QueueFate =
  /** They stay. */
  | "keep"
  /** Those of the same thread are not wanted any more. */
  | "drop";

/** Lists the turns that wait. */
export interface QueueListParams {
  /** Those of a thread. */
  thread_id?: ThreadId | null;
  /** Those of all threads of an agent, by name or id. */
  agent?: string | null;
  /** Most to list, at most 500. */
  limit?: number;
}

/** Takes a waiting turn out of the queue. */
export interface QueueRemoveParams {
  /** The turn. */
  turn_id: TurnId;
  /** Why, for people. */
  reason?: string | null;
}

/** The turns that wait. */
export interface QueueResult {
  /** In the order of delivery, if no other comes. */
  items: Array<QueuedTurn>;
  /** How many wait for the agent in all. */
  waiting: number;
}

/** A turn that waits. */
export interface QueuedTurn {
  /** Its place in the order of delivery of the agent, from 1. */
  position: number;
  /** The turn. */
  turn: TurnView;
}

/** The longest time in which a turn showed no sign of life and nothing was waited for. */
export interface Quiet {
  /** Since when. */
  from: Timestamp;
  /** For how long. */
  ms: number;
  /** From how long on it counts as too long: the agent's `health.quietFor`, or 60,000. */
  limit_ms: number;
}

/** Reads a part of what a process wrote. */
export interface ReadProcessParams {
  /** Which. */
  process_id: ProcessId;
  /** Offset of the first byte to give, counted from the first that it wrote; zero without. */
  from?: number;
  /** Most bytes to give: 64 KiB without, 1 MiB at most. */
  bytes_max?: number | null;
}

/** What was made anew. */
export interface RebuildResult {
  /** Each projection of each target. */
  items: Array<Rebuilt>;
}

/** A projection of a target that was made anew. */
export interface Rebuilt {
  /** Its name. */
  name: string;
  /** Its version. */
  version: number;
  /** What it is about. */
  target: Target;
  /** Events of the record that were looked at. */
  events: number;
  /** Events a second. */
  events_per_s: number;
  /** The number of its newest entry. */
  as_of_seq: number;
  /** The place on the node up to which everything is in it. */
  as_of_pos: number;
  /** Its digest. */
  digest: string;
  /** Whether what was kept before had the same digest; if not, its subscribers were told that it ended. */
  equal: boolean;
}

/** One rung of a message's way, and how it is known. */
export interface Receipt {
  /** How far it came. */
  rung: Rung;
  /** How that is known. */
  evidence: Evidence;
  /** When. */
  at: Timestamp;
}

/** One event of a recording. */
export interface RecordingItem {
  /** Microseconds since 1970. */
  at_us: number;
  /** Offset of output at the event. */
  offset: number;
  /** `o` output, `e` standard error, `i` input, `k` hidden keys, `r` size, `m` message, `g` gap, `x` exit. */
  code: string;
  /** Output in base64; of the others, their text. */
  data: string;
}

/** Reads a recording. */
export interface RecordingParams {
  /** Name or id, also of a retired agent by id. */
  agent: string;
  /** The epoch; the newest if not given. */
  epoch?: Epoch | null;
  /** From the first event at or after this offset of output. */
  offset?: number;
  /** Instead of `offset`: the last this many bytes of output. */
  last_bytes?: number | null;
  /** Most bytes of output to give; 1 MiB if not given. */
  limit_bytes?: number | null;
}

/** A part of a recording. */
export interface RecordingResult {
  /** The epoch. */
  epoch: Epoch;
  /** What happened, in order. */
  items: Array<RecordingItem>;
  /** What to give as `offset` to read on. */
  next: number;
  /** Whether there was nothing more at the time. */
  end: boolean;
  /** Whether the epoch is over. */
  over: boolean;
  /** Columns of the terminal at the first item. */
  cols: number;
  /** Rows of the terminal at the first item. */
  rows: number;
  /** Whether the program has pipes and no terminal. */
  pipes?: boolean;
}

/** Has an agent offer a capability for as long as its epoch lives. What it offers by this name already is replaced. */
export interface RegisterCapabilityParams {
  /** What it is called within the agent; its whole name is `agent:AGENT/NAME`. */
  name: SafeLabel;
  /** Which agent, by name or id; the calling agent if not given. */
  agent?: string | null;
  /** `tool` or `operation`. */
  kind?: CapabilityKind;
  /** What it is called for people: at most 256 bytes. */
  title?: string | null;
  /** What it is for: at most 4 KiB. */
  description?: string | null;
  /** What a call is given, as a JSON Schema of an object. */
  input_schema?: Json;
  /** What a call gives, as a JSON Schema. */
  output_schema?: Json;
  /** What it does at most. It is shown; it is believed if an operator says it. */
  effect?: EffectClass;
  /** What holds for a call by an agent; `ask` if not given. Only an operator may say it. */
  permission?: Permission | null;
  /** How long a call may take, in milliseconds: at most an hour; a minute if not given. */
  timeout_ms?: number;
}

/** What an agent offers. */
export interface RegistrationView {
  /** Its id: the same whenever this agent offers something by this name. */
  capability_id: CapabilityId;
  /** Its whole name. */
  name: string;
  /** The agent. */
  agent_id: AgentId;
  /** The epoch that offers it. */
  epoch: Epoch;
  /** Changes whenever something else is said of it. */
  digest: string;
  /** The number of its registration in the agent's stream: its calls come behind it, as `capability.called`. */
  seq: number;
  /** Whether it was offered so before. */
  unchanged?: boolean;
}

/** What worked before and must not fail, and failed with the candidate. */
export interface RegressionsView {
  /** How many. */
  count: number;
  /** Which, each once. */
  names: Array<SafeLabel>;
  /** Trials of the candidate of which nobody said whether there are any. */
  unknown: number;
}

/** Something that is uncertain or stuck. */
export interface Repair {
  /** What it is. */
  kind: RepairKind;
  /** Why. */
  reason: string;
  /** What can be done. */
  do_next: string;
  /** The turn, if it is one. */
  turn_id?: TurnId | null;
}

/** What is uncertain or stuck. */
export type RepairKind =
  /** Nobody knows whether a message came to the program. */
  | "ambiguous"
  /** A turn had begun when its epoch ended. */
  | "interrupted"
  /** A turn waits and is held back. */
  | "held"
  /** A turn was given up. */
  | "given_up"
  /** The agent does not run. */
  | "agent";

/** What a snapshot stands for. */
export interface Repaired {
  /** The version of the projection that the cursor was of. */
  from_version: number;
  /** The last number of that version that the subscriber had; what followed it is not delivered. */
  after: number;
  /** The version that is served. */
  projection_version: number;
  /** The number of that version for which the snapshot stands; what follows it is delivered. */
  as_of_seq: number;
}

/** One entry of a projection. */
export interface ReplayItem {
  /** Its number. */
  n: number;
  /** What it says: in the log an event with its place. */
  event: Json;
}

/** Reads a projection from any point. At most one of `from`, `after` and `cursor` may be given; without one it begins at the oldest. */
export interface ReplayParams {
  /** What it is about; the node if not given. */
  target?: Target;
  /** Which projection; `log` if not given. */
  projection?: string;
  /** From where. */
  from?: From | null;
  /** Only what has a higher number: in the log of the node its position, in that of an agent the number in its stream. */
  after?: number | null;
  /** Only what follows the place that a cursor names. */
  cursor?: string | null;
  /** Only these types; a type may end in `*`. */
  types?: Array<string>;
  /** Most to read; 1,000 if not given, 10,000 at most. Long ones may make an answer end earlier. */
  limit?: number | null;
  /** Read the newest ones instead of the oldest. */
  newest?: boolean;
}

/** What was read. */
export interface ReplayResult {
  /** Oldest first. */
  items: Array<ReplayItem>;
  /** What to give as `after` to read on. */
  next: number;
  /** What to give as `cursor` to read on. */
  cursor: string;
  /** The oldest number that there is. */
  oldest_seq: number;
  /** The newest number that there is, 0 if there is nothing. */
  head_seq: number;
  /** Whether there was nothing more at the time. */
  end: boolean;
}

/** How far a node is. */
export interface ReplicaPlace {
  /** Which. */
  id: NodeId;
  /** The number that it has reached. */
  seq: number;
}

/** The replicas of a set. */
export interface ReplicasView {
  /** How many there are meant to be. */
  wanted: number;
  /** How many run. */
  running: number;
  /** Their names, in order. */
  names: Array<string>;
}

/** A report that is in the record. */
export interface ReportResult {
  /** The event that holds it. */
  event_id: EventId;
  /** The epoch that said it. */
  epoch: Epoch;
  /** The message whose turn it was found to belong to. */
  message_id?: MessageId | null;
}

/** What precedes a method's own parameters: who asks, for how long, under which trace. */
export interface RequestContext {
  /** The caller's name for this request. */
  request_id?: string | null;
  /** The caller's key against doing it twice. */
  idempotency_key?: string | null;
  /** Milliseconds that the caller waits. */
  deadline_ms?: number | null;
  /** W3C trace context. One that is malformed is none: a new trace begins. */
  traceparent?: string | null;
  /** What vendors of tracing keep with it, at most 512 bytes; kept in the record if it is well formed. */
  tracestate?: string | null;
  /** What the caller says beside it, at most 1,024 bytes; kept in the record if it is well formed. */
  baggage?: string | null;
  /** The namespace; `local` if not given. */
  tenant?: string | null;
  /** For whom the caller speaks. Only one whose token has the scope `delegate` may say so. */
  principal?: DelegatedPrincipal | null;
  /** What the request is about. Each must be there and open to the caller, and contradict nothing else that is said. */
  selectors?: Selectors | null;
}

/** Changes the terminal's size. */
export interface ResizeParams {
  /** Through this attachment, which must control. */
  attachment: string;
  /** Columns. */
  cols: number;
  /** Rows. */
  rows: number;
}

/** Decides about an invocation that waits for leave. */
export interface ResolvePermissionParams {
  /** Which. */
  invocation_id: InvocationId;
  /** The digest of the action that was looked at. */
  digest: string;
  /** What is decided. */
  verdict: Verdict;
}

/** Whose versions to list. */
export interface ResourceHistoryParams {
  /** Which. */
  uri: ResourceUri;
  /** Most versions, at most 500; 100 if not given. */
  limit?: number | null;
  /** Where a former list ended. */
  cursor?: string | null;
}

/** What a resource is. */
export type ResourceKind =
  /** What an agent is meant to be; changed by applying its manifest. */
  | "agent"
  /** A schedule of an agent; changed by applying it. */
  | "schedule"
  /** The rules in force; changed by changing their files. */
  | "policy"
  /** Any configuration. */
  | "config"
  /** A reusable part of what agents are given. */
  | "profile"
  /** A server whose tools agents may use. */
  | "connector"
  /** What is done by itself when something happens. */
  | "automation"
  /** Tasks that are joined. */
  | "workflow";

/** `edgeplane://KIND/NAME`, of a schedule `edgeplane://schedule/AGENT/NAME` */
export type ResourceUri = string;

/** A version of a resource. */
export interface ResourceView {
  /** Which resource. */
  uri: ResourceUri;
  /** What it is. */
  kind: ResourceKind;
  /** The stream of the record that its versions stand in: the node's, or an agent's. */
  scope: StreamName;
  /** Its number, from 1, without gaps, over ends too. */
  version: number;
  /** When this version was made. */
  at: Timestamp;
  /** By whom. */
  by: string;
  /** SHA-256 of what it holds as it is kept, references unmasked; absent if this version is its end. */
  etag?: string | null;
  /** What it holds, references to secrets masked; left out in lists, where the etag is known, and of an end. */
  value?: Json;
  /** The keys under which something is masked, as JSON pointers. */
  masked?: Array<string>;
  /** By what it is found. */
  labels?: Record<string, SafeLabel>;
  /** Whether this version is its end. */
  deleted?: boolean;
  /** Whether the value is left out because its etag is known. */
  not_modified?: boolean;
  /** Whether the request found it as it was to be, so that no version was made. */
  unchanged?: boolean;
}

/** Resources, or versions of one. */
export interface ResourcesResult {
  /** By kind and name, or newest version first; without values. */
  items: Array<ResourceView>;
  /** What to give as `cursor` for those after; nothing if there are none. */
  next_cursor?: string | null;
}

/** What a restore did. */
export interface RestoreCounts {
  /** Files and links that were written, and folders that were made. */
  written: number;
  /** Files, links and folders that were removed. */
  removed: number;
  /** Things of which the permissions alone were changed. */
  modes: number;
  /** Bytes in the files that were written. */
  bytes: number;
  /** What was left as it is, because it was changed meanwhile or is not kept. */
  conflicts: number;
}

/** Retires an agent with all that it owns. */
export interface RetireParams {
  /** Name or id. */
  agent: string;
  /** Digest of a plan of `runtime/retirement.plan`: what that says is removed, and nothing is done if it is not what the agent owns now. */
  plan: string;
  /** Why, for the record. */
  reason?: string | null;
}

/** What an agent owns, and what becomes of it when it is retired with its belongings. */
export interface RetirementPlan {
  /** Its name. */
  name: string;
  /** Its id. */
  agent_id: AgentId;
  /** SHA-256 of what is removed, to be named when it is done. */
  digest: string;
  /** What is removed. */
  removes: Array<Belonging>;
  /** What stays. */
  stays: Array<Belonging>;
  /** The same of its replicas, if it is a set. */
  replicas?: Array<RetirementPlan>;
}

/** Revokes a token. */
export interface RevokeParams {
  /** Its id. */
  token_id: TokenId;
  /** Why, for the record. */
  reason?: string;
}

/** Records what somebody says that a trial is worth. */
export interface RewardRecordParams {
  /** Which trial. */
  trial_id: TrialId;
  /** A number from -1,000,000,000 to 1,000,000,000. */
  reward: number;
  /** What was looked at: at most 32, each 1 to 128 bytes. */
  criteria?: Array<string>;
  /** Where more is said. */
  details_ref?: string | null;
  /** What kind of failure it was. */
  failure_category?: SafeLabel | null;
  /** Who says so. It must be the trial's, if that is fixed. */
  verifier?: TrialVerifier | null;
  /** What worked before and must not fail, and failed: at most 100. An empty list says that nothing did, none at all that nobody looked. */
  p0_regressions?: Array<SafeLabel> | null;
  /** The number of the reward that counts so far, if this one is to count instead. Both stay in the record. */
  supersedes?: number | null;
}

/** A reward, as it was said. */
export interface RewardView {
  /** Which trial. */
  trial_id: TrialId;
  /** The how manieth of the trial it is, from 1. The last one counts. */
  number: number;
  /** The number. */
  reward: number;
  /** Whether it was said before the trial had ended. Such a reward is kept, and no comparison rests on it. */
  is_early: boolean;
  /** Who recorded it. */
  by: SafeLabel;
  /** When. */
  at: Timestamp;
  /** What was looked at. */
  criteria?: Array<string>;
  /** Where more is said. */
  details_ref?: string | null;
  /** What kind of failure it was. */
  failure_category?: SafeLabel | null;
  /** Who says so. */
  verifier?: TrialVerifier | null;
  /** What worked before and must not fail, and failed; nothing if nobody looked. */
  p0_regressions?: Array<SafeLabel> | null;
}

/** A model that a turn could be given to. */
export interface RouteCandidate {
  /** Who says so. */
  source: ModelSource;
  /** Whether its price is known. */
  price: PriceState;
  /** The model; absent if its program does not say which. */
  model?: string | null;
}

/** Which model a turn of an agent would get, and why. */
export interface RouteDecision {
  /** The agent's name. */
  agent: string;
  /** The agent. */
  agent_id: AgentId;
  /** How it was chosen. */
  mode: RouteMode;
  /** Why: `single_candidate`. */
  reason: string;
  /** All that there were to choose from. */
  candidates: Array<RouteCandidate>;
  /** The one that was chosen. */
  selected: RouteCandidate;
  /** What would be tried next: nothing. */
  fallback: Array<RouteCandidate>;
  /** What could not be known. */
  gaps: Array<string>;
}

/** How a model was chosen. */
export type RouteMode =
  /** There is one candidate: the agent's own model. */
  | "single";

/** A failure as it crosses the wire. */
export interface RpcError {
  /** The number that belongs to `data.name`. */
  code: number;
  /** For people. */
  message: string;
  /** For programs. Boxed, because every result has room for it. */
  data: ErrorData;
}

/** One rule. */
export interface RuleView {
  /** Who laid it down. */
  layer: PolicyLayer;
  /** Its id. */
  id: SafeLabel;
  /** `permit` or `forbid`. */
  effect: string;
  /** The file it stands in. */
  file: string;
  /** The line it begins on. */
  line: number;
}

/** The rules that are in force. */
export interface RulesResult {
  /** SHA-256 over all of them. */
  digest: string;
  /** When they came into force. */
  since: Timestamp;
  /** Every rule. */
  items: Array<RuleView>;
  /** Files that could not be read, each with its first problem; the rules before stay in force. */
  rejected: Array<string>;
  /** Where own files are looked for. */
  folders: Array<string>;
}

/** Whether a run was admitted. */
export type RunAdmission =
  /** It is; its agent is told. */
  | "admitted"
  /** The task waits for others, or for its last run to end, and is begun by itself then. */
  | "queued";

/** A binding of a run. */
export interface RunBindingView {
  /** The workspace. */
  workspace_id: WorkspaceId;
  /** Its number on the node: the fencing token of what is done under it. */
  binding_epoch: number;
  /** What may be done under it. */
  mode: BindingMode;
  /** Whether it is not over. */
  is_live: boolean;
}

/** Has a run end. */
export interface RunCancelParams {
  /** Its id. */
  run_id: RunId;
  /** Why, for people: at most 1,024 bytes. */
  reason?: string | null;
}

/** Why an occurrence ran. */
export type RunCause =
  /** It was due. */
  | "due"
  /** It was due while the node could not serve, and the catch-up rule lets it run late. */
  | "catch_up"
  /** Somebody asked. */
  | "manual";

/** Has something happen to a run and its task. */
export interface RunChangeParams {
  /** Its id; it must be the task's last run. */
  run_id: RunId;
  /** Why, for people: at most 1,024 bytes. */
  reason?: string | null;
}

/** Compares trials. */
export interface RunCompareParams {
  /** How it was. */
  baseline: Trials;
  /** How it is. */
  candidate: Trials;
  /** The one thing that is other, if the candidate's configuration does not say it. */
  changed_variable?: string | null;
  /** The reward from which on a trial counts as a success. */
  success_at?: number;
}

export type RunId = string;

/** Which of its limits a run passed. */
export type RunLimit =
  /** Time from its beginning. */
  | "wall_time"
  /** Tokens that are read and written. */
  | "tokens"
  /** What it cost. */
  | "cost"
  /** Items of its turn. */
  | "steps"
  /** How often it was given to its program again. */
  | "continuations";

/** What a run may use at most. What is not named is not bounded. Tokens, cost and steps are counted by what its program says: a program that says nothing of them is not ended by them. */
export interface RunLimits {
  /** Time from its beginning, in milliseconds. */
  wall_ms?: number | null;
  /** Tokens that are read and written. */
  tokens?: number | null;
  /** Cost, in millionths of the currency that its program names. */
  cost_micros?: number | null;
  /** Items of its turn: texts, thoughts, uses of tools. */
  steps?: number | null;
  /** How often it is given to its program again after that has ended in the middle of it. */
  continuations?: number | null;
}

/** Which runs a list shows. */
export interface RunListParams {
  /** Of this task. */
  task_id?: TaskId | null;
  /** Of this agent, by name or id. */
  agent?: string | null;
  /** Only those that have not ended. */
  live?: boolean;
  /** What the page before gave as `next`. */
  cursor?: number;
  /** Most entries, at most 500. */
  limit?: number;
}

/** A list of runs. */
export interface RunListResult {
  /** Oldest first. */
  items: Array<RunView>;
  /** What to give as `cursor` for the next page, if there is one. */
  next?: number | null;
}

/** Names a run. */
export interface RunParams {
  /** Its id. */
  run_id: RunId;
}

/** A schedule that was run by hand. */
export interface RunResult {
  /** The message that it sent. */
  message_id: MessageId;
}

/** Has a task worked on: by a first run, or by a further one. */
export interface RunStartParams {
  /** The task. */
  task_id: TaskId;
  /** The run's id, by the caller's choice, as a UUID of version 7: then it is the key against beginning it twice, and the run is refused if it cannot be admitted at once. */
  run_id?: RunId | null;
  /** Who is to do it, by name or id, if that is not whose work it is already. */
  agent?: string | null;
  /** What this run may use, if that is not what the task says. */
  limits?: RunLimits | null;
  /** The workspace that this run is bound to, in the step that makes it; then it is refused if it cannot be admitted at once. A further run of the task is bound to nothing. */
  binding?: BindingParam | null;
  /** The run that it follows; it must be the task's last one, and over. */
  retry_of?: RunId | null;
  /** Why, for people: at most 1,024 bytes. */
  reason?: string | null;
  /** Only if the task is at this version. */
  if_version?: number | null;
}

/** What became of the wish for a run. */
export interface RunStartResult {
  /** Whether there is a run. */
  admission: RunAdmission;
  /** Why it is so. */
  reason: string;
  /** Its task. */
  task: TaskView;
  /** The run, if there is one. */
  run?: RunView | null;
}

/** Where a run is. */
export type RunState =
  /** Admitted; its program has not been told yet. */
  | "preparing"
  /** Its program works on it. */
  | "running"
  /** Its program ended it as done. */
  | "completed"
  /** It ended otherwise. */
  | "failed"
  /** It was ended because somebody asked for it. */
  | "cancelled"
  /** Its time was over. */
  | "timed_out"
  /** Whether it is worked on, or how it ended, cannot be known. */
  | "lost";

/** A run. */
export interface RunView {
  /** Its id. */
  run_id: RunId;
  /** The task. */
  task_id: TaskId;
  /** The turn that it is; has its UUID. */
  turn_id: TurnId;
  /** The how manieth run of the task it is, from 1. */
  attempt: number;
  /** Who does it. */
  agent: string;
  /** The same by id. */
  agent_id: AgentId;
  /** Where it is. */
  state: RunState;
  /** Why it ended so, or why there is a further one. */
  reason: string;
  /** When it was admitted. */
  started_at: Timestamp;
  /** What it may use. */
  limits?: RunLimits;
  /** The workspaces that it is or was bound to, by the numbers of the bindings. */
  bindings?: Array<RunBindingView>;
  /** When its program began. */
  begun_at?: Timestamp | null;
  /** When it ended. */
  ended_at?: Timestamp | null;
  /** What came of it. */
  output_id?: OutputId | null;
}

/** How far a message has come. */
export type Rung =
  /** In the record, on stable storage. */
  | "accepted"
  /** Written to the program. */
  | "injected"
  /** The program acted on it. */
  | "observed"
  /** The turn it began has ended. */
  | "turn_ended"
  /** Refused after acceptance. */
  | "rejected"
  /** Its time ran out before injection. */
  | "expired"
  /** A crash left unknown whether it was injected. */
  | "ambiguous"
  /** Given up. */
  | "dead_lettered";

/** 1 to 128 of the characters A-Z a-z 0-9 . _ @ - */
export type SafeLabel = string;

/** What keeps a program in, as it is applied. */
export interface SandboxView {
  /** `none`: no folder and no call of the kernel is kept from it beyond what its user may. */
  profile: string;
  /** Whether its manifest says that it may never gain rights. */
  no_new_privs_asked: boolean;
  /** Whether the kernel keeps that: `yes`, `no`, `unavailable`. */
  no_new_privs: string;
  /** The kernel's filter of calls: `none`, `strict`, `filter`, `unavailable`. */
  seccomp: string;
  /** The directory of its control group. */
  cgroup: string;
}

/** Lists schedules. */
export interface ScheduleListParams {
  /** Only of this agent: name or id. */
  agent?: string | null;
}

/** The schedules. */
export interface ScheduleListResult {
  /** By agent and name. */
  items: Array<ScheduleView>;
}

/** Names a schedule. */
export interface ScheduleParams {
  /** Its agent: name or id. */
  agent: string;
  /** Its name. */
  name: AgentName;
}

/** A schedule. */
export interface ScheduleView {
  /** Its agent. */
  agent: AgentName;
  /** Its name. */
  name: AgentName;
  /** When it is due, in the words of its declaration, such as `0 9 * * mon-fri Europe/Berlin`. */
  when: string;
  /** Its whole declaration. */
  spec: Json;
  /** Whether it was declared in its agent's manifest. */
  in_manifest: boolean;
  /** Whether it waits to be resumed. */
  paused: boolean;
  /** Every occurrence up to here is accounted for. */
  accounted_until: Timestamp;
  /** How often it ran. */
  ran: number;
  /** How often it was skipped. */
  skipped: number;
  /** How often it was missed. */
  missed: number;
  /** When it is due next. */
  next_at?: Timestamp | null;
}

/** One right of a token. */
export type Scope =
  /** Read what the node knows. */
  | "read"
  /** Send messages. */
  | "signal"
  /** Watch terminals. */
  | "attach"
  /** Type into terminals. */
  | "control"
  /** Start, stop and declare agents. */
  | "supervise"
  /** Decide pending actions. */
  | "approve"
  /** Speak for users: what is done then, both must be allowed to do. */
  | "delegate";

/** What to look for. */
export interface SearchCapabilitiesParams {
  /** Words that its name, title or description holds, all of them. */
  query: string;
  /** Only those of this kind. */
  kind?: CapabilityKind | null;
  /** Most capabilities, at most 500; 100 if not given. */
  limit?: number | null;
}

/** Which part of a request's way a span is. */
export type Segment =
  /** Somebody asked the node for something. */
  | "request"
  /** A message waits because its agent is busy with another. */
  | "queue_wait"
  /** A message waits because its agent does not run. */
  | "runtime_delay"
  /** A message is on its way to a program that runs and is free. */
  | "delivery"
  /** An agent works. */
  | "turn"
  /** A tool or a command works. */
  | "tool"
  /** A person is waited for. */
  | "approval_wait"
  /** A call of a connector waits for leave, or is refused. */
  | "connector_permission"
  /** Whoever has a lock on paths of a workspace is waited for. */
  | "workspace_lock";

/** What a request is about, beside what its parameters say. */
export interface Selectors {
  session_id?: SessionId | null;
  thread_id?: ThreadId | null;
  turn_id?: TurnId | null;
  run_id?: RunId | null;
  task_id?: TaskId | null;
  agent_id?: AgentId | null;
  host_id?: NodeId | null;
  workspace_id?: WorkspaceId | null;
  binding_epoch?: number | null;
  resource_uri?: string | null;
  capability_id?: CapabilityId | null;
  invocation_id?: InvocationId | null;
  subscription_id?: SubscriptionId | null;
}

/** Archives a session. */
export interface SessionArchiveParams {
  /** Its id. */
  session_id: SessionId;
  /** Only if it is at this version. */
  if_version?: number | null;
  /** Why, for people. */
  reason?: string | null;
}

/** Makes a further session of an agent, with its first thread. */
export interface SessionCreateParams {
  /** Name or id; an agent may leave its own out. */
  agent?: string | null;
  /** Its id, by the caller's choice: then it is the key against making it twice. */
  session_id?: SessionId | null;
  /** What it is called, at most 256 bytes. */
  title?: string | null;
  /** By what it is found, at most 16. */
  labels?: Record<string, SafeLabel>;
}

/** A session. */
export interface SessionEntry {
  /** Its id. */
  session_id: SessionId;
  /** The agent that owns it. */
  agent: string;
  /** The same by id. */
  agent_id: AgentId;
  /** Whether it is the agent's first one, which it has always had. */
  main: boolean;
  /** Its first thread. */
  thread_id: ThreadId;
  /** Whether the agent's program has a context for it alone. */
  context: Context;
  /** Grows with each change. */
  version: number;
  /** When it began. */
  created_at: Timestamp;
  /** What it is called. */
  title?: string | null;
  /** By what it is found. */
  labels?: Record<string, SafeLabel>;
  /** When it was archived. */
  archived_at?: Timestamp | null;
}

export type SessionId = string;

/** Lists sessions. */
export interface SessionListParams {
  /** Only those of this agent. */
  agent?: string | null;
  /** Also archived ones. */
  archived?: boolean;
  /** Most to list, at most 500. */
  limit?: number;
  /** Where the page before ended. */
  cursor?: number;
}

/** Sessions. */
export interface SessionListResult {
  /** In the order in which they began. */
  items: Array<SessionEntry>;
  /** What to give as `cursor` to read on, if there is more. */
  next?: number | null;
}

/** Names a session. */
export interface SessionParams {
  /** Its id. */
  session_id: SessionId;
}

/** Which live context the agent holds. */
export interface SessionView {
  /** The session that the epochs of this agent continue. */
  sessionId: SessionId;
  /** The program's own handle for resuming, where it has one. */
  resumeHandle?: string | null;
}

/** A share with the interval in which it lies by 95 %, after Wilson. */
export interface Share {
  /** The share. */
  rate: number;
  /** Where the interval begins. */
  low: number;
  /** Where it ends. */
  high: number;
}

/** One side of a comparison. */
export interface SideView {
  /** Its configuration. */
  configuration: TrialConfiguration;
  /** Trials. */
  trials: number;
  /** Those that have ended. */
  ended: number;
  /** Those whose run was completed. */
  completed: number;
  /** Those whose reward reaches what counts as a success. */
  successes: number;
  /** Those of which nobody said what they are worth since they ended. */
  unrewarded: Array<TrialId>;
  /** Those that took longer than they may. */
  timeouts: number;
  /** Cost in millionths, by currency, as far as programs say it. */
  costMicros: Record<string, Used>;
  /** The share of trials of which all is there: ended, rewarded, without a gap. */
  evidenceCompleteness: number;
  /** Trials with gaps, and which. */
  evidenceGaps: Record<string, Array<string>>;
  /** The share of successes; `null` unless every trial has a reward. */
  successRate?: Share | null;
  /** The mean reward; `null` unless every trial has one. */
  meanReward?: number | null;
  /** The time that half of those that ended took at most, in milliseconds. */
  latencyP50Ms?: number | null;
  /** The time that 95 % of those that ended took at most, in milliseconds. */
  latencyP95Ms?: number | null;
  /** Tokens, as far as programs say them. */
  tokens?: Used | null;
}

/** Signs messages that leave the node, with one signature for all. */
export interface SignParams {
  /** Their ids; at most 1,024. */
  message_ids: Array<MessageId>;
}

/** Messages with the node's signature over all of them. */
export interface SignResult {
  /** The envelopes, in the order they were asked for. */
  envelopes: Array<Envelope>;
  /** SHA-256 of each canonical envelope, lower-case hexadecimal. */
  leaves: Array<string>;
  /** The detached signature over the canonical list of leaves. */
  signature: string;
  /** The key that made it. */
  key_id: SafeLabel;
  /** That key, base64url. */
  public_key: string;
}

/** Sends a message to an agent. */
export interface SignalParams {
  /** Name or id. */
  agent: string;
  /** What to say: at most 4 MiB of JSON, data at most 64 lists and objects deep. */
  parts: Array<Part>;
  /** How it meets a running turn. */
  mode?: DeliveryMode;
  /** Which waiting message goes first. */
  priority?: Priority;
  /** Milliseconds after which it is no longer worth delivering. */
  expires_in_ms?: number | null;
  /** Key against sending it twice. */
  idempotency_key?: string | null;
  /** The message it answers. */
  reply_to?: MessageId | null;
  /** The message that made the sender send this one, if it is not the one that it answers. */
  causation?: MessageId | null;
  /** For whom the sender speaks, nearest first; at most eight. It is shown, and never raises what is said. */
  on_behalf_of?: Array<BehalfParam>;
  /** Less authority than the sender has; more is refused. */
  authority?: Authority | null;
  /** A name that the sender gives itself, of at most 256 bytes; shown to people, never proof. */
  display_name?: string | null;
  /** Answer only when it has come this far. */
  wait?: Rung | null;
  /** Longest wait in milliseconds. */
  timeout_ms?: number | null;
}

/** How far a message has come. */
export interface SignalResult {
  /** Its id. */
  message_id: MessageId;
  /** The agent it is for. */
  agent: string;
  /** Rungs so far, oldest first. */
  receipts: Array<Receipt>;
  /** Whether the rung that was waited for was not reached in time. */
  timed_out?: boolean;
  /** Whether the key had been used for the same message before. */
  duplicate?: boolean;
  /** Why it will not come as far as was waited for. */
  reason?: string | null;
}

/** What of a kind of signal there is. */
export interface SignalView {
  /** Which kind. */
  name: string;
  /** `exported`, `not_applicable`, `unsupported` or `missing_correlation`. */
  status: string;
}

/** Why an occurrence did not run although the node served. */
export type SkipReason =
  /** The one before had not ended. */
  | "overlap"
  /** Its schedule was paused. */
  | "paused"
  /** A rule refused the message. */
  | "refused"
  /** The agent's inbox was full, or the disk was. */
  | "backpressure";

/** Whether the state of the projection is wanted before what follows it. */
export type Snapshot =
  /** It is not. */
  | "none"
  /** It is, and then what follows it. */
  | "first"
  /** It is, and nothing else. */
  | "only";

/** The screen as text. */
export interface SnapshotResult {
  /** The epoch. */
  epoch: Epoch;
  /** One line a row, trailing blanks cut. */
  text: string;
  /** Columns. */
  cols: number;
  /** Rows. */
  rows: number;
  /** Row and column of the cursor, from zero. */
  cursor: [number, number];
  /** Bytes of output that the screen shows. */
  offset: number;
  /** Bytes of output that there are. */
  head: number;
  /** The window title that the program set. */
  title: string;
  /** The screen as the rules of terminal adapters see it, in the form of a recorded screen. */
  recorded?: string;
}

/** The state of a projection. */
export interface SnapshotView {
  /** What all entries so far make together; of the log nothing. */
  state: Json;
  /** The number of the last of those entries. */
  as_of_seq: number;
  /** What tells whether another who folded the same got the same. */
  digest: string;
}

/** Who speaks, as far as the node can prove it. */
export interface Source {
  /** Name that the header shows: proven, never chosen by the sender. */
  principal: SafeLabel;
  /** By what the node knows. */
  proof: Proof;
  /** What the proof is worth. */
  assurance: Assurance;
  /** The speaking agent, if it is one of this node's. */
  agent_id?: AgentId | null;
  /** A name that the sender gave itself. Shown to people, never in the header. */
  display_name?: string | null;
}

/** A stretch of a trace. */
export interface Span {
  /** Its id; the same whenever it is read. */
  span_id: SpanId;
  /** What is done, such as `invoke_agent reviewer`. */
  name: string;
  /** Which part of the way. */
  segment: Segment;
  /** Who answers for its time. */
  owner: Owner;
  /** When it began. */
  start: Timestamp;
  /** How it ended. */
  status: SpanStatus;
  /** The span that it is a part of. One that the trace does not have was somebody else's. */
  parent?: SpanId | null;
  /** When it ended. */
  end?: Timestamp | null;
  /** Why it ended so, or what is waited for. */
  reason?: string | null;
  /** The longest silence, of a turn. */
  quiet?: Quiet | null;
  /** What else is known: names of OpenTelemetry, and of `rt.` where it has none. */
  attributes?: Record<string, string>;
  /** The positions of the events that it was read from. */
  events?: Array<number>;
}

export type SpanId = string;

/** How a span ended. */
export type SpanStatus =
  /** Well. */
  | "ok"
  /** Badly; `reason` says how. */
  | "error"
  /** Not yet. */
  | "open"
  /** Nobody said. */
  | "unknown";

/** Who said or did it, and how. */
export type Spoken =
  /** A message that the agent was given. */
  | "message"
  /** The agent's answer to a turn; its pieces may stand before it. */
  | "turn"
  /** What the agent said besides. */
  | "item"
  /** A piece of what happens in a turn: `text`, `thought`, `content`, `tool_call` or `plan`. Pieces of a text that follow each other are one entry; those with the same `item_id` are one item. */
  | "piece"
  /** What a turn or the session has used. */
  | "usage"
  /** A file that the node wrote because the program asked for it. */
  | "file"
  /** A command that the node ran because the program asked for it: it `started`, or it `ended`. */
  | "command"
  /** The agent asks people for something. */
  | "question"
  /** A person said what they think of it. */
  | "vote"
  /** It is decided. */
  | "decision"
  /** The program's session takes messages, or cannot come about. */
  | "session"
  /** The epoch began, failed or ended. */
  | "epoch";

/** What became of it for one agent. */
export interface SpreadItem {
  /** The agent. */
  agent: string;
  /** The message, if it was accepted. */
  message_id?: MessageId | null;
  /** Whether the key had been used for the same message before. */
  duplicate?: boolean;
  /** Why it was not accepted. */
  error?: ErrorName | null;
  /** The same in words. */
  detail?: string | null;
}

/** What became of a message to many, an agent each, by name. */
export interface SpreadResult {
  /** One entry for every agent that was meant; the sender is not among them. */
  items: Array<SpreadItem>;
}

/** Reports what the calling agent is doing. */
export interface StatusParams {
  /** What it is doing. A report never ends a turn: it is made within one. */
  activity: Activity;
  /** The same in a few words: at most 4 MiB. */
  text?: string;
}

/** A `stream/event` notification. */
export interface StreamEvent {
  /** Whose it is. */
  subscription_id: SubscriptionId;
  /** What it is about. */
  target: Target;
  /** Which projection. */
  projection: string;
  /** Its version. */
  projection_version: number;
  /** The entry's number: from 1, without gaps. */
  n: number;
  /** The place behind the entry, from which a later subscription can go on. */
  cursor: string;
  /** What it says: in the log an event with its place. */
  event: Json;
  /** The number of the entry that was delivered before, or of the place where the subscription began; only where types were chosen, so that a gap can be told from what was not wanted. */
  prev_n?: number | null;
}

export type StreamName = string;

/** A place in an agent's stream. */
export interface StreamPlace {
  /** The agent, as `stream/replay` and `stream/subscribe` take it. */
  target: Target;
  /** The number of the event at which it begins. */
  next_seq: number;
}

/** A `stream/state` notification. */
export interface StreamState {
  /** Whose it is: a subscription or an attachment. */
  id: string;
  /** `live`, `replaying`, `lagging`, `repaired` or `ended`; of an attachment also `resynchronised`. */
  state: string;
  /** Why. */
  reason?: string | null;
  /** Of `repaired`: what the snapshot stands for. */
  repaired?: Repaired | null;
}

/** Names a subagent. */
export interface SubagentChangeParams {
  /** Name or id. */
  subagent: string;
  /** Why, for people: at most 1,024 bytes. */
  reason?: string | null;
}

/** What the program of a subagent may use. */
export interface SubagentLimits {
  /** Memory, such as `512MiB`. */
  memory?: string | null;
  /** Processes and threads. */
  pids?: number | null;
  /** Processor time per time, such as `500m`. */
  cpu?: string | null;
  /** Open files of each process. */
  open_files?: number | null;
}

/** Which subagents a list shows. */
export interface SubagentListParams {
  /** Under this agent, by name or id, also of one that is retired. An agent names itself, one under it, or nobody. */
  parent?: string | null;
  /** How many generations, 1 to 8. */
  depth?: number;
  /** Also those that are retired. */
  all?: boolean;
  /** Most entries, at most 10,000. */
  limit?: number;
}

/** Subagents. */
export interface SubagentListResult {
  /** Parents before their children, the oldest child first. */
  items: Array<SubagentView>;
  /** Whether there are more than the limit. */
  more: boolean;
}

/** Sends a subagent a message. */
export interface SubagentSendParams {
  /** Name or id. */
  subagent: string;
  /** What to say: at most 4 MiB of JSON. */
  parts: Array<Part>;
  /** How it meets a running turn. */
  mode?: DeliveryMode;
  /** Which waiting message goes first. */
  priority?: Priority;
  /** Milliseconds after which it is no longer worth delivering. */
  expires_in_ms?: number | null;
  /** Key against sending it twice. */
  idempotency_key?: string | null;
}

/** Starts an agent under another one. What is left out is as the parent has it. */
export interface SubagentSpawnParams {
  /** Its id, by the caller's choice, as a UUID of version 7: then it is the key against starting it twice. */
  subagent_id?: AgentId | null;
  /** Whose child it is, by name or id. An agent names itself or nobody. */
  parent?: string | null;
  /** Its name. Left out: its parent's with the end of its id. */
  name?: AgentName | null;
  /** Its manifest as text, at most 1 MiB, from operators only. Left out: its parent's, with what is said here. */
  manifest?: string | null;
  /** Its program with all arguments. */
  command?: Array<string> | null;
  /** Which of its parent's variables it gets, by name; with none named in an empty list it gets none. */
  environment?: Array<string> | null;
  /** Its labels, from operators only. */
  labels?: Record<string, SafeLabel> | null;
  /** What its program may use; each no more than its parent's. */
  limits?: SubagentLimits | null;
  /** What divides it from its parent. */
  isolation?: Isolation;
  /** What becomes of it when its parent has ended. Left out: with a task it is closed, without one it goes on. */
  on_parent_exit?: OnParentExit | null;
  /** The task for which alone it is there: it is retired when that is over. Left out: it stays until it is closed. */
  task?: SubagentTask | null;
}

/** How far a subagent is. */
export type SubagentStatus =
  /** It is to begin. */
  | "queued"
  /** Its program runs, or the run of its task does. */
  | "running"
  /** It does not go on until something happens that is not its own doing. */
  | "blocked"
  /** Its task is done. */
  | "completed"
  /** Its task failed, or its program does not run any more by itself. */
  | "failed"
  /** It was ended before its task was done. */
  | "cancelled"
  /** It was ended, and had no task. */
  | "closed";

/** The task for which alone a subagent is there. */
export interface SubagentTask {
  /** What it is called: 1 to 256 bytes. */
  title: string;
  /** Its id, by the caller's choice, as a UUID of version 7. */
  task_id?: TaskId | null;
  /** What is to be done: at most 1 MiB. Without it the title says it. */
  objective?: string | null;
  /** What must be true before it is completed, in words; at most 64. */
  acceptance?: Array<string>;
  /** What each run may use. */
  limits?: RunLimits;
  /** How many runs there are at most before it fails, 1 to 100. */
  attempts?: number;
  /** The task that hands a part of its work to it. Left out: the one that the calling agent works on, if it does. */
  delegated_by?: TaskId | null;
}

/** A subagent. */
export interface SubagentView {
  /** Which agent it is. */
  subagent_id: AgentId;
  /** Its name. */
  name: AgentName;
  /** Whose child it is. */
  parent: string;
  /** The same by id. */
  parent_id: AgentId;
  /** How many generations it is under the agent that was asked about; 1 for a child. */
  depth: number;
  /** How far it is. */
  status: SubagentStatus;
  /** The phase of the agent that it is. */
  phase: Phase;
  /** The newest epoch of it; 0 before the first. */
  epoch: Epoch;
  /** Its session. */
  session_id: SessionId;
  /** Its first thread. */
  thread_id: ThreadId;
  /** What divides it from its parent. */
  isolation: Isolation;
  /** What becomes of it when its parent has ended. */
  on_parent_exit: OnParentExit;
  /** Who started it. */
  spawned_by: SafeLabel;
  /** When. */
  spawned_at: Timestamp;
  /** Why it is there. */
  reason?: string | null;
  /** The task for which alone it is there. */
  task_id?: TaskId | null;
  /** Where that task is. */
  task_state?: TaskState | null;
  /** The newest run of that task. */
  run_id?: RunId | null;
  /** The message that it was given last. */
  last_message_id?: MessageId | null;
  /** Why it is to be retired, if it is. */
  closing_because?: string | null;
  /** When it was retired. */
  closed_at?: Timestamp | null;
}

/** Waits for subagents. */
export interface SubagentWaitParams {
  /** Which, by name or id: 1 to 64. One that is retired is named by its id. */
  subagents: Array<string>;
  /** How many of them. */
  wait_for?: WaitFor;
  /** For what. */
  until?: WaitUntil;
  /** Longest wait in milliseconds, at most a day. */
  timeout_ms?: number;
}

/** What was waited for. */
export interface SubagentWaitResult {
  /** All that were named, in that order. */
  items: Array<SubagentView>;
  /** Those that have come to it. */
  reached: Array<AgentId>;
}

/** Submits content as what it is: a tool's result, a document, a web page. */
export interface SubmitParams {
  /** Name or id. */
  agent: string;
  /** `tool`, `document` or `web`. */
  channel: Channel;
  /** The content. */
  parts: Array<Part>;
  /** Where it was found. */
  origin?: ContentOrigin | null;
  /** Which waiting message goes first. */
  priority?: Priority;
  /** Milliseconds after which it is no longer worth delivering. */
  expires_in_ms?: number | null;
  /** Key against submitting it twice. */
  idempotency_key?: string | null;
  /** The message that asked for it. */
  reply_to?: MessageId | null;
}

/** Follows a projection: what stands behind the place where it begins, and then each entry as it comes, as `stream/event` notifications. At most one of `from`, `after` and `cursor` may be given; without one it begins behind the newest. */
export interface SubscribeParams {
  /** What it is about; the node if not given. */
  target?: Target;
  /** Which projection; `log` if not given. */
  projection?: string;
  /** From where. */
  from?: From | null;
  /** Only what has a higher number. */
  after?: number | null;
  /** Only what follows the place that a cursor names. */
  cursor?: string | null;
  /** Whether the state is wanted first. What follows it then begins behind it, so none of the three above is given. */
  snapshot?: Snapshot;
  /** Only these types; a type may end in `*`. */
  types?: Array<string>;
  /** Most entries on their way that `stream/ack` has not named yet; without it the connection's own bounds hold. */
  max_inflight?: number | null;
  /** After so many milliseconds without an entry a `stream/state` says that the stream lives; from 100 to an hour. */
  heartbeat_ms?: number | null;
  /** What to do if the place of the cursor is gone. */
  on_gap?: OnGap;
}

/** A subscription. */
export interface SubscribeResult {
  /** The version of the projection, to which the numbers belong. */
  projection_version: number;
  /** The number of the first entry that may come. */
  next_seq: number;
  /** The oldest number that there is. */
  oldest_seq: number;
  /** The newest number that there is, 0 if there is nothing. */
  head_seq: number;
  /** The place where it begins. */
  cursor: string;
  /** How it begins. */
  mode: Mode;
  /** Its id; absent if only a snapshot was asked for. */
  subscription_id?: SubscriptionId | null;
  /** The state, if it was asked for or had to stand for what is gone. */
  snapshot?: SnapshotView | null;
}

export type SubscriptionId = string;

/** Names a subscription. */
export interface SubscriptionParams {
  /** Its id. */
  subscription_id: SubscriptionId;
}

/** Which subscriptions to show. */
export interface SubscriptionStatusParams {
  /** Only this one. */
  subscription_id?: SubscriptionId | null;
}

/** Subscriptions. */
export interface SubscriptionStatusResult {
  /** Those of this connection, oldest first. */
  items: Array<SubscriptionView>;
}

/** How a subscription is. */
export interface SubscriptionView {
  /** Its id. */
  subscription_id: SubscriptionId;
  /** What it is about. */
  target: Target;
  /** Which projection. */
  projection: string;
  /** Its version. */
  projection_version: number;
  /** `live`, `replaying` or `lagging`. */
  state: string;
  /** The number up to which everything was handed over or, for its type, passed over. */
  n: number;
  /** The number up to which the subscriber is done. */
  acked: number;
  /** How many entries it is behind the newest. */
  lag: number;
  /** Entries that were handed over and not acknowledged; counted where `max_inflight` was given. */
  inflight: number;
  /** Most of those. */
  max_inflight?: number | null;
}

/** Follows live what happens. Each filter that is given must let a step through. */
export interface TapParams {
  /** Only of this agent, by name or id. */
  agent?: string | null;
  /** Only of this thread. */
  thread?: ThreadId | null;
  /** Only what this principal did or asked for. */
  principal?: string | null;
  /** Only what came of these methods. */
  operations?: Array<string>;
}

/** A tap that is open. */
export interface TapResult {
  /** Its id. */
  tap_id: SubscriptionId;
}

/** What a projection is about. */
export interface Target {
  /** Which kind of thing. */
  kind: TargetKind;
  /** Which one, by its id; an agent also by its name. Left out for this node. */
  id?: string | null;
}

/** The kinds of things that a projection can be about. */
export type TargetKind =
  /** The node with everything on it. */
  | "node"
  /** One agent. */
  | "agent"
  /** An agent's session. */
  | "session"
  /** A thread of a session. */
  | "thread"
  /** A turn of a thread. */
  | "turn"
  /** Everything that belongs to one request. */
  | "trace"
  /** A task, or the graph that it belongs to. */
  | "task";

/** An edge as a graph shows it: tasks by their places in the list. */
export interface TaskArc {
  /** The task that it begins at. */
  from: number;
  /** How they are joined. */
  kind: EdgeKind;
  /** The task that it leads to, if that is of this graph. */
  to?: number | null;
  /** What it leads to, if that is none of this graph: a task's id or an address. */
  away?: string | null;
}

/** Has something happen to a task. */
export interface TaskChangeParams {
  /** Its id. */
  task_id: TaskId;
  /** Why, for people: at most 1,024 bytes. */
  reason?: string | null;
  /** Only if it is at this version. */
  if_version?: number | null;
}

/** Says that a task is done. All that must be true before it is completed has to be named, here or before. */
export interface TaskCompleteParams {
  /** Its id. */
  task_id: TaskId;
  /** The run that says so; it must be the one that lives. */
  run_id?: RunId | null;
  /** The numbers, from 0, of what must be true and is. */
  accepted?: Array<number>;
  /** Addresses of what it made, at most 64. */
  artifacts?: Array<string>;
  /** Addresses of what shows that it is done, at most 64. */
  evidence?: Array<string>;
  /** In words: at most 1,024 bytes. */
  note?: string | null;
  /** Only if it is at this version. */
  if_version?: number | null;
}

/** Writes a task down. */
export interface TaskCreateParams {
  /** What it is called: 1 to 256 bytes. */
  title: string;
  /** Its id, by the caller's choice, as a UUID of version 7: then it is the key against writing it down twice. */
  task_id?: TaskId | null;
  /** What is to be done: at most 1 MiB. Without it the title says it. */
  objective?: string | null;
  /** The task that it is a part of. */
  parent_id?: TaskId | null;
  /** Whose work it is, by name or id. Without one it is done by its parts, or by whoever says that it is done. */
  agent?: string | null;
  /** The agent's thread in which it is worked on; else its first one. */
  thread_id?: ThreadId | null;
  /** What kind of work it is. */
  kind?: SafeLabel | null;
  /** Who is meant to see it. */
  visibility?: Visibility;
  /** How urgent it is. */
  priority?: Priority;
  /** By what it is found, at most 16. */
  labels?: Record<string, SafeLabel>;
  /** What must be true before it is completed, in words; at most 64. With none, the good end of a run completes it. */
  acceptance?: Array<string>;
  /** What each run may use. */
  limits?: RunLimits;
  /** How many runs there are at most before it fails, 1 to 100. */
  attempts?: number;
  /** The tasks that it depends on, at most 1,000: it begins when all of them are completed. */
  depends_on?: Array<TaskId>;
  /** Whether it is to be begun as soon as it can be; else it is a draft. */
  start?: boolean;
}

/** A task with all that is said of it. */
export interface TaskDetail {
  /** The task. */
  task: TaskView;
  /** The edges that begin at it or lead to it. */
  edges: Array<EdgeView>;
  /** Its runs, oldest first; of very many the first 500. */
  runs: Array<RunView>;
  /** What is to be done; none of what was erased. */
  objective?: string | null;
}

/** Joins a task to another one, or to what an address names; or parts them. */
export interface TaskEdgeParams {
  /** The task that the edge begins at. */
  task_id: TaskId;
  /** How they are joined. */
  kind: EdgeKind;
  /** The task that it leads to: of `depends_on`, `delegated` and `source`. */
  to?: TaskId | null;
  /** The address that it leads to: of `produced`, `consumed` and `evidence`. At most 2,048 bytes. */
  uri?: string | null;
  /** Why, for people: at most 1,024 bytes. */
  reason?: string | null;
}

/** Says that a task failed. */
export interface TaskFailParams {
  /** Its id. */
  task_id: TaskId;
  /** Why, for people: at most 1,024 bytes. */
  reason: string;
  /** The run that says so; it must be the one that lives. */
  run_id?: RunId | null;
  /** Only if it is at this version. */
  if_version?: number | null;
}

/** Asks for a graph. */
export interface TaskGraphParams {
  /** Any of its tasks. */
  task_id: TaskId;
  /** Most tasks, at most 20,000; a graph with more is refused. */
  tasks_max?: number;
}

/** A graph. */
export interface TaskGraphResult {
  /** The task at its root. */
  root_id: TaskId;
  /** Its tasks, oldest first. */
  tasks: Array<TaskNode>;
  /** Its edges. */
  edges: Array<TaskArc>;
}

export type TaskId = string;

/** Which tasks a list shows. */
export interface TaskListParams {
  /** Of the graph with this task at its root. */
  root_id?: TaskId | null;
  /** Parts of this one. */
  parent_id?: TaskId | null;
  /** The work of this agent, by name or id. */
  agent?: string | null;
  /** In this state. */
  state?: TaskState | null;
  /** Also those that are over. */
  all?: boolean;
  /** What the page before gave as `next`. */
  cursor?: number;
  /** Most entries, at most 500. */
  limit?: number;
}

/** A list of tasks. */
export interface TaskListResult {
  /** Oldest first. */
  items: Array<TaskView>;
  /** What to give as `cursor` for the next page, if there is one. */
  next?: number | null;
}

/** A task as a graph shows it. */
export interface TaskNode {
  /** Its id. */
  task_id: TaskId;
  /** What it is called. */
  title: string;
  /** Where it is. */
  state: TaskState;
  /** How many runs there were. */
  attempts: number;
  /** The task that it is a part of, by its place in the list. */
  parent?: number | null;
}

/** Names a task. */
export interface TaskParams {
  /** Its id. */
  task_id: TaskId;
}

/** Says how far a task is. */
export interface TaskProgressParams {
  /** Its id. */
  task_id: TaskId;
  /** The run that says so; it must be the one that lives. */
  run_id?: RunId | null;
  /** What is being done: at most 256 bytes. */
  phase?: string | null;
  /** How much is done. */
  done?: number | null;
  /** How much there is to do. */
  total?: number | null;
  /** The numbers, from 0, of what must be true and is. */
  accepted?: Array<number>;
  /** In words: at most 1,024 bytes. */
  note?: string | null;
}

/** How far a task is. */
export interface TaskProgressView {
  /** When it was said. */
  at: Timestamp;
  /** The run that says so. */
  run_id?: RunId | null;
  /** What is being done. */
  phase?: string | null;
  /** How much is done. */
  done?: number | null;
  /** How much there is to do. */
  total?: number | null;
  /** In words. */
  note?: string | null;
}

/** Where a task is. `stale` and `unknown` are what a reader may say of one; no task ever becomes them. */
export type TaskState =
  /** Written down; nobody is to begin it yet. */
  | "draft"
  /** Meant to be done; not to be begun yet. */
  | "accepted"
  /** To be begun as soon as somebody takes it. */
  | "queued"
  /** A run of it was admitted; its program has not been told yet. */
  | "preparing"
  /** It is being worked on. */
  | "running"
  /** It waits for words, or for somebody to accept what came of it. */
  | "waiting_input"
  /** It waits for leave. */
  | "waiting_permission"
  /** It waits for something that it needs. */
  | "waiting_resource"
  /** It waits for tasks that it depends on. */
  | "blocked"
  /** It rests until somebody lets it go on. */
  | "paused"
  /** It is about to be tried again. */
  | "retrying"
  /** It is to end, and whatever works on it is being told. */
  | "cancelling"
  /** It was ended before it was done. */
  | "cancelled"
  /** Its time was over. */
  | "timed_out"
  /** It failed. */
  | "failed"
  /** Whether it is worked on, or how it ended, cannot be known. */
  | "lost"
  /** It is done, and what was to be accepted is. */
  | "completed"
  /** It is over and put away. */
  | "archived"
  /** What is known of it is old. */
  | "stale"
  /** Nothing is known of it. */
  | "unknown";

/** Changes what is to be done in a task that is not over. What is left out stays. */
export interface TaskUpdateParams {
  /** Its id. */
  task_id: TaskId;
  /** Only if it is at this version. */
  if_version?: number | null;
  /** What it is called. */
  title?: string | null;
  /** What is to be done. */
  objective?: string | null;
  /** Whose work it is. A run that lives goes on where it is. */
  agent?: string | null;
  /** How urgent it is. */
  priority?: Priority | null;
  /** By what it is found, in full. */
  labels?: Record<string, SafeLabel> | null;
  /** What must be true before it is completed, in full. */
  acceptance?: Array<string> | null;
  /** What each further run may use, in full. */
  limits?: RunLimits | null;
  /** How many runs there are at most. */
  attempts?: number | null;
}

/** A task. */
export interface TaskView {
  /** Its id. */
  task_id: TaskId;
  /** The task at the root of its graph. */
  root_id: TaskId;
  /** What it is called. */
  title: string;
  /** Where it is. */
  state: TaskState;
  /** Who is meant to see it. */
  visibility: Visibility;
  /** How urgent it is. */
  priority: Priority;
  /** How many runs there were. */
  attempts: number;
  /** How many there are at most. */
  attempts_max: number;
  /** What its words weigh at most. */
  authority: Authority;
  /** Who wants it done. */
  created_by: SafeLabel;
  /** When it was written down. */
  created_at: Timestamp;
  /** When it came where it is. */
  moved_at: Timestamp;
  /** Grows with each change. */
  version: number;
  /** The task that it is a part of. */
  parent_id?: TaskId | null;
  /** Why it is there. */
  reason?: string | null;
  /** Whose work it is. */
  agent?: string | null;
  /** The same by id. */
  agent_id?: AgentId | null;
  /** The thread in which it is worked on, if that is not the agent's first one. */
  thread_id?: ThreadId | null;
  /** What kind of work it is. */
  kind?: SafeLabel | null;
  /** By what it is found. */
  labels?: Record<string, SafeLabel>;
  /** What must be true before it is completed. */
  acceptance?: Array<CriterionView>;
  /** What each run may use. */
  limits?: RunLimits;
  /** How far it is. */
  progress?: TaskProgressView | null;
  /** The run that works on it. */
  run_id?: RunId | null;
  /** Why it is to be ended, if it is. */
  cancelled_because?: string | null;
}

/** 1 to 63 lower-case letters, digits or `-`, beginning and ending with a letter or digit */
export type Tenant = string;

/** Ends a process. */
export interface TerminateParams {
  /** Which. */
  process_id: ProcessId;
  /** How long it may take to end by itself after it was asked to, in milliseconds; it is not asked without. */
  grace_ms?: number | null;
  /** Why, for the record. */
  reason?: string | null;
}

/** What something is. */
export type ThingKind =
  /** A file. */
  | "file"
  /** A folder. */
  | "folder"
  /** A symbolic link. */
  | "link";

/** What something was, or is. */
export interface ThingView {
  /** What it is. */
  kind: ThingKind;
  /** Its bytes, of a file. */
  bytes?: number | null;
  /** Its permissions in octal digits, but of a link. */
  mode?: string | null;
}

/** Archives a thread. */
export interface ThreadArchiveParams {
  /** Its id. */
  thread_id: ThreadId;
  /** Only if it is at this version. */
  if_version?: number | null;
  /** Why, for people. */
  reason?: string | null;
}

/** Draws a boundary in a thread: what is up to it is told as a summary from here on. */
export interface ThreadCompactParams {
  /** The thread. */
  thread_id: ThreadId;
  /** What stands for it: 1 to 16,384 bytes. It is quoted as the caller's words. */
  summary: string;
  /** The last turn that the summary stands for; if not said, the newest one that has begun and does not run. */
  through?: TurnId | null;
  /** Whether its program begins anew at once. Else it keeps what it has until its next epoch, and a turn that runs is left alone. */
  rebuild?: boolean;
  /** Whether a turn that runs is cut short for it. */
  interrupt?: boolean;
  /** Only if the thread is at this version. */
  if_version?: number | null;
  /** Why, for people. */
  reason?: string | null;
}

/** What a compaction came to. */
export interface ThreadCompactResult {
  /** The thread as it is now. */
  thread: ThreadView;
  /** The last turn that the summary stands for. */
  through: TurnId;
  /** How many turns it stands for. */
  turns: number;
  /** What becomes of the program's context. */
  rebuilt: ContextRebuilt;
  /** What waits for a person and goes on waiting. */
  open_actions?: Array<ActionId>;
  /** Tokens that the program's context held before, as far as it said so. */
  tokens_before?: number | null;
}

/** Makes a thread. */
export interface ThreadCreateParams {
  /** Its id, by the caller's choice, as a UUID of version 7: then it is the key against making it twice. */
  thread_id?: ThreadId | null;
  /** The session that it becomes part of; else the agent's first one. */
  session_id?: SessionId | null;
  /** Name or id; an agent may leave its own out. */
  agent?: string | null;
  /** What it is called, at most 256 bytes. */
  title?: string | null;
  /** By what it is found, at most 16. */
  labels?: Record<string, SafeLabel>;
  /** The thread that it goes on from, with all of its turns so far. */
  parent_thread_id?: ThreadId | null;
}

/** Makes a thread that goes on from a turn of another one. */
export interface ThreadForkParams {
  /** The thread to go on from. */
  thread_id: ThreadId;
  /** The last turn that is part of the fork's history; the newest one that was given if not said. */
  turn_id?: TurnId | null;
  /** The agent that the fork belongs to, if it is another one. */
  agent?: string | null;
  /** The fork's id, by the caller's choice: then it is the key against making it twice. */
  fork_id?: ThreadId | null;
  /** What it is called, at most 256 bytes. */
  title?: string | null;
  /** By what it is found, at most 16. */
  labels?: Record<string, SafeLabel>;
}

export type ThreadId = string;

/** Lists threads. */
export interface ThreadListParams {
  /** Only those of this agent. */
  agent?: string | null;
  /** Only those of this session. */
  session_id?: SessionId | null;
  /** Also archived ones. */
  archived?: boolean;
  /** Most to list, at most 500. */
  limit?: number;
  /** Where the page before ended. */
  cursor?: number;
}

/** Threads. */
export interface ThreadListResult {
  /** In the order in which they began. */
  items: Array<ThreadView>;
  /** What to give as `cursor` to read on, if there is more. */
  next?: number | null;
}

/** Names a thread. */
export interface ThreadParams {
  /** Its id. */
  thread_id?: ThreadId | null;
  /** An agent by name or id, whose first thread is meant. */
  agent?: string | null;
}

/** What happens in a thread now. */
export interface ThreadReadResult {
  /** The thread, with its status. */
  thread: ThreadView;
  /** How it is with the agent behind it. */
  agent_state: AgentState;
  /** The turns that wait, in the order of delivery; at most 50. */
  queue: Array<QueuedTurn>;
  /** How many turns wait in all. */
  queued: number;
  /** What waits for a person. */
  pending_actions: Array<ActionId>;
  /** What went wrong in the newest turns, newest first. */
  incidents: Array<Incident>;
  /** What is not known, and why. What stands here is not healthy by its absence. */
  markers: Array<Marker>;
  /** The number of the newest event of the agent that this is made of. */
  as_of_seq: number;
  /** The turn that runs. */
  open_turn?: TurnView | null;
  /** What the newest turn that ended came to. */
  last_output?: OutputRef | null;
}

/** What a crash or a stop left in a thread. */
export interface ThreadResumeResult {
  /** The thread, with its status. */
  thread: ThreadView;
  /** How it is with the agent behind it. */
  agent_state: AgentState;
  /** What is uncertain or stuck, newest first, and what can be done. */
  repairs: Array<Repair>;
  /** The turn that runs. */
  open_turn?: TurnView | null;
}

/** Takes the last turns of a thread out of its history. */
export interface ThreadRollbackParams {
  /** The thread. */
  thread_id: ThreadId;
  /** The last turn that survives; none means that none does. */
  to_turn?: TurnId | null;
  /** Whether a turn that runs is cut short for it. */
  interrupt?: boolean;
  /** Only if the thread is at this version. */
  if_version?: number | null;
  /** Why, for people. */
  reason?: string | null;
}

/** What a rollback came to. */
export interface ThreadRollbackResult {
  /** The thread as it is now. */
  thread: ThreadView;
  /** The turns that were taken out, oldest first; empty if there was nothing to do. */
  removed: Array<TurnId>;
  /** How many turns survive. */
  surviving: number;
  /** What becomes of the program's context. */
  rebuilt: ContextRebuilt;
  /** How much of the former context the program begins with: `partial` where it is told of what survives. */
  continuity: Continuity;
  /** The last turn that survives. */
  to_turn?: TurnId | null;
}

/** How it is with a thread. */
export type ThreadStatus =
  /** Nothing is to be done. */
  | "idle"
  /** A turn waits. */
  | "queued"
  /** A turn runs. */
  | "running"
  /** A turn runs or waits, and a person must do something first. */
  | "blocked"
  /** It is archived. */
  | "archived"
  /** What its program does cannot be known now. */
  | "unknown";

/** A thread that is made together with its first turn. */
export interface ThreadToCreate {
  /** Name or id; an agent may leave its own out. */
  agent?: string | null;
  /** Its id; else it has the UUID of the turn. */
  thread_id?: ThreadId | null;
  /** What it is called, at most 256 bytes. */
  title?: string | null;
  /** By what it is found, at most 16. */
  labels?: Record<string, SafeLabel>;
}

/** Calls a thread something else. */
export interface ThreadUpdateParams {
  /** Its id. */
  thread_id: ThreadId;
  /** What it is called from here on; an empty one is none. */
  title?: string | null;
  /** All labels that it has from here on. */
  labels?: Record<string, SafeLabel> | null;
  /** Only if it is at this version. */
  if_version?: number | null;
}

/** A thread. */
export interface ThreadView {
  /** Its id. */
  thread_id: ThreadId;
  /** The session that it is part of. */
  session_id: SessionId;
  /** The agent that owns it. */
  agent: string;
  /** The same by id. */
  agent_id: AgentId;
  /** Whether it is the agent's first one: that of messages that name none. */
  main: boolean;
  /** How it is. */
  status: ThreadStatus;
  /** Whether the agent's program has a context for it alone. */
  context: Context;
  /** How many turns were rolled back. */
  removed_turns: number;
  /** Grows with each change of the thread itself, not with its turns. */
  version: number;
  /** When it began. */
  created_at: Timestamp;
  /** When it was changed last. */
  updated_at: Timestamp;
  /** What it is called. */
  title?: string | null;
  /** By what it is found. */
  labels?: Record<string, SafeLabel>;
  /** What it was forked from. */
  parent?: ParentView | null;
  /** Up to where it is told as a summary. */
  compacted?: CompactionView | null;
  /** When it was archived. */
  archived_at?: Timestamp | null;
}

export type Timestamp = string;

/** Tokens, as a program counts them. */
export interface TokenCounts {
  /** That went in. */
  input: number;
  /** That came out. */
  output: number;
  /** All of them. */
  total: number;
}

export type TokenId = string;

/** For whom a token speaks. */
export type TokenKind =
  /** A person with some of an operator's rights. */
  | "operator"
  /** A program, such as a workflow engine: its messages come in on `workflow`. */
  | "service";

/** A token, without its secret. */
export interface TokenView {
  /** Its id. */
  token_id: TokenId;
  /** As whom its bearer is known. */
  principal: SafeLabel;
  /** For a person or for a program. */
  kind: TokenKind;
  /** What its bearer may do. */
  scopes: Array<Scope>;
  /** Roles in which its bearer decides pending actions. */
  roles: Array<SafeLabel>;
  /** When it was made. */
  created_at: Timestamp;
  /** SHA-256 of the certificate, if it is no secret but a certificate. */
  certificate?: string | null;
  /** Whether that of a person counts over network connections. */
  remote?: boolean;
  /** When it is worth nothing. */
  expires_at?: Timestamp | null;
  /** Since when it is worth nothing, and why. */
  revoked?: string | null;
}

/** The tokens that were made. */
export interface TokensResult {
  /** Oldest first. */
  items: Array<TokenView>;
}

/** How much is told of a span. */
export type TraceDetail =
  /** Its place, its owner and its time. */
  | "brief"
  /** Its attributes and the events that it was read from, too. */
  | "full";

/** An event that a verdict rests on. */
export interface TraceEvidence {
  /** Its position. */
  pos: number;
  /** What it shows. */
  shows: string;
}

/** Something that the record cannot tell. */
export interface TraceGap {
  /** What is missing. */
  what: string;
  /** When it was noticed. */
  at: Timestamp;
  /** Of which agent. */
  agent?: string | null;
  /** The events that say so. */
  events?: Array<number>;
}

export type TraceId = string;

/** Names a trace by one of five things. */
export interface TraceParams {
  /** The trace itself. */
  trace_id?: TraceId | null;
  /** The trace of this message. */
  message_id?: MessageId | null;
  /** The trace of this turn. */
  turn_id?: TurnId | null;
  /** The trace of the newest message of this thread. */
  thread_id?: ThreadId | null;
  /** The trace of this agent's newest turn, by name or id. */
  agent?: string | null;
  /** How much is told of each span. */
  detail?: TraceDetail;
}

/** What a trace comes to: exactly one of these. */
export type TraceVerdict =
  /** A part of what happened is not in the record. */
  | "replay_gap"
  /** A person is or was waited for. */
  | "approval_wait"
  /** An agent was busy with something else. */
  | "queue_wait"
  /** A program was started, restarted or ended badly. */
  | "runtime_delay"
  /** A turn shows no sign of life. */
  | "inference_timeout"
  /** A lock on paths of a workspace was waited for, or the request was refused because of one. */
  | "workspace_lock"
  /** A call of a connector waited for leave, was refused by a rule, or its server does not let the node in. */
  | "connector_permission"
  /** Nothing took longer than it should. */
  | "healthy";

/** One entry of a transcript. */
export interface TranscriptEntry {
  /** Its number in the agent's stream; of pieces told as one, the last one's. */
  seq: number;
  /** When. */
  at: Timestamp;
  /** The epoch that heard, said or did it. */
  epoch: Epoch;
  /** Who said or did it, and how. */
  spoken: Spoken;
  /** Of which kind: of what the agent said besides and of pieces; of a session and an epoch, what became of it. */
  kind?: SafeLabel | null;
  /** The message, or the one whose turn it belongs to. */
  message_id?: MessageId | null;
  /** The turn that ended. */
  turn_id?: TurnId | null;
  /** The item that a piece belongs to. */
  item_id?: ItemId | null;
  /** The question, vote or decision. */
  action_id?: ActionId | null;
  /** How far it is: of a use of a tool its state, of a turn and a decision the outcome, of an epoch and a session the continuity. */
  status?: SafeLabel | null;
  /** What it weighs, where that is known. */
  authority?: Authority | null;
  /** What was said; of a message as its session saw it, with header and fence; of a decision and an end the reason. Nothing if it was erased. */
  text?: string | null;
  /** What it is, where that is more than a text. Long texts in it are shortened. */
  data?: Json;
  /** Whether there is more of it than is shown: at most 16 KiB are. */
  is_cut?: boolean;
}

/** Reads what was said to an agent, by it, and what it did. */
export interface TranscriptParams {
  /** Name or id. Left out: the calling agent. */
  agent?: string | null;
  /** Only what stands behind this number of the agent's stream. Left out: the newest. */
  after?: number | null;
  /** Most entries, at most 500; 50 if not given. Long ones may make it fewer. */
  limit?: number | null;
  /** Only what belongs to this epoch. */
  epoch?: Epoch | null;
  /** Only the turn of this message. */
  message_id?: MessageId | null;
  /** How much is told; everything if not given. */
  detail?: Detail;
}

/** What was said to an agent and by it, and what it did, oldest first. */
export interface TranscriptResult {
  /** The entries. */
  items: Array<TranscriptEntry>;
  /** What to give as `after` to read on. */
  next: number;
  /** Whether there was nothing more at the time. A part without entries need not be the last one: so many events are looked through for each. */
  end: boolean;
}

/** What was set how when the problem was given. */
export interface TrialConfiguration {
  /** Its name. */
  id: SafeLabel;
  /** What it is known by. */
  digest?: string | null;
  /** The one thing that is other than in the baseline. */
  changed_variable?: string | null;
}

/** Which problems are given, and which of them this one is. */
export interface TrialDataset {
  /** Its name. */
  id: SafeLabel;
  /** Its version; two versions are two datasets. */
  version: SafeLabel;
  /** Which of its problems. */
  case: SafeLabel;
  /** Where it is to be had. */
  ref?: string | null;
  /** What its bytes are known by. */
  digest?: string | null;
}

/** Has a trial written out. */
export interface TrialExportParams {
  /** Which. */
  trial_id: TrialId;
  /** Whether its pack is written on the node also if it is small. */
  write?: boolean;
}

/** A trial, written out: a summary, and a pack of evidence that it can be checked by. */
export interface TrialExportResult {
  /** The standard's form. */
  schemaVersion: string;
  /** What was measured. */
  benchmark: Json;
  /** To what of the runtime it belongs. */
  runtimeCorrelation: Json;
  /** Where its parts are: in the pack, and elsewhere. */
  refs: Record<string, string>;
  /** What was measured about it. What is not known is `null`, never 0. */
  metrics: Json;
  /** What whoever decides about it may want to know. */
  decisionInputs: Json;
  /** What the agent was told, said and did, in the Agent Trajectory Interchange Format. */
  trajectory: Json;
  /** What it is worth, with all that was said before; `null` if nobody said it. */
  reward: Json;
  /** What it made: names and digests. */
  artifacts: Array<Json>;
  /** What of each kind of signal is in it. */
  signals: Array<SignalView>;
  /** What is missing, and why. */
  knownGaps: Array<Json>;
  /** The pack's id. */
  packId: string;
  /** SHA-256 of the pack's manifest, which names all else. */
  digest: string;
  /** The key that signed it. */
  signedBy: SafeLabel;
  /** Its files, with the manifest and the signature. */
  fileRefs: Array<PackRef>;
  /** The folder on the node's machine in which it was written; nothing if it comes with this answer. */
  path?: string | null;
  /** Its files, if it is small. */
  files?: Array<PackFile>;
}

export type TrialId = string;

/** What belongs to a trial elsewhere. Nothing of it is read by the node. */
export interface TrialRefs {
  /** The job of Harbor. */
  harbor_job?: string | null;
  /** The trial of Harbor. */
  harbor_trial?: string | null;
  /** The file that says what the problem is. */
  task_toml?: string | null;
  /** What a check of the agent's quality found. */
  qc_report?: string | null;
  /** What the verifier printed. */
  verifier_output?: string | null;
}

/** What a trial is for. */
export type TrialRole =
  /** How it was before the change. */
  | "baseline"
  /** How it is with the change. */
  | "candidate"
  /** Beside both, to see what changes by itself. */
  | "control";

/** Gives an agent a task to measure it. */
export interface TrialStartParams {
  /** Who is tried: name or id. */
  agent: string;
  /** What it is told, word for word: 1 byte to 256 KiB. */
  content: string;
  /** Which problem it is. */
  dataset: TrialDataset;
  /** What is set how. */
  configuration: TrialConfiguration;
  /** A key of the caller's choice: under the same key the same request is the same trial. */
  key?: SafeLabel | null;
  /** What it is for. */
  role?: TrialRole;
  /** Who will say what it is worth. Then nobody else's word is recorded. */
  verifier?: TrialVerifier | null;
  /** The how manieth of its kind it is. */
  repetition?: number | null;
  /** What it may use. */
  limits?: RunLimits;
  /** What belongs to it elsewhere. */
  refs?: TrialRefs;
}

/** Who says what a trial is worth. */
export interface TrialVerifier {
  /** Its name. */
  id: SafeLabel;
  /** Its version; two versions are two verifiers. */
  version: SafeLabel;
}

/** A trial. */
export interface TrialView {
  /** Its id. */
  trial_id: TrialId;
  /** The task that it is. */
  task_id: TaskId;
  /** The one run of it. */
  run_id: RunId;
  /** Who is tried. */
  agent: string;
  /** Who is tried. */
  agent_id: AgentId;
  /** Which problem it is. */
  dataset: TrialDataset;
  /** What is set how. */
  configuration: TrialConfiguration;
  /** What it is for. */
  role: TrialRole;
  /** BLAKE3 of all that must be alike in trials that are compared. */
  manifest_hash: string;
  /** Where its task is. */
  state: TaskState;
  /** When it was given. */
  started_at: Timestamp;
  /** Who says what it is worth, if that is fixed. */
  verifier?: TrialVerifier | null;
  /** The how manieth of its kind it is. */
  repetition?: number | null;
  /** How its run ended, if it has. */
  outcome?: RunState | null;
  /** The limit that it passed, if that is why. */
  limit?: RunLimit | null;
  /** When it ended, if it has. */
  ended_at?: Timestamp | null;
  /** The reward that counts. */
  reward?: RewardView | null;
}

/** Which trials. */
export type Trials = TrialId | Array<TrialId> | TrialsOf;

/** All trials of a configuration with a version of a dataset. */
export interface TrialsOf {
  /** The configuration's name. */
  configuration: SafeLabel;
  /** The dataset's name. */
  dataset: SafeLabel;
  /** Its version. */
  version: SafeLabel;
}

/** What of a process's output is shown. */
export type Truncation =
  /** All of it. */
  | "none"
  /** Its beginning is missing. */
  | "head"
  /** Its middle is missing. */
  | "middle";

export type TurnId = string;

/** Asks for the end of a turn. */
export interface TurnInterruptParams {
  /** The turn. */
  turn_id: TurnId;
  /** Why, for people and the program. */
  reason?: string | null;
  /** What becomes of the turns of its thread that wait. Only operators may drop them. */
  queued?: QueueFate;
}

/** What became of a request for the end of a turn. */
export interface TurnInterruptResult {
  /** What became of it. */
  outcome: InterruptOutcome;
  /** The turn as it is now. */
  turn: TurnView;
  /** The waiting turns that were dropped. */
  dropped?: Array<TurnId>;
}

/** Lists turns. */
export interface TurnListParams {
  /** Those of a thread. */
  thread_id?: ThreadId | null;
  /** Those of all threads of an agent, by name or id. */
  agent?: string | null;
  /** Also those that were rolled back. */
  removed?: boolean;
  /** The newest first. */
  newest?: boolean;
  /** Most to look through, at most 500. */
  limit?: number;
  /** Where the page before ended. */
  cursor?: number;
}

/** Turns. */
export interface TurnListResult {
  /** In the order in which they were accepted, or newest first. */
  items: Array<TurnView>;
  /** What to give as `cursor` to read on, if there is more. */
  next?: number | null;
}

/** Names a turn. */
export interface TurnParams {
  /** Its id. */
  turn_id: TurnId;
}

/** Begins a turn. */
export interface TurnStartParams {
  /** What to say: at most 4 MiB of JSON. */
  input: Array<Part>;
  /** The thread; or name an agent, or a thread to make. */
  thread_id?: ThreadId | null;
  /** An agent by name or id, whose first thread is meant. */
  agent?: string | null;
  /** A thread that is made together with the turn. */
  create?: ThreadToCreate | null;
  /** Its id, by the caller's choice, as a UUID of version 7: then it is the key against beginning it twice. */
  turn_id?: TurnId | null;
  /** What becomes of it while another turn runs or waits. */
  on_busy?: OnBusy;
  /** Which waiting turn goes first. */
  priority?: Priority;
  /** Milliseconds after which it is no longer worth beginning. */
  expires_in_ms?: number | null;
  /** What it may use. With limits its task and its run are written down; without, they are read from the turn. */
  limits?: RunLimits;
  /** The workspace that the turn's run is bound to, in the step that makes the turn. */
  workspace_id?: WorkspaceId | null;
  /** What may be done in it: `rw` unless it is said. */
  workspace_mode?: BindingMode | null;
  /** Less authority than the caller has; more is refused. */
  authority?: Authority | null;
  /** Key against beginning it twice. */
  idempotency_key?: string | null;
  /** The message it answers. */
  reply_to?: MessageId | null;
  /** The message that made the caller begin it. */
  causation?: MessageId | null;
  /** For whom the caller speaks, nearest first; at most eight. */
  on_behalf_of?: Array<BehalfParam>;
  /** A name that the caller gives itself; shown to people, never proof. */
  display_name?: string | null;
}

/** What a turn that was begun is known by. */
export interface TurnStartResult {
  /** The turn; of a steered one, the turn that it goes into. */
  turn_id: TurnId;
  /** The run that the turn is: it has the turn's UUID. */
  run_id: RunId;
  /** The task of which that is a run: with the same UUID, if the turn was not begun for a task. */
  task_id: TaskId;
  /** Its thread. */
  thread_id: ThreadId;
  /** The message that it is. */
  message_id: MessageId;
  /** What became of it at once. */
  disposition: Disposition;
  /** Where to follow it. */
  stream: StreamPlace;
  /** How many waiting turns are delivered before it, and itself; of one that waits. */
  queue_position?: number | null;
  /** The workspaces that its run is bound to. */
  bindings?: Array<RunBindingView>;
  /** Whether it had been begun before with this id or key. */
  duplicate?: boolean;
}

/** How it is with a turn. */
export type TurnState =
  /** It waits. */
  | "queued"
  /** Its program has it. */
  | "running"
  /** Its program ended it. */
  | "completed"
  /** It was asked to end and did, or its epoch ended. */
  | "interrupted"
  /** Its program failed, or it was given up. */
  | "failed"
  /** Nobody knows whether it came to its program. */
  | "ambiguous"
  /** It was refused after it was accepted, or dropped from the queue. */
  | "rejected"
  /** Its time was over before it began. */
  | "expired"
  /** Its program has it, and says nothing of the ends of turns. */
  | "unknown";

/** Says something into a turn that runs. */
export interface TurnSteerParams {
  /** The turn. */
  turn_id: TurnId;
  /** What to say. */
  input: Array<Part>;
  /** Less authority than the caller has; more is refused. */
  authority?: Authority | null;
  /** Key against saying it twice. */
  idempotency_key?: string | null;
}

/** What a turn used. */
export interface TurnUsage {
  /** Its tokens. */
  tokens: TokenCounts;
  /** The message that began it. */
  message_id?: MessageId | null;
}

/** A turn. */
export interface TurnView {
  /** Its id. */
  turn_id: TurnId;
  /** The run that it is: it has the turn's UUID. */
  run_id: RunId;
  /** The task of which that is a run: with the same UUID, if it was not begun for a task. */
  task_id: TaskId;
  /** Its thread. */
  thread_id: ThreadId;
  /** The agent that it was put to. */
  agent: string;
  /** How it is. */
  state: TurnState;
  /** Grows with each event that is known of it. */
  version: number;
  /** The message that it is; none if the program began the turn by itself. */
  message_id?: MessageId | null;
  /** Why, where there is a reason. */
  reason?: string | null;
  /** Who began it. */
  source?: SafeLabel | null;
  /** On which channel. */
  channel?: Channel | null;
  /** How what was put weighs. */
  authority?: Authority | null;
  /** When it was accepted. */
  accepted_at?: Timestamp | null;
  /** When its program had it. */
  started_at?: Timestamp | null;
  /** When it was over. */
  ended_at?: Timestamp | null;
  /** The epoch that had it last. */
  epoch?: Epoch | null;
  /** Its program's own word for why it ended. */
  outcome?: SafeLabel | null;
  /** What it came to. */
  output?: OutputRef | null;
  /** That somebody asked for its end. */
  interrupt?: InterruptView | null;
  /** Whether it was rolled back and is no part of its thread's history. */
  removed?: boolean;
}

/** What an agent used. */
export interface UsageView {
  /** The agent's name. */
  agent: string;
  /** The agent. */
  agent_id: AgentId;
  /** Who says so: `program`, or `nobody` if it never said anything. */
  said_by: string;
  /** How often it did. */
  reports: number;
  /** Tokens of all turns. */
  tokens: TokenCounts;
  /** What that cost. */
  cost: CostView;
  /** The newest turns, oldest first. */
  turns: Array<TurnUsage>;
  /** Turns before those. */
  turns_more: number;
  /** Number of the newest event that this knows, in the agent's stream. */
  as_of_seq: number;
  /** Tokens that its context holds. */
  context_tokens?: number | null;
}

/** What was used by those trials that it is known of. */
export interface Used {
  /** All of it together. */
  total: number;
  /** Trials that it is known of. */
  trials: number;
}

/** As whom a program runs. */
export interface UserView {
  /** Name, `unknown` if this machine has none for it. */
  name: string;
  /** User id. */
  uid: number;
  /** Group id, if it is known. */
  gid?: number | null;
}

/** What one person said. */
export type Verdict = VerdictApprove | VerdictDeny | VerdictAnswer;

/** Leave is given. */
export interface VerdictApprove {
  verdict: "approve";
  /** Which of the answers that are offered is given, by its id; left out: the one that allows just this once. */
  option?: string | null;
}

/** Leave is refused. */
export interface VerdictDeny {
  verdict: "deny";
  /** Why, in their words. */
  reason?: string | null;
  /** Which of the answers that are offered is given, by its id; left out: the one that refuses just this once. */
  option?: string | null;
}

/** The answer to a question. */
export interface VerdictAnswer {
  verdict: "answer";
  /** A choice, a value of the schema, or words. */
  value: Json;
}

/** A projection of a target that was compared with one made anew. */
export interface Verified {
  /** Its name. */
  name: string;
  /** Its version. */
  version: number;
  /** What it is about. */
  target: Target;
  /** The number of its newest entry. */
  as_of_seq: number;
  /** The place on the node up to which everything is in it. */
  as_of_pos: number;
  /** The digest of what is kept. */
  digest: string;
  /** The digest of what was made anew. */
  rebuilt: string;
  /** Whether they are equal. */
  equal: boolean;
  /** Events a second. */
  events_per_s: number;
}

/** Who is meant to see a task. */
export type Visibility =
  /** Whoever asked for it waits for it. */
  | "foreground"
  /** It is done beside other things. */
  | "background"
  /** It is a part of other work. */
  | "internal";

/** What one person said. */
export interface VoteView {
  /** Who. */
  principal: SafeLabel;
  /** What. */
  verdict: Verdict;
  /** When. */
  at: Timestamp;
}

/** How many of several subagents are waited for. */
export type WaitFor =
  /** One of them. */
  | "any"
  /** Each of them. */
  | "all";

/** Waits until an agent is in one of some phases. */
export interface WaitParams {
  /** Name or id. */
  agent: string;
  /** Any of these will do. */
  phases: Array<Phase>;
  /** Longest wait in milliseconds. */
  timeout_ms: number;
}

/** What of a subagent is waited for. */
export type WaitUntil =
  /** That it has come to an end: completed, failed, cancelled or closed. */
  | "end"
  /** That, or that it runs with no message waiting and no turn under way. */
  | "idle";

/** What an override is to do. */
export type WantedKind =
  /** End the agents, and let none begin. */
  | "stop"
  /** Suspend the agents, and let none begin. */
  | "pause"
  /** Undo what they did: not served. */
  | "rollback"
  /** Change what they do: not served. */
  | "modify";

/** A trace, read from the record. */
export interface Waterfall {
  /** Its id. */
  trace_id: TraceId;
  /** The moment as of which open spans are seen. */
  as_of: Timestamp;
  /** The newest event of the record at that moment. */
  as_of_pos: number;
  /** Where it came in. */
  entry_point: EntryPoint;
  /** When it began. */
  start: Timestamp;
  /** Parents before their parts, and those that began first before others. */
  spans: Array<Span>;
  /** What the record cannot tell. */
  gaps: Array<TraceGap>;
  /** When its last span ended; none while one is open. */
  end?: Timestamp | null;
}

/** Takes back what an agent offers. Calls that run may still be answered. */
export interface WithdrawCapabilityParams {
  /** Its id or its whole name. */
  capability: string;
}

/** Makes a folder known as a workspace: that of an agent, or one that is named. One that is known stays as it is. */
export interface WorkspaceCreateParams {
  /** The agent whose folder it is. */
  agent?: string | null;
  /** The folder, by its whole path; only for operators. */
  folder?: string | null;
}

/** Ends a workspace. */
export interface WorkspaceDeleteParams {
  /** Which. */
  workspace_id: WorkspaceId;
  /** Why, for the record. */
  reason?: string | null;
}

export type WorkspaceId = string;

/** Which folder a subagent works in. */
export type WorkspaceIsolation =
  /** One of its own, empty at first. */
  | "own"
  /** That of its parent. */
  | "shared"
  /** One of its own with what its parent's held when it was spawned. */
  | "forked";

/** Which workspaces to list. */
export interface WorkspaceListParams {
  /** Only that of this agent. */
  agent?: string | null;
  /** Most workspaces, at most 500. */
  limit?: number;
  /** Where a former list ended. */
  cursor?: string | null;
}

/** Workspaces. */
export interface WorkspaceListResult {
  /** In the order in which they became known. */
  workspaces: Array<WorkspaceView>;
  /** Where the next list begins. */
  next_cursor?: string | null;
}

/** Names a workspace. */
export interface WorkspaceParams {
  /** Which. */
  workspace_id: WorkspaceId;
}

/** A workspace. */
export interface WorkspaceView {
  /** Its id. */
  workspace_id: WorkspaceId;
  /** Its folder. */
  folder: string;
  /** How many states of it are kept. */
  checkpoints: number;
  /** When it became known. */
  created_at: Timestamp;
  /** The agent whose own it is. */
  agent?: string | null;
  /** Its id. */
  agent_id?: AgentId | null;
  /** The number of the last change of a file by `workspace/file.*`; 0 if there was none. */
  write_seq?: number;
  /** The checkpoint that it is being brought back to. */
  restoring?: CheckpointId | null;
  /** What it is bound to. */
  bindings?: Array<BindingView>;
}

/** Types keys. */
export interface WriteParams {
  /** Through this attachment, which must control. */
  attachment: string;
  /** The bytes in base64. */
  data: string;
}

/** Writes to a process's standard input. */
export interface WriteProcessParams {
  /** Which. */
  process_id: ProcessId;
  /** What to write, as text. This or `data`, or neither with `close`. */
  text?: string | null;
  /** What to write, as base64. */
  data?: string | null;
  /** Whether nothing comes after it: the process then reads the end of its input. */
  close?: boolean;
  /** The caller's id for it: what is written under an id is written once, whoever dies meanwhile. */
  input_id?: InputId | null;
  /** How long the answer may wait for the process to read, in milliseconds; 5,000 without. */
  wait_ms?: number | null;
}

/** What became of a write to a process. */
export interface WriteProcessResult {
  /** The process. */
  process_id: ProcessId;
  /** The input's id. */
  input_id: InputId;
  /** What became of it. */
  status: ProcessInputStatus;
  /** How many bytes it has. */
  input_bytes: number;
  /** SHA-256 of them. */
  input_digest: string;
}

/** Every notification with the type of its parameters. */
export interface Notices {
  /** Tells how far a long request has come. */
  "core/progress": Progress;
  /** Brings an event of a subscription. */
  "stream/event": StreamEvent;
  /** Tells how a subscription or an attachment is, and why it ended. */
  "stream/state": StreamState;
  /** Brings a part of an answer before it is whole. */
  "ask/part": AskPart;
  /** Brings output of a terminal that is watched. */
  "attach/output": AttachOutput;
}

/** What belongs to each name of an error. */
export const ERRORS = {
  parse_error: { code: -32700, httpStatus: 400, retryable: false },
  invalid_request: { code: -32600, httpStatus: 400, retryable: false },
  method_not_found: { code: -32601, httpStatus: 404, retryable: false },
  invalid_params: { code: -32602, httpStatus: 400, retryable: false },
  internal: { code: -32603, httpStatus: 500, retryable: false },
  unauthenticated: { code: 4010, httpStatus: 401, retryable: false },
  permission_denied: { code: 4030, httpStatus: 403, retryable: false },
  policy_blocked: { code: 4033, httpStatus: 403, retryable: false },
  not_found: { code: 4040, httpStatus: 404, retryable: false },
  conflict: { code: 4090, httpStatus: 409, retryable: false },
  version_conflict: { code: 4091, httpStatus: 409, retryable: false },
  idempotency_mismatch: { code: 4092, httpStatus: 409, retryable: false },
  wrong_workspace: { code: 4093, httpStatus: 409, retryable: false },
  fenced: { code: 4094, httpStatus: 409, retryable: false },
  replay_gap: { code: 4100, httpStatus: 410, retryable: false },
  invalid_state: { code: 4120, httpStatus: 412, retryable: false },
  too_large: { code: 4130, httpStatus: 413, retryable: false },
  unsupported: { code: 4150, httpStatus: 501, retryable: false },
  invalid_manifest: { code: 4220, httpStatus: 422, retryable: false },
  locked: { code: 4230, httpStatus: 423, retryable: true },
  rate_limited: { code: 4290, httpStatus: 429, retryable: true },
  quota_exhausted: { code: 4291, httpStatus: 429, retryable: false },
  backpressure: { code: 4292, httpStatus: 429, retryable: true },
  cancelled: { code: 4990, httpStatus: 499, retryable: false },
  upstream_failed: { code: 5020, httpStatus: 502, retryable: false },
  unavailable: { code: 5030, httpStatus: 503, retryable: true },
  outcome_unknown: { code: 5031, httpStatus: 503, retryable: false },
  deadline_exceeded: { code: 5041, httpStatus: 504, retryable: false },
  storage_full: { code: 5070, httpStatus: 507, retryable: true },
  record_damaged: { code: 5071, httpStatus: 503, retryable: false },
} as const satisfies Record<ErrorName, { code: number; httpStatus: number; retryable: boolean }>;
