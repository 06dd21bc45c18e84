import { describe, expect, it } from "vitest";
import type { AccountingEntry } from "../../../exporter/analysis/accountingEntry.ts";
import { buildDocument } from "../../../exporter/publish/document/buildDocument.ts";
import { documentSchema } from "../../../exporter/publish/document/schema.ts";
import { entriesOf } from "../../analysis/entriesOf.ts";
import { at, device, pod, smallMoment, workload } from "../moment.ts";

const gang = { id: "research/g", min: 3, bound: 3, partialSince: null };
const spins = { activity: 1, idleNow: false, stall: { since: at - 2000, unseenSince: null } };
const quiet = { activity: 0, idleNow: true, stall: null };

/** A gang of three ranks, of which the first two are counted as `state`, and another workload. */
function workloadsWhere(third: typeof spins | typeof quiet, state: AccountingEntry["state"] = "stalled") {
  const ranks = [2, 0, 1].map((rank) => pod({ namespace: "research", name: `rank-${rank}`, node: `n${rank}`, gang }));
  const pods = [...ranks, pod({ namespace: "research", name: "other", node: "n3", gang: null, workload: 1 })];
  const devices = pods.map((_, i) =>
    device({
      uuid: `GPU-${i}`,
      ...(i === 0 ? third : i === 3 ? quiet : spins),
      holders: [
        { pod: i, share: 1, source: "dcgm", estimated: false, activity: i === 0 ? third.activity : 1, idleSince: null },
      ],
    }),
  );
  const accountingEntries = entriesOf(
    [1, 2].map((i) => ({
      gpus: 1,
      state,
      node: `n${i}`,
      pool: "H100",
      device: i,
      pod: i,
      estimated: false,
    })),
  );
  const workloads = [
    workload({ namespace: "research", name: "g", gang, pods: [0, 1, 2] }),
    workload({ namespace: "research", name: "other", gang: null, pods: [3] }),
  ];
  const moment = { ...smallMoment, accountingEntries, snapshot: { ...smallMoment.snapshot, pods, devices, workloads } };
  const document = buildDocument(moment);
  expect(documentSchema.safeParse(document).error).toBeUndefined();
  return document.workloads.map(({ name, suspects }) => ({ name, suspects }));
}

describe("the suspects of a workload", () => {
  it("are the members of its stalled gang that differ, with why", () => {
    expect(workloadsWhere(quiet)).toEqual([
      { name: "g", suspects: [{ namespace: "research", pod: "rank-2", node: "n2", reason: "quiet" }] },
      { name: "other", suspects: [] },
    ]);
  });

  it("are none where nobody differs, or nothing is stalled", () => {
    expect(workloadsWhere(spins).map(({ suspects }) => suspects)).toEqual([[], []]);
    expect(workloadsWhere(quiet, "underutilized").map(({ suspects }) => suspects)).toEqual([[], []]);
  });
});
