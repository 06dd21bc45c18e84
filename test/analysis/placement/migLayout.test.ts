import { describe, expect, it } from "vitest";
import { protobufCursor } from "../../../exporter/kernel/protobuf.ts";
import type { ResourceSlice } from "../../../exporter/model/cluster.ts";
import { decodeResourceSlice } from "../../../exporter/sources/kubernetes/decodeDevices.ts";
import { readByShape } from "../../../exporter/sources/kubernetes/protobuf/protobufWire.ts";
import { resourceSliceShape, resourceSliceV1beta1Shape } from "../../../exporter/sources/kubernetes/protobuf/shapes.ts";
import { allocated, claim, claimingPod, node } from "../../join/clusterBuilder.ts";
import { snapshotOf } from "../../join/outcomes.ts";
import { onlyPool } from "./placementBuilder.ts";

/** A MIG device as NVIDIA's DRA driver publishes it. */
interface Published {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly capacity: Readonly<Record<string, string>>;
  /** What it draws from the set of its GPU; `null`: it exists, and draws from none. */
  readonly counters: Readonly<Record<string, string>> | null;
}

const physicalGpu = "GPU-18d3a6b1-6e0a-4a52-b6a1-d0e4f1f6f3a2";
const ofProfile = { multiprocessors: "16", memory: "9856Mi" };

const small = (slot: number): Published => ({
  name: `gpu-0-mig-1g10gb-19-${slot}`,
  attributes: { type: "mig", parentUUID: physicalGpu, profile: "1g.10gb", productName: "NVIDIA H100 80GB HBM3" },
  capacity: ofProfile,
  counters: null,
});

/** An instance that exists: static MIG. */
const existing = (slot: number): Published => ({
  ...small(slot),
  attributes: { ...small(slot).attributes, uuid: `MIG-5f0a3e52-8a0c-5c1f-9d3b-00000000000${slot}` },
  capacity: { ...ofProfile, [`memorySlice${slot}`]: "1" },
});

/** One that the GPU may be cut into: dynamic MIG, with partitionable devices. */
const possible = (slot: number): Published => ({
  ...small(slot),
  counters: { ...ofProfile, [`memory-slice-${slot}`]: "1" },
});

const values = (amounts: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(amounts).map(([name, value]) => [name, { value }]));

function json(devices: readonly Published[], isBeta: boolean): unknown {
  return {
    metadata: { name: "n-gpu.nvidia.com-x7k2p", uid: "u" },
    spec: {
      driver: "gpu.nvidia.com",
      nodeName: "n",
      pool: { name: "n", generation: 1, resourceSliceCount: 1 },
      devices: devices.map(({ name, attributes, capacity, counters }) => {
        const body = {
          attributes: Object.fromEntries(Object.entries(attributes).map(([key, string]) => [key, { string }])),
          capacity: values(capacity),
          ...(counters === null
            ? {}
            : { consumesCounters: [{ counterSet: "gpu-0-counter-set", counters: values(counters) }] }),
        };
        return isBeta ? { name, basic: body } : { name, ...body };
      }),
    },
  };
}

/** A field with a length, by its number in `generated.proto`. */
function field(number: number, ...content: readonly (string | Buffer)[]): Buffer {
  const bytes = Buffer.concat(content.map((part) => Buffer.from(part)));
  const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7];
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), bytes]);
}

const entries = (
  number: number,
  of: Readonly<Record<string, string>>,
  valueField: number,
  wrapped: boolean,
): Buffer[] =>
  Object.entries(of).map(([key, value]) =>
    field(number, field(1, key), field(2, field(valueField, wrapped ? field(1, value) : value))),
  );

function protobuf(devices: readonly Published[], isBeta: boolean): Buffer {
  const deviceBytes = devices.map(({ name, attributes, capacity, counters }) => {
    const [attributesAt, capacityAt, countersAt] = isBeta ? [1, 2, 3] : [2, 3, 4];
    const body = [
      ...entries(attributesAt, attributes, 4, false),
      ...entries(capacityAt, capacity, 1, true),
      ...(counters === null
        ? []
        : [field(countersAt, field(1, "gpu-0-counter-set"), ...entries(2, counters, 1, true))]),
    ];
    return field(6, field(1, name), ...(isBeta ? [field(2, ...body)] : body));
  });
  const pool = field(2, field(1, "n"), Buffer.from([0x10, 1, 0x18, 1]));
  return Buffer.concat([
    field(1, field(1, "n-gpu.nvidia.com-x7k2p"), field(5, "u")),
    field(2, field(1, "gpu.nvidia.com"), pool, field(3, "n"), ...deviceBytes),
  ]);
}

function read(devices: readonly Published[], format: string, isBeta: boolean): ResourceSlice {
  const bytes = protobuf(devices, isBeta);
  const shape = isBeta ? resourceSliceV1beta1Shape : resourceSliceShape;
  const decoded =
    format === "json"
      ? decodeResourceSlice(json(devices, isBeta))
      : readByShape(shape, decodeResourceSlice)(protobufCursor(bytes), bytes.length).decoded;
  if (!decoded.ok) throw new Error(decoded.problem.message);
  return decoded.value;
}

const ways = ["json", "protobuf"].flatMap((format) => [false, true].map((isBeta) => [format, isBeta] as const));

describe.each(ways)("MIG devices of a ResourceSlice in %s (v1beta1: %s)", (format, isBeta) => {
  it.each([
    ["exist", existing],
    ["may exist", possible],
  ])("that %s say where they lie, and fragmentation follows", (_, published) => {
    const slice = read([0, 1, 5].map(published), format, isBeta);
    expect(slice.devices.map(({ memorySlices }) => memorySlices)).toEqual([[0], [1], [5]]);
    const snapshot = snapshotOf({
      nodes: [node("n")],
      resourceSlices: [slice],
      resourceClaims: [1, 5].map((slot) =>
        claim(`c${slot}`, [allocated("n", `gpu-0-mig-1g10gb-19-${slot}`)], [`p${slot}`]),
      ),
      pods: [1, 5].map((slot) => claimingPod(`p${slot}`, "n", `c${slot}`)),
    });
    expect(onlyPool(snapshot).migFragmentation).toEqual([
      { profile: "1g.10gb", physicalGpus: 1, ratio: 0 },
      { profile: "1g.20gb", physicalGpus: 1, ratio: 0 },
      { profile: "2g.20gb", physicalGpus: 1, ratio: 0 },
      { profile: "3g.40gb", physicalGpus: 1, ratio: 1 },
      { profile: "4g.40gb", physicalGpus: 1, ratio: 1 },
    ]);
  });

  it("take several slices, and none with an amount of 0 or a number that no GPU has", () => {
    const large = {
      ...existing(0),
      capacity: { memorySlice7: "1", memorySlice6: "1", memorySlice5: "0", memorySlice99: "1" },
    };
    expect(read([large], format, isBeta).devices[0]?.memorySlices).toEqual([6, 7]);
  });
});

describe("a ResourceSlice", () => {
  it("with a memory slice that is no quantity is malformed", () => {
    const devices = [{ ...possible(0), counters: { "memory-slice-0": "one" } }];
    const decoded = decodeResourceSlice(json(devices, false));
    expect(decoded).toMatchObject({ ok: false });
  });
});
