import { expect, test } from "vitest";
import { decodePod } from "../../../../exporter/sources/kubernetes/decodePod.ts";
import { maxLabels } from "../../../../exporter/sources/kubernetes/keptLabels.ts";
import { projection } from "../wireSubjects.ts";
import { field, readPod } from "./podBytes.ts";

const resourceOf = (gpus: boolean): string => (gpus ? "nvidia.com/gpu" : "cpu");

function podBytes(labels: Readonly<Record<string, string>>, gpus: boolean): Buffer {
  const limits = field(1, field(1, resourceOf(gpus)), field(2, field(1, "2")));
  const entries = Object.entries(labels).map(([key, value]) => field(11, field(1, key), field(2, value)));
  const metadata = field(1, field(1, "p"), field(3, "ns"), field(5, "uid-p"), ...entries);
  return Buffer.concat([metadata, field(2, field(2, field(1, "c"), field(8, limits))), field(3, field(1, "Pending"))]);
}

test.each([
  ["as many as are kept", maxLabels, 8, false],
  ["one too many", maxLabels + 1, 8, true],
  ["too long together", 20, 250, true],
])("pods in protobuf with labels, %s, have those that they have in JSON", (_what, count, chars, isCut) => {
  const labels = Object.fromEntries(Array.from({ length: count }, (_, i) => [`label-${i}`, "v".repeat(chars)]));
  for (const gpus of [true, false]) {
    const containers = [{ name: "c", resources: { limits: { [resourceOf(gpus)]: "2" } } }];
    const metadata = { name: "p", namespace: "ns", uid: "uid-p", labels };
    const json = decodePod({ metadata, spec: { containers }, status: { phase: "Pending" } }, projection);
    const read = readPod(podBytes(labels, gpus));
    expect(json).toEqual({ ok: true, value: read });
    expect(read?.gpuPod?.labelsLeftOut).toBe(gpus && isCut ? true : undefined);
  }
});
