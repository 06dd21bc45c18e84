import { expect, it } from "vitest";
import { afterClockJump, emptyMemory } from "../../exporter/join/memory.ts";

it("moves what Fairlead saw itself with the clock, and leaves what the API said about its own times", () => {
  const memory = {
    ...emptyMemory,
    idleSince: new Map([["a/GPU-1", 100]]),
    activeUnallocatedAt: new Map([["a/GPU-2", 110]]),
    allocatedAt: new Map([["a/GPU-3", 120]]),
    gangSince: new Map([["gang", 130]]),
    pendingSince: new Map([["pod", 140]]),
    notReadySince: new Map([["a", 150]]),
  };
  expect(afterClockJump(memory, 7200)).toEqual({
    ...memory,
    idleSince: new Map([["a/GPU-1", 7300]]),
    activeUnallocatedAt: new Map([["a/GPU-2", 7310]]),
    allocatedAt: new Map([["a/GPU-3", 7320]]),
    gangSince: new Map([["gang", 7330]]),
  });
  expect(afterClockJump(afterClockJump(memory, -7200), 7200)).toEqual(memory);
});
