import type { Analysis } from "../../analysis/analysis.ts";
import { queueKey } from "../../analysis/fairness/shortSince.ts";
import type { EntitlementTrace } from "../../analysis/fairness/trace.ts";
import { traceEntitlement } from "../../analysis/fairness/traceEntitlement.ts";
import { findStartTimes } from "../../analysis/startTimes/findStartTimes.ts";
import type { PastStart } from "../../analysis/startTimes/startTimes.ts";
import type { DispatchedWork } from "../../join/queues/gangFacts.ts";
import type { QueueView, WaitingGang } from "../../join/queues/queueing.ts";
import { instant } from "../document/order.ts";
import { jsonNumber } from "../document/queueRecords.ts";
import { gpus } from "../terminal/columns.ts";
import { clusterText } from "../terminal/heldBackLines.ts";
import { causeText } from "./causeText.ts";
import type { Entitlement } from "./entitlementSchema.ts";
import { levelLines } from "./levelLines.ts";
import type { Fact } from "./schema.ts";
import { startRecord } from "./startFacts.ts";
import { whySentences } from "./whySentences.ts";

const shownGangs = 5;

/** Indices of the queues of that name, in every system and domain; the roots that Fairlead adds have no name of their own. */
export function queuesNamed(name: string, { snapshot }: Analysis): readonly number[] {
  return [...snapshot.queueing.queues.entries()]
    .filter(([, queue]) => queue.name === name && queue.kind !== "Scheduler")
    .map(([index]) => index);
}

/** Indices of a queue and of all queues below it. */
export function subtreeOf(index: number, { snapshot }: Analysis): ReadonlySet<number> {
  const { queues } = snapshot.queueing;
  const found = new Set([index]);
  for (const one of found) for (const child of queues[one]?.children ?? []) found.add(child);
  return found;
}

/** What a queue is entitled to in its domain, step by step, and who has what it lacks. */
export function queueEntitlement(index: number, analysis: Analysis, past: readonly PastStart[]): Entitlement | null {
  const { snapshot, fairness } = analysis;
  const { queueing } = snapshot;
  const queue = queueing.queues[index];
  if (queue === undefined) return null;
  const trace = traceEntitlement(queueing, fairness, index, {
    history: analysis.history,
    freeByPool: freeByPool(analysis),
  });
  const gangs = gangsOf(index, queue, analysis);
  const path = pathOf(queue, queueing.queues);
  const domain = queueing.domains[queue.domain];
  return {
    scheduler: queue.scheduler,
    kind: queue.kind,
    name: queue.name,
    domain: domain?.name ?? "",
    path: path.filter(({ kind }) => kind !== "Scheduler").map(({ name }) => name),
    unknownBecause: trace === null ? (domain?.unknownBecause ?? "nothing was computed for it") : null,
    entitled: trace?.entitled ?? null,
    allocated: queue.allocated,
    pending: queue.pending,
    deviation: trace === null ? null : trace.allocated - trace.entitled,
    shortSince: instant(analysis.shortSince.get(queueKey(queue, domain?.name ?? "")) ?? null),
    levels: trace === null ? [] : levelLines(trace, queueing),
    ...whoHasIt(trace, queueing.queues),
    why: trace === null ? [] : whySentences(trace, queueing),
    schedulerViews: analysis.schedulerViews
      .filter((view) => view.scheduler === queue.scheduler && view.kind === queue.kind && view.name === queue.name)
      .map(({ number, shard, computed, reported }) => ({
        number,
        shard,
        computed: jsonNumber(computed),
        reported: jsonNumber(reported),
      })),
    waiting: gangRecords(gangs.slice(0, shownGangs), analysis, past),
    waitingGangs: gangs.length,
    findings: analysis.findings.filter(
      ({ scheduler, name }) => scheduler === queue.scheduler && [queue, ...path].some((one) => one.name === name),
    ),
  };
}

/** The queues above a queue, the top one first. */
function pathOf(queue: QueueView, queues: readonly QueueView[]): readonly QueueView[] {
  const path: QueueView[] = [];
  let parent = queue.parent;
  while (parent !== null && path.length < queues.length) {
    const above = queues[parent];
    if (above === undefined) break;
    path.unshift(above);
    parent = above.parent;
  }
  return path;
}

function whoHasIt(
  trace: EntitlementTrace | null,
  queues: readonly QueueView[],
): Pick<Entitlement, "missing" | "owed" | "idleGap"> {
  if (trace === null) return { missing: [], owed: [], idleGap: { gpus: 0, pools: [] } };
  const nameOf = (index: number) => queues[index]?.name ?? "?";
  return {
    missing: addUp(trace.missing.map(({ borrower, gpus }) => ({ queue: nameOf(borrower), gpus }))),
    owed: addUp(trace.owed.map(({ starved, gpus }) => ({ queue: nameOf(starved), gpus }))),
    idleGap: trace.idleGap,
  };
}

/** Adds up GPUs by queue: several queues of a cohort may miss GPUs that one other queue has. */
function addUp(all: readonly { readonly queue: string; readonly gpus: number }[]): Entitlement["missing"] {
  const sums = new Map<string, number>();
  for (const { queue, gpus } of all) sums.set(queue, (sums.get(queue) ?? 0) + gpus);
  return [...sums].map(([queue, gpus]) => ({ queue, gpus })).sort((a, b) => b.gpus - a.gpus);
}

function freeByPool({ pools }: Analysis): ReadonlyMap<string, number> {
  return new Map(pools.map(({ pool, states }) => [pool, (states.free ?? 0) + (states.idle_node ?? 0)] as const));
}

/**
 * The gangs that wait in a queue or below it, with their indices: first those that queues serve, in that order, then those that
 * they never will.
 */
function gangsOf(index: number, queue: QueueView, analysis: Analysis): readonly (readonly [number, WaitingGang])[] {
  const { queues, gangs } = analysis.snapshot.queueing;
  const below = queue.isLeaf ? new Set([index]) : subtreeOf(index, analysis);
  const order = new Set<number>();
  for (const one of below) for (const gang of queues[one]?.gangs ?? []) order.add(gang);
  for (const [gangIndex, { parts }] of gangs.entries()) {
    if (parts.some((part) => part.queue !== null && below.has(part.queue))) order.add(gangIndex);
  }
  return [...order].flatMap((gangIndex) => {
    const gang = gangs[gangIndex];
    return gang === undefined ? [] : [[gangIndex, gang] as const];
  });
}

function gangRecords(
  gangs: readonly (readonly [number, WaitingGang])[],
  analysis: Analysis,
  past: readonly PastStart[],
): Entitlement["waiting"] {
  const indices = gangs.map(([index]) => index);
  const startTimes = findStartTimes(analysis.snapshot, past, indices);
  return gangs.map(([index, gang]) => ({
    ...gangRecord(index, gang, analysis),
    start: startRecord(startTimes.get(index) ?? { unknownBecause: "no-line" }),
  }));
}

function gangRecord(
  index: number,
  gang: WaitingGang,
  { waiting, snapshot }: Analysis,
): Omit<Entitlement["waiting"][number], "start"> {
  const work = waiting.work.find((one) => one.gang === index);
  const { namespace, kind, name, gpus, pods, most = null, growth = null, since, never, reason } = gang;
  const ageSeconds = work?.ageSeconds ?? (since === null ? null : Math.max(0, snapshot.at - since));
  const cause = work?.cause ?? "unknown";
  const blockingLevel = work?.blockingLevel ?? null;
  return { namespace, kind, name, gpus, pods, most, growth, ageSeconds, cause, blockingLevel, never, reason };
}

/** Facts about a queue besides what it holds and is entitled to on nodes of this cluster. */
export function queueFacts(name: string, analysis: Analysis): readonly Fact[] {
  return [...waitsNowhere(name, analysis), ...dispatchedFacts(({ queue }) => queue === name, analysis)];
}

/** Facts about work that runs in other clusters; none if there is no such work. */
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

/** The fact about work that waits in a queue for no node of this cluster, so that it is in none of the quota domains. */
function waitsNowhere(name: string, { snapshot, waiting }: Analysis): readonly Fact[] {
  const works = new Map(waiting.work.map((work) => [work.gang, work] as const));
  const own = [...snapshot.queueing.gangs.entries()].filter(
    ([, gang]) => gang.queue === name && gang.parts.every(({ queue }) => queue === null),
  );
  if (own.length === 0) return [];
  const total = own.reduce((sum, [, gang]) => sum + (gang.gpus ?? 0), 0);
  const shown = own.slice(0, shownGangs).map(([index, { kind, namespace, name: gang, reason }]) => {
    return `${kind} ${namespace}/${gang} (${causeText(works.get(index))}${reason === "" ? "" : `: ${reason}`})`;
  });
  const more = own.length > shownGangs ? ` + ${own.length - shownGangs} more` : "";
  return [{ name: "waits, but for no node here", value: `${gpus(total)} GPUs`, how: shown.join(" + ") + more }];
}
