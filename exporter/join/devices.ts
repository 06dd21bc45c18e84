import { activityOf, isIdle } from "./activity.ts";
import { type DeviceDraft, deviceKey, heldOf, type ShareDraft } from "./drafts.ts";
import type { Memory } from "./memory.ts";
import type { ActivitySignal, Device, Holding } from "./snapshot.ts";

/** How devices are judged. */
export interface ActivitySettings {
  readonly at: number;
  readonly signal: ActivitySignal | null;
  /** Activity up to which a device is idle. */
  readonly idleThreshold: number;
  /** How long activity of a device that nobody holds is remembered, seconds. */
  readonly unattributedSeconds: number;
}

/** How old a sample may be when it is read: dcgm-exporter collects every 30 s, and a scrape waits up to 30 s more. */
export const telemetryLagSeconds = 60;

/** The finished devices of one node. */
export function finishDevices(
  drafts: readonly DeviceDraft[],
  memory: Memory,
  settings: ActivitySettings,
): readonly Device[] {
  const samples = drafts.map((draft) => sampleOf(draft, memory, settings));
  const group = spreadGroup(samples);
  return samples.map((sample) => finish(sample, group, memory, settings));
}

interface Sample {
  readonly draft: DeviceDraft;
  readonly held: number;
  readonly activity: number | null;
  readonly signal: ActivitySignal | null;
  readonly idleNow: boolean | null;
  readonly idleSince: number | null;
}

function sampleOf(draft: DeviceDraft, memory: Memory, settings: ActivitySettings): Sample {
  const seen = draft.reading === null ? null : activityOf(draft.reading, settings.signal);
  const idleNow = draft.reading === null || seen === null ? null : isIdle(draft.reading, settings.idleThreshold);
  const key = deviceKey(draft);
  const remembered = key === null ? undefined : memory.idleSince.get(key);
  return {
    draft,
    held: heldOf(draft),
    activity: seen?.activity ?? null,
    signal: seen?.signal ?? null,
    idleNow,
    idleSince: idleNow === true ? (remembered ?? settings.at) : null,
  };
}

/** The node's devices that estimated shares stand on: any of them may be the pod's. */
interface SpreadGroup {
  readonly idleSince: number | null;
  /** Part of the room left on these devices that must be active without a holder. */
  readonly unattributedRatio: number;
}

const standsOnSpread = (sample: Sample): boolean =>
  sample.draft.slots === 1 && sample.draft.shares.length > 0 && sample.draft.shares.every((share) => share.spread);

function spreadGroup(samples: readonly Sample[]): SpreadGroup {
  const group = samples.filter((s) => s.draft.shares.some((share) => share.spread));
  const idle = group.length > 0 && group.every((s) => s.idleSince !== null);
  const idleSince = idle ? Math.max(...group.map((s) => s.idleSince ?? 0)) : null;
  const exclusive = group.filter(standsOnSpread);
  const active = exclusive.reduce((sum, s) => sum + (s.activity ?? 0) * s.draft.weight, 0);
  const held = exclusive.reduce((sum, s) => sum + s.held, 0);
  const room = exclusive.reduce((sum, s) => sum + s.draft.weight - s.held, 0);
  return { idleSince, unattributedRatio: room <= 1e-9 ? 0 : Math.min(1, Math.max(0, active - held) / room) };
}

function finish(sample: Sample, group: SpreadGroup, memory: Memory, settings: ActivitySettings): Device {
  const { draft, held, activity, signal, idleNow, idleSince } = sample;
  const activeGpus = (activity ?? 0) * draft.weight;
  const room = Math.max(0, draft.weight - held);
  const onSpread = standsOnSpread(sample);
  const unattributedGpus =
    held === 0 ? 0 : onSpread ? room * group.unattributedRatio : Math.min(room, Math.max(0, activeGpus - held));
  return {
    node: draft.node,
    uuid: draft.uuid,
    gpuInstance: draft.gpuInstance,
    profile: draft.profile,
    model: draft.model,
    pool: draft.pool,
    weight: draft.weight,
    slots: draft.slots,
    virtual: draft.virtual,
    unhealthy: draft.unhealthy,
    reading: draft.reading,
    activity,
    signal,
    idleNow,
    idleSince,
    activeUnheldAt: held > 0 ? null : lastActiveUnheld(sample, memory, settings),
    unattributedGpus,
    orphanReservation: draft.orphanReservation,
    memoryTotalBytes: draft.memoryBytes,
    holders: draft.shares.map((share) => holding(share, sample, onSpread, group)),
  };
}

function lastActiveUnheld(sample: Sample, memory: Memory, settings: ActivitySettings): number | null {
  const key = deviceKey(sample.draft);
  const heldAt = key === null ? undefined : memory.heldAt.get(key);
  // Telemetry lags: right after a pod has ended, its last samples are still its own.
  const settled = heldAt === undefined || settings.at - heldAt > telemetryLagSeconds;
  if (settled && sample.activity !== null && sample.activity > settings.idleThreshold) return settings.at;
  const remembered = key === null ? undefined : memory.activeUnheldAt.get(key);
  return remembered !== undefined && settings.at - remembered <= settings.unattributedSeconds ? remembered : null;
}

/**
 * Activity of one share. Alone on its device, or standing on all unassigned devices of a node: the device's activity.
 * On a shared card of which H is held: min(1, u/H), or the pod's own per-process value where rows carry it.
 */
function holding(share: ShareDraft, sample: Sample, onSpread: boolean, group: SpreadGroup): Holding {
  const { draft, held, activity } = sample;
  const base = {
    pod: share.pod,
    share: share.share,
    source: share.source,
    idleSince: share.spread ? group.idleSince : sample.idleSince,
  };
  if (activity === null) return { ...base, estimated: share.estimated, activity: null };
  if (onSpread) return { ...base, estimated: share.estimated, activity };
  const own = trustedProcessUtil(share, sample);
  if (own !== null)
    return { ...base, estimated: share.estimated, activity: share.share > 0 ? Math.min(1, own / share.share) : 0 };
  const split = draft.shares.length > 1;
  return {
    ...base,
    estimated: share.estimated || split,
    activity: held > 0 ? Math.min(1, (activity * draft.weight) / held) : 0,
  };
}

/** Per-process values are believed unless all are 0 on a busy card (the exporter cannot see processes then). */
function trustedProcessUtil(share: ShareDraft, sample: Sample): number | null {
  if (share.processUtil === null || sample.draft.shares.length < 2) return null;
  const seen = sample.draft.shares.some((s) => (s.processUtil ?? 0) > 0);
  return seen || (sample.activity ?? 0) <= 0.05 ? share.processUtil : null;
}
