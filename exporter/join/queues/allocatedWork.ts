import type { Problem } from "../../model/problem.ts";
import type { ClassPlace } from "./domainShapes.ts";
import type { QuotaDomains } from "./domains.ts";
import { emptyUnqueued, type QueueDraft, type QueueForest } from "./queueDrafts.ts";
import type { QueueingInput } from "./queueingInput.ts";
import type { TeamCounts } from "./teamCounts.ts";

/** Finds the leaf queues of pods. */
export interface LeafFinder {
  /** The leaf of a pod in a domain; -1: it belongs to no queue there. */
  readonly leafOf: (pod: number, domain: number) => number;
  /** Whether all pods of a workload have the same leaf in a domain: true only if teams and namespaces act as queues there. */
  readonly isSameForWorkload: (domain: number) => boolean;
}

/** Finds leaves by what a queue system reports about a pod, or else by its team and namespace if these act as queues. */
export function leafFinder(
  input: Pick<QueueingInput, "systems" | "pods" | "queueRefs">,
  { leaves }: QueueForest,
): LeafFinder {
  const teams = input.systems.find(({ leafOf }) => leafOf !== null);
  const isSameForWorkload = (domain: number): boolean => {
    const here = leaves[domain];
    return here?.size === 1 && here.has("none");
  };
  const leafOf = (pod: number, domain: number): number => {
    const here = leaves[domain];
    if (here === undefined || here.size === 0) return -1;
    const queue = isSameForWorkload(domain) ? null : (input.queueRefs[pod] ?? null);
    if (queue !== null) {
      const leaf = here.get(queue.scheduler)?.get(queue.name);
      if (leaf !== undefined) return leaf;
    }
    const byTeam = teams === undefined ? undefined : here.get(teams.scheduler);
    const view = input.pods[pod];
    if (byTeam === undefined || view === undefined || !teams?.leafOf) return -1;
    return byTeam.get(teams.leafOf(view.team, view.namespace)) ?? -1;
  };
  return { leafOf, isSameForWorkload };
}

/** Anybody may write any number of names on pods. */
const mostProblems = 20;

/**
 * Counts what pods hold into the leaves of their queues, by the devices' own holdings: they add up to what is allocated in the
 * pools. Pods outside of queues are in `Unqueued`, one record for each domain, entitled to what it holds. Sets the leaf of
 * each pod that holds something in `leafOfPod`; if there are several, that of the largest share.
 */
export function countAllocated(
  input: QueueingInput,
  forest: QueueForest,
  placeOf: QuotaDomains["placeOf"],
  finder: LeafFinder,
  counted: { readonly teams: TeamCounts; readonly leafOfPod: Int32Array },
): readonly Problem[] {
  const pods = input.pods.length;
  const count: Count = {
    input,
    queues: forest.queues,
    leafOf: finder.leafOf,
    leafOfPod: counted.leafOfPod,
    largest: new Float64Array(pods),
    domainOfPod: new Int32Array(pods).fill(-1),
    lastLeaf: new Int32Array(pods),
    teams: counted.teams,
    classCounts: forest.domains.map(({ classes }) => classes?.length ?? 1),
    unqueued: new Map(),
    lost: new Map(),
  };
  const { tally } = input;
  const isSame = forest.domains.map((_, domain) => finder.isSameForWorkload(domain));
  let last: LastHolding = { workload: -1, domain: -1, leaf: -1 };
  // Holdings are listed node by node.
  let at: LastPlace = { node: null, pool: -1, place: null };
  for (let i = 0; i < tally.pod.length; i++) {
    const pod = tally.pod[i] ?? -1;
    const pool = tally.pool[i] ?? -1;
    const node = input.pods[pod]?.node ?? null;
    if (at.node !== node || at.pool !== pool) at = { node, pool, place: placeOf(tally.pools[pool] ?? "", node ?? "") };
    const { place } = at;
    if (place === null) continue;
    const { domain } = place;
    const workload = tally.workload[i] ?? -1;
    const isLast = last.workload === workload && last.domain === domain && isSame[domain] === true;
    if (!isLast) last = { workload, domain, leaf: leafIn(pod, domain, count) };
    countHolding(i, last.leaf, place.nodeClass, count);
  }
  for (const leaf of count.unqueued.values()) entitleToAllocated(forest.queues[leaf]);
  const lost = [...count.lost].sort(([a], [b]) => (a < b ? -1 : 1));
  return lost.slice(0, mostProblems).map(([name, found]) => missingQueue(name, found));
}

interface Count {
  readonly input: QueueingInput;
  readonly queues: QueueDraft[];
  readonly leafOf: LeafFinder["leafOf"];
  readonly leafOfPod: Int32Array;
  /** For each pod: its largest share of a device so far. */
  readonly largest: Float64Array;
  /** For each pod: the domain in which it was last looked up, and its leaf there. Mostly all of its devices are in one. */
  readonly domainOfPod: Int32Array;
  readonly lastLeaf: Int32Array;
  readonly teams: TeamCounts;
  /** The number of node classes of each domain. */
  readonly classCounts: readonly number[];
  /** The index of the `Unqueued` leaf of each domain. */
  readonly unqueued: Map<number, number>;
  readonly lost: LostPods;
}

/** The place of the previous holding. */
interface LastPlace {
  readonly node: string | null;
  readonly pool: number;
  readonly place: ClassPlace | null;
}

/** The previous holding: mostly the next one belongs to the same workload. */
interface LastHolding {
  readonly workload: number;
  readonly domain: number;
  readonly leaf: number;
}

function countHolding(index: number, leaf: number, nodeClass: number, count: Count): void {
  const { tally, workloads } = count.input;
  const queue = count.queues[leaf];
  if (queue === undefined) return;
  const pod = tally.pod[index] ?? -1;
  const gpus = tally.gpus[index] ?? 0;
  queue.allocated += gpus;
  const isOnUnschedulable = tally.onUnschedulable[index] === true;
  if (isOnUnschedulable) queue.allocatedOnUnschedulable += gpus;
  const classes = count.classCounts[queue.domain] ?? 1;
  if (classes > 1) {
    queue.allocatedByClass ??= Array.from({ length: classes }, () => ({ allocated: 0, allocatedOnUnschedulable: 0 }));
    const inClass = queue.allocatedByClass[nodeClass];
    if (inClass !== undefined) {
      inClass.allocated += gpus;
      if (isOnUnschedulable) inClass.allocatedOnUnschedulable += gpus;
    }
  }
  count.teams.of(leaf, workloads[tally.workload[index] ?? -1]?.team ?? "").allocated += gpus;
  const largest = tally.largest[index] ?? 0;
  if ((count.leafOfPod[pod] ?? -1) >= 0 && largest <= (count.largest[pod] ?? 0)) return;
  count.largest[pod] = largest;
  count.leafOfPod[pod] = leaf;
}

const leafIn = (pod: number, domain: number, count: Count): number =>
  count.domainOfPod[pod] === domain ? (count.lastLeaf[pod] ?? -1) : lookUp(pod, domain, count);

function lookUp(pod: number, domain: number, count: Count): number {
  let leaf = count.leafOf(pod, domain);
  if (leaf < 0) {
    addLost(count.lost, pod, count.input);
    leaf = unqueuedIn(domain, count.unqueued, count.queues);
  }
  count.domainOfPod[pod] = domain;
  count.lastLeaf[pod] = leaf;
  return leaf;
}

function entitleToAllocated(queue: QueueDraft | undefined): void {
  if (queue === undefined) return;
  queue.guaranteed = queue.allocated;
  queue.limit = queue.allocated;
}

function unqueuedIn(domain: number, unqueued: Map<number, number>, queues: QueueDraft[]): number {
  const known = unqueued.get(domain);
  if (known !== undefined) return known;
  const leaf = queues.push(emptyUnqueued(domain)) - 1;
  unqueued.set(domain, leaf);
  return leaf;
}

/** Pods that name a queue which does not exist, by the queue. */
type LostPods = Map<string, { readonly first: string; pods: number }>;

function addLost(lost: LostPods, pod: number, { queueRefs, pods, systems }: QueueingInput): void {
  const queue = queueRefs[pod] ?? null;
  const view = pods[pod];
  if (queue === null || view === undefined || !systems.some(({ scheduler }) => scheduler === queue.scheduler)) return;
  const name = `${queue.scheduler}/${queue.name}`;
  const known = lost.get(name);
  if (known === undefined) lost.set(name, { first: `${view.namespace}/${view.name}`, pods: 1 });
  else known.pods += 1;
}

function missingQueue(name: string, { first, pods }: { readonly first: string; readonly pods: number }): Problem {
  return {
    source: "join",
    code: "queue-missing",
    severity: "warning",
    subject: name,
    message: `${pods} pods (${first} first) hold GPUs for queue ${name}, which is not there or has no quota for the GPUs that they hold; they are shown as unqueued`,
    nextStep: "Create the queue again, or give it quota for these GPUs; pods keep what they hold until they end.",
  };
}
