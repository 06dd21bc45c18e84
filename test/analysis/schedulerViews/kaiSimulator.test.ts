import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { z } from "zod";
import { kaiFairShares } from "../../../exporter/analysis/schedulerViews/kaiFairShare.ts";

const captured = new URL("../../captured/queues/kai-0.12/fairshareSimulator.json", import.meta.url);
const cases = z
  .array(
    z.object({
      gpus: z.number(),
      queues: z.array(
        z.object({
          name: z.string(),
          priority: z.number(),
          quota: z.number(),
          limit: z.number(),
          overQuotaWeight: z.number(),
          requested: z.number(),
        }),
      ),
      fairShares: z.record(z.string(), z.number()),
    }),
  )
  .parse(JSON.parse(readFileSync(captured, "utf8")));

const unlimited = (gpus: number): number => (gpus < 0 ? Number.POSITIVE_INFINITY : gpus);

it("computes the fair shares that KAI's own simulator answers", () => {
  expect(cases.length).toBeGreaterThan(100);
  for (const { gpus, queues, fairShares } of cases) {
    const shares = kaiFairShares(
      queues.map((queue, index) => ({
        ...queue,
        createdAt: 60 * index, // as the simulator was given
        quota: unlimited(queue.quota),
        limit: unlimited(queue.limit),
        usage: 0,
      })),
      gpus,
      0,
    );
    for (const [name, expected] of Object.entries(fairShares)) {
      expect(shares.get(name), `${name} of ${JSON.stringify(queues)}`).toBeCloseTo(expected, 9);
    }
  }
});
