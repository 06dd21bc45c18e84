import type { WorkedExample } from "./workedTree.ts";

const story3 = "keps/1714-fair-sharing/README.md, Story 3";
const fairSharing = "test/integration/singlecluster/scheduler/fairsharing/fair_sharing_test.go";
const scheduler = "test/integration/singlecluster/scheduler/scheduler_test.go";
const many = 1000;
/** kubernetes-sigs/kueue v0.19.2. A cohort with limits or quota is its own root: its quota is all there is. */
export const kueueExamples: readonly WorkedExample[] = [
  {
    name: `${story3}: two cohorts share 300 GPUs, three ClusterQueues share half of them 1 : 1 : 3`,
    capacity: 300,
    queues: [
      { name: "CS", quota: 300 },
      { name: "shared", parent: "CS", quota: 300 },
      { name: "C1" },
      { name: "1A", parent: "C1", demand: many },
      { name: "1B", parent: "C1", demand: many },
      { name: "1C", parent: "C1", weight: 3, demand: many },
      { name: "C2" },
      { name: "2A", parent: "C2", demand: many },
    ],
    published: { C1: 150, C2: 150, "1A": 30, "1B": 30, "1C": 90, "2A": 150 },
  },
  {
    name: `${fairSharing}: Preemption is disabled, a saturates`,
    capacity: 8,
    queues: [
      { name: "a", quota: 3, demand: 10 },
      { name: "b", quota: 1 },
      { name: "shared", quota: 4 },
    ],
    published: { a: 8, b: 0, shared: 0 },
  },
  {
    name: `${fairSharing}: Preemption is disabled, shared quota is fair-shared (8 + 2 - 4 left in a, 5 in b)`,
    capacity: 8,
    queues: [
      { name: "a", quota: 3, demand: 6 },
      { name: "b", quota: 1, demand: 5 },
      { name: "shared", quota: 4 },
    ],
    published: { a: 5, b: 3, shared: 0 },
  },
  {
    name: `${fairSharing}: Preemption is disabled, b takes over`,
    capacity: 8,
    queues: [
      { name: "a", quota: 3, demand: 4 },
      { name: "b", quota: 1, demand: 5 },
      { name: "shared", quota: 4 },
    ],
    published: { a: 4, b: 4, shared: 0 },
  },
  {
    name: `${fairSharing}: Preemption is enabled, b gets its part of what c does not use`,
    capacity: 9,
    queues: [
      { name: "a", quota: 3, demand: 10 },
      { name: "b", quota: 3, demand: 5 },
      { name: "c", quota: 3 },
    ],
    published: { a: 5, b: 4, c: 0 },
    ours: { a: 4.5, b: 4.5, c: 0 },
    because: "integer rounding",
  },
  {
    name: `${fairSharing}: Preemption is enabled, c reclaims one unit`,
    capacity: 9,
    queues: [
      { name: "a", quota: 3, demand: 10 },
      { name: "b", quota: 3, demand: 5 },
      { name: "c", quota: 3, demand: 1 },
    ],
    published: { a: 4, b: 4, c: 1 },
  },
  {
    name: `${fairSharing}: hierarchical cohorts, admits workloads respecting fair share`,
    capacity: 14,
    queues: [
      { name: "first-left", quota: 4 },
      { name: "second-left", parent: "first-left", quota: 2 },
      { name: "second-right", parent: "first-left", quota: 2 },
      { name: "cq-left", parent: "second-left", quota: 2, demand: 5 },
      { name: "cq-right", parent: "second-right", quota: 2, demand: 5 },
      { name: "first-right", quota: 10 },
      { name: "bank", parent: "first-right", quota: 10 },
    ],
    published: { "cq-left": 5, "cq-right": 5, "first-left": 10, bank: 0 },
  },
  {
    name: `${fairSharing}: hierarchical cohorts, weights 0.5 | 1 and 1, 1, 2 share 12`,
    capacity: 12,
    queues: [
      { name: "best-effort", weight: 0.5, demand: 12 },
      { name: "research" },
      { name: "chemistry", parent: "research", demand: 6 },
      { name: "physics", parent: "research", demand: 12 },
      { name: "llm", parent: "research", weight: 2, demand: 6 },
    ],
    published: { "best-effort": 4, research: 8, chemistry: 2, physics: 2, llm: 4 },
  },
  {
    name: `${fairSharing}: large values of quota and weights`,
    capacity: 1200,
    queues: [
      { name: "a", quota: 600, weight: 300, demand: 1000 },
      { name: "b", quota: 600, weight: 300, demand: 500 },
    ],
    published: { a: 700, b: 500 },
  },
  {
    name: `${scheduler}: LendingLimit, prod borrows the 4 of 5 that dev lends`,
    capacity: 10,
    queues: [
      { name: "prod", quota: 5, lends: 1, demand: 9 },
      { name: "dev", quota: 5, lends: 4 },
    ],
    published: { prod: 9, dev: 0 },
  },
  {
    name: `${scheduler}: LendingLimit 0, prod has its own quota only`,
    capacity: 10,
    queues: [
      { name: "prod", quota: 5, lends: 0, demand: 10 },
      { name: "dev", quota: 5, lends: 0 },
    ],
    published: { prod: 5, dev: 0 },
  },
  {
    name: `${scheduler}: LendingLimit raised to 5, prod gets all`,
    capacity: 10,
    queues: [
      { name: "prod", quota: 5, lends: 0, demand: 10 },
      { name: "dev", quota: 5, lends: 5 },
    ],
    published: { prod: 10, dev: 0 },
  },
  {
    name: `${scheduler}: Cohort lendingLimit caps sibling borrowing in hierarchy`,
    capacity: 2,
    queues: [
      { name: "lender", quota: 2, lends: 0.5 },
      { name: "lender-cq", parent: "lender", quota: 1 },
      { name: "borrower" },
      { name: "borrower-cq", parent: "borrower", demand: 1 },
    ],
    published: { "lender-cq": 0, "borrower-cq": 0.5 },
  },
];
