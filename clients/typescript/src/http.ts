// HTTP: each call a POST of its own, streams as server-sent events.

import type { Options } from "./caller.js";
import { Disconnected, NodeError, StreamEnded } from "./errors.js";
import { DAEMON_ENDS, withoutPlace, type Place, type Step, type Streamed, type Transport } from "./transport.js";

/** The longest event of a stream, in characters. */
const EVENT_MAX = 16 << 20;

/** A node's address. The token goes into a header and never into an address, where logs would keep it. */
export class HttpTransport implements Transport {
  readonly #base: string;
  readonly #token: string | undefined;
  readonly #fetch: typeof fetch;

  constructor(url: string, token?: string, fetcher?: typeof fetch) {
    this.#base = `${url.replace(/\/$/, "")}/v1/`;
    this.#token = token;
    this.#fetch = fetcher ?? ((input, init) => fetch(input, init));
  }

  async call(method: string, params: object, options?: Options): Promise<unknown> {
    const headers = this.#headers({ "Content-Type": "application/json", Accept: "application/json" });
    const init: RequestInit = { method: "POST", headers, body: JSON.stringify(params) };
    const response = await this.#send(method, init, options?.signal);
    if (!response.ok) throw await refusal(response);
    try {
      return await response.json();
    } catch (error) {
      throw new Disconnected(`${method}: ${String(error)}`);
    }
  }

  isKept(): boolean {
    // What fetch keeps open is its own matter, and it tells nobody.
    return true;
  }

  async *follow(params: object, place: Place | undefined, signal: AbortSignal | undefined): AsyncGenerator<Step> {
    const asked = place === undefined ? { ...params } : withoutPlace(params);
    const ending = new AbortController();
    const abort = () => ending.abort(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    try {
      const begins: Record<string, string> = place === undefined ? {} : { "Last-Event-ID": String(place["id"]) };
      const headers = this.#headers({ Accept: "text/event-stream", ...begins });
      const response = await this.#send(`stream?${query(asked)}`, { headers }, ending.signal);
      if (!response.ok || response.body === null) throw await refusal(response);
      for await (const event of events(response.body)) {
        const said = JSON.parse(event.data || "{}") as { state?: string; reason?: string; event: Streamed };
        if (event.event === "stream/event") {
          yield { place: { id: event.id }, event: said.event };
        } else if (event.event === "subscribed" && event.id !== "") {
          // One that breaks before its first event begins where this one began.
          yield { place: { id: event.id } };
        } else if (event.event === "stream/state" && said.state === "ended") {
          const reason = said.reason ?? "";
          throw reason === DAEMON_ENDS ? new Disconnected(reason) : new StreamEnded(reason);
        } else if (event.event === "error") {
          throw new NodeError(said as object);
        }
      }
      throw new Disconnected("the stream broke");
    } finally {
      signal?.removeEventListener("abort", abort);
      ending.abort();
    }
  }

  close(): void {}

  #headers(more: Record<string, string>): Record<string, string> {
    return this.#token === undefined ? more : { ...more, Authorization: `Bearer ${this.#token}` };
  }

  async #send(below: string, init: RequestInit, signal: AbortSignal | undefined): Promise<Response> {
    try {
      return await this.#fetch(this.#base + below, signal === undefined ? init : { ...init, signal });
    } catch (error) {
      signal?.throwIfAborted();
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined;
      const refused = (cause as { code?: string } | undefined)?.code === "ECONNREFUSED";
      throw new Disconnected(`no answer: ${cause?.message ?? String(error)}`, refused ? "none" : "unknown");
    }
  }
}

/** The parameters of a subscription as a query: a list as several, the fields of an object behind its name. */
function query(params: Record<string, unknown>): string {
  const pairs = new URLSearchParams();
  const put = (fields: object, before: string): void => {
    for (const [name, value] of Object.entries(fields)) {
      if (typeof value === "object" && value !== null && !Array.isArray(value)) {
        put(value, `${before}${name}.`);
        continue;
      }
      for (const one of Array.isArray(value) ? value : [value]) {
        pairs.append(before + name, typeof one === "string" ? one : JSON.stringify(one));
      }
    }
  };
  put(params, "");
  return pairs.toString();
}

interface ServerSent {
  event: string;
  id: string;
  data: string;
}

/** Server-sent events, until the connection breaks. */
async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let current: ServerSent = { event: "", id: "", data: "" };
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw new Disconnected(`the stream broke: ${String(error)}`);
      });
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      let end: number;
      while ((end = rest.indexOf("\n")) >= 0) {
        const line = rest.slice(0, end).replace(/\r$/, "");
        rest = rest.slice(end + 1);
        if (line === "") {
          if (current.event !== "" || current.data !== "") yield current;
          current = { event: "", id: "", data: "" };
        } else if (!line.startsWith(":")) {
          const colon = line.indexOf(":");
          const name = colon < 0 ? line : line.slice(0, colon);
          const said = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
          if (name === "data") current.data += (current.data === "" ? "" : "\n") + said;
          else if (name === "event" || name === "id") current[name] = said;
        }
      }
      if (rest.length > EVENT_MAX) throw new Disconnected("an event is too long");
    }
  } finally {
    reader.cancel().catch(() => {}); // it may have ended by itself
  }
}

/** What a status that is no success means: the node's own word, or that something between does not know it. */
async function refusal(response: Response): Promise<Error> {
  const text = await response.text().catch(() => "");
  try {
    const said = JSON.parse(text) as { error?: object; data?: unknown };
    const error = said.error ?? said;
    if (typeof (error as { data?: unknown }).data === "object") return new NodeError(error);
  } catch {
    // Not the node's word.
  }
  return new Disconnected(`no node answers there: status ${response.status}`);
}
