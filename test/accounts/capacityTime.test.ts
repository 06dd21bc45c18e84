import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { accrue } from "../../exporter/accounts/accrue.ts";
import type { AccruedTime } from "../../exporter/accounts/posting.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { type BlockedWork, nothingBlocked } from "../../exporter/analysis/blocked/blocked.ts";
import { type StrandedReason, strandedReasons } from "../../exporter/model/fragmentation.ts";
import { device, moment, nodeView } from "../analysis/momentBuilder.ts";
import { now } from "../join/clusterBuilder.ts";
import { analysed } from "../join/outcomes.ts";
import { topologyMoment } from "../publish/topologyMoment.ts";
import { anyLifecycle, intervalSeconds, lifecycleOf } from "./clusterLifecycle.ts";
import { type Leaf, queueMoment } from "./queueMoments.ts";

const hour = 1_793_577_600;

function step(before: Analysis, after: Analysis, from: number, seconds: number): AccruedTime {
  return accrue(before, after, { from, to: from + seconds, seconds, intervalSeconds });
}

const namesOf = (rows: readonly { readonly pool: string }[]) => new Set(rows.map(({ pool }) => pool));

/** The steps of a lifecycle that are counted, each with its earlier moment. */
function coveredSteps(
  lifecycle: ReturnType<typeof lifecycleOf>,
): readonly { analysis: Analysis; accrued: AccruedTime }[] {
  return lifecycle.slice(0, -1).flatMap(({ analysis, wall, monotonic }, i) => {
    const later = lifecycle[i + 1];
    if (later === undefined) return [];
    const time = { from: wall, to: later.wall, seconds: later.monotonic - monotonic, intervalSeconds };
    const accrued = accrue(analysis, later.analysis, time);
    return accrued.interval.gap === null ? [{ analysis, accrued }] : [];
  });
}

const leaf = (parts: Partial<Leaf>): Leaf => ({
  name: "a",
  domain: "H100",
  allocated: 0,
  pending: 0,
  entitled: 0,
  ...parts,
});

describe("the time of a quota domain", () => {
  it("is its capacity, what its leaves hold and wait for, and what they are sure of, hour by hour", () => {
    const leaves = [
      leaf({ allocated: 3, pending: 2, guaranteed: 4 }),
      leaf({ name: "b", allocated: 5, guaranteed: 6 }),
    ];
    const before = queueMoment({ leaves, capacity: 20 });
    const { capacity } = step(before, queueMoment({ leaves: [] }), hour - 10, 30);
    const of = (seconds: number) => ({
      domain: "H100",
      seconds,
      capacity: 20 * seconds,
      allocated: 8 * seconds,
      pending: 2 * seconds,
      guaranteedSeconds: seconds,
      guaranteed: 10 * seconds,
    });
    expect(capacity.domains).toEqual([
      { hour: hour - 3600, ...of(10) },
      { hour, ...of(20) },
    ]);
    expect(capacity.domainPools).toEqual([{ domain: "H100", pool: "H100" }]);
  });

  it("has no guarantee, and no time of one, where quotas are not known", () => {
    const before = queueMoment({ leaves: [leaf({ allocated: 1, entitled: null, guaranteed: 4 })] });
    expect(step(before, before, hour, 30).capacity.domains).toMatchObject([
      { seconds: 30, allocated: 30, guaranteedSeconds: 0, guaranteed: 0 },
    ]);
  });

  it("has the part of a step in which gangs of each size fit into one domain, cut at the hour", () => {
    const { capacity } = step(topologyMoment, topologyMoment, hour - 10, 30);
    const rack = (seconds: number, at: number) => ({
      ...{ hour: at, pool: "H100", level: "rack", seconds },
      fitted: [seconds, seconds, 0, 0, 0, 0],
    });
    expect(capacity.topology.filter(({ level }) => level === "rack")).toEqual([rack(10, hour - 3600), rack(20, hour)]);
  });

  it("has no time of levels without topology", () => {
    const before = queueMoment({ leaves: [leaf({ allocated: 1 })] });
    expect(step(before, before, hour, 30).capacity.topology).toEqual([]);
  });

  it("of a gap is nothing", () => {
    const before = queueMoment({ leaves: [leaf({ allocated: 1 })] });
    expect(step(before, before, hour, 91)).toMatchObject({
      interval: { gap: "too-long" },
      capacity: { domains: [], placement: [], topology: [], domainPools: [], poolModels: [] },
    });
  });
});

describe("a leaf queue that has a guarantee and nothing else", () => {
  it("has the time of its guarantee and no other", () => {
    const before = queueMoment({ leaves: [leaf({ guaranteed: 4 })] });
    expect(step(before, before, hour, 30).queueTimes).toMatchObject([
      { queue: "a", seconds: 0, judgedSeconds: 0, allocated: 0, entitled: 0, guaranteedSeconds: 30, guaranteed: 120 },
    ]);
  });
});

describe("the time of how free GPUs lie", () => {
  it("of whole lifecycles is what each earlier moment had, times its seconds", () => {
    let pools = 0;
    fc.assert(
      fc.property(anyLifecycle, ({ state, seed, cycles }) => {
        for (const { analysis, accrued } of coveredSteps(lifecycleOf(state, seed, cycles))) {
          const { interval, capacity } = accrued;
          const { placement, snapshot } = analysis;
          pools += placement.pools.length;
          const total = (pool: string, of: (row: (typeof capacity.placement)[number]) => number): number =>
            capacity.placement.filter((row) => row.pool === pool).reduce((sum, row) => sum + of(row), 0);
          for (const { pool, freeGpus, largestPlaceablePod, strandedGpus } of placement.pools) {
            expect(total(pool, (row) => row.seconds)).toBeCloseTo(interval.seconds, 6);
            expect(total(pool, (row) => row.free)).toBeCloseTo(freeGpus * interval.seconds, 4);
            expect(total(pool, (row) => row.largestPlaceable)).toBeCloseTo(largestPlaceablePod * interval.seconds, 4);
            for (const reason of strandedReasons) {
              const wanted = (strandedGpus[reason] ?? 0) * interval.seconds;
              expect(total(pool, (row) => row.stranded[reason])).toBeCloseTo(wanted, 4);
            }
          }
          expect(namesOf(capacity.placement)).toEqual(namesOf(placement.pools));
          const wanted = snapshot.devices.map(({ pool, model }) => `${pool} ${model}`);
          const found = new Set(capacity.poolModels.map(({ pool, model }) => `${pool} ${model}`));
          expect(wanted.filter((pair) => !found.has(pair))).toEqual([]);
        }
      }),
      { numRuns: 60, seed: 20_261_125 },
    );
    expect(pools).toBeGreaterThan(100);
  });

  it("counts what blocked work needs in the pool in which it is published, and each reason apart", () => {
    const work = (parts: Partial<BlockedWork>): BlockedWork => ({
      gang: 0,
      key: "k",
      pools: ["H100", "A100"],
      gpus: 4,
      freeGpus: 8,
      blocker: "spread" as const,
      since: now - 600,
      isStanding: true,
      ...parts,
    });
    const base = analysed(moment({ nodes: [nodeView({ pools: ["H100"] })], devices: [device()] }));
    const [pool] = base.placement.pools;
    if (pool === undefined) throw new Error("there is a pool");
    const stranded: Partial<Record<StrandedReason, number>> = { constraint: 1, cpu: 2 };
    const before = {
      ...base,
      placement: { ...base.placement, pools: [{ ...pool, freeGpus: 6, strandedGpus: stranded }] },
      blocked: {
        ...nothingBlocked,
        work: [
          work({ pools: ["H100"] }),
          work({ pools: ["H100"], blocker: "cpu", gpus: 2 }),
          work({ isStanding: false }),
        ],
      },
    };
    const { capacity } = step(before, base, hour, 30);
    expect(capacity.placement).toMatchObject([
      {
        hour,
        pool: "H100",
        free: 180,
        stranded: { constraint: 30, gpus: 0, cpu: 60, memory: 0, cpu_and_memory: 0 },
        blocked: 180,
        largestPlaceableMin: pool.largestPlaceablePod,
        largestPlaceableMax: pool.largestPlaceablePod,
      },
    ]);
    expect(capacity.poolModels).toEqual([{ pool: "H100", model: "H100" }]);
  });
});
