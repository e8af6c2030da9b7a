// The client: every method of the catalogue over any transport, and streams that survive a break.

import type { Caller, Options, Repeat } from "./caller.js";
import { Disconnected } from "./errors.js";
import { HttpTransport } from "./http.js";
import { Catalogue } from "./methods.js";
import type { Listener, Place, Streamed, Transport } from "./transport.js";
import type { SubscribeParams } from "./types.js";
import { webSocketTransport, type MakeSocket } from "./websocket.js";

/** How long a stream tries to be heard again after a break: a daemon that is being restarted is back by then. */
const PATIENCE_MS = 60_000;
const PAUSE_FIRST_MS = 50;
const PAUSE_MOST_MS = 2_000;

/** What may be said of a stream beside which one it is. */
export interface FollowOptions {
  /** Ends the stream. */
  signal?: AbortSignal;
  /** How long it tries to be heard again after a break, in milliseconds. */
  patienceMs?: number;
}

class Calls implements Caller {
  constructor(readonly transport: Transport) {}

  async call(method: string, params: object, repeat: Repeat, options?: Options): Promise<unknown> {
    const given = options?.ctx === undefined ? params : { ...params, ctx: options.ctx };
    try {
      return await this.transport.call(method, given, options);
    } catch (error) {
      // Only a connection that was kept may have ended long before: a new one failed for a reason.
      const mayRepeat = repeat === "safe" || Boolean(options?.ctx?.idempotency_key);
      if (!(error instanceof Disconnected) || !this.transport.isKept()) throw error;
      if (!mayRepeat && error.effect !== "none") throw error;
      return await this.transport.call(method, given, options);
    }
  }
}

/**
 * A client of a node. Methods stand by profile and object: `client.runtime.agent.list()`.
 *
 * A call whose connection broke is repeated once if that cannot double anything: if it changes nothing, if nothing of it
 * was sent, or if its context has an `idempotency_key`.
 */
export class Client extends Catalogue {
  readonly #calls: Calls;

  constructor(transport: Transport) {
    const calls = new Calls(transport);
    super(calls);
    this.#calls = calls;
  }

  /** A client over HTTP, at an address such as `http://127.0.0.1:8100`. */
  static http(url: string, options: { token?: string; fetch?: typeof fetch } = {}): Client {
    return new Client(new HttpTransport(url, options.token, options.fetch));
  }

  /** A client over a WebSocket at the same address. */
  static webSocket(
    url: string,
    options: { token?: string; make?: MakeSocket; listener?: Listener } = {},
  ): Client {
    return new Client(webSocketTransport(url, options.token, options.make, options.listener));
  }

  /** Calls a method by its name, also one that this version of the client does not know. */
  call(method: string, params: object = {}, options?: Options): Promise<unknown> {
    return this.#calls.call(method, params, "again", options);
  }

  /**
   * Follows events of the record: what `stream/subscribe` takes says which, and from where.
   *
   * When the connection breaks it goes on behind the last event that was seen, so that each comes once. It fails with
   * `Disconnected` when nothing was heard of the node for `patienceMs`, and with `StreamEnded` when the node ended the
   * stream. Leaving the loop ends the subscription.
   */
  async *follow(params: SubscribeParams = {}, options: FollowOptions = {}): AsyncGenerator<Streamed> {
    const { signal, patienceMs = PATIENCE_MS } = options;
    let place: Place | undefined;
    let heard = Date.now();
    let pause = PAUSE_FIRST_MS;
    for (;;) {
      try {
        for await (const step of this.#calls.transport.follow(params, place, signal)) {
          place = step.place;
          if (step.event !== undefined) yield step.event;
          heard = Date.now();
          pause = PAUSE_FIRST_MS;
        }
      } catch (error) {
        // Nothing is lost by waiting for a node that was there; one that never was is an error at once.
        const isOver = place === undefined || Date.now() - heard > patienceMs;
        if (!(error instanceof Disconnected) || isOver) throw error;
      }
      signal?.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, pause));
      pause = Math.min(pause * 2, PAUSE_MOST_MS);
    }
  }

  /** Ends what is open. A later call begins anew. */
  close(): void {
    this.#calls.transport.close();
  }
}
