// What carries calls and streams.

import type { Options } from "./caller.js";
import type { Notices } from "./types.js";

/** What a stream brings. In the log it is an event of the record; another projection has entries of its own. */
export interface Streamed {
  /** Its place on the node. */
  pos?: number;
  /** Its number in its stream. */
  seq?: number;
  id?: string;
  stream?: string;
  ts?: string;
  type?: string;
  payload?: unknown;
  [field: string]: unknown;
}

/** Is given what the node says unasked while a call waits. */
export type Listener = <Name extends keyof Notices>(name: Name, params: Notices[Name]) => void;

/** Where a stream goes on: the parameters that name the place. */
export type Place = Record<string, unknown>;

/** A place of a stream, and what was there; of the place where it begins, nothing. */
export interface Step {
  place: Place;
  event?: Streamed;
}

/** What carries calls and streams. */
export interface Transport {
  /** Calls a method. Fails with what `errors.ts` names. */
  call(method: string, params: object, options?: Options): Promise<unknown>;
  /** Whether a call that fails now may have met a connection that ended long before. */
  isKept(): boolean;
  /**
   * Follows a stream from a place, or from where the parameters say, on a connection of its own until that breaks.
   * Leaving the iterator ends it.
   */
  follow(params: object, place: Place | undefined, signal: AbortSignal | undefined): AsyncGenerator<Step>;
  /** Ends what is open. A later call begins anew. */
  close(): void;
}

/** How a stream ends that goes on at the next daemon. */
export const DAEMON_ENDS = "the daemon ends";

/** The parameters of a subscription but for those that say where it begins. */
export function withoutPlace(params: object): Record<string, unknown> {
  const beginnings = ["after", "cursor", "from", "snapshot"];
  return Object.fromEntries(Object.entries(params).filter(([name]) => !beginnings.includes(name)));
}
