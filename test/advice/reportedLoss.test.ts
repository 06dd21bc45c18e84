import fc from "fast-check";
import { expect, it } from "vitest";
import { adviseOnce } from "../../exporter/advice/adviser.ts";
import type { OwnerObject } from "../../exporter/model/cluster.ts";
import type { Pod } from "../../exporter/model/pod.ts";
import type { Recommendation } from "../../exporter/model/recommendation.ts";
import { gpuNode, gpuPod, now, owner, ownerRef } from "../join/clusterBuilder.ts";
import {
  adviceSettings,
  analysisAt,
  deployment,
  hour,
  pageAt,
  physicalGpu,
  replicaSet,
} from "./usage/watchedCluster.ts";

/** One workload, each of its pods on a node of its own. */
interface Work {
  readonly kind: "Job" | "Deployment";
  readonly isServing: boolean;
  readonly pods: readonly {
    readonly gpus: number;
    readonly boundHours: number;
    readonly checkpointHours: number | null;
    /** For which part of its lifetime its GPUs have been idle; 1: from its start on. */
    readonly idlePart: number;
    readonly isBusy: boolean;
  }[];
  /** How long before its first pod it was made, minutes. */
  readonly madeBefore: number;
}

const work: fc.Arbitrary<Work> = fc.record({
  kind: fc.constantFrom("Job", "Deployment"),
  isServing: fc.boolean(),
  pods: fc.array(
    fc.record({
      gpus: fc.constantFrom(1, 2, 8),
      boundHours: fc.integer({ min: 1, max: 60 }),
      checkpointHours: fc.option(fc.integer({ min: 0, max: 70 })),
      idlePart: fc.constantFrom(1, 1, 0.99, 0.6, 0.1),
      isBusy: fc.integer({ min: 0, max: 7 }).map((one) => one === 0),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  madeBefore: fc.constantFrom(0, 10, 200),
});

const limits = { backoffLimit: 6, failed: 0, onDisruption: "Count", isSuspended: false } as const;

/** The objects of a cluster, and of each workload the pods with their GPUs' idle times. */
function clusterOf(all: readonly Work[]) {
  const owners: OwnerObject[] = [];
  const pods: Pod[] = [];
  const idleSince = new Map<string, number>();
  const nodes = [];
  const telemetry = [];
  for (const [i, one] of all.entries()) {
    const name = `w${i}`;
    const bound = one.pods.map(({ boundHours }) => now - boundHours * hour);
    const parts = {
      createdAt: Math.min(...bound) - one.madeBefore * 60,
      labels: { "fairlead.dev/workload-class": one.isServing ? "serving" : "batch" },
    };
    const top =
      one.kind === "Job"
        ? owner("Job", name, null, { apiVersion: "batch/v1", job: limits, ...parts })
        : deployment(name, parts);
    const above = one.kind === "Job" ? top : replicaSet(top);
    owners.push(...new Set([top, above]));
    for (const [k, { gpus, checkpointHours, idlePart, isBusy }] of one.pods.entries()) {
      const node = `n-${i}-${k}`;
      const at = bound[k] ?? now;
      const annotations: Record<string, string> =
        checkpointHours === null
          ? {}
          : { "fairlead.dev/checkpointed-at": new Date((now - checkpointHours * hour) * 1000).toISOString() };
      pods.push(
        gpuPod(`${name}-${k}`, node, gpus, {
          owner: ownerRef(above),
          createdAt: at,
          scheduledAt: at,
          annotations,
          labels: parts.labels,
        }),
      );
      nodes.push(gpuNode(node, gpus));
      const uuids = Array.from({ length: gpus }, (_, g) => `U-${i}-${k}-${g}`);
      telemetry.push(
        pageAt(
          node,
          uuids.map((uuid) => physicalGpu(uuid, isBusy ? 0.8 : 0, `${name}-${k}`)),
        ),
      );
      if (!isBusy) for (const uuid of uuids) idleSince.set(`${node}/${uuid}`, now - (now - at) * idlePart);
    }
  }
  return { parts: { owners, pods, nodes, telemetry }, idleSince };
}

/** GPU-hours, counted from the objects alone: what the pods would do again, and their restart. */
function naiveLoss({ pods, isServing, madeBefore }: Work): number {
  const gpus = pods.reduce((sum, one) => sum + one.gpus, 0);
  const restart = (gpus * adviceSettings.restartMinutes) / 60;
  const neverWorked = madeBefore <= 15 && pods.every(({ idlePart }) => idlePart === 1);
  if (isServing || neverWorked) return restart;
  return pods.reduce(
    (sum, one) => sum + one.gpus * Math.min(one.boundHours, one.checkpointHours ?? Number.POSITIVE_INFINITY),
    restart,
  );
}

const reported = ({ targets }: Recommendation): readonly number[] =>
  targets.map((target) => Number(/w(\d+)$/.exec(target)?.[1]));

it("the loss that is reported is what the objects say, and a question can stop nothing", () => {
  let [asked, done] = [0, 0];
  fc.assert(
    fc.property(fc.array(work, { minLength: 1, maxLength: 6 }), (all) => {
      const { parts, idleSince } = clusterOf(all);
      const { recommendations } = adviseOnce(analysisAt(parts, now, { idleSince }), adviceSettings, 30);
      for (const one of recommendations) {
        if (one.kind !== "release_idle") continue;
        const losses = reported(one).map((place) => naiveLoss(all[place] ?? { ...work0, pods: [] }));
        expect(one.cost.lostGpuHours).toBeCloseTo(
          losses.reduce((sum, loss) => sum + loss, 0),
          6,
        );
        if (one.act === "ask") {
          asked += 1;
          expect(one.steps).toEqual([]);
          expect(JSON.stringify(one)).not.toMatch(/kubectl|"verb"|suspend/);
        } else {
          done += 1;
          expect(one.effect.gainedGpuHours.worst).toBeGreaterThanOrEqual(2 * one.cost.lostGpuHours);
          expect(one.steps.length).toBeGreaterThan(0);
        }
      }
    }),
    { numRuns: 120, seed: 20 },
  );
  // Neither is the exception here.
  expect([asked > 40, done > 10], `${asked} asked, ${done} to do`).toEqual([true, true]);
});

const work0: Work = { kind: "Job", isServing: false, pods: [], madeBefore: 0 };
