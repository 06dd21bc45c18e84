/** One queue of Volcano, in GPUs. */
export interface VolcanoShareInput {
  readonly weight: number;
  readonly guarantee: number;
  /** min(capability, total less the guarantees of all others); `Infinity` where nothing limits it. */
  readonly realCapability: number;
  /** What is allocated and pending together. */
  readonly request: number;
}

const tolerance = 1e-9;

/**
 * What queues deserve by the plugin `proportion`, in the order of the input (Volcano v1.15, pkg/scheduler/plugins/
 * proportion): rounds of what remains by weight, each share cut to capability and request and raised to the guarantee.
 * Queues without work take no part.
 */
export function proportionDeserved(queues: readonly VolcanoShareInput[], total: number): readonly number[] {
  const deserved = queues.map(() => 0);
  let open = queues.flatMap((queue, index) => (queue.request > 0 ? [{ queue, index }] : []));
  let remaining = total;
  while (open.length > 0) {
    const weights = open.reduce((sum, { queue }) => sum + queue.weight, 0);
    if (weights === 0) break;
    const before = remaining;
    const next: typeof open = [];
    for (const entry of open) {
      const { queue, index } = entry;
      const old = deserved[index] ?? 0;
      const offered = Math.min(old + (before * queue.weight) / weights, queue.realCapability, queue.request);
      const now = Math.max(offered, queue.guarantee);
      deserved[index] = now;
      remaining -= now - old;
      const isMet = queue.request <= now + tolerance || Math.abs(now - old) <= tolerance;
      if (!isMet) next.push(entry);
    }
    remaining = Math.max(0, remaining);
    open = next;
    if (remaining <= tolerance || Math.abs(remaining - before) <= tolerance) break;
  }
  return deserved;
}

/**
 * allocated / deserved as in Volcano's helper: 0 if nothing is allocated, 1 if something is allocated without deserved GPUs.
 */
export function volcanoShare(allocated: number, deserved: number): number {
  return deserved === 0 ? (allocated === 0 ? 0 : 1) : allocated / deserved;
}
