import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { z } from "zod";
import { type Browser, type BrowserPage, startChromium } from "../../test/e2e/headlessChromium.ts";
import { buildPage } from "./buildPage.ts";
import { dashboardSchema } from "./page/dashboardJson.ts";
import { heightOf, placePanels } from "./page/layout.ts";
import { servePage } from "./server/servePage.ts";

// Draws dashboards from a Prometheus in a headless Chromium: pictures, and a report of what can be seen of each panel.

/** What to draw, from which data, and into which folder. */
export interface ScreenshotOptions {
  /** Folder with dashboards (`*.json`). */
  readonly dashboards: string;
  readonly prometheus: string;
  /** The time at which all dashboards end, seconds since the epoch; `scrapeSeconds` is the time between two scrapes. */
  readonly now: number;
  readonly scrapeSeconds: number;
  readonly out: string;
  readonly widths: readonly number[];
  readonly themes: readonly ("light" | "dark")[];
  readonly rows: "as-they-are" | "open";
  /** Values of variables, as in an address: `var-team=ads`, or `fairlead-team:var-team=ads` for only one dashboard. */
  readonly variables: readonly string[];
  readonly onProgress: (line: string) => void;
}

const seen = z.array(
  z.object({
    id: z.number(),
    type: z.string(),
    title: z.string(),
    isReady: z.boolean(),
    series: z.number(),
    rows: z.number(),
    error: z.string().nullable(),
    saysNothing: z.boolean(),
    cut: z.array(z.string()),
    overlapping: z.array(z.string()),
  }),
);

/** The result of drawing one dashboard, in one theme and width. */
export interface DrawnDashboard {
  readonly dashboard: string;
  readonly theme: "light" | "dark";
  readonly width: number;
  readonly picture: string;
  readonly complaints: readonly string[];
  readonly panels: z.infer<typeof seen>;
}

const root = path.dirname(fileURLToPath(import.meta.url));
/** Height above the panels, and of the padding below them, in pixels. */
const aroundPanels = 84 + 16;
const patienceSeconds = 60;

/** Draws all dashboards of a folder. */
export async function drawDashboards(options: ScreenshotOptions): Promise<readonly DrawnDashboard[]> {
  const build = await mkdtemp(path.join(tmpdir(), "fairlead-preview-"));
  await buildPage(root, build);
  const served = await servePage({
    root,
    build,
    dashboards: path.resolve(options.dashboards),
    prometheus: options.prometheus,
  });
  const browser = await startChromium();
  await mkdir(options.out, { recursive: true });
  const drawn: DrawnDashboard[] = [];
  try {
    const files = (await readdir(options.dashboards)).filter((name) => name.endsWith(".json")).sort();
    for (const file of files)
      for (const theme of options.themes)
        for (const width of options.widths) {
          drawn.push(await drawOne(browser, served.url, file, theme, width, options));
          options.onProgress(`drew ${file} ${theme} ${width}`);
        }
  } finally {
    await browser.close();
    await served.close();
    await rm(build, { recursive: true, force: true });
  }
  return drawn;
}

async function drawOne(
  browser: Browser,
  url: string,
  file: string,
  theme: "light" | "dark",
  width: number,
  options: ScreenshotOptions,
): Promise<DrawnDashboard> {
  const json: unknown = JSON.parse(await readFile(path.join(options.dashboards, file), "utf8"));
  const { panels } = dashboardSchema.parse(json);
  const height = Math.ceil(heightOf(placePanels(panels, width, options.rows))) + aroundPanels;
  const page = await browser.open({ width, height, scheme: theme, headers: {} });
  const asked = new URLSearchParams({
    dashboard: file,
    theme,
    now: `${options.now}`,
    scrape: `${options.scrapeSeconds}`,
    rows: options.rows,
  });
  const name = path.basename(file, ".json");
  const variables = options.variables.flatMap((one) => {
    const [of, value] = one.startsWith("var-") ? [name, one] : one.split(":");
    return of === name && value !== undefined ? [value] : [];
  });
  await page.goto(`${url}/?${[asked.toString(), ...variables].join("&")}`);
  await untilDrawn(page, file);
  const picture = path.join(options.out, `${name}-${theme}-${width}.png`);
  await writeFile(picture, await settledScreenshot(page));
  const inspected = seen.parse(await page.evaluate("inspectPanels()"));
  const complaints = page.complaints.map((one) => one.slice(0, 600));
  // The tab is no longer needed, and its page holds the charts of a whole dashboard.
  await page.goto("about:blank");
  return { dashboard: file, theme, width, picture, complaints, panels: inspected };
}

/**
 * A screenshot of the page at rest. Parts that scroll are painted apart, some time after the rest, so a picture is good when a
 * second one is the same.
 */
async function settledScreenshot(page: BrowserPage): Promise<Buffer> {
  let last = await page.screenshot();
  for (let tries = 0; tries < 8; tries++) {
    await page.evaluate("new Promise((done) => setTimeout(done, 250))");
    const next = await page.screenshot();
    if (next.equals(last)) return next;
    last = next;
  }
  return last;
}

const state = z.object({ panels: z.number(), ready: z.number(), failed: z.string().nullable() });
const stateNow = `({
  panels: document.querySelectorAll("[data-panel]").length,
  ready: document.querySelectorAll("[data-panel][data-ready]").length,
  failed: document.documentElement.dataset.failed ?? null,
})`;

async function untilDrawn(page: BrowserPage, file: string): Promise<void> {
  const deadline = Date.now() + patienceSeconds * 1000;
  let last = { panels: 0, ready: 0 };
  while (Date.now() < deadline) {
    const now = state.parse(await page.evaluate(stateNow));
    if (now.failed !== null) throw new Error(`${file}: ${now.failed}`);
    if (now.panels > 0 && now.panels === now.ready) {
      // Icons are fetched after they are needed, and fonts after they are used.
      await page.evaluate("document.fonts.ready.then(() => new Promise((done) => setTimeout(done, 400)))");
      return;
    }
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(
    `${file}: ${last.ready} of ${last.panels} panels drawn in ${patienceSeconds} s; ${page.complaints.join("; ").slice(0, 2000)}`,
  );
}

/** The problems of the drawn dashboards, one on each line, with the pictures in which they occur. */
export function findings(drawn: readonly DrawnDashboard[]): readonly string[] {
  const where = new Map<string, string[]>();
  for (const { dashboard, theme, width, complaints, panels } of drawn) {
    const found = [
      ...complaints.map((one) => `console: ${one}`),
      ...panels.flatMap(({ title, error, rows, type, saysNothing, cut, overlapping }) => [
        ...(error === null ? [] : [`${title}: ${error}`]),
        ...(error === null && type !== "text" && (rows === 0 || saysNothing) ? [`${title}: no data`] : []),
        ...cut.map((text) => `${title}: cut off, ${text}`),
        ...overlapping.map((pair) => `${title}: overlap, ${pair}`),
      ]),
    ];
    for (const line of found) {
      const key = `${dashboard}: ${line}`;
      where.set(key, [...(where.get(key) ?? []), `${theme} ${width}`]);
    }
  }
  return [...where].map(([line, places]) => `${line} [${[...new Set(places)].join(", ")}]`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      dashboards: { type: "string", default: path.join(root, "../dist") },
      prometheus: { type: "string" },
      now: { type: "string", default: `${Math.floor(Date.now() / 1000)}` },
      scrape: { type: "string", default: "60" },
      out: { type: "string", default: path.join(root, "shots") },
      widths: { type: "string", default: "1440,1080" },
      themes: { type: "string", default: "light,dark" },
      rows: { type: "string", default: "open" },
      variable: { type: "string", multiple: true, default: [] },
    },
  });
  if (values.prometheus === undefined) throw new Error("--prometheus http://127.0.0.1:9090 is missing");
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const drawn = await drawDashboards({
    dashboards: values.dashboards,
    prometheus: values.prometheus,
    now: Number(values.now),
    scrapeSeconds: Number(values.scrape),
    out: values.out,
    widths: values.widths.split(",").map(Number),
    themes: values.themes.split(",").map((theme) => (theme === "dark" ? "dark" : "light")),
    rows: values.rows === "open" ? "open" : "as-they-are",
    variables: values.variable,
    onProgress: say,
  });
  await writeFile(path.join(values.out, "report.json"), `${JSON.stringify(drawn, null, 2)}\n`);
  for (const line of findings(drawn)) process.stdout.write(`${line}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
