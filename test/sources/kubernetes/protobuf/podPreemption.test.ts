import { describe, expect, it } from "vitest";
import { protobufCursor } from "../../../../exporter/kernel/protobuf.ts";
import { decodePod } from "../../../../exporter/sources/kubernetes/decodePod.ts";
import { createGpuPodReader } from "../../../../exporter/sources/kubernetes/protobuf/gpuPod.ts";
import { readByShape } from "../../../../exporter/sources/kubernetes/protobuf/protobufWire.ts";
import { podShape } from "../../../../exporter/sources/kubernetes/protobuf/shapes.ts";
import { projection } from "../wireSubjects.ts";

/** A field with a length, by its number in `generated.proto`; short ones alone. */
function field(number: number, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  if (number > 15 || bytes.length > 16_383) throw new Error("not made for this");
  const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7];
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), bytes]);
}
const message = (...fields: readonly Buffer[]): Buffer => Buffer.concat(fields);

const second = 1_790_000_000;
/** Seconds as a varint in field 1 of `Time`. */
const time = (): Buffer => {
  const digits: number[] = [];
  for (let rest = second; rest > 0; rest = Math.floor(rest / 128)) digits.push((rest % 128) | (rest >= 128 ? 128 : 0));
  return Buffer.from([8, ...digits]);
};

const condition = (type: string, status: string, reason: string, text: string): Buffer =>
  message(field(1, type), field(2, status), field(4, time()), field(5, reason), field(6, text));

function podBytes(...conditions: readonly Buffer[]): Buffer {
  const limits = field(1, message(field(1, "nvidia.com/gpu"), field(2, field(1, "2"))));
  const container = message(field(1, "c"), field(8, limits));
  return message(
    field(1, message(field(1, "p"), field(3, "ns"), field(5, "uid-p"))),
    field(2, message(field(2, container), field(10, "n"))),
    field(3, message(field(1, "Running"), ...conditions.map((entry) => field(2, entry)))),
  );
}

const scheduled = condition("PodScheduled", "True", "", "");

function readBothWays(bytes: Buffer) {
  const direct = createGpuPodReader(projection)(protobufCursor(bytes), bytes.length);
  const whole = readByShape(podShape, (value) => decodePod(value, projection))(protobufCursor(bytes), bytes.length);
  return { direct, whole: whole.decoded.ok ? whole.decoded.value : null };
}

describe("a pod with GPUs in protobuf", () => {
  it("that stays is read on the direct way", () => {
    const { direct, whole } = readBothWays(podBytes(scheduled));
    expect(direct?.gpuPod?.gpu.resources).toEqual({ "nvidia.com/gpu": 2 });
    expect(direct).toEqual(whole);
  });

  it.each([
    ["after", (target: Buffer) => podBytes(scheduled, target)],
    ["before", (target: Buffer) => podBytes(target, scheduled)],
  ])("that is preempted is left to the whole way, which says when and why; %s another condition", (_, bytesWith) => {
    const words = "kai-scheduler: room for another";
    const { direct, whole } = readBothWays(
      bytesWith(condition("DisruptionTarget", "True", "PreemptionByScheduler", words)),
    );
    expect(direct).toBeNull();
    expect(whole?.preemption).toEqual({ at: second, message: words });
    expect(whole?.gpuPod?.scheduledAt).toBe(second);
  });

  it.each([
    ["True", "DeletionByTaintManager"],
    ["False", "PreemptionByScheduler"],
  ])("with DisruptionTarget %s for %s is not preempted", (status, reason) => {
    const { whole } = readBothWays(podBytes(scheduled, condition("DisruptionTarget", status, reason, "")));
    expect(whole?.gpuPod).not.toBeNull();
    expect(whole?.preemption).toBeNull();
  });
});
