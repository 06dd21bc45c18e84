import { readFileSync } from "node:fs";
import {
  decodeNamespace,
  decodeNode,
  decodePodDisruptionBudget,
  decodePriorityClass,
} from "../../../exporter/sources/kubernetes/decodeCluster.ts";
import { decodeResourceClaim, decodeResourceSlice } from "../../../exporter/sources/kubernetes/decodeDevices.ts";
import { decodePod, type PodProjection } from "../../../exporter/sources/kubernetes/decodePod.ts";
import { jsonWire } from "../../../exporter/sources/kubernetes/jsonWire.ts";
import { wireFormats } from "../../../exporter/sources/kubernetes/protobuf/kinds.ts";
import type { WireFormat } from "../../../exporter/sources/kubernetes/wire.ts";

/** With one selector for exporters and one resource name that only configuration calls a GPU. */
export const projection: PodProjection = {
  gpuResources: new Set(["example.com/gpu"]),
  exporters: [{ namespaces: ["gpu-operator"], matchLabels: { app: "nvidia-dcgm-exporter" } }],
};

/** The formats of a kind: JSON alone, and protobuf with JSON behind it. */
export interface Formats {
  readonly json: WireFormat<unknown>;
  readonly protobuf: WireFormat<unknown>;
}

const protobuf = wireFormats(projection);

/** Every kind that is listed and watched. */
export const formats = {
  nodes: { json: jsonWire(decodeNode), protobuf: protobuf.nodes },
  pods: { json: jsonWire((value) => decodePod(value, projection)), protobuf: protobuf.pods },
  namespaces: { json: jsonWire(decodeNamespace), protobuf: protobuf.namespaces },
  priorityClasses: { json: jsonWire(decodePriorityClass), protobuf: protobuf.priorityClasses },
  podDisruptionBudgets: { json: jsonWire(decodePodDisruptionBudget), protobuf: protobuf.podDisruptionBudgets },
  resourceClaims: { json: jsonWire(decodeResourceClaim), protobuf: protobuf.resourceClaims },
  resourceSlices: { json: jsonWire(decodeResourceSlice), protobuf: protobuf.resourceSlices },
} as const satisfies Readonly<Record<string, Formats>>;

export type FormatName = keyof Formats;
export const formatNames = ["json", "protobuf"] as const satisfies readonly FormatName[];

/** What an API server calls its answers. */
export const contentTypes: Readonly<Record<FormatName, string>> = {
  json: "application/json",
  protobuf: "application/vnd.kubernetes.protobuf",
};

const endings: Readonly<Record<FormatName, string>> = { json: "json", protobuf: "pb" };

/** An answer of a real API server, recorded in both formats (test/captured/SOURCES.md). */
export function captured(name: string, format: FormatName): Buffer {
  return readFileSync(new URL(`../../captured/kubernetes-wire/${name}.${endings[format]}`, import.meta.url));
}
