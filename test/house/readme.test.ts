import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, test } from "vitest";
import { ruleFiles } from "../../alerts/output/ruleFiles.ts";
import { defaultAlerts } from "../../alerts/thresholds.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (page: string): string => readFileSync(join(root, page), "utf8");
const readme = read("README.md");

const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "CHANGELOG.md",
  ...["docs", "docs/decisions"].flatMap((folder) =>
    readdirSync(join(root, folder)).flatMap((name) => (name.endsWith(".md") ? [`${folder}/${name}`] : [])),
  ),
];

/** What a page links to on this side of the network: Markdown links, and `href` and `src` of its HTML. */
function linksOf(page: string): readonly string[] {
  const text = read(page).replace(/```[\s\S]*?```/g, "");
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)|(?:href|src)="([^"]+)"/g)].map(
    ([, link, html]) => link ?? html ?? "",
  );
  return targets.filter((target) => !/^[a-z]+:/.test(target));
}

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: string): ReadonlySet<string> {
  const headings = [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\- _]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

describe("README.md", () => {
  it("has at most 1,200 words", () => {
    expect(readme.split(/\s+/).length).toBeLessThanOrEqual(1200);
  });

  it("links to every page of docs", () => {
    const linked = new Set(linksOf("README.md").map((link) => link.replace(/#.*/, "")));
    const missing = pages.filter(
      (page) => page.startsWith("docs/") && !page.startsWith("docs/decisions/") && !linked.has(page),
    );
    expect(missing).toEqual([]);
  });

  it("says how many alerts and dashboards there are", () => {
    const rules = Object.entries(ruleFiles(defaultAlerts)).find(([name]) => name === "prometheusrule.yaml")?.[1] ?? "";
    const alerts = [...rules.matchAll(/^ *(?:- )?alert: (\S+)$/gm)].length;
    const dashboards = readdirSync(join(root, "dashboards/dist")).filter((name) => name.endsWith(".json")).length;
    expect({ alerts, dashboards }).toEqual({ alerts: 35, dashboards: 7 });
    for (const page of ["README.md", "docs/overview.md"]) {
      expect(read(page)).toMatch(/\b35\b.{0,4} alerts/);
      expect(read(page)).toMatch(/\bseven (?:Grafana )?dashboards/);
    }
  });
});

describe("links between the pages", () => {
  test.each(pages)("of %s lead to files and headings that exist", (page) => {
    const broken = linksOf(page).filter((link) => {
      const [path = "", anchor] = link.split("#");
      const target = path === "" ? page : join(dirname(page), path);
      if (!existsSync(join(root, target))) return true;
      return anchor !== undefined && target.endsWith(".md") && !anchorsOf(target).has(anchor);
    });
    expect(broken).toEqual([]);
  });
});
