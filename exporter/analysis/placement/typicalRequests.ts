import { placedSizes } from "../../model/placedSizes.ts";
import type { JudgedShape } from "./countShapes.ts";
import type { TypicalRequest } from "./poolPlacement.ts";

/** What a pod of a size asks for besides GPUs. */
export interface CpuAndMemory {
  readonly cpuMilli: number;
  readonly memoryBytes: number;
}

/** What typical pods with whole GPUs ask for in one pool. */
export interface TypicalRequests {
  /** The request for each of `placedSizes`. */
  readonly sizes: readonly TypicalRequest[];
  /** Returns the request of a pod with any number of whole GPUs. */
  readonly of: (size: number) => CpuAndMemory;
}

type Values = readonly { readonly shape: WholeShape; readonly value: number }[];

/** Shapes with whole GPUs, in the orders in which their medians are looked up. */
export interface WholeShapes {
  readonly cpuMilli: Values;
  readonly memoryBytes: Values;
  readonly cpuPerGpu: Values;
  readonly memoryPerGpu: Values;
}

interface WholeShape {
  readonly shape: JudgedShape;
  readonly size: number;
  readonly cpuMilli: number;
  readonly memoryBytes: number;
}

/** Sorts shapes once for all pools. */
export function wholeShapes(shapes: readonly JudgedShape[]): WholeShapes {
  const whole = shapes.flatMap((shape): readonly WholeShape[] => {
    const { demand } = shape;
    if (demand === null || demand.slots.length > 0 || demand.share < 1) return [];
    return [{ shape, size: demand.physicalGpus, cpuMilli: demand.cpuMilli, memoryBytes: demand.memoryBytes }];
  });
  const sorted = (of: (shape: WholeShape) => number): Values =>
    whole.map((shape) => ({ shape, value: of(shape) })).sort((a, b) => a.value - b.value);
  return {
    cpuMilli: sorted(({ cpuMilli }) => cpuMilli),
    memoryBytes: sorted(({ memoryBytes }) => memoryBytes),
    cpuPerGpu: sorted(({ cpuMilli, size }) => cpuMilli / size),
    memoryPerGpu: sorted(({ memoryBytes, size }) => memoryBytes / size),
  };
}

/**
 * For each size, the medians of CPU and of memory over the pods of exactly this size that may go to the pool; if there are
 * none, the medians per GPU over all its pods with whole GPUs, times the size; without any pods, nothing. They are rounded up
 * to a whole milli CPU and byte, as pods ask for them.
 */
export function typicalRequests(all: WholeShapes, mayGo: (shape: JudgedShape) => boolean): TypicalRequests {
  const perGpu = {
    cpuMilli: median(all.cpuPerGpu, ({ shape }) => mayGo(shape)),
    memoryBytes: median(all.memoryPerGpu, ({ shape }) => mayGo(shape)),
  };
  const scaled = (size: number): CpuAndMemory => ({
    cpuMilli: wholeUnits((perGpu.cpuMilli ?? 0) * size),
    memoryBytes: wholeUnits((perGpu.memoryBytes ?? 0) * size),
  });
  const sizes = placedSizes.map((size): TypicalRequest => {
    const isOfSize = ({ shape, size: own }: WholeShape): boolean => own === size && mayGo(shape);
    const cpuMilli = median(all.cpuMilli, isOfSize);
    const memoryBytes = median(all.memoryBytes, isOfSize);
    if (cpuMilli !== null && memoryBytes !== null)
      return { size, cpuMilli: wholeUnits(cpuMilli), memoryBytes: wholeUnits(memoryBytes), basis: "median" };
    return { size, ...scaled(size), basis: perGpu.cpuMilli === null ? "none" : "scaled" };
  });
  const bySize = new Map<number, CpuAndMemory>(sizes.map((one) => [one.size, one]));
  return { sizes, of: (size) => bySize.get(size) ?? scaled(size) };
}

/** Rounds up to a whole number, except for the rounding error of dividing by a size and multiplying by it. */
function wholeUnits(value: number): number {
  return Math.ceil(value - value * 2 ** -50);
}

/** The middle value by weight; for an even number, the mean of the two in the middle; `null` without values. */
function median(values: Values, isIn: (shape: WholeShape) => boolean): number | null {
  const own = values.filter(({ shape }) => isIn(shape));
  const half = own.reduce((sum, { shape }) => sum + shape.shape.weight, 0) / 2;
  let passed = 0;
  for (const [i, { shape, value }] of own.entries()) {
    passed += shape.shape.weight;
    if (passed > half) return value;
    if (passed === half) return (value + (own[i + 1]?.value ?? value)) / 2;
  }
  return null;
}
