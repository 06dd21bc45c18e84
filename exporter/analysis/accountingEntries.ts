// Needed for the goal `cycle` (docs/performance.md).

import type { NodeView, Snapshot } from "../join/snapshot.ts";
import { inRanges, keepShape, type RangeSum } from "../kernel/inRanges.ts";
import { once } from "../kernel/once.ts";
import { type GpuState, gpuStates, stateIds } from "../model/gpuStates.ts";
import type { AccountingEntry } from "./accountingEntry.ts";

/** Why a part of a GPU is in its state; most accounting entries have no such reason. */
type EntryReason = Pick<AccountingEntry, "cause" | "idleReason">;

/**
 * The accounting entries of a moment as columns, in the order of nodes and devices. A cluster of 80,000 GPUs has 160,000 of
 * them in each cycle, and each sum goes through all: as objects they were half of what a cycle left to the garbage collector.
 * What looks at few of them gets them as objects.
 */
export class AccountingEntries {
  readonly length: number;
  /** The names that `node` and `pool` are indices into. */
  readonly nodes: readonly string[];
  readonly pools: readonly string[];
  /** Physical GPUs. */
  readonly gpus: Float64Array;
  /** Index into `gpuStates`. */
  readonly state: Uint8Array;
  readonly node: Int32Array;
  readonly pool: Int32Array;
  /** Indices into `Snapshot.devices` and `Snapshot.pods`; -1 where an entry has `null`. */
  readonly device: Int32Array;
  readonly pod: Int32Array;
  /** 1 or 0. */
  readonly estimated: Uint8Array;
  readonly #reasons: ReadonlyMap<number, EntryReason>;
  #list: readonly AccountingEntry[] | null = null;

  constructor(written: EntryWriter) {
    const { length } = written;
    this.length = length;
    this.nodes = written.nodes;
    this.pools = written.pools;
    this.gpus = written.gpus.subarray(0, length);
    this.state = written.state.subarray(0, length);
    this.node = written.node.subarray(0, length);
    this.pool = written.pool.subarray(0, length);
    this.device = written.device.subarray(0, length);
    this.pod = written.pod.subarray(0, length);
    this.estimated = written.estimated.subarray(0, length);
    this.#reasons = written.reasons;
  }

  /** All of them as objects, which are made when they are first asked for. */
  get list(): readonly AccountingEntry[] {
    this.#list ??= Array.from({ length: this.length }, (_, index) => this.at(index));
    return this.#list;
  }

  /** Adds all of them, in their order, to a sum. */
  addTo(sum: RangeSum): void {
    inRanges(this.length, sum);
  }

  /** The entry at an index below `length`. */
  at(index: number): AccountingEntry {
    const known = this.#list?.[index];
    if (known !== undefined) return known;
    return {
      gpus: this.gpus[index] ?? 0,
      state: gpuStates[this.state[index] ?? 0] ?? "unobserved",
      node: this.nodes[this.node[index] ?? 0] ?? "",
      pool: this.pools[this.pool[index] ?? 0] ?? "",
      device: orNull(this.device[index]),
      pod: orNull(this.pod[index]),
      estimated: this.estimated[index] === 1,
      ...this.#reasons.get(index),
    };
  }

  /** Those in one state, in their order. */
  inState(state: GpuState): readonly AccountingEntry[] {
    const id = stateIds.get(state) ?? -1;
    const found: AccountingEntry[] = [];
    for (let index = this.state.indexOf(id); index >= 0; index = this.state.indexOf(id, index + 1))
      found.push(this.at(index));
    return found;
  }

  /** Those with a cause, in their order. */
  withCause(): readonly AccountingEntry[] {
    const found: AccountingEntry[] = [];
    for (const [index, { cause }] of this.#reasons) if (cause !== undefined) found.push(this.at(index));
    return found;
  }
}

function orNull(index: number | undefined): number | null {
  return index === undefined || index < 0 ? null : index;
}

/** Finds the view of a node by its index in `entries.nodes`: those of a Snapshot are in its order. */
export function nodeFinder(
  { nodes }: Pick<Snapshot, "nodes">,
  entries: AccountingEntries,
): (node: number) => NodeView | undefined {
  const byName = once(() => new Map(nodes.map((view) => [view.name, view] as const)));
  return (node) => {
    const name = entries.nodes[node] ?? "";
    const view = nodes[node];
    return view?.name === name ? view : byName().get(name);
  };
}

/** Accounting entries that are being written; `nodes`: the names of the nodes, `devices`: about how many devices they have. */
export class EntryWriter {
  length = 0;
  readonly nodes: string[];
  readonly pools: string[] = [];
  readonly reasons = new Map<number, EntryReason>();
  gpus: Float64Array;
  state: Uint8Array;
  node: Int32Array;
  pool: Int32Array;
  device: Int32Array;
  pod: Int32Array;
  estimated: Uint8Array;
  #lastPool = -1;

  constructor(nodes: string[], devices: number) {
    // Mostly a part of a device is active and the rest of it is underutilized.
    const room = 2 * devices + 64;
    this.nodes = nodes;
    this.gpus = new Float64Array(room);
    this.state = new Uint8Array(room);
    this.node = new Int32Array(room);
    this.pool = new Int32Array(room);
    this.device = new Int32Array(room);
    this.pod = new Int32Array(room);
    this.estimated = new Uint8Array(room);
  }

  /** Adds an entry; `node` is an index into `nodes`, and `device` or `pod` is -1 if it has none. */
  add(
    { node, pool, device }: { readonly node: number; readonly pool: string; readonly device: number },
    holding: { readonly pod: number; readonly estimated: boolean } | null,
    state: GpuState,
    gpus: number,
    reason: EntryReason | null,
  ): void {
    const at = this.length;
    if (at === this.gpus.length) this.#grow();
    this.length = at + 1;
    this.gpus[at] = gpus;
    this.state[at] = stateIds.get(state) ?? 0;
    this.node[at] = node;
    this.pool[at] = this.#poolId(pool);
    this.device[at] = device;
    this.pod[at] = holding === null ? -1 : holding.pod;
    this.estimated[at] = holding?.estimated === true ? 1 : 0;
    if (reason !== null) this.reasons.set(at, reason);
  }

  /** Neighbours are mostly in one pool, and there are few pools. */
  #poolId(pool: string): number {
    if (this.pools[this.#lastPool] === pool) return this.#lastPool;
    const known = this.pools.indexOf(pool);
    this.#lastPool = known >= 0 ? known : this.pools.push(pool) - 1;
    return this.#lastPool;
  }

  #grow(): void {
    const room = 2 * this.gpus.length;
    this.gpus = grown(this.gpus, new Float64Array(room));
    this.state = grown(this.state, new Uint8Array(room));
    this.node = grown(this.node, new Int32Array(room));
    this.pool = grown(this.pool, new Int32Array(room));
    this.device = grown(this.device, new Int32Array(room));
    this.pod = grown(this.pod, new Int32Array(room));
    this.estimated = grown(this.estimated, new Uint8Array(room));
  }
}

function grown<Column extends Float64Array | Uint8Array | Int32Array>(column: Column, into: Column): Column {
  into.set(column);
  return into;
}

const nothing = new EntryWriter([], 0);
keepShape(nothing);

/** The value for a moment without GPUs. */
export const noEntries = new AccountingEntries(nothing);
