import { costDimensions } from "../../history/costs.ts";
import { totalsDimensions } from "../../history/history.ts";
import { totalsFilters } from "../../history/parseTotalsQuestion.ts";
import { chargeBases } from "../../model/charge.ts";
import { defaultLimit, maxLimit } from "../http/listQuery.ts";
import { byParameter, filterParameter, type ParameterText, windowParameters } from "../http/parameterText.ts";

const limit: ParameterText = {
  name: "limit",
  schema: { type: "integer", minimum: 1, maximum: maxLimit, default: defaultLimit },
  description: "Groups at most, the largest first.",
};

/** The operations that ask the history: path below `/api/v1`, what they say, the schema of the answer, and parameters. */
export const historyOperations = [
  {
    name: "history",
    summary: "GPU time and cost of a window, from the ledger or a Prometheus server.",
    schema: "HistoryAnswer",
    parameters: [
      ...windowParameters,
      byParameter("team,state", totalsDimensions),
      ...totalsFilters.map(filterParameter),
      limit,
    ],
  },
  {
    name: "waterfall",
    summary: "Where the GPU time of a window went, from capacity down to what was used.",
    schema: "Waterfall",
    parameters: [...windowParameters, ...totalsFilters.map(filterParameter)],
  },
  {
    name: "costs",
    summary: "What a window cost, divided; the parts add up to the bill.",
    schema: "Costs",
    parameters: [
      ...windowParameters,
      byParameter("team", costDimensions),
      {
        name: "charge",
        schema: { type: "string", enum: [...chargeBases], default: "allocation" },
        description: "What is paid for: all that was allocated, or what was used.",
      },
      {
        name: "shareUnallocated",
        schema: { type: "string", enum: ["allocation"] },
        description:
          "Share what was allocated to nobody in proportion to what was allocated; without it, it stays with the platform.",
      },
      filterParameter("pool"),
      filterParameter("capacityType"),
      limit,
    ],
  },
  {
    name: "budgets",
    summary: "Budgets of this calendar month: spent, forecast, burn rate.",
    schema: "Budgets",
    parameters: [],
  },
] as const satisfies readonly {
  readonly name: string;
  readonly summary: string;
  readonly schema: string;
  readonly parameters: readonly ParameterText[];
}[];
