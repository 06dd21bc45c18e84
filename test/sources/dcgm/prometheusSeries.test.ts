import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseAnswer } from "../../../exporter/sources/dcgm/prometheusAnswer.ts";
import { pagesOfRows } from "../../../exporter/sources/dcgm/prometheusPages.ts";
import { readServerRows } from "../../../exporter/sources/dcgm/prometheusRows.ts";

const vector = (...result: unknown[]): string =>
  JSON.stringify({ status: "success", data: { resultType: "vector", result } });
const series = (metric: unknown, value: unknown = [1000, "1"]): object => ({ metric, value });

function read(result: readonly unknown[], maxRows = 1000) {
  const scope = { matchers: {}, nodeLabel: null };
  const rows = readServerRows(result, scope, maxRows);
  const context = { server: "s", nodeLabel: null, exporters: [], knownNodes: null, maxSampleAgeSeconds: 90, at: 1000 };
  return { rows, ...pagesOfRows(rows, context) };
}

/** A row of one value, and its time. */
function row(labels: Readonly<Record<string, string>>, value = "50"): readonly object[] {
  return [
    series({ __name__: "DCGM_FI_DEV_GPU_UTIL", ...labels }, [1000, value]),
    series({ fairlead: "sample_time", ...labels }, [1000, "995"]),
  ];
}

describe("series that are not what they should be", () => {
  test.each<readonly [string, unknown]>([
    ["nothing", null],
    ["no labels", series(null)],
    ["labels in a list", series(["UUID"])],
    ["a number as label", series({ UUID: 7, Hostname: "n" })],
    ["no value", { metric: { UUID: "GPU-0" } }],
    ["a number as value", series({ UUID: "GPU-0" }, [1000, 1])],
    ["a text as time", series({ UUID: "GPU-0" }, ["1000", "1"])],
    ["a histogram", { metric: { UUID: "GPU-0" }, histogram: [1000, {}] }],
    ["a label without end", series({ UUID: "x".repeat(5000) })],
  ])("%s is counted, and the others are used", (_name, entry) => {
    const { rows, byNode, problems } = read([entry, ...row({ UUID: "GPU-1", Hostname: "node-a" })]);
    expect(rows.malformed).toBe(1);
    expect(byNode.get("node-a")?.flatMap(({ devices }) => devices)).toMatchObject([{ uuid: "GPU-1", gpuUtil: 0.5 }]);
    expect(problems.map(({ code }) => code)).toEqual(["server-malformed-series"]);
  });

  test.each(["NaN", "+Inf", "-Inf", "0x10", "1_000", " 1", "1e999", "", "9".repeat(1000)])(
    "value %j is none",
    (value) => {
      const { byNode } = read(row({ UUID: "GPU-1", Hostname: "node-a" }, value));
      const [page] = byNode.get("node-a") ?? [];
      expect(page?.devices).toMatchObject([{ uuid: "GPU-1", gpuUtil: null }]);
      expect(page?.dropped).toEqual({ not_a_number: 1 });
    },
  );

  test("a row without a time is not used", () => {
    const { byNode, problems } = read(row({ UUID: "GPU-1", Hostname: "node-a" }).slice(0, 1));
    expect(byNode.size).toBe(0);
    expect(problems.map(({ code }) => code)).toEqual(["server-samples-without-time"]);
  });

  test("labels stay labels, whatever is written in them", () => {
    const pod = 'x"} 1\nDCGM_FI_DEV_GPU_UTIL{UUID="GPU-9",Hostname="node-z"} 100\r\n\\';
    const labels = { UUID: "GPU-1", Hostname: "node-a", exported_pod: pod, exported_namespace: "__proto__" };
    const { byNode } = read(row(labels));
    expect([...byNode.keys()]).toEqual(["node-a"]);
    const [page] = byNode.get("node-a") ?? [];
    expect(page?.dropped).toEqual({});
    expect(page?.devices).toMatchObject([{ uuid: "GPU-1", claimants: [{ pod, namespace: "__proto__" }] }]);
  });

  test("names of prototypes are neither labels nor nodes", () => {
    const labels = JSON.parse('{"__proto__":"a","constructor":"b","UUID":"GPU-1","Hostname":"__proto__"}');
    const { byNode } = read(row(labels));
    expect([...byNode.keys()], "JSON.parse makes an own property, and a spread a prototype").toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(byNode.get("__proto__")?.[0]?.dropped)).toBe(Object.prototype);
  });

  test("series of two clusters are reported", () => {
    const { problems } = read([
      ...row({ UUID: "GPU-1", Hostname: "node-a", cluster: "eu" }),
      ...row({ UUID: "GPU-2", Hostname: "node-a", cluster: "us" }),
    ]);
    expect(problems).toMatchObject([{ code: "server-several-clusters", message: expect.stringContaining("eu, us") }]);
  });

  test("a million series are bounded in rows, devices and problems", () => {
    const many = function* (): Generator<object> {
      for (let at = 0; at < 500_000; at++) yield* row({ UUID: `GPU-${at}`, Hostname: `node-${at % 5}` });
    };
    const { rows, byNode, problems } = read([...many()], 2000);
    expect(rows.rows.length).toBe(2000);
    expect([...byNode.values()].flat().map(({ devices }) => devices.length)).toEqual([64, 64, 64, 64, 64]);
    expect(problems.map(({ code }) => code)).toEqual(["server-too-many-rows", ...Array(5).fill("too-many-devices")]);
  });

  test("a node on every row makes one problem, not one each", () => {
    const rows = Array.from({ length: 500 }, (_unused, at) => row({ UUID: "GPU-1", Hostname: `node-${at}` })).flat();
    const context = { server: "s", nodeLabel: null, exporters: [], maxSampleAgeSeconds: 90, at: 1000 };
    const found = readServerRows(rows, { matchers: {}, nodeLabel: null }, 1000);
    const { byNode, problems } = pagesOfRows(found, { ...context, knownNodes: new Set(["node-7"]) });
    expect([...byNode.keys()]).toEqual(["node-7"]);
    expect(problems.map(({ code }) => code)).toEqual(["server-unknown-nodes"]);
  });
});

describe("an exporter's own pod under an unusual name", () => {
  const own = { namespace: "infra", pod: "gpu-numbers-x7k2p", container: "main", Hostname: "node-a" };
  const claimants = (...rows: readonly (readonly object[])[]) =>
    [...read(rows.flat()).byNode.values()].flat().flatMap(({ devices }) => devices.map((device) => device.claimants));

  test("is no workload where another row shows it beside the real one", () => {
    const allocated = row({ UUID: "GPU-0", ...own, exported_namespace: "research", exported_pod: "train-0" });
    expect(claimants(allocated, row({ UUID: "GPU-1", ...own }))).toMatchObject([[{ pod: "train-0" }], []]);
  });

  test("is no workload where the Kubernetes API has it as an exporter", () => {
    const found = readServerRows(row({ UUID: "GPU-1", ...own }), { matchers: {}, nodeLabel: null }, 10);
    const exporter = { namespace: own.namespace, name: own.pod, nodeName: "node-b", podIp: "", ports: {}, ready: true };
    const context = { server: "s", nodeLabel: null, knownNodes: null, maxSampleAgeSeconds: 90, at: 1000 };
    const { byNode } = pagesOfRows(found, { ...context, exporters: [exporter] });
    expect(byNode.get("node-b")?.flatMap(({ devices }) => devices)).toMatchObject([{ uuid: "GPU-1", claimants: [] }]);
  });

  test("is a workload to all appearances where nothing shows what it is", () => {
    expect(claimants(row({ UUID: "GPU-1", ...own }))).toMatchObject([[{ pod: own.pod }]]);
  });
});

describe("any answer", () => {
  const label = fc.oneof(fc.constantFrom("GPU-1", "node-a", ""), fc.string({ unit: "binary" }), fc.jsonValue());
  const metric = fc.dictionary(
    fc.constantFrom("__name__", "UUID", "GPU_I_ID", "Hostname", "pod", "exported_pod", "fairlead"),
    label,
  );
  const entry = fc.oneof(
    fc.jsonValue(),
    fc.record({ metric, value: fc.tuple(fc.double(), fc.oneof(fc.string(), fc.double().map(String))) }),
    fc.constantFrom(...row({ UUID: "GPU-1", Hostname: "node-a" })),
  );

  test("never throws, and speaks for nodes only that a row names", () => {
    fc.assert(
      fc.property(fc.array(entry), (entries) => {
        const answer = parseAnswer(Buffer.from(vector(...entries)));
        if (!answer.ok) throw new Error(answer.fault.message);
        const { rows, byNode } = read(answer.result);
        const named = new Set(rows.rows.map(({ labels }) => labels.get("Hostname")));
        for (const [node, pages] of byNode) {
          expect(named).toContain(node);
          expect(pages.map((page) => page.node)).toEqual(pages.map(() => node));
        }
      }),
      { seed: 1, numRuns: 300 },
    );
  });

  test("bytes of any kind are an answer or a fault", () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string({ unit: "binary" })), (text) => {
        const answer = parseAnswer(Buffer.from(text));
        expect(typeof answer.ok).toBe("boolean");
      }),
      { seed: 1, numRuns: 300 },
    );
  });
});
