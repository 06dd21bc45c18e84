/** What OpenCost says about one node. */
export interface PagedNode {
  readonly node: string;
  readonly instanceType: string;
  readonly gpus: number;
  /** Of one GPU, and of the node, per hour. */
  readonly perGpu: number;
  readonly perNode: number;
}

/**
 * A page as OpenCost serves it: names, HELP lines and labels of its metrics emitter (opencost/opencost
 * pkg/costmodel/metrics.go), for the nodes given, and other series that nobody asks for.
 */
export function openCostPage(nodes: readonly PagedNode[]): string {
  const family = (name: string, help: string, value: (node: PagedNode) => number): string[] => [
    `# HELP ${name} ${name} ${help}`,
    `# TYPE ${name} gauge`,
    ...nodes.map((node) => `${name}{${labels(node)}} ${value(node)}`),
  ];
  return [
    ...family("node_cpu_hourly_cost", "hourly cost for each cpu on this node", () => 0.031611),
    ...family("node_gpu_count", "count of gpu on this node", ({ gpus }) => gpus),
    ...family("node_gpu_hourly_cost", "hourly cost for each gpu on this node", ({ perGpu }) => perGpu),
    ...family("node_total_hourly_cost", "Total node cost per hour", ({ perNode }) => perNode),
    ...family("kubecost_node_is_spot", "Cloud provider info about node preemptibility", () => 0),
    "# HELP kubecost_cluster_management_cost kubecost_cluster_management_cost Hourly cost paid as a cluster management fee.",
    "# TYPE kubecost_cluster_management_cost gauge",
    'kubecost_cluster_management_cost{provisioner_name="EKS"} 0.1',
    "",
  ].join("\n");
}

function labels({ node, instanceType }: PagedNode): string {
  return `arch="amd64",instance="${node}",instance_type="${instanceType}",node="${node}",provider_id="i-${node}",region="us-east-1",uid="uid-${node}"`;
}
