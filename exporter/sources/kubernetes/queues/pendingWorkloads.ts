import { isRecord, parseJson } from "../../../kernel/parseJson.ts";
import type { KueuePendingWorkloads } from "../../../model/queues/kueue.ts";
import type { ApiClient } from "../apiClient.ts";
import { type Clock, type Repetition, repeat } from "../clock.ts";
import { locateKind } from "../discovery.ts";
import { child, items, placeOf, text } from "../fields.ts";
import type { WatchedKind } from "../kinds.ts";
import { getGood } from "../setback.ts";

/** Kueue's visibility API. The right to read it is granted together with that to Kueue's other kinds. */
export const visibilityApi = {
  group: "visibility.kueue.x-k8s.io",
  versions: ["v1beta2", "v1beta1"],
  resource: "clusterqueues",
  optional: true,
  right: "kueue",
} as const satisfies WatchedKind;

/** The subresource of a ClusterQueue that has its waiting Workloads in order. */
export const pendingWorkloadsSubresource = "pendingworkloads";

/** Repeatedly asks Kueue in which order it will serve the waiting Workloads, where its visibility API is served. */
export interface PendingWorkloadsReader extends Repetition {
  /** The lines that were read recently; the same map until something changes. */
  read(): KueuePendingWorkloads;
}

/** A ClusterQueue in which several Workloads wait, or may wait. */
export interface AskedQueue {
  readonly name: string;
  readonly pendingWorkloads: number | null;
}

/** How often lines are requested, and the greatest age of a line that is used. */
const secondsBetween = 60;
const maxAgeSeconds = 180;
/**
 * The number of lines that are requested each time, the oldest first. If more queues have waiting Workloads, the order of the
 * others is computed by Fairlead.
 */
const queuesEachTime = 50;
/** The greatest number of entries of each line; Kueue's own default is the same. */
const longestLine = 1000;
const deadlineSeconds = 10;
const maxBytes = 8 * 1024 * 1024;

interface Line {
  /** The time of the reading, monotonic seconds. */
  readonly readAt: number;
  readonly names: readonly string[];
}

/**
 * Creates the reader. `queues` returns the present ClusterQueues. It is no problem if the API is absent or may not be read: the
 * order is then computed by Kueue's rule, and is shown as computed.
 */
export function createPendingWorkloads(
  client: ApiClient,
  clock: Clock,
  queues: () => readonly AskedQueue[],
): PendingWorkloadsReader {
  let lines = new Map<string, Line>();
  let given: KueuePendingWorkloads = new Map();

  const readLine = async (path: string, name: string, signal: AbortSignal): Promise<void> => {
    const query = `${path}/${encodeURIComponent(name)}/${pendingWorkloadsSubresource}?limit=${longestLine}`;
    const answer = await getGood(client, query, { accept: "application/json", signal, deadlineSeconds, maxBytes });
    const names = answer.ok ? lineOf(parseJson(answer.body)) : null;
    if (names !== null) lines.set(name, { readAt: clock.monotonic(), names });
  };

  const readAll = async (signal: AbortSignal): Promise<void> => {
    const asked = queues().filter(({ pendingWorkloads }) => pendingWorkloads === null || pendingWorkloads > 1);
    const readAt = (name: string): number => lines.get(name)?.readAt ?? Number.NEGATIVE_INFINITY;
    const oldest = asked.map(({ name }) => name).sort((a, b) => readAt(a) - readAt(b) || (a < b ? -1 : 1));
    const located = oldest.length === 0 ? null : await locateKind(client, visibilityApi, signal);
    if (located?.ok === true)
      for (const name of oldest.slice(0, queuesEachTime))
        if (!signal.aborted) await readLine(located.path, name, signal);
    const names = new Set(oldest);
    lines = new Map([...lines].filter(([name]) => names.has(name)));
  };

  return {
    ...repeat(clock, secondsBetween, readAll),
    read: () => {
      const now = clock.monotonic();
      const young = [...lines].filter(([, { readAt }]) => now - readAt <= maxAgeSeconds);
      const isSame = young.length === given.size && young.every(([name, { names }]) => given.get(name) === names);
      if (!isSame) given = new Map(young.map(([name, { names }]) => [name, names]));
      return given;
    },
  };
}

/** `namespace/name` of each Workload, in Kueue's order; `null` where the answer is no `PendingWorkloadsSummary`. */
function lineOf(summary: unknown): readonly string[] | null {
  if (!isRecord(summary) || summary.kind !== "PendingWorkloadsSummary") return null;
  const place = placeOf(summary);
  const entries = items(place, "items").slice(0, longestLine);
  const names = entries.map((entry): string | null => {
    if (!isRecord(entry.value.metadata)) return null;
    const own = child(entry, "metadata");
    const [namespace, name] = [text(own, "namespace"), text(own, "name")];
    return namespace === null || name === null ? null : `${namespace}/${name}`;
  });
  return place.faults.length > 0 ? null : names.filter((name) => name !== null);
}
