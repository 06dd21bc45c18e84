import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Namespace } from "../../../exporter/model/cluster.ts";
import { decodeNamespace } from "../../../exporter/sources/kubernetes/decodeCluster.ts";
import { jsonWire } from "../../../exporter/sources/kubernetes/jsonWire.ts";
import { createRowTable, type RowTable } from "../../../exporter/sources/kubernetes/objectTable.ts";
import { createReflector, defaultTiming, type Reflector } from "../../../exporter/sources/kubernetes/reflector.ts";
import type { StateChange } from "../../../exporter/sources/kubernetes/reflectorStatus.ts";
import { createFakeClock, type FakeClock } from "./fakeClock.ts";
import {
  answer,
  type Call,
  eventLine,
  listOf,
  namespaceObject,
  type ScriptedApi,
  settled,
  startScriptedApi,
} from "./scriptedApi.ts";

let clock: FakeClock;
let api: ScriptedApi;
let table: RowTable<Namespace>;
let changes: string[];
let reflector: Reflector;
let started: Promise<void>;

beforeEach(async () => {
  clock = createFakeClock();
  api = await startScriptedApi(clock);
  begin(false);
});

afterEach(async () => {
  await reflector.stop();
  await api.close();
});

function begin(optional: boolean): void {
  table = createRowTable();
  changes = [];
  reflector = createReflector({
    kind: "namespaces",
    client: api.client,
    clock,
    random: () => 0.5,
    timing: { ...defaultTiming, pageSize: 2, maxEventBytes: 2000, silenceSeconds: 150 },
    locate: async () => ({ ok: true, path: "/api/v1/namespaces" }),
    wire: jsonWire(decodeNamespace),
    table,
    optional,
    onStateChange: ({ from, to }: StateChange) => changes.push(`${from} -> ${to}`),
  });
  started = reflector.start();
}

const names = (): string =>
  table
    .rows()
    .map(({ name }) => name)
    .sort()
    .join();

/** Answers the first list with two namespaces and takes the watch that follows, open. */
async function synced(): Promise<Call> {
  answer(await api.next(), 200, listOf("10", [namespaceObject("a", "5"), namespaceObject("b", "6")]));
  return await openWatch();
}

async function openWatch(): Promise<Call> {
  const watch = await api.next();
  expect(watch.query.get("watch")).toBe("1");
  const before = reflector.status().watches;
  watch.response.writeHead(200);
  watch.response.flushHeaders();
  await settled("the watch is open", () => reflector.status().watches > before);
  return watch;
}

/** Waits until a pause has begun, and goes on to its end. */
async function passPause(seconds: number): Promise<void> {
  await settled(`a pause of ${seconds} s`, () => clock.timers().some((left) => Math.abs(left - seconds) < 0.001));
  clock.advance(seconds);
}

describe("a list", () => {
  it("is read in pages and shown only when it is whole", async () => {
    const first = await api.next();
    expect(first.query.get("limit")).toBe("2");
    answer(first, 200, listOf("10", [namespaceObject("a", "5"), namespaceObject("b", "6")], "token 2"));
    const second = await api.next();
    expect(second.query.get("continue")).toBe("token 2");
    expect(names()).toBe("");
    answer(second, 200, listOf("10", [namespaceObject("c", "7")]));
    await started;
    expect(names()).toBe("a,b,c");
    expect(reflector.status()).toMatchObject({ state: "synced", resourceVersion: "10", lists: 1 });
    expect((await api.next()).query.get("resourceVersion")).toBe("10");
  });

  it("begins anew when its continue token has expired", async () => {
    answer(await api.next(), 200, listOf("10", [namespaceObject("a", "5")], "old"));
    answer(await api.next(), 410, { kind: "Status", code: 410, message: "expired" });
    const again = await api.next();
    expect(again.query.has("continue")).toBe(false);
    answer(again, 200, listOf("20", [namespaceObject("b", "15")]));
    await started;
    expect(names()).toBe("b");
  });

  it("leaves out an object that it cannot decode, and names it", async () => {
    const bad = { metadata: { name: "bad", uid: "x", resourceVersion: "1", labels: { team: 7 } } };
    answer(await api.next(), 200, listOf("10", [bad, namespaceObject("a", "5")]));
    await started;
    expect(names()).toBe("a");
    expect(reflector.status().skippedObjects).toBe(1);
    expect(reflector.status().problems[0]?.message).toMatch(
      /Namespace bad .*metadata\.labels\.team is 7, expected text/,
    );
  });

  it.each([
    ["no JSON", "garbage"],
    ["no resourceVersion", { items: [] }],
    ["items that are no list", { metadata: { resourceVersion: "1" }, items: 7 }],
  ])("with %s is a failure that is tried again", async (_, body) => {
    answer(await api.next(), 200, body);
    await started;
    expect(reflector.status().state).toBe("failing");
    expect(reflector.status().ageSeconds).toBeNull();
    await passPause(0.75);
    answer(await api.next(), 200, listOf("10", []));
    await settled("it is synced", () => reflector.status().state === "synced");
  });
});

describe("a watch", () => {
  it("applies events, also doubled ones, and goes on from the last version when it is closed", async () => {
    const watch = await synced();
    expect(watch.query.get("allowWatchBookmarks")).toBe("true");
    expect(Number(watch.query.get("timeoutSeconds"))).toBe(360);
    const added = eventLine("ADDED", namespaceObject("c", "11"));
    watch.response.write(added + added + eventLine("DELETED", namespaceObject("a", "12")));
    watch.response.end(eventLine("BOOKMARK", { metadata: { resourceVersion: "19" } }));
    const next = await api.next();
    expect(next.query.get("resourceVersion")).toBe("19");
    expect(names()).toBe("b,c");
    expect(reflector.status()).toMatchObject({ state: "synced", lists: 1, resourceVersion: "19" });
  });

  it("goes on before an event that was cut in the middle", async () => {
    const watch = await synced();
    const cut = eventLine("ADDED", namespaceObject("d", "12"));
    watch.response.write(eventLine("ADDED", namespaceObject("c", "11")) + cut.slice(0, 30));
    await settled("the whole event is there", () => names() === "a,b,c");
    watch.response.destroy();
    await passPause(0.75);
    const next = await api.next();
    expect(next.query.get("resourceVersion")).toBe("11");
    expect(reflector.status().malformedMessages).toBe(0);
    expect(changes).toEqual(["starting -> synced", "synced -> failing"]);
  });

  it("lists again after a 410 status and after a 410 event, and drops what is gone", async () => {
    const watch = await synced();
    watch.response.end(eventLine("ERROR", { kind: "Status", code: 410, message: "too old resource version" }));
    await passPause(0.75);
    answer(await api.next(), 200, listOf("30", [namespaceObject("b", "6")]));
    const again = await api.next();
    expect(names()).toBe("b");
    answer(again, 410, { kind: "Status", code: 410, message: "gone" });
    await passPause(1.5);
    answer(await api.next(), 200, listOf("40", []));
    await settled("the second new list is taken", () => reflector.status().lists === 3);
    expect(names()).toBe("");
    expect(reflector.status().restarts).toMatchObject({ expired: 2, broken: 0, closed: 0 });
  });

  it.each([
    ["is no JSON", "garbage\n"],
    ["has an unknown type", eventLine("SURPRISE", namespaceObject("x", "11"))],
    ["has no version", eventLine("ADDED", { metadata: { name: "x" } })],
    ["is larger than allowed", "x".repeat(3000)],
  ])("with an event that %s is counted and followed by a new list", async (_, line) => {
    const watch = await synced();
    watch.response.write(line);
    await settled("it is counted", () => reflector.status().malformedMessages === 1);
    await passPause(0.75);
    const list = await api.next();
    expect(list.query.has("watch")).toBe(false);
    answer(list, 200, listOf("30", [namespaceObject("c", "30")]));
    await settled("it is synced", () => reflector.status().state === "synced");
    expect(names()).toBe("c");
  });

  it("that is silent is opened anew, and the cache is not called right meanwhile", async () => {
    const watch = await synced();
    clock.advance(100);
    expect(reflector.status().ageSeconds).toBe(0);
    watch.response.write(eventLine("BOOKMARK", { metadata: { resourceVersion: "11" } }));
    await settled("the bookmark has come", () => reflector.status().resourceVersion === "11");
    clock.advance(149);
    expect(clock.timers()).toEqual([1]);
    expect(reflector.status().ageSeconds).toBe(0);
    clock.advance(1);
    const next = await api.next();
    expect(next.query.get("resourceVersion")).toBe("11");
    expect(reflector.status().ageSeconds).toBe(150);
    next.response.writeHead(200);
    next.response.flushHeaders();
    await settled("the new watch is open", () => reflector.status().ageSeconds === 0);
    expect(reflector.status().lastError).toMatch(/no event or bookmark for 150 s/);
    expect(changes).toEqual(["starting -> synced"]);
  });

  it("removes an object that a later event makes undecodable", async () => {
    const watch = await synced();
    watch.response.write(
      eventLine("MODIFIED", { metadata: { name: "a", uid: "uid-a", resourceVersion: "11", labels: 1 } }),
    );
    await settled("it is left out", () => reflector.status().skippedObjects === 1);
    expect(names()).toBe("b");
    watch.response.write(eventLine("MODIFIED", namespaceObject("a", "12")));
    await settled("it is back", () => names() === "a,b");
    expect(reflector.status().skippedObjects).toBe(0);
  });
});

describe("a server in trouble", () => {
  it("is left alone for as long as it asks, and longer each time", async () => {
    answer(await api.next(), 429, "slow down", { "retry-after": "7" });
    await started;
    await passPause(7);
    answer(await api.next(), 500, { kind: "Status", message: "etcd is gone" });
    await passPause(1.5);
    answer(await api.next(), 503, "");
    await passPause(3);
    expect(reflector.status()).toMatchObject({ state: "failing", lastError: "HTTP 503: " });
    answer(await api.next(), 200, listOf("1", []));
    await settled("it is synced", () => reflector.status().state === "synced");
    expect(changes).toEqual(["starting -> failing", "failing -> synced"]);
  });

  it("that does not answer at all is given up at the deadline", async () => {
    await api.next();
    clock.advance(30);
    await started;
    expect(reflector.status()).toMatchObject({ state: "failing", lastError: "no answer within 30 s" });
  });

  it("that forbids is asked again slowly, and keeps the age growing", async () => {
    const watch = await synced();
    clock.advance(20);
    watch.response.end();
    answer(await api.next(), 403, { kind: "Status", message: "namespaces is forbidden" });
    await settled("it is forbidden", () => reflector.status().state === "forbidden");
    await passPause(45);
    expect(reflector.status()).toMatchObject({ ageSeconds: 45, lastError: "HTTP 403: namespaces is forbidden" });
    await openWatch();
    expect(reflector.status()).toMatchObject({ state: "synced", ageSeconds: 0, lists: 1 });
  });

  it("has no namespaces only by mistake: 404 keeps the cache of a kind that every cluster has", async () => {
    const watch = await synced();
    clock.advance(20);
    watch.response.end();
    answer(await api.next(), 404, "no such page");
    await settled("it fails", () => reflector.status().state === "failing");
    expect(names()).toBe("a,b");
  });
});

describe("an optional kind", () => {
  beforeEach(async () => {
    await reflector.stop();
    await api.close();
    api = await startScriptedApi(clock);
    begin(true);
  });

  it("is absent on 404, known to be empty, and found when it appears", async () => {
    answer(await api.next(), 404, "404 page not found");
    await started;
    expect(reflector.status()).toMatchObject({ state: "absent", ageSeconds: 0 });
    await passPause(45);
    answer(await api.next(), 200, listOf("10", [namespaceObject("a", "5")]));
    await settled("it is synced", () => reflector.status().state === "synced");
    expect(names()).toBe("a");
  });
});
