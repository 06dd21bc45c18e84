import type { Analysis } from "../../analysis/analysis.ts";
import type { DispatchedWork } from "../../join/queues/gangFacts.ts";
import { gpus } from "../terminal/columns.ts";
import { clusterText } from "../terminal/heldBackLines.ts";
import type { Fact } from "./schema.ts";

const shownGangs = 5;

/** What is known about a queue besides what it holds and is entitled to on nodes of this cluster. */
export function queueFacts(name: string, analysis: Analysis): readonly Fact[] {
  return [...waitsNowhere(name, analysis), ...dispatchedFacts(({ queue }) => queue === name, analysis)];
}

/** The work that runs in other clusters; nothing if there is none. */
export function dispatchedFacts(
  isWanted: (work: DispatchedWork) => boolean,
  { snapshot }: Pick<Analysis, "snapshot">,
): readonly Fact[] {
  const work = (snapshot.queueing.dispatched ?? []).filter(isWanted);
  return [...Map.groupBy(work, ({ cluster }) => cluster)].map(
    ([cluster, there]): Fact => ({
      name: "runs elsewhere",
      value: `${there.length} ${there.length === 1 ? "workload" : "workloads"}`,
      how: `${clusterText(cluster, there)}; it holds and waits for nothing here`,
    }),
  );
}

/** Work of a queue that has no nodes in this cluster: it is in none of the domains below. */
function waitsNowhere(name: string, { snapshot, waiting }: Analysis): readonly Fact[] {
  const causes = new Map(waiting.work.map(({ gang, cause }) => [gang, cause] as const));
  const own = [...snapshot.queueing.gangs.entries()].filter(
    ([, gang]) => gang.queue === name && gang.parts.every(({ queue }) => queue === null),
  );
  if (own.length === 0) return [];
  const total = own.reduce((sum, [, gang]) => sum + (gang.gpus ?? 0), 0);
  const shown = own.slice(0, shownGangs).map(([index, { kind, namespace, name: gang, reason }]) => {
    return `${kind} ${namespace}/${gang} (${causes.get(index) ?? "unknown"}${reason === "" ? "" : `: ${reason}`})`;
  });
  const more = own.length > shownGangs ? ` + ${own.length - shownGangs} more` : "";
  return [{ name: "waits, but for no node here", value: `${gpus(total)} GPUs`, how: shown.join(" + ") + more }];
}
