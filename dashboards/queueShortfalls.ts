import { where } from "../exporter/catalogue/promql.ts";
import type { Tools } from "./dashboard.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { table } from "./panel/table.ts";
import { units } from "./panel/units.ts";

/** The GPUs that queues lack, by every cause. */
export function queueShortfalls({ query, rowLink }: Tools): PanelDraft {
  type Cause = "by_others" | "idle_gap" | "absent_capacity" | "indivisible";
  const by = ["cluster", "queue", "domain"] as const;
  const missing = (cause: Cause) => where(query.sum("fairlead_queue_shortfall_gpus", by, { cause }), ">", 0);
  return table({
    title: "GPUs missing, by queue and cause",
    meaning:
      "GPUs that each queue misses of what it could have if every guarantee had its nodes: others hold them above their share, they are free, they are guaranteed to it and on no node that it can have, or no whole gang fits into them or a setting keeps them where they are. Only the first is owed by others.",
    size: [24, 8],
    labels: { queue: "Queue", domain: "Quota domain", cluster: null },
    values: [
      { title: "With others", query: missing("by_others"), unit: units.gpus },
      { title: "Free", query: missing("idle_gap"), unit: units.gpus },
      { title: "No nodes", query: missing("absent_capacity"), unit: units.gpus },
      { title: "Of no use", query: missing("indivisible"), unit: units.gpus },
    ],
    sortBy: "With others",
    empty: "no queue misses anything",
    widths: { "With others": 100, Free: 80, "No nodes": 90, "Of no use": 90 },
    links: { queue: rowLink("fairness", "Only this queue", { cluster: "cluster", queue: "queue", domain: "domain" }) },
  });
}

/** Why guarantees have no nodes. */
export function absentCapacity({ query, rowLink }: Tools): PanelDraft {
  type Owner = "lost_node" | "node_to_come" | "past_queues" | "promised_twice";
  const by = ["cluster", "domain"] as const;
  const missing = (owner: Owner) => where(query.sum("fairlead_fairness_absent_capacity_gpus", by, { owner }), ">", 0);
  return table({
    title: "Guaranteed GPUs without nodes, by cause",
    meaning:
      "GPUs that queues of a quota domain are guaranteed, wait for and find no nodes for: nodes are lost, nodes are still to come, pods of no queue hold them, or they are promised more than once. Beside them is all that pods of no queue hold. Nobody has these above a share.",
    size: [24, 7],
    labels: { domain: "Quota domain", cluster: "Cluster" },
    values: [
      { title: "Nodes lost", query: missing("lost_node"), unit: units.gpus },
      { title: "Nodes to come", query: missing("node_to_come"), unit: units.gpus },
      { title: "Past the queues", query: missing("past_queues"), unit: units.gpus },
      { title: "Promised twice", query: missing("promised_twice"), unit: units.gpus },
      {
        title: "Allocated to no queue",
        query: where(query.max("fairlead_domain_past_queues_gpus", by), ">", 0),
        unit: units.gpus,
      },
    ],
    sortBy: "Nodes lost",
    empty: "every guarantee has its nodes",
    links: { domain: rowLink("fairness", "Only this quota domain", { cluster: "cluster", domain: "domain" }) },
  });
}
