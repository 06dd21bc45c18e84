import type { EntitlementTrace } from "../../analysis/fairness/trace.ts";
import type { Queueing, QueueView } from "../../join/queues/queueing.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { AbsentOwner } from "../../model/shortfall.ts";
import { gpus, plainText } from "../terminal/columns.ts";

/** The most queues that one sentence names. */
const namedQueues = 8;

/**
 * Why a queue has what it has, in whole sentences; the last one says what would have to change. Every amount of its shortfall
 * is in exactly one of them.
 */
export function whySentences(trace: EntitlementTrace, queueing: Queueing): readonly string[] {
  const queue = queueing.queues[trace.queue];
  if (queue === undefined) return [];
  const { judged } = trace;
  if (queue.kind === "Unqueued")
    return [
      `No queue answers for these ${gpus(queue.allocated)} GPUs: whoever holds them keeps them, and they are in nobody's share.`,
    ];
  if (judged.shortfall <= gpuTolerance && judged.excess <= gpuTolerance) return [balanced(queue, trace)];
  const sentences = [
    ...(judged.shortfall > gpuTolerance ? missingSentences(queue, trace, queueing) : []),
    ...(judged.excess > gpuTolerance ? [excessSentence(queue, trace, queueing)] : []),
  ];
  return [...sentences, ...changeSentences(queue, trace, queueing)];
}

function balanced({ name, pending, allocated }: QueueView, { entitled }: EntitlementTrace): string {
  const said = nameOf(name);
  if (pending <= gpuTolerance)
    return `${said} holds all that it asks for, ${gpus(allocated)} GPUs, and nobody is short because of it: nothing has to change.`;
  return `${said} holds what it is entitled to, ${gpus(entitled)} GPUs. For the ${gpus(pending)} that it waits for beyond that, its share would have to be larger: a larger guarantee or weight, less demand of others, or more nodes.`;
}

function missingSentences(
  queue: QueueView,
  { judged, missing, lost }: EntitlementTrace,
  queueing: Queueing,
): readonly string[] {
  const { shortfall, shortfallByIdleGap: idle, shortfallByBorrowers: borrowed, shortfallByIndivisible: rest } = judged;
  const moved = missing.reduce((sum, pair) => sum + pair.gpus, 0);
  const kept = borrowed - moved;
  return [
    `${nameOf(queue.name)} misses ${gpus(shortfall)} GPUs.`,
    ...(lost > gpuTolerance ? [`${gpus(lost)} of what it holds are on nodes that are out of service.`] : []),
    ...(idle > gpuTolerance ? [`${gpus(idle)} of them are free in nodes that it may use.`] : []),
    ...(moved > gpuTolerance
      ? [
          `${gpus(moved)} are allocated to ${holders(missing, queueing)} above their own share, and its scheduler would take them back.`,
        ]
      : []),
    ...(kept > gpuTolerance ? [keptSentence(kept, queue, judged)] : []),
    ...judged.shortfallByAbsentCapacity.map(({ owner, gpus: amount }) => absentSentences[owner](gpus(amount))),
    ...(rest > gpuTolerance ? [`${gpus(rest)} are in no piece that its waiting work could use.`] : []),
  ];
}

function keptSentence(
  kept: number,
  queue: QueueView,
  { heldBackBy, actionableShortfall }: EntitlementTrace["judged"],
): string {
  const allocated = `${gpus(kept)} are allocated to others above their share`;
  if (heldBackBy !== null) return `${allocated} and stay there: ${plainText(heldBackBy, 300)}.`;
  if (!queue.isLeaf) return `${allocated}.`;
  const why =
    actionableShortfall > gpuTolerance
      ? "no further whole gang of it would start with them"
      : "no whole gang of it would start with them";
  return `${allocated}, but ${why}.`;
}

const absentSentences: Readonly<Record<AbsentOwner, (amount: string) => string>> = {
  lost_node: (amount) => `${amount} are guaranteed to it on nodes that are out of service.`,
  node_to_come: (amount) => `${amount} are guaranteed to it on nodes that are still being made.`,
  past_queues: (amount) => `${amount} are guaranteed to it and allocated to pods past the queues.`,
  promised_twice: (amount) =>
    `${amount} are guaranteed to it and to others as well: there are fewer GPUs than guarantees.`,
};

function excessSentence(
  { name, allocated }: QueueView,
  { judged, owed, entitled }: EntitlementTrace,
  queueing: Queueing,
): string {
  const head = `${nameOf(name)} holds ${gpus(allocated)} GPUs and is entitled to ${gpus(entitled)}: ${gpus(judged.excess)} are above its share`;
  if (owed.length === 0) return `${head}, and nothing that waits would start with them now.`;
  const starved = owed.map((pair) => ({ ...pair, borrower: pair.starved }));
  return `${head}, and would start work of ${holders(starved, queueing)}.`;
}

const smallerGangs = "Its gangs would have to be smaller, or its share large enough for the next whole one.";

/** Says what would have to change for the largest cause of a queue's shortfall. */
function changeSentences(queue: QueueView, trace: EntitlementTrace, queueing: Queueing): readonly string[] {
  const { judged, missing, owed } = trace;
  const absent = judged.shortfallByAbsentCapacity.toSorted((a, b) => b.gpus - a.gpus)[0];
  const moved = missing.reduce((sum, pair) => sum + pair.gpus, 0);
  const causes: readonly (readonly [number, string])[] = [
    [judged.shortfallByIdleGap, "What is free has to reach it: look at why its work waits, below."],
    [
      moved,
      `${holders(missing, queueing)} would have to give back ${gpus(moved)} GPUs; \`fairlead advise\` says which work costs least.`,
    ],
    [
      judged.shortfallByBorrowers - moved,
      judged.heldBackBy === null ? smallerGangs : "That setting would have to change.",
    ],
    [absent?.gpus ?? 0, absent === undefined ? "" : absentChanges[absent.owner]],
    [judged.shortfallByIndivisible, smallerGangs],
  ];
  const largest = causes.filter(([amount, text]) => amount > gpuTolerance && text !== "").sort(([a], [b]) => b - a)[0];
  if (largest !== undefined) return [largest[1]];
  if (owed.length > 0)
    return [`It would have to give back ${gpus(owed.reduce((sum, pair) => sum + pair.gpus, 0))} GPUs.`];
  return judged.excess > gpuTolerance
    ? [`Nothing has to change while no waiting work could use them: ${nameOf(queue.name)} may go on.`]
    : [];
}

const absentChanges: Readonly<Record<AbsentOwner, string>> = {
  lost_node: "The nodes that are out of service would have to come back, or be replaced.",
  node_to_come: "The nodes that were asked for have to come: look at their ProvisioningRequest or the autoscaler.",
  past_queues: "The pods past the queues would have to go through a queue, or leave.",
  promised_twice: "The guarantees would have to be lowered to what is there, or nodes added.",
};

function holders(pairs: EntitlementTrace["missing"], { queues }: Queueing): string {
  const sums = new Map<string, number>();
  for (const { borrower, gpus: amount } of pairs) {
    const name = queues[borrower]?.name ?? "?";
    sums.set(name, (sums.get(name) ?? 0) + amount);
  }
  const sorted = [...sums].sort(([, a], [, b]) => b - a);
  const [only] = sorted;
  if (sorted.length === 1 && only !== undefined) return nameOf(only[0]);
  const shown = sorted.slice(0, namedQueues).map(([name, amount]) => `${nameOf(name)} (${gpus(amount)})`);
  const more = sorted.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

const nameOf = (name: string): string => plainText(name, 40);
