import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type PlayedPrometheus, startPlayedPrometheus } from "../../cli/demo/backfill/playedPrometheus.ts";
import { everyDashboard, panelsOf } from "../dashboards/everyDashboard.ts";
import { hasPrometheus } from "../e2e/scrapedByPrometheus.ts";
import { emptyInHealth } from "./emptyInHealth.ts";

if (!hasPrometheus()) process.stderr.write("skipped: prometheus is not installed (Debian package prometheus)\n");

/**
 * What is there only for two minutes after the API was asked, on the machine's clock: a play of days asks when it begins, and is
 * over sooner or later than that. It is looked for in the play's first hour.
 */
const onlyAtFirst = ["exporter: Slowest answers of the Kubernetes API A"];
/** Nothing of it is on the play's last day, on which all work fits: it is looked for in the whole play. */
const inAnyHour = "waste: GPUs of work blocked next to free GPUs ";

const days = 8;
const seconds = { m: 60, h: 3600, d: 86_400 } as const;
const answerSchema = z.object({
  data: z.object({ result: z.array(z.object({ metric: z.record(z.string(), z.string()) })) }),
});

/** `now-7d`, `now/M`: seconds before now. */
function rangeOf(from: string): number {
  const found = /^now-(\d+)([mhd])$/.exec(from);
  const unit = found?.[2];
  return unit === "m" || unit === "h" || unit === "d" ? Number(found?.[1]) * seconds[unit] : 7 * seconds.d;
}

const queries = everyDashboard.flatMap(({ definition, json }) =>
  panelsOf(json).flatMap(({ title = "", targets = [] }) =>
    targets.map(({ expr, refId = "" }) => ({
      name: `${definition.name}: ${title} ${refId}`,
      expr,
      range: rangeOf(definition.from),
    })),
  ),
);

describe.skipIf(!hasPrometheus())("panels on a real Prometheus that holds a played cluster's past", () => {
  let played: PlayedPrometheus | null = null;
  beforeAll(async () => {
    played = await startPlayedPrometheus({ days });
  }, 600_000);
  afterAll(async () => played?.stop());

  /** How many series a query finds within the time that its dashboard shows. */
  async function found(name: string, expr: string, ofDashboard: number): Promise<number> {
    if (played === null) throw new Error("no Prometheus");
    const { url, stepSeconds } = played;
    const isAtFirst = onlyAtFirst.includes(name);
    const range = isAtFirst ? seconds.h : name.startsWith(inAnyHour) ? played.to - played.from : ofDashboard;
    const to = isAtFirst ? played.from + range : played.to;
    const step = Math.max(stepSeconds, Math.ceil(range / 200));
    const filled = expr
      .replaceAll("$__rate_interval", `${4 * stepSeconds}s`)
      .replaceAll("$__interval", `${step}s`)
      .replaceAll("$__range_s", `${range}`)
      .replaceAll("$__range", `${range}s`)
      .replaceAll(/\$\w+/g, ".*");
    const parameters = new URLSearchParams({ query: filled, start: `${to - range}`, end: `${to}`, step: `${step}` });
    const response = await fetch(`${url}/api/v1/query_range`, { method: "POST", body: parameters });
    expect(response.status, `${await response.clone().text()} ${filled}`).toBe(200);
    return answerSchema.parse(await response.json()).data.result.length;
  }

  test("there are all dashboards", () => expect(everyDashboard.length).toBe(7));

  test.each(queries.map(({ name, expr, range }) => [name, expr, range] as const))("%s", async (name, expr, range) => {
    const series = await found(name, expr, range);
    // A query that finds something must not be on the list: the list would hide that it stops to.
    if (emptyInHealth[name] === undefined) expect(series, expr).toBeGreaterThan(0);
    else expect(series, `${name} finds data: take it off the list`).toBe(0);
  });

  test("the list names queries that exist", () => {
    const names = queries.map(({ name }) => name);
    const listed = [...Object.keys(emptyInHealth), ...onlyAtFirst];
    expect(listed.filter((name) => !names.includes(name))).toEqual([]);
  });
});
