import type { telemetryMetrics } from "../../catalogue/telemetry.ts";
import { restartReasons } from "../../model/restartReasons.ts";
import type { Producers } from "../family.ts";

type Names = Extract<keyof typeof telemetryMetrics, `fairlead_kubernetes_${string}`>;

/** How the Kubernetes API is read, kind by kind: faults that heal within a cycle are seen here. */
export const kubernetesReadsProducers: Producers<Names> = {
  fairlead_kubernetes_lists_total: ({ health: { cluster, kubernetesReads } }) =>
    (kubernetesReads ?? []).map(({ resource, lists }) => ({ labels: { cluster, resource }, value: lists })),
  fairlead_kubernetes_watches_total: ({ health: { cluster, kubernetesReads } }) =>
    (kubernetesReads ?? []).map(({ resource, watches }) => ({ labels: { cluster, resource }, value: watches })),
  fairlead_kubernetes_restarts_total: ({ health: { cluster, kubernetesReads } }) =>
    (kubernetesReads ?? []).flatMap(({ resource, restarts }) =>
      restartReasons.map((reason) => ({ labels: { cluster, resource, reason }, value: restarts[reason] })),
    ),
  fairlead_kubernetes_answer_seconds: ({ health: { cluster, kubernetesReads } }) =>
    (kubernetesReads ?? []).flatMap(({ resource, answerSeconds }) =>
      answerSeconds === null ? [] : [{ labels: { cluster, resource }, value: answerSeconds }],
    ),
};
