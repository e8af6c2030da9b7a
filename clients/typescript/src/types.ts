// Made by `cargo xtask generate` from crates/wire/src/catalogue. A change of this file is lost.

/** Any value of JSON. */
export type Json = unknown;

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
  /** Its replicas, if it is a set of agents that share its name. */
  replicas?: ReplicasView | null;
  /** The name of the set whose replica it is. */
  set?: string | null;
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

/** What was done to one schedule. */
export interface AppliedSchedule {
  /** The agent that its messages are for. */
  agent: AgentName;
  /** Its name. */
  name: AgentName;
  /** What changed. */
  change: Change;
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

/** One answer that may be chosen. */
export interface Choice {
  /** What is given back. */
  value: SafeLabel;
  /** What a person reads. */
  label: string;
}

/** Where content was found that somebody submits: never who speaks. */
export interface ContentOrigin {
  /** Its address, such as the page's URL or the document's path. */
  uri?: string | null;
  /** The tool that returned it. */
  tool?: SafeLabel | null;
  /** When it was fetched, as the one who submits it says. */
  retrieved_at?: Timestamp | null;
}

/** How much of the former context a new epoch has. */
export type Continuity =
  /** The program resumed its own session. */
  | "full"
  /** Facts and quotations were handed over; the program's own context is gone. */
  | "partial"
  /** A fresh start. */
  | "none";

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

/** Removes a key. */
export interface DeleteParams {
  /** The key. */
  key: string;
  /** Name or id. */
  agent?: string | null;
  /** Remove only if the key is at this version. */
  if_version?: number | null;
}

/** How a message meets a running turn. */
export type DeliveryMode =
  /** After the turn. */
  | "queue"
  /** Into the turn. */
  | "steer"
  /** Ends the turn. */
  | "interrupt";

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

/** Whether a failed request changed anything. */
export type Effect =
  /** It did not. */
  | "none"
  /** It did. */
  | "applied"
  /** It may have. */
  | "unknown";

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
  /** Everything that is wrong, where it is more than one thing. */
  violations?: Array<Json>;
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

/** An event with its place in the record. */
export interface EventView {
  /** Its place on the node. */
  pos: number;
  /** Its hash, lower-case hexadecimal. */
  hash: string;
}

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

/** Version of what is wanted of an agent: grows with each change of its manifest or desire. */
export type Generation = number;

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

/** Reports what a hook of the calling agent's own program said. */
export interface HookParams {
  /** Whose hook: `claude-code` or `codex`; that of the agent's adapter. */
  kind: SafeLabel;
  /** What the program handed to its hook. */
  report: Json;
}

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
  | "action";

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

export type ItemId = string;

/** Reports a piece of work or a remark; the calling agent is its author. */
export interface ItemParams {
  /** Of which kind, in the agent's words, such as `output` or `note`. */
  kind: SafeLabel;
  /** What there is to say: at most 4 MiB. */
  text: string;
  /** The message whose turn it belongs to; one of the agent's own. */
  message_id?: MessageId | null;
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
  | "run";

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

/** A process beyond doubt: a pid alone is never an identity. */
export interface ProcessIdentity {
  /** The kernel's number, reused after the process ends. */
  pid: number;
  /** Clock ticks between boot and the start of the process. */
  startTime: number;
  /** The kernel's id of this boot. */
  bootId: string;
}

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

/** How far a request has come, in words. */
export interface Progress {
  /** For people. */
  text: string;
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

/** Reads events. */
export interface ReadParams {
  /** Only this agent's, by name or id. */
  agent?: string | null;
  /** Only after this position of the node (or, with `agent`, this number of its stream). */
  after?: number;
  /** Only these types; a type may end in `.*`. */
  types?: Array<string>;
  /** Most to read; 1,000 if not given. */
  limit?: number | null;
  /** Read the newest ones instead of the oldest. */
  newest?: boolean;
}

/** Events. */
export interface ReadResult {
  /** Oldest first. */
  items: Array<EventView>;
  /** What to give as `after` to read on. */
  next: number;
  /** Whether there was nothing more at the time. */
  end: boolean;
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
  /** W3C trace context. */
  traceparent?: string | null;
  /** What else the systems of that trace say of it. */
  tracestate?: string | null;
  /** The namespace; `local` if not given. */
  tenant?: string | null;
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

/** A failure as it crosses the wire. */
export interface RpcError {
  /** The number that belongs to `data.name`. */
  code: number;
  /** For people. */
  message: string;
  /** For programs. */
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

/** Why an occurrence ran. */
export type RunCause =
  /** It was due. */
  | "due"
  /** It was due while the node could not serve, and the catch-up rule lets it run late. */
  | "catch_up"
  /** Somebody asked. */
  | "manual";

/** A schedule that was run by hand. */
export interface RunResult {
  /** The message that it sent. */
  message_id: MessageId;
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
  | "approve";

export type SessionId = string;

/** Which live context the agent holds. */
export interface SessionView {
  /** The session that the epochs of this agent continue. */
  sessionId: SessionId;
  /** The program's own handle for resuming, where it has one. */
  resumeHandle?: string | null;
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
  /** The event. */
  event: EventView;
}

export type StreamName = string;

/** A `stream/state` notification. */
export interface StreamState {
  /** Whose it is: a subscription or an attachment. */
  id: string;
  /** `live`, `resynchronised` or `ended`. */
  state: string;
  /** Why. */
  reason?: string | null;
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

/** Follows events: those after `after`, and then each as it is committed, as `stream/event` notifications. */
export interface SubscribeParams {
  /** Only this agent's, by name or id. */
  agent?: string | null;
  /** After this position of the node; from now on if not given. */
  after?: number | null;
  /** Only these types; a type may end in `.*`. */
  types?: Array<string>;
}

/** A subscription. */
export interface SubscribeResult {
  /** Its id. */
  subscription_id: SubscriptionId;
  /** The newest position at the time. */
  head: number;
}

export type SubscriptionId = string;

/** Names a subscription. */
export interface SubscriptionParams {
  /** Its id. */
  subscription_id: SubscriptionId;
}

/** 1 to 63 lower-case letters, digits or `-`, beginning and ending with a letter or digit */
export type Tenant = string;

export type ThreadId = string;

export type Timestamp = string;

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

export type TurnId = string;

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

/** What the node vouches for of a message. */
export interface VerifyResult {
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

/** What one person said. */
export interface VoteView {
  /** Who. */
  principal: SafeLabel;
  /** What. */
  verdict: Verdict;
  /** When. */
  at: Timestamp;
}

/** Waits until an agent is in one of some phases. */
export interface WaitParams {
  /** Name or id. */
  agent: string;
  /** Any of these will do. */
  phases: Array<Phase>;
  /** Longest wait in milliseconds. */
  timeout_ms: number;
}

/** Types keys. */
export interface WriteParams {
  /** Through this attachment, which must control. */
  attachment: string;
  /** The bytes in base64. */
  data: string;
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
  unavailable: { code: 5030, httpStatus: 503, retryable: true },
  outcome_unknown: { code: 5031, httpStatus: 503, retryable: false },
  deadline_exceeded: { code: 5041, httpStatus: 504, retryable: false },
  storage_full: { code: 5070, httpStatus: 507, retryable: true },
  record_damaged: { code: 5071, httpStatus: 503, retryable: false },
} as const satisfies Record<ErrorName, { code: number; httpStatus: number; retryable: boolean }>;
