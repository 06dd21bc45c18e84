import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { defaultAlerts } from "../../../alerts/thresholds.ts";
import { dashboardFiles } from "../../../dashboards/output/dashboardFiles.ts";
import { defaultDashboards } from "../../../dashboards/settings.ts";

const dist = path.join(import.meta.dirname, "../../../dashboards/dist");
const files = dashboardFiles(defaultDashboards, defaultAlerts);

// What Grafana's documentation of file provisioning names, and nothing else.
const providers = z.strictObject({
  apiVersion: z.literal(1),
  providers: z.tuple([
    z.strictObject({
      name: z.string(),
      orgId: z.number(),
      folder: z.string(),
      type: z.literal("file"),
      disableDeletion: z.boolean(),
      allowUiUpdates: z.boolean(),
      updateIntervalSeconds: z.number(),
      options: z.strictObject({ path: z.string(), foldersFromFilesStructure: z.boolean() }),
    }),
  ]),
});
const datasources = z.strictObject({
  apiVersion: z.literal(1),
  datasources: z.tuple([
    z.strictObject({
      name: z.string(),
      type: z.literal("prometheus"),
      access: z.literal("proxy"),
      url: z.url(),
      isDefault: z.boolean(),
      jsonData: z.strictObject({ timeInterval: z.string(), httpMethod: z.literal("POST") }),
    }),
  ]),
});

describe("dashboards/dist", () => {
  test.each(Object.entries(files))("%s is what the code makes (else: npm run generate)", (name, text) => {
    expect(readFileSync(path.join(dist, name), "utf8")).toBe(text);
  });

  test("has nothing else", () => {
    const there = readdirSync(dist, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(dist, path.join(entry.parentPath, entry.name)));
    expect(there.sort()).toEqual(Object.keys(files).sort());
  });

  test("is the same bytes each time", () => {
    expect(dashboardFiles(defaultDashboards, defaultAlerts)).toEqual(files);
  });

  test("has what makes Grafana read it", () => {
    expect(providers.parse(parse(files["provisioning/dashboards/fairlead.yaml"] ?? "")).providers[0].folder).toBe(
      "Fairlead",
    );
    const [datasource] = datasources.parse(parse(files["provisioning/datasources/fairlead.yaml"] ?? "")).datasources;
    expect(datasource.isDefault).toBe(true);
  });
});
