import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { sizings } from "../../bench/sizing.ts";
import { chartValues } from "../../deploy/output/helm.ts";

describe("resources by size of the cluster", () => {
  it("are the chart's defaults for the smallest cluster that was measured", () => {
    const [smallest] = sizings();
    const { resources } = z.looseObject({ resources: z.unknown() }).parse(parse(chartValues()));
    expect(resources).toEqual({ requests: smallest?.requests, limits: smallest?.limits });
  });

  it("leave a margin above what was measured, and grow with the cluster", () => {
    const mebibytes = (text: string): number => Number.parseFloat(text) * (text.endsWith("Gi") ? 1024 : 1);
    let before = 0;
    for (const { residentMiB, cores, requests, limits } of sizings()) {
      expect(mebibytes(requests.memory)).toBeGreaterThan(residentMiB);
      expect(mebibytes(limits.memory)).toBeGreaterThanOrEqual(2 * residentMiB);
      expect(Number.parseInt(requests.cpu, 10) / 1000).toBeGreaterThan(2 * cores);
      expect(residentMiB).toBeGreaterThan(before);
      before = residentMiB;
    }
  });
});
