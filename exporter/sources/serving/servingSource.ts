import type { Problem } from "../../model/problem.ts";
import type { ServingPage } from "../../model/serving.ts";
import type { GetResult } from "../http/getResult.ts";
import { createRounds, type Rounds, type RoundsOptions } from "../http/rounds.ts";
import { freshnessOf, type Source } from "../port.ts";
import { readServingPage, type ServingReading } from "./readPage.ts";
import { type FailingTarget, servingProblems, unreadableProblems, whyFailing } from "./servingProblems.ts";
import type { ServingTarget, UnreadablePod } from "./targets.ts";

/** The present requests of servers. */
export interface ServingState {
  /** The last good page of each pod whose page is young enough to be used. */
  readonly pages: readonly ServingPage[];
}

export interface ServingSourceOptions extends Omit<RoundsOptions, "ask"> {
  /** Called before each round, so that new pods are noticed and pods that are gone are forgotten. */
  readonly targets: (onUnreadable: (pod: UnreadablePod) => void) => readonly ServingTarget[];
}

/** A source that can also be driven by hand. */
export interface ServingSource extends Source<ServingState>, Rounds {}

/** What is remembered of a pod that is scraped. */
interface Asked {
  readonly target: ServingTarget;
  readonly page: ServingPage | null;
  readonly failing: FailingTarget | null;
}

const leastMaxAgeSeconds = 60;

/**
 * Scrapes the metrics of servers from the pods that hold GPUs, once in each interval, and keeps the last good page of each for
 * three intervals. It is no failure if a pod has no page of a known server: not every pod with GPUs serves.
 */
export function createServingSource(options: ServingSourceOptions): ServingSource {
  const { pool, now, intervalSeconds, schedule } = options;
  const maxAgeSeconds = Math.max(leastMaxAgeSeconds, 3 * intervalSeconds);
  let asked: ReadonlyMap<string, Asked> = new Map();
  let unreadable: readonly UnreadablePod[] = [];
  /** The time when all pods had last been scraped, seconds since the epoch. */
  let askedAt: number | null = null;

  const ask = async (target: ServingTarget, endedAt: () => number): Promise<Asked> => {
    const { url } = target;
    const before = asked.get(target.pod);
    const known = before?.target.url === url ? before : undefined;
    const page = known?.page ?? null;
    const request = { url, auth: { kind: "none" }, caFile: null, insecureSkipVerify: false } as const;
    const result: GetResult<ServingReading> = await pool.get(request, readServingPage);
    const at = endedAt();
    const because = whyFailing(result);
    if (because !== null) return { target, page, failing: { target, because, since: known?.failing?.since ?? at } };
    const isServer = result.ok && result.value.ok;
    return {
      target,
      page: isServer ? { ...result.value.record, pod: target.pod, receivedAt: at } : null,
      failing: null,
    };
  };

  const askAll = async (endedAt: () => number): Promise<void> => {
    const notRead: UnreadablePod[] = [];
    const targets = options.targets((pod) => notRead.push(pod));
    unreadable = notRead;
    pool.retain(new Set(targets.map(({ url }) => url)));
    const all = await Promise.all(targets.map((target) => ask(target, endedAt)));
    asked = new Map(all.map((one) => [one.target.pod, one] as const));
    askedAt = endedAt();
  };
  const rounds = createRounds({ ask: askAll, pool, intervalSeconds, now, schedule });

  const isYoung = (page: ServingPage | null): page is ServingPage =>
    page !== null && now() - page.receivedAt <= maxAgeSeconds;

  return {
    name: "serving",
    ...rounds,
    read: () => ({ pages: [...asked.values()].flatMap(({ page }) => (isYoung(page) ? [page] : [])) }),
    // Single pods belong to their teams, who may break their page as they like.
    freshness: () => [freshnessOf("pods", askedAt, now(), maxAgeSeconds)],
    problems: (): readonly Problem[] => [
      ...servingProblems(
        [...asked.values()].flatMap(({ failing }) => (failing === null ? [] : [failing])),
        asked.size,
      ),
      ...unreadableProblems(unreadable),
    ],
  };
}
