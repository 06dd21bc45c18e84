import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ClusterCopy, copyCluster } from "../../../exporter/advice/whatIf/clusterCopy.ts";
import { createPlaces, type Places } from "../../../exporter/advice/whatIf/places.ts";
import type { PlacementRule } from "../../../exporter/advice/whatIf/plan.ts";
import { activityOf, bind, chooseShares, demandOf, leave } from "../../../exporter/advice/whatIf/podHoldings.ts";
import { nodeFreeCapacity } from "../../../exporter/analysis/freeCapacity/nodeFreeCapacity.ts";
import { anyCluster } from "../../join/clusterGenerator.ts";
import { analysisOf, anyRule } from "./generatedMoments.ts";

const anyPool = () => true;

/** Takes a pod off its node and puts it where the rule says: its free GPUs before, what was taken, and after; `null` where nothing takes it. */
function moveOne(copy: ClusterCopy, places: Places, pod: number, rule: PlacementRule) {
  const { node: on, status, needs } = copy.pods[pod] ?? { node: null, status: "pending", needs: null };
  const demand = status === "allocated" && on !== null ? demandOf(copy, pod) : null;
  if (demand === null || needs === null) return null;
  const used = activityOf(copy, pod);
  leave(copy, pod, false);
  const node = places.find(copy, { demand, needs, domain: null, rule });
  if (node === null) return null;
  const before = freeOn(copy, node);
  const shares = chooseShares(copy, node, demand, anyPool);
  bind(copy, pod, node, shares ?? [], used, false);
  return { before, shares, after: freeOn(copy, node) };
}

function freeOn(copy: ClusterCopy, node: number): number {
  const view = copy.nodes[node];
  return view === undefined ? 0 : (nodeFreeCapacity(copy.live, view, null, anyPool).now?.gpus ?? 0);
}

describe("the parts of devices that a pod gets", () => {
  it("are there wherever a node is found for it, and leave the node so much less", () => {
    let placed = 0;
    fc.assert(
      fc.property(anyCluster, anyRule, (state, rule) => {
        const analysis = analysisOf(state);
        const copy = copyCluster(analysis);
        const places = createPlaces(analysis);
        for (const pod of analysis.snapshot.pods.keys()) {
          copy.rollback(0);
          const moved = moveOne(copy, places, pod, rule);
          if (moved === null) continue;
          expect(moved.shares).not.toBeNull();
          const gpus = (moved.shares ?? []).reduce((sum, share) => sum + share.gpus, 0);
          expect(gpus).toBeGreaterThan(0);
          expect(moved.after).toBeCloseTo(moved.before - gpus, 5);
          placed += 1;
        }
      }),
      { numRuns: 200, seed: 65 },
    );
    expect(placed).toBeGreaterThan(100);
  });
});
