import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { domainFinder } from "../../../exporter/join/queues/domainOfNode.ts";
import { anyCluster } from "../clusterGenerator.ts";
import { snapshotOf } from "../outcomes.ts";

describe("what a quota domain has", () => {
  it("is what its devices and unpartitioned GPUs weigh: what can be given out, and what is out of service", () => {
    let domains = 0;
    fc.assert(
      fc.property(anyCluster, (state) => {
        const { queueing, devices, unpartitioned, nodes } = snapshotOf(state);
        const domainOf = domainFinder(queueing.domains);
        const weights = new Map<number | null, number>();
        for (const { pool, node, weight } of [...devices, ...unpartitioned]) {
          const domain = domainOf(pool, node);
          weights.set(domain, (weights.get(domain) ?? 0) + weight);
        }
        const uncounted = new Set(
          nodes.flatMap(({ name, pools, physicalGpus }) =>
            physicalGpus === null ? pools.map((pool) => domainOf(pool, name)) : [],
          ),
        );
        for (const [index, { capacity, outOfService = 0 }] of queueing.domains.entries()) {
          if (uncounted.has(index)) continue;
          domains += 1;
          expect(capacity + outOfService).toBeCloseTo(weights.get(index) ?? 0, 6);
        }
      }),
      { numRuns: 500, seed: 5 },
    );
    expect(domains).toBeGreaterThan(500);
  });
});
