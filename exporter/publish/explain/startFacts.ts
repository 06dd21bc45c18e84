import type { Analysis } from "../../analysis/analysis.ts";
import { findStartTimes } from "../../analysis/startTimes/findStartTimes.ts";
import type { PastStart, StartTime } from "../../analysis/startTimes/startTimes.ts";
import type { PodView } from "../../join/snapshot.ts";
import { instant } from "../document/order.ts";
import { calibrationText, startText } from "../terminal/startText.ts";
import type { StartTimeRecord } from "./entitlementSchema.ts";
import type { Fact } from "./schema.ts";
import { workloadKey, workloadOf } from "./workloadFacts.ts";

/** When waiting work will start, as documents have it. */
export function startRecord(startTime: StartTime): StartTimeRecord {
  if ("unknownBecause" in startTime) {
    const { unknownBecause } = startTime;
    return { from: null, half: null, to: null, unknownBecause, intervals: 0, hits: 0 };
  }
  const { from, half, to, calibration } = startTime;
  return {
    from: instant(Math.round(from)),
    half: instant(Math.round(half)),
    to: instant(Math.round(to)),
    unknownBecause: null,
    intervals: calibration.intervals,
    hits: calibration.held,
  };
}

/** When each of these waiting gangs will start, and where that comes from. */
export function startFacts(gangs: readonly number[], analysis: Analysis, past: readonly PastStart[]): readonly Fact[] {
  return [...findStartTimes(analysis.snapshot, past, gangs).values()].map((startTime) => {
    const record = startRecord(startTime);
    return { name: "will start", value: startText(record), how: calibrationText(record) };
  });
}

/** The same for the gangs that the workload of a waiting pod has. */
export function podStartFacts(pod: PodView, analysis: Analysis, past: readonly PastStart[]): readonly Fact[] {
  const workload = analysis.snapshot.workloads[pod.workload];
  if (pod.status !== "pending" || workload === undefined) return [];
  return startFacts(workloadOf(workloadKey(workload), analysis)?.gangs ?? [], analysis, past);
}
