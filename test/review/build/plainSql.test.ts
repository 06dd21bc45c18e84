import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLedgerReader, type LedgerReader } from "../../../exporter/accounts/ledger/ledgerReader.ts";
import { createLedgerHistory } from "../../../exporter/history/ledgerHistory.ts";
import { buildReview } from "../../../review/build/buildReview.ts";
import { type Review, reviewSchema } from "../../../review/document/review.ts";
import { type Days, parseWindow, type WindowText, windowsBefore } from "../../../review/window.ts";
import { filledLedger } from "../filledLedger.ts";
import { filled } from "../filler.ts";
import { flatten, type Leaf } from "../flatten.ts";
import { clusterAnswers } from "./plainSql/clusterAnswers.ts";
import { gpuTimeAnswers } from "./plainSql/gpuTimeAnswers.ts";
import { listAnswers } from "./plainSql/listAnswers.ts";
import type { Expected, SqlQuestion } from "./plainSql/question.ts";
import { servingAnswers } from "./plainSql/servingAnswers.ts";
import { teamAnswers } from "./plainSql/teamAnswers.ts";

const folder = mkdtempSync(path.join(tmpdir(), "fairlead-review-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const none: WindowText = { week: null, month: null, from: null, to: null };

const windows: readonly (readonly [string, WindowText, compare: number, team: string | null])[] = [
  ["a week that is over, with four before", { ...none, week: "2026-W44" }, 4, null],
  ["the week that goes on, with five before", { ...none, week: "current" }, 5, null],
  ["a month, half of it folded into days, with two before", { ...none, month: "2026-10" }, 2, null],
  ["a span of folded days", { ...none, from: "2026-10-13", to: "2026-10-16" }, 0, null],
  ["a span with none before", { ...none, from: "2026-10-27", to: "2026-11-02" }, 0, null],
  ["a day before which nothing is known", { ...none, from: "2026-09-28", to: "2026-09-29" }, 3, null],
  ["one team, a week", { ...none, week: "2026-W44" }, 2, "ads"],
  ["a team with a name of an object's own, a month", { ...none, month: "2026-10" }, 1, "__proto__"],
];

/** One kind of money, two, and a table of workloads that begins late. */
const ledgers = [
  { seed: 1, currencies: ["USD"], hasLateWorkloads: false },
  { seed: 2, currencies: ["EUR", "USD"], hasLateWorkloads: false },
  { seed: 3, currencies: ["USD", "EUR"], hasLateWorkloads: true },
] as const;

const settings = {
  cluster: "harbor",
  now: filled.now,
  budgets: [
    { team: "ads", perMonth: 40_000, currency: "USD" },
    { team: "__proto__", perMonth: 9000, currency: "EUR" },
  ],
  notCharged: ["starting", "unavailable"],
};

function daysOf(text: WindowText): Days {
  const parsed = parseWindow(text, filled.now);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.days;
}

function sqlAnswers(question: SqlQuestion): Expected {
  const parts = [
    gpuTimeAnswers,
    teamAnswers,
    listAnswers,
    servingAnswers,
    ...(question.team === null ? [clusterAnswers] : []),
  ];
  // Of what no ledger is asked.
  const version: readonly (readonly [string, Leaf])[] = [["schemaVersion", 1]];
  return new Map([...version, ...parts.flatMap((answers) => [...answers(question)])]);
}

const isSame = (found: Leaf, wanted: Leaf): boolean =>
  typeof found === "number" && typeof wanted === "number"
    ? Math.abs(found - wanted) <= 1e-9 * Math.max(Math.abs(found), Math.abs(wanted)) + 1e-12
    : found === wanted;

/** Numbers of the document that are not those of plain SQL, that nobody checks, or that are missing. */
function differences(review: Review, expected: Expected): readonly string[] {
  const leaves = flatten(review);
  const found: string[] = [];
  for (const [place, leaf] of leaves) {
    const wanted = expected.get(place);
    if (wanted === undefined) {
      if (typeof leaf === "number") found.push(`${place} is ${leaf}, and no SQL checks it`);
    } else if (!isSame(leaf, wanted)) found.push(`${place} is ${leaf}, by SQL ${wanted}`);
  }
  for (const [place, wanted] of expected)
    if (!leaves.has(place) && wanted !== null) found.push(`${place} is missing, by SQL ${wanted}`);
  return found;
}

describe.each(ledgers)("a ledger in $currencies (seed $seed)", ({ seed, currencies, hasLateWorkloads }) => {
  let db: DatabaseSync;
  let reader: LedgerReader;
  const file = path.join(folder, `ledger-${seed}.db`);

  beforeAll(async () => {
    db = await filledLedger(file, seed, [{ seed, prefix: "", currencies, hasLateWorkloads }]);
    reader = createLedgerReader(file);
  });
  afterAll(async () => {
    await reader.close();
    db.close();
  });

  it.each(windows)("%s: each number of the review is that of plain SQL", async (_, text, compare, team) => {
    const days = daysOf(text);
    const history = createLedgerHistory(file, reader.query);
    const built = await buildReview({ ...settings, days, compare, team, history, accounts: reader });
    if (!built.ok) throw new Error(`${built.error} ${built.nextStep}`);
    const review = reviewSchema.parse(JSON.parse(JSON.stringify(built.review)));
    const expected = sqlAnswers({ ...settings, db, days, before: windowsBefore(days, compare), team });
    expect(differences(review, expected)).toEqual([]);
  });
});

describe("the comparison", () => {
  it("sees a number that is off, one that nobody checks, and one that is missing", async () => {
    const { sampleReview } = await import("../sampleReview.ts");
    const expected: Expected = new Map(flatten(sampleReview));
    expect(differences(sampleReview, expected)).toEqual([]);
    const { unobservedGpuHours } = sampleReview;
    expect(
      differences({ ...sampleReview, unobservedGpuHours: unobservedGpuHours * (1 + 1e-8) }, expected),
    ).toHaveLength(1);
    expected.delete("unobservedGpuHours");
    expected.set("demand[none].p95DemandGpus", 3);
    expect(differences(sampleReview, expected)).toEqual([
      `unobservedGpuHours is ${unobservedGpuHours}, and no SQL checks it`,
      "demand[none].p95DemandGpus is missing, by SQL 3",
    ]);
  });
});
