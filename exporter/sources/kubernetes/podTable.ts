import { sameData } from "../../kernel/sameData.ts";
import type { NodeRequests } from "../../model/cluster.ts";
import type { PlainGangMember, Pod } from "../../model/pod.ts";
import type { NeighborPod } from "../../model/podPlacement.ts";
import type { DecodedPod } from "./decodePod.ts";
import { createRowTable, type ObjectTable, type RowTable } from "./objectTable.ts";
import { createPodColumns, type PodColumns } from "./podColumns.ts";
import type { PodPreemption } from "./podStatus.ts";
import type { ExporterPod } from "./state.ts";

/**
 * The cache of pods: columns with a row for each pod, whole records only for those with GPUs, and the addresses of exporters.
 */
export interface PodTable extends ObjectTable<DecodedPod> {
  gpuPods(): readonly Pod[];
  /** A number that grows only when a pod with GPUs changes; `exporterRevision` only when an exporter does. */
  readonly gpuRevision: number;
  readonly exporterRevision: number;
  exporterPods(): readonly ExporterPod[];
  /**
   * Requests of all pods that are bound and have not ended, by node; the map and its records stay the same until they change.
   */
  requestsByNode(): ReadonlyMap<string, NodeRequests>;
  /**
   * Pods without GPUs that are relevant to the rules of pods with GPUs, or that keep these away; the same object until a pod
   * changes.
   */
  neighbors(): readonly NeighborPod[];
  /** Pods without GPUs that are in gangs of Kubernetes itself. */
  plainGangMembers(): readonly PlainGangMember[];
}

/**
 * Creates an empty table. `onPreempted` is called whenever a pod with GPUs appears whose place a scheduler has given to another
 * one.
 */
export function createPodTable(onPreempted: (pod: Pod, preemption: PodPreemption) => void = () => {}): PodTable {
  let columns = createPodColumns();
  const gpuPods = createRowTable<Pod>();
  const exporters = createRowTable<ExporterPod>();
  const plainMembers = createRowTable<PlainGangMember>();
  let revision = 0;
  let neighbors: { readonly revision: number; readonly found: readonly NeighborPod[] } | null = null;
  let requests: { readonly revision: number; readonly byNode: ReadonlyMap<string, NodeRequests> } | null = null;

  const observe = ({ gpuPod, preemption }: DecodedPod): void => {
    if (gpuPod !== null && preemption !== null) onPreempted(gpuPod, preemption);
  };

  return {
    get size() {
      return columns.size;
    },
    get revision() {
      return revision;
    },
    get gpuRevision() {
      return gpuPods.revision;
    },
    get exporterRevision() {
      return exporters.revision;
    },
    put: (uid, row) => {
      observe(row);
      columns.put(row.pod);
      putOrRemove(gpuPods, uid, row.gpuPod);
      putOrRemove(exporters, uid, row.exporterPod);
      putOrRemove(plainMembers, uid, row.plainMember);
      revision += 1;
    },
    remove: (uid) => {
      columns.remove(uid);
      gpuPods.remove(uid);
      exporters.remove(uid);
      plainMembers.remove(uid);
      revision += 1;
    },
    startReplacement: () => {
      const fresh: PodColumns = createPodColumns();
      const freshGpuPods = gpuPods.startReplacement();
      const freshExporters = exporters.startReplacement();
      const freshMembers = plainMembers.startReplacement();
      return {
        add: (uid, row) => {
          observe(row);
          fresh.put(row.pod);
          if (row.gpuPod !== null) freshGpuPods.add(uid, row.gpuPod);
          if (row.exporterPod !== null) freshExporters.add(uid, row.exporterPod);
          if (row.plainMember !== null) freshMembers.add(uid, row.plainMember);
        },
        commit: () => {
          columns = fresh;
          freshGpuPods.commit();
          freshExporters.commit();
          freshMembers.commit();
          revision += 1;
        },
      };
    },
    gpuPods: () => gpuPods.rows(),
    exporterPods: () => exporters.rows(),
    plainGangMembers: () => plainMembers.rows(),
    neighbors: () => {
      if (neighbors?.revision !== revision)
        neighbors = { revision, found: columns.neighbors(lookedAtNamespaces(gpuPods.rows())) };
      return neighbors.found;
    },
    requestsByNode: () => {
      if (requests?.revision !== revision) {
        const byNode = columns.requestsByNode();
        requests = { revision, byNode: requests === null ? byNode : unlessSame(requests.byNode, byNode) };
      }
      return requests.byNode;
    },
  };
}

/** The previous sums if nothing changed; otherwise the new ones, with the previous records of unchanged nodes. */
function unlessSame(
  before: ReadonlyMap<string, NodeRequests>,
  now: ReadonlyMap<string, NodeRequests>,
): ReadonlyMap<string, NodeRequests> {
  let isSame = before.size === now.size;
  const kept = new Map<string, NodeRequests>();
  for (const [node, sums] of now) {
    const known = before.get(node);
    const isKnown = known !== undefined && sameData(known, sums);
    if (!isKnown) isSame = false;
    kept.set(node, isKnown ? known : sums);
  }
  return isSame ? before : kept;
}

function putOrRemove<Row>(table: RowTable<Row>, uid: string, row: Row | null): void {
  if (row === null) table.remove(uid);
  else table.put(uid, row);
}

/** Namespaces whose pods matter to the rules of pods with GPUs: affinity, anti-affinity and topology spread. */
export function lookedAtNamespaces(pods: readonly Pod[]): ReadonlySet<string> {
  const namespaces = new Set<string>();
  for (const { namespace, placement } of pods) {
    if (placement === undefined) continue;
    if (placement.spread.length > 0) namespaces.add(namespace);
    for (const term of [...placement.affinity, ...placement.antiAffinity])
      for (const other of term.namespaces.length === 0 ? [namespace] : term.namespaces) namespaces.add(other);
  }
  return namespaces;
}
