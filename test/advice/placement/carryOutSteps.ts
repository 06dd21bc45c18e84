import { expect } from "vitest";
import type { Recommendation } from "../../../exporter/model/recommendation.ts";

/** Someone who carries out what is advised, one step after the other. */
export interface Hands {
  setUnschedulable(node: string, isUnschedulable: boolean): Promise<void>;
  /** Takes a pod off its node, and waits until the one that is made for it has a place: its node, `null` without any. */
  replace(namespace: string, pod: string): Promise<string | null>;
}

/** A pod that was moved: its node before and after. */
export interface Carried {
  readonly pod: string;
  readonly to: string | null;
}

const nodePath = /^\/api\/v1\/nodes\/([^/]+)$/;
const evictionPath = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/eviction$/;

/** Carries out the requests of a plan that moves pods, in their order; one that it does not know fails the test. */
export async function carryOutSteps({ steps, title }: Recommendation, hands: Hands): Promise<readonly Carried[]> {
  const carried: Carried[] = [];
  for (const { request } of steps) {
    const [, node] = nodePath.exec(request.path) ?? [];
    const [, namespace, pod] = evictionPath.exec(request.path) ?? [];
    if (node !== undefined) await hands.setUnschedulable(node, JSON.stringify(request.body).includes("true"));
    else if (namespace !== undefined && pod !== undefined)
      carried.push({ pod, to: await hands.replace(namespace, pod) });
    else expect.fail(`${title}: ${request.verb} ${request.path}`);
  }
  return carried;
}
