import { describe, expect, it } from "vitest";
import { type FreedGpus, findGangsToStart } from "../../../exporter/advice/kinds/gangsToStart.ts";
import type { WaitingGang } from "../../../exporter/join/queues/queueing.ts";
import type { WaitCause } from "../../../exporter/model/waitCauses.ts";
import { part, waitingGang, waitingMoment } from "../../analysis/waiting/waitingBuilder.ts";
import { now } from "../../join/clusterBuilder.ts";
import { analysed } from "../../join/outcomes.ts";

/** One node with 8 GPUs, one of them free, and what waits for GPUs of its pool. */
function toStart(gangs: readonly WaitingGang[], causes: readonly WaitCause[] = []) {
  const analysis = analysed(waitingMoment([{ allocated: [1, 1, 1, 1, 1, 1, 1, 0] }], gangs));
  const work = gangs.map((_, gang) => ({
    gang,
    cause: causes[gang] ?? ("capacity" as const),
    ageSeconds: 600,
    isLate: null,
  }));
  return findGangsToStart({ ...analysis, waiting: { ...analysis.waiting, work } });
}

const freed = (gpus: number, queues: readonly number[] = [], pool = "H100"): FreedGpus => ({
  byPool: new Map([[pool, gpus]]),
  queues: new Set(queues),
});

const gang = (name: string, gpus: number, parts: Partial<WaitingGang> = {}): WaitingGang =>
  waitingGang([part(1, gpus)], { name, uid: name, ...parts });

describe("waiting work that freed GPUs may serve", () => {
  it("is what fits into them and what is free, by priority and then by age", () => {
    const gangs = [
      gang("young", 2, { since: now - 10 }),
      gang("old", 2, { since: now - 900 }),
      gang("urgent", 3, { priority: 5, since: now }),
      gang("too-large", 9, { priority: 9 }),
    ];
    expect(toStart(gangs)(freed(4))).toEqual([2, 1]);
  });

  it("is given to one plan only", () => {
    const give = toStart([gang("a", 4), gang("b", 4)]);
    expect([give(freed(4)), give(freed(4)), give(freed(4))]).toEqual([[0], [1], []]);
  });

  it("is not what fits already, and not what waits in other pools", () => {
    expect(toStart([gang("fits", 1)])(freed(4))).toEqual([]);
    expect(toStart([gang("a", 4)])(freed(4, [], "L4"))).toEqual([]);
  });

  it("lacks quota only where its own queue lets GPUs go", () => {
    const give = (queues: readonly number[]) => toStart([gang("a", 4)], ["quota"])(freed(4, queues));
    expect([give([]), give([1]), give([0])]).toEqual([[], [], [0]]);
  });

  it.each(["constraint", "gang", "scheduler", "unknown"] as const)("does not wait for another reason: %s", (cause) => {
    expect(toStart([gang("a", 4)], [cause])(freed(8))).toEqual([]);
  });

  it("is not what can never run", () => {
    expect(toStart([gang("paused", 4, { never: "paused" })])(freed(8))).toEqual([]);
  });
});
