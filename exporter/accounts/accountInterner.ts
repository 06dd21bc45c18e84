import { createTupleInterner } from "../kernel/tupleInterner.ts";
import type { CapacityType } from "../model/capacityType.ts";
import { type GpuState, gpuStates, stateIds } from "../model/gpuStates.ts";
import type { Account } from "./posting.ts";

/** The place of counted GPU time; it is part of an account. */
export interface Place {
  readonly pool: string;
  readonly nodePool: string;
  readonly capacityType: CapacityType | null;
  /** The currency of its price; `null` without a price. */
  readonly currency: string | null;
}

/** The names that GPU time is counted to; they are part of an account. */
export interface Owner {
  readonly team: string | null;
  readonly queue: string | null;
  readonly namespace: string | null;
  readonly priorityClass: string | null;
}

/** The owner of GPU time that nobody holds. */
export const nobody: Owner = { team: null, queue: null, namespace: null, priorityClass: null };

/** Keeps one object per distinct account, so that accounts compare by identity. */
export interface AccountInterner {
  placeId(place: Place): number;
  ownerId(owner: Owner): number;
  account(ownerId: number, placeId: number, state: GpuState): Account;
  /** The number of distinct owners so far. */
  owners(): number;
}

/** Creates an interner that has seen nothing yet. */
export function createAccountInterner(): AccountInterner {
  const placeIds = createTupleInterner();
  const ownerIds = createTupleInterner();
  const places: Place[] = [];
  const owners: Owner[] = [];
  const accounts = new Map<number, Account>();
  return {
    placeId({ pool, nodePool, capacityType, currency }) {
      const id = placeIds.idOf([pool, nodePool, capacityType, currency]);
      if (id === places.length) places.push({ pool, nodePool, capacityType, currency });
      return id;
    },
    ownerId({ team, queue, namespace, priorityClass }) {
      const id = ownerIds.idOf([team, queue, namespace, priorityClass]);
      // This is a copy, because the pod that it came from must not be kept.
      if (id === owners.length) owners.push({ team, queue, namespace, priorityClass });
      return id;
    },
    account(ownerId, placeId, state) {
      const key = (ownerId * 2 ** 20 + placeId) * gpuStates.length + (stateIds.get(state) ?? 0);
      const known = accounts.get(key);
      if (known !== undefined) return known;
      const account = { ...(places[placeId] ?? nowhere), ...(owners[ownerId] ?? nobody), state };
      accounts.set(key, account);
      return account;
    },
    owners: () => owners.length,
  };
}

const nowhere: Place = { pool: "unknown", nodePool: "unknown", capacityType: null, currency: null };
