/** The unit of a number: how Grafana writes it, and how a description writes it. */
export interface Unit {
  /** Grafana's id of the unit. */
  readonly id: string;
  readonly say: (value: number) => string;
  readonly decimals?: number;
  readonly min?: number;
  readonly max?: number;
}

const plain = (value: number): string => `${Number(value.toPrecision(6))}`;

/** Units that do not depend on a setting. */
export const units = {
  // Grafana's own unit for hours would write 40 as 1.67 days.
  gpus: { id: "suffix:GPUs", say: (value) => `${plain(value)} GPUs`, min: 0 },
  /** A number of GPUs above or below another number. */
  gpusMoreOrLess: { id: "suffix:GPUs", say: (value) => `${plain(value)} GPUs` },
  gpuHours: { id: "suffix:GPU-h", say: (value) => `${plain(value)} GPU-hours`, decimals: 0, min: 0 },
  nodeHours: { id: "suffix:node-h", say: (value) => `${plain(value)} node-hours`, decimals: 0, min: 0 },
  nodes: { id: "suffix:nodes", say: (value) => `${plain(value)} nodes`, decimals: 0, min: 0 },
  /** A part of a whole, 0..1. */
  ratio: { id: "percentunit", say: (value) => `${plain(value * 100)} %`, decimals: 0, min: 0, max: 1 },
  /** A part of something that can be exceeded. */
  use: { id: "percentunit", say: (value) => `${plain(value * 100)} %`, decimals: 0, min: 0 },
  /** The part by which something rose (above 0) or fell. */
  change: { id: "percentunit", say: (value) => `${plain(value * 100)} %`, decimals: 0 },
  /** A multiple of something else; 1 is the same. */
  times: { id: "suffix:×", say: (value) => `${plain(value)} times`, decimals: 2, min: 0 },
  /** A number without a unit, such as an index from 0 to 1. */
  index: { id: "none", say: plain, decimals: 2, min: 0, max: 1 },
  count: { id: "none", say: plain, decimals: 0, min: 0 },
  perSecond: { id: "suffix:/s", say: (value) => `${plain(value)} per second`, decimals: 1, min: 0 },
  perHour: { id: "suffix:/h", say: (value) => `${plain(value)} per hour`, decimals: 1, min: 0 },
  seconds: { id: "s", say: sayTime, decimals: 1, min: 0 },
  /** Seconds in the form 01:30:00, for waits. */
  wait: { id: "dthms", say: sayTime, min: 0 },
  /** The day of a moment, in milliseconds since 1970. */
  day: { id: "time:YYYY-MM-DD", say: (value) => new Date(value).toISOString().slice(0, 10) },
  hours: { id: "suffix:h", say: (value) => `${plain(value)} h`, decimals: 1, min: 0 },
  cores: { id: "suffix:cores", say: (value) => `${plain(value)} cores`, decimals: 2, min: 0 },
  bytes: { id: "bytes", say: (value) => `${plain(value / 2 ** 20)} MiB`, decimals: 0, min: 0 },
  text: { id: "string", say: plain },
} as const satisfies Readonly<Record<string, Unit>>;

// The currencies for which Grafana has a unit of its own; for any other it writes the name before the amount.
const known = [
  ..."USD GBP EUR JPY UAH BRL DKK ISK NOK SEK CZK CHF PLN ZAR INR KRW IDR PHP VND TRY MYR ILS".split(" "),
] as const;

/** An amount of money. */
export function money(currency: string): Unit {
  return {
    id: known.includes(currency) ? `currency${currency}` : `currency:${currency} `,
    say: (value) => `${plain(value)} ${currency}`,
  };
}

function sayTime(seconds: number): string {
  if (seconds < 120) return `${plain(seconds)} s`;
  if (seconds < 7200) return `${plain(seconds / 60)} min`;
  return seconds < 172_800 ? `${plain(seconds / 3600)} h` : `${plain(seconds / 86_400)} days`;
}
