// A typed client of EdgePlane, for browsers and programs. What only programs can do is in `edgeplane/node`.

export type { Options, Repeat } from "./caller.js";
export { Client, type FollowOptions } from "./client.js";
export { Disconnected, EdgePlaneError, NodeError, StreamEnded } from "./errors.js";
export { HttpTransport } from "./http.js";
export { LineTransport, type Channel, type Hearer, type Open } from "./lines.js";
export type { Listener, Place, Step, Streamed, Transport } from "./transport.js";
export { ERRORS } from "./types.js";
export type * from "./types.js";
