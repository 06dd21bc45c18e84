import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { defaultAlerts } from "../../alerts/thresholds.ts";
import { dashboardFiles } from "../../dashboards/output/dashboardFiles.ts";
import { defaultDashboards } from "../../dashboards/settings.ts";
import { type GivenValues, staticRelease } from "../../deploy/output/staticFiles.ts";
import { type Helm, startHelm } from "./deployHelm.ts";

let helm: Helm;
beforeAll(async () => {
  helm = await startHelm();
});
afterAll(async () => await helm?.stop());

const release = { ...staticRelease, apiVersions: ["monitoring.coreos.com/v1"] };
const configMap = z.object({ data: z.record(z.string(), z.string()) });

/** The dashboards of the chart by file name, as Grafana reads them. */
async function dashboardsOf(values: GivenValues): Promise<Readonly<Record<string, unknown>>> {
  const objects = await helm.objects(values, release);
  const found = objects.filter(({ metadata }) => metadata.name.includes("-dashboard-"));
  const texts = Object.assign({}, ...found.map((object) => configMap.parse(object).data));
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, JSON.parse(String(text))]));
}

const linksOfField = z.looseObject({ id: z.literal("links") });

/** The same without any link: those of dashboards, panels and fields, and those in texts. */
function withoutLinks(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, part: unknown) => {
      if (key === "links") return [];
      if (linksOfField.safeParse(part).success) return { id: "links" };
      return typeof part === "string" ? part.replaceAll(/\[([^[\]]*)\]\(https:\/\/[^)]*\)/g, "$1") : part;
    }),
  );
}

const addressed = { links: { fairlead: "https://gpu.example.com/f", grafana: "https://grafana.example.com" } };

describe("the links of the chart", () => {
  it("are nowhere by default, not even as an example", async () => {
    const text = JSON.stringify(await helm.objects({}, release));
    expect(text.length).toBeGreaterThan(100_000);
    expect(text.match(/.{40}(?:example\.org|\.invalid).{20}/g) ?? []).toEqual([]);
  });

  it("lead to the installation in alerts and dashboards, where its address is known", async () => {
    const text = JSON.stringify(await helm.objects(addressed, release));
    expect(text).not.toMatch(/example\.org|\.invalid/);
    for (const address of ["gpu.example.com/f/recommendations", "gpu.example.com/f/runbooks/gputeamstarved.md"])
      expect(text).toContain(`https://${address}`);
    const fairleadUrl = addressed.links.fairlead;
    const alerts = { ...defaultAlerts, fairleadUrl, runbookUrl: `${fairleadUrl}/runbooks/{alert}.md` };
    const all = Object.entries(dashboardFiles(defaultDashboards, alerts))
      .filter(([name]) => /^fairlead-[a-z]+\.json$/.test(name))
      .map(([name, made]) => [name, JSON.parse(made)]);
    expect(await dashboardsOf(addressed)).toEqual(Object.fromEntries(all));
  });

  it("are all that dashboards lack without an address", async () => {
    const [bare, full] = [await dashboardsOf({}), await dashboardsOf(addressed)];
    expect(Object.keys(bare)).toHaveLength(7);
    expect(withoutLinks(bare)).toEqual(withoutLinks(full));
    // Those from one dashboard to another stay.
    expect(JSON.stringify(bare).match(/"url":"[^"]+"/g)?.length).toBeGreaterThan(10);
  });
});
