import { type WatchedKindName, watchedKindNames, watchedKinds } from "../../exporter/sources/kubernetes/kinds.ts";
import { ownerKinds } from "../../exporter/sources/kubernetes/ownerKinds.ts";
import { resourceName } from "../../exporter/sources/kubernetes/rights.ts";
import { singularOf } from "./dumpKinds.ts";

/** Names that people give to files of these kinds, beside the names of the API. */
const shortNames: Readonly<Partial<Record<WatchedKindName, readonly string[]>>> = {
  namespaces: ["ns"],
  podDisruptionBudgets: ["pdb", "pdbs"],
  persistentVolumeClaims: ["pvc", "pvcs"],
  persistentVolumes: ["pv", "pvs"],
  priorityClasses: ["pc"],
  resourceQuotas: ["quota", "quotas"],
  horizontalPodAutoscalers: ["hpa", "hpas"],
  verticalPodAutoscalers: ["vpa", "vpas"],
  // Those of Kubernetes itself are named with their group: few clusters have them.
  kueueWorkloads: ["workload", "workloads"],
};

/**
 * The kinds that a file's name (without its ending) says it holds: `pdb`, `kueue-workloads`, `nodepools.karpenter.sh`. A name
 * that several kinds share counts with its group only. `null` where the name has no kind that Fairlead reads.
 */
export function kindsInName(stem: string): readonly WatchedKindName[] | null {
  const name = stem.toLowerCase();
  const found = watchedKindNames.filter((kind) => namesOf(kind).some((word) => hasWord(name, word)));
  return found.length > 0 || ownerNames.some((word) => hasWord(name, word)) ? found : null;
}

/**
 * Whether a name has a word that is neither part of a longer word nor the beginning of another group's name
 * (`workloads.example.com`).
 */
function hasWord(name: string, word: string): boolean {
  for (let at = name.indexOf(word); at >= 0; at = name.indexOf(word, at + 1))
    if (!/[a-z0-9]/.test(name[at - 1] ?? "") && !/[a-z0-9.]/.test(name[at + word.length] ?? "")) return true;
  return false;
}

function namesOf(kind: WatchedKindName): readonly string[] {
  const { group, resource } = watchedKinds[kind];
  const isShared = watchedKindNames.some((other) => other !== kind && watchedKinds[other].resource === resource);
  const own = isShared ? [] : [resource, singularOf(kind)];
  return [resourceName(group, resource), ...own, ...(shortNames[kind] ?? [])];
}

/** Names of kinds whose absence means nothing: ConfigMaps, and kinds that own pods. */
const ownerNames = [
  "configmaps",
  ...Object.values(ownerKinds)
    .flat()
    .flatMap(({ group, resource }) => [resource, resourceName(group, resource)]),
];
