/** A JSON object of unknown content; it may contain any name, even `__proto__`. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/** Whether a value is an object and not a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value of a JSON text; `undefined`, which no JSON text has as its value, if it is invalid. Never throws. */
export function parseJson(text: string | Uint8Array): unknown {
  try {
    if (typeof text === "string") return JSON.parse(text);
    return JSON.parse(Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString("utf8"));
  } catch {
    return undefined;
  }
}
