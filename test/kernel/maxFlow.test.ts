import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FlowNetwork } from "../../exporter/kernel/maxFlow.ts";

interface Arc {
  readonly from: number;
  readonly to: number;
  readonly capacity: number;
}

/** Any path with residual capacity, found by trying, until there is none (Ford and Fulkerson). */
function naiveFlow(arcs: readonly Arc[], source: number, sink: number): number {
  const residual = arcs.flatMap(({ from, to, capacity }) => [
    { from, to, residual: capacity },
    { from: to, to: from, residual: 0 },
  ]);
  const pathTo = (node: number, seen: ReadonlySet<number>): readonly number[] | null => {
    if (node === sink) return [];
    for (const [i, arc] of residual.entries()) {
      if (arc.from !== node || arc.residual <= 0 || seen.has(arc.to)) continue;
      const rest = pathTo(arc.to, new Set([...seen, arc.to]));
      if (rest !== null) return [i, ...rest];
    }
    return null;
  };
  let all = 0;
  for (let path = pathTo(source, new Set([source])); path !== null; path = pathTo(source, new Set([source]))) {
    const amount = Math.min(...path.map((i) => residual[i]?.residual ?? 0));
    all += amount;
    for (const i of path) {
      const [arc, back] = [residual[i], residual[i ^ 1]];
      if (arc !== undefined) arc.residual -= amount;
      if (back !== undefined) back.residual += amount;
    }
  }
  return all;
}

const nodes = 6;
const [source, sink] = [0, nodes - 1];

// Capacities in quarters: sums of them are exact.
const networks = fc.array(
  fc.record({
    from: fc.nat(nodes - 1),
    to: fc.nat(nodes - 1),
    capacity: fc.nat(20).map((quarters) => quarters / 4),
  }),
  { maxLength: 14 },
);

function built(arcs: readonly Arc[]) {
  const network = new FlowNetwork();
  for (let i = 0; i < nodes; i++) network.addNode();
  return { network, numbers: arcs.map(({ from, to, capacity }) => network.addArc(from, to, capacity)) };
}

describe("the most that can flow", () => {
  it("is what any search for paths finds, and what flows keeps the arcs and is lost nowhere", () => {
    fc.assert(
      fc.property(networks, (arcs) => {
        const { network, numbers } = built(arcs);
        const all = network.augment(source, sink);
        expect(all).toBeCloseTo(naiveFlow(arcs, source, sink), 9);
        const net = new Float64Array(nodes);
        for (const [i, { from, to, capacity }] of arcs.entries()) {
          const flow = network.flowOf(numbers[i] ?? -1);
          if (flow < -1e-9 || flow > capacity + 1e-9) return false;
          net[from] = (net[from] ?? 0) - flow;
          net[to] = (net[to] ?? 0) + flow;
        }
        expect(net[sink]).toBeCloseTo(all, 9);
        return net.every((amount, node) => node === source || node === sink || Math.abs(amount) < 1e-9);
      }),
      { numRuns: 2_000, seed: 20_261_121 },
    );
  });

  it("is bounded by the arcs that leave the nodes which can still be reached", () => {
    fc.assert(
      fc.property(networks, (arcs) => {
        const { network } = built(arcs);
        const all = network.augment(source, sink);
        const side = network.reachableFrom(source);
        const cut = arcs.filter(({ from, to }) => side[from] === 1 && side[to] === 0);
        expect(cut.reduce((sum, { capacity }) => sum + capacity, 0)).toBeCloseTo(all, 9);
        return side[source] === 1 && side[sink] === 0;
      }),
      { numRuns: 2_000, seed: 20_261_122 },
    );
  });

  it("is the same after capacities are changed, whether what flows was kept or taken away", () => {
    fc.assert(
      fc.property(networks, fc.array(fc.nat(20), { minLength: 14, maxLength: 14 }), (arcs, more) => {
        const wider = arcs.map((arc, i) => ({ ...arc, capacity: arc.capacity + (more[i] ?? 0) / 4 }));
        const { network, numbers } = built(arcs);
        const before = network.augment(source, sink);
        for (const [i, { capacity }] of wider.entries()) network.setCapacity(numbers[i] ?? -1, capacity);
        expect(before + network.augment(source, sink)).toBeCloseTo(naiveFlow(wider, source, sink), 9);
        for (const [i, { capacity }] of arcs.entries()) network.setCapacity(numbers[i] ?? -1, capacity);
        network.clear();
        expect(network.augment(source, sink)).toBeCloseTo(before, 9);
      }),
      { numRuns: 2_000, seed: 20_261_123 },
    );
  });

  it("is found through thousands of arcs in a row, and through arcs without a bound", () => {
    const network = new FlowNetwork();
    const first = network.addNode();
    let last = first;
    for (let i = 0; i < 50_000; i++) {
      const next = network.addNode();
      network.addArc(last, next, i === 25_000 ? 3 : Number.POSITIVE_INFINITY);
      last = next;
    }
    expect(network.augment(first, last)).toBe(3);
  });
});
