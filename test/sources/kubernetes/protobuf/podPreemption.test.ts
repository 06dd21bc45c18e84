import { describe, expect, it } from "vitest";
import { field, readPod, varint } from "./podBytes.ts";

const second = 1_790_000_000;
/** `Time` with seconds in field 1. */
const time = Buffer.concat([Buffer.from([8]), varint(second)]);

const condition = (type: string, status: string, reason: string, text: string): Buffer =>
  field(2, field(1, type), field(2, status), field(4, time), field(5, reason), field(6, text));

function podBytes(...conditions: readonly Buffer[]): Buffer {
  const limits = field(1, field(1, "nvidia.com/gpu"), field(2, field(1, "2")));
  return Buffer.concat([
    field(1, field(1, "p"), field(3, "ns"), field(5, "uid-p")),
    field(2, field(2, field(1, "c"), field(8, limits)), field(10, "n")),
    field(3, field(1, "Running"), ...conditions),
  ]);
}

const scheduled = condition("PodScheduled", "True", "", "");

describe("a pod with GPUs in protobuf", () => {
  it("that stays is not preempted", () => {
    const pod = readPod(podBytes(scheduled));
    expect(pod?.gpuPod?.gpu.resources).toEqual({ "nvidia.com/gpu": 2 });
    expect(pod?.preemption).toBeNull();
  });

  it.each([
    ["after", (target: Buffer) => podBytes(scheduled, target)],
    ["before", (target: Buffer) => podBytes(target, scheduled)],
  ])("that is preempted says when and why; %s another condition", (_, bytesWith) => {
    const words = "kai-scheduler: room for another";
    const pod = readPod(bytesWith(condition("DisruptionTarget", "True", "PreemptionByScheduler", words)));
    expect(pod?.preemption).toEqual({ at: second, message: words });
    expect(pod?.gpuPod?.scheduledAt).toBe(second);
  });

  it.each([
    ["True", "DeletionByTaintManager"],
    ["False", "PreemptionByScheduler"],
  ])("with DisruptionTarget %s for %s is not preempted", (status, reason) => {
    const pod = readPod(podBytes(scheduled, condition("DisruptionTarget", status, reason, "")));
    expect(pod?.gpuPod).not.toBeNull();
    expect(pod?.preemption).toBeNull();
  });
});
