import type { Pod } from "../../model/pod.ts";

/** Namespaces whose pods the rules of pods with GPUs look at: affinity, anti-affinity and topology spread. */
export function lookedAtNamespaces(pods: readonly Pod[]): ReadonlySet<string> {
  const namespaces = new Set<string>();
  for (const { namespace, placement } of pods) {
    if (placement === undefined) continue;
    if (placement.spread.length > 0) namespaces.add(namespace);
    for (const term of [...placement.affinity, ...placement.antiAffinity])
      for (const other of term.namespaces.length === 0 ? [namespace] : term.namespaces) namespaces.add(other);
  }
  return namespaces;
}
