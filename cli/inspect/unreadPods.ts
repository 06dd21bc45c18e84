import type { Problem } from "../../exporter/model/problem.ts";
import type { TelemetryPage } from "../../exporter/model/telemetry.ts";
import { reservationNamespaces } from "../../exporter/model/wellKnown.ts";

const shownPods = 3;

/**
 * One line for each namespace whose pods pages name while the dump has none of them: who took a dump may be allowed to see a
 * part of the namespaces only, and GPUs that others hold must not look free. Where no pods were read at all (`null`), what
 * that means for most of them is said elsewhere.
 */
export function unreadPods(
  pages: readonly TelemetryPage[],
  podNamespaces: ReadonlySet<string> | null,
): readonly Problem[] {
  const isReportedOf = (namespace: string) =>
    podNamespaces === null ? reservationNamespaces.has(namespace) : !podNamespaces.has(namespace);
  const pods = new Map<string, Set<string>>();
  for (const { namespace, pod } of pages.flatMap(({ devices }) => devices.flatMap(({ claimants }) => claimants))) {
    if (!isReportedOf(namespace)) continue;
    const known = pods.get(namespace) ?? new Set();
    pods.set(namespace, known.add(pod));
  }
  return [...pods]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([namespace, names]) => lineOf(namespace, [...names].sort()));
}

function lineOf(namespace: string, names: readonly string[]): Problem {
  const more = names.length > shownPods ? `, and ${names.length - shownPods} more` : "";
  const instead = reservationNamespaces.has(namespace)
    ? "they keep GPUs for pods that nothing names, so that these GPUs are unattributed"
    : "the GPUs on which the pages show them count as held by them";
  return {
    source: "inspect",
    code: "pods-not-in-dump",
    severity: "warning",
    subject: namespace,
    message: `the dump has no pod of namespace ${namespace}, and pages name ${names.length} (${names.slice(0, shownPods).join(", ")}${more}): ${instead}`,
    nextStep: "Add the pods of all namespaces to the dump: kubectl get pods -A -o json > pods.json",
  };
}
