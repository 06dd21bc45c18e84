import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { everyQuery } from "../dashboards/everyDashboard.ts";
import { hasPrometheus } from "../e2e/scrapedByPrometheus.ts";
import { isSteadyGauge, quantiles, rises } from "./steadyGauges.ts";
import { type PlayedReplicas, playReplicas } from "./twoReplicasPlay.ts";
import { statesOfPools } from "./twoReplicasRules.ts";
import {
  answersOver,
  bySubject,
  type Difference,
  differences,
  type SampledSeries,
  writtenSamples,
} from "./twoReplicasSamples.ts";
import { disturbed, physicalGpus, step, undisturbed } from "./twoReplicasScenario.ts";

if (!hasPrometheus()) process.stderr.write("skipped: prometheus is not installed (Debian package prometheus)\n");

const seed = 3;

/** Panels of what a replica has seen itself: advice, and since when nodes are idle. They are not compared. */
const ofItsMemory = /recommendations|Recommendations|: Idle nodes, by node pool /;
/** What a process says only for two minutes after it has asked. */
const shortLived = "exporter: Slowest answers of the Kubernetes API A";

describe.skipIf(!hasPrometheus())("two replicas, one of which is killed, cut off or stopped at a time", () => {
  let played: PlayedReplicas;
  let written: readonly SampledSeries[] = [];
  /** Of every evaluation of the rules, milliseconds. */
  let times: readonly number[] = [];

  const of = (cluster: string, isMeant: (name: string) => boolean) =>
    bySubject(
      written.filter(({ labels }) => labels.cluster === cluster && isMeant(labels.__name__ ?? "")),
      ["cluster"],
    );
  const reported = (found: readonly Difference[]): readonly string[] =>
    found.map(
      ({ series, at, ...rest }) =>
        `${series} at ${Math.round(at / 1000 - played.from)} s: ${rest.found}, not ${rest.wanted}`,
    );

  beforeAll(async () => {
    played = await playReplicas(seed);
    const { cluster, from, to } = played;
    written = await writtenSamples(cluster.url, '{__name__=~"(cluster.*:fairlead|test:).*"}', from, to);
    times = [...new Set(written.flatMap(({ samples }) => [...samples.keys()]))].toSorted((a, b) => a - b);
  }, 400_000);
  afterAll(async () => played?.cluster.stop());

  /** The replica that was read at an evaluation. */
  const readAt = (at: number): string | undefined =>
    written.find(
      ({ labels, samples }) =>
        labels.__name__ === "cluster:fairlead_replica:longest" && labels.cluster === disturbed && samples.has(at),
    )?.labels.instance;

  test("the rules are evaluated all the time, and each replica was away and was read", () => {
    const moments = Array.from({ length: (played.to - played.from) / step + 1 }, (_, i) => played.from + i * step);
    expect(times.map((at) => at / 1000)).toEqual(moments);
    expect(new Set(played.absences.map(({ replica }) => replica)).size).toBe(2);
    expect(new Set(times.map(readAt))).toEqual(new Set(["fairlead-0", "fairlead-1"]));
  });

  test("another replica is read only when the one that was read is away", () => {
    for (const [i, at] of times.entries()) {
      const before = i === 0 ? undefined : readAt(times[i - 1] ?? 0);
      if (before === undefined || readAt(at) === before) continue;
      const isAway = played.absences.some(
        ({ replica, from, to }) => replica === before && at / 1000 >= from && at / 1000 <= to,
      );
      expect(isAway, `${before} was left at ${at / 1000 - played.from} s`).toBe(true);
    }
  });

  test("a replica that is away is not read, however it went", () => {
    for (const { replica, from, to } of played.absences)
      for (const at of times.filter((time) => time / 1000 > from && time / 1000 < to))
        expect(readAt(at), `at ${at / 1000 - played.from} s`).not.toBe(replica);
    // The last three are of the one that was read: stopped, killed, cut off.
    const last = played.absences.slice(-3);
    expect(last.map(({ from }) => readAt(from * 1000))).toEqual(last.map(({ replica }) => replica));
  });

  test("every recorded series is there at every evaluation, and is what it is undisturbed within a scrape and a cycle", () => {
    const [found, wanted] = [of(disturbed, isSteadyGauge), of(undisturbed, isSteadyGauge)];
    expect(wanted.size).toBeGreaterThan(50);
    expect(reported(differences(found, wanted, times, { moments: 2, tolerance: 1e-6 }))).toEqual([]);
    const isThere = (name: string): boolean => [rises, quantiles].some((pattern) => pattern.test(name));
    const all = { moments: 2, tolerance: Number.POSITIVE_INFINITY };
    expect(reported(differences(of(disturbed, isThere), of(undisturbed, isThere), times, all))).toEqual([]);
  });

  test("rises of counters lack what rose while the replica that is read was away, and nothing else", () => {
    const isRise = (name: string): boolean => name.includes(":increase");
    const [found, wanted] = [of(disturbed, isRise), of(undisturbed, isRise)];
    expect(found.size).toBeGreaterThan(10);
    const wrong: string[] = [];
    for (const [series, samples] of found) {
      const reference = wanted.get(series) ?? new Map<number, number>();
      for (const [at, value] of samples) {
        const around = times.filter((time) => Math.abs(time - at) <= 2 * step * 1000);
        const values = around.flatMap((time) => reference.get(time) ?? []);
        if (values.length < around.length) continue;
        const [low, high] = [Math.min(...values), Math.max(...values)];
        // Prometheus guesses what was before the first sample and after the last: up to a scrape each of some ten at first.
        const guessed = 0.2 * high;
        const lost = missed(reference, at);
        if (value < low - lost - guessed || value > high + guessed)
          wrong.push(`${series} at ${at / 1000 - played.from} s: ${value}, not ${low} (less ${lost}) to ${high}`);
      }
    }
    expect(wrong, JSON.stringify(played.absences)).toEqual([]);
  });

  /** By how much a series rose while the replica that is read at a time had been away. */
  function missed(reference: SampledSeries["samples"], at: number): number {
    const replica = readAt(at);
    const valueAt = (seconds: number): number => {
      const before = times.filter((time) => time <= seconds * 1000).at(-1);
      return reference.get(before ?? 0) ?? 0;
    };
    return played.absences
      .filter((absence) => absence.replica === replica && absence.from * 1000 <= at)
      .reduce((sum, { from, to }) => sum + Math.max(0, valueAt(to + 2 * step) - valueAt(from - 2 * step)), 0);
  }

  test("the states of each pool add up to its GPUs at every evaluation", () => {
    for (const at of times) {
      const sums = new Map<string, number>();
      for (const { labels, samples } of written) {
        if (labels.__name__ !== statesOfPools || labels.cluster !== disturbed) continue;
        const pool = labels.pool ?? "";
        sums.set(pool, (sums.get(pool) ?? 0) + (samples.get(at) ?? 0));
      }
      expect([...sums.keys()].toSorted()).toEqual([...physicalGpus.keys()].toSorted());
      for (const [pool, gpus] of physicalGpus)
        expect(sums.get(pool), `${pool} at ${at / 1000 - played.from} s`).toBeCloseTo(gpus, 6);
    }
  });

  test("no alert fires that does not fire undisturbed but the one that says that a replica is gone", async () => {
    const { cluster, from, to, absences } = played;
    const fired = await writtenSamples(cluster.url, 'ALERTS{alertstate="firing"}', from, to);
    const by = (name: string) =>
      bySubject(
        fired.filter(({ labels }) => labels.cluster === name && labels.alertname !== "GpuExporterReplicaMissing"),
        ["cluster"],
      );
    const evaluated = [...new Set(fired.flatMap(({ samples }) => [...samples.keys()]))].toSorted((a, b) => a - b);
    expect(reported(differences(by(disturbed), by(undisturbed), evaluated, { moments: 2, tolerance: 1e-6 }))).toEqual(
      [],
    );
    const missing = fired.filter(({ labels }) => labels.alertname === "GpuExporterReplicaMissing");
    expect(missing.map(({ labels }) => labels.cluster)).toEqual([disturbed]);
    for (const at of missing.flatMap(({ samples }) => [...samples.keys()]))
      expect(absences.some((one) => at / 1000 > one.from && at / 1000 < one.to + 3 * step)).toBe(true);
  });

  test("no panel shows a hole that it does not show undisturbed", { timeout: 400_000 }, async () => {
    const wrong: string[] = [];
    let compared = 0;
    for (const [name, expr] of everyQuery) {
      if (name === shortLived || ofItsMemory.test(name)) continue;
      const found = await panelHoles(expr);
      if (found === null) continue;
      compared += 1;
      wrong.push(
        ...reported(found)
          .slice(0, 3)
          .map((text) => `${name}: ${text}`),
      );
    }
    expect(wrong).toEqual([]);
    expect(compared).toBeGreaterThan(150);
    expect(everyQuery.some(([name]) => ofItsMemory.test(name))).toBe(true);
  });

  /** Where a query of a panel finds nothing; `null` where it finds nothing undisturbed, or is about each replica by itself. */
  async function panelHoles(expr: string): Promise<readonly Difference[] | null> {
    const { cluster, from, to } = played;
    // Sums of looks are means of what other panels show: a few moments say.
    const isOfLooks = expr.includes(":10m]") || expr.includes(":1d]");
    const every = isOfLooks ? 10 * step : step;
    const first = Math.ceil(from) + 2 * step;
    const asked = (of: string): Promise<readonly SampledSeries[]> => {
      const filled = expr
        .replaceAll("$__rate_interval", `${4 * step}s`)
        .replaceAll("$__interval", `${step}s`)
        .replaceAll("$__range_s", `${10 * step}`)
        .replaceAll("$__range", `${10 * step}s`)
        .replaceAll(":10m]", `:${2 * step}s]`)
        .replaceAll("$cluster", of)
        .replaceAll(/\$\w+/g, ".*");
      return answersOver(cluster.url, filled, first, to, every);
    };
    const [found, wanted] = await Promise.all([asked(disturbed), asked(undisturbed)]);
    if (wanted.length === 0 || wanted.some(({ labels }) => "instance" in labels)) return null;
    const moments = Array.from({ length: Math.floor((to - first) / every) + 1 }, (_, i) => (first + i * every) * 1000);
    const all = differences(bySubject(found, ["cluster"]), bySubject(wanted, ["cluster"]), moments, {
      moments: isOfLooks ? 1 : 3,
      tolerance: Number.POSITIVE_INFINITY,
    });
    return all.filter((one) => one.found === null && !isNoRise(one));
  }
});

/** A counter that a replica has never seen move is not there, which elsewhere is a rise of 0. */
const isNoRise = ({ found, wanted }: Difference): boolean => found === null && wanted === "0 to 0";
