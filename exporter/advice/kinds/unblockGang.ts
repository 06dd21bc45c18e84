import type { PartialGang } from "../../analysis/waiting/waiting.ts";
import { compareText } from "../../kernel/compareText.ts";
import type { WithheldAdvice } from "../../model/recommendation.ts";
import { type Candidate, candidatesPerKind, type FindAdvice, type Found } from "../candidate.ts";
import type { AdviceMoment } from "../moment.ts";
import { momentOrder } from "../momentOrder.ts";
import { amount } from "../planner/whyNot.ts";
import type { Trial } from "../whatIf/trial.ts";
import { quotaOf } from "./defragment.ts";
import { type KnownGang, knownGangs } from "./knownGangs.ts";
import { createFields, createLookBudget } from "./moveFields.ts";
import { type MoveTools, moveTools } from "./moveTools.ts";
import { brokenDeadlock, requeuedForOthers } from "./partialGangPlans.ts";
import { boostsPastHeads } from "./pastTheHead.ts";
import { type Planning, planForGang } from "./planForGang.ts";

/** Finds gangs that hold GPUs without being able to run, gangs that hold back others in a queue, and what ends that. */
export const findUnblockGang: FindAdvice = (moment, trial) => findUnblockGangWith(moment, trial, moveTools);

/**
 * `findUnblockGang` with other tools. In a deadlock the gangs with the smallest loss are requeued, so that another completes.
 * A single partial gang completes if moving others makes room for its members; if nothing does, it is requeued as a whole if
 * other work then starts. Work that waits behind the head of a strict queue, and fits, is boosted past it.
 */
export function findUnblockGangWith(moment: AdviceMoment, trial: Trial, tools: MoveTools): Found {
  const { deadlocks, partialGangs } = moment.analysis.waiting;
  const found: (Candidate | WithheldAdvice)[] = [...boostsPastHeads(moment, trial)];
  if (partialGangs.length === 0) return sorted(found);
  const planning: Planning = { moment, trial, tools, fieldOf: createFields(moment, tools), looks: createLookBudget() };
  const gangs = knownGangs(planning);
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
    if (known === undefined) found.push(unknown(gang));
    else found.push(helped(planning, known));
  }
  return sorted(found);
}

function sorted(found: readonly (Candidate | WithheldAdvice)[]): Found {
  return {
    candidates: found.filter((one) => "plan" in one),
    withheld: found.filter((one): one is WithheldAdvice => !("plan" in one)),
  };
}

const unknown = ({ id }: PartialGang): WithheldAdvice => ({
  kind: "unblock_gang",
  subject: id,
  why: "no-plan",
  reason: `Gang ${id} holds GPUs and cannot run, but what it waits for is not known.`,
});

/** Moves other pods for it, or requeues it. */
function helped(planning: Planning, known: KnownGang): Candidate | WithheldAdvice {
  const { moment } = planning;
  const { analysis } = moment;
  const gang = analysis.snapshot.queueing.gangs[known.gang];
  const asked = analysis.gangFreeCapacities.askedOf(known.gang);
  const gpus = asked?.placed.reduce((sum, { pods, gpusPerPod }) => sum + pods * gpusPerPod, 0) ?? 0;
  let moved: WithheldAdvice | null = null;
  if (gang !== undefined && asked !== null && asked.verdict !== "fits" && gang.never === null) {
    const { allocatedGpus, pool, bound, min } = known.partial;
    const found = planForGang(planning, "unblock_gang", known.gang, {
      gpus,
      allocatedGpus,
      pools: [pool],
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
