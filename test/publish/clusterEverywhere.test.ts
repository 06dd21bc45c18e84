import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { alertNames, listedAlert } from "../../alerts/alertList.ts";
import { recordedLabels } from "../../alerts/rules/recordedNames.ts";
import { openWebConfig } from "../../exporter/config/webConfig.ts";
import { createApp } from "../../exporter/publish/http/app.ts";
import { listNames } from "../../exporter/publish/http/lists.ts";
import { type RunningServer, startServer } from "../../exporter/publish/http/server.ts";
import { buildPublication, createProcessMetrics } from "../../exporter/publish/publication.ts";
import { at, health, smallMoment } from "./moment.ts";

const golden = new URL("../golden/", import.meta.url);
const limits = { teams: 1000, series: 50_000 };
const samples = (page: string): readonly string[] => page.split("\n").filter((line) => line !== "" && line[0] !== "#");

describe("the cluster, from the page of metrics to each answer", () => {
  const pages = readdirSync(golden).filter((name) => name.endsWith(".prom"));

  test.each(pages)("each series of %s says it", (name) => {
    const lines = samples(readFileSync(new URL(name, golden), "utf8"));
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.filter((line) => !/[{,]cluster="[^"]+"/.test(line))).toEqual([]);
  });

  test("so does each series of the process, whatever the cluster is called", async () => {
    const lines = samples(await createProcessMetrics('har"bor')());
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.filter((line) => !/[{,]cluster="har\\"bor"/.test(line))).toEqual([]);
  });

  test("each recorded series and each alert is of a cluster", () => {
    for (const [name, labels] of Object.entries(recordedLabels)) expect(labels, name).toContain("cluster");
    for (const name of alertNames) expect(listedAlert(name).labels, name).toContain("cluster");
  });

  describe("answers of the API", () => {
    let server: RunningServer;
    beforeAll(async () => {
      const publication = buildPublication(
        { analysis: smallMoment, health: { ...health(), cluster: "häfen/1" }, limits },
        "",
      );
      const started = await startServer({
        handler: createApp({
          cluster: "häfen/1",
          latest: () => publication,
          health: () => ({ ...health(), cluster: "häfen/1" }),
          explain: () => null,
          now: () => at + 5,
          limits,
          processMetrics: async () => "",
          telemetryPath: "/metrics",
          users: {},
        }),
        listenAddress: "127.0.0.1:0",
        web: openWebConfig,
        onProblem: (message) => expect.fail(message),
      });
      if (!started.ok) throw new Error(started.error);
      server = started.server;
    });
    afterAll(() => server.close());

    test.each([...listNames, "snapshot", "history", "budgets", "nothing"])("%s", async (name) => {
      const response = await fetch(`${server.url}/api/v1/${name}`);
      expect(decodeURIComponent(response.headers.get("Fairlead-Cluster") ?? "")).toBe("häfen/1");
    });
  });
});
