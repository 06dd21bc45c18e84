import type { AccountingEntry } from "../../analysis/accountingEntry.ts";
import { type StallSuspects, suspectPods } from "../../analysis/stalledParts.ts";
import { mayBeQuietLong, noRequestsSince, stalledSince, stateLimits } from "../../analysis/stateLimits.ts";
import type { Config } from "../../config/schema.ts";
import type { Device, Holding, HoldingSource, NodeView, PodView, Snapshot } from "../../join/snapshot.ts";
import { stallSignals } from "../../join/stall/stallSignals.ts";
import { causeNames } from "../../model/causeNames.ts";
import { instant } from "../document/order.ts";
import { duration, gpus, percent } from "../terminal/columns.ts";

/** The settings that a reason quotes. */
export type ReasonSettings = Pick<Config, "idle">;

/** Names of the sources of holdings, in words. */
export const holdingSources: Readonly<Record<HoldingSource, string>> = {
  dra: "its allocated ResourceClaim",
  dcgm: "the pod label of the device's telemetry",
  reservation: "the reservation pod of its GPU group",
  annotation: "its HAMi allocation annotation",
  request: "its resource request",
};

/** A moment in which reasons are looked for. */
export interface ReasonContext {
  readonly snapshot: Snapshot;
  readonly nodes: ReadonlyMap<string, NodeView>;
  readonly settings: ReasonSettings;
  /** The members that differ from the others in gangs whose GPUs are stalled, by the id of the gang. */
  readonly suspects: ReadonlyMap<string, StallSuspects>;
}

/**
 * Returns why an accounting entry is in its state: the rule that decided, with the facts it rests on. It is one sentence
 * without a full stop.
 */
export function reasonOf(accountingEntry: AccountingEntry, context: ReasonContext): string {
  const { snapshot, nodes, settings } = context;
  const node = nodes.get(accountingEntry.node);
  const device = accountingEntry.device === null ? undefined : snapshot.devices[accountingEntry.device];
  const pod = accountingEntry.pod === null ? undefined : snapshot.pods[accountingEntry.pod];
  const holding = device?.holders.find((holder) => holder.pod === accountingEntry.pod);
  if (pod === undefined || holding === undefined || device === undefined)
    return unallocatedReason(accountingEntry, node, device, snapshot);
  switch (accountingEntry.state) {
    case "unavailable":
      return accountingEntry.cause === "node" ? notReady(node, snapshot.at) : unhealthyReason(accountingEntry, device);
    case "gang_wait":
      return gangReason(pod, snapshot.at);
    case "starting":
      return `a container of the pod has never run; this counts as starting for ${duration(stateLimits.startingLimitSeconds)} after binding`;
    case "unobserved":
      return unobservedReason(device);
    case "idle":
      return accountingEntry.idleReason === undefined
        ? idleReason(pod, holding, snapshot.at, settings)
        : requestsReason(accountingEntry, pod, snapshot);
    case "stalled":
      return `${stalledReason(pod, holding, device, snapshot.at)}${suspectReason(pod, context)}`;
    default:
      return activityReason(pod, holding, device, snapshot.at, settings);
  }
}

const unhealthy = "the device is not healthy: the API offers fewer GPUs than the node has, or the device is tainted";

function unhealthyReason({ cause = "unknown" }: AccountingEntry, device: Device | undefined): string {
  if (cause === "unknown") return `${unhealthy}; nothing says why`;
  const xid = device?.reading?.lastXid ?? 0;
  const last = xid > 0 ? ` (its last XID error is ${xid})` : "";
  return `the device cannot be used: ${causeNames[cause]}${last}`;
}

function notReady(node: NodeView | undefined, at: number): string {
  const since = node?.notReadySince ?? null;
  return since === null ? "its node is not Ready" : `its node is not Ready for ${duration(at - since)}`;
}

function gangReason({ gang }: PodView, at: number): string {
  if (gang === null) return "its gang is not whole";
  const since = gang.partialSince === null ? "" : `, for ${duration(at - gang.partialSince)}`;
  const lost = gang.hasLostMember === true ? " lost a member after it had run: it" : "";
  return `its gang ${gang.id}${lost} has ${gang.bound} of the ${gang.min} members it needs${since}`;
}

function unobservedReason(device: Device): string {
  if (device.uuid === null) return "nothing says which GPU this is, and the node has no telemetry to judge it by";
  if (device.reading === null) return "no fresh telemetry row shows this device";
  return "its telemetry has no activity signal";
}

function idleReason(pod: PodView, holding: Holding, at: number, { idle }: ReasonSettings): string {
  const since =
    holding.idleSince === null ? "" : ` for ${duration(at - holding.idleSince)} (since ${clock(holding.idleSince)})`;
  const window = mayBeQuietLong(pod) ? idle.servingSeconds : idle.batchSeconds;
  return `every signal at most ${idle.threshold}${since}; a ${classWords(pod)} workload is idle after ${duration(window)}`;
}

function requestsReason(
  { pod: index, idleReason: reason }: AccountingEntry,
  pod: PodView,
  { serving, at }: Snapshot,
): string {
  const since = noRequestsSince(serving?.get(index ?? -1), pod, at);
  const time = since === null ? "" : ` for ${duration(at - since)} (since ${clock(since)})`;
  const sleeps = reason === "asleep" ? "its server sleeps, its weights off the GPU, and " : "";
  return `${sleeps}no request came${time}: the counters of its server stood still and its gauges read 0; such a server is idle after ${duration(stateLimits.noRequestsSeconds)}, whatever runs on the GPU`;
}

function stalledReason(pod: PodView, holding: Holding, device: Device, at: number): string {
  const since = stalledSince(holding, pod, device);
  const time = since === null ? "" : ` for ${duration(at - since)} (since ${clock(since)})`;
  const signals = device.reading === null ? "" : `: ${stallSignals([device.reading]).join(", ")}`;
  return `it looks busy and computes nothing${time}${signals}; this counts as stalled after ${duration(stateLimits.stalledSeconds)}`;
}

/** Names the members of a gang that differ from the others, because the others may wait for them. */
function suspectReason({ gang }: PodView, { snapshot, suspects: byGang }: ReasonContext): string {
  const suspects = gang === null ? undefined : byGang.get(gang.id);
  if (suspects === undefined) return "";
  const what = suspects.how === "quiet" ? "nothing runs on" : "work is computed on";
  return `; ${what} ${suspectPods(snapshot, suspects)}, for which the others may wait: look there first`;
}

/** The class of a workload, marked if it was guessed: `serving (guessed)`. */
const classWords = ({ workloadClass, classGuess }: PodView): string =>
  classGuess === undefined ? workloadClass : `${workloadClass} (guessed)`;

function activityReason(pod: PodView, holding: Holding, device: Device, at: number, { idle }: ReasonSettings): string {
  const split =
    device.holders.length > 1 && device.activity !== null
      ? `; the device itself is ${percent(device.activity)} active`
      : "";
  const active = `${gpus(holding.share)} GPU x ${percent(holding.activity)} ${device.signal ?? "activity"}${split}`;
  const since = stalledSince(holding, pod, device);
  if (since !== null)
    return `${active}; it looks busy and computes nothing for ${duration(at - since)}, less than the ${duration(stateLimits.stalledSeconds)} after which it is stalled`;
  if (holding.idleSince === null) return active;
  const quiet = `; idle for ${duration(at - holding.idleSince)}`;
  if (pod.idleOptOut) return `${active}${quiet}, and opted out of being called idle`;
  const window = mayBeQuietLong(pod) ? idle.servingSeconds : idle.batchSeconds;
  return `${active}${quiet}, less than the ${duration(window)} after which a ${classWords(pod)} workload is idle`;
}

function unallocatedReason(
  accountingEntry: AccountingEntry,
  node: NodeView | undefined,
  device: Device | undefined,
  snapshot: Snapshot,
): string {
  switch (accountingEntry.state) {
    case "unavailable":
      return accountingEntry.cause === "node" ? notReady(node, snapshot.at) : unhealthyReason(accountingEntry, device);
    case "unattributed":
      return unattributedReason(device);
    case "cordoned":
      return "its node is cordoned or under a maintenance taint";
    case "idle_node":
      return "nothing on its node holds a GPU, and the node is ready and schedulable";
    case "unobserved":
      return "no pods were read, and no fresh telemetry row shows it: whether anybody holds it is not known";
    default:
      if (device === undefined) return "a part of the GPU that is not partitioned";
      return snapshot.coverage.objects
        ? "nobody holds it"
        : "no pods were read, and its telemetry row, which would name its pod, names none";
  }
}

function unattributedReason(device: Device | undefined): string {
  if (device?.orphanReservation === true) return "a reservation pod keeps the GPU, but no pod of its group is known";
  if (device !== undefined && device.holders.length > 0) return "the GPU is more active than its holders can make it";
  const seen = device?.activeUnallocatedAt ?? null;
  return `it was active${seen === null ? "" : ` at ${clock(seen)}`} while it was allocated to nobody`;
}

/** The time of the day in UTC, to the second. */
function clock(seconds: number): string {
  return instant(seconds)?.slice(11, 19).concat(" UTC") ?? "an unknown time";
}
