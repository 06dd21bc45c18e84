import type { ServingView } from "../join/serving/servingViews.ts";
import type { Device, Holding, PodView, Snapshot } from "../join/snapshot.ts";
import { gpuTolerance } from "../model/gpuTolerance.ts";
import type { AccountingEntry } from "./accountingEntry.ts";

/** Whether a pod may be quiet for as long as a server may: it serves, or it is unknown whether it does. */
export function mayBeQuietLong({ workloadClass, classGuess }: Pick<PodView, "workloadClass" | "classGuess">): boolean {
  return workloadClass === "serving" || classGuess !== undefined;
}

/** The fixed times and amounts of the states of GPU time (design: double-entry GPU time), seconds. */
export const stateLimits = {
  /** An allocated device is `unavailable` only when its node has not been ready for this long. */
  notReadyGraceSeconds: 5 * 60,
  gangGraceSeconds: 5 * 60,
  startingLimitSeconds: 15 * 60,
  /** A GPU is `stalled` only after every sample has looked busy and computed nothing for this long. */
  stalledSeconds: 15 * 60,
  /** The GPUs of a server are `idle`, whatever runs on them, only after it has had no request for this long. */
  noRequestsSeconds: 2 * 60 * 60,
  /** A pod younger than this is not called idle. */
  youngPodSeconds: 5 * 60,
  /** A node younger than this is still being set up, not idle. */
  youngNodeSeconds: 15 * 60,
} as const;

/**
 * Whether nothing shows that a device (or any that an estimated holding may be on) works: no signal of it is above the idle
 * threshold now, or it has no signal. A pod that computes does not wait for the rest of its gang, even if the gang looks
 * incomplete.
 */
export function isQuiet({ idleSince }: Holding, { idleNow }: Device): boolean {
  return idleNow === null || idleSince !== null;
}

/**
 * Whether a gang is partial and holds its GPUs in vain: it has waited to begin for longer than a start takes, or it has run and
 * lost a member. `at`: the present time, seconds since the epoch.
 */
export function holdsInVain(
  { partialSince, hasLostMember }: { readonly partialSince: number | null; readonly hasLostMember?: boolean },
  at: number,
): boolean {
  return partialSince !== null && (hasLostMember === true || at - partialSince > stateLimits.gangGraceSeconds);
}

/**
 * Since when a pod's device has been quiet for this pod, seconds since the epoch: what the device did before it was bound
 * (`boundAt`) does not count for it, and a clock that is ahead of `at` does not either.
 */
export function quietSince(idleSince: number, boundAt: number, at: number): number {
  return Math.max(idleSince, Math.min(boundAt, at));
}

/**
 * Since when a pod's GPU looks busy and computes nothing, seconds since the epoch; `null` if it does not, or if this cannot be
 * attributed to the pod: power and busy engines are those of the whole GPU, so that the pod must be known to hold all of it.
 */
export function stalledSince(holding: Holding, pod: PodView, device: Device): number | null {
  const { stall, holders, gpuInstance, weight } = device;
  if (stall === null || gpuInstance !== null || holding.estimated) return null;
  if (holders.length !== 1 || holding.share < weight - gpuTolerance) return null;
  // What a GPU did before this pod had it says nothing about this pod.
  return Math.max(stall.since, pod.boundAt ?? pod.createdAt ?? stall.since);
}

/**
 * Since when the server of a pod has had no request, seconds since the epoch; `null` if it has some, if this is not known
 * (there is no page, no counter of requests that have ended, or a gauge is missing), or if the pod does not serve.
 */
export function noRequestsSince(view: ServingView | undefined, pod: PodView, at: number): number | null {
  if (view === undefined || view.noRequestsSince === null) return null;
  if (pod.workloadClass !== "serving" || pod.idleOptOut) return null;
  return quietSince(view.noRequestsSince, pod.boundAt ?? pod.createdAt ?? at, at);
}

/** Why the GPUs of a pod are idle as its server shows it; `null`: the server does not show it, or not for long enough. */
export function idleByRequests(
  view: ServingView | undefined,
  pod: PodView,
  at: number,
): "no-requests" | "asleep" | null {
  const since = noRequestsSince(view, pod, at);
  if (view === undefined || since === null || at - since < stateLimits.noRequestsSeconds) return null;
  return view.isAsleep ? "asleep" : "no-requests";
}

/** Since when what an accounting entry represents has been idle, seconds since the epoch; `null` if it is not, or not known. */
export function idleEntrySince(
  { state, idleReason, device, pod: index }: AccountingEntry,
  { pods, devices, serving, at }: Snapshot,
): number | null {
  const pod = index === null ? undefined : pods[index];
  if (state !== "idle" || pod === undefined || index === null) return null;
  if (idleReason !== undefined) return noRequestsSince(serving?.get(index), pod, at);
  const holding = device === null ? undefined : devices[device]?.holders.find((holder) => holder.pod === index);
  if (holding === undefined || holding.idleSince === null) return null;
  return quietSince(holding.idleSince, pod.boundAt ?? pod.createdAt ?? 0, at);
}
