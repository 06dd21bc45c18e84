import { accountDimensions } from "../../accounts/ledger/accountsQuery.ts";
import { ledgerTables } from "../../accounts/ledger/ledgerTableQuery.ts";
import { costDimensions } from "../../history/costs.ts";
import { totalsDimensions, totalsFilters } from "../../history/history.ts";
import { chargeBases } from "../../model/charge.ts";
import { explainedKinds } from "../explain/kinds.ts";
import { overviewColumns } from "../terminal/overviewSchema.ts";
import { listNames, lists } from "./lists.ts";
import { defaultLimit, maxLimit } from "./questionParameters.ts";

/** A parameter of an operation, as openapi.json describes it. */
interface Parameter {
  readonly name: string;
  readonly schema: object;
  readonly description: string;
  readonly required?: true;
}

/** What can be read at a path below `/api/v1`, as openapi.json describes it. */
export interface Operation {
  readonly summary: string;
  /** Ids of the schemas that an answer may have; absent: the answer is the list of that name. */
  readonly schemas?: readonly string[];
  readonly parameters: readonly Parameter[];
  /** When it answers 404; `unavailable` says when it answers 503, unless that is because no cycle is complete. */
  readonly missing?: string;
  readonly unavailable?: string;
}

const text = { type: "string" } as const;

/** The window of a question about the past. */
const windowParameters: readonly Parameter[] = [
  {
    name: "from",
    schema: { ...text, default: "7d" },
    description: "Begin: a date (2026-11-21), a time (2026-11-21T07:00Z), or a span before the end (7d, 12h).",
  },
  { name: "to", schema: text, description: "End, itself not in it. Default: the end of this hour (UTC)." },
];

/** The parameter that groups an answer; `standard` is its default, and `more` are further remarks. */
const byParameter = (standard: string, dimensions: readonly string[], more = ""): Parameter => ({
  name: "by",
  schema: { ...text, default: standard },
  description: `Dimensions, separated by commas: ${dimensions.join(", ")}.${more}`,
});

/** A parameter that confines an answer to some values. */
const filterParameter = (name: string): Parameter => ({
  name,
  schema: text,
  description: `Only this ${name}; may be repeated, empty is none.`,
});

const limitParameter = (description: string): Parameter => ({
  name: "limit",
  schema: { type: "integer", minimum: 1, maximum: maxLimit, default: defaultLimit },
  description,
});

const nothingKept = "Nothing keeps the past, or it has nothing of this window.";
const notAsked = "The history cannot be asked now.";

/** Every path that is read and answers with JSON, by its name below `/api/v1`. */
export const operations: Readonly<Record<string, Operation>> = {
  snapshot: { summary: "Everything that is known of the last cycle.", schemas: ["Document"], parameters: [] },
  explain: {
    summary: "How the numbers of one team, queue, workload, pod or node came about.",
    schemas: ["Explanation"],
    parameters: [
      { name: "kind", schema: { ...text, enum: explainedKinds }, description: "What to explain.", required: true },
      {
        name: "name",
        schema: text,
        description:
          "Its name; a pod's is NAMESPACE/NAME. A queue may be a LocalQueue of Kueue: NAME in whichever namespace, or NAMESPACE/NAME.",
        required: true,
      },
    ],
    missing: "There is no such team, queue, workload, pod or node.",
  },
  overview: {
    summary: "The overview of the last cycle as text for a terminal.",
    schemas: ["Overview"],
    parameters: [
      {
        name: "columns",
        schema: {
          type: "integer",
          minimum: overviewColumns.min,
          maximum: overviewColumns.max,
          default: overviewColumns.standard,
        },
        description: "Characters in a line.",
      },
    ],
  },
  ledger: {
    summary: "Counted GPU time of a window, and how much of the window is covered.",
    schemas: ["LedgerAnswer", "LedgerQueueAnswer", "LedgerPriceAnswer"],
    parameters: [
      {
        name: "of",
        schema: { ...text, enum: ["gpu-time", ...ledgerTables, "prices"], default: "gpu-time" },
        description: "What is asked for; dimensions and filters of all but GPU time are in docs/ledger.md.",
      },
      ...windowParameters,
      byParameter("team,state", accountDimensions, " Workloads are kept by whole days."),
      ...accountDimensions.filter((name) => name !== "day" && name !== "hour").map(filterParameter),
      limitParameter("Groups at most, the largest first within a day or hour."),
    ],
    missing: "No ledger is kept.",
    unavailable: "The ledger cannot be read now.",
  },
  history: {
    summary: "GPU time and cost of a window, from the ledger or a Prometheus server.",
    schemas: ["HistoryAnswer"],
    parameters: [
      ...windowParameters,
      byParameter("team,state", totalsDimensions),
      ...totalsFilters.map(filterParameter),
      limitParameter("Groups at most, the largest first."),
    ],
    missing: nothingKept,
    unavailable: notAsked,
  },
  waterfall: {
    summary: "Where the GPU time of a window went, from capacity down to what was used.",
    schemas: ["Waterfall"],
    parameters: [...windowParameters, ...totalsFilters.map(filterParameter)],
    missing: nothingKept,
    unavailable: notAsked,
  },
  costs: {
    summary: "What a window cost, divided; the parts add up to the bill.",
    schemas: ["Costs"],
    parameters: [
      ...windowParameters,
      byParameter("team", costDimensions),
      {
        name: "charge",
        schema: { ...text, enum: chargeBases, default: "allocation" },
        description: "What is paid for: all that was allocated, or what was used.",
      },
      {
        name: "shareUnallocated",
        schema: { ...text, enum: ["allocation"] },
        description:
          "Share what was allocated to nobody in proportion to what was allocated; without it, it stays with the platform.",
      },
      filterParameter("pool"),
      filterParameter("capacityType"),
      limitParameter("Groups at most, the largest first."),
    ],
    missing: nothingKept,
    unavailable: notAsked,
  },
  budgets: {
    summary: "Budgets of this calendar month: spent, forecast, burn rate.",
    schemas: ["Budgets"],
    parameters: [],
    missing: nothingKept,
    unavailable: notAsked,
  },
  ...Object.fromEntries(listNames.map((name) => [name, listOperation(name)])),
};

function listOperation(name: (typeof listNames)[number]): Operation {
  return {
    summary: `The ${name} of the last cycle.`,
    parameters: [
      ...lists[name].filters.map((filter) => ({
        name: filter,
        schema: text,
        description: `Only records with this ${filter}.`,
      })),
      limitParameter("Records at most."),
      { name: "offset", schema: { type: "integer", minimum: 0, default: 0 }, description: "Records to skip." },
    ],
  };
}
