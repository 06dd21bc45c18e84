import type { Truth, TruthGpu, TruthHolder } from "../../../simulator/truth.ts";

/** Everybody who holds a GPU or a part of one. */
const holdersOf = ({ holders, migInstances }: TruthGpu): readonly TruthHolder[] =>
  migInstances.length === 0 ? holders : migInstances.flatMap(({ holder }) => holder ?? []);

/** Of `namespace/name`, as advice names work; a name of a group of a LeaderWorkerSet ends with its number. */
function isOf(work: string, { namespace, pod }: TruthHolder): boolean {
  const [wanted = "", name = ""] = work.split("/");
  return namespace === wanted && (pod === name || pod.startsWith(`${name}-`));
}

/** Physical GPUs that work `namespace/name` really holds. */
export const trulyAllocated = (truth: Truth, work: string): number => sumOf(truth, work, ({ share }) => share);

/** Physical GPUs that work `namespace/name` really keeps busy. */
export const trulyBusy = (truth: Truth, work: string): number =>
  sumOf(truth, work, ({ share, activity }) => share * activity);

function sumOf({ physicalGpus }: Truth, work: string, amount: (holder: TruthHolder) => number): number {
  const found = physicalGpus.flatMap(holdersOf).filter((holder) => isOf(work, holder));
  return found.reduce((sum, holder) => sum + amount(holder), 0);
}

/** Work that waits for GPUs, `namespace/name`. */
export const trulyWaiting = ({ pending }: Truth): ReadonlySet<string> =>
  new Set(pending.map(({ namespace, workload }) => `${namespace}/${workload}`));

/** Physical GPUs that the pods of a namespace really hold. */
export const trulyAllocatedIn = ({ physicalGpus }: Truth, namespace: string): number =>
  physicalGpus
    .flatMap(holdersOf)
    .filter((holder) => holder.namespace === namespace)
    .reduce((sum, { share }) => sum + share, 0);

/** GPU-hours of work that was taken away between two looks and must be done again. */
export const trulyLost = (before: Truth, after: Truth): number => (after.lostGpuSeconds - before.lostGpuSeconds) / 3600;

/** `Deployment tools/reranker` is about `tools/reranker`. */
export const nameIn = (target: string): string => target.slice(target.indexOf(" ") + 1);

/** GPU-hours of these works (`namespace/name`) alone that were taken away between two looks and must be done again. */
export const trulyLostOf = (works: Iterable<string>, before: Truth, after: Truth): number =>
  [...new Set(works)].reduce(
    (sum, work) => sum + ((after.lostByWorkload.get(work) ?? 0) - (before.lostByWorkload.get(work) ?? 0)) / 3600,
    0,
  );

/** Physical GPUs of nodes that are no longer there, or take no pods. */
export function trulyGone(nodes: readonly string[], before: Truth, after: Truth): number {
  const usable = new Set(after.nodes.filter(({ schedulable }) => schedulable).map(({ name }) => name));
  return before.nodes
    .filter(({ name }) => nodes.includes(name) && !usable.has(name))
    .reduce((sum, { physicalGpus }) => sum + physicalGpus, 0);
}

/** Physical GPUs that are allocated on a node. */
export const trulyAllocatedOn = ({ physicalGpus }: Truth, node: string): number =>
  physicalGpus
    .filter((physicalGpu) => physicalGpu.node === node)
    .flatMap(holdersOf)
    .reduce((sum, { share }) => sum + share, 0);
