import { askedGpus } from "../queues/membership.ts";
import type {
  Truth,
  TruthGpu,
  TruthHolder,
  TruthInstance,
  TruthNode,
  TruthPending,
  TruthQueue,
  TruthTeam,
  TruthWork,
} from "../truth.ts";
import { allocationActivity, gpuActivity, unitActivity } from "./activity.ts";
import { hangs, spins } from "./lostWork.ts";
import { wantedPods } from "./owners.ts";
import { isSchedulable } from "./placement.ts";
import { worksAgain } from "./sessions.ts";
import {
  type Allocation,
  type PhysicalGpu,
  type SimNode,
  type SimPod,
  type Workload,
  type World,
  wallClock,
} from "./world.ts";
import { isInService } from "./xid.ts";

/** Reports the truth about the world, now. */
export function reportTruth(world: World): Truth {
  const physicalGpus = world.nodes.flatMap((node) =>
    node.physicalGpus.map((physicalGpu) => reportGpu(world, physicalGpu)),
  );
  return {
    at: wallClock(world),
    observedAt: world.observedAt,
    physicalGpus,
    nodes: world.nodes.map(reportNode),
    teams: reportTeams(physicalGpus),
    pending: [...world.waiting].map(reportPending),
    queues: reportQueues(world),
    works: [...world.workloads].filter(({ endedTime }) => endedTime === null).map((work) => reportWork(world, work)),
    lostGpuSeconds: [...world.lostGpuSeconds.values()].reduce((sum, seconds) => sum + seconds, 0),
    lostByWorkload: new Map(world.lostGpuSeconds),
    finished: { ...world.finished },
    foundStopped: [...world.foundStopped],
    ownerWaitSeconds: world.ownerWaitSeconds,
    evictions: [...world.evictions.values()].reduce((sum, count) => sum + count, 0),
  };
}

function reportGpu(world: World, physicalGpu: PhysicalGpu): TruthGpu {
  return {
    node: physicalGpu.node.spec.name,
    uuid: physicalGpu.uuid,
    gpuModel: physicalGpu.model.name,
    healthy: isInService(physicalGpu),
    migInstances: reportInstances(world, physicalGpu),
    holders: reportHolders(world, physicalGpu),
    activity: gpuActivity(world, physicalGpu),
    observed: physicalGpu.sample?.activity ?? null,
  };
}

function reportInstances(world: World, physicalGpu: PhysicalGpu): readonly TruthInstance[] {
  return physicalGpu.units.flatMap((unit) => {
    if (unit.profile === null) return [];
    const allocation = [...physicalGpu.allocations].find((candidate) => candidate.unit === unit);
    return {
      id: unit.id,
      profile: unit.profile,
      weight: unit.weight,
      holder: allocation === undefined ? null : reportHolder(world, allocation),
      activity: unitActivity(world, physicalGpu, unit),
      observed: physicalGpu.healthy ? unit.observed : null,
    };
  });
}

/** The holders of a GPU. A pod with several replicas or instances of it is one holder with the sum of its shares. */
function reportHolders(world: World, physicalGpu: PhysicalGpu): readonly TruthHolder[] {
  const holders = new Map<SimPod, TruthHolder>();
  for (const allocation of physicalGpu.allocations) {
    const holder = reportHolder(world, allocation);
    const known = holders.get(allocation.pod);
    holders.set(allocation.pod, known === undefined ? holder : { ...holder, share: known.share + holder.share });
  }
  return [...holders.values()];
}

function reportHolder(world: World, allocation: Allocation): TruthHolder {
  const { pod, share } = allocation;
  return {
    namespace: pod.workload.spec.namespace,
    pod: pod.name,
    team: pod.workload.team,
    share,
    activity: allocationActivity(world, allocation),
    hangs: hangs(world, pod),
    spins: spins(world, pod),
    hasRun: pod.startedAt !== null,
  };
}

function reportNode(node: SimNode): TruthNode {
  return {
    name: node.spec.name,
    ready: node.spec.ready && !node.lost,
    schedulable: isSchedulable(node),
    gpuModels: [...new Set(node.physicalGpus.map((physicalGpu) => physicalGpu.model.name))],
    physicalGpus: node.physicalGpus.length,
  };
}

function reportTeams(physicalGpus: readonly TruthGpu[]): readonly TruthTeam[] {
  const teams = new Map<string | null, { allocated: number; active: number }>();
  for (const physicalGpu of physicalGpus) {
    for (const holder of physicalGpu.holders) {
      const sums = teams.get(holder.team) ?? { allocated: 0, active: 0 };
      sums.allocated += holder.share;
      sums.active += holder.share * holder.activity;
      teams.set(holder.team, sums);
    }
  }
  return [...teams].map(([team, sums]) => ({ team, ...sums }));
}

function reportPending(pod: SimPod): TruthPending {
  return {
    namespace: pod.workload.spec.namespace,
    pod: pod.name,
    team: pod.workload.team,
    workload: pod.workload.name,
    gpus: gpusAskedFor(pod),
    since: pod.createdAt,
  };
}

function gpusAskedFor(pod: SimPod): number | null {
  const { request, pods } = pod.workload.spec;
  switch (request.kind) {
    case "none":
      return 0;
    case "physicalGpus":
    case "extended-resource":
      return request.count;
    case "claim":
      return request.shared ? request.count / pods : request.count;
    case "fraction":
      return request.share;
    // Which part of a GPU these are depends on the node's replicas or model.
    case "replicas":
    case "mig":
    case "hami":
      return null;
  }
}

function reportQueues(world: World): readonly TruthQueue[] {
  const queues = new Map<string, { -readonly [Key in keyof TruthQueue]: TruthQueue[Key] }>();
  for (const workload of world.workloads) {
    const { system, spec, pods, endedTime } = workload;
    if (system === null || spec.queue === null || endedTime !== null || wantedPods(workload) === 0) continue;
    const key = `${system}/${spec.queue}`;
    const evictions = world.evictions.get(key) ?? 0;
    const sums = queues.get(key) ?? { system, queue: spec.queue, allocated: 0, waiting: 0, evictions };
    queues.set(key, sums);
    const bound = pods.filter((pod) => pod.node !== null && pod.endedAt === null);
    const ended = pods.filter((pod) => pod.endedAt !== null);
    const perPod = askedGpus(spec) / spec.pods;
    sums.allocated += bound.length * perPod;
    sums.waiting += (spec.pods - bound.length - ended.length) * perPod;
  }
  return [...queues.values()];
}

function reportWork(world: World, workload: Workload): TruthWork {
  const { spec, pods, name, team, system, queuedAt, createdAt, admittedAt } = workload;
  const again = worksAgain(world, workload);
  const gpus = askedGpus(spec);
  const isThere = pods.length === spec.pods;
  const bound = pods.filter(({ node }) => node !== null).length;
  return {
    namespace: spec.namespace,
    name,
    kind: spec.kind,
    team,
    priorityClass: spec.priorityClass,
    models: spec.models,
    queue: system === null ? null : spec.queue,
    gpus,
    waitingGpus: (gpus * (spec.pods - bound)) / spec.pods,
    since: system === null ? createdAt : queuedAt,
    admittedAt,
    boundAt: isThere
      ? boundAt(
          spec.gang,
          pods.map(({ scheduledAt }) => scheduledAt),
        )
      : null,
    startedAt: isThere ? latest(pods.map(({ startedAt }) => startedAt)) : null,
    worksAgainAt: again === null ? null : again + world.clockOffset,
  };
}

/**
 * When a workload has the pods that it needs: a gang with its last pod, other workloads with their first; `null` until then.
 */
function boundAt(isGang: boolean, times: readonly (number | null)[]): number | null {
  if (isGang) return latest(times);
  const bound = times.filter((time) => time !== null);
  return bound.length === 0 ? null : Math.min(...bound);
}

/** The last of some times; `null` while one of them is still to come. */
function latest(times: readonly (number | null)[]): number | null {
  return times.reduce((last, time) => (last === null || time === null ? null : Math.max(last, time)));
}
