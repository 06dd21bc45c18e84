import {
  aggregate,
  arithmetic,
  call,
  type Expression,
  filter,
  operand,
  where,
} from "../../exporter/catalogue/promql.ts";
import { arithmeticWithOne, labelled, offset, union } from "../../exporter/catalogue/promqlSeries.ts";
import { type Recordings, recorded } from "./recorded.ts";
import type { RecordedName } from "./recordedNames.ts";

/** The span of the weekly review, and the interval of the samples for a mean. */
const looks = "7d:10m";

/**
 * Means over the last 7 days, for the time in which Fairlead ran. A series that was absent for a part of that time counts as 0
 * there: a team that held 8 GPUs for one of seven days had 8 / 7.
 */
export const weekRecordings = {
  "cluster:fairlead_build_info:count7d": () =>
    call(`count_over_time(${recorded("cluster:fairlead_build_info:max").text}[${looks}])`),
  "cluster_state:fairlead_gpus:mean7d": () =>
    mean(aggregate("sum", recorded("cluster_pool_state:fairlead_gpus:sum"), ["cluster", "state"])),
  "cluster:fairlead_allocated_gpus:mean7d": () => mean(recorded("cluster:fairlead_allocated_gpus:sum")),
  "cluster:fairlead_queue_pending_gpus:mean7d": () =>
    mean(aggregate("sum", recorded("cluster_domain:fairlead_queue_pending_gpus:sum"), ["cluster"])),
  "cluster_state_currency:fairlead_cost_per_hour:mean7d": () =>
    mean(
      aggregate("sum", recorded("cluster_pool_state_currency:fairlead_cost_per_hour:sum"), [
        "cluster",
        "state",
        "currency",
      ]),
    ),
  "cluster_team:fairlead_allocated_gpus:mean7d": () => mean(recorded("cluster_team:fairlead_allocated_gpus:sum")),
  // A team without series held nothing if Fairlead ran, so it changed from 0 or to 0.
  "cluster_team:fairlead_allocated_gpus:change7d": () => {
    const now = recorded("cluster_team:fairlead_allocated_gpus:mean7d");
    const before = arithmetic(offset(now, "7d"), "*", -1);
    const both = union(labelled(now, "week", "this"), labelled(before, "week", "before"));
    const ran = offset(recorded("cluster:fairlead_build_info:count7d"), "7d");
    return filter(aggregate("sum", both, ["cluster", "team"]), "and", ran, ["cluster"]);
  },
  "cluster_team:fairlead_idle_gpus:mean7d": () => mean(recorded("cluster_team:fairlead_idle_gpus:sum")),
  "cluster_team_currency:fairlead_team_cost_per_hour:mean7d": () =>
    mean(recorded("cluster_team_currency:fairlead_team_cost_per_hour:sum")),
  "cluster_domain_cause:fairlead_queue_waiting_gpus:mean7d": () =>
    mean(
      aggregate("sum", recorded("cluster_queue_team_domain_cause:fairlead_queue_waiting_gpus:sum"), [
        "cluster",
        "domain",
        "cause",
      ]),
    ),
} satisfies Partial<Recordings<RecordedName>>;

function mean<Labels extends string>(of: Expression<Labels | "cluster">): Expression<Labels | "cluster"> {
  const known = where(recorded("cluster:fairlead_build_info:count7d"), ">", 0);
  return arithmeticWithOne(call<Labels | "cluster">(`sum_over_time(${operand(of)}[${looks}])`), "/", known, [
    "cluster",
  ]);
}
