import type { Analysis } from "../../analysis/analysis.ts";
import type { PodView } from "../../join/snapshot.ts";
import { duration, gpus } from "../terminal/columns.ts";
import type { Fact } from "./schema.ts";

/** How a pod's numbers, and what it belongs to, came about. */
export function podFacts(pod: PodView, index: number, { accountingEntries, snapshot }: Analysis): Fact[] {
  const workload = snapshot.workloads[pod.workload];
  const allocated = accountingEntries.reduce(
    (sum, accountingEntry) => sum + (accountingEntry.pod === index ? accountingEntry.gpus : 0),
    0,
  );
  const asked = pod.gpus === null ? "an unknown amount" : `${gpus(pod.gpus)}`;
  return [
    pod.status === "allocated"
      ? {
          name: "holds",
          value: `${gpus(allocated)} GPUs`,
          how: `on node ${pod.node ?? "unknown"}; the pod itself asks for ${asked}`,
        }
      : { name: "waits for", value: `${asked} GPUs`, how: waitingFor(pod, snapshot.at) },
    { name: "team", value: pod.team, how: `by the rules in teams, from namespace ${pod.namespace}` },
    {
      name: "workload",
      value: `${workload?.kind ?? "?"} ${workload?.namespace ?? "?"}/${workload?.name ?? "?"}`,
      how: `the last owner that could be read, of class ${pod.workloadClass}${pod.classGuess === undefined ? "" : `, which is a guess: ${pod.classGuess}`}; ${workload?.pods.length ?? 0} pods of it hold or ask for GPUs`,
    },
    {
      name: "queue",
      value: pod.queue ?? "none",
      how: pod.queue === null ? "no label names one" : "by the label of its queue system",
    },
    { name: "priority", value: `${pod.priority}`, how: `priority class ${pod.priorityClass}` },
    ...(pod.gang === null
      ? []
      : [{ name: "gang", value: pod.gang.id, how: `${pod.gang.bound} of at least ${pod.gang.min} members are bound` }]),
  ];
}

function waitingFor({ pendingSince }: PodView, at: number): string {
  return pendingSince === null ? "it is not bound to a node" : `not bound to a node for ${duration(at - pendingSince)}`;
}
