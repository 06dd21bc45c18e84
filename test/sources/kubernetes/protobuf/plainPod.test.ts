import { describe, expect, it } from "vitest";
import { protobufCursor } from "../../../../exporter/kernel/protobuf.ts";
import { decodePod } from "../../../../exporter/sources/kubernetes/decodePod.ts";
import { isRecord } from "../../../../exporter/sources/kubernetes/fields.ts";
import { createPlainPodReader } from "../../../../exporter/sources/kubernetes/protobuf/plainPod.ts";
import { protobufFormat } from "../../../../exporter/sources/kubernetes/protobuf/protobufWire.ts";
import { readRecord } from "../../../../exporter/sources/kubernetes/protobuf/readRecord.ts";
import { podShape } from "../../../../exporter/sources/kubernetes/protobuf/shapes.ts";
import { captured, projection } from "../wireSubjects.ts";

interface Both {
  readonly plain: unknown;
  readonly whole: unknown;
}

/** Each captured pod read both ways, by name. */
function readBothWays(): ReadonlyMap<string, Both> {
  const found = new Map<string, Both>();
  const readPlain = createPlainPodReader(projection);
  const format = protobufFormat({
    kind: "Pod",
    readers: {
      v1: (cursor, end) => {
        const short = protobufCursor(cursor.bytes);
        short.position = cursor.position;
        const plain = readPlain(short, end);
        const record = readRecord(cursor, end, podShape);
        const decoded = decodePod(record, projection);
        const { name } = isRecord(record.metadata) ? record.metadata : {};
        found.set(String(name), { plain, whole: decoded.ok ? decoded.value : null });
        return { uid: String(name), decoded };
      },
    },
  });
  expect(format.page(captured("pods", "protobuf")).ok).toBe(true);
  return found;
}

describe("the short way through a pod", () => {
  const pods = readBothWays();

  it.each([
    ...["plain-000000", "init-and-sidecar", "best-effort", "odd-quantities", "nvidia-device-plugin-abcde"],
    "apart-without-gpus",
  ])("gives the row of %s", (name) => {
    const { plain, whole } = pods.get(name) ?? {};
    expect(plain).not.toBeNull();
    expect(whole).toEqual({ pod: plain, gpuPod: null, exporterPod: null, preemption: null });
  });

  it.each([
    "train-000000",
    "gated",
    "gpu-in-init",
    "never-started",
    "fraction",
    "gpu-reservation",
    "claims",
    "nvidia-dcgm-exporter-abcde",
    // Rare things are left to the whole way.
    "pod-level",
    "with-overhead",
    "host-ports-without-gpus",
  ])("leaves %s to the whole way", (name) => {
    expect(pods.get(name)).toMatchObject({ plain: null, whole: { pod: {} } });
  });
});
