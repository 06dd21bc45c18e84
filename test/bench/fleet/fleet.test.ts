import { describe, expect, test } from "vitest";
import { createTemplates, encodeList, objectBytes, podValues } from "../../../bench/fleet/encodings.ts";
import { changeOf, gpusPerNode, nodeAddress, nodeOfAddress, podAt, podsPerNode } from "../../../bench/fleet/layout.ts";
import { createPage } from "../../../bench/fleet/pages.ts";
import { growthExponent, quantile } from "../../../bench/measure.ts";
import { decodePod } from "../../../exporter/sources/kubernetes/decodePod.ts";
import { wireFormats } from "../../../exporter/sources/kubernetes/protobuf/kinds.ts";

const nodes = 24;
const pods = Array.from({ length: nodes * podsPerNode }, (_, index) => podAt(index, index % 3));

describe("the benchmark's fleet", () => {
  test("says the same in JSON and in protobuf", () => {
    const [json, protobuf] = [createTemplates("json"), createTemplates("protobuf")];
    const items = pods.map((pod) => objectBytes(protobuf.pods[pod.kind], podValues(pod, "1000000001")));
    const head = { kind: "PodList", apiVersion: "v1", version: "1000000001", next: "" };
    const projection = { gpuResources: new Set<string>(), exporters: [] };
    const format = wireFormats(projection).pods.formatOf("application/vnd.kubernetes.protobuf");
    const page = format.page(encodeList("protobuf", head, items));
    const expected = pods.map((pod) => {
      const text = objectBytes(json.pods[pod.kind], podValues(pod, "1000000001")).toString();
      return decodePod(JSON.parse(text), projection);
    });
    expect(page.ok && page.objects.map(({ decoded }) => decoded)).toEqual(expected);
    expect(expected.every(({ ok }) => ok)).toBe(true);
  });

  test("gives each GPU to at most one pod, of the same name on the page", () => {
    for (let node = 0; node < nodes; node += 1) {
      const holders = pods.filter((pod) => pod.node === node && pod.gpus.length > 0);
      const allocated = holders.flatMap(({ gpus }) => gpus);
      expect(new Set(allocated).size).toBe(allocated.length);
      expect(allocated.every((gpu) => gpu < gpusPerNode)).toBe(true);
      const page = createPage(node, holders).bytes.toString();
      for (const { name, gpus } of holders) expect(page.split(`pod="${name}"`).length - 1).toBe(20 * gpus.length);
    }
  });

  test("changes one pod in a hundred in each cycle", () => {
    const changed = Array.from({ length: 100_000 }, (_, index) => changeOf(index, 7)).filter((one) => one !== "none");
    expect(changed.length).toBeGreaterThan(900);
    expect(changed.length).toBeLessThan(1100);
  });

  test("finds a node by its address", () => {
    for (const node of [0, 7, 99, 100, 9999, 123_456]) expect(nodeOfAddress(`::ffff:${nodeAddress(node)}`)).toBe(node);
  });
});

test("growth is the exponent of size", () => {
  const points = [1000, 2500, 5000, 10_000].map((x) => ({ x, y: 3 * x ** 1.25 }));
  expect(growthExponent(points)).toBeCloseTo(1.25, 9);
});

test("quantiles lie between samples", () => {
  expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
  expect(quantile([1], 0.99)).toBe(1);
});
