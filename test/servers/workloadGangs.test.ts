import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { adviseOnce } from "../../exporter/advice/adviser.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import type { Pod } from "../../exporter/model/pod.ts";
import { buildFamilies } from "../../exporter/publish/families.ts";
import { statesOf } from "../join/outcomes.ts";
import { health } from "../publish/moment.ts";
import { until } from "./kubernetesAdmin.ts";
import { installedInTime } from "./program.ts";
import { rewrite } from "./queues/rewrite.ts";
import { startWorkloadCluster, type WorkloadCluster } from "./workloadCluster.ts";

const assets = await installedInTime("install-workload-controllers.sh");
const sets = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets";
const jobSets = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets";
const pods = "/api/v1/namespaces/default/pods";
const aSet = z.looseObject({
  spec: z.looseObject({ leaderWorkerTemplate: z.looseObject({ workerTemplate: z.looseObject({}) }) }),
});
const aPod = z.looseObject({ status: z.looseObject({}) });
const advice = configSchema.parse({}).advice;

let cluster: WorkloadCluster;

/** The specification of pods of one GPU; `version` makes it another one. */
const podSpec = (version: string) => ({
  containers: [
    {
      name: "main",
      image: "none",
      env: [{ name: "V", value: version }],
      resources: { limits: { "nvidia.com/gpu": 1 } },
    },
  ],
});

const membersOf = (name: string): readonly Pod[] => cluster.read().filter((pod) => pod.name.startsWith(`${name}-`));
const areWhole = (name: string): boolean =>
  membersOf(name).filter(({ phase, isEnding }) => phase === "Running" && isEnding === undefined).length === 4 &&
  membersOf(name).length === 4;
const uidsOf = (name: string): string =>
  membersOf(name)
    .map(({ uid }) => uid)
    .sort()
    .join();
const brokenGpus = (analysis: Analysis): number | undefined =>
  buildFamilies({ analysis, health: health(), limits: { teams: 1000, series: 50_000 } })
    .families.find(({ name }) => name === "fairlead_team_broken_gang_gpus")
    ?.series.reduce((sum, { value }) => sum + value, 0);

/** Kubernetes says in whole seconds when a pod was made. */
const nextSecond = (): Promise<void> => sleep(1100);

/** Removes a member for good: no replacement finds a place until `uncordon`. */
async function kill(pod: Pod | undefined): Promise<void> {
  if (pod === undefined) throw new Error("there is no such member");
  await cluster.cordon(true);
  await cluster.admin.send("DELETE", `${pods}/${pod.name}?gracePeriodSeconds=0`);
}

/** The cycles until a condition holds in which any gang has lost a member: none, where Kubernetes does what it was asked to do. */
async function lossesUntil(what: string, holds: () => boolean): Promise<readonly object[]> {
  const losses: object[] = [];
  await until(what, async () => {
    losses.push(...cluster.cycle().waiting.partialGangs.filter(({ hasLostMember }) => hasLostMember));
    await sleep(20);
    return holds();
  });
  return losses;
}

/** All that an administrator sees in the first cycle after a member is gone for good. */
async function expectShown(owner: string, name: string): Promise<void> {
  await until("the replacement waits", () => membersOf(name).some(({ unschedulable }) => unschedulable !== undefined));
  const analysis = cluster.cycle();
  expect(statesOf(analysis.snapshot).gang_wait).toBe(3);
  expect(analysis.waiting.partialGangs).toMatchObject([
    { owner, bound: 3, min: 4, allocatedGpus: 3, hasLostMember: true, team: "default" },
  ]);
  expect(analysis.waiting.work).toMatchObject([{ cause: "gang", hasRoomForSome: true }]);
  expect(brokenGpus(analysis)).toBe(3);
  const { recommendations } = adviseOnce(analysis, advice, 30);
  const found = recommendations.find(({ kind }) => kind === "unblock_gang");
  expect(found?.title).toContain(`ask team default to restart ${owner} whole, from its last checkpoint`);
  expect(found?.evidence.map((fact) => fact.name)).toContain("GPU-hours held since");
  await cluster.cordon(false);
  await until("it is whole again", () => areWhole(name));
  expect(cluster.cycle().waiting.partialGangs).toEqual([]);
  await nextSecond();
}

/** Of four members three have room: the fourth waits as a gang does; then all run. */
async function expectGangCause(name: string): Promise<void> {
  await cluster.occupy();
  await until("three members are bound, one waits", () => {
    const there = membersOf(name);
    const waiting = there.filter(({ nodeName, unschedulable }) => nodeName === null && unschedulable !== undefined);
    return there.length === 4 && waiting.length === 1;
  });
  await until("the owners of its members are read", () => {
    return cluster.cycle().snapshot.pods.filter(({ gang }) => gang?.min === 4).length === 4;
  });
  expect(cluster.cycle().waiting.work).toMatchObject([{ cause: "gang", hasRoomForSome: true }]);
  await cluster.leave();
  await until("all members run", () => areWhole(name));
}

describe.skipIf(assets === undefined)("gangs that real controllers make", () => {
  beforeAll(async () => {
    cluster = await startWorkloadCluster(assets ?? "");
  }, 300_000);

  afterAll(async () => {
    await cluster?.stop();
  });

  describe("a LeaderWorkerSet", () => {
    const spec = (restartPolicy: string, version: string) => ({
      replicas: 1,
      leaderWorkerTemplate: { size: 4, restartPolicy, workerTemplate: { spec: podSpec(version) } },
    });

    it("with room for three of four waits as a gang", async () => {
      const object = {
        apiVersion: "leaderworkerset.x-k8s.io/v1",
        kind: "LeaderWorkerSet",
        metadata: { name: "serve" },
        spec: spec("None", "1"),
      };
      // Its webhook may not be up yet.
      const create = () =>
        cluster.admin.send("POST", sets, object).then(
          () => true,
          () => false,
        );
      await cluster.occupy();
      await until("the LeaderWorkerSet is taken", create);
      await expectGangCause("serve");
    });

    it("that has lost a member for good is shown in the next cycle", async () => {
      expect(cluster.cycle().waiting.partialGangs).toEqual([]);
      await kill(membersOf("serve").find(({ name }) => name === "serve-0-2"));
      await expectShown("LeaderWorkerSet default/serve", "serve");
    });

    it("is not broken while it is rolled, nor while a group is made anew", async () => {
      const before = uidsOf("serve");
      await rewrite(cluster.admin, `${sets}/serve`, aSet, (object) => ({
        ...object,
        spec: { ...object.spec, ...spec("RecreateGroupOnPodRestart", "2") },
      }));
      const isNew = (than: string) => () =>
        areWhole("serve") && !membersOf("serve").some(({ uid }) => than.includes(uid));
      expect(await lossesUntil("it is rolled", isNew(before))).toEqual([]);
      const rolled = uidsOf("serve");
      await nextSecond();
      const [first] = membersOf("serve").filter(({ name }) => name === "serve-0-1");
      // Removed by force, it would be gone before the controller sees that it is being deleted.
      await cluster.admin.send("DELETE", `${pods}/${first?.name}`);
      expect(await lossesUntil("its group is made anew", isNew(rolled))).toEqual([]);
      await cluster.admin.send("DELETE", `${sets}/serve`);
      await until("it is gone", () => membersOf("serve").length === 0);
    });
  });

  describe("a JobSet", () => {
    const object = (name: string, backoffLimit: number) => ({
      apiVersion: "jobset.x-k8s.io/v1alpha2",
      kind: "JobSet",
      metadata: { name },
      spec: {
        failurePolicy: { maxRestarts: 3 },
        replicatedJobs: ["a", "b"].map((job) => ({
          name: job,
          replicas: 1,
          template: {
            spec: {
              parallelism: 2,
              completions: 2,
              completionMode: "Indexed",
              backoffLimit,
              template: { spec: { ...podSpec("1"), restartPolicy: "Never" } },
            },
          },
        })),
      },
    });

    it("with room for three of four waits as a gang", async () => {
      await cluster.occupy();
      await cluster.admin.send("POST", jobSets, object("train", 6));
      await expectGangCause("train");
    });

    it("that has lost a member for good is shown in the next cycle", async () => {
      expect(cluster.cycle().waiting.partialGangs).toEqual([]);
      await kill(membersOf("train")[0]);
      await expectShown("JobSet default/train", "train");
    });

    it("is not broken once a member has succeeded", async () => {
      const [done] = membersOf("train");
      const found = aPod.parse(await cluster.admin.send("GET", `${pods}/${done?.name}`));
      const status = { ...found.status, phase: "Succeeded" };
      await cluster.admin.send("PUT", `${pods}/${done?.name}/status`, { ...found, status });
      const hasSucceeded = () => membersOf("train").some(({ phase }) => phase === "Succeeded");
      expect(await lossesUntil("a member has succeeded", hasSucceeded)).toEqual([]);
      await sleep(1000);
      expect(await lossesUntil("a second later", () => true)).toEqual([]);
      await cluster.admin.send("DELETE", `${jobSets}/train`);
      await until("it is gone", () => membersOf("train").length === 0);
    });

    it("is not broken while it is restarted whole", async () => {
      await cluster.admin.send("POST", jobSets, object("again", 0));
      await until("all members run", () => areWhole("again"));
      expect(cluster.cycle().waiting.partialGangs).toEqual([]);
      const before = uidsOf("again");
      await nextSecond();
      const [failed] = membersOf("again");
      const found = aPod.parse(await cluster.admin.send("GET", `${pods}/${failed?.name}`));
      await cluster.admin.send("PUT", `${pods}/${failed?.name}/status`, {
        ...found,
        status: { ...found.status, phase: "Failed" },
      });
      const isNew = () => areWhole("again") && !membersOf("again").some(({ uid }) => before.includes(uid));
      expect(await lossesUntil("all are made anew", isNew)).toEqual([]);
    });
  });
});
