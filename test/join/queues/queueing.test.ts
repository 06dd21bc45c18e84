import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { join } from "../../../exporter/join/join.ts";
import { createJoinCache } from "../../../exporter/join/joinCache.ts";
import { emptyMemory } from "../../../exporter/join/memory.ts";
import { isInDomain } from "../../../exporter/join/queues/domainOfNode.ts";
import type { Queueing, QueueView } from "../../../exporter/join/queues/queueing.ts";
import type { Snapshot } from "../../../exporter/join/snapshot.ts";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import { sampled } from "../../sampled.ts";
import { now } from "../clusterBuilder.ts";
import { changed } from "../clusterChanges.ts";
import { anyCluster } from "../clusterGenerator.ts";
import { expectEqual } from "../expectEqual.ts";
import { defaultSettings } from "../outcomes.ts";
import { queueChanges } from "./queueChanges.ts";

const isQueueChange = (name: string): name is keyof typeof queueChanges => Object.hasOwn(queueChanges, name);
const changeNames = Object.keys(queueChanges).filter(isQueueChange);

/** Clusters with the objects of several queue systems, some of them broken, and pods that name them or not. */
const anyQueuedCluster: fc.Arbitrary<ClusterState> = fc
  .tuple(anyCluster, fc.array(fc.tuple(fc.constantFrom(...changeNames), fc.nat(20)), { minLength: 0, maxLength: 12 }))
  .map(([state, steps]) => steps.reduce((one, [name, pick], round) => changed(one, name, pick, round), state));

const joined = (state: ClusterState): Snapshot => join(state, emptyMemory, defaultSettings, now).snapshot;

const sum = <Item>(items: readonly Item[], amount: (item: Item) => number): number =>
  items.reduce((total, item) => total + amount(item), 0);

const everyCluster = sampled(anyQueuedCluster, { numRuns: 300, seed: 11 }, joined);

function always(check: (snapshot: Snapshot, queueing: Queueing) => void): void {
  everyCluster((snapshot) => check(snapshot, snapshot.queueing));
}

/** Allocated GPUs by pool, by the devices. */
function allocatedByPool({ devices }: Snapshot): Readonly<Record<string, number>> {
  const allocated: Record<string, number> = {};
  for (const { pool, holders } of devices)
    allocated[pool] = (allocated[pool] ?? 0) + sum(holders, ({ share }) => share);
  return allocated;
}

const leavesOf = ({ queues }: Queueing, domain: number): readonly QueueView[] =>
  queues.filter((queue) => queue.domain === domain && queue.isLeaf);

describe("in every cluster", () => {
  it("which here have queues of every kind, with work that waits for every reason", () => {
    const found: Queueing[] = [];
    always((_, queueing) => found.push(queueing));
    const kinds = new Set(
      found.flatMap(({ queues }) => queues.filter(({ allocated }) => allocated > 0).map(({ kind }) => kind)),
    );
    expect([...kinds].sort()).toEqual(
      ["ClusterQueue", "Cohort", "Namespace", "Queue", "Scheduler", "Team", "Unqueued"].sort(),
    );
    const reasons = new Set(found.flatMap(({ gangs }) => gangs.map(({ never }) => never)));
    for (const never of ["above-limit", "no-node", "no-queue", null]) expect(reasons).toContain(never);
    expect(found.some(({ gangs }) => gangs.some(({ reservedAt, bound }) => reservedAt !== null && bound > 0))).toBe(
      true,
    );
  });

  it("each pool is in exactly one domain", () => {
    always(({ nodes }, { domains }) => {
      const pools = [...new Set(nodes.flatMap((node) => node.pools))].sort();
      expect(domains.flatMap((domain) => domain.pools).sort()).toEqual(pools);
    });
  });

  it("what leaves hold is what is allocated of their domain's devices, and never above its capacity", () => {
    always((snapshot, queueing) => {
      const allocated = allocatedByPool(snapshot);
      for (const [i, { pools, capacity, allocatedOnUnschedulable }] of queueing.domains.entries()) {
        const leaves = leavesOf(queueing, i);
        const ofLeaves = sum(leaves, (leaf) => leaf.allocated);
        expect(ofLeaves).toBeCloseTo(
          sum(pools, (pool) => allocated[pool] ?? 0),
          9,
        );
        expect(ofLeaves).toBeLessThanOrEqual(capacity + 1e-9);
        expect(sum(leaves, (leaf) => leaf.allocatedOnUnschedulable)).toBeCloseTo(allocatedOnUnschedulable, 9);
      }
    });
  });

  it("what is above others is their sum, and a leaf is the sum of its teams", () => {
    always((_, { queues }) => {
      for (const [i, queue] of queues.entries()) {
        const below: readonly (Pick<QueueView, "allocated" | "pending"> | undefined)[] = queue.isLeaf
          ? queue.teams
          : queue.children.map((child) => queues[child]);
        if (!queue.isLeaf) expect(queue.children.every((child) => queues[child]?.parent === i)).toBe(true);
        expect(queue.allocated).toBeCloseTo(
          sum(below, (one) => one?.allocated ?? 0),
          9,
        );
        expect(queue.pending).toBeCloseTo(
          sum(below, (one) => one?.pending ?? 0),
          9,
        );
      }
    });
  });

  it("parents come before children, in the same domain, and only leaves have work", () => {
    always((_, { queues }) => {
      for (const [i, queue] of queues.entries()) {
        if (queue.parent !== null) expect(queue.parent).toBeLessThan(i);
        if (queue.parent !== null) expect(queues[queue.parent]?.domain).toBe(queue.domain);
        if (!queue.isLeaf) expect([queue.teams, queue.gangs]).toEqual([[], []]);
        expect(queue.guaranteed).toBeGreaterThanOrEqual(0);
      }
    });
  });

  it("every guarantee is an amount, also one without a bound", () => {
    always((_, { queues }) => {
      for (const { guaranteed } of queues) expect(Number.isFinite(guaranteed)).toBe(true);
    });
  });

  it("every node with GPUs of a pool is in exactly one domain, and in one class of it", () => {
    always(({ nodes }, { domains }) => {
      for (const { name, pools } of nodes)
        for (const pool of pools) {
          const own = domains.filter((domain) => isInDomain(domain, pool, name));
          expect(own).toHaveLength(1);
          const classes = own[0]?.classes ?? [];
          if (classes.length > 0)
            expect(classes.filter((one) => one.pool === pool && one.nodes.has(name))).toHaveLength(1);
        }
    });
  });

  it("what a leaf holds in the classes of its domain is what it holds", () => {
    always((_, { queues }) => {
      for (const { allocated, allocatedByClass, allocatedOnUnschedulable } of queues) {
        if (allocatedByClass === undefined) continue;
        expect(allocatedByClass.reduce((sum, one) => sum + one.allocated, 0)).toBeCloseTo(allocated, 6);
        expect(allocatedByClass.reduce((sum, one) => sum + one.allocatedOnUnschedulable, 0)).toBeCloseTo(
          allocatedOnUnschedulable,
          6,
        );
      }
    });
  });

  it("every waiting pod is in exactly one gang", () => {
    always(({ pods }, { gangs }) => {
      const waiting = pods.filter(({ status }) => status === "pending").length;
      // No pod of these clusters is gated: what is not ready has not been created.
      expect(sum(gangs, (gang) => gang.pods - gang.notReadyPods)).toBe(waiting);
    });
  });

  it("pending is what its gangs ask for that can run", () => {
    always((_, { queues, gangs }) => {
      const parts = gangs.filter(({ never }) => never === null).flatMap((gang) => gang.parts);
      for (const [i, { isLeaf, pending }] of queues.entries()) {
        const own = parts.filter(({ queue }) => queue === i);
        if (isLeaf)
          expect(pending).toBeCloseTo(
            sum(own, ({ pods, gpusPerPod }) => pods * (gpusPerPod ?? 0)),
            9,
          );
      }
    });
  });

  it("a leaf lists its gangs, each once, in the order of priority and time", () => {
    always((_, { queues, gangs }) => {
      for (const [i, { gangs: listed }] of queues.entries()) {
        const own = gangs.flatMap(({ parts }, k) => (parts.some(({ queue }) => queue === i) ? [k] : []));
        expect(listed).toEqual(own);
        const order = listed.map((k) => gangs[k]?.priority ?? 0);
        expect(order).toEqual(order.toSorted((a, b) => b - a));
        const since = listed.map((k) => gangs[k]?.since ?? Number.POSITIVE_INFINITY);
        for (const [place, time] of since.entries())
          if (place > 0 && order[place] === order[place - 1])
            expect(time).toBeGreaterThanOrEqual(since[place - 1] ?? 0);
      }
    });
  });

  it("the queue of a pod is the leaf that its holding was counted in", () => {
    always(({ devices, pods }, { queues, queueOfPod, domains }) => {
      expect(queueOfPod.length).toBe(pods.length);
      const domainsOf = pods.map(() => new Set<number>());
      for (const { pool, holders } of devices)
        for (const { pod } of holders) domainsOf[pod]?.add(domains.findIndex(({ pools }) => pools.includes(pool)));
      for (const [i, found] of domainsOf.entries()) {
        const leaf = queues[queueOfPod[i] ?? -1];
        if (found.size === 0) continue;
        expect(leaf?.isLeaf).toBe(true);
        expect(found.has(leaf?.domain ?? -1)).toBe(true);
        expect(leaf?.teams.some(({ team }) => team === pods[i]?.team)).toBe(true);
      }
    });
  });

  it("the order of the objects does not matter", () => {
    fc.assert(
      fc.property(anyQueuedCluster, (state) => {
        const queues = Object.fromEntries(
          Object.entries(state.queues).map(([kind, list]) => [kind, list.toReversed()]),
        );
        const other = {
          ...state,
          nodes: state.nodes.toReversed(),
          pods: state.pods.toReversed(),
          evictions: state.evictions.toReversed(),
          queues: { ...state.queues, ...queues },
        };
        expectEqual(joined(other).queueing, joined(state).queueing);
      }),
      { numRuns: 200, seed: 5 },
    );
  });

  it("the views of pods stay the same objects while nothing changes", () => {
    fc.assert(
      fc.property(anyQueuedCluster, (state) => {
        const cache = createJoinCache();
        const first = join(state, emptyMemory, defaultSettings, now, cache);
        const second = join(state, first.memory, defaultSettings, now + 30, cache);
        // The same objects in other lists: what a source hands on after some other object has changed.
        const queues = { ...state.queues, kueueWorkloads: [...state.queues.kueueWorkloads] };
        const third = join({ ...state, queues }, second.memory, defaultSettings, now + 60, cache);
        for (const [i, view] of third.snapshot.pods.entries()) expect(view).toBe(second.snapshot.pods[i]);
      }),
      { numRuns: 60, seed: 7 },
    );
  });
});
