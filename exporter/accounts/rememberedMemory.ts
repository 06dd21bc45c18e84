import { type CountSource, countSources, type Memory, type NodeMemory } from "../join/memory.ts";
import { parseJson } from "../kernel/parseJson.ts";
import type { LedgerStart, RememberedChange } from "./ledger/ledger.ts";

/** The memory of one cycle, and when that cycle was (seconds since the epoch). */
export interface MemoryAt {
  readonly memory: Memory;
  readonly at: number;
}

/** The maps of times in a memory, by their kind in the ledger. */
const timeKinds = {
  idle: "idleSince",
  stalled: "stalledSince",
  "stalled-unseen": "stalledUnseenSince",
  "active-unallocated": "activeUnallocatedAt",
  allocated: "allocatedAt",
  gang: "gangSince",
  pending: "pendingSince",
  "not-ready": "notReadySince",
  short: "shortSince",
  blocked: "blockedSince",
  "idle-node": "idleNodeSince",
} as const satisfies Readonly<Record<string, keyof Memory>>;

type TimeKind = keyof typeof timeKinds;

const nodeKind = "node";

/** These record when something was last seen: while it lasts, that is the cycle's own time, which would change every row. */
const movingKinds: ReadonlySet<TimeKind> = new Set<TimeKind>(["active-unallocated", "allocated"]);

/** Stands for the time of the cycle with which the row is (or could have been) written. */
const atTheCycle = "=";

/**
 * Idle and stalled time continues over a silence of at most this many cycles, as coverage does; over a longer one, samples
 * were not seen.
 */
const idleSilenceCycles = 3;

/**
 * Meanwhile a gang may have been whole, a queue not short, work not blocked or a node not idle; after this many seconds, what
 * is seen now is the better answer.
 */
const gangSilenceSeconds = 3600;

/** What must be written so that the ledger remembers `after` where it remembered `before`; changes only. */
export function rememberedChanges(before: MemoryAt, after: MemoryAt): readonly RememberedChange[] {
  const changes: RememberedChange[] = [];
  for (const kind of timeKindNames) timeChanges(kind, before, after, changes);
  nodeChanges(before.memory.nodes, after.memory.nodes, changes);
  return changes;
}

const timeKindNames: readonly TimeKind[] = Object.keys(timeKinds).filter(isTimeKind);

function isTimeKind(kind: string): kind is TimeKind {
  return Object.hasOwn(timeKinds, kind);
}

function timeChanges(kind: TimeKind, before: MemoryAt, after: MemoryAt, changes: RememberedChange[]): void {
  const name = timeKinds[kind];
  const moving = movingKinds.has(kind);
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

function nodeChanges(
  before: ReadonlyMap<string, NodeMemory>,
  after: ReadonlyMap<string, NodeMemory>,
  changes: RememberedChange[],
): void {
  if (before === after) return;
  let kept = 0;
  for (const [key, node] of after) {
    const old = before.get(key);
    if (old !== undefined) kept += 1;
    if (old === undefined || !sameNode(old, node)) changes.push({ kind: nodeKind, key, value: JSON.stringify(node) });
  }
  if (kept < before.size) removals(nodeKind, before, after, changes);
}

function sameNode(one: NodeMemory, other: NodeMemory): boolean {
  return (
    one === other ||
    (one.bootId === other.bootId &&
      one.physicalGpus === other.physicalGpus &&
      one.countedBy === other.countedBy &&
      sameTexts(one.models, other.models) &&
      sameTexts(one.uuids, other.uuids))
  );
}

function sameTexts(one: readonly string[], other: readonly string[]): boolean {
  return one === other || (one.length === other.length && one.every((text, i) => text === other[i]));
}

/**
 * The memory with which a process begins at `at`, from what the ledger remembers. What may have changed while nobody looked is
 * left out (docs/decisions/0006-what-survives-a-restart.md).
 */
export function memoryFromLedger(start: LedgerStart, at: number, intervalSeconds: number): Memory {
  const { memory, at: last } = rememberedIn(start);
  const silence = at - last;
  const isSeen = silence <= idleSilenceCycles * intervalSeconds;
  // A time in the future was written before the clock was set back.
  const past = (times: ReadonlyMap<string, number>) => new Map([...times].filter(([, time]) => time <= at));
  return {
    nodes: memory.nodes,
    idleSince: isSeen ? past(memory.idleSince) : new Map(),
    stalledSince: isSeen ? past(memory.stalledSince) : new Map(),
    stalledUnseenSince: isSeen ? past(memory.stalledUnseenSince) : new Map(),
    activeUnallocatedAt: past(memory.activeUnallocatedAt),
    allocatedAt: past(memory.allocatedAt),
    gangSince: silence <= gangSilenceSeconds ? past(memory.gangSince) : new Map(),
    pendingSince: past(memory.pendingSince),
    notReadySince: past(memory.notReadySince),
    shortSince: silence <= gangSilenceSeconds ? past(memory.shortSince) : new Map(),
    blockedSince: silence <= gangSilenceSeconds ? past(memory.blockedSince) : new Map(),
    idleNodeSince: silence <= gangSilenceSeconds ? past(memory.idleNodeSince) : new Map(),
  };
}

/** All that the ledger remembers, as of its last entry: what the first changes are compared with. Unreadable rows are left out. */
export function rememberedIn(start: LedgerStart): MemoryAt {
  const at = start.lastInterval?.to ?? 0;
  const times: Readonly<Record<TimeKind, Map<string, number>>> = {
    idle: new Map(),
    stalled: new Map(),
    "stalled-unseen": new Map(),
    "active-unallocated": new Map(),
    allocated: new Map(),
    gang: new Map(),
    pending: new Map(),
    "not-ready": new Map(),
    short: new Map(),
    blocked: new Map(),
    "idle-node": new Map(),
  };
  const nodes = new Map<string, NodeMemory>();
  for (const { kind, key, value } of start.remembered) {
    if (isTimeKind(kind)) {
      const time = value === atTheCycle ? at : timeIn(value);
      if (time !== null) times[kind].set(key, time);
    } else if (kind === nodeKind) {
      const node = nodeIn(value);
      if (node !== null) nodes.set(key, node);
    }
  }
  const memory: Memory = {
    nodes,
    idleSince: times.idle,
    stalledSince: times.stalled,
    stalledUnseenSince: times["stalled-unseen"],
    activeUnallocatedAt: times["active-unallocated"],
    allocatedAt: times.allocated,
    gangSince: times.gang,
    pendingSince: times.pending,
    notReadySince: times["not-ready"],
    shortSince: times.short,
    blockedSince: times.blocked,
    idleNodeSince: times["idle-node"],
  };
  return { memory, at };
}

function timeIn(text: string): number | null {
  const time = Number(text);
  return text !== "" && Number.isFinite(time) && time >= 0 ? time : null;
}

function nodeIn(text: string): NodeMemory | null {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null) return null;
  if (
    !("bootId" in value && "physicalGpus" in value && "countedBy" in value && "models" in value && "uuids" in value)
  ) {
    return null;
  }
  const { bootId, physicalGpus, countedBy, models, uuids } = value;
  if (typeof bootId !== "string" || typeof physicalGpus !== "number" || !(physicalGpus >= 0)) return null;
  if (!isCountSource(countedBy) || !isTexts(models) || !isTexts(uuids)) return null;
  return { bootId, physicalGpus, countedBy, models, uuids };
}

function isCountSource(value: unknown): value is CountSource {
  return countSources.some((source) => source === value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === "string");
}
