import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { freePort, installed, Program } from "../program.ts";

/** A queue as KAI's division of one resource sees it: all numbers in GPUs, -1 is unlimited. */
export interface SharingQueue {
  readonly name: string;
  readonly priority: number;
  readonly quota: number;
  readonly limit: number;
  readonly overQuotaWeight: number;
  /** What runs and what waits. */
  readonly requested: number;
}

/** One question to KAI's fair-share simulator. Siblings only: it knows no tree. */
export interface SharingCase {
  readonly gpus: number;
  readonly queues: readonly SharingQueue[];
}

/** KAI's own program for its formula, with the code of its scheduler. */
export interface FairshareSimulator {
  /** GPUs of each queue by name. */
  fairShares(asked: SharingCase): Promise<Readonly<Record<string, number>>>;
  stop(): Promise<void>;
}

const answer = z.record(z.string(), z.looseObject({ gpu: z.number() }));

export async function startFairshareSimulator(): Promise<FairshareSimulator> {
  const assets = await installed("install-kai.sh");
  const folder = await mkdtemp(join(tmpdir(), "fairlead-fairshare-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/simulate`;
  const program = new Program(folder, join(assets, "fairshare-simulator"), [`-port=${port}`]);
  const ask = async (body: object): Promise<Response> =>
    await fetch(url, { method: "POST", body: JSON.stringify(body) });
  const stop = async (): Promise<void> => {
    await program.kill();
    await rm(folder, { recursive: true, force: true });
  };
  program.start();
  try {
    await program.ready(async () => (await ask({ totalResource: {}, queues: [] })).status);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    fairShares: async ({ gpus, queues }) => {
      const response = await ask({
        totalResource: { GPU: gpus, CPU: 0, Memory: 0 },
        queues: queues.map(({ name, priority, quota, limit, overQuotaWeight, requested }, index) => ({
          uid: name,
          name,
          priority,
          creationTimestamp: new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString(), // the older one wins a tie
          resourceShare: { gpu: { deserved: quota, maxAllowed: limit, overQuotaWeight, request: requested } },
        })),
      });
      const shares = answer.parse(await response.json());
      return Object.fromEntries(Object.entries(shares).map(([name, { gpu }]) => [name, gpu]));
    },
    stop,
  };
}

/** Questions of every kind, the same at each call: few and many queues, scarce and ample GPUs, priorities, caps, no weight. */
export function sharingCases(count: number): readonly SharingCase[] {
  let state = 20_260;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * limit);
  };
  const pick = (...values: readonly number[]): number => values[below(values.length)] ?? 0;
  return Array.from({ length: count }, () => ({
    gpus: pick(8, 24, 64, 100, 256),
    queues: Array.from({ length: 2 + below(6) }, (_, index) => {
      const quota = pick(0, 0, 2, 4, 8, 16, 30);
      return {
        name: `queue-${index}`,
        priority: pick(100, 100, 100, 200, 50),
        quota,
        limit: pick(-1, -1, -1, quota, quota + 3),
        overQuotaWeight: pick(0, 1, 1, 2, 3),
        requested: pick(0, 1, 3, 7.5, 8, 20, 100, 300),
      };
    }),
  }));
}
