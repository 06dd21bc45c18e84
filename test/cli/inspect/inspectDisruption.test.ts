import { describe, expect, it } from "vitest";
import { readDump } from "../../../cli/inspect/readDump.ts";
import type { DumpFile } from "../../../cli/inspect/readFiles.ts";
import { defaultConfig } from "../../../exporter/config/defaults.ts";
import { joined } from "../../join/outcomes.ts";

const at = 1_790_000_000;
const created = new Date((at - 7200) * 1000).toISOString();

function dumpOf(objects: readonly object[]) {
  const bytes = Buffer.from(JSON.stringify({ kind: "List", apiVersion: "v1", items: objects }));
  const file: DumpFile = { path: "dump.json", stem: "dump", kind: "objects", bytes, modifiedAt: at };
  return readDump({ files: [file], problems: [] }, defaultConfig, at).state;
}

const job = {
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "train", namespace: "ads", uid: "uid-job", annotations: { "karpenter.sh/do-not-disrupt": "true" } },
  spec: {
    backoffLimit: 3,
    podFailurePolicy: {
      rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }],
    },
  },
  status: { failed: 2 },
};
const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: "train-0",
    namespace: "ads",
    uid: "uid-pod",
    creationTimestamp: created,
    ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "train", uid: "uid-job", controller: true }],
  },
  spec: {
    containers: [{ name: "main", resources: { limits: { "nvidia.com/gpu": "1" } } }],
    volumes: [{ name: "scratch", emptyDir: {} }],
  },
  status: { phase: "Pending" },
};
const exporter = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: "nvidia-dcgm-exporter-x",
    namespace: "gpu-operator",
    uid: "uid-exporter",
    labels: { app: "nvidia-dcgm-exporter" },
  },
  spec: { nodeName: "n", containers: [{ name: "main" }] },
  status: { phase: "Running", podIP: "10.0.0.1" },
};

describe("a dump", () => {
  it("knows what a Job survives, as whole objects do", () => {
    const { snapshot } = joined(dumpOf([job, pod]), undefined, undefined, at);
    expect(snapshot.workloads).toMatchObject([
      {
        kind: "Job",
        name: "train",
        owners: [{ apiVersion: "batch/v1", kind: "Job", name: "train", uid: "uid-job" }],
        job: { backoffLimit: 3, failed: 2, onDisruption: "Ignore", isSuspended: false },
      },
    ]);
    expect(snapshot.pods).toMatchObject([
      { disruption: { isStatic: false, hasLocalStorage: true, forbiddenBy: "karpenter.sh/do-not-disrupt" } },
    ]);
  });

  it("knows which pods are exporters, as the configuration says", () => {
    const elsewhere = {
      ...exporter,
      metadata: { ...exporter.metadata, name: "other", namespace: "ads", uid: "other" },
    };
    expect(dumpOf([exporter, elsewhere, pod]).exporterPods).toMatchObject([
      { namespace: "gpu-operator", name: "nvidia-dcgm-exporter-x", uid: "uid-exporter", nodeName: "n" },
    ]);
  });
});
