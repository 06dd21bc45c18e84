import type { DatabaseSync } from "node:sqlite";
import { isoDay, isoTime } from "../../kernel/isoTime.ts";
import type { ChargeBasis } from "../../model/charge.ts";
import type { WorkloadKey } from "../posting.ts";
import { type Refusal, refusal, refuseWindow } from "./queryWindow.ts";
import { secondsPerDay, secondsPerHour } from "./schema.ts";

/** How long the time of one exported row is. Workloads are kept by the day, so that hourly rows name none. */
export const exportGranularities = ["day", "hour"] as const;

export type ExportGranularity = (typeof exportGranularities)[number];

/** What is exported. */
export interface ExportQuery {
  /** Seconds since the epoch; the window is [from, to), in whole hours or days. */
  readonly from: number;
  readonly to: number;
  readonly granularity: ExportGranularity;
  readonly charge: ChargeBasis;
  /** States of `cost.notCharged`. */
  readonly notCharged: readonly string[];
}

/** GPU time of one hour or day (UTC) that belongs together: one team, queue, namespace, workload, kind of node, and payer. */
export interface ExportRow {
  readonly from: number;
  readonly to: number;
  readonly pool: string;
  readonly nodePool: string;
  readonly capacityType: string | null;
  /** Who held it, whoever pays; `null`: nobody. */
  readonly team: string | null;
  readonly queue: string | null;
  readonly namespace: string | null;
  readonly priorityClass: string | null;
  /** `null` where nobody held it, in hourly rows, and on days whose workloads are not kept any more. */
  readonly workload: WorkloadKey | null;
  /** `charged`: its team pays. Otherwise the state for which the platform pays. */
  readonly state: string;
  readonly isCharged: boolean;
  readonly gpuSeconds: number;
  readonly activeGpuSeconds: number;
  readonly estimatedGpuSeconds: number;
  /** `null` when none of it was metered. */
  readonly energyJoules: number | null;
  /** `null` for time without a price; the currency is `null` exactly then. */
  readonly cost: number | null;
  readonly currency: string | null;
  /** The basis of the price and where it came from, joined by `+` where it changed; `null` where this is not known. */
  readonly priceBasis: string | null;
  readonly priceSource: string | null;
  /** Units of progress that the workload has made since it was first seen, and what one has cost in this currency; `null`: not known. */
  readonly progressUnits: number | null;
  readonly costPerProgressUnit: number | null;
}

/** Length of one row in seconds. */
export function exportStep(granularity: ExportGranularity): number {
  return granularity === "day" ? secondsPerDay : secondsPerHour;
}

/** A window must not begin or end within a unit that is kept as one sum, nor ask for hours where only days are kept. */
export function refuseExport(db: DatabaseSync, { from, to, granularity }: ExportQuery): Refusal | null {
  const refused = refuseWindow(db, { from, to, groupBy: [granularity], where: new Map(), limit: 0 });
  if (refused !== null || granularity === "hour") return refused;
  if (from % secondsPerDay === 0 && to % secondsPerDay === 0) return null;
  const begin = isoDay(Math.floor(from / secondsPerDay) * secondsPerDay);
  const end = isoDay(Math.ceil(to / secondsPerDay) * secondsPerDay);
  return refusal(
    `the window ${isoTime(from)} to ${isoTime(to)} cuts a day (UTC)`,
    `Ask for whole days (${begin} to ${end}), or for rows by hour: --granularity hour.`,
  );
}
