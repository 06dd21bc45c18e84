import type { ClusterState, ExporterPodRef, ObjectKind, OwnerObject } from "../exporter/model/cluster.ts";
import type { JobLimits } from "../exporter/model/disruption.ts";
import type { Pod } from "../exporter/model/pod.ts";
import type { TelemetryPage } from "../exporter/model/telemetry.ts";
import { nodeLabels, podLabels } from "../exporter/model/wellKnown.ts";
import { createFleet } from "./fleetState.ts";
import { createQueueFleet, localQueuesOf, podsPerNode } from "./queueObjects.ts";

/** A fleet with queues on which advice is given, cycle by cycle. */
export interface AdvisedFleet {
  /** The state as it would be read at a time (seconds since the epoch). */
  state(at: number): ClusterState;
  /**
   * Goes on by one cycle: every reading has other values, and one pod and one waiting workload in a hundred are replaced by
   * others.
   */
  step(): void;
}

/** The amounts at full size; a smaller cluster has them in proportion. */
const full = { nodes: 10_000, queues: 2_000, waiting: 50_000 } as const;
/**
 * Guarantee of each queue in each flavor: in sum this is somewhat more than there are GPUs, so that 12 GPUs may be owed to one
 * queue.
 */
const nominal = 13;
/**
 * One in this many nodes has no pods, has only idle pods, or sends no telemetry; each kind of nodes has a remainder of its own.
 */
const emptyEvery = 25;
const idleEvery = 30;
const unseenEvery = 500;

const job: JobLimits = { backoffLimit: 6, failed: 0, onDisruption: "Ignore", isSuspended: false };

/**
 * Makes a fleet. `quiet`: nothing waits in any queue, and every workload is in a queue with a sufficient guarantee.
 * `contended`: 50,000 workloads wait, one half of the queues holds all GPUs and the other half is owed its share; some nodes
 * are empty, some workloads are idle, some nodes send no telemetry, and some queues are configured so that the scheduler cannot
 * help them.
 */
export function createAdvisedFleet(nodes: number, kind: "quiet" | "contended"): AdvisedFleet {
  const isContended = kind === "contended";
  const fleet = createFleet(nodes);
  const first = fleet.state();
  const products = [...new Set(first.nodes.map((node) => node.labels[nodeLabels.gpuProduct] ?? ""))];
  const share = nodes / full.nodes;
  const queues = createQueueFleet(products, {
    queues: full.queues * share,
    waiting: isContended ? full.waiting * share : 0,
    nominal,
  });
  const placeOf = new Map(first.nodes.map(({ name }, place) => [name, place] as const));
  const productOf = first.nodes.map((node) => products.indexOf(node.labels[nodeLabels.gpuProduct] ?? ""));
  // Two models have nothing free, one has only single GPUs on many nodes, and one has whole nodes.
  const isClosed = (place: number): boolean => isContended && (productOf[place] ?? 0) < 2 && place % 5 === 3;
  const isEmpty = (place: number): boolean => isContended && productOf[place] === 3 && place % emptyEvery === 7;
  const isIdle = (place: number): boolean => isContended && place % idleEvery === 2;
  const isUnseen = (place: number): boolean => isContended && place % unseenEvery === 3;
  const owners = first.owners.map((owner): OwnerObject => ({ ...owner, job }));
  const objectsOfNodes = first.nodes.map((node, place) => (isClosed(place) ? { ...node, unschedulable: true } : node));
  const names = queues.objects().kueueClusterQueues.map(({ name }) => name);
  const holding = isContended ? names.filter((_, i) => i % 2 === 0) : names;
  const known = new WeakMap<Pod, Pod>();
  const exporterPods = first.nodes.map(
    ({ name }, place): ExporterPodRef => ({
      namespace: "gpu-operator",
      name: `dcgm-${place}`,
      uid: `dcgm-${place}`,
      nodeName: name,
    }),
  );
  /** All pods of a node belong to one Job and one queue. */
  function queued(pod: Pod, place: number): Pod {
    const before = known.get(pod);
    if (before !== undefined) return before;
    const labels = { ...pod.labels, [podLabels.kueueClusterQueue]: holding[place % holding.length] ?? "" };
    const made = { ...pod, labels };
    known.set(pod, made);
    return made;
  }
  const localQueues = [
    ...queues.objects().kueueLocalQueues,
    ...localQueuesOf(first.pods.map((pod, i) => queued(pod, Math.floor(i / podsPerNode)))),
  ];
  function pageOf(page: TelemetryPage, place: number, receivedAt: number): TelemetryPage {
    const devices = isEmpty(place)
      ? page.devices.map((device) => ({ ...device, ...still, claimants: [] }))
      : isIdle(place)
        ? page.devices.map((device) => ({ ...device, ...still }))
        : page.devices;
    return { ...page, receivedAt, devices };
  }
  return {
    state(at) {
      const state = fleet.state();
      const objects = { ...queues.objects(), kueueLocalQueues: localQueues };
      const kinds = Object.keys(objects).filter((one): one is ObjectKind => Object.hasOwn(objects, one));
      return {
        ...state,
        nodes: objectsOfNodes,
        owners,
        exporterPods,
        pods: state.pods.flatMap((pod, i) => {
          const place = Math.floor(i / podsPerNode);
          return isEmpty(place) ? [] : queued(pod, place);
        }),
        telemetry: state.telemetry.flatMap((page) => {
          const place = placeOf.get(page.node ?? "") ?? 0;
          return isUnseen(place) ? [] : pageOf(page, place, at - 1);
        }),
        queues: isContended
          ? {
              ...objects,
              kueueClusterQueues: objects.kueueClusterQueues.map((queue, i) =>
                i % 50 === 1 ? { ...queue, preemption: { ...queue.preemption, reclaimWithinCohort: "Never" } } : queue,
              ),
            }
          : objects,
        known: new Set<ObjectKind>([...state.known, ...kinds]),
      };
    },
    step() {
      fleet.step();
      queues.step();
    },
  };
}

/** The readings of a GPU on which nothing runs. */
const still = { gpuUtil: 0, grEngineActive: 0, smActive: 0, dramActive: 0, memoryUsedBytes: 0 } as const;
