import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { redactDump } from "../../../../cli/capture/redact/redactDump.ts";
import { analyseFiles } from "../../../../cli/inspect/analyseDump.ts";
import { type DumpFile, readDumpFiles } from "../../../../cli/inspect/readFiles.ts";
import { readObjects } from "../../../../cli/inspect/readObjects.ts";
import { adviseOnce } from "../../../../exporter/advice/adviser.ts";
import { defaultConfig } from "../../../../exporter/config/defaults.ts";
import { buildDocument } from "../../../../exporter/publish/document/buildDocument.ts";
import { fairlead } from "../../adviseAgainst.ts";
import { startCluster } from "../capturedCluster.ts";
import { numbersOf } from "../numbersOf.ts";

const salt = Buffer.alloc(32, 7);
let demo: readonly DumpFile[];
let written: string;

beforeAll(async () => {
  const { folder, kubeconfig } = await startCluster();
  const dump = path.join(folder, "dump");
  expect((await fairlead("capture", dump, "--kubeconfig", kubeconfig)).code).toBe(0);
  demo = await filesIn(dump);
  written = path.join(folder, "redacted");
  expect((await fairlead("capture", written, "--redact", "--kubeconfig", kubeconfig)).code).toBe(0);
});

async function filesIn(folder: string): Promise<readonly DumpFile[]> {
  const read = await readDumpFiles(folder);
  if (read === null) throw new Error(`no dump in ${folder}`);
  return read.files;
}

async function documentOf(files: readonly DumpFile[]) {
  const { analysis, config } = await analyseFiles({ files, problems: [] }, defaultConfig, null);
  return buildDocument(analysis, [], adviseOnce(analysis, config.advice, config.interval));
}

const captured = path.join(import.meta.dirname, "../../../captured");
/** Dumps of real clusters that are whole: not those of single pages, nor of wires. */
const folders = [
  ...readdirSync(captured).filter((name) => name.startsWith("objects-")),
  ...readdirSync(path.join(captured, "queues")).map((name) => `queues/${name}`),
];

describe("a redacted dump", () => {
  it("gives the numbers of the original: the demo's cluster, advice included", async () => {
    const [original, redacted] = [await documentOf(demo), await documentOf(redact(demo))];
    expect(original.recommendations.length).toBeGreaterThan(0);
    expect(original.findings.length).toBeGreaterThan(1);
    expect(numbersOf(redacted)).toEqual(numbersOf(original));
  });

  it.each(folders)("gives the numbers of the original: %s", async (folder) => {
    const files = await filesIn(path.join(captured, folder));
    const [original, redacted] = [await documentOf(files), await documentOf(redact(files))];
    // The order of work that is equal but for its name is by name.
    const { pending: _, ...numbers } = original;
    expect(numbersOf(redacted)).toMatchObject(Object(numbersOf(numbers)));
  });

  it("has no name of the original, in no file, page or file name", () => {
    const names = [...new Set(demo.flatMap(namesIn))].filter((name) => !isWord(name));
    expect(names.length).toBeGreaterThan(300);
    const text = redact(demo)
      .map(({ path: file, bytes }) => `${file}\n${bytes.toString("utf8")}`)
      .join("\n");
    const tokens = new Set(text.match(/[\w.-]+/g));
    expect(names.filter((name) => tokens.has(name))).toEqual([]);
    const onDisk = readdirSync(written)
      .map((name) => `${name}\n${readFileSync(path.join(written, name), "utf8")}`)
      .join("\n");
    const tokensOnDisk = new Set(onDisk.match(/[\w.-]+/g));
    expect(names.filter((name) => tokensOnDisk.has(name))).toEqual([]);
  });

  it("replaces a name the same way everywhere, and another way with another salt", () => {
    const [one, other] = [redact(demo), redactDump({ files: demo, problems: [] }, defaultConfig).files];
    const pages = (files: readonly DumpFile[]) => files.filter(({ kind }) => kind === "page").map(({ stem }) => stem);
    const nodes = (files: readonly DumpFile[]) =>
      files
        .filter(({ stem }) => stem === "nodes")
        .flatMap((file) => readObjects(file).objects.map(({ value }) => Object(value.metadata).name));
    expect(new Set(pages(one)).size).toBe(24);
    expect(nodes(one)).toEqual(expect.arrayContaining(pages(one)));
    expect(pages(one).filter((name) => pages(other).includes(name))).toEqual([]);
  });

  it("keeps nothing that inspect does not read", () => {
    const secret = "s3cret-4711";
    const pod = {
      metadata: { name: "a", namespace: "b", uid: "c", annotations: { [`${secret}/x`]: secret }, generateName: secret },
      spec: { nodeName: "n", containers: [{ name: "c", image: secret, workingDir: secret }], hostname: secret },
      status: { phase: "Running", message: secret, hostIP: "10.1.2.3" },
    };
    const bytes = Buffer.from(JSON.stringify({ apiVersion: "v1", kind: "PodList", items: [pod] }));
    const page = Buffer.from(
      `# HELP x of ${secret}\n# TYPE x gauge\nx{gpu="0",Hostname="${secret}",odd="${secret}"} 1\n${secret}\n`,
    );
    const redacted = redact([
      { path: "pods.json", stem: "pods", kind: "objects", bytes, modifiedAt: 0 },
      { path: "n.prom", stem: "n", kind: "page", bytes: page, modifiedAt: 0 },
    ]);
    expect(redacted.map((file) => file.bytes.toString("utf8")).join("\n")).not.toMatch(/s3cret|4711|10\.1\.2\.3/);
    expect(redacted[1]?.bytes.toString("utf8")).toMatch(
      /^# TYPE x gauge\nx\{gpu="0",Hostname="[a-z-]+",odd="[a-z-]+"\} 1\n$/,
    );
  });
});

it("a share of a GPU by container keeps its amount and its GPU, and neither the container's name nor any other text", async () => {
  const secret = "s3cret";
  const pod = (name: string, namespace: string, more: object, annotations: object, requests: object) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, uid: name, labels: { "runai-gpu-group": "g" }, annotations },
    spec: { nodeName: "n", containers: [{ name: secret, resources: { requests } }], ...more },
    status: { phase: "Running" },
  });
  const of = (ending: string) => `nvidia.com/container.${secret}.${ending}`;
  const items = [
    {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "n", labels: { "nvidia.com/gpu.product": "Tesla-T4", "nvidia.com/gpu.memory": "15360" } },
      status: { capacity: { "nvidia.com/gpu": "1" }, conditions: [{ type: "Ready", status: "True" }] },
    },
    pod(
      "reserves",
      "kai-resource-reservation",
      {},
      { "run.ai/reserve_for_gpu_index": "GPU-0f0f0f0f-1111-2222-3333-444444444444" },
      { "nvidia.com/gpu": "1" },
    ),
    pod(
      "p",
      "ml",
      { schedulerName: "kai-scheduler" },
      {
        [of("gpu-memory.request")]: "3840Mi",
        [of("gpu-memory.limit")]: secret,
        [of("gpus.devices")]: `${secret},k8s.device-plugin.nvidia.com/gpu=GPU-0f0f0f0f-1111-2222-3333-444444444444`,
      },
      {},
    ),
  ];
  const bytes = Buffer.from(JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  const files: readonly DumpFile[] = [{ path: "all.json", stem: "all", kind: "objects", bytes, modifiedAt: 0 }];
  const redacted = redact(files);
  const text = redacted.map((file) => file.bytes.toString("utf8")).join();
  expect(text).not.toMatch(/s3cret|0f0f0f0f/);
  expect(text).toMatch(/gpus\.devices":\s*"GPU-/);
  const [original, other] = [await documentOf(files), await documentOf(redacted)];
  expect(original.pools).toMatchObject([{ allocated: 0.25 }]);
  expect(numbersOf(other)).toEqual(numbersOf(original));
});

function redact(files: readonly DumpFile[]): readonly DumpFile[] {
  return redactDump({ files, problems: [] }, defaultConfig, salt).files;
}

/** Names of all objects, values of all labels, and what pages say who runs where. */
function namesIn(file: DumpFile): readonly string[] {
  if (file.kind === "page")
    return [...file.bytes.toString("utf8").matchAll(/(?:Hostname|pod|namespace|container)="([^"]+)"/g)].map(
      ([, name = ""]) => name,
    );
  return readObjects(file).objects.flatMap(({ value }) => {
    const { name, namespace, labels = {} } = Object(value.metadata);
    return [name, namespace, ...Object.values(labels)].filter((text): text is string => typeof text === "string");
  });
}

/** What every cluster has (`gpu-operator`), describes hardware, or is a word that keys and kinds have, too (`training`). */
function isWord(name: string): boolean {
  return (
    /^[\w]*$|^\d|^(NVIDIA|gpu-operator|kai-resource|nvidia-dcgm|kube-|on-demand|time-slicing|ada-lovelace|pytorchjob-controller)/.test(
      name,
    ) || /\.\d?\w*xlarge$|^eu-|^us-/.test(name)
  );
}
