import { z } from "zod";
import { labelMeanings } from "../exporter/catalogue/labels.ts";
import { type AlertName, alertNames, listedAlert, type Severity, severityOf } from "./alertList.ts";
import { alertmanagerSchema } from "./alertmanager/settings.ts";
import { exporterThresholds } from "./exporterThresholds.ts";
import { amount, common, count, factor, gpus, ratio, span, worthWaking } from "./settingParts.ts";

const starved = {
  allocatedBelow: ratio.default(0.7).describe("Part of its share below which a team is starved."),
  minShortGpus: gpus
    .default(1)
    .describe("GPUs that a team must lack at least, and that its waiting work could take at once."),
};

const sickGpus = { minGpus: gpus.default(1).describe("GPUs of a node pool that this must be true of at least.") };

/**
 * The thresholds of all alerts. They are data: a user's file can change all of them, and nothing else of a rule. Numbers of
 * GPUs are physical GPUs; money is in units of the currency of its series.
 */
const alerts = z.strictObject({
  GpuTeamStarved: z
    .strictObject({ ...common("GpuTeamStarved", { for: "30m", keepFiringFor: "10m" }), ...starved })
    .prefault({}),
  GpuTeamStarvedLong: z
    .strictObject({
      ...common("GpuTeamStarvedLong", { for: "5m", keepFiringFor: "15m" }),
      ...starved,
      ...worthWaking(),
    })
    .prefault({}),
  GpuTeamAboveFairShare: z
    .strictObject({
      ...common("GpuTeamAboveFairShare", { for: "1h", keepFiringFor: "15m" }),
      allocatedAbove: factor.default(1.3).describe("Times its share above which a team holds too much."),
      minExcessGpus: gpus.default(2).describe("GPUs above its share that a team must hold at least."),
    })
    .prefault({}),
  GpuFairnessLow: z
    .strictObject({
      ...common("GpuFairnessLow", { for: "6h", keepFiringFor: "0m" }),
      jainBelow: ratio.default(0.7).describe("Jain's index below which GPUs are shared unevenly."),
      window: span.default("1h").describe("Window of the mean of the index."),
      minTeams: count.default(3).describe("Teams that must be entitled to GPUs at least."),
      minCapacityGpus: gpus.default(8).describe("Smallest quota domain that is judged."),
    })
    .prefault({}),
  GpuReservationUnused: z
    .strictObject({
      ...common("GpuReservationUnused", { for: "1d", keepFiringFor: "0m" }),
      unusedAbove: ratio
        .default(0.5)
        .describe("Part of its guarantee that a queue leaves unused, as a mean over the window."),
      window: span.default("1d").describe("Window of the means."),
      minUnusedGpus: gpus.default(4).describe("GPUs that must be unused at least."),
      minWaitingGpus: gpus.default(1).describe("GPUs that the domain's queues must wait for at least, as a mean."),
    })
    .prefault({}),
  GpuPodsPastQueues: z
    .strictObject({
      ...common("GpuPodsPastQueues", { for: "30m", keepFiringFor: "15m" }),
      aboveGpus: gpus
        .default(0)
        .describe("Guaranteed GPUs that queues wait for and pods of no queue hold, above which it fires."),
    })
    .prefault({}),
  GpuServingLate: z
    .strictObject({
      ...common("GpuServingLate", { for: "15m", keepFiringFor: "10m" }),
      minWorkloads: count.default(1).describe("Workloads that must be over their target at least."),
    })
    .prefault({}),
  GpuQueueWaitHigh: z
    .strictObject({
      ...common("GpuQueueWaitHigh", { for: "1h", keepFiringFor: "15m" }),
      p95AboveSeconds: z.number().min(1).max(604_800).default(14_400).describe("Wait that 95 of 100 should not pass."),
      window: span.default("6h").describe("Window of the waits that have ended; those that last count, too."),
      minWaits: count.default(5).describe("Waits that must be known at least."),
    })
    .prefault({}),
  GpuQueueStuck: z
    .strictObject({
      ...common("GpuQueueStuck", { for: "30m", keepFiringFor: "5m" }),
      minWaitingGpus: gpus.default(1).describe("GPUs of work that fits and is allowed that must wait at least."),
      window: span.default("30m").describe("Window in which nothing of the queue has started."),
    })
    .prefault({}),
  GpuQueueStuckLong: z
    .strictObject({ ...common("GpuQueueStuckLong", { for: "5m", keepFiringFor: "5m" }), ...worthWaking() })
    .prefault({}),
  GpuPreemptionStorm: z
    .strictObject({
      ...common("GpuPreemptionStorm", { for: "30m", keepFiringFor: "15m" }),
      timesUsual: factor.default(3).describe("Times the queue's median evictions an hour."),
      usualWindow: span.default("7d").describe("Window of that median."),
      minPerHour: count.default(10).describe("Evictions an hour that there must be at least."),
    })
    .prefault({}),
  GpuIdleAllocated: z
    .strictObject({
      ...common("GpuIdleAllocated", { for: "1h", keepFiringFor: "30m" }),
      minIdleGpus: gpus.default(1).describe("Idle GPUs of a team in a pool that there must be at least."),
    })
    .prefault({}),
  GpuIdleExpensive: z
    .strictObject({
      ...common("GpuIdleExpensive", { for: "1h", keepFiringFor: "1h" }),
      perDayAbove: amount.default(200).describe("What a team's idle GPUs may cost in a day."),
    })
    .prefault({}),
  GpuGangBroken: z
    .strictObject({
      ...common("GpuGangBroken", { for: "1m", keepFiringFor: "5m" }),
      minBrokenGpus: gpus.default(1).describe("GPUs that such gangs of a team must hold at least."),
    })
    .prefault({}),
  GpuFragmentationHigh: z
    .strictObject({
      ...common("GpuFragmentationHigh", { for: "2h", keepFiringFor: "30m" }),
      strandedAbove: ratio.default(0.4).describe("Part of the fully free GPUs on nodes where no typical pod fits."),
      minFreeGpus: gpus.default(8).describe("Fully free GPUs that a pool must have at least."),
    })
    .prefault({}),
  GpuJobUnplaceable: z
    .strictObject({
      ...common("GpuJobUnplaceable", { for: "5m", keepFiringFor: "5m" }),
      blockedAboveSeconds: z
        .number()
        .min(0)
        .max(604_800)
        .default(1500)
        .describe("How long one gang must have been blocked, so that a chain of short ones is no alert."),
      minBlockedGpus: gpus.default(1).describe("GPUs of blocked gangs that there must be at least."),
    })
    .prefault({}),
  GpuJobUnplaceableLong: z
    .strictObject({ ...common("GpuJobUnplaceableLong", { for: "5m", keepFiringFor: "15m" }), ...worthWaking() })
    .prefault({}),
  GpuBudgetBurnFast: z
    .strictObject({
      ...common("GpuBudgetBurnFast", { for: "6h", keepFiringFor: "1h" }),
      burnAbove: factor
        .default(1.3)
        .describe("Times the even pace of its month at which a team spends, both since the month began and lately."),
      window: span.default("6h").describe("What `lately` is."),
      minSpentRatio: ratio
        .default(0.1)
        .describe("Part of the budget that must be spent: earlier, the pace says little."),
    })
    .prefault({}),
  GpuBudgetExhausted: z
    .strictObject({
      ...common("GpuBudgetExhausted", { for: "1h", keepFiringFor: "0m" }),
      spentAbove: z.number().min(0.01).max(100).default(1).describe("Part of the budget that is spent."),
    })
    .prefault({}),
  GpuPriceStale: z
    .strictObject({
      ...common("GpuPriceStale", { for: "1d", keepFiringFor: "0m" }),
      minGpus: gpus
        .default(1)
        .describe("GPUs of a pool with an old price (`prices.staleDays`) or none that there must be at least."),
    })
    .prefault({}),
  GpuRecommendationIgnored: z
    .strictObject({
      ...common("GpuRecommendationIgnored", { for: "1h", keepFiringFor: "0m" }),
      openForSeconds: z
        .number()
        .min(0)
        .max(31_536_000)
        .default(604_800)
        .describe("Age from which a recommendation counts."),
      savingPerWeekAbove: amount.default(500).describe("What these would save in a week together."),
    })
    .prefault({}),
  GpuCapacityExhausted: z
    .strictObject({
      ...common("GpuCapacityExhausted", { for: "1h", keepFiringFor: "15m" }),
      freeBelowGpus: gpus.default(1).describe("Free GPUs of a quota domain below which none is free."),
      minWaitingGpus: gpus.default(1).describe("GPUs that work must wait for at least because too few are free."),
    })
    .prefault({}),
  GpuCapacityForecast: z
    .strictObject({
      ...common("GpuCapacityForecast", { for: "1d", keepFiringFor: "0m" }),
      demandWindow: span.default("1d").describe("Window of the 95th percentile of demand."),
      trendWindow: span.default("28d").describe("Window of the trend of that."),
      minHistory: span.default("7d").describe("How far back that must be known."),
      ahead: span.default("21d").describe("How far ahead the trend is looked at."),
      minCapacityGpus: gpus.default(8).describe("Smallest quota domain that is judged."),
    })
    .prefault({}),
  GpuNodeLost: z
    .strictObject({
      ...common("GpuNodeLost", { for: "10m", keepFiringFor: "5m" }),
      minNodes: count.default(1).describe("Nodes of a node pool that must be not ready at least."),
      minGpus: gpus.default(1).describe("GPUs that must be unusable with them at least."),
    })
    .prefault({}),
  GpuNodeLostLong: z
    .strictObject({ ...common("GpuNodeLostLong", { for: "5m", keepFiringFor: "15m" }), ...worthWaking() })
    .prefault({}),
  GpuDrainNow: z
    .strictObject({ ...common("GpuDrainNow", { for: "2m", keepFiringFor: "5m" }), ...sickGpus })
    .prefault({}),
  GpuLookToday: z
    .strictObject({ ...common("GpuLookToday", { for: "15m", keepFiringFor: "15m" }), ...sickGpus })
    .prefault({}),
  GpuWatch: z.strictObject({ ...common("GpuWatch", { for: "1h", keepFiringFor: "0m" }), ...sickGpus }).prefault({}),
  ...exporterThresholds,
});

/** Labels that the alerts set themselves. */
const ownLabels: readonly string[] = ["alertname", "severity", "area", "action"];
const subjectLabels: readonly string[] = alertNames.flatMap((name) => listedAlert(name).labels);

/** Whether a label already has a meaning in rules. */
function isTaken(name: string): boolean {
  return ownLabels.includes(name) || ["instance", "pod", "le"].includes(name) || Object.hasOwn(labelMeanings, name);
}

const labelName = z.string().regex(/^(?!__)[a-zA-Z_][a-zA-Z0-9_]{0,99}$/);

const url = z.url({ protocol: /^https?$/ }).max(500);

/** The configuration of the alerts, which is one file for `fairlead alerts`. */
export const alertsSchema = z
  .strictObject({
    clusterLabel: labelName
      .refine((name) => name === "cluster" || !isTaken(name), {
        error: ({ input }) =>
          `is ${JSON.stringify(input)}, which means something else, expected the label that distinguishes clusters`,
      })
      .default("cluster")
      .describe("Label that distinguishes clusters, where a server renames `cluster` when it scrapes."),
    interval: span.default("1m").describe("How often the rules are evaluated."),
    labels: z
      .record(
        labelName.refine((name) => !ownLabels.includes(name) && !subjectLabels.includes(name), {
          error: "the alerts set it themselves, expected another",
        }),
        // A text that changes would start each alert anew.
        z
          .string()
          .max(500)
          .refine((text) => !text.includes("{{"), { error: "is a template, expected a fixed text" }),
      )
      .default({})
      .describe("Labels that are added to every alert, such as `namespace` for routes that need one."),
    fairleadUrl: url
      .default("https://fairlead.example.org")
      .describe("Where people reach Fairlead; `recommendation_url` begins with it."),
    runbookUrl: url
      .default("https://fairlead.example.org/runbooks/{alert}.md")
      .describe("Address of an alert's runbook; {alert} is its name in lower case."),
    dashboardUrl: url
      .default("https://grafana.example.org/d/{dashboard}")
      .describe("Address of a dashboard; {dashboard} is its uid. The alert's labels are added as variables."),
    alerts: alerts.prefault({}).describe("Settings of each alert."),
    alertmanager: alertmanagerSchema.prefault({}).describe("The example configuration of Alertmanager."),
  })
  .refine(({ clusterLabel, labels }) => !Object.hasOwn(labels, clusterLabel), {
    path: ["labels"],
    error: "has the label of clusterLabel, which the alerts set themselves, expected another",
  });

export type AlertsConfig = z.infer<typeof alertsSchema>;

/** The severity of an alert: the configured one, else the one of its action. */
export function severityIn({ alerts }: AlertsConfig, name: AlertName): Severity {
  const { action, severity = severityOf[action] } = alerts[name];
  return severity;
}

/** The configuration with everything at its default. */
export const defaultAlerts: AlertsConfig = alertsSchema.parse({});
