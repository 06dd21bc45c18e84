import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inlineSource, pageStyleSource } from "../../exporter/publish/pages/pageStyle.ts";
import { renderReviewCsv } from "../../review/csv/renderReviewCsv.ts";
import type { Review } from "../../review/document/review.ts";
import { renderReviewHtml } from "../../review/html/renderReviewHtml.ts";
import { reviewStyleSource } from "../../review/html/reviewStyle.ts";
import { parseReview } from "../../review/json/parseReview.ts";
import { renderReviewJson } from "../../review/json/renderReviewJson.ts";
import { renderReviewMarkdown } from "../../review/markdown/renderReviewMarkdown.ts";
import { renderReviewSummary } from "../../review/markdown/renderReviewSummary.ts";
import { arbitraryReview } from "./arbitraryReview.ts";
import { hostileReview } from "./hostileReview.ts";
import { expectMarkdownAndCsvToAgree } from "./markdownAgrees.ts";
import { expectHtmlAndCsvToAgree, expectNoOtherNumbers } from "./outputsAgree.ts";
import { csvNumbers } from "./readCsv.ts";
import { elementsOf, readHtml, textOf } from "./readHtml.ts";
import { sampleReview } from "./sampleReview.ts";
import { fromPrometheus, merged, notCovered, ofOneTeam, twoCurrencies } from "./variantReviews.ts";

const reviews: readonly (readonly [string, Review])[] = [
  ["the sample", sampleReview],
  ["two currencies", twoCurrencies],
  ["one team", ofOneTeam],
  ["from a metrics server", fromPrometheus],
  ["merged", merged],
  ["hostile names", hostileReview],
];

const textOfPage = (review: Review): string => textOf(readHtml(renderReviewHtml(review)));

describe("the outputs of a review", () => {
  test.each(reviews)("say the same numbers: %s", (_name, review) => {
    expectHtmlAndCsvToAgree(review);
    expectNoOtherNumbers(review);
    expectMarkdownAndCsvToAgree(review);
  });

  test("say the same numbers of any review, and read back as JSON", () => {
    fc.assert(
      fc.property(arbitraryReview, (review) => {
        expectHtmlAndCsvToAgree(review);
        expectMarkdownAndCsvToAgree(review);
        expect(renderReviewSummary(review).trimEnd().split("\n").length).toBeLessThanOrEqual(12);
        expect(parseReview(renderReviewJson(review))).toEqual({ ok: true, review });
      }),
      { seed: 46, numRuns: 100 },
    );
  });

  test("have nothing about gangs and topology where no level is known", () => {
    const outputs = [renderReviewHtml, renderReviewMarkdown, renderReviewSummary, renderReviewCsv];
    for (const output of outputs) {
      const without = output({ ...sampleReview, topology: null });
      expect(output({ ...sampleReview, topology: [] })).toBe(without);
      expect(without).not.toMatch(/topology|gang that fitted|gang fitted|largest_gang/i);
    }
    expect(textOfPage(sampleReview)).toContain("How large a gang fitted together?");
  });

  test("the CSV keeps numbers as they are", () => {
    const numbers = csvNumbers(renderReviewCsv(sampleReview));
    const find = (section: string, item: string, measure: string) =>
      numbers.find((one) => one.section === section && one.item === item && one.figure.measure === measure)?.figure
        .value;
    expect(find("waterfall", "idle", "gpu_hours")).toBe(3_900);
    expect(find("teams", "ads", "waste_cost")).toBe((2_352 + 1_980) * 5.79);
    expect(find("fairness", "search", "deviation")).toBe(-2_856);
    expect(find("terms", "", "wasted")).toBe(49.6);
    expect(find("demand_steps", "H100 2026-11-11T13:00:00.000Z", "allocated")).toBeNull();
    expect(numbers.filter(({ section }) => section === "demand_steps")).toHaveLength(3 * 168 * 5);
  });

  test("a team reads who has what it missed, and whose it is to fix what nobody has", () => {
    const short = {
      deviation: -20,
      shortByOthers: 12,
      shortByIdleGap: 3,
      shortByLostNode: 8,
      shortByNodeToCome: 6,
      shortByPastQueues: 2,
      shortByPromisedTwice: 4,
      shortByIndivisible: 5,
    };
    const teams = sampleReview.teams.map((one) => ({ ...one, ...short }));
    expect(textOfPage({ ...sampleReview, teams })).toContain(
      "is owed 20 GPU-h (short: 12 GPU-h with others, 3 GPU-h free and not given, 8 GPU-h guaranteed on lost nodes, 6 GPU-h guaranteed on nodes to come, 2 GPU-h guaranteed and with pods of no queue, 4 GPU-h promised more than once, 5 GPU-h of no use to a whole gang or kept by a setting)",
    );
    // A guarantee without nodes is nothing that others owe.
    const alone = { ...short, deviation: 0, shortByOthers: 0, shortByIdleGap: 0 };
    const page = textOfPage({ ...sampleReview, teams: teams.map((one) => ({ ...one, ...alone })) });
    expect(page).toContain("even (short: 8 GPU-h guaranteed on lost nodes");
    expect(page).not.toContain("is owed 20");
  });

  test("coverage comes first; without any there is no number, and the page says why", () => {
    for (const text of [textOfPage(notCovered), renderReviewMarkdown(notCovered), renderReviewSummary(notCovered)]) {
      expect(text).toContain("Nothing of this time is counted, so there are no numbers");
      expect(text).not.toContain("GPU-h");
    }
    expect(csvNumbers(renderReviewCsv(notCovered))).toEqual([]);
    const text = textOfPage(sampleReview);
    expect(text.indexOf("Covered: 99.6 %")).toBeLessThan(text.indexOf("29.6k"));
  });

  test("what is missing says why", () => {
    const page = textOfPage(fromPrometheus);
    expect(page.match(/a metrics server does not keep it/g)?.length).toBe(9);
    expect(renderReviewMarkdown(fromPrometheus)).toContain("a metrics server does not keep it");
    expect(textOfPage({ ...ofOneTeam, waits: null })).toContain("Not part of the review of one team.");
  });

  test("a review of several clusters names the cluster of each row; of one team, the team", () => {
    expect(textOfPage(merged)).toContain("clusters harbor, mill, quarry");
    const heads = elementsOf(readHtml(renderReviewHtml(merged))).filter(({ name }) => name === "th");
    expect(heads.filter((one) => textOf(one) === "cluster").length).toBeGreaterThan(5);
    expect(textOfPage(sampleReview)).not.toContain("cluster\n");
    expect(textOfPage(ofOneTeam)).toContain("GPU review of ads");
    expect(textOfPage(ofOneTeam)).not.toContain("Which nodes did nothing?");
  });

  test("a page is one file: no script, nothing that it would fetch, and no style in an attribute", () => {
    for (const [, review] of reviews) {
      const elements = elementsOf(readHtml(renderReviewHtml(review)));
      const names = new Set(elements.map(({ name }) => name));
      for (const name of ["script", "link", "img", "iframe", "use", "image", "object"])
        expect(names).not.toContain(name);
      const attributes = elements.flatMap((one) => [...one.attributes]);
      const bad = attributes.filter(
        ([name, value]) =>
          /^(?:on|style$|src|xlink)/.test(name) ||
          (name === "href" && !value.startsWith("#")) ||
          (name === "fill" && !/^url\(#[a-z]+-[a-z0-9]+\)$/.test(value)),
      );
      expect(bad).toEqual([]);
      expect(renderReviewHtml(review)).not.toMatch(/@import|url\((?!#)/);
      const ids = attributes.filter(([name]) => name === "id").map(([, value]) => value);
      expect(new Set(ids).size).toBe(ids.length);
    }
  });

  test("its style sheets are those of the Content-Security-Policy, and every colour is one of their variables", () => {
    const sheets = [...renderReviewHtml(sampleReview).matchAll(/<style>([^<]*)<\/style>/g)].map(
      ([, sheet = ""]) => sheet,
    );
    expect(sheets.map(inlineSource)).toEqual([pageStyleSource, reviewStyleSource]);
    const rules = sheets.join("").replaceAll(/:root \{[^}]*\}/g, "");
    const colours = [...rules.matchAll(/(?:color|fill|stroke|background): ([^;}]*)/g)].map(([, value = ""]) =>
      value.trim(),
    );
    expect(colours.length).toBeGreaterThan(30);
    expect(colours.filter((value) => !/^(?:var\(--[a-z]+\)|none)$/.test(value))).toEqual([]);
  });

  test("served beside the other pages it links to them; a file does not", () => {
    const linked = (page: string) =>
      elementsOf(readHtml(page))
        .flatMap(({ attributes }) => attributes.get("href") ?? [])
        .filter((href) => href.startsWith("/"));
    expect(linked(renderReviewHtml(sampleReview, { isServed: true }))).toEqual([
      ...["/", "/recommendations", "/review"],
      ...["/teams", "/queues", "/nodes", "/workloads"],
      ...["/review?week=2026-W46&format=csv", "/review?week=2026-W46&format=json"],
    ]);
    expect(linked(renderReviewHtml(sampleReview))).toEqual([]);
    expect(renderReviewHtml(sampleReview, { docs: "../docs/" })).toContain('<a href="../docs/fairness.md">');
  });

  test("headings go down one level at a time, each table has a caption, each column and row a heading", () => {
    const elements = elementsOf(readHtml(renderReviewHtml(sampleReview)));
    const levels = elements.flatMap(({ name }) => (/^h[1-6]$/.test(name) ? [Number(name[1])] : []));
    expect(levels[0]).toBe(1);
    for (const [i, level] of levels.entries()) expect(level - (levels[i - 1] ?? 0)).toBeLessThanOrEqual(1);
    const tables = elements.filter(({ name }) => name === "table");
    expect(tables.length).toBeGreaterThan(12);
    for (const table of tables) {
      const inside = elementsOf(table);
      expect(inside.filter(({ name }) => name === "caption")).toHaveLength(1);
      for (const head of inside.filter(({ name }) => name === "th"))
        expect(["col", "row"]).toContain(head.attributes.get("scope"));
    }
    for (const drawing of elements.filter(({ name }) => name === "svg")) {
      if (drawing.attributes.get("aria-hidden") === "true") continue;
      expect(drawing.attributes.get("role")).toBe("img");
      expect(elementsOf(drawing).map(({ name }) => name)).toEqual(expect.arrayContaining(["title", "desc"]));
    }
  });

  test("a summary fits a chat: short, no markup, no mention", () => {
    const text = renderReviewSummary(hostileReview, { url: "https://fairlead.example/review" });
    expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(12);
    expect(text).not.toMatch(/[<>*`~|]|@channel|&(?!amp;|lt;|gt;)/);
    expect(text.match(/https?:\/\/\S+/g)).toEqual(["https://fairlead.example/review"]);
    expect(renderReviewSummary(sampleReview)).toMatchInlineSnapshot(`
      "GPU capacity review 2026-W46, harbor (9 to 15 Nov 2026 UTC)
      Covered: 99.6 % (6 d 23 h of 7 d)
      capacity 29.6k GPU-h (+2 %) · allocated 83 % (+3 points) · utilization 70 % (−2 points) · cost $ 171k (+2 %)
      Largest loss: idle, 3,900 GPU-h, $ 22.6k (team)
      Most waste: ads, 2,352 GPU-h idle, 1,980 GPU-h underutilized, $ 25.1k
      First action: search is short of 16 H100 that ads borrowed: suspend ads/embed-v3 (8) and ads/crawl-42 (8): 2,688 GPU-h a week (team ads)
      Capacity used up: H100 2026-11-30 to 2027-01-11, most likely 2026-12-07
      "
    `);
  });

  test("a review of 13 weeks with 500 teams is a page below 1 MB", () => {
    const [team] = sampleReview.teams;
    const [domain] = sampleReview.demand ?? [];
    if (team === undefined || domain === undefined) throw new Error("no sample");
    const steps = Array.from({ length: 13 * 168 }, (_none, hour) => ({
      at: new Date(Date.UTC(2026, 7, 17) + hour * 3_600_000).toISOString(),
      capacity: 8000 - (hour % 3),
      guaranteed: 7000,
      allocated: 5000 + ((hour * 7919) % 2000),
      active: 3000 + ((hour * 104_729) % 1900),
      pending: (hour * 15_485_863) % 900,
    }));
    const large: Review = {
      ...sampleReview,
      teams: Array.from({ length: 500 }, (_none, i) => ({
        ...team,
        team: `team-with-a-long-name-of-a-department-${i}`,
      })),
      demand: Array.from({ length: 20 }, (_none, i) => ({ ...domain, domain: `model-${i}`, steps })),
    };
    const page = renderReviewHtml(large);
    expect(Buffer.byteLength(page)).toBeLessThan(1_000_000);
    expect(Buffer.byteLength(renderReviewMarkdown(large))).toBeLessThan(40_000);
    expect(textOf(readHtml(page))).toContain("475 more: see the CSV");
    expect(
      new Set(
        csvNumbers(renderReviewCsv(large))
          .filter(({ section }) => section === "teams")
          .map(({ item }) => item),
      ).size,
    ).toBe(500);
  });
});
