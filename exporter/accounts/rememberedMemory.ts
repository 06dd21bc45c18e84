import { z } from "zod";
import { countSources, type Memory, type NodeMemory } from "../join/memory.ts";
import { provesGaps, type ServerMemory } from "../join/serving/serverMemory.ts";
import { sameData } from "../kernel/sameData.ts";
import type { LedgerStart, RememberedChange } from "./ledger/ledger.ts";
import { amount, readText } from "./rememberedText.ts";

/** The memory of one cycle, and the time of that cycle in seconds since the epoch. */
export interface MemoryAt {
  readonly memory: Memory;
  readonly at: number;
}

type TimeName = Exclude<keyof Memory, "nodes" | "servers">;

/** A map of times in a memory, and how the ledger keeps it. */
interface TimeKind {
  readonly name: TimeName;
  /**
   * Whether these are the times at which something was last seen. While it lasts, that is the cycle's own time, which would
   * change every row.
   */
  readonly isMoving?: true;
  /**
   * The longest silence over which the times are kept. `cycles`: the time that coverage allows without samples. `hour`: after
   * an hour, a gang may have been whole meanwhile, a queue not short, work not blocked or a node not idle, and what is seen now
   * is the better answer. Absent: times are always kept.
   */
  readonly keptOver?: "cycles" | "hour";
}

/** The maps of times by their kind in the ledger. */
const timeKinds: ReadonlyMap<string, TimeKind> = new Map<string, TimeKind>([
  ["idle", { name: "idleSince", keptOver: "cycles" }],
  ["stalled", { name: "stalledSince", keptOver: "cycles" }],
  ["stalled-unseen", { name: "stalledUnseenSince", keptOver: "cycles" }],
  ["active-unallocated", { name: "activeUnallocatedAt", isMoving: true }],
  ["allocated", { name: "allocatedAt", isMoving: true }],
  ["gang", { name: "gangSince", keptOver: "hour" }],
  // Numbers of pods are kept as times are.
  ["gang-most", { name: "gangMost", keptOver: "hour" }],
  ["gang-newest", { name: "gangNewest", keptOver: "hour" }],
  ["pending", { name: "pendingSince" }],
  ["not-ready", { name: "notReadySince" }],
  ["short", { name: "shortSince", keptOver: "hour" }],
  ["blocked", { name: "blockedSince", keptOver: "hour" }],
  ["idle-node", { name: "idleNodeSince", keptOver: "hour" }],
]);

const keptOverOf: ReadonlyMap<TimeName, TimeKind["keptOver"]> = new Map(
  [...timeKinds.values()].map(({ name, keptOver }) => [name, keptOver] as const),
);

type Times = ReadonlyMap<string, number>;

/** A memory that consists of these nodes, servers and times. */
function memoryOf({ nodes, servers }: Pick<Memory, "nodes" | "servers">, of: (name: TimeName) => Times): Memory {
  return {
    nodes,
    servers,
    idleSince: of("idleSince"),
    stalledSince: of("stalledSince"),
    stalledUnseenSince: of("stalledUnseenSince"),
    activeUnallocatedAt: of("activeUnallocatedAt"),
    allocatedAt: of("allocatedAt"),
    gangSince: of("gangSince"),
    gangMost: of("gangMost"),
    gangNewest: of("gangNewest"),
    pendingSince: of("pendingSince"),
    notReadySince: of("notReadySince"),
    shortSince: of("shortSince"),
    blockedSince: of("blockedSince"),
    idleNodeSince: of("idleNodeSince"),
  };
}

const nodeKind = "node";
const serverKind = "server";

/** The value that means the time of the cycle with which the row was (or could have been) written. */
const atTheCycle = "=";

/** The most cycles without a sample that coverage allows. */
const silentCycles = 3;
const hourSeconds = 3600;

/** The changes that must be written so that the ledger remembers `after` instead of `before`. */
export function rememberedChanges(before: MemoryAt, after: MemoryAt): readonly RememberedChange[] {
  const changes: RememberedChange[] = [];
  for (const [kind, { name, isMoving = false }] of timeKinds) timeChanges(kind, name, isMoving, before, after, changes);
  recordChanges(nodeKind, before.memory.nodes, after.memory.nodes, (node) => node, changes);
  recordChanges(serverKind, before.memory.servers, after.memory.servers, keptOfServer, changes);
  return changes;
}

function timeChanges(
  kind: string,
  name: TimeName,
  moving: boolean,
  before: MemoryAt,
  after: MemoryAt,
  changes: RememberedChange[],
): void {
  // Some maps are made only when they are first asked for.
  const timesAfter = after.memory[name];
  const timesBefore = before.memory[name];
  if (timesBefore === timesAfter && !moving) return;
  let kept = 0;
  for (const [key, time] of timesAfter) {
    const old = timesBefore.get(key);
    if (old !== undefined) kept += 1;
    const now = moving && time === after.at;
    const wasNow = moving && old === before.at;
    if (old !== undefined && now === wasNow && (now || old === time)) continue;
    changes.push({ kind, key, value: now ? atTheCycle : String(time) });
  }
  if (kept < timesBefore.size) removals(kind, timesBefore, timesAfter, changes);
}

function removals(
  kind: string,
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
  changes: RememberedChange[],
): void {
  for (const key of before.keys()) {
    if (!after.has(key)) changes.push({ kind, key, value: null });
  }
}

/**
 * The memory of a server without the readings of single counters: what was done while Fairlead did not run counts for nothing.
 */
const keptOfServer = ({ readings: _, latency: __, ...kept }: ServerMemory): ServerMemory => kept;

function recordChanges<Record extends NodeMemory | ServerMemory>(
  kind: string,
  before: ReadonlyMap<string, Record>,
  after: ReadonlyMap<string, Record>,
  kept: (record: Record) => Record,
  changes: RememberedChange[],
): void {
  if (before === after) return;
  let found = 0;
  for (const [key, record] of after) {
    const old = before.get(key);
    if (old !== undefined) found += 1;
    if (old === record) continue;
    const value = kept(record);
    if (old === undefined || !sameData(kept(old), value)) changes.push({ kind, key, value: JSON.stringify(value) });
  }
  if (found < before.size) removals(kind, before, after, changes);
}

/**
 * The memory with which a process begins at `at`, from what the ledger remembers. What may have changed while Fairlead did not
 * run is left out (docs/decisions/0006-what-survives-a-restart.md).
 */
export function memoryFromLedger(start: LedgerStart, at: number, intervalSeconds: number): Memory {
  const { memory, at: last } = rememberedIn(start);
  const silence = at - last;
  const longest = { cycles: silentCycles * intervalSeconds, hour: hourSeconds };
  // Counters that have moved show whether requests came meanwhile, unless a server that never had any was restarted.
  const isKept = (server: ServerMemory): boolean =>
    (server.since ?? 0) <= at && (silence <= longest.cycles || provesGaps(server));
  const servers = new Map([...memory.servers].filter(([, server]) => isKept(server)));
  return memoryOf({ nodes: memory.nodes, servers }, (name) => {
    const keptOver = keptOverOf.get(name);
    if (keptOver !== undefined && silence > longest[keptOver]) return new Map();
    // A time in the future was written before the clock was set back.
    return new Map([...memory[name]].filter(([, time]) => time <= at));
  });
}

/**
 * All that the ledger remembers, as of its last entry; the first changes are compared with it. Unreadable rows are left out.
 */
export function rememberedIn(start: LedgerStart): MemoryAt {
  const at = start.lastInterval?.to ?? 0;
  const times = new Map<TimeName, Map<string, number>>();
  const nodes = new Map<string, NodeMemory>();
  const servers = new Map<string, ServerMemory>();
  for (const { kind, key, value } of start.remembered) {
    const timeKind = timeKinds.get(kind);
    if (timeKind !== undefined) {
      const time = value === atTheCycle ? at : timeIn(value);
      const known = times.get(timeKind.name) ?? new Map<string, number>();
      if (time !== null) times.set(timeKind.name, known.set(key, time));
    } else if (kind === nodeKind) readInto(nodes, nodeMemory, key, value);
    else if (kind === serverKind) readInto(servers, serverMemory, key, value);
  }
  return { memory: memoryOf({ nodes, servers }, (name) => times.get(name) ?? new Map()), at };
}

function readInto<Value>(found: Map<string, Value>, schema: z.ZodType<Value>, key: string, text: string): void {
  const value = readText(schema, text);
  if (value !== null) found.set(key, value);
}

const serverMemory = z.object({
  finished: amount,
  promptTokens: amount.nullable(),
  generatedTokens: amount.nullable(),
  since: amount.nullable(),
});

const nodeMemory = z.object({
  bootId: z.string(),
  physicalGpus: amount,
  countedBy: z.enum(countSources),
  models: z.string().array(),
  uuids: z.string().array(),
});

function timeIn(text: string): number | null {
  const time = Number(text);
  return text !== "" && Number.isFinite(time) && time >= 0 ? time : null;
}
