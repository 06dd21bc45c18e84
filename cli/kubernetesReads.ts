import type { KindReads } from "../exporter/publish/health.ts";
import type { KubernetesSource } from "../exporter/sources/kubernetes/kubernetesSource.ts";

/** How each kind has been read, for Fairlead's own health. */
export function kubernetesReads(source: KubernetesSource): readonly KindReads[] {
  return Object.entries(source.status()).map(([kind, { lists, watches, restarts, answerSeconds }]) => ({
    resource: kind.toLowerCase(),
    lists,
    watches,
    restarts,
    answerSeconds,
  }));
}
