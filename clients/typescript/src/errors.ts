// What a call fails with: the node's word, or that there was none.

import type { Effect, ErrorName } from "./types.js";

/** Anything that a call may fail with. */
export class EdgePlaneError extends Error {
  override name = "EdgePlaneError";
}

/** The node said no. `reason` is the contract; the text is for people. */
export class NodeError extends EdgePlaneError {
  override name = "NodeError";
  /** The error's name, such as `not_found`. A newer node may have names that this client does not know. */
  readonly reason: ErrorName | (string & {});
  readonly code: number;
  /** Whether an identical request can help and cannot double an effect. */
  readonly retryable: boolean;
  /** Whether the request changed anything. */
  readonly effect: Effect;
  /** The next step, for people. */
  readonly hint: string | undefined;
  /** Everything that is wrong, where it is more than one thing. */
  readonly violations: readonly unknown[];

  constructor(error: { code?: unknown; message?: unknown; data?: unknown }) {
    const data = (error.data ?? {}) as Record<string, unknown>;
    const reason = typeof data["name"] === "string" ? data["name"] : "unknown";
    super(`${String(error.message ?? "")} (${reason})`);
    this.reason = reason;
    this.code = Number(error.code ?? 0);
    this.retryable = data["retryable"] === true;
    this.effect = data["effect"] === "none" || data["effect"] === "applied" ? data["effect"] : "unknown";
    this.hint = typeof data["hint"] === "string" ? data["hint"] : undefined;
    this.violations = Array.isArray(data["violations"]) ? data["violations"] : [];
  }
}

/** The node cannot be reached, or went away before it answered. */
export class Disconnected extends EdgePlaneError {
  override name = "Disconnected";
  /** `none` if nothing of the request can have reached the node; else read, then decide. */
  readonly effect: "none" | "unknown";

  constructor(message: string, effect: "none" | "unknown" = "unknown") {
    super(message);
    this.effect = effect;
  }
}

/** The node ended a subscription, and asking again would not help. */
export class StreamEnded extends EdgePlaneError {
  override name = "StreamEnded";
  readonly reason: string;

  constructor(reason: string) {
    super(`the stream ended: ${reason}`);
    this.reason = reason;
  }
}
