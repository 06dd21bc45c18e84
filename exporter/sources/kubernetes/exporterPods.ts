import type { Problem } from "../../model/problem.ts";
import { controllerOf, type ObjectMeta } from "./decoded.ts";
import { child, has, items, number, type Place, text } from "./fields.ts";
import { isReady } from "./podStatus.ts";
import type { ExporterPod } from "./state.ts";

/** Selects the pods that are exporters, only in named namespaces: in others anyone could put these labels on a pod. */
export interface ExporterSelector {
  readonly namespaces: readonly string[];
  /** The labels that a pod must all have. Without any, a selector would select every pod, so it selects none. */
  readonly matchLabels: Readonly<Record<string, string>>;
  /** Whether they report what processes of pods use, and not devices. */
  readonly isOfProcesses?: boolean;
}

const labelKey = /^[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?$/;
const labelText = /^[A-Za-z0-9._-]*$/;

/** A problem for each selector that can match no pod: it has no label, or one that no object can have. */
export function selectorProblems(selectors: readonly ExporterSelector[]): readonly Problem[] {
  return selectors.flatMap(({ matchLabels }): readonly Problem[] => {
    const labels = Object.entries(matchLabels);
    if (labels.length > 0 && labels.every(([key, value]) => labelKey.test(key) && labelText.test(value))) return [];
    const shown = labels.map(([key, value]) => `${key}=${value}`).join(",");
    return [
      {
        source: "kubernetes",
        code: "bad-selector",
        severity: "error",
        subject: shown,
        message: `"${shown}" is not a label selector, so it finds no exporters.`,
        nextStep: "Give dcgm.discovery[].matchLabels labels that Kubernetes allows, such as app: nvidia-dcgm-exporter.",
      },
    ];
  });
}

/** Whether a pod is in a namespace in which exporters are selected. */
export function mayBeExporter({ namespace }: ObjectMeta, selectors: readonly ExporterSelector[]): boolean {
  return selectors.some(({ namespaces }) => namespaces.includes(namespace));
}

/**
 * The address at which to scrape a pod, if a selector matches it, it is bound, it has an address and it has neither ended nor
 * begun to end; else `null`.
 */
export function exporterPod(
  object: Place,
  meta: ObjectMeta,
  selectors: readonly ExporterSelector[],
): ExporterPod | null {
  if (!mayBeExporter(meta, selectors)) return null;
  const metadata = child(object, "metadata");
  const labels = child(metadata, "labels").value;
  const selected = selectors.find(
    ({ namespaces, matchLabels }) =>
      namespaces.includes(meta.namespace) && Object.keys(matchLabels).length > 0 && hasLabels(labels, matchLabels),
  );
  const status = child(object, "status");
  const phase = text(status, "phase");
  if (selected === undefined || phase === "Succeeded" || phase === "Failed" || has(metadata, "deletionTimestamp"))
    return null;
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
    ...(selected.isOfProcesses === true ? { isOfProcesses: true } : {}),
  };
}

/** Whether an object has all of these labels. */
export function hasLabels(labels: Readonly<Record<string, unknown>>, wanted: ExporterSelector["matchLabels"]): boolean {
  const names = Object.keys(wanted);
  return names.every((name) => Object.hasOwn(labels, name) && labels[name] === wanted[name]);
}

/** Container ports by name. */
export function portsByName(spec: Place): ExporterPod["ports"] {
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
