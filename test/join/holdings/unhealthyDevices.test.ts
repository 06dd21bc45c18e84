import { describe, expect, it } from "vitest";
import type { AllocatedDevice, ClusterState } from "../../../exporter/model/cluster.ts";
import {
  allocated,
  claim,
  claimingPod,
  gpuNode,
  gpuPod,
  instance,
  node,
  page,
  reading,
  slice,
  sliceGpu,
  sliceMig,
} from "../clusterBuilder.ts";
import { snapshotOf } from "../outcomes.ts";

const driver = "gpu.nvidia.com";
const slices = [
  slice("n", [sliceGpu("gpu-0", "GPU-0"), sliceGpu("gpu-1", "GPU-1")]),
  slice("m", [sliceGpu("gpu-0", "GPU-m0"), sliceGpu("gpu-1", "GPU-m1")]),
];
/** The name that NVIDIA's driver gives a device of claim c. */
const cdi = (device: string, uid = "claim-c"): string => `k8s.${driver}/claim=${uid}-${device}`;

/** UUIDs of what cannot be used, where job holds both GPUs of n by claim c and its kubelet reports these names. */
function unhealthyOf(unhealthy: readonly string[], parts: Partial<ClusterState> = {}, more: AllocatedDevice[] = []) {
  const job = claimingPod("job", "n", "c");
  const { devices } = snapshotOf({
    nodes: [node("n"), node("m")],
    resourceSlices: slices,
    resourceClaims: [claim("c", [allocated("n", "gpu-0"), allocated("n", "gpu-1"), ...more], ["job"])],
    pods: [{ ...job, gpu: { ...job.gpu, unhealthy } }],
    ...parts,
  });
  return devices.filter((one) => one.unhealthy).map(({ uuid, fault }) => `${uuid} ${fault}`);
}

describe("a claimed device that the kubelet reports as unhealthy", () => {
  it.each([
    ["by the CDI name that its driver gave it", cdi("gpu-1")],
    ["by driver, pool and device, where its driver gave it none", `${driver}/n/gpu-1`],
  ])("is that device alone, %s", (_how, id) => {
    expect(unhealthyOf([id])).toEqual(["GPU-1 pod_status"]);
  });

  it("is found in a pool whose name has slashes", () => {
    const resourceSlices = [{ ...slice("n", [sliceGpu("gpu-0", "GPU-0")]), pool: "rack/7" }];
    const resourceClaims = [claim("c", [allocated("rack/7", "gpu-0")], ["job"])];
    expect(unhealthyOf([`${driver}/rack/7/gpu-0`], { resourceSlices, resourceClaims })).toEqual(["GPU-0 pod_status"]);
  });

  it("is one MIG instance: its GPU and the other instances work on", () => {
    const gpu = sliceGpu("gpu-0", "GPU-0");
    const job = claimingPod("job", "n", "c");
    const { devices } = snapshotOf({
      nodes: [node("n")],
      resourceSlices: [
        slice("n", [
          gpu,
          sliceMig("gpu-0-mig-0", "GPU-0", "3g.40gb", "MIG-0"),
          sliceMig("gpu-0-mig-1", "GPU-0", "3g.40gb", "MIG-1"),
        ]),
      ],
      resourceClaims: [
        claim("c", [allocated("n", "gpu-0-mig-0")], ["job"]),
        claim("d", [allocated("n", "gpu-0-mig-1")], ["other"]),
      ],
      pods: [{ ...job, gpu: { ...job.gpu, unhealthy: [cdi("gpu-0-mig-0")] } }, claimingPod("other", "n", "d")],
      telemetry: [
        page("n", [instance("GPU-0", "1", "3g.40gb", 0.5, "job"), instance("GPU-0", "2", "3g.40gb", 0.5, "other")]),
      ],
    });
    expect(devices.map(({ gpuInstance, unhealthy }) => [gpuInstance, unhealthy])).toEqual([
      ["1", true],
      ["2", false],
    ]);
  });

  it("is a MIG instance of the device plugin, by its own UUID", () => {
    const rows = ["1", "2"].map((id) => ({ ...instance("GPU-0", id, "3g.40gb", 0.5), migUuid: `MIG-${id}` }));
    const job = gpuPod("job", "n", 0);
    const { devices } = snapshotOf({
      nodes: [gpuNode("n", 1)],
      pods: [{ ...job, gpu: { ...job.gpu, resources: { "nvidia.com/mig-3g.40gb": 1 }, unhealthy: ["MIG-2"] } }],
      telemetry: [page("n", rows)],
    });
    expect(devices.map(({ gpuInstance, unhealthy }) => [gpuInstance, unhealthy])).toEqual([
      ["1", false],
      ["2", true],
    ]);
  });

  it("is the only one that is missing where the node offers one less as well", () => {
    const job = claimingPod("job", "n", "c");
    const { devices } = snapshotOf({
      nodes: [gpuNode("n", 2, { allocatable: { "nvidia.com/gpu": 1 } })],
      resourceSlices: [slice("n", [sliceGpu("gpu-0", "GPU-0"), sliceGpu("gpu-1", "GPU-1")])],
      resourceClaims: [claim("c", [allocated("n", "gpu-0"), allocated("n", "gpu-1")], ["job"])],
      pods: [{ ...job, gpu: { ...job.gpu, unhealthy: [cdi("gpu-1")] } }],
      telemetry: [page("n", [reading("GPU-0", 0.5), reading("GPU-1", 0.5)])],
    });
    expect(devices.filter((one) => one.unhealthy).map(({ uuid }) => uuid)).toEqual(["GPU-1"]);
  });
});

describe("every GPU stays usable", () => {
  it.each<readonly [why: string, ids: readonly string[], parts: Partial<ClusterState>]>([
    ["nothing is reported", [], {}],
    ["the name is of another claim", [cdi("gpu-1", "claim-d")], {}],
    ["the name is of another node's pool", [`${driver}/m/gpu-1`], {}],
    ["the name is of another driver, whose device is called alike", ["k8s.nic.example.com/claim=claim-c-gpu-1"], {}],
    ["the name only ends like the driver's", [`k8s.evil${driver}/claim=claim-c-gpu-1`], {}],
    ["the device is not of the claim", [cdi("gpu-7")], {}],
    [
      "the claim is another pod's",
      [cdi("gpu-1")],
      { resourceClaims: [claim("c", [allocated("n", "gpu-0"), allocated("n", "gpu-1")], ["other"])] },
    ],
    ["the pod has ended", [cdi("gpu-1")], { pods: [{ ...claimingPod("job", "n", "c"), phase: "Succeeded" }] }],
  ])("%s", (_why, ids, parts) => {
    expect(unhealthyOf(ids, parts)).toEqual([]);
  });

  it("where what is unhealthy of the claim is no GPU", () => {
    const nic = allocated("n", "nic-0", { driver: "nic.example.com" });
    expect(unhealthyOf(["nic.example.com/n/nic-0", "k8s.nic.example.com/nic=claim-c-nic-0"], {}, [nic])).toEqual([]);
  });
});
