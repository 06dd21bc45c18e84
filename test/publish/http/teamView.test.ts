import { expect, test } from "vitest";
import { createListBuilder } from "../../../exporter/publish/document/listBuilder.ts";
import type { EvictionRecord } from "../../../exporter/publish/document/schema.ts";
import { type ListName, lists } from "../../../exporter/publish/http/lists.ts";
import { withinTeams } from "../../../exporter/publish/http/questionParameters.ts";
import { queueMoment } from "../queueMoment.ts";

const built = createListBuilder(queueMoment);

/** A list as whoever may see these teams gets it, of records that are given. */
function seen<Item>(name: ListName, items: readonly Item[], ...visible: readonly string[]): readonly unknown[] {
  const given = { ...built, [name]: () => items };
  const input = { lists: given, problems: [], recommendations: () => [], withheld: () => [] };
  return lists[name].select(input, new Map(), new Set(visible));
}

const eviction: EvictionRecord = {
  at: null,
  scheduler: "kueue",
  kind: "Job",
  namespace: "ads",
  name: "train",
  team: "ads",
  queue: "shared",
  priorityClass: "low",
  reason: "InCohortReclamation",
  isPreemption: true,
  preemptor: { name: "secret-plan", team: "search", queue: "search-queue" },
  gpus: 8,
  lostGpuSeconds: null,
  isUpperBound: false,
};

test("who took the place of evicted work is said only to whoever may see both", async () => {
  expect(seen("evictions", [eviction], "ads")).toEqual([{ ...eviction, preemptor: null }]);
  expect(seen("evictions", [eviction], "ads", "search")).toEqual([eviction]);
  expect(seen("evictions", [eviction], "search")).toEqual([]);
  const unknown = { ...eviction, preemptor: { name: "secret-plan", team: null, queue: null } };
  expect(seen("evictions", [unknown], "ads")).toEqual([{ ...eviction, preemptor: null }]);
});

test("a device that teams share is shown only to whoever may see all of them, and one that nobody holds to nobody", async () => {
  const holder = (team: string) => ({ namespace: team, pod: `${team}-0`, team });
  const [mixed, own, free] = [[holder("ads"), holder("search")], [holder("ads")], []].map((holders) => ({ holders }));
  expect(seen("devices", [mixed, own, free], "ads")).toEqual([own]);
  expect(seen("devices", [mixed, own, free], "ads", "search")).toEqual([mixed, own]);
});

test("a queue is shown where all its teams may be seen, without the words that name other queues", async () => {
  const queue = (team: string | null, teams: readonly string[]) => ({
    name: `${team}`,
    team,
    teams: teams.map((one) => ({ team: one, allocated: 1, pending: 0 })),
    heldBackBy: "the work of search may not be taken back",
  });
  const all = [queue("ads", ["ads"]), queue(null, ["ads", "search"]), queue("search", []), queue(null, [])];
  expect(seen("queues", all, "ads")).toEqual([
    { ...all[0], heldBackBy: "a setting of the queues, which whoever runs them can see" },
  ]);
});

test("every other list is shown to nobody who may see some teams alone", async () => {
  const byTeam = Object.entries(lists).flatMap(([name, list]) => (list.isByTeam ? [name] : []));
  expect(byTeam).toEqual(["teams", "queues", "devices", "workloads", "pending", "blocked", "evictions"]);
  expect(seen("nodes", [{ name: "n1" }], "ads")).toEqual([]);
});

test.each([
  [
    [],
    ["ads", "ml"],
    [
      ["team", "ads"],
      ["team", "ml"],
    ],
  ],
  [
    [
      ["team", "ads"],
      ["pool", "H100"],
    ],
    ["ads", "ml"],
    [
      ["team", "ads"],
      ["pool", "H100"],
    ],
  ],
  [[["team", "search"]], ["ads"], null],
  [
    [
      ["team", "ads"],
      ["team", "search"],
    ],
    ["ads"],
    null,
  ],
  [[["team", ""]], ["ads"], null],
] as const)("a question with %j of whoever may see %j", (where, visible, expected) => {
  const within = withinTeams({ where }, new Set(visible));
  expect(within.ok ? within.text.where : null).toEqual(expected);
  if (!within.ok) expect(within.status).toBe(403);
});
