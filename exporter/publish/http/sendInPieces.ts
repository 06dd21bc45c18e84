import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Response } from "express";
import { jsonChunks } from "../document/jsonChunks.ts";

/** Answers with more records are sent in pieces. */
export const recordsAtOnce = 1000;

/** Sends an answer whose lists are long, without keeping the process from serving anything else meanwhile. */
export async function sendInPieces(response: Response, answer: Readonly<Record<string, unknown>>): Promise<void> {
  response.type("application/json");
  await pipeline(Readable.from(jsonChunks(answer)), response).catch(() => response.destroy());
}
