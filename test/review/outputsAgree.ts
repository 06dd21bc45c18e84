import { expect } from "vitest";
import { renderReviewCsv } from "../../review/csv/renderReviewCsv.ts";
import type { Review } from "../../review/document/review.ts";
import { renderReviewHtml } from "../../review/html/renderReviewHtml.ts";
import { unitName } from "../../review/words/figure.ts";
import { bareText, figureText, spokenText } from "../../review/words/figureText.ts";
import { type CsvNumber, csvNumbers } from "./readCsv.ts";
import { elementsOf, nearest, type PageElement, readHtml, textOf } from "./readHtml.ts";

/** A spreadsheet would take these for formulas, also after what it may split cells at; the CSV puts a quote before them. */
const inCsv = (text: string): string =>
  text
    .replaceAll(/(^|[;\t\r\n])(?=[ \u00a0\u3000"]{0,64}[=+\-@\uff1d\uff0b\uff0d\uff20])/g, "$1'")
    .replace(/^(?=[\t\r\n])/, "'");

/** Sections that a page shows with every row, as far as there are no more than this. */
const wholeSections = [
  "decisions",
  "tiles",
  "waterfall",
  "teams",
  "fairness",
  "fragmentation",
  "start_times",
  "topology",
  "jobs_by_cost",
  "jobs_by_waste",
  "actions",
];

/** Checks that every number on the page is the CSV's number of that name, and that none of the page's sections lacks one. */
export function expectHtmlAndCsvToAgree(review: Review): void {
  const numbers = csvNumbers(renderReviewCsv(review));
  const byName = Map.groupBy(numbers, ({ section, cluster, item, figure }) =>
    nameOf(section, cluster, item, figure.measure),
  );
  const shown = elementsOf(readHtml(renderReviewHtml(review))).filter(({ attributes }) =>
    attributes.has("data-measure"),
  );
  for (const element of shown) expectNumber(element, byName.get(keyOf(element)) ?? []);
  const onPage = Map.groupBy(shown, (element) => nearest(element, "data-section") ?? "");
  for (const section of wholeSections) expectWhole(section, onPage.get(section) ?? [], numbers);
}

/** What is there is the CSV's number of that name. */
function expectNumber(element: PageElement, named: readonly CsvNumber[]): void {
  const unit = element.attributes.get("data-unit");
  const isBare = element.attributes.has("data-bare");
  const texts = named
    .filter(({ figure }) => unit === undefined || unitName(figure.unit) === unit)
    .flatMap(({ figure }) => (isBare ? [bareText(figure)] : [figureText(figure), spokenText(figure)]));
  if (!texts.includes(textOf(element))) expect(texts, keyOf(element)).toContain(textOf(element));
}

/** Every number of a section is on the page, unless there are more rows than it shows. */
function expectWhole(section: string, shown: readonly PageElement[], numbers: readonly CsvNumber[]): void {
  const all = numbers.filter((one) => one.section === section);
  const most = section.startsWith("jobs") ? 10 : section === "actions" ? 5 : 20;
  if (new Set(all.map(({ cluster, item }) => nameOf(cluster, item))).size > most) return;
  const money = ({ figure }: CsvNumber): string => (typeof figure.unit === "string" ? "" : unitName(figure.unit));
  const wanted = all.map((one) => nameOf(section, one.cluster, one.item, one.figure.measure, money(one)));
  const found = shown.map((one) => nameOf(...nameParts(one), one.attributes.get("data-unit") ?? ""));
  expect([...new Set(found)].sort(), section).toEqual([...new Set(wanted)].sort());
}

const nameOf = (...parts: readonly string[]): string => JSON.stringify(parts);

const keyOf = (element: PageElement): string => nameOf(...nameParts(element));

function nameParts(element: PageElement): readonly string[] {
  const near = (name: string): string => nearest(element, name) ?? "";
  return [
    near("data-section"),
    inCsv(near("data-cluster")),
    inCsv(near("data-item")),
    element.attributes.get("data-measure") ?? "",
  ];
}

/** Every cell of numbers is made of named numbers and of words without digits. */
export function expectNoOtherNumbers(review: Review): void {
  const cells = elementsOf(readHtml(renderReviewHtml(review))).filter(
    ({ name, attributes }) => name === "td" && attributes.get("class") === "number",
  );
  for (const cell of cells) {
    if (cell.attributes.has("data-measure")) continue;
    const words = cell.children.filter((child) => typeof child === "string").join("");
    if (/\d/.test(words)) expect(words).not.toMatch(/\d/);
  }
  expect(cells.length).toBeGreaterThan(0);
}
