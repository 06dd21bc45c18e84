import type { Guard } from "./guard.ts";
import { podName } from "./guard.ts";

/** Pods that must run together leave together: the rest of a gang would hold GPUs and do nothing. */
export const gangWhole: Guard = ({ pods, lookup, moment }) => {
  const asked = new Set(pods.map(({ index }) => index));
  const gangs = Map.groupBy(
    pods.filter(({ pod }) => pod.gang !== null),
    ({ pod }) => pod.gang?.id ?? "",
  );
  return [...gangs].flatMap(([id, [first]]) => {
    if (first === undefined) return [];
    const others = lookup.gangMembers(id).filter((member) => !asked.has(member));
    const left = moment.analysis.snapshot.pods[others[0] ?? -1];
    if (left === undefined) return [];
    const stays = others.length === 1 ? podName(left) : `${podName(left)} and ${others.length - 1} others`;
    return [{ pod: first.index, reason: `${podName(first.pod)} belongs to gang ${id}, of which ${stays} would stay.` }];
  });
};
