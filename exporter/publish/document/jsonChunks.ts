import { sensibleDigits } from "./jsonText.ts";

/** Records per piece: a text of tens of thousands of devices is never one string. */
const recordsPerChunk = 500;

/** The JSON text of a document in pieces. */
export function* jsonChunks(document: Readonly<Record<string, unknown>>): Generator<string> {
  let separator = "{";
  for (const [key, value] of Object.entries(document)) {
    yield `${separator}${JSON.stringify(key)}:`;
    separator = ",";
    if (Array.isArray(value)) yield* arrayChunks(value);
    else yield JSON.stringify(value, sensibleDigits);
  }
  yield separator === "{" ? "{}\n" : "}\n";
}

function* arrayChunks(records: readonly unknown[]): Generator<string> {
  for (let start = 0; start < records.length; start += recordsPerChunk) {
    const chunk = JSON.stringify(records.slice(start, start + recordsPerChunk), sensibleDigits);
    yield `${start === 0 ? "[" : ","}${chunk.slice(1, -1)}`;
  }
  yield records.length === 0 ? "[]" : "]";
}
