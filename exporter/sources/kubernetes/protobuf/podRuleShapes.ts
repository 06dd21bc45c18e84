/** Parts of a pod's spec that decide where it may go: field numbers as in `shapes.ts`. */
import { flag, inline, int32, message, messages, optionalText, shape, text, textMap, texts } from "./shape.ts";

/** A requirement of a node or label selector. */
export const requirement = shape({ 1: text("key"), 2: text("operator"), 3: texts("values") });

/** `NodeSelector` of core/v1. */
const nodeSelector = shape({
  1: messages(
    "nodeSelectorTerms",
    shape({ 1: messages("matchExpressions", requirement), 2: messages("matchFields", requirement) }),
  ),
});

/** `Toleration` of core/v1. */
export const tolerationShape = shape({ 1: text("key"), 2: text("operator"), 3: text("value"), 4: text("effect") });

const nodeAffinity = shape({ 1: message("requiredDuringSchedulingIgnoredDuringExecution", nodeSelector) });
/** `Volume` of core/v1, as far as it shows what is on the node's own disks. */
export const volumeShape = shape({
  1: text("name"),
  2: inline(
    shape({
      1: message("hostPath", shape({})),
      2: message("emptyDir", shape({ 1: text("medium") })),
      3: message("gcePersistentDisk", shape({})),
      4: message("awsElasticBlockStore", shape({})),
      8: message("iscsi", shape({})),
      10: message("persistentVolumeClaim", shape({ 1: text("claimName") })),
      11: message("rbd", shape({})),
      12: message("flexVolume", shape({})),
      13: message("cinder", shape({})),
      15: message("flocker", shape({})),
      17: message("fc", shape({})),
      20: message("vsphereVolume", shape({})),
      22: message("azureDisk", shape({})),
      23: message("photonPersistentDisk", shape({})),
      24: message("portworxVolume", shape({})),
      25: message("scaleIO", shape({})),
      27: message("storageos", shape({})),
      28: message("csi", shape({ 2: flag("readOnly") })),
      29: message("ephemeral", shape({})),
    }),
  ),
});

const labelSelector = shape({ 1: textMap("matchLabels"), 2: messages("matchExpressions", requirement) });

/** `PodAffinity` and `PodAntiAffinity` of core/v1: required terms. */
const podAffinity = shape({
  1: messages(
    "requiredDuringSchedulingIgnoredDuringExecution",
    shape({
      1: message("labelSelector", labelSelector),
      2: texts("namespaces"),
      3: text("topologyKey"),
      4: message("namespaceSelector", shape({})),
      5: texts("matchLabelKeys"),
      6: texts("mismatchLabelKeys"),
    }),
  ),
});

/** `Affinity` of core/v1. */
export const affinityShape = shape({
  1: message("nodeAffinity", nodeAffinity),
  2: message("podAffinity", podAffinity),
  3: message("podAntiAffinity", podAffinity),
});

/** `TopologySpreadConstraint` of core/v1. */
export const spreadConstraintShape = shape({
  1: int32("maxSkew"),
  2: text("topologyKey"),
  3: text("whenUnsatisfiable"),
  4: message("labelSelector", labelSelector),
  5: int32("minDomains"),
  6: optionalText("nodeAffinityPolicy"),
  7: optionalText("nodeTaintsPolicy"),
  8: texts("matchLabelKeys"),
});
