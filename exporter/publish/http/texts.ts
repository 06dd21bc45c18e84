import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Response } from "express";
import { jsonChunks } from "../document/jsonText.ts";

/** Answers with more records than this become text as a whole before any of it is sent. */
export const recordsAtOnce = 1000;

/** A finished answer, shared by all who read it. */
export interface Text {
  readonly pieces: readonly Buffer[];
  readonly bytes: number;
}

/** The most bytes of all texts that are being read. */
const maxBytes = 128 * 1024 * 1024;

/**
 * Writes an answer whose lists are long. A slow reader then keeps only its bytes in memory, not the records that they were made
 * from.
 */
export function textOf(answer: Readonly<Record<string, unknown>>): Text {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for (const chunk of jsonChunks(answer)) {
    const piece = Buffer.from(chunk);
    pieces.push(piece);
    bytes += piece.length;
  }
  return { pieces, bytes };
}

/** Sends finished texts to their readers. */
export interface Texts {
  send(response: Response, text: Text): Promise<void>;
}

/** Sends texts; when those that are read grow too many, the readers of the oldest are cut off. */
export function createTexts(limit: number = maxBytes): Texts {
  const read = new Map<Text, Set<Response>>();
  const evict = (): void => {
    let bytes = 0;
    for (const text of read.keys()) bytes += text.bytes;
    for (const [text, readers] of read) {
      if (bytes <= limit || read.size === 1) return;
      bytes -= text.bytes;
      read.delete(text);
      for (const reader of readers) reader.destroy();
    }
  };
  return {
    async send(response, text) {
      const readers = read.get(text) ?? new Set();
      read.set(text, readers.add(response));
      evict();
      response.type("application/json").set("Content-Length", `${text.bytes}`);
      try {
        await pipeline(Readable.from(text.pieces, { highWaterMark: 1 }), response);
      } catch {
        response.destroy();
      } finally {
        readers.delete(response);
        if (readers.size === 0) read.delete(text);
      }
    },
  };
}
