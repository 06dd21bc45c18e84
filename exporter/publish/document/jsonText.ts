/**
 * How many digits of an amount are significant. Those beyond them are only what adding up in binary leaves (8.000000000000002).
 */
const digits = 12;
/** Amounts of GPUs, shares and money below this are written as 0. */
const nothing = 1e-12;

/** A replacer for JSON and YAML that leaves each number the digits that mean something. Whole numbers (bytes) stay exact. */
export function sensibleDigits(_key: unknown, value: unknown): unknown {
  if (typeof value !== "number" || Number.isInteger(value)) return value;
  return Math.abs(value) < nothing ? 0 : Number(value.toPrecision(digits));
}

/** A document as a command prints it. */
export function jsonText(document: unknown): string {
  return `${JSON.stringify(document, sensibleDigits, 2)}\n`;
}

/** How many records a piece has: a text of tens of thousands of devices is never one string. */
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
