import { expect } from "vitest";
import { adviseOnce } from "../../exporter/advice/adviser.ts";
import type { AdviceMoment } from "../../exporter/advice/moment.ts";
import type { Advice, Recommendation } from "../../exporter/model/recommendation.ts";
import { everyKind, gfdLabels, gpuNode, gpuPod, now } from "../join/clusterBuilder.ts";
import { analysisAt, hour, momentOf } from "./usage/watchedCluster.ts";

/** All that would be advised of a moment, as `fairlead advise --dump` does it. */
export const adviceOf = ({ analysis, settings }: AdviceMoment): Advice => adviseOnce(analysis, settings, 30);
/** What is advised, in one line each. */
export const titlesOf = ({ recommendations }: Advice): readonly string[] => recommendations.map(({ title }) => title);

/** The only one; the test fails with what else there is. */
export function only({ recommendations, withheld }: Advice): Recommendation {
  const [first, ...others] = recommendations;
  if (first === undefined || others.length > 0)
    throw new Error(JSON.stringify([recommendations.map(({ title }) => title), withheld]));
  return first;
}

/** That nothing is advised, and why not. */
export function nothing(advice: Advice): string {
  expect(titlesOf(advice)).toEqual([]);
  return advice.withheld.map(({ why, reason }) => `${why}: ${reason}`).join("\n");
}

/** Two nodes of Karpenter: nothing has held a GPU of one of them for two hours, and it has seven pods without any. */
export function keptByOthers(): AdviceMoment {
  const labels = { ...gfdLabels(8), "karpenter.sh/nodepool": "gpu" };
  const analysis = analysisAt(
    {
      nodes: [gpuNode("busy", 8, { labels }), gpuNode("idle", 8, { labels })],
      pods: [gpuPod("train", "busy", 8)],
      karpenterNodePools: [
        {
          name: "gpu",
          limits: {},
          consolidationPolicy: "WhenEmptyOrUnderutilized",
          consolidateAfterSeconds: 30,
          capacityTypes: null,
          replicas: null,
        },
      ],
      requestsByNode: new Map([
        ["busy", { pods: 4, cpuMilli: 9000, memoryBytes: 0 }],
        ["idle", { pods: 7, cpuMilli: 20_000, memoryBytes: 0 }],
      ]),
      known: new Set([...everyKind, "karpenterNodePools"]),
    },
    now,
    { idleNodeSince: new Map([["unallocated/idle", now - 2 * hour]]) },
  );
  const nodes = analysis.idleNodes.nodes.map((idle) => ({ ...idle, since: now - 2 * hour }));
  return momentOf({ ...analysis, idleNodes: { ...analysis.idleNodes, nodes } });
}
