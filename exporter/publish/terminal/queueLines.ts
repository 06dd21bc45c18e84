import type { Analysis } from "../../analysis/analysis.ts";
import type { QueueFairness } from "../../analysis/fairness/fairness.ts";
import type { Finding } from "../../analysis/lint/finding.ts";
import type { GangDeadlock } from "../../analysis/waiting/waiting.ts";
import { shellQuote } from "../../kernel/shellQuote.ts";
import type { AbsentOwner } from "../../model/shortfall.ts";
import { type ShortQueue, shortQueues } from "../shortQueues.ts";
import { duration, gpus, plainText } from "./columns.ts";
import { firstOf, fold, type Line } from "./layout.ts";
import { queueKind } from "./queueWords.ts";

const shownQueues = 5;
const shownFindings = 5;
const shownDeadlocks = 3;

/**
 * Lines about queues that hold less than their share, who has it instead, and what to look at; none where no queue is short.
 */
export function shortLines(analysis: Analysis): readonly Line[] {
  const short = shortQueues(analysis);
  if (short.length === 0) return [];
  const lines = firstOf(short, shownQueues, (one) => [
    ...fold(`  ${shortText(one)}`, "    "),
    `    -> fairlead explain queue ${shellQuote(plainText(one.queue.name, 253))}`,
  ]);
  return ["WHO IS SHORT", ...lines];
}

/** Says in one sentence which queue is short of how much, and who has it. */
function shortText(short: ShortQueue): string {
  const { queue, domain, fairness, borrowers, oldestSeconds, shortSeconds } = short;
  const taken = borrowers.map(({ queue: name, gpus: amount }) => `${plainText(name, 30)} has ${gpus(amount)}`);
  const since = shortSeconds === null || shortSeconds < 60 ? "" : ` for ${duration(shortSeconds)}`;
  const waits = oldestSeconds === null ? "" : `; its oldest work waits for ${duration(oldestSeconds)}`;
  const holds = since === "" ? "holds" : "has had";
  return `${plainText(queue.name, 30)} (${queueKind(queue)}, ${plainText(domain, 24)}) ${holds} ${gpus(queue.allocated)} of the ${gpus(fairness.entitled)} GPUs it is entitled to${since}: ${[...taken, ...causeTexts(fairness, borrowers)].join(", ")}${startsText(short)}${waits}`;
}

/** Says what would start with what is missing. */
function startsText({ fairness, borrowers, scatteredGpus }: ShortQueue): string {
  const { actionableShortfall, heldBackBy, shortfallByIdleGap } = fairness;
  if (scatteredGpus !== null && borrowers.length === 0 && shortfallByIdleGap > 1e-6)
    return `; what waits (${gpus(scatteredGpus)}) fits nowhere together`;
  if (actionableShortfall > 1e-6) return `; waiting gangs of ${gpus(actionableShortfall)} would start with that`;
  return heldBackBy === null ? "; no whole waiting gang would start with that" : "";
}

const ownerTexts: Readonly<Record<AbsentOwner, string>> = {
  lost_node: "on nodes that are out of service",
  node_to_come: "on nodes that are still to come",
  past_queues: "allocated to pods past the queues",
  promised_twice: "promised to others as well",
};

/** What a queue lacks besides what its scheduler would take back for it, cause by cause. */
export function causeTexts(
  {
    shortfallByIdleGap,
    shortfallByBorrowers,
    shortfallByAbsentCapacity,
    shortfallByIndivisible,
    heldBackBy,
  }: QueueFairness,
  borrowers: ShortQueue["borrowers"],
): readonly string[] {
  const kept = shortfallByBorrowers - borrowers.reduce((sum, { gpus: amount }) => sum + amount, 0);
  const because = heldBackBy === null ? "" : ` (${plainText(heldBackBy, 200)})`;
  return [
    ...(shortfallByIdleGap > 1e-6 ? [`${gpus(shortfallByIdleGap)} are free and not given to it`] : []),
    ...(kept > 1e-6 ? [`${gpus(kept)} are borrowed by others and stay there${because}`] : []),
    ...shortfallByAbsentCapacity.map(
      ({ owner, gpus: amount }) => `${gpus(amount)} are guaranteed to it and ${ownerTexts[owner]}`,
    ),
    ...(shortfallByIndivisible > 1e-6 ? [`${gpus(shortfallByIndivisible)} are in no piece that it could use`] : []),
  ];
}

/** Lines about gangs that keep each other from starting; none where there are no such gangs. */
export function deadlockLines(deadlocks: readonly GangDeadlock[]): readonly Line[] {
  if (deadlocks.length === 0) return [];
  const linesOf = (one: GangDeadlock): readonly Line[] => [
    ...fold(`  ${deadlockText(one)}`, "    "),
    "    -> suspend one of them, so that another becomes whole",
  ];
  return ["GANGS THAT BLOCK EACH OTHER", ...firstOf(deadlocks, shownDeadlocks, linesOf, " pools")];
}

/** Says in one sentence which gangs of a pool run only in part, and what they lack. */
export function deadlockText({ pool, gangs, allocatedGpus, missingGpus, freeGpus }: GangDeadlock): string {
  const named = gangs.slice(0, 4).map((gang) => plainText(gang, 60));
  const more = gangs.length > 4 ? ` and ${gangs.length - 4} more` : "";
  return `pool ${plainText(pool, 24)}: ${named.join(", ")}${more} hold ${gpus(allocatedGpus)} GPUs and cannot start: they miss ${gpus(missingGpus)}, and ${gpus(freeGpus)} are free`;
}

/** Lines about what is wrong in the configuration of queues; none where nothing is. */
export function findingLines(findings: readonly Finding[]): readonly Line[] {
  if (findings.length === 0) return [];
  return [
    `CONFIGURATION OF QUEUES: ${findings.length} ${findings.length === 1 ? "thing makes" : "things make"} fairness other than it looks`,
    ...firstOf(findings, shownFindings, ({ kind, name, reason, change }) => [
      ...fold(`  ${plainText(kind, 30)} ${plainText(name, 60)}: ${plainText(reason, 600)}`, "    "),
      ...fold(`    -> ${plainText(change, 600)}`, "       "),
    ]),
  ];
}
