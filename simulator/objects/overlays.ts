import type { JsonValue } from "../../exporter/model/recommendation.ts";
import { amended } from "../api/write/change.ts";
import { mergeDifference, mergePatch } from "../api/write/mergePatch.ts";
import { at, isObject, itemsAt, textAt, toJson } from "../json.ts";
import type { KubeObject } from "./kubeObject.ts";

/** What people wrote into objects beyond what the simulated cluster makes of them: labels, annotations, fields that nobody acts on. */
export interface Overlays {
  /** The object with what was written into it. */
  over(shelf: string, object: KubeObject): KubeObject;
  /** Keeps how `wanted` differs from the object as the cluster makes it now. */
  keep(shelf: string, made: KubeObject, wanted: KubeObject): void;
  /** Forgets what was written into an object. */
  drop(shelf: string, object: KubeObject): void;
}

/** Fields that the cluster itself answers for. */
const cluster: ReadonlySet<string> = new Set(["taints", "replicas", "suspend", "active", "unschedulable", "nodeName"]);

/** No overlays yet. They end with their object. */
export function createOverlays(): Overlays {
  const patches = new Map<string, JsonValue>();
  const keyOf = (shelf: string, { metadata }: KubeObject): string => `${shelf}/${metadata.uid}`;
  return {
    over(shelf, object) {
      if (patches.size === 0) return object;
      const patch = patches.get(keyOf(shelf, object));
      return patch === undefined ? object : amended(object, mergePatch(toJson(object), patch));
    },
    keep(shelf, made, wanted) {
      const patch = mergeDifference(written(made), written(wanted));
      if (patch === undefined) patches.delete(keyOf(shelf, made));
      else patches.set(keyOf(shelf, made), patch);
    },
    drop(shelf, object) {
      patches.delete(keyOf(shelf, object));
    },
  };
}

/** What people may write. */
function written(object: KubeObject): JsonValue {
  const document = toJson(object);
  const spec = at(document, "spec");
  const own = isObject(spec) ? Object.entries(spec).filter(([key]) => !cluster.has(key)) : [];
  const taints = itemsAt(spec, "taints").filter((taint) => !textAt(taint, "key")?.startsWith("node.kubernetes.io/"));
  return {
    metadata: {
      labels: at(document, "metadata", "labels") ?? {},
      annotations: at(document, "metadata", "annotations") ?? {},
    },
    spec: { ...Object.fromEntries(own), ...(taints.length === 0 ? {} : { taints }) },
  };
}
