import { afterEach, describe, expect, test } from "vitest";
import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import type { Outputs } from "../../../exporter/publish/http/outputs.ts";
import type { RunningServer } from "../../../exporter/publish/http/server.ts";
import { nameLinks, pagePath, workloadPath } from "../../../exporter/publish/pages/links.ts";
import { entriesOf } from "../../analysis/entriesOf.ts";
import { elementsOf, type PageElement, readHtml, textOf } from "../../review/readHtml.ts";
import { hostileNames } from "../moment.ts";
import { queueMoment } from "../queueMoment.ts";
import { manyTeams } from "./largeMoment.ts";
import { askPage, servePages } from "./pageServer.ts";
import { scriptedLedger } from "./scriptedLedger.ts";

const running: RunningServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function serve(analysis: Analysis = queueMoment, outputs: Partial<Outputs> = {}) {
  const server = await servePages(analysis, outputs);
  running.push(server);
  return async (path: string) => await askPage(server, path);
}

const elements = (page: string): readonly PageElement[] => [...elementsOf(readHtml(page))];
const wordsOf = (page: string): string => textOf(readHtml(page)).replaceAll(/\s+/g, " ");
const linksOf = (page: string): readonly string[] =>
  elements(page).flatMap(({ name, attributes }) => (name === "a" ? (attributes.get("href") ?? []) : []));

describe("the page of a team", () => {
  test("has its row of the overview, its explanation, its advice, its queues and its GPUs, all as links", async () => {
    const { status, type, text } = await (await serve())("/teams/search");
    expect([status, type]).toEqual([200, "text/html; charset=utf-8"]);
    const words = wordsOf(text);
    expect(words).toContain("51.035.035.00.0100 %-16.016.0 for 42 min");
    // As `fairlead explain team search` says it.
    expect(words).toContain("in domain H100, where it holds 31.0: deviation -16.0; through search");
    expect(words).toContain("By device (sums to 35.0)");
    expect(words).toContain("What to do about it (1)");
    for (const link of ["/queues/search", "/workloads/search/Job/rank-big", "/nodes/H100-node", "/teams/ads"])
      expect(linksOf(text)).toContain(link);
  });

  test("is below 200 KB where it holds hundreds of GPUs, and counts what it does not show", async () => {
    const pods = queueMoment.snapshot.pods.map((pod) => ({
      ...pod,
      team: "search",
      name: `${"p".repeat(200)}-${pod.name}`,
    }));
    const entries = Array.from({ length: 5 }, () => queueMoment.accountingEntries.list)
      .flat()
      .map((entry, i) => ({ ...entry, node: `node-${i}` }));
    const analysis = {
      ...queueMoment,
      snapshot: { ...queueMoment.snapshot, pods },
      accountingEntries: entriesOf(entries),
    };
    const { text } = await (await serve(analysis))("/teams/search");
    expect(Buffer.byteLength(text)).toBeLessThan(200_000);
    expect(wordsOf(text)).toMatch(/\d+ more parts are counted, and not shown here\./);
  });
});

describe("the list of nodes", () => {
  test("shows those that are idle in the way that is asked for, and none of a way that is not there", async () => {
    const analysis: Analysis = {
      ...queueMoment,
      idleNodes: {
        nodes: [
          { node: 0, kind: "unallocated", isWarmPool: false, since: 0 },
          { node: 1, kind: "allocated", isWarmPool: false, since: 0 },
        ],
        since: new Map(),
        warm: new Set(),
      },
    };
    const ask = await serve(analysis);
    const nodesOf = async (path: string) =>
      linksOf((await ask(path)).text).flatMap((link) => (link.startsWith("/nodes/") ? [link] : []));
    const [first, second] = queueMoment.snapshot.nodes.map(({ name }) => pagePath("node", name));
    expect(await nodesOf("/nodes?idle=unallocated")).toEqual([first]);
    expect(await nodesOf("/nodes?idle=allocated")).toEqual([second]);
    expect(await nodesOf("/nodes?idle=%3Cb%3E")).toEqual([]);
    expect((await nodesOf("/nodes")).length).toBe(queueMoment.snapshot.nodes.length);
    expect((await ask("/nodes?idle=%3Cb%3E")).text).toContain("Idle nodes: &lt;b&gt; (0)");
  });
});

describe("the page of a queue", () => {
  test("has the sums of every domain that has one of that name, who has what it misses, and what waits", async () => {
    const { status, text } = await (await serve())("/queues/search");
    expect(status).toBe(200);
    const words = wordsOf(text);
    expect(words).toContain("domain H100: entitled to 47.0 GPUs (deviation -16.0), holds 31.0, waits for 16.0");
    expect(words).toContain("domain A100: entitled to 4.0 GPUs (deviation 0.0), holds 4.0, waits for 0.0");
    expect(words).toContain("16.0 are allocated to ads above their own share");
    expect(words).toContain("Waiting (1)");
    for (const link of ["/queues/ads", "/queues/ml-org", "/workloads/search/Job/rank-big"])
      expect(linksOf(text)).toContain(link);
  });
});

describe("the pages of nodes and workloads", () => {
  test("say what is on a node", async () => {
    const { status, text } = await (await serve())("/nodes/A100-node");
    expect(status).toBe(200);
    expect(wordsOf(text)).toContain("8.0 GPUs by state");
    expect(wordsOf(text)).toContain("A100; 8.0 of them can be given out by the scheduler");
    expect(linksOf(text)).toContain("/teams/lab");
  });

  test("say of a workload that only waits for what and why, with its team and its queue", async () => {
    const { status, text } = await (await serve())("/workloads/search/Job/rank-big");
    expect(status).toBe(200);
    expect(wordsOf(text)).toContain("16.0 GPUs2 pods of it, for 42 min, in queue search: cause quota");
    expect(linksOf(text)).toEqual(expect.arrayContaining(["/teams/search", "/queues/search"]));
  });
});

describe("the past on a page", () => {
  test("is drawn with what it says in words, and its numbers", async () => {
    const { ledger, ledgerTables } = scriptedLedger();
    const { text } = await (await serve(queueMoment, { ledger, ledgerTables }))("/teams/search");
    const charts = elements(text).filter(({ attributes }) => attributes.get("class") === "chart");
    expect(charts.map(({ attributes }) => attributes.get("aria-label"))).toEqual([
      "Last day, by hour, GPUs: allocated: 6.0 GPUs in the last step, 6.0 on average, at most 6.0; active: 4.0 GPUs in the last step, 4.0 on average, at most 4.0",
      "Last 7 days, by hour, GPUs: allocated: 6.0 GPUs in the last step, 6.0 on average, at most 6.0; active: 4.0 GPUs in the last step, 4.0 on average, at most 4.0",
    ]);
    expect(wordsOf(text)).toContain("2026-11-20 04:00");
    expect(wordsOf(text)).toContain("0 to 6 GPUs");
  });

  test("is a page of its own where a name is gone: what the ledger has of it is shown", async () => {
    const { ledger, ledgerTables } = scriptedLedger();
    const ask = await serve(queueMoment, { ledger, ledgerTables });
    const { status, text } = await ask("/workloads/ads/Job/gone");
    expect(status).toBe(200);
    expect(wordsOf(text)).toContain("No such workload holds or waits for GPUs now. This is what the ledger has of it.");
    expect(wordsOf(text)).toContain("144.0 GPU-hours in the last step");
  });

  test("is said to come where no ledger is kept", async () => {
    const { text } = await (await serve())("/teams/search");
    expect(wordsOf(text)).toContain("No ledger is kept, so that the past is not known.");
  });
});

describe("names that are not there", () => {
  test("have a page that says so, with the nearest names", async () => {
    const ask = await serve();
    const { status, type, text } = await ask("/teams/serch");
    expect([status, type]).toEqual([404, "text/html; charset=utf-8"]);
    expect(wordsOf(text)).toContain("There is no team serch that holds or waits for GPUs.");
    expect(linksOf(text)).toContain("/teams/search");
    const node = await ask("/nodes/node");
    expect(linksOf(node.text)).toEqual(expect.arrayContaining(["/nodes/A100-node", "/nodes/H100-node"]));
    expect((await ask("/workloads/search/Job")).status).toBe(404);
  });

  test("before the first cycle are not known to be missing", async () => {
    const { status, text } = await (await serve(queueMoment, { latest: () => null }))("/teams/search");
    expect(status).toBe(503);
    expect(wordsOf(text)).toContain("as far as is known: the first cycle is not complete");
  });

  test("are found by a form, also where a path could not say them", async () => {
    const ask = await serve();
    expect((await ask("/teams?name=search")).status).toBe(200);
    expect(wordsOf((await ask("/workloads?name=search/Job/rank-big")).text)).toContain("Workload search/Job/rank-big");
    expect(wordsOf((await ask("/teams")).text)).toContain("Find a team by its name");
  });
});

describe("a name that someone made to do harm", () => {
  test.each(hostileNames.map((name) => [JSON.stringify(name.slice(0, 40)), name] as const))(
    "has a page that shows it as text: %s",
    async (_shown, name) => {
      if (name === "") return;
      const pods = queueMoment.snapshot.pods.map((pod) => ({ ...pod, team: name }));
      const teams = queueMoment.teams.map((one) => ({ ...one, team: name }));
      const ask = await serve({ ...queueMoment, teams, snapshot: { ...queueMoment.snapshot, pods } });
      const { status, text } = await ask(pagePath("team", name));
      expect(status).toBe(200);
      for (const forbidden of ["<script", "<img", "\u0000", "\u001b", "\u202e"]) expect(text).not.toContain(forbidden);
      // It is read without a fault: nothing is left open.
      expect(elements(text).filter(({ name: tag }) => tag === "h1")).toHaveLength(1);
    },
  );

  test("that is a step of a path has a page by another address", async () => {
    for (const name of [".", ".."]) {
      const teams = queueMoment.teams.map((one) => ({ ...one, team: name }));
      const ask = await serve({ ...queueMoment, teams });
      expect(new URL(pagePath("team", name), "http://x").href).toContain("/teams?name=");
      expect((await ask(pagePath("team", name))).status).toBe(200);
    }
    expect(workloadPath({ namespace: "a", kind: "..", name: "b/c" })).toBe("/workloads?name=a%2F..%2Fb%252Fc");
  });
});

describe("lists", () => {
  test("name all that is there, each a link that answers", async () => {
    const ask = await serve();
    for (const path of ["/teams", "/queues", "/nodes", "/workloads"]) {
      const { status, text } = await ask(path);
      expect(status).toBe(200);
      const below = linksOf(text).filter((link) => link.startsWith(`${path}/`));
      expect(below.length).toBeGreaterThan(1);
      for (const link of new Set(below)) expect([link, (await ask(link)).status]).toEqual([link, 200]);
    }
  });

  test("are below 200 KB with many names, and count the rest", async () => {
    const { text } = await (await serve(manyTeams(400)))("/teams");
    expect(Buffer.byteLength(text)).toBeLessThan(200_000);
    expect(wordsOf(text)).toMatch(/1\d\d more are not shown: find one by its name\./);
  });
});

describe("names in sentences", () => {
  const links = nameLinks(queueMoment);
  const hrefs = (text: string, subjects = {}) =>
    [...links.inText(text, subjects).markup.matchAll(/href="([^"]+)"/g)].map(([, href]) => href);

  test("are links where they can only be names", () => {
    expect(hrefs("wait for search/rank-big on H100-node.")).toEqual([
      "/workloads/search/Job/rank-big",
      "/nodes/H100-node",
    ]);
    expect(hrefs("team search borrows from ClusterQueue ads")).toEqual(["/teams/search", "/queues/ads"]);
    // Plain words are not, unless the sentence is about them.
    expect(hrefs("a search for other ads")).toEqual([]);
    expect(hrefs("give search its GPUs", { queues: ["search"] })).toEqual(["/queues/search"]);
    expect(hrefs("give search its GPUs", { teams: ["search"], queues: ["search"] })).toEqual(["/teams/search"]);
    expect(hrefs("constructor __proto__ of H200-node")).toEqual([]);
  });

  test("stay text in every other way", () => {
    const text = '<b>"search"</b> & H100-node';
    expect(links.inText(text).markup.replaceAll(/<\/?a[^>]*>/g, "")).toBe(
      "&lt;b&gt;&quot;search&quot;&lt;/b&gt; &amp; H100-node",
    );
  });
});
