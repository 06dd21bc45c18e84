import { expect, it } from "vitest";
import { createAccounting } from "../../exporter/accounts/accounting.ts";
import { otherClusters } from "../../exporter/accounts/queueTime.ts";
import { defaultConfig } from "../../exporter/config/defaults.ts";
import {
  admissionCheckObject,
  analysisOf,
  at,
  before,
  container,
  jobObject,
  meta,
  queueObjects,
  workloadObject,
} from "../join/queues/kueueApiObjects.ts";

it("what a manager without GPUs has not sent yet has a series that begins at 0 and counts its GPUs", () => {
  const status = {
    admissionChecks: [{ name: "workers", state: "Pending", message: "", lastTransitionTime: before(60) }],
  };
  const analysis = analysisOf([
    { apiVersion: "v1", kind: "Node", metadata: meta("plain"), status: { capacity: { cpu: "8" }, conditions: [] } },
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { ...meta("dns"), namespace: "kube-system" },
      spec: { nodeName: "plain", containers: [{ name: "main" }] },
      status: { phase: "Running" },
    },
    ...queueObjects(16),
    admissionCheckObject("workers", "kueue.x-k8s.io/multikueue"),
    jobObject("train", 2),
    workloadObject("train", { count: 2, containers: [container(4)], reserved: 2, status }),
  ]);
  const accounting = createAccounting({
    intervalSeconds: 30,
    limits: defaultConfig.limits,
    queues: defaultConfig.queues,
  });
  const pending = () =>
    accounting
      .counters()
      .queues.totals.filter(({ domain }) => domain === otherClusters)
      .map(({ queue, pending: gpuSeconds }) => [queue, gpuSeconds]);
  accounting.account(analysis, { wall: at, monotonic: 0 });
  expect(pending()).toEqual([["cq", 0]]);
  accounting.account(analysis, { wall: at + 30, monotonic: 30 });
  expect(pending()).toEqual([["cq", 240]]);
});
