import { describe, expect, it } from "vitest";
import { protobufCursor } from "../../../../exporter/kernel/protobuf.ts";
import { decodePod } from "../../../../exporter/sources/kubernetes/decodePod.ts";
import { isRecord } from "../../../../exporter/sources/kubernetes/fields.ts";
import { createGpuPodReader } from "../../../../exporter/sources/kubernetes/protobuf/gpuPod.ts";
import { protobufFormat } from "../../../../exporter/sources/kubernetes/protobuf/protobufWire.ts";
import { readRecord } from "../../../../exporter/sources/kubernetes/protobuf/readRecord.ts";
import { podShape } from "../../../../exporter/sources/kubernetes/protobuf/shapes.ts";
import { captured, projection } from "../wireSubjects.ts";

interface Both {
  readonly direct: unknown;
  readonly whole: unknown;
}

/** Each captured pod read both ways, by name. */
function readBothWays(): ReadonlyMap<string, Both> {
  const found = new Map<string, Both>();
  const readDirectly = createGpuPodReader(projection);
  const format = protobufFormat({
    kind: "Pod",
    readers: {
      v1: (cursor, end) => {
        const own = protobufCursor(cursor.bytes);
        own.position = cursor.position;
        const direct = readDirectly(own, end);
        const record = readRecord(cursor, end, podShape);
        const decoded = decodePod(record, projection);
        const { name } = isRecord(record.metadata) ? record.metadata : {};
        found.set(String(name), { direct, whole: decoded.ok ? decoded.value : null });
        return { uid: String(name), decoded };
      },
    },
  });
  expect(format.page(captured("pods", "protobuf")).ok).toBe(true);
  return found;
}

describe("the direct way through a pod with GPUs", () => {
  const pods = readBothWays();

  it.each([
    ...["train-000000", "gated", "gpu-in-init", "never-started", "fraction"],
    ...["chosen-nodes", "named-node", "disks", "no-disks", "apart", "claims-of-volumes"],
  ])("gives the record of %s", (name) => {
    const { direct, whole } = pods.get(name) ?? {};
    expect(direct).not.toBeNull();
    expect(direct).toEqual(whole);
  });

  it.each([
    ["disks", true],
    ["no-disks", false],
    ["train-000000", false],
    ["claimed-and-disk", true],
    ["claims", false],
  ])("and the other tell whether %s has something on its node: %s", (name, hasLocalStorage) => {
    const { direct, whole } = pods.get(name) ?? {};
    expect(whole).toMatchObject({ gpuPod: { hasLocalStorage } });
    if (direct !== null) expect(direct).toMatchObject({ gpuPod: { hasLocalStorage } });
  });

  it.each([
    "gpu-reservation",
    "claims",
    "claimed-and-disk",
    "nvidia-dcgm-exporter-abcde",
    "pod-level",
    "with-overhead",
    "spread",
    "host-ports",
    "own-volumes",
    "plain-000000",
  ])("leaves %s to the whole way", (name) => {
    expect(pods.get(name)).toMatchObject({ direct: null, whole: { pod: {} } });
  });
});
