import type { Analysis } from "../../analysis/analysis.ts";
import { findLocalQueues } from "../../analysis/localQueues/findLocalQueues.ts";
import type { LocalQueueShare, LocalQueues } from "../../analysis/localQueues/localQueues.ts";
import type { KueueLocalQueue } from "../../model/queues/kueue.ts";
import { localQueueRecords } from "../document/localQueueRecords.ts";
import { localQueueChange } from "./localQueueChange.ts";
import type { LocalGang, LocalQueueExplanation } from "./localQueueSchema.ts";
import { localQueueSentences } from "./localQueueSentences.ts";

/** Several namespaces may have LocalQueues of one name; so many are reported. */
export const mostLocalQueues = 50;
const shownGangs = 5;

/** A LocalQueue with all that is known of it. */
export interface LocalQueueFacts {
  readonly analysis: Analysis;
  readonly object: KueueLocalQueue;
  readonly found: LocalQueues;
  /** Its own shares, by quota domain. */
  readonly shares: readonly LocalQueueShare[];
  /** Indices into `Queueing.gangs`: what waits in it, in its own order; those that are in no line behind the others. */
  readonly waiting: readonly number[];
  /** Indices into `Queueing.gangs`: what is before its first one; `null`: not known, or nothing of it is in a line. */
  readonly before: readonly number[] | null;
}

/** LocalQueues called `name` or `namespace/name`, by namespace. */
export function localQueuesNamed(name: string, { snapshot }: Pick<Analysis, "snapshot">): readonly KueueLocalQueue[] {
  return snapshot.queueObjects.kueueLocalQueues
    .filter((queue) => queue.name === name || `${queue.namespace}/${queue.name}` === name)
    .sort((a, b) => (a.namespace < b.namespace ? -1 : 1));
}

/** Explains LocalQueues one by one. */
export function explainLocalQueues(
  queues: readonly KueueLocalQueue[],
  analysis: Analysis,
): readonly LocalQueueExplanation[] {
  if (queues.length === 0) return [];
  const { snapshot, fairness } = analysis;
  const found = findLocalQueues(snapshot, fairness);
  const causes = new Map(analysis.waiting.work.map(({ gang, cause }) => [gang, cause] as const));
  const record = (index: number): readonly LocalGang[] => {
    const gang = snapshot.queueing.gangs[index];
    if (gang === undefined) return [];
    const { namespace, kind, name, localQueue, gpus } = gang;
    const { inClusterQueue = null, inLocalQueue = null } = found.positions.get(index) ?? {};
    const cause = causes.get(index) ?? "unknown";
    return [
      { namespace, kind, name, localQueue, gpus, cause, position: inClusterQueue, positionInLocalQueue: inLocalQueue },
    ];
  };
  const explained: LocalQueueExplanation[] = [];
  for (const object of queues) {
    const facts = factsOf(object, analysis, found);
    explained.push({
      namespace: object.namespace,
      name: object.name,
      clusterQueue: object.clusterQueue,
      shares: [...localQueueRecords(snapshot.queueing, { ...found, shares: facts.shares })],
      waiting: facts.waiting.slice(0, shownGangs).flatMap(record),
      waitingGangs: facts.waiting.length,
      before: (facts.before ?? []).slice(0, shownGangs).flatMap(record),
      beforeGangs: facts.before?.length ?? null,
      sentences: [...localQueueSentences(facts), localQueueChange(facts)],
    });
  }
  return explained;
}

function factsOf(object: KueueLocalQueue, analysis: Analysis, found: LocalQueues): LocalQueueFacts {
  const { namespace, name, clusterQueue } = object;
  const { gangs } = analysis.snapshot.queueing;
  const own = [...gangs.keys()].filter((index) => {
    const gang = gangs[index];
    return gang?.scheduler === "kueue" && gang.localQueue === name && gang.namespace === namespace;
  });
  const placeOf = (index: number): number => found.positions.get(index)?.inLocalQueue ?? Number.POSITIVE_INFINITY;
  const waiting = own.sort((a, b) => (placeOf(a) === placeOf(b) ? a - b : placeOf(a) - placeOf(b)));
  const line = found.lines.get(clusterQueue) ?? null;
  const first = line === null ? -1 : line.indexOf(waiting[0] ?? -1);
  return {
    analysis,
    object,
    found,
    shares: found.shares.filter((share) => share.namespace === namespace && share.name === name),
    waiting,
    before: first < 0 ? null : (line?.slice(0, first) ?? null),
  };
}
