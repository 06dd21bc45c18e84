import type { RowLabels } from "./labelBlock.ts";

/** How the bytes of a page were received, which decides whose labels it may carry. */
export type PageOrigin =
  /** From an exporter itself: `exported_*` can only be a pod's own label, and nothing has added the exporter's pod. */
  | "exporter"
  /** Through a Prometheus server (federation): its target labels may be in the place of the workload's. */
  | "prometheus"
  /** A file: like `prometheus`, and its last line may lack the newline. */
  | "file";

/** The workload that a row names. */
export interface RowWorkload {
  readonly namespace: string;
  readonly pod: string;
  readonly podUid: string | null;
  readonly container: string | null;
}

/** Containers of the exporter itself in the GPU Operator and in manifests. The stand-alone chart names it `exporter`. */
const exporterContainers: ReadonlySet<string> = new Set(["nvidia-dcgm-exporter", "dcgm-exporter"]);
const chartContainer = "exporter";

/**
 * The workload of a row by the rule that survives every scrape configuration: the exported set if there is one, then
 * the old spelling, then the plain one unless that is the scrape target's own pod.
 */
export function workloadOf(labels: RowLabels, origin: PageOrigin, targetPods: ReadonlySet<string>): RowWorkload | null {
  const isThroughServer = origin !== "exporter";
  const plain = (): RowWorkload | null => {
    if (labels.pod === null) return null;
    if (isThroughServer && (labels.container === chartContainer || targetPods.has(podKey(labels)))) return null;
    return workload(
      labels.pod,
      labels.exportedNamespace ?? labels.namespace,
      labels.podUid,
      labels.exportedContainer ?? labels.container,
    );
  };
  const old = (): RowWorkload | null =>
    workload(
      labels.oldPod,
      labels.oldNamespace ?? labels.exportedNamespace ?? labels.namespace,
      null,
      labels.oldContainer,
    );
  if (!isThroughServer) return plain() ?? old();
  const exported = workload(
    labels.exportedPod,
    labels.exportedNamespace ?? labels.namespace,
    labels.exportedPodUid ?? labels.podUid,
    labels.exportedContainer,
  );
  return exported ?? old() ?? plain();
}

/** The scrape targets' own pods: those that are beside an `exported_pod` anywhere in a page. */
export function targetPodsOf(rows: readonly { readonly labels: RowLabels }[], origin: PageOrigin): ReadonlySet<string> {
  const pods = new Set<string>();
  if (origin === "exporter") return pods;
  for (const { labels } of rows) if (labels.exportedPod !== null && labels.pod !== null) pods.add(podKey(labels));
  return pods;
}

function podKey(labels: RowLabels): string {
  return `${labels.namespace}/${labels.pod}`;
}

function workload(
  pod: string | null,
  namespace: string | null,
  podUid: string | null,
  container: string | null,
): RowWorkload | null {
  if (pod === null || isExporter(pod, container)) return null;
  return { namespace: namespace ?? "", pod, podUid, container };
}

function isExporter(pod: string, container: string | null): boolean {
  if (container !== null && exporterContainers.has(container)) return true;
  return (container === null || container === chartContainer) && pod.includes("dcgm-exporter");
}
