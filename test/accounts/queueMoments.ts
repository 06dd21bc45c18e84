import fc from "fast-check";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import type { QueueFairness } from "../../exporter/analysis/fairness/fairness.ts";
import {
  type EvictedWork,
  noQueueing,
  type QuotaDomain,
  type StartedWork,
} from "../../exporter/join/queues/queueing.ts";
import { type AbsentOwner, absentOwners } from "../../exporter/model/shortfall.ts";
import { moment } from "../analysis/momentBuilder.ts";
import { analysed } from "../join/outcomes.ts";
import { domainFairness } from "../queues/judged.ts";
import { queueView, quotaDomain } from "../queues/queueView.ts";

/** One leaf of a generated moment. `entitled: null`: it is not known. */
export interface Leaf {
  readonly name: string;
  readonly domain: string;
  readonly allocated: number;
  readonly pending: number;
  readonly entitled: number | null;
  readonly team?: string | null;
  readonly guaranteed?: number;
  /** Guaranteed and on no node: missed beyond the entitlement. */
  readonly absent?: readonly { readonly owner: AbsentOwner; readonly gpus: number }[];
  /** Missed beyond the entitlement, and of no use to a whole gang. */
  readonly indivisible?: number;
}

/** What happens in a moment beside its leaves. */
export interface MomentParts {
  readonly leaves?: readonly Leaf[];
  readonly capacity?: number;
  readonly started?: readonly StartedWork[];
  readonly evicted?: readonly EvictedWork[];
  readonly waiting?: Partial<Analysis["waiting"]>;
}

/** A moment with these leaves under one root in each domain. Half of what misses to the entitlement is by others. */
export function queueMoment({
  leaves = [],
  capacity = 100,
  started = [],
  evicted = [],
  waiting,
}: MomentParts): Analysis {
  const names = [...new Set(leaves.map(({ domain }) => domain))];
  const domains = names.map((name): QuotaDomain => {
    const unknown = leaves.some((leaf) => leaf.domain === name && leaf.entitled === null);
    return quotaDomain({ name, pools: [name], capacity, unknownBecause: unknown ? "in a test" : null });
  });
  const roots = names.map((_, domain) =>
    queueView({ kind: "Scheduler", name: "kueue", domain, isLeaf: false, parent: null }),
  );
  const views = leaves.map((leaf) => {
    const domain = names.indexOf(leaf.domain);
    const { name, allocated, pending, team = "a", guaranteed = 0 } = leaf;
    return queueView({ name, domain, parent: domain, allocated, pending, team, guaranteed });
  });
  const fairness = leaves.map((leaf) => fairnessOf(leaf));
  const base = analysed(
    moment({ queueing: { ...noQueueing, domains, queues: [...roots, ...views], started, evicted } }),
  );
  return {
    ...base,
    waiting: { ...base.waiting, ...waiting },
    fairness: {
      queues: [...roots.map(() => null), ...fairness],
      domains: domains.map(({ unknownBecause }) => (unknownBecause === null ? domainFairness() : null)),
      teams: [],
    },
  };
}

function fairnessOf({ allocated, pending, entitled, absent = [], indivisible = 0 }: Leaf): QueueFairness | null {
  if (entitled === null) return null;
  const missing = Math.max(0, entitled - allocated);
  const shortfall = missing + indivisible + absent.reduce((sum, { gpus }) => sum + gpus, 0);
  return {
    demand: allocated + pending,
    entitled,
    deviation: allocated - entitled,
    shortfall,
    excess: Math.max(0, allocated - entitled),
    shortfallByBorrowers: missing / 2,
    shortfallByIdleGap: missing / 2,
    shortfallByAbsentCapacity: absent,
    shortfallByIndivisible: indivisible,
    heldBackBy: null,
    actionableShortfall: missing,
  };
}

/** Leaves of two domains, some of them unknown, each name and domain once. */
export const anyLeaves: fc.Arbitrary<readonly Leaf[]> = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom("a", "b", "c", "__proto__", "d/e"),
    domain: fc.constantFrom("H100", "A100+L4"),
    allocated: fc.nat(40),
    pending: fc.nat(20),
    entitled: fc.oneof({ weight: 5, arbitrary: fc.nat(40) }, { weight: 1, arbitrary: fc.constant(null) }),
    team: fc.constantFrom("a", "b", null),
    guaranteed: fc.constantFrom(0, 0, 7),
    absent: fc.uniqueArray(
      fc.record({ owner: fc.constantFrom(...absentOwners), gpus: fc.integer({ min: 1, max: 20 }) }),
      { maxLength: 4, selector: ({ owner }) => owner },
    ),
    indivisible: fc.constantFrom(0, 0, 3),
  }),
  { maxLength: 6, selector: ({ name, domain }) => `${name}|${domain}` },
);

/** One cycle of a lifecycle: seconds since the one before (some too long to be covered), and what is there then. */
export const anyQueueLifecycle = fc.array(
  fc.record({ seconds: fc.constantFrom(30, 30, 30, 12.5, 61, 400), leaves: anyLeaves }),
  { minLength: 2, maxLength: 12 },
);
