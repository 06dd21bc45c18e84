import { describe, expect, it } from "vitest";
import { createLivedInWorld } from "../../../simulator/cluster/step.ts";
import type { Workload, World } from "../../../simulator/cluster/world.ts";
import { kaiObjects } from "../../../simulator/objects/queues/kai.ts";
import { kaiShares } from "../../../simulator/queues/kaiFairShare.ts";
import { kaiRules } from "../../../simulator/queues/kaiRules.ts";
import { kueueRules } from "../../../simulator/queues/kueueRules.ts";
import { pastUse, type UseSample, withinWindow } from "../../../simulator/queues/pastUse.ts";
import type { KaiQueueSpec } from "../../../simulator/queues/spec.ts";
import { burstPolicies, burstScenario } from "../../../simulator/scenarios/burst.ts";
import { workloadOf } from "../../../simulator/scenarios/parts.ts";

const history = { windowSeconds: 7200, halfLifeSeconds: 3600, kValue: 1 };

function queue(name: string, quota: number, changes: Partial<KaiQueueSpec> = {}): KaiQueueSpec {
  return { name, parent: null, priority: 100, quota, limit: -1, overQuotaWeight: 1, ...changes };
}

describe("past use", () => {
  const sample = (at: number, gpus: number): UseSample => ({
    at,
    seconds: 60,
    allocated: new Map([["a", gpus]]),
    capacity: 80,
  });

  it("is what was allocated over what was there, both halved every hour", () => {
    // 60 of 80 now, 20 of 80 an hour ago: (60 + 20 / 2) / (80 + 80 / 2) = 70 / 120.
    expect(pastUse([sample(0, 20), sample(3600, 60)], history, 3600).get("a")).toBeCloseTo(70 / 120, 12);
    // The same two an hour later are as far from each other as before.
    expect(pastUse([sample(0, 20), sample(3600, 60)], history, 7199).get("a")).toBeCloseTo(70 / 120, 12);
  });

  it("forgets what is older than the window", () => {
    expect(pastUse([sample(0, 20), sample(3600, 60)], history, 7200).get("a")).toBeCloseTo(60 / 80, 12);
    expect(withinWindow([sample(0, 20), sample(3600, 60)], history, 7200)).toHaveLength(1);
    expect(pastUse([sample(0, 20)], history, 7200).size).toBe(0);
  });

  it("weighs a sample by the time that it covers", () => {
    const long = { ...sample(3600, 60), seconds: 180 };
    // (180 x 60 + 60 x 20 / 2) / (180 x 80 + 60 x 80 / 2)
    expect(pastUse([sample(0, 20), long], history, 3600).get("a")).toBeCloseTo(11_400 / 16_800, 12);
  });
});

describe("KAI's fair shares", () => {
  const queues = [
    queue("all", -1),
    queue("research", 20, { parent: "all" }),
    queue("inference", 40, { parent: "all" }),
    queue("training", 20, { parent: "all" }),
  ];
  const shares = (
    requested: Readonly<Record<string, number>>,
    use: Readonly<Record<string, number>>,
    kValue = 1,
  ): Readonly<Record<string, number>> =>
    Object.fromEntries(
      kaiShares(queues, 80, {
        requested: new Map(Object.entries(requested)),
        use: new Map(Object.entries(use)),
        kValue,
      }),
    );
  const crowd = { all: 180, research: 100, inference: 20, training: 60 };

  it("without use are quotas and equal parts of the rest", () => {
    expect(shares(crowd, {})).toEqual({ all: 80, research: 30, inference: 20, training: 30 });
  });

  it("give less of the rest to who used more: P = 2w - u, w = 1/2", () => {
    // P: 1 - 0.6 and 1 - 0: 20 x 0.4 / 1.4 = 5.71 and 14.29; whole GPUs 5 and 14, and the last to the larger cut.
    expect(shares(crowd, { research: 0.6 })).toMatchObject({ research: 26, training: 34 });
    // P: 0.4 and 0.6: 8 and 12.
    expect(shares(crowd, { research: 0.6, training: 0.4 })).toMatchObject({ research: 28, training: 32 });
    expect(shares(crowd, { research: 0.375, training: 0.375 })).toMatchObject({ research: 30, training: 30 });
  });

  it("count use k times, and not at all with k = 0", () => {
    expect(shares(crowd, { research: 0.6 }, 0)).toMatchObject({ research: 30, training: 30 });
    // P: 0.5 + 5 x (0.5 - 0.6) = 0, and 0.5 + 5 x 0.5.
    expect(shares(crowd, { research: 0.6 }, 5)).toMatchObject({ research: 20, training: 40 });
  });

  it("never take a quota away, however much was used", () => {
    expect(shares(crowd, { research: 1 })).toMatchObject({ research: 20, inference: 20, training: 40 });
  });

  it("hand on what someone does not want", () => {
    expect(shares({ all: 140, research: 100, inference: 20, training: 22 }, { research: 0.9 })).toMatchObject({
      research: 38,
      training: 22,
    });
  });

  it("go by priority, weight and limit", () => {
    const level = [
      queue("first", 0, { priority: 200, limit: 10 }),
      queue("light", 0, { overQuotaWeight: 1 }),
      queue("heavy", 0, { overQuotaWeight: 3 }),
      queue("never", 0, { overQuotaWeight: 0 }),
    ];
    const requested = new Map(level.map(({ name }) => [name, 100]));
    const found = kaiShares(level, 50, { requested, use: new Map(), kValue: 1 });
    expect(Object.fromEntries(found)).toEqual({ first: 10, light: 10, heavy: 30, never: 0 });
  });
});

/** Work of 4 GPUs in a queue. */
function work(name: string, serial: number, admittedTime: number | null = null): Workload {
  const spec = workloadOf(
    "Job",
    name,
    1,
    { kind: "physicalGpus", count: 4 },
    { kind: "constant", level: 1 },
    { queue: name },
  );
  const [workload] = createLivedInWorld(
    {
      ...burstScenario("borrowing"),
      arrivals: [{ afterSeconds: 0, name: `${name}-${serial}`, workload: spec, runSeconds: null }],
    },
    1,
    0,
  ).workloads;
  if (workload === undefined) throw new Error("no work");
  return { ...workload, serial, admittedTime, queuedAt: serial };
}

const works = (name: string, count: number, from: number): readonly Workload[] =>
  Array.from({ length: count }, (_, i) => work(name, from + i, from + i));

describe("KAI with past use", () => {
  const queues = [queue("research", 20), queue("training", 20)];
  const share = new Map([
    ["research", 26],
    ["training", 34],
  ]);
  const rules = (shares: ReadonlyMap<string, number> | null) =>
    kaiRules(
      queues,
      () => 0,
      () => 0,
      shares,
    );
  const waiting = work("training", 100);

  it("takes back what others hold above their share, as far as the own share reaches", () => {
    const running = [...works("research", 8, 0), ...works("training", 7, 20)];
    const victims = rules(share).victims(waiting, running);
    expect(victims.map(({ workload }) => workload.spec.queue)).toEqual(["research"]);
    // 28 + 4 fit into 34, 32 + 4 do not.
    expect(rules(share).victims(waiting, [...works("research", 8, 0), ...works("training", 8, 20)])).toEqual([]);
  });

  it("takes nothing from who is within its share", () => {
    expect(rules(share).victims(waiting, [...works("research", 6, 0), ...works("training", 7, 20)])).toEqual([]);
  });

  it("without it takes back what quota covers, and no more", () => {
    const beyond = [...works("research", 8, 0), ...works("training", 7, 20)];
    expect(rules(null).victims(waiting, beyond)).toEqual([]);
    const within = [...works("research", 8, 0), ...works("training", 4, 20)];
    expect(rules(null).victims(waiting, within)).toHaveLength(1);
  });

  it("looks first at who has the smaller part of its share, and last at who is above it", () => {
    const other = work("research", 1);
    const order = (research: number, training: number): string =>
      rules(share)
        .order([other, waiting], [...works("research", research, 0), ...works("training", training, 20)])
        .map(({ spec }) => spec.queue)
        .join(" ");
    // 24 / 26 is more than 28 / 34; 24 / 26 is less than 32 / 34; 28 is above 26.
    expect(order(6, 7)).toBe("training research");
    expect(order(6, 8)).toBe("research training");
    expect(order(7, 8)).toBe("training research");
  });
});

describe("Kueue without fair sharing", () => {
  const { kueue } = burstScenario("borrowing").queueing;
  if (kueue === null) throw new Error("no Kueue");
  const order = (priorityOf: (workload: Workload) => number, training: number): string =>
    kueueRules(kueue, priorityOf)
      .order(
        [work("research", 1), work("training", 100)],
        [...works("research", 5, 0), ...works("training", training, 20)],
      )
      .map(({ spec }) => spec.queue)
      .join(" ");

  it("looks at what needs no borrowing before what does, whatever their priority and age", () => {
    expect(order(() => 0, 4)).toBe("training research");
    expect(order(({ spec }) => (spec.queue === "research" ? 10 : 0), 4)).toBe("training research");
  });

  it("goes by priority and age where both would borrow", () => {
    expect(order(() => 0, 5)).toBe("research training");
    expect(order(({ spec }) => (spec.queue === "training" ? 10 : 0), 5)).toBe("training research");
  });
});

describe("the shard of KAI", () => {
  const shardOf = (history: boolean): object | undefined => {
    const scenario = burstScenario("time-based-fairshare");
    const { kai } = scenario.queueing;
    if (kai === null) throw new Error("no KAI");
    const { history: _, ...plain } = kai;
    const world: World = createLivedInWorld(scenario, 1, 0);
    return kaiObjects(world, history ? kai : plain).find(({ kind }) => kind === "kai/SchedulingShard")?.object;
  };

  it("says by which history it goes, and nothing where it goes by none", () => {
    const usageParams = { windowSize: "7200s", windowType: "sliding", halfLifePeriod: "3600s" };
    expect(shardOf(true)).toMatchObject({
      spec: { kValue: 1, usageDBConfig: { clientType: "prometheus", usageParams } },
    });
    expect(shardOf(false)).toMatchObject({ spec: {} });
    expect(JSON.stringify(shardOf(false))).not.toContain("usageDB");
  });
});

it("the same work comes at the same times under every policy", () => {
  const plans = burstPolicies.map((policy) => burstScenario(policy).arrivals);
  expect(plans[0]?.length).toBe(5 + 4 + 54 + 20 + 4);
  for (const plan of plans) expect(plan).toEqual(plans[0]);
});
