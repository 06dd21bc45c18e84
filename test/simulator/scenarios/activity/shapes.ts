import { deviceProfiles } from "../../../../simulator/deviceProfiles.ts";
import type { RandomStream } from "../../../../simulator/random.ts";
import type { ActivityPattern, ServesSpec, WorkloadKind, WorkloadSpec } from "../../../../simulator/scenario.ts";
import { soundWaits } from "../soundWaits.ts";

const minute = 60;

/** What work of a mixed cluster does to its GPUs. */
export interface ActivityShape {
  readonly name: string;
  readonly kind: WorkloadKind;
  readonly activity: ActivityPattern;
  /** What else is so of it; times and powers are drawn anew for each. */
  readonly work: (random: RandomStream) => Partial<WorkloadSpec>;
  /** Its pods; default: one. */
  readonly pods?: number;
}

const busy = { kind: "constant", level: 0.98 } as const;
/** Kernels that poll for requests. */
const polling = { kind: "constant", level: 0.97 } as const;

/** From 20 minutes to an hour after the start; power as published hangs draw it: 0.14 to 0.28 of the limit. */
const hung = (random: RandomStream) => ({
  hangsAfterSeconds: random.between(20, 60) * minute,
  spinPower: 0.03 + 0.14 * random.next(),
});

const job = (name: string, activity: ActivityPattern, work: ActivityShape["work"] = () => ({})): ActivityShape => ({
  name,
  kind: "Job",
  activity,
  work,
});

const gang = (name: string, work: ActivityShape["work"]): ActivityShape => ({
  name,
  kind: "PyTorchJob",
  activity: busy,
  work: (random) => ({ gang: true, ...work(random) }),
  pods: 3,
});

const server = (name: string, serves: (random: RandomStream) => ServesSpec, activity = polling): ActivityShape => ({
  name,
  kind: "Deployment",
  activity,
  work: (random) => ({ serves: serves(random) }),
});

const ends = (random: RandomStream) => ({ untilSeconds: random.between(5, 45) * minute });
const often = { server: "sglang", requestsPerSecond: 2 } as const;
/** So few that its gauges read 0 at nearly all looks. */
const rarely = { server: "vllm", requestsPerSecond: 0.01 } as const;

const profiles = deviceProfiles;

/** A kernel of one block: a single multiprocessor works. */
const oneBlock = { tensor: 0, dram: 0.001, memoryCopyPercent: 0, pcieBytes: 1e5, power: 0.1, integer: 0.006 };

/** FP64 or integer codes at so little power that nothing but their pipe shows them. */
const lowPower = { ...profiles.doublePrecision, power: 0.15 };

/** Work of one pod, on GPUs of its own. */
export const aloneShapes = [
  job("training", { kind: "steady", level: 0.9 }),
  job("training", busy),
  job("a hang", busy, hung),
  job("a hang", busy, hung),
  { ...job("a server's hang", busy, hung), kind: "Deployment" },
  job("memory-bound work", busy, () => ({ profile: profiles.memoryBound })),
  job("decoding with a small batch", { kind: "constant", level: 0.95 }, () => ({
    profile: { tensor: 0.05, dram: 0.3, memoryCopyPercent: 30, pcieBytes: 1e6, power: 0.28 },
  })),
  job("traffic with the host (PCIe)", busy, () => ({ profile: profiles.moving })),
  job("traffic between GPUs (NVLink), slow", busy, () => ({ profile: profiles.exchanging })),
  job("FP64 codes", busy, () => ({ profile: profiles.doublePrecision })),
  job("integer codes", busy, () => ({ profile: profiles.integer })),
  job("FP64 codes, at a seventh of full power", busy, () => ({ profile: lowPower })),
  job("a kernel of one block", busy, () => ({ profile: oneBlock })),
  job("a warm-up of 12 minutes", busy, () => ({ waits: soundWaits.warmUp })),
  job("pauses of 5 minutes for checkpoints", busy, () => ({ waits: soundWaits.checkpoint })),
  job("a wait of 40 minutes that ends", busy, () => ({
    waits: { afterSeconds: 30 * minute, forSeconds: 40 * minute },
  })),
  job("nothing at all", { kind: "constant", level: 0 }),
  job("bursts of two minutes", { kind: "bursts", level: 0.7, duty: 0.5 }),
  job("spells of ten minutes", { kind: "notebook", duty: 0.15 }),
  job("a little, all the time", { kind: "constant", level: 0.08 }),
  server("a server, its requests end", (random) => ({ ...often, ...ends(random) })),
  server("a server, its requests end", (random) => ({ ...rarely, ...ends(random) })),
  server("a server that sleeps", (random) => {
    const { untilSeconds } = ends(random);
    return { ...rarely, untilSeconds, sleepsAfterSeconds: untilSeconds };
  }),
  server("a server with requests", () => often),
  server("a server with rare requests", () => rarely),
  server("a server without a counter, its requests end", (random) => ({
    ...often,
    ...ends(random),
    gaugesOnly: true,
  })),
  server("a server that dies with requests inside", (random) => ({
    ...often,
    diesAfterSeconds: random.between(5, 45) * minute,
  })),
  { name: "a server without a page", kind: "Deployment", activity: polling, work: () => ({}) },
  { ...server("a job with the page of a server", (random) => ({ ...often, ...ends(random) })), kind: "Job" },
] as const satisfies readonly ActivityShape[];

/** Work of three pods that start together. */
export const gangShapes = [
  gang("a gang's hang", hung),
  gang("a gang's hang, one pod is silent", (random) => ({ ...hung(random), firstPod: "silent" })),
  gang("a gang's hang, one pod computes", (random) => ({ ...hung(random), firstPod: "computes" })),
  gang("barriers of 10 minutes, one pod computes", () => ({ waits: soundWaits.barrier, firstPod: "computes" })),
] as const satisfies readonly ActivityShape[];

/** Work on a part of a GPU. */
export const partShapes = [
  job("training, on a part of a GPU", busy),
  job("a hang, on a part of a GPU", busy, hung),
  job("nothing at all, on a part of a GPU", { kind: "constant", level: 0 }),
] as const satisfies readonly ActivityShape[];
