import type { JoinCache } from "./joinCache.ts";
import type { Memory } from "./memory.ts";

/** The same memory with what the analysis of its moment found; the cache of the join takes it for its own. */
export function withShortSince(memory: Memory, shortSince: ReadonlyMap<string, number>, cache: JoinCache): Memory {
  // Maps of devices are made when they are first asked for: they must not be asked for here.
  const next: Memory = {
    nodes: memory.nodes,
    get idleSince() {
      return memory.idleSince;
    },
    get activeUnheldAt() {
      return memory.activeUnheldAt;
    },
    get heldAt() {
      return memory.heldAt;
    },
    gangSince: memory.gangSince,
    pendingSince: memory.pendingSince,
    notReadySince: memory.notReadySince,
    shortSince,
  };
  if (cache.last?.memory === memory) cache.last = { ...cache.last, memory: next };
  return next;
}
