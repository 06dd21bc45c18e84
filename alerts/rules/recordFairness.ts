import {
  aggregate,
  arithmetic,
  arithmeticOn,
  type Expression,
  filter,
  isNot,
  metric,
  where,
} from "../../exporter/catalogue/promql.ts";
import { arithmeticWithOne, clampMin, gpuHoursOver, union } from "../../exporter/catalogue/promqlSeries.ts";
import { maxOf, ofOneReplica, type Recordings, recorded, sumOf } from "./recorded.ts";
import type { RecordedName } from "./recordedNames.ts";

const teamDomain = ["cluster", "team", "domain"] as const;
const queueDomain = ["cluster", "queue", "team", "domain"] as const;
const domain = ["cluster", "domain"] as const;

/** What teams and queues are entitled to, hold and lack. */
export const fairnessRecordings = {
  "cluster_team_domain:fairlead_team_entitled_gpus:sum": () => sumOf("fairlead_team_entitled_gpus", teamDomain),
  "cluster_team_domain:fairlead_team_fairness_deviation_gpus:sum": () =>
    sumOf("fairlead_team_fairness_deviation_gpus", teamDomain),
  // For queues that several teams share it is not known whose gangs fit, so a team counts there with all that its pods wait
  // for.
  "cluster_team_domain:fairlead_startable_gpus:sum": () =>
    union(
      sumOf("fairlead_queue_actionable_shortfall_gpus", teamDomain, { team: isNot("") }),
      filter(
        arithmeticWithOne(
          arithmetic(recorded("cluster_team_domain:fairlead_team_entitled_gpus:sum"), "*", 0),
          "+",
          sumOf("fairlead_team_pending_gpus", ["cluster", "team"]),
          ["cluster", "team"],
        ),
        "and",
        where(sumOf("fairlead_queue_actionable_shortfall_gpus", domain, { team: "" }), ">", 0),
        domain,
      ),
    ),
  // For queues that several teams share it is not known whose work would be taken, so all of it counts for each of them.
  "cluster_team_domain:fairlead_reclaimable_gpus:sum": () =>
    union(
      sumOf("fairlead_queue_reclaimable_gpus", teamDomain, { team: isNot("") }),
      arithmeticWithOne(
        arithmetic(recorded("cluster_team_domain:fairlead_team_entitled_gpus:sum"), "*", 0),
        "+",
        sumOf("fairlead_queue_reclaimable_gpus", domain, { team: "" }),
        domain,
      ),
    ),
  "cluster_team_domain:fairlead_starved_team_gpus:sum": ({ alerts: { GpuTeamStarved } }) =>
    starvedTeams(recorded("cluster_team_domain:fairlead_team_fairness_deviation_gpus:sum"), GpuTeamStarved),
  "cluster_team_domain:fairlead_starved_team_gpu_hours:sum": ({ alerts: { GpuTeamStarvedLong } }) =>
    gpuHoursOver(recorded("cluster_team_domain:fairlead_starved_team_gpus:sum"), GpuTeamStarvedLong.window),
  "cluster_domain:fairlead_starved_teams:count": () =>
    aggregate("count", recorded("cluster_team_domain:fairlead_starved_team_gpus:sum"), domain),
  "cluster_domain:fairlead_entitled_teams:count": () =>
    aggregate("count", where(recorded("cluster_team_domain:fairlead_team_entitled_gpus:sum"), ">", 0), domain),
  "cluster_domain:fairlead_fairness_jain_index:min": () =>
    aggregate("min", ofOneReplica(metric("fairlead_fairness_jain_index")), domain),
  // Less than a GPU-hour is too little for anybody to give back.
  "cluster_queue_team_domain_half_life:fairlead_owed_gpu_hours:sum": () =>
    where(
      arithmetic(
        arithmetic(sumOf("fairlead_fairness_debt_gpu_seconds", [...queueDomain, "half_life"]), "*", -1),
        "/",
        3600,
      ),
      ">=",
      1,
    ),
  "cluster_queue_team_domain_half_life:fairlead_owed:ratio": () =>
    filter(
      arithmetic(maxOf("fairlead_fairness_deviation_ratio", [...queueDomain, "half_life"]), "*", -1),
      "and",
      recorded("cluster_queue_team_domain_half_life:fairlead_owed_gpu_hours:sum"),
      [...queueDomain, "half_life"],
    ),
  "cluster_domain:fairlead_guaranteed_past_queues_gpus:sum": () =>
    sumOf("fairlead_fairness_absent_capacity_gpus", domain, { owner: "past_queues" }),
  "cluster_queue_team_domain:fairlead_queue_guaranteed_gpus:sum": () =>
    sumOf("fairlead_queue_guaranteed_gpus", queueDomain),
  "cluster_queue_team_domain:fairlead_queue_pending_gpus:sum": () => sumOf("fairlead_queue_pending_gpus", queueDomain),
  "cluster_queue_team_domain:fairlead_unused_guarantee_gpus:sum": () =>
    clampMin(
      arithmeticOn(
        recorded("cluster_queue_team_domain:fairlead_queue_guaranteed_gpus:sum"),
        "-",
        sumOf("fairlead_queue_allocated_gpus", queueDomain),
        queueDomain,
      ),
      0,
    ),
  "cluster_queue_team_domain:fairlead_unused_guarantee:ratio": () =>
    arithmeticOn(
      recorded("cluster_queue_team_domain:fairlead_unused_guarantee_gpus:sum"),
      "/",
      where(recorded("cluster_queue_team_domain:fairlead_queue_guaranteed_gpus:sum"), ">", 0),
      queueDomain,
    ),
} satisfies Partial<Recordings<RecordedName>>;

/** The GPUs that starved teams lack: they hold far less than their share, and work that fits into the rest of it waits. */
export function starvedTeams(
  deviation: Expression<(typeof teamDomain)[number]>,
  { allocatedBelow, minShortGpus }: { readonly allocatedBelow: number; readonly minShortGpus: number },
): Expression<(typeof teamDomain)[number]> {
  const allowed = arithmetic(
    recorded("cluster_team_domain:fairlead_team_entitled_gpus:sum"),
    "*",
    Number((1 - allocatedBelow).toFixed(6)),
  );
  return filter(
    where(where(arithmetic(deviation, "*", -1), ">", allowed), ">=", minShortGpus),
    "and",
    where(recorded("cluster_team_domain:fairlead_startable_gpus:sum"), ">=", minShortGpus),
    teamDomain,
  );
}
