import fc from "fast-check";
import { waterfallLevels } from "../../exporter/history/waterfall.ts";
import { adviceActs } from "../../exporter/model/adviceAct.ts";
import { gpuStates } from "../../exporter/model/gpuStates.ts";
import { adviceKinds, adviceStates } from "../../exporter/model/recommendation.ts";
import type { Review } from "../../review/document/review.ts";
import { tileIds } from "../../review/document/tiles.ts";
import { hostileNames } from "./hostileReview.ts";

const amount = fc.oneof(
  fc.constantFrom(0, 1, 8, 0.001, 99.996, 9_999.6, 999_999),
  fc.double({ min: 0, max: 1e9, noNaN: true }).map((value) => value + 0),
);
const ratio = fc.double({ min: 0, max: 1, noNaN: true });
// JSON knows no -0.
const signed = fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((value) => value + 0);
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });
const name = fc.oneof(
  fc.constantFrom(...hostileNames),
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.constantFrom("search", "ads", ""),
);
const short = name.map((text) => text.slice(0, 20));
const line = name.map((text) => text.slice(0, 300));
const moment = fc
  .integer({ min: 1_700_000_000, max: 1_900_000_000 })
  .map((seconds) => new Date(seconds * 1000).toISOString());
const costs = fc.dictionary(fc.constantFrom("USD", "EUR", "credits", "constructor"), amount, { maxKeys: 3 });
const buckets = fc.array(fc.record({ bucket: fc.nat(1000), waits: amount, seconds: amount }), { maxLength: 2 });
const waits = { count: amount, p50Seconds: maybe(amount), p95Seconds: maybe(amount), buckets };
const cluster = fc.constantFrom("harbor", "mill");
/** No two rows of a list are of the same thing. */
const list = <Row>(row: fc.Arbitrary<Row>, key: (one: Row) => string) =>
  fc.uniqueArray(row, { selector: key, maxLength: 4 });

const drop = fc.record({
  ...{
    state: fc.constantFrom(...gpuStates),
    isAllocated: fc.boolean(),
    gpuHours: amount,
    costs,
    strandedGpuHours: maybe(amount),
  },
  owner: short,
});
const budget = fc.record({
  ...{
    cluster,
    month: fc.constantFrom("2026-11"),
    currency: fc.constant("USD"),
    perMonth: amount,
    spent: maybe(amount),
  },
  forecast: maybe(fc.record({ low: maybe(amount), mid: amount, high: maybe(amount) })),
});
const team = fc.record({
  ...{
    team: name,
    allocated: amount,
    active: amount,
    judged: amount,
    idle: amount,
    stalled: fc.option(amount),
    whole: maybe(amount),
    underutilized: amount,
  },
  ...{ utilization: maybe(ratio), entitled: maybe(amount), deviation: maybe(signed) },
  ...{ shortByOthers: maybe(amount), shortByIdleGap: maybe(amount), waits: maybe(fc.record(waits)) },
  ...{ shortByLostNode: maybe(amount), shortByNodeToCome: maybe(amount), shortByPastQueues: maybe(amount) },
  ...{ shortByPromisedTwice: maybe(amount), shortByIndivisible: maybe(amount) },
  ...{
    evictions: maybe(amount),
    lostToEvictions: maybe(amount),
    lostToFailures: maybe(amount),
    costs,
    wasteCosts: costs,
    jobs: maybe(amount),
  },
  budgets: fc.array(budget, { maxLength: 1 }),
});
const job = fc.record({
  ...{ cluster, kind: short, namespace: short, name: short, team: name, queue: name, gpuHours: amount },
  ...{
    activeGpuHours: amount,
    wastedGpuHours: amount,
    utilization: maybe(ratio),
    costs,
    wasteCosts: costs,
    costPerUnit: costs,
  },
});
const runOut = fc.record({
  state: fc.constantFrom("exhausted", "growing", "not-foreseeable", "unknown"),
  ...{ earliest: maybe(moment), likely: maybe(moment), latest: maybe(moment), reason: line },
});
const action = fc.record({
  ...{
    cluster,
    id: short,
    kind: fc.constantFrom(...adviceKinds),
    title: line,
    state: fc.constantFrom(...adviceStates),
  },
  ...{ firstSeen: moment, closed: maybe(moment), fromTeam: name, forTeam: name, pool: name, owner: short },
  ...{ predictedGpus: signed, predictedGpuHoursPerWeek: signed, lostGpuHours: amount, savingPerWeek: costs },
  ...{ risk: short, measuredGpus: maybe(signed), measuredLostGpuHours: maybe(signed) },
  ...{ closedBecause: maybe(line), whyMeasured: maybe(line), records: amount },
});
const notAdvised = fc.record({
  ...{ cluster, kind: fc.constantFrom(...adviceKinds), subject: short, reason: line, hours: amount },
  ...{ otherReasons: amount, costs },
});
const whole = fc.integer({ min: 0, max: 5000 });
const trackRecord = fc.record({
  ...{ kind: fc.constantFrom(...adviceKinds), act: fc.constantFrom(...adviceActs), cameBack: whole },
  ...{ evictedAgain: whole, stayed: whole, ended: whole, regretGpuHours: amount },
});
const waitRow = fc.record({ queue: maybe(short), sizeClass: maybe(short), priorityClass: maybe(short), ...waits });
const period = fc.record({
  ...{
    label: short,
    from: moment,
    to: moment,
    coverage: maybe(ratio),
    coveredSeconds: amount,
    capacity: amount,
    allocated: amount,
  },
  ...{ active: amount, judged: amount, pending: maybe(amount), usable: amount, costs, notAllocatedCosts: costs },
});
const step = fc.record({
  ...{ at: moment, capacity: maybe(amount), guaranteed: maybe(amount), allocated: maybe(amount) },
  ...{ active: maybe(amount), pending: maybe(amount) },
});
const tile = fc.record({
  ...{
    id: fc.constantFrom(...tileIds),
    title: short,
    unit: fc.constantFrom("GPU-h", "ratio", "USD", "EUR"),
    value: maybe(amount),
  },
  before: fc.uniqueArray(fc.record({ label: short, value: maybe(amount) }), {
    selector: ({ label }) => label,
    minLength: 1,
    maxLength: 5,
  }),
  ...{ change: maybe(signed), note: short, owner: short },
});

/** Any review that the schema allows, with names that no page should believe. */
export const arbitraryReview: fc.Arbitrary<Review> = fc.record({
  schemaVersion: fc.constant(1 as const),
  clusters: fc.constantFrom(["harbor"], ["harbor", "mill"]),
  ...{ team: maybe(name), writtenAt: moment, source: fc.constantFrom("ledger", "prometheus", "merged") },
  window: fc.record({
    ...{ kind: fc.constantFrom("week", "month", "span"), label: short, from: moment, to: moment, isOver: fc.boolean() },
  }),
  coverage: fc.record({
    ...{ windowSeconds: amount, coveredSeconds: amount.map((value) => value + 1), ratio },
    byCluster: fc.constant([]),
    gaps: fc.array(fc.record({ cluster, from: moment, to: moment, reason: short }), { maxLength: 5 }),
    gapsLeftOut: amount,
  }),
  prices: fc.array(
    fc.record({
      ...{ cluster, source: short, basis: short, currency: short, datedFrom: maybe(moment), datedTo: maybe(moment) },
      pools: fc.array(name, { maxLength: 2 }),
    }),
    { maxLength: 2 },
  ),
  ...{ unpricedGpuHours: maybe(amount), estimatedGpuHours: maybe(amount), unobservedGpuHours: amount },
  periods: fc.array(period, { maxLength: 2 }),
  tiles: list(tile, ({ id }) => id),
  terms: fc.record({
    ...{ totalGpus: maybe(amount), effectiveGpus: maybe(amount), wastedGpus: maybe(amount) },
    ...{ utilization: maybe(ratio), schedulingEfficiency: maybe(ratio) },
  }),
  waterfall: list(
    fc.record({
      ...{ level: fc.constantFrom(...waterfallLevels), gpuHours: amount, costs },
      drops: list(drop, ({ state }) => state),
    }),
    ({ level }) => level,
  ).map((stages) => {
    // A state is lost once, before one level.
    const seen = new Set<string>();
    return stages.map((stage) => ({
      ...stage,
      drops: stage.drops.filter(({ state }) => state !== "active" && !seen.has(state) && seen.add(state) !== null),
    }));
  }),
  demand: maybe(
    list(
      fc.record({
        ...{ cluster, domain: short, pools: fc.array(short, { maxLength: 2 }), stepSeconds: amount },
        steps: fc.uniqueArray(step, { selector: ({ at }) => at, maxLength: 5 }),
        ...{ p95DemandGpus: maybe(amount), meanCapacityGpus: maybe(amount) },
        oneMoreNode: maybe(
          fc.record({
            ...{
              gpus: maybe(amount),
              p95Seconds: maybe(amount),
              lowSeconds: maybe(amount),
              highSeconds: maybe(amount),
            },
            ...{ costsPerMonth: costs, reason: maybe(short) },
          }),
        ),
      }),
      ({ domain }) => domain,
    ),
  ),
  teams: list(team, ({ team }) => team),
  waits: maybe(
    fc.record({ bySize: fc.array(waitRow, { maxLength: 3 }), byQueue: fc.array(waitRow, { maxLength: 3 }) }),
  ),
  idleNodes: maybe(
    fc.record({
      pools: fc.array(
        fc.record({
          cluster,
          nodePool: short,
          pool: short,
          state: short,
          nodeHours: amount,
          costs,
          reservedNodeHours: amount,
          reservedCosts: costs,
        }),
        {
          maxLength: 3,
        },
      ),
      streaks: fc.array(
        fc.record({
          ...{ cluster, node: short, nodePool: short, pool: short, state: short, begins: moment, ends: maybe(moment) },
          hours: amount,
        }),
        { maxLength: 3 },
      ),
    }),
  ),
  faults: maybe(
    fc.record({
      causes: fc.array(
        fc.record({
          ...{ cause: short, gpuHours: amount, costs, outages: amount, repaired: amount },
          meanRepairHours: maybe(amount),
        }),
        { maxLength: 3 },
      ),
      outages: fc.array(
        fc.record({
          ...{ cluster, node: short, gpu: short, pool: short, cause: short, teams: short, begins: moment },
          ...{ ends: maybe(moment), gpuHours: amount },
        }),
        { maxLength: 3 },
      ),
    }),
  ),
  fragmentation: maybe(
    list(
      fc.record({
        ...{ cluster, pool: short, freeGpuHours: amount, strandedGpuHours: amount, blockedGpuHours: amount },
        largestPlaceableGpus: maybe(fc.record({ mean: amount, min: amount, max: amount })),
      }),
      ({ pool }) => pool,
    ),
  ),
  startTimes: maybe(
    list(
      fc.record({ cluster, queue: short, sizeClass: short, starts: amount, intervals: amount, hits: amount }),
      ({ queue, sizeClass }) => JSON.stringify([queue, sizeClass]),
    ),
  ),
  topology: maybe(
    list(
      fc.record({
        ...{ cluster, pool: short, level: short, hours: amount, largestGpus: amount, halfOfTimeGpus: amount },
        gangs: fc.tuple(fc.record({ gpus: fc.constant(8), ratio }), fc.record({ gpus: fc.constant(64), ratio })),
      }),
      ({ pool, level }) => JSON.stringify([pool, level]),
    ),
  ),
  serving: maybe(
    list(
      fc.record({
        ...{ cluster, kind: short, namespace: short, name: short, team: name, requests: amount },
        ...{ promptTokens: maybe(amount), generatedTokens: maybe(amount), gpuHours: amount, costs },
        ...{ tokensPerGpuHour: maybe(amount), costPerMillionTokens: costs },
      }),
      ({ cluster, kind, namespace, name, team }) => JSON.stringify([cluster, kind, namespace, name, team]),
    ),
  ),
  jobs: maybe(
    fc.record({ count: amount, costs, byCost: list(job, ({ name }) => name), byWaste: list(job, ({ name }) => name) }),
  ),
  runway: maybe(
    list(
      fc.record({
        ...{
          cluster,
          domain: short,
          weeks: fc.array(fc.record({ from: moment, p95DemandGpus: maybe(amount) }), { maxLength: 5 }),
        },
        ...{ p95DemandGpus: maybe(amount), capacityGpus: maybe(amount), trendGpusPerWeek: maybe(signed) },
        ...{ runsOut: runOut, recoverableGpus: maybe(amount), runsOutWithoutWaste: runOut },
      }),
      ({ domain }) => domain,
    ),
  ),
  actions: maybe(list(action, ({ id }) => id)),
  lastActions: maybe(list(action, ({ id }) => id)),
  lastActionsLeftOut: amount,
  notAdvised: maybe(list(notAdvised, ({ kind, subject }) => `${kind} ${subject}`)),
  notAdvisedLeftOut: amount,
  trackRecords: maybe(list(trackRecord, ({ kind, act }) => `${kind} ${act}`)),
  notes: fc.array(fc.record({ cluster: maybe(name), text: line }), { maxLength: 2 }),
});
