// A WebSocket, one message of JSON-RPC a frame.

import { LineTransport, type Open } from "./lines.js";
import type { Listener } from "./transport.js";

/** Makes the socket; for places where the usual one does not do. */
export type MakeSocket = (url: string, headers: Record<string, string>) => WebSocket;

/** The usual socket with headers, which those of programs take and those of browsers do not. */
const makeUsual: MakeSocket = (url, headers) => {
  type WithHeaders = new (url: string, options: { headers: Record<string, string> }) => WebSocket;
  return new (WebSocket as unknown as WithHeaders)(url, { headers });
};

/**
 * The node at an address such as `http://127.0.0.1:8100`, over WebSockets.
 *
 * The token goes into a header. Browsers let nobody set one there: in them use HTTP, which needs no socket to follow.
 */
export function webSocketTransport(
  url: string,
  token?: string,
  make: MakeSocket = makeUsual,
  listener?: Listener,
): LineTransport {
  const address = new URL(url);
  address.protocol = address.protocol === "https:" || address.protocol === "wss:" ? "wss:" : "ws:";
  address.pathname = `${address.pathname.replace(/\/$/, "")}/v1/ws`;
  const open: Open = (hearer) =>
    new Promise((resolve, reject) => {
      const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
      const socket = make(address.href, headers as Record<string, string>);
      let isOpen = false;
      socket.addEventListener("open", () => {
        isOpen = true;
        resolve({ send: (text) => socket.send(text), close: () => socket.close() });
      });
      socket.addEventListener("message", (event: MessageEvent) => hearer.message(String(event.data)));
      socket.addEventListener("close", (event: CloseEvent) => {
        const why = `the socket closed: ${event.reason || event.code}`;
        if (isOpen) hearer.closed(why);
        else reject(new Error(why));
      });
      socket.addEventListener("error", () => {
        if (!isOpen) reject(new Error(`no socket at ${address.host}`));
      });
    });
  return new LineTransport(open, undefined, listener);
}
