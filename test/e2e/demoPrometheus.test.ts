import { existsSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { alertNames } from "../../alerts/alertList.ts";
import { previewRoot } from "../../cli/demo/boards/preview.ts";
import { demoSettings } from "../../cli/demo/demoPlay.ts";
import { type DemoPrometheus, startDemoPrometheus } from "../../cli/demo/demoPrometheus.ts";
import { type PlayedCluster, playCluster } from "../../cli/demo/playCluster.ts";
import { demoStartAt } from "../../cli/demo/startDemo.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { demoScenario } from "../../simulator/scenarios/demo.ts";
import { hasChromium, startChromium } from "./headlessChromium.ts";
import { sides, widths } from "./pageExpressions.ts";
import { hasPrometheus } from "./scrapedByPrometheus.ts";

const canRun = hasPrometheus();
const isInstalled = existsSync(path.join(previewRoot, "node_modules", ".package-lock.json"));
const canDraw = canRun && hasChromium && isInstalled;
if (canRun && !canDraw)
  process.stdout.write(
    "skipped: the boards are drawn with chromium and what npm ci installs in dashboards/preview (npm run screenshots does that)\n",
  );

/** Cycles are far apart, and played fast: a step a second or so. */
const pace = { interval: 300, speed: 300 };

const rules = z.object({
  data: z.object({
    groups: z.array(
      z.object({
        rules: z.array(
          z.looseObject({
            name: z.string(),
            type: z.enum(["alerting", "recording"]),
            health: z.string(),
            state: z.string().optional(),
          }),
        ),
      }),
    ),
  }),
});
const vector = z.object({
  data: z.object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) }),
});

describe.skipIf(!canRun)("the demo with a Prometheus", () => {
  let cluster: PlayedCluster;
  let demo: DemoPrometheus;
  const said: string[] = [];

  beforeAll(async () => {
    const config = configSchema.parse({ ...demoSettings, interval: pace.interval });
    cluster = await playCluster({ scenario: demoScenario(), seed: 1, startAt: demoStartAt, config });
    await cluster.step(0);
    for (let cycle = 0; cycle < 12; cycle++) await cluster.step(pace.interval);
    const options = { ...pace, demoUrl: "http://127.0.0.1:10836", dashboards: canDraw };
    const started = await startDemoPrometheus(cluster, options, { err: (text) => said.push(text) });
    if (started === null) throw new Error(said.join(""));
    demo = started;
  });
  afterAll(async () => {
    await demo?.stop();
    await cluster?.stop();
  });

  async function play(): Promise<void> {
    await cluster.step(pace.interval);
    await demo.afterStep();
  }

  /** Waits until something is so, and plays in between, if wanted: a server that scrapes needs a turn or two. */
  async function until(isSo: () => Promise<boolean>, between: () => Promise<void> = async () => {}): Promise<void> {
    for (let turn = 0; turn < 100 && !(await isSo()); turn++) {
      await between();
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    expect(await isSo()).toBe(true);
  }
  const playUntil = (isSo: () => Promise<boolean>) => until(isSo, play);

  async function answerOf(query: string): Promise<number | null> {
    const response = await fetch(`${demo.url}/api/v1/query?${new URLSearchParams({ query })}`);
    const value = vector.parse(await response.json()).data.result[0]?.value[1];
    return value === undefined ? null : Number(value);
  }

  const allRules = async () =>
    rules.parse(await (await fetch(`${demo.url}/api/v1/rules`)).json()).data.groups.flatMap((group) => group.rules);

  test("says where it is, and how long an alert takes", () => {
    expect(said).toEqual([]);
    expect(demo.lines[0]).toBe(`Prometheus ${demo.url} (rules and alerts: ${demo.url}/alerts)`);
    expect(demo.lines[1]).toContain("GpuIdleAllocated fires 12 s after its condition begins");
  });

  test("evaluates all rules without an error, and an alert of its story is pending or fires", async () => {
    await playUntil(async () => {
      const all = await allRules();
      const alert = all.find(({ name }) => name === "GpuIdleAllocated");
      return all.every(({ health }) => health === "ok") && alert?.state !== "inactive";
    });
    const all = await allRules();
    expect(all.filter(({ type }) => type === "recording").length).toBeGreaterThan(50);
    expect(all.filter(({ type }) => type === "alerting").length).toBe(alertNames.length);
  });

  test("has recorded series, and rates in true GPUs although time is sped up", async () => {
    const allocated = cluster.simulator
      .truth()
      .physicalGpus.flatMap(({ holders }) => holders)
      .reduce((sum, { share }) => sum + share, 0);
    // The cluster rests; the server's next scrapes and evaluations bring its numbers up to it.
    await demo.afterStep();
    await until(
      async () => Math.abs(((await answerOf("sum(cluster:fairlead_allocated_gpus:sum)")) ?? 0) - allocated) < 1e-6,
    );
    expect(await answerOf('count(count by (__name__) ({__name__=~".+:.+"}))')).toBeGreaterThan(30);
    // 24 nodes, 176 GPUs: simulator/scenarios/demo.ts.
    expect(await answerOf("sum(fairlead_gpus)")).toBeCloseTo(176, 6);
    await playUntil(async () => {
      const gpus = (await answerOf("sum(rate(fairlead_gpu_seconds_total[20s]))")) ?? 0;
      return Math.abs(gpus - 176) < 40;
    });
    const age = (await answerOf("time() - max(fairlead_last_cycle_timestamp_seconds)")) ?? Number.NaN;
    expect(age).toBeGreaterThanOrEqual(0);
    expect(age).toBeLessThan(600);
  });

  test("says what to install where there is none", async () => {
    const { PATH: installed = "" } = process.env;
    const words: string[] = [];
    process.env.PATH = "";
    try {
      const options = { ...pace, demoUrl: "http://127.0.0.1:10836", dashboards: true };
      expect(await startDemoPrometheus(cluster, options, { err: (text) => words.push(text) })).toBe(null);
    } finally {
      process.env.PATH = installed;
    }
    expect(words).toEqual([
      "fairlead: prometheus could not be started. Next step: install it (Debian: apt-get install prometheus), and run the demo again. Without it there are no dashboards.\n",
    ]);
  });

  describe.skipIf(!canDraw)("and its boards", () => {
    test("are drawn live, and move when advice is carried out by the button", async () => {
      const browser = await startChromium();
      try {
        const page = await browser.open({ width: 1200, height: 900, scheme: "light", headers: {} });
        const shownNow = () => page.evaluate("Number(document.querySelector('[data-until]')?.dataset.until ?? 0)");
        const isDrawn = async () =>
          (await page.evaluate(
            "(n => n > 5 && n === document.querySelectorAll('[data-ready]').length)(document.querySelectorAll('[data-panel]').length)",
          )) === true;
        await page.goto(`${demo.boardsUrl}/`);
        await playUntil(isDrawn);
        const first = Number(await shownNow());
        await playUntil(async () => Number(await shownNow()) > first);

        const isUnobserved = async () => ((await answerOf("sum(fairlead_gpus{state='unobserved'})")) ?? 0) > 0;
        expect(await isUnobserved()).toBe(true);
        const pressed = page.loaded();
        await page.evaluate(
          "[...document.querySelectorAll('#advice li')].find((li) => li.textContent.includes('dcgm-exporter')).querySelector('button').click()",
        );
        await pressed;
        await playUntil(
          async () => (await page.evaluate("document.querySelector('[role=status]')?.textContent")) !== null,
        );
        expect(await page.evaluate("document.querySelector('[role=status]').textContent")).toMatch(/requests? sent/);
        // Its exporter answered with an empty page, and has been restarted.
        await playUntil(async () => !(await isUnobserved()));
        expect(page.complaints).toEqual([]);
        expect(
          page.requests.filter((url) => !url.startsWith(`${demo.boardsUrl}/`) && !url.startsWith("data:")),
        ).toEqual([]);
      } finally {
        await browser.close();
      }
    });

    test.each([375, 1200])("are %d px wide", async (width) => {
      const browser = await startChromium();
      try {
        const page = await browser.open({ width, height: 900, scheme: "dark", headers: {} });
        for (const board of ["fleet", "team", "fairness", "waste", "cost", "review", "exporter"]) {
          await page.goto(
            `${demo.boardsUrl}/?dashboard=fairlead-${board}.json&refresh=5&from=now-15m&scrape=1&rows=open`,
          );
          await playUntil(
            async () => (await page.evaluate("document.querySelectorAll('[data-ready]').length > 5")) === true,
          );
          // Beside the page there may be a scroll bar.
          const { page: wide, window } = sides.parse(await page.evaluate(widths));
          expect(window, board).toBe(width);
          expect(wide, board).toBeLessThanOrEqual(width);
          expect(
            await page.evaluate("[...document.querySelectorAll('[data-error]')].map((one) => one.dataset.error)"),
            board,
          ).toEqual([]);
        }
        expect(page.complaints).toEqual([]);
      } finally {
        await browser.close();
      }
    });
  });
});
