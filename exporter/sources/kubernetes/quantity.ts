/**
 * Kubernetes quantities, by the grammar of k8s.io/apimachinery/pkg/api/resource: a signed decimal number and a
 * binary suffix (Ki..Ei), a decimal suffix (n u m, k M G T P E) or an exponent (e3, E-3).
 */
const grammar = /^([+-]?)(\d*)(?:\.(\d*))?(?:(Ki|Mi|Gi|Ti|Pi|Ei)|([numkMGTPE])|[eE]([+-]?\d{1,3}))?$/;

/** No real quantity is longer; text from a cluster may be. */
const maxChars = 64;
const maxExponent = 60;

const binaryPowers: Readonly<Record<string, bigint>> = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n };
const decimalPowers: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};

/**
 * The amount in whole units of 10^-`decimals` of the base unit, rounded up as `Quantity.Value()` and `MilliValue()`
 * do (away from zero): bytes or devices with 0 decimals, thousandths of a CPU with 3. `null` if it is not a quantity.
 */
export function parseQuantity(value: unknown, decimals = 0): number | null {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string" || text.length > maxChars) return null;
  const parts = grammar.exec(text);
  if (parts === null) return null;
  const [, sign, whole = "", fraction = "", binary, decimal, exponent] = parts;
  if (whole === "" && fraction === "") return null;
  const power = decimal !== undefined ? (decimalPowers[decimal] ?? 0) : Number(exponent ?? 0);
  if (Math.abs(power) > maxExponent) return null;
  const magnitude = roundedUp(
    BigInt(whole + fraction) << (binaryPowers[binary ?? ""] ?? 0n),
    power - fraction.length + decimals,
  );
  const amount = Number(magnitude);
  return sign === "-" && amount !== 0 ? -amount : amount;
}

function roundedUp(digits: bigint, power: number): bigint {
  if (power >= 0) return digits * 10n ** BigInt(power);
  const divisor = 10n ** BigInt(-power);
  return (digits + divisor - 1n) / divisor;
}
