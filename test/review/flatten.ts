/** A value of a document that is no list and no object. */
export type Leaf = string | number | boolean | null;

/** What distinguishes the elements of each list of a review: fields, where no list is named its places. */
const identities: Readonly<Record<string, readonly string[]>> = {
  "coverage.byCluster": ["cluster"],
  "coverage.gaps": ["cluster", "from"],
  prices: ["cluster", "source", "basis", "currency"],
  periods: ["label"],
  tiles: ["id"],
  "tiles.before": ["label"],
  waterfall: ["level"],
  "waterfall.drops": ["state", "isAllocated"],
  demand: ["domain"],
  "demand.steps": ["at"],
  teams: ["team"],
  "teams.waits.buckets": ["bucket"],
  "teams.budgets": ["currency"],
  "waits.bySize": ["sizeClass", "priorityClass"],
  "waits.bySize.buckets": ["bucket"],
  "waits.byQueue": ["queue"],
  "waits.byQueue.buckets": ["bucket"],
  "idleNodes.pools": ["nodePool", "pool", "state"],
  "idleNodes.streaks": ["node", "state"],
  fragmentation: ["pool"],
  startTimes: ["queue", "sizeClass"],
  topology: ["pool", "level"],
  "topology.gangs": ["gpus"],
  "faults.causes": ["cause"],
  "faults.outages": ["node", "gpu", "pool", "cause", "teams"],
  serving: ["kind", "namespace", "name", "team"],
  "jobs.byCost": ["namespace", "name"],
  "jobs.byWaste": ["namespace", "name"],
  runway: ["domain"],
  "runway.weeks": ["from"],
  actions: ["id", "firstSeen"],
  lastActions: ["id", "firstSeen"],
  notAdvised: ["kind", "subject"],
  trackRecords: ["kind", "act"],
};

/** All leaves of a document by their place, in which elements of lists are named by what they are: `teams[ads].held`. */
export function flatten(document: unknown): ReadonlyMap<string, Leaf> {
  return new Map(leavesOf(document, "", ""));
}

function leavesOf(value: unknown, place: string, list: string): readonly (readonly [string, Leaf])[] {
  if (Array.isArray(value)) {
    const places = value.map((element, i) => `${place}[${keyOf(element, i, list)}]`);
    if (new Set(places).size < places.length) throw new Error(`${list} has an element twice: ${places.join(" ")}`);
    return value.flatMap((element, i) => leavesOf(element, places[i] ?? "", list));
  }
  if (typeof value === "object" && value !== null) {
    const separator = place === "" ? "" : ".";
    return Object.entries(value).flatMap(([name, inner]) =>
      leavesOf(inner, `${place}${separator}${name}`, `${list}${separator}${name}`),
    );
  }
  const isLeaf = typeof value === "string" || typeof value === "number" || typeof value === "boolean" || value === null;
  return isLeaf ? [[place, value]] : [];
}

function keyOf(element: unknown, i: number, list: string): string {
  const fields = identities[list];
  return fields === undefined ? `${i}` : fields.map((field) => String(Reflect.get(Object(element), field))).join("|");
}
