import { expect, test } from "vitest";
import { createSeriesTable, keptUnusedSeconds } from "../../exporter/accounts/seriesTable.ts";

interface Labels {
  readonly team: string;
  readonly queue: string;
}

const tableOf = (budget: number) =>
  createSeriesTable<Labels, Labels>(
    budget,
    ({ team }) => ({ team, queue: "other" }),
    () => ({ team: "other", queue: "other" }),
    (labels) => labels,
  );
const label = (team: string, queue: number): Labels => ({ team, queue: `q-${queue}` });

test("a fifth of the budget is kept for label sets that others share, so that nobody's names take all of it", () => {
  const table = tableOf(10);
  for (let queue = 0; queue < 20; queue += 1) table.cell(label("a", queue));
  expect(table.cells.map(({ queue }) => queue)).toEqual([..."01234567"].map((at) => `q-${at}`).concat("other"));
  expect(table.cell(label("late", 0))).toEqual({ team: "late", queue: "other" });
  expect(table.cell(label("later", 0))).toEqual({ team: "other", queue: "other" });
});

test("what nothing has used for an hour makes space for others, and what is used stays", () => {
  const table = tableOf(10);
  table.begin(1000);
  for (let queue = 0; queue < 8; queue += 1) table.cell(label("a", queue));
  table.begin(1000 + keptUnusedSeconds);
  const used = table.cell(label("a", 0));
  expect(table.cell(label("b", 0)).queue).toBe("other");
  table.begin(1100 + keptUnusedSeconds);
  expect(table.cell(label("b", 0))).toEqual(label("b", 0));
  expect(table.has(used)).toBe(true);
  expect(table.cells.map(({ team, queue }) => `${team} ${queue}`)).toEqual(["a q-0", "b other", "b q-0"]);
});

test("unused cells are looked for once a minute, however many names come", () => {
  const table = tableOf(10);
  table.begin(1000);
  for (let queue = 0; queue < 8; queue += 1) table.cell(label("a", queue));
  // Looked for in vain: nothing is old enough, by one second.
  table.begin(1000 + keptUnusedSeconds);
  expect(table.cell(label("b", 0)).queue).toBe("other");
  table.begin(1001 + keptUnusedSeconds);
  expect(table.cell(label("b", 0)).queue).toBe("other");
  table.begin(1060 + keptUnusedSeconds);
  expect(table.cell(label("b", 0)).queue).toBe("q-0");
});
