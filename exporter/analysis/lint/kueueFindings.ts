import { type CohortTree, kueueForest } from "../../join/queues/kueueTree.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import { gpuLikeResource } from "../../model/gpuResource.ts";
import type { KueueClusterQueue } from "../../model/queues/kueue.ts";
import type { Finding, FindingCode } from "./finding.ts";

const mostNamed = 10;

/** Creates a finding about an object of Kueue. */
export function kueueFinding(code: FindingCode, kind: string, name: string, reason: string, change: string): Finding {
  return { code, scheduler: "kueue", kind, name, reason, change };
}

/** Settings of Kueue's queues, cohorts and flavors that keep work out or leave quota unshared. Source: Kueue v0.19. */
export function kueueFindings(snapshot: Snapshot): readonly Finding[] {
  const { queueObjects } = snapshot;
  if (queueObjects.kueueClusterQueues.length === 0) return [];
  const { trees } = kueueForest(queueObjects);
  return [
    ...trees.flatMap(treeFindings),
    ...unreachableQueues(snapshot),
    ...queueObjects.kueueClusterQueues.filter(selectsNothing).map(selectsNoNamespace),
    ...flavorFindings(snapshot),
  ];
}

function treeFindings(tree: CohortTree): readonly Finding[] {
  if (tree.circle !== null) return [cohortCycle(tree.circle, tree.queues.length)];
  const [only, ...others] = tree.queues;
  if (only !== undefined && others.length === 0) {
    return tree.cohorts.some(({ quotas }) => quotas.length > 0) ? [] : [cohortOfOne(only)];
  }
  return [];
}

/** Reports a cycle of cohorts (`hierarchy.HasCycle`): the scheduler's snapshot leaves out every queue below such a cohort. */
function cohortCycle(circle: readonly string[], queues: number): Finding {
  const [first = ""] = circle;
  const way = [...circle.slice(0, mostNamed), ...(circle.length > mostNamed ? ["..."] : []), first].join(" -> ");
  return kueueFinding(
    "kueue-cohort-cycle",
    "Cohort",
    first,
    `spec.parentName leads in a circle (${way}), so that Kueue admits nothing in its ${queues} ClusterQueues.`,
    `Take spec.parentName out of one of these Cohorts.`,
  );
}

function cohortOfOne({ name, cohort }: KueueClusterQueue): Finding {
  return kueueFinding(
    "kueue-cohort-of-one",
    "ClusterQueue",
    name,
    `It is the only ClusterQueue in cohort ${cohort}, which has no quota of its own: there is nobody to borrow from or to lend to.`,
    `Give the queues that should share GPUs the same spec.cohortName, or take it out of ${name}.`,
  );
}

/**
 * Reports ClusterQueues to which no LocalQueue leads, except if there is no LocalQueue at all: then Fairlead may not be allowed
 * to list them.
 */
function unreachableQueues({ queueObjects }: Snapshot): readonly Finding[] {
  const { kueueClusterQueues, kueueLocalQueues } = queueObjects;
  if (kueueLocalQueues.length === 0) return [];
  const reached = new Set(kueueLocalQueues.map(({ clusterQueue }) => clusterQueue));
  return kueueClusterQueues
    .filter(({ name }) => !reached.has(name))
    .map(({ name }) =>
      kueueFinding(
        "kueue-queue-unreachable",
        "ClusterQueue",
        name,
        "No LocalQueue leads to it, so that no work can be sent to it; its quota is of use to its cohort alone.",
        `Create a LocalQueue with spec.clusterQueue: ${name} in the namespaces that may use it.`,
      ),
    );
}

const selectsNothing = ({ namespaceSelector }: KueueClusterQueue): boolean => namespaceSelector === null;

function selectsNoNamespace({ name }: KueueClusterQueue): Finding {
  return kueueFinding(
    "kueue-queue-selects-no-namespace",
    "ClusterQueue",
    name,
    "spec.namespaceSelector is missing, which selects no namespace: Kueue admits nothing from any of its LocalQueues.",
    `Set spec.namespaceSelector of ClusterQueue ${name} to {} (all namespaces), or to the labels of those that may use it.`,
  );
}

function flavorFindings({ queueObjects, nodes }: Snapshot): readonly Finding[] {
  const { kueueClusterQueues, kueueCohorts, kueueResourceFlavors } = queueObjects;
  if (kueueResourceFlavors.length === 0 || nodes.length === 0) return [];
  const nominal = new Map<string, number>();
  for (const { quotas } of [...kueueClusterQueues, ...kueueCohorts]) {
    for (const { flavor, resource, nominal: amount } of quotas) {
      if (gpuLikeResource(resource)) nominal.set(flavor, (nominal.get(flavor) ?? 0) + amount);
    }
  }
  const byName = new Map(kueueResourceFlavors.map((flavor) => [flavor.name, flavor] as const));
  return [...nominal].flatMap(([name, gpus]) => {
    const flavor = byName.get(name);
    if (flavor === undefined) return [missingFlavor(name)];
    const labels = Object.entries(flavor.nodeLabels);
    const isThere = nodes.some((node) => labels.every(([key, value]) => node.labels[key] === value));
    return isThere || gpus <= 0 ? [] : [flavorWithoutNodes(name, gpus, labels)];
  });
}

/** Reports a flavor that does not exist: the condition `Active` of its ClusterQueues is false, with reason `FlavorNotFound`. */
function missingFlavor(name: string): Finding {
  return kueueFinding(
    "kueue-flavor-without-nodes",
    "ResourceFlavor",
    name,
    "Quotas of GPUs name it, but it does not exist: Kueue makes the ClusterQueues that name it inactive and admits nothing in them.",
    `Create ResourceFlavor ${name}, or take it out of spec.resourceGroups.`,
  );
}

function flavorWithoutNodes(name: string, gpus: number, labels: readonly (readonly [string, string])[]): Finding {
  const wanted = labels.slice(0, mostNamed).map(([key, value]) => `${key}=${value}`);
  return kueueFinding(
    "kueue-flavor-without-nodes",
    "ResourceFlavor",
    name,
    `No node with GPUs has its labels ${wanted.join(", ")}, but quotas give out ${gpus} GPUs of it: work is admitted and then finds no node.`,
    `Correct spec.nodeLabels of ResourceFlavor ${name}, or label its nodes; if nodes come by autoscaling, this ends with the first.`,
  );
}
