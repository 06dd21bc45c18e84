import type { Namespace } from "../../model/cluster.ts";
import { annotationsOfNamespaces } from "./annotations.ts";
import { type Decoded, decodeObject } from "./decoded.ts";
import { child } from "./fields.ts";
import { textMap, wholeLabels } from "./textMap.ts";

/** A Namespace (`v1`) as a model record. */
export function decodeNamespace(value: unknown): Decoded<Namespace> {
  return decodeObject("Namespace", value, (object, meta) => {
    const metadata = child(object, "metadata");
    return {
      name: meta.name,
      labels: textMap(metadata, "labels", wholeLabels),
      annotations: textMap(metadata, "annotations", annotationsOfNamespaces),
    };
  });
}
