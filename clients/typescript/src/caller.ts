// Between the methods, which are generated, and what carries them.

import type { RequestContext } from "./types.js";

/** What calling a method once more with the same parameters and without a key means. */
export type Repeat = "safe" | "same" | "again";

/** What may be said of a call beside its parameters. */
export interface Options {
  /** Who asks, for how long, under which key and trace. */
  ctx?: RequestContext;
  /** Ends the waiting. Whether the call took effect is then not known. */
  signal?: AbortSignal;
}

/** Calls a method by name. */
export interface Caller {
  call(method: string, params: object, repeat: Repeat, options?: Options): Promise<unknown>;
}

/** The methods of one profile or object. */
export class Group {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  protected async call<Result>(method: string, params: object, repeat: Repeat, options?: Options): Promise<Result> {
    return (await this.#caller.call(method, params, repeat, options)) as Result;
  }
}
