import { describe, expect, it } from "vitest";
import { createAdviser } from "../../exporter/advice/adviser.ts";
import type { AdviceSettings } from "../../exporter/advice/moment.ts";
import type { Habit, IdleSpell } from "../../exporter/advice/usage/habit.ts";
import type { ClusterState, OwnerObject } from "../../exporter/model/cluster.ts";
import type { Pod } from "../../exporter/model/pod.ts";
import type { Advice, Recommendation } from "../../exporter/model/recommendation.ts";
import { account, listed } from "../analysis/prices/priceBuilder.ts";
import { gpuNode, gpuPod, now, owner, ownerRef } from "../join/clusterBuilder.ts";
import {
  adviceSettings,
  analysisAt,
  deployment,
  hour,
  pageAt,
  physicalGpu,
  replicaSet,
} from "./usage/watchedCluster.ts";
import { nothing, only } from "./wholeAdvice.ts";

const limits = { backoffLimit: 6, failed: 0, onDisruption: "Count", isSuspended: false } as const;

/** A Job, or a Deployment that serves, on all eight GPUs of a node. */
interface Case {
  readonly kind?: "Job" | "serving";
  readonly boundSeconds: number;
  readonly idleSeconds: number;
  readonly checkpointSeconds?: number;
  readonly habit?: Partial<Habit>;
  readonly settings?: Partial<AdviceSettings>;
  readonly more?: Partial<ClusterState>;
  readonly waiting?: readonly Pod[];
}

function adviceOn({ kind = "Job", boundSeconds, idleSeconds, ...given }: Case): Advice {
  const bound = now - boundSeconds;
  const top: OwnerObject =
    kind === "Job"
      ? owner("Job", "train-7", null, { apiVersion: "batch/v1", job: limits, createdAt: bound })
      : deployment("chat", { labels: {}, createdAt: bound });
  const owners = kind === "Job" ? [top] : [top, replicaSet(top)];
  const above = owners.at(-1) ?? top;
  const checkpoint =
    given.checkpointSeconds === undefined
      ? {}
      : {
          annotations: {
            "fairlead.dev/checkpointed-at": new Date((now - given.checkpointSeconds) * 1000).toISOString(),
          },
        };
  const pod = gpuPod("w-0", "n1", 8, { owner: ownerRef(above), createdAt: bound, scheduledAt: bound, ...checkpoint });
  const idleSince = new Map(Array.from({ length: 8 }, (_, i) => [`n1/GPU-${i}`, now - idleSeconds]));
  const analysis = analysisAt(
    {
      nodes: [gpuNode("n1", 8)],
      owners,
      pods: [pod, ...(given.waiting ?? [])],
      telemetry: [
        pageAt(
          "n1",
          Array.from({ length: 8 }, (_, i) => physicalGpu(`GPU-${i}`, 0, "w-0")),
        ),
      ],
      ...given.more,
    },
    now,
    { idleSince },
  );
  const known = new Map<string, Habit>();
  if (given.habit !== undefined)
    known.set(kind === "Job" ? "Job/research/train" : "Deployment/research/chat", {
      firstSeenAt: now - 30 * 24 * hour,
      seenAt: now,
      hasWorked: true,
      spells: [],
      longestReturnSeconds: 0,
      ...given.habit,
    });
  const settings = { ...adviceSettings, standingCycles: 1, ...given.settings };
  return createAdviser(settings, 30, [], { known, cluster: [] }).advise(analysis);
}

/** Idle spells in minutes; work ended each of them. */
const returnedAfter = (...minutes: readonly number[]): Partial<Habit> => ({
  spells: minutes.map((one): IdleSpell => ({ seconds: one * 60, returned: true })),
  longestReturnSeconds: Math.max(...minutes) * 60,
});

/** That nothing in it could stop anything, whoever reads it. */
function expectQuestion(one: Recommendation): void {
  expect(one).toMatchObject({ act: "ask", steps: [] });
  expect(one.questions.length).toBeGreaterThan(0);
  expect(JSON.stringify(one)).not.toMatch(/kubectl|"verb"|suspend|"replicas"/);
}

const restart = (8 * 10) / 60;
/** However likely it is that it works again by itself. */
const askAnyway = { settings: { askReturnProbability: 1 } } as const;

describe("a Job of 8 GPUs that worked for 20.5 h without a checkpoint and is quiet for 44 minutes", () => {
  const boundSeconds = 20.5 * hour + 44 * 60;
  const worked: Case = { boundSeconds, idleSeconds: 44 * 60, more: { prices: account([listed()]) } };

  it("is not even asked about: nearly all work like it goes on by itself; after 44 minutes more its owner is asked", () => {
    expect(nothing(adviceOn(worked))).toContain(
      "it is likely to work again by itself (98 %); nobody is asked above 90 %",
    );
    expectQuestion(only(adviceOn({ ...worked, idleSeconds: 88 * 60 })));
  });

  it("has all of it to lose, is asked about, and saves no money", () => {
    const one = only(adviceOn({ ...worked, ...askAnyway }));
    expectQuestion(one);
    expect(one.title).toMatch(/^ask team research about 8 idle/);
    expect(one.cost.lostGpuHours).toBeGreaterThan(160);
    expect(one.cost.lostGpuHours).toBeCloseTo((8 * boundSeconds) / 3600 + restart, 6);
    expect(one.cost.isUpperBound).toBe(true);
    expect(one.effect.savingPerWeek).toEqual([]);
    expect(one.confidence.level).toBe("low");
    expect(one.effect.gainedGpuHours.worst).toBeLessThan(8 * 24 * 0.1);
    const facts = one.questions[0]?.facts.join("\n");
    expect(facts).toContain("at most 171.2 GPU-hours of work would be undone: no checkpoint is known");
    expect(facts).toContain("that time cost 58.67 USD");
    expect(facts).toContain("its habit: not known yet");
  });

  it("loses what it did since its last checkpoint where it has one", () => {
    const one = only(adviceOn({ ...worked, ...askAnyway, checkpointSeconds: 3000 }));
    expectQuestion(one);
    expect(one.cost.lostGpuHours).toBeCloseTo((8 * 3000) / 3600 + restart, 6);
    expect(one.cost.isUpperBound).toBe(false);
  });

  it("its twin, which has never done anything since it began, is to be stopped: nothing is lost", () => {
    const one = only(adviceOn({ ...worked, idleSeconds: boundSeconds }));
    expect(one).toMatchObject({ act: "do", habit: null, questions: [], cost: { isUpperBound: false } });
    expect(one.title).toMatch(/^release 8 idle/);
    expect(one.cost.lostGpuHours).toBeCloseTo(restart, 6);
    expect(one.steps[0]?.request.body).toMatchObject({ spec: { suspend: true } });
  });

  it("is not taken for work that never did anything where its first minutes were not watched", () => {
    expectQuestion(only(adviceOn({ ...worked, idleSeconds: boundSeconds - 120 })));
  });

  it("nor where work of its name was seen working before", () => {
    expectQuestion(only(adviceOn({ ...worked, idleSeconds: boundSeconds, habit: {} })));
  });
});

describe("work that serves", () => {
  const quiet = { kind: "serving", boundSeconds: 72 * hour } as const;

  it("has nothing to do again: it loses a restart, and is asked about when it has worked before", () => {
    const one = only(adviceOn({ ...quiet, idleSeconds: 30 * hour }));
    expectQuestion(one);
    expect(one.cost.lostGpuHours).toBeCloseTo(restart, 6);
    expect(one.cost.isUpperBound).toBe(false);
  });

  it("is to be scaled to zero when nobody has ever asked it anything", () => {
    const one = only(adviceOn({ ...quiet, idleSeconds: 72 * hour }));
    expect(one).toMatchObject({ act: "do", confidence: { level: "medium" } });
    expect(one.steps[0]?.request.body).toMatchObject({ spec: { replicas: 0 } });
  });

  it("is to be scaled to zero when it has been quiet for far longer than ever before", () => {
    const habit = returnedAfter(60, 120, 300, 720);
    const one = only(adviceOn({ ...quiet, idleSeconds: 30 * hour, habit }));
    expect(one.act).toBe("do");
    expect(one.actReasons).toEqual(["it has been idle for 1 d 6 h, and never came back after more than 12 h"]);
    expect(one.habit).toMatchObject({ spells: 0, basis: "published" });
  });
});

describe("a habit of coming back", () => {
  const paused = { boundSeconds: 10 * hour, checkpointSeconds: hour } as const;

  it("is waited for: work that came back every time is not named while within it", () => {
    const advice = adviceOn({ ...paused, idleSeconds: 45 * 60, habit: returnedAfter(40, 50, 55, 90) });
    expect(nothing(advice)).toContain("it came back each of the last 4 times, once after 1 h 30 min");
  });

  it("is reported when it is asked about: how often, and after how long", () => {
    const spells: IdleSpell[] = [50, 52, 53, 54, 60, 61].map((one) => ({ seconds: one * 60, returned: true }));
    const habit = { spells: [...spells, { seconds: 5 * hour, returned: false }], longestReturnSeconds: 61 * 60 };
    const one = only(adviceOn({ ...paused, ...askAnyway, idleSeconds: 45 * 60, habit }));
    expectQuestion(one);
    expect(one.habit).toMatchObject({ spells: 7, returns: 6, medianReturnSeconds: 8.5 * 60, basis: "own" });
    expect(one.reason).toContain("Its habit: came back 6 of 7 times, after 8 min.");
    // 6 of 7 of its own, and four spells' worth of what is published: 0.98.
    expect(one.habit?.returnProbability).toBeCloseTo((6 + 4 * 0.98) / 11, 3);
  });

  it("is left behind: quiet for far longer than ever before, it is to be stopped", () => {
    const one = only(adviceOn({ ...paused, idleSeconds: 5 * hour, habit: returnedAfter(20, 30, 40, 90) }));
    expect(one.act).toBe("do");
    expect(one.effect.gainedGpuHours.worst).toBeCloseTo(8 * (one.habit?.expectedIdleHours ?? 0), 6);
    expect(one.effect.gainedGpuHours.worst).toBeLessThan(8 * 24 * 0.6);
  });

  it("is not left behind where more would be lost than is expected to be gained", () => {
    const { checkpointSeconds: _none, ...since } = paused;
    const one = only(adviceOn({ ...since, idleSeconds: 5 * hour, habit: returnedAfter(20, 30, 40, 90) }));
    expectQuestion(one);
    expect(one.actReasons[0]).toContain("81.3 GPU-hours would be lost");
  });

  it("is not known before a week, nor after fewer than three returns", () => {
    const young = { ...returnedAfter(20, 30, 40, 90), firstSeenAt: now - 6 * 24 * hour };
    expectQuestion(only(adviceOn({ ...paused, idleSeconds: 5 * hour, habit: young })));
    expectQuestion(only(adviceOn({ ...paused, idleSeconds: 5 * hour, habit: returnedAfter(20, 30) })));
  });
});

describe("money", () => {
  const never = { boundSeconds: 3 * hour, idleSeconds: 3 * hour } as const;
  const waiting = [gpuPod("wants", null, 4, {})];

  it("is saved only where waiting work starts, for its GPUs and the two hours that it has waited", () => {
    const prices = account([listed()]);
    expect(only(adviceOn({ ...never, more: { prices } })).effect.savingPerWeek).toEqual([]);
    const release = adviceOn({ ...never, more: { prices }, waiting }).recommendations.find(
      ({ kind }) => kind === "release_idle",
    );
    expect(release?.effect.starts).toEqual(["research/wants"]);
    expect(release?.effect.savingPerWeek).toEqual([{ currency: "USD", amount: 4 * 10 * 2 }]);
  });
});
