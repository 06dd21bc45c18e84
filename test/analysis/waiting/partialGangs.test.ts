import { describe, expect, it } from "vitest";
import { explainWaiting } from "../../../exporter/analysis/waiting/explainWaiting.ts";
import type { WaitingGang } from "../../../exporter/join/queues/queueing.ts";
import { noQueueing } from "../../../exporter/join/queues/queueing.ts";
import type { PodView, WorkloadView } from "../../../exporter/join/snapshot.ts";
import { now } from "../../join/clusterBuilder.ts";
import { device, holding, moment, nodeView, podView } from "../momentBuilder.ts";
import { part, waitingGang } from "./waitingBuilder.ts";

/** One pod of a gang of four; a held one sits on a GPU of its own. */
function member(id: string, status: "allocated" | "pending", parts: Partial<PodView> = {}): PodView {
  const gang = { id, min: 4, bound: 2, partialSince: now - 301 };
  return podView({ uid: `${id}-${status}`, name: id, status, gpus: 1, gang, ...parts });
}

/** A node with a GPU for each pod that holds one, and `free` more. */
function momentOf(pods: readonly PodView[], free: number, gangs: readonly WaitingGang[] = []) {
  const holders = pods.flatMap((pod, i) =>
    pod.status === "allocated" ? [[holding({ pod: i, activity: 0, idleSince: now - 600 })]] : [],
  );
  const devices = [...holders, ...new Array(free).fill([])].map((allocated, i) =>
    device({ uuid: `GPU-${i}`, holders: allocated }),
  );
  return moment({
    nodes: [nodeView({ physicalGpus: devices.length, devices: devices.map((_device, i) => i) })],
    devices,
    pods,
    queueing: { ...noQueueing, gangs },
  });
}

const explain = (...args: Parameters<typeof momentOf>) => explainWaiting(momentOf(...args), { waitTargets: [] });
const half = (id: string): readonly PodView[] => [
  member(id, "allocated"),
  member(id, "allocated"),
  member(id, "pending"),
  member(id, "pending"),
];

describe("a partial gang", () => {
  it("is one that has allocated GPUs for more than 5 minutes without being whole", () => {
    expect(explain(half("a"), 0).partialGangs).toEqual([
      {
        id: "a",
        owner: "Pod research/a",
        namespace: "research",
        team: "vision",
        queue: null,
        pool: "H100",
        bound: 2,
        min: 4,
        allocatedGpus: 2,
        missingGpus: 2,
        since: now - 301,
        hasLostMember: false,
      },
    ]);
  });

  it("is not one that works, whatever it lacks", () => {
    const found = momentOf(half("a"), 0);
    const [first, ...others] = found.devices;
    if (first === undefined) throw new Error("no device");
    const busy = { ...first, holders: [holding({ pod: 0 })] };
    const { partialGangs } = explainWaiting({ ...found, devices: [busy, ...others] }, { waitTargets: [] });
    expect(partialGangs).toEqual([]);
  });

  it("is not one before, nor one that holds nothing", () => {
    const young = { gang: { id: "a", min: 4, bound: 2, partialSince: now - 300 } };
    expect(explain([member("a", "allocated", young), member("a", "pending", young)], 0).partialGangs).toEqual([]);
    expect(explain([member("a", "pending")], 0).partialGangs).toEqual([]);
  });

  it("lacks what the smallest of its waiting members ask for", () => {
    const pods = [
      member("a", "allocated"),
      member("a", "allocated"),
      ...[4, 1, 2].map((gpus) => member("a", "pending", { gpus })),
    ];
    expect(explain(pods, 0).partialGangs[0]?.missingGpus).toBe(3);
  });

  it("lacks members that nobody created as large as all others, or nobody knows", () => {
    expect(explain([member("a", "allocated"), member("a", "pending")], 0).partialGangs[0]?.missingGpus).toBe(2);
    const mixed = [member("a", "allocated"), member("a", "pending", { gpus: 2 })];
    expect(explain(mixed, 0).partialGangs[0]?.missingGpus).toBeNull();
    const unknown = [member("a", "allocated"), member("a", "pending", { gpus: null })];
    expect(explain(unknown, 0).partialGangs[0]?.missingGpus).toBeNull();
  });

  it("is found by the work that waits where its pods say nothing of a gang", () => {
    const pods = [
      podView({ boundAt: now - 900, gang: null }),
      podView({ uid: "w", status: "pending", boundAt: null, pendingSince: now - 400, gang: null }),
    ];
    const gang = waitingGang([part(1, 1)], { uid: "workload", bound: 1, min: 2 });
    const workload: WorkloadView = {
      kind: "Job",
      namespace: "research",
      name: "train",
      team: "vision",
      owner: null,
      queue: null,
      priorityClass: "none",
      localQueue: null,
      priority: 0,
      workloadClass: "batch",
      createdAt: null,
      gang: null,
      ownerUids: [],
      owners: [],
      job: null,
      queueObject: null,
      progressUnits: null,
      pods: [0, 1],
    };
    const found = { ...momentOf(pods, 0, [gang]), workloads: [workload] };
    const partial = explainWaiting(found, { waitTargets: [] }).partialGangs;
    expect(partial).toMatchObject([
      { id: "workload", bound: 1, min: 2, allocatedGpus: 1, missingGpus: 1, since: now - 400 },
    ]);
    const whole = { ...momentOf(pods, 0, [{ ...gang, min: 1 }]), workloads: [workload] };
    expect(explainWaiting(whole, { waitTargets: [] }).partialGangs).toEqual([]);
  });
});

describe("a deadlock", () => {
  it("is two partial gangs that lack more than is free", () => {
    const pods = [...half("a"), ...half("b")];
    expect(explain(pods, 3).deadlocks).toEqual([
      { pool: "H100", gangs: ["a", "b"], allocatedGpus: 4, missingGpus: 4, freeGpus: 3 },
    ]);
    expect(explain(pods, 4).deadlocks).toEqual([]);
  });

  it("is not one gang alone", () => {
    expect(explain(half("a"), 0).deadlocks).toEqual([]);
  });

  it("does not count GPUs of nodes that take nobody as free", () => {
    const pods = [...half("a"), ...half("b")];
    const found = momentOf(pods, 4);
    const cordoned = { ...found, nodes: found.nodes.map((node) => ({ ...node, schedulable: false })) };
    expect(explainWaiting(cordoned, { waitTargets: [] }).deadlocks[0]?.freeGpus).toBe(0);
  });
});
