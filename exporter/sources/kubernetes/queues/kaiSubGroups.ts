import { has, number, type Place } from "../fields.ts";
import { nameText, someItems } from "./bounds.ts";

interface SubGroup {
  readonly name: string;
  readonly parent: string;
  readonly minMember: number | null;
  readonly minSubGroup: number | null;
}

/** Deeper trees than any workload has; a ring of parents ends here too. */
const maxDepth = 8;

/**
 * How many pods a PodGroup of KAI must have to run: `minMember`; else what its sub-groups need, of which `minSubGroup`
 * (all where it is not set) must run, the smallest first; 1 where nothing says.
 */
export function gangMinimum(spec: Place): number {
  if (has(spec, "minMember")) return number(spec, "minMember") ?? 1;
  // Names are unique: many of one name below themselves would be walked again and again.
  const groups = new Map<string, SubGroup>();
  for (const group of someItems(spec, "subGroups")) {
    const name = nameText(group, "name");
    groups.set(name, {
      name,
      parent: nameText(group, "parent"),
      minMember: number(group, "minMember"),
      minSubGroup: number(group, "minSubGroup"),
    });
  }
  if (groups.size === 0) return 1;
  const childrenOf = Map.groupBy(groups.values(), ({ parent }) => parent);
  return needOf(childrenOf, "", number(spec, "minSubGroup"), 0);
}

function needOf(
  childrenOf: ReadonlyMap<string, readonly SubGroup[]>,
  parent: string,
  minSubGroup: number | null,
  depth: number,
): number {
  const children = childrenOf.get(parent);
  if (children === undefined || depth === maxDepth) return 0;
  const needs = children.map((group) =>
    childrenOf.has(group.name) ? needOf(childrenOf, group.name, group.minSubGroup, depth + 1) : (group.minMember ?? 1),
  );
  needs.sort((a, b) => a - b);
  return needs.slice(0, minSubGroup ?? needs.length).reduce((sum, need) => sum + need, 0);
}
