import { describe, expect, it } from "vitest";
import { findings } from "../../../exporter/analysis/lint/findings.ts";
import type { QueueView, QuotaDomain } from "../../../exporter/join/queues/queueing.ts";
import { noQueueing } from "../../../exporter/join/queues/queueing.ts";
import { queueView, quotaDomain } from "../../queues/queueView.ts";
import { device, holding, moment, nodeView, podView } from "../momentBuilder.ts";

/** Who holds GPUs outside every queue: namespaces, and GPUs of each. */
type Past = readonly (readonly [namespace: string, gpus: number])[];

/** 16 GPUs of one domain: a queue is guaranteed some of them and holds 4, pods of no queue hold others. */
function found(
  guaranteed: number,
  past: Past,
  { root = {}, domain = {} }: { readonly root?: Partial<QueueView>; readonly domain?: Partial<QuotaDomain> } = {},
) {
  const names = [
    "research",
    "research",
    "research",
    "research",
    ...past.flatMap(([name, gpus]) => Array(gpus).fill(name)),
  ];
  const allocated = past.reduce((sum, [, gpus]) => sum + gpus, 0);
  const devices = Array.from({ length: 16 }, (_, i) =>
    device({ node: "node-0", uuid: `GPU-${i}`, holders: i < names.length ? [holding({ pod: i })] : [] }),
  );
  const top = { kind: "Scheduler", name: "kueue", isLeaf: false, children: [1], guaranteed, ...root } as const;
  const unqueued = { scheduler: "none", kind: "Unqueued", name: "unqueued", guaranteed: allocated, allocated } as const;
  return findings(
    moment({
      nodes: [nodeView({ name: "node-0", physicalGpus: 16, devices: devices.map((_, i) => i) })],
      devices,
      pods: names.map((namespace, i) => podView({ namespace, name: `pod-${i}` })),
      queueing: {
        ...noQueueing,
        domains: [quotaDomain({ capacity: 16, ...domain })],
        queues: [
          queueView(top),
          queueView({ name: "research", parent: 0, guaranteed, allocated: 4 }),
          ...(allocated > 0 ? [queueView(unqueued)] : []),
        ],
        queueOfPod: Int32Array.from(names, (_, i) => (i < 4 ? 1 : 2)),
      },
    }),
  );
}

describe("pods past the queues", () => {
  it("are found where they hold what queues are promised, with how much, and the largest namespaces", () => {
    const [finding, ...others] = found(14, [
      ["lab", 1],
      ["serving", 4],
      ["tools", 2],
      ["alone", 1],
    ]);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({
      code: "pods-past-queues",
      scheduler: "kueue",
      kind: "QuotaDomain",
      name: "H100",
      reason:
        "Pods of no queue hold 8 GPUs, and queues are promised 14 of the 16 that can be given out: 6 of these no queue can have, though its scheduler may admit work for them. They are in namespaces serving (4), tools (2), alone (1) and 1 more.",
      change:
        "Send this work through a LocalQueue (label kueue.x-k8s.io/queue-name), or lower guarantees by 6 GPUs in all, so that there is room for it.",
    });
  });

  it("take no more than they hold, however much is promised", () => {
    const [finding] = found(40, [["lab", 2]]);
    expect(finding?.reason).toContain("2 of these no queue can have");
    expect(finding?.reason).toContain("They are in namespace lab (2).");
  });

  it("are nobody's matter where there is room for both", () => {
    expect(found(8, [["lab", 8]])).toEqual([]);
    expect(found(16, [])).toEqual([]);
    expect(found(0, [["lab", 8]])).toEqual([]);
  });

  it("are not reported where nobody knows what queues are promised", () => {
    expect(found(14, [["lab", 8]], { domain: { unknownBecause: "its nodes cut GPUs differently" } })).toEqual([]);
  });

  it("are sent through the queues of the scheduler that is there", () => {
    const volcano = { scheduler: "volcano", name: "volcano" } as const;
    expect(found(14, [["lab", 8]], { root: volcano })[0]?.change).toContain("scheduling.volcano.sh/queue-name");
    const kai = { scheduler: "kai", name: "kai" } as const;
    expect(found(14, [["lab", 8]], { root: kai })[0]?.change).toContain("kai.scheduler/queue");
  });
});
