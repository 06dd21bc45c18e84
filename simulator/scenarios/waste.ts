import { deviceProfiles } from "../deviceProfiles.ts";
import { noQueueing } from "../queues/spec.ts";
import type { Arrival, Scenario, WorkloadSpec } from "../scenario.ts";
import { wholeNodes } from "./advice/parts.ts";
import { pollingServer, rareRequests, requestsUntil } from "./darkServing.ts";
import { eksLabels, physicalGpus, workloadOf } from "./parts.ts";

const minute = 60;

/** The times of events, seconds after the start. A server is dark once it has had no request for two hours. */
export const wasteTimes = { lastRequest: 5 * minute, hang: 95 * minute, xid: 105 * minute } as const;

/** The three that waste GPUs, and the twin of each, which only resembles it: team and workload. */
export const wasteWork = {
  stalled: { team: "vision", name: "pretrain" },
  memoryBound: { team: "video", name: "decode" },
  dark: { team: "chat", name: "assistant" },
  rarelyAsked: { team: "search", name: "rerank" },
  sick: { team: "weather", name: "forecast" },
  blamed: { team: "ads", name: "ranking" },
} as const;

/** XID errors of one GPU each, and the node that has it: 48 is a double-bit ECC error, 31 a memory fault of the job. */
export const wasteFaults = { sick: { node: "h100-04", code: 48 }, blamed: { node: "h100-05", code: 31 } } as const;

/**
 * Five nodes of eight H100, all allocated. Training hangs with its GPUs busy, a server polls busily although its requests have
 * ended, and a GPU has an uncorrectable memory error. Beside each is work that is as busy, with as little power, as few requests
 * and an XID error of its own making, of which nothing may be said.
 */
export function wasteScenario(): Scenario {
  const { lastRequest, hang, xid } = wasteTimes;
  const { stalled, memoryBound, dark, rarelyAsked, sick, blamed } = wasteWork;
  return {
    name: "waste",
    nodes: wholeNodes("h100", 5, "H100", {
      instanceType: "p5.48xlarge",
      zone: "eu-west-1a",
      labels: eksLabels("h100", "ON_DEMAND"),
    }),
    namespaces: Object.values(wasteWork).map(({ team }) => ({ name: team, team })),
    priorityClasses: {},
    habits: [],
    // They are placed in this order, each on the first node that has room.
    arrivals: [
      arrival(stalled, gang(stalled.team, { hangsAfterSeconds: hang })),
      arrival(memoryBound, gang(memoryBound.team, { profile: deviceProfiles.memoryBound })),
      arrival(dark, pollingServer(dark.team, requestsUntil(lastRequest))),
      arrival(rarelyAsked, pollingServer(rarelyAsked.team, rareRequests)),
      arrival(sick, job(sick.team)),
      arrival(blamed, job(blamed.team)),
    ],
    placed: [],
    queueing: noQueueing,
    placement: "pack",
    warmupSeconds: 0,
    collectionInterval: 30,
    faults: [],
    laterFaults: Object.values(wasteFaults).map(({ node, code }) => ({
      afterSeconds: xid,
      fault: { kind: "gpu-xid", node, physicalGpu: 2, code },
    })),
  };
}

const busy = { kind: "constant", level: 0.98 } as const;
const checkpoints = { models: ["H100"], checkpointSeconds: 1_800 } as const;

const gang = (team: string, changes: Partial<WorkloadSpec>): WorkloadSpec =>
  workloadOf("PyTorchJob", team, 2, physicalGpus(4), busy, { gang: true, ...checkpoints, ...changes });

const job = (team: string): WorkloadSpec =>
  workloadOf("Job", team, 1, physicalGpus(8), { kind: "steady", level: 0.9 }, checkpoints);

const arrival = ({ name }: { readonly name: string }, workload: WorkloadSpec): Arrival => ({
  afterSeconds: 0,
  name,
  workload,
  runSeconds: null,
});
