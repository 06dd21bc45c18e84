/** C's `%f`, as exporters before 4.8.3 print fractions; whole amounts are printed without a point. */
export function fixedNumber(value: number, whole: boolean): string {
  return whole ? String(Math.round(value)) : value.toFixed(6);
}

/**
 * Go's `strconv.FormatFloat(v, 'g', -1, 64)`, as the text renderer of 4.8.3 prints: an exponent below 1e-04 and from
 * 1e+06 up, at least two digits in it. Fractions are cut to six decimals first, which is what DCGM delivers.
 */
export function shortestNumber(value: number, whole: boolean): string {
  const rounded = whole ? Math.round(value) : Number(value.toFixed(6));
  const size = Math.abs(rounded);
  if (size === 0 || (size >= 1e-4 && size < 1e6)) return String(rounded);
  const [mantissa = "0", exponent = "+0"] = rounded.toExponential().split("e");
  const sign = exponent.startsWith("-") ? "-" : "+";
  return `${mantissa}e${sign}${exponent.replace(/^[+-]/, "").padStart(2, "0")}`;
}
