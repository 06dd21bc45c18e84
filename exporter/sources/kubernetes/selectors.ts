import type { Problem } from "../../model/problem.ts";
import type { ExporterSelector } from "./exporterPods.ts";
import { parseLabelSelector } from "./labelSelector.ts";

/** Where exporters run by configuration: a selector as `kubectl -l` takes it, only in these namespaces. */
export interface ExporterChoice {
  readonly namespaces: readonly string[];
  readonly labelSelector: string;
}

/** The selectors that can be used, and a problem for each that cannot. */
export function readSelectors(choices: readonly ExporterChoice[]): {
  readonly usable: readonly ExporterSelector[];
  readonly problems: readonly Problem[];
} {
  const usable: ExporterSelector[] = [];
  const problems: Problem[] = [];
  for (const { namespaces, labelSelector } of choices) {
    const labels = parseLabelSelector(labelSelector);
    if (labels !== null) usable.push({ namespaces: new Set(namespaces), labels });
    else {
      problems.push({
        source: "kubernetes",
        code: "bad-selector",
        severity: "error",
        subject: labelSelector,
        message: `"${labelSelector}" is not a label selector, so it finds no exporters.`,
        nextStep: 'Write it as "kubectl get pods -l" takes it, for example app=nvidia-dcgm-exporter.',
      });
    }
  }
  return { usable, problems };
}
