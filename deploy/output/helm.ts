import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type GivenValues, staticRelease } from "./staticFiles.ts";

/** The folder of the Helm chart. */
export const chartFolder = fileURLToPath(new URL("../helm/fairlead", import.meta.url));

/** The text of the chart's values.yaml. */
export const chartValues = (): string => readFileSync(`${chartFolder}/values.yaml`, "utf8");

/**
 * The output of `helm template` for the chart with some values, in the static release. Throws Helm's own message where it
 * refuses them.
 */
export function helmTemplate(helm: string, values: GivenValues): string {
  const { name, namespace } = staticRelease;
  return execFileSync(helm, ["template", name, chartFolder, `--namespace=${namespace}`, "--values=-"], {
    encoding: "utf8",
    input: JSON.stringify(values),
    maxBuffer: 1 << 27,
  });
}
