import type { PlacedPods } from "../../analysis/freeCapacity/gangFit.ts";
import { podsIn } from "../../analysis/freeCapacity/nodeFreeCapacity.ts";
import type { LevelDomains } from "../../analysis/topology/levels.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { WithheldAdvice } from "../../model/recommendation.ts";
import { isCandidate, type MadeCandidate } from "../candidate.ts";
import { fullName } from "../momentIndex.ts";
import type { MoveField } from "../planner/moveField.ts";
import type { PlanPodKind } from "../planner/problem.ts";
import { requirementsOf, runningNodes } from "../whatIf/gangDomains.ts";
import type { Planning } from "./moveFields.ts";
import { type GangWish, type MovingKind, type PlanDomain, planForGang } from "./planForGang.ts";

/** The most domains for which a plan is searched: each search takes as many steps as that for any other gang. */
const mostDomains = 4;

/**
 * Advice to move pods so that a waiting gang fits into one domain of a level of the topology that it requires. The domain where
 * the fewest pods have to move is taken; of several, the one where the least work is lost. A gang that requires no level, or
 * only prefers one, is planned for on all nodes.
 */
export function planInDomain(planning: Planning, kind: MovingKind, index: number, wish: GangWish): MadeCandidate {
  const { analysis } = planning.moment;
  const gang = analysis.snapshot.queueing.gangs[index];
  const requirement = gang === undefined ? null : requirementsOf(analysis)(gang);
  if (gang === undefined || requirement === null) return planForGang(planning, kind, index, wish);
  const subject = fullName(gang);
  const none = (reason: string): WithheldAdvice => ({ kind, subject, why: "no-plan", reason });
  const placed = analysis.gangFreeCapacities.askedOf(index)?.placed ?? [];
  const [levels, ...others] = new Set(requirement.parts);
  if (levels == null || others.length > 0 || (requirement.byPart && placed.length > 1))
    return none(`Parts of ${subject} require domains of their own: no plan is made for that.`);
  const field = planning.fieldOf({ domain: placed[0]?.domain ?? -1 });
  if (field === null) return none(`No node is known that could serve ${subject}.`);
  const running = runningNodes(analysis, gang);
  const domains = candidateDomains(field, placed, levels).filter(({ inside }) => running.every(inside.isIn));
  return (
    bestOf(domains, (inside) => planForGang(planning, kind, index, wish, inside)) ?? none(nowhere(subject, levels))
  );
}

const nowhere = (subject: string, levels: readonly LevelDomains[]): string =>
  `No moves help ${subject}: no domain of ${levels[0]?.name ?? "its level"} could take it even without every pod that could be moved.`;

/** Plans in the domains in order, until none of the others could do with fewer moves; `null`: there is no domain. */
function bestOf(
  domains: readonly CandidateDomain[],
  planIn: (inside: PlanDomain) => MadeCandidate,
): MadeCandidate | null {
  let [best, refused]: [MadeCandidate | null, MadeCandidate | null] = [null, null];
  let fewest = Infinity;
  for (const { leastMoves, inside } of domains.slice(0, mostDomains)) {
    if (leastMoves >= fewest) break;
    const made = planIn(inside);
    if (!isCandidate(made)) {
      refused ??= made;
      continue;
    }
    const moves = made.plan.changes.length;
    if (moves < fewest) [best, fewest] = [made, moves];
  }
  return best ?? refused;
}

/** A domain that could take a gang, and the least that this takes. */
interface CandidateDomain {
  readonly inside: PlanDomain;
  /** At least so many units have to leave nodes of the domain. */
  readonly leastMoves: number;
  /** About so many GPU-hours of work are lost. */
  readonly lostGpuHours: number;
}

/** The domains of some levels that could take the pods, those with the fewest moves and then the least loss first. */
function candidateDomains(
  field: MoveField,
  placed: readonly PlacedPods[],
  levels: readonly LevelDomains[],
): readonly CandidateDomain[] {
  const kinds = placed.map(({ gpusPerPod, needs, pods }) => ({ kind: field.kindOf(gpusPerPod, needs), pods }));
  const unitsOn = unitsByNode(field);
  const found = levels.flatMap(({ name: level, domains, domainOfNode }) => {
    const byDomain = Map.groupBy(field.nodeIndexes.keys(), (node) => domainOfNode[field.nodeIndexes[node] ?? -1] ?? -1);
    return domains.flatMap((name, domain): readonly CandidateDomain[] => {
      const nodes = byDomain.get(domain) ?? [];
      let [leastMoves, lostGpuHours] = [0, 0];
      for (const { kind, pods } of kinds) {
        const least = leastMovesFor(field, nodes, unitsOn, kind, pods);
        if (least === null) return [];
        leastMoves = Math.max(leastMoves, least.moves);
        lostGpuHours = Math.max(lostGpuHours, least.lost);
      }
      const isIn = (node: number): boolean => domainOfNode[node] === domain;
      return [{ inside: { name: domainWords(level, name), isIn }, leastMoves, lostGpuHours }];
    });
  });
  return found.sort(
    (a, b) =>
      a.leastMoves - b.leastMoves || a.lostGpuHours - b.lostGpuHours || (a.inside.name < b.inside.name ? -1 : 1),
  );
}

/** A domain in words: its name, or `rack 7` where the name is a number of the level `example.com/rack`. */
const domainWords = (level: string, domain: string): string =>
  /[a-z]/i.test(domain) ? domain : `${level.slice(level.lastIndexOf("/") + 1)} ${domain}`;

/** What a unit gives back on a node, and what is lost when it leaves. */
interface UnitOnNode {
  readonly gpus: number;
  readonly lost: number;
}

function unitsByNode({ units }: MoveField): ReadonlyMap<number, readonly UnitOnNode[]> {
  const byNode = new Map<number, UnitOnNode[]>();
  for (const { pods, lostGpuHours } of units) {
    const gpusOn = new Map<number, number>();
    for (const { node, gives } of pods) gpusOn.set(node, (gpusOn.get(node) ?? 0) + gives.gpus);
    for (const [node, gpus] of gpusOn) {
      const own = byNode.get(node) ?? [];
      own.push({ gpus, lost: lostGpuHours });
      byNode.set(node, own);
    }
  }
  return byNode;
}

/**
 * The fewest units that have to leave nodes so that this many pods of a kind fit there, by GPUs alone: on each node the largest
 * units leave first. `null`: not even all of them are enough.
 */
function leastMovesFor(
  { nodes: planNodes }: MoveField,
  nodes: readonly number[],
  unitsOn: ReadonlyMap<number, readonly UnitOnNode[]>,
  kind: PlanPodKind,
  pods: number,
): { readonly moves: number; readonly lost: number } | null {
  let missing = pods;
  const steps: { readonly moves: number; readonly lost: number; readonly places: number }[] = [];
  for (const node of nodes) {
    const free = planNodes[node]?.free;
    if (free === undefined || !kind.takes(node)) continue;
    missing -= podsIn(free, kind.demand);
    let [gpus, moves, lost] = [free.gpus, 0, 0];
    for (const unit of (unitsOn.get(node) ?? []).toSorted((a, b) => b.gpus - a.gpus || a.lost - b.lost)) {
      const places = placesIn(gpus + unit.gpus, kind) - placesIn(gpus, kind);
      gpus += unit.gpus;
      moves += 1;
      lost += unit.lost;
      if (places <= 0) continue;
      steps.push({ moves, lost, places });
      [moves, lost] = [0, 0];
    }
  }
  if (missing <= 0) return { moves: 0, lost: 0 };
  steps.sort((a, b) => a.moves / a.places - b.moves / b.places || a.lost - b.lost);
  let [moves, lost] = [0, 0];
  for (const step of steps) {
    moves += step.moves;
    lost += step.lost;
    missing -= step.places;
    if (missing <= 0) return { moves, lost };
  }
  return null;
}

const placesIn = (gpus: number, { demand }: PlanPodKind): number =>
  demand.gpus <= gpuTolerance ? 0 : Math.floor(gpus / demand.gpus + gpuTolerance);
