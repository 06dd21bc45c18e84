import { describe, expect, test } from "vitest";
import type { ServingRule } from "../../../exporter/config/servingSchema.ts";
import { servingTargets } from "../../../exporter/sources/serving/targets.ts";

const rule = (changes: Partial<ServingRule> = {}): ServingRule => ({
  namespaces: ["serving"],
  matchLabels: {},
  annotations: true,
  path: "/metrics",
  ...changes,
});

const pod = (annotations: Readonly<Record<string, string>> = {}, changes: object = {}) => ({
  uid: "uid-1",
  namespace: "serving",
  name: "chat-0",
  labels: { app: "vllm" },
  annotations,
  address: { ip: "10.1.2.3", ports: { http: 8000 } },
  ...changes,
});

const scrape = (port: string, path?: string) => ({
  "prometheus.io/scrape": "true",
  "prometheus.io/port": port,
  ...(path === undefined ? {} : { "prometheus.io/path": path }),
});

const urls = (pods: Parameters<typeof servingTargets>[0], rules = [rule()]) =>
  servingTargets(pods, rules).map(({ url }) => url);

describe("where the page of a pod is", () => {
  test("where its annotations say", () => {
    expect(servingTargets([pod(scrape("8000", "/v1/metrics"))], [rule()])).toEqual([
      { pod: "uid-1", name: "serving/chat-0", url: "http://10.1.2.3:8000/v1/metrics" },
    ]);
    expect(urls([pod(scrape("8002"))])).toEqual(["http://10.1.2.3:8002/metrics"]);
  });

  test("else at the port of the rule, by number or by the name of a container port", () => {
    expect(urls([pod()], [rule({ port: 30000 })])).toEqual(["http://10.1.2.3:30000/metrics"]);
    expect(urls([pod()], [rule({ port: "http", path: "/m" })])).toEqual(["http://10.1.2.3:8000/m"]);
  });

  test("an IPv6 address is written as one", () => {
    const address = { ip: "fd00::1", ports: {} };
    expect(urls([pod(scrape("8000"), { address })])).toEqual(["http://[fd00::1]:8000/metrics"]);
  });

  test("the first rule for a pod decides", () => {
    const rules = [rule({ matchLabels: { app: "triton" }, port: 8002 }), rule({ port: 9000 })];
    expect(urls([pod()], rules)).toEqual(["http://10.1.2.3:9000/metrics"]);
    expect(urls([pod({}, { labels: { app: "triton" } })], rules)).toEqual(["http://10.1.2.3:8002/metrics"]);
  });
});

describe("pods that are not asked", () => {
  test.each([
    ["one of another namespace", pod(scrape("8000"), { namespace: "training" }), rule()],
    ["one with other labels", pod(scrape("8000")), rule({ matchLabels: { app: "sglang" } })],
    ["one without annotations or port", pod(), rule()],
    ["one that does not want to be scraped", pod({ ...scrape("8000"), "prometheus.io/scrape": "false" }), rule()],
    ["annotations where the rule does not believe them", pod(scrape("8000")), rule({ annotations: false })],
    ["one without an address", pod(scrape("8000"), { address: undefined }), rule()],
    ["one whose address is none", pod(scrape("8000"), { address: { ip: "evil.example", ports: {} } }), rule()],
    ["a port that is none", pod(scrape("0")), rule()],
    ["a port beyond all ports", pod(scrape("65536")), rule()],
    ["a port with more than a port", pod(scrape("80@evil.example:80")), rule()],
    ["a container port that it does not have", pod(), rule({ port: "metrics" })],
    ["a port by the name of what every object has", pod(), rule({ port: "constructor" })],
  ])("%s", (_case, asked, one) => {
    expect(urls([asked], [one])).toEqual([]);
  });

  test.each(["metrics", "@evil.example/", "/m\r\nHost: evil.example", "/a b", "/#x", "/\\evil", `/${"a".repeat(300)}`])(
    "a path that leads elsewhere: %j",
    (path) => {
      expect(urls([pod(scrape("8000", path))])).toEqual([]);
    },
  );

  test("two slashes at the beginning stay a path of the pod", () => {
    const [url] = urls([pod(scrape("8000", "//evil.example/metrics"))]);
    expect(new URL(url ?? "").host).toBe("10.1.2.3:8000");
  });
});
