import { readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { request } from "undici";

const timeoutMilliseconds = 15_000;
/** The longest wait that a webhook may ask for, seconds. */
const longestWait = 60;

/**
 * What became of a message. `what` is `file` if the address could not be read, and `webhook` if the message could not be
 * delivered.
 */
export type Posted =
  | { readonly ok: true }
  | { readonly ok: false; readonly what: "file" | "webhook"; readonly why: string };

/**
 * Sends a message as JSON to the webhook whose address is in a file. The address of a webhook is a secret, so no text contains
 * it.
 */
export async function postMessage(file: string, message: Readonly<Record<string, unknown>>): Promise<Posted> {
  let address: string;
  try {
    address = (await readFile(file, "utf8")).trim();
  } catch (error) {
    return { ok: false, what: "file", why: error instanceof Error ? error.message : String(error) };
  }
  try {
    const first = await send(address, message);
    const last =
      first.waitSeconds === null ? first : await wait(first.waitSeconds * 1000).then(() => send(address, message));
    if (last.status < 300) return { ok: true };
    return { ok: false, what: "webhook", why: `the webhook answered with status ${last.status}` };
  } catch (error) {
    const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "no answer";
    return { ok: false, what: "webhook", why: `the webhook could not be reached (${code})` };
  }
}

interface Answered {
  readonly status: number;
  /** How long the webhook asks the sender to wait (status 429), seconds; `null`: it does not ask. */
  readonly waitSeconds: number | null;
}

async function send(address: string, message: Readonly<Record<string, unknown>>): Promise<Answered> {
  const { statusCode, headers, body } = await request(address, {
    method: "POST",
    headers: { "content-type": "application/json; charset=utf-8" },
    body: JSON.stringify(message),
    headersTimeout: timeoutMilliseconds,
    bodyTimeout: timeoutMilliseconds,
  });
  await body.dump();
  const seconds = headers["retry-after"];
  const isAsked = statusCode === 429 && typeof seconds === "string" && /^\d{1,4}$/.test(seconds);
  return { status: statusCode, waitSeconds: isAsked ? Math.min(Number(seconds), longestWait) : null };
}
