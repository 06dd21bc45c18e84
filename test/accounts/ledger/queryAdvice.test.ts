import { describe, expect, test } from "vitest";
import { createLedgerReader } from "../../../exporter/accounts/ledger/ledgerReader.ts";
import { queryAdvice } from "../../../exporter/accounts/ledger/queryAdvice.ts";
import { type LivingOffer, storedAdviceOf } from "../../../exporter/advice/lifecycle/livingAdvice.ts";
import { adviceDetailOf } from "../../../exporter/model/storedAdvice.ts";
import { offer } from "../../advice/lifecycle/offers.ts";
import { entry, start } from "./entries.ts";
import { ledgerOf } from "./memoryLedger.ts";
import { openLedger, temporaryFile } from "./temporaryFolder.ts";

const day = 86_400;

function lifecycle(id: string, values: Partial<LivingOffer> = {}) {
  return storedAdviceOf({
    offer: offer({ id, title: `title of ${id}` }),
    firstSeenAt: start,
    openedAt: start,
    openings: 1,
    replaces: [],
    replacedBy: null,
    parts: null,
    rests: null,
    computedAt: start,
    validUntil: start + 600,
    state: "open",
    closedAt: null,
    closedBecause: null,
    measured: null,
    aftermath: null,
    alerts: [],
    ...values,
  });
}

const closed = (id: string, firstSeenAt: number, closedAt: number) =>
  lifecycle(id, {
    firstSeenAt,
    closedAt,
    state: "taken",
    closedBecause: "its pods left",
    measured: { gainedGpus: 14, lostGpuHours: 2.5, at: closedAt, isFinal: true, undone: null },
  });

const ids = (answer: ReturnType<typeof queryAdvice>): readonly string[] =>
  answer.ok ? answer.answer.rows.map(({ id }) => id) : [answer.error];

describe("recommendations of a window", () => {
  const lives = [
    closed("before", start, start + day - 1),
    closed("into", start, start + day),
    closed("within", start + day + 60, start + day + 120),
    lifecycle("open", { firstSeenAt: start + day }),
    lifecycle("after", { firstSeenAt: start + 2 * day }),
  ];
  const db = ledgerOf([{ ...entry(), advice: lives }]);
  const window = { from: start + day, to: start + 2 * day };

  test("are those that were open at some moment of it, in the order in which they came up", () => {
    expect(ids(queryAdvice(db, { ...window, limit: 10 }))).toEqual(["into", "open", "within"]);
    expect(queryAdvice(db, { ...window, limit: 1 })).toMatchObject({
      answer: { totalRows: 3, rows: [{ id: "into" }] },
    });
    expect(ids(queryAdvice(db, { from: start, to: start, limit: 1 }))).toEqual([
      expect.stringContaining("before it begins"),
    ]);
  });

  test("say what a report says about each", () => {
    const { draft } = offer();
    const answer = queryAdvice(db, { ...window, limit: 1 });
    expect(answer.ok && answer.answer.rows[0]).toEqual({
      id: "into",
      firstSeenAt: start,
      kind: draft.kind,
      state: "taken",
      closedAt: start + day,
      title: "title of into",
      fromTeam: draft.fromTeam,
      forTeam: draft.forTeam,
      queue: draft.queue,
      pool: draft.pool,
      gainedGpusWorst: draft.effect.gainedGpus.worst,
      gainedGpusBest: draft.effect.gainedGpus.best,
      lostGpuHours: draft.cost.lostGpuHours,
      measuredGpus: 14,
      measuredLostGpuHours: 2.5,
      detail: {
        beneficiary: "search",
        reason: draft.reason,
        savingPerWeek: draft.effect.savingPerWeek,
        confidence: draft.confidence,
        guards: draft.guards,
        disruptedPods: draft.cost.pods,
        disruptedTeams: draft.cost.teams,
        lostIsUpperBound: draft.cost.isUpperBound,
        act: "do",
        aftermath: null,
        closedBecause: "its pods left",
        isMeasuredFinal: true,
        undone: null,
      },
    });
  });

  test("whose rest another version wrote otherwise have no more than their columns", () => {
    expect(adviceDetailOf("{}")).toBeNull();
    expect(adviceDetailOf("not JSON")).toBeNull();
    expect(adviceDetailOf(lifecycle("open").record)).toMatchObject({ closedBecause: null, isMeasuredFinal: null });
  });

  test("are answered by the thread that reads", async () => {
    const file = temporaryFile();
    const ledger = await openLedger(file);
    ledger.append({ ...entry(), advice: lives });
    await ledger.flush();
    const reader = createLedgerReader(file);
    expect(ids(await reader.queryAdvice({ ...window, limit: 10 }))).toEqual(["into", "open", "within"]);
    await reader.close();
    await ledger.close();
  });
});
