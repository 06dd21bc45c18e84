/**
 * Field numbers of the messages that are read, from `generated.proto` of k8s.io/api v0.36.3 and k8s.io/apimachinery v0.36.3
 * (Kubernetes 1.36). Numbers never change their meaning within a version of a group; new ones are skipped.
 */

import { annotationsOfNamespaces, annotationsOfNodes, annotationsOfPods } from "../boundedFields.ts";
import { memorySliceOf } from "../decodeDevices.ts";
import { affinityShape, requirement, spreadConstraintShape, tolerationShape, volumeShape } from "./podRuleShapes.ts";
import {
  flag,
  int32,
  int64,
  int64OrAbsent,
  message,
  messageMap,
  messages,
  optionalText,
  ownText,
  quantity,
  quantityMap,
  type Shape,
  shape,
  text,
  textMap,
  time,
} from "./shape.ts";

/** `ObjectMeta` of meta/v1, as far as every kind needs it. */
const dated = { 1: ownText("name"), 3: text("namespace"), 5: ownText("uid"), 8: time("creationTimestamp") };

/** `Status` of meta/v1. */
export const statusShape = shape({ 3: text("message"), 6: int32("code") });

const ownerReference = shape({
  1: text("kind"),
  3: text("name"),
  4: text("uid"),
  5: text("apiVersion"),
  6: flag("controller"),
});

const taint = shape({ 1: text("key"), 2: text("value"), 3: text("effect") });

const condition = shape({ 1: text("type"), 2: text("status"), 4: time("lastTransitionTime") });
const podCondition = shape({
  1: text("type"),
  2: text("status"),
  4: time("lastTransitionTime"),
  5: text("reason"),
  6: text("message"),
});
const podConditions: ReadonlySet<string> = new Set(["Ready", "PodScheduled", "DisruptionTarget"]);

const requirements = shape({ 1: quantityMap("limits"), 2: quantityMap("requests") });
const container = shape({
  1: text("name"),
  6: messages(
    "ports",
    shape({ 1: text("name"), 2: int32("hostPort"), 3: int32("containerPort"), 4: text("protocol"), 5: text("hostIP") }),
  ),
  8: message("resources", requirements),
  11: message("readinessProbe", shape({})),
  24: optionalText("restartPolicy"),
});
const containerState = shape({
  2: message("running", shape({})),
  3: message("terminated", shape({ 1: int32("exitCode"), 5: time("startedAt"), 6: time("finishedAt") })),
});
const containerStatus = shape({
  1: text("name"),
  2: message("state", containerState),
  3: message("lastState", containerState),
  14: messages(
    "allocatedResourcesStatus",
    shape({ 1: text("name"), 2: messages("resources", shape({ 1: text("resourceID"), 2: text("health") })) }),
  ),
});

/**
 * `Pod` of core/v1, with the fields that are read of every pod: what it requests, where it is, its gang, and which pods it keeps away.
 */
export const podRowShape = shape({
  1: message(
    "metadata",
    shape({ ...dated, 11: textMap("labels"), 12: textMap("annotations", annotationsOfPods.keep) }),
  ),
  2: message(
    "spec",
    shape({
      2: messages("containers", container),
      10: text("nodeName"),
      18: message("affinity", affinityShape),
      20: messages("initContainers", container),
      32: quantityMap("overhead"),
      39: messages("resourceClaims", shape({ 1: text("name"), 3: optionalText("resourceClaimName") })),
      40: message("resources", requirements),
      42: message("workloadRef", shape({ 1: text("name"), 2: text("podGroup"), 3: text("podGroupReplicaKey") })),
      43: message("schedulingGroup", shape({ 1: text("podGroupName") })),
    }),
  ),
  3: message(
    "status",
    shape({ 1: text("phase"), 18: message("extendedResourceClaimStatus", shape({ 2: text("resourceClaimName") })) }),
  ),
});

/** The other fields, which are read of a pod with GPUs and of an exporter. */
export const podRestShape = shape({
  1: message("metadata", shape({ 9: time("deletionTimestamp"), 13: messages("ownerReferences", ownerReference) })),
  2: message(
    "spec",
    shape({
      1: messages("volumes", volumeShape),
      7: textMap("nodeSelector"),
      19: text("schedulerName"),
      22: messages("tolerations", tolerationShape),
      24: text("priorityClassName"),
      25: int32("priority"),
      33: messages("topologySpreadConstraints", spreadConstraintShape),
      38: messages("schedulingGates", shape({ 1: text("name") })),
    }),
  ),
  3: message(
    "status",
    shape({
      2: messages("conditions", podCondition, (type) => podConditions.has(type)),
      6: text("podIP"),
      7: time("startTime"),
      8: messages("containerStatuses", containerStatus),
      10: messages("initContainerStatuses", containerStatus),
      15: messages("resourceClaimStatuses", shape({ 1: text("name"), 2: optionalText("resourceClaimName") })),
    }),
  ),
});

/** `Node` of core/v1. */
export const nodeShape = shape({
  1: message(
    "metadata",
    shape({ ...dated, 11: textMap("labels"), 12: textMap("annotations", annotationsOfNodes.keep) }),
  ),
  2: message("spec", shape({ 3: text("providerID"), 4: flag("unschedulable"), 5: messages("taints", taint) })),
  3: message(
    "status",
    shape({
      1: quantityMap("capacity"),
      2: quantityMap("allocatable"),
      4: messages("conditions", condition, (type) => type === "Ready"),
      7: message("nodeInfo", shape({ 3: text("bootID") })),
    }),
  ),
});

/** `Namespace` of core/v1. */
export const namespaceShape = shape({
  1: message(
    "metadata",
    shape({ ...dated, 11: textMap("labels"), 12: textMap("annotations", annotationsOfNamespaces.keep) }),
  ),
});

/** `PriorityClass` of scheduling/v1. */
export const priorityClassShape = shape({
  1: message("metadata", shape(dated)),
  2: int32("value"),
  3: flag("globalDefault"),
});

/** `PodDisruptionBudget` of policy/v1. */
export const podDisruptionBudgetShape = shape({
  1: message("metadata", shape(dated)),
  2: message(
    "spec",
    shape({
      2: message("selector", shape({ 1: textMap("matchLabels"), 2: messages("matchExpressions", requirement) })),
    }),
  ),
  3: message("status", shape({ 1: int64OrAbsent("observedGeneration"), 3: int32("disruptionsAllowed") })),
});

/**
 * The request of one of several alternatives, which is the same in all versions; resource/v1beta1 has the one device of a
 * request in this form, too.
 */
const deviceAlternative = {
  2: text("deviceClassName"),
  4: text("allocationMode"),
  5: int64OrAbsent("count"),
} as const;

const capacityNeeds = message("capacity", shape({ 1: quantityMap("requests") }));

/** `ResourceClaim` of resource/v1 and v1beta2. */
export const resourceClaimShape = claimShape(
  shape({
    2: message(
      "exactly",
      shape({
        1: text("deviceClassName"),
        3: text("allocationMode"),
        4: int64OrAbsent("count"),
        5: flag("adminAccess"),
        7: capacityNeeds,
      }),
    ),
    3: messages("firstAvailable", shape({ ...deviceAlternative, 7: capacityNeeds })),
  }),
);

/** `ResourceClaim` of resource/v1beta1. */
export const resourceClaimV1beta1Shape = claimShape(
  shape({
    ...deviceAlternative,
    6: flag("adminAccess"),
    7: messages("firstAvailable", shape({ ...deviceAlternative, 8: capacityNeeds })),
    9: capacityNeeds,
  }),
);

function claimShape(request: Shape): Shape {
  return shape({
    1: message("metadata", shape(dated)),
    2: message("spec", shape({ 1: message("devices", shape({ 1: messages("requests", request) })) })),
    3: message(
      "status",
      shape({
        1: message(
          "allocation",
          shape({
            1: message("devices", shape({ 1: messages("results", allocatedDevice()) })),
            3: message(
              "nodeSelector",
              shape({ 1: messages("nodeSelectorTerms", shape({ 2: messages("matchFields", requirement) })) }),
            ),
          }),
        ),
        2: messages(
          "reservedFor",
          shape({ 1: text("apiGroup"), 3: text("resource"), 4: text("name"), 5: text("uid") }),
        ),
      }),
    ),
  });
}

function allocatedDevice(): Shape {
  return shape({
    1: text("request"),
    2: text("driver"),
    3: text("pool"),
    4: text("device"),
    5: flag("adminAccess"),
    9: optionalText("shareID"),
    10: quantityMap("consumedCapacity"),
  });
}

const attribute = shape({ 2: int64("int"), 3: flag("bool"), 4: optionalText("string"), 5: optionalText("version") });
const capacity = shape({ 1: quantity("value") });
const consumedCounters = shape({ 2: messageMap("counters", capacity, (name) => memorySliceOf(name) !== null) });
const resourcePool = shape({ 1: text("name"), 2: int64("generation"), 3: int64("resourceSliceCount") });

/** `ResourceSlice` of resource/v1 and v1beta2. */
export const resourceSliceShape = sliceShape(
  optionalText("nodeName"),
  shape({
    1: text("name"),
    2: messageMap("attributes", attribute),
    3: messageMap("capacity", capacity),
    4: messages("consumesCounters", consumedCounters),
    8: messages("taints", taint),
  }),
);

/** `ResourceSlice` of resource/v1beta1, where the fields of devices are in a part of their own with other numbers. */
export const resourceSliceV1beta1Shape = sliceShape(
  text("nodeName"),
  shape({
    1: text("name"),
    2: message(
      "basic",
      shape({
        1: messageMap("attributes", attribute),
        2: messageMap("capacity", capacity),
        3: messages("consumesCounters", consumedCounters),
        7: messages("taints", taint),
      }),
    ),
  }),
);

function sliceShape(nodeName: ReturnType<typeof text>, device: Shape): Shape {
  return shape({
    1: message("metadata", shape(dated)),
    2: message(
      "spec",
      shape({ 1: text("driver"), 2: message("pool", resourcePool), 3: nodeName, 6: messages("devices", device) }),
    ),
  });
}
