import type { Snapshot } from "../../join/snapshot.ts";
import { gpuLikeResource } from "../../model/gpuResource.ts";
import type { VolcanoPluginSign } from "../../model/queues/queueObjects.ts";
import type { VolcanoQueue } from "../../model/queues/volcano.ts";
import type { Finding, FindingCode } from "./finding.ts";

/**
 * Settings of Volcano's queues that the active plugin does not read, and work in queues that are closed. The plugin must be
 * known. Source: Volcano v1.15 (pkg/scheduler/plugins/proportion, capacity).
 */
export function volcanoFindings({ queueObjects, schedulerSettings }: Snapshot): readonly Finding[] {
  const { volcanoQueues, volcanoPodGroups } = queueObjects;
  const { volcano } = schedulerSettings;
  const sign = volcano?.guessedFrom;
  // A guessed plugin is no evidence against queues, because it was guessed from them.
  const plugin = sign === undefined ? (volcano?.plugin ?? null) : null;
  const findings: Finding[] = sign === undefined || volcano === null ? [] : [pluginGuessed(volcano.plugin, sign)];
  for (const queue of volcanoQueues) {
    if (plugin === "proportion") findings.push(...deservedIgnored(queue));
    // The root's weight is compared with no other.
    if (plugin === "capacity" && queue.weight !== 1 && queue.name !== "root") findings.push(weightIgnored(queue));
    if (!queue.reclaimable && volcanoQueues.some((other) => isBeside(queue, other))) findings.push(keepsSurplus(queue));
  }
  const closed = new Map(volcanoQueues.filter(isClosed).map((queue) => [queue.name, queue] as const));
  const waiting = new Map<string, number>();
  for (const { queue, phase } of volcanoPodGroups) {
    if (phase === "Pending" && closed.has(queue)) waiting.set(queue, (waiting.get(queue) ?? 0) + 1);
  }
  for (const [name, groups] of waiting) findings.push(queueClosed(name, groups, closed.get(name)?.state ?? ""));
  return findings;
}

function pluginGuessed(plugin: string, { queue, field, value, queues }: VolcanoPluginSign): Finding {
  const others = queues === 1 ? "" : `, and ${countOf(queues - 1, "other queue says", "other queues say")} such things`;
  return {
    code: "volcano-plugin-guessed",
    scheduler: "volcano",
    kind: "Configuration",
    name: "volcano",
    reason: `Which plugin of Volcano shares out GPUs could not be read. It is taken to be ${plugin}, because Queue ${queue} has ${field} ${value}${others}, which plugin proportion, Volcano's default, never reads. If the scheduler runs proportion all the same, what is shown here as guaranteed and fair is not what it goes by.`,
    change:
      "Set queues.volcano.plugin in Fairlead's configuration to the plugin that volcano-scheduler.conf names (capacity or proportion), or set queues.volcano.configMap, so that Fairlead reads it from the scheduler's ConfigMap.",
  };
}

const countOf = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

const finding = (code: FindingCode, name: string, reason: string, change: string): Finding => ({
  code,
  scheduler: "volcano",
  kind: "Queue",
  name,
  reason,
  change,
});

/** Reports a `deserved` that is not read. The webhook demands deserved >= guarantee, so an equal value shows no intention. */
function deservedIgnored({ name, deserved, guarantee, weight }: VolcanoQueue): readonly Finding[] {
  const ignored = Object.entries(deserved ?? {}).find(
    ([resource, amount]) => gpuLikeResource(resource) && amount > (guarantee?.[resource] ?? 0),
  );
  if (ignored === undefined) return [];
  const [resource, amount] = ignored;
  return [
    finding(
      "volcano-deserved-ignored",
      name,
      `spec.deserved gives it ${amount} ${resource}, but the scheduler runs plugin proportion, which shares by weight (${weight}) and never reads spec.deserved.`,
      "Replace plugin proportion by capacity in volcano-scheduler.conf (never both), or say with spec.weight and spec.guarantee what is meant.",
    ),
  ];
}

function weightIgnored({ name, weight }: VolcanoQueue): Finding {
  return finding(
    "volcano-weight-ignored",
    name,
    `spec.weight is ${weight}, but the scheduler runs plugin capacity, which goes by spec.deserved and never reads the weight.`,
    `Set spec.deserved of Queue ${name} to the GPUs that it should have when others want theirs.`,
  );
}

/** Whether another queue could want back what this queue borrowed. */
const isBeside = ({ name }: VolcanoQueue, other: VolcanoQueue): boolean =>
  other.name !== name && other.name !== "root" && other.parent !== name;

function keepsSurplus({ name }: VolcanoQueue): Finding {
  return finding(
    "volcano-keeps-surplus",
    name,
    "spec.reclaimable is false: what it holds above its own share comes back only when its work ends, whoever waits.",
    `Set spec.reclaimable of Queue ${name} to true, if others are to get their share back.`,
  );
}

const isClosed = ({ state }: VolcanoQueue): boolean => state !== null && state !== "" && state !== "Open";

function queueClosed(name: string, groups: number, state: string): Finding {
  return finding(
    "volcano-queue-closed",
    name,
    `Its state is ${state}, but ${groups} PodGroups wait in it: Volcano lets work into open queues only.`,
    `Open the queue (vcctl queue operate --action open), or move the work to another.`,
  );
}
