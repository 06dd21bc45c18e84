import { arithmetic, filter, where } from "../../exporter/catalogue/promql.ts";
import { quantileOverTime, roundTo, seriesOverTime } from "../../exporter/catalogue/promqlSeries.ts";
import type { AlertName } from "../alertList.ts";
import { type Conditions, recorded, subject } from "./recorded.ts";
import { starvedTeams } from "./recordFairness.ts";
import { valueInGpuHours, valueInGpus } from "./wording.ts";
import { worthWaking } from "./worthWaking.ts";

const domain = ["cluster", "domain"] as const;
const queue = ["cluster", "queue"] as const;
const queueTeam = ["cluster", "queue", "team"] as const;
const teamDomain = ["cluster", "team", "domain"] as const;
const queueDomain = ["cluster", "queue", "team", "domain"] as const;

/** Alerts about who has too little, who has too much, and what waits. */
export const fairnessConditions = {
  GpuTeamStarved: {
    expression: (config) =>
      starvedTeams(
        subject("cluster_team_domain:fairlead_team_fairness_deviation_gpus:sum", "GpuTeamStarved", config),
        config.alerts.GpuTeamStarved,
      ),
    description: `Team {{ $labels.team }} in {{ $labels.cluster }} holds ${valueInGpus} less than its share of {{ $labels.domain }}, and work of it waits that this would start.`,
  },
  GpuTeamStarvedLong: {
    expression: (config) =>
      filter(
        worthWaking(
          subject("cluster_team_domain:fairlead_starved_team_gpu_hours:sum", "GpuTeamStarvedLong", config),
          recorded("cluster_domain_currency:fairlead_price_per_gpu_hour:max"),
          domain,
          config.alerts.GpuTeamStarvedLong,
        ),
        "and",
        starvedTeams(
          recorded("cluster_team_domain:fairlead_team_fairness_deviation_gpus:sum"),
          config.alerts.GpuTeamStarvedLong,
        ),
        teamDomain,
      ),
    description: ({ alerts: { GpuTeamStarvedLong } }) =>
      `Team {{ $labels.team }} in {{ $labels.cluster }} has missed ${valueInGpuHours(GpuTeamStarvedLong)} of its share of {{ $labels.domain }}, and work of it waits that would start at once.`,
  },
  GpuTeamAboveFairShare: {
    expression: (config) => {
      const { allocatedAbove, minExcessGpus } = config.alerts.GpuTeamAboveFairShare;
      const excess = subject(
        "cluster_team_domain:fairlead_team_fairness_deviation_gpus:sum",
        "GpuTeamAboveFairShare",
        config,
      );
      const allowed = arithmetic(
        recorded("cluster_team_domain:fairlead_team_entitled_gpus:sum"),
        "*",
        Number((allocatedAbove - 1).toFixed(6)),
      );
      const usable = filter(
        where(where(excess, ">", allowed), ">=", minExcessGpus),
        "and",
        where(recorded("cluster_team_domain:fairlead_reclaimable_gpus:sum"), ">", 0),
        teamDomain,
      );
      return filter(usable, "and", recorded("cluster_domain:fairlead_starved_teams:count"), domain);
    },
    description: `Team {{ $labels.team }} in {{ $labels.cluster }} holds ${valueInGpus} more than its share of {{ $labels.domain }}, where another team is starved and work waits that would start with some of them.`,
  },
  GpuFairnessLow: {
    expression: (config) => {
      const { jainBelow, window, minTeams, minCapacityGpus } = config.alerts.GpuFairnessLow;
      const index = subject("cluster_domain:fairlead_fairness_jain_index:min", "GpuFairnessLow", config);
      const large = filter(
        where(seriesOverTime("avg", index, window), "<", jainBelow),
        "and",
        where(recorded("cluster_domain:fairlead_domain_capacity_gpus:max"), ">=", minCapacityGpus),
        domain,
      );
      return filter(
        large,
        "and",
        where(recorded("cluster_domain:fairlead_entitled_teams:count"), ">=", minTeams),
        domain,
      );
    },
    description:
      'Jain\'s fairness index of {{ $labels.domain }} in {{ $labels.cluster }} is {{ $value | printf "%.2f" }}, where 1 is even.',
  },
  GpuReservationUnused: {
    expression: (config) => {
      const { unusedAbove, window, minUnusedGpus, minWaitingGpus } = config.alerts.GpuReservationUnused;
      const unused = subject(
        "cluster_queue_team_domain:fairlead_unused_guarantee_gpus:sum",
        "GpuReservationUnused",
        config,
      );
      const much = filter(
        where(seriesOverTime("avg", unused, window), ">=", minUnusedGpus),
        "and",
        where(
          seriesOverTime("avg", recorded("cluster_queue_team_domain:fairlead_unused_guarantee:ratio"), window),
          ">",
          unusedAbove,
        ),
        queueDomain,
      );
      // A queue that waits itself does not leave its guarantee unused by choice.
      const itself = seriesOverTime(
        "avg",
        recorded("cluster_queue_team_domain:fairlead_queue_pending_gpus:sum"),
        window,
      );
      const anybody = seriesOverTime("avg", recorded("cluster_domain:fairlead_queue_pending_gpus:sum"), window);
      const byOthers = filter(much, "unless", where(itself, ">=", minWaitingGpus), queueDomain);
      return filter(byOthers, "and", where(anybody, ">=", minWaitingGpus), domain);
    },
    description:
      "Queue {{ $labels.queue }} in {{ $labels.cluster }} leaves {{ $value | humanize }} of its guaranteed GPUs of {{ $labels.domain }} unused on average, while other queues wait.",
  },
  GpuPodsPastQueues: {
    expression: (config) =>
      where(
        subject("cluster_domain:fairlead_guaranteed_past_queues_gpus:sum", "GpuPodsPastQueues", config),
        ">",
        config.alerts.GpuPodsPastQueues.aboveGpus,
      ),
    description: `Pods of no queue in {{ $labels.cluster }} hold ${valueInGpus} of {{ $labels.domain }} that queues are guaranteed and wait for. No other queue has them: the finding pods-past-queues names the namespaces.`,
  },
  GpuServingLate: {
    expression: (config) =>
      where(
        subject("cluster_team:fairlead_late_serving_workloads:sum", "GpuServingLate", config),
        ">=",
        config.alerts.GpuServingLate.minWorkloads,
      ),
    description:
      "Of team {{ $labels.team }} in {{ $labels.cluster }}, {{ $value }} workloads that serve are over their target of latency while requests wait. What one replica more takes: fairlead explain workload.",
  },
  GpuQueueWaitHigh: {
    expression: (config) => {
      const { p95AboveSeconds, minWaits } = config.alerts.GpuQueueWaitHigh;
      return filter(
        where(
          roundTo(subject("cluster_queue:fairlead_queue_wait_seconds:p95", "GpuQueueWaitHigh", config), 60),
          ">",
          p95AboveSeconds,
        ),
        "and",
        where(recorded("cluster_queue:fairlead_queue_waits:increase"), ">=", minWaits),
        queue,
      );
    },
    description:
      "5 of 100 waits in queue {{ $labels.queue }} in {{ $labels.cluster }} are longer than {{ $value | humanizeDuration }}.",
  },
  GpuQueueStuck: {
    expression: (config) =>
      where(
        subject("cluster_queue_team:fairlead_stuck_gpus:sum", "GpuQueueStuck", config),
        ">=",
        config.alerts.GpuQueueStuck.minWaitingGpus,
      ),
    description: `Work for ${valueInGpus} waits in queue {{ $labels.queue }} in {{ $labels.cluster }} although it fits and its quota allows it, and nothing of the queue has started.`,
  },
  GpuQueueStuckLong: {
    expression: (config) =>
      filter(
        worthWaking(
          subject("cluster_queue_team:fairlead_stuck_gpu_hours:sum", "GpuQueueStuckLong", config),
          recorded("cluster_queue_currency:fairlead_price_per_gpu_hour:max"),
          queue,
          config.alerts.GpuQueueStuckLong,
        ),
        "and",
        recorded("cluster_queue_team:fairlead_stuck_gpus:sum"),
        queueTeam,
      ),
    description: ({ alerts: { GpuQueueStuckLong } }) =>
      `Work of queue {{ $labels.queue }} in {{ $labels.cluster }} has missed ${valueInGpuHours(GpuQueueStuckLong)} although it fits and its quota allows it: nothing of the queue starts.`,
  },
  GpuPreemptionStorm: {
    expression: (config) => {
      const { timesUsual, usualWindow, minPerHour } = config.alerts.GpuPreemptionStorm;
      const usual = quantileOverTime(0.5, recorded("cluster_queue:fairlead_evictions:increase1h"), usualWindow);
      return where(
        where(
          subject("cluster_queue:fairlead_evictions:increase1h", "GpuPreemptionStorm", config),
          ">",
          arithmetic(usual, "*", timesUsual),
        ),
        ">=",
        minPerHour,
      );
    },
    description:
      "{{ $value | humanize }} evictions in the last hour in queue {{ $labels.queue }} in {{ $labels.cluster }}.",
  },
} satisfies Partial<Conditions<AlertName>>;
