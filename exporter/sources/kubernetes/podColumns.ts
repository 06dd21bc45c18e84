import type { NodeRequests } from "../../model/cluster.ts";
import type { PodPhase } from "../../model/pod.ts";
import type { NeighborPod } from "../../model/podPlacement.ts";
import type { PodRow } from "./decodePod.ts";
import { labelsOf } from "./keptLabels.ts";
import type { KeptOff } from "./podPlacement.ts";

/**
 * Every pod of the cluster in columns: some 60 bytes each, beside its uid and its labels, which are kept once for all pods with
 * the same labels.
 */
export interface PodColumns {
  readonly size: number;
  put(row: PodRow): void;
  remove(uid: string): void;
  get(uid: string): PodRow | null;
  requestsByNode(): ReadonlyMap<string, NodeRequests>;
  /** Bound pods without GPUs that have not ended: all of these namespaces, and all that keep others away from them. */
  neighbors(namespaces: ReadonlySet<string>): readonly NeighborPod[];
}

const phases = ["Pending", "Running", "Succeeded", "Failed", "Unknown"] as const satisfies readonly PodPhase[];
const phaseIds: Readonly<Record<PodPhase, number>> = { Pending: 0, Running: 1, Succeeded: 2, Failed: 3, Unknown: 4 };
const unbound = -1;

export function createPodColumns(): PodColumns {
  const indexOf = new Map<string, number>();
  const free: number[] = [];
  const namespaces: NameIds = createNameIds();
  const nodes: NameIds = createNameIds();
  const labels: NameIds = createNameIds();
  const placements = new Map<number, KeptOff>();
  const columns: Columns = { namespace: [], node: [], labels: [], phase: [], cpuMilli: [], memoryBytes: [] };

  const releaseNames = (index: number): void => {
    namespaces.release(columns.namespace[index] ?? 0);
    const node = columns.node[index] ?? unbound;
    if (node !== unbound) nodes.release(node);
  };

  const isLabelled = (index: number, row: PodRow): boolean => labels.nameOf(columns.labels[index] ?? 0) === row.labels;

  const isAt = (index: number, row: PodRow): boolean => {
    const node = columns.node[index] ?? unbound;
    const nodeName = node === unbound ? null : nodes.nameOf(node);
    return nodeName === row.nodeName && namespaces.nameOf(columns.namespace[index] ?? 0) === row.namespace;
  };

  const setNames = (index: number, row: PodRow, isNew: boolean): void => {
    // Most changes of a pod do not move it.
    if (isNew || !isAt(index, row)) {
      if (!isNew) releaseNames(index);
      columns.namespace[index] = namespaces.acquire(row.namespace);
      columns.node[index] = row.nodeName === null ? unbound : nodes.acquire(row.nodeName);
    }
    if (isNew || !isLabelled(index, row)) {
      if (!isNew) labels.release(columns.labels[index] ?? 0);
      columns.labels[index] = labels.acquire(row.labels);
    }
  };

  return {
    get size() {
      return indexOf.size;
    },
    put: (row) => {
      const known = indexOf.get(row.uid);
      const index = known ?? free.pop() ?? columns.node.length;
      if (known === undefined) indexOf.set(row.uid, index);
      setNames(index, row, known === undefined);
      if (row.placement !== null) placements.set(index, row.placement);
      else placements.delete(index);
      columns.phase[index] = phaseIds[row.phase];
      columns.cpuMilli[index] = row.cpuMilli;
      columns.memoryBytes[index] = row.memoryBytes;
    },
    remove: (uid) => {
      const index = indexOf.get(uid);
      if (index === undefined) return;
      releaseNames(index);
      labels.release(columns.labels[index] ?? 0);
      placements.delete(index);
      // A free row is bound to no node, so that sums ignore it.
      columns.node[index] = unbound;
      indexOf.delete(uid);
      free.push(index);
    },
    get: (uid) => {
      const index = indexOf.get(uid);
      if (index === undefined) return null;
      const node = columns.node[index] ?? unbound;
      return {
        uid,
        namespace: namespaces.nameOf(columns.namespace[index] ?? 0),
        nodeName: node === unbound ? null : nodes.nameOf(node),
        phase: phases[columns.phase[index] ?? 4] ?? "Unknown",
        cpuMilli: columns.cpuMilli[index] ?? 0,
        memoryBytes: columns.memoryBytes[index] ?? 0,
        labels: labels.nameOf(columns.labels[index] ?? 0),
        placement: placements.get(index) ?? null,
      };
    },
    requestsByNode: () => sumByNode(columns, nodes),
    neighbors: (wanted) => {
      const isWanted = new Uint8Array(namespaces.limit);
      for (let id = 0; id < namespaces.limit; id += 1) if (wanted.has(namespaces.nameOf(id))) isWanted[id] = 1;
      const textOf = new Map<number, NeighborPod["labels"]>();
      const found: NeighborPod[] = [];
      const add = (index: number): void => {
        const node = columns.node[index] ?? unbound;
        const id = columns.labels[index] ?? 0;
        const text = labels.nameOf(id);
        if (node === unbound || text === "" || hasEnded(columns.phase[index])) return;
        const known = textOf.get(id) ?? labelsOf(text);
        textOf.set(id, known);
        const { antiAffinity, hostPorts } = placements.get(index) ?? asksNothing;
        const namespace = namespaces.nameOf(columns.namespace[index] ?? 0);
        found.push({ namespace, nodeName: nodes.nameOf(node), labels: known, antiAffinity, hostPorts });
      };
      if (wanted.size > 0)
        for (let index = 0; index < columns.node.length; index += 1)
          if (isWanted[columns.namespace[index] ?? 0] === 1 && !placements.has(index)) add(index);
      for (const index of placements.keys()) add(index);
      return found;
    },
  };
}

const asksNothing: KeptOff = { antiAffinity: [], hostPorts: [] };

const hasEnded = (phase: number | undefined): boolean => phase === phaseIds.Succeeded || phase === phaseIds.Failed;

/** One value for each pod, by its index; the index of a pod that is gone is used again. */
interface Columns {
  readonly namespace: number[];
  readonly node: number[];
  readonly labels: number[];
  readonly phase: number[];
  readonly cpuMilli: number[];
  readonly memoryBytes: number[];
}

function sumByNode(columns: Columns, nodes: NameIds): ReadonlyMap<string, NodeRequests> {
  const pods = new Int32Array(nodes.limit);
  const cpuMilli = new Float64Array(nodes.limit);
  const memoryBytes = new Float64Array(nodes.limit);
  for (let index = 0; index < columns.node.length; index += 1) {
    const node = columns.node[index] ?? unbound;
    if (node === unbound || hasEnded(columns.phase[index])) continue;
    pods[node] = (pods[node] ?? 0) + 1;
    cpuMilli[node] = (cpuMilli[node] ?? 0) + (columns.cpuMilli[index] ?? 0);
    memoryBytes[node] = (memoryBytes[node] ?? 0) + (columns.memoryBytes[index] ?? 0);
  }
  const sums = new Map<string, NodeRequests>();
  for (const [node, count] of pods.entries()) {
    if (count === 0) continue;
    const sum = { pods: count, cpuMilli: cpuMilli[node] ?? 0, memoryBytes: memoryBytes[node] ?? 0 };
    sums.set(nodes.nameOf(node), sum);
  }
  return sums;
}

/** Small numbers for names that many rows share; a number is free again when no row uses it any more. */
interface NameIds {
  /** The number of a name; counts one more use. */
  acquire(name: string): number;
  /** Counts one use less. */
  release(id: number): void;
  nameOf(id: number): string;
  /** Upper bound of the numbers that are in use. */
  readonly limit: number;
}

function createNameIds(): NameIds {
  const ids = new Map<string, number>();
  const names: string[] = [];
  const uses: number[] = [];
  const free: number[] = [];
  return {
    get limit() {
      return names.length;
    },
    acquire: (name) => {
      let id = ids.get(name);
      if (id === undefined) {
        id = free.pop() ?? names.length;
        ids.set(name, id);
        names[id] = name;
        uses[id] = 0;
      }
      uses[id] = (uses[id] ?? 0) + 1;
      return id;
    },
    release: (id) => {
      const left = (uses[id] ?? 0) - 1;
      uses[id] = left;
      if (left > 0) return;
      ids.delete(names[id] ?? "");
      names[id] = "";
      free.push(id);
    },
    nameOf: (id) => names[id] ?? "",
  };
}
