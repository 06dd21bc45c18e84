import { join } from "node:path";
import type { PastStart } from "../../../exporter/analysis/startTimes/startTimes.ts";
import { readTable } from "../../../simulator/traceTable.ts";
import { readHelios } from "../helios/heliosTrace.ts";
import { inferJobs } from "../helios/inferJobs.ts";
import { type Arrival, readArrivals } from "./phillyArrivals.ts";

/** What the backtest of start times reads. */
export interface StartsTraces {
  readonly arrivals: readonly Arrival[];
  readonly openb: readonly PastStart[];
  readonly helios: readonly PastStart[];
}

/** Reads the three traces from their folders below `folder`. Throws if a file cannot be read. */
export function readStartsTraces(folder: string): StartsTraces {
  return {
    arrivals: readArrivals(join(folder, "philly")),
    openb: readOpenbStarts(join(folder, "openb")),
    helios: readHeliosStarts(join(folder, "helios-earth")),
  };
}

/** Pods with GPUs from their creation to their scheduling; the trace has no queues, so each class of service is one. */
function readOpenbStarts(folder: string): readonly PastStart[] {
  return readTable(join(folder, "openb_pod_list_default.csv")).flatMap((row) => {
    const gpus = (Number(row("num_gpu")) * Number(row("gpu_milli"))) / 1000;
    const [since, startedAt] = [Number(row("creation_time")), Number(row("scheduled_time"))];
    if (row("scheduled_time") === "" || !(gpus > 0) || startedAt < since) return [];
    return [{ queue: row("qos"), domain: "cluster", since, startedAt, gpus, priority: 0 }];
  });
}

/** Waits of teams, inferred from their counts by minute, first come, first served. */
function readHeliosStarts(folder: string): readonly PastStart[] {
  const teams = readHelios(folder);
  return inferJobs(teams, { order: "first", runFactor: 1 }).map(({ team, gpus, arrives, starts }) => ({
    queue: teams[team]?.team ?? "",
    domain: "cluster",
    since: arrives * 60,
    startedAt: starts * 60,
    gpus,
    priority: 0,
  }));
}
