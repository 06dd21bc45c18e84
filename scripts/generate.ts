import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { alertsReference } from "../alerts/output/reference.ts";
import { ruleFiles } from "../alerts/output/ruleFiles.ts";
import { defaultAlerts } from "../alerts/thresholds.ts";
import { dashboardFiles } from "../dashboards/output/dashboardFiles.ts";
import { dashboardsReference } from "../dashboards/output/reference.ts";
import { defaultDashboards } from "../dashboards/settings.ts";
import { metricsReference } from "../exporter/catalogue/reference.ts";
import { configReference } from "../exporter/config/reference.ts";
import { buildOpenApi } from "../exporter/publish/http/openapi.ts";

// Writes what is generated from code; with --check, only says what is out of date, and fails if anything is.

const generated: Readonly<Record<string, string>> = {
  "docs/metrics.md": metricsReference(),
  "docs/config.md": configReference(),
  "docs/alerts.md": alertsReference(),
  "docs/dashboards.md": dashboardsReference(),
  "docs/openapi.json": `${JSON.stringify(buildOpenApi(), null, 2)}\n`,
  ...Object.fromEntries(Object.entries(ruleFiles(defaultAlerts)).map(([name, text]) => [`alerts/dist/${name}`, text])),
  ...Object.fromEntries(
    Object.entries(dashboardFiles(defaultDashboards, defaultAlerts)).map(([name, text]) => [
      `dashboards/dist/${name}`,
      text,
    ]),
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

function current(file: URL): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}
