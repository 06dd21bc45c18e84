import type { z } from "zod";
import type { ChartVersion } from "./chart.ts";
import { valuesJsonSchema } from "./valuesJsonSchema.ts";

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** The chart's README: how it is installed, and all values. */
export function valuesReference({ name, version, appVersion }: ChartVersion, firstLine: string): string {
  const lines = [
    `<!-- ${firstLine} -->`,
    "",
    `# Helm chart ${name} ${version} (Fairlead ${appVersion})`,
    "",
    "```sh",
    `helm install ${name} deploy/dist/helm/${name} --namespace fairlead --create-namespace \\`,
    "  --set image.registry=registry.example.org/team --set config.cluster=harbor",
    "```",
    "",
    "It installs one replica that may read and not write, beside the GPU Operator (or dcgm-exporter) and Prometheus that are there.",
    "Where the cluster has the Prometheus Operator, a ServiceMonitor and all alerts come with it; dashboards come as ConfigMaps that",
    "Grafana's sidecar finds. `values.schema.json` refuses values that are not below, and settings that Fairlead does not know, before",
    "anything is installed. Installing, sizing, upgrading, back-up, troubleshooting: `docs/operations.md` of the project.",
    "",
    "## Values",
    "",
    "| value | default | meaning |",
    "|---|---|---|",
    ...rows(valuesJsonSchema(), ""),
  ];
  return `${lines.join("\n")}\n`;
}

/** A row for each value; the configuration has a reference of its own. */
function rows(schema: JsonSchema, prefix: string): readonly string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    if (typeof property !== "object") return [];
    const path = `${prefix}${name}`;
    if (property.properties !== undefined && path !== "config" && path !== "prices") return rows(property, `${path}.`);
    const preset = JSON.stringify(property.default) ?? "";
    return [`| \`${path}\` | \`${preset}\` | ${(property.description ?? "").replaceAll("|", "\\|")} |`];
  });
}
