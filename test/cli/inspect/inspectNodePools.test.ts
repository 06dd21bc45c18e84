import { describe, expect, it } from "vitest";
import { readDump } from "../../../cli/inspect/readDump.ts";
import type { DumpFile } from "../../../cli/inspect/readFiles.ts";
import { defaultConfig } from "../../../exporter/config/defaults.ts";
import { emptyMemory } from "../../../exporter/join/memory.ts";
import { buildDocument } from "../../../exporter/publish/document/buildDocument.ts";
import { analysed, joined } from "../../join/outcomes.ts";

const at = 1_790_000_000;

function node(name: string, labels: Readonly<Record<string, string>>): object {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, uid: name, creationTimestamp: new Date((at - 7200) * 1000).toISOString(), labels },
    status: {
      capacity: { "nvidia.com/gpu": "8" },
      allocatable: { "nvidia.com/gpu": "8", cpu: "96", memory: "1Ti" },
      conditions: [{ type: "Ready", status: "True" }],
    },
  };
}

const nodePool = {
  apiVersion: "karpenter.sh/v1",
  kind: "NodePool",
  metadata: { name: "burst" },
  spec: {
    disruption: { consolidationPolicy: "WhenEmpty", consolidateAfter: "Never" },
    limits: { "nvidia.com/gpu": "32" },
    template: { spec: {} },
  },
};

const status = `time: 2026-09-21 14:13:20 +0000 UTC
autoscalerStatus: Running
nodeGroups:
- name: aks-gpunp-38371103-vmss
  health:
    status: Healthy
    minSize: 1
    maxSize: 4
`;

const configMap = (name: string, text: string): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "kube-system" },
  data: { status: text },
});

function dumpOf(objects: readonly object[]) {
  const bytes = Buffer.from(JSON.stringify({ kind: "List", apiVersion: "v1", items: objects }));
  const file: DumpFile = { path: "dump.json", stem: "dump", kind: "objects", bytes, modifiedAt: at };
  return readDump({ files: [file], problems: [] }, defaultConfig, at);
}

const objects = [
  node("k-1", { "karpenter.sh/nodepool": "burst", "karpenter.sh/capacity-type": "spot" }),
  node("aks-gpunp-38371103-vmss00000a", { "kubernetes.azure.com/agentpool": "gpunp" }),
  nodePool,
];

describe("inspect of a dump", () => {
  it("has the node pools of Karpenter and of the Cluster Autoscaler", () => {
    const { state } = dumpOf([...objects, configMap("cluster-autoscaler-status", status)]);
    expect(joined(state).snapshot.nodePools).toMatchObject([
      {
        name: "burst",
        manager: "karpenter",
        limitGpus: 32,
        consolidationPolicy: "WhenEmpty",
        consolidateAfterSeconds: null,
      },
      { name: "gpunp", manager: "cluster-autoscaler", minNodes: 1, maxNodes: 4 },
    ]);
  });

  it("passes over other ConfigMaps with a status, and says what is wrong with the autoscaler's", () => {
    const { state } = dumpOf([...objects, configMap("something-else", status)]);
    expect([state.autoscalerNodeGroups, state.problems]).toEqual([[], []]);
    expect(dumpOf([configMap("cluster-autoscaler-status", "hello")]).state.problems).toMatchObject([
      { message: expect.stringContaining("has no status of the Cluster Autoscaler") },
    ]);
  });

  it("finds empty nodes unallocated since the moment of the dump: it sees no earlier one", () => {
    const noPods = { apiVersion: "v1", kind: "PodList", items: [] };
    const idleOf = (all: readonly object[]) => {
      const dump = dumpOf(all);
      const { snapshot } = joined(dump.state, defaultConfig, emptyMemory, dump.at);
      return buildDocument(analysed(snapshot)).nodes.map(({ idle, idleSince }) => [idle, idleSince]);
    };
    const now = new Date(at * 1000).toISOString();
    expect(idleOf([...objects, noPods])).toEqual([
      ["unallocated", now],
      ["unallocated", now],
    ]);
    // Without pods, nobody knows what is allocated.
    expect(idleOf(objects)).toEqual([
      [null, null],
      [null, null],
    ]);
  });
});
