import { describe, expect, it } from "vitest";
import { entitle } from "../../../exporter/analysis/fairness/entitle.ts";
import { unitsOf } from "../../../exporter/analysis/fairness/units.ts";
import type { Queueing, QuotaDomain } from "../../../exporter/join/queues/queueing.ts";
import { quotaDomain } from "../../queues/queueView.ts";
import { type QueueInput, queueing } from "./queueingBuilder.ts";

/** By name: what each queue is entitled to, over all domains. */
function entitled(moment: Queueing): Record<string, number> {
  const found: Record<string, number> = {};
  for (const unit of unitsOf(moment, null)) {
    const { totals } = entitle(unit);
    for (const [node, { queue }] of unit.placed.entries()) found[queue.name] = totals[unit.entityOf[node] ?? -1] ?? 0;
  }
  return found;
}

/** One domain whose classes have these capacities. */
function classed(...capacities: readonly number[]): QuotaDomain {
  const classes = capacities.map((capacity, i) => ({
    name: `c${i}`,
    pool: "H100",
    nodes: new Set<string>(),
    capacity,
  }));
  return quotaDomain({ capacity: capacities.reduce((a, b) => a + b, 0), classes });
}

/** Says of gangs, in their order, where each may go: [index of a queue, its domain, classes]. */
function going(
  moment: Queueing,
  ...places: readonly (readonly (readonly [number, number, number[] | null])[])[]
): Queueing {
  const gangs = moment.gangs.map((gang, i) => ({
    ...gang,
    parts: gang.parts.map((part) => {
      const told = (places[i] ?? []).map(([queue, domain, classes]) => {
        return { queue, domain, classes, gpusPerPod: part.gpusPerPod };
      });
      return told.length === 0 ? part : { ...part, places: told };
    }),
  }));
  return { ...moment, gangs };
}

const kai = (input: QueueInput): QueueInput => ({ scheduler: "kai", kind: "Queue", ...input });
const inClasses = (...held: readonly number[]): Pick<QueueInput, "held" | "heldByClass"> => ({
  held: held.reduce((a, b) => a + b, 0),
  heldByClass: held.map((gpus) => ({ held: gpus, heldOnUnschedulable: 0 })),
});

describe("what is held within a guarantee", () => {
  it("is not more for what somebody below holds above its limit", () => {
    const moment = queueing(
      [
        kai({ name: "kai", kind: "Scheduler", guaranteed: 16 }),
        kai({ name: "department", parent: "kai", guaranteed: 8 }),
        kai({ name: "cut", parent: "department", limit: 2, ...inClasses(8, 0) }),
        kai({ name: "peer", parent: "department", waiting: [10] }),
        kai({ name: "rest", parent: "kai", guaranteed: 8, ...inClasses(0, 8) }),
      ],
      [classed(8, 8)],
    );
    const found = entitled(going(moment, [[3, 0, [1]]]));
    expect(found).toMatchObject({ kai: 10, department: 2, cut: 2, peer: 0, rest: 8 });
  });

  it("stays a parent's own whatever would let more run elsewhere", () => {
    const moment = queueing(
      [
        kai({ name: "kai", kind: "Scheduler", guaranteed: 2 }),
        kai({ name: "department", parent: "kai", guaranteed: 2, limit: 2 }),
        kai({ name: "group", parent: "department", guaranteed: 2 }),
        kai({ name: "holds", parent: "group", ...inClasses(2, 0) }),
        kai({ name: "waits", parent: "department", waiting: [4] }),
        kai({ name: "other", parent: "kai", waiting: [4] }),
      ],
      [classed(4, 2)],
    );
    // Six could run, with "waits" in the second class: not at the cost of what the group holds within its guarantee.
    const found = entitled(going(moment, [[4, 0, [1]]], [[5, 0, [0]]]));
    expect(found).toMatchObject({ kai: 4, group: 2, holds: 2, waits: 0, other: 2 });
  });
});

