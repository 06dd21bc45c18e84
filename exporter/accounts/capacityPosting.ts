import type { StrandedReason } from "../model/fragmentation.ts";

/** What a quota domain could give out, gave out and did not give out within one hour, physical GPU-seconds. */
export interface DomainTime {
  readonly hour: number;
  readonly domain: string;
  /** Covered time in which there was such a domain. */
  readonly seconds: number;
  /** What could be given out, as in `QuotaDomain.capacity`. */
  readonly capacity: number;
  readonly allocated: number;
  /** Eligible demand that waited. */
  readonly pending: number;
  /** Of `seconds`: those in which the guarantees were known. */
  readonly guaranteedSeconds: number;
  /** What its queues were sure of in that time. */
  readonly guaranteed: number;
}

/** How the free GPUs of a pool lay within one hour, physical GPU-seconds. */
export interface PlacementTime {
  readonly hour: number;
  readonly pool: string;
  /** Covered time in which there was such a pool. */
  readonly seconds: number;
  /** Fully free GPUs of usable nodes. */
  readonly free: number;
  /** Of these: what no typical pod could use. */
  readonly stranded: Readonly<Record<StrandedReason, number>>;
  /** What blocked work needs to start; work of several pools counts in one of them. */
  readonly blocked: number;
  /** Whole GPUs of the largest pod that one node could take, times seconds; and the least and the most of that at any moment. */
  readonly largestPlaceable: number;
  readonly largestPlaceableMin: number;
  readonly largestPlaceableMax: number;
}

/** Capacity over a step, and what its names stand for. */
export interface CapacityTime {
  readonly domains: readonly DomainTime[];
  readonly placement: readonly PlacementTime[];
  readonly domainPools: readonly { readonly domain: string; readonly pool: string }[];
  readonly poolModels: readonly { readonly pool: string; readonly model: string }[];
}

/** Of a gap. */
export const noCapacityTime: CapacityTime = { domains: [], placement: [], domainPools: [], poolModels: [] };
