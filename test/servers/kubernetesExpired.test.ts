import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Namespace } from "../../exporter/model/cluster.ts";
import { type ApiClient, createApiClient } from "../../exporter/sources/kubernetes/apiClient.ts";
import { systemClock } from "../../exporter/sources/kubernetes/clock.ts";
import { decodeNamespace } from "../../exporter/sources/kubernetes/decodeCluster.ts";
import { jsonWire } from "../../exporter/sources/kubernetes/jsonWire.ts";
import { createRowTable } from "../../exporter/sources/kubernetes/objectTable.ts";
import { createReflector, defaultTiming, type Reflector } from "../../exporter/sources/kubernetes/reflector.ts";
import { type ApiServer, startApiServer } from "./apiServer.ts";
import { type Admin, createAdmin, until } from "./kubernetesAdmin.ts";

/** Without its watch cache the API server answers 410 for everything older than the last compaction of etcd. */
let server: ApiServer;
let admin: Admin;
let client: ApiClient;

const configMaps = "/api/v1/namespaces/default/configmaps";
const add = async (name: string): Promise<void> => {
  await admin.send("POST", configMaps, { metadata: { name } });
};

beforeAll(async () => {
  server = await startApiServer({ watchCache: false });
  admin = createAdmin(server);
  const headers = { authorization: `Bearer ${server.adminToken}` };
  const access = async () => ({ headers, tls: { ca: server.ca } });
  client = createApiClient({ server: server.url, proxyUrl: null, access }, systemClock);
  for (const name of ["a", "b", "c", "d", "e"]) await add(name);
}, 600_000);

afterAll(async () => {
  await client?.close();
  await admin?.close();
  await server?.stop();
});

/** Follows the names and labels of ConfigMaps, in pages of two. */
function follow(through: ApiClient): { readonly reflector: Reflector; readonly names: () => string } {
  const table = createRowTable<Namespace>();
  const reflector = createReflector({
    kind: "configmaps",
    client: through,
    clock: systemClock,
    random: Math.random,
    timing: { ...defaultTiming, pageSize: 2, firstPauseSeconds: 0.1 },
    locate: async () => ({ ok: true, path: configMaps }),
    wire: jsonWire(decodeNamespace),
    table,
    optional: false,
    onStateChange: () => {},
  });
  return {
    reflector,
    names: () =>
      table
        .rows()
        .map(({ name }) => name)
        .sort()
        .join(),
  };
}

describe("etcd's compaction", () => {
  it("between two pages expires the continue token, and the list begins anew", async () => {
    const statuses: number[] = [];
    const compacting: ApiClient = {
      ...client,
      get: async (path, options) => {
        const answer = await client.get(path, options);
        statuses.push(answer.ok ? answer.status : 0);
        if (statuses.length === 1) {
          await admin.send("DELETE", `${configMaps}/a`);
          await server.compact();
        }
        return answer;
      },
    };
    const { reflector, names } = follow(compacting);
    await reflector.start();
    expect(statuses).toEqual([200, 410, 200, 200]);
    expect(names()).toBe("b,c,d,e");
    expect(reflector.status().state).toBe("synced");
    await reflector.stop();
  });

  it("behind an open watch does not disturb it; behind a closed one it leads to a new list", async () => {
    let canOpen = true;
    const gated: ApiClient = {
      ...client,
      open: async (path, options) =>
        canOpen ? await client.open(path, options) : { ok: false, message: "the test holds the watch back" },
    };
    const { reflector, names } = follow(gated);
    await reflector.start();
    await until("the watch is open", () => reflector.status().watches === 1);
    await server.compact();
    await add("f");
    await until("the watch goes on", () => names() === "b,c,d,e,f");
    expect(reflector.status().lists).toBe(1);

    canOpen = false;
    await server.restart();
    await until("the watch is gone", () => reflector.status().state === "failing");
    await admin.send("DELETE", `${configMaps}/b`);
    await server.compact();
    canOpen = true;
    await until("the cache is right again", () => names() === "c,d,e,f");
    expect(reflector.status()).toMatchObject({ lists: 2, lastError: expect.stringMatching(/410|too old|compacted/) });
    await reflector.stop();
  });
});
