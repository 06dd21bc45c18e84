import { decodeNamespace } from "../decodeNamespace.ts";
import { decodeNode } from "../decodeNode.ts";
import { type DecodedPod, decodePod, type PodProjection } from "../decodePod.ts";
import { decodePodDisruptionBudget } from "../decodePodDisruptionBudget.ts";
import { decodePriorityClass } from "../decodePriorityClass.ts";
import { decodeResourceClaim } from "../decodeResourceClaim.ts";
import { decodeResourceSlice } from "../decodeResourceSlice.ts";
import { createGpuPodReader } from "./gpuPod.ts";
import { createPlainPodReader } from "./plainPod.ts";
import { type ProtobufKind, protobufWire, type ReadObject, readByShape } from "./protobufWire.ts";
import {
  namespaceShape,
  nodeShape,
  podDisruptionBudgetShape,
  podShape,
  priorityClassShape,
  resourceClaimShape,
  resourceClaimV1beta1Shape,
  resourceSliceShape,
  resourceSliceV1beta1Shape,
} from "./shapes.ts";

/** How each kind that is listed and watched is read from the API: in protobuf, and in JSON where that is the answer. */
export function wireFormats(projection: PodProjection) {
  return {
    nodes: protobufWire(protobufKinds.nodes, decodeNode),
    pods: protobufWire(podKind(projection), (value) => decodePod(value, projection)),
    namespaces: protobufWire(protobufKinds.namespaces, decodeNamespace),
    priorityClasses: protobufWire(protobufKinds.priorityClasses, decodePriorityClass),
    podDisruptionBudgets: protobufWire(protobufKinds.podDisruptionBudgets, decodePodDisruptionBudget),
    resourceClaims: protobufWire(protobufKinds.resourceClaims, decodeResourceClaim),
    resourceSlices: protobufWire(protobufKinds.resourceSlices, decodeResourceSlice),
  } as const;
}

const readClaim = readByShape(resourceClaimShape, decodeResourceClaim);
const readSlice = readByShape(resourceSliceShape, decodeResourceSlice);

const protobufKinds = {
  nodes: { kind: "Node", readers: { v1: readByShape(nodeShape, decodeNode) } },
  namespaces: { kind: "Namespace", readers: { v1: readByShape(namespaceShape, decodeNamespace) } },
  priorityClasses: {
    kind: "PriorityClass",
    readers: { "scheduling.k8s.io/v1": readByShape(priorityClassShape, decodePriorityClass) },
  },
  podDisruptionBudgets: {
    kind: "PodDisruptionBudget",
    readers: { "policy/v1": readByShape(podDisruptionBudgetShape, decodePodDisruptionBudget) },
  },
  resourceClaims: {
    kind: "ResourceClaim",
    readers: {
      "resource.k8s.io/v1": readClaim,
      "resource.k8s.io/v1beta2": readClaim,
      "resource.k8s.io/v1beta1": readByShape(resourceClaimV1beta1Shape, decodeResourceClaim),
    },
  },
  resourceSlices: {
    kind: "ResourceSlice",
    readers: {
      "resource.k8s.io/v1": readSlice,
      "resource.k8s.io/v1beta2": readSlice,
      "resource.k8s.io/v1beta1": readByShape(resourceSliceV1beta1Shape, decodeResourceSlice),
    },
  },
} as const;

/** Pods: a plain one down to its row in one pass, one with GPUs into its record, an odd one in whole. */
function podKind(projection: PodProjection): ProtobufKind<DecodedPod> {
  const readPlain = createPlainPodReader(projection);
  const readWithGpus = createGpuPodReader(projection);
  const readWhole = readByShape(podShape, (value) => decodePod(value, projection));
  // Each way stops where it finds what it cannot tell; then all is read from the beginning by the next.
  const read: ReadObject<DecodedPod> = (cursor, end) => {
    const start = cursor.position;
    const row = readPlain(cursor, end);
    if (!cursor.failed && row !== null) {
      cursor.position = end;
      const value = { pod: row, gpuPod: null, exporterPod: null, preemption: null };
      return { uid: row.uid, decoded: { ok: true, value } };
    }
    if (!cursor.failed) cursor.position = start;
    const withGpus = readWithGpus(cursor, end);
    if (!cursor.failed && withGpus !== null) {
      cursor.position = end;
      return { uid: withGpus.pod.uid, decoded: { ok: true, value: withGpus } };
    }
    if (!cursor.failed) cursor.position = start;
    return readWhole(cursor, end);
  };
  return { kind: "Pod", readers: { v1: read } };
}
