import { gangSizeNames } from "../model/topology.ts";
import type { MetricArea } from "./metric.ts";

/** How well free GPUs can be used by gangs that must stay within a domain of the cluster's topology, such as a rack. */
export const topologyMetrics = {
  fairlead_topology_domains: {
    unit: "count",
    help: "Domains of this level of the topology, such as racks, that have nodes of the pool.",
    formula: "count of domains with a node of the pool",
    example: "33 racks with H100 nodes: 33.",
    labels: ["cluster", "pool", "level"],
    stability: "alpha",
  },
  fairlead_topology_free_domains: {
    unit: "count",
    help: "Domains in which all GPUs of the pool are free.",
    formula: "count of domains whose nodes of the pool are ready, schedulable and wholly free",
    example: "of 33 racks, 4 are empty: 4.",
    labels: ["cluster", "pool", "level"],
    stability: "alpha",
  },
  fairlead_topology_nodes_outside: {
    unit: "nodes",
    help: "Nodes of the pool that are in no domain of this level, because they lack a label of it: no gang of this level can use them.",
    formula: "count of nodes without a domain",
    example: "2 nodes of 600 have no label for their rack: 2.",
    labels: ["cluster", "pool", "level"],
    stability: "alpha",
  },
  fairlead_topology_gang_slots: {
    unit: "count",
    help: "Gangs of this many GPUs that could start now side by side, each within one domain, with pods that ask for the GPUs of a whole node (or for all GPUs of the gang where a node has more), CPU and memory of typical pods counted.",
    formula:
      "sum over domains of floor(sum over nodes of floor(f / p) / k), p = min(gang, GPUs of a node), k = ceil(gang / p), f: fully free GPUs of the node",
    example: "racks of 18 nodes with 4 GPUs; 17 and 15 nodes are wholly free: 1 + 0 gangs of 64.",
    labels: ["cluster", "pool", "level", "gang_gpus"],
    values: { gang_gpus: gangSizeNames },
    stability: "alpha",
  },
  fairlead_topology_possible_gang_slots: {
    unit: "count",
    help: "The same if every node were empty and ready; the difference to the slots is allocated, or lost to scatter.",
    formula: "as fairlead_topology_gang_slots, with all GPUs of each node",
    example: "two racks of 18 nodes with 4 GPUs: 1 + 1 gangs of 64.",
    labels: ["cluster", "pool", "level", "gang_gpus"],
    values: { gang_gpus: gangSizeNames },
    stability: "alpha",
  },
  fairlead_topology_unusable_gpus: {
    unit: "gpus",
    help: "Free GPUs in domains of this level that gangs are expected not to be able to use: the mean over those sizes of gangs that an empty domain could take. Absent where there is no such size.",
    formula:
      "mean over gangs of the sum over domains of: everything free, if the gang does not fit there; else F(n, its pod) summed over nodes",
    example: "6 and 2 GPUs are free on the two nodes of a rack, which has 16: neither 8 nor 16 fit, so 8.",
    labels: ["cluster", "pool", "level"],
    stability: "alpha",
  },
} as const satisfies MetricArea;
