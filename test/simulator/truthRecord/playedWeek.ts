import { createWorld } from "../../../simulator/cluster/createWorld.ts";
import { createLivedInWorld } from "../../../simulator/cluster/step.ts";
import type { Workload, World } from "../../../simulator/cluster/world.ts";
import { askedGpus } from "../../../simulator/queues/membership.ts";
import type { Scenario } from "../../../simulator/scenario.ts";
import { stepUnseen } from "../cluster/stepUnseen.ts";

/** Seconds of a week. */
const weekSeconds = 7 * 86_400;
const stepSeconds = 600;
const stepsOfHour = 6;

/** Work that started in a week. */
export interface StartedWork {
  readonly gpus: number;
  /** From creation until all of it had GPUs, seconds. */
  readonly waitSeconds: number;
}

/** A week of a scenario that nobody watched: means of each hour, GPUs, and the work that started. */
export interface PlayedWeek {
  readonly hours: readonly { readonly capacity: number; readonly allocated: number; readonly pending: number }[];
  readonly started: readonly StartedWork[];
}

/**
 * Plays the week from `from` on with the first `nodes` nodes of a scenario, after a warm-up with them, and with `added` more of its nodes that come at
 * the week's begin. The same work arrives, however many there are.
 */
export function playedWeek(scenario: Scenario, seed: number, from: number, nodes: number, added: number): PlayedWeek {
  const withNodes = (many: number): Scenario => ({ ...scenario, nodes: scenario.nodes.slice(0, many), stepSeconds });
  const world = createLivedInWorld(withNodes(nodes), seed, from);
  world.nodes = [...world.nodes, ...createWorld(withNodes(nodes + added), seed, from).nodes.slice(nodes)];
  world.nodesByName = new Map(world.nodes.map((node) => [node.spec.name, node]));
  const seen = new Set<Workload>([...world.workloads].filter(isStarted));
  const started: StartedWork[] = [];
  const hours: { capacity: number; allocated: number; pending: number }[] = [];
  const capacity = world.nodes.reduce((sum, { physicalGpus }) => sum + physicalGpus.length, 0);
  for (let hour = 0; hour < weekSeconds / 3600; hour++) {
    const means = { capacity, allocated: 0, pending: 0 };
    for (let i = 0; i < stepsOfHour; i++) {
      stepUnseen(world, stepSeconds);
      addGpus(means, world);
      for (const workload of world.workloads) {
        if (seen.has(workload) || !isStarted(workload)) continue;
        seen.add(workload);
        const at = Math.max(...workload.pods.map(({ scheduledAt }) => scheduledAt ?? 0));
        started.push({ gpus: askedGpus(workload.spec), waitSeconds: at - workload.createdAt });
      }
    }
    hours.push(means);
  }
  return { hours, started };
}

const isStarted = ({ pods }: Workload): boolean =>
  pods.length > 0 && pods.every(({ scheduledAt }) => scheduledAt !== null);

function addGpus(means: { allocated: number; pending: number }, { workloads }: World): void {
  for (const { spec, pods } of workloads) {
    const each = askedGpus(spec) / pods.length / stepsOfHour;
    for (const { endedAt, node } of pods) {
      if (endedAt !== null) continue;
      if (node === null) means.pending += each;
      else means.allocated += each;
    }
  }
}
