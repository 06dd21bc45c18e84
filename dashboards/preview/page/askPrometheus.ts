import { z } from "zod";

/** One series of an answer. */
export interface AnsweredSeries {
  readonly labels: Readonly<Record<string, string>>;
  /** Times in milliseconds since the epoch, each with a value, which may be NaN. */
  readonly points: readonly (readonly [at: number, value: number])[];
}

const labels = z.record(z.string(), z.string());
const point = z.tuple([z.number(), z.string()]);
const answer = z.discriminatedUnion("status", [
  z.object({
    status: z.literal("success"),
    data: z.discriminatedUnion("resultType", [
      z.object({
        resultType: z.literal("matrix"),
        result: z.array(z.object({ metric: labels, values: z.array(point) })),
      }),
      z.object({ resultType: z.literal("vector"), result: z.array(z.object({ metric: labels, value: point })) }),
      z.object({ resultType: z.literal("scalar"), result: point }),
    ]),
  }),
  z.object({ status: z.literal("error"), error: z.string() }),
]);
const listed = z.object({ data: z.array(z.string()) });

const numberOf = (text: string): number =>
  text === "+Inf" ? Number.POSITIVE_INFINITY : text === "-Inf" ? Number.NEGATIVE_INFINITY : Number(text);
const pointOf = ([at, value]: readonly [number, string]): readonly [number, number] => [at * 1000, numberOf(value)];

/** Asks the Prometheus behind this page. Throws with the server's own words when it refuses the query. */
async function ask(path: string, parameters: Readonly<Record<string, string>>): Promise<readonly AnsweredSeries[]> {
  const response = await fetch(`/prometheus/api/v1/${path}`, { method: "POST", body: new URLSearchParams(parameters) });
  const said = answer.parse(await response.json());
  if (said.status === "error") throw new Error(said.error);
  const { data } = said;
  if (data.resultType === "scalar") return [{ labels: {}, points: [pointOf(data.result)] }];
  if (data.resultType === "vector")
    return data.result.map(({ metric, value }) => ({ labels: metric, points: [pointOf(value)] }));
  return data.result.map(({ metric, values }) => ({ labels: metric, points: values.map(pointOf) }));
}

/** Value of an expression at a moment, seconds since the epoch. */
export const askInstant = (query: string, at: number): Promise<readonly AnsweredSeries[]> =>
  ask("query", { query, time: `${at}` });

/** Values of an expression at the multiples of `step` within a span of time; all in seconds. */
export function askRange(query: string, from: number, to: number, step: number): Promise<readonly AnsweredSeries[]> {
  const [start, end] = [Math.ceil(from / step) * step, Math.floor(to / step) * step];
  return ask("query_range", { query, start: `${start}`, end: `${end}`, step: `${step}` });
}

/** Values of a label among the series that match. */
export async function askLabelValues(
  label: string,
  match: string | null,
  from: number,
  to: number,
): Promise<readonly string[]> {
  const parameters = new URLSearchParams({
    start: `${from}`,
    end: `${to}`,
    ...(match === null ? {} : { "match[]": match }),
  });
  const response = await fetch(`/prometheus/api/v1/label/${encodeURIComponent(label)}/values?${parameters}`);
  return listed.parse(await response.json()).data;
}
