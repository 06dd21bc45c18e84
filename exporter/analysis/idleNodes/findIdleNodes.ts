import type { NodeView, Snapshot } from "../../join/snapshot.ts";
import type { Steps } from "../../kernel/steps.ts";
import type { Booking } from "../booking.ts";
import { canBeIdle, isIdleNode } from "../states.ts";
import { isWarmPool, type WarmPools } from "../warmPools.ts";
import type { IdleKind, IdleNode, IdleNodes } from "./idleNodes.ts";

/** The settings that tell idle nodes. */
export interface IdleNodeSettings {
  readonly warmPools: WarmPools;
}

const bookingsPerStep = 20_000;
const nodesPerStep = 1000;

/**
 * Finds the idle nodes of a moment (design: idle nodes). `since` is of the moment before: a node that was not idle of the
 * same kind then is so since now, because when its last pod ended no object says. Pure.
 */
export function* findIdleNodesInSteps(
  snapshot: Snapshot,
  bookings: readonly Booking[],
  since: ReadonlyMap<string, number>,
  { warmPools }: IdleNodeSettings,
): Steps<IdleNodes> {
  const uses = yield* usesOfNodes(bookings);
  const nodes: IdleNode[] = [];
  const begins = new Map<string, number>();
  const warm = new Set<number>();
  for (const [index, node] of snapshot.nodes.entries()) {
    if (index % nodesPerStep === 0) yield;
    const isWarm = isWarmPool(node.labels, warmPools);
    if (isWarm) warm.add(index);
    const kind = snapshot.coverage.objects ? kindOf(snapshot, node, uses.get(node.name)) : null;
    if (kind === null) continue;
    const key = `${kind}/${node.name}`;
    const begin = since.get(key) ?? snapshot.at;
    begins.set(key, begin);
    nodes.push({ node: index, kind, isWarmPool: isWarm, since: begin });
  }
  // While pods are not read, nobody knows what is held; a streak goes on when they are.
  return { nodes, since: snapshot.coverage.objects ? begins : since, warm };
}

function kindOf(snapshot: Snapshot, node: NodeView, use: NodeUse | undefined): IdleKind | null {
  if (use === undefined) return isIdleNode(snapshot, node) ? "unallocated" : null;
  return use === "held_idle" && canBeIdle(snapshot, node) ? "held" : null;
}

/** What goes on at a node: everything that is held there is held idle, or anything else is held or active there. */
type NodeUse = "held_idle" | "other";

/** By node; a node that is not here has nothing that is held, and nothing active that nobody holds. */
function* usesOfNodes(bookings: readonly Booking[]): Steps<ReadonlyMap<string, NodeUse>> {
  const uses = new Map<string, NodeUse>();
  const look = (from: number, to: number): void => {
    let node = "";
    let use: NodeUse | undefined;
    for (let i = from; i < to; i++) {
      const booking = bookings[i];
      if (booking === undefined || (booking.pod === null && booking.state !== "unattributed")) continue;
      // The bookings of a node stand together: most have the node of the one before.
      if (booking.node !== node) {
        node = booking.node;
        use = uses.get(node);
      }
      const found = booking.state === "held_idle" && use !== "other" ? "held_idle" : "other";
      if (found === use) continue;
      use = found;
      uses.set(node, found);
    }
  };
  for (let from = 0; from < bookings.length; from += bookingsPerStep) {
    yield;
    look(from, Math.min(bookings.length, from + bookingsPerStep));
  }
  return uses;
}
