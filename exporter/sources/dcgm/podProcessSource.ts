import type { Problem } from "../../model/problem.ts";
import { createRounds, type Rounds, type RoundsOptions } from "../http/rounds.ts";
import type { ScrapeTarget } from "./discover.ts";
import { type PodProcessPage, readPodProcesses } from "./podProcesses.ts";

export interface PodProcessSourceOptions extends Omit<RoundsOptions, "ask"> {
  /** Called before each round; only targets that speak for a node are asked. */
  readonly targets: () => readonly ScrapeTarget[];
}

/** What processes of pods use of GPUs, by exporters that know to which pod a process belongs. */
export interface PodProcessSource extends Rounds {
  /** The last good page of each node that is young enough to be used. */
  read(): readonly PodProcessPage[];
  problems(): readonly Problem[];
}

interface Asked {
  readonly node: string;
  readonly page: PodProcessPage | null;
  readonly goodAt: number | null;
  readonly fault: string | null;
}

const leastMaxAgeSeconds = 60;

/** Scrapes the exporters of pods' processes once in each interval, and keeps the last good page of each for three intervals. */
export function createPodProcessSource(options: PodProcessSourceOptions): PodProcessSource {
  const { pool, now, intervalSeconds, schedule } = options;
  const maxAgeSeconds = Math.max(leastMaxAgeSeconds, 3 * intervalSeconds);
  let asked: ReadonlyMap<string, Asked> = new Map();

  const ask = async (target: ScrapeTarget, node: string, endedAt: () => number): Promise<Asked> => {
    const known = asked.get(target.url);
    const before = known?.node === node ? known : undefined;
    const result = await pool.get(target, readPodProcesses);
    if (result.ok && result.value !== null)
      return { node, page: { node, pods: result.value }, goodAt: endedAt(), fault: null };
    const fault = result.ok ? "its page has no utilization by pod" : result.message;
    return { node, page: before?.page ?? null, goodAt: before?.goodAt ?? null, fault };
  };

  const rounds = createRounds({
    ask: async (endedAt) => {
      const targets = options.targets();
      pool.retain(new Set(targets.map(({ url }) => url)));
      const all = await Promise.all(
        targets.flatMap((target) =>
          target.node === null ? [] : [ask(target, target.node, endedAt).then((one) => [target.url, one] as const)],
        ),
      );
      asked = new Map(all);
    },
    pool,
    intervalSeconds,
    now,
    schedule,
  });

  return {
    ...rounds,
    read: () =>
      [...asked.values()].flatMap(({ page, goodAt }) =>
        page !== null && goodAt !== null && now() - goodAt <= maxAgeSeconds ? [page] : [],
      ),
    problems: () =>
      failing(
        [...asked.values()].filter(({ fault }) => fault !== null),
        asked.size,
      ),
  };
}

function failing(faults: readonly Asked[], targets: number): readonly Problem[] {
  const [first] = faults;
  if (first === undefined) return [];
  return [
    {
      source: "dcgm",
      code: "pod-processes-unread",
      severity: "warning",
      subject: first.node,
      message: `${faults.length} of ${targets} exporters of dcgm.podProcesses (node ${first.node} first) say nothing about pods: ${first.fault}; the activity of GPUs that pods share there is divided by estimate`,
      nextStep: "Check namespaces, matchLabels and port of dcgm.podProcesses, and open the page by hand.",
    },
  ];
}
