import type { LedgerTableQuery, LedgerTableResult } from "../accounts/ledger/ledgerTableQuery.ts";
import { countedQueueAmounts } from "../accounts/posting.ts";
import { type QueueHistory, sumQueueTotals } from "./queueHistory.ts";
import { tooManyGroups } from "./windowErrors.ts";

const maxTeams = 100_000;

/** What queues had, as a ledger keeps it; windows are whole hours, and whole days (UTC) where only these are kept. */
export function createLedgerQueueHistory(ask: (query: LedgerTableQuery) => Promise<LedgerTableResult>): QueueHistory {
  return {
    async queueTotals({ from, to, team }) {
      const where = new Map(team === null ? [] : [["team", [team === "" ? null : team]] as const]);
      const asked = await ask({ of: "queues", from, to, groupBy: ["team"], where, limit: maxTeams });
      if (!asked.ok) return { ok: false, error: asked.error, nextStep: asked.nextStep };
      const { rows, totalRows } = asked.answer;
      if (totalRows > rows.length) return tooManyGroups(maxTeams);
      return {
        ok: true,
        rows: sumQueueTotals(
          rows.flatMap(({ values, amounts }) =>
            countedQueueAmounts.flatMap((of) => {
              const amount = amounts[of] ?? null;
              return amount === null ? [] : [{ team: values[0] ?? "", of, amount }];
            }),
          ),
        ),
      };
    },
  };
}
