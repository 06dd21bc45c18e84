import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AccountingEntry } from "../../../exporter/analysis/accountingEntry.ts";
import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import type { WaitingGang } from "../../../exporter/join/queues/queueing.ts";
import type { WaitCause } from "../../../exporter/model/waitCauses.ts";
import { buildFamilies } from "../../../exporter/publish/families.ts";
import { renderPage } from "../../../exporter/publish/prometheus/render.ts";
import { entriesOf } from "../../analysis/entriesOf.ts";
import { gangView, queueView, quotaDomain } from "../../queues/queueView.ts";
import { health, hostileNames, node, pod, smallMoment, workload } from "../moment.ts";
import { blockedWork } from "../placementMoment.ts";
import { readPage } from "../readPage.ts";

/** The series of one metric in the order of the page: its labels but for the cluster, then the value. */
function samplesOf(analysis: Analysis, name: string): readonly string[] {
  const { families } = buildFamilies({ analysis, health: health(), limits: { teams: 1000, series: 50_000 } });
  const family = families.find((one) => one.name === name);
  return (family?.series ?? []).map(({ labelValues, value }) => `${labelValues.slice(1).join(" ")} ${value}`);
}

/** Waiting gangs, in the order in which queue `q` serves them; those of no queue wait beside it. */
function waitingMoment(gangs: readonly (Partial<WaitingGang> & { readonly cause: WaitCause })[]): Analysis {
  const { snapshot } = smallMoment;
  const inQueue = gangs.flatMap(({ queue }, i) => (queue === "q" ? [i] : []));
  const part = { domain: 0, pods: 1, createdPods: 1, gpusPerPod: 1 };
  const needs = { requests: {}, nodeSelector: {}, nodeAffinity: [], tolerations: [] };
  return {
    ...smallMoment,
    snapshot: {
      ...snapshot,
      queueing: {
        ...snapshot.queueing,
        domains: [quotaDomain()],
        queues: [queueView({ name: "q", gangs: inQueue.toReversed() })],
        gangs: gangs.map(({ cause: _, ...values }) =>
          gangView({ parts: [{ ...part, needs, queue: values.queue === "q" ? 0 : null }], ...values }),
        ),
      },
    },
    waiting: {
      ...smallMoment.waiting,
      work: gangs.map(({ cause }, gang) => ({ gang, cause, ageSeconds: 60, isLate: null })),
    },
  };
}

describe("the head of a queue", () => {
  test("is the gang that the queue serves first, of each team and cause; what no queue takes has one, too", () => {
    const heads = waitingMoment([
      { queue: "q", team: "search", namespace: "search", name: "huge", gpus: 64, cause: "scheduler" },
      { queue: "q", team: "search", namespace: "search", name: "other", gpus: 4, cause: "capacity" },
      { queue: "q", team: "search", namespace: "search", name: "first", gpus: 8, cause: "scheduler" },
      { queue: "q", team: "ads", namespace: "ads", name: "ads", gpus: 2, cause: "scheduler" },
      { queue: "q", team: "ads", namespace: "ads", name: "unknown", gpus: null, cause: "gang" },
      { queue: null, team: "lab", namespace: "lab", name: "bare", gpus: 1, cause: "capacity" },
    ]);
    expect(samplesOf(heads, "fairlead_queue_head_gpus")).toEqual([
      "q search H100 scheduler search Job/first 8",
      "q search H100 capacity search Job/other 4",
      "q ads H100 scheduler ads Job/ads 2",
      " lab H100 capacity lab Job/bare 1",
    ]);
  });

  test("is nobody where nothing waits", () => {
    expect(samplesOf(waitingMoment([]), "fairlead_queue_head_gpus")).toEqual([]);
  });
});

test("blocked workloads: the three that need most of each pool and blocker; not those that were blocked a moment ago", () => {
  const gangs = [3, 5, 1, 4, 9].map((gpus) => ({ name: `job-${gpus}`, gpus, queue: null, cause: "quota" as const }));
  const work = gangs.map(({ gpus }, gang) =>
    blockedWork({ gang, gpus, pools: gpus === 4 ? ["L4", "H100"] : ["L4"], isStanding: gpus !== 9 }),
  );
  const analysis = {
    ...waitingMoment(gangs),
    blocked: { work: [...work, blockedWork({ gang: 1, gpus: 5, pools: ["L4"] })], since: new Map() },
  };
  expect(samplesOf(analysis, "fairlead_blocked_workload_gpus")).toEqual([
    "L4 cpu research Job/job-5 10",
    "H100 cpu research Job/job-4 4",
    "L4 cpu research Job/job-3 3",
    "L4 cpu research Job/job-1 1",
  ]);
});

/** Workloads of the team `ads`, each with pods that hold GPUs in a state. */
function holdingMoment(held: readonly (readonly [name: string, state: AccountingEntry["state"], gpus: number])[]) {
  const entry = { node: "h100-01", pool: "H100", device: null, estimated: false };
  return {
    ...smallMoment,
    snapshot: {
      ...smallMoment.snapshot,
      pods: held.map((_, i) => pod({ workload: i })),
      workloads: held.map(([name], i) => workload({ name, pods: [i] })),
    },
    accountingEntries: entriesOf(held.map(([, state, gpus], i) => ({ ...entry, state, gpus, pod: i }))),
  } satisfies Analysis;
}

describe("idle workloads", () => {
  test("are the three that hold most idle GPUs of a team and pool; what works has no series", () => {
    const analysis = holdingMoment([
      ["notebook", "idle", 2],
      ["train", "active", 64],
      ["small", "idle", 0.5],
      ["big", "idle", 8],
      ["big", "idle", 8],
      ["tiny", "idle", 0.25],
    ]);
    expect(samplesOf(analysis, "fairlead_idle_workload_gpus")).toEqual([
      "ads H100 ads Job/big 16",
      "ads H100 ads Job/notebook 2",
      "ads H100 ads Job/small 0.5",
    ]);
  });

  test("never more than three of a team and pool, and these are the largest", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 64 }), { maxLength: 30 }), (amounts) => {
        const held = amounts.map((gpus, i) => [`job-${i}`, "idle", gpus] as const);
        const shown = samplesOf(holdingMoment(held), "fairlead_idle_workload_gpus").map((text) =>
          Number(text.split(" ").at(-1)),
        );
        expect(shown).toEqual([...amounts].sort((a, b) => b - a).slice(0, 3));
      }),
      { numRuns: 30 },
    );
  });
});

describe("lost nodes", () => {
  const lost = (names: readonly string[], nodePool = "train"): Analysis => ({
    ...smallMoment,
    snapshot: {
      ...smallMoment.snapshot,
      nodes: [
        node({ name: "ready" }),
        node({ name: "unread", ready: null }),
        ...names.map((name) => node({ name, nodePool, ready: false, physicalGpus: 8, devices: [] })),
        node({ name: "uncounted", nodePool, ready: false, physicalGpus: null }),
      ],
    },
  });

  test("are three of each node pool, always the same of equals; nodes that are ready or not known are none", () => {
    const same = ["train a 8", "train b 8", "train c 8"];
    expect(samplesOf(lost(["d", "b", "a", "c"]), "fairlead_lost_node_gpus")).toEqual(same);
    expect(samplesOf(lost(["c", "a", "d", "b"]), "fairlead_lost_node_gpus")).toEqual(same);
    expect(samplesOf(lost([], ""), "fairlead_lost_node_gpus")).toEqual([]);
  });

  test("are at most 500, however many node pools there are", () => {
    const { snapshot } = smallMoment;
    const nodes = Array.from({ length: 700 }, (_, i) =>
      node({ name: `n${i}`, nodePool: `p${i}`, ready: false, devices: [] }),
    );
    expect(samplesOf({ ...smallMoment, snapshot: { ...snapshot, nodes } }, "fairlead_lost_node_gpus")).toHaveLength(
      500,
    );
  });

  test("hostile names do not break the page", () => {
    const analysis = lost(hostileNames.slice(0, 3));
    const { families } = buildFamilies({ analysis, health: health(), limits: { teams: 1000, series: 50_000 } });
    const samples = readPage(renderPage(families).toString("utf8"));
    expect(samples.filter(({ name }) => name === "fairlead_lost_node_gpus")).toHaveLength(3);
  });
});
