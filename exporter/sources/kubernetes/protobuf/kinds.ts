import { decodeNamespace, decodeNode, decodePodDisruptionBudget, decodePriorityClass } from "../decodeCluster.ts";
import { decodeResourceClaim, decodeResourceSlice } from "../decodeDevices.ts";
import { type DecodedPod, decodePod, type PodProjection } from "../decodePod.ts";
import { protobufWire, type ReadObject, readByShape } from "./protobufWire.ts";
import {
  namespaceShape,
  nodeShape,
  podDisruptionBudgetShape,
  podRestShape,
  podRowShape,
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
    pods: podWire(projection),
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

function podWire(projection: PodProjection) {
  return protobufWire({ kind: "Pod", readers: { v1: podReader(projection) } }, (value) => decodePod(value, projection));
}

/** Reads a pod; most of it only where it has GPUs, or is where exporters are. */
export function podReader(projection: PodProjection): ReadObject<DecodedPod> {
  const decode = (value: unknown, readRest: () => void) => decodePod(value, projection, readRest);
  return readByShape(podRowShape, decode, podRestShape);
}
