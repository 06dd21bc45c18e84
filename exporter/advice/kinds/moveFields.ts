import type { NodeRoom } from "../../analysis/rooms/nodeRoom.ts";
import type { DisruptionUnit } from "../disruptionUnits.ts";
import type { AdviceMoment } from "../moment.ts";
import { byPlace, type MomentOrder, momentOrder } from "../order/momentOrder.ts";
import { type MoveField, moveFieldOf } from "../planner/moveField.ts";
import { momentIndex } from "../whatIf/momentIndex.ts";
import type { MoveTools } from "./moveTools.ts";

/** The nodes among which pods may be moved: those of a domain of `Analysis.gangRooms`, or of one pool. */
export type FieldOf = (where: { readonly domain: number } | { readonly pool: string }) => MoveField | null;

/** Fields of one moment; each is made once. Nodes, units and the pods of each are in the order of the moment. */
export function createFields(moment: AdviceMoment, tools: MoveTools): FieldOf {
  const known = new Map<string, MoveField | null>();
  let inOrder: readonly DisruptionUnit[] | null = null;
  return (where) => {
    const key = "domain" in where ? `domain ${where.domain}` : `pool ${where.pool}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const order = momentOrder(moment.analysis);
    inOrder ??= sortedUnits(tools.units(moment), order);
    const { rooms, isIn } = "domain" in where ? ofDomain(moment, where.domain) : ofPool(moment, where.pool);
    const nodes = sortedRooms(moment, rooms, order);
    const field = nodes.length === 0 ? null : moveFieldOf(moment.analysis.snapshot, nodes, isIn, inOrder);
    known.set(key, field);
    return field;
  };
}

interface Where {
  readonly rooms: readonly NodeRoom[];
  readonly isIn: (pool: string, node: string) => boolean;
}

function ofDomain({ analysis }: AdviceMoment, index: number): Where {
  const domain = analysis.gangRooms.domains[index];
  return { rooms: domain?.nodes ?? [], isIn: domain?.isIn ?? (() => false) };
}

const ofPool = ({ analysis: { rooms } }: AdviceMoment, pool: string): Where => ({
  rooms: rooms.byNode.flatMap((ofNode) => ofNode.filter((room) => room.pool === pool)),
  isIn: (one) => one === pool,
});

function sortedRooms(
  { analysis }: AdviceMoment,
  rooms: readonly NodeRoom[],
  { ofNode }: MomentOrder,
): readonly NodeRoom[] {
  const index = momentIndex(analysis);
  const placeOf = ({ node }: NodeRoom): number => ofNode[index.nodeOf(node.name) ?? -1] ?? ofNode.length;
  return rooms.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** The unit whose pod comes first is the first. */
function sortedUnits(units: readonly DisruptionUnit[], { ofPod }: MomentOrder): readonly DisruptionUnit[] {
  const byPod = byPlace(ofPod);
  const own = units.map((unit) => (unit.pods.length === 1 ? unit : { ...unit, pods: unit.pods.toSorted(byPod) }));
  return own.toSorted(({ pods: [a = -1] }, { pods: [b = -1] }) => byPod(a, b));
}
