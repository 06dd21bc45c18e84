import type { NativePodGroup, NativeWorkload } from "../../../model/queues/nativeGangs.ts";
import { conditions, nameText, optionalName, someItems } from "../boundedFields.ts";
import { controllerOf, type Decoded, decodeObject } from "../decoded.ts";
import { child, has, number, type Place } from "../fields.ts";

/** Kubernetes 1.37 calls the condition of a group that was placed once so, 1.36 as the second. */
const scheduledConditions: ReadonlySet<string> = new Set(["PodGroupInitiallyScheduled", "PodGroupScheduled"]);

/**
 * A PodGroup of Kubernetes (`scheduling.k8s.io`) as a model record. Sources: k8s.io/api v0.37.2 `scheduling/v1beta1` and
 * `v1alpha3`, v0.36.3 `scheduling/v1alpha2`, which names its Workload in another field.
 */
export function decodeNativePodGroup(value: unknown): Decoded<NativePodGroup> {
  return decodeObject("PodGroup", value, (object, meta) => {
    const spec = child(object, "spec");
    const template = child(child(spec, "podGroupTemplateRef"), "workload");
    const placed = conditions(child(object, "status"), (type) => scheduledConditions.has(type));
    return {
      ...meta,
      minCount: minCount(child(spec, "schedulingPolicy")),
      workload: optionalName(child(spec, "workloadRef"), "workloadName") ?? optionalName(template, "workloadName"),
      owner: controllerOf(object),
      wasScheduled: placed.some(({ isTrue }) => isTrue),
      isEnding: isEnding(object),
    };
  });
}

/** The API server accepts no more groups in one Workload. */
const maxGroups = 8;

/**
 * A Workload of Kubernetes (`scheduling.k8s.io`) as a model record. Sources: k8s.io/api v0.37.2 `scheduling/v1beta1`; v0.35.3
 * `scheduling/v1alpha1`, whose groups are gangs and not templates.
 */
export function decodeNativeWorkload(value: unknown): Decoded<NativeWorkload> {
  return decodeObject("Workload", value, (object, meta) => {
    const spec = child(object, "spec");
    const controller = child(spec, "controllerRef");
    return {
      ...meta,
      controller: has(spec, "controllerRef")
        ? {
            apiGroup: nameText(controller, "apiGroup"),
            kind: nameText(controller, "kind"),
            name: nameText(controller, "name"),
          }
        : null,
      groups: someItems(spec, "podGroups", maxGroups).map((group) => ({
        name: nameText(group, "name"),
        minCount: minCount(child(group, "policy")),
      })),
      isEnding: isEnding(object),
    };
  });
}

/** With the policy `basic`, and without any, nothing starts together. */
function minCount(policy: Place): number | null {
  return has(policy, "gang") ? number(child(policy, "gang"), "minCount") : null;
}

const isEnding = (object: Place): boolean => has(child(object, "metadata"), "deletionTimestamp");
