import { describe, expect, it } from "vitest";
import type { MemoryPlay } from "../../../cli/demo/playInMemory.ts";
import {
  type AdviceKind,
  adviceKinds,
  type Recommendation,
  type Undone,
} from "../../../exporter/model/recommendation.ts";
import type { WorkloadSpec } from "../../../simulator/scenario.ts";
import { lasting } from "../../../simulator/scenarios/advice/parts.ts";
import { workloadOf } from "../../../simulator/scenarios/parts.ts";
import type { Truth } from "../../../simulator/truth.ts";
import { adviceScenarios } from "../../simulator/scenarios/advice/byKind.ts";
import { type ClosedLoop, closeLoop, type LoopOptions, type TakenPlan } from "./closedLoop.ts";
import { nameIn, trulyAllocated, trulyAllocatedOn, trulyGone, trulyLostOf, trulyWaiting } from "./trueEffect.ts";

const seed = 101;
const hour = 3600;
const tolerance = 1e-6;
const restartHours = 10 / 60;

/** Physical GPUs that the plan has really gained at the end, by the simulator's own word. */
type TrueGain = (loop: ClosedLoop) => number;

const started: TrueGain = ({ offered, after }) =>
  offered.effect.starts.reduce((sum, work) => sum + trulyAllocated(after, work), 0);

const released: TrueGain = ({ offered, before, after }) =>
  offered.targets
    .map(nameIn)
    .reduce((sum, work) => sum + Math.max(0, trulyAllocated(before, work) - trulyAllocated(after, work)), 0);

/** A plan that turns out badly, and what Fairlead must then say about it. */
interface BadCase extends Pick<LoopOptions, "interval" | "openWithin" | "advice"> {
  readonly name: string;
  readonly kind: AdviceKind;
  readonly spoil: NonNullable<LoopOptions["spoil"]>;
  readonly how: Undone["how"];
  readonly trueGain: TrueGain;
  /** That it really turned out badly. */
  readonly isBad: (loop: ClosedLoop) => void;
}

const api = async (play: MemoryPlay, request: Parameters<MemoryPlay["write"]>[0]): Promise<void> => {
  const { code, message } = await play.write(request);
  expect(code, `${request.path}: ${message}`).toBeLessThan(300);
};

const podsOf = ({ physicalGpus }: Truth, work: string): readonly string[] =>
  physicalGpus
    .flatMap((physicalGpu) => physicalGpu.holders)
    .map(({ namespace, pod }) => `${namespace}/${pod}`)
    .filter((pod) => pod.startsWith(`${work}-`));

/** The Deployment of a pod (`Pod namespace/name-HASH-SUFFIX`) that a plan moved. */
const movedWork = ({ targets }: Recommendation): string => nameIn(targets[0] ?? "").replace(/-[^-]+-[^-]+$/, "");

/** Evicts a pod through the Eviction API; controllers take the others of a gang by themselves. */
async function evict(play: MemoryPlay, found: string | undefined): Promise<void> {
  const [namespace = "", pod = ""] = found?.split("/") ?? [];
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}/eviction`;
  const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { namespace, name: pod } };
  await api(play, { verb: "POST", path, contentType: "application/json", body });
}

/** Lets nobody in any more: what is evicted then waits. */
async function cordonAll(play: MemoryPlay): Promise<void> {
  for (const { name } of play.cluster.truth().nodes) {
    const path = `/api/v1/nodes/${name}`;
    const body = { spec: { unschedulable: true } };
    await api(play, { verb: "PATCH", path, contentType: "application/merge-patch+json", body });
  }
}

async function evictStarted({ play, offered }: TakenPlan): Promise<void> {
  await evict(play, podsOf(play.cluster.truth(), offered.effect.starts[0] ?? "")[0]);
}

/** What had started began anew, and does its work again. */
function beganAgain({ offered, before, after }: ClosedLoop): void {
  const [work = ""] = offered.effect.starts;
  expect(trulyLostOf([work], before, after), `${work} lost work`).toBeGreaterThan(0);
}

/** All that the plan had released wants what it had again, and has it unless others were faster. */
function wantsAgain({ offered, before, after }: ClosedLoop): void {
  for (const work of offered.targets.map(nameIn)) {
    const waiting = after.pending.filter((one) => `${one.namespace}/${one.workload}` === work);
    const wanted = trulyAllocated(after, work) + waiting.reduce((sum, { gpus }) => sum + (gpus ?? 0), 0);
    expect(wanted, `${work} wants what it held`).toBeCloseTo(trulyAllocated(before, work), 6);
  }
}

/** Nobody was stopped by it, but the next work waits as before. */
const isWrittenBack = ({ play, offered }: ClosedLoop): void =>
  expect(play.cluster.requests().length).toBeGreaterThan(offered.steps.length);

const short = { interval: 60, openWithin: 4 * hour };
const long = { interval: 600, openWithin: 30 * hour };
const preempted = {
  name: "what it let start is evicted",
  how: "evicted-again",
  trueGain: started,
  isBad: beganAgain,
  spoil: evictStarted,
} as const;
const undo = ({ undo }: TakenPlan) => undo();
const takenBack = { name: "the change is taken back", how: "changed-back", spoil: undo } as const;

const bad: readonly BadCase[] = [
  { kind: "reclaim", ...short, ...preempted, advice: { disabledKinds: ["fix_scheduler"] } },
  { kind: "defragment", ...short, ...preempted },
  {
    kind: "defragment",
    name: "a pod that it moved is evicted once more",
    ...short,
    how: "evicted-again",
    trueGain: started,
    async spoil({ play, offered, before }) {
      await cordonAll(play);
      const work = movedWork(offered);
      const old = new Set(podsOf(before, work));
      const moved = podsOf(play.cluster.truth(), work).filter((pod) => !old.has(pod));
      expect(moved).toHaveLength(1);
      await evict(play, moved[0]);
    },
    isBad: ({ offered, after }) => expect(trulyWaiting(after)).toContain(movedWork(offered)),
  },
  {
    kind: "release_idle",
    name: "its owner starts it again",
    ...short,
    spoil: undo,
    how: "came-back",
    trueGain: released,
    isBad: wantsAgain,
  },
  {
    kind: "scale_in",
    name: "the nodes are needed again",
    ...short,
    // Someone needs all of the pool, whose autoscaler gets the machines back.
    spoil: ({ play }) => play.cluster.submit("quarter", quarterReport()),
    how: "came-back",
    trueGain: ({ before, after }) => trulyGone(namesOf(before), before, after),
    isBad: ({ after }) => expect(trulyAllocated(after, "reports/quarter")).toBeGreaterThan(0),
  },
  { kind: "change_quota", ...short, ...takenBack, trueGain: started, isBad: isWrittenBack },
  { kind: "share_gpu", ...long, ...takenBack, trueGain: released, isBad: wantsAgain },
  { kind: "right_size", ...long, ...takenBack, trueGain: released, isBad: wantsAgain },
  {
    kind: "unblock_gang",
    ...short,
    ...preempted,
    async spoil(taken) {
      await cordonAll(taken.play);
      await evictStarted(taken);
    },
    isBad: ({ offered, after }) => expect(trulyWaiting(after)).toContain(offered.effect.starts[0]),
  },
  {
    kind: "drain_node",
    name: "someone lets pods onto the node before its GPU is reset",
    ...short,
    spoil: undo,
    how: "came-back",
    trueGain: () => 0,
    isBad: ({ offered, after }) => {
      const node = after.nodes.find(({ name }) => name === offered.beneficiary.name);
      expect(node?.schedulable).toBe(true);
      expect(after.physicalGpus.some((one) => one.node === node?.name && !one.healthy)).toBe(true);
    },
  },
  { kind: "fix_scheduler", ...short, ...takenBack, trueGain: started, isBad: isWrittenBack },
  {
    kind: "fix_source",
    name: "the exporter fails again",
    ...short,
    spoil: ({ play, offered }) =>
      void play.cluster.fault({ kind: "exporter-empty", target: { node: offered.beneficiary.name } }),
    how: "came-back",
    trueGain: () => 0,
    isBad: ({ offered, after }) => expect(trulyAllocatedOn(after, offered.beneficiary.name)).toBeGreaterThan(0),
  },
];

/** Work that fills the pool of the scenario of `scale_in`. */
function quarterReport(): WorkloadSpec {
  const busy = { kind: "steady", level: 0.9 } as const;
  return workloadOf("PyTorchJob", "reports", 6, { kind: "physicalGpus", count: 8 }, busy, { models: ["A100"] });
}

const namesOf = ({ nodes }: Truth): readonly string[] => nodes.map(({ name }) => name);

describe("advice that turns out badly", () => {
  it("is played for every kind", () => {
    expect(new Set(bad.map(({ kind }) => kind))).toEqual(new Set(adviceKinds));
  });

  it.each(bad)("is reported as it really was: $kind, $name", async ({ how, trueGain, isBad, ...options }) => {
    const { kind, interval } = options;
    await closeLoop({ ...options, seed, scenario: adviceScenarios[kind]() }, (loop) => {
      const { offered, ended, before, after } = loop;
      isBad(loop);
      expect(ended.measured, ended.title).toMatchObject({ isFinal: true, undone: { how } });
      expect(ended.measured?.gainedGpus, ended.title).toBeCloseTo(trueGain(loop), 6);
      expect(ended.measured?.undone?.at ?? Number.NaN).toBeGreaterThan(ended.closedAt ?? Number.NaN);
      const works = [...offered.targets.map(nameIn), ...offered.effect.starts];
      const lost = trulyLostOf(works, before, after);
      const reported = ended.measured?.lostGpuHours ?? Number.NaN;
      // Called later than it was, by two cycles, and with the time of a restart; of what was evicted twice both.
      const gpus = works.reduce(
        (sum, work) => sum + Math.max(trulyAllocated(before, work), trulyAllocated(after, work)),
        0,
      );
      const late = gpus * 2 * (restartHours + (2 * interval) / hour);
      expect(reported, ended.title).toBeGreaterThanOrEqual(lost - tolerance);
      expect(reported, ended.title).toBeLessThanOrEqual(lost + late + tolerance);
    });
  });

  it("is reported also hours later: the gain was there, and then the work came back", async () => {
    const scenario = adviceScenarios.release_idle();
    const spoilAfter = 3 * hour;
    const rarely = { interval: 600, openWithin: 4 * hour };
    await closeLoop({ kind: "release_idle", ...rarely, seed, scenario, spoil: undo, spoilAfter }, (loop) => {
      const { offered, ended, before, spoiltAt } = loop;
      wantsAgain(loop);
      const gpus = offered.targets.map(nameIn).reduce((sum, work) => sum + trulyAllocated(before, work), 0);
      expect(ended.measured).toMatchObject({ gainedGpus: gpus, isFinal: true, undone: { how: "came-back", gpus } });
      const seenAfter = (ended.measured?.undone?.at ?? Number.NaN) - (spoiltAt ?? Number.NaN);
      expect(seenAfter).toBeGreaterThan(0);
      expect(seenAfter).toBeLessThanOrEqual(rarely.interval);
    });
  });

  it("is reported when the owner comes back by himself and finds his work stopped", async () => {
    const used = { kind: "sessions", level: 0.6, usedSeconds: null } as const;
    const notebook = workloadOf("Notebook", "notebooks", 1, { kind: "physicalGpus", count: 2 }, used);
    const scenario = { ...adviceScenarios.release_idle(), habits: [lasting("explore", notebook, 8)] };
    const until = ({ foundStopped }: Truth): boolean => foundStopped.length > 0;
    const rarely = { interval: 300, openWithin: 12 * hour, until };
    await closeLoop({ kind: "release_idle", ...rarely, seed, scenario }, (loop) => {
      const { offered, ended, after } = loop;
      const [back] = after.foundStopped;
      expect(`${back?.namespace}/${back?.name}`).toBe(nameIn(offered.targets[0] ?? ""));
      expect(ended.measured?.undone, ended.title).toMatchObject({ how: "came-back", gpus: 2 });
      const late = (ended.measured?.undone?.at ?? Number.NaN) - (back?.at ?? Number.NaN);
      expect(late).toBeGreaterThanOrEqual(0);
      expect(late).toBeLessThanOrEqual(rarely.interval);
    });
  });
});
