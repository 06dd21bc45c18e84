import { describe, expect, it } from "vitest";
import { askGuards } from "../../../exporter/advice/guards/guards.ts";
import type { AdviceMoment } from "../../../exporter/advice/moment.ts";
import { emptyNodes, hasOpenb, placements, podsOf } from "../../e2e/openbTrace.ts";
import { gpuNode, gpuPod, namespace, ownerRef, page, pod, reading } from "../../join/clusterBuilder.ts";
import { analysisAt, deployment, momentOf, replicaSet } from "../usage/watchedCluster.ts";
import { adviceOf } from "../wholeAdvice.ts";

/** What keeps the GPU for a group of fractions, as KAI makes it. */
const reservation = (node: string, group: string, uuid: string | null) =>
  gpuPod(`gpu-reservation-${group}`, node, 1, {
    namespace: "kai-resource-reservation",
    labels: { "runai-gpu-group": group },
    annotations: uuid === null ? {} : { "run.ai/reserve_for_gpu_index": uuid },
  });
const web = deployment("web");
const fraction = (name: string, node: string, group: string, part: string) =>
  pod(name, node, {
    schedulerName: "kai-scheduler",
    labels: { "runai-gpu-group": group },
    annotations: { "gpu-fraction": part },
    owner: ownerRef(replicaSet(web)),
  });
const knownVetoes = (moment: AdviceMoment): readonly string[] => {
  const pods = moment.analysis.snapshot.pods.flatMap(({ status }, index) => (status === "allocated" ? [index] : []));
  const { vetoes } = askGuards(moment, { pods, how: "move", by: "requeue", beneficiary: null });
  return vetoes.flatMap(({ guard, reason }) => (guard === "known" ? [reason] : []));
};

describe("holders of a shared GPU", () => {
  const nodes = [gpuNode("n1", 2), gpuNode("n2", 2)];
  const telemetry = nodes.map(({ name }) => page(name, [reading(`GPU-${name}-0`, 0.8), reading(`GPU-${name}-1`, 0)]));
  const two = (uuid: string | null) => [
    reservation("n1", "g", uuid),
    fraction("a", "n1", "g", "0.5"),
    fraction("b", "n1", "g", "0.3"),
  ];

  it("are known where the reservation names the GPU, though the split of its activity is estimated", () => {
    const moment = momentOf(analysisAt({ nodes, pods: two("GPU-n1-0"), telemetry }));
    const holders = moment.analysis.snapshot.devices.flatMap((device) => device.holders);
    expect(holders.map(({ estimated, isSplitAlone }) => [estimated, isSplitAlone])).toEqual([
      [true, true],
      [true, true],
    ]);
    expect(knownVetoes(moment)).toEqual([]);
  });

  it("are not where nothing names it", () => {
    const moment = momentOf(analysisAt({ nodes, pods: two(null), telemetry }));
    expect(knownVetoes(moment)).toHaveLength(2);
  });

  it("make room for work that waits", () => {
    const pods = [
      ...two("GPU-n1-0"),
      reservation("n2", "h", "GPU-n2-0"),
      fraction("c", "n2", "h", "0.1"),
      fraction("d", "n2", "h", "0.1"),
      gpuPod("fixed", "n2", 1),
      gpuPod("waiting", null, 2, { createdAt: 1_799_990_000 }),
    ];
    const advice = adviceOf(
      momentOf(
        analysisAt({ nodes, pods, telemetry, namespaces: [namespace("research")], owners: [replicaSet(web), web] }),
      ),
    );
    expect([advice.recommendations.map(({ targets }) => targets), advice.withheld.map(({ reason }) => reason)]).toEqual(
      [[["Pod research/a", "Pod research/b"]], []],
    );
  });
});

/** Pods of the trace that hold a part of one GPU. */
function placedShares() {
  const pods = podsOf("openb_pod_list_default.csv");
  const nodes = emptyNodes().map(({ name, free }) => ({ name, physicalGpus: free.length }));
  const shares = [...placements()].flatMap(([name, place]) => {
    const { share = 0 } = pods.get(name) ?? {};
    const [physicalGpu] = place?.physicalGpus ?? [];
    return place === null || physicalGpu === undefined || share === 0 || share >= 1
      ? []
      : [{ pod: name, node: place.node, physicalGpu, part: share }];
  });
  return { nodes, shares };
}

describe.skipIf(!hasOpenb())("the fractions of a real cluster", () => {
  it("are all known once reservations name their GPUs", () => {
    const { nodes, shares } = placedShares();
    expect(shares.length).toBeGreaterThan(2000);
    const names = new Set(shares.map(({ node }) => node));
    const state = {
      nodes: nodes.filter(({ name }) => names.has(name)).map(({ name, physicalGpus }) => gpuNode(name, physicalGpus)),
      pods: [
        ...new Map(
          shares.map(({ node, physicalGpu }) => [
            `${node}-${physicalGpu}`,
            reservation(node, `${node}-${physicalGpu}`, `GPU-${node}-${physicalGpu}`),
          ]),
        ).values(),
        ...shares.map(({ pod: name, node, physicalGpu, part }) =>
          fraction(name, node, `${node}-${physicalGpu}`, String(part)),
        ),
      ],
      telemetry: nodes
        .filter(({ name }) => names.has(name))
        .map(({ name, physicalGpus }) =>
          page(
            name,
            Array.from({ length: physicalGpus }, (_, physicalGpu) => reading(`GPU-${name}-${physicalGpu}`, 0.5)),
          ),
        ),
    };
    const moment = momentOf(analysisAt(state));
    const split = moment.analysis.snapshot.devices.flatMap((device) => device.holders.filter((one) => one.estimated));
    // Of 2,367 placed fractions so many share their GPU with others.
    expect([shares.length, split.length, knownVetoes(moment)]).toEqual([2367, 693, []]);
  });
});
