import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type DisruptionUnit, disruptionUnits, unitsWith } from "../../exporter/advice/disruptionUnits.ts";
import type { AdviceMoment } from "../../exporter/advice/moment.ts";
import { nothingWatched } from "../../exporter/advice/usage/usageWatch.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import type { ClusterState } from "../../exporter/model/cluster.ts";
import { noQueueObjects } from "../../exporter/model/queues/queueObjects.ts";
import { kueuePodSet, kueueWorkload } from "../analysis/queueObjectBuilder.ts";
import { bareReading, claimant, gpuNode, gpuPod, now, owner, ownerRef, page } from "../join/clusterBuilder.ts";
import { analysed, snapshotOf } from "../join/outcomes.ts";
import { analysisOf, anyState } from "./whatIf/generatedMoments.ts";

const hour = 3600;

function momentOf(analysis: Analysis, restartMinutes = 10): AdviceMoment {
  const settings = { ...configSchema.parse({}).advice, restartMinutes };
  return { analysis, settings, usage: nothingWatched };
}

function unitsOf(parts: Partial<ClusterState>, restartMinutes = 10) {
  const analysis = analysed(snapshotOf(parts));
  const moment = momentOf(analysis, restartMinutes);
  const named = ({ pods, ...rest }: DisruptionUnit) => ({
    ...rest,
    pods: pods.map((pod) => analysis.snapshot.pods[pod]?.name),
  });
  return disruptionUnits(moment)
    .map(named)
    .sort((a, b) => (a.pods.join() < b.pods.join() ? -1 : 1));
}

const nodes = [gpuNode("n", 8), gpuNode("m", 8)];
const since = (hours: number) => ({ createdAt: now - hours * hour, scheduledAt: now - hours * hour });

describe("disruption units", () => {
  it("keep the pods of a gang together, wherever they run", () => {
    const inGang = (name: string, on: string) =>
      gpuPod(name, on, 2, {
        labels: { "kueue.x-k8s.io/pod-group-name": "g" },
        annotations: { "kueue.x-k8s.io/pod-group-total-count": "2" },
      });
    const kueueWorkloads = [
      kueueWorkload("g", { owner: null, podSets: [kueuePodSet("main", 2, { "nvidia.com/gpu": 2 })] }),
    ];
    const units = unitsOf({
      nodes,
      queues: { ...noQueueObjects, kueueWorkloads },
      pods: [inGang("a", "n"), gpuPod("alone", "n", 1), inGang("b", "m")],
    });
    expect(units.map(({ pods, isGang, gpus }) => [pods, isGang, gpus])).toEqual([
      [["alone"], false, 1],
      [["b", "a"], true, 4],
    ]);
  });

  it("keep the pods of a Job together, and take those of a Deployment one by one", () => {
    const job = owner("Job", "train");
    const deployment = owner("Deployment", "web");
    const replicas = owner("ReplicaSet", "web-1", deployment);
    const pods = [
      ...["t0", "t1"].map((name) => gpuPod(name, "n", 1, { owner: ownerRef(job) })),
      ...["w0", "w1"].map((name) => gpuPod(name, "m", 1, { owner: ownerRef(replicas) })),
      gpuPod("waits", null, 1, { owner: ownerRef(job) }),
    ];
    const units = unitsOf({ nodes, pods, owners: [job, deployment, replicas] });
    expect(units.map((unit) => unit.pods)).toEqual([["t0", "t1"], ["w0"], ["w1"]]);
    expect(units.every(({ isGang }) => !isGang)).toBe(true);
  });

  it("keep the runs of a CronJob apart", () => {
    const cron = owner("CronJob", "nightly");
    const runs = ["nightly-1", "nightly-2"].map((name) => owner("Job", name, cron));
    const pods = runs.map((run) => gpuPod(`${run.name}-x`, "n", 1, { owner: ownerRef(run) }));
    expect(unitsOf({ nodes, pods, owners: [cron, ...runs] }).map((unit) => unit.pods)).toEqual([
      ["nightly-1-x"],
      ["nightly-2-x"],
    ]);
  });

  it("cost the work since the start or the last checkpoint of all their pods, and a restart of each", () => {
    const checkpoint = new Date((now - hour) * 1000).toISOString();
    const job = owner("Job", "train");
    const pods = [
      gpuPod("saved", "n", 2, { ...since(10), annotations: { "fairlead.dev/checkpointed-at": checkpoint } }),
      gpuPod("t0", "m", 4, { ...since(3), owner: ownerRef(job) }),
      gpuPod("t1", "m", 1, { ...since(1), owner: ownerRef(job) }),
    ];
    const units = new Map(unitsOf({ nodes, pods, owners: [job] }, 30).map((unit) => [unit.pods.join(), unit]));
    expect(units.get("t0,t1")).toMatchObject({ gpus: 5, lostGpuHours: 4 * 3 + 1 + 5 * 0.5, isUpperBound: true });
    expect(units.get("saved")).toMatchObject({ gpus: 2, lostGpuHours: 2 + 2 * 0.5, isUpperBound: false });
  });

  it("leave out pods that only telemetry names", () => {
    const rows = [{ ...bareReading("GPU-0"), smActive: 0.5, claimants: [claimant("ghost")] }];
    expect(unitsOf({ nodes, telemetry: [page("n", rows)], known: new Set(["nodes"]) })).toEqual([]);
  });
});

describe("the units that have any of some pods", () => {
  /** Every unit is asked. */
  const naive = (moment: AdviceMoment, pods: readonly number[]): readonly DisruptionUnit[] =>
    disruptionUnits(moment).filter((unit) => unit.pods.some((pod) => pods.includes(pod)));

  it("are those that have them, in the order of all, whatever the pods' own order", () => {
    let several = 0;
    fc.assert(
      fc.property(anyState, fc.array(fc.nat(40), { maxLength: 8 }), (state, picks) => {
        const moment = momentOf(analysisOf(state));
        const { pods } = moment.analysis.snapshot;
        // Some name no pod at all.
        const some = picks.map((pick) => pick % (pods.length + 2));
        const found = unitsWith(moment, some);
        const expected = naive(moment, some);
        expect(found.length).toBe(expected.length);
        for (const [i, unit] of found.entries()) expect(unit).toBe(expected[i]);
        if (found.length > 1) several += 1;
      }),
      { seed: 20261121, numRuns: 200 },
    );
    expect(several).toBeGreaterThan(50);
  });

  it("cost what the settings of the moment say", () => {
    const analysis = analysed(snapshotOf({ nodes, pods: [gpuPod("a", "n", 2, since(1))] }));
    const [soon, later] = [10, 40].map((minutes) => unitsWith(momentOf(analysis, minutes), [0])[0]?.lostGpuHours ?? 0);
    expect((later ?? 0) - (soon ?? 0)).toBeCloseTo(1, 9);
  });
});
