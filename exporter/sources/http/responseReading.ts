import type { AttemptFailure } from "./getResult.ts";
import type { ReceiveLimits } from "./limits.ts";

/** What the next byte of an answer belongs to. */
export type Place =
  | "head"
  | "length"
  | "close"
  | "chunkSize"
  | "chunkExtension"
  | "chunkSizeEnd"
  | "chunk"
  | "chunkEnd"
  | "trailers"
  | "done";

/** How far the reading of one answer has come. */
export interface ResponseReading {
  readonly limits: ReceiveLimits;
  readonly buffers: BodyBuffers;
  place: Place;
  /**
   * Head, trailers or a chunk's extensions, as far as they were received, with one character for each byte. In the case of
   * trailers it begins with the line end before them.
   */
  section: string;
  /** Number of bytes of heads so far; after the head, that of chunk extensions and trailers. */
  overhead: number;
  /** Number of bytes of the body, or of its chunk, that are still to come. */
  left: number;
  /** Number of digits of the chunk's size so far; after a chunk, the number of bytes of its line end. */
  digits: number;
  /** Why the body will not be used; it is then read for the message in it. */
  refusal: AttemptFailure | null;
  keepsAlive: boolean;
  /** The buffer with the first `size` bytes of the body; it is from `buffers` unless `isBorrowed`. */
  body: Buffer;
  size: number;
  /** Whether `body` is not one of our buffers: it is empty, or a view of the bytes that were taken in last. */
  isBorrowed: boolean;
  /** Whether any byte was received. */
  hasBegun: boolean;
}

const nothing = Buffer.alloc(0);
/** The largest number of bytes that an announced length reserves before any of them is received. */
const mostReserved = 262_144;

/** The reading of an answer whose first byte has not been received yet. */
export function startReading(limits: ReceiveLimits, buffers: BodyBuffers): ResponseReading {
  return {
    limits,
    buffers,
    place: "head",
    section: "",
    overhead: 0,
    left: 0,
    digits: 0,
    refusal: null,
    keepsAlive: false,
    body: nothing,
    size: 0,
    isBorrowed: true,
    hasBegun: false,
  };
}

/**
 * The body so far. It is overwritten together with the bytes that were taken in last, or once `stopReading` has been called.
 */
export function bodyOf({ body, size }: ResponseReading): Buffer {
  return body.length === size ? body : body.subarray(0, size);
}

/** Adds `bytes[from, to)` to the body. The first bytes are not copied; see `ownBody`. */
export function appendBody(reading: ResponseReading, bytes: Buffer, from: number, to: number): void {
  if (reading.size === 0) {
    reading.body = bytes.subarray(from, to);
    reading.size = to - from;
    return;
  }
  reserve(reading, to - from);
  bytes.copy(reading.body, reading.size, from, to);
  reading.size += to - from;
}

/**
 * Copies the part of the body that is still among the bytes that were taken in last. To be called before these are overwritten.
 */
export function ownBody(reading: ResponseReading): void {
  if (reading.isBorrowed && reading.size > 0) reserve(reading, Math.min(reading.left, mostReserved));
}

/** Makes the body one of our own buffers, with space for this many more bytes. */
function reserve(reading: ResponseReading, bytes: number): void {
  const { body, buffers, isBorrowed, size } = reading;
  const needed = size + bytes;
  if (!isBorrowed && body.length >= needed) return;
  reading.body = buffers.take(isBorrowed ? needed : Math.max(needed, 2 * body.length));
  reading.isBorrowed = false;
  body.copy(reading.body, 0, 0, size);
  if (!isBorrowed) buffers.give(body);
}

/** Gives the body's memory back. */
export function stopReading(reading: ResponseReading): void {
  if (!reading.isBorrowed) reading.buffers.give(reading.body);
  reading.body = nothing;
  reading.size = 0;
  reading.isBorrowed = true;
}

/**
 * Buffers for bodies that are received in several pieces. They are used many times: fresh ones would be garbage after each
 * page.
 */
export interface BodyBuffers {
  /** A buffer of at least this many bytes; its content is undefined. */
  take(atLeast: number): Buffer;
  /** Takes a buffer back, whose bytes may then be overwritten immediately. */
  give(buffer: Buffer): void;
}

const leastBytes = 65_536;
/** Size of the largest buffer that is kept; a larger one is rare. */
const largestKeptBytes = 1 << 20;
const keptBytes = 16 << 20;

export function createBodyBuffers(): BodyBuffers {
  const free: Buffer[] = [];
  let freeBytes = 0;
  return {
    take: (atLeast) => {
      const index = free.findLastIndex(({ length }) => length >= atLeast);
      const [found] = index < 0 ? [] : free.splice(index, 1);
      if (found === undefined) return Buffer.allocUnsafeSlow(Math.max(leastBytes, 2 ** Math.ceil(Math.log2(atLeast))));
      freeBytes -= found.length;
      return found;
    },
    give: (buffer) => {
      if (buffer.length > largestKeptBytes || freeBytes + buffer.length > keptBytes) return;
      free.push(buffer);
      freeBytes += buffer.length;
    },
  };
}
