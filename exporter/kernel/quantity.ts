/**
 * The grammar of Kubernetes quantities, by k8s.io/apimachinery/pkg/api/resource: a signed decimal number and a binary suffix
 * (Ki..Ei), a decimal suffix (n u m, k M G T P E) or an exponent (e3, E-3).
 */
const grammar = /^([+-]?)(\d*)(?:\.(\d*))?(?:(Ki|Mi|Gi|Ti|Pi|Ei)|([numkMGTPE])|[eE]([+-]?\d{1,3}))?$/;

/** The greatest length of a quantity that is read. No real quantity is longer, but text from a cluster may be. */
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
 * The amount in whole units of 10^-`decimals` of the base unit, rounded up like `Quantity.Value()` and `MilliValue()` (away
 * from zero): bytes or devices with 0 decimals, thousandths of a CPU with 3. `null` if the value is not a quantity.
 */
export function parseQuantity(value: unknown, decimals = 0): number | null {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string" || text.length > maxChars) return null;
  const simple = simpleAmount(text, decimals);
  if (simple !== null) return simple;
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

const wholeAmount = /^\d{1,9}$/;
const milliAmount = /^\d{1,9}m$/;

/** The amount in base units with its fraction, down to 10^-9: half a GPU, 1.5 cores. `null` if the value is not a quantity. */
export function parseAmount(value: unknown): number | null {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string") return null;
  if (wholeAmount.test(text)) return Number(text);
  if (milliAmount.test(text)) return Number(text.slice(0, -1)) / 1000;
  const nano = parseQuantity(text, 9);
  const whole = parseQuantity(text);
  if (nano === null || whole === null) return null;
  // Whole numbers keep all their digits.
  return whole * 1e9 === nano ? whole : nano / 1e9;
}

const maxSimpleDigits = 9;

/**
 * The amount of a whole number with a usual suffix, which nearly all quantities are, without the full grammar; `null` for all
 * others.
 */
function simpleAmount(text: string, decimals: number): number | null {
  let digits = 0;
  let whole = 0;
  for (; digits < text.length; digits += 1) {
    const digit = text.charCodeAt(digits) - 0x30;
    if (digit < 0 || digit > 9) break;
    whole = whole * 10 + digit;
  }
  if (digits === 0 || digits > maxSimpleDigits || (decimals !== 0 && decimals !== 3)) return null;
  // "m" is a thousandth, which is the unit here for CPU.
  if (decimals === 3 && digits === text.length - 1 && text.endsWith("m")) return whole;
  const factor = digits === text.length ? 1 : suffixFactors[text.slice(digits)];
  if (factor === undefined) return null;
  const amount = whole * factor * (decimals === 3 ? 1000 : 1);
  return Number.isSafeInteger(amount) ? amount : null;
}

const suffixFactors: Readonly<Record<string, number>> = Object.assign(Object.create(null), {
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  k: 1000,
  M: 1_000_000,
});

const wholeDuration = /^([+-]?)((?:\d+(?:\.\d*)?(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const durationPart = /(\d+(?:\.\d*)?)(ns|us|µs|μs|ms|s|m|h)/g;

const secondsOf: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  μs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3600,
};

/** Seconds of a duration as Go writes it: `168h`, `1h30m`, `500ms`, `0`. `null` if the value is not a duration. */
export function parseDuration(value: unknown): number | null {
  if (typeof value !== "string" || value.length > maxChars) return null;
  if (value === "0") return 0;
  const parts = wholeDuration.exec(value);
  if (parts === null) return null;
  let seconds = 0;
  for (const [, number, unit] of value.matchAll(durationPart)) seconds += Number(number) * (secondsOf[unit ?? ""] ?? 0);
  return parts[1] === "-" ? -seconds : seconds;
}
