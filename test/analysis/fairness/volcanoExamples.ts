import type { WorkedExample } from "./workedTree.ts";

const guarantee = "docs/design/queue-guarantee-resource-reservation-design.md";
const capacityPlugin = "docs/user-guide/how_to_use_capacity_plugin.md";
const many = 100;
/** volcano-sh/volcano v1.15.1. Limits are Volcano's realCapability. */
export const volcanoExamples: readonly WorkedExample[] = [
  {
    name: `${guarantee}: proportion, three queues run 30 GPUs`,
    capacity: 30,
    queues: [
      { name: "queue1", quota: 5, limit: 30, isFloor: true, demand: many },
      { name: "queue2", limit: 25, isFloor: true, demand: many },
      { name: "queue3", limit: 10, isFloor: true, demand: many },
    ],
    published: { queue1: 10, queue2: 10, queue3: 10 },
  },
  {
    name: `${guarantee}: proportion, a fourth queue with weight 2 and a guarantee of 10`,
    capacity: 30,
    queues: [
      { name: "queue1", quota: 5, limit: 20, isFloor: true, demand: many },
      { name: "queue2", limit: 15, isFloor: true, demand: many },
      { name: "queue3", limit: 10, isFloor: true, demand: many },
      { name: "queue4", quota: 10, limit: 25, weight: 2, isFloor: true, demand: many },
    ],
    published: { queue1: 6, queue2: 6, queue3: 6, queue4: 12 },
  },
  {
    name: `${guarantee}: proportion, the same while the fourth queue asks for 2`,
    capacity: 30,
    queues: [
      { name: "queue1", quota: 5, limit: 20, isFloor: true, demand: many },
      { name: "queue2", limit: 15, isFloor: true, demand: many },
      { name: "queue3", limit: 10, isFloor: true, demand: many },
      { name: "queue4", quota: 10, limit: 25, weight: 2, isFloor: true, demand: 2 },
    ],
    published: { queue1: 6, queue2: 6, queue3: 6, queue4: 12 },
    ours: { queue1: 9.333333, queue2: 9.333333, queue3: 9.333333, queue4: 2 },
    because: "no guarantee without demand",
  },
  {
    name: "docs/design/queue/queue.md: proportion, (weight / total-weight) * total-resource, here of 60",
    capacity: 60,
    queues: [
      { name: "a", weight: 1, isFloor: true, demand: many },
      { name: "b", weight: 2, isFloor: true, demand: many },
      { name: "c", weight: 3, isFloor: true, demand: many },
    ],
    published: { a: 10, b: 20, c: 30 },
  },
  {
    name: `${capacityPlugin}: queue1 alone uses everything`,
    capacity: 8,
    queues: [
      { name: "queue1", quota: 2, demand: 8 },
      { name: "queue2", quota: 6 },
    ],
    published: { queue1: 8, queue2: 0 },
  },
  {
    name: `${capacityPlugin}: queue2 reclaims what it deserves`,
    capacity: 8,
    queues: [
      { name: "queue1", quota: 2, demand: 8 },
      { name: "queue2", quota: 6, demand: 8 },
    ],
    published: { queue1: 2, queue2: 6 },
  },
  {
    name: "docs/design/capacity-scheduling.md, Story 3: 100 A100, queue1 deserves 20 and queue2 80",
    capacity: 100,
    queues: [
      { name: "queue1", quota: 20, demand: 100 },
      { name: "queue2", quota: 80, demand: 100 },
    ],
    published: { queue1: 20, queue2: 80 },
  },
];
