import type { QueueSettings } from "../../config/queuesSchema.ts";
import type { Problem } from "../../model/problem.ts";
import type { ResourceQuota } from "../../model/queues/queueObjects.ts";
import type { DeclaredQueue, PoolFacts, QueueSystem } from "./queueSystem.ts";
import { quotaLimit } from "./quotaLimit.ts";
import { isGpuResource } from "./resourceGpus.ts";
import { hardByNamespace } from "./teamsQuotas.ts";
import { teamTerms } from "./teamsTerms.ts";

/** Work with GPUs of one team in one namespace that belongs to no scheduler's queue. */
export interface TeamPresence {
  readonly team: string;
  readonly namespace: string;
  /** Pools in which it holds GPUs, or in which its waiting work may run; `null`: any. */
  readonly pools: readonly string[] | null;
}

/** The input for teams as queues. */
export interface TeamInput {
  readonly pools: readonly PoolFacts[];
  /** `queues.teams` of the configuration. */
  readonly teams: QueueSettings["teams"];
  readonly resourceQuotas: readonly ResourceQuota[];
  /** The work of teams, without pods of scheduler-managed queues. One team and namespace may come more than once. */
  readonly present: readonly TeamPresence[];
}

/**
 * Where no scheduler has queues the team is the queue. A team with a ResourceQuota on GPUs in one of its namespaces is
 * above a leaf for each namespace, named `team/namespace`: one namespace may serve several teams.
 *
 * A quota without pools counts over all of them. Only quotas of namespaces with work count: a quota that keeps GPUs out of
 * a namespace must not make one domain of all pools.
 */
export function teamSystem(input: TeamInput): QueueSystem {
  const { pools, present } = input;
  const all = pools.map(({ pool }) => pool);
  const occupied = new Set(present.map(({ namespace }) => namespace));
  const hard = hardByNamespace(input.resourceQuotas, (resource) => isGpuResource(resource, pools));
  for (const namespace of hard.keys()) if (!occupied.has(namespace)) hard.delete(namespace);
  const divided = new Set(present.filter(({ namespace }) => hard.has(namespace)).map(({ team }) => team));
  const countsOverAll = hard.size > 0 || input.teams.some((entry) => entry.pools === undefined);
  const chosen = input.teams.flatMap((entry) => (entry.pools === undefined ? [] : [known(entry.pools, all)]));
  return {
    scheduler: "none",
    isInUse: present.length > 0 || input.teams.length > 0,
    scopes: (countsOverAll ? [all, ...chosen] : chosen)
      .filter((scope) => scope.length > 0)
      .map((scope) => ({ name: scope.join("+"), covers: (pool) => scope.includes(pool) })),
    queuesIn: ({ pools: inside }) => {
      const here = new Set(inside.map(({ pool }) => pool));
      const terms = teamTerms(input.teams, here);
      const namespaces = namespacesByTeam(present, here);
      const found: DeclaredQueue[] = [];
      for (const team of [...new Set([...namespaces.keys(), ...terms.keys()])].sort()) {
        const own = terms.get(team) ?? { guaranteed: 0, limit: Infinity, weight: 1 };
        const leaves = divided.has(team) ? [...(namespaces.get(team) ?? [])].sort() : [];
        const parent = found.length;
        found.push({ ...leaf, kind: "Team", name: team, ...own, isLeaf: leaves.length === 0 });
        for (const namespace of leaves) {
          const limit = quotaLimit(hard.get(namespace) ?? null, inside);
          found.push({ ...leaf, kind: "Namespace", name: leafName(team, namespace), parent, limit });
        }
      }
      return found;
    },
    gangs: [],
    leafOf: (team, namespace) => (divided.has(team) ? leafName(team, namespace) : team),
    problems: unknownPools(input.teams, all),
  };
}

const leaf = {
  parent: null,
  isLeaf: true,
  guaranteed: 0,
  lendingLimit: Infinity,
  weight: 1,
  zeroWeight: "never",
  priority: 0,
  isStrictOrder: false,
  reclaim: {
    takes: "lower-priority",
    upTo: "entitlement",
    gives: true,
    keptFromPriority: null,
    setting: "without queues Kubernetes preempts lower pod priorities, and takes nothing back from teams",
  },
  reserved: null,
} as const;

/** A namespace cannot contain `/`. */
const leafName = (team: string, namespace: string): string => `${team}/${namespace}`;

const known = (wanted: readonly string[], all: readonly string[]): readonly string[] =>
  all.filter((pool) => wanted.includes(pool));

function namespacesByTeam(
  present: readonly TeamPresence[],
  here: ReadonlySet<string>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const { team, namespace, pools } of present) {
    if (pools !== null && !pools.some((pool) => here.has(pool))) continue;
    const namespaces = found.get(team);
    if (namespaces === undefined) found.set(team, new Set([namespace]));
    else namespaces.add(namespace);
  }
  return found;
}

function unknownPools(teams: QueueSettings["teams"], all: readonly string[]): readonly Problem[] {
  const wanted = new Map(teams.flatMap(({ team, pools }) => (pools ?? []).map((pool) => [pool, team] as const)));
  return [...wanted]
    .filter(([pool]) => !all.includes(pool))
    .sort()
    .map(([pool, team]) => ({
      source: "join",
      code: "team-quota-pool-unknown",
      severity: "warning",
      subject: team,
      message: `queues.teams gives team ${team} an amount in the pool ${pool}, which no node is in`,
      nextStep: `Name one of the pools that are there (${all.slice(0, 20).join(", ")}).`,
    }));
}
