import { describe, expect, it } from "vitest";
import { decodePod } from "../../../exporter/sources/kubernetes/decodePod.ts";
import { field, readPod } from "./protobuf/podBytes.ts";

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
  it.each(pairs)("is one with a container that has a port and a readiness probe: %o %o", (...both) => {
    const metadata = field(1, field(1, "p"), field(3, "ns"), field(5, "uid-p"));
    const bytes = Buffer.concat([metadata, field(2, ...both.map(inBytes))]);
    const json = decodePod({ metadata: { name: "p", uid: "u" }, spec: { containers: both.map(inJson) } });
    const expected = both.some(({ hasPort, hasProbe }) => hasPort && hasProbe) ? true : undefined;
    if (!json.ok) throw new Error(json.problem.message);
    expect(json.value.gpuPod?.isProbedServer).toBe(expected);
    expect(readPod(bytes)?.gpuPod?.isProbedServer).toBe(expected);
  });
});
