import type { PartialGang } from "../../analysis/waiting/waiting.ts";
import { compareText } from "../../kernel/compareText.ts";
import type { WithheldAdvice } from "../../model/recommendation.ts";
import { candidatesPerKind, type FindAdvice, foundOf, isCandidate, type MadeCandidate } from "../candidate.ts";
import { momentOrder } from "../momentOrder.ts";
import { amount } from "../planner/whyNot.ts";
import { restartedWhole } from "./brokenGang.ts";
import { quotaOf } from "./defragment.ts";
import { type KnownGang, knownGangs } from "./knownGangs.ts";
import { createPlanning, type Planning } from "./moveFields.ts";
import { brokenDeadlock, requeuedForOthers } from "./partialGangPlans.ts";
import { boostsPastHeads } from "./pastTheHead.ts";
import { planInDomain } from "./planInDomain.ts";
import { gpusAsked } from "./waitingFor.ts";

/**
 * Finds gangs that hold GPUs without being able to run, gangs that hold back others in a queue, and plans to end that. In a
 * deadlock the gangs with the smallest loss are requeued, so that another completes. A single partial gang completes if there
 * is a place for its members once others are moved; otherwise it is requeued as a whole if other work then starts. If neither
 * helps a gang that has run and lost a member, its owner is asked to restart it. Work that waits behind the head of a strict
 * queue, and fits, is boosted past it.
 */
export const findUnblockGang: FindAdvice = (moment, trial) => {
  const { deadlocks, partialGangs } = moment.analysis.waiting;
  const found: MadeCandidate[] = [...boostsPastHeads(moment, trial)];
  if (partialGangs.length === 0) return foundOf(found);
  const planning = createPlanning(moment, trial);
  const gangs = knownGangs(moment);
  const handled = new Set<string>();
  for (const deadlock of deadlocks.slice(0, candidatesPerKind)) {
    for (const id of deadlock.gangs) handled.add(id);
    found.push(brokenDeadlock(planning, deadlock, gangs));
  }
  const byGang = momentOrder(moment.analysis).gangs;
  const gangOf = ({ id }: PartialGang): number => gangs.get(id)?.gang ?? -1;
  const inOrder = [...partialGangs].sort(
    (a, b) => b.allocatedGpus - a.allocatedGpus || byGang(gangOf(a), gangOf(b)) || compareText(a.id, b.id),
  );
  for (const gang of inOrder.slice(0, candidatesPerKind - deadlocks.length)) {
    if (handled.has(gang.id)) continue;
    const known = gangs.get(gang.id);
    const made = known === undefined ? unknown(gang) : helped(planning, known);
    found.push(gang.hasLostMember && !isCandidate(made) ? restartedWhole(moment, gang) : made);
  }
  return foundOf(found);
};

const unknown = ({ id }: PartialGang): WithheldAdvice => ({
  kind: "unblock_gang",
  subject: id,
  why: "no-plan",
  reason: `Gang ${id} holds GPUs and cannot run, but what it waits for is not known.`,
});

/** A plan that moves other pods for a partial gang, or else one that requeues it. */
function helped(planning: Planning, known: KnownGang): MadeCandidate {
  const { moment } = planning;
  const { analysis } = moment;
  const gang = analysis.snapshot.queueing.gangs[known.gang];
  const asked = analysis.gangFreeCapacities.askedOf(known.gang);
  const gpus = gpusAsked(asked?.placed ?? []);
  let moved: WithheldAdvice | null = null;
  if (gang !== undefined && asked !== null && asked.verdict !== "fits" && gang.never === null) {
    const { allocatedGpus, bound, min } = known.partial;
    const found = planInDomain(planning, "unblock_gang", known.gang, {
      gpus,
      allocatedGpus,
      quotaGpus: quotaOf(moment, gang),
      problem: `${bound} of its ${min} members hold ${amount(allocatedGpus)} and cannot run without the others`,
    });
    if ("plan" in found) return found;
    moved = found;
  }
  const requeued = requeuedForOthers(planning, known);
  if ("plan" in requeued || moved === null) return requeued;
  return { ...requeued, why: moved.why, reason: `${moved.reason} ${requeued.reason}` };
}
