import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { z } from "zod";
import { entitledIn } from "./workedTree.ts";

/** What KAI's own code answered (test/captured/SOURCES.md). */
function captured(file: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../captured/queues/kai-0.12/${file}`, import.meta.url), "utf8"));
}

/** Amounts of -1 are without limit. */
const queueFields = { quota: z.number(), limit: z.number(), priority: z.number() };

const divisions = z
  .array(
    z.object({
      total: z.number(),
      kValue: z.number(),
      queues: z.array(
        z.object({
          ...queueFields,
          weight: z.number(),
          request: z.number(),
          /** Over the window, as a part of the capacity. */
          usage: z.number(),
          fairShare: z.number(),
        }),
      ),
    }),
  )
  .parse(captured("resourceDivision.json"));

const simulations = z
  .array(
    z.object({
      gpus: z.number(),
      queues: z.array(
        z.object({ ...queueFields, name: z.string(), overQuotaWeight: z.number(), requested: z.number() }),
      ),
      fairShares: z.record(z.string(), z.number()),
    }),
  )
  .parse(captured("fairshareSimulator.json"));

it.each(divisions.map((given, i) => ({ ...given, name: `case ${i + 1}, k = ${given.kValue}` })))(
  "gives what KAI gives, with and without a history of use: $name",
  ({ total, kValue, queues }) => {
    const entitled = entitledIn(
      total,
      queues.map(({ quota, limit, weight, priority, request, usage }, i) => ({
        name: `q${i}`,
        quota,
        weight,
        priority,
        usage,
        demand: request,
        ...(limit < 0 ? {} : { limit }),
      })),
      kValue,
    );
    for (const [i, { fairShare }] of queues.entries()) expect(entitled[`q${i}`]).toBeCloseTo(fairShare, 3);
  },
);

/** Quotas together above the GPUs: KAI gives each its quota, we scale them, so that these are left out. */
const fitting = simulations.filter(({ gpus, queues }) => {
  const sure = queues.map(({ quota, limit, requested }) =>
    Math.min(quota < 0 ? gpus : quota, limit < 0 ? gpus : limit, requested),
  );
  return sure.reduce((a, b) => a + b, 0) <= gpus;
});

it.each(fitting.map((given, i) => ({ ...given, name: `case ${i + 1}` })))(
  "is at most the one GPU of KAI's integer rounding away from its fair-share simulator: $name",
  ({ gpus, queues, fairShares }) => {
    const entitled = entitledIn(
      gpus,
      queues.map(({ name, quota, limit, overQuotaWeight, priority, requested }) => ({
        name,
        quota: quota < 0 ? gpus : quota,
        weight: overQuotaWeight,
        priority,
        demand: requested,
        ...(limit < 0 ? {} : { limit }),
      })),
    );
    for (const [name, amount] of Object.entries(fairShares))
      expect(Math.abs((entitled[name] ?? Number.NaN) - amount)).toBeLessThanOrEqual(1);
  },
);

it("sees enough of the simulator's cases", () => {
  expect(fitting.length).toBeGreaterThan(90);
});
