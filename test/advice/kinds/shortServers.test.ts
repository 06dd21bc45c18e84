import { describe, expect, test } from "vitest";
import { shortServers } from "../../../exporter/advice/kinds/shortServers.ts";
import type { ServerLatency } from "../../../exporter/analysis/serving/serverLatency.ts";
import { configSchema } from "../../../exporter/config/schema.ts";
import { servingMoment, shortServer } from "../../publish/servingMoment.ts";

const own = (pool: string, gpus: number) => ({ byPool: new Map([[pool, gpus]]) });
const { limit: _, ...unlimited } = shortServer;
const free: ServerLatency = { ...unlimited, limit: null };
const [pool = ""] = servingMoment.snapshot.devices.map((device) => device.pool);

const named = (latencies: readonly ServerLatency[], gpus = 4, of = pool) => {
  const analysis = { ...servingMoment, latencies };
  const moment = {
    analysis,
    settings: configSchema.parse({}).advice,
    usage: { workloads: new Map(), queues: new Map() },
  };
  return shortServers(moment, own(of, gpus)).map(({ value }) => value);
};

describe("who that serves would gain from idle GPUs", () => {
  test("is a workload over its target while requests wait, with what one replica takes", () => {
    expect(named([free])).toEqual([
      expect.stringMatching(
        /^\S+ \S+ of team ads: over its latency target, 12 requests wait, one replica more takes 4 GPUs$/,
      ),
    ]);
  });

  test.each([
    ["that is not short", { ...free, isShort: false }, 4, pool],
    ["whose autoscaler allows no more", shortServer, 4, pool],
    ["whose replica does not fit", free, 3, pool],
    ["that runs in another pool", free, 4, "another"],
    ["of whose replicas nobody knows the size", { ...free, gpusPerReplica: null }, 400, pool],
  ])("is none %s", (_what, one, gpus, of) => {
    expect(named([one], gpus, of)).toEqual([]);
  });

  test("are at most two, the most waiting requests first", () => {
    const waiting = [3, 9, 7].map((count) => ({ ...free, waiting: count }));
    expect(named(waiting).map((value) => /(\d+) requests/.exec(value)?.[1])).toEqual(["9", "7"]);
  });
});
