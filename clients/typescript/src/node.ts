// The unix socket, for programs on the node's own machine.

import { connect } from "node:net";
import process from "node:process";

import { Client } from "./client.js";
import { LineTransport, type Open } from "./lines.js";
import type { Listener } from "./transport.js";

export * from "./index.js";

/** The longest line that the node sends, in characters. */
const LINE_MAX = 16 << 20;

/** A client over a unix socket: the one given, else the one that `EDGEPLANE_SOCKET` names, else the node's usual one. */
export function unixClient(path?: string, options: { token?: string; listener?: Listener } = {}): Client {
  return new Client(new LineTransport(channel(path ?? defaultSocket()), options.token, options.listener));
}

function channel(path: string): Open {
  return (hearer) =>
    new Promise((resolve, reject) => {
      const socket = connect(path);
      let parts: string[] = [];
      let length = 0;
      socket.setEncoding("utf8");
      socket.once("connect", () => {
        socket.off("error", reject);
        socket.on("error", (error) => hearer.closed(`the node went away: ${error.message}`));
        resolve({
          send: (text) => socket.write(`${text}\n`),
          hold: (isHeld) => (isHeld ? socket.pause() : socket.resume()),
          close: () => socket.destroy(),
        });
      });
      socket.once("error", reject);
      socket.on("close", () => hearer.closed("the node went away"));
      socket.on("data", (text: string) => {
        let from = 0;
        for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
          parts.push(text.slice(from, end));
          hearer.message(parts.join(""));
          parts = [];
          length = 0;
          from = end + 1;
        }
        parts.push(text.slice(from));
        length += text.length - from;
        if (length > LINE_MAX) socket.destroy(new Error("what came is longer than any line of the node"));
      });
    });
}

/** Where the node's socket is, by the rules that the command line has. Within an agent, it is that of its epoch. */
export function defaultSocket(): string {
  const { EDGEPLANE_SOCKET, EDGEPLANE_RUNTIME_DIR, XDG_RUNTIME_DIR } = process.env;
  if (EDGEPLANE_SOCKET) return EDGEPLANE_SOCKET;
  if (EDGEPLANE_RUNTIME_DIR) return `${EDGEPLANE_RUNTIME_DIR}/edgeplaned.sock`;
  const uid = process.geteuid?.() ?? 0;
  if (uid === 0) return "/run/edgeplane/edgeplaned.sock";
  return `${XDG_RUNTIME_DIR ? `${XDG_RUNTIME_DIR}/edgeplane` : `/tmp/edgeplane-${uid}`}/edgeplaned.sock`;
}
