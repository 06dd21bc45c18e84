import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { z } from "zod";
import type { Review } from "../../../review/document/review.ts";
import { renderReviewHtml } from "../../../review/html/renderReviewHtml.ts";
import {
  type Browser,
  type BrowserPage,
  hasChromium,
  startChromium,
  type Viewport,
} from "../../e2e/headlessChromium.ts";
import { contrasts, faint, focus, focused, openAll, sides, widths } from "../../e2e/pageExpressions.ts";
import { hostileReview } from "../hostileReview.ts";
import { sampleReview } from "../sampleReview.ts";
import { fromPrometheus, merged, notCovered, ofOneTeam, twoCurrencies } from "../variantReviews.ts";

if (!hasChromium) process.stderr.write("skipped: chromium is not installed (Debian package chromium)\n");

const reviews: readonly (readonly [string, Review])[] = [
  ["sample", sampleReview],
  ["two-currencies", twoCurrencies],
  ["one-team", ofOneTeam],
  ["prometheus", fromPrometheus],
  ["merged", merged],
  ["not-covered", notCovered],
  ["hostile", hostileReview],
];
const folder = mkdtempSync(path.join(tmpdir(), "fairlead-review-"));
let browser: Browser | null = null;
beforeAll(async () => {
  if (hasChromium) browser = await startChromium();
});
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Writes a page as a file; its address. */
function fileOf(name: string, page: string): string {
  const file = path.join(folder, `${name}.html`);
  writeFileSync(file, page);
  return pathToFileURL(file).href;
}

function look(viewport: Partial<Viewport> = {}): Promise<BrowserPage> {
  if (browser === null) throw new Error("no browser");
  return browser.open({ width: 1440, height: 900, scheme: "light", headers: {}, ...viewport });
}

/** On paper: what the style says about print, in a window as wide as the printed part of a sheet. */
const asPrinted = (review: Review): string => renderReviewHtml(review).replaceAll("@media print {", "@media all {");
const millimetre = 96 / 25.4;
const papers = [
  ["A4", { width: 8.27, height: 11.69 }, 190],
  ["Letter", { width: 8.5, height: 11 }, 195.9],
] as const;

/** What is wider than its box, and is not reached by scrolling: text that is cut. */
const cut = `[...document.querySelectorAll("td, th, p, li, h1, h2, h3, figcaption, caption, .wide")]
  .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline")
  .map((one) => one.tagName + ": " + one.textContent.slice(0, 60))`;

describe.skipIf(!hasChromium)("the review in a browser", () => {
  test.each(reviews)("opens as a file without a complaint and asks nobody for anything: %s", async (name, review) => {
    const page = await look();
    const url = fileOf(name, renderReviewHtml(review));
    await page.goto(url);
    expect(await page.evaluate("document.querySelector('h1').textContent")).toContain("review");
    expect(await page.evaluate("document.querySelectorAll('script, img, link, iframe').length")).toBe(0);
    // A browser fixes what is not closed: what it made of the page is what was written.
    expect(await page.evaluate("document.querySelectorAll('section section section, p p, td td').length")).toBe(0);
    expect(page.complaints).toEqual([]);
    expect(page.requests).toEqual([url]);
  });

  test.each(reviews)("is as wide as a phone of 375 px, whatever is opened: %s", async (name, review) => {
    const page = await look({ width: 375, height: 700 });
    await page.goto(fileOf(name, renderReviewHtml(review)));
    await page.evaluate(openAll);
    expect(sides.parse(await page.evaluate(widths))).toEqual({ page: 375, window: 375 });
  });

  test.each(["light", "dark"] as const)("every text has a contrast of 4.5:1 at least: %s", async (scheme) => {
    const page = await look({ scheme });
    await page.goto(fileOf("contrast", renderReviewHtml(sampleReview)));
    await page.evaluate(openAll);
    const { found, looked, back } = contrasts.parse(await page.evaluate(faint));
    expect(found).toEqual([]);
    expect(looked).toBeGreaterThan(500);
    expect(back).toBe(scheme === "light" ? "rgb(255, 255, 255)" : "rgb(20, 24, 28)");
  });

  test("is read by keyboard alone, in the order of the page, and the numbers behind charts open", async () => {
    const page = await look();
    await page.goto(fileOf("keyboard", renderReviewHtml(sampleReview, { isServed: true })));
    const seen: z.infer<typeof focus>[] = [];
    for (let presses = 0; presses < 40; presses++) {
      await page.press("Tab");
      const now = focus.parse(await page.evaluate(focused));
      if (now.name === "body") break;
      expect(now.hasOutline, now.text.slice(0, 60)).toBe(true);
      seen.push(now);
      if (now.text === "Numbers of H100") {
        await page.press("Enter");
        expect(await page.evaluate("document.activeElement.parentElement.open")).toBe(true);
      }
    }
    const links = seen.filter(({ name }) => name === "a").map(({ text }) => text);
    const navigation = ["Now", "Recommendations", "Review", "Teams", "Queues", "Nodes", "Workloads"];
    expect(links).toEqual([...navigation, "CSV", "JSON"]);
    expect(seen.filter(({ name }) => name === "summary").map(({ text }) => text)).toEqual([
      "The periods in numbers",
      "Numbers of H100",
      "Numbers of A100",
      "Numbers of L4",
      "Weeks of H100",
      "Weeks of A100",
    ]);
    expect(page.complaints).toEqual([]);
  });

  test("landmarks: one header, one main part, one footer; sections have names", async () => {
    const page = await look();
    await page.goto(fileOf("landmarks", renderReviewHtml(sampleReview)));
    const counts = "['header', 'main', 'footer', 'h1'].map((name) => document.querySelectorAll(name).length)";
    expect(await page.evaluate(counts)).toEqual([1, 1, 1, 1]);
    const unnamed = `[...document.querySelectorAll("[aria-labelledby]")].filter((one) =>
      one.getAttribute("aria-labelledby").split(" ").some((id) => document.getElementById(id) === null)).length`;
    expect(await page.evaluate(unnamed)).toBe(0);
  });

  test.each(papers)(
    "prints on %s: one sheet and an appendix of at most three, and nothing is cut",
    async (name, paper, printedWidth) => {
      const page = await look();
      await page.goto(fileOf(`print-${name}`, renderReviewHtml(sampleReview)));
      const sheets = async () => (await page.pdf(paper)).toString("latin1").match(/\/Type \/Page\b(?!s)/g)?.length;
      expect(await sheets()).toBeGreaterThan(1);
      expect(await sheets()).toBeLessThanOrEqual(4);
      await page.evaluate(
        "document.querySelectorAll('.appendix, .appendix ~ *, footer').forEach((one) => one.remove())",
      );
      expect(await sheets()).toBe(1);
      for (const review of [sampleReview, twoCurrencies, merged, ofOneTeam]) {
        const printed = await look({ width: Math.floor(printedWidth * millimetre), height: 1000 });
        await printed.goto(fileOf(`paper-${name}`, asPrinted(review)));
        const { page: all, window } = sides.parse(await printed.evaluate(widths));
        expect(all).toBeLessThanOrEqual(window);
        expect(await printed.evaluate(cut)).toEqual([]);
      }
    },
  );

  test("prints black on white, whatever the screen is", async () => {
    const page = await look({ scheme: "dark" });
    await page.goto(fileOf("print-dark", asPrinted(sampleReview)));
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(255, 255, 255)");
    expect(contrasts.parse(await page.evaluate(faint)).found).toEqual([]);
  });
});
