import type { Demand } from "../../review/document/use.ts";

const secondsPerHour = 3600;
const begin = Date.UTC(2026, 10, 9);

/** A week of hours with days and nights, waits at noon, and a gap on the third day. */
function domain(name: string, capacity: number, guaranteed: number, base: number, swing: number): Demand {
  const steps = Array.from({ length: 168 }, (_none, hour) => {
    const at = new Date(begin + hour * secondsPerHour * 1000).toISOString();
    if (hour >= 61 && hour < 66)
      return { at, capacity: null, guaranteed: null, allocated: null, active: null, pending: null };
    const wave = Math.max(0, Math.sin(((hour % 24) - 6) / 3.9));
    const asked = base + swing * wave * (hour > 119 ? 0.4 : 1) + (hour % 5);
    const has = capacity - (hour > 100 && hour < 125 ? capacity / 12 : 0);
    const allocated = Math.min(asked, has - 2);
    return {
      at,
      capacity: has,
      guaranteed,
      allocated,
      active: allocated * (0.62 + 0.1 * wave),
      pending: asked - allocated,
    };
  });
  return {
    cluster: "harbor",
    domain: name,
    pools: [name],
    stepSeconds: secondsPerHour,
    steps,
    p95DemandGpus: base + swing * 0.96,
    meanCapacityGpus: capacity * 0.985,
    oneMoreNode: {
      gpus: 8,
      p95Seconds: 5 * 3600,
      lowSeconds: 2 * 3600,
      highSeconds: 4 * 3600,
      costsPerMonth: { USD: 40_150 },
      reason: null,
    },
  };
}

export const sampleDemand: Demand[] = [
  domain("H100", 96, 88, 66, 38),
  domain("A100", 64, 56, 34, 16),
  { ...domain("L4", 16, 8, 5, 7), pools: ["L4"], p95DemandGpus: null, oneMoreNode: null },
];
