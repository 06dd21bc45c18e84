import type { Analysis } from "../../exporter/analysis/analysis.ts";
import type { Device, PodView, Snapshot } from "../../exporter/join/snapshot.ts";

/** What the plain reading of the rules says about a step: sums by (hour, account, workload), as JSON text. */
export interface NaiveSum {
  gpuSeconds: number;
  estimatedGpuSeconds: number;
  energyJoules: number | null;
  cost: number | null;
}

/** One holding, or one part that nobody holds, over a step. */
interface Piece {
  readonly gpus: number;
  readonly state: string;
  readonly node: string;
  readonly pool: string;
  readonly device: number | null;
  readonly pod: number | null;
  readonly estimated: boolean;
}

/** Counts a covered step piece by piece, looking everything up anew: an oracle, not fast. */
export function naiveAccrue(
  before: Analysis,
  after: Analysis,
  time: { readonly from: number; readonly to: number; readonly seconds: number },
): Map<string, NaiveSum> {
  const sums = new Map<string, NaiveSum>();
  const pieces = meanPieces(before, after);
  for (const { hour, part } of hours(time)) {
    for (const piece of pieces) {
      const gpuSeconds = piece.gpus * time.seconds * part;
      if (gpuSeconds <= 0) continue;
      const currency = before.prices.byNode.get(piece.node)?.currency ?? null;
      const key = JSON.stringify([hour, currency, ...accountOf(before.snapshot, piece)]);
      const sum = sums.get(key) ?? { gpuSeconds: 0, estimatedGpuSeconds: 0, energyJoules: null, cost: null };
      sums.set(key, sum);
      sum.gpuSeconds += gpuSeconds;
      if (piece.estimated) sum.estimatedGpuSeconds += gpuSeconds;
      const energy = energyOf(before, after.snapshot, piece, time.seconds);
      if (energy !== null) sum.energyJoules = (sum.energyJoules ?? 0) + energy * part;
      const price = before.prices.byNode.get(piece.node);
      if (price !== undefined) sum.cost = (sum.cost ?? 0) + (gpuSeconds / 3600) * price.perGpuHour;
    }
  }
  return sums;
}

/** The key of a posting, as the sums have it. */
export function accountOf({ nodes, pods, workloads }: Snapshot, piece: Piece): unknown[] {
  const node = nodes.find((view) => view.name === piece.node);
  const pod = piece.pod === null ? undefined : pods[piece.pod];
  const workload = pod === undefined ? undefined : workloads[pod.workload];
  return [
    piece.pool,
    node?.nodePool || "unknown",
    node?.capacityType ?? null,
    pod?.team ?? null,
    pod?.queue ?? null,
    pod?.namespace ?? null,
    pod?.priorityClass ?? null,
    piece.state,
    workload === undefined ? null : [workload.kind, workload.namespace, workload.name],
  ];
}

function* hours({
  from,
  to,
  seconds,
}: {
  readonly from: number;
  readonly to: number;
  readonly seconds: number;
}): Generator<{ readonly hour: number; readonly part: number }> {
  if (seconds <= 0) return;
  const hourOf = (time: number): number => Math.floor(time / 3600) * 3600;
  if (to <= from) {
    yield { hour: hourOf(from), part: 1 };
    return;
  }
  for (let hour = hourOf(from); hour < to; hour += 3600) {
    const overlap = Math.min(to, hour + 3600) - Math.max(from, hour);
    yield { hour, part: overlap / (to - from) };
  }
}

/** Active and underutilized accounting entries of one pod on one device are one holding again, and are split by the mean activity. */
function meanPieces(before: Analysis, after: Analysis): readonly Piece[] {
  const pieces: Piece[] = [];
  const holdings = new Map<string, Piece & { readonly active: number }>();
  for (const accountingEntry of before.accountingEntries.list) {
    if (accountingEntry.state !== "active" && accountingEntry.state !== "underutilized") {
      pieces.push(accountingEntry);
      continue;
    }
    const key = JSON.stringify([accountingEntry.device, accountingEntry.pod, accountingEntry.estimated]);
    const known = holdings.get(key);
    const active = accountingEntry.state === "active" ? accountingEntry.gpus : 0;
    holdings.set(key, {
      ...accountingEntry,
      gpus: (known?.gpus ?? 0) + accountingEntry.gpus,
      active: (known?.active ?? 0) + active,
    });
  }
  for (const { active, ...holding } of holdings.values()) {
    const first = active / holding.gpus;
    const second = activityAfter(before.snapshot, after.snapshot, holding);
    const mean = second === null ? first : (first + second) / 2;
    pieces.push({ ...holding, state: "active", gpus: holding.gpus * mean });
    pieces.push({ ...holding, state: "underutilized", gpus: holding.gpus * (1 - mean) });
  }
  return pieces;
}

function activityAfter(before: Snapshot, after: Snapshot, holding: Piece): number | null {
  const device = before.devices[holding.device ?? -1];
  const pod = before.pods[holding.pod ?? -1];
  if (device === undefined || pod === undefined || device.uuid === null) return null;
  const later = after.devices.find((d) => keyOf(d) === keyOf(device));
  const holders = (later?.holders ?? []).filter((h) => h.activity !== null && isSame(pod, after.pods[h.pod]));
  const share = holders.reduce((sum, h) => sum + h.share, 0);
  return share > 0 ? holders.reduce((sum, h) => sum + h.share * (h.activity ?? 0), 0) / share : null;
}

const keyOf = ({ node, uuid, gpuInstance }: Device): string => JSON.stringify([node, uuid, gpuInstance]);

function isSame(a: PodView, b: PodView | undefined): boolean {
  if (b === undefined) return false;
  return a.uid !== null && b.uid !== null ? a.uid === b.uid : a.namespace === b.namespace && a.name === b.name;
}

/** Energy of the GPU over the step, times the part of what is counted on it that this piece is. */
function energyOf(before: Analysis, later: Snapshot, piece: Piece, seconds: number): number | null {
  const { snapshot } = before;
  const device = snapshot.devices[piece.device ?? -1];
  if (device !== undefined) {
    const physicalGpu = energyOfGpu(snapshot, later, device.node, device.uuid, seconds);
    if (device.uuid === null) return null;
    return physicalGpu === null ? null : (physicalGpu * piece.gpus) / weightOfGpu(snapshot, device.node, device.uuid);
  }
  const parts = snapshot.unpartitioned.filter((part) => part.node === piece.node && part.pool === piece.pool);
  const weight = parts.reduce((sum, part) => sum + part.weight, 0);
  const known = parts.flatMap((part) => {
    const physicalGpu = part.uuid === null ? null : energyOfGpu(snapshot, later, part.node, part.uuid, seconds);
    return physicalGpu === null ? [] : [(physicalGpu * part.weight) / weightOfGpu(snapshot, part.node, part.uuid)];
  });
  return known.length === 0 ? null : (known.reduce((sum, joules) => sum + joules, 0) * piece.gpus) / weight;
}

function weightOfGpu(snapshot: Snapshot, node: string, uuid: string | null): number {
  return [...snapshot.devices, ...snapshot.unpartitioned]
    .filter((part) => part.node === node && part.uuid === uuid)
    .reduce((sum, part) => sum + part.weight, 0);
}

function energyOfGpu(
  before: Snapshot,
  later: Snapshot,
  node: string,
  uuid: string | null,
  seconds: number,
): number | null {
  const own = before.devices.filter((d) => d.node === node && d.uuid === uuid);
  const keys = new Set(own.map(keyOf));
  const now = later.devices.filter((d) => keys.has(keyOf(d)));
  const largest = (devices: readonly Device[], of: (device: Device) => number | null | undefined): number | null =>
    devices.reduce<number | null>((most, d) => {
      const value = of(d) ?? null;
      return value === null ? most : Math.max(most ?? 0, value);
    }, null);
  const energy = (device: Device): number | null => device.reading?.energyJoules || null;
  const [first, second] = [largest(own, energy), largest(now, energy)];
  if (first !== null && second !== null && second >= first && second - first <= 10_000 * (seconds + 120))
    return second - first;
  const power = (device: Device): number | null => device.reading?.powerWatts ?? null;
  const [watts, wattsLater] = [largest(own, power), largest(now, power)];
  return watts === null ? null : ((watts + (wattsLater ?? watts)) / 2) * seconds;
}
