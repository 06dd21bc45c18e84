import { controllerOf, type ObjectMeta } from "./decoded.ts";
import { child, has, items, number, type Place, text } from "./fields.ts";
import { type LabelSelector, matchesLabels } from "./labelSelector.ts";
import { isReady } from "./podStatus.ts";
import type { ExporterPod } from "./state.ts";

/** Which pods are exporters. Only in named namespaces: elsewhere anyone could put such a label on a pod. */
export interface ExporterSelector {
  readonly namespaces: ReadonlySet<string>;
  readonly labels: LabelSelector;
}

/** Whether a pod is where exporters are. */
export function mayBeExporter({ namespace }: ObjectMeta, selectors: readonly ExporterSelector[]): boolean {
  return selectors.some(({ namespaces }) => namespaces.has(namespace));
}

/** Where to scrape a pod, if a selector matches it, it is bound, has an address and has not ended or begun to. */
export function exporterPod(
  object: Place,
  meta: ObjectMeta,
  selectors: readonly ExporterSelector[],
): ExporterPod | null {
  if (!mayBeExporter(meta, selectors)) return null;
  const metadata = child(object, "metadata");
  const labels = child(metadata, "labels").value;
  const isSelected = selectors.some(
    (selector) => selector.namespaces.has(meta.namespace) && matchesLabels(selector.labels, labels),
  );
  const status = child(object, "status");
  const phase = text(status, "phase");
  if (!isSelected || phase === "Succeeded" || phase === "Failed" || has(metadata, "deletionTimestamp")) return null;
  const spec = child(object, "spec");
  const nodeName = text(spec, "nodeName");
  const podIp = text(status, "podIP");
  if (!nodeName || !podIp) return null;
  const { namespace, name, uid, createdAt } = meta;
  const owner = controllerOf(object);
  return {
    namespace,
    name,
    uid,
    nodeName,
    podIp,
    ports: portsByName(spec),
    ready: isReady(status),
    createdAt,
    owner: owner === null ? null : { kind: owner.kind, name: owner.name },
  };
}

function portsByName(spec: Place): ExporterPod["ports"] {
  const ports: Record<string, number> = Object.create(null);
  for (const container of items(spec, "containers")) {
    for (const port of items(container, "ports")) {
      const name = text(port, "name");
      const found = number(port, "containerPort");
      if (name !== null && name !== "__proto__" && found !== null) ports[name] = found;
    }
  }
  return ports;
}
