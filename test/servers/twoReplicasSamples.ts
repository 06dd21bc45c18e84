import { z } from "zod";

/** One series: when it has which value; times in milliseconds. */
export interface SampledSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly samples: ReadonlyMap<number, number>;
}

const matrix = z.object({
  data: z.object({
    result: z.array(
      z.object({ metric: z.record(z.string(), z.string()), values: z.array(z.tuple([z.number(), z.string()])) }),
    ),
  }),
});

async function ask(
  url: string,
  path: string,
  parameters: Readonly<Record<string, string>>,
): Promise<readonly SampledSeries[]> {
  const response = await fetch(`${url}/api/v1/${path}`, { method: "POST", body: new URLSearchParams(parameters) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${parameters.query}: ${text}`);
  return matrix.parse(JSON.parse(text)).data.result.map(({ metric, values }) => ({
    labels: metric,
    samples: new Map(values.map(([at, value]) => [Math.round(at * 1000), Number(value.replace("Inf", "Infinity"))])),
  }));
}

/** Samples as they were written from `from` to `to`, seconds since the epoch. */
export function writtenSamples(
  url: string,
  selector: string,
  from: number,
  to: number,
): Promise<readonly SampledSeries[]> {
  return ask(url, "query", { query: `${selector}[${Math.ceil(to - from)}s]`, time: `${to}` });
}

/** What an expression gives at every step from `from` to `to`. */
export function answersOver(
  url: string,
  query: string,
  from: number,
  to: number,
  step: number,
): Promise<readonly SampledSeries[]> {
  return ask(url, "query_range", { query, start: `${from}`, end: `${to}`, step: `${step}` });
}

/** The series by their labels without some. */
export function bySubject(
  series: readonly SampledSeries[],
  without: readonly string[],
): ReadonlyMap<string, SampledSeries["samples"]> {
  return new Map(
    series.map(({ labels, samples }) => {
      const kept = Object.entries(labels).filter(([label]) => !without.includes(label));
      const { __name__ = "", ...others } = Object.fromEntries(kept);
      const parts = Object.entries(others).toSorted(([a], [b]) => (a < b ? -1 : 1));
      return [`${__name__}{${parts.map(([label, value]) => `${label}=${value}`).join(", ")}}`, samples] as const;
    }),
  );
}

/** A moment at which one of two is not what the other was about then. */
export interface Difference {
  readonly series: string;
  readonly at: number;
  /** `null`: it is not there. */
  readonly found: number | null;
  readonly wanted: string;
}

/** How well two must agree. */
export interface Agreement {
  /** Moments before and after at which the other may have been so. */
  readonly moments: number;
  /** Part of a value by which it may differ; infinite: only whether it is there counts. */
  readonly tolerance: number;
}

/**
 * Where `found` is not what `wanted` was at one of the moments around it: missing although it was there at all of them, there
 * although it was at none, or beyond what it was then.
 */
export function differences(
  found: ReadonlyMap<string, SampledSeries["samples"]>,
  wanted: ReadonlyMap<string, SampledSeries["samples"]>,
  times: readonly number[],
  { moments, tolerance }: Agreement,
): readonly Difference[] {
  const all: Difference[] = [];
  for (const series of new Set([...found.keys(), ...wanted.keys()])) {
    for (let i = moments; i < times.length - moments; i++) {
      const at = times[i] ?? 0;
      const value = found.get(series)?.get(at) ?? null;
      const around = times.slice(i - moments, i + moments + 1).map((time) => wanted.get(series)?.get(time));
      const known = around.filter((one) => one !== undefined);
      const [low, high] = [Math.min(...known), Math.max(...known)];
      const slack = tolerance * (Math.max(Math.abs(low), Math.abs(high)) + 1e-9);
      const isMissing = value === null && known.length === around.length;
      const isGhost = value !== null && known.length === 0;
      // Where only being there counts, a quantile of nothing (NaN) is as good as another.
      const isBeyond =
        Number.isFinite(tolerance) &&
        value !== null &&
        known.length > 0 &&
        !(value >= low - slack && value <= high + slack);
      if (isMissing || isGhost || isBeyond)
        all.push({ series, at, found: value, wanted: known.length === 0 ? "nothing" : `${low} to ${high}` });
    }
  }
  return all;
}
