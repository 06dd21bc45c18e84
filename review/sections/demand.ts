import type { Review } from "../document/review.ts";
import type { Demand } from "../document/use.ts";
import { longText, nameText } from "../words/names.ts";
import { minuteText } from "../words/times.ts";
import { money } from "./money.ts";
import { figure, numberColumn, type Sentence, type Table, tableOf, textColumn } from "./section.ts";

const gpus = (measure: string, value: number | null) => figure(measure, "GPUs", value);

/** The name of a quota domain as shown: `all pools` for the one without a name. */
export const domainItem = (domain: string): string => nameText(domain === "" ? "all pools" : domain);

/** The pools of a domain; empty if its name says them already. */
export function poolsText({ domain, pools }: Pick<Demand, "domain" | "pools">): string {
  const named = pools.slice(0, 6).map(nameText);
  const rest = pools.length - named.length;
  const text = `${named.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
  return text === domain ? "" : text;
}

/** Says in one sentence what the chart of a domain shows. */
export function demandSentence({ cluster, domain, p95DemandGpus, meanCapacityGpus }: Demand): Sentence {
  return {
    section: "demand",
    cluster,
    item: domainItem(domain),
    pieces: [
      "p95 demand (allocated and waiting) ",
      ...gpus("p95_demand", p95DemandGpus),
      ", mean capacity ",
      ...gpus("mean_capacity", meanCapacityGpus),
    ],
  };
}

/**
 * Says what one node more would have done, or why nobody knows: `One node more (8 GPUs, $ 40.2k a month): p95 wait from 5 h to
 * between 2 h and 4 h`. `null`: the review is of a version that did not ask.
 */
export function oneMoreNodeSentence({ cluster, domain, oneMoreNode }: Demand): Sentence | null {
  if (oneMoreNode === null) return null;
  const { gpus: size, p95Seconds, lowSeconds, highSeconds, costsPerMonth, reason } = oneMoreNode;
  const cost = Object.keys(costsPerMonth).length === 0 ? [] : [", ", ...money("node_cost", costsPerMonth, "month")];
  const node = size === null ? [] : [" (", ...gpus("node_gpus", size), ...cost, ")"];
  const effect =
    reason !== null
      ? [`: its effect is unknown, because ${longText(reason)}`]
      : [
          ": p95 wait from ",
          ...figure("wait_p95", "s", p95Seconds),
          " to between ",
          ...figure("wait_p95_low", "s", lowSeconds),
          " and ",
          ...figure("wait_p95_high", "s", highSeconds),
        ];
  return { section: "one_more_node", cluster, item: domainItem(domain), pieces: ["One node more", ...node, ...effect] };
}

/** The table of demand by domain, without its steps. */
export function demandTable({ demand, clusters }: Review): Table | null {
  return tableOf(demand, clusters, {
    section: "demand",
    caption: "Demand (allocated and waiting) against capacity, GPUs",
    rowHeading: "quota domain",
    row: ({ domain, cluster }) => ({ item: domainItem(domain), cluster, head: domainItem(domain) }),
    columns: [
      [textColumn("pools"), ({ pools }) => [pools.slice(0, 6).map(nameText).join(", ")]],
      [numberColumn("p95 demand", "GPUs"), ({ p95DemandGpus }) => gpus("p95_demand", p95DemandGpus)],
      [numberColumn("mean capacity", "GPUs"), ({ meanCapacityGpus }) => gpus("mean_capacity", meanCapacityGpus)],
    ],
  });
}

/** The table of all steps of a domain's chart. */
export function stepTable({ cluster, domain, steps }: Demand): Table {
  const item = domainItem(domain);
  return tableOf(steps, [], {
    section: "demand_steps",
    caption: `${item}, mean GPUs of each step`,
    rowHeading: "from (UTC)",
    row: ({ at }) => ({ item: `${item} ${at}`, cluster, head: minuteText(at) }),
    columns: [
      [numberColumn("capacity", "GPUs"), ({ capacity }) => gpus("capacity", capacity)],
      [numberColumn("guaranteed", "GPUs"), ({ guaranteed }) => gpus("guaranteed", guaranteed)],
      [numberColumn("allocated", "GPUs"), ({ allocated }) => gpus("allocated", allocated)],
      [numberColumn("active", "GPUs"), ({ active }) => gpus("active", active)],
      [numberColumn("waiting", "GPUs"), ({ pending }) => gpus("waiting", pending)],
    ],
  });
}
