import fc from "fast-check";
import { describe, expect, it } from "vitest";
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

/** A break of settled work is not always seen: then it stays settled. Everything else is the same. */
function compare(every: UsageWatch, inTurn: UsageWatch): void {
  for (const [key, usage] of every.workloads) {
    const other = inTurn.workloads.get(key);
    if (other === undefined || !isSettled(other)) expect(other).toEqual(usage);
    else expect(other.pods).toEqual(usage.pods);
  }
  for (const [key, usage] of inTurn.workloads) if (!isSettled(usage)) expect(every.workloads.get(key)).toEqual(usage);
}

describe("work of which no advice can follow", () => {
  it("is looked at in turn in large clusters, and whatever advice could follow from is the same", () => {
    fc.assert(
      fc.property(history, (moments) => {
        let [every, inTurn]: readonly [UsageWatch, UsageWatch] = [nothingWatched, nothingWatched];
        for (const [i, moment] of moments.entries()) {
          const at = now + i * 30;
          const analysis = analysisAt(stateOf(moment, at), at);
          every = watchUsage(every, analysis);
          inTurn = watchUsage(inTurn, inLargeCluster(analysis, 6000));
          compare(every, inTurn);
        }
      }),
      { numRuns: 60, seed: 27 },
    );
  });

  it("has its turn within the cycles in which such a cluster is looked at once", () => {
    const busy: Drawn = { pods: 2, generation: 0, gpus: 2, activity: [20, 20, 20, 20] };
    const blind: Drawn = { ...busy, activity: [20, 20, 20, -1] };
    const at = (moment: Drawn, i: number) =>
      inLargeCluster(analysisAt(stateOf([moment, moment, moment], now + i * 30), now + i * 30), 6000);
    let watch = watchUsage(nothingWatched, at(busy, 0));
    expect(watch.workloads.size).toBe(3);
    const left = [1, 2, 3].map((i) => {
      watch = watchUsage(watch, at(blind, i));
      return watch.workloads.size;
    });
    expect(left).toEqual([2, 1, 0]);
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
    const usages = observeWorkloads(nothingWatched, snapshot);
    expect(usages.map((usage) => usage !== undefined && isSettled(usage))).toEqual([true, false, false]);
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
