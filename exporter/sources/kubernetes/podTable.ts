import type { Pod } from "../../model/pod.ts";
import type { DecodedPod } from "./decodePod.ts";
import { createRowTable, type ObjectTable, type RowTable } from "./objectTable.ts";
import { createPodColumns, type NodeRequests, type PodColumns } from "./podColumns.ts";
import type { ExporterPod } from "./state.ts";

/** The cache of pods: a row of columns for each, the whole record only of those with GPUs, addresses of exporters. */
export interface PodTable extends ObjectTable<DecodedPod> {
  gpuPods(): readonly Pod[];
  /** Grows only when a pod with GPUs, or an exporter, changes. */
  readonly gpuRevision: number;
  readonly exporterRevision: number;
  exporterPods(): readonly ExporterPod[];
  /** Requests of all pods that are bound and have not ended, by node; the same map until a pod changes. */
  requestsByNode(): ReadonlyMap<string, NodeRequests>;
}

export function createPodTable(): PodTable {
  let columns = createPodColumns();
  const gpuPods = createRowTable<Pod>();
  const exporters = createRowTable<ExporterPod>();
  let revision = 0;
  let requests: { readonly revision: number; readonly byNode: ReadonlyMap<string, NodeRequests> } | null = null;

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
      columns.put({ ...row.pod, uid });
      putOrRemove(gpuPods, uid, row.gpuPod);
      putOrRemove(exporters, uid, row.exporterPod);
      revision += 1;
    },
    remove: (uid) => {
      columns.remove(uid);
      gpuPods.remove(uid);
      exporters.remove(uid);
      revision += 1;
    },
    startReplacement: () => {
      const fresh: PodColumns = createPodColumns();
      const freshGpuPods = gpuPods.startReplacement();
      const freshExporters = exporters.startReplacement();
      return {
        add: (uid, row) => {
          fresh.put({ ...row.pod, uid });
          if (row.gpuPod !== null) freshGpuPods.add(uid, row.gpuPod);
          if (row.exporterPod !== null) freshExporters.add(uid, row.exporterPod);
        },
        commit: () => {
          columns = fresh;
          freshGpuPods.commit();
          freshExporters.commit();
          revision += 1;
        },
      };
    },
    gpuPods: () => gpuPods.rows(),
    exporterPods: () => exporters.rows(),
    requestsByNode: () => {
      if (requests?.revision !== revision) requests = { revision, byNode: columns.requestsByNode() };
      return requests.byNode;
    },
  };
}

function putOrRemove<Row>(table: RowTable<Row>, uid: string, row: Row | null): void {
  if (row === null) table.remove(uid);
  else table.put(uid, row);
}
