import { describe, expect, it } from "vitest";
import { gangSuspects, stalledParts, stallSuspects, suspectPods } from "../../exporter/analysis/stalledParts.ts";
import { accountStates } from "../../exporter/analysis/states.ts";
import type { GangView } from "../../exporter/join/gangView.ts";
import type { Device } from "../../exporter/join/snapshot.ts";
import { now } from "../join/clusterBuilder.ts";
import { device, holding, moment, nodeView, podView } from "./momentBuilder.ts";

type Shows = "spins" | "quiet" | "computes" | "unseen";

const pods = Array.from({ length: 4 }, (_, i) => podView({ name: `rank-${i}`, node: `n${i}`, boundAt: now - 9000 }));

/** The whole GPU of one rank. */
function gpuOf(pod: number, shows: Shows): Device {
  const activity = { spins: 1, quiet: 0, computes: 0.9, unseen: null }[shows];
  return device({
    uuid: `GPU-${pod}`,
    node: `n${pod}`,
    activity,
    idleNow: shows === "quiet",
    stall: shows === "spins" ? { since: now - 2000 - pod, unseenSince: null } : null,
    holders: [holding({ pod, activity })],
  });
}

function partsOf(...shows: readonly Shows[]) {
  const snapshot = moment({ pods, devices: shows.map((each, pod) => gpuOf(pod, each)) });
  const parts = stalledParts(
    snapshot,
    shows.map((_, pod) => pod),
    (pod) => [pod],
  );
  return { snapshot, parts };
}

describe("the GPUs of a workload that looks busy and computes nothing", () => {
  it("are sorted by what they show; it is stalled since the last of them is", () => {
    const { parts } = partsOf("spins", "spins", "quiet", "unseen");
    expect(parts).toMatchObject({ quiet: [2], computing: [], unknown: 1, since: now - 2000 });
    expect(parts.stalled).toHaveLength(2);
  });

  it.each<readonly [shows: readonly Shows[], suspects: string | null]>([
    [["spins", "spins", "spins", "quiet"], "quiet: rank-3 on n3"],
    [["spins", "computes", "spins", "spins"], "computing: rank-1 on n1"],
    [["spins", "computes", "quiet", "spins"], "quiet: rank-2 on n2"],
    [["spins", "spins", "quiet", "quiet"], "quiet: rank-2 on n2 and rank-3 on n3"],
    // Nobody differs, or most do.
    [["spins", "spins", "spins", "spins"], null],
    [["spins", "computes", "computes", "computes"], null],
    [["spins", "quiet", "quiet", "quiet"], null],
    [["computes", "quiet", "computes", "computes"], null],
    // What is not known makes nobody a suspect.
    [["spins", "spins", "spins", "unseen"], null],
  ])("%j: the one that differs is %s", (shows, expected) => {
    const { snapshot, parts } = partsOf(...shows);
    const found = stallSuspects(parts);
    expect(found === null ? null : `${found.how}: ${suspectPods(snapshot, found)}`).toBe(expected);
  });
});

describe("who differs in gangs of which GPUs are stalled", () => {
  const whole = (id: string): GangView => ({ id, min: 3, bound: 3, partialSince: null });
  const settings = { idleBatchSeconds: 1800, idleServingSeconds: 86_400, warmPools: [] };
  /** Ranks of a gang each, in the order of `gangs`. */
  const suspectsOf = (shows: readonly Shows[], gangs: readonly (string | null)[], boundAt = now - 9000) => {
    const members = shows.map((_, i) =>
      podView({ name: `rank-${i}`, node: `n${i}`, boundAt, gang: whole(gangs[i] ?? "research/g") }),
    );
    const all = members.map((pod, i) => (gangs[i] === null ? { ...pod, gang: null } : pod));
    const devices = shows.map((each, pod) => gpuOf(pod, each));
    const nodes = devices.map((_, i) => nodeView({ name: `n${i}`, physicalGpus: 1, devices: [i] }));
    const snapshot = moment({ pods: all, devices, nodes });
    const found = gangSuspects({ snapshot, ...accountStates(snapshot, settings) });
    return [...found].map(([gang, suspects]) => `${gang}: ${suspects.how} ${suspectPods(snapshot, suspects)}`);
  };
  const one = ["research/g", "research/g", "research/g", "research/g"];

  it("is the member on which nothing runs, or which alone computes", () => {
    expect(suspectsOf(["spins", "spins", "spins", "quiet"], one)).toEqual(["research/g: quiet rank-3 on n3"]);
    expect(suspectsOf(["spins", "computes", "spins", "spins"], one)).toEqual(["research/g: computing rank-1 on n1"]);
  });

  it("is looked for in each gang alone: the groups of one workload do not wait for each other", () => {
    const two = ["research/a", "research/a", "research/b", "research/b"];
    expect(suspectsOf(["spins", "spins", "computes", "quiet"], two)).toEqual([]);
    expect(suspectsOf(["spins", "quiet", "computes", "quiet"], two)).toEqual(["research/a: quiet rank-1 on n1"]);
  });

  interface Silent {
    readonly why: string;
    readonly shows: readonly Shows[];
    readonly gangs?: readonly null[];
    readonly boundAt?: number;
  }
  it.each<Silent>([
    { why: "all spin", shows: ["spins", "spins", "spins", "spins"] },
    { why: "nothing is stalled", shows: ["computes", "computes", "computes", "quiet"] },
    { why: "it spins for ten minutes only", shows: ["spins", "spins", "spins", "quiet"], boundAt: now - 600 },
    { why: "what it does is not known", shows: ["spins", "spins", "spins", "unseen"] },
    { why: "its pods are no gang", shows: ["spins", "spins", "spins", "quiet"], gangs: [null, null, null, null] },
  ])("is nobody where $why", ({ shows, gangs, boundAt }) => {
    expect(suspectsOf(shows, gangs ?? one, boundAt)).toEqual([]);
  });
});
