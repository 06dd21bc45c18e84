import fc from "fast-check";
import type { Queueing } from "../../../exporter/join/queues/queueing.ts";
import { quotaDomain } from "../../queues/queueView.ts";
import { isLeaf, type TreeTraits, termsOf, trees } from "./generatedTrees.ts";
import { type QueueInput, queueing } from "./queueingBuilder.ts";

/** How a generated moment is. */
export interface MomentTraits extends TreeTraits {
  /** Nothing waits. */
  readonly idle?: boolean;
  /** Just enough for all that is asked for. */
  readonly fits?: boolean;
  /** The top queues belong to two schedulers. */
  readonly twoSchedulers?: boolean;
}

/** Moments of one domain with up to nine queues: allocated and waiting work, gangs, teams, nodes that are out of service. */
export function moments(traits: MomentTraits): fc.Arbitrary<Queueing> {
  return fc.tuple(trees(traits), fc.noBias(fc.nat())).map(([{ nodes, capacity }, seed]) => {
    let state = seed;
    const roll = (most: number): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return (state >>> 16) % (most + 1);
    };
    const roots: QueueInput[] = [{ name: "root", kind: "Scheduler", scheduler: "volcano" }];
    if (traits.twoSchedulers === true) roots.push({ name: "root2", kind: "Scheduler", scheduler: "kai" });
    const queues = nodes.map((node, i): QueueInput => {
      const { name: root = "root", scheduler = "volcano" } = roots[i % roots.length] ?? {};
      const common = {
        scheduler,
        name: `q${i}`,
        kind: "Queue" as const,
        parent: node.parent === null ? root : `q${node.parent}`,
        ...termsOf(node),
        isStrictOrder: i % 2 === 0,
      };
      if (!isLeaf(nodes, i)) return common;
      const allocated = traits.idle === true ? node.demand : Math.floor((node.demand * roll(4)) / 4);
      const waiting: number[] = [];
      let left = node.demand - allocated;
      while (left > 1e-9) {
        const size = Math.min(left, roll(7) + 1);
        waiting.push(size);
        left -= size;
      }
      const pending = waiting.reduce((a, b) => a + b, 0);
      const part = roll(4) / 4;
      const teams = [
        { team: "red", allocated: allocated * part, pending },
        { team: "blue", allocated: allocated * (1 - part), pending: 0 },
      ];
      return { ...common, allocated, waiting, teams, allocatedOnUnschedulable: (allocated * roll(2)) / 2 };
    });
    const asked = nodes.reduce((sum, node, i) => sum + (isLeaf(nodes, i) ? node.demand : 0), 0);
    const allocated = queues.reduce((sum, queue) => sum + (queue.allocated ?? 0), 0);
    const all = traits.fits === true ? asked : allocated + (capacity % 12);
    return queueing([...roots, ...queues], [quotaDomain({ capacity: all })]);
  });
}
