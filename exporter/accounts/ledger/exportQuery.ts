import type { DatabaseSync } from "node:sqlite";
import { isoDay, isoTime } from "../../kernel/isoTime.ts";
import type { ChargeBasis } from "../../model/charge.ts";
import type { WorkloadKey } from "../posting.ts";
import { type Refusal, refusal, refuseWindow } from "./queryWindow.ts";
import { secondsPerDay, secondsPerHour } from "./schema.ts";

/** The length of time of one exported row. Workloads are kept by day, so that hourly rows name none. */
export const exportGranularities = ["day", "hour"] as const;

export type ExportGranularity = (typeof exportGranularities)[number];

/** The request for an export. */
export interface ExportQuery {
  /** Start of the window [from, to), seconds since the epoch. Both ends are whole hours or days. */
  readonly from: number;
  readonly to: number;
  readonly granularity: ExportGranularity;
  readonly charge: ChargeBasis;
  /** The states in the setting `cost.notCharged`. */
  readonly notCharged: readonly string[];
}

/**
 * GPU time of one hour or day (UTC) that belongs together: it has one team, queue, namespace, workload, kind of node, and
 * payer.
 */
export interface ExportRow {
  readonly from: number;
  readonly to: number;
  readonly pool: string;
  readonly nodePool: string;
  readonly capacityType: string | null;
  /** The team that held the GPUs, even if it does not pay; `null` if nobody held them. */
  readonly team: string | null;
  readonly queue: string | null;
  readonly namespace: string | null;
  readonly priorityClass: string | null;
  /**
   * The workload that held the GPUs; `null` where nobody did, in hourly rows, and on days whose workloads are not kept any
   * more.
   */
  readonly workload: WorkloadKey | null;
  /** `charged` if the team pays; otherwise the state for which the platform pays. */
  readonly state: string;
  readonly isCharged: boolean;
  readonly gpuSeconds: number;
  readonly activeGpuSeconds: number;
  readonly estimatedGpuSeconds: number;
  /** Energy of the metered time; `null` when none of the time was metered. */
  readonly energyJoules: number | null;
  /** Cost of the time; `null` for time without a price, and the currency is `null` exactly then. */
  readonly cost: number | null;
  readonly currency: string | null;
  /**
   * The basis and the source of the price; different values are joined by `+` where it changed. `null` where they are not
   * known.
   */
  readonly priceBasis: string | null;
  readonly priceSource: string | null;
  /**
   * Units of progress that the workload has made since it was first seen, and what one unit has cost in this currency; `null`
   * where they are not known.
   */
  readonly progressUnits: number | null;
  readonly costPerProgressUnit: number | null;
}

/** The length of one row in seconds. */
export function exportStep(granularity: ExportGranularity): number {
  return granularity === "day" ? secondsPerDay : secondsPerHour;
}

/**
 * The reason why a window cannot be exported; `null` if it can. A window must not begin or end within a unit that is kept as
 * one sum, and hours cannot be exported where only days are kept.
 */
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
