/** A node of one pool as plain numbers; GPUs are whole or held. */
export interface NaiveNode {
  /** Values of the labels, coarsest first; `undefined`: the node lacks it. */
  readonly path: readonly (string | undefined)[];
  readonly gpus: number;
  readonly free: number;
  readonly isUsable: boolean;
}

const key = (node: NaiveNode, level: number): string | null => {
  const values = node.path.slice(0, level + 1);
  return values.some((value) => value === undefined || value === "") ? null : values.join("/");
};

/** Places pods one by one and counts whole gangs, domain by domain. */
export function naiveSlots(nodes: readonly NaiveNode[], level: number, gangGpus: number, nodeGpus: number): number {
  let slots = 0;
  for (const group of domains(nodes, level).values()) slots += gangsIn(group, gangGpus, nodeGpus);
  return slots;
}

function gangsIn(nodes: readonly NaiveNode[], gangGpus: number, nodeGpus: number): number {
  const left = nodes.map(({ free, isUsable }) => (isUsable ? free : 0));
  const perPod = Math.min(gangGpus, nodeGpus);
  for (let gangs = 0; ; gangs++) {
    let asked = 0;
    while (asked < gangGpus) {
      const node = left.findIndex((free) => free >= perPod);
      if (node < 0) return gangs;
      left[node] = (left[node] ?? 0) - perPod;
      asked += perPod;
    }
  }
}

/** Expected GPUs that gangs of these sizes cannot use: averaged over those that an empty domain could take. */
export function naiveUnusable(
  nodes: readonly NaiveNode[],
  level: number,
  sizes: readonly number[],
  nodeGpus: number,
): number | null {
  const groups = [...domains(nodes, level).values()];
  const amounts: number[] = [];
  for (const size of sizes) {
    const perPod = Math.min(size, nodeGpus);
    const empty = groups.map((group) => group.map((node) => ({ ...node, free: node.gpus, isUsable: true })));
    if (!empty.some((group) => gangsIn(group, size, nodeGpus) > 0)) continue;
    let lost = 0;
    for (const group of groups) {
      const fits = gangsIn(group, size, nodeGpus) > 0;
      for (const { free, isUsable } of group) if (isUsable && !(fits && free >= perPod)) lost += free;
    }
    amounts.push(lost);
  }
  return amounts.length === 0 ? null : amounts.reduce((sum, one) => sum + one, 0) / amounts.length;
}

function domains(nodes: readonly NaiveNode[], level: number): ReadonlyMap<string, readonly NaiveNode[]> {
  const groups = new Map<string, NaiveNode[]>();
  for (const node of nodes) {
    const own = key(node, level);
    if (own !== null) groups.set(own, [...(groups.get(own) ?? []), node]);
  }
  return groups;
}
