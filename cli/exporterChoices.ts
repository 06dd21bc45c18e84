import type { Config } from "../exporter/config/schema.ts";
import type { ExporterChoice } from "../exporter/sources/kubernetes/selectors.ts";

/** Which pods are exporters, as the configuration says. */
export function exporterChoices({ dcgm }: Pick<Config, "dcgm">): readonly ExporterChoice[] {
  return dcgm.discovery.map(({ namespaces, matchLabels }) => ({
    namespaces,
    labelSelector: Object.entries(matchLabels)
      .map(([key, value]) => `${key}=${value}`)
      .join(","),
  }));
}
