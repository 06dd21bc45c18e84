import { describe, expect, it } from "vitest";
import { stalledParts, stallSuspects, suspectPods } from "../../exporter/analysis/stalledParts.ts";
import type { Device } from "../../exporter/join/snapshot.ts";
import { now } from "../join/clusterBuilder.ts";
import { device, holding, moment, podView } from "./momentBuilder.ts";

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
