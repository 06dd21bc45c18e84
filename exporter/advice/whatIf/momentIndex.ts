import type { Analysis } from "../../analysis/analysis.ts";
import { domainFinder } from "../../join/queues/domainOfNode.ts";
import type { WaitingGang } from "../../join/queues/queueing.ts";
import type { WorkloadView } from "../../join/snapshot.ts";

/** Where things of one moment are found; each part is made when first asked. Indices are those of its Snapshot. */
export interface MomentIndex {
  readonly nodeOf: (name: string) => number | null;
  /** Devices that a pod holds in part or whole, ascending. */
  readonly devicesOf: (pod: number) => readonly number[];
  /** Of the GPUs of a pool on a node. */
  readonly domainOf: (pool: string, node: string) => number | null;
  /** Workloads that have the waiting pods of the gang: those to which its object belongs, then the one with its name. */
  readonly workloadsOf: (gang: WaitingGang) => readonly number[];
  /** Gangs whose pods are those of the workload. */
  readonly gangsOf: (workload: WorkloadView) => readonly number[];
}

const indices = new WeakMap<Analysis, MomentIndex>();
const none: readonly number[] = [];

/** The index of a moment: one for all who ask. */
export function momentIndex(analysis: Analysis): MomentIndex {
  const known = indices.get(analysis) ?? createIndex(analysis);
  indices.set(analysis, known);
  return known;
}

function createIndex({ snapshot }: Analysis): MomentIndex {
  const { nodes, devices, workloads, queueing } = snapshot;
  const nodeByName = once(() => new Map(nodes.map(({ name }, i) => [name, i] as const)));
  const byPod = once(() => {
    const found: (number[] | undefined)[] = new Array(snapshot.pods.length).fill(undefined);
    for (const [i, { holders }] of devices.entries()) {
      for (const { pod } of holders) {
        const own = found[pod];
        if (own === undefined) found[pod] = [i];
        else if (own.at(-1) !== i) own.push(i);
      }
    }
    return found;
  });
  const domainByPool = once(() => domainFinder(queueing.domains));
  // By name alone: there may be tens of thousands, and building a longer key for each would take longest.
  const workloadsByName = once(() => Map.groupBy(workloads.keys(), (i) => workloads[i]?.name ?? ""));
  const workloadsByObject = once(() =>
    Map.groupBy(
      [...workloads.keys()].filter((i) => workloads[i]?.queueObject != null),
      (i) => workloads[i]?.queueObject?.uid ?? "",
    ),
  );
  const gangsByName = once(() => Map.groupBy(queueing.gangs.keys(), (i) => queueing.gangs[i]?.name ?? ""));
  const gangsByUid = once(() => Map.groupBy(queueing.gangs.keys(), (i) => queueing.gangs[i]?.uid ?? ""));
  return {
    nodeOf: (name) => nodeByName().get(name) ?? null,
    devicesOf: (pod) => byPod()[pod] ?? none,
    domainOf: (pool, node) => domainByPool()(pool, node),
    workloadsOf(gang) {
      const named = (workloadsByName().get(gang.name) ?? none).find((i) => isCalled(workloads[i], gang));
      const own = workloadsByObject().get(gang.uid) ?? none;
      return named === undefined || own.includes(named) ? own : [...own, named];
    },
    gangsOf(workload) {
      const named = (gangsByName().get(workload.name) ?? none).filter((i) => isCalled(queueing.gangs[i], workload));
      const { queueObject } = workload;
      const own = queueObject === null ? none : (gangsByUid().get(queueObject.uid) ?? none);
      return own.length === 0 ? named : [...new Set([...own, ...named])];
    },
  };
}

type Called = Pick<WorkloadView, "kind" | "namespace" | "name">;

const isCalled = (one: Called | undefined, { kind, namespace, name }: Called): boolean =>
  one?.name === name && one.namespace === namespace && one.kind === kind;

/** Makes a value when it is first asked for, and no second time. */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
