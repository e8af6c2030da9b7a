// JSON-RPC 2.0 over anything that carries texts both ways: a WebSocket, a unix socket.

import type { Options } from "./caller.js";
import { Disconnected, NodeError, StreamEnded } from "./errors.js";
import { DAEMON_ENDS, withoutPlace, type Listener, type Place, type Step, type Streamed, type Transport } from "./transport.js";
import type { Notices } from "./types.js";

/** Carries texts, each a message of JSON-RPC. */
export interface Channel {
  send(text: string): void;
  /** Lets the other side wait, where that can be done, or go on. */
  hold?(isHeld: boolean): void;
  close(): void;
}

/** What a channel tells. */
export interface Hearer {
  message(text: string): void;
  /** Comes once, and then nothing more. */
  closed(why: string): void;
}

/** Opens a channel. */
export type Open = (hearer: Hearer) => Promise<Channel>;

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

type Message = { id?: unknown; method?: string; params?: unknown; result?: unknown; error?: object };

/** Requests and notifications over one channel. */
class Conversation implements Hearer {
  #channel: Channel | undefined;
  #waiting = new Map<number, Waiting>();
  #nextId = 0;
  #end: string | undefined;
  #heard: (name: string, params: unknown) => void;
  #ended: (why: string) => void;

  private constructor(heard: (name: string, params: unknown) => void, ended: (why: string) => void) {
    this.#heard = heard;
    this.#ended = ended;
  }

  static async open(
    open: Open,
    token: string | undefined,
    heard: (name: string, params: unknown) => void,
    ended: (why: string) => void = () => {},
  ): Promise<Conversation> {
    const conversation = new Conversation(heard, ended);
    try {
      conversation.#channel = await open(conversation);
    } catch (error) {
      throw new Disconnected(`no node: ${error instanceof Error ? error.message : String(error)}`, "none");
    }
    try {
      // From here on the node knows this conversation by its token.
      if (token !== undefined) await conversation.call("core/initialize", { token });
    } catch (error) {
      conversation.close();
      throw error;
    }
    return conversation;
  }

  get isOpen(): boolean {
    return this.#end === undefined;
  }

  call(method: string, params: object, signal?: AbortSignal): Promise<unknown> {
    if (this.#end !== undefined) return Promise.reject(new Disconnected(this.#end, "none"));
    signal?.throwIfAborted();
    const id = ++this.#nextId;
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#waiting.delete(id);
        reject(signal?.reason);
      };
      const settle = (): void => signal?.removeEventListener("abort", abort);
      signal?.addEventListener("abort", abort, { once: true });
      this.#waiting.set(id, {
        resolve: (result) => (settle(), resolve(result)),
        reject: (error) => (settle(), reject(error)),
      });
      this.#channel?.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  hold(isHeld: boolean): void {
    this.#channel?.hold?.(isHeld);
  }

  message(text: string): void {
    let message: Message;
    try {
      message = JSON.parse(text) as Message;
    } catch {
      this.close("what came is no JSON");
      return;
    }
    if (message.method !== undefined) {
      this.#heard(message.method, message.params);
      return;
    }
    const waiting = typeof message.id === "number" ? this.#waiting.get(message.id) : undefined;
    if (waiting === undefined) return;
    this.#waiting.delete(message.id as number);
    if (message.error !== undefined) waiting.reject(new NodeError(message.error));
    else waiting.resolve(message.result);
  }

  closed(why: string): void {
    if (this.#end !== undefined) return;
    this.#end = why;
    for (const waiting of this.#waiting.values()) waiting.reject(new Disconnected(why));
    this.#waiting.clear();
    this.#ended(why);
  }

  close(why = "closed"): void {
    this.#channel?.close();
    this.closed(why);
  }
}

/** Entries of a stream that wait for their reader. More of them hold the channel, or end it where it cannot be held. */
const WAITING_MAX = 1_000;
const LOST_MAX = 100_000;

type Notice = { method: string; params: { state?: string; reason?: string; cursor?: string; event: Streamed } };

/** Calls over one channel at a time, and a channel for each stream. */
export class LineTransport implements Transport {
  readonly #open: Open;
  readonly #token: string | undefined;
  readonly #listener: Listener | undefined;
  #conversation: Promise<Conversation> | undefined;
  #isKept = false;

  constructor(open: Open, token?: string, listener?: Listener) {
    this.#open = open;
    this.#token = token;
    this.#listener = listener;
  }

  async call(method: string, params: object, options?: Options): Promise<unknown> {
    const heard = (name: string, said: unknown) =>
      this.#listener?.(name as keyof Notices, said as Notices[keyof Notices]);
    this.#isKept = this.#conversation !== undefined;
    this.#conversation ??= Conversation.open(this.#open, this.#token, heard);
    const opening = this.#conversation;
    try {
      const conversation = await opening;
      return await conversation.call(method, params, options?.signal);
    } catch (error) {
      if (error instanceof Disconnected && this.#conversation === opening) this.#conversation = undefined;
      throw error;
    }
  }

  isKept(): boolean {
    return this.#isKept;
  }

  async *follow(params: object, place: Place | undefined, signal: AbortSignal | undefined): AsyncGenerator<Step> {
    const waiting: Notice[] = [];
    let end: string | undefined;
    let wake = () => {};
    const asked: Record<string, unknown> = place === undefined ? { ...params } : { ...withoutPlace(params), ...place };
    const conversation: Conversation = await Conversation.open(
      this.#open,
      this.#token,
      (method, said) => {
        waiting.push({ method, params: said as Notice["params"] });
        if (waiting.length === WAITING_MAX) conversation.hold(true);
        if (waiting.length > LOST_MAX) conversation.close("the reader is too slow");
        wake();
      },
      (why) => ((end = why), wake()),
    );
    const abort = () => conversation.close();
    signal?.addEventListener("abort", abort, { once: true });
    try {
      const begun = (await conversation.call("stream/subscribe", asked, signal)) as { cursor?: string; head?: number };
      yield { place: begun.cursor !== undefined ? { cursor: begun.cursor } : { after: asked["after"] ?? begun.head ?? 0 } };
      for (;;) {
        const notice = waiting.shift();
        if (notice === undefined) {
          signal?.throwIfAborted();
          if (end !== undefined) throw new Disconnected(end);
          await new Promise<void>((resolve) => (wake = resolve));
          continue;
        }
        if (waiting.length === WAITING_MAX - 1) conversation.hold(false);
        const said = notice.params;
        if (notice.method === "stream/event") {
          const behind: Place = said.cursor !== undefined ? { cursor: said.cursor } : { after: said.event.pos };
          yield { place: behind, event: said.event };
        } else if (notice.method === "stream/state" && said.state === "ended") {
          const reason = said.reason ?? "";
          throw reason === DAEMON_ENDS ? new Disconnected(reason) : new StreamEnded(reason);
        }
      }
    } finally {
      signal?.removeEventListener("abort", abort);
      conversation.close();
    }
  }

  close(): void {
    const open = this.#conversation;
    this.#conversation = undefined;
    open?.then(
      (conversation) => conversation.close(),
      () => {}, // it never opened
    );
  }
}
