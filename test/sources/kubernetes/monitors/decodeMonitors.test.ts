import { describe, expect, test } from "vitest";
import {
  decodePodMonitor,
  decodeService,
  decodeServiceMonitor,
} from "../../../../exporter/sources/kubernetes/monitors/decodeMonitors.ts";

const metadata = { name: "llm", namespace: "chat" };

function podMonitor(spec: object) {
  const decoded = decodePodMonitor({ metadata, spec });
  if (!decoded.ok) throw new Error(decoded.problem.message);
  return decoded.value;
}
const endpoint = (changes: object) => podMonitor({ selector: {}, podMetricsEndpoints: [changes] }).endpoints[0];

describe("a monitor", () => {
  test("selects by labels, in its own namespace, in others, or in all", () => {
    const selector = { matchLabels: { app: "vllm" }, matchExpressions: [{ key: "tier", operator: "Exists" }] };
    expect(podMonitor({ selector, podMetricsEndpoints: [] })).toMatchObject({
      kind: "PodMonitor",
      selector: [
        { key: "app", operator: "In", values: ["vllm"] },
        { key: "tier", operator: "Exists" },
      ],
      namespaces: ["chat"],
    });
    expect(podMonitor({ selector: {}, namespaceSelector: { matchNames: ["a", "b"] } }).namespaces).toEqual(["a", "b"]);
    expect(podMonitor({ selector: {}, namespaceSelector: { any: true } }).namespaces).toBeNull();
  });

  test("names port and path of each page", () => {
    expect(endpoint({ port: "http" })).toEqual({ port: "http", targetPort: null, path: "/metrics", unreadable: null });
    expect(endpoint({ portNumber: 8000, path: "/v1/metrics" })).toMatchObject({
      targetPort: 8000,
      path: "/v1/metrics",
    });
    expect(endpoint({ targetPort: "web", scheme: "http" })).toMatchObject({ targetPort: "web", unreadable: null });
  });

  test.each([
    ["basicAuth", { basicAuth: { username: { name: "s", key: "u" } } }],
    ["authorization", { authorization: { credentials: { name: "s", key: "t" } } }],
    ["bearerTokenSecret", { bearerTokenSecret: { name: "s", key: "t" } }],
    ["bearerTokenFile", { bearerTokenFile: "/var/run/token" }],
    ["oauth2", { oauth2: { tokenUrl: "https://idp" } }],
    ["tlsConfig", { tlsConfig: { insecureSkipVerify: true } }],
    ["scheme: https", { scheme: "HTTPS" }],
    ["proxyUrl", { proxyUrl: "http://proxy" }],
    ["params", { params: { collect: ["a"] } }],
  ])("is not read where a page needs more than a plain request: %s", (what, changes) => {
    expect(endpoint({ port: "http", ...changes })?.unreadable).toContain(what);
  });

  test("is read where the API server filled in an empty reference", () => {
    expect(endpoint({ port: "http", bearerTokenSecret: { key: "" }, bearerTokenFile: "" })?.unreadable).toBeNull();
  });

  test("that is none is refused, whatever it is", () => {
    for (const value of [
      null,
      4,
      {},
      { metadata, spec: { selector: 3 } },
      { metadata, spec: { podMetricsEndpoints: "x" } },
    ])
      expect(decodePodMonitor(value).ok).toBe(false);
  });
});

test("a ServiceMonitor has endpoints, and a Service the ports and the pods that these mean", () => {
  const monitor = decodeServiceMonitor({ metadata, spec: { selector: {}, endpoints: [{ port: "metrics" }] } });
  expect(monitor).toMatchObject({ ok: true, value: { kind: "ServiceMonitor", endpoints: [{ port: "metrics" }] } });
  const spec = {
    selector: { app: "vllm" },
    ports: [
      { name: "metrics", port: 80, targetPort: "http" },
      { name: "api", port: 9000 },
    ],
  };
  expect(decodeService({ metadata: { ...metadata, labels: { team: "a" } }, spec })).toMatchObject({
    ok: true,
    value: {
      ...{ namespace: "chat", name: "llm", labels: { team: "a" }, selector: { app: "vllm" } },
      ports: [
        { name: "metrics", targetPort: "http" },
        { name: "api", targetPort: 9000 },
      ],
    },
  });
});
