import { setImmediate } from "node:timers/promises";
import { sensibleDigits } from "./jsonText.ts";

/** Records per piece: a piece is made in a few milliseconds. */
const recordsPerChunk = 500;

/**
 * The JSON text of a document in pieces, with a pause after each, so that tens of thousands of devices do not keep
 * the process from serving anything else.
 */
export async function* jsonChunks(document: Readonly<Record<string, unknown>>): AsyncGenerator<string> {
  let separator = "{";
  for (const [key, value] of Object.entries(document)) {
    yield `${separator}${JSON.stringify(key)}:`;
    separator = ",";
    if (Array.isArray(value)) yield* arrayChunks(value);
    else yield JSON.stringify(value, sensibleDigits);
  }
  yield separator === "{" ? "{}\n" : "}\n";
}

async function* arrayChunks(records: readonly unknown[]): AsyncGenerator<string> {
  for (let start = 0; start < records.length; start += recordsPerChunk) {
    const chunk = JSON.stringify(records.slice(start, start + recordsPerChunk), sensibleDigits);
    yield `${start === 0 ? "[" : ","}${chunk.slice(1, -1)}`;
    await setImmediate();
  }
  yield records.length === 0 ? "[]" : "]";
}
