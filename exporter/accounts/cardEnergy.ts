import type { NodeView, Snapshot } from "../join/snapshot.ts";
import type { DeviceReading } from "../model/telemetry.ts";

/** Energy that the cards drew over a step, per physical GPU of what is booked on them. Unknown is NaN: it adds to nothing. */
export interface StepEnergy {
  /** Joules per GPU, by index into the earlier `Snapshot.devices`. */
  readonly ofDevice: Float64Array;
  /** Joules per GPU of parts of cards that are no device. */
  ofUnpartitioned(node: string, pool: string): number;
}

/** No card draws more: a counter that rises faster is not believed. */
const impossibleWatts = 10_000;
/** A page may be this old, so that a counter may show more than the step's own seconds. */
const oldestPageSeconds = 120;

/**
 * Energy of each card over a step: the difference of its energy counter; where that fell or is missing, the mean of the
 * power at both ends times the seconds; without either at the begin of the step, unknown. A card counts once, also when each of its
 * MIG instances carries its reading, and is divided over everything that is booked on it by parts of the card.
 * `matches` is the result of `matchDevices`.
 */
export function stepEnergy(earlier: Snapshot, later: Snapshot, matches: Int32Array, seconds: number): StepEnergy {
  const ofDevice = new Float64Array(earlier.devices.length).fill(Number.NaN);
  const unpartitioned = Map.groupBy(earlier.unpartitioned, (part) => part.node);
  const perPool = new Map<string, Map<string, number>>();
  for (const node of earlier.nodes) {
    const parts = unpartitioned.get(node.name) ?? [];
    const isCut = parts.length > 0 || node.devices.some((index) => earlier.devices[index]?.gpuInstance !== null);
    if (isCut) perPool.set(node.name, shareCutCards(node, parts));
    else for (const index of node.devices) ofDevice[index] = wholeCard(index);
  }
  return { ofDevice, ofUnpartitioned: (node, pool) => perPool.get(node)?.get(pool) ?? Number.NaN };

  function wholeCard(index: number): number {
    const device = earlier.devices[index];
    if (device === undefined || !(device.weight > 0)) return Number.NaN;
    return joulesOf(device.reading, later.devices[matches[index] ?? -1]?.reading ?? null, seconds) / device.weight;
  }

  /** Fills `ofDevice` for a node with MIG cards; answers what its unpartitioned parts drew, by pool. */
  function shareCutCards(node: NodeView, parts: Snapshot["unpartitioned"]): Map<string, number> {
    const cards = new Map<string, CutCard>();
    const cardOf = (uuid: string): CutCard => {
      const card = cards.get(uuid) ?? { weight: 0, before: unread, after: unread };
      cards.set(uuid, card);
      return card;
    };
    for (const index of node.devices) {
      const device = earlier.devices[index];
      if (device?.uuid == null) continue;
      const card = cardOf(device.uuid);
      card.weight += device.weight;
      card.before = largest(card.before, device.reading);
      card.after = largest(card.after, later.devices[matches[index] ?? -1]?.reading);
    }
    for (const { uuid, weight } of parts) if (uuid !== null) cardOf(uuid).weight += weight;
    const perGpu = (uuid: string | null): number => {
      const card = uuid === null ? undefined : cards.get(uuid);
      if (card === undefined || !(card.weight > 0)) return Number.NaN;
      return joulesOf(card.before, card.after, seconds) / card.weight;
    };
    for (const index of node.devices) ofDevice[index] = perGpu(earlier.devices[index]?.uuid ?? null);
    return meanByPool(parts, perGpu);
  }
}

/** What telemetry says of a whole card, also on each of its instances. */
type CardReading = Pick<DeviceReading, "energyJoules" | "powerWatts">;

interface CutCard {
  /** Parts of the card that are booked. */
  weight: number;
  before: CardReading;
  after: CardReading;
}

const unread: CardReading = { energyJoules: null, powerWatts: null };

/** Instances of one card may have been read at different times: the latest has counted most. */
function largest(card: CardReading, reading: CardReading | null | undefined): CardReading {
  if (reading == null) return card;
  return {
    energyJoules: larger(card.energyJoules, reading.energyJoules),
    powerWatts: larger(card.powerWatts, reading.powerWatts),
  };
}

function larger(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b);
}

function joulesOf(before: CardReading | null, after: CardReading | null, seconds: number): number {
  if (before === null) return Number.NaN;
  // A driver that has run for a moment has counted something: a counter of 0 is one that the card does not have.
  if (before.energyJoules !== null && before.energyJoules > 0 && after !== null && after.energyJoules !== null) {
    const joules = after.energyJoules - before.energyJoules;
    if (joules >= 0 && joules <= impossibleWatts * (seconds + oldestPageSeconds)) return joules;
  }
  if (before.powerWatts === null || before.powerWatts < 0) return Number.NaN;
  const wattsLater = after?.powerWatts ?? before.powerWatts;
  return ((before.powerWatts + Math.max(0, wattsLater)) / 2) * seconds;
}

/** Bookings of unpartitioned parts name no card, only node and pool: they carry the mean of those cards. */
function meanByPool(parts: Snapshot["unpartitioned"], perGpu: (uuid: string | null) => number): Map<string, number> {
  const sums = new Map<string, { joules: number; weight: number }>();
  for (const { uuid, pool, weight } of parts) {
    const joules = perGpu(uuid) * weight;
    const sum = sums.get(pool) ?? { joules: Number.NaN, weight: 0 };
    sums.set(pool, sum);
    sum.weight += weight;
    if (!Number.isNaN(joules)) sum.joules = (Number.isNaN(sum.joules) ? 0 : sum.joules) + joules;
  }
  return new Map([...sums].map(([pool, { joules, weight }]) => [pool, joules / weight] as const));
}
