import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import type { Truth } from "../../simulator/truth.ts";
import { getList, getText, listPaths, type SeenObject } from "./apiClient.ts";
import { generatedScenario } from "./scenarios/generated.ts";

const startAt = 1_795_000_000;

/** A lived-in random cluster, after `steps` of 10 s. */
async function withCluster(seed: number, size: number, steps: number, check: (simulator: Simulator) => unknown) {
  const simulator = await startSimulator({ scenario: generatedScenario(seed, size), seed, startAt });
  try {
    simulator.advance(steps * 10);
    await check(simulator);
  } finally {
    await simulator.stop();
  }
}

const cluster = [
  fc.integer({ min: 0, max: 1e6 }),
  fc.integer({ min: 1, max: 6 }),
  fc.integer({ min: 0, max: 60 }),
] as const;
const runs = { numRuns: 25, seed: 20261121 };

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

describe("the simulator's truth", () => {
  it("never has more than one GPU held of a GPU, nor activity beyond what is there", async () => {
    await fc.assert(
      fc.asyncProperty(...cluster, (seed, size, steps) =>
        withCluster(seed, size, steps, (simulator) => {
          for (const physicalGpu of simulator.truth().physicalGpus) {
            const allocated = sum(physicalGpu.holders.map((holder) => holder.share));
            expect(allocated).toBeLessThanOrEqual(1 + 1e-9);
            expect(physicalGpu.activity).toBeGreaterThanOrEqual(0);
            expect(physicalGpu.activity).toBeLessThanOrEqual(allocated + 1e-9);
            for (const holder of physicalGpu.holders) expect(holder.share).toBeGreaterThan(0);
          }
        }),
      ),
      runs,
    );
  });

  it("adds up: holders to GPUs, instances to GPUs, GPUs to teams", async () => {
    await fc.assert(
      fc.asyncProperty(...cluster, (seed, size, steps) =>
        withCluster(seed, size, steps, (simulator) => {
          const truth = simulator.truth();
          for (const physicalGpu of truth.physicalGpus) {
            expect(sum(physicalGpu.holders.map((h) => h.share * h.activity))).toBeCloseTo(physicalGpu.activity, 9);
            if (physicalGpu.migInstances.length === 0) continue;
            expect(sum(physicalGpu.migInstances.map((i) => i.weight * i.activity))).toBeCloseTo(
              physicalGpu.activity,
              9,
            );
            expect(sum(physicalGpu.migInstances.map((i) => i.weight))).toBeLessThanOrEqual(1 + 1e-9);
          }
          for (const { team, allocated, active } of truth.teams) {
            const theirs = truth.physicalGpus.flatMap((physicalGpu) =>
              physicalGpu.holders.filter((holder) => holder.team === team),
            );
            expect(allocated).toBeCloseTo(sum(theirs.map((holder) => holder.share)), 9);
            expect(active).toBeCloseTo(sum(theirs.map((holder) => holder.share * holder.activity)), 9);
          }
        }),
      ),
      runs,
    );
  });

  it("agrees with the pods of the API: holders are bound and not ended, pending pods have no node", async () => {
    await fc.assert(
      fc.asyncProperty(...cluster, (seed, size, steps) =>
        withCluster(seed, size, steps, async (simulator) => {
          const { items } = await getList(`${simulator.apiUrl}/api/v1/pods`);
          const pods = new Map(items.map((pod) => [`${pod.metadata.namespace}/${pod.metadata.name}`, pod]));
          const truth = simulator.truth();
          for (const physicalGpu of truth.physicalGpus) {
            for (const holder of physicalGpu.holders) {
              const pod = pods.get(`${holder.namespace}/${holder.pod}`);
              expect(pod?.spec).toMatchObject({ nodeName: physicalGpu.node });
              expect(["Pending", "Running"]).toContain(phaseOf(pod));
            }
          }
          for (const pending of truth.pending) {
            const pod = pods.get(`${pending.namespace}/${pending.pod}`);
            expect(pod?.spec).not.toHaveProperty("nodeName");
            expect(pod?.status).toMatchObject({ conditions: [{ type: "PodScheduled", reason: "Unschedulable" }] });
          }
        }),
      ),
      runs,
    );
  });

  it("binds no more of any resource than the node's capacity", async () => {
    await fc.assert(
      fc.asyncProperty(...cluster, (seed, size, steps) =>
        withCluster(seed, size, steps, async (simulator) => {
          const { items: nodes } = await getList(`${simulator.apiUrl}/api/v1/nodes`);
          const { items: pods } = await getList(`${simulator.apiUrl}/api/v1/pods`);
          const asked = sumOfRequests(pods);
          for (const node of nodes) {
            const capacity = amounts(Reflect.get(Object(node.status), "capacity"));
            for (const [key, amount] of asked) {
              const [nodeName, resource = ""] = key.split("|");
              // Extended resources that DRA serves have no capacity on the node, HAMi's memory and cores neither.
              if (nodeName !== node.metadata.name || !capacity.has(resource)) continue;
              expect(amount, `${key}`).toBeLessThanOrEqual(capacity.get(resource) ?? 0);
            }
          }
        }),
      ),
      runs,
    );
  });

  it("is the same for the same seed: all objects and pages byte by byte, but for the listeners' ports", async () => {
    await fc.assert(
      fc.asyncProperty(...cluster, async (seed, size, steps) => {
        const first: string[] = [];
        const second: string[] = [];
        await withCluster(seed, size, steps, async (simulator) => first.push(...(await everything(simulator))));
        await withCluster(seed, size, steps, async (simulator) => second.push(...(await everything(simulator))));
        expect(second).toEqual(first);
      }),
      { ...runs, numRuns: 8 },
    );
  });

  it("differs between seeds", async () => {
    const truths: Truth[] = [];
    for (const seed of [1, 2]) {
      await withCluster(seed, 4, 10, (simulator) => truths.push(simulator.truth()));
    }
    expect(truths[0]?.physicalGpus.map((physicalGpu) => physicalGpu.uuid)).not.toEqual(
      truths[1]?.physicalGpus.map((physicalGpu) => physicalGpu.uuid),
    );
  });
});

function phaseOf(pod: SeenObject | undefined): unknown {
  return Reflect.get(Object(pod?.status), "phase");
}

function amounts(resources: unknown): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [name, amount] of Object.entries(Object(resources))) {
    if (name.includes("/")) found.set(name, Number(amount));
  }
  return found;
}

/** By `node|resource`, of pods that are bound and have not ended. */
function sumOfRequests(pods: readonly SeenObject[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const pod of pods) {
    const node: unknown = Reflect.get(Object(pod.spec), "nodeName");
    if (typeof node !== "string" || !["Pending", "Running"].includes(String(phaseOf(pod)))) continue;
    const containers: unknown = Reflect.get(Object(pod.spec), "containers");
    for (const container of Array.isArray(containers) ? containers : []) {
      const resources: unknown = Reflect.get(Object(container), "resources");
      for (const [name, amount] of amounts(Reflect.get(Object(resources), "limits"))) {
        sums.set(`${node}|${name}`, (sums.get(`${node}|${name}`) ?? 0) + amount);
      }
    }
  }
  return sums;
}

async function everything(simulator: Simulator): Promise<readonly string[]> {
  const lists = await Promise.all(listPaths.map((path) => getText(`${simulator.apiUrl}${path}`)));
  const pages = await Promise.all([...simulator.metricsUrls.values()].map(getText));
  return [
    ...lists.map((list) => list.replaceAll(/"containerPort":\d+/g, '"containerPort":0')),
    ...pages,
    JSON.stringify(simulator.truth()),
  ];
}
