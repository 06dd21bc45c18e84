import type {
  HorizontalPodAutoscaler,
  ScaledObject,
  ScaleTarget,
  VerticalPodAutoscaler,
} from "../../model/autoscalers.ts";
import { nameText, optionalName, someItems } from "./boundedFields.ts";
import { controllerOf, type Decoded, decodeObject } from "./decoded.ts";
import { child, number, type Place, text } from "./fields.ts";

/** A HorizontalPodAutoscaler of `autoscaling/v2`; the API server fills in `minReplicas`. */
export function decodeHorizontalPodAutoscaler(value: unknown): Decoded<HorizontalPodAutoscaler> {
  return decodeObject("HorizontalPodAutoscaler", value, (object, { namespace, name }) => {
    const spec = child(object, "spec");
    return {
      namespace,
      name,
      target: targetOf(child(spec, "scaleTargetRef")),
      minReplicas: number(spec, "minReplicas") ?? 1,
      maxReplicas: number(spec, "maxReplicas"),
      owner: controllerOf(object),
    };
  });
}

/** Triggers that measure running pods: they start no pod where there is none (keda.sh/docs, scalers "CPU" and "Memory"). */
const triggersOfRunningPods: ReadonlySet<string> = new Set(["cpu", "memory"]);

/** A ScaledObject of KEDA (`keda.sh/v1alpha1`); without a kind it scales a Deployment. */
export function decodeScaledObject(value: unknown): Decoded<ScaledObject> {
  return decodeObject("ScaledObject", value, (object, { namespace, name }) => {
    const spec = child(object, "spec");
    const target = child(spec, "scaleTargetRef");
    const waking = someItems(spec, "triggers").filter(
      (trigger) => !triggersOfRunningPods.has(text(trigger, "type") ?? ""),
    );
    return {
      namespace,
      name,
      target: {
        apiVersion: optionalName(target, "apiVersion") ?? "apps/v1",
        kind: optionalName(target, "kind") ?? "Deployment",
        name: nameText(target, "name"),
      },
      minReplicas: number(spec, "minReplicaCount") ?? 0,
      idleReplicas: number(spec, "idleReplicaCount"),
      maxReplicas: number(spec, "maxReplicaCount"),
      wakingTriggers: waking.length,
    };
  });
}

/** A VerticalPodAutoscaler of `autoscaling.k8s.io/v1`. */
export function decodeVerticalPodAutoscaler(value: unknown): Decoded<VerticalPodAutoscaler> {
  return decodeObject("VerticalPodAutoscaler", value, (object, { namespace, name }) => {
    const spec = child(object, "spec");
    return {
      namespace,
      name,
      target: targetOf(child(spec, "targetRef")),
      updateMode: optionalName(child(spec, "updatePolicy"), "updateMode") ?? "Auto",
    };
  });
}

function targetOf(reference: Place): ScaleTarget {
  return {
    apiVersion: nameText(reference, "apiVersion"),
    kind: nameText(reference, "kind"),
    name: nameText(reference, "name"),
  };
}
