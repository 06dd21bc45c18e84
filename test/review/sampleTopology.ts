import type { FittedGangs } from "../../review/document/topology.ts";

const gangs = (...ratios: readonly number[]): FittedGangs["gangs"] =>
  [8, 16, 32, 64, 128, 256].map((gpus, i) => ({ gpus, ratio: ratios[i] ?? 0 }));

/** A block in which gangs of 128 fitted now and then, and its racks, in which none of them ever did. */
export const sampleTopology: FittedGangs[] = [
  {
    cluster: "harbor",
    pool: "H100",
    level: "block",
    hours: 168,
    largestGpus: 128,
    halfOfTimeGpus: 32,
    gangs: gangs(1, 0.94, 0.71, 0.42, 0.003),
  },
  {
    cluster: "harbor",
    pool: "H100",
    level: "rack",
    hours: 160.5,
    largestGpus: 64,
    halfOfTimeGpus: 16,
    gangs: gangs(0.97, 0.62, 0.4, 0.31),
  },
];
