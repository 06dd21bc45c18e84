import { fault, type Place } from "../fields.ts";

const maxChars = 64;
const whole = /^([+-]?)((?:\d+(?:\.\d*)?(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const part = /(\d+(?:\.\d*)?)(ns|us|µs|μs|ms|s|m|h)/g;

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

/** Seconds of a duration as Go writes it: `168h`, `1h30m`, `500ms`, `0`. `null` if it is not one. */
export function parseDuration(value: unknown): number | null {
  if (typeof value !== "string" || value.length > maxChars) return null;
  if (value === "0") return 0;
  const parts = whole.exec(value);
  if (parts === null) return null;
  let seconds = 0;
  for (const [, number, unit] of value.matchAll(part)) seconds += Number(number) * (secondsOf[unit ?? ""] ?? 0);
  return parts[1] === "-" ? -seconds : seconds;
}

/** A duration field in seconds; `null` where it is absent. */
export function duration(place: Place, key: string): number | null {
  const found = place.value[key];
  if (found === undefined || found === null) return null;
  const seconds = parseDuration(found);
  if (seconds === null) fault(place, key, "a duration");
  return seconds;
}
