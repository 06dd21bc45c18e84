/** The value of a JSON text; `undefined`, which no JSON text stands for, where it is none. Never throws. */
export function parseJson(text: string | Buffer): unknown {
  try {
    return JSON.parse(typeof text === "string" ? text : text.toString("utf8"));
  } catch {
    return undefined;
  }
}
