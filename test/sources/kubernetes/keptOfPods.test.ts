import { describe, expect, it } from "vitest";
import { decodePod } from "../../../exporter/sources/kubernetes/decodePod.ts";
import { capturedItems, recordOf, valueAt } from "./queues/capturedList.ts";

/** What ties pods to queue objects, as the schedulers really write it. */
const ties: readonly (readonly [list: string, kind: "labels" | "annotations", name: string])[] = [
  ["kueue-0.19/pods", "annotations", "kueue.x-k8s.io/workload"],
  ["kueue-0.19/pods", "labels", "kueue.x-k8s.io/cluster-queue-name"],
  ["kueue-0.19/pods", "labels", "kueue.x-k8s.io/podset"],
  ["kai-0.12/pods", "annotations", "pod-group-name"],
  ["kai-0.12/pods", "labels", "kai.scheduler/queue"],
  ["volcano-1.15/capacity/pods", "annotations", "scheduling.k8s.io/group-name"],
  ["volcano-1.15/capacity/pods", "annotations", "volcano.sh/queue-name"],
  ["volcano-1.15/capacity/pods", "labels", "volcano.sh/queue-name"],
];

describe("a pod with GPUs", () => {
  it.each(ties)("of %s keeps in %s %s", (list, kind, name) => {
    const tied = capturedItems(list).flatMap((object) => {
      const { gpuPod } = recordOf(decodePod(object));
      const written = valueAt(object, "metadata", kind, name);
      return gpuPod === null || written === undefined ? [] : [{ written, kept: gpuPod[kind][name] }];
    });
    expect(tied.length).toBeGreaterThan(0);
    expect(tied.map(({ kept }) => kept)).toEqual(tied.map(({ written }) => written));
  });

  it("keeps what users and schedulers may add", () => {
    const annotations = {
      "scheduling.volcano.sh/group-name": "g",
      "scheduling.volcano.sh/queue-name": "q",
      "fairlead.dev/checkpointed-at": "2026-11-20T10:00:00Z",
    };
    const labels = { "kai.scheduler/node-pool": "h100", project: "p", priorityClassName: "train" };
    const containers = [{ name: "c", resources: { limits: { "nvidia.com/gpu": "1" } } }];
    const more = { ...annotations, "example.com/other": "x" };
    const { gpuPod } = recordOf(
      decodePod({ metadata: { name: "p", namespace: "ns", labels, annotations: more }, spec: { containers } }),
    );
    expect(gpuPod).toMatchObject({ labels, annotations });
    expect(gpuPod?.annotations["example.com/other"]).toBeUndefined();
  });
});
