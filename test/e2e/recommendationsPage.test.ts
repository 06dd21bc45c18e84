import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { z } from "zod";
import type { Advice } from "../../exporter/model/recommendation.ts";
import type { RunningServer } from "../../exporter/publish/http/server.ts";
import { asKim, scriptedAdviser, startAdvised } from "../publish/adviceServer.ts";
import { hostileAdvice } from "../publish/hostileAdvice.ts";
import { severalAdvice } from "../publish/severalAdvice.ts";
import { reclaimAdvice } from "../publish/someAdvice.ts";
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

async function serve(advice: Advice) {
  const scripted = scriptedAdviser(advice);
  const server = await startAdvised(scripted.adviser);
  running.push(server);
  return { ...scripted, url: server.url };
}

function look(viewport: Partial<Viewport> = {}): Promise<BrowserPage> {
  if (browser === null) throw new Error("no browser");
  return browser.open({ width: 1200, height: 900, scheme: "light", headers: asKim, ...viewport });
}

describe.skipIf(!hasChromium)("the page of recommendations in a browser", () => {
  test("shows its content without a complaint, and asks no other host", async () => {
    const { url } = await serve(severalAdvice);
    const page = await look();
    for (const path of ["/recommendations", `/recommendations/${reclaimAdvice.id}`, "/"]) {
      await page.goto(`${url}${path}`);
      expect(await page.evaluate("document.body.innerText")).toContain(reclaimAdvice.title);
      // The icon is within the page; the start page has the script that refreshes it.
      const foreign = "script:not(#refresher), link:not([rel=icon][href^='data:']), img, iframe";
      expect(await page.evaluate(`document.querySelectorAll("${foreign}").length`)).toBe(0);
    }
    await page.goto(`${url}/recommendations`);
    expect(await page.evaluate("getComputedStyle(document.querySelector('article')).borderTopStyle")).toBe("solid");
    expect(page.complaints).toEqual([]);
    expect(page.requests.length).toBeGreaterThanOrEqual(4);
    expect(page.requests.filter((one) => !one.startsWith(`${url}/`) && !one.startsWith("data:image/svg+xml,"))).toEqual(
      [],
    );
  });

  test("what a cluster says stays text", async () => {
    const { url } = await serve(
      hostileAdvice('"><script>document.title="owned"</script><img src=/x onerror=alert(1)>'),
    );
    const page = await look();
    for (const path of ["/recommendations", `/recommendations/${reclaimAdvice.id}`, "/"]) {
      await page.goto(`${url}${path}`);
      await page.evaluate(openAll);
      expect(await page.evaluate("document.querySelectorAll('script:not(#refresher), img').length")).toBe(0);
      expect(await page.evaluate("document.title")).not.toBe("owned");
    }
    expect(await page.evaluate("document.body.innerText")).toContain("<script>document.title");
    expect(page.complaints).toEqual([]);
  });

  test("is as wide as a phone of 375 px, whatever is opened and however long a name is", async () => {
    const page = await look({ width: 375, height: 700 });
    for (const advice of [severalAdvice, hostileAdvice("n".repeat(253)), hostileAdvice("a b ".repeat(500))]) {
      const { url } = await serve(advice);
      for (const path of ["/recommendations", `/recommendations/${reclaimAdvice.id}`, "/"]) {
        await page.goto(`${url}${path}`);
        await page.evaluate(openAll);
        expect(sides.parse(await page.evaluate(widths)), path).toEqual({ page: 375, window: 375 });
      }
    }
  });

  test.each(["light", "dark"] as const)("every text has a contrast of 4.5:1 at least: %s", async (scheme) => {
    const { url } = await serve(severalAdvice);
    const page = await look({ scheme });
    const backs = new Set<string>();
    for (const path of ["/recommendations", "/"]) {
      await page.goto(`${url}${path}`);
      await page.evaluate(openAll);
      const { found, looked, back } = contrasts.parse(await page.evaluate(faint));
      expect(found).toEqual([]);
      expect(looked).toBeGreaterThan(20);
      backs.add(back);
    }
    expect([...backs]).toEqual([scheme === "light" ? "rgb(255, 255, 255)" : "rgb(20, 24, 28)"]);
  });

  test("is used by keyboard alone: details open, and advice is dismissed with a reason", async () => {
    const { url, dismissed } = await serve(severalAdvice);
    const page = await look();
    await page.goto(`${url}/recommendations`);
    const tabTo = async (wanted: (one: z.infer<typeof focus>) => boolean) => {
      for (let presses = 0; presses < 30; presses++) {
        await page.press("Tab");
        const now = focus.parse(await page.evaluate(focused));
        expect(now.hasOutline, now.text).toBe(true);
        if (wanted(now)) return;
      }
      throw new Error("not reached with 30 presses of Tab");
    };
    const isShown = (text: string) => page.evaluate(`document.body.innerText.includes(${JSON.stringify(text)})`);
    const command = "kubectl patch workloads.kueue.x-k8s.io";
    expect(await isShown(command)).toBe(false);
    await tabTo(({ name, text }) => name === "summary" && text.startsWith(reclaimAdvice.title));
    await page.press("Enter");
    await tabTo(({ name, text }) => name === "summary" && text === "Steps (1)");
    await page.press("Enter");
    expect(await isShown(command)).toBe(true);
    await tabTo(({ name, text }) => name === "summary" && text === "Not now");
    await page.press(" ");
    await tabTo(({ name }) => name === "input");
    for (const key of "deadline") await page.press(key);
    const answered = page.loaded();
    await page.press("Enter");
    await answered;
    expect(dismissed).toEqual([[reclaimAdvice.id, "kim", "deadline"]]);
    expect(await page.evaluate("location.pathname")).toBe("/recommendations");
    await page.evaluate(openAll);
    expect(await isShown("kim: deadline")).toBe(true);
    expect(await isShown("Do now (2)")).toBe(true);
    expect(page.complaints).toEqual([]);
  });

  test("asks for a reason before it sends the form", async () => {
    const { url, dismissed } = await serve(severalAdvice);
    const page = await look();
    await page.goto(`${url}/recommendations/${reclaimAdvice.id}`);
    await page.evaluate("document.querySelector('form[action$=dismiss] button').click()");
    expect(await page.evaluate("document.querySelector('form[action$=dismiss]').checkValidity()")).toBe(false);
    expect(dismissed).toEqual([]);
    expect(page.requests.filter((one) => one.endsWith("/dismiss"))).toEqual([]);
  });
});
