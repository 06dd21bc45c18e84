import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PlayedCluster, playCluster } from "../../cli/demo/playCluster.ts";
import { playFully } from "../../cli/demo/playFully.ts";
import { type LedgerOutput, prepareLedger } from "../../cli/ledgerOutput.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { openWebConfig } from "../../exporter/config/webConfig.ts";
import { type RunningServer, startServer } from "../../exporter/publish/http/server.ts";
import { parseReview } from "../../review/json/parseReview.ts";
import { weekScenario } from "../../simulator/scenarios/advice/week.ts";
import { type Browser, type BrowserPage, hasChromium, startChromium, type Viewport } from "./headlessChromium.ts";
import { contrasts, faint, focus, focused, openAll, sides, widths } from "./pageExpressions.ts";

if (!hasChromium) process.stderr.write("skipped: chromium is not installed (Debian package chromium)\n");

const cycleSeconds = 600;
const cycles = 18;
const paths = ["/", "/recommendations", "/review"] as const;

describe("the pages of a running exporter that keeps a ledger", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "fairlead-pages-"));
  let ledger: LedgerOutput | null = null;
  let cluster: PlayedCluster | null = null;
  let server: RunningServer | null = null;
  let browser: Browser | null = null;
  let url = "";

  beforeAll(async () => {
    const config = configSchema.parse({
      cluster: "harbor",
      interval: cycleSeconds,
      teams: [{ from: "namespace-label", key: "team" }],
      ledger: { path: path.join(folder, "ledger.db") },
      cost: { budgets: [{ team: "search", perMonth: 20_000, currency: "USD" }] },
    });
    const prepared = await prepareLedger(config);
    if (!prepared.ok || prepared.output === null) throw new Error("no ledger");
    ledger = prepared.output;
    const startAt = Date.parse("2026-11-18T08:00:00Z") / 1000;
    cluster = await playCluster({ scenario: weekScenario(), seed: 7, startAt, config, stack: { ledger } });
    await playFully(cluster, 0);
    for (let cycle = 0; cycle < cycles; cycle++) await playFully(cluster, cycleSeconds);
    const started = await startServer({
      handler: cluster.stack.app,
      listenAddress: "127.0.0.1:0",
      web: openWebConfig,
      onProblem: () => {},
    });
    if (!started.ok) throw new Error(started.error);
    server = started.server;
    url = server.url;
    if (hasChromium) browser = await startChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    await cluster?.stop();
    await ledger?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function look(viewport: Partial<Viewport> = {}): Promise<BrowserPage> {
    if (browser === null) throw new Error("no browser");
    return browser.open({ width: 1200, height: 900, scheme: "light", headers: {}, ...viewport });
  }

  test("the review of the week that goes on is served in every format, with the same numbers", async () => {
    const json = await fetch(`${url}/review?format=json`);
    expect(json.headers.get("content-type")).toBe("application/json; charset=utf-8");
    const parsed = parseReview(await json.text());
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
    const { review } = parsed;
    expect(review.window).toMatchObject({ label: "2026-W47", isOver: false });
    expect(review.teams.length).toBeGreaterThan(3);
    expect(review.coverage.ratio).toBeGreaterThan(0.03);
    const csv = await (await fetch(`${url}/review?format=csv`)).text();
    expect(csv).toContain(`${review.periods.at(-1)?.capacity ?? Number.NaN}`);
    for (const [format, type] of [
      ["html", "text/html; charset=utf-8"],
      ["markdown", "text/markdown; charset=utf-8"],
    ] as const) {
      const answer = await fetch(`${url}/review?format=${format}`);
      expect(answer.headers.get("content-type")).toBe(type);
      expect(await answer.text()).toContain("harbor");
    }
  });

  test("what cannot be written says why, and what to ask instead", async () => {
    const ask = async (query: string) => {
      const answer = await fetch(`${url}/review?${query}`);
      return [answer.status, await answer.text()];
    };
    expect(await ask("week=2026-W99")).toEqual([
      400,
      '"2026-W99" is no week\nNext step: Write it as 2026-W46 (ISO 8601, from Monday).\n',
    ]);
    expect(await ask("format=pdf")).toEqual([
      400,
      "this format is not known\nNext step: Use one of: html, markdown, json, csv.\n",
    ]);
    expect(await ask("weak=1")).toEqual([400, expect.stringContaining("there is no parameter weak")]);
    expect(await ask("compare=99")).toEqual([400, expect.stringContaining("from 0 to 26")]);
    expect(await ask("week=2020-W10&format=json")).toEqual([404, expect.stringContaining('"nextStep"')]);
  });

  test.skipIf(!hasChromium)("all three show their content without a complaint, and ask no other host", async () => {
    const page = await look();
    for (const [at, text] of [
      ["/", "Fairlead"],
      ["/recommendations", "Do now"],
      ["/review", "GPU capacity review"],
    ] as const) {
      await page.goto(`${url}${at}`);
      await page.evaluate(openAll);
      expect(await page.evaluate("document.body.innerText"), at).toContain(text);
      // The page's own script and icon are in it; nothing is asked for elsewhere.
      const elsewhere = "script:not(#refresher), link:not([rel=icon][href^='data:']), img, iframe";
      expect(await page.evaluate(`document.querySelectorAll("${elsewhere}").length`), at).toBe(0);
      expect(await page.evaluate("document.querySelector('nav a[aria-current]').getAttribute('href')")).toBe(at);
    }
    // Its style sheet was let in, and drew the charts.
    expect(await page.evaluate("document.querySelectorAll('svg').length")).toBeGreaterThan(5);
    expect(page.complaints).toEqual([]);
    expect(page.requests.filter((one) => !one.startsWith(`${url}/`))).toEqual([]);
  });

  test.skipIf(!hasChromium)("all three share one look: fonts, colours, and the links between them", async () => {
    const page = await look();
    const looks: unknown[] = [];
    for (const at of paths) {
      await page.goto(`${url}${at}`);
      looks.push(
        await page.evaluate(`(() => {
          const of = (name) => { const { fontFamily, fontSize, color, backgroundColor } = getComputedStyle(document.querySelector(name)); return [fontFamily, fontSize, color, backgroundColor]; };
          return [of("body"), of("h1"), of("h2"), of("nav a:not([aria-current])"), [...document.querySelectorAll("nav a")].map((one) => one.getAttribute("href"))];
        })()`),
      );
    }
    expect(looks[1]).toEqual(looks[0]);
    expect(looks[2]).toEqual(looks[0]);
  });

  test.skipIf(!hasChromium)("all three are reached by keyboard from each other", async () => {
    const page = await look();
    await page.goto(`${url}/`);
    for (const [text, at] of [
      ["Review", "/review"],
      ["Recommendations", "/recommendations"],
      ["Now", "/"],
    ] as const) {
      let found = false;
      for (let presses = 0; presses < 6 && !found; presses++) {
        await page.press("Tab");
        const now = focus.parse(await page.evaluate(focused));
        expect(now.hasOutline, now.text).toBe(true);
        found = now.text === text;
      }
      expect(found, text).toBe(true);
      const answered = page.loaded();
      await page.press("Enter");
      await answered;
      expect(await page.evaluate("location.pathname")).toBe(at);
    }
  });

  /** Every kind of page: the three, the lists, and the first name of each list. */
  async function everyPath(): Promise<readonly string[]> {
    const lists = ["/teams", "/queues", "/nodes", "/workloads"];
    const names = lists.map(async (list) => {
      const [, name] = new RegExp(`href="(${list}/[^"]+)"`).exec(await (await fetch(`${url}${list}`)).text()) ?? [];
      if (name === undefined) throw new Error(`no name on ${list}`);
      return name;
    });
    return [...paths, ...lists, ...(await Promise.all(names))];
  }

  test.skipIf(!hasChromium).each([375, 768, 1200, 1440])("no page is wider than a window of %i px", async (width) => {
    const page = await look({ width, height: 900 });
    for (const at of await everyPath()) {
      await page.goto(`${url}${at}`);
      await page.evaluate(openAll);
      // A scroll bar takes its part of a window on a desk.
      const { page: own, window } = sides.parse(await page.evaluate(widths));
      expect(window, at).toBe(width);
      expect(own, at).toBeLessThanOrEqual(width);
    }
  });

  test.skipIf(!hasChromium).each(["light", "dark"] as const)(
    "every page has contrast (WCAG AA): %s",
    async (scheme) => {
      const page = await look({ scheme });
      for (const at of await everyPath()) {
        await page.goto(`${url}${at}`);
        await page.evaluate(openAll);
        const { found, looked } = contrasts.parse(await page.evaluate(faint));
        expect(found, at).toEqual([]);
        expect(looked, at).toBeGreaterThan(10);
      }
    },
  );

  test.skipIf(!hasChromium)(
    "every page is read by keyboard alone: what has the focus is seen, and all links get it",
    async () => {
      const page = await look();
      const most = 80;
      for (const at of await everyPath()) {
        await page.goto(`${url}${at}`);
        const links = Number(
          await page.evaluate(
            "[...document.querySelectorAll('a[href]')].filter((one) => one.checkVisibility()).length",
          ),
        );
        let reached = 0;
        for (let presses = 0; presses < most; presses++) {
          await page.press("Tab");
          const now = focus.parse(await page.evaluate(focused));
          if (now.name === "body") break;
          expect(now.hasOutline, `${at}: ${now.text.slice(0, 60)}`).toBe(true);
          if (now.name === "a") reached += 1;
        }
        expect(reached, at).toBeGreaterThanOrEqual(Math.min(links, most / 2));
      }
    },
  );
});
