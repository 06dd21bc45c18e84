import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import type { RunningServer } from "../../exporter/publish/http/server.ts";
import { buildPublication } from "../../exporter/publish/publication.ts";
import { asKim, scriptedAdviser, startAdvised } from "../publish/adviceServer.ts";
import { health } from "../publish/moment.ts";
import { queueMoment } from "../publish/queueMoment.ts";
import { severalAdvice } from "../publish/severalAdvice.ts";
import { type Browser, type BrowserPage, hasChromium, startChromium, type Viewport } from "./headlessChromium.ts";
import { contrasts, faint, focus, focused, openAll, sides, widths } from "./pageExpressions.ts";

if (!hasChromium) process.stderr.write("skipped: chromium is not installed (Debian package chromium)\n");

const running: RunningServer[] = [];
let browser: Browser | null = null;
beforeAll(async () => {
  if (hasChromium) browser = await startChromium();
});
afterAll(async () => browser?.close());
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

function look(viewport: Partial<Viewport> = {}): Promise<BrowserPage> {
  if (browser === null) throw new Error("no browser");
  return browser.open({ width: 1200, height: 500, scheme: "light", headers: asKim, ...viewport });
}

const limits = { teams: 10, series: 1000 };
const remark = {
  source: "prices",
  code: "x",
  severity: "info",
  subject: null,
  message: "old",
  nextStep: "wait",
} as const;

/** A server whose moment can be changed. */
async function serve(analysis: Analysis) {
  const own = health({ problems: [remark] });
  const publish = (of: Analysis) => buildPublication({ analysis: of, health: own, limits }, "");
  let publication = publish(analysis);
  const server = await startAdvised(scriptedAdviser(severalAdvice).adviser, {
    latest: () => publication,
    health: () => own,
  });
  running.push(server);
  const change = (to: Analysis) => {
    publication = publish(to);
  };
  return { url: server.url, change, close: () => server.close() };
}

/** The moment in which a team holds more than all others, so that its row comes first. */
function withMost(team: string, allocated: number): Analysis {
  const teams = queueMoment.teams.map((one) => (one.team === team ? { ...one, allocated } : one));
  return { ...queueMoment, teams };
}

/** Comes back to the page, as from another tab, and waits until it has changed. */
const comeBack = `new Promise((resolve) => {
  new MutationObserver((_changes, observer) => {
    observer.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(resolve));
  }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
  document.dispatchEvent(new Event("visibilitychange"));
})`;

const place = z.object({
  scroll: z.number(),
  top: z.number(),
  team: z.string(),
  isOpen: z.boolean(),
  first: z.string(),
  selected: z.string(),
});
const placeOf = `(() => {
  const row = document.getElementById("team-search");
  return {
    scroll: scrollY,
    top: Math.round(document.getElementById("remarks").getBoundingClientRect().top),
    team: row.textContent,
    isOpen: document.getElementById("remarks").open,
    first: row.parentElement.firstElementChild.id,
    selected: String(getSelection()),
  };
})()`;

describe.skipIf(!hasChromium)("the start page in a browser", () => {
  test("shows new numbers by itself, and the reader keeps focus, opened details, selection and place", async () => {
    const { url, change } = await serve(queueMoment);
    const page = await look();
    await page.goto(`${url}/`);
    const before = place.parse(await page.evaluate(placeOf));
    expect(before.first).not.toBe("team-search");
    await page.evaluate(`(() => {
      document.getElementById("remarks").open = true;
      document.querySelector("#team-search a").focus({ preventScroll: true });
      scrollTo(0, document.getElementById("remarks").getBoundingClientRect().top - 100);
      getSelection().selectAllChildren(document.querySelector("#problems h2"));
    })()`);
    const reading = place.parse(await page.evaluate(placeOf));
    expect(reading.scroll).toBeGreaterThan(300);
    // Another row comes first, and a line more is above what is read.
    change({ ...withMost("search", 77), prices: queueMoment.prices });
    await page.evaluate(comeBack);
    const after = place.parse(await page.evaluate(placeOf));
    expect(after.first).toBe("team-search");
    expect(after.team).toContain("77.0");
    expect(after.isOpen).toBe(true);
    expect(Math.abs(after.top - reading.top)).toBeLessThanOrEqual(1);
    expect(after.selected).toBe(reading.selected);
    expect(focus.parse(await page.evaluate(focused))).toMatchObject({ name: "a", text: "search" });
    expect(page.complaints).toEqual([]);
    expect(page.requests.filter((one) => !one.startsWith(`${url}/`) && !one.startsWith("data:image/svg+xml,"))).toEqual(
      [],
    );
  });

  test("says when it cannot be refreshed, and stops when it is reported to", async () => {
    const { url, change, close } = await serve(queueMoment);
    const page = await look();
    await page.goto(`${url}/`);
    await page.evaluate("document.getElementById('refresh').click()");
    change(withMost("search", 77));
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.evaluate("fetch('/livez')");
    expect(place.parse(await page.evaluate(placeOf)).team).not.toContain("77.0");
    await page.evaluate("document.getElementById('refresh').click()");
    running.splice(0);
    await close();
    await page.evaluate(comeBack);
    expect(await page.evaluate("document.getElementById('refresh-note').textContent")).toMatch(
      /^This page could not be refreshed at \d\d:\d\d:\d\d UTC: .*It is tried again\.$/,
    );
  });

  test.each([375, 768, 1200, 1440])(
    "is no wider than its window of %d px, and all of its text can be read",
    async (width) => {
      const { url } = await serve(queueMoment);
      for (const scheme of ["light", "dark"] as const) {
        const page = await look({ width, scheme });
        await page.goto(`${url}/`);
        await page.evaluate(openAll);
        expect(sides.parse(await page.evaluate(widths)).page).toBeLessThanOrEqual(width);
        expect(contrasts.parse(await page.evaluate(faint)).found).toEqual([]);
        expect(page.complaints).toEqual([]);
      }
    },
  );
});
