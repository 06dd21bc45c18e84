import type { Holding, PodView } from "../../join/snapshot.ts";
import { isOnUnknownDevice } from "../../join/unknownDevice.ts";
import type { Asked, Guard, Objection } from "./guard.ts";
import { podName } from "./guard.ts";

/**
 * A pod whose identity, node or holding is uncertain is left alone; so is a pod that shares a DRA claim with others that stay,
 * because its devices are not free before all of them are gone.
 */
export const known: Guard = (asked) => {
  const objections = asked.pods.flatMap(({ index, pod }): readonly Objection[] => {
    const reason = unknownOf(asked, index, pod);
    return reason === null ? [] : [{ pod: index, reason: `${podName(pod)} ${reason}.` }];
  });
  const [first] = asked.pods;
  if (asked.by !== "eviction" || first === undefined) return objections;
  if (asked.moment.analysis.snapshot.podDisruptionBudgets !== null) return objections;
  const reason = "PodDisruptionBudgets could not be read, so that nobody knows which pods they protect from eviction.";
  return [...objections, { pod: first.index, reason }];
};

function unknownOf(asked: Asked, index: number, pod: PodView): string | null {
  if (pod.uid === null) return "is named by telemetry alone: the Kubernetes API does not have it";
  if (pod.status !== "allocated" || pod.node === null) return "is not on a node";
  if (pod.labelsLeftOut)
    return "has more labels than are kept, so that nobody knows which budgets and rules it is under";
  if (pod.gpus === null) return "asks for GPUs in a unit that cannot be converted";
  const node = asked.lookup.node(pod.node);
  if (node === undefined) return `is on node ${pod.node}, which is not known`;
  const { devices } = asked.moment.analysis.snapshot;
  const own = node.devices.flatMap((device) => {
    const holders = devices[device]?.holders ?? [];
    return holders.some((holding) => holding.pod === index) ? [holders] : [];
  });
  if (own.some((holders) => holders.some((holding) => holding.pod === index && isOnUnknownDevice(holding))))
    return `holds GPUs of node ${pod.node}, but which ones is only estimated`;
  const stays = own.map((holders) => sharesClaimWith(asked, index, holders)).find((other) => other !== undefined);
  return stays === undefined
    ? null
    : `shares what it holds by a ResourceClaim with ${podName(stays)}, which would stay: nothing comes free before both are gone`;
}

/**
 * Another pod that holds the same device by claim and is not part of the question; one shared claim and two claims on one
 * device cannot be distinguished.
 */
function sharesClaimWith({ moment, pods }: Asked, index: number, holders: readonly Holding[]): PodView | undefined {
  if (!holders.some(({ pod, source }) => pod === index && source === "dra")) return undefined;
  const other = holders.find(({ pod, source }) => source === "dra" && !pods.some((asked) => asked.index === pod));
  return moment.analysis.snapshot.pods[other?.pod ?? -1];
}
