import { expect, test } from "vitest";
import { protobufCursor } from "../../../../exporter/kernel/protobuf.ts";
import { decodePod } from "../../../../exporter/sources/kubernetes/decodePod.ts";
import { maxLabels } from "../../../../exporter/sources/kubernetes/ownLabels.ts";
import { createGpuPodReader } from "../../../../exporter/sources/kubernetes/protobuf/gpuPod.ts";
import { createPlainPodReader } from "../../../../exporter/sources/kubernetes/protobuf/plainPod.ts";
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

function podBytes(labels: number, chars: number, gpus: boolean): Buffer {
  const limits = field(1, Buffer.concat([field(1, gpus ? "nvidia.com/gpu" : "cpu"), field(2, field(1, "2"))]));
  const container = Buffer.concat([field(1, "c"), field(8, limits)]);
  const entries = Array.from({ length: labels }, (_, i) =>
    field(11, Buffer.concat([field(1, `label-${i}`), field(2, "v".repeat(chars))])),
  );
  const metadata = Buffer.concat([field(1, "p"), field(3, "ns"), field(5, "uid-p"), ...entries]);
  return Buffer.concat([field(1, metadata), field(2, field(2, container)), field(3, field(1, "Pending"))]);
}

const readWhole = readByShape(podShape, (value) => decodePod(value, projection));

test.each([
  ["as many as are kept", maxLabels, 8, true],
  ["one too many", maxLabels + 1, 8, false],
  ["too long together", 20, 250, false],
])("pods in protobuf with labels, %s, have the same ones on each way", (_what, labels, chars, isDirect) => {
  for (const gpus of [true, false]) {
    const bytes = podBytes(labels, chars, gpus);
    const direct = gpus
      ? (createGpuPodReader(projection)(protobufCursor(bytes), bytes.length)?.gpuPod?.labels ?? null)
      : (createPlainPodReader(projection)(protobufCursor(bytes), bytes.length)?.labels ?? null);
    const whole = readWhole(protobufCursor(bytes), bytes.length).decoded;
    if (!whole.ok) throw new Error(whole.problem.message);
    const kept = gpus ? whole.value.gpuPod?.labels : whole.value.pod.labels;
    if (isDirect) expect(direct).toEqual(kept);
    else expect(direct).toBeNull();
    expect(whole.value.gpuPod?.labelsLeftOut).toBe(gpus && !isDirect ? true : undefined);
  }
});
