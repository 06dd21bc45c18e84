import type { Tools } from "./dashboard.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { shows } from "./panel/shown.ts";
import { table } from "./panel/table.ts";
import { timeSeries } from "./panel/timeSeries.ts";
import { units } from "./panel/units.ts";

/** What hardware and nodes cost in GPUs, by cause, and which GPUs need attention. */
export function fleetHealth(tools: Tools): readonly PanelDraft[] {
  return [byCause(tools), sickGpus(tools)];
}

function byCause({ query, page }: Tools): PanelDraft {
  return timeSeries({
    title: "GPUs unusable or slow, by cause",
    meaning:
      "GPUs that cannot be used, by what makes them so, and after them those that work but are slowed down. A step up is a fault that began then; a cause that stays waits for repair. `node` is a node that is not ready, `unknown` a GPU that the API does not offer and nothing explains.",
    unit: units.gpus,
    style: "area",
    size: [12, 8],
    shows: [
      shows(query.sum("fairlead_unavailable_gpus", ["cluster", "cause"]), "{{cause}} ({{cluster}})"),
      shows(query.sum("fairlead_degraded_gpus", ["cluster", "cause"]), "slow: {{cause}} ({{cluster}})"),
    ],
    links: [page("/", "Which nodes and GPUs are these?")],
  });
}

function sickGpus({ query, page }: Tools): PanelDraft {
  return table({
    title: "GPUs to look after",
    meaning:
      "The GPUs of ready nodes that need care, three for each node pool and tier: drain now where work is on a GPU with a fault that ends it, look today where one cannot be used, watch where one is slowed down or about to be repaired. The runbooks of the three alerts say what to do by cause.",
    size: [12, 8],
    labels: { tier: "Tier", cause: "Cause", sick_node: "Node", gpu: "GPU", node_pool: "Node pool", cluster: "Cluster" },
    values: [
      {
        title: "GPUs",
        query: query.recorded("cluster_node_pool_sick_node_gpu_tier_cause:fairlead_sick_gpu_gpus:max"),
        unit: units.gpus,
      },
    ],
    sortBy: "GPUs",
    empty: "none",
    links: { sick_node: page("/", "What is on this node?") },
  });
}
