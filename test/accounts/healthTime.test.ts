import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createAccounting } from "../../exporter/accounts/accounting.ts";
import { accrue } from "../../exporter/accounts/accrue.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import type { Device } from "../../exporter/join/snapshot.ts";
import { degradedCauses, unavailableCauses } from "../../exporter/model/gpuFaults.ts";
import { device, holding, moment, nodeView, podView } from "../analysis/momentBuilder.ts";
import { bareReading, now } from "../join/clusterBuilder.ts";
import { analysed } from "../join/outcomes.ts";

const hour = Math.floor(now / 3600) * 3600;
const from = hour + 600;
const time = (seconds: number) => ({ from, to: from + seconds, seconds, intervalSeconds: 30 });

const ecc = (parts: Partial<Device> = {}): Device =>
  device({ unhealthy: true, reading: bareReading("GPU-0", { lastXid: 94 }), ...parts });

const analysis = (devices: readonly Device[]): Analysis =>
  analysed(
    moment({
      nodes: [nodeView({ physicalGpus: devices.length, devices: devices.map((_, i) => i) })],
      devices,
      pods: [podView()],
    }),
  );

describe("GPU time by cause", () => {
  it("has the team that was hit, and goes on for as long as the objects say so, although the error came once", () => {
    const one = analysis([ecc({ holders: [holding()] }), ecc({ uuid: "GPU-1" })]);
    const { healthTimes } = accrue(one, one, time(30));
    expect(healthTimes.map(({ team, cause, gpuSeconds, cost }) => [team, cause, gpuSeconds, cost])).toEqual([
      ["vision", "ecc", 30, null],
      [null, "ecc", 30, null],
    ]);
  });

  it("ends with the repair, although the error is still on the page", () => {
    const after = analysis([ecc({ unhealthy: false })]);
    expect(accrue(after, after, time(30)).healthTimes).toEqual([]);
  });

  it("is cut at the hour, and has nothing of a gap", () => {
    const one = analysis([ecc()]);
    const late = { from: hour + 3590, to: hour + 3620, seconds: 30, intervalSeconds: 30 };
    expect(accrue(one, one, late).healthTimes.map(({ hour: at, gpuSeconds }) => [at - hour, gpuSeconds])).toEqual([
      [0, 10],
      [3600, 20],
    ]);
    expect(accrue(one, one, time(3000)).healthTimes).toEqual([]);
  });

  it("is published from 0 on, in the cycle in which it is first seen", () => {
    const accounting = createAccounting({ intervalSeconds: 30, limits: { teams: 100, series: 10_000 } });
    const sick = analysis([ecc({ holders: [holding()] })]);
    const values = () =>
      accounting.counters().healthSeconds.map(({ labels, value }) => [labels.cause, labels.team, value]);
    accounting.account(sick, { wall: from, monotonic: 0 });
    expect(values()).toEqual([["ecc", "vision", 0]]);
    accounting.account(sick, { wall: from + 30, monotonic: 30 });
    expect(values()).toEqual([["ecc", "vision", 30]]);
  });

  it("adds up to the state unavailable, whatever is wrong with which devices", () => {
    const reading = fc.record({
      lastXid: fc.constantFrom(null, 0, 13, 31, 63, 79, 94, 109, 154, 7777),
      clockEventReasons: fc.constantFrom(null, 0, 4, 8, 32, 128),
      rowRemapPending: fc.constantFrom(null, 0, 1),
      dcgmHealth: fc.constantFrom(null, 0, 10, 20),
    });
    const arbitraryDevice = fc.record({
      unhealthy: fc.boolean(),
      fault: fc.constantFrom(null, "taint" as const, "pod_status" as const, "driver" as const),
      reading: fc.option(reading),
      isHeld: fc.boolean(),
      weight: fc.constantFrom(0.25, 0.5, 1),
    });
    fc.assert(
      fc.property(fc.array(arbitraryDevice, { minLength: 1, maxLength: 6 }), fc.boolean(), (made, isReady) => {
        const devices = made.map(({ unhealthy, fault, reading: values, isHeld, weight }, i) =>
          device({
            uuid: `GPU-${i}`,
            unhealthy,
            fault: unhealthy ? fault : null,
            weight,
            reading: values === null ? null : bareReading(`GPU-${i}`, { gpuUtil: 0.5, ...values }),
            holders: isHeld ? [holding({ share: weight })] : [],
          }),
        );
        const state = analysed(
          moment({
            nodes: [
              nodeView({
                physicalGpus: made.length,
                devices: devices.map((_, i) => i),
                ready: isReady,
                notReadySince: isReady ? null : now - 600,
              }),
            ],
            devices,
            pods: [podView()],
          }),
        );
        const { postings, healthTimes } = accrue(state, state, time(30));
        const lost = postings.filter(({ account }) => account.state === "unavailable");
        const sum = (of: readonly { readonly gpuSeconds: number }[]) =>
          of.reduce((s, { gpuSeconds }) => s + gpuSeconds, 0);
        const isOf = (causes: readonly string[]) => healthTimes.filter(({ cause }) => causes.includes(cause));
        expect(sum(isOf(unavailableCauses))).toBeCloseTo(sum(lost), 9);
        const worked = postings.filter(({ account }) => ["active", "underutilized"].includes(account.state));
        expect(sum(isOf(degradedCauses))).toBeLessThanOrEqual(sum(worked) + 1e-9);
      }),
      { numRuns: 200 },
    );
  });
});
