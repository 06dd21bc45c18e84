import { kaiNames } from "../../exporter/model/wellKnown.ts";
import type { GpuRequest, NodeMode } from "../scenario.ts";
import {
  type Card,
  nextUid,
  type SimNode,
  type SimPod,
  type Unit,
  type Workload,
  type World,
  wallClock,
} from "./world.ts";

/** A part of a card that a pod could get. */
interface Part {
  readonly card: Card;
  readonly unit: Unit | null;
  readonly share: number;
}

const tolerance = 1e-9;

/** Free part of a card, in physical GPUs; 0 while the card is lost. */
export function freeShare(card: Card): number {
  if (!card.healthy) return 0;
  if (card.units.length > 0) return card.units.reduce((sum, unit) => sum + (unit.holder === null ? unit.weight : 0), 0);
  let held = 0;
  for (const allocation of card.allocations) held += allocation.share;
  return Math.max(0, 1 - held);
}

/** Whether the scheduler may use the node at all. */
export function isSchedulable(node: SimNode): boolean {
  return node.spec.ready && !node.lost && !node.spec.cordoned && !node.tainted;
}

/** Tries to bind a pod to the best node that fits; returns whether it did. */
export function placePod(world: World, pod: SimPod): boolean {
  let best: { node: SimNode; parts: readonly Part[]; score: number } | null = null;
  const sign = world.scenario.placement === "pack" ? -1 : 1;
  for (const node of world.nodes) {
    const parts = offer(node, pod);
    if (parts === null) continue;
    const score = sign * node.cards.reduce((sum, card) => sum + freeShare(card), 0);
    if (best === null || score > best.score + tolerance) best = { node, parts, score };
  }
  if (best === null) return false;
  bind(world, pod, best.node, best.parts);
  return true;
}

/** Binds a pod to given cards of a node without asking whether that is wise; for traces. */
export function bindToCards(world: World, pod: SimPod, node: SimNode, cards: readonly Card[]): void {
  const { request } = pod.workload.spec;
  const share = request.kind === "fraction" ? request.share : 1;
  bind(
    world,
    pod,
    node,
    cards.map((card) => ({ card, unit: null, share })),
  );
}

function offer(node: SimNode, pod: SimPod): readonly Part[] | null {
  const { spec } = pod.workload;
  if (!isSchedulable(node) || !serves(node, pod.workload)) return null;
  if (node.freeCpuMilli < spec.cpuMilli || node.freeMemoryMiB < spec.memoryMiB) return null;
  const cards = node.cards.filter(
    (card) =>
      card.healthy && (spec.models.length === 0 || spec.models.some((name) => node.spec.cards[card.index] === name)),
  );
  return partsFor(pod, node, cards);
}

/** Whether a node can serve a workload at all: by its mode, by the labels that its pods choose by, and by its shard. */
export function serves(node: SimNode, { spec, nodePool }: Pick<Workload, "spec" | "nodePool">): boolean {
  const { mode, cards, featureDiscovery, labels } = node.spec;
  if (!accepts(mode, spec.request)) return false;
  if (nodePool !== undefined && (labels[kaiNames.nodePool] ?? null) !== nodePool) return false;
  if (spec.request.kind !== "cards" || spec.models.length === 0) return true;
  // The label of a node with two models names the last one.
  const labelled = featureDiscovery ? cards.at(-1) : undefined;
  return labelled !== undefined && spec.models.includes(labelled);
}

/** Whether nodes of this mode can serve a request at all. */
export function accepts(mode: NodeMode, request: GpuRequest): boolean {
  switch (request.kind) {
    case "none":
      return true;
    case "cards":
      return mode.kind === "whole" || mode.kind === "kai" || mode.kind === "vgpu-guest";
    case "replicas":
      return mode.kind === request.strategy && mode.renamed === request.renamed;
    case "mig":
      return mode.kind === request.strategy;
    case "claim":
    case "extended-resource":
      return mode.kind === "dra";
    case "fraction":
      return mode.kind === "kai";
    case "hami":
      return mode.kind === "hami";
  }
}

function partsFor(pod: SimPod, node: SimNode, cards: readonly Card[]): readonly Part[] | null {
  const { request } = pod.workload.spec;
  switch (request.kind) {
    case "none":
      return [];
    case "cards":
    case "extended-resource":
      return wholeCards(cards, request.count);
    case "claim":
      return request.shared ? sharedClaimParts(pod, node, cards, request.count) : wholeCards(cards, request.count);
    case "replicas":
      return unitParts(cards, request.count, () => true);
    case "mig":
      return unitParts(cards, request.count, (unit) => unit.profile === request.profile);
    case "fraction":
      return fraction(cards, () => request.share);
    case "hami":
      return fraction(cards, (card) => Math.max(request.corePercent / 100, request.memoryMiB / card.model.memoryMiB));
  }
}

function wholeCards(cards: readonly Card[], count: number): readonly Part[] | null {
  const free = cards.filter((card) => card.allocations.size === 0).slice(0, count);
  return free.length < count ? null : free.map((card) => ({ card, unit: null, share: 1 }));
}

/** All pods of the workload use the cards of its one claim, so the later ones must follow the first. */
function sharedClaimParts(pod: SimPod, node: SimNode, cards: readonly Card[], count: number): readonly Part[] | null {
  const first = pod.workload.pods.find((other) => other.node !== null);
  const share = 1 / pod.workload.spec.pods;
  if (first === undefined) return wholeCards(cards, count)?.map((part) => ({ ...part, share })) ?? null;
  if (first.node !== node) return null;
  return first.allocations.map((allocation) => ({ card: allocation.card, unit: null, share }));
}

/** The device plugin spreads replicas: always the card with the most free ones. */
function unitParts(cards: readonly Card[], count: number, fits: (unit: Unit) => boolean): readonly Part[] | null {
  const taken: Part[] = [];
  const free = cards.map((card) => ({ card, units: card.units.filter((unit) => unit.holder === null && fits(unit)) }));
  while (taken.length < count) {
    const fullest = free.reduce(
      (a, b) => (b.units.length > a.units.length ? b : a),
      free[0] ?? { card: null, units: [] },
    );
    const unit = fullest.units.shift();
    if (unit === undefined || fullest.card === null) return null;
    taken.push({ card: fullest.card, unit, share: unit.weight });
  }
  return taken;
}

/** Best fit: the card with the least room that is still enough. */
function fraction(cards: readonly Card[], shareOn: (card: Card) => number): readonly Part[] | null {
  let best: Part | null = null;
  let bestRoom = 2;
  for (const card of cards) {
    const room = freeShare(card);
    const share = shareOn(card);
    if (room + tolerance < share || room >= bestRoom) continue;
    best = { card, unit: null, share };
    bestRoom = room;
  }
  return best === null ? null : [best];
}

function bind(world: World, pod: SimPod, node: SimNode, parts: readonly Part[]): void {
  const { spec } = pod.workload;
  pod.node = node;
  pod.scheduledAt = wallClock(world);
  pod.scheduledTime = world.time;
  pod.allocations = parts.map((part) => {
    const allocation = { pod, card: part.card, unit: part.unit, share: part.share, observed: 0 };
    part.card.allocations.add(allocation);
    if (part.unit !== null) part.unit.holder = pod;
    return allocation;
  });
  node.freeCpuMilli -= spec.cpuMilli;
  node.freeMemoryMiB -= spec.memoryMiB;
  if (spec.request.kind === "fraction") for (const { card } of parts) reserve(world, card);
  world.waiting.delete(pod);
  world.starting.add(pod);
  world.dirtyPods.add(pod);
}

function reserve(world: World, card: Card): void {
  if (card.reservation !== null) return;
  const uid = nextUid(world);
  const group = nextUid(world);
  const name = `gpu-reservation-${card.node.spec.name}-${uid.slice(0, 5)}`;
  card.reservation = { name, uid, group, createdAt: wallClock(world) };
  world.dirtyCards.add(card);
}

/** Takes a pod off its cards and its node; the pod keeps its node's name, as ended pods do. */
export function release(world: World, pod: SimPod): void {
  for (const allocation of pod.allocations) {
    allocation.card.allocations.delete(allocation);
    if (allocation.unit !== null) allocation.unit.holder = null;
    if (allocation.card.reservation !== null && allocation.card.allocations.size === 0) {
      allocation.card.reservation = null;
      world.dirtyCards.add(allocation.card);
    }
  }
  if (pod.node !== null && pod.phase !== "Succeeded" && pod.phase !== "Failed") {
    pod.node.freeCpuMilli += pod.workload.spec.cpuMilli;
    pod.node.freeMemoryMiB += pod.workload.spec.memoryMiB;
  }
  world.starting.delete(pod);
  world.running.delete(pod);
  world.dirtyPods.add(pod);
}

/** Undoes `bind` for a gang that does not fit whole. */
export function unbind(world: World, pod: SimPod): void {
  release(world, pod);
  pod.node = null;
  pod.allocations = [];
  pod.scheduledAt = null;
  world.waiting.add(pod);
}
