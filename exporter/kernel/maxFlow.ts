/** Amounts below it count as 0: rounding errors of sums of fractions. */
const nothing = 1e-9;

/** A network of nodes and arcs with capacities, in which the most that can flow from one node to another is found. */
export interface FlowNetwork {
  /** Adds a node; its number. */
  addNode(): number;
  /** Adds an arc with a capacity of at least 0, which may be `Infinity`; its number. What flows is taken away. */
  addArc(from: number, to: number, capacity: number): number;
  /** Changes the capacity of an arc. What flows stays until `clear`. */
  setCapacity(arc: number, capacity: number): void;
  /** Takes all flow away. */
  clear(): void;
  /** Adds as much flow as there is room for; what was added. */
  augment(source: number, sink: number): number;
  /** What flows through an arc. */
  flowOf(arc: number): number;
  /** Nodes (by number) to which more could flow from a node: after `augment`, the side of a smallest cut that the source is on. */
  reachableFrom(source: number): Uint8Array;
}

/**
 * An empty network. Dinic's algorithm (1970): shortest paths are filled until none is left. Not by recursion: paths may be
 * thousands of arcs long. At most O(nodes^2 x arcs); on networks of a few layers mostly a few passes over the arcs, which lie
 * node by node in plain columns.
 */
export function createFlowNetwork(): FlowNetwork {
  // Of each arc: where it begins. It ends where its reverse begins.
  const from: number[] = [];
  const capacity: number[] = [];
  let nodes = 0;
  let built: Columns | null = null;

  const columns = (): Columns => {
    built ??= columnsOf(nodes, from, capacity);
    return built;
  };
  return {
    addNode: () => nodes++,
    addArc(source, target, capacityOfArc) {
      built = null;
      // Every arc is followed by its reverse, through which flow is taken back.
      from.push(source, target);
      return capacity.push(capacityOfArc, 0) - 2;
    },
    setCapacity(arc, capacityOfArc) {
      capacity[arc] = capacityOfArc;
      if (built === null) return;
      const at = built.places[arc] ?? -1;
      built.residual[at] = capacityOfArc - (built.residual[built.reverse[at] ?? -1] ?? 0);
    },
    clear() {
      if (built === null) return;
      const { places, residual } = built;
      for (let arc = 0; arc < places.length; arc++) residual[places[arc] ?? 0] = capacity[arc] ?? 0;
    },
    augment(source, sink) {
      const all = columns();
      let total = 0;
      while (true) {
        measure(all, source, sink);
        if (all.distance[sink] === -1) return total;
        total += fill(all, source, sink);
      }
    },
    flowOf(arc) {
      const { residual, reverse, places } = columns();
      return residual[reverse[places[arc] ?? -1] ?? -1] ?? 0;
    },
    reachableFrom(source) {
      const { distance } = measure(columns(), source, -1);
      const side = new Uint8Array(distance.length);
      for (let node = 0; node < side.length; node++) if ((distance[node] ?? -1) >= 0) side[node] = 1;
      return side;
    },
  };
}

/** The arcs of a network, node by node. */
interface Columns {
  /** Where the arcs of each node begin, with one more entry for the end. */
  readonly first: Int32Array;
  readonly target: Int32Array;
  /** Where the reverse of each arc is. */
  readonly reverse: Int32Array;
  /** What can still flow; of a reverse, what flows. */
  readonly residual: Float64Array;
  /** By the number of an arc: where it is. */
  readonly places: Int32Array;
  /** Of each node, from the source that was asked for last; -1: not reached. */
  readonly distance: Int32Array;
  /** Used while flow is added: nodes that are still to be visited, and the arc of each node that is tried next. */
  readonly open: Int32Array;
  readonly current: Int32Array;
}

function columnsOf(nodes: number, from: readonly number[], capacity: readonly number[]): Columns {
  const first = new Int32Array(nodes + 1);
  for (const node of from) first[node + 1] = (first[node + 1] ?? 0) + 1;
  for (let node = 0; node < nodes; node++) first[node + 1] = (first[node + 1] ?? 0) + (first[node] ?? 0);
  const next = first.slice();
  const places = new Int32Array(from.length);
  for (let arc = 0; arc < from.length; arc++) {
    const node = from[arc] ?? 0;
    const at = next[node] ?? 0;
    next[node] = at + 1;
    places[arc] = at;
  }
  const target = new Int32Array(from.length);
  const reverse = new Int32Array(from.length);
  const residual = new Float64Array(from.length);
  for (let arc = 0; arc < from.length; arc++) {
    const at = places[arc] ?? 0;
    target[at] = from[arc ^ 1] ?? 0;
    reverse[at] = places[arc ^ 1] ?? 0;
    residual[at] = capacity[arc] ?? 0;
  }
  const [distance, open] = [new Int32Array(nodes), new Int32Array(nodes)];
  return { first, target, reverse, residual, places, distance, open, current: next };
}

/** Measures how far each node is from the source over arcs with free capacity, up to the distance of the sink. */
function measure(all: Columns, source: number, sink: number): Columns {
  const { first, target, residual, distance: found, open } = all;
  found.fill(-1);
  let count = 1;
  open[0] = source;
  found[source] = 0;
  for (let i = 0; i < count; i++) {
    const node = open[i] ?? 0;
    const distance = (found[node] ?? 0) + 1;
    for (let at = first[node] ?? 0; at < (first[node + 1] ?? 0); at++) {
      const next = target[at] ?? 0;
      if (found[next] !== -1 || (residual[at] ?? 0) <= nothing) continue;
      found[next] = distance;
      if (next === sink) return all;
      open[count++] = next;
    }
  }
  return all;
}

/** Fills paths along which the distance grows by one at each arc, until none is left. */
function fill(all: Columns, source: number, sink: number): number {
  const { first, target, reverse, current, distance } = all;
  current.set(first.subarray(0, current.length));
  const path = new Int32Array(Math.max(0, distance[sink] ?? 0));
  let length = 0;
  let node = source;
  let total = 0;
  while (true) {
    if (node === sink) {
      const { amount, full } = pushAlong(all, path, length);
      total += amount;
      node = target[reverse[path[full] ?? 0] ?? 0] ?? source;
      length = full;
    }
    const at = nextArc(all, node, current[node] ?? 0);
    current[node] = at;
    if (at < (first[node + 1] ?? 0)) {
      path[length++] = at;
      node = target[at] ?? 0;
      continue;
    }
    if (length === 0) return total;
    length -= 1;
    node = target[reverse[path[length] ?? 0] ?? 0] ?? source;
    current[node] = (current[node] ?? 0) + 1;
  }
}

/** The next arc of a node, from one on, that has free capacity and leads one step further; its end where there is none. */
function nextArc({ first, target, residual, distance }: Columns, node: number, from: number): number {
  const end = first[node + 1] ?? 0;
  const deeper = (distance[node] ?? 0) + 1;
  let at = from;
  while (at < end && ((residual[at] ?? 0) <= nothing || distance[target[at] ?? 0] !== deeper)) at++;
  return at;
}

/** Fills a path; by how much, and which of its arcs is the first that is full then. */
function pushAlong({ residual, reverse }: Columns, path: Int32Array, length: number) {
  let amount = Number.POSITIVE_INFINITY;
  let full = 0;
  for (let i = 0; i < length; i++) {
    const here = residual[path[i] ?? 0] ?? 0;
    if (here >= amount) continue;
    amount = here;
    full = i;
  }
  for (let i = 0; i < length; i++) {
    const at = path[i] ?? 0;
    const back = reverse[at] ?? 0;
    residual[at] = (residual[at] ?? 0) - amount;
    residual[back] = (residual[back] ?? 0) + amount;
  }
  return { amount, full };
}
