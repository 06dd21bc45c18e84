import { describe, expect, it } from "vitest";
import type { Memory } from "../../exporter/join/memory.ts";
import type { OwnerObject } from "../../exporter/model/cluster.ts";
import type { Pod } from "../../exporter/model/pod.ts";
import type { NativePodGroup } from "../../exporter/model/queues/nativeGangs.ts";
import { noQueueObjects } from "../../exporter/model/queues/queueObjects.ts";
import { nativePodGroup } from "../analysis/queueObjectBuilder.ts";
import { gpuNode, gpuPod, now, owner, ownerRef, page, reading } from "./clusterBuilder.ts";
import { analysed, defaultSettings, joined, statesOf } from "./outcomes.ts";

const cycle = 30;
const nodes = [gpuNode("n", 8)];
const ranks = ["a", "b", "c", "d"];

const member = (name: string, parts: Partial<Pod> = {}, node: string | null = "n"): Pod =>
  gpuPod(name, node, 1, { schedulingGroup: { workload: null, name: "train", replica: "" }, ...parts });
const members = (names: readonly string[], parts: Partial<Pod> = {}): readonly Pod[] =>
  names.map((name) => member(name, parts));

/** What is there in one cycle; `activity`: of the GPUs of all members. */
interface Cycle {
  readonly pods: readonly Pod[];
  readonly group?: Partial<NativePodGroup> | null;
  readonly owners?: readonly OwnerObject[];
  readonly activity?: number;
  /** Members without GPUs. */
  readonly plain?: number;
}

function stepOf({ pods, group = {}, owners = [], activity = 0, plain = 0 }: Cycle, at: number, memory?: Memory) {
  const rows = ["a", "b", "c", "d", "e", "f", "g", "h"].map((name) => reading(`GPU-${name}`, activity, name));
  const queues = { ...noQueueObjects, nativePodGroups: group === null ? [] : [nativePodGroup("train", group)] };
  const launcher = { namespace: "research", group: { workload: null, name: "train", replica: "" } };
  const plainGangMembers = Array.from({ length: plain }, () => launcher);
  const state = { nodes, pods, owners, queues, plainGangMembers, telemetry: [page("n", rows)] };
  return joined(state, defaultSettings, memory, at);
}

/** What is known after cycles that follow each other, at the last of them. */
function lastOf(...cycles: readonly Cycle[]) {
  let last = null as ReturnType<typeof stepOf> | null;
  cycles.forEach((one, i) => {
    last = stepOf(one, now + i * cycle, last?.memory);
  });
  if (last === null) throw new Error("no cycle");
  const { snapshot } = last;
  const { waiting } = analysed(snapshot);
  return { waits: statesOf(snapshot).gang_wait ?? 0, lost: waiting.partialGangs.filter((gang) => gang.hasLostMember) };
}

const whole: Cycle = { pods: members(ranks) };
const three = members(["a", "b", "c"]);
const silent = { waits: 0, lost: [] };

describe("a native gang whose minimum of four counts its launcher, which has no GPUs", () => {
  it("goes on with three workers of four, and is broken with two, or without the launcher", () => {
    const elastic: Cycle = { ...whole, plain: 1 };
    expect(lastOf(elastic, { pods: three, plain: 1 })).toEqual(silent);
    expect(lastOf(elastic, { pods: three, plain: 1 }, { pods: members(["a", "b"]), plain: 1 }).lost).toMatchObject([
      { bound: 3, min: 4, allocatedGpus: 2 },
    ]);
    const small: Cycle = { pods: three, plain: 1 };
    expect(lastOf(small, { pods: three }).lost).toMatchObject([{ bound: 3, min: 4, allocatedGpus: 3 }]);
  });
});

describe("a gang of four that has run and loses a member", () => {
  it.each([
    ["that is gone", three],
    ["that has failed", [...three, member("d", { phase: "Failed" })]],
    ["whose replacement waits for a node", [...three, member("e", { createdAt: now + cycle }, null)]],
  ])("%s waits from the next cycle on, with what it holds and its owner", (_, pods) => {
    const { waits, lost } = lastOf(whole, { pods });
    expect(waits).toBe(3);
    expect(lost).toMatchObject([
      { id: "PodGroup research/train", bound: 3, min: 4, allocatedGpus: 3, since: now + cycle, team: "research" },
    ]);
  });

  it("is seen although the process has just begun, if Kubernetes says that it was placed", () => {
    const pods = [...three, member("e", { createdAt: now - 10 }, null)];
    expect(lastOf({ pods, group: { wasScheduled: true } })).toMatchObject({ waits: 3, lost: [{ since: now - 10 }] });
    expect(lastOf({ pods })).toEqual(silent);
  });

  it("is seen with members without GPUs in its minimum", () => {
    const group = { minCount: 5, wasScheduled: true };
    expect(lastOf({ pods: whole.pods, group })).toEqual(silent);
    expect(lastOf({ pods: whole.pods, group }, { pods: three, group })).toMatchObject({ waits: 3 });
  });

  it("goes on as it was when the replacement is there, whether or not it has started", () => {
    const replaced = [...three, member("e", { scheduledAt: now + 2 * cycle, allContainersStarted: false })];
    const { lost } = lastOf(whole, { pods: three }, { pods: replaced });
    expect(lost).toEqual([]);
  });

  it("keeps what it lost while one replacement starts and another waits", () => {
    const two = members(["a", "b"]);
    const starts = member("e", { allContainersStarted: false });
    expect(lastOf(whole, { pods: two }, { pods: [...two, starts, member("f", {}, null)] }).lost).toMatchObject([
      { bound: 3, since: now + cycle },
    ]);
  });

  it("that computes without it does not wait", () => {
    expect(lastOf({ ...whole, activity: 0.9 }, { pods: three, activity: 0.9 })).toEqual(silent);
  });
});

describe("a gang that has run is silent", () => {
  it("when its members succeed one by one, whether or not their pods stay", () => {
    const one = [...three, member("d", { phase: "Succeeded" })];
    const two = [...members(["a", "b"]), ...members(["c", "d"], { phase: "Succeeded" })];
    expect(lastOf(whole, { pods: one }, { pods: two })).toEqual(silent);
    expect(lastOf(whole, { pods: one }, { pods: three }, { pods: members(["a", "b"]) })).toEqual(silent);
  });

  it("when it is elastic, and has as many members as it needs", () => {
    const group = { minCount: 2 };
    expect(lastOf({ ...whole, group }, { pods: three, group }, { pods: members(["a", "b"]), group })).toEqual(silent);
    expect(lastOf({ ...whole, group }, { pods: members(["a"]), group })).toMatchObject({ waits: 1 });
  });

  it("when its minimum is raised, until it loses a member", () => {
    expect(lastOf(whole, { ...whole, group: { minCount: 6 } })).toEqual(silent);
  });

  it("with the policy basic", () => {
    const group = { minCount: null };
    expect(lastOf({ ...whole, group }, { pods: three, group })).toEqual(silent);
  });

  it("when it is being deleted: the group, or all of its pods", () => {
    expect(lastOf(whole, { pods: three, group: { isEnding: true } })).toEqual(silent);
    expect(lastOf(whole, { pods: members(["a", "b", "c"], { isEnding: true }) })).toEqual(silent);
  });

  it("when it starts anew as a whole", () => {
    const fresh = members(["e", "f"], { scheduledAt: now + cycle, allContainersStarted: false });
    const ending = members(["a", "b"], { isEnding: true });
    expect(lastOf(whole, { pods: [...ending, ...fresh, member("g", {}, null)] }).lost).toEqual([]);
    expect(lastOf(whole, { pods: [...fresh, member("g", {}, null), member("h", {}, null)] }).lost).toEqual([]);
  });

  it("when it was restarted whole, and some of its new members run while others wait", () => {
    const createdAt = now + cycle;
    const fresh = members(["e", "f"], { createdAt });
    const group = { wasScheduled: true };
    const begins = [...fresh, member("g", { createdAt }, null), member("h", { createdAt }, null)];
    expect(lastOf(whole, { pods: begins }).lost).toEqual([]);
    expect(lastOf({ ...whole, group }, { pods: begins, group }).lost).toEqual([]);
    const again = members(["e", "f", "g", "h"], { createdAt });
    expect(lastOf(whole, { pods: begins }, { pods: again }, { pods: fresh }).lost).toMatchObject([{ bound: 2 }]);
  });

  it("when it never was whole and loses a member on the way", () => {
    const waits = member("e", {}, null);
    expect(lastOf({ pods: [...three, waits] }, { pods: [...members(["a", "b"]), waits] }).lost).toEqual([]);
  });

  it("when its job was made smaller, and the size that was read is old", () => {
    const mpi = owner("MPIJob", "mpi", null, { apiVersion: "kubeflow.org/v2beta1", gangPods: 4 });
    const of = (names: readonly string[]) => names.map((name) => gpuPod(name, "n", 1, { owner: ownerRef(mpi) }));
    const at = (names: readonly string[]): Cycle => ({ pods: of(names), owners: [mpi], group: null });
    expect(lastOf(at(ranks), at(["a", "b", "c"]))).toEqual(silent);
    const waiting = gpuPod("e", null, 1, { owner: ownerRef(mpi), createdAt: now + cycle });
    const replaced = { ...at(["a", "b", "c"]), pods: [...of(["a", "b", "c"]), waiting] };
    expect(lastOf(at(ranks), replaced)).toMatchObject({ waits: 3, lost: [{ owner: "MPIJob research/mpi" }] });
  });

  it("when the launcher of an MPIJob ends, which is not among its members", () => {
    const mpi = owner("MPIJob", "mpi", null, { apiVersion: "kubeflow.org/v2beta1", gangPods: 4 });
    const workers = ranks.map((name) => gpuPod(name, "n", 1, { owner: ownerRef(mpi) }));
    // It has no GPU, so that the pods that are read never have it.
    expect(
      lastOf({ pods: workers, owners: [mpi], group: null }, { pods: workers, owners: [mpi], group: null }),
    ).toEqual(silent);
  });
});
