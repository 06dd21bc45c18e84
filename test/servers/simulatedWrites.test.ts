import { Agent } from "undici";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { one, smallCluster } from "../simulator/smallCluster.ts";
import { evictionOf, json, merge, objectsOf, strategic } from "../simulator/writeClient.ts";
import { type ApiServer, startApiServer } from "./apiServer.ts";
import { type Admin, createAdmin, until } from "./kubernetesAdmin.ts";

let server: ApiServer;
let admin: Admin;
let agent: Agent;
let simulator: Simulator;
/** Names of the Deployment, of its pod, of a pod under two budgets and of one under none, which both servers have. */
let names = { deployment: "", pod: "", twice: "", free: "" };

beforeAll(async () => {
  const scenario = smallCluster([
    one("Deployment", 1, { disruptionBudgets: [1] }),
    one("StatefulSet", 1, { disruptionBudgets: [0, 0] }),
    one("Job", 1),
  ]);
  simulator = await startSimulator({ scenario, seed: 5, startAt: 1_795_000_000 });
  server = await startApiServer();
  admin = createAdmin(server);
  agent = new Agent({ connect: { ca: server.ca } });
  const pods = await objectsOf(simulator, "/api/v1/namespaces/team/pods");
  const nameOf = (prefix: string): string =>
    pods.find(({ metadata }) => metadata.name.startsWith(prefix))?.metadata.name ?? "";
  const [deployment] = await objectsOf(simulator, "/apis/apps/v1/deployments");
  names = {
    deployment: deployment?.metadata.name ?? "",
    pod: nameOf("deployment"),
    twice: nameOf("statefulset"),
    free: nameOf("job"),
  };
  await admin.send("POST", "/api/v1/namespaces", { metadata: { name: "team" } });
  await admin.send("POST", "/api/v1/namespaces/team/serviceaccounts", { metadata: { name: "default" } });
  await admin.send("POST", "/apis/apps/v1/namespaces/team/deployments", {
    metadata: { name: names.deployment },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: names.deployment } },
      template: {
        metadata: { labels: { app: names.deployment } },
        spec: { containers: [{ name: "server", image: "x" }] },
      },
    },
  });
  for (const [name, app] of [
    [names.pod, names.deployment],
    [names.twice, "twice"],
    [names.free, "free"],
  ] as const) {
    await admin.send("POST", "/api/v1/namespaces/team/pods", {
      metadata: { name, labels: { app } },
      spec: { nodeName: "n1", containers: [{ name: "server", image: "x" }] },
    });
    await sent(
      "PATCH",
      `/api/v1/namespaces/team/pods/${name}/status`,
      { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } },
      merge,
      server.url,
    );
  }
  for (const [name, app] of [
    [names.deployment, names.deployment],
    ["two", "twice"],
    ["three", "twice"],
  ] as const) {
    const budgets = "/apis/policy/v1/namespaces/team/poddisruptionbudgets";
    await admin.send("POST", budgets, {
      metadata: { name },
      spec: { minAvailable: 1, selector: { matchLabels: { app } } },
    });
    const status = {
      observedGeneration: 1,
      currentHealthy: 1,
      desiredHealthy: 1,
      expectedPods: 1,
      disruptionsAllowed: 0,
    };
    await sent("PATCH", `${budgets}/${name}/status`, { status }, merge, server.url);
  }
  // The server answers evictions from a cache of budgets.
  await until("the budgets are known", async () => {
    const path = `/api/v1/namespaces/team/pods/${names.pod}/eviction`;
    const { status } = await sent("POST", path, evictionOf(names.pod), "application/json", server.url);
    return JSON.stringify(status).includes("needs 1 healthy");
  });
}, 120_000);
afterAll(async () => {
  await Promise.all([simulator?.stop(), admin?.close(), agent?.destroy()]);
  await server?.stop();
});

/** Status and answer, without what differs between two clusters: uids and versions. */
async function sent(
  method: "POST" | "PATCH" | "PUT" | "DELETE",
  path: string,
  body: unknown,
  type: string,
  origin: string,
) {
  const response = await agent.request({
    origin,
    path,
    method,
    headers: { "content-type": type, authorization: `Bearer ${server.adminToken}` },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.body.text();
  const plain = text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UID")
    .replaceAll(/in record \(\d+\)/g, "in record (VERSION)");
  return { code: response.statusCode, retryAfter: response.headers["retry-after"], status: JSON.parse(plain) };
}

describe("the simulated API answers writes as kube-apiserver does", () => {
  const deployment = (): string => `/apis/apps/v1/namespaces/team/deployments/${names.deployment}`;
  const pod = (name = names.pod): string => `/api/v1/namespaces/team/pods/${name}`;
  const failing = [{ op: "test", path: "/spec/replicas", value: 9 }];
  const cases: readonly (readonly [
    string,
    "POST" | "PATCH" | "PUT" | "DELETE",
    () => string,
    () => unknown,
    string,
  ])[] = [
    [
      "an eviction of another uid of a pod without budget",
      "POST",
      () => `${pod(names.free)}/eviction`,
      () => evictionOf(names.free, "other"),
      "application/json",
    ],
    [
      "an eviction of another uid",
      "POST",
      () => `${pod()}/eviction`,
      () => evictionOf(names.pod, "other"),
      "application/json",
    ],
    ["an eviction of another name", "POST", () => `${pod()}/eviction`, () => evictionOf("other"), "application/json"],
    [
      "an eviction of a pod that is gone",
      "POST",
      () => `${pod("gone")}/eviction`,
      () => evictionOf("gone"),
      "application/json",
    ],
    [
      "an eviction that the budget forbids",
      "POST",
      () => `${pod()}/eviction`,
      () => evictionOf(names.pod),
      "application/json",
    ],
    ["its dry run", "POST", () => `${pod()}/eviction?dryRun=All`, () => evictionOf(names.pod), "application/json"],
    [
      "an unknown dry run",
      "POST",
      () => `${pod()}/eviction?dryRun=No`,
      () => evictionOf(names.pod),
      "application/json",
    ],
    [
      "an eviction under two budgets",
      "POST",
      () => `${pod(names.twice)}/eviction`,
      () => evictionOf(names.twice),
      "application/json",
    ],
    ["an eviction as plain text", "POST", () => `${pod()}/eviction`, () => evictionOf(names.pod), "text/plain"],
    ["a deletion of another uid", "DELETE", pod, () => ({ preconditions: { uid: "other" } }), "application/json"],
    [
      "a deletion of another version",
      "DELETE",
      pod,
      () => ({ preconditions: { resourceVersion: "1" } }),
      "application/json",
    ],
    ["a deletion of what is gone", "DELETE", () => pod("gone"), () => undefined, "application/json"],
    ["a patch of another version", "PATCH", deployment, () => ({ metadata: { resourceVersion: "1" } }), merge],
    ["a patch of another name", "PATCH", deployment, () => ({ metadata: { name: "other" } }), merge],
    ["a patch of what is not there", "PATCH", () => `${deployment()}x`, () => ({}), strategic],
    ["a failed test", "PATCH", deployment, () => failing, json],
    ["a path that leads nowhere", "PATCH", deployment, () => [{ op: "replace", path: "/spec/a/b", value: 1 }], json],
    ["an unknown operation", "PATCH", deployment, () => [{ op: "frob", path: "/x" }], json],
    ["no JSON patch", "PATCH", deployment, () => ({ op: "x" }), json],
    ["no merge patch", "PATCH", deployment, () => [], merge],
    ["a patch of plain JSON", "PATCH", deployment, () => ({}), "application/json"],
    ["negative replicas", "PATCH", deployment, () => ({ spec: { replicas: -1 } }), merge],
    ["an unknown dry run of a patch", "PATCH", () => `${deployment()}?dryRun=No`, () => ({}), merge],
    ["a large body", "PATCH", deployment, () => `{"metadata":{"annotations":{"a":"${"x".repeat(3_200_000)}"}}}`, merge],
    ["a scale of another uid", "PATCH", () => `${deployment()}/scale`, () => ({ metadata: { uid: "other" } }), merge],
    [
      "a scale of another version",
      "PATCH",
      () => `${deployment()}/scale`,
      () => ({ metadata: { resourceVersion: "1" } }),
      merge,
    ],
    ["a scale with a failed test", "PATCH", () => `${deployment()}/scale`, () => failing, json],
    ["a creation under a name", "POST", deployment, () => ({}), "application/json"],
  ];

  it.each(cases)("%s", async (_what, method, path, body, type) => {
    const [real, simulated] = [
      await sent(method, path(), body(), type, server.url),
      await sent(method, path(), body(), type, simulator.apiUrl),
    ];
    expect(simulated).toEqual(real);
    expect(real.code).toBeGreaterThanOrEqual(400);
  });

  it("a patch of another uid (the real server repeats its cause)", async () => {
    const patch = { metadata: { uid: "other" } };
    const real = await sent("PATCH", deployment(), patch, merge, server.url);
    const simulated = await sent("PATCH", deployment(), patch, merge, simulator.apiUrl);
    expect([simulated.code, simulated.status.message]).toEqual([real.code, real.status.message]);
  });
});
