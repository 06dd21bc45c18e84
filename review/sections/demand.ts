import type { Review } from "../document/review.ts";
import type { Demand } from "../document/use.ts";
import type { Figure } from "../words/figure.ts";
import { longText, nameText } from "../words/names.ts";
import { minuteText } from "../words/times.ts";
import { money } from "./money.ts";
import { numberColumn, type Sentence, type Table, textColumn } from "./section.ts";
import { withClusters } from "./withClusters.ts";

const gpus = (measure: string, value: number | null): Figure => ({ measure, unit: "GPUs", value });

/** Names a quota domain. */
export const domainItem = (domain: string): string => nameText(domain === "" ? "all pools" : domain);

/** Pools of a domain, unless its name says them already. */
export function poolsText({ domain, pools }: Pick<Demand, "domain" | "pools">): string {
  const named = pools.slice(0, 6).map(nameText);
  const rest = pools.length - named.length;
  const text = `${named.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
  return text === domain ? "" : text;
}

/** What a domain's chart comes to. */
export function demandSentence({ cluster, domain, p95DemandGpus, meanCapacityGpus }: Demand): Sentence {
  return {
    section: "demand",
    cluster,
    item: domainItem(domain),
    pieces: [
      "p95 demand (allocated and waiting) ",
      gpus("p95_demand", p95DemandGpus),
      ", mean capacity ",
      gpus("mean_capacity", meanCapacityGpus),
    ],
  };
}

/**
 * What one node more would have done: `One node more (8 GPUs, $ 40.2k a month): p95 wait 5 h to between 2 h and 4 h`, or why nobody knows.
 * `null`: a review from before did not say.
 */
export function oneMoreNodeSentence({ cluster, domain, oneMoreNode }: Demand): Sentence | null {
  if (oneMoreNode === null) return null;
  const { gpus: size, p95Seconds, lowSeconds, highSeconds, costsPerMonth, reason } = oneMoreNode;
  const seconds = (measure: string, value: number | null): Figure => ({ measure, unit: "s", value });
  const cost = Object.keys(costsPerMonth).length === 0 ? [] : [", ", ...money("node_cost", costsPerMonth, "month")];
  const node = size === null ? [] : [" (", gpus("node_gpus", size), ...cost, ")"];
  const effect =
    reason !== null
      ? [`: its effect is unknown, because ${longText(reason)}`]
      : [
          ": p95 wait from ",
          seconds("wait_p95", p95Seconds),
          " to between ",
          seconds("wait_p95_low", lowSeconds),
          " and ",
          seconds("wait_p95_high", highSeconds),
        ];
  return { section: "one_more_node", cluster, item: domainItem(domain), pieces: ["One node more", ...node, ...effect] };
}

/** Demand by domain in short. */
export function demandTable(review: Review): Table | null {
  if (review.demand === null) return null;
  return withClusters(review, {
    section: "demand",
    caption: "Demand (allocated and waiting) against capacity, GPUs",
    rowHeading: "quota domain",
    columns: [textColumn("pools"), numberColumn("p95 demand", "GPUs"), numberColumn("mean capacity", "GPUs")],
    rows: review.demand.map((one) => ({
      item: domainItem(one.domain),
      cluster: one.cluster,
      head: domainItem(one.domain),
      cells: [
        [one.pools.slice(0, 6).map(nameText).join(", ")],
        [gpus("p95_demand", one.p95DemandGpus)],
        [gpus("mean_capacity", one.meanCapacityGpus)],
      ],
    })),
  });
}

/** All steps of a domain's chart. */
export function stepTable({ cluster, domain, steps }: Demand): Table {
  const item = domainItem(domain);
  return {
    section: "demand_steps",
    caption: `${item}, mean GPUs of each step`,
    rowHeading: "from (UTC)",
    columns: ["capacity", "guaranteed", "allocated", "active", "waiting"].map((heading) =>
      numberColumn(heading, "GPUs"),
    ),
    rows: steps.map((step) => ({
      item: `${item} ${step.at}`,
      cluster,
      head: minuteText(step.at),
      cells: [
        [gpus("capacity", step.capacity)],
        [gpus("guaranteed", step.guaranteed)],
        [gpus("allocated", step.allocated)],
        [gpus("active", step.active)],
        [gpus("waiting", step.pending)],
      ],
    })),
  };
}
