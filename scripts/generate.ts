import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { alertmanagerExamples } from "../alerts/alertmanager/alertmanagerFiles.ts";
import { alertsReference } from "../alerts/output/reference.ts";
import { ruleFiles } from "../alerts/output/ruleFiles.ts";
import { defaultAlerts } from "../alerts/thresholds.ts";
import { dashboardFiles } from "../dashboards/output/dashboardFiles.ts";
import { dashboardsReference } from "../dashboards/output/reference.ts";
import { defaultDashboards } from "../dashboards/settings.ts";
import { chartFiles } from "../deploy/output/chartFiles.ts";
import { below, type Files } from "../deploy/output/files.ts";
import { chartValues, helmTemplate } from "../deploy/output/helm.ts";
import { staticFiles } from "../deploy/output/staticFiles.ts";
import { metricsReference } from "../exporter/catalogue/reference.ts";
import { configReference } from "../exporter/config/reference.ts";
import { buildOpenApi } from "../exporter/publish/http/openapi.ts";
import { chartReadme } from "./chartReadme.ts";
import { dependenciesPage } from "./dependenciesPage.ts";
import { foundHelm, helmScript } from "./foundHelm.ts";
import { nowRole } from "./nowRole.ts";
import { operationsGuide } from "./operationsGuide.ts";
import { trustedLabelsReference } from "./trustedLabels.ts";

// Writes everything that is generated from code; with --check, only reports what is out of date, and fails if anything is.

const fromCode: Files = {
  "docs/metrics.md": metricsReference(),
  "docs/config.md": configReference(),
  "docs/alerts.md": alertsReference(),
  "docs/dashboards.md": dashboardsReference(),
  "docs/operations.md": operationsGuide(),
  "docs/trusted-labels.md": trustedLabelsReference(),
  "docs/dependencies.md": dependenciesPage(),
  "docs/openapi.json": `${JSON.stringify(buildOpenApi(), null, 2)}\n`,
  ...Object.fromEntries(
    Object.entries(alertmanagerExamples(defaultAlerts)).map(([name, text]) => [`alerts/dist/${name}`, text]),
  ),
  ...Object.fromEntries(Object.entries(ruleFiles(defaultAlerts)).map(([name, text]) => [`alerts/dist/${name}`, text])),
  ...Object.fromEntries(
    Object.entries(dashboardFiles(defaultDashboards, defaultAlerts)).map(([name, text]) => [
      `dashboards/dist/${name}`,
      text,
    ]),
  ),
  "deploy/helm/fairlead/README.md": chartReadme(),
  ...below("deploy/helm/fairlead", chartFiles(chartValues())),
  "deploy/now-role.yaml": nowRole(),
};

const check = process.argv.includes("--check");
write(fromCode, ["alerts/dist", "dashboards/dist", "deploy/helm/fairlead/files"]);

// Helm reads the chart as it is on the disk now.
const helm = foundHelm();
if (helm === null && !check) {
  console.warn(
    `deploy/dist is as it was: it is made of the chart by a Helm, which is not here. If the chart has changed, run: bash ${helmScript}, then npm run generate`,
  );
} else if (helm !== null) {
  write(
    below(
      "deploy/dist",
      staticFiles((values) => helmTemplate(helm, values)),
    ),
    ["deploy/dist"],
  );
}

/** Writes files, and removes all other files from folders: kustomize and Helm would continue to install them. */
function write(generated: Files, folders: readonly string[]): void {
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
  for (const folder of folders) {
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
}

function current(file: URL): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}
