import { expect, it } from "vitest";
import { systemClock } from "../../../exporter/sources/kubernetes/clock.ts";

it("is idle while it waits, and not while it computes", async () => {
  const { monotonic, idle } = systemClock;
  const before = { monotonic: monotonic(), idle: idle() };
  while (monotonic() - before.monotonic < 0.05);
  expect(idle()).toBe(before.idle);
  await new Promise((resolve) => systemClock.schedule(0.05, () => resolve(undefined)));
  expect(idle()).toBeGreaterThan(before.idle);
});
