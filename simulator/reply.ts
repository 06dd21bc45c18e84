import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** A whole HTTP answer as a value. */
export interface Reply {
  readonly code: number;
  readonly contentType: string;
  readonly body: string | Buffer;
}

/** An answer in plain text, as Go's servers send it. */
export function textReply(code: number, body: string): Reply {
  return { code, contentType: "text/plain; charset=utf-8", body };
}

/** Sends `reply()` after `delayMs` of real time, unless the client is gone by then; `null` sends nothing. */
export function sendReply(response: ServerResponse, delayMs: number, reply: () => Reply | null): void {
  if (delayMs > 0) {
    void sleep(delayMs).then(() => {
      if (!response.destroyed) send(response, reply());
    });
    return;
  }
  send(response, reply());
}

function send(response: ServerResponse, reply: Reply | null): void {
  if (reply === null) return;
  const bytes = Buffer.from(reply.body);
  response.writeHead(reply.code, { "content-type": reply.contentType, "content-length": bytes.length });
  response.end(bytes);
}
