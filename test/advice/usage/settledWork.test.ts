import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { longTurnsOf } from "../../../exporter/advice/turns.ts";
import { isSettled, observeWorkloads, smallActivity } from "../../../exporter/advice/usage/observeWorkloads.ts";
import { nothingWatched, type UsageWatch, watchUsage } from "../../../exporter/advice/usage/usageWatch.ts";
import { nothingKnown, watchHabits } from "../../../exporter/advice/usage/watchHabits.ts";
import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import type { NodeView } from "../../../exporter/join/snapshot.ts";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import type { DeviceReading } from "../../../exporter/model/telemetry.ts";
import { gpuNode, now } from "../../join/clusterBuilder.ts";
import { analysisAt, deployment, pageAt, physicalGpu, podOf, replicaSet } from "./watchedCluster.ts";

const names = ["a", "b", "c"] as const;
const owners = names.map((name) => deployment(name));

/** Of each workload: its pods (0: none), the GPUs of each pod, and the activity of its GPUs in steps of 5 %; -1: not seen. */
interface Drawn {
  readonly pods: number;
  readonly generation: number;
  readonly gpus: number;
  readonly activity: readonly number[];
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  pods: fc.integer({ min: 0, max: 2 }),
  generation: fc.integer({ min: 0, max: 1 }),
  gpus: fc.constantFrom(1, 2),
  activity: fc.array(fc.integer({ min: -1, max: 20 }), { minLength: 4, maxLength: 4 }),
});
const history = fc.array(fc.tuple(drawn, drawn, drawn), { minLength: 2, maxLength: 10 });

/** Each workload is on a node of its own, with four GPUs. */
function stateOf(moment: readonly Drawn[], at: number): Partial<ClusterState> {
  const all = moment.map(({ pods, generation, gpus, activity }, i) => {
    const name = names[i] ?? "";
    const own = owners[i] ?? deployment("");
    // A pod never holds another number of GPUs than it began with.
    const podName = (pod: number): string => `${name}-${generation}-${gpus}-${pod}`;
    const devices = [0, 1, 2, 3].flatMap((place): readonly DeviceReading[] => {
      const value = activity[place] ?? 0;
      const pod = Math.floor(place / gpus);
      const holder = pod < pods ? podName(pod) : undefined;
      return value < 0 ? [] : [physicalGpu(`GPU-${name}${place}`, value / 20, holder)];
    });
    const made = Array.from({ length: pods }, (_, pod) => podOf(own, podName(pod), `n-${name}`, gpus));
    return { node: gpuNode(`n-${name}`, 4), pods: made, page: pageAt(`n-${name}`, devices, at) };
  });
  return {
    nodes: all.map(({ node }) => node),
    owners: owners.flatMap((one) => [one, replicaSet(one)]),
    pods: all.flatMap(({ pods }) => pods),
    telemetry: all.map(({ page }) => page),
  };
}

/** As if there were so many nodes more, without anything on them. */
function inLargeCluster(analysis: Analysis, nodes: number): Analysis {
  const { snapshot } = analysis;
  const [some] = snapshot.nodes;
  if (some === undefined) return analysis;
  const empty: NodeView = { ...some, name: "", devices: [] };
  const more = Array.from({ length: nodes }, () => empty);
  return { ...analysis, snapshot: { ...snapshot, nodes: [...snapshot.nodes, ...more] } };
}

/**
 * A watch may begin later than it could, and a break of settled work is not always seen. What could become advice was seen in
 * each moment since its watch began: it never used more than what is known of it.
 */
function compare(all: readonly UsageWatch[], inTurn: UsageWatch): void {
  for (const [key, usage] of inTurn.workloads) {
    if (isSettled(usage)) continue;
    const full = all[0]?.workloads.get(key);
    expect(full).toMatchObject({ pods: usage.pods, gpus: usage.gpus, severalGpus: usage.severalGpus });
    expect(full?.since).toBeLessThanOrEqual(usage.since);
    // The watch of every moment that begins when this one began.
    const same = all.find((watch) => watch.workloads.get(key)?.since === usage.since);
    expect(same?.workloads.get(key)).toEqual(usage);
  }
}

describe("work of which no advice can follow", () => {
  it("is looked at in turn in large clusters, and whatever advice could follow from is the same", () => {
    fc.assert(
      fc.property(history, (moments) => {
        let inTurn = nothingWatched;
        // Watches that began at each of the moments, and that look at everything.
        let all: UsageWatch[] = [];
        for (const [i, moment] of moments.entries()) {
          const at = now + i * 30;
          const analysis = analysisAt(stateOf(moment, at), at);
          all = [...all, nothingWatched].map((watch) => watchUsage(watch, analysis));
          inTurn = watchUsage(inTurn, inLargeCluster(analysis, 6000));
          compare(all, inTurn);
        }
      }),
      { numRuns: 60, seed: 27 },
    );
  });

  it("has its turn within the cycles in which such a cluster is looked at once, and so has work that cannot be watched", () => {
    const busy: Drawn = { pods: 2, generation: 0, gpus: 2, activity: [20, 20, 20, 20] };
    const blind: Drawn = { ...busy, activity: [20, 20, 20, -1] };
    const at = (moment: Drawn, i: number) =>
      inLargeCluster(analysisAt(stateOf([moment, moment, moment], now + i * 30), now + i * 30), 6000);
    const cycles = longTurnsOf(6003);
    let watch = watchUsage(nothingWatched, at(busy, 0));
    expect(watch.workloads.size).toBe(3);
    const sizes = Array.from({ length: 2 * cycles }, (_, i) => {
      watch = watchUsage(watch, at(i < cycles ? blind : busy, i + 1));
      return watch.workloads.size;
    });
    expect(sizes.slice(0, 3)).toEqual([2, 1, 0]);
    expect(sizes.slice(cycles - 1, cycles + 3)).toEqual([0, 1, 2, 3]);
    expect(sizes.at(-1)).toBe(3);
  });

  it("is not small, and uses every GPU of pods with several", () => {
    const { snapshot } = analysisAt(
      stateOf(
        [
          { pods: 2, generation: 0, gpus: 2, activity: [20, 20, 20, 20] },
          { pods: 2, generation: 0, gpus: 2, activity: [20, 20, 20, 0] },
          { pods: 2, generation: 0, gpus: 1, activity: [smallActivity * 20, 1, 0, 0] },
        ],
        now,
      ),
    );
    const { byPlace } = observeWorkloads(nothingWatched, snapshot);
    expect(byPlace.map((usage) => usage !== undefined && isSettled(usage))).toEqual([true, false, false]);
  });
});

describe("habits", () => {
  it("are the same whether it is remembered where work was seen, or not", () => {
    fc.assert(
      fc.property(history, (moments) => {
        let [remembered, looked] = [nothingKnown, nothingKnown];
        for (const [i, moment] of moments.entries()) {
          const at = now + i * 600;
          const { snapshot } = analysisAt(stateOf(moment, at), at);
          remembered = watchHabits(remembered, snapshot, 3600);
          const { worksOn: _, ...forgetful } = looked;
          looked = watchHabits(forgetful, snapshot, 3600);
          expect({ ...remembered, worksOn: null }).toEqual({ ...looked, worksOn: null });
        }
      }),
      { numRuns: 60, seed: 27 },
    );
  });
});
