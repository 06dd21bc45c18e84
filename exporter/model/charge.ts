import { allocatedTimeStates } from "./gpuStates.ts";

/** What a team pays for: all that it held (`allocation`, so that idle time has an owner), or only what it used (`use`). */
export const chargeBases = ["allocation", "use"] as const;

export type ChargeBasis = (typeof chargeBases)[number];

/** A cost that is divided into two parts, which add up to it. */
export interface Charge {
  /** What the team pays. */
  readonly charged: number;
  /** What stays with the platform. */
  readonly platform: number;
}

const canBeCharged: ReadonlySet<string> = new Set(allocatedTimeStates);

/**
 * Divides what the time of one team (queue, namespace, workload) cost, all in one currency. By allocation, every allocated
 * state is charged except those of `cost.notCharged`; by use, only `active`. Everything else stays with the platform, as does
 * the time of unallocated states.
 */
export function charged(
  costsByState: Iterable<readonly [state: string, cost: number]>,
  basis: ChargeBasis,
  notCharged: readonly string[],
): Charge {
  let paid = 0;
  let platform = 0;
  for (const [state, cost] of costsByState) {
    if (isCharged(state, basis, notCharged)) paid += cost;
    else platform += cost;
  }
  return { charged: paid, platform };
}

/** Whether a team pays for its time in a state. */
export function isCharged(state: string, basis: ChargeBasis, notCharged: readonly string[]): boolean {
  if (notCharged.includes(state)) return false;
  return basis === "use" ? state === "active" : canBeCharged.has(state);
}

/** A cost that nobody caused, divided among those who are charged. */
export interface SharedCost<Key> {
  /** What each of them pays beside its own charges. */
  readonly shares: ReadonlyMap<Key, number>;
  /** What nobody can pay; 0 unless nobody was charged anything. */
  readonly platform: number;
}

/**
 * Shares the cost of what was not allocated in proportion to what each is charged, all in one currency: a team with a tenth of
 * the charges pays a tenth of the rest. A view of reports: counters and ledger leave it with the platform. The shares and
 * `platform` add up to `unallocated`.
 */
export function shareUnallocated<Key>(charges: ReadonlyMap<Key, number>, unallocated: number): SharedCost<Key> {
  const shares = new Map<Key, number>();
  let all = 0;
  for (const charge of charges.values()) all += Math.max(0, charge);
  for (const [key, charge] of charges) shares.set(key, all > 0 ? unallocated * (Math.max(0, charge) / all) : 0);
  return { shares, platform: all > 0 ? 0 : unallocated };
}
