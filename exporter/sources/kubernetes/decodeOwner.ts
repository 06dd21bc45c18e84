import type { OwnerObject } from "../../model/cluster.ts";
import { annotationsOfPods } from "./annotations.ts";
import { controllerOf, type Decoded, decodeObject } from "./decoded.ts";
import { child, text } from "./fields.ts";
import { gangSize } from "./gangSize.ts";
import { isBatchJob, jobLimits } from "./jobLimits.ts";
import { keptLabels } from "./ownLabels.ts";
import { textMap } from "./textMap.ts";

/**
 * The metadata of an owner as a model record, and of what comes whole the limits of a batch/v1 Job and the size of a gang. A metadata-only answer
 * calls itself PartialObjectMetadata, so the caller says what was asked for; for whole objects from files leave `asked` out.
 */
export function decodeOwner(
  value: unknown,
  asked: { readonly apiVersion: string; readonly kind: string } | null = null,
): Decoded<OwnerObject> {
  return decodeObject(asked?.kind ?? "Owner", value, (object, meta) => {
    const metadata = child(object, "metadata");
    const apiVersion = asked?.apiVersion ?? text(object, "apiVersion") ?? "";
    const kind = asked?.kind ?? text(object, "kind") ?? "";
    // A specification that is not understood says nothing of gangs: who owns a pod must stay known.
    const gangPods = gangSize({ apiVersion, kind }, { ...object, faults: [] });
    return {
      apiVersion,
      kind,
      namespace: meta.namespace,
      name: meta.name,
      uid: meta.uid,
      labels: keptLabels(metadata).labels,
      annotations: textMap(metadata, "annotations", annotationsOfPods),
      owner: controllerOf(object),
      createdAt: meta.createdAt,
      job: isBatchJob({ apiVersion, kind }) ? jobLimits(object) : null,
      ...(gangPods === null ? {} : { gangPods }),
    };
  });
}
