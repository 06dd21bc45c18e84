import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  createMonitorReader,
  type MonitorReader,
} from "../../../../exporter/sources/kubernetes/monitors/monitorReader.ts";
import { createFakeClock, type FakeClock } from "../fakeClock.ts";
import { answer, type Call, listOf, type ScriptedApi, settled, startScriptedApi } from "../scriptedApi.ts";

const monitors = "/apis/monitoring.coreos.com/v1/namespaces";
const podMonitor = {
  metadata: { name: "llm", namespace: "chat" },
  spec: { selector: {}, podMetricsEndpoints: [{ port: "http" }] },
};
const serviceMonitor = {
  metadata: { name: "svc", namespace: "monitoring" },
  spec: { selector: {}, endpoints: [{ port: "web" }] },
};
const service = {
  metadata: { name: "llm", namespace: "chat" },
  spec: { selector: { app: "x" }, ports: [{ name: "web", port: 80 }] },
};

describe("monitors of the Prometheus operator", () => {
  let [clock, api, reader]: [FakeClock, ScriptedApi | undefined, MonitorReader | undefined] = [
    createFakeClock(),
    undefined,
    undefined,
  ];

  const next = async (): Promise<Call> => {
    if (api === undefined) throw new Error("not started");
    return await api.next();
  };
  /** Answers the next calls, each with its path and its objects. */
  const serve = async (...lists: readonly (readonly [path: string, status: number, objects: readonly object[]])[]) => {
    for (const [path, status, objects] of lists) {
      const call = await next();
      expect(call.path.split("?")[0]).toBe(path);
      answer(call, status, status === 200 ? listOf("7", objects) : { kind: "Status", message: "no" });
    }
    await settled("the round is over", () => clock.timers().includes(60));
  };

  beforeEach(async () => {
    clock = createFakeClock();
    api = await startScriptedApi(clock);
    reader = createMonitorReader(api.client, clock, { ofPods: ["chat"], others: ["monitoring"] });
    void reader.start();
  });
  afterEach(async () => {
    const stopped = reader?.stop();
    await api?.close();
    await stopped;
  });

  it("are listed in the namespaces of pods and in those that are believed besides, Services in the former alone", async () => {
    await serve(
      [`${monitors}/chat/podmonitors`, 200, [podMonitor]],
      [`${monitors}/monitoring/podmonitors`, 200, []],
      [`${monitors}/chat/servicemonitors`, 200, []],
      [`${monitors}/monitoring/servicemonitors`, 200, [serviceMonitor, { metadata: {} }]],
      ["/api/v1/namespaces/chat/services", 200, [service]],
    );
    expect(reader?.read()).toMatchObject({ monitors: [{ name: "llm" }, { name: "svc" }], services: [{ name: "llm" }] });
    expect(reader?.problems()).toEqual([]);
    clock.advance(901);
    expect(reader?.read()).toBeNull();
  });

  it("are none where the cluster does not know them: no Service is listed, and nothing is wrong", async () => {
    await serve([`${monitors}/chat/podmonitors`, 404, []], [`${monitors}/chat/servicemonitors`, 404, []]);
    expect(reader?.read()).toEqual({ monitors: [], services: [] });
    expect(reader?.problems()).toEqual([]);
  });

  it("that may not be read are a problem that names the right", async () => {
    await serve([`${monitors}/chat/podmonitors`, 403, []], [`${monitors}/chat/servicemonitors`, 404, []]);
    expect(reader?.read()).toBeNull();
    expect(reader?.problems()).toMatchObject([
      {
        code: "monitors-unreadable",
        subject: "podmonitors.monitoring.coreos.com",
        nextStep: expect.stringContaining("rbac.optional.monitors=true"),
      },
    ]);
  });
});
