import type { ClusterState } from "../../../exporter/model/cluster.ts";
import type { ClusterNode } from "../../../exporter/model/node.ts";
import type { Pod } from "../../../exporter/model/pod.ts";
import type { DeviceReading } from "../../../exporter/model/telemetry.ts";
import { noise } from "../../../simulator/random.ts";
import { emptyState } from "../../emptyState.ts";
import { type Engine, lookSeconds } from "../engine.ts";
import { barePod, longAgo, readyNode } from "../objects.ts";
import { blankReading, claimantOf, pageOfNode } from "../readings.ts";
import type { NodesOn } from "./nodeRules.ts";
import { type NodeSeries, stepMinutes } from "./nodeSeries.ts";

/** How people follow the advice to take nodes away. */
export interface NodeFollowers {
  /** Part of the looks at which it is followed, 0..1, drawn anew for each look. */
  readonly obedience: number;
  readonly seed: number;
  /** Steps from a look until nodes go. */
  readonly delaySteps: number;
}

const stepsPerLook = lookSeconds / 60 / stepMinutes;
const startAt = 1_800_000_000;
const product = "Tesla-P100-PCIE-16GB";

/**
 * Looks at the advice once an hour and takes away the nodes that it names, unless they work again by then. When work needs more
 * nodes than are on, they are started, and are short for the step in which that happens. Work is always on the first nodes that
 * are on. A node that worked in any step of the hour before a look has worked, as exporters saw it.
 */
export function followScaleIn({ active, total }: NodeSeries, engine: Engine, followers: NodeFollowers): NodesOn {
  const on: number[] = [];
  const short: number[] = [];
  const started: number[] = [];
  const off = new Set<number>();
  const workedAt = new Map<number, number>();
  const leaving = new Map<number, readonly number[]>();
  for (const [step, needed] of active.entries()) {
    const all = total[step] ?? 0;
    for (const node of leaving.get(step) ?? []) if (workedAt.get(node) !== step - 1) off.add(node);
    const ready = nodesBelow(all).filter((node) => !off.has(node));
    const lacks = Math.max(0, needed - ready.length);
    const woken = nodesBelow(all)
      .filter((node) => off.has(node))
      .slice(0, lacks);
    for (const node of woken) off.delete(node);
    const running = [...ready, ...woken].sort((a, b) => a - b);
    for (const node of running.slice(0, needed)) workedAt.set(node, step);
    on.push(running.length);
    short.push(lacks);
    started.push(woken.length);
    if (step % stepsPerLook !== stepsPerLook - 1) continue;
    const isWorking = (node: number): boolean => (workedAt.get(node) ?? -1) > step - stepsPerLook;
    const at = startAt + (step + 1) * stepMinutes * 60;
    const recommendations = engine.advise(stateOf(running, isWorking, at), at);
    if (noise(followers.seed, step) >= followers.obedience) continue;
    const named = recommendations.flatMap(({ targets }) => targets.flatMap(nodeOfTarget));
    leaving.set(step + followers.delaySteps, named);
  }
  return { on, short, started };
}

const nodesBelow = (count: number): readonly number[] => Array.from({ length: count }, (_, node) => node);

function nodeOfTarget(target: string): readonly number[] {
  const node = /^Node node-(\d+)$/.exec(target)?.[1];
  return node === undefined ? [] : [Number(node)];
}

/** The objects of a node, which are made once: what has not changed is the same object for the engine, as in production. */
interface NodeObjects {
  readonly object: ClusterNode;
  readonly pod: Pod;
  readonly busy: readonly DeviceReading[];
  readonly idle: readonly DeviceReading[];
}

const known = new Map<number, NodeObjects>();

/** A node of a managed group of a cloud with one GPU in place of all it has: the series knows only whether a node works. */
function objectsOf(node: number): NodeObjects {
  const before = known.get(node);
  if (before !== undefined) return before;
  const name = `node-${node}`;
  const ready = readyNode(name, 1, product, startAt);
  const reading = blankReading(`GPU-${name}`, 0);
  const made: NodeObjects = {
    object: { ...ready, labels: { ...ready.labels, "eks.amazonaws.com/nodegroup": "philly" } },
    pod: {
      ...barePod(`work-${node}`, "philly", name, startAt - longAgo),
      gpu: { resources: { "nvidia.com/gpu": 1 }, claims: [], extendedResourceClaim: null },
    },
    busy: [{ ...reading, gpuUtil: 0.9, claimants: [claimantOf("philly", `work-${node}`)] }],
    idle: [reading],
  };
  known.set(node, made);
  return made;
}

function stateOf(running: readonly number[], isWorking: (node: number) => boolean, at: number): ClusterState {
  return {
    ...emptyState,
    nodes: running.map((node) => objectsOf(node).object),
    namespaces: [{ name: "philly", labels: { team: "philly" }, annotations: {} }],
    pods: running.filter(isWorking).map((node) => objectsOf(node).pod),
    requestsByNode: new Map(
      running.map((node) => [objectsOf(node).object.name, { pods: 0, cpuMilli: 0, memoryBytes: 0 }] as const),
    ),
    telemetry: running.map((node) => {
      const { object, busy, idle } = objectsOf(node);
      return pageOfNode(object.name, isWorking(node) ? busy : idle, at);
    }),
  };
}
