import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readsOfSources } from "../../deploy/rights/reads.ts";
import type { Monitors } from "../../exporter/model/monitors.ts";
import { type ApiClient, createApiClient } from "../../exporter/sources/kubernetes/apiClient.ts";
import { systemClock } from "../../exporter/sources/kubernetes/clock.ts";
import { createMonitorReader } from "../../exporter/sources/kubernetes/monitors/monitorReader.ts";
import { monitoredPlace } from "../../exporter/sources/serving/monitoredPlaces.ts";
import { type ApiServer, startApiServer } from "./apiServer.ts";
import { type Admin, createAdmin } from "./kubernetesAdmin.ts";
import { installed } from "./program.ts";
import { createDefinitions } from "./queues/resourceDefinitions.ts";

/** The real definitions of the Prometheus operator: what they do not know, the API server refuses (strict) or drops. */
const api = "/apis/monitoring.coreos.com/v1/namespaces/chat";
const strict = "?fieldValidation=Strict";
const token = "monitors-reader-token";
const rbac = "/apis/rbac.authorization.k8s.io/v1";

let server: ApiServer;
let admin: Admin;
let client: ApiClient;

beforeAll(async () => {
  server = await startApiServer({ tokens: [{ token, user: "reader" }] });
  admin = createAdmin(server);
  const access = async () => ({ headers: { authorization: `Bearer ${token}` }, tls: { ca: server.ca } });
  client = createApiClient({ server: server.url, proxyUrl: null, access }, systemClock);
  await createDefinitions(admin, join(await installed("install-operator-crds.sh"), "prometheus-operator"));
  await admin.send("POST", "/api/v1/namespaces", { metadata: { name: "chat" } });
}, 600_000);

afterAll(async () => {
  await client?.close();
  await admin?.close();
  await server?.stop();
});

/** What one look of the reader finds. */
async function look() {
  const reader = createMonitorReader(client, systemClock, { ofPods: ["chat"], others: [] });
  await reader.start();
  const found = { read: reader.read(), problems: reader.problems() };
  await reader.stop();
  return found;
}

const make = (kind: "PodMonitor" | "ServiceMonitor", name: string, spec: object) =>
  admin.send("POST", `${api}/${kind.toLowerCase()}s${strict}`, {
    ...{ apiVersion: "monitoring.coreos.com/v1", kind, metadata: { name }, spec },
  });

describe("monitors in a real API server with the operator's definitions", () => {
  it("without the right are a problem that names it", async () => {
    const { read, problems } = await look();
    expect(read).toBeNull();
    expect(problems.map(({ subject }) => subject)).toEqual([
      "podmonitors.monitoring.coreos.com",
      "servicemonitors.monitoring.coreos.com",
    ]);
  });

  it("with it are read as they are, and say where pods are asked", async () => {
    const rules = readsOfSources()
      .filter(({ right }) => right === "monitors")
      .map(({ group, resources, verbs }) => ({ apiGroups: [group], resources, verbs }));
    await admin.send("POST", `${rbac}/clusterroles`, { metadata: { name: "monitors" }, rules });
    await admin.send("POST", `${rbac}/clusterrolebindings`, {
      metadata: { name: "monitors" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "monitors" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "reader" }],
    });
    const selector = { matchLabels: { app: "llm" }, matchExpressions: [{ key: "canary", operator: "DoesNotExist" }] };
    const plain = { port: "http", path: "/v1/metrics", scheme: "http", interval: "30s" };
    await make("PodMonitor", "plain", { selector, podMetricsEndpoints: [plain] });
    const credentials = { name: "secret", key: "token" };
    const closed = [
      { port: "http", basicAuth: { username: credentials, password: credentials } },
      { port: "http", authorization: { credentials } },
      { port: "http", scheme: "https", tlsConfig: { insecureSkipVerify: true } },
      { port: "http", bearerTokenSecret: credentials },
      {
        port: "http",
        oauth2: { clientId: { secret: credentials }, clientSecret: credentials, tokenUrl: "https://idp" },
      },
      { port: "http", proxyUrl: "http://proxy:3128" },
      { port: "http", params: { collect: ["all"] } },
    ];
    await make("PodMonitor", "closed", { selector: { matchLabels: { app: "closed" } }, podMetricsEndpoints: closed });
    const web = { selector: { matchLabels: { team: "a" } }, namespaceSelector: { matchNames: ["chat"] } };
    await make("ServiceMonitor", "web", {
      ...web,
      endpoints: [{ port: "metrics" }, { targetPort: 9, bearerTokenFile: "/t" }],
    });
    await admin.send("POST", "/api/v1/namespaces/chat/services", {
      metadata: { name: "web", labels: { team: "a" } },
      spec: { selector: { app: "web" }, ports: [{ name: "metrics", port: 80, targetPort: "http" }] },
    });
    const { read, problems } = await look();
    expect(problems).toEqual([]);
    if (read === null) throw new Error("nothing was read");
    expect(
      read.monitors.find(({ name }) => name === "closed")?.endpoints.map(({ unreadable }) => unreadable !== null),
    ).toEqual(closed.map(() => true));
    expect(placeOf(read, { app: "llm" })).toEqual({ ok: true, port: 8000, path: "/v1/metrics" });
    expect(placeOf(read, { app: "llm", canary: "yes" })).toBeNull();
    expect(placeOf(read, { app: "web" })).toEqual({ ok: true, port: 8000, path: "/metrics" });
    expect(placeOf(read, { app: "closed" })).toMatchObject({ ok: false, monitor: "PodMonitor chat/closed" });
  });
});

const placeOf = (monitors: Monitors, labels: Readonly<Record<string, string>>) =>
  monitoredPlace({ namespace: "chat", labels, address: { ip: "10.0.0.1", ports: { http: 8000 } } }, monitors, []);
