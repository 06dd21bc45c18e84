import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type PlayedCluster, playCluster } from "../../cli/demo/playCluster.ts";
import { prepareLedger } from "../../cli/ledgerOutput.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import type { Habit, Scenario } from "../../simulator/scenario.ts";
import { eksLabels, gpuNode, karpenterLabels, workloadOf } from "../../simulator/scenarios/parts.ts";
import { readPage } from "../publish/readPage.ts";
import { createTrueIdleNodes, type TrueIdleNodes } from "./trueIdleNodes.ts";

const folder = mkdtempSync(path.join(tmpdir(), "fairlead-idle-nodes-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const startAt = Date.parse("2026-11-09T00:00:00Z") / 1000;
const cycleSeconds = 600;
const fineSeconds = 60;
const hour = 3600;

const config = configSchema.parse({
  cluster: "idle",
  interval: cycleSeconds,
  teams: [{ from: "namespace-label", key: "team" }],
  ledger: { path: path.join(folder, "ledger.db") },
});

const warmNode = "warm-1";
const nodePools: Readonly<Record<string, string>> = {
  "a-1": "train",
  "a-2": "train",
  "b-1": "burst",
  [warmNode]: "spare",
};

function habit(
  name: string,
  level: number,
  physicalGpus: number,
  everyHours: number,
  hours: readonly [number, number],
): Habit {
  const request = { kind: "physicalGpus", count: physicalGpus } as const;
  return {
    name,
    workload: workloadOf("Job", "ml", 1, request, { kind: "constant", level }),
    initial: 1,
    everySeconds: everyHours * hour,
    maxWaiting: 1,
    runSeconds: [hours[0] * hour, hours[1] * hour],
    failRatio: 0,
  };
}

/** Four nodes of two GPUs: work comes and goes, and a third of it never uses what it holds. */
const scenario: Scenario = {
  name: "idle nodes",
  nodes: [
    gpuNode("a-1", "L4", 2, { kind: "whole" }, { labels: eksLabels("train", "ON_DEMAND") }),
    gpuNode("a-2", "L4", 2, { kind: "whole" }, { labels: eksLabels("train", "ON_DEMAND") }),
    gpuNode("b-1", "L4", 2, { kind: "whole" }, { labels: karpenterLabels("burst", "spot") }),
    gpuNode(
      warmNode,
      "L4",
      2,
      { kind: "whole" },
      {
        labels: { ...karpenterLabels("spare", "on-demand"), "fairlead.dev/warm-pool": "true" },
      },
    ),
  ],
  namespaces: [{ name: "ml", team: "ml" }],
  priorityClasses: {},
  habits: [habit("train", 0.9, 1, 4, [1, 6]), habit("forgotten", 0.01, 1, 9, [2, 9]), habit("wide", 0.8, 2, 7, [2, 5])],
  placed: [],
  queueing: { kueue: null, kai: null, volcano: null },
  placement: "pack",
  warmupSeconds: 1200,
  collectionInterval: 30,
  faults: [],
};

/** One process from `from` on: cycles until `to`, and once it sleeps. */
interface Lifecycle {
  readonly seed: number;
  readonly from: number;
  readonly to: number;
  readonly sleep: { readonly at: number; readonly seconds: number } | null;
  readonly truths: readonly Truths[];
}

async function live({ seed, from, to, sleep, truths }: Lifecycle): Promise<Samples> {
  const ledger = await prepareLedger(config);
  if (!ledger.ok || ledger.output === null) throw new Error("a ledger is configured");
  const cluster = await playCluster({ scenario, seed, startAt: from, config, stack: { ledger: ledger.output } });
  await cluster.step(0);
  let at = from;
  while (at < to) {
    if (at === sleep?.at) {
      await minutes(cluster, sleep.seconds, ({ fine }) => fine.lookAway(cluster.simulator.truth()), truths);
      at += sleep.seconds;
    } else {
      await oneCycle(cluster, at, truths);
      at += cycleSeconds;
    }
  }
  expect(cluster.stack.cycle.health().cycles.failed).toBe(0);
  const found = samplesOn(cluster);
  await cluster.stop();
  await ledger.output.close();
  expect(ledger.output.problems()).toEqual([]);
  return found;
}

/** What is so at the begin of a minute (or of a cycle) is so until its end. */
async function oneCycle(cluster: PlayedCluster, at: number, truths: readonly Truths[]): Promise<void> {
  for (const { since, coarse } of truths) if (at >= since) coarse.look(cluster.simulator.truth(), cycleSeconds);
  const look = ({ since, fine }: Truths): void => {
    if (at >= since) fine.look(cluster.simulator.truth(), fineSeconds);
    else fine.lookAway(cluster.simulator.truth());
  };
  await minutes(cluster, cycleSeconds, look, truths);
}

/** Lets so many seconds go by, looking each minute, with a cycle of the exporter at their end. */
async function minutes(
  cluster: PlayedCluster,
  seconds: number,
  look: (truths: Truths) => void,
  truths: readonly Truths[],
): Promise<void> {
  for (let gone = 0; gone < seconds; gone += fineSeconds) {
    for (const one of truths) look(one);
    if (gone < seconds - fineSeconds) cluster.simulator.advance(fineSeconds);
  }
  await cluster.step(fineSeconds);
}

interface Truths {
  /** Time before it is not looked at. */
  readonly since: number;
  /** Looked at every minute, and at the moments of the exporter's cycles alone. */
  readonly fine: TrueIdleNodes;
  readonly coarse: TrueIdleNodes;
}

const truthsSince = (since: number): Truths => ({ since, fine: createTrueIdleNodes(), coarse: createTrueIdleNodes() });

type Samples = readonly {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}[];

const samplesOn = (cluster: PlayedCluster): Samples => readPage(cluster.stack.latest()?.page.toString("utf8") ?? "");

/** Node-hours of a window by `KIND/NODE POOL`. */
function hoursOn(samples: Samples, window: string, warm: "true" | "false"): Map<string, number> {
  const found = new Map<string, number>();
  for (const { name, labels, value } of samples) {
    if (name !== "fairlead_idle_node_hours" || labels.get("window") !== window || labels.get("warm_pool") !== warm)
      continue;
    found.set(`${labels.get("idle_kind")}/${labels.get("node_pool")}`, value);
  }
  return found;
}

const coveredRatio = (samples: Samples, window: string): number =>
  samples.find(({ name, labels }) => name === "fairlead_idle_node_covered_ratio" && labels.get("window") === window)
    ?.value ?? -1;

/** By `KIND/NODE POOL`. */
function byNodePool(perNode: ReadonlyMap<string, number>): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [key, value] of perNode) {
    const [kind = "", node = ""] = key.split("/");
    const pool = `${kind}/${nodePools[node]}`;
    sums.set(pool, (sums.get(pool) ?? 0) + value);
  }
  return sums;
}

const asleep = { at: startAt + 40 * hour, seconds: 5 * hour };
const firstEnd = startAt + 96 * hour;
const secondBegin = firstEnd + 3 * hour;
const end = startAt + 168 * hour;

describe("idle nodes over a week", () => {
  it("have the hours that the simulator knows of, through a restart and a gap", async () => {
    const week = truthsSince(startAt);
    const day = truthsSince(end - 24 * hour);
    await live({ seed: 3, from: startAt, to: firstEnd, sleep: asleep, truths: [week] });
    const samples = await live({ seed: 4, from: secondBegin, to: end, sleep: null, truths: [week, day] });

    expect(coveredRatio(samples, "7d")).toBeCloseTo((168 - 5 - 3) / 168, 6);
    expect(coveredRatio(samples, "24h")).toBeCloseTo(1, 6);
    for (const [window, truths] of [
      ["7d", week],
      ["24h", day],
    ] as const) {
      const found = new Map([...hoursOn(samples, window, "false"), ...hoursOn(samples, window, "true")]);
      const exact = byNodePool(truths.coarse.time.seconds);
      const real = byNodePool(truths.fine.time.seconds);
      const changes = byNodePool(truths.fine.time.changes);
      for (const key of new Set([...found.keys(), ...real.keys(), ...exact.keys()])) {
        const hours = found.get(key) ?? 0;
        const step = ((changes.get(key) ?? 0) * cycleSeconds) / hour;
        report(window, key, hours, exact.get(key) ?? 0, real.get(key) ?? 0, changes.get(key) ?? 0);
        // What is allocated is found idle by what the exporter saw at its cycles: a cycle more or less at each change.
        expect(Math.abs(hours - (real.get(key) ?? 0) / hour), `${window} ${key}`).toBeLessThanOrEqual(step + 1e-6);
        if (key.startsWith("unallocated"))
          expect(hours, `${window} ${key}`).toBeCloseTo((exact.get(key) ?? 0) / hour, 6);
      }
    }
    // Not every node was idle all the time, and both kinds came up.
    const all = hoursOn(samples, "7d", "false");
    expect(all.get("unallocated/train")).toBeGreaterThan(1);
    expect(all.get("unallocated/train")).toBeLessThan(2 * 160);
    expect((all.get("allocated/train") ?? 0) + (all.get("allocated/burst") ?? 0)).toBeGreaterThan(1);
    expect(all.has("unallocated/spare") && (all.get("unallocated/spare") ?? 0) > 0).toBe(false);
    expect(hoursOn(samples, "7d", "true").get("unallocated/spare")).toBeGreaterThan(1);
  });
});

function report(window: string, key: string, hours: number, exact: number, real: number, changes: number): void {
  if (process.env.FAIRLEAD_REPORT === undefined) return;
  const parts = [hours, exact / hour, real / hour].map((value) => value.toFixed(3));
  process.stdout.write(
    `${window} ${key}: found ${parts[0]}, at cycles ${parts[1]}, real ${parts[2]}, changes ${changes}\n`,
  );
}
