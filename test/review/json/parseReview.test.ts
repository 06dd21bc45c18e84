import { describe, expect, test } from "vitest";
import type { Review } from "../../../review/document/review.ts";
import { maxReviewBytes, parseReview } from "../../../review/json/parseReview.ts";
import { renderReviewJson } from "../../../review/json/renderReviewJson.ts";
import { hostileReview } from "../hostileReview.ts";
import { sampleReview } from "../sampleReview.ts";
import { fromPrometheus, merged, ofOneTeam, twoCurrencies } from "../variantReviews.ts";

const reviews: readonly (readonly [string, Review])[] = [
  ["the sample", sampleReview],
  ["two currencies", twoCurrencies],
  ["one team", ofOneTeam],
  ["from a metrics server", fromPrometheus],
  ["merged", merged],
  ["hostile names", hostileReview],
];

const errorsOf = (text: string) => {
  const parsed = parseReview(text);
  return parsed.ok ? [] : parsed.errors;
};

describe("a review as JSON", () => {
  test.each(reviews)("is read as it was written: %s", (_name, review) => {
    expect(parseReview(renderReviewJson(review))).toEqual({ ok: true, review });
  });

  test("has the same bytes whatever the order of keys was", () => {
    const { notes, ...rest } = twoCurrencies;
    const turned = {
      notes,
      ...rest,
      teams: rest.teams.map(({ team, costs, ...more }) => ({
        ...more,
        costs: { EUR: costs.EUR ?? 0, ...costs },
        team,
      })),
    };
    expect(renderReviewJson({ ...turned, schemaVersion: 1 })).toBe(
      renderReviewJson({
        ...twoCurrencies,
        teams: twoCurrencies.teams.map((team) => ({ ...team, costs: { ...team.costs, EUR: team.costs.EUR ?? 0 } })),
      }),
    );
  });

  test("that distinguished fewer causes of shortfalls is read, and the others are unknown", () => {
    const teams = sampleReview.teams.map(({ shortByLostNode: _, shortByIndivisible: __, ...team }) => team);
    const parsed = parseReview(JSON.stringify({ ...sampleReview, teams }));
    expect(parsed).toMatchObject({ ok: true });
    if (parsed.ok) expect(parsed.review.teams[0]).toMatchObject({ shortByLostNode: null, shortByIndivisible: null });
  });

  test("of another version says so, and what to do", () => {
    expect(errorsOf(JSON.stringify({ ...sampleReview, schemaVersion: 2 }))).toEqual([
      { path: "schemaVersion", found: "2", expected: "1: write the review again with this version of Fairlead" },
    ]);
    expect(errorsOf("{}")).toMatchObject([{ path: "schemaVersion", found: "nothing" }]);
  });

  test.each([
    ["", "text that is no JSON"],
    ["[1, 2]", "a list of 2"],
    ["null", "null"],
    ['"a"', '"a"'],
  ])("refuses %s", (text, found) => {
    expect(errorsOf(text)).toEqual([{ path: "", found, expected: "a review written with --format json" }]);
  });

  test("names each place that is wrong, with what is there, and at most twenty", () => {
    const [team, ...teams] = sampleReview.teams;
    const wrong = { ...sampleReview, teams: [{ ...team, allocated: -1, waits: "long" }, ...teams] };
    const errors = errorsOf(JSON.stringify(wrong));
    expect(errors.map(({ path, found }) => [path, found])).toEqual([
      ["teams[0].allocated", "-1"],
      ["teams[0].waits", '"long"'],
    ]);
    const many = { ...sampleReview, notes: Array.from({ length: 500 }, () => 3) };
    expect(errorsOf(JSON.stringify(many))).toHaveLength(20);
  });

  test("deep nesting and keys of prototypes do no harm", () => {
    const deep = `{"schemaVersion":1,"notes":${"[".repeat(5000)}${"]".repeat(5000)}}`;
    expect(errorsOf(deep).length).toBeGreaterThan(0);
    const text = renderReviewJson(sampleReview).replace('"costs": {', '"costs": { "__proto__": 4, "constructor": 5,');
    const parsed = parseReview(text);
    expect(parsed.ok).toBe(true);
    if (parsed.ok) expect(typeof parsed.review.periods[0]?.costs).toBe("object");
  });

  test("is read up to a size", () => {
    expect(errorsOf(" ".repeat(maxReviewBytes + 1))).toMatchObject([
      { path: "", expected: `at most ${maxReviewBytes} bytes` },
    ]);
  });
});
