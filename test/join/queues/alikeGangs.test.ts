import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { analyse } from "../../../exporter/analysis/analyse.ts";
import { join } from "../../../exporter/join/join.ts";
import { createJoinCache, type JoinCache } from "../../../exporter/join/joinCache.ts";
import { emptyMemory, type Memory } from "../../../exporter/join/memory.ts";
import type { Snapshot } from "../../../exporter/join/snapshot.ts";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import type { KueueWorkload } from "../../../exporter/model/queues/kueue.ts";
import { noQueueObjects, type QueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import {
  admission,
  clusterQueue,
  cohort,
  condition,
  flavor,
  localQueue,
  podSet,
  quota,
  workload,
} from "../../queues/kueueRows.ts";
import { untilCollected } from "../../untilCollected.ts";
import { cluster, gfdLabels, gpuNode, gpuPod, namespace, now, owner, ownerRef } from "../clusterBuilder.ts";
import { expectEqual } from "../expectEqual.ts";
import { defaultSettings, stateSettings } from "../outcomes.ts";

const products = ["NVIDIA-H100-80GB-HBM3", "NVIDIA-A100-SXM4-80GB"];
const capacityType = "karpenter.sh/capacity-type";
const names = ["q0", "q1", "q2"];
const namespaces = ["research", "vision", "speech"];
const jobs = Array.from({ length: 4 }, (_, i) => owner("Job", `job-${i}`));

const nodeOf = (i: number, type: string, gpus: number) =>
  gpuNode(`n${i}`, gpus, { labels: { ...gfdLabels(gpus, products[i % 2]), [capacityType]: type } });

const flavorsFor = (types: readonly string[]) =>
  products.flatMap((product) =>
    types.map((type) => flavor(`${product} ${type}`, { "nvidia.com/gpu.product": product, [capacityType]: type })),
  );

const queueFor = (name: string, nominal: number, isStopped = false) =>
  clusterQueue(
    name,
    flavorsFor(["spot", "reserved"]).map((one) => quota(one.name, nominal, name === "q2" ? { borrowingLimit: 1 } : {})),
    { cohort: name === "q1" ? null : "lab", stopPolicy: isStopped ? "Hold" : "None" },
  );

/** Few kinds, so that many are alike; some may go anywhere, some to one model or capacity type, some nowhere. */
function waiting(serial: number, kind: number): KueueWorkload {
  const selectors = [{}, { "nvidia.com/gpu.product": products[0] ?? "" }, { [capacityType]: "spot" }, { zone: "gone" }];
  const sets = [podSet(1 + (kind % 3), 1 + (kind % 2), { nodeSelector: selectors[kind % 4] ?? {} })];
  if (kind % 5 === 0) sets.push({ ...podSet(1, 2), name: "other" });
  const job = jobs[serial % jobs.length];
  return workload(`w${serial}`, sets, {
    namespace: namespaces[serial % namespaces.length] ?? "",
    localQueue: names[kind % names.length] ?? "",
    createdAt: now - 100 - (serial % 7),
    priority: kind % 2,
    jobUid: kind % 6 === 0 ? (job?.uid ?? null) : null,
  });
}

/** A LocalQueue of each name in each namespace. */
const localQueuesTo = (clusterQueue: (i: number) => string) =>
  namespaces.flatMap((namespace) => names.map((name, i) => ({ ...localQueue(name, clusterQueue(i)), namespace })));

const first: ClusterState = cluster({
  nodes: [nodeOf(0, "spot", 8), nodeOf(1, "spot", 8), nodeOf(2, "reserved", 4), nodeOf(3, "reserved", 8)],
  namespaces: namespaces.map((name) => namespace(name, { team: "a" })),
  owners: jobs,
  queues: {
    ...noQueueObjects,
    kueueResourceFlavors: flavorsFor(["spot", "reserved"]),
    kueueCohorts: [cohort("lab", null)],
    kueueClusterQueues: names.map((name) => queueFor(name, 2)),
    kueueLocalQueues: localQueuesTo((i) => names[i] ?? ""),
    kueueWorkloads: Array.from({ length: 30 }, (_, i) => waiting(i, i)),
  },
});

type Change = (state: ClusterState, pick: number, round: number) => Partial<ClusterState>;

const ofQueues =
  (change: (queues: QueueObjects, pick: number, round: number) => Partial<QueueObjects>): Change =>
  ({ queues }, pick, round) => ({ queues: { ...queues, ...change(queues, pick, round) } });

const changes: Readonly<Record<string, Change>> = {
  "work comes": ofQueues(({ kueueWorkloads }, pick, round) => ({
    kueueWorkloads: [...kueueWorkloads, waiting(1000 + round, pick), waiting(2000 + round, pick)],
  })),
  "work goes": ofQueues(({ kueueWorkloads }, pick) => ({
    kueueWorkloads: kueueWorkloads.filter((_, i) => i % 5 !== pick % 5),
  })),
  "work is admitted": ofQueues(({ kueueWorkloads }, pick) => ({
    kueueWorkloads: kueueWorkloads.map((one, i) =>
      i % 7 === pick % 7 ? { ...one, ...admission("q0", `${products[0]} spot`, 1, 1) } : one,
    ),
  })),
  "work is evicted": ofQueues(({ kueueWorkloads }, pick) => ({
    kueueWorkloads: kueueWorkloads.map((one, i) =>
      i % 3 === pick % 3 && one.admission !== null
        ? { ...one, admission: null, conditions: [condition("QuotaReserved", false), condition("Evicted", true)] }
        : one,
    ),
  })),
  "work is the same in other objects": ofQueues(({ kueueWorkloads }) => ({
    kueueWorkloads: structuredClone(kueueWorkloads),
  })),
  "quotas change": ofQueues((_, pick, round) => ({
    kueueClusterQueues: names.map((name, i) => queueFor(name, (pick + round + i) % 6)),
  })),
  "queues are the same in other objects": ofQueues(({ kueueClusterQueues, kueueResourceFlavors }) => ({
    kueueClusterQueues: structuredClone(kueueClusterQueues),
    kueueResourceFlavors: structuredClone(kueueResourceFlavors),
  })),
  "a queue may borrow more": ofQueues(({ kueueClusterQueues }, pick) => ({
    kueueClusterQueues: kueueClusterQueues.map((one) => ({
      ...one,
      quotas: one.quotas.map((own) => ({ ...own, borrowingLimit: one.name === "q0" ? pick % 4 : own.borrowingLimit })),
    })),
  })),
  "a queue stops": ofQueues(({ kueueClusterQueues }, pick) => ({
    kueueClusterQueues: kueueClusterQueues.map((one, i) => (i === pick % 3 ? queueFor(one.name, 3, true) : one)),
  })),
  "a queue goes": ofQueues(({ kueueClusterQueues }, pick) => ({
    kueueClusterQueues: kueueClusterQueues.filter((_, i) => i !== pick % 3),
  })),
  "local queues lead elsewhere": ofQueues((_, pick) => ({
    kueueLocalQueues: localQueuesTo((i) => names[(i + pick) % 4] ?? "none"),
  })),
  "flavors are of other nodes": ofQueues((_, pick) => ({
    kueueResourceFlavors: pick % 2 === 0 ? flavorsFor(["spot", "reserved"]) : flavorsFor(["spot"]),
  })),
  "a node comes": ({ nodes }, pick, round) => ({ nodes: [...nodes, nodeOf(10 + round, "spot", 4 + (pick % 2) * 4)] }),
  "a node goes": ({ nodes }, pick) => ({ nodes: nodes.filter((_, i) => i !== pick % 6) }),
  "a node has other labels": ({ nodes }, pick) => ({
    nodes: nodes.map((one, i) =>
      i === pick % nodes.length
        ? { ...one, labels: { ...one.labels, [capacityType]: pick % 2 === 0 ? "spot" : "reserved" } }
        : one,
    ),
  }),
  "a node is the same in another object": ({ nodes }) => ({ nodes: structuredClone(nodes) }),
  "a node offers other GPUs": ({ nodes }, pick) => ({
    nodes: nodes.map((one, i) =>
      i === pick % nodes.length
        ? { ...one, labels: { ...one.labels, "nvidia.com/gpu.replicas": String(1 + (pick % 2)) } }
        : one,
    ),
  }),
  "a node takes no pods": ({ nodes }, pick) => ({
    nodes: nodes.map((one, i) => (i === pick % nodes.length ? { ...one, unschedulable: !one.unschedulable } : one)),
  }),
  "pods come": ({ pods, nodes }, pick, round) => {
    const ofWorkload = { annotations: { "kueue.x-k8s.io/workload": `w${pick}` } };
    const own = jobs[pick % jobs.length];
    const parts = pick % 3 === 0 ? ofWorkload : pick % 3 === 1 && own !== undefined ? { owner: ownerRef(own) } : {};
    const at = { ...parts, namespace: namespaces[pick % 2] ?? "" };
    return { pods: [...pods, gpuPod(`p${round}`, pick % 2 === 0 ? (nodes[0]?.name ?? null) : null, 1, at)] };
  },
  "pods go": ({ pods }) => ({ pods: pods.slice(1) }),
  "the team is another": (_, pick) => ({
    namespaces: namespaces.map((name, i) => namespace(name, { team: (pick + i) % 2 === 0 ? "a" : "b" })),
  }),
};

const step = fc.record({
  change: fc.constantFrom(...Object.keys(changes)),
  pick: fc.nat(40),
  seconds: fc.constantFrom(30, 30, 3600, -600),
});

/** What says itself in which order something was found is left out: nothing but the content is compared. */
const judgedIn = (snapshot: Snapshot) => {
  const { fairness, waiting: why, blocked, findings } = analyse(snapshot, stateSettings);
  return { fairness, why, blocked, findings };
};

describe("gangs that ask for the same in the same queue", () => {
  it("are placed and judged as if each were looked at anew, whatever comes, goes or changes", () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(fc.array(step, { minLength: 4, maxLength: 12 }), (steps) => {
        const cache = createJoinCache();
        let state = first;
        let memory: Memory = emptyMemory;
        let at = now;
        for (const [round, { change, pick, seconds }] of steps.entries()) {
          const remembered = join(state, memory, defaultSettings, at, cache);
          const anew = join(state, memory, defaultSettings, at);
          expectEqual(remembered, anew);
          expectEqual(judgedIn(remembered.snapshot), judgedIn(anew.snapshot));
          for (const { never, parts } of anew.snapshot.queueing.gangs) seen.add(`${never} ${parts[0]?.places?.length}`);
          memory = remembered.memory;
          state = { ...state, ...changes[change]?.(state, pick, round) };
          at += seconds;
        }
      }),
      { numRuns: 60, seed: 19 },
    );
    for (const kind of ["null 2", "null 4", "no-node undefined", "no-queue undefined", "above-limit undefined"])
      expect([...seen]).toContain(kind);
  });

  it("share their parts where they wait in the same place, and keep them", () => {
    const cache = createJoinCache();
    const { snapshot, memory } = join(first, emptyMemory, defaultSettings, now, cache);
    const { gangs } = snapshot.queueing;
    const lists = new Set(gangs.map(({ parts }) => parts));
    expect(lists.size).toBeLessThan(gangs.length);
    const again = join(first, memory, defaultSettings, now + 30, cache).snapshot.queueing.gangs;
    for (const [i, gang] of again.entries()) expect(gang).toBe(gangs[i]);
  });

  it("find their places again only when queues, limits or nodes change", () => {
    const cache = createJoinCache();
    const memoryOf = (state: ClusterState) => {
      join(state, emptyMemory, defaultSettings, now, cache);
      return cache.queueing.places.last?.memory;
    };
    const { queues } = first;
    const known = memoryOf(first);
    const work = { ...queues, kueueWorkloads: [...queues.kueueWorkloads.slice(3), waiting(99, 2)] };
    const status = { ...work, kueueClusterQueues: structuredClone(queues.kueueClusterQueues) };
    const cordoned = first.nodes.map((node, i) => ({ ...node, unschedulable: i === 0 }));
    expect(memoryOf({ ...first, queues: status, nodes: cordoned })).toBe(known);
    const fewer = memoryOf({ ...first, nodes: first.nodes.slice(1) });
    expect(fewer).not.toBe(known);
    const limits = queues.kueueClusterQueues.map(({ name }) => queueFor(name, 3));
    const limited = memoryOf({
      ...first,
      nodes: first.nodes.slice(1),
      queues: { ...queues, kueueClusterQueues: limits },
    });
    expect(limited).not.toBe(fewer);
  });

  it("hold on to no moment in which they waited once they are gone", async () => {
    const cache = createJoinCache();
    const queues = { ...first.queues, kueueWorkloads: first.queues.kueueWorkloads.slice(0, 3) };
    const { memory, moment } = momentOf(first, emptyMemory, cache);
    const last = momentOf({ ...first, queues }, momentOf({ ...first, queues }, memory, cache).memory, cache);
    await untilCollected(() => moment.deref() === undefined);
    expect(moment.deref()).toBeUndefined();
    expect(last.moment.deref()).toBe(last.snapshot?.queueing.queues);
  });
});

/** What the next join is given, and a weak hold on the queues of the moment. */
function momentOf(state: ClusterState, before: Memory, cache: JoinCache) {
  const { snapshot, memory } = join(state, before, defaultSettings, now, cache);
  return { memory, moment: new WeakRef(snapshot.queueing.queues), snapshot: state === first ? null : snapshot };
}
