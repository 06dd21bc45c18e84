import { describe, expect, it } from "vitest";
import { isRecord } from "../../../../exporter/kernel/parseJson.ts";
import { captured, contentTypes, formats } from "../wireSubjects.ts";
import { field, readPod } from "./podBytes.ts";

/** Each captured pod as protobuf gives it, by name. */
function capturedPods(): ReadonlyMap<string, Readonly<Record<string, unknown>>> {
  const json: unknown = JSON.parse(captured("pods", "json").toString("utf8"));
  const items: readonly unknown[] = isRecord(json) && Array.isArray(json.items) ? json.items : [];
  const nameOf = new Map(
    items.map((item) => {
      const metadata = isRecord(item) && isRecord(item.metadata) ? item.metadata : {};
      return [String(metadata.uid), String(metadata.name)] as const;
    }),
  );
  const page = formats.pods.protobuf.formatOf(contentTypes.protobuf).page(captured("pods", "protobuf"));
  if (!page.ok) throw new Error(page.message);
  return new Map(
    page.objects.map(({ uid, decoded }) => {
      if (!decoded.ok || !isRecord(decoded.value)) throw new Error(uid);
      return [nameOf.get(uid) ?? "", decoded.value] as const;
    }),
  );
}

describe("a captured pod in protobuf", () => {
  const pods = capturedPods();

  it.each([
    "train-000000",
    "gated",
    "gpu-in-init",
    "never-started",
    "fraction",
    "chosen-nodes",
    "named-node",
    "disks",
    "no-disks",
    "apart",
    "claims-of-volumes",
    "gpu-reservation",
    "claims",
    "claimed-and-disk",
    "spread",
    "host-ports",
    "own-volumes",
  ])("with GPUs has its record: %s", (name) => {
    expect(pods.get(name)?.gpuPod).toMatchObject({ name });
  });

  it.each([
    "plain-000000",
    "init-and-sidecar",
    "best-effort",
    "odd-quantities",
    "nvidia-device-plugin-abcde",
    "apart-without-gpus",
    "host-ports-without-gpus",
    "nvidia-dcgm-exporter-abcde",
    "pod-level",
    "with-overhead",
  ])("without GPUs has its row alone: %s", (name) => {
    expect(pods.get(name)).toMatchObject({ pod: { namespace: expect.any(String) }, gpuPod: null, preemption: null });
  });

  it.each([
    ["disks", true],
    ["no-disks", false],
    ["train-000000", false],
    ["claimed-and-disk", true],
    ["claims", false],
  ])("has something on its node: %s %s", (name, hasLocalStorage) => {
    expect(pods.get(name)).toMatchObject({ gpuPod: { hasLocalStorage } });
  });
});

/** A condition whose length goes beyond its end. */
const broken = Buffer.from([(2 << 3) | 2, 2, 0x0a, 0x7f]);

function podBytes(namespace: string, resource: string): Buffer {
  const limits = field(1, field(1, resource), field(2, field(1, "2")));
  return Buffer.concat([
    field(3, field(1, "Running"), broken),
    field(2, field(2, field(1, "c"), field(8, limits)), field(10, "n")),
    field(1, field(1, "p"), field(3, namespace), field(5, "uid-p"), field(11, field(1, "app"), field(2, "x"))),
  ]);
}

describe("what only pods with GPUs and exporters are asked for", () => {
  it("is passed over in other pods", () => {
    expect(readPod(podBytes("ns", "cpu"))).toEqual({
      pod: {
        uid: "uid-p",
        namespace: "ns",
        nodeName: "n",
        phase: "Running",
        cpuMilli: 2000,
        memoryBytes: 0,
        labels: '["app","x"]',
        placement: null,
      },
      gpuPod: null,
      exporterPod: null,
      plainMember: null,
      preemption: null,
    });
  });

  it.each([
    ["with GPUs", "ns", "nvidia.com/gpu"],
    ["with what configuration calls GPUs", "ns", "example.com/gpu"],
    ["where exporters are", "gpu-operator", "cpu"],
    ["that reserve GPUs", "kai-resource-reservation", "cpu"],
  ])("is read of pods %s", (_, namespace, resource) => {
    expect(readPod(podBytes(namespace, resource))).toBeNull();
  });
});

it("the group of a pod without GPUs is read where it is bound and has not failed", () => {
  const memberOf = (spec: readonly Buffer[], phase = "Running") =>
    readPod(
      Buffer.concat([
        field(1, field(1, "p"), field(3, "ns"), field(5, "uid-p")),
        field(2, field(2, field(1, "c")), ...spec),
        field(3, field(1, phase)),
      ]),
    )?.plainMember;
  const [bound, group] = [field(10, "n"), field(43, field(1, "g"))];
  const member = { namespace: "ns", group: { workload: null, name: "g", replica: "" } };
  expect(memberOf([bound, group])).toEqual(member);
  expect(memberOf([bound, group], "Succeeded")).toEqual(member);
  expect(memberOf([bound, group], "Failed")).toBeNull();
  expect(memberOf([group], "Pending")).toBeNull();
  expect(memberOf([bound])).toBeNull();
});

describe("the group of a pod", () => {
  const limits = field(1, field(1, "nvidia.com/gpu"), field(2, field(1, "1")));
  const podOf = (...group: readonly Buffer[]) =>
    readPod(
      Buffer.concat([
        field(1, field(1, "p"), field(3, "ns"), field(5, "uid-p")),
        field(2, field(2, field(1, "c"), field(8, limits)), ...group),
      ]),
    )?.gpuPod;

  it("is read from the field of each version", () => {
    expect(podOf(field(43, field(1, "g")))?.schedulingGroup).toEqual({ workload: null, name: "g", replica: "" });
    const old = field(42, field(1, "w"), field(2, "g"), field(3, "r"));
    expect(podOf(old)?.schedulingGroup).toEqual({ workload: "w", name: "g", replica: "r" });
    expect(podOf()).not.toHaveProperty("schedulingGroup");
  });
});
