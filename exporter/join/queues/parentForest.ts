import { compareText } from "../../kernel/compareText.ts";
/** A queue that names its parent; `null` for a top queue. */
export interface NamedChild {
  readonly name: string;
  readonly parent: string | null;
}

/** One record of a forest. */
export interface ForestEntry {
  readonly name: string;
  /** Index into the same list, smaller than its own; `null` for a root. */
  readonly parent: number | null;
  readonly isLeaf: boolean;
}

/** Queues in a fixed order, whatever the order in which they came. */
export interface ParentForest {
  /** Parents before children, siblings by name; parents that exist only by name are among them. */
  readonly entries: readonly ForestEntry[];
  /** Names that form a cycle, from the smallest, which becomes a root here. */
  readonly cycles: readonly (readonly string[])[];
}

/** Puts queues that name their parents in order. Of two with one name the last counts. Linear, and no recursion. */
export function parentForest(children: readonly NamedChild[]): ParentForest {
  const parents = new Map<string, string | null>();
  for (const { name, parent } of children) parents.set(name, parent);
  for (const { parent } of children) if (parent !== null && !parents.has(parent)) parents.set(parent, null);
  const names = [...parents.keys()].sort(compareText);
  const cycles = cutCycles(names, parents);
  const childrenOf = new Map<string | null, string[]>();
  for (const name of names) {
    const parent = parents.get(name) ?? null;
    const siblings = childrenOf.get(parent);
    if (siblings === undefined) childrenOf.set(parent, [name]);
    else siblings.push(name);
  }
  const entries: ForestEntry[] = [];
  const add = (name: string, parent: number | null) =>
    entries.push({ name, parent, isLeaf: childrenOf.get(name) === undefined });
  for (const root of childrenOf.get(null) ?? []) add(root, null);
  // The list grows while it is walked: level by level, parents before children.
  for (let at = 0; at < entries.length; at++) {
    const entry = entries[at];
    if (entry !== undefined) for (const child of childrenOf.get(entry.name) ?? []) add(child, at);
  }
  return { entries, cycles };
}

/** Makes the smallest name of each cycle a root, and returns the cycles: each from that name on. */
export function cutCycles(
  names: readonly string[],
  parents: Map<string, string | null>,
): readonly (readonly string[])[] {
  const cycles: (readonly string[])[] = [];
  const finished = new Set<string>();
  for (const start of names) {
    const path = new Set<string>();
    let at: string | null = start;
    while (at !== null && !finished.has(at) && !path.has(at)) {
      path.add(at);
      at = parents.get(at) ?? null;
    }
    if (at !== null && path.has(at)) {
      const walked: readonly string[] = [...path];
      const circle: readonly string[] = walked.slice(walked.indexOf(at));
      const smallest = circle.toSorted(compareText)[0] ?? at;
      parents.set(smallest, null);
      const from = circle.indexOf(smallest);
      cycles.push([...circle.slice(from), ...circle.slice(0, from)]);
    }
    for (const name of path) finished.add(name);
  }
  return cycles;
}
