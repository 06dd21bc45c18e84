import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import type { Family, Series } from "../../../exporter/publish/family.ts";
import { type BurstPolicy, type BurstTeam, burstTeams } from "../../../simulator/scenarios/burst.ts";
import { quantile } from "../../../simulator/truthRecord/waitLog.ts";

/** How long work waited for its GPUs. `isOver` is false where it still waits, and `seconds` is then its wait so far. */
export interface BurstWait {
  readonly seconds: number;
  readonly isOver: boolean;
}

/** The results of a play for one team, taken from what the exporter publishes. */
export interface TeamFigures {
  readonly team: BurstTeam;
  readonly allocatedGpuHours: number;
  /** Allocated minus entitled GPUs, on average over the play. */
  readonly deviation: number;
  /** The fairness debt with a half-life of 1 h when it was furthest from 0, GPU-hours; below 0, the team was owed GPU time. */
  readonly debtGpuHours: number;
  readonly longestWait: BurstWait;
  /** The 95th percentile of the waits, by nearest rank. */
  readonly p95Wait: BurstWait;
  /** How often jobs of the team were evicted. */
  readonly evicted: number;
  readonly busyGpuHours: number;
}

/** The results of a play under one policy. */
export interface PolicyFigures {
  readonly policy: BurstPolicy;
  readonly playedHours: number;
  readonly capacityGpuHours: number;
  readonly teams: readonly TeamFigures[];
}

/** Watches a play cycle by cycle, like a person who reads the page and the API of the exporter. */
export interface BurstWatch {
  look(analysis: Analysis, families: readonly Family[]): void;
  figures(policy: BurstPolicy): PolicyFigures;
}

const hour = 3600;
/** The kinds of leaf queues: totals of other queues would count the same GPU again. */
const queueKinds: ReadonlySet<string> = new Set(["ClusterQueue", "Queue"]);

/** Creates a watch that has seen nothing yet. */
export function createBurstWatch(): BurstWatch {
  const ended = new Map<string, { readonly queue: string; readonly seconds: number }>();
  const debts = new Map<string, number>();
  let last: { readonly analysis: Analysis; readonly families: readonly Family[] } | null = null;

  const waitsOf = (team: BurstTeam, { snapshot: { queueing, at } }: Analysis): readonly BurstWait[] => [
    ...[...ended.values()].flatMap(({ queue, seconds }) => (queue === team ? [{ seconds, isOver: true }] : [])),
    ...queueing.gangs.flatMap(({ queue, since }) =>
      queue === team && since !== null ? [{ seconds: Math.max(0, at - since), isOver: false }] : [],
    ),
  ];

  return {
    look(analysis, families) {
      last = { analysis, families };
      const { started, queues } = analysis.snapshot.queueing;
      for (const { uid, queue, since, startedAt } of started) {
        const name = queue === null ? undefined : queues[queue]?.name;
        if (name !== undefined)
          ended.set(`${uid} ${startedAt}`, { queue: name, seconds: Math.max(0, startedAt - since) });
      }
      for (const team of burstTeams) {
        const now = sumOf(families, "fairlead_fairness_debt_gpu_seconds", { queue: team, half_life: "1h" });
        if (Math.abs(now) > Math.abs(debts.get(team) ?? 0)) debts.set(team, now);
      }
    },
    figures(policy) {
      if (last === null) throw new Error("nothing was played");
      const { analysis, families } = last;
      const covered = sumOf(families, "fairlead_covered_seconds_total");
      const ofQueue = (name: string, queue: string): number => sumOf(families, name, { queue });
      const teams = burstTeams.map((team): TeamFigures => {
        const excess = ofQueue("fairlead_queue_excess_gpu_seconds_total", team);
        const shortfall = ofQueue("fairlead_queue_shortfall_gpu_seconds_total", team);
        const waits = [...waitsOf(team, analysis)].sort((a, b) => a.seconds - b.seconds);
        return {
          team,
          allocatedGpuHours: ofQueue("fairlead_queue_allocated_gpu_seconds_total", team) / hour,
          deviation: (excess - shortfall) / covered,
          debtGpuHours: (debts.get(team) ?? 0) / hour,
          longestWait: rank(waits, 1),
          p95Wait: rank(waits, 0.95),
          evicted: ofQueue("fairlead_evictions_total", team),
          busyGpuHours: sumOf(families, "fairlead_gpu_seconds_total", { state: "active", team }) / hour,
        };
      });
      return {
        policy,
        playedHours: covered / hour,
        capacityGpuHours: sumOf(families, "fairlead_gpu_seconds_total") / hour,
        teams,
      };
    },
  };
}

/** The smallest wait that this part of all waits does not exceed; a wait of 0 if there are none. */
function rank(sorted: readonly BurstWait[], part: number): BurstWait {
  const seconds = quantile(
    sorted.map((wait) => wait.seconds),
    part,
  );
  return sorted.findLast((wait) => wait.seconds === seconds) ?? { seconds: 0, isOver: true };
}

/** The sum of the series of a family that have these labels. Where the family is about queues, only leaf queues count. */
function sumOf(families: readonly Family[], name: string, labels: Readonly<Record<string, string>> = {}): number {
  const family = families.find((one) => one.name === name);
  if (family === undefined) return 0;
  const { labelNames } = family;
  const isMeant = ({ labelValues }: Series): boolean =>
    labelNames.every((label, i) => {
      const value = labelValues[i] ?? "";
      return label === "kind" ? queueKinds.has(value) : labels[label] === undefined || labels[label] === value;
    });
  return family.series.filter(isMeant).reduce((sum, { value }) => sum + value, 0);
}
