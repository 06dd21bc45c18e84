import type { TargetShape } from "../../config/moneySchema.ts";
import { bareRecord } from "../../kernel/bareRecord.ts";
import { toleratesAll } from "../../model/queues/nodeMatch.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import { gpuResources } from "../../model/wellKnown.ts";
import { type CountedShapes, type JudgedShape, judgedShape } from "./countShapes.ts";
import type { TargetWorkload } from "./poolPlacement.ts";

/** With fewer pods nobody can say what is typical. */
const fewestPods = 20;
/** Percent of all pods that the shapes of the target workload stand for. */
const coveredPercent = 95;
/** Whoever may create pods may create ever new shapes: no more than the most common ones are judged. */
const mostShapes = 200;

/** The pods for which placement is judged, and the shapes by which typical requests of CPU and memory are reported. */
export interface JudgedWorkload {
  readonly target: TargetWorkload;
  /** Those of the target workload, in its order; their weights are popularities and add up to 1. */
  readonly shapes: readonly JudgedShape[];
  /** All that were counted, or that are configured. */
  readonly all: readonly JudgedShape[];
}

/**
 * What is configured; else the smallest set of counted shapes (most common first) that covers 95 % of the pods, at most 200;
 * else, with fewer than 20 pods, 1, 2, 4 and 8 whole GPUs, equally popular, without CPU and memory.
 */
export function judgedWorkload(
  configured: readonly TargetShape[],
  { shapes: all, pods }: CountedShapes,
): JudgedWorkload {
  if (configured.length > 0) {
    const shapes = configured.map(configuredShape);
    return { target: targetOf("configured", shapes, 0), shapes: withPopularity(shapes), all: shapes };
  }
  if (pods < fewestPods) return { target: targetOf("fixed", fixedMix, pods), shapes: withPopularity(fixedMix), all };
  const chosen: JudgedShape[] = [];
  let covered = 0;
  for (const shape of all) {
    if (covered * 100 >= pods * coveredPercent || chosen.length === mostShapes) break;
    chosen.push(shape);
    covered += shape.weight;
  }
  return { target: targetOf("pods", chosen, pods), shapes: withPopularity(chosen), all };
}

function withPopularity(shapes: readonly JudgedShape[]): readonly JudgedShape[] {
  const total = shapes.reduce((sum, { weight }) => sum + weight, 0);
  return shapes.map((shape) => ({ ...shape, weight: shape.weight / total }));
}

function targetOf(source: TargetWorkload["source"], shapes: readonly JudgedShape[], pods: number): TargetWorkload {
  const total = shapes.reduce((sum, { weight }) => sum + weight, 0);
  return {
    source,
    shapes: shapes.map(({ gpus, needs, models, weight }) => ({
      ...{ gpus, needs, popularity: weight / total, pods: source === "pods" ? weight : null },
      ...(models === undefined ? {} : { models }),
    })),
    pods,
  };
}

const fixedMix: readonly JudgedShape[] = [1, 2, 4, 8].map((gpus) => judgedShape({ gpus, needs: wholeGpus(gpus) }, 1));

function wholeGpus(gpus: number): PodNeeds {
  return { requests: { [gpuResources.nvidia]: gpus }, nodeSelector: {}, nodeAffinity: [], tolerations: toleratesAll };
}

/** A configured shape; it tolerates every taint, because it says of none. */
function configuredShape({ gpus, cpu, memoryBytes, migProfile, nodeSelector, models, popularity }: TargetShape) {
  const requests = bareRecord<number>();
  if (cpu > 0) requests.cpu = cpu;
  if (memoryBytes > 0) requests.memory = memoryBytes;
  if (migProfile !== undefined) requests[`${gpuResources.nvidiaMigPrefix}${migProfile}`] = 1;
  else if (gpus >= 1) requests[gpuResources.nvidia] = gpus;
  const labels = bareRecord<string>();
  for (const [label, value] of Object.entries(nodeSelector)) labels[label] = value;
  const needs: PodNeeds = { requests, nodeSelector: labels, nodeAffinity: [], tolerations: toleratesAll };
  return judgedShape({ gpus, needs, ...(models.length === 0 ? {} : { models }) }, popularity);
}
