import { describe, expect, it } from "vitest";
import type { FindAdvice, Found } from "../../../exporter/advice/candidate.ts";
import { findFixSource } from "../../../exporter/advice/kinds/fixSource.ts";
import { findReleaseIdle } from "../../../exporter/advice/kinds/releaseIdle.ts";
import { findRightSize } from "../../../exporter/advice/kinds/rightSize.ts";
import { findScaleIn } from "../../../exporter/advice/kinds/scaleIn.ts";
import { findShareGpu } from "../../../exporter/advice/kinds/shareGpu.ts";
import { createTrial } from "../../../exporter/advice/whatIf/trial.ts";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import { exporterStandsStill } from "../../../exporter/sources/dcgm/pageProblems.ts";
import { gfdLabels, gpuNode, instance, node, now } from "../../join/clusterBuilder.ts";
import {
  analysisAt,
  deployment,
  everyHalfHour,
  hour,
  momentOf,
  pageAt,
  physicalGpu,
  podOf,
  replicaSet,
  watchedAt,
} from "../usage/watchedCluster.ts";

const finders: Readonly<Record<string, FindAdvice>> = {
  release_idle: findReleaseIdle,
  scale_in: findScaleIn,
  share_gpu: findShareGpu,
  right_size: findRightSize,
  fix_source: findFixSource,
};

const [idle, large, unseen] = [deployment("idle"), deployment("large"), deployment("unseen")];
const small = [0, 1, 2].map((i) => deployment(`small-${i}`));
const owners = [idle, large, unseen, ...small];
const autoscaled = { labels: { ...gfdLabels(4), "cloud.google.com/gke-nodepool": "gpu" } };
type Order = <T>(items: readonly T[]) => readonly T[];
const asIs: Order = (items) => items;
const reversed: Order = (items) => items.toReversed();

/** Something for every kind, or, when all is `busy`, for none. */
function stateAt(at: number, order: Order, isBusy: boolean): Partial<ClusterState> {
  const physicalGpus = (name: string, pod: string, activity: readonly number[]) =>
    pageAt(name, order(activity.map((busy, i) => physicalGpu(`${name}-${i}`, isBusy ? 0.9 : busy, pod))), at);
  const exporterPods = [{ namespace: "gpu-operator", name: "dcgm-exporter-x", uid: "x", nodeName: "unseen" }];
  return {
    nodes: order([
      gpuNode("idle", 2),
      gpuNode("large", 4),
      gpuNode("small", 3),
      gpuNode("unseen", 1),
      ...(isBusy ? [] : [gpuNode("empty-0", 4, autoscaled), gpuNode("empty-1", 4, autoscaled)]),
      node("cut", {
        labels: { ...gfdLabels(1), "nvidia.com/mig.strategy": "mixed" },
        capacity: { "nvidia.com/mig-1g.10gb": 7 },
      }),
    ]),
    owners: order(owners.flatMap((one) => [one, replicaSet(one)])),
    pods: order([
      podOf(idle, "idle-0", "idle", 2),
      podOf(large, "large-0", "large", 4),
      podOf(unseen, "unseen-0", "unseen", 1),
      ...small.map((one, i) => podOf(one, `small-${i}-0`, "small", 1)),
    ]),
    telemetry: order([
      physicalGpus("idle", "idle-0", [0, 0]),
      physicalGpus("large", "large-0", [0.9, 0.2, 0, 0]),
      pageAt(
        "small",
        order(small.map((_, i) => physicalGpu(`small-${i}`, isBusy ? 0.9 : 0.1, `small-${i}-0`, 0.05))),
        at,
      ),
      pageAt("cut", order(Array.from({ length: 7 }, (_, i) => instance("cut", `${i}`, "1g.10gb", 0))), at),
      ...(isBusy ? [physicalGpus("unseen", "unseen-0", [0.5])] : []),
    ]),
    autoscalerNodeGroups: [{ name: "gpu", minSize: 0, maxSize: 8 }],
    exporterPods,
    problems: isBusy
      ? []
      : [exporterStandsStill({ target: "http://unseen:9400/metrics", node: "unseen" }, "frozen", now - 600)],
  };
}

function foundBy(find: FindAdvice, order: Order, isBusy: boolean): Found {
  const usage = watchedAt(everyHalfHour(12), (at) => stateAt(at, order, isBusy));
  const idleSince = new Map([0, 1].map((i) => [`idle/idle-${i}`, now - 2 * hour]));
  const analysis = analysisAt(stateAt(now, order, isBusy), now, isBusy ? {} : { idleSince });
  const nodes = analysis.idleNodes.nodes.map((one) => ({ ...one, since: now - 3 * hour }));
  const moment = momentOf({ ...analysis, idleNodes: { ...analysis.idleNodes, nodes } }, usage);
  return find(moment, createTrial(moment));
}

/** What is said, without places in arrays. */
const said = ({ candidates, withheld }: Found) => ({
  candidates: candidates.map(({ title, reason, targets, steps, evidence }) => ({
    title,
    reason,
    targets,
    steps,
    evidence,
  })),
  withheld,
});

describe.each(Object.entries(finders))("%s", (_kind, find) => {
  it("finds something, whatever the order of nodes, pods, owners and pages", () => {
    const found = foundBy(find, asIs, false);
    expect(found.candidates.length).toBeGreaterThan(0);
    expect(said(foundBy(find, reversed, false))).toEqual(said(found));
  });

  it("finds nothing when all is busy", () => {
    const { candidates, withheld } = foundBy(find, asIs, true);
    expect(candidates).toEqual([]);
    // A node that is cut and free belongs to no autoscaler: that much is said about it.
    expect(withheld.filter(({ subject }) => subject !== "unknown")).toEqual([]);
  });

  it("has steps with a command and a precondition each, or asks", () => {
    for (const { steps, decision } of foundBy(find, asIs, false).candidates) {
      expect(steps.length === 0).toBe(decision?.act === "ask");
      for (const { command, precondition } of steps) expect([command, precondition]).not.toContain("");
    }
  });
});
