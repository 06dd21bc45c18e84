import type { WorkedExample, WorkedQueue } from "./workedTree.ts";

const division = "pkg/scheduler/plugins/proportion/resource_division/resource_division_test.go";
const proportion = "pkg/scheduler/plugins/proportion/proportion_test.go";
const one = (quota: number, weight: number, demand: number, limit?: number): readonly WorkedQueue[] => [
  { name: "1", quota, weight, demand, ...(limit === undefined ? {} : { limit }) },
];
const two = (first: Partial<WorkedQueue>, second: Partial<WorkedQueue>): readonly WorkedQueue[] => [
  { name: "1", quota: 2, weight: 2, demand: 6, ...first },
  { name: "2", quota: 2, weight: 2, demand: 6, ...second },
];
const three = (demands: readonly number[], quotas: readonly number[], weights: readonly number[]) =>
  demands.map((demand, i) => ({ name: `${i + 1}`, demand, quota: quotas[i] ?? 0, weight: weights[i] ?? 1 }));
const same = (amount: number): readonly number[] => [amount, amount, amount];
const departments = (first: Partial<WorkedQueue>, second: Partial<WorkedQueue>, quota = 2): readonly WorkedQueue[] => [
  { name: "d1", quota: 2, ...first },
  { name: "q1", parent: "d1", quota, demand: 100 },
  { name: "d2", quota: 2, ...second },
  { name: "q2", parent: "d2", quota, demand: 100 },
];

/** NVIDIA/KAI-scheduler v0.12.0. */
export const kaiExamples: readonly WorkedExample[] = [
  { name: `${division}: gives requested GPUs`, capacity: 3, queues: one(3, 0, 2), published: { 1: 2 } },
  { name: `${division}: not more than allowed`, capacity: 3, queues: one(3, 0, 2, 2), published: { 1: 2 } },
  {
    name: `${division}: gives up to deserved when over subscribed`,
    capacity: 1,
    queues: one(3, 0, 2),
    published: { 1: 2 },
    ours: { 1: 1 },
    because: "over-subscription",
  },
  { name: `${division}: gives up to full quota, weight 0`, capacity: 7, queues: one(3, 0, 5), published: { 1: 3 } },
  { name: `${division}: fraction in deserved`, capacity: 2, queues: one(1.5, 0, 2), published: { 1: 1.5 } },
  { name: `${division}: fraction in request`, capacity: 2, queues: one(3, 0, 1.5), published: { 1: 1.5 } },
  { name: `${division}: nothing if deserved is zero`, capacity: 2, queues: one(0, 0, 2), published: { 1: 0 } },
  { name: `${division}: over quota`, capacity: 6, queues: one(3, 1, 5), published: { 1: 5 } },
  { name: `${division}: over quota, allowed 4`, capacity: 5, queues: one(3, 1, 5, 4), published: { 1: 4 } },
  { name: `${division}: over quota, fraction`, capacity: 5, queues: one(3, 1, 4.5), published: { 1: 4.5 } },
  { name: `${division}: remainder fraction`, capacity: 3.5, queues: one(3, 1, 5), published: { 1: 3.5 } },
  { name: `${division}: many available gpus`, capacity: 15, queues: two({}, {}), published: { 1: 6, 2: 6 } },
  { name: `${division}: exact requested amount`, capacity: 12, queues: two({}, {}), published: { 1: 6, 2: 6 } },
  {
    name: `${division}: proportionally`,
    capacity: 8,
    queues: two({ weight: 1 }, { weight: 3 }),
    published: { 1: 3, 2: 5 },
  },
  {
    name: `${division}: doesn't allocate more than allowed`,
    capacity: 12,
    queues: two({ limit: 5 }, {}),
    published: { 1: 5, 2: 6 },
  },
  {
    name: `${division}: distributes remainder based on largest remaining`,
    capacity: 11,
    queues: two({ weight: 1, demand: 10 }, { weight: 4, demand: 10 }),
    published: { 1: 3, 2: 8 },
    ours: { 1: 3.4, 2: 7.6 },
    because: "integer rounding",
  },
  {
    name: `${division}: distributes remainder based on creation time`,
    capacity: 11,
    queues: two({}, {}),
    published: { 1: 6, 2: 5 },
    ours: { 1: 5.5, 2: 5.5 },
    because: "integer rounding",
  },
  {
    name: `${division}: priority doesn't affect deserved`,
    capacity: 4,
    queues: two({ priority: 1 }, { priority: 2 }),
    published: { 1: 2, 2: 2 },
  },
  {
    name: `${division}: priority does affect over-quota`,
    capacity: 6,
    queues: two({ priority: 1 }, { priority: 2 }),
    published: { 1: 2, 2: 4 },
  },
  {
    name: `${division}: priority does affect over-quota, even when overQuotaWeight is set`,
    capacity: 6,
    queues: two({ priority: 1, weight: 100 }, { priority: 2, weight: 1 }),
    published: { 1: 2, 2: 4 },
  },
  {
    name: `${division}: divides the remainder even when using priorities`,
    capacity: 5,
    queues: [
      ...two({ priority: 2, demand: 5 }, { priority: 2, demand: 5 }),
      { name: "3", quota: 1, weight: 2, priority: 1 },
    ],
    published: { 1: 3, 2: 2, 3: 0 },
    ours: { 1: 2.5, 2: 2.5, 3: 0 },
    because: "integer rounding",
  },
  {
    name: `${division}: CPU, all queues get their deserved - over subscription`,
    capacity: 10_000,
    queues: three(same(5000), same(5000), same(5000)),
    published: { 1: 5000, 2: 5000, 3: 5000 },
    ours: { 1: 3333.333333, 2: 3333.333333, 3: 3333.333333 },
    because: "over-subscription",
  },
  {
    name: `${division}: CPU, over quota`,
    capacity: 18_000,
    queues: three(same(6000), same(5000), same(5000)),
    published: { 1: 6000, 2: 6000, 3: 6000 },
  },
  {
    name: `${division}: CPU, reclaims unneeded resources`,
    capacity: 10_000,
    queues: three([7000, 2000, 2000], same(5000), same(5000)),
    published: { 1: 6000, 2: 2000, 3: 2000 },
  },
  {
    name: `${division}: CPU, reclaims from both allocated queues, deserved exceed the total`,
    capacity: 10_000,
    queues: three([7000, 5000, 2000], same(5000), same(5000)),
    published: { 1: 5000, 2: 5000, 3: 2000 },
    ours: { 1: 4000, 2: 4000, 3: 2000 },
    because: "over-subscription",
  },
  {
    name: `${division}: CPU, q2 deserves nothing`,
    capacity: 10_000,
    queues: three(same(5000), [5000, 0, 5000], same(5000)),
    published: { 1: 5000, 2: 0, 3: 5000 },
  },
  {
    name: `${division}: request more than total with same over quota and deserved`,
    capacity: 10,
    queues: three([8, 8], [1, 1], [1, 1]),
    published: { 1: 5, 2: 5 },
  },
  {
    name: `${division}: request more than total with different over quota`,
    capacity: 1000,
    queues: three([5000, 5000], [250, 150], [1, 2]),
    published: { 1: 450, 2: 550 },
  },
  {
    name: `${division}: ... and max allowed`,
    capacity: 1000,
    queues: [
      { name: "1", quota: 250, weight: 1, demand: 5000 },
      { name: "2", quota: 150, weight: 2, demand: 5000, limit: 400 },
    ],
    published: { 1: 600, 2: 400 },
  },
  {
    name: `${division}: divide resource evenly`,
    capacity: 9999,
    queues: three(same(10_000), same(1000), same(1)),
    published: { 1: 3333, 2: 3333, 3: 3333 },
  },
  {
    name: `${division}: queues with different over quota`,
    capacity: 9999,
    queues: three(same(10_000), same(0), [6, 2, 1]),
    published: { 1: 6666, 2: 2222, 3: 1111 },
  },
  {
    name: `${division}: fractional fair share`,
    capacity: 45,
    queues: [
      { name: "1", quota: 12, weight: 12, demand: 32.55 },
      { name: "2", quota: 7, weight: 7, demand: 9.5 },
      { name: "3", quota: 2, weight: 2, demand: 1.65, limit: 2 },
    ],
    published: { 1: 32.55, 2: 9.5, 3: 1.65 },
  },
  {
    name: `${proportion}: simple scenario with single top queue`,
    capacity: 3,
    queues: [
      { name: "top", quota: 3, weight: 0 },
      { name: "mid", parent: "top", quota: 3, weight: 0 },
      { name: "leaf-1", parent: "mid", quota: 2, weight: 0, demand: 2 },
      { name: "leaf-2", parent: "mid", quota: 1, weight: 0, demand: 1 },
    ],
    published: { top: 3, mid: 3, "leaf-1": 2, "leaf-2": 1 },
  },
  {
    name: `${proportion}: two top parent queues`,
    capacity: 4,
    queues: [
      { name: "top-1", quota: 2, weight: 0 },
      { name: "child-1", parent: "top-1", quota: 1, weight: 0, demand: 1 },
      { name: "child-2", parent: "top-1", quota: 1, weight: 0, demand: 1 },
      { name: "top-2", quota: 2, weight: 0 },
      { name: "child-3", parent: "top-2", quota: 0, weight: 0, demand: 0 },
      { name: "child-4", parent: "top-2", quota: 1, weight: 1, demand: 2 },
    ],
    published: { "top-1": 2, "child-1": 1, "child-2": 1, "top-2": 2, "child-3": 0, "child-4": 2 },
  },
  {
    name: `${proportion}: departments, sanity`,
    capacity: 4,
    queues: departments({}, {}),
    published: { d1: 2, q1: 2, d2: 2, q2: 2 },
  },
  {
    name: `${proportion}: deserved department quota below that of its queue`,
    capacity: 4,
    queues: departments({ quota: 3 }, { quota: 1 }),
    published: { d1: 3, q1: 3, d2: 1, q2: 2 },
    ours: { d1: 3, q1: 3, d2: 1, q2: 1 },
    because: "over-subscription",
  },
  {
    name: `${proportion}: departments, over-quota`,
    capacity: 12,
    queues: departments({ quota: 3 }, { quota: 1 }),
    published: { d1: 7, q1: 7, d2: 5, q2: 5 },
  },
  {
    name: `${proportion}: departments, over-quota weight`,
    capacity: 12,
    queues: departments({ quota: 3 }, { quota: 1, weight: 7 }),
    published: { d1: 4, q1: 4, d2: 8, q2: 8 },
  },
  {
    name: `${proportion}: departments, over-quota weight, reversed`,
    capacity: 12,
    queues: departments({ quota: 3, weight: 7 }, { quota: 1 }),
    published: { d1: 10, q1: 10, d2: 2, q2: 2 },
  },
  {
    name: `${proportion}: departments, priority`,
    capacity: 12,
    queues: departments({ quota: 1, weight: 7, priority: 1 }, { quota: 1, priority: 2 }, 1),
    published: { d1: 1, q1: 1, d2: 11, q2: 11 },
  },
  {
    name: `${proportion}: departments, priority, reversed`,
    capacity: 12,
    queues: departments({ quota: 1, priority: 2 }, { quota: 1, weight: 7, priority: 1 }, 1),
    published: { d1: 11, q1: 11, d2: 1, q2: 1 },
  },
];
