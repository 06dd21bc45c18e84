import { describe, expect, test } from "vitest";
import { createAccounting } from "../../exporter/accounts/accounting.ts";
import type { AccountCounters } from "../../exporter/accounts/counters.ts";
import type { AccountingEntry } from "../../exporter/analysis/accountingEntry.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { metricNames } from "../../exporter/catalogue/catalogue.ts";
import type { FailedWork } from "../../exporter/join/failedWork.ts";
import { buildFamilies } from "../../exporter/publish/families.ts";
import { renderPage } from "../../exporter/publish/prometheus/render.ts";
import { entriesOf } from "../analysis/entriesOf.ts";
import { idleNodeMoment } from "./idleNodeMoment.ts";
import { knownBudgets } from "./knownBudgets.ts";
import { device, health, hostileNames, node, pod, reading, smallMoment } from "./moment.ts";
import { placementMoment } from "./placementMoment.ts";
import { pricedMoment } from "./pricedMoment.ts";
import { progressMoment, progressTotals } from "./progressMoment.ts";
import { queueMoment, queueTotals } from "./queueMoment.ts";
import { readPage } from "./readPage.ts";
import { runningTotals } from "./runningTotals.ts";
import { servingMoment, shortServer } from "./servingMoment.ts";
import { severalAdvice } from "./severalAdvice.ts";
import { someAdvice } from "./someAdvice.ts";
import { topologyMoment } from "./topologyMoment.ts";

const wide = { teams: 1000, series: 50_000 };
const pageOf = (analysis: Analysis | null, limits = wide) =>
  readPage(
    renderPage(
      buildFamilies({ analysis, health: health(), limits, accounts: analysis && runningTotals(analysis) }).families,
    ).toString("utf8"),
  );
const sumOf = (samples: ReturnType<typeof readPage>, name: string) =>
  samples.filter((sample) => sample.name === name).reduce((sum, sample) => sum + sample.value, 0);

/** A moment in which `count` teams hold one H100 each, the last ones twice as busy as the first. */
function manyTeams(names: readonly string[]): Analysis {
  const states = (active: number) => ({ active, underutilized: 1 - active });
  return {
    ...smallMoment,
    snapshot: { ...smallMoment.snapshot, pods: names.map((team) => pod({ team })) },
    teams: names.map((team, index) => ({
      team,
      allocated: 1,
      active: index % 2 === 0 ? 0.2 : 0.4,
      utilization: index % 2 === 0 ? 0.2 : 0.4,
      states: states(index % 2 === 0 ? 0.2 : 0.4),
      estimated: 0,
      idleOptedOut: 0,
      pending: 2,
    })),
    accountingEntries: entriesOf(
      names.map((_, index) => ({
        gpus: 1,
        state: "underutilized",
        node: "h100-01",
        pool: "H100",
        device: null,
        pod: index,
        estimated: false,
      })),
    ),
  };
}

/** The small moment, in which a GPU of ads is idle and a node is lost. */
const idleAndLostMoment: Analysis = {
  ...smallMoment,
  snapshot: { ...smallMoment.snapshot, nodes: [node({ ready: false })] },
  accountingEntries: entriesOf(
    smallMoment.accountingEntries.list.map((entry) => (entry.pod === 0 ? { ...entry, state: "idle" } : entry)),
  ),
};

/** The small moment, in which the GPU of ads has lost its memory and is hot, as are its hours. */
const sickMoment: Analysis = {
  ...smallMoment,
  snapshot: {
    ...smallMoment.snapshot,
    devices: smallMoment.snapshot.devices.map((one, i) =>
      i === 0 ? { ...one, unhealthy: true, reading: reading({ lastXid: 94, clockEventReasons: 0x40 }) } : one,
    ),
  },
  accountingEntries: entriesOf([
    ...smallMoment.accountingEntries.list.map(
      (entry): AccountingEntry => (entry.pod === 0 ? { ...entry, state: "unavailable", cause: "ecc" } : entry),
    ),
    { gpus: 0, state: "active", node: "h100-01", pool: "H100", device: 1, pod: 0, estimated: false, cause: "thermal" },
    {
      gpus: 0.5,
      state: "active",
      node: "h100-01",
      pool: "H100",
      device: 1,
      pod: 0,
      estimated: false,
      cause: "thermal",
    },
  ]),
};

/** Totals of a process in which a program of ads failed after half an hour on 8 GPUs, and was started again. */
function failedTotals(): AccountCounters {
  const accounts = createAccounting({ intervalSeconds: 30, limits: { teams: 1000, series: 50_000 } });
  const { at } = smallMoment.snapshot;
  const names = { key: "u", uid: "u", kind: "Job", namespace: "ads", name: "train", pod: "train-0", team: "ads" };
  const failures: readonly FailedWork[] = [{ ...names, at: at + 10, from: at - 1790, isUpperBound: true, gpus: 8 }];
  for (const seconds of [0, 30, 60]) {
    const snapshot = { ...smallMoment.snapshot, at: at + seconds, ...(seconds === 0 ? {} : { failures }) };
    accounts.account({ ...smallMoment, snapshot }, { wall: at + seconds, monotonic: seconds });
  }
  return accounts.counters();
}

describe("families", () => {
  test("failures of programs are counted with what they undid, by team and error", () => {
    const { families } = buildFamilies({
      analysis: smallMoment,
      health: health(),
      limits: wide,
      accounts: failedTotals(),
    });
    const valuesOf = (name: string) =>
      families
        .find((family) => family.name === name)
        ?.series.map(({ labelValues: [, ...of], value }) => [...of, value]);
    expect(valuesOf("fairlead_failures_total")).toEqual([["ads", "unknown", 1]]);
    expect(valuesOf("fairlead_failed_lost_gpu_seconds_total")).toEqual([["ads", "unknown", 14_400]]);
  });

  test("teams with a target of latency have the number of their workloads that are over it, also 0", () => {
    const metTarget = { ...shortServer, isShort: false };
    const valuesOf = (latencies: readonly (typeof shortServer)[], teams = 1000) =>
      buildFamilies({ analysis: { ...servingMoment, latencies }, health: health(), limits: { ...wide, teams } })
        .families.find(({ name }) => name === "fairlead_team_late_serving_workloads")
        ?.series.map(({ labelValues, value }) => [labelValues.at(-1), value]);
    expect(valuesOf([shortServer, metTarget, shortServer])).toEqual([["ads", 2]]);
    expect(valuesOf([metTarget])).toEqual([["ads", 0]]);
    expect(valuesOf([shortServer], 0)).toEqual([["other", 1]]);
    expect(valuesOf([]) ?? []).toEqual([]);
  });

  test("every team has the GPUs of its broken gangs, also 0", () => {
    const lost = queueMoment.waiting.partialGangs.filter(({ hasLostMember }) => hasLostMember);
    expect(lost).toMatchObject([{ team: "vision", allocatedGpus: 1 }]);
    const valuesOf = (teams: number) =>
      buildFamilies({ analysis: queueMoment, health: health(), limits: { ...wide, teams } })
        .families.find(({ name }) => name === "fairlead_team_broken_gang_gpus")
        ?.series.map(({ labelValues, value }) => [labelValues.at(-1), value]);
    const found = new Map(valuesOf(1000)?.map(([team, gpus]) => [team, gpus] as const));
    expect(found.get("vision")).toBe(1);
    expect([...found.values()].filter((gpus) => gpus === 0).length).toBeGreaterThan(0);
    expect(valuesOf(0)).toEqual([["other", 1]]);
  });

  test("idle time has its reason, and what servers did is counted by team and pool", () => {
    const accounts = runningTotals(servingMoment);
    const { families } = buildFamilies({ analysis: servingMoment, health: health(), limits: wide, accounts });
    const valuesOf = (name: string) =>
      families.find((family) => family.name === name)?.series.map(({ labelValues, value }) => [...labelValues, value]);
    const [idle, requests, tokens] = [
      "fairlead_idle_gpu_seconds_total",
      "fairlead_served_requests_total",
      "fairlead_served_tokens_total",
    ].map(valuesOf);
    const [cluster] = idle?.[0] ?? [];
    const [, pool] = requests?.[0] ?? [];
    expect(idle).toEqual([[cluster, "A100", "ads", "no-activity", 30]]);
    expect(requests).toEqual([[cluster, pool, "ads", 2]]);
    expect(tokens).toEqual([
      [cluster, pool, "ads", "prompt", 30],
      [cluster, pool, "ads", "generated", 40],
    ]);
  });

  test("every metric of the catalogue has series in a moment in which everything is known", () => {
    const queues = buildFamilies({
      analysis: queueMoment,
      health: health(),
      limits: wide,
      accounts: queueTotals(),
    }).families;
    const { fairness } = queueMoment;
    const heldBack = [{ starved: 2, borrower: 3, gpus: 16, because: "reclaimWithinCohort is Never" }];
    const domains = fairness.domains.map((one, i) => (i === 0 && one !== null ? { ...one, heldBack } : one));
    const names = new Set(
      [
        ...buildFamilies({
          analysis: { ...queueMoment, fairness: { ...fairness, domains } },
          health: health(),
          limits: wide,
        }).families,
        ...buildFamilies({
          analysis: smallMoment,
          health: health(),
          limits: wide,
          accounts: runningTotals(smallMoment),
          budgets: knownBudgets,
          advice: someAdvice,
        }).families,
        ...buildFamilies({
          analysis: smallMoment,
          health: health(),
          limits: wide,
          accounts: runningTotals(smallMoment),
          budgets: knownBudgets,
          advice: severalAdvice,
        }).families,
        ...buildFamilies({
          analysis: pricedMoment,
          health: health(),
          limits: wide,
          accounts: runningTotals(pricedMoment, 380),
        }).families,
        ...buildFamilies({
          analysis: progressMoment(1),
          health: health(),
          limits: wide,
          accounts: progressTotals(0, 1),
        }).families,
        ...buildFamilies({
          analysis: idleNodeMoment,
          health: health(),
          limits: wide,
          accounts: runningTotals(idleNodeMoment),
        }).families,
        ...buildFamilies({
          analysis: { ...servingMoment, latencies: [shortServer] },
          health: health(),
          limits: wide,
          accounts: runningTotals(servingMoment),
        }).families,
        ...buildFamilies({ analysis: smallMoment, health: health(), limits: wide, accounts: failedTotals() }).families,
        ...buildFamilies({ analysis: placementMoment, health: health(), limits: wide }).families,
        ...buildFamilies({ analysis: topologyMoment, health: health(), limits: wide }).families,
        ...buildFamilies({ analysis: idleAndLostMoment, health: health(), limits: wide }).families,
        ...buildFamilies({
          analysis: sickMoment,
          health: health(),
          limits: wide,
          accounts: runningTotals(sickMoment),
        }).families,
        ...queues,
      ].map(({ name }) => name),
    );
    expect([...names].sort()).toEqual([...metricNames].sort());
  });

  test("slots of gangs are by pool, level and size, and there is no series without topology", () => {
    const ofTopology = (analysis: Analysis) =>
      pageOf(analysis).filter(({ name }) => name.startsWith("fairlead_topology_"));
    expect(ofTopology(placementMoment)).toEqual([]);
    const racks = ofTopology(topologyMoment).filter(({ labels }) => labels.get("level") === "rack");
    const slots = racks.filter(({ name }) => name === "fairlead_topology_gang_slots");
    expect(slots.every(({ labels }) => labels.get("pool") === "H100")).toBe(true);
    expect(Object.fromEntries(slots.map(({ labels, value }) => [labels.get("gang_gpus"), value]))).toEqual({
      8: 3,
      16: 1,
      32: 0,
      64: 0,
      128: 0,
      256: 0,
    });
    expect(racks.flatMap(({ name, labels, value }) => (labels.has("gang_gpus") ? [] : [[name, value]]))).toEqual([
      ["fairlead_topology_domains", 2],
      ["fairlead_topology_free_domains", 1],
      ["fairlead_topology_nodes_outside", 1],
      // Of 30 free GPUs, gangs of 8 cannot use the 6 beside others, and gangs of 16 cannot use the 14 of the second rack.
      ["fairlead_topology_unusable_gpus", 10],
    ]);
  });

  test("GPUs by state add up to the inventory, and to each pool's physical GPUs", () => {
    const samples = pageOf(smallMoment).filter((sample) => sample.name === "fairlead_gpus");
    expect(samples.reduce((sum, sample) => sum + sample.value, 0)).toBeCloseTo(3, 12);
    const l4 = samples.filter((sample) => sample.labels.get("pool") === "L4");
    expect(l4.reduce((sum, sample) => sum + sample.value, 0)).toBeCloseTo(1, 12);
    expect(new Set(l4.map((sample) => sample.labels.get("node_pool")))).toEqual(new Set(["unknown"]));
  });

  test("causes of unavailable GPUs add up to the state, and the GPUs to look after are named", () => {
    const samples = pageOf(sickMoment);
    const of = (name: string) =>
      samples
        .filter((sample) => sample.name === name)
        .map(({ labels, value }) => ({ ...Object.fromEntries(labels), value }));
    expect(of("fairlead_unavailable_gpus")).toMatchObject([
      { pool: "H100", node_pool: "train", cause: "ecc", value: 1 },
    ]);
    expect(of("fairlead_degraded_gpus")).toMatchObject([{ cause: "thermal", value: 0.5 }]);
    expect(of("fairlead_sick_gpu_gpus")).toMatchObject([
      { sick_node: "h100-01", gpu: "GPU-a", tier: "drain", cause: "ecc", value: 1 },
    ]);
    expect(of("fairlead_sick_gpus").filter(({ value }) => value > 0)).toMatchObject([
      { node_pool: "train", tier: "drain", value: 1 },
    ]);
    const lost = samples.filter(
      ({ name, labels }) => name === "fairlead_gpu_seconds_total" && labels.get("state") === "unavailable",
    );
    expect(sumOf(samples, "fairlead_unavailable_gpu_seconds_total")).toBeCloseTo(
      lost.reduce((sum, { value }) => sum + value, 0),
      9,
    );
  });

  test("what is unknown has no series", () => {
    const samples = pageOf(smallMoment);
    const pools = samples.filter((sample) => sample.name === "fairlead_pool_gpu_utilization_ratio");
    expect(pools.map((sample) => sample.labels.get("pool"))).toEqual(["H100"]);
    const teams = samples.filter((sample) => sample.name === "fairlead_team_gpu_utilization_ratio");
    expect(teams.map((sample) => sample.labels.get("team"))).toEqual(["ads"]);
  });

  test("without objects nothing is said about waiting; without anything, nothing about what is allocated", () => {
    const blind = { ...smallMoment.snapshot, coverage: { objects: false, telemetry: true, uncountedNodes: [] } };
    const names = new Set(pageOf({ ...smallMoment, snapshot: blind }).map((sample) => sample.name));
    expect(names.has("fairlead_team_pending_gpus")).toBe(false);
    expect(names.has("fairlead_uncounted_nodes")).toBe(false);
    expect(names.has("fairlead_unassigned_gpus")).toBe(true);
    const nothing = { ...blind, coverage: { ...blind.coverage, telemetry: false } };
    const none = new Set(pageOf({ ...smallMoment, snapshot: nothing }).map((sample) => sample.name));
    expect(none.has("fairlead_unassigned_gpus")).toBe(false);
    expect(none.has("fairlead_estimated_gpus")).toBe(false);
  });

  test("power of a GPU counts once for all its MIG instances, memory once for each", () => {
    const mig = ["1", "2"].map((gpuInstance) =>
      device({ gpuInstance, reading: reading({ gpuInstance, powerWatts: 300, memoryUsedBytes: 5e9 }) }),
    );
    const samples = pageOf({ ...smallMoment, snapshot: { ...smallMoment.snapshot, devices: mig } });
    expect(sumOf(samples, "fairlead_pool_power_watts")).toBe(300);
    expect(sumOf(samples, "fairlead_pool_gpu_memory_used_bytes")).toBe(10e9);
  });

  test("with health alone there is only health", () => {
    const names = new Set(pageOf(null).map((sample) => sample.name));
    expect(names.has("fairlead_source_up")).toBe(true);
    expect(names.has("fairlead_last_cycle_timestamp_seconds")).toBe(true);
    expect(names.has("fairlead_gpus")).toBe(false);
    expect(names.has("fairlead_team_gpus")).toBe(false);
  });

  test("sources are up by their required parts, else by any; targets are counted by state", () => {
    const samples = pageOf(null);
    const up = samples.filter((sample) => sample.name === "fairlead_source_up");
    expect(up.map((sample) => [sample.labels.get("source"), sample.value])).toEqual([
      ["dcgm", 1],
      ["kubernetes", 1],
    ]);
    const targets = samples.filter((sample) => sample.name === "fairlead_targets");
    expect(targets.map((sample) => [sample.labels.get("state"), sample.value])).toEqual([
      ["fresh", 1],
      ["never", 1],
      ["stale", 1],
    ]);
  });
});

describe("budget", () => {
  test("the largest teams keep their names, the others are added up as `other`", () => {
    const samples = pageOf(smallMoment, { teams: 1, series: 50_000 });
    const teams = new Set(
      samples.filter((one) => one.name === "fairlead_team_gpus").map((one) => one.labels.get("team")),
    );
    expect(teams).toEqual(new Set(["ads", "other"]));
    expect(sumOf(samples, "fairlead_team_gpus")).toBeCloseTo(1.5, 12);
    expect(sumOf(samples, "fairlead_team_pending_gpus")).toBe(8);
    expect(sumOf(samples, "fairlead_teams_folded")).toBe(2);
  });

  test("the utilization of `other` is that of its teams together", () => {
    const samples = pageOf(manyTeams(["a", "b", "c"]), { teams: 1, series: 50_000 });
    const other = samples.find(
      (one) => one.name === "fairlead_team_gpu_utilization_ratio" && one.labels.get("team") === "other",
    );
    expect(other?.value).toBeCloseTo((0.4 + 0.2) / 2, 12);
  });

  test("beyond the budget of series, teams are folded before anything is cut, and sums stay", () => {
    const moment = manyTeams(Array.from({ length: 500 }, (_, index) => `team-${index}`));
    const built = buildFamilies({ analysis: moment, health: health(), limits: { teams: 1000, series: 1000 } });
    const samples = readPage(renderPage(built.families).toString());
    expect(samples.length).toBeLessThanOrEqual(1000);
    expect(sumOf(samples, "fairlead_team_gpus")).toBeCloseTo(500, 9);
    expect(sumOf(samples, "fairlead_series_dropped")).toBe(0);
    expect(sumOf(samples, "fairlead_teams_folded")).toBeGreaterThan(300);
    expect(built.problems.map((problem) => problem.code)).toEqual(["teams-folded"]);
  });

  test("what is still too much is cut, counted and reported; Fairlead's own health stays", () => {
    const built = buildFamilies({ analysis: smallMoment, health: health(), limits: { teams: 1000, series: 20 } });
    const samples = readPage(renderPage(built.families).toString());
    expect(samples.length).toBeLessThanOrEqual(20);
    expect(sumOf(samples, "fairlead_series_dropped")).toBeGreaterThan(0);
    expect(sumOf(samples, "fairlead_build_info")).toBe(1);
    expect(built.problems.map((problem) => problem.code)).toContain("series-dropped");
  });

  test("hostile team names neither break the page nor merge nor lose GPUs", () => {
    const names = [...hostileNames, `${"x".repeat(5000)}y`, "other"];
    const samples = pageOf(manyTeams(names));
    expect(sumOf(samples, "fairlead_team_gpus")).toBeCloseTo(names.length, 12);
    expect(samples.some((sample) => sample.name === "fairlead_forged")).toBe(false);
    for (const sample of samples)
      for (const value of sample.labels.values()) expect(value.length).toBeLessThanOrEqual(200);
  });
});
