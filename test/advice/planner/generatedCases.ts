import fc from "fast-check";
import type { Case, CasePod, CaseUnit } from "./planBuilder.ts";

/** How large generated cases are. */
export interface CaseSize {
  readonly nodes: number;
  readonly units: number;
  readonly gpus: number;
}

interface DrawnUnit {
  readonly sizes: readonly number[];
  readonly at: readonly number[];
  readonly lost: number;
  readonly cpu: number;
  readonly isGuarded: boolean;
  readonly isFixed: boolean;
}

const drawnUnit = ({ nodes, gpus }: CaseSize): fc.Arbitrary<DrawnUnit> =>
  fc.record({
    sizes: fc.array(fc.constantFrom(0.5, 1, 1, 2, Math.max(1, gpus / 2)), { minLength: 1, maxLength: 2 }),
    at: fc.array(fc.nat(nodes - 1), { minLength: 2, maxLength: 2 }),
    lost: fc.constantFrom(0, 1, 1, 2, 3, 5),
    cpu: fc.constantFrom(0, 1, 2),
    isGuarded: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
    isFixed: fc.integer({ min: 0, max: 7 }).map((n) => n === 0),
  });

/** Small clusters with pods where there is room for them, and something that wants a place or free nodes. */
export function generatedCase(size: CaseSize): fc.Arbitrary<Case> {
  return fc
    .record({
      units: fc.array(drawnUnit(size), { minLength: 1, maxLength: size.units }),
      goal: fc.oneof(
        fc
          .record({
            gpus: fc.constantFrom(1, size.gpus / 2, size.gpus),
            pods: fc.integer({ min: 1, max: 2 }),
            cpu: fc.constantFrom(0, 2),
          })
          .map((one) => [one]),
        fc.constant([
          { gpus: size.gpus, pods: 1 },
          { gpus: 0.5, pods: 1 },
        ]),
        fc.integer({ min: 1, max: 2 }),
      ),
      maxMoves: fc.integer({ min: 1, max: 4 }),
      closed: fc.option(fc.nat(size.nodes - 1), { freq: 4, nil: -1 }),
      cpu: fc.constantFrom(4, 8),
    })
    .map(({ units, goal, maxMoves, closed, cpu }): Case => {
      const physicalGpus = Array.from({ length: size.nodes }, () => Array.from({ length: size.gpus }, () => 1));
      const left = Array.from({ length: size.nodes }, (): number => cpu);
      const seat = (pod: CasePod): boolean => {
        const own = physicalGpus[pod.node] ?? [];
        const share = Math.min(pod.gpus, 1);
        const wanted = Math.max(1, Math.ceil(pod.gpus));
        const taken = own.flatMap((free, physicalGpu) => (free >= share ? [physicalGpu] : [])).slice(0, wanted);
        if (taken.length < wanted || (left[pod.node] ?? 0) < (pod.cpu ?? 0)) return false;
        for (const physicalGpu of taken) own[physicalGpu] = (own[physicalGpu] ?? 0) - share;
        left[pod.node] = (left[pod.node] ?? 0) - (pod.cpu ?? 0);
        return true;
      };
      const made: CaseUnit[] = [];
      const fixed: CasePod[] = [];
      for (const [i, { sizes, at, lost, cpu: own, isGuarded, isFixed }] of units.entries()) {
        const pods = sizes.map((gpus, n) => ({ node: at[n] ?? 0, gpus, cpu: own })).filter(seat);
        if (pods.length === 0) continue;
        if (isFixed) fixed.push(...pods);
        else made.push({ name: `unit-${i}`, pods, lost, ...(isGuarded ? { veto: `unit-${i} is guarded` } : {}) });
      }
      const nodes = physicalGpus.map((_, i) => ({ gpus: size.gpus, cpu, closed: i === closed }));
      return { nodes, units: made, fixed, goal, maxMoves };
    });
}
