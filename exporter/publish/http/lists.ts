import type { ListBuilder } from "../document/listBuilder.ts";
import type { RecommendationRecord, WithheldRecord } from "../document/schema.ts";
import type { Problem } from "../../model/problem.ts";
import type { VisibleTeams } from "./teamView.ts";

/** What a list of the API may be asked: the values by which its records can be chosen. */
type Filters<Item> = Readonly<Record<string, (item: Item) => readonly (string | null)[]>>;

/** The values of a request's filters, by name. */
export type Chosen = ReadonlyMap<string, string>;

/** What lists are made of: those that are built when they are asked for, and what is known without that. */
export interface ListInput {
  readonly lists: ListBuilder;
  readonly problems: readonly Problem[];
  /** As of now: what was dismissed a moment ago is. */
  readonly recommendations: () => readonly RecommendationRecord[];
  readonly withheld: () => readonly WithheldRecord[];
}

/** A list of the API. */
export interface List {
  readonly filters: readonly string[];
  /** Whether it is known which of its records are whose. */
  readonly isByTeam: boolean;
  /** `visible`: the teams whose records are wanted, and nothing in them about others; `null`: all. */
  readonly select: (input: ListInput, chosen: Chosen, visible: VisibleTeams) => readonly unknown[];
}

/** A record as the holders of these teams may see it; `null`: not at all. */
type OfTeams<Item> = (item: Item, visible: ReadonlySet<string>) => Item | null;

const ofTeam = <Item extends { readonly team: string }>(item: Item, visible: ReadonlySet<string>): Item | null =>
  visible.has(item.team) ? item : null;

/** In place of a setting that names other queues. */
const heldBackByOthers = "a setting of the queues, which whoever runs them can see";

/** Whether these are some of the visible teams, and no others. */
const areVisible = (teams: readonly string[], visible: ReadonlySet<string>): boolean =>
  teams.length > 0 && teams.every((team) => visible.has(team));

/** The lists under `/api/v1/`, by name. */
export const lists = {
  pools: list(({ lists }) => lists.pools(), { pool: (pool) => [pool.pool] }),
  teams: list(({ lists }) => lists.teams(), { team: (team) => [team.team] }, ofTeam),
  domains: list(({ lists }) => lists.domains(), {
    domain: (domain) => [domain.domain],
    pool: (domain) => domain.pools,
  }),
  queues: list(
    ({ lists }) => lists.queues(),
    {
      queue: (queue) => [queue.name],
      scheduler: (queue) => [queue.scheduler],
      domain: (queue) => [queue.domain],
      team: (queue) => [queue.team, ...queue.teams.map(({ team }) => team)],
    },
    (queue, visible) =>
      areVisible([...queue.teams.map(({ team }) => team), ...(queue.team === null ? [] : [queue.team])], visible)
        ? { ...queue, heldBackBy: queue.heldBackBy === null ? null : heldBackByOthers }
        : null,
  ),
  localQueues: list(({ lists }) => lists.localQueues(), {
    namespace: (queue) => [queue.namespace],
    localQueue: (queue) => [queue.name],
    clusterQueue: (queue) => [queue.clusterQueue],
    domain: (queue) => [queue.domain],
  }),
  nodes: list(({ lists }) => lists.nodes(), {
    node: (node) => [node.name],
    pool: (node) => node.pools,
    nodePool: (node) => [node.nodePool],
    idle: (node) => [node.idle],
  }),
  nodePools: list(({ lists }) => lists.nodePools(), {
    nodePool: (pool) => [pool.nodePool],
    manager: (pool) => [pool.manager],
  }),
  devices: list(
    ({ lists }) => lists.devices(),
    {
      node: (device) => [device.node],
      pool: (device) => [device.pool],
      team: (device) => device.holders.map((holder) => holder.team),
      namespace: (device) => device.holders.map((holder) => holder.namespace),
      state: (device) => [device.state],
    },
    (device, visible) =>
      areVisible(
        device.holders.map(({ team }) => team),
        visible,
      )
        ? device
        : null,
  ),
  workloads: list(
    ({ lists }) => lists.workloads(),
    {
      team: (workload) => [workload.team],
      namespace: (workload) => [workload.namespace],
      queue: (workload) => [workload.queue],
    },
    ofTeam,
  ),
  pending: list(
    ({ lists }) => lists.pending(),
    {
      team: (pending) => [pending.team],
      namespace: (pending) => [pending.namespace],
      queue: (pending) => [pending.queue],
      localQueue: (pending) => [pending.localQueue],
      domain: (pending) => pending.domains,
      cause: (pending) => [pending.cause],
    },
    ofTeam,
  ),
  blocked: list(
    ({ lists }) => lists.blocked(),
    {
      team: (blocked) => [blocked.team],
      namespace: (blocked) => [blocked.namespace],
      pool: (blocked) => blocked.pools,
      blocker: (blocked) => [blocked.blocker],
    },
    ofTeam,
  ),
  evictions: list(
    ({ lists }) => lists.evictions(),
    {
      team: (eviction) => [eviction.team],
      namespace: (eviction) => [eviction.namespace],
      queue: (eviction) => [eviction.queue],
    },
    (eviction, visible) => {
      const { team, preemptor } = eviction;
      if (!visible.has(team)) return null;
      // Whose work took the place is the others' affair; that someone's did is said by isPreemption.
      const isKnown = preemptor?.team != null && visible.has(preemptor.team);
      return isKnown ? eviction : { ...eviction, preemptor: null };
    },
  ),
  findings: list(({ lists }) => lists.findings(), {
    code: (finding) => [finding.code],
    scheduler: (finding) => [finding.scheduler],
  }),
  prices: list(({ lists }) => lists.prices(), {
    pool: (price) => [price.pool],
    nodePool: (price) => [price.nodePool],
    instanceType: (price) => [price.instanceType],
  }),
  recommendations: list(({ recommendations }) => recommendations(), {
    id: (one) => [one.id],
    kind: (one) => [one.kind],
    state: (one) => [one.state],
    team: (one) => [one.forTeam, one.fromTeam],
    queue: (one) => [one.queue],
    pool: (one) => [one.pool],
  }),
  withheld: list(({ withheld }) => withheld(), {
    kind: (one) => [one.kind],
    why: (one) => [one.why],
  }),
  problems: list(({ problems }) => problems, {
    source: (problem) => [problem.source],
    severity: (problem) => [problem.severity],
  }),
} as const satisfies Readonly<Record<string, List>>;

export type ListName = keyof typeof lists;

/** The list of that name; `null` if there is none. */
export function findList(name: string): List | null {
  return isListName(name) ? lists[name] : null;
}

/** The lists that users who may see only some teams can read. */
export function listsByTeam(): readonly ListName[] {
  return listNames.filter((name) => lists[name].isByTeam);
}

/** The names of all lists. */
export const listNames: readonly ListName[] = Object.keys(lists).filter(isListName);

function isListName(name: string): name is ListName {
  return Object.hasOwn(lists, name);
}

function list<Item>(
  itemsOf: (input: ListInput) => readonly Item[],
  filters: Filters<Item>,
  ofTeams: OfTeams<Item> | null = null,
): List {
  return {
    filters: Object.keys(filters),
    isByTeam: ofTeams !== null,
    select: (input, chosen, visible) => {
      const tests = Object.entries(filters).flatMap(([name, valuesOf]) => {
        const value = chosen.get(name);
        return value === undefined ? [] : [(item: Item) => valuesOf(item).includes(value)];
      });
      const all = itemsOf(input);
      const items = visible === null ? all : all.flatMap((item) => ofTeams?.(item, visible) ?? []);
      return tests.length === 0 ? items : items.filter((item) => tests.every((test) => test(item)));
    },
  };
}
