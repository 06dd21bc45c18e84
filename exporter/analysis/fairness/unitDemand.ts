import { addToParents, leafColumn } from "./claims.ts";
import type { SharedUnit } from "./units.ts";
import { sumOf, waterFill } from "./waterFill.ts";

/**
 * What each record of a unit asks for, by node: what is allocated and what waits. Work that is entitled to GPUs of another
 * domain than the one in which it waits counts in that domain. The sum over the records of a queue does not change. Physical
 * GPUs.
 */
export function demandsOf({ nodes, entities }: SharedUnit, entitled: Float64Array): Float64Array {
  const demands = leafColumn(nodes, ({ queue: { allocated, pending } }) => allocated + pending);
  for (const { nodes: records, children } of entities) {
    if (records.length < 2 || children.length > 0) continue;
    // Most queues are entitled to GPUs only where their work waits.
    if (!records.some((node) => (entitled[node] ?? 0) > (demands[node] ?? 0))) continue;
    const more = records.map((node) => Math.max(0, (entitled[node] ?? 0) - (demands[node] ?? 0)));
    const spare = records.map((node) =>
      Math.max(0, (demands[node] ?? 0) - Math.max(entitled[node] ?? 0, nodes[node]?.queue.allocated ?? 0)),
    );
    const { shares } = waterFill(sumOf(more), spare, spare);
    for (const [n, node] of records.entries()) demands[node] = (demands[node] ?? 0) + (more[n] ?? 0) - (shares[n] ?? 0);
  }
  addToParents(nodes, demands);
  return demands;
}
