import { describe, expect, it } from "vitest";
import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import { defaultConfig } from "../../../exporter/config/defaults.ts";
import { buildDocument } from "../../../exporter/publish/document/buildDocument.ts";
import { documentSchema } from "../../../exporter/publish/document/schema.ts";
import { explain } from "../../../exporter/publish/explain/explain.ts";
import { explanationText } from "../../../exporter/publish/terminal/explanation.ts";
import {
  analysisOf,
  before,
  conditionObject,
  container,
  gpuNodeObject,
  meta,
  queueObjects,
  workloadObject,
} from "../../join/queues/kueueApiObjects.ts";

const rackLabel = "example.com/rack";
const blockLabel = "example.com/block";

/** A node of 4 GPUs in a rack of the only block. */
function rackNode(name: string, rack: string | null) {
  const place = { [blockLabel]: "b", ...(rack === null ? {} : { [rackLabel]: rack }) };
  const labels = { "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.count": "4", ...place };
  return { ...gpuNodeObject(name, 4), metadata: meta(name, { labels }) };
}

/** A pod that holds or wants 4 GPUs; `parts` go into metadata, spec and status. */
function pod(name: string, nodeName: string | null, metadata: object = {}, spec: object = {}): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...meta(name, { namespace: "research" }), ...metadata },
    spec: { containers: [container(4)], ...(nodeName === null ? {} : { nodeName }), ...spec },
    status: nodeName === null ? { phase: "Pending" } : { phase: "Running", startTime: before(3600) },
  };
}

/** Racks r1 and r2 of two nodes each; the other work holds the nodes in `full`. */
const racks = (...full: readonly string[]): readonly object[] => [
  rackNode("r1-a", "r1"),
  rackNode("r1-b", "r1"),
  rackNode("r2-a", "r2"),
  rackNode("r2-b", "r2"),
  ...full.map((node) => pod(`other-${node}`, node)),
];
const scattered = racks("r1-a", "r2-a");
const together = racks("r1-a", "r1-b");

const topologyObject = (apiVersion: string, ...labels: readonly string[]) => ({
  apiVersion,
  kind: "Topology",
  metadata: meta("racks"),
  spec: { levels: labels.map((nodeLabel) => ({ nodeLabel })) },
});

/** Why the only gang that waits does so. */
const gangIn = ({ waiting, blocked }: Analysis) => {
  const [only, ...others] = waiting.work;
  if (only === undefined || others.length > 0) throw new Error(`${waiting.work.length} gangs wait instead of one`);
  return { cause: only.cause, blockingLevel: only.blockingLevel, blocker: blocked.work[0]?.blocker };
};

const byTopology = (level: string) => ({ cause: "topology", blockingLevel: level, blocker: "topology" });
const byScheduler = { cause: "scheduler", blockingLevel: undefined, blocker: undefined };

describe("a Workload of Kueue of two pods with 4 GPUs", () => {
  const kueueTopology = topologyObject("kueue.x-k8s.io/v1beta2", blockLabel, rackLabel);
  const objects = (
    nodes: readonly object[],
    topologyRequest: object,
    count = 2,
    topology: object | null = kueueTopology,
  ) =>
    analysisOf([
      ...nodes,
      ...queueObjects(64),
      ...(topology === null ? [] : [topology]),
      {
        ...workloadObject("train", { count, containers: [container(4)] }),
        spec: {
          queueName: "q",
          podSets: [{ name: "main", count, topologyRequest, template: { spec: { containers: [container(4)] } } }],
        },
        status: { conditions: [conditionObject("QuotaReserved", "False", "Pending", "waits")] },
      },
    ]);

  it("waits for topology where one node is free in each rack, and the rack is required", () => {
    expect(gangIn(objects(scattered, { required: rackLabel }))).toEqual(byTopology(rackLabel));
  });

  it("names the level in its record, and where it is explained", () => {
    const analysis = objects(scattered, { required: rackLabel });
    const { pending } = documentSchema.parse(buildDocument(analysis));
    expect(pending).toMatchObject([{ cause: "topology", blockingLevel: rackLabel }]);
    for (const [kind, name] of [
      ["queue", "cq"],
      ["team", "research"],
      ["workload", "research/Job/train"],
    ] as const) {
      const found = explain(kind, name, { analysis, settings: defaultConfig, problems: [], accountedTime: null });
      const text = found.ok ? explanationText(found.explanation).replaceAll(/\s+/g, " ") : found.error;
      expect(text).toContain(`topology: no single domain of ${rackLabel} has enough`);
    }
  });

  it("does not where the rack is only preferred, the block is required, or both nodes are in one rack", () => {
    expect(gangIn(objects(scattered, { preferred: rackLabel }))).toEqual(byScheduler);
    expect(gangIn(objects(scattered, { required: blockLabel }))).toEqual(byScheduler);
    expect(gangIn(objects(together, { required: rackLabel }))).toEqual(byScheduler);
    expect(gangIn(objects(scattered, {}))).toEqual(byScheduler);
  });

  it("waits as a gang that fits only in part where too little is free, whatever the racks", () => {
    expect(gangIn(objects(scattered, { required: rackLabel }, 3))).toMatchObject({
      cause: "gang",
    });
  });

  it("is not said to wait for a level of which no object was read", () => {
    expect(gangIn(objects(scattered, { required: rackLabel }, 2, null))).toEqual(byScheduler);
    expect(gangIn(objects(scattered, { required: "example.com/row" }))).toEqual(byScheduler);
  });

  it("cannot use a free node that lacks the label", () => {
    const nodes = [...racks("r1-a", "r1-b", "r2-a"), rackNode("stray", null)];
    expect(gangIn(objects(nodes, { required: rackLabel }))).toEqual(byTopology(rackLabel));
  });

  it("may have pod sets in different racks, of which each fits in one", () => {
    const podSet = (name: string, count: number, required: string) => ({
      name,
      count,
      topologyRequest: { required },
      template: { spec: { containers: [container(4)] } },
    });
    const of = (...podSets: readonly object[]) =>
      gangIn(
        analysisOf([
          ...scattered,
          ...queueObjects(64),
          kueueTopology,
          {
            ...workloadObject("train", { count: 2, containers: [container(4)] }),
            spec: { queueName: "q", podSets },
            status: { conditions: [conditionObject("QuotaReserved", "False", "Pending", "waits")] },
          },
        ]),
      );
    expect(of(podSet("a", 1, rackLabel), podSet("b", 1, rackLabel))).toEqual(byScheduler);
    expect(of(podSet("a", 2, rackLabel))).toEqual(byTopology(rackLabel));
  });

  it("waits for topology where Kueue says so, although the level is not known", () => {
    const analysis = analysisOf([
      ...together,
      ...queueObjects(64),
      {
        ...workloadObject("train", { count: 2, containers: [container(4)] }),
        status: { conditions: [conditionObject("QuotaReserved", "False", "TopologyPlacementFailed", "no")] },
      },
    ]);
    expect(gangIn(analysis)).toEqual({ ...byTopology(""), blockingLevel: undefined });
  });
});

describe("a PodGroup of KAI of two pods with 4 GPUs", () => {
  const queue = (name: string, parentQueue?: string) => ({
    apiVersion: "scheduling.run.ai/v2",
    kind: "Queue",
    metadata: meta(name),
    spec: {
      ...(parentQueue === undefined ? {} : { parentQueue }),
      resources: { gpu: { quota: -1, limit: -1, overQuotaWeight: 1 } },
    },
  });
  const of = (nodes: readonly object[], topologyConstraint: object) =>
    gangIn(
      analysisOf([
        ...nodes,
        queue("all"),
        queue("team", "all"),
        topologyObject("kai.scheduler/v1alpha1", blockLabel, rackLabel),
        {
          apiVersion: "scheduling.run.ai/v2alpha2",
          kind: "PodGroup",
          metadata: meta("train", { namespace: "research" }),
          spec: { queue: "team", minMember: 2, topologyConstraint },
          status: {},
        },
        ...["train-0", "train-1"].map((name) =>
          pod(
            name,
            null,
            { annotations: { "pod-group-name": "train" }, labels: { "kai.scheduler/queue": "team" } },
            { schedulerName: "kai-scheduler" },
          ),
        ),
      ]),
    );

  it("waits for topology where it requires a rack, and not where it prefers one", () => {
    expect(of(scattered, { topology: "racks", requiredTopologyLevel: rackLabel })).toEqual(byTopology(rackLabel));
    expect(of(scattered, { topology: "racks", preferredTopologyLevel: rackLabel })).toEqual(byScheduler);
    expect(of(together, { topology: "racks", requiredTopologyLevel: rackLabel })).toEqual(byScheduler);
  });
});

describe("a PodGroup of Volcano of two pods with 4 GPUs", () => {
  const hyperNode = (name: string, tier: number, type: string, ...members: readonly string[]) => ({
    apiVersion: "topology.volcano.sh/v1alpha1",
    kind: "HyperNode",
    metadata: meta(name),
    spec: { tier, members: members.map((member) => ({ type, selector: { exactMatch: { name: member } } })) },
  });
  const of = (nodes: readonly object[], networkTopology: object) =>
    gangIn(
      analysisOf([
        ...nodes,
        { apiVersion: "scheduling.volcano.sh/v1beta1", kind: "Queue", metadata: meta("team"), spec: { weight: 1 } },
        hyperNode("s1", 1, "Node", "r1-a", "r1-b"),
        hyperNode("s2", 1, "Node", "r2-a", "r2-b"),
        hyperNode("top", 2, "HyperNode", "s1", "s2"),
        {
          apiVersion: "scheduling.volcano.sh/v1beta1",
          kind: "PodGroup",
          metadata: meta("train", { namespace: "research" }),
          spec: { queue: "team", minMember: 2, networkTopology },
          status: { phase: "Inqueue" },
        },
        ...["train-0", "train-1"].map((name) =>
          pod(name, null, { annotations: { "scheduling.k8s.io/group-name": "train" } }, { schedulerName: "volcano" }),
        ),
      ]),
    );

  it("waits for topology where no HyperNode of the highest tier that it allows has both nodes", () => {
    expect(of(scattered, { mode: "hard", highestTierAllowed: 1 })).toEqual(byTopology("tier 1"));
    expect(of(scattered, { mode: "hard", highestTierAllowed: 2 })).toEqual(byScheduler);
    expect(of(scattered, { mode: "soft", highestTierAllowed: 1 })).toEqual(byScheduler);
    expect(of(together, { mode: "hard", highestTierAllowed: 1 })).toEqual(byScheduler);
  });
});
