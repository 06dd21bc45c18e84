import type { WaitingGang } from "../../join/queues/queueing.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import type { Steps } from "../../kernel/steps.ts";
import { type DomainRooms, domainRooms } from "./domainRooms.ts";
import { createGangFit, type GangFit } from "./gangFit.ts";
import type { Rooms } from "./rooms.ts";

/** Where gangs could go at one moment: asked by all who judge what waits. */
export interface GangRooms {
  /** Parallel to `Queueing.domains`, and perhaps one of all pools behind them; empty where nothing waits. */
  readonly domains: readonly DomainRooms[];
  readonly fit: GangFit;
  /** Index of the domain of all pools; `null` where it is not needed. */
  readonly everywhere: number | null;
}

/**
 * The rooms of the domains for what waits; nothing is looked at where nothing does. Work of no queue system is in a domain
 * for its account alone: the scheduler may place it in any pool.
 */
export function* gangRoomsInSteps(snapshot: Snapshot, rooms: Rooms): Steps<GangRooms> {
  const { gangs, domains } = snapshot.queueing;
  const known = gangs.length === 0 ? [] : yield* domainRooms(snapshot, rooms);
  if (known.length < 2 || !gangs.some(isUnmanaged)) {
    return { domains: known, fit: createGangFit(known), everywhere: null };
  }
  yield;
  const pools = domains.flatMap((domain) => domain.pools);
  const all = [...known, ...(yield* domainRooms(snapshot, rooms, [{ pools }]))];
  return { domains: all, fit: createGangFit(all), everywhere: known.length };
}

/** No queue system decides where it goes. */
export const isUnmanaged = ({ scheduler }: Pick<WaitingGang, "scheduler">): boolean => scheduler === "none";
