import { decodeNamespace, decodeNode, decodePodDisruptionBudget, decodePriorityClass } from "../decodeCluster.ts";
import { decodeResourceClaim, decodeResourceSlice } from "../decodeDevices.ts";
import type { Decoded } from "../decoded.ts";
import { type DecodedPod, decodePod, type PodProjection } from "../decodePod.ts";
import type { WireFormat } from "../wire.ts";
import { protobufWire, type ReadObject, readByShape } from "./protobufWire.ts";
import type { Shape } from "./shape.ts";
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

/**
 * The formats of the kinds that the API server has in protobuf. They are requested in protobuf, and read in JSON where the
 * answer is JSON.
 */
export function wireFormats(projection: PodProjection) {
  return {
    nodes: wireOf("Node", { v1: nodeShape }, decodeNode),
    pods: protobufWire({ kind: "Pod", readers: { v1: podReader(projection) } }, (value) =>
      decodePod(value, projection),
    ),
    namespaces: wireOf("Namespace", { v1: namespaceShape }, decodeNamespace),
    priorityClasses: wireOf("PriorityClass", { "scheduling.k8s.io/v1": priorityClassShape }, decodePriorityClass),
    podDisruptionBudgets: wireOf(
      "PodDisruptionBudget",
      { "policy/v1": podDisruptionBudgetShape },
      decodePodDisruptionBudget,
    ),
    resourceClaims: wireOf(
      "ResourceClaim",
      {
        "resource.k8s.io/v1": resourceClaimShape,
        "resource.k8s.io/v1beta2": resourceClaimShape,
        "resource.k8s.io/v1beta1": resourceClaimV1beta1Shape,
      },
      decodeResourceClaim,
    ),
    resourceSlices: wireOf(
      "ResourceSlice",
      {
        "resource.k8s.io/v1": resourceSliceShape,
        "resource.k8s.io/v1beta2": resourceSliceShape,
        "resource.k8s.io/v1beta1": resourceSliceV1beta1Shape,
      },
      decodeResourceSlice,
    ),
  } as const;
}

/** The format of a kind with the fields that are read of it, by the API version in its envelope. */
function wireOf<Row>(
  kind: string,
  shapes: Readonly<Record<string, Shape>>,
  decode: (value: unknown) => Decoded<Row>,
): WireFormat<Row> {
  const readers = Object.entries(shapes).map(([version, shape]) => [version, readByShape(shape, decode)] as const);
  return protobufWire({ kind, readers: Object.fromEntries(readers) }, decode);
}

/** Creates a reader of pods. Most fields are read only of pods that have GPUs, or that may be exporters. */
export function podReader(projection: PodProjection): ReadObject<DecodedPod> {
  const decode = (value: unknown, readRest: () => void) => decodePod(value, projection, readRest);
  return readByShape(podRowShape, decode, podRestShape);
}
