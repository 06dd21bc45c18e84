import type { Problem } from "../../model/problem.ts";
import type { SubjectPod } from "../podViews.ts";
import { shownGpus } from "../shownGpus.ts";

/** Anybody can write any number of names on pods. */
const mostLines = 20;

/** Pods of one namespace that name one queue, which nothing confirms. */
interface Naming {
  readonly namespace: string;
  readonly queue: string;
  readonly first: string;
  /** Physical GPUs that these pods hold or ask for, as far as that is known. */
  gpus: number;
  pods: number;
}

/**
 * Queues that pods name and that nothing confirms except what the pods' authors can write: one line for each namespace and
 * name, those with the most GPUs first, and one for all others. Such pods are in no queue.
 */
export function unconfirmedQueues(entries: readonly SubjectPod[]): readonly Problem[] {
  const found = new Map<string, Naming>();
  for (const { pod, gpus, subject } of entries) {
    const queue = subject?.facts.unconfirmedQueue ?? null;
    if (queue === null || gpus === 0) continue;
    const { namespace } = pod;
    const key = `${namespace}/${queue}`;
    const known = found.get(key) ?? { namespace, queue, first: pod.name, gpus: 0, pods: 0 };
    known.pods += 1;
    known.gpus += gpus ?? 0;
    found.set(key, known);
  }
  const all = [...found.values()].sort((a, b) => b.gpus - a.gpus || (lineKey(a) < lineKey(b) ? -1 : 1));
  const reported = all.slice(0, mostLines).map(unconfirmed);
  const [more] = all.slice(mostLines);
  return more === undefined ? reported : [...reported, others(more, all.length - mostLines)];
}

const lineKey = ({ namespace, queue }: Naming): string => `${namespace}/${queue}`;

const nextStep =
  "Send the work through a LocalQueue of its namespace, or through the scheduler whose queue it is; docs/trusted-labels.md says what each label needs.";

function unconfirmed({ namespace, queue, first, gpus, pods }: Naming): Problem {
  return {
    source: "join",
    code: "queue-unconfirmed",
    severity: "warning",
    nextStep,
    subject: `${namespace}/${first}`,
    message: `${pods} pods of namespace ${namespace} (${first} first) with ${shownGpus(gpus)} GPUs name queue ${queue}, and neither an admitted Workload, a LocalQueue of the namespace, nor the scheduler that has this queue confirms it; the name is ignored`,
  };
}

function others({ namespace, queue, first }: Naming, names: number): Problem {
  return {
    source: "join",
    code: "queue-unconfirmed",
    severity: "warning",
    nextStep,
    subject: `${namespace}/${first}`,
    message: `pods name ${names} more queues that nothing confirms (pod ${namespace}/${first} queue ${queue} first); the names are ignored`,
  };
}
