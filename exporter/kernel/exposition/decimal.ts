import { byte } from "./bytes.ts";

/** The number of decimal digits that a double always represents exactly. */
const exactDigits = 15;
/** Powers of 10 by exponent. */
export const powersOfTen = Array.from({ length: exactDigits + 1 }, (_unused, exponent) => 10 ** exponent);

/** The number written in `[from, to)`; `NaN` for anything that is not one finite decimal number. */
export function readDecimal(bytes: Buffer, from: number, to: number): number {
  let value = 0;
  let digits = 0;
  let decimals = -1;
  let at = from;
  for (; at < to; at += 1) {
    const character = bytes[at] ?? 0;
    if (character >= byte.zero && character <= byte.nine) {
      value = value * 10 + (character - byte.zero);
      digits += 1;
      if (decimals >= 0) decimals += 1;
    } else if (character === byte.dot && decimals < 0) {
      decimals = 0;
    } else {
      break;
    }
  }
  if (at === to && digits > 0 && digits <= exactDigits)
    return decimals > 0 ? value / (powersOfTen[decimals] ?? 1) : value;
  return finiteNumber(bytes.toString("latin1", from, Math.min(to, from + 400)));
}

/** The form in which Go writes a finite number. */
const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
/** The longest text that is read as a number; the longest numbers that Go writes have 309 digits. */
const maxNumberLength = 400;

/** The number that a text contains; `NaN` for anything that is not one finite decimal number. */
export function finiteNumber(text: string): number {
  const value = text.length <= maxNumberLength && decimal.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : Number.NaN;
}
