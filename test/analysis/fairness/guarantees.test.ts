import { describe, expect, it } from "vitest";
import { domainGuarantees, guaranteesOf } from "../../../exporter/analysis/fairness/guarantees.ts";
import { queueView, quotaDomain } from "../../queues/queueView.ts";

const scheduler = queueView({ kind: "Scheduler", name: "kueue", isLeaf: false, guaranteed: 16 });

describe("what a domain guarantees", () => {
  it("counts a parent's guarantee and not what is below it", () => {
    const queues = [
      { ...scheduler, guaranteed: 10 },
      queueView({ kind: "Queue", name: "department", parent: 0, isLeaf: false, guaranteed: 10 }),
      queueView({ kind: "Queue", name: "a", parent: 1, guaranteed: 6 }),
      queueView({ kind: "Queue", name: "b", parent: 1, guaranteed: 6 }),
    ];
    expect(domainGuarantees({ queues, domains: [quotaDomain()] })).toEqual([10]);
  });

  it("is the sum of a cohort's queues where that is more than was cut at the capacity", () => {
    const queues = [
      scheduler,
      queueView({ kind: "Cohort", name: "all", parent: 0, isLeaf: false, guaranteed: 16 }),
      queueView({ name: "a", parent: 1, guaranteed: 16 }),
      queueView({ name: "b", parent: 1, guaranteed: 12 }),
    ];
    expect([...guaranteesOf({ queues })]).toEqual([28, 28, 16, 12]);
    expect(domainGuarantees({ queues, domains: [quotaDomain()] })).toEqual([28]);
  });

  it("adds up all schedulers of a domain, without what no queue answers for, and is unknown where quotas are", () => {
    const domains = [quotaDomain(), quotaDomain({ name: "A100", unknownBecause: "shares differ" }), quotaDomain()];
    const queues = [
      { ...scheduler, guaranteed: 3 },
      { ...scheduler, name: "kai", guaranteed: 4 },
      queueView({ kind: "Unqueued", name: "unqueued", guaranteed: 5, allocated: 5 }),
      { ...scheduler, domain: 1 },
    ];
    expect(domainGuarantees({ queues, domains })).toEqual([7, null, 0]);
  });
});
