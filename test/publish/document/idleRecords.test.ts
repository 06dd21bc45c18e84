import { describe, expect, it } from "vitest";
import { buildDocument } from "../../../exporter/publish/document/buildDocument.ts";
import { idleRecords } from "../../../exporter/publish/document/idleRecords.ts";
import { documentSchema } from "../../../exporter/publish/document/schema.ts";
import { entriesOf } from "../../analysis/entriesOf.ts";
import { type IdlePart, idleMoment } from "../idleMoment.ts";
import { smallMoment } from "../moment.ts";

const dollars = { currency: "USD", perGpuHour: 3 };
const a100: IdlePart = { team: "ads", name: "notebook", model: "A100", gpus: 1, seconds: 86_400, price: dollars };
const day = "2026-11-20T04:00:00.000Z";

describe("the idle GPUs of a workload", () => {
  it("are added up by model, with the time since when all of them have been idle, and their cost", () => {
    const found = idleRecords(
      idleMoment([a100, { ...a100, seconds: 172_800 }, { ...a100, model: "H100", gpus: 0.5, seconds: 3600 }]),
    );
    expect(found.get(0)).toEqual([
      {
        model: "A100",
        reason: "no-activity",
        gpus: 2,
        since: day,
        costs: [{ currency: "USD", perHour: 6 }],
        unpricedGpus: 0,
      },
      {
        model: "H100",
        reason: "no-activity",
        gpus: 0.5,
        since: "2026-11-21T03:00:00.000Z",
        costs: [{ currency: "USD", perHour: 1.5 }],
        unpricedGpus: 0,
      },
    ]);
  });

  it("are apart by the reason for which they are idle, with the time since when no request came", () => {
    const idle = idleMoment([a100, { ...a100, gpus: 2 }]);
    const [pod, server] = idle.snapshot.pods;
    const view = {
      page: 1,
      servers: ["vllm" as const],
      running: 0,
      waiting: 0,
      finished: 5,
      noRequestsSince: idle.snapshot.at - 10_800,
      isAsleep: false,
      served: null,
    };
    if (pod === undefined || server === undefined) throw new Error("two pods");
    const pods = [pod, { ...server, workloadClass: "serving" as const }];
    const accountingEntries = entriesOf(
      idle.accountingEntries.list.map((entry) =>
        entry.pod === 1 ? { ...entry, idleReason: "no-requests" as const } : entry,
      ),
    );
    const snapshot = { ...idle.snapshot, pods, serving: new Map([[1, view]]) };
    expect(idleRecords({ ...idle, snapshot, accountingEntries }).get(0)).toMatchObject([
      { reason: "no-activity", gpus: 1, since: day },
      { reason: "no-requests", gpus: 2, since: "2026-11-21T01:00:00.000Z" },
    ]);
  });

  it("are without those whose device is estimated, and without those that are not idle", () => {
    const { workloads, teams } = buildDocument(
      idleMoment([
        { ...a100, estimated: true },
        { ...a100, state: "active" },
      ]),
    );
    expect(workloads.map(({ idle }) => idle)).toEqual([[]]);
    expect(teams[0]?.states.idle).toBe(1);
  });

  it("do not answer for what their device did before the pod had it", () => {
    const since = (part: Partial<IdlePart>) => idleRecords(idleMoment([{ ...a100, ...part }])).get(0)?.[0]?.since;
    expect(since({ seconds: 500_000, boundSeconds: 86_400 })).toBe(day);
    // A clock that is ahead of ours binds nothing in the future.
    expect(since({ boundSeconds: -3600 })).toBe("2026-11-21T04:00:00.000Z");
  });

  it("have no cost where nobody knows a price, and never one sum of several currencies", () => {
    const { price: _, ...unpriced } = a100;
    const euros = { ...a100, price: { currency: "EUR", perGpuHour: 2 } };
    expect(idleRecords(idleMoment([unpriced])).get(0)).toMatchObject([{ costs: [], unpricedGpus: 1 }]);
    expect(idleRecords(idleMoment([a100, euros, unpriced])).get(0)).toMatchObject([
      {
        gpus: 3,
        costs: [
          { currency: "EUR", perHour: 2 },
          { currency: "USD", perHour: 3 },
        ],
        unpricedGpus: 1,
      },
    ]);
  });

  it("are in the document as its schema says, and empty where nothing is idle", () => {
    const document = buildDocument(idleMoment([a100]));
    expect(documentSchema.parse(JSON.parse(JSON.stringify(document)))).toEqual(document);
    expect(buildDocument(smallMoment).workloads.map(({ idle }) => idle)).toEqual([[], [], []]);
  });
});
