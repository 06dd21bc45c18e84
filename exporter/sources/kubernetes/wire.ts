import type { Decoded } from "./decoded.ts";

/** One object of a list or an event: its identity, and its record or what is wrong with it. */
export interface DecodedObject<Row> {
  readonly uid: string;
  readonly decoded: Decoded<Row>;
}

export interface ListPage<Row> {
  readonly ok: true;
  readonly resourceVersion: string;
  /** The token of the next page; `null` on the last page. */
  readonly continueToken: string | null;
  readonly objects: readonly DecodedObject<Row>[];
}

export type WatchEvent<Row> =
  | { readonly type: "put"; readonly resourceVersion: string; readonly object: DecodedObject<Row> }
  | { readonly type: "remove"; readonly resourceVersion: string; readonly uid: string }
  | { readonly type: "bookmark"; readonly resourceVersion: string }
  /** The server ends the watch; `code` is an HTTP status, 410 where the requested version is too old. */
  | { readonly type: "error"; readonly code: number; readonly message: string }
  | { readonly type: "malformed"; readonly message: string };

export interface Malformed {
  readonly ok: false;
  readonly message: string;
}

/**
 * An event of a watch that is no error, with the fields that both formats have; `object` reads its object, and is called for
 * `put` alone.
 */
export function eventOf<Row>(
  type: unknown,
  resourceVersion: unknown,
  uid: string,
  object: () => DecodedObject<Row>,
): WatchEvent<Row> {
  if (typeof resourceVersion !== "string" || resourceVersion === "") {
    return { type: "malformed", message: "an event's object has no resourceVersion" };
  }
  if (type === "BOOKMARK") return { type: "bookmark", resourceVersion };
  if (uid === "/") return { type: "malformed", message: "an event's object has no name" };
  if (type === "DELETED") return { type: "remove", resourceVersion, uid };
  if (type === "ADDED" || type === "MODIFIED") return { type: "put", resourceVersion, object: object() };
  return { type: "malformed", message: `an event has the unknown type ${String(type).slice(0, 40)}` };
}

/** How the bytes of one kind in one format become records. None of these functions throws. */
export interface BodyFormat<Row> {
  /** Cuts the bytes of a watch into events. */
  createReader(maxEventBytes: number): FrameReader;
  page(body: Uint8Array): ListPage<Row> | Malformed;
  event(frame: Uint8Array): WatchEvent<Row>;
}

/**
 * The formats in which a kind can be read: which ones are requested, and how an answer is read. A server, or a proxy on the
 * way, may answer in any of them, so each answer is read by its own content type.
 */
export interface WireFormat<Row> {
  /** `Accept` of a list and of a watch. */
  readonly listAccept: string;
  readonly watchAccept: string;
  /** The format for the `Content-Type` of an answer; that is `null` where the answer has none. */
  formatOf(contentType: string | null): BodyFormat<Row>;
}

/** Cuts the stream of a watch into frames, with one event in each. */
export interface FrameReader {
  /** The frames that this chunk completes; `null` once a frame is longer than allowed. */
  push(chunk: Uint8Array): readonly Buffer[] | null;
}

const lineFeed = 10;

/** Creates a reader of frames in JSON, which are lines; blank lines are left out. */
export function createLineReader(maxBytes: number): FrameReader {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  return {
    push: (chunk) => {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const lines: Buffer[] = [];
      let start = 0;
      for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
        const rest = bytes.subarray(start, end);
        const line = pending.length === 0 ? rest : Buffer.concat([...pending, rest]);
        pending = [];
        pendingBytes = 0;
        start = end + 1;
        if (line.length > maxBytes) return null;
        if (line.length > 0) lines.push(line);
      }
      if (start < bytes.length) {
        pending.push(bytes.subarray(start));
        pendingBytes += bytes.length - start;
      }
      return pendingBytes > maxBytes ? null : lines;
    },
  };
}
