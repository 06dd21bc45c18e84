import { aggregate, arithmetic, oneOf } from "../../exporter/catalogue/promql.ts";
import { arithmeticWithOne } from "../../exporter/catalogue/promqlSeries.ts";
import { orZero, type Recordings, recorded, sumOf } from "./recorded.ts";
import type { RecordedName } from "./recordedNames.ts";

const poolMoney = ["cluster", "pool", "currency"] as const;
/** The labels that GPUs of one price have in common. */
const group = ["cluster", "pool", "node_pool", "capacity_type"] as const;

/** The states in which a GPU does no work, for whatever reason; the state in which nothing is observed is not among them. */
const withoutWork = [
  "idle",
  "stalled",
  "starting",
  "gang_wait",
  "free",
  "idle_node",
  "cordoned",
  "unavailable",
] as const;

const perHour = "cluster_pool_state_currency:fairlead_cost_per_hour:sum";

/** The cost of busy GPUs and of those that do no work, and how many have a price. */
export const moneyRecordings = {
  "cluster_pool_currency:fairlead_workless_cost:sum": () =>
    aggregate("sum", recorded(perHour, { state: oneOf(withoutWork) }), poolMoney),
  // This is the amount that sums over a time range add up, with one sample in 10 minutes.
  "cluster_team_currency:fairlead_cost:sum10m": () =>
    arithmetic(recorded("cluster_team_currency:fairlead_team_cost_per_hour:sum"), "/", 6),
  "cluster_pool_currency:fairlead_busy_cost_per_hour:sum": () =>
    orZero(
      aggregate("sum", recorded(perHour, { state: "active" }), poolMoney),
      aggregate("sum", recorded(perHour), poolMoney),
    ),
  // Only GPUs with a price in the currency count: others would make a GPU-hour look cheap.
  "cluster_pool_node_pool_capacity_type:fairlead_priced_gpus:sum": () => {
    const gpus = sumOf("fairlead_gpus", group);
    return arithmetic(gpus, "-", orZero(sumOf("fairlead_unpriced_gpus", group), gpus));
  },
  "cluster_pool_currency:fairlead_priced_gpus:sum": () => {
    const priced = recorded("cluster_pool_node_pool_capacity_type:fairlead_priced_gpus:sum");
    const inCurrency = arithmetic(sumOf("fairlead_cost_per_hour", [...group, "currency"]), "*", 0);
    return aggregate("sum", arithmeticWithOne(inCurrency, "+", priced, group), poolMoney);
  },
} satisfies Partial<Recordings<RecordedName>>;
