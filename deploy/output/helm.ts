import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type GivenValues, staticRelease } from "./staticFiles.ts";

/** Where the Helm chart is. */
export const chartFolder = fileURLToPath(new URL("../helm/fairlead", import.meta.url));

/** The text of the chart's values.yaml. */
export const chartValues = (): string => readFileSync(`${chartFolder}/values.yaml`, "utf8");

/** What `helm template` prints of the chart for values, in the static release; throws what Helm says where it refuses them. */
export function helmTemplate(helm: string, values: GivenValues): string {
  const { name, namespace } = staticRelease;
  return execFileSync(helm, ["template", name, chartFolder, `--namespace=${namespace}`, "--values=-"], {
    encoding: "utf8",
    input: JSON.stringify(values),
    maxBuffer: 1 << 27,
  });
}
