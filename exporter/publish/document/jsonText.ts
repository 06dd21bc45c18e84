/** Digits that amounts are good for; beyond them is only what adding up in binary leaves (8.000000000000002). */
const digits = 12;
/** Below this, GPUs, shares and money are nothing. */
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
