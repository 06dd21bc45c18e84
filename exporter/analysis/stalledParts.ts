import type { Device, Snapshot } from "../join/snapshot.ts";
import { nameWords } from "../kernel/nameWords.ts";
import { oncePer } from "../kernel/once.ts";
import type { Analysis } from "./analysis.ts";
import { stalledSince } from "./stateLimits.ts";

/** The GPUs of a workload some of whose GPUs look busy and compute nothing, grouped by what they show. */
export interface StalledParts {
  readonly stalled: readonly Device[];
  /** The pod (index) of each GPU on which nothing runs, and of each GPU that computes. */
  readonly quiet: readonly number[];
  readonly computing: readonly number[];
  /** Number of GPUs about which this is unknown. */
  readonly unknown: number;
  /** Since when all of `stalled` have been stalled, seconds since the epoch. */
  readonly since: number;
}

/** Sorts the GPUs that pods (indices) hold; `devicesOf` gives the devices of a pod. */
export function stalledParts(
  { devices, pods }: Pick<Snapshot, "devices" | "pods">,
  of: readonly number[],
  devicesOf: (pod: number) => readonly number[],
): StalledParts {
  const parts = { stalled: [] as Device[], quiet: [] as number[], computing: [] as number[], unknown: 0, since: 0 };
  for (const index of of)
    for (const place of devicesOf(index)) {
      const [pod, device] = [pods[index], devices[place]];
      const holding = device?.holders.find((one) => one.pod === index);
      if (pod === undefined || device === undefined || holding === undefined) continue;
      const since = stalledSince(holding, pod, device);
      if (since !== null) {
        parts.stalled.push(device);
        parts.since = Math.max(parts.since, since);
      } else if (holding.activity === null || holding.estimated) parts.unknown += 1;
      else if (device.idleNow === true) parts.quiet.push(index);
      else parts.computing.push(index);
    }
  return parts;
}

/**
 * How a suspect differs. `quiet`: nothing runs there, as after one rank has failed; `computing`: it has work that the others
 * lack.
 */
export const suspectReasons = ["quiet", "computing"] as const;

/** The members of a gang that differ from the others, which spin and may wait for them. */
export interface StallSuspects {
  readonly how: (typeof suspectReasons)[number];
  /** Physical GPUs and MIG instances that differ. */
  readonly gpus: number;
  /** Pods (indices) that hold them, each listed once. */
  readonly pods: readonly number[];
}

/**
 * The members that differ, if the others are at least as many; quiet ones have precedence. `null`: no member differs, or most
 * do.
 */
export function stallSuspects({ stalled, quiet, computing }: StalledParts): StallSuspects | null {
  for (const [how, found] of [
    ["quiet", quiet],
    ["computing", computing],
  ] as const)
    if (found.length > 0 && found.length <= stalled.length)
      return { how, gpus: found.length, pods: [...new Set(found)] };
  return null;
}

/** The pods and nodes of suspects, in words: `rank-3 on h100-07`; those after the third are only counted. */
export function suspectPods({ pods }: Pick<Snapshot, "pods">, { pods: suspects }: StallSuspects): string {
  const names = suspects.flatMap((index) => {
    const pod = pods[index];
    return pod === undefined ? [] : [`${pod.name} on ${pod.node}`];
  });
  return nameWords(names.sort());
}

/**
 * The suspects of each gang that has a stalled GPU, by the gang's id. Gangs of one workload do not wait for each other, and
 * work that is not a gang waits for no other work.
 */
export const gangSuspects = oncePer(
  ({
    accountingEntries,
    snapshot,
  }: Pick<Analysis, "accountingEntries" | "snapshot">): ReadonlyMap<string, StallSuspects> => {
    const { pods, devices } = snapshot;
    const gangOf = (pod: number | null): string | undefined => (pod === null ? undefined : pods[pod]?.gang?.id);
    const stalled = new Set(accountingEntries.inState("stalled").flatMap(({ pod }) => gangOf(pod) ?? []));
    if (stalled.size === 0) return new Map();
    const members = Map.groupBy(
      [...pods.keys()].filter((pod) => stalled.has(gangOf(pod) ?? "")),
      (pod) => gangOf(pod) ?? "",
    );
    const devicesOf = new Map<number, number[]>();
    for (const [place, { holders }] of devices.entries())
      for (const { pod } of holders)
        if (stalled.has(gangOf(pod) ?? "")) devicesOf.set(pod, [...(devicesOf.get(pod) ?? []), place]);
    const found = new Map<string, StallSuspects>();
    for (const [gang, of] of members) {
      const suspects = stallSuspects(stalledParts(snapshot, of, (pod) => devicesOf.get(pod) ?? []));
      if (suspects !== null) found.set(gang, suspects);
    }
    return found;
  },
);
