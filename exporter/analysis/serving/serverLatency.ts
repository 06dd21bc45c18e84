import type { Config } from "../../config/schema.ts";
import { type ScaleLimit, scaleLimit } from "../../join/scaledBy.ts";
import type { ServingView } from "../../join/serving/servingViews.ts";
import type { Snapshot, WorkloadView } from "../../join/snapshot.ts";
import { histogramQuantile, type Quantile } from "../../kernel/histogramQuantile.ts";
import { matchesPattern } from "../../kernel/namePattern.ts";
import { oncePer } from "../../kernel/once.ts";
import { type LatencyKind, latencyKinds } from "../../model/serving.ts";

/** Settings of the latency targets of workloads that serve. */
export interface LatencySettings {
  readonly latencyTargets?: Config["serving"]["latencyTargets"];
}

/** The number of observations below which a quantile has no meaning. */
export const fewestObserved = 20;

/** A latency of a workload in the last five minutes, and its target. */
export interface MeasuredLatency {
  readonly of: LatencyKind;
  /** The target, seconds. */
  readonly target: number;
  /** The measured quantile; `null`: not measured. */
  readonly measured: Quantile | null;
  /** Number of requests (tokens) on which the measurement is based; 0 without a histogram. */
  readonly observed: number;
  /**
   * Whether the target is missed; `null`: unknown, because nothing is measured, or the histogram has no bound as high as the
   * target.
   */
  readonly isLate: boolean | null;
}

/** A workload that serves and has a target, with what its servers report. */
export interface ServerLatency {
  /** Index into `Snapshot.workloads`. */
  readonly workload: number;
  /** The part of requests (tokens) that is to be within the target, as configured. */
  readonly quantile: number;
  readonly latencies: readonly MeasuredLatency[];
  /** Requests that wait now at all its servers together; `null` if one of them does not report it. */
  readonly waiting: number | null;
  /** Replicas with a page, and the physical GPUs of one replica; `null` where replicas differ, or that is not known. */
  readonly replicas: number;
  readonly gpusPerReplica: number | null;
  /** The most replicas that its autoscalers allow; `null`: no limit is known. */
  readonly limit: ScaleLimit | null;
  /** Whether a latency is over its target while requests wait: another replica would help. */
  readonly isShort: boolean;
}

/** Measures the workloads that serve and have a target, in the order of the Snapshot. Pure. */
export function measureLatencies(
  snapshot: Snapshot,
  { latencyTargets = [] }: LatencySettings,
): readonly ServerLatency[] {
  const { serving, pods, workloads } = snapshot;
  if (latencyTargets.length === 0 || serving === undefined) return [];
  const pages = new Map<number, (readonly [pod: number, view: ServingView])[]>();
  for (const [index, view] of serving) {
    const workload = pods[index]?.workload;
    if (view.page !== index || workload === undefined || pods[index]?.workloadClass !== "serving") continue;
    pages.set(workload, [...(pages.get(workload) ?? []), [index, view]]);
  }
  return [...pages].flatMap(([index, own]) => {
    const workload = workloads[index];
    const target = workload === undefined ? undefined : latencyTargets.find((one) => isOf(one, workload));
    return target === undefined ? [] : [latencyOf(index, own, target, snapshot)];
  });
}

type Target = NonNullable<LatencySettings["latencyTargets"]>[number];

const isOf = (target: Target, { namespace, name }: WorkloadView): boolean =>
  matchesPattern(target.namespace, namespace) && matchesPattern(target.workload, name);

function latencyOf(
  workload: number,
  pages: readonly (readonly [pod: number, view: ServingView])[],
  target: Target,
  snapshot: Snapshot,
): ServerLatency {
  const { quantile } = target;
  const owner = snapshot.workloads[workload];
  const views = pages.map(([, view]) => view);
  const targets = { firstToken: target.firstTokenSeconds, perToken: target.perTokenSeconds };
  const latencies = latencyKinds.flatMap((of) => {
    const seconds = targets[of];
    return seconds === undefined ? [] : [measure(of, seconds, quantile, views)];
  });
  const waiting = sumOf(views.map((view) => view.waiting));
  const sizes = new Set(pages.map(([pod]) => gpusOfReplica(pod, snapshot)));
  const [size = null] = sizes;
  return {
    ...{ workload, quantile, latencies, waiting, replicas: pages.length },
    gpusPerReplica: sizes.size === 1 ? size : null,
    limit: owner === undefined ? null : scaleLimit(snapshot, owner),
    isShort: (waiting ?? 0) > 0 && latencies.some(({ isLate }) => isLate === true),
  };
}

function measure(of: LatencyKind, target: number, quantile: number, views: readonly ServingView[]): MeasuredLatency {
  const counts = addCounts(views.map(({ latency }) => latency?.[of]));
  const observed = counts?.get(Number.POSITIVE_INFINITY) ?? 0;
  const measured = counts === null || observed < fewestObserved ? null : histogramQuantile(quantile, counts);
  return { of, target, measured, observed, isLate: measured === null ? null : isOver(measured, target) };
}

function isOver({ value, isAtLeast }: Quantile, target: number): boolean | null {
  if (value > target || (isAtLeast && value >= target)) return true;
  return isAtLeast ? null : false;
}

/** Adds up the counts of all servers; `null` where one has none, or has other bounds, so that the counts cannot be added up. */
function addCounts(all: readonly (ReadonlyMap<number, number> | undefined)[]): ReadonlyMap<number, number> | null {
  const [first] = all;
  if (first === undefined || first.size === 0) return null;
  const sums = new Map(first);
  for (const counts of all.slice(1)) {
    if (counts === undefined || counts.size !== sums.size) return null;
    for (const [bound, count] of counts) {
      const sum = sums.get(bound);
      if (sum === undefined) return null;
      sums.set(bound, sum + count);
    }
  }
  return sums;
}

const sumOf = (counts: readonly (number | null)[]): number | null =>
  counts.reduce<number | null>((sum, count) => (sum === null || count === null ? null : sum + count), 0);

/** The pods of each gang that hold GPUs, by its id: found once, because each member with a page asks for them. */
const allocatedByGang = oncePer(({ pods }: Snapshot) =>
  Map.groupBy(
    pods.filter(({ gang, status }) => gang !== null && status === "allocated"),
    ({ gang }) => gang?.id,
  ),
);

/** The GPUs of a server: those of its pod, or of its gang. */
function gpusOfReplica(index: number, snapshot: Snapshot): number | null {
  const pod = snapshot.pods[index];
  if (pod?.gang === null || pod === undefined) return pod?.gpus ?? null;
  return sumOf((allocatedByGang(snapshot).get(pod.gang.id) ?? []).map(({ gpus }) => gpus));
}
