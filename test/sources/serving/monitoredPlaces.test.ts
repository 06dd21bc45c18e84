import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ServingRule } from "../../../exporter/config/servingSchema.ts";
import type { Monitor, MonitorEndpoint, MonitoredService } from "../../../exporter/model/monitors.ts";
import { monitoredPlace } from "../../../exporter/sources/serving/monitoredPlaces.ts";
import { unreadableProblems } from "../../../exporter/sources/serving/servingProblems.ts";
import { servingTargets, type UnreadablePod } from "../../../exporter/sources/serving/targets.ts";

const pod = { namespace: "chat", labels: { app: "vllm" }, address: { ip: "10.1.2.3", ports: { http: 8000, web: 9 } } };
const endpoint = (changes: Partial<MonitorEndpoint> = {}): MonitorEndpoint => ({
  ...{ port: "http", targetPort: null, path: "/metrics", unreadable: null },
  ...changes,
});
const ofApp = [{ key: "app", operator: "In", values: ["vllm"] }] as const;
const monitor = (changes: Partial<Monitor> = {}): Monitor => ({
  ...{
    kind: "PodMonitor",
    namespace: "chat",
    name: "llm",
    selector: ofApp,
    namespaces: ["chat"],
    endpoints: [endpoint()],
  },
  ...changes,
});
const service: MonitoredService = {
  ...{ namespace: "chat", name: "llm", labels: { team: "a" }, selector: { app: "vllm" } },
  ports: [
    { name: "metrics", targetPort: "web" },
    { name: "api", targetPort: 8080 },
  ],
};
const ofService = (changes: Partial<MonitorEndpoint>): Monitor =>
  monitor({
    kind: "ServiceMonitor",
    selector: [{ key: "team", operator: "In", values: ["a"] }],
    endpoints: [endpoint(changes)],
  });

const place = (
  monitors: readonly Monitor[],
  services: readonly MonitoredService[] = [],
  others: readonly string[] = [],
) => monitoredPlace(pod, { monitors, services }, others);

describe("where monitors say that the page of a pod is", () => {
  test("at the container port of a PodMonitor that selects it, by name or number", () => {
    expect(place([monitor()])).toEqual({ ok: true, port: 8000, path: "/metrics" });
    expect(place([monitor({ endpoints: [endpoint({ port: null, targetPort: 7, path: "/v1" })] })])).toEqual({
      ok: true,
      port: 7,
      path: "/v1",
    });
  });

  test("at the target of the port of a Service that a ServiceMonitor selects, and whose pods it is", () => {
    expect(place([ofService({ port: "metrics" })], [service])).toMatchObject({ port: 9 });
    expect(place([ofService({ port: "api" })], [service])).toMatchObject({ port: 8080 });
    expect(place([ofService({ port: null, targetPort: "http" })], [service])).toMatchObject({ port: 8000 });
  });

  test.each([
    ["other labels", [monitor({ selector: [{ key: "app", operator: "In", values: ["tgi"] }] })], []],
    ["another namespace", [monitor({ namespaces: ["vision"] })], []],
    ["a port that the pod does not name", [monitor({ endpoints: [endpoint({ port: "grpc" })] })], []],
    ["no Service", [ofService({ port: "metrics" })], []],
    ["a Service of other pods", [ofService({ port: "metrics" })], [{ ...service, selector: { app: "tgi" } }]],
    ["a Service without a selector", [ofService({ port: "metrics" })], [{ ...service, selector: {} }]],
    ["a Service of another namespace", [ofService({ port: "metrics" })], [{ ...service, namespace: "vision" }]],
    ["a port that the Service does not have", [ofService({ port: "grpc" })], [service]],
  ])("nowhere by %s", (_what, monitors, services) => {
    expect(place(monitors, services)).toBeNull();
  });

  test("by a monitor of another namespace only where that is believed: no team says it about another's pods", () => {
    const foreign = monitor({ namespace: "monitoring", namespaces: null });
    expect(place([foreign])).toBeNull();
    expect(place([foreign], [], ["monitoring"])).toMatchObject({ ok: true });
  });

  test("at the first that can be read; else why it cannot", () => {
    const secret = endpoint({ unreadable: "it wants credentials (basicAuth), which Fairlead never uses" });
    expect(place([monitor({ endpoints: [secret, endpoint({ port: "web" })] })])).toMatchObject({ ok: true, port: 9 });
    expect(place([monitor({ endpoints: [secret] })])).toEqual({
      ok: false,
      monitor: "PodMonitor chat/llm",
      why: "it wants credentials (basicAuth), which Fairlead never uses",
    });
  });

  test("is the same in whatever order they come", () => {
    const all = ["a", "b", "c"].map((name, i) =>
      monitor({ name, endpoints: [endpoint({ port: null, targetPort: 100 + i })] }),
    );
    fc.assert(
      fc.property(fc.shuffledSubarray(all, { minLength: 3 }), (shuffled) => {
        expect(place(shuffled)).toMatchObject({ port: 100 });
      }),
    );
  });
});

describe("the pods that are asked", () => {
  const rule: ServingRule = { namespaces: ["chat"], matchLabels: {}, annotations: true, path: "/metrics", port: 5000 };
  const asked = { ...pod, uid: "uid-1", name: "llm-0", annotations: {} };
  const targets = (monitors: readonly Monitor[], annotations: Readonly<Record<string, string>> = {}, of = rule) => {
    const unreadable: UnreadablePod[] = [];
    const believed = { monitors: { monitors, services: [] }, others: [] };
    const found = servingTargets([{ ...asked, annotations }], [of], believed, (one) => unreadable.push(one));
    return { urls: found.map(({ url }) => url), unreadable };
  };

  test("are asked where they say themselves, else where a monitor says, else where the rule does", () => {
    expect(targets([monitor()], { "prometheus.io/scrape": "true", "prometheus.io/port": "7" }).urls).toEqual([
      "http://10.1.2.3:7/metrics",
    ]);
    expect(targets([monitor()]).urls).toEqual(["http://10.1.2.3:8000/metrics"]);
    expect(targets([]).urls).toEqual(["http://10.1.2.3:5000/metrics"]);
  });

  test("are never asked at what is no port or path", () => {
    for (const changes of [
      { targetPort: 70_000 },
      { targetPort: -1 },
      { targetPort: 1.5 },
      { path: `//evil@host/${"x".repeat(300)}` },
      { path: "no-slash" },
    ])
      expect(targets([monitor({ endpoints: [endpoint(changes)] })]).urls).toEqual([]);
  });

  test("are named where what a monitor says cannot be read", () => {
    const secret = monitor({ endpoints: [endpoint({ unreadable: "it is served over TLS (tlsConfig)" })] });
    // Where the rule says a port besides, that is asked.
    expect(targets([secret])).toEqual({ urls: ["http://10.1.2.3:5000/metrics"], unreadable: [] });
    const { port: _, ...portless } = rule;
    const { unreadable, urls } = targets([secret], {}, portless);
    expect(urls).toEqual([]);
    expect(
      unreadableProblems([
        ...unreadable,
        { name: "chat/llm-1", monitor: "PodMonitor chat/b", why: unreadable[0]?.why ?? "" },
      ]),
    ).toMatchObject([
      {
        code: "monitor-not-readable",
        subject: "chat/llm-0",
        message: expect.stringContaining(
          "and 1 more, which PodMonitor chat/llm names, is not read: it is served over TLS",
        ),
      },
    ]);
  });
});
