import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Simulator, startSimulator } from "../../../../simulator/simulator.ts";
import type { SeenObject } from "../../apiClient.ts";
import { one, smallCluster } from "../../smallCluster.ts";
import { evict, evictionOf, json, merge, objectAt, objectsOf, send, strategic } from "../../writeClient.ts";

let simulator: Simulator;
let deployment = "";
let pods: readonly SeenObject[] = [];
beforeAll(async () => {
  const twice = one("StatefulSet", 1, { disruptionBudgets: [0, 0] });
  const scenario = smallCluster([one("Deployment", 2), twice, one("Job", 1)]);
  simulator = await startSimulator({ scenario, seed: 5, startAt: 1_795_000_000 });
  pods = await objectsOf(simulator, "/api/v1/namespaces/team/pods");
  const [first] = await objectsOf(simulator, "/apis/apps/v1/deployments");
  deployment = `/apis/apps/v1/namespaces/team/deployments/${first?.metadata.name}`;
});
afterAll(() => simulator.stop());

const podOf = (kind: string): SeenObject => {
  const found = pods.find(({ metadata }) => metadata.name.startsWith(kind));
  if (found === undefined) throw new Error(`no pod of a ${kind}`);
  return found;
};
const pathOf = ({ metadata }: SeenObject): string => `/api/v1/namespaces/team/pods/${metadata.name}`;
/** Nothing in the cluster may have changed. */
async function unchanged(request: () => Promise<void>): Promise<void> {
  const before = simulator.resourceVersion();
  await request();
  expect(simulator.resourceVersion()).toBe(before);
}

// The expected answers were taken from kube-apiserver 1.36.3 (test/servers/simulatedWrites.test.ts asks both again).
describe("evictions are answered as the API server answers them", () => {
  it("409 for another uid", () =>
    unchanged(async () => {
      const pod = podOf("deployment");
      const answer = await send(simulator, "POST", `${pathOf(pod)}/eviction`, evictionOf(pod.metadata.name, "other"));
      expect(answer.body).toEqual({
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: `Operation cannot be fulfilled on Pod "${pod.metadata.name}": the UID in the precondition (other) does not match the UID in record (${pod.metadata.uid}). The object might have been deleted and then recreated`,
        reason: "Conflict",
        details: { name: pod.metadata.name, kind: "Pod" },
        code: 409,
      });
      expect(answer.code).toBe(409);
    }));

  it("404 for a pod that is gone, 400 for another name or no Eviction, 415 for another type", () =>
    unchanged(async () => {
      const path = pathOf(podOf("deployment"));
      const gone = await send(simulator, "POST", "/api/v1/namespaces/team/pods/gone/eviction", evictionOf("gone"));
      expect(gone.body).toMatchObject({ code: 404, reason: "NotFound", message: 'pods "gone" not found' });
      const other = await send(simulator, "POST", `${path}/eviction`, evictionOf("other"));
      expect(other.body).toMatchObject({ code: 400, message: "name in URL does not match name in Eviction object" });
      expect((await send(simulator, "POST", `${path}/eviction`, "{broken")).code).toBe(400);
      expect((await send(simulator, "POST", `${path}/eviction`, evictionOf("x"), "text/plain")).code).toBe(415);
    }));

  it("500 for a pod under two budgets", () =>
    unchanged(async () => {
      const answer = await evict(simulator, podOf("statefulset"));
      expect(answer.body).toEqual({
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
        code: 500,
      });
    }));

  it("201 for a dry run, which changes nothing; 422 for another value of dryRun", () =>
    unchanged(async () => {
      const pod = podOf("deployment");
      const dry = await evict(simulator, pod, "?dryRun=All");
      expect([dry.code, dry.body]).toEqual([
        201,
        { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 },
      ]);
      const some = await evict(simulator, pod, "?dryRun=Some");
      expect(some.body).toMatchObject({ code: 422, reason: "Invalid" });
      expect(some.body.message).toBe(
        'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
      );
    }));

  it("429 once the budget is used up, until the pod is back", async () => {
    const [first, second] = pods.filter(({ metadata }) => metadata.name.startsWith("deployment"));
    if (first === undefined || second === undefined) throw new Error("two pods expected");
    expect((await evict(simulator, first)).code).toBe(201);
    const refused = await evict(simulator, second);
    expect(refused.body).toMatchObject({
      code: 429,
      reason: "TooManyRequests",
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      details: {
        causes: [
          {
            reason: "DisruptionBudget",
            message: expect.stringMatching(
              /^The disruption budget deployment-\w+ needs 1 healthy pods and has 1 currently$/,
            ),
          },
        ],
      },
    });
    simulator.advance(60);
    expect((await evict(simulator, second)).code).toBe(201);
    expect((await evict(simulator, second)).code).toBe(404);
    simulator.advance(60);
  });
});

describe("patches are answered as the API server answers them", () => {
  it("200 with the object; a dry run shows it and changes nothing", async () => {
    await unchanged(async () => {
      const dry = await send(simulator, "PATCH", `${deployment}?dryRun=All`, { spec: { replicas: 3 } }, merge);
      expect([dry.code, dry.body.spec?.replicas]).toEqual([200, 3]);
    });
    const real = await send(simulator, "PATCH", deployment, { metadata: { labels: { a: "b" } } }, merge);
    expect(real.body).toMatchObject({ kind: "Deployment", apiVersion: "apps/v1", metadata: { labels: { a: "b" } } });
    simulator.advance(60);
    expect((await objectAt(simulator, deployment)).metadata.labels).toMatchObject({ a: "b" });
    await send(simulator, "PATCH", deployment, [{ op: "remove", path: "/metadata/labels/a" }], json);
    expect((await objectAt(simulator, deployment)).metadata.labels).not.toHaveProperty("a");
  });

  it("422 for another uid, 409 for another resourceVersion", () =>
    unchanged(async () => {
      const uid = await send(
        simulator,
        "PATCH",
        deployment,
        { metadata: { uid: "bad" }, spec: { replicas: 1 } },
        merge,
      );
      expect(uid.body.message).toMatch(/^Deployment\.apps "deployment-\w+" is invalid: metadata\.uid: .*immutable$/);
      expect(uid.body).toMatchObject({ code: 422, reason: "Invalid" });
      const version = await send(simulator, "PATCH", deployment, { metadata: { resourceVersion: "1" } }, strategic);
      expect(version.body.message).toMatch(
        /^Operation cannot be fulfilled on deployments\.apps ".*the object has been mod/,
      );
      expect(version.body).toMatchObject({ code: 409, reason: "Conflict" });
    }));

  it("422 for a JSON patch whose test fails or whose path leads nowhere", () =>
    unchanged(async () => {
      const tested = [
        { op: "test", path: "/spec/replicas", value: 9 },
        { op: "replace", path: "/spec/replicas", value: 1 },
      ];
      for (const patch of [tested, [{ op: "replace", path: "/spec/nope/x", value: 1 }], [{ op: "frob", path: "/x" }]]) {
        const answer = await send(simulator, "PATCH", deployment, patch, json);
        expect(answer.body).toMatchObject({
          code: 422,
          reason: "Invalid",
          message: "the server rejected our request due to an error in our request",
        });
      }
    }));

  it("415 for other types, 413 for large bodies, 400 for what is no patch, 404 for what is not there", () =>
    unchanged(async () => {
      expect((await send(simulator, "PATCH", deployment, {}, "application/json")).body).toMatchObject({
        code: 415,
        message: "415: Unsupported Media Type",
      });
      const large = { metadata: { annotations: { a: "x".repeat(3_200_000) } } };
      expect((await send(simulator, "PATCH", deployment, large, merge)).body).toMatchObject({
        code: 413,
        reason: "RequestEntityTooLarge",
        message: "Request entity too large: limit is 3145728",
      });
      expect((await send(simulator, "PATCH", deployment, "{broken", merge)).code).toBe(400);
      expect((await send(simulator, "PATCH", deployment, [], merge)).code).toBe(400);
      expect((await send(simulator, "PATCH", deployment, {}, json)).code).toBe(400);
      expect((await send(simulator, "PATCH", "/apis/apps/v1/namespaces/team/deployments/x", {}, merge)).code).toBe(404);
      expect((await send(simulator, "PATCH", deployment, { spec: { replicas: -1 } }, merge)).code).toBe(422);
      expect((await send(simulator, "POST", deployment, {})).code).toBe(405);
    }));

  it("the scale subresource speaks Scale, and takes a uid as a precondition", async () => {
    const scale = await objectAt(simulator, `${deployment}/scale`);
    expect(scale).toMatchObject({ kind: "Scale", apiVersion: "autoscaling/v1", spec: { replicas: 2 } });
    const other = await send(simulator, "PATCH", `${deployment}/scale`, { metadata: { uid: "bad" } }, merge);
    expect(other.body.message).toMatch(
      /^Operation cannot be fulfilled on deployments\/scale\.apps ".*Precondition failed/,
    );
    expect(other.code).toBe(409);
    const zero = await send(simulator, "PATCH", `${deployment}/scale`, { spec: { replicas: 0 } }, merge);
    expect([zero.code, zero.body.spec]).toEqual([200, {}]);
    await send(simulator, "PUT", `${deployment}/scale`, { spec: { replicas: 2 } });
    simulator.advance(60);
    expect((await objectAt(simulator, deployment)).spec).toMatchObject({ replicas: 2 });
  });

  it("a strategic merge joins containers by name, a plain one replaces the list", async () => {
    const containers = [{ name: "server", image: "new" }];
    const joined = await send(
      simulator,
      "PATCH",
      `${deployment}?dryRun=All`,
      { spec: { template: { spec: { containers } } } },
      strategic,
    );
    expect(JSON.stringify(joined.body.spec)).toContain('"image":"new"');
    expect(JSON.stringify(joined.body.spec)).toContain('"nvidia.com/gpu":"1"');
    const replaced = await send(
      simulator,
      "PATCH",
      `${deployment}?dryRun=All`,
      { spec: { template: { spec: { containers } } } },
      merge,
    );
    expect(JSON.stringify(replaced.body.spec)).not.toContain('"nvidia.com/gpu":');
  });
});

describe("deletions are answered as the API server answers them", () => {
  it("409 for unmet preconditions, 404 for what is gone, 405 for kinds that are never deleted here", () =>
    unchanged(async () => {
      const path = pathOf(podOf("job"));
      const uid = await send(simulator, "DELETE", path, { preconditions: { uid: "bb" } });
      expect(uid.body).toMatchObject({ code: 409, reason: "Conflict" });
      const version = await send(simulator, "DELETE", path, { preconditions: { resourceVersion: "1" } });
      expect(version.body.message).toContain("the ResourceVersion in the precondition (1) does not match");
      expect((await send(simulator, "DELETE", "/api/v1/nodes/none")).code).toBe(404);
      expect((await send(simulator, "DELETE", deployment)).code).toBe(405);
      expect((await send(simulator, "DELETE", `${path}?dryRun=All`)).body.kind).toBe("Pod");
    }));

  it("writes down every request in order, with its answer", async () => {
    const before = simulator.requests().length;
    await send(simulator, "DELETE", "/api/v1/nodes/none");
    await send(simulator, "PATCH", `${deployment}?dryRun=All`, { spec: { replicas: 1 } }, merge);
    expect(simulator.requests().slice(before)).toEqual([
      {
        at: simulator.now(),
        method: "DELETE",
        path: "/api/v1/nodes/none",
        contentType: "application/json",
        body: null,
        dryRun: false,
        code: 404,
      },
      {
        at: simulator.now(),
        method: "PATCH",
        path: deployment,
        contentType: merge,
        body: { spec: { replicas: 1 } },
        dryRun: true,
        code: 200,
      },
    ]);
  });

  it("patches cannot reach an object's prototype", async () => {
    await send(simulator, "PATCH", deployment, '{"metadata":{"labels":{"__proto__":"x"}},"__proto__":{"a":1}}', merge);
    const object = await objectAt(simulator, deployment);
    expect(Object.keys(object.metadata.labels ?? {})).not.toContain("__proto__");
    expect(Object.keys(object)).not.toContain("a");
  });
});
