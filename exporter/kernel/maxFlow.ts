/** Amounts below it are nothing: what is left of sums of fractions. */
const nothing = 1e-9;

/** A network of nodes and arcs with capacities, in which the most that can flow from one node to another is found. */
export interface FlowNetwork {
  /** Adds a node; its number. */
  addNode(): number;
  /** Adds an arc with a capacity of at least 0, which may be `Infinity`; its number. */
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
 * thousands of arcs long. At most O(nodes^2 x arcs); on networks of a few layers mostly a few passes over the arcs.
 */
export function createFlowNetwork(): FlowNetwork {
  const firstArc: number[] = [];
  const nextArc: number[] = [];
  const target: number[] = [];
  const capacity: number[] = [];
  const flow: number[] = [];

  const add = (from: number, to: number, room: number): number => {
    const arc = target.push(to) - 1;
    capacity.push(room);
    flow.push(0);
    nextArc.push(firstArc[from] ?? -1);
    firstArc[from] = arc;
    return arc;
  };
  // Every arc is followed by its reverse, through which flow is taken back.
  const roomOf = (arc: number): number => (capacity[arc] ?? 0) - (flow[arc] ?? 0);
  const push = (arc: number, amount: number): void => {
    flow[arc] = (flow[arc] ?? 0) + amount;
    flow[arc ^ 1] = (flow[arc ^ 1] ?? 0) - amount;
  };

  /** Distance of each node from the source over arcs with room; -1: not reached. */
  function distances(source: number): Int32Array {
    const found = new Int32Array(firstArc.length).fill(-1);
    const open = [source];
    found[source] = 0;
    for (const node of open) {
      for (let arc = firstArc[node] ?? -1; arc >= 0; arc = nextArc[arc] ?? -1) {
        const to = target[arc] ?? -1;
        if (found[to] !== -1 || roomOf(arc) <= nothing) continue;
        found[to] = (found[node] ?? 0) + 1;
        open.push(to);
      }
    }
    return found;
  }

  /** Fills paths along which the distance grows by one at each arc, until none is left. */
  function fill(source: number, sink: number, level: Int32Array): number {
    const current = Int32Array.from(firstArc);
    const path: number[] = [];
    let node = source;
    let total = 0;
    while (true) {
      if (node === sink) {
        let amount = Number.POSITIVE_INFINITY;
        for (const arc of path) amount = Math.min(amount, roomOf(arc));
        for (const arc of path) push(arc, amount);
        total += amount;
        const full = path.findIndex((arc) => roomOf(arc) <= nothing);
        node = target[(path[full] ?? 0) ^ 1] ?? source;
        path.length = full;
        continue;
      }
      let arc = current[node] ?? -1;
      while (arc >= 0 && (roomOf(arc) <= nothing || level[target[arc] ?? -1] !== (level[node] ?? 0) + 1))
        arc = nextArc[arc] ?? -1;
      current[node] = arc;
      if (arc >= 0) {
        path.push(arc);
        node = target[arc] ?? -1;
        continue;
      }
      const back = path.pop();
      if (back === undefined) return total;
      node = target[back ^ 1] ?? source;
      current[node] = nextArc[current[node] ?? -1] ?? -1;
    }
  }

  return {
    addNode: () => firstArc.push(-1) - 1,
    addArc(from, to, room) {
      const arc = add(from, to, room);
      add(to, from, 0);
      return arc;
    },
    setCapacity(arc, room) {
      capacity[arc] = room;
    },
    clear: () => void flow.fill(0),
    augment(source, sink) {
      let total = 0;
      while (true) {
        const level = distances(source);
        if (level[sink] === -1) return total;
        total += fill(source, sink, level);
      }
    },
    flowOf: (arc) => flow[arc] ?? 0,
    reachableFrom: (source) => Uint8Array.from(distances(source), (distance) => (distance >= 0 ? 1 : 0)),
  };
}
