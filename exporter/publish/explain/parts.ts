import type { Analysis } from "../../analysis/analysis.ts";
import type { Booking } from "../../analysis/booking.ts";
import { sortByTexts } from "../document/sortByTexts.ts";
import { holdingSources, type ReasonContext, type ReasonSettings, reasonOf } from "./reasons.ts";
import type { ExplainedPart } from "./schema.ts";

/** The parts of GPUs that `isWanted` chooses: one for each device and holder, its states beside each other. */
export function explainParts(
  { bookings, snapshot }: Analysis,
  isWanted: (booking: Booking) => boolean,
  settings: ReasonSettings,
): ExplainedPart[] {
  const context = { snapshot, nodes: new Map(snapshot.nodes.map((node) => [node.name, node])), settings };
  const parts = new Map<string, ExplainedPart>();
  for (const [index, booking] of bookings.entries()) {
    if (!isWanted(booking)) continue;
    // A holding that is partly active is two bookings of one part; what nobody holds is a part for each state.
    const key = booking.pod === null ? `${index}` : `${booking.device}/${booking.pod}`;
    const known = parts.get(key);
    if (known === undefined) {
      parts.set(key, newPart(booking, context));
      continue;
    }
    known.gpus += booking.gpus;
    known.states[booking.state] = (known.states[booking.state] ?? 0) + booking.gpus;
  }
  const sorted = sortByTexts([...parts.values()], (part) => [
    part.node,
    part.uuid ?? "\uffff",
    part.gpuInstance ?? "",
    part.holder?.namespace ?? "",
    part.holder?.pod ?? "",
  ]);
  return [...sorted];
}

function newPart(booking: Booking, context: ReasonContext): ExplainedPart {
  const { snapshot } = context;
  const device = booking.device === null ? undefined : snapshot.devices[booking.device];
  const pod = booking.pod === null ? undefined : snapshot.pods[booking.pod];
  const holding = device?.holders.find((holder) => holder.pod === booking.pod);
  return {
    node: booking.node,
    uuid: device?.uuid ?? null,
    gpuInstance: device?.gpuInstance ?? null,
    profile: device?.profile ?? null,
    model: device?.model ?? booking.pool,
    gpus: booking.gpus,
    states: { [booking.state]: booking.gpus },
    holder: pod === undefined ? null : { namespace: pod.namespace, pod: pod.name, team: pod.team },
    knownFrom: holding === undefined ? null : holdingSources[holding.source],
    estimated: booking.estimated,
    activity: pod === undefined ? (device?.activity ?? null) : (holding?.activity ?? null),
    signal: device?.signal ?? null,
    why: reasonOf(booking, context),
  };
}
