import type { ServingPage, ServingServer } from "../../model/serving.ts";
import { podLabels } from "../../model/wellKnown.ts";
import type { PodView } from "../snapshot.ts";
import { countsInWindow, type LatencyCounts, latencyAfter } from "./latencyWindow.ts";
import { type Served, servedSince } from "./servedSince.ts";
import { memoryAfter, provesGaps, type ServerMemory } from "./serverMemory.ts";

/** What a server reports about the requests of a pod that holds GPUs. */
export interface ServingView {
  /** Index of the pod whose page reports it: the pod itself, or the leader of its group. */
  readonly page: number;
  readonly servers: readonly ServingServer[];
  readonly running: number | null;
  readonly waiting: number | null;
  /** Requests that have ended since the server started; `null` without such a counter: then nothing is known. */
  readonly finished: number | null;
  /**
   * Since when no request came, seconds since the epoch: the counters of all pages of its gang have stood still and every gauge
   * has read 0. `null`: requests came, are inside, or it is not known.
   */
  readonly noRequestsSince: number | null;
  /** Its engines sleep, their weights off the GPU. */
  readonly isAsleep: boolean;
  /** What was done since the last cycle, reported only for the pod that has the page; `null` where that is not known. */
  readonly served: Served | null;
  /**
   * Latencies of the last five minutes, reported only for the pod that has the page; absent: its server has no histograms of
   * them.
   */
  readonly latency?: LatencyCounts;
}

/** Views by index of the pod, and what the next cycle must know, by uid of the pod. */
export interface ServingFound {
  readonly views: ReadonlyMap<number, ServingView>;
  readonly servers: ReadonlyMap<string, ServerMemory>;
}

/** The input for joining the pages of servers. */
export interface ServingInput {
  readonly pages: readonly ServingPage[];
  readonly pods: readonly PodView[];
  /** Whether these are all existing pods. */
  readonly knowsPods: boolean;
  readonly memory: ReadonlyMap<string, ServerMemory>;
}

const noViews: ReadonlyMap<number, ServingView> = new Map();

/**
 * Joins the pages of servers to the pods that hold GPUs. A page speaks for its own pod; that of the leader of a LeaderWorkerSet's
 * group also for its workers, which have none of their own. In other gangs a pod without a page may be a server whose page
 * cannot be got, so that nothing is known of it. Pure.
 */
export function servingViews({ pages, pods, knowsPods, memory }: ServingInput): ServingFound {
  // While pods are not read, nobody knows which of them are gone.
  if (!knowsPods || (pages.length === 0 && memory.size === 0)) return { views: noViews, servers: memory };
  const pageOf = new Map(pages.map((page) => [page.pod, page] as const));
  const servers = new Map<string, ServerMemory>();
  const views = new Map<number, ServingView>();
  for (const [index, { uid, status }] of pods.entries()) {
    if (uid === null || status !== "allocated") continue;
    const page = pageOf.get(uid);
    const before = memory.get(uid);
    if (page === undefined) {
      if (before !== undefined && provesGaps(before)) servers.set(uid, before);
      continue;
    }
    const after = looked(before, page);
    if (after.memory !== null) servers.set(uid, after.memory);
    views.set(index, { page: index, ...after.view });
  }
  spreadOverGangs(views, pods, memory);
  return { views, servers: isSameMap(servers, memory) ? memory : servers };
}

/** What a page says beside what was remembered of its pod, and what is remembered now. */
function looked(
  before: ServerMemory | undefined,
  page: ServingPage,
): { readonly view: Omit<ServingView, "page">; readonly memory: ServerMemory | null } {
  const { servers, running, waiting, finished, isAsleep, receivedAt } = page;
  const { served, readings } = servedSince(before?.readings, page);
  const after = memoryAfter(before, page, receivedAt, readings);
  const latency = latencyAfter(before?.latency, page, receivedAt);
  return {
    view: {
      servers,
      running,
      waiting,
      finished,
      served,
      noRequestsSince: after?.since ?? null,
      isAsleep: isAsleep === true,
      ...(latency === null ? {} : { latency: countsInWindow(latency) }),
    },
    memory: after === null || latency === null ? after : { ...after, latency },
  };
}

/** The views of a gang, with the facts that make them unknown. */
interface GangPages {
  readonly views: ServingView[];
  /** The pod that answers for those without a page: the leader of a LeaderWorkerSet's group. */
  leader: ServingView | null;
  /** Whether a pod of the gang had a page before and has none now: it may have requests. */
  hasLostPage: boolean;
}

/** A request is one of its whole gang, and what the pages of a gang do not agree on is not known. */
function spreadOverGangs(
  views: Map<number, ServingView>,
  pods: readonly PodView[],
  memory: ReadonlyMap<string, ServerMemory>,
): void {
  const gangs = gangPages(views, pods);
  if (gangs.size === 0) return;
  const members: (readonly [index: number, ofGang: GangPages])[] = [];
  for (const [index, { uid, gang, status }] of pods.entries()) {
    const ofGang = gang === null || status !== "allocated" ? undefined : gangs.get(gang.id);
    if (ofGang === undefined) continue;
    members.push([index, ofGang]);
    if (!views.has(index) && (uid === null || memory.has(uid))) ofGang.hasLostPage = true;
  }
  for (const [index, { views: all, leader, hasLostPage }] of members) {
    const own = views.get(index) ?? (leader === null ? null : { ...leader, served: null });
    if (own === null) continue;
    const noRequestsSince = hasLostPage ? null : latest(all.map((view) => view.noRequestsSince));
    views.set(index, { ...own, noRequestsSince, isAsleep: all.every((view) => view.isAsleep) });
  }
}

/** The pages of each gang that has some, by its id. */
function gangPages(views: ReadonlyMap<number, ServingView>, pods: readonly PodView[]): Map<string, GangPages> {
  const gangs = new Map<string, GangPages>();
  for (const [index, view] of views) {
    const { gang = null, labels = {} } = pods[index] ?? {};
    if (gang === null) continue;
    const known = gangs.get(gang.id) ?? { views: [], leader: null, hasLostPage: false };
    gangs.set(gang.id, known);
    known.views.push(view);
    if (labels[podLabels.lwsWorkerIndex] === "0") known.leader = view;
  }
  return gangs;
}

/** The last of these times; `null` if one is not known. */
function latest(times: readonly (number | null)[]): number | null {
  let last = Number.NEGATIVE_INFINITY;
  for (const time of times) {
    if (time === null) return null;
    last = Math.max(last, time);
  }
  return last;
}

function isSameMap(one: ReadonlyMap<string, ServerMemory>, other: ReadonlyMap<string, ServerMemory>): boolean {
  if (one.size !== other.size) return false;
  for (const [key, value] of one) if (other.get(key) !== value) return false;
  return true;
}
