import type { Workload } from "../cluster/world.ts";
import { uuidFrom } from "../random.ts";
import { type KubeObject, timestamp } from "./kubeObject.ts";

/**
 * For each budget of a workload: how many pods must stay, by the first size of the workload. Scaling does not change budgets.
 */
const firstSizes = new WeakMap<Workload, readonly number[]>();

function minimaOf(workload: Workload): readonly number[] {
  const known = firstSizes.get(workload);
  if (known !== undefined) return known;
  const { kind, pods, disruptionBudgets: given } = workload.spec;
  // In a Deployment with several replicas, one may be missing.
  const minima = given ?? (kind === "Deployment" && pods > 1 ? [pods - 1] : []);
  firstSizes.set(workload, minima);
  return minima;
}

/** The PodDisruptionBudgets of a workload, now. */
export function disruptionBudgets(workload: Workload): readonly KubeObject[] {
  return minimaOf(workload).map((minimum, index) => {
    const healthy = workload.pods.filter((pod) => pod.phase === "Running").length;
    const name = index === 0 ? workload.name : `${workload.name}-${index + 1}`;
    return {
      metadata: {
        name,
        namespace: workload.spec.namespace,
        uid: uuidFrom(`pdb/${workload.uid}${index === 0 ? "" : `/${index}`}`),
        creationTimestamp: timestamp(workload.createdAt),
      },
      spec: { minAvailable: minimum, selector: { matchLabels: { app: workload.name } } },
      status: {
        // This means that the disruption controller has seen the present budget.
        observedGeneration: 1,
        currentHealthy: healthy,
        desiredHealthy: minimum,
        expectedPods: workload.spec.pods,
        disruptionsAllowed: Math.max(0, healthy - minimum),
      },
    };
  });
}
