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
    for (const [node, { queue }] of unit.nodes.entries()) found[queue.name] = totals[unit.entityOf[node] ?? -1] ?? 0;
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
      const reported = (places[i] ?? []).map(([queue, domain, classes]) => {
        return { queue, domain, classes, gpusPerPod: part.gpusPerPod };
      });
      return reported.length === 0 ? part : { ...part, places: reported };
    }),
  }));
  return { ...moment, gangs };
}

const kai = (input: QueueInput): QueueInput => ({ scheduler: "kai", kind: "Queue", ...input });
const inClasses = (...allocated: readonly number[]): Pick<QueueInput, "allocated" | "allocatedByClass"> => ({
  allocated: allocated.reduce((a, b) => a + b, 0),
  allocatedByClass: allocated.map((gpus) => ({ allocated: gpus, allocatedOnUnschedulable: 0 })),
});

describe("a queue whose own quota is in a later flavor than the one in which it waits", () => {
  const flavor = (domain: number, own: number, others: number): readonly QueueInput[] => [
    { name: "kueue", kind: "Scheduler", domain, guaranteed: 8, limit: 8 },
    { name: "cohort", kind: "Cohort", parent: "kueue", domain, guaranteed: 8, limit: 8 },
    { name: "waits", parent: "cohort", domain, guaranteed: own, ...(domain === 0 ? { waiting: [8] } : {}) },
    { name: "borrows", parent: "cohort", domain, guaranteed: others, allocated: 8 },
  ];
  const moment = queueing(
    [...flavor(0, 0, 8), ...flavor(1, 8, 0)],
    [quotaDomain({ name: "reserved", capacity: 8 }), quotaDomain({ name: "spot", capacity: 8 })],
  );

  it("is sure of it there", () => {
    const open = going(moment, [
      [2, 0, null],
      [6, 1, null],
    ]);
    expect(entitled(open)).toMatchObject({ waits: 8, borrows: 8 });
  });

  it("is sure of nothing where its work may not go there", () => {
    const [reserved] = unitsOf(going(moment, [[2, 0, null]]), null);
    if (reserved === undefined) throw new Error("no unit");
    expect([...entitle(reserved).totals]).toEqual([8, 8, 0, 8]);
  });
});

describe("a parent of a queue that is never served of a surplus", () => {
  it("claims nothing for it, though nodes are there", () => {
    const moment = queueing(
      [
        kai({ name: "kai", kind: "Scheduler" }),
        kai({ name: "department", parent: "kai" }),
        kai({ name: "bound", parent: "department", waiting: [4] }),
        kai({ name: "never", parent: "department", weight: 0, zeroWeight: "never", guaranteed: 2, waiting: [8] }),
        kai({ name: "other", parent: "kai", waiting: [8] }),
      ],
      [classed(2, 8)],
    );
    // The work of one may only go to the two GPUs of the first class.
    expect(entitled(going(moment, [[2, 0, [0]]]))).toMatchObject({ department: 4, bound: 2, never: 2, other: 6 });
  });
});

describe("guarantees below different parents", () => {
  it("take nothing of what the parents were given", () => {
    const moment = queueing(
      [
        kai({ name: "kai", kind: "Scheduler" }),
        kai({ name: "p1", parent: "kai" }),
        kai({ name: "sure", parent: "p1", guaranteed: 4, waiting: [4] }),
        kai({ name: "peer", parent: "p1", waiting: [4] }),
        kai({ name: "p2", parent: "kai" }),
        kai({ name: "only", parent: "p2", waiting: [4] }),
      ],
      [classed(4, 4)],
    );
    // Both parents get 4, which needs the first class for p2: the guarantee below p1 is nobody's above it.
    const found = entitled(going(moment, [[2, 0, [0]]], [[3, 0, [1]]], [[5, 0, [0]]]));
    expect(found).toMatchObject({ p1: 4, p2: 4, only: 4, peer: 4, sure: 0 });
    // Where p1 itself is sure of it, it is first.
    const declared = {
      ...moment,
      queues: moment.queues.map((queue, i) => (i === 1 ? { ...queue, guaranteed: 4 } : queue)),
    };
    const open = entitled(going(declared, [[2, 0, [0]]], [[3, 0, [0]]], [[5, 0, [0]]]));
    expect(open).toMatchObject({ p1: 4, p2: 0, sure: 4, peer: 0, only: 0 });
  });
});

describe("what is allocated within a guarantee", () => {
  it("is not more for what someone below holds above its limit", () => {
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

describe("a cohort whose member has lost more than its quota", () => {
  const moment = (lost: number) =>
    queueing(
      [
        { name: "kueue", kind: "Scheduler", guaranteed: 8, limit: 8 },
        { name: "cohort", kind: "Cohort", parent: "kueue", guaranteed: 8, limit: 8 },
        { name: "borrows", parent: "cohort", allocated: 8, allocatedOnUnschedulable: lost },
        { name: "within", parent: "cohort", guaranteed: 8, allocated: 4 },
      ],
      [quotaDomain({ capacity: 16 })],
    );

  it("leaves the others what they hold within theirs", () => {
    expect(entitled(moment(8))).toMatchObject({ within: 4, borrows: 0 });
  });

  it("is bounded by its limit where nothing is lost", () => {
    expect(entitled(moment(0))).toMatchObject({ cohort: 8, within: 4, borrows: 4 });
  });
});

describe("an equal share without a weight", () => {
  it("comes on top of the guarantee, also where classes bound it", () => {
    const last = { weight: 0, zeroWeight: "last", guaranteeIsFloor: true } as const;
    const moment = queueing(
      [
        { name: "volcano", kind: "Scheduler", scheduler: "volcano" },
        { name: "a", kind: "Queue", scheduler: "volcano", parent: "volcano", ...last, guaranteed: 2, waiting: [8] },
        { name: "b", kind: "Queue", scheduler: "volcano", parent: "volcano", ...last, waiting: [8] },
        { name: "c", kind: "Queue", scheduler: "volcano", parent: "volcano", ...last, waiting: [8] },
      ],
      [classed(6, 1)],
    );
    // c has the one GPU of the second class; of the first, a has 2 and then as much as b.
    const found = entitled(going(moment, [[1, 0, [0]]], [[2, 0, [0]]], [[3, 0, [1]]]));
    expect(found).toMatchObject({ a: 4, b: 2, c: expect.closeTo(1, 9) });
  });
});
