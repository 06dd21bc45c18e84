import { isInDomain } from "../../join/queues/domainOfNode.ts";
import type { QuotaDomain } from "../../join/queues/queueing.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { ObjectRevision } from "../../model/queues/objectRevision.ts";
import type { AdviceStep } from "../../model/recommendation.ts";
import { gpuResources } from "../../model/wellKnown.ts";
import { groupVersion, type ResourceRef } from "./resourceRef.ts";
import { jsonPatch, type PatchOperation, stepOf } from "./step.ts";

/** New amounts of a queue, in physical GPUs. */
export interface QuotaChange {
  readonly guaranteed?: number;
  readonly limit?: number;
}

/** The object of a queue, and the state in which it was read. */
export interface QueueTarget {
  readonly ref: ResourceRef;
  /** The name of the object in sentences: `ClusterQueue ads`. */
  readonly subject: string;
  readonly revision: ObjectRevision | null;
}

/** The target for a cluster-wide object of a queue system. */
export function queueTarget(
  kind: string,
  object: { readonly name: string; readonly revision?: ObjectRevision | null },
  fallback: { readonly apiVersion: string; readonly resource: string },
): QueueTarget {
  const revision = object.revision ?? null;
  const { resource } = fallback;
  const ref = {
    ...groupVersion(revision?.apiVersion ?? fallback.apiVersion),
    resource,
    namespace: null,
    name: object.name,
  };
  return { ref, subject: `${kind} ${object.name}`, revision };
}

/**
 * A patch that is applied only to the object and the state of its spec that were read: every change of the spec, by whomever,
 * changes `metadata.generation`. `before`: tests of the old values, which are used if no generation is known.
 */
export function guardedPatch(
  { ref, subject, revision }: QueueTarget,
  title: string,
  operations: readonly PatchOperation[],
  before: readonly PatchOperation[],
  more = "",
): AdviceStep | null {
  const tests: readonly PatchOperation[] =
    revision === null
      ? before
      : [
          { op: "test", at: ["metadata", "uid"], value: revision.uid },
          ...(revision.generation === null
            ? before
            : [{ op: "test", at: ["metadata", "generation"], value: revision.generation } as const]),
        ];
  const said =
    revision !== null && revision.generation !== null
      ? `${subject} has not changed since it was read (its uid and generation).`
      : `${subject} still has the values that were read${tests.length === 0 ? ": the request cannot check it" : ""}.`;
  return stepOf(jsonPatch(ref, [...tests, ...operations]), {
    title,
    precondition: more === "" ? said : `${said} ${more}`,
  });
}

/** The operation that sets a member of an object, which must exist. */
export const setAt = (at: readonly (string | number)[], value: string | number | boolean): PatchOperation => ({
  op: "add",
  at,
  value,
});

/** An amount as a whole number of GPUs; `null` if it is not a whole number. */
export function wholeGpus(amount: number): number | null {
  const whole = Math.round(amount);
  return Number.isFinite(amount) && whole >= 0 && Math.abs(whole - amount) <= gpuTolerance ? whole : null;
}

/** Resources that count whole GPUs, where GPUs are neither partitioned nor shared. */
const physicalGpus = new Set([
  gpuResources.nvidia,
  "amd.com/gpu",
  "gpu.intel.com/i915",
  "gpu.intel.com/xe",
  "habana.ai/gaudi",
]);

/** Whether a unit of a resource is one physical GPU on every node of a domain: only then can a quota be expressed in it. */
export function isWholeGpu({ devices, unpartitioned }: Snapshot, domain: QuotaDomain, resource: string): boolean {
  if (!physicalGpus.has(resource) || unpartitioned.some(({ pool, node }) => isInDomain(domain, pool, node)))
    return false;
  return devices.every(
    ({ pool, node, weight, slots }) => !isInDomain(domain, pool, node) || (weight === 1 && slots === 1),
  );
}
