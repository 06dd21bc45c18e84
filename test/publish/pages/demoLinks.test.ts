import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type MemoryPlay, playInMemory } from "../../../cli/demo/playInMemory.ts";
import { configSchema } from "../../../exporter/config/schema.ts";
import { openWebConfig } from "../../../exporter/config/webConfig.ts";
import { type RunningServer, startServer } from "../../../exporter/publish/http/server.ts";
import { demoScenario } from "../../../simulator/scenarios/demo.ts";
import { elementsOf, nearest, readHtml, textOf } from "../../review/readHtml.ts";

const startAt = Date.parse("2026-11-16T13:00:00Z") / 1000;

let play: MemoryPlay;
let server: RunningServer;
beforeAll(async () => {
  const config = configSchema.parse({ cluster: "harbor", teams: [{ from: "namespace-label", key: "team" }] });
  play = await playInMemory({ scenario: demoScenario(), seed: 1, startAt, config });
  // Long enough for the first advice.
  for (const seconds of [0, 1800, 30, 30, 30, 30]) await play.step(seconds);
  const started = await startServer({
    handler: play.stack.app,
    listenAddress: "127.0.0.1:0",
    web: openWebConfig,
    onProblem: (message) => expect.fail(message),
  });
  if (!started.ok) throw new Error(started.error);
  server = started.server;
});
afterAll(async () => {
  await server.close();
  await play.stop();
});

interface Found {
  readonly href: string;
  readonly text: string;
  /** The page that has it. */
  readonly on: string;
}

/** The links of a page that is well-formed. */
function linksOf(page: string, on: string): readonly Found[] {
  return [...elementsOf(readHtml(page))]
    .filter(({ name }) => name === "a")
    .map((one) => ({ href: nearest(one, "href") ?? "", text: textOf(one), on }));
}

const isSaidToBeOther = ({ text }: Found): boolean => /\b(?:JSON|text)\b/.test(text);

/** What is wrong with what a link leads to, and where that leads to. */
async function follow(one: Found): Promise<{ faults: readonly string[]; links: readonly Found[] }> {
  const response = await fetch(`${server.url}${one.href}`, { headers: { accept: "text/html" } });
  const type = response.headers.get("content-type") ?? "";
  const text = await response.text();
  const fault = (what: string) => `${one.href} on ${one.on}: ${what}`;
  const status = response.status === 200 ? [] : [fault(`status ${response.status}`)];
  if (isSaidToBeOther(one)) return { faults: status, links: [] };
  if (!type.startsWith("text/html")) return { faults: [...status, fault(type)], links: [] };
  const bytes = Buffer.byteLength(text);
  const size = bytes < 200_000 ? [] : [fault(`${bytes} bytes`)];
  return { faults: [...status, ...size], links: linksOf(text, one.href) };
}

describe("every link on every page of the demo", () => {
  test("answers, and with a page, unless it says that it is JSON or text", async () => {
    const seen = new Map<string, string>();
    const waiting: Found[] = [{ href: "/", text: "", on: "" }];
    const wrong: string[] = [];
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      if (seen.has(one.href)) continue;
      seen.set(one.href, one.on);
      const { faults, links } = await follow(one);
      wrong.push(...faults);
      waiting.push(...links);
    }
    expect(wrong).toEqual([]);
    const of = (kind: string) => [...seen.keys()].filter((href) => href.startsWith(`/${kind}/`)).length;
    // Of what the scenario has: its teams, queues, nodes and workloads are all reached.
    expect(of("teams")).toBe(play.stack.latest()?.analysis.teams.length);
    expect(of("nodes")).toBe(play.stack.latest()?.analysis.snapshot.nodes.length);
    expect(of("workloads")).toBeGreaterThanOrEqual(
      play.stack.latest()?.analysis.snapshot.workloads.length ?? Number.NaN,
    );
    expect(of("queues")).toBeGreaterThan(5);
    expect(of("recommendations")).toBeGreaterThan(0);
  });

  test("no page may load anything from elsewhere", async () => {
    for (const path of ["/", "/teams", "/queues", "/nodes", "/workloads", "/recommendations", "/teams/search"]) {
      const response = await fetch(`${server.url}${path}`);
      const policy = response.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
    }
  });
});
