import type { StrandedReason } from "../model/fragmentation.ts";

/** What a quota domain could give out, what it gave out and what it did not, within one hour; physical GPU-seconds. */
export interface DomainTime {
  readonly hour: number;
  readonly domain: string;
  /** Covered time in which the domain existed. */
  readonly seconds: number;
  /** What could be given out, as in `QuotaDomain.capacity`. */
  readonly capacity: number;
  readonly allocated: number;
  /** Eligible demand that waited. */
  readonly pending: number;
  /** The part of `seconds` in which the guarantees were known. */
  readonly guaranteedSeconds: number;
  /** What its queues were guaranteed in that time. */
  readonly guaranteed: number;
}

/** How the free GPUs of a pool were spread over its nodes within one hour, physical GPU-seconds. */
export interface PlacementTime {
  readonly hour: number;
  readonly pool: string;
  /** Covered time in which the pool existed. */
  readonly seconds: number;
  /** Fully free GPUs of usable nodes. */
  readonly free: number;
  /** The part of these that no typical pod could use. */
  readonly stranded: Readonly<Record<StrandedReason, number>>;
  /** What blocked work needs to start; work that fits several pools counts in one of them. */
  readonly blocked: number;
  /**
   * Whole GPUs of the largest pod that one node could take, times seconds; then the smallest and the largest such pod at any
   * moment.
   */
  readonly largestPlaceable: number;
  readonly largestPlaceableMin: number;
  readonly largestPlaceableMax: number;
}

/** Capacity over a step, and what the names in it stand for. */
export interface CapacityTime {
  readonly domains: readonly DomainTime[];
  readonly placement: readonly PlacementTime[];
  readonly domainPools: readonly { readonly domain: string; readonly pool: string }[];
  readonly poolModels: readonly { readonly pool: string; readonly model: string }[];
}

/** The capacity of a gap: nothing. */
export const noCapacityTime: CapacityTime = { domains: [], placement: [], domainPools: [], poolModels: [] };
