import { lastActionsOf, mergeTrackRecords, shownActions, sortedActions } from "../build/actions.ts";
import { sortedCauses, sortedOutages } from "../build/faults.ts";
import { sortedFragmentation, sortedPools, sortedStreaks } from "../build/idleNodes.ts";
import { shownJobs } from "../build/jobs.ts";
import { notAdvisedOf } from "../build/notAdvised.ts";
import { sortedServed } from "../build/serving.ts";
import { sortedStarts } from "../build/startTimes.ts";
import { largestCost, sumCosts } from "../build/sumCosts.ts";
import { sortedTeams } from "../build/teams.ts";
import { tilesOf } from "../build/tiles.ts";
import { sortedTopology } from "../build/topology.ts";
import type { FaultCause } from "../document/faults.ts";
import type { Coverage } from "../document/head.ts";
import type { Review } from "../document/review.ts";
import type { Note } from "../document/tiles.ts";
import type { WaterfallDropRow, WaterfallStageRow } from "../document/use.ts";
import type { Job } from "../document/waste.ts";
import { isKnownOfAll, mergePeriods, mergeTerms } from "./mergePeriods.ts";
import { mergeTeams, mergeWaitRows } from "./mergeTeams.ts";
import { sumOrUnknown } from "./sumOrUnknown.ts";

/** One review of several clusters, or why their reviews cannot be merged. */
export type MergedReview =
  | { readonly ok: true; readonly review: Review }
  | { readonly ok: false; readonly error: string; readonly nextStep: string };

const shownGaps = 20;

/**
 * Makes one review of those of several clusters for the same window. Sums are added up, percentiles are computed anew from the
 * buckets of all, and lists are joined and cut again; sections whose rows belong to one cluster (demand, nodes, runway) have
 * the rows of all. The order of the given reviews does not matter.
 */
export function mergeReviews(given: readonly Review[]): MergedReview {
  const refusal = refuse(given);
  if (refusal !== null) return refusal;
  const reviews = given.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
  const [first] = reviews;
  if (first === undefined) return failure("there is no review to merge", "Name at least two files.");
  if (reviews.length === 1) return { ok: true, review: first };
  const periods = mergePeriods(reviews);
  const sumOf = (of: (review: Review) => number): number => reviews.reduce((sum, review) => sum + of(review), 0);
  const known = <Section extends object, Merged>(
    of: (review: Review) => Section | null,
    merge: (sections: Section[]) => Merged,
  ): Merged | null => {
    const sections = reviews.map(of).filter((section) => section !== null);
    return sections.length === 0 ? null : merge(sections);
  };
  const all = <Row, Merged>(of: (review: Review) => readonly Row[] | null, merge: (rows: Row[]) => Merged) =>
    known(of, (lists) => merge(lists.flat()));
  const closed = all(
    ({ lastActions }) => lastActions,
    (actions) =>
      lastActionsOf(
        sortedActions(actions),
        sumOf(({ lastActionsLeftOut }) => lastActionsLeftOut),
      ),
  );
  const notAdvised = all(
    ({ notAdvised }) => notAdvised,
    (rows) =>
      notAdvisedOf(
        rows,
        sumOf(({ notAdvisedLeftOut }) => notAdvisedLeftOut),
      ),
  );
  const review: Review = {
    schemaVersion: first.schemaVersion,
    clusters: reviews.flatMap(({ clusters }) => clusters).sort(),
    team: first.team,
    writtenAt:
      reviews
        .map(({ writtenAt }) => writtenAt)
        .toSorted()
        .at(-1) ?? first.writtenAt,
    source: "merged",
    window: { ...first.window, isOver: reviews.every(({ window }) => window.isOver) },
    coverage: mergeCoverage(reviews.map(({ coverage }) => coverage)),
    prices: byCluster(reviews.flatMap(({ prices }) => prices)),
    unpricedGpuHours: sumOrUnknown(reviews.map(({ unpricedGpuHours }) => unpricedGpuHours)),
    estimatedGpuHours: sumOrUnknown(reviews.map(({ estimatedGpuHours }) => estimatedGpuHours)),
    unobservedGpuHours: sumOf(({ unobservedGpuHours }) => unobservedGpuHours),
    periods,
    tiles: [...tilesOf(periods, first.team, (period) => isKnownOfAll(reviews, period))],
    terms: mergeTerms(reviews),
    waterfall: mergeWaterfall(reviews.map(({ waterfall }) => waterfall)),
    demand: all(({ demand }) => demand, byCluster),
    teams: sortedTeams(mergeTeams(reviews.map(({ teams }) => teams))),
    waits: known(
      ({ waits }) => waits,
      (waits) => ({
        bySize: mergeWaitRows(waits.flatMap(({ bySize }) => bySize)),
        byQueue: mergeWaitRows(waits.flatMap(({ byQueue }) => byQueue)),
      }),
    ),
    idleNodes: known(
      ({ idleNodes }) => idleNodes,
      (nodes) => ({
        pools: sortedPools(nodes.flatMap(({ pools }) => pools)),
        streaks: sortedStreaks(nodes.flatMap(({ streaks }) => streaks)),
      }),
    ),
    fragmentation: all(({ fragmentation }) => fragmentation, sortedFragmentation),
    startTimes: all(({ startTimes }) => startTimes, sortedStarts),
    topology: all(({ topology }) => topology, sortedTopology),
    faults: known(
      ({ faults }) => faults,
      (faults) => ({
        causes: sortedCauses(mergeCauses(faults.flatMap(({ causes }) => causes))),
        outages: sortedOutages(faults.flatMap(({ outages }) => outages)),
      }),
    ),
    serving: all(({ serving }) => serving, sortedServed),
    jobs: known(({ jobs }) => jobs, mergeJobs),
    runway: all(({ runway }) => runway, byCluster),
    actions: all(
      ({ actions }) => actions,
      (actions) => sortedActions(actions).slice(0, shownActions),
    ),
    ...(closed ?? { lastActions: null, lastActionsLeftOut: 0 }),
    ...(notAdvised ?? { notAdvised: null, notAdvisedLeftOut: 0 }),
    trackRecords: all(({ trackRecords }) => trackRecords, mergeTrackRecords),
    notes: byCluster([...reviews.flatMap(({ notes }) => notes), ...missingSections(reviews)]),
  };
  return { ok: true, review };
}

/** The waterfalls of several clusters, level by level and drop by drop. */
function mergeWaterfall(all: readonly (readonly WaterfallStageRow[])[]): WaterfallStageRow[] {
  const [first = []] = all;
  return first.map(({ level }) => {
    const stages = all.flatMap((stages) => stages.filter((stage) => stage.level === level));
    const drops = Map.groupBy(
      stages.flatMap((stage) => stage.drops),
      ({ state, isAllocated }) => `${state} ${isAllocated}`,
    );
    return {
      level,
      gpuHours: stages.reduce((sum, { gpuHours }) => sum + gpuHours, 0),
      costs: sumCosts(stages.map(({ costs }) => costs)),
      drops: [...drops.values()].flatMap(mergeDrops),
    };
  });
}

function mergeDrops(drops: readonly WaterfallDropRow[]): readonly WaterfallDropRow[] {
  const [first] = drops;
  if (first === undefined) return [];
  return [
    {
      ...first,
      gpuHours: drops.reduce((sum, { gpuHours }) => sum + gpuHours, 0),
      costs: sumCosts(drops.map(({ costs }) => costs)),
      strandedGpuHours: sumOrUnknown(drops.map(({ strandedGpuHours }) => strandedGpuHours)),
    },
  ];
}

/** Sorts rows by cluster, so that it does not matter which reviews were merged first. */
function byCluster<Row extends { readonly cluster: string | null }>(rows: readonly Row[]): Row[] {
  const nameIn = ({ cluster }: Row): string => cluster ?? "";
  return rows.toSorted((one, other) => (nameIn(one) < nameIn(other) ? -1 : nameIn(one) > nameIn(other) ? 1 : 0));
}

const nameOf = ({ clusters }: Review): string => clusters.join("\n");

function refuse(reviews: readonly Review[]): Extract<MergedReview, { ok: false }> | null {
  const [first] = reviews;
  const other = reviews.find(({ window }) => window.from !== first?.window.from || window.to !== first.window.to);
  if (first !== undefined && other !== undefined)
    return failure(
      `the reviews are of different windows (${first.window.label} of ${shown(first)}, ${other.window.label} of ${shown(other)})`,
      "Write each cluster's review for the same week or month.",
    );
  if (reviews.some(({ team }) => team !== first?.team))
    return failure(
      "some of the reviews are of one team, others of another or of all",
      "Write all with the same --team, or all without.",
    );
  const names = reviews.flatMap(({ clusters }) => clusters);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined)
    return failure(
      `cluster ${JSON.stringify(twice.slice(0, 100))} is in two of the reviews`,
      "Give each cluster's review once; clusters with the same name need names of their own (cluster in the configuration).",
    );
  return null;
}

const shown = ({ clusters }: Review): string => clusters.join(", ").slice(0, 100);

function failure(error: string, nextStep: string): Extract<MergedReview, { ok: false }> {
  return { ok: false, error, nextStep };
}

function mergeCoverage(all: readonly Coverage[]): Coverage {
  const windowSeconds = all.reduce((sum, one) => sum + one.windowSeconds, 0);
  const coveredSeconds = all.reduce((sum, one) => sum + one.coveredSeconds, 0);
  const gaps = all
    .flatMap((one) => one.gaps)
    .sort((one, other) => Date.parse(other.to) - Date.parse(other.from) - (Date.parse(one.to) - Date.parse(one.from)));
  return {
    windowSeconds,
    coveredSeconds,
    ratio: windowSeconds > 0 ? Math.min(1, coveredSeconds / windowSeconds) : 0,
    byCluster: byCluster(all.flatMap((one) => one.byCluster)),
    gaps: gaps.slice(0, shownGaps),
    gapsLeftOut: Math.max(0, gaps.length - shownGaps) + all.reduce((sum, { gapsLeftOut }) => sum + gapsLeftOut, 0),
  };
}

/** Adds up what the same cause took away in several clusters; the time to repair is the mean over all repairs. */
function mergeCauses(causes: readonly FaultCause[]): FaultCause[] {
  const groups = Map.groupBy(causes, ({ cause }) => cause);
  return [...groups].map(([cause, own]) => {
    const sum = (of: (one: FaultCause) => number) => own.reduce((total, one) => total + of(one), 0);
    const repaired = sum((one) => one.repaired);
    const isKnown = own.some(({ meanRepairHours }) => meanRepairHours !== null);
    return {
      cause,
      gpuHours: sum(({ gpuHours }) => gpuHours),
      costs: sumCosts(own.map(({ costs }) => costs)),
      outages: sum(({ outages }) => outages),
      repaired,
      meanRepairHours:
        isKnown && repaired > 0 ? sum((one) => (one.meanRepairHours ?? 0) * one.repaired) / repaired : null,
    };
  });
}

function mergeJobs(known: readonly NonNullable<Review["jobs"]>[]): Review["jobs"] {
  const best = (jobs: readonly Job[], ranks: (job: Job) => readonly [number, number]): Job[] =>
    jobs
      .toSorted((one, other) => {
        const [a, b] = [ranks(one), ranks(other)];
        return b[0] - a[0] || b[1] - a[1] || (one.cluster < other.cluster ? -1 : 1);
      })
      .slice(0, shownJobs);
  return {
    count: known.reduce((sum, { count }) => sum + count, 0),
    costs: sumCosts(known.map(({ costs }) => costs)),
    byCost: best(
      known.flatMap(({ byCost }) => byCost),
      ({ costs, gpuHours }) => [largestCost(costs), gpuHours],
    ),
    byWaste: best(
      known.flatMap(({ byWaste }) => byWaste),
      ({ wasteCosts, wastedGpuHours }) => [largestCost(wasteCosts), wastedGpuHours],
    ),
  };
}

const optional = ["demand", "waits", "idleNodes", "fragmentation", "faults", "jobs", "runway", "actions"] as const;

/** Notes about sections that some clusters have and others lack, so that their sums are of fewer clusters. */
function missingSections(reviews: readonly Review[]): Note[] {
  return reviews.flatMap((review) => {
    const missing = optional.filter((name) => review[name] === null && reviews.some((other) => other[name] !== null));
    if (missing.length === 0) return [];
    const text = `Not in these sections, since its review has none: ${missing.join(", ")}.`;
    return review.clusters.map((cluster) => ({ cluster, text }));
  });
}
