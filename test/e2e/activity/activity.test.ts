import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import type { DeviceReading } from "../../../exporter/model/telemetry.ts";
import { mixedCluster } from "../../simulator/scenarios/activity/mixedCluster.ts";
import { aloneShapes, gangShapes, partShapes } from "../../simulator/scenarios/activity/shapes.ts";
import { expectClosedAccounts } from "../accounting.ts";
import { digestOf, replayedSeeds } from "./activityReport.ts";
import { type MixedOutcome, playMixed } from "./playMixed.ts";

const page = readFileSync(new URL("../../../docs/activity.md", import.meta.url), "utf8");

/** What it takes to say that a GPU is stalled: all of it must be there. */
const isKnown = ({ tensorActive, dramActive, powerWatts }: DeviceReading): boolean =>
  tensorActive !== null && dramActive !== null && powerWatts !== null;

/** What is not known makes nobody stalled, idle or slowed down; what the objects say is lost is lost without a page, too. */
function expectUnknownAccusesNobody({ accountingEntries, snapshot }: Analysis): void {
  const readingOf = (device: number | null): DeviceReading | null =>
    (device === null ? undefined : snapshot.devices[device])?.reading ?? null;
  const accused = accountingEntries.list.filter(({ state, cause, device, pod, idleReason }) => {
    const reading = readingOf(device);
    if (state === "stalled") return reading === null || !isKnown(reading);
    if (state === "idle" && idleReason === undefined) return reading === null;
    if (state === "idle") return pod === null || snapshot.serving?.get(pod)?.finished == null;
    return cause !== undefined && state !== "unavailable" && (reading?.clockEventReasons ?? null) === null;
  });
  expect(accused).toEqual([]);
  const lost = accountingEntries.list.filter(({ state, node, device }) => {
    const isSick = device !== null && snapshot.devices[device]?.unhealthy === true;
    return state === "unavailable" && !isSick && snapshot.nodes.find(({ name }) => name === node)?.ready !== false;
  });
  expect(lost).toEqual([]);
}

const outcomes: MixedOutcome[] = [];

beforeAll(async () => {
  for (let seed = 1; seed <= replayedSeeds; seed++)
    outcomes.push(
      await playMixed(seed, (analysis) => {
        expectClosedAccounts(analysis);
        expectUnknownAccusesNobody(analysis);
      }),
    );
}, 300_000);

describe("the first mixed clusters", () => {
  it("are what docs/activity.md has of them (else: npm run activity)", () => {
    expect(page).toContain(`digest \`${digestOf(outcomes)}\``);
  });

  it("have nothing missed that a page shows, and no cause where nothing happens", () => {
    const missed = outcomes.flatMap(({ seed, works }) =>
      works.flatMap(({ shape, findings }) =>
        Object.values(findings).some(({ isShown, calledAfter }) => isShown && calledAfter === null)
          ? [`${seed}: ${shape}`]
          : [],
      ),
    );
    expect(missed).toEqual([]);
    expect(outcomes.map(({ health }) => health.wellNodesCalled)).toEqual(outcomes.map(() => 0));
    const wrong = outcomes.flatMap(({ health }) => health.faults.filter(({ isFalseAlarm }) => isFalseAlarm));
    expect(wrong).toEqual([]);
  });

  it("are another cluster for another seed, and the same for the same", () => {
    expect(mixedCluster(1)).not.toEqual(mixedCluster(2));
    expect(JSON.stringify(mixedCluster(3))).toBe(JSON.stringify(mixedCluster(3)));
  });
});

/** The cells of the rows of a section's table, by the heads of its columns. */
function rowsOf(title: string): readonly ReadonlyMap<string, string>[] {
  const section = page.slice(page.indexOf(title));
  const lines =
    section
      .slice(section.indexOf("\n| ") + 1)
      .split("\n\n")[0]
      ?.split("\n") ?? [];
  const cells = (line: string): readonly string[] => line.slice(2, -2).split(" | ");
  const [head = [], , ...rows] = lines.map(cells);
  return rows.map((row) => new Map(head.map((name, i) => [name, row[i] ?? ""])));
}

const sumOf = (rows: readonly ReadonlyMap<string, string>[], column: string): number =>
  rows.reduce((sum, row) => sum + Number(row.get(column)), 0);

describe("docs/activity.md", () => {
  const totals = rowsOf("A test plays");
  const shapes = rowsOf("## By what the work does");
  const pages = rowsOf("## By what the page shows");

  it.each(["stalled", "no-activity", "no-requests"])("has tables that add up to the same %s", (called) => {
    const of = (rows: typeof shapes) => rows.filter((row) => row.get("called") === called);
    for (const column of ["so", "found", "false alarms", "missed", "not shown"]) {
      const total = sumOf(of(totals), column);
      expect(sumOf(of(shapes), column), `${column} by shape`).toBe(total);
      expect(sumOf(of(pages), column), `${column} by page`).toBe(total);
    }
    expect(sumOf(of(totals), "so")).toBe(
      sumOf(of(totals), "found") + sumOf(of(totals), "missed") + sumOf(of(totals), "not shown"),
    );
  });

  it("is about 200 clusters, and about every shape", () => {
    expect(page).toContain("200 mixed clusters (seeds 1 to 200)");
    const names = new Set(shapes.map((row) => row.get("what it does")));
    for (const { name } of [...aloneShapes, ...gangShapes, ...partShapes]) expect(names).toContain(name);
  });
});
