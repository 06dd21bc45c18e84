import type { NodeRoom } from "../../analysis/rooms/nodeRoom.ts";
import type { Steps } from "../../kernel/steps.ts";
import type { AdviceMoment } from "../moment.ts";
import { type MoveField, moveFieldInSteps } from "../planner/moveField.ts";
import { prepareTrialInSteps } from "../whatIf/trial.ts";
import type { MoveTools } from "./moveTools.ts";

/** The nodes among which pods may be moved: those of a domain of `Analysis.gangRooms`, or of one pool. */
export type FieldOf = (where: { readonly domain: number } | { readonly pool: string }) => Steps<MoveField | null>;

/** Fields of one moment; each is made once. */
export function createFields(moment: AdviceMoment, tools: MoveTools): FieldOf {
  const known = new Map<string, MoveField | null>();
  return function* (where) {
    const key = "domain" in where ? `domain ${where.domain}` : `pool ${where.pool}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    yield* prepareTrialInSteps(moment.analysis);
    const field =
      "domain" in where ? yield* ofDomain(moment, tools, where.domain) : yield* ofPool(moment, tools, where.pool);
    known.set(key, field);
    return field;
  };
}

function* ofDomain(moment: AdviceMoment, tools: MoveTools, index: number): Steps<MoveField | null> {
  const { snapshot, gangRooms } = moment.analysis;
  const domain = gangRooms.domains[index];
  if (domain === undefined) return null;
  return yield* moveFieldInSteps(snapshot, domain.nodes, domain.isIn, tools.units(moment));
}

function* ofPool(moment: AdviceMoment, tools: MoveTools, pool: string): Steps<MoveField | null> {
  const { snapshot, rooms } = moment.analysis;
  const own: NodeRoom[] = rooms.byNode.flatMap((ofNode) => ofNode.filter((room) => room.pool === pool));
  if (own.length === 0) return null;
  return yield* moveFieldInSteps(snapshot, own, (one) => one === pool, tools.units(moment));
}
