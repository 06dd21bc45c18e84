import type { Problem } from "../../model/problem.ts";
import type { ListBuilder } from "../document/listBuilder.ts";
import type { RecommendationRecord, WithheldRecord } from "../document/schema.ts";
import { defaultLimit, maxLimit, wholeNumber } from "./questionParameters.ts";
import { type Refusal, refusal } from "./refusal.ts";
import type { VisibleTeams } from "./teamView.ts";

/** The filters of a list of the API, by name: the field of a record, or its values, by which records can be chosen. */
type Filters<Item> = Readonly<Record<string, keyof Item | ((item: Item) => readonly (string | null)[])>>;

/** The values of a request's filters, by name. */
type Chosen = ReadonlyMap<string, string>;

/**
 * What the lists of the API are made from: the lists that are built when they are asked for, and those that are there already.
 */
interface ListInput {
  readonly lists: ListBuilder;
  readonly problems: readonly Problem[];
  /** The recommendations as of now: one that was dismissed a moment ago is in that state here. */
  readonly recommendations: () => readonly RecommendationRecord[];
  readonly withheld: () => readonly WithheldRecord[];
}

/** A list of the API. */
interface List {
  readonly filters: readonly string[];
  /** Whether it is known to which team each of its records belongs. */
  readonly isByTeam: boolean;
  /**
   * Returns the records that a request chooses. They are those of the teams in `visible`, with nothing in them about other
   * teams; if it is `null`, they are those of all teams.
   */
  readonly select: (input: ListInput, chosen: Chosen, visible: VisibleTeams) => readonly unknown[];
}

/** Returns a record as users who may see only these teams get it; `null` if they may not see it. */
type OfTeams<Item> = (item: Item, visible: ReadonlySet<string>) => Item | null;

const ofTeam = <Item extends { readonly team: string }>(item: Item, visible: ReadonlySet<string>): Item | null =>
  visible.has(item.team) ? item : null;

/** What is shown in place of a setting that names other queues. */
const heldBackByOthers = "a setting of the queues, which whoever runs them can see";

/** Whether these are some of the visible teams, and no others. */
const areVisible = (teams: readonly string[], visible: ReadonlySet<string>): boolean =>
  teams.length > 0 && teams.every((team) => visible.has(team));

/** The lists under `/api/v1/`, by name. */
export const lists = {
  pools: list(({ lists }) => lists.pools(), { pool: "pool" }),
  teams: list(({ lists }) => lists.teams(), { team: "team" }, ofTeam),
  domains: list(({ lists }) => lists.domains(), { domain: "domain", pool: (domain) => domain.pools }),
  queues: list(
    ({ lists }) => lists.queues(),
    {
      queue: "name",
      scheduler: "scheduler",
      domain: "domain",
      team: (queue) => [queue.team, ...queue.teams.map(({ team }) => team)],
    },
    (queue, visible) =>
      areVisible([...queue.teams.map(({ team }) => team), ...(queue.team === null ? [] : [queue.team])], visible)
        ? { ...queue, heldBackBy: queue.heldBackBy === null ? null : heldBackByOthers }
        : null,
  ),
  localQueues: list(({ lists }) => lists.localQueues(), {
    namespace: "namespace",
    localQueue: "name",
    clusterQueue: "clusterQueue",
    domain: "domain",
  }),
  nodes: list(({ lists }) => lists.nodes(), {
    node: "name",
    pool: (node) => node.pools,
    nodePool: "nodePool",
    idle: "idle",
  }),
  nodePools: list(({ lists }) => lists.nodePools(), { nodePool: "nodePool", manager: "manager" }),
  devices: list(
    ({ lists }) => lists.devices(),
    {
      node: "node",
      pool: "pool",
      team: (device) => device.holders.map((holder) => holder.team),
      namespace: (device) => device.holders.map((holder) => holder.namespace),
      state: "state",
    },
    (device, visible) =>
      areVisible(
        device.holders.map(({ team }) => team),
        visible,
      )
        ? device
        : null,
  ),
  workloads: list(({ lists }) => lists.workloads(), { team: "team", namespace: "namespace", queue: "queue" }, ofTeam),
  pending: list(
    ({ lists }) => lists.pending(),
    {
      team: "team",
      namespace: "namespace",
      queue: "queue",
      localQueue: "localQueue",
      domain: (pending) => pending.domains,
      cause: "cause",
    },
    ofTeam,
  ),
  blocked: list(
    ({ lists }) => lists.blocked(),
    { team: "team", namespace: "namespace", pool: (blocked) => blocked.pools, blocker: "blocker" },
    ofTeam,
  ),
  evictions: list(
    ({ lists }) => lists.evictions(),
    { team: "team", namespace: "namespace", queue: "queue" },
    (eviction, visible) => {
      const { team, preemptor } = eviction;
      if (!visible.has(team)) return null;
      // Whose work took the place concerns the other teams alone; isPreemption shows that some work did.
      const isKnown = preemptor?.team != null && visible.has(preemptor.team);
      return isKnown ? eviction : { ...eviction, preemptor: null };
    },
  ),
  findings: list(({ lists }) => lists.findings(), { code: "code", scheduler: "scheduler" }),
  prices: list(({ lists }) => lists.prices(), { pool: "pool", nodePool: "nodePool", instanceType: "instanceType" }),
  recommendations: list(({ recommendations }) => recommendations(), {
    id: "id",
    kind: "kind",
    state: "state",
    team: (one) => [one.forTeam, one.fromTeam],
    queue: "queue",
    pool: "pool",
  }),
  withheld: list(({ withheld }) => withheld(), { kind: "kind", why: "why" }),
  problems: list(({ problems }) => problems, { source: "source", severity: "severity" }),
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

/** Whether there is such a list. */
export function isListName(name: string): name is ListName {
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
        if (value === undefined) return [];
        if (typeof valuesOf === "function") return [(item: Item) => valuesOf(item).includes(value)];
        return [(item: Item) => item[valuesOf] === value];
      });
      const all = itemsOf(input);
      const items = visible === null ? all : all.flatMap((item) => ofTeams?.(item, visible) ?? []);
      return tests.length === 0 ? items : items.filter((item) => tests.every((test) => test(item)));
    },
  };
}

/** What a request asks of a list, or what is wrong with it. */
type ListQuery =
  | { readonly ok: true; readonly chosen: Chosen; readonly limit: number; readonly offset: number }
  | Refusal;

/** Reads `?team=ads&limit=100&offset=200`. A parameter that the list does not know is an error, not ignored. */
export function parseListQuery(list: List, search: URLSearchParams): ListQuery {
  const allowed = [...list.filters, "limit", "offset"];
  const chosen = new Map<string, string>();
  for (const [name, value] of search) {
    if (!allowed.includes(name))
      return refusal(`unknown parameter ${JSON.stringify(name.slice(0, 60))}`, `Use one of: ${allowed.join(", ")}.`);
    if (chosen.has(name)) return refusal(`parameter ${JSON.stringify(name)} is given twice`, "Give it once.");
    chosen.set(name, value);
  }
  const limit = wholeNumber(chosen.get("limit"), defaultLimit);
  if (limit === null || limit < 1 || limit > maxLimit) {
    return refusal("limit is not a whole number in range", `Use 1 to ${maxLimit}.`);
  }
  const offset = wholeNumber(chosen.get("offset"), 0);
  if (offset === null) return refusal("offset is not a whole number", "Use 0 or more.");
  return { ok: true, chosen, limit, offset };
}
