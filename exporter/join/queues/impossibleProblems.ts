import type { Problem } from "../../model/problem.ts";
import type { NeverReason, WaitingGang } from "./queueing.ts";

type Reported = Extract<NeverReason, "no-node" | "no-scheduler" | "unschedulable">;

const texts: Readonly<Record<Reported, { readonly what: string; readonly nextStep: string }>> = {
  "no-node": {
    what: "asks for more than any node has, or for nodes that are not there",
    nextStep: "Ask its owner to correct the requests, node selector or tolerations, or add nodes that take it.",
  },
  "no-scheduler": {
    what: "names a scheduler that is not known to work here",
    nextStep:
      "Ask its owner to correct spec.schedulerName; where the scheduler is there, name it in queues.schedulers of the configuration.",
  },
  unschedulable: {
    what: "needs something that is not there, or is excluded from all nodes by its own rules",
    nextStep: 'Look at its events with "kubectl describe pod", and ask its owner to create what is missing.',
  },
};

const isReported = (never: NeverReason | null): never is Reported => never !== null && Object.hasOwn(texts, never);

/** Waiting pods that are no demand because they can never run, one line for each reason. Nobody is short of GPUs for them. */
export function impossibleProblems(gangs: readonly WaitingGang[]): readonly Problem[] {
  const first = new Map<Reported, WaitingGang>();
  const pods = new Map<Reported, number>();
  for (const gang of gangs) {
    const created = gang.parts.reduce((sum, part) => sum + part.createdPods, 0);
    if (!isReported(gang.never) || created === 0) continue;
    if (!first.has(gang.never)) first.set(gang.never, gang);
    pods.set(gang.never, (pods.get(gang.never) ?? 0) + created);
  }
  return [...first].map(([never, { namespace, name, reason }]): Problem => {
    const count = pods.get(never) ?? 0;
    const others = count === 1 ? "" : `, and so does each of ${count} pods in all`;
    return {
      source: "join",
      code: "demand-impossible",
      severity: "info",
      subject: `${namespace}/${name}`,
      message: `Waiting work ${namespace}/${name} ${texts[never].what}${reason === "" ? "" : ` (${reason})`}${others}: it counts as waiting and is no demand, so that nobody is short of GPUs, or asked to give any up, for it`,
      nextStep: texts[never].nextStep,
    };
  });
}
