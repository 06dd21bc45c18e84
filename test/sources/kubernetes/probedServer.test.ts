import { describe, expect, it } from "vitest";
import { protobufCursor } from "../../../exporter/kernel/protobuf.ts";
import { decodePod } from "../../../exporter/sources/kubernetes/decodePod.ts";
import { createGpuPodReader } from "../../../exporter/sources/kubernetes/protobuf/gpuPod.ts";
import { readByShape } from "../../../exporter/sources/kubernetes/protobuf/protobufWire.ts";
import { podShape } from "../../../exporter/sources/kubernetes/protobuf/shapes.ts";
import { projection } from "./wireSubjects.ts";

/** A field with a length below 128, by its number in `generated.proto`. */
function field(number: number, ...parts: readonly (string | Buffer)[]): Buffer {
  const bytes = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
}

interface Container {
  readonly hasPort: boolean;
  readonly hasProbe: boolean;
}

const inJson = ({ hasPort, hasProbe }: Container) => ({
  name: "c",
  ...(hasPort ? { ports: [{ name: "http", containerPort: 8000 }] } : {}),
  resources: { limits: { "nvidia.com/gpu": "1" } },
  ...(hasProbe ? { readinessProbe: { httpGet: { path: "/health", port: 8000 } } } : {}),
});

const inBytes = ({ hasPort, hasProbe }: Container): Buffer =>
  field(
    2,
    field(1, "c"),
    ...(hasPort ? [field(6, field(1, "http"))] : []),
    field(8, field(1, field(1, "nvidia.com/gpu"), field(2, field(1, "1")))),
    ...(hasProbe ? [field(11, field(1, field(2, field(1, "/health"))))] : []),
  );

const flags = [true, false];
const containers = flags.flatMap((hasPort) => flags.map((hasProbe) => ({ hasPort, hasProbe })));
const pairs = containers.flatMap((one) => containers.map((other) => [one, other] as const));

describe("a pod that waits to be asked", () => {
  it.each(pairs)("is one of which a container has a port and a readiness probe: %o %o", (...both) => {
    const metadata = field(1, field(1, "p"), field(3, "ns"), field(5, "uid-p"));
    const bytes = Buffer.concat([metadata, field(2, ...both.map(inBytes))]);
    const direct = createGpuPodReader(projection)(protobufCursor(bytes), bytes.length);
    const read = readByShape(podShape, (value) => decodePod(value, projection));
    const whole = read(protobufCursor(bytes), bytes.length).decoded;
    const json = decodePod({ metadata: { name: "p", uid: "u" }, spec: { containers: both.map(inJson) } });
    const expected = both.some(({ hasPort, hasProbe }) => hasPort && hasProbe) ? true : undefined;
    for (const decoded of [json, whole]) {
      if (!decoded.ok) throw new Error(decoded.problem.message);
      expect(decoded.value.gpuPod?.isProbedServer).toBe(expected);
    }
    expect(direct?.gpuPod?.isProbedServer).toBe(expected);
  });
});
