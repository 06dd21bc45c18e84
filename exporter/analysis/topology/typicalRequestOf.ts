import type { PoolPlacement, TypicalRequest } from "../placement/poolPlacement.ts";
import type { RequestOf } from "./poolNodes.ts";

/**
 * CPU and memory of a typical pod of a pool with any number of whole GPUs: as placement found them for this number, else those
 * of the largest number that it knows, in proportion.
 */
export function typicalRequestOf(pools: readonly Pick<PoolPlacement, "pool" | "typicalRequests">[]): RequestOf {
  const byPool = new Map(pools.map(({ pool, typicalRequests }) => [pool, typicalRequests]));
  return (pool, gpus) => {
    const known = byPool.get(pool) ?? [];
    const exact = known.find(({ size }) => size === gpus);
    if (exact !== undefined) return exact;
    const largest = known.reduce<TypicalRequest | null>((a, b) => (a === null || b.size > a.size ? b : a), null);
    if (largest === null) return { cpuMilli: 0, memoryBytes: 0 };
    const times = gpus / largest.size;
    return { cpuMilli: Math.ceil(largest.cpuMilli * times), memoryBytes: Math.ceil(largest.memoryBytes * times) };
  };
}
