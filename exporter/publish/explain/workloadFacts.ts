import type { Analysis } from "../../analysis/analysis.ts";
import type { WaitingWork } from "../../analysis/waiting/waiting.ts";
import type { WaitingGang } from "../../join/queues/queueing.ts";
import type { PodView, WorkloadView } from "../../join/snapshot.ts";
import { duration, gpus } from "../terminal/columns.ts";
import { causeText } from "./causeText.ts";
import type { Fact } from "./schema.ts";

/** A workload as it is explained: what holds or asks for GPUs, and its gangs that wait in queues. */
interface ExplainedWorkload {
  /** Index into `Snapshot.workloads`; `null`: it has no pods, and only gangs that wait. */
  readonly index: number | null;
  /** Indices into `Queueing.gangs` of its gangs that wait. */
  readonly gangs: readonly number[];
}

/** The name under which a workload is explained: `NAMESPACE/KIND/NAME`. */
export const workloadKey = ({ namespace, kind, name }: Pick<WorkloadView, "namespace" | "kind" | "name">): string =>
  `${namespace}/${kind}/${name}`;

/** The workload of that key; `null`: nothing of it holds or asks for a GPU. */
export function workloadOf(key: string, { snapshot }: Analysis): ExplainedWorkload | null {
  const index = snapshot.workloads.findIndex((one) => workloadKey(one) === key);
  const gangs = [...snapshot.queueing.gangs.entries()].flatMap(([i, gang]) => (workloadKey(gang) === key ? [i] : []));
  return index < 0 && gangs.length === 0 ? null : { index: index < 0 ? null : index, gangs };
}

/** How a workload's numbers came about, and how it is known what it belongs to. */
export function workloadFacts({ index, gangs }: ExplainedWorkload, analysis: Analysis): Fact[] {
  const { snapshot } = analysis;
  const workload = index === null ? undefined : snapshot.workloads[index];
  const waiting = gangs.flatMap((i) => snapshot.queueing.gangs[i] ?? []);
  const belongs = workload ?? waiting[0];
  return [
    ...(index === null ? [] : [heldFact(index, analysis)]),
    ...gangs.flatMap((gang) => waitFact(gang, analysis)),
    ...(belongs === undefined ? [] : belongings(belongs)),
    ...(workload === undefined
      ? []
      : [
          {
            name: "class",
            value: workload.workloadClass,
            how:
              workload.classGuess === undefined
                ? "by what its owners and pods are"
                : `which is a guess: ${workload.classGuess}`,
          },
        ]),
  ];
}

const shownNodes = 6;

function heldFact(index: number, { accountingEntries, snapshot }: Analysis): Fact {
  const own = accountingEntries.list.filter(({ pod }) => pod !== null && snapshot.pods[pod]?.workload === index);
  const pods = new Set(own.map(({ pod }) => pod));
  const nodes = [...new Set(own.map(({ node }) => node))];
  const more = nodes.length > shownNodes ? ` and ${nodes.length - shownNodes} more` : "";
  const where = `${nodes.slice(0, shownNodes).join(", ")}${more}`;
  return {
    name: "holds",
    value: `${gpus(own.reduce((sum, entry) => sum + entry.gpus, 0))} GPUs`,
    how: own.length === 0 ? "no pod of it holds a GPU" : `by ${pods.size} of its pods, on ${where}`,
  };
}

function waitFact(index: number, { snapshot, waiting }: Analysis): readonly Fact[] {
  const gang = snapshot.queueing.gangs[index];
  if (gang === undefined) return [];
  const work = waiting.work.find((one) => one.gang === index);
  const age = gang.since === null ? "since when is not known" : `for ${duration(snapshot.at - gang.since)}`;
  const place = gang.queue === null ? "in no queue" : `in queue ${gang.queue}`;
  return [
    {
      name: "waits for",
      value: gang.gpus === null ? "an unknown number of GPUs" : `${gpus(gang.gpus)} GPUs`,
      how: `${gang.pods} ${gang.pods === 1 ? "pod" : "pods"} of it, ${age}, ${place}: ${why(gang, work)}`,
    },
  ];
}

function why({ never, reason }: WaitingGang, work: WaitingWork | undefined): string {
  const said = reason === "" ? "" : ` (${reason})`;
  const cause = causeText(work);
  return never === null ? `cause ${cause}${said}` : `never as things are, ${never}${said}`;
}

function belongings({ team, queue, localQueue, namespace, priority, priorityClass }: Belonging): readonly Fact[] {
  const through = localQueue === null ? "" : `, through the LocalQueue ${namespace}/${localQueue}`;
  return [
    { name: "team", value: team, how: `by the rules in teams, from namespace ${namespace}` },
    {
      name: "queue",
      value: queue ?? "none",
      how: queue === null ? "nothing names one" : `as its queue system says${through}`,
    },
    { name: "priority", value: `${priority}`, how: `priority class ${priorityClass}` },
  ];
}

type Belonging = Pick<WorkloadView, "team" | "queue" | "localQueue" | "namespace" | "priority" | "priorityClass">;

/** How a pod's numbers came about, and how it is known what it belongs to. */
export function podFacts(pod: PodView, index: number, { accountingEntries, snapshot }: Analysis): Fact[] {
  const workload = snapshot.workloads[pod.workload];
  const allocated = accountingEntries.list.reduce(
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
