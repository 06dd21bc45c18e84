import { z } from "zod";
import type { Analysis } from "../analysis/analysis.ts";
import { type UnavailableCause, unavailableCauses } from "../model/gpuFaults.ts";
import { unknownPool } from "./inventory.ts";
import type { Remembered, RememberedChange } from "./ledger/ledger.ts";
import { readText } from "./rememberedText.ts";

/**
 * A GPU, or GPUs of a node that fail together or have no known UUID, that could not be used for at least five minutes. Node,
 * GPU and `begins` identify an outage: however often its error is reported, it is one outage until the GPU can be used again.
 */
export interface Outage {
  readonly node: string;
  /** UUID of the GPU; empty for GPUs of the node that fail together. */
  readonly gpu: string;
  readonly nodePool: string;
  readonly pool: string;
  /** The last cause that was known. */
  readonly cause: UnavailableCause;
  /** The most physical GPUs that could not be used at the same time. */
  readonly gpus: number;
  /** Teams that held any part of the GPUs meanwhile, sorted and separated by commas; empty if nobody did. */
  readonly teams: string;
  /** The first moment at which the GPUs could not be used, seconds since the epoch. */
  readonly begins: number;
  /**
   * The first moment at which they could be used again, or the last one at which they were seen; `null` while the outage lasts.
   */
  readonly ends: number | null;
}

/** Follows since when GPUs have not been usable, and when they become usable again. */
export interface OutageAccount {
  /** Takes in a moment, `at` seconds since the epoch. While the objects are unknown, no outage begins or ends. */
  see(analysis: Pick<Analysis, "snapshot" | "accountingEntries">, at: number): void;
  /** Returns the changes that must be written to the ledger. */
  takeChanges(): { readonly outages: readonly Outage[]; readonly remembered: readonly RememberedChange[] };
}

/** The shortest outage that is reported, in seconds; a restart of a device plugin takes less. */
const shortestSeconds = 5 * 60;
/**
 * The longest silence over which an outage continues, in seconds. After a longer one, it is not known what happened meanwhile.
 */
const longestSilenceSeconds = 3600;
const mostTeams = 8;
const kind = "outage";

interface Followed extends Omit<Outage, "node" | "gpu" | "ends"> {
  readonly isReported: boolean;
}

type Seen = Omit<Followed, "begins" | "isReported">;

/**
 * Creates an account that continues what a ledger remembers. `seenAt` is the last moment that the ledger has covered, seconds
 * since the epoch.
 */
export function createOutageAccount(
  remembered: readonly Remembered[] = [],
  seenAt: number | null = null,
): OutageAccount {
  const followed = new Map<string, Followed>();
  let last = seenAt ?? Number.NEGATIVE_INFINITY;
  let outages: Outage[] = [];
  let changes = new Map<string, string | null>();

  function report(key: string, { isReported: _, ...outage }: Followed, ends: number | null): void {
    const [node, gpu] = placeOf(key);
    outages.push({ node, gpu, ...outage, ends });
  }

  /** Ends an outage. If the clock was set back, the outage must not end before it began. */
  function end(key: string, outage: Followed, at: number): void {
    const ends = Math.max(at, outage.begins);
    if (outage.isReported || ends - outage.begins >= shortestSeconds) report(key, outage, ends);
    followed.delete(key);
    changes.set(key, null);
  }

  function seeOne(key: string, now: Seen, at: number): void {
    const known = followed.get(key);
    const next = known === undefined ? { ...now, begins: at, isReported: false } : withNews(known, now);
    const isDue = !next.isReported && at - next.begins >= shortestSeconds;
    if (next === known && !isDue) return;
    const kept = isDue ? { ...next, isReported: true } : next;
    if (kept.isReported) report(key, kept, null);
    followed.set(key, kept);
    changes.set(key, JSON.stringify(kept));
  }

  for (const { kind: of, key, value } of remembered) {
    const outage = of === kind ? readText(rowValue, value) : null;
    if (outage !== null) followed.set(key, outage);
  }

  return {
    see({ snapshot, accountingEntries }, at) {
      const isLong = at - last > longestSilenceSeconds;
      for (const [key, outage] of followed) if (isLong || outage.begins > at) end(key, outage, Math.min(last, at));
      if (!snapshot.coverage.objects) return;
      last = at;
      const seen = outagesOf(snapshot, accountingEntries);
      for (const [key, outage] of followed) if (!seen.has(key)) end(key, outage, at);
      for (const [key, outage] of seen) seeOne(key, outage, at);
    },
    takeChanges() {
      const taken = { outages, remembered: [...changes].map(([key, value]) => ({ kind, key, value })) };
      outages = [];
      changes = new Map();
      return taken;
    },
  };
}

/** The outage with what is new in it; the same object if nothing is. */
function withNews(known: Followed, now: Seen): Followed {
  const cause = now.cause === "unknown" ? known.cause : now.cause;
  const gpus = Math.max(known.gpus, now.gpus);
  const teams = joined(known.teams, now.teams);
  const isSame = cause === known.cause && gpus === known.gpus && teams === known.teams;
  return isSame && now.pool === known.pool && now.nodePool === known.nodePool
    ? known
    : { ...known, ...now, cause, gpus, teams };
}

function joined(one: string, other: string): string {
  if (other === "" || one === other) return one;
  const names = new Set([...one.split(","), ...other.split(",")].filter((name) => name !== ""));
  return [...names].sort().slice(0, mostTeams).join(",");
}

/** The GPUs that cannot be used now, by outage. A node that is not ready is one outage. */
function outagesOf(snapshot: Analysis["snapshot"], entries: Analysis["accountingEntries"]): ReadonlyMap<string, Seen> {
  const lost = entries.inState("unavailable").filter(({ gpus }) => gpus > 0);
  const seen = new Map<string, Seen>();
  if (lost.length === 0) return seen;
  const nodes = new Map(snapshot.nodes.map((node) => [node.name, node] as const));
  for (const { node, device, pool, pod, gpus, cause } of lost) {
    const because = unavailableCauses.find((one) => one === cause) ?? "unknown";
    const uuid = device === null || because === "node" ? null : (snapshot.devices[device]?.uuid ?? null);
    const key = JSON.stringify([node, uuid ?? ""]);
    const view = nodes.get(node);
    const known = seen.get(key);
    const team = pod === null ? "" : (snapshot.pods[pod]?.team ?? "").replaceAll(",", " ");
    seen.set(key, {
      nodePool: view?.nodePool || "unknown",
      pool: uuid === null ? (view?.pools[0] ?? unknownPool) : pool,
      cause: known === undefined || known.cause === "unknown" ? because : known.cause,
      gpus: (known?.gpus ?? 0) + gpus,
      teams: joined(known?.teams ?? "", team),
    });
  }
  return seen;
}

const place = z.tuple([z.string(), z.string()]);

function placeOf(key: string): readonly [node: string, gpu: string] {
  return readText(place, key) ?? ["", ""];
}

const rowValue = z.object({
  nodePool: z.string(),
  pool: z.string(),
  cause: z.enum(unavailableCauses),
  gpus: z.number(),
  teams: z.string(),
  begins: z.number(),
  isReported: z.boolean(),
});
