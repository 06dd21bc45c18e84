import { keepShape } from "./inRanges.ts";

/** Amounts below this count as 0, because they are rounding errors of sums of fractions. */
const nothing = 1e-9;

/** By how much the number of an arc is above that of the arc that was added before it. */
export const arcStep = 2;

const firstLength = 64;

/**
 * A network of nodes and arcs with capacities, in which the most that can flow from one node to another is found. The algorithm
 * is Dinic's (1970): shortest paths are filled until none is left. It is not recursive, because paths may be thousands of arcs
 * long. It takes at most O(nodes^2 x arcs); on networks of a few layers, it mostly takes a few passes over the arcs, which are in
 * plain columns, node by node.
 */
export class FlowNetwork {
  /** The node at which each arc begins. An arc ends where its reverse begins. Both columns are longer than they need to be. */
  #from = new Int32Array(firstLength);
  #capacity = new Float64Array(firstLength);
  #arcs = 0;
  #nodes = 0;
  #built: Columns | null = null;

  /** Adds a node and returns its number. */
  addNode(): number {
    return this.#nodes++;
  }

  /** Adds an arc with a capacity of at least 0, which may be `Infinity`, and returns its number. All flow is removed. */
  addArc(source: number, target: number, capacity: number): number {
    this.#built = null;
    const arc = this.#arcs;
    this.#arcs += arcStep;
    if (this.#arcs > this.#from.length) this.#lengthen();
    // Every arc is followed by its reverse, through which flow can be reduced.
    this.#from[arc] = source;
    this.#from[arc + 1] = target;
    this.#capacity[arc] = capacity;
    return arc;
  }

  #lengthen(): void {
    const [from, capacity] = [this.#from, this.#capacity];
    this.#from = new Int32Array(2 * from.length);
    this.#from.set(from);
    this.#capacity = new Float64Array(2 * capacity.length);
    this.#capacity.set(capacity);
  }

  /** Changes the capacity of an arc. The flow stays until `clear`. */
  setCapacity(arc: number, capacity: number): void {
    this.#capacity[arc] = capacity;
    const built = this.#built;
    if (built === null) return;
    const at = built.places[arc] ?? -1;
    built.residual[at] = capacity - (built.residual[built.reverse[at] ?? -1] ?? 0);
  }

  /** Removes all flow. */
  clear(): void {
    if (this.#built === null) return;
    const { places, residual } = this.#built;
    const capacity = this.#capacity;
    for (let arc = 0; arc < places.length; arc++) residual[places[arc] ?? 0] = capacity[arc] ?? 0;
  }

  /** Adds as much flow as the free capacity allows, and returns how much was added. */
  augment(source: number, sink: number): number {
    const all = this.#columns();
    let total = 0;
    while (true) {
      measure(all, source, sink);
      if (all.distance[sink] === -1) return total;
      total += fill(all, source, sink);
    }
  }

  /** The flow through an arc. */
  flowOf(arc: number): number {
    const { residual, reverse, places } = this.#columns();
    return residual[reverse[places[arc] ?? -1] ?? -1] ?? 0;
  }

  /**
   * For each node, by number: 1 if more could flow to it from `source`, else 0. After `augment`, these nodes are the side of a
   * smallest cut that contains the source.
   */
  reachableFrom(source: number): Uint8Array {
    const { distance } = measure(this.#columns(), source, -1);
    const side = new Uint8Array(distance.length);
    for (let node = 0; node < side.length; node++) if ((distance[node] ?? -1) >= 0) side[node] = 1;
    return side;
  }

  #columns(): Columns {
    const arcs = this.#arcs;
    this.#built ??= columnsOf(this.#nodes, this.#from.subarray(0, arcs), this.#capacity.subarray(0, arcs));
    return this.#built;
  }
}

keepShape(new FlowNetwork());

/** The arcs of a network, node by node. */
interface Columns {
  /** The index of the first arc of each node, with one more entry for the end. */
  readonly first: Int32Array;
  readonly target: Int32Array;
  /** The index of the reverse of each arc. */
  readonly reverse: Int32Array;
  /** The flow that can still be added to an arc; for a reverse, the flow of its arc. */
  readonly residual: Float64Array;
  /** The index of each arc by its number. */
  readonly places: Int32Array;
  /** The distance of each node from the source that was used last; -1 if it was not reached. */
  readonly distance: Int32Array;
  /** These are used while flow is added: nodes that are still to be visited, and the arc of each node that is tried next. */
  readonly open: Int32Array;
  readonly current: Int32Array;
}

function columnsOf(nodes: number, from: Int32Array, capacity: Float64Array): Columns {
  const first = new Int32Array(nodes + 1);
  for (let arc = 0; arc < from.length; arc++) {
    const after = (from[arc] ?? 0) + 1;
    first[after] = (first[after] ?? 0) + 1;
  }
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

/** Measures the distance of each node from the source over arcs with free capacity, up to the distance of the sink. */
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

/** Fills paths on which the distance grows by one at each arc, until none is left. Returns the flow that was added. */
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

/**
 * The next arc of a node, from `from` on, that has free capacity and leads one step further; the end of the node's arcs if
 * there is none.
 */
function nextArc({ first, target, residual, distance }: Columns, node: number, from: number): number {
  const end = first[node + 1] ?? 0;
  const deeper = (distance[node] ?? 0) + 1;
  let at = from;
  while (at < end && ((residual[at] ?? 0) <= nothing || distance[target[at] ?? 0] !== deeper)) at++;
  return at;
}

/** Fills a path; returns by how much, and the position on the path of its first arc that is full then. */
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
