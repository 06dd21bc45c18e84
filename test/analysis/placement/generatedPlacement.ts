import fc from "fast-check";
import type { NodeView, PodView, Snapshot } from "../../../exporter/join/snapshot.ts";
import { asks, type PlacedNode, placementMoment, podsLike } from "./placementBuilder.ts";

const shares = fc.constantFrom(0, 0, 0, 1, 1, 0.5, 0.3);

/** A node with up to 8 GPUs of one of three kinds, in some state. */
export const anyNode: fc.Arbitrary<PlacedNode> = fc
  .record({
    allocated: fc.array(shares, { minLength: 0, maxLength: 8 }),
    kind: fc.constantFrom("whole", "whole", "replicas", "mig"),
    freeCores: fc.integer({ min: 0, max: 64 }),
    freeGib: fc.integer({ min: 0, max: 400 }),
    model: fc.constantFrom("H100", "H100", "A100"),
    zone: fc.constantFrom("a", "b"),
    disk: fc.constantFrom("fast", "slow"),
    isTainted: fc.boolean(),
    isUsable: fc.constantFrom(true, true, true, false),
    isHealthy: fc.constantFrom(true, true, true, false),
  })
  .map(({ allocated, kind, freeCores, freeGib, model, zone, disk, isTainted, isUsable, isHealthy }) => ({
    allocated: kind === "mig" ? allocated.map((share) => (share > 0 ? 3 / 7 : 0)) : allocated,
    freeCores,
    freeGib,
    pools: [model],
    gpuModels: [model],
    labels: { zone, disk },
    ready: isUsable,
    taints: isTainted ? [{ key: "dedicated", value: "x", effect: "NoSchedule" as const }] : [],
    physicalGpu: { pool: model, model, unhealthy: !isHealthy, ...gpuOf[kind] },
  }));

const gpuOf = {
  whole: {},
  replicas: { slots: 4 },
  mig: { gpuInstance: "1", profile: "3g.40gb", weight: 3 / 7 },
} as const;

const tolerations = [{ key: "dedicated", operator: "Exists", value: "", effect: null }] as const;

/** Pods of one shape, 0 to 30 of them. */
export const anyPods: fc.Arbitrary<readonly PodView[]> = fc
  .record({
    count: fc.integer({ min: 0, max: 30 }),
    gpus: fc.constantFrom(1, 1, 2, 4, 8, 0.5, 0.25, 3 / 7),
    cores: fc.integer({ min: 0, max: 40 }),
    memory: fc.integer({ min: 0, max: 200 }),
    selector: fc.constantFrom({}, {}, { zone: "a" }, { zone: "b" }, { zone: "c" }, { disk: "fast" }),
    tolerates: fc.boolean(),
  })
  .map(({ count, gpus, cores, memory, selector, tolerates }) => {
    const rules = { nodeSelector: selector, ...(tolerates ? { tolerations } : {}) };
    const needs = asks(gpus < 1 ? 0 : gpus, cores, memory, rules);
    const mig = { ...needs, requests: { ...needs.requests, "nvidia.com/mig-3g.40gb": 1 } };
    return podsLike(count, gpus === 3 / 7 ? mig : needs, gpus);
  });

export const anyMoment: fc.Arbitrary<Snapshot> = fc
  .tuple(fc.array(anyNode, { minLength: 1, maxLength: 8 }), fc.array(anyPods, { maxLength: 6 }))
  .map(([nodes, pods]) => placementMoment(nodes, pods.flat()));

/** The same moment with its nodes in another order. */
export const turned = (snapshot: Snapshot): Snapshot => ({ ...snapshot, nodes: snapshot.nodes.toReversed() });

/** Makes moments as the join does: a node that says the same is the same object again. */
export function createMoments(): (nodes: readonly PlacedNode[], pods: readonly PodView[]) => Snapshot {
  const known = new Map<string, NodeView>();
  return (nodes, pods) => {
    const snapshot = placementMoment(nodes, pods);
    const views = snapshot.nodes.map((view) => {
      const kinds = view.devices.map((i) => {
        const { pool = "", weight = 0, slots = 0, gpuInstance = null, unhealthy, holders } = snapshot.devices[i] ?? {};
        return [pool, weight, slots, gpuInstance, unhealthy, holders];
      });
      const key = JSON.stringify([view, kinds]);
      const same = known.get(key) ?? view;
      known.set(key, same);
      return same;
    });
    return { ...snapshot, nodes: views };
  };
}
