import { describe, expect, it } from "vitest";
import type { SliceDevice } from "../../exporter/model/cluster.ts";
import type { Pod } from "../../exporter/model/pod.ts";
import type { DeviceReading } from "../../exporter/model/telemetry.ts";
import {
  allocated,
  claim,
  claimant,
  claimingPod,
  instance,
  node,
  page,
  pod,
  slice,
  sliceMig,
} from "./clusterBuilder.ts";
import { snapshotOf } from "./outcomes.ts";

/** Instances of one GPU that exist, as the driver publishes them: 1g.10gb at 1, 3 and 5, 2g.20gb at 6. */
const small = [1, 3, 5].map((slot) =>
  sliceMig(`gpu-0-mig-1g10gb-19-${slot}`, "GPU-0", "1g.10gb", `MIG-${slot}`, [slot]),
);
const existing = [...small, sliceMig("gpu-0-mig-1g20gb-15-6", "GPU-0", "1g.20gb", "MIG-6", [6, 7])];

/** What a GPU of these slice devices shows: by GPU instance, or profile without one, where each lies and who holds it. */
function laidOut(
  devices: readonly SliceDevice[],
  given: Record<string, string>,
  rows: readonly DeviceReading[] = [],
  pods: readonly Pod[] = [],
  capacity: Record<string, number> = {},
) {
  const snapshot = snapshotOf({
    nodes: [node("n", { capacity })],
    resourceSlices: [slice("n", devices)],
    resourceClaims: Object.entries(given).map(([pod, device]) => claim(`for-${pod}`, [allocated("n", device)], [pod])),
    pods: [...pods, ...Object.keys(given).map((pod) => claimingPod(pod, "n", `for-${pod}`))],
    telemetry: rows.length === 0 ? [] : [page("n", rows)],
  });
  const ofGpu = snapshot.devices.filter(({ uuid }) => uuid === "GPU-0");
  return ofGpu.map(({ gpuInstance, profile, migSlots, holders }) => [
    gpuInstance ?? profile,
    migSlots,
    holders.map(({ pod }) => snapshot.pods[pod]?.name).join("+"),
  ]);
}

const row = (id: string, profile = "1g.10gb", parts: Partial<DeviceReading> = {}): DeviceReading => ({
  ...instance("GPU-0", id, profile, 0),
  ...parts,
});

describe("where a MIG instance lies", () => {
  it("is known from the device that a claim was given, without telemetry", () => {
    expect(laidOut(existing, { a: "gpu-0-mig-1g10gb-19-5", b: "gpu-0-mig-1g20gb-15-6" })).toEqual([
      ["1g.10gb", [5], "a"],
      ["1g.20gb", [6, 7], "b"],
    ]);
  });

  it("is known of a partitionable GPU, whose instances exist while they are allocated", () => {
    const possible = [0, 1, 2].map((slot) =>
      sliceMig(`gpu-0-mig-1g10gb-19-${slot}`, "GPU-0", "1g.10gb", undefined, [slot]),
    );
    expect(laidOut(possible, { a: "gpu-0-mig-1g10gb-19-2" }, [row("7")])).toEqual([["7", [2], "a"]]);
    expect(laidOut(possible, { a: "gpu-0-mig-1g10gb-19-2", b: "gpu-0-mig-1g10gb-19-0" }, [row("7")])).toEqual([
      ["7", [2], "a"],
      ["1g.10gb", [0], "b"],
    ]);
  });

  it("is known by UUID where a row carries it, the others of the profile in any order while nobody holds them", () => {
    const rows = [row("7"), row("8", "1g.10gb", { migUuid: "MIG-3" }), row("9"), row("10", "1g.20gb")];
    expect(laidOut(existing, {}, rows)).toEqual([
      ["10", [6, 7], ""],
      ["7", [1], ""],
      ["8", [3], ""],
      ["9", [5], ""],
    ]);
  });

  it("goes with the claim, to the row that names its pod", () => {
    const named = row("9", "1g.10gb", { claimants: [claimant("a")] });
    expect(laidOut(existing, { a: "gpu-0-mig-1g10gb-19-1" }, [row("7"), row("8"), named])).toEqual([
      ["7", [5], ""],
      ["8", [3], ""],
      ["9", [1], "a"],
    ]);
  });

  it("is not known of an instance that someone holds, as telemetry alone says, if there are others of its profile", () => {
    const named = row("8", "1g.10gb", { claimants: [claimant("job")] });
    const alone = row("9", "1g.20gb", { claimants: [claimant("job")] });
    const resources = { "nvidia.com/mig-1g.10gb": 1, "nvidia.com/mig-1g.20gb": 1 };
    const job = pod("job", "n", { gpu: { resources } });
    expect(laidOut(existing, {}, [row("7"), named, alone], [job], resources)).toEqual([
      ["7", [1], ""],
      ["8", null, "job"],
      ["9", [6, 7], "job"],
    ]);
  });

  it("is not known where the driver does not say it, and of rows beyond the driver's instances", () => {
    const silent = [sliceMig("gpu-0-mig-1g10gb-19-1", "GPU-0", "1g.10gb", "MIG-1")];
    expect(laidOut(silent, { a: "gpu-0-mig-1g10gb-19-1" })).toEqual([["1g.10gb", null, "a"]]);
    expect(laidOut(small.slice(0, 1), {}, [row("7"), row("8")])).toEqual([
      ["7", [1], ""],
      ["8", null, ""],
    ]);
  });

  it("is not known of one row onto which the claims for two instances fall", () => {
    const given = { a: "gpu-0-mig-1g10gb-19-1", b: "gpu-0-mig-1g10gb-19-3" };
    const both = row("7", "1g.10gb", { claimants: [claimant("a"), claimant("b")] });
    expect(laidOut(small, given, [both, row("8"), row("9")])).toContainEqual(["7", null, "a+b"]);
  });
});
