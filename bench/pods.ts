/**
 * Measures reading pods: the first sync, events of a watch, and the bytes that are kept per pod. Protobuf, JSON, JSON.parse
 * with 15 fields kept, and @kubernetes/client-node are compared on the same pods, which a real API server wrote
 * (test/captured/kubernetes-wire) and which differ in names, uids, namespaces and nodes.
 *
 *     node --expose-gc --max-semi-space-size=8 bench/pods.ts [pods] [--short]
 */
import {
  CoreV1Api,
  createConfiguration,
  ResponseContext,
  ServerConfiguration,
  wrapHttpLibrary,
} from "@kubernetes/client-node";
import type { DecodedPod } from "../exporter/sources/kubernetes/decodePod.ts";
import { decodePod } from "../exporter/sources/kubernetes/decodePod.ts";
import { jsonWire } from "../exporter/sources/kubernetes/jsonWire.ts";
import { createPodTable, type PodTable } from "../exporter/sources/kubernetes/podTable.ts";
import { wireFormats } from "../exporter/sources/kubernetes/protobuf/kinds.ts";
import type { BodyFormat } from "../exporter/sources/kubernetes/wire.ts";
import { collectGarbage, compare, type Measurement, ratioByRounds } from "./measure.ts";
import { pickPods } from "./naivePods.ts";
import { jsonPods, type PodBytes, protobufPods } from "./podPages.ts";

const projection = { gpuResources: new Set<string>(), exporters: [] };
const protobuf = wireFormats(projection).pods.formatOf("application/vnd.kubernetes.protobuf");
const json = jsonWire((value) => decodePod(value, projection)).formatOf(null);

const total = Number(process.argv.slice(2).find((argument) => argument !== "--short") ?? 100_000);
/**
 * The number of pods in memory; each pass over them changes their uids. client-node, which keeps 14 KB per pod, reads them
 * once, and its time is multiplied.
 */
const allocated = Math.min(total, 20_000);
const passes = Math.max(1, Math.round(total / allocated));
const isShort = process.argv.includes("--short");
const samples = 5;

/** How many pods in a hundred ask for GPUs. */
const gpuPercent = 20;
const bytesOf = { protobuf: protobufPods(allocated, gpuPercent), json: jsonPods(allocated, gpuPercent) };

function eachPage(source: PodBytes, take: (page: Buffer) => void): void {
  for (let pass = 0; pass < passes; pass += 1) {
    for (const [index, page] of source.pages.entries()) {
      for (const at of source.uidsOfPages[index] ?? []) page[at] = 0x30 + pass;
      take(page);
    }
  }
}

function sync(source: PodBytes, format: BodyFormat<DecodedPod>): PodTable {
  const table = createPodTable();
  const replacement = table.startReplacement();
  eachPage(source, (body) => {
    const page = format.page(body);
    if (!page.ok) throw new Error(page.message);
    for (const { uid, decoded } of page.objects) if (decoded.ok) replacement.add(uid, decoded.value);
  });
  replacement.commit();
  return table;
}

function syncNaively(): Map<string, object> {
  const pods = new Map<string, object>();
  eachPage(bytesOf.json, (page) => pickPods(page, pods));
  return pods;
}

let nextPage: Buffer = Buffer.alloc(0);
const clientNode = new CoreV1Api(
  createConfiguration({
    baseServer: new ServerConfiguration("http://localhost", {}),
    httpApi: wrapHttpLibrary({
      send: async () => {
        const body = { text: async () => nextPage.toString("utf8"), binary: async () => nextPage, stream: () => null };
        return new ResponseContext(200, { "content-type": "application/json" }, body);
      },
    }),
  }),
);

/** Reads pods with the list of client-node, without the network, and keeps what its informer keeps. */
async function syncAsClientNode(): Promise<Map<string, object>> {
  const pods = new Map<string, object>();
  for (const page of bytesOf.json.pages) {
    nextPage = page;
    const list = await clientNode.listPodForAllNamespaces();
    for (const pod of list.items) pods.set(`${pod.metadata?.namespace}/${pod.metadata?.name}`, pod);
  }
  return pods;
}

const chunkBytes = 64 * 1024;

function follow(table: PodTable, source: PodBytes, format: BodyFormat<DecodedPod>): number {
  const reader = format.createReader(8 * 1024 * 1024);
  let applied = 0;
  for (let at = 0; at < source.events.length; at += chunkBytes) {
    for (const frame of reader.push(source.events.subarray(at, at + chunkBytes)) ?? []) {
      const event = format.event(frame);
      if (event.type !== "put" || !event.object.decoded.ok) throw new Error("not a change");
      table.put(event.object.uid, event.object.decoded.value);
      applied += 1;
    }
  }
  return applied;
}

/** The bytes per pod that a table of this many pods keeps, including typed arrays and strings. */
async function retainedPerPod(make: () => unknown, count: number): Promise<number> {
  const before = await settledMemory();
  const kept = await make();
  const after = await settledMemory();
  const bytes = after.heapUsed - before.heapUsed + (after.arrayBuffers - before.arrayBuffers);
  return kept === null ? 0 : Math.round(bytes / count);
}

function toParseAndPick(taken: readonly Measurement[]): number {
  return Math.round(10 * ratioByRounds(taken, (ms) => ms(picked.name) / ms(parsed.name))) / 10;
}

/** Measures memory after garbage collection. Buffers are freed a few turns after the collection that found them unused. */
async function settledMemory(): Promise<NodeJS.MemoryUsage> {
  for (let turn = 0; turn < 3; turn += 1) {
    collectGarbage();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return process.memoryUsage();
}

const parsed = { name: "protobuf", run: () => sync(bytesOf.protobuf, protobuf) };
const picked = { name: "JSON.parse, 15 fields", run: syncNaively };

if (isShort) {
  const taken = await compare([parsed, picked], { samples: 7, warmUps: 2 });
  process.stdout.write(
    `${JSON.stringify({ question: "pods", syncRatio: { toParseAndPick: toParseAndPick(taken) } })}\n`,
  );
  process.exit(0);
}

const syncs = await compare(
  [
    parsed,
    { name: "JSON, the same rows", run: () => sync(bytesOf.json, json) },
    picked,
    { name: "client-node", run: syncAsClientNode },
  ],
  { samples },
);
const tables = { protobuf: sync(bytesOf.protobuf, protobuf), json: sync(bytesOf.json, json) };
const follows = await compare(
  [
    { name: "protobuf", run: () => follow(tables.protobuf, bytesOf.protobuf, protobuf) },
    { name: "JSON, the same rows", run: () => follow(tables.json, bytesOf.json, json) },
  ],
  { samples },
);

const cpuMs = (all: readonly Measurement[], name: string, factor = 1): number =>
  Math.round((all.find((one) => one.name === name)?.cpuMs ?? Number.NaN) * factor);
const syncMs = {
  protobuf: cpuMs(syncs, "protobuf"),
  json: cpuMs(syncs, "JSON, the same rows"),
  parseAndPick: cpuMs(syncs, "JSON.parse, 15 fields"),
  clientNode: cpuMs(syncs, "client-node", passes),
};
const perSecond = (ms: number): number => Math.round((allocated / ms) * 1000);
const events = {
  protobuf: perSecond(cpuMs(follows, "protobuf")),
  json: perSecond(cpuMs(follows, "JSON, the same rows")),
};
const plain = protobufPods(allocated, 0);
const ratio = (one: number, other: number): number => Math.round((one / other) * 10) / 10;
const pods = allocated * passes;
const result = {
  question: "pods",
  pods,
  gpuPercent,
  bytesPerPod: {
    protobuf: Math.round(bytesOf.protobuf.pages.reduce((sum, page) => sum + page.length, 0) / allocated),
    json: Math.round(bytesOf.json.pages.reduce((sum, page) => sum + page.length, 0) / allocated),
  },
  firstSyncCpuMs: syncMs,
  syncRatio: {
    toParseAndPick: toParseAndPick(syncs),
    toClientNode: ratio(syncMs.clientNode, syncMs.protobuf),
  },
  eventsPerCpuSecond: events,
  eventRatio: ratio(events.protobuf, events.json),
  retainedBytesPerPod: {
    protobufWithoutGpus: await retainedPerPod(() => sync(plain, protobuf), pods),
    protobuf: await retainedPerPod(() => sync(bytesOf.protobuf, protobuf), pods),
    parseAndPick: await retainedPerPod(syncNaively, pods),
    clientNode: await retainedPerPod(syncAsClientNode, allocated),
  },
};

const rows = [
  ["", "protobuf", "JSON, the same rows", "JSON.parse, 15 fields", "client-node"],
  ["first sync, CPU ms", syncMs.protobuf, syncMs.json, syncMs.parseAndPick, syncMs.clientNode],
  ["events per CPU second", events.protobuf, events.json, "", ""],
  ["bytes kept per pod without GPUs", result.retainedBytesPerPod.protobufWithoutGpus, "", "", ""],
  [
    "bytes kept per pod",
    result.retainedBytesPerPod.protobuf,
    "",
    result.retainedBytesPerPod.parseAndPick,
    result.retainedBytesPerPod.clientNode,
  ],
];
process.stdout.write(`${JSON.stringify(result)}\n`);
for (const row of rows) process.stdout.write(`| ${row.join(" | ")} |\n`);
