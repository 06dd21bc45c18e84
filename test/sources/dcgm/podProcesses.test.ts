import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readPodProcesses, withPodProcesses } from "../../../exporter/sources/dcgm/podProcesses.ts";
import { instance, page, reading } from "../../join/clusterBuilder.ts";

const read = (...lines: string[]) => readPodProcesses(Buffer.from(`${lines.join("\n")}\n`));
const kai = (pod: string, value: string, uuid = "GPU-1") =>
  `gpu_fractioning_gpu_sm_utilization_percent{gpu="0",gpu_uuid="${uuid}",namespace="ml",pod="${pod}",pod_uuid="uid-${pod}"} ${value}`;
const hami = (pod: string, container: string, value: string) =>
  `hami_container_device_utilization_ratio{container="${container}",device_uuid="GPU-1",namespace="ml",pod="${pod}",vdevice_index="0",zone="vGPU"} ${value}`;
const old = (pod: string, value: string) =>
  `Device_utilization_desc_of_container{ctrname="c",deviceuuid="GPU-1",podname="${pod}",podnamespace="ml",vdeviceid="0"} ${value}`;

describe("utilization of a GPU by pod", () => {
  it("of KAI's metricsd is part of the whole GPU, not of the pod's share", () => {
    const lines = [
      "# TYPE gpu_fractioning_gpu_sm_utilization_percent gauge",
      kai("a", "40"),
      kai("b", "0"),
      `gpu_fractioning_gpu_sm_utilization_percent_normalized{gpu_uuid="GPU-1",namespace="ml",pod="a",pod_uuid="uid-a"} 100`,
      `gpu_fractioning_gpu_memory_used_bytes{gpu_uuid="GPU-1",namespace="ml",pod="a",pod_uuid="uid-a"} 4096`,
    ];
    expect(read(...lines)).toEqual([
      { uuid: "GPU-1", namespace: "ml", pod: "a", podUid: "uid-a", util: 0.4 },
      { uuid: "GPU-1", namespace: "ml", pod: "b", podUid: "uid-b", util: 0 },
    ]);
  });

  it("of HAMi adds up over containers, and is read once where it is written under two names", () => {
    expect(read(old("a", "35"), hami("a", "x", "20"), hami("a", "y", "15"))).toEqual([
      { uuid: "GPU-1", namespace: "ml", pod: "a", podUid: null, util: 0.35 },
    ]);
    expect(read(old("a", "7"))).toMatchObject([{ pod: "a", util: 0.07 }]);
  });

  it.each(["NaN", "-1", "4294967295", "101"])("that cannot be real (%s) is unknown, not 0", (value) => {
    expect(read(kai("a", value), kai("b", "1"))).toMatchObject([{ pod: "b" }]);
  });

  it("is not there on a page of something else, nor without the UUID of a GPU", () => {
    expect(read('DCGM_FI_DEV_GPU_UTIL{UUID="GPU-1",pod="a"} 5')).toBeNull();
    expect(read("")).toBeNull();
    expect(read(kai("a", "5", ""))).toEqual([]);
  });

  it("never throws", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        readPodProcesses(Buffer.concat([Buffer.from(kai("a", "1")), Buffer.from(bytes)]));
      }),
      { numRuns: 200, seed: 20_261_128 },
    );
  });
});

describe("pages with utilization by pod", () => {
  const pages = [
    page("n", [reading("GPU-1", 0.5), instance("GPU-2", "1", "1g.10gb", 0.5)]),
    page("m", [reading("GPU-1", 0)]),
  ];
  const pods = read(kai("a", "40"), kai("b", "10", "GPU-2")) ?? [];

  it("have it on whole GPUs of the node that it is from, and nowhere else", () => {
    const [n, m] = withPodProcesses(pages, [{ node: "n", pods }]);
    expect(n?.devices[0]?.podProcesses).toMatchObject([{ pod: "a", util: 0.4 }]);
    expect(n?.devices[1]?.podProcesses).toBeUndefined();
    expect(m).toBe(pages[1]);
  });

  it("stay the same objects without any", () => {
    expect(withPodProcesses(pages, [])).toBe(pages);
    expect(withPodProcesses(pages, [{ node: "x", pods }])).toEqual(pages);
  });
});
