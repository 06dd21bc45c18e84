import { expect } from "vitest";
import { createLedgerReader } from "../../../exporter/accounts/ledger/ledgerReader.ts";
import { waitBucket } from "../../../exporter/accounts/ledger/waitBucket.ts";
import { createLedgerHistory } from "../../../exporter/history/ledgerHistory.ts";
import { buildReview } from "../../../review/build/buildReview.ts";
import type { Review } from "../../../review/document/review.ts";
import type { Days } from "../../../review/window.ts";
import type { TruthWaits } from "../../../simulator/truthRecord/waitLog.ts";
import type { MonthTruth, TruthAmount } from "../../simulator/truthRecord/monthTruth.ts";

/** How far a found amount is from the true one. */
export interface Difference {
  readonly what: string;
  readonly found: number;
  readonly truth: number;
}

/** The review of a played ledger, written just after its end. */
export async function reviewOfMonth(ledgerPath: string, days: Days): Promise<Review> {
  const accounts = createLedgerReader(ledgerPath);
  try {
    const history = createLedgerHistory(ledgerPath, accounts.query);
    const question = { cluster: "month", days, compare: 0, team: null, now: days.to + 60, history, accounts };
    const built = await buildReview({ ...question, budgets: [], notCharged: ["unavailable"] });
    if (!built.ok) throw new Error(built.error);
    return built.review;
  } finally {
    await accounts.close();
  }
}

/** Every level and drop of the waterfall, GPU-hours and cost. */
export function waterfallDifferences(review: Review, truth: MonthTruth): readonly Difference[] {
  expect(review.waterfall.map(({ level }) => level)).toEqual(truth.waterfall.map(({ level }) => level));
  return truth.waterfall.flatMap((stage) => {
    const found = review.waterfall.find(({ level }) => level === stage.level);
    const drops = stage.drops.flatMap((drop) => {
      const same = found?.drops.find(
        ({ state, isAllocated }) => state === drop.state && isAllocated === drop.isAllocated,
      );
      return both(`${drop.state}${drop.isAllocated ? ", held" : ""}`, same, drop);
    });
    return [...both(stage.level, found, stage), ...drops];
  });
}

function both(
  what: string,
  found: { readonly gpuHours: number; readonly costs: Readonly<Record<string, number>> } | undefined,
  truth: TruthAmount,
): readonly Difference[] {
  return [
    { what: `${what}, GPU-hours`, found: found?.gpuHours ?? 0, truth: truth.gpuHours },
    { what: `${what}, USD`, found: found?.costs.USD ?? 0, truth: truth.cost },
  ];
}

/** What each team held, what it is charged for it (time of unavailable GPUs is not), and how much of it was idle. */
export function teamDifferences({ teams }: Review, truth: MonthTruth): readonly Difference[] {
  return truth.teams.flatMap(({ team, gpuHours, cost, states }) => {
    const found = teams.find((row) => row.team === team);
    const charged = cost - (states.unavailable?.cost ?? 0);
    return [
      { what: `${team} held, GPU-hours`, found: found?.allocated ?? 0, truth: gpuHours },
      { what: `${team}, USD`, found: found?.costs.USD ?? 0, truth: charged },
      { what: `${team} idle, GPU-hours`, found: found?.idle ?? 0, truth: states.idle?.gpuHours ?? 0 },
    ];
  });
}

/** Node-hours of nodes that nobody used or could use, by state. */
export function nodeDifferences({ idleNodes }: Review, truth: MonthTruth): readonly Difference[] {
  const states = new Set(truth.nodeTime.map(({ state }) => state));
  states.delete("ready");
  return [...states].map((state) => {
    const found = (idleNodes?.pools ?? []).filter((row) => row.state === state);
    const real = truth.nodeTime.filter((row) => row.state === state);
    return {
      what: `nodes ${state}, hours`,
      found: found.reduce((sum, { nodeHours }) => sum + nodeHours, 0),
      truth: real.reduce((sum, { nodeHours }) => sum + nodeHours, 0),
    };
  });
}

/** p95 of demand and mean capacity of each quota domain, which here are the pools of one model each. */
export function demandDifferences({ demand }: Review, truth: MonthTruth): readonly Difference[] {
  return truth.demand.flatMap(({ gpuModel, p95DemandGpus, meanCapacityGpus }) => {
    const found = demand?.find(({ domain }) => domain === poolOf(gpuModel));
    return [
      { what: `p95 demand for ${gpuModel}, GPUs`, found: found?.p95DemandGpus ?? 0, truth: p95DemandGpus },
      { what: `capacity of ${gpuModel}, GPUs`, found: found?.meanCapacityGpus ?? 0, truth: meanCapacityGpus },
    ];
  });
}

const poolOf = (gpuModel: string): string => gpuModel.replace("NVIDIA ", "").replaceAll(" ", "-");

/** Waits of a queue, or of all work of one size, by buckets. */
export interface FoundWaits {
  readonly of: string;
  readonly phase: TruthWaits["phase"];
  readonly count: number;
  readonly p50Seconds: number | null;
  readonly p95Seconds: number | null;
}

/** The waits in queues by the ledger, each phase for itself. */
export async function waitsOf(
  ledgerPath: string,
  days: Days,
  by: "queue" | "sizeClass",
): Promise<readonly FoundWaits[]> {
  const accounts = createLedgerReader(ledgerPath);
  try {
    const { from, to } = days;
    const asked = await accounts.queryLedgerTable({
      of: "waits",
      from,
      to,
      groupBy: [by, "phase"],
      where: new Map(),
      limit: 1000,
    });
    if (!asked.ok) throw new Error(asked.error);
    return asked.answer.rows.flatMap(({ values: [of, phase], amounts }) => {
      if (phase !== "admission" && phase !== "start" && phase !== "total") return [];
      const { waits = 0, p50Seconds = null, p95Seconds = null } = amounts;
      return [{ of: of ?? "", phase, count: waits ?? 0, p50Seconds, p95Seconds }];
    });
  } finally {
    await accounts.close();
  }
}

/** Buckets between a found and a true percentile; the number of waits is compared by itself. */
export function bucketsApart(found: FoundWaits | undefined, truth: TruthWaits): readonly Difference[] {
  const difference = (name: "p50Seconds" | "p95Seconds"): Difference => ({
    what: `waits of ${truth.of}, ${truth.phase}, ${name}, bucket`,
    found: found === undefined ? Number.NaN : waitBucket(found[name] ?? 0),
    truth: waitBucket(truth[name]),
  });
  return [difference("p50Seconds"), difference("p95Seconds")];
}

/** The numbers themselves, for people: FAIRLEAD_REPORT=1. */
export function reportDifferences(differences: readonly Difference[]): void {
  if (process.env.FAIRLEAD_REPORT === undefined) return;
  const percent = ({ found, truth }: Difference): string => `${(100 * (found / truth - 1)).toFixed(3)} %`;
  for (const one of differences)
    process.stdout.write(`${one.what}: ${one.found.toFixed(3)}, truth ${one.truth.toFixed(3)} (${percent(one)})\n`);
}

/** Within a part of the truth, or of something else where that is more. */
export function expectWithin(differences: readonly Difference[], ratio: number, least = 0): void {
  for (const { what, found, truth } of differences)
    expect(Math.abs(found - truth), `${what}: ${found}, truth ${truth}`).toBeLessThanOrEqual(
      Math.max(ratio * Math.abs(truth), least) + 1e-9,
    );
}
