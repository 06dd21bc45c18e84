/** A finite number in decimal digits alone, never with an exponent. Reading the text gives the same number. */
export function plainDecimal(value: number): string {
  const text = String(value);
  const at = text.indexOf("e");
  if (at < 0) return text;
  const sign = value < 0 ? "-" : "";
  const [whole = "", fraction = ""] = text.slice(sign.length, at).split(".");
  const digits = `${whole}${fraction}`;
  const point = whole.length + Number(text.slice(at + 1));
  // String() uses an exponent only where the point is outside of the digits.
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  return `${sign}${digits}${"0".repeat(Math.max(0, point - digits.length))}`;
}
