import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixFinding } from "../../exporter/advice/steps/findingSteps.ts";
import type { Finding, FindingCode } from "../../exporter/analysis/lint/finding.ts";
import { findings } from "../../exporter/analysis/lint/findings.ts";
import type { Snapshot } from "../../exporter/join/snapshot.ts";
import { momentOf, stepsOf } from "../advice/steps/stepMoment.ts";
import { type AdviceSender, createAdviceSender } from "./adviceRequests.ts";
import { until } from "./kubernetesAdmin.ts";
import { type HandMadeKueue, startHandMadeKueue } from "./queues/handMadeKueue.ts";

let cluster: HandMadeKueue;
let sender: AdviceSender;

const isPreempted = async (name: string): Promise<boolean> =>
  (await cluster.conditions(name)).Evicted === "True: Preempted";
const isTried = (name: string) =>
  until(`Kueue has tried ${name}`, async () => "QuotaReserved" in (await cluster.conditions(name)));

const look = async (found: (snapshot: Snapshot) => boolean): Promise<Snapshot> => {
  await until("the snapshot has it", () => found(cluster.watcher.look().snapshot));
  const { snapshot } = cluster.watcher.look();
  // As it would be ten minutes later, if nothing had changed.
  return { ...snapshot, at: snapshot.at + 600 };
};
const waits = ({ queueing }: Snapshot, name: string): boolean =>
  queueing.gangs.some((gang) => gang.name === name && gang.reservedAt === null);
const foundIn = (snapshot: Snapshot, code: FindingCode, name: string): Finding | undefined =>
  findings(snapshot).find((finding) => finding.code === code && finding.name === name);

/** Does what fixes the finding, as an administrator would. */
async function fix(snapshot: Snapshot, finding: Finding | undefined): Promise<void> {
  if (finding === undefined) throw new Error("there is no such finding");
  for (const { title, request } of stepsOf(fixFinding(momentOf(snapshot), finding))) {
    const { status, body } = await sender.send(request, false);
    expect([title, status, status === 200 ? "" : body]).toEqual([title, 200, ""]);
  }
}

beforeAll(async () => {
  cluster = await startHandMadeKueue(3, { featureGates: { VisibilityOnDemand: false } });
  sender = await createAdviceSender(cluster.server);
}, 900_000);

afterAll(async () => {
  await sender?.close();
  await cluster?.stop();
});

describe("Kueue 0.19 under reclaimWithinCohort LowerPriority", () => {
  const preemption = { reclaimWithinCohort: "LowerPriority" };

  it("takes back nothing from equal priorities, and does once it is set as the finding says", async () => {
    await cluster.makeQueue("vision", 4, { cohortName: "equal", preemption });
    await cluster.makeQueue("ads", 4, { cohortName: "equal", preemption: { reclaimWithinCohort: "Any" } });
    await cluster.makeWorkload("ads-own", "ads", 4);
    await cluster.comes("ads-own");
    await cluster.makeWorkload("ads-more", "ads", 4);
    await cluster.comes("ads-more");
    await cluster.makeWorkload("vision-waits", "vision", 2);
    await isTried("vision-waits");
    const snapshot = await look((one) => waits(one, "vision-waits"));
    expect([await isPreempted("ads-own"), await isPreempted("ads-more")]).toEqual([false, false]);

    await fix(snapshot, foundIn(snapshot, "kueue-reclaim-no-candidates", "vision"));
    await until(
      "Kueue takes back what ads borrowed",
      async () => (await isPreempted("ads-own")) || (await isPreempted("ads-more")),
    );
  });

  it("takes back from lower priorities by itself, and nothing is found", async () => {
    await cluster.makeQueue("speech", 4, { cohortName: "several", preemption });
    await cluster.makeQueue("search", 4, { cohortName: "several" });
    await cluster.makeWorkload("search-own", "search", 4);
    await cluster.comes("search-own");
    await cluster.makeWorkload("search-more", "search", 4);
    await cluster.comes("search-more");
    const before = await look(({ queueObjects }) =>
      queueObjects.kueueWorkloads.some(({ name, admission }) => name === "search-more" && admission !== null),
    );
    expect(foundIn(before, "kueue-reclaim-no-candidates", "speech")).toBeUndefined();
    await cluster.makeWorkload("speech-waits", "speech", 2, { priority: 100 });
    await until(
      "Kueue takes back what search borrowed",
      async () => (await isPreempted("search-own")) || (await isPreempted("search-more")),
    );
  });
});

describe("Kueue 0.19 without a cohort", () => {
  it("lends nothing, and admits what waits once the queues are in the cohort that the finding asks for", async () => {
    await cluster.makeQueue("training", 4, {});
    await cluster.makeQueue("serving", 4, {});
    await cluster.makeWorkload("trains", "training", 4);
    await cluster.comes("trains");
    await cluster.makeWorkload("training-waits", "training", 2);
    await isTried("training-waits");
    const snapshot = await look((one) => waits(one, "training-waits"));
    expect(await cluster.isAdmitted("training-waits")).toBe(false);

    await fix(snapshot, foundIn(snapshot, "kueue-quota-not-shared", "training"));
    await cluster.comes("training-waits");
    expect(await cluster.isAdmitted("trains")).toBe(true);
  });
});
