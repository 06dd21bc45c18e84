import { shellQuote } from "../../kernel/shellQuote.ts";
import type { Problem } from "../../model/problem.ts";
import { allocatedOf, type DeviceDraft, freeCapacityOf } from "../drafts.ts";
import { sameProfile } from "../mig.ts";
import { shownGpus } from "../shownGpus.ts";
import type { HomelessShare } from "./claims.ts";
import { give, type PodOnNode } from "./podOnNode.ts";

const tolerance = 1e-6;

interface Ask {
  readonly pod: PodOnNode;
  gpus: number;
  readonly profile: string | null;
  readonly source: "request" | "dra" | "reservation" | "annotation";
}

/**
 * Holdings without a known device: requests that no row names a device for, claims and fractions without a known GPU. They are
 * on all devices of the node that can still take them, in proportion to the free capacity there, so that each of them carries
 * the mean activity of those devices. Estimated, unless one pod takes all the free capacity there is: then its devices are
 * known after all.
 */
export function holdByRequests(
  node: string,
  devices: readonly DeviceDraft[],
  pods: readonly PodOnNode[],
  homeless: readonly (HomelessShare & { readonly source: Ask["source"] })[],
): readonly Problem[] {
  const asks: Ask[] = homeless.map(({ pod, gpus, source }) => ({ pod, gpus, profile: null, source }));
  for (const pod of pods) {
    for (const request of pod.open) {
      if (request.units > 0)
        asks.push({ pod, gpus: request.units * request.gpusPerUnit, profile: request.profile, source: "request" });
    }
  }
  if (asks.length === 0) return [];
  // What a scheduler has given comes first: annotations get what is left.
  standOn(
    devices,
    asks.filter(({ source }) => isGiven(source)),
  );
  standOn(
    devices,
    asks.filter(({ source }) => !isGiven(source)),
  );
  const short = asks.reduce((sum, ask) => sum + ask.gpus, 0);
  return short > tolerance ? [noFreeCapacity(node, short)] : [];
}

const isGiven = (source: Ask["source"]): boolean => source === "request" || source === "dra";

function standOn(devices: readonly DeviceDraft[], asks: readonly Ask[]): void {
  const byProfile = Map.groupBy(asks, (ask) => ask.profile ?? "");
  for (const [profile, group] of [...byProfile].sort(([a], [b]) => (a < b ? 1 : -1))) {
    spread(profile === "" ? null : profile, devices, group);
  }
  for (const ask of asks) if (ask.gpus > tolerance) fillUp(devices, ask);
}

function spread(profile: string | null, devices: readonly DeviceDraft[], asks: readonly Ask[]): void {
  const fitting = devices.filter((d) => takes(d, profile) && freeCapacityOf(d) > tolerance);
  const healthy = fitting.filter((d) => !d.unhealthy);
  const wanted = asks.reduce((sum, ask) => sum + ask.gpus, 0);
  const total = (list: readonly DeviceDraft[]) => list.reduce((sum, d) => sum + freeCapacityOf(d), 0);
  const open = total(healthy) + tolerance >= wanted ? healthy : fitting;
  const freeCapacities = open.map(freeCapacityOf);
  const freeCapacity = freeCapacities.reduce((sum, r) => sum + r, 0);
  if (freeCapacity <= tolerance) return;
  const certain =
    asks.length === 1 &&
    open.length === fitting.length &&
    Math.abs(wanted - freeCapacity) < tolerance &&
    open.every((d) => d.uuid !== null && d.shares.length === 0);
  const scale = Math.min(1, freeCapacity / wanted);
  for (const ask of asks) {
    for (const [i, device] of open.entries()) {
      const share = (ask.gpus * scale * (freeCapacities[i] ?? 0)) / freeCapacity;
      give(device, { pod: ask.pod.index, share, source: ask.source, estimated: !certain, spread: !certain });
    }
    ask.gpus *= 1 - scale;
  }
}

/** Whether a device has room for whole GPUs or slots (`null`), or for instances of a profile. */
function takes(device: DeviceDraft, profile: string | null): boolean {
  if (profile === null)
    return device.profile === null && (device.slots > 1 || allocatedOf(device) < tolerance || device.uuid === null);
  if (device.profile !== null) return device.shares.length === 0 && sameProfile(device.profile, profile);
  return device.uuid === null;
}

/** Nothing of the right kind is left: any device with free capacity, so that the pod's GPUs are not lost from the accounts. */
function fillUp(devices: readonly DeviceDraft[], ask: Ask): void {
  for (const device of devices) {
    const share = Math.min(ask.gpus, freeCapacityOf(device));
    if (share <= tolerance) continue;
    give(device, { pod: ask.pod.index, share, source: ask.source, estimated: true, spread: true });
    ask.gpus -= share;
    if (ask.gpus <= tolerance) return;
  }
}

function noFreeCapacity(node: string, gpus: number): Problem {
  return {
    source: "join",
    code: "more-allocated-than-there-is",
    severity: "warning",
    subject: node,
    message: `pods on node ${node} ask for ${shownGpus(gpus)} GPUs more than the node has left; the difference is published as imbalance`,
    nextStep: `Compare the node's GPUs with its pods' requests: kubectl describe node ${shellQuote(node)}`,
  };
}
