import type { JoinCache } from "./joinCache.ts";
import type { Memory } from "./memory.ts";

/** Lasting states that the analysis of a moment found: since when queues are short, gangs blocked, nodes idle. */
export type LastingFindings = Pick<Memory, "shortSince" | "blockedSince" | "idleNodeSince">;

/** The same memory with what the analysis of its moment found; the cache of the join takes it for its own. */
export function withFindings(memory: Memory, found: LastingFindings, cache: JoinCache): Memory {
  // Maps of devices are made when they are first asked for: they must not be asked for here.
  const next: Memory = {
    nodes: memory.nodes,
    get idleSince() {
      return memory.idleSince;
    },
    get stalledSince() {
      return memory.stalledSince;
    },
    get stalledUnseenSince() {
      return memory.stalledUnseenSince;
    },
    get activeUnallocatedAt() {
      return memory.activeUnallocatedAt;
    },
    get allocatedAt() {
      return memory.allocatedAt;
    },
    gangSince: memory.gangSince,
    pendingSince: memory.pendingSince,
    notReadySince: memory.notReadySince,
    shortSince: found.shortSince,
    blockedSince: found.blockedSince,
    idleNodeSince: found.idleNodeSince,
  };
  if (cache.last?.memory === memory) cache.last = { ...cache.last, memory: next };
  return next;
}
