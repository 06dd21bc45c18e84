import { describe, expect, it } from "vitest";
import { ownAnnotations } from "../../../exporter/model/wellKnown.ts";
import { decodeOwner } from "../../../exporter/sources/kubernetes/decodeOwner.ts";
import { decodePod } from "../../../exporter/sources/kubernetes/decodePod.ts";
import { field, readPod } from "./protobuf/podBytes.ts";

const annotations = {
  [ownAnnotations.progressUnits]: "7",
  "gpu-fraction": "0.5",
  "example.dev/other": "x",
};
const metadata = { name: "p", namespace: "ns", uid: "u", annotations };
const kept = { [ownAnnotations.progressUnits]: "7", "gpu-fraction": "0.5" };

/** `ObjectMeta` as protobuf. */
const metadataBytes = Buffer.concat([
  field(1, metadata.name),
  field(3, metadata.namespace),
  field(5, metadata.uid),
  ...Object.entries(annotations).map(([key, value]) => field(12, Buffer.concat([field(1, key), field(2, value)]))),
]);

function annotationsOf(pod: unknown): object {
  const decoded = decodePod(pod);
  return { ...(decoded.ok ? decoded.value.gpuPod?.annotations : undefined) };
}

describe("the annotation that says progress is kept", () => {
  it("of a pod in JSON", () => {
    expect(annotationsOf({ metadata })).toEqual(kept);
  });

  it("of a pod in protobuf", () => {
    expect({ ...readPod(field(1, metadataBytes))?.gpuPod?.annotations }).toEqual(kept);
  });

  it("of an owner", () => {
    const decoded = decodeOwner({ kind: "PartialObjectMetadata", metadata }, { apiVersion: "batch/v1", kind: "Job" });
    expect({ ...(decoded.ok ? decoded.value.annotations : {}) }).toEqual(kept);
  });
});
