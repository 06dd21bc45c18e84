import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Candidate } from "../../exporter/advice/candidate.ts";
import { findUnblockGang } from "../../exporter/advice/kinds/unblockGang.ts";
import { boostPriority } from "../../exporter/advice/steps/kueueSteps.ts";
import { createTrial } from "../../exporter/advice/whatIf/trial.ts";
import type { Snapshot } from "../../exporter/join/snapshot.ts";
import type { AdviceStep } from "../../exporter/model/recommendation.ts";
import { momentOf, stepsOf } from "../advice/steps/stepMoment.ts";
import { type AdviceSender, createAdviceSender } from "./adviceRequests.ts";
import { until } from "./kubernetesAdmin.ts";
import { type HandMadeKueue, startHandMadeKueue } from "./queues/handMadeKueue.ts";

let cluster: HandMadeKueue;
let sender: AdviceSender;

const strict = { queueingStrategy: "StrictFIFO" } as const;

/** Of what was created in the same second Kueue serves any first. */
async function nextSecond(): Promise<void> {
  const second = Math.floor(Date.now() / 1000);
  await until("the next second begins", () => Math.floor(Date.now() / 1000) > second, 5);
}

/** The cluster as it would be ten minutes later, if nothing had changed. */
const later = (snapshot: Snapshot): Snapshot => ({ ...snapshot, at: snapshot.at + 600 });

const send = async ({ title, request }: AdviceStep): Promise<void> => {
  const { status, body } = await sender.send(request, false);
  expect([title, status, status === 200 ? "" : body]).toEqual([title, 200, ""]);
};

beforeAll(async () => {
  const featureGates = { PriorityBoost: true, VisibilityOnDemand: false };
  cluster = await startHandMadeKueue(1, { featureGates }, async ({ makeQueue, makeWorkload, comes }) => {
    await makeQueue("strict", 8, strict, "main");
    await makeWorkload("runs", "main", 5);
    await comes("runs");
  });
  sender = await createAdviceSender(cluster.server);
}, 900_000);

afterAll(async () => {
  await sender?.close();
  await cluster?.stop();
});

describe("Kueue 0.19 with its feature gate PriorityBoost", () => {
  const look = async (found: (snapshot: Snapshot) => boolean): Promise<Snapshot> => {
    await until("the snapshot has it", () => found(cluster.watcher.look().snapshot));
    return cluster.watcher.look().snapshot;
  };
  const waits = ({ queueing }: Snapshot, name: string): number =>
    queueing.gangs.findIndex((gang) => gang.name === name && gang.reservedAt === null);

  it("admits what Fairlead advises to boost past the head of the queue, and lets it run on without the boost", async () => {
    await cluster.makeWorkload("head", "main", 8);
    await until("Kueue has tried the head", async () => "QuotaReserved" in (await cluster.conditions("head")));
    await nextSecond();
    await cluster.makeWorkload("small", "main", 2);
    const snapshot = await look((one) => waits(one, "head") >= 0 && waits(one, "small") >= 0);
    const moment = momentOf(later(snapshot));
    const { candidates, withheld } = findUnblockGang(moment, createTrial(moment));
    expect(withheld).toEqual([]);
    const [advice]: readonly (Candidate | undefined)[] = candidates;
    expect(advice?.title).toBe("boost the priority of research/small (2 GPUs) past research/head: then it starts");
    const [on, off] = advice?.steps ?? [];
    if (on === undefined || off === undefined) throw new Error("no steps");
    expect([await cluster.isAdmitted("small"), await cluster.isAdmitted("head")]).toEqual([false, false]);

    await send(on);
    await cluster.comes("small");
    expect(await cluster.isAdmitted("head")).toBe(false);
    const boosted = await look((one) => waits(one, "small") < 0);
    expect(boosted.queueObjects.kueueWorkloads.find(({ name }) => name === "small")?.priorityBoost).toBe(1);

    await send(off);
    await look(({ queueObjects }) =>
      queueObjects.kueueWorkloads.every((one) => one.name !== "small" || one.priorityBoost === undefined),
    );
    expect([
      await cluster.isAdmitted("small"),
      await cluster.isAdmitted("head"),
      await cluster.isAdmitted("runs"),
    ]).toEqual([true, false, true]);
  });

  it("refuses a boost that is no number: so the gate is seen", async () => {
    await cluster.makeWorkload("probe", "main", 1);
    const snapshot = await look((one) => waits(one, "probe") >= 0);
    const [on] = stepsOf(boostPriority(momentOf(snapshot), waits(snapshot, "probe"), 1));
    if (on === undefined) throw new Error("no step");
    const body = JSON.parse(JSON.stringify(on.request.body).replace(':"1"', ':"x"'));
    const answer = await sender.send({ ...on.request, body }, true);
    expect(answer.status).toBe(403);
    expect(JSON.stringify(answer.body)).toContain("must be a valid signed integer");
    expect((await sender.send(on.request, true)).status).toBe(200);
  });

  it("preempts equal work for what is boosted, where its queue preempts at all: so Fairlead does not advise it there", async () => {
    await cluster.makeQueue(
      "preempting",
      8,
      { ...strict, preemption: { withinClusterQueue: "LowerPriority" } },
      "other",
    );
    await cluster.makeWorkload("equal", "other", 6);
    await cluster.comes("equal");
    await cluster.makeWorkload("first", "other", 8);
    await nextSecond();
    await cluster.makeWorkload("second", "other", 2);
    const snapshot = await look((one) => waits(one, "first") >= 0 && waits(one, "second") >= 0);
    const moment = momentOf(later(snapshot));
    const { withheld } = findUnblockGang(moment, createTrial(moment));
    expect(withheld.find(({ subject }) => subject === "preempting")).toMatchObject({
      why: "guard",
      reason: expect.stringContaining("could preempt research/equal"),
    });
    const [on] = stepsOf(boostPriority(moment, waits(snapshot, "first"), 1));
    if (on === undefined) throw new Error("no step");
    await send(on);
    await until(
      "Kueue preempts its equal",
      async () => (await cluster.conditions("equal")).Evicted === "True: Preempted",
    );
  });
});
