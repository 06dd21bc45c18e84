import type { PodView, Snapshot } from "../../join/snapshot.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { EndedShape, PodShape } from "../../model/podShape.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import { demandKey, type PodDemand, podDemand, rulesKey, unitKey } from "../freeCapacity/podDemand.ts";
import type { AccessRule } from "./access.ts";

/** A shape as placement judges it. */
export interface JudgedShape extends PodShape {
  /** A key that is equal for shapes that ask for the same and may go to the same nodes. */
  readonly key: string;
  /** What a pod of the shape takes from its node; `null`: it asks for no GPU. */
  readonly demand: PodDemand | null;
  readonly access: AccessRule;
  /** How many pods have it, or how common it is relative to the others. */
  readonly weight: number;
}

/** A shape while pods are being counted. */
interface OpenShape extends JudgedShape {
  weight: number;
  /** Number of the counted pods that exist now. */
  pods: number;
  cycle: number;
}

/** Shapes by the objects with the needs of pods, which pods share and keep; the cache changes no answer. */
export interface ShapeCache {
  byNeeds: WeakMap<PodNeeds, OpenShape[]>;
  readonly byKey: Map<string, OpenShape>;
  /** What the pods that are counted in the shapes ask for; `null` unless they were all counted. */
  counted: Asked | null;
  cycle: number;
}

/** Creates an empty cache. */
export const createShapeCache = (): ShapeCache => ({
  byNeeds: new WeakMap(),
  byKey: new Map(),
  counted: null,
  cycle: 0,
});

/** Anyone who can create pods can create ever new shapes: only the most common ones are considered. */
const mostShapes = 1_000;

/** Pods that were counted. */
export interface CountedShapes {
  /** The shapes, the most common first; at most 1,000. */
  readonly shapes: readonly JudgedShape[];
  /** Number of pods of all shapes together. */
  readonly pods: number;
}

/**
 * Counts the shapes of pods with GPUs that run, or wait and may run; of members that are not created yet, of gangs that could
 * run; and of pods that have ended. The most common shape comes first. Pods with unknown requests are left out.
 */
export function countShapes(
  { pods, queueing }: Snapshot,
  ended: readonly EndedShape[],
  cache: ShapeCache,
): CountedShapes {
  cache.cycle += 1;
  let all = 0;
  const shapes: OpenShape[] = [];
  const add = (needs: PodNeeds | null, gpus: number | null, count: number): void => {
    if (count <= 0) return;
    const shape = shapeOf(needs, gpus, cache);
    if (shape === null) return;
    if (shape.cycle !== cache.cycle) {
      shape.cycle = cache.cycle;
      shape.weight = 0;
      shapes.push(shape);
    }
    shape.weight += count;
    all += count;
  };
  countPods(pods, cache);
  for (const shape of cache.byKey.values()) add(shape.needs, shape.gpus, shape.pods);
  for (const { parts, never } of queueing.gangs) {
    if (never !== null) continue;
    for (const part of parts) add(part.needs, part.gpusPerPod, part.pods - part.createdPods);
  }
  for (const shape of ended) add(shape.needs, shape.gpus, shape.pods);
  for (const [key, { cycle }] of cache.byKey) if (cycle !== cache.cycle) cache.byKey.delete(key);
  // The objects are reused for counting at the next moment, so copies are returned.
  const common = shapes.sort(mostCommonFirst).slice(0, mostShapes);
  return { shapes: common.map(({ cycle: _, pods: __, ...shape }) => shape), pods: all };
}

/**
 * Counts pods into their shapes. Only how many pods ask for the same matters, and not which pods: whatever the views of the pods
 * are, those that ask for the same as the pods at their places before stay counted.
 */
function countPods(pods: readonly PodView[], cache: ShapeCache): void {
  const before = cache.counted ?? nothingAsked;
  if (cache.counted === null) for (const shape of cache.byKey.values()) shape.pods = 0;
  cache.counted = null;
  const now = askedBy(pods);
  const count = ({ needs, gpus }: Asked, at: number, by: 1 | -1): void => {
    const shape = shapeOf(needs[at] ?? null, gpus[at] ?? null, cache);
    if (shape !== null) shape.pods += by;
  };
  const [oldCount, nextCount] = [before.needs.length, now.needs.length];
  let old = 0;
  let next = 0;
  while (old < oldCount || next < nextCount) {
    const same = old < oldCount && next < nextCount ? equalFrom(before, old, now, next) : 0;
    old += same;
    next += same;
    // After a place where pods have gone or come, the same pods follow as before.
    const moved = movedBy(before, old, now, next);
    if (moved >= 0 && old < oldCount) count(before, old++, -1);
    if (moved <= 0 && next < nextCount) count(now, next++, 1);
  }
  cache.counted = now;
}

/** What pods ask for, in their order; `null` needs: the pod does not count. Pods that ask for the same share their needs. */
interface Asked {
  readonly needs: readonly (PodNeeds | null)[];
  /** Physical GPUs. */
  readonly gpus: Float64Array;
}

const nothingAsked: Asked = { needs: [], gpus: new Float64Array() };

function askedBy(pods: readonly PodView[]): Asked {
  const gpus = new Float64Array(pods.length);
  const needs: (PodNeeds | null)[] = new Array(pods.length).fill(null);
  for (let at = 0; at < needs.length; at++) {
    const pod = pods[at];
    // Work that can never run shows nothing about the work of the cluster.
    if (pod === undefined || pod.gpus === null || pod.impossible !== undefined) continue;
    gpus[at] = pod.gpus;
    needs[at] = pod.needs;
  }
  return { needs, gpus };
}

/** How many pods from these places on ask for the same as before; at most `enough` are compared. */
function equalFrom(before: Asked, old: number, now: Asked, next: number, enough = Infinity): number {
  const most = Math.min(enough, before.needs.length - old, now.needs.length - next);
  for (let i = 0; i < most; i += 1) if (!isSameAt(before, old + i, now, next + i)) return i;
  return most;
}

const isSameAt = (before: Asked, old: number, now: Asked, next: number): boolean =>
  before.needs[old] === now.needs[next] && before.gpus[old] === now.gpus[next];

/** How many pods have gone (above 0) or come (below 0) at a place; 0 if one replaces another, or this is unknown. */
function movedBy(before: Asked, old: number, now: Asked, next: number): number {
  if (
    old >= before.needs.length ||
    next >= now.needs.length ||
    equalFrom(before, old + 1, now, next + 1, alike) >= alike
  )
    return 0;
  for (let by = 1; by <= mostMoved; by++) {
    if (equalFrom(before, old + by, now, next, alike) >= alike) return by;
    if (equalFrom(before, old, now, next + by, alike) >= alike) return -by;
  }
  return 0;
}

const mostMoved = 8;
/** Pods in a row that ask for the same as before: from this many on they are taken to be the same pods. */
const alike = 4;

/** The shape of a pod; `null` if it has no GPUs, or its requests are unknown. */
const shapeOf = (needs: PodNeeds | null, gpus: number | null, cache: ShapeCache): OpenShape | null =>
  needs === null || gpus === null || gpus <= gpuTolerance ? null : openShape(needs, gpus, cache);

/** Orders shapes by how common they are, then by content: the order of pods has no meaning. */
export const mostCommonFirst = (a: JudgedShape, b: JudgedShape): number =>
  b.weight - a.weight || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

function openShape(needs: PodNeeds, gpus: number, cache: ShapeCache): OpenShape {
  const ofNeeds = cache.byNeeds.get(needs);
  // Nearly always there is only one shape.
  const place = ofNeeds === undefined ? -1 : ofNeeds.findIndex((shape) => shape.gpus === gpus);
  const known = ofNeeds?.[place];
  if (known !== undefined && (known.cycle === cache.cycle || cache.byKey.get(known.key) === known)) return known;
  const judged = judgedShape({ gpus, needs }, 0);
  const shape: OpenShape = cache.byKey.get(judged.key) ?? { ...judged, pods: 0, cycle: 0 };
  cache.byKey.set(judged.key, shape);
  if (ofNeeds === undefined) cache.byNeeds.set(needs, [shape]);
  else if (place >= 0) ofNeeds[place] = shape;
  else ofNeeds.push(shape);
  return shape;
}

/** A shape with everything that is asked of nodes. */
export function judgedShape(shape: PodShape, weight: number): JudgedShape {
  const { gpus, needs, models = [] } = shape;
  const demand = gpus > gpuTolerance ? podDemand(gpus, needs) : null;
  const rules = `${rulesKey(needs)}${models.map((model) => `^${model.length}:${model}`).join("")}`;
  const asked = demand === null ? "none" : `${demandKey(demand)}|${unitKey(gpus)}`;
  return { ...shape, key: `${asked}@${rules}`, demand, access: { key: rules, rules: needs, models }, weight };
}
