import type { Config } from "../../config/schema.ts";

/** The power that a GPU draws when it does nothing, and its maximum, in watts. */
export interface PowerRange {
  readonly idleWatts: number;
  readonly fullWatts: number;
}

/** A row of the table, with the source of its numbers. */
export interface PowerRow extends PowerRange {
  /** Canonical names of the GPUs. */
  readonly models: readonly string[];
  readonly source: string;
}

/** When the table was last reviewed. */
export const gpuPowerDate = "2026-11-23";

/**
 * Idle power is that of a GPU without a process, where it is published: with memory loaded a GPU draws two to four times as
 * much, so that the lower number judges fewer GPUs. Full power is the limit that the GPU is sold with. A model that is not
 * listed is not judged.
 */
export const gpuPowerTable: readonly PowerRow[] = [
  {
    models: ["GB200"],
    idleWatts: 140,
    fullWatts: 1200,
    source: "full: marin-community/marin#7344; idle: taken from the B200, which has the same chips",
  },
  { models: ["B200"], idleWatts: 140, fullWatts: 1000, source: "public nvidia-smi captures (136 to 145 W)" },
  { models: ["H100-80GB-HBM3"], idleWatts: 70, fullWatts: 700, source: "NVIDIA/nccl#1967, NVIDIA/nccl#1550" },
  {
    models: ["A100-SXM4-40GB", "A100-SXM4-80GB"],
    idleWatts: 60,
    fullWatts: 400,
    source: "full: NVIDIA/DCGM#152; idle: second hand",
  },
  {
    models: ["V100-SXM2-16GB", "V100-SXM2-32GB"],
    idleWatts: 53,
    fullWatts: 300,
    source: "zai-org/GLM-130B#32 (with memory loaded)",
  },
  { models: ["L40S"], idleWatts: 35, fullWatts: 350, source: "wtdcode/vllm-backport#14; idle: second hand" },
  { models: ["A40"], idleWatts: 30, fullWatts: 300, source: "NVIDIA/open-gpu-kernel-modules#874" },
  { models: ["T4"], idleWatts: 17, fullWatts: 70, source: "kepler#2388" },
];

const byModel: ReadonlyMap<string, PowerRange> = new Map(
  gpuPowerTable.flatMap((row) => row.models.map((model) => [model, row] as const)),
);

/** Idle and full power of a model: as configured (`gpu.power`), else by the table; `null` where neither has it. */
export function powerRangeOf(model: string, configured: Config["gpu"]["power"]): PowerRange | null {
  const own = Object.hasOwn(configured, model) ? configured[model] : undefined;
  return own ?? byModel.get(model) ?? null;
}
