/** The value of a JSON text; `undefined`, which no JSON text has as its value, if it is invalid. Never throws. */
export function parseJson(text: string | Buffer): unknown {
  try {
    return JSON.parse(typeof text === "string" ? text : text.toString("utf8"));
  } catch {
    return undefined;
  }
}
