import { headOf, type UnitClaims } from "./unitClaims.ts";

/** A queue with its part of what its tier divides. */
export interface Tiered {
  readonly entity: number;
  readonly weight: number;
}

/** The members by priority from high to low; in each, those with a weight come before those that are served last. */
export function tiersOf(members: readonly number[], claims: UnitClaims): readonly (readonly Tiered[])[] {
  const byPriority = Map.groupBy(members, (entity) => headOf(claims, entity)?.queue.priority ?? 0);
  return [...byPriority]
    .sort(([a], [b]) => b - a)
    .flatMap(([, own]) => {
      const weighed = own.map((entity) => ({ entity, weight: headOf(claims, entity)?.queue.weight ?? 0 }));
      const last = weighed
        .filter(({ entity, weight }) => weight <= 0 && headOf(claims, entity)?.queue.zeroWeight === "last")
        .map(({ entity }) => ({ entity, weight: 1 }));
      return [weighed.filter(({ weight }) => weight > 0), last].filter((tier) => tier.length > 0);
    });
}
