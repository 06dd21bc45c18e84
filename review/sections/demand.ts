import type { Review } from "../document/review.ts";
import type { Demand } from "../document/use.ts";
import type { Figure } from "../words/figure.ts";
import { nameText } from "../words/names.ts";
import { minuteText } from "../words/times.ts";
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
