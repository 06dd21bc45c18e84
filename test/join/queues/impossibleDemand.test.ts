import { describe, expect, it } from "vitest";
import { impossibleDemand, mostUnitsOfPod } from "../../../exporter/join/queues/impossibleDemand.ts";
import type { Pod } from "../../../exporter/model/pod.ts";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { kaiGroup, kaiQueue, volcanoGroup, volcanoQueue } from "../../queues/groupRows.ts";
import { gpuNode, gpuPod } from "../clusterBuilder.ts";
import { snapshotOf } from "../outcomes.ts";

it("an amount that no node could have is impossible where nobody knows any node, too", () => {
  const of = impossibleDemand({
    ...{ nodes: [], pods: [], isServed: () => true },
    surroundings: { neighbors: null, volumeClaims: null },
  });
  expect(of(gpuPod("p", null, mostUnitsOfPod))).toBeNull();
  expect(of(gpuPod("p", null, 9e18))).toMatchObject({ never: "no-node" });
});

const group = { minMember: 1, namespace: "research", owner: null };
describe.each([
  {
    system: "KAI",
    schedulerName: "kai-scheduler",
    annotations: { "pod-group-name": "g" },
    queues: { kaiQueues: [kaiQueue("q")], kaiPodGroups: [kaiGroup("g", "q", group)] },
  },
  {
    system: "Volcano",
    schedulerName: "volcano",
    annotations: { "scheduling.k8s.io/group-name": "g" },
    queues: { volcanoQueues: [volcanoQueue("q")], volcanoPodGroups: [volcanoGroup("g", "q", group)] },
  },
])("work that a PodGroup of $system declares", ({ schedulerName, annotations, queues }) => {
  const neverOf = (parts: Partial<Pod>) => {
    const waiting = gpuPod("p", null, 2, { schedulerName, annotations, ...parts });
    const given = { nodes: [gpuNode("n", 8)], pods: [waiting], queues: { ...noQueueObjects, ...queues } };
    return snapshotOf(given).queueing.gangs.map(({ never }) => never);
  };

  it("is no demand where its pods can never run", () => {
    expect(neverOf({})).toEqual([null]);
    expect(neverOf({ nodeSelector: { zone: "moon" } })).toEqual(["no-node"]);
    expect(neverOf({ unschedulable: 'persistentvolumeclaim "x" not found' })).toEqual(["unschedulable"]);
  });
});
