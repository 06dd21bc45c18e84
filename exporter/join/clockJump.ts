import type { Memory } from "./memory.ts";

/**
 * The memory after the wall clock was set by `seconds`: times that Fairlead itself observed keep their age, so that no GPU
 * becomes idle because of a clock. Times from objects of the API do not change.
 */
export function afterClockJump(memory: Memory, seconds: number): Memory {
  return {
    ...memory,
    idleSince: moved(memory.idleSince, seconds),
    stalledSince: moved(memory.stalledSince, seconds),
    stalledUnseenSince: moved(memory.stalledUnseenSince, seconds),
    activeUnallocatedAt: moved(memory.activeUnallocatedAt, seconds),
    allocatedAt: moved(memory.allocatedAt, seconds),
    gangSince: moved(memory.gangSince, seconds),
    shortSince: moved(memory.shortSince, seconds),
    blockedSince: moved(memory.blockedSince, seconds),
    idleNodeSince: moved(memory.idleNodeSince, seconds),
  };
}

function moved(times: ReadonlyMap<string, number>, seconds: number): ReadonlyMap<string, number> {
  return new Map([...times].map(([key, time]) => [key, time + seconds] as const));
}
