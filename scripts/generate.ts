import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { alertsReference } from "../alerts/output/reference.ts";
import { ruleFiles } from "../alerts/output/ruleFiles.ts";
import { defaultAlerts } from "../alerts/thresholds.ts";
import { readVersion } from "../cli/version.ts";
import { dashboardFiles } from "../dashboards/output/dashboardFiles.ts";
import { dashboardsReference } from "../dashboards/output/reference.ts";
import { defaultDashboards } from "../dashboards/settings.ts";
import { deployFiles } from "../deploy/output/deployFiles.ts";
import { metricsReference } from "../exporter/catalogue/reference.ts";
import { configReference } from "../exporter/config/reference.ts";
import { buildOpenApi } from "../exporter/publish/http/openapi.ts";
import { dependenciesPage } from "./dependenciesPage.ts";
import { operationsGuide } from "./operationsGuide.ts";
import { trustedLabelsReference } from "./trustedLabels.ts";

// Writes what is generated from code; with --check, only says what is out of date, and fails if anything is.

const generated: Readonly<Record<string, string>> = {
  "docs/metrics.md": metricsReference(),
  "docs/config.md": configReference(),
  "docs/alerts.md": alertsReference(),
  "docs/dashboards.md": dashboardsReference(),
  "docs/operations.md": operationsGuide(),
  "docs/trusted-labels.md": trustedLabelsReference(),
  "docs/dependencies.md": dependenciesPage(),
  "docs/openapi.json": `${JSON.stringify(buildOpenApi(), null, 2)}\n`,
  ...Object.fromEntries(Object.entries(ruleFiles(defaultAlerts)).map(([name, text]) => [`alerts/dist/${name}`, text])),
  ...Object.fromEntries(
    Object.entries(dashboardFiles(defaultDashboards, defaultAlerts)).map(([name, text]) => [
      `dashboards/dist/${name}`,
      text,
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(deployFiles(readVersion())).map(([name, text]) => [`deploy/dist/${name}`, text]),
  ),
};

const check = process.argv.includes("--check");
for (const [name, text] of Object.entries(generated)) {
  const file = new URL(`../${name}`, import.meta.url);
  if (current(file) === text) continue;
  if (check) {
    console.error(`${name} is out of date. Run: npm run generate`);
    process.exitCode = 1;
  } else {
    mkdirSync(new URL(".", file), { recursive: true });
    writeFileSync(file, text);
    console.log(`wrote ${name}`);
  }
}

// What is generated no longer must not stay behind: kustomize and Helm would go on installing it.
for (const folder of ["alerts/dist", "dashboards/dist", "deploy/dist"]) {
  const root = new URL(`../${folder}/`, import.meta.url);
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const name = `${folder}/${relative(fileURLToPath(root), join(entry.parentPath, entry.name))}`;
    if (!entry.isFile() || Object.hasOwn(generated, name)) continue;
    if (check) {
      console.error(`${name} is generated no longer. Run: npm run generate`);
      process.exitCode = 1;
    } else {
      rmSync(new URL(`../${name}`, import.meta.url));
      console.log(`removed ${name}`);
    }
  }
}

function current(file: URL): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}
