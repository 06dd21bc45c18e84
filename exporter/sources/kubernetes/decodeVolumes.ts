import { type PersistentVolume, type PersistentVolumeClaim, volumeTopologyLabels } from "../../model/volumes.ts";
import { optionalName, textMap, wholeLabels } from "./boundedFields.ts";
import { type Decoded, decodeObject } from "./decoded.ts";
import { child, items, textItems } from "./fields.ts";
import { nodeSelectorTerms } from "./nodeRules.ts";

/** Access modes with which a volume is attached to several nodes at once. */
const forSeveral: ReadonlySet<string> = new Set(["ReadWriteMany", "ReadOnlyMany"]);

/** A PersistentVolumeClaim (`v1`) as a model record: which volume it has, and whether only one node can attach it. */
export function decodePersistentVolumeClaim(value: unknown): Decoded<PersistentVolumeClaim> {
  return decodeObject("PersistentVolumeClaim", value, (object, { namespace, name }) => {
    const spec = child(object, "spec");
    return {
      namespace,
      name,
      volumeName: optionalName(spec, "volumeName"),
      isForOneNode: !textItems(spec, "accessModes").some((mode) => forSeveral.has(mode)),
    };
  });
}

const topologyLabels: ReadonlySet<string> = new Set(volumeTopologyLabels);
const topologyOnly = { ...wholeLabels, keep: (key: string) => topologyLabels.has(key) };

/** A PersistentVolume (`v1`) as a model record: which nodes can attach it. */
export function decodePersistentVolume(value: unknown): Decoded<PersistentVolume> {
  return decodeObject("PersistentVolume", value, (object, { name }) => {
    const required = child(child(child(object, "spec"), "nodeAffinity"), "required");
    return {
      name,
      nodeAffinity: nodeSelectorTerms(required),
      namesNodes: items(required, "nodeSelectorTerms").some((term) => items(term, "matchFields").length > 0),
      topology: textMap(child(object, "metadata"), "labels", topologyOnly),
    };
  });
}
