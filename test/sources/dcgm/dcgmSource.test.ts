import { describe, expect, test } from "vitest";
import { createDcgmSource, type DcgmSource } from "../../../exporter/sources/dcgm/dcgmSource.ts";
import type { ScrapeTarget } from "../../../exporter/sources/dcgm/discover.ts";
import type { GetPool } from "../../../exporter/sources/http/getPool.ts";
import type { GetErrorCode, GetFailure } from "../../../exporter/sources/http/getResult.ts";
import { pageOf, sample } from "./pages.ts";

const util = "DCGM_FI_DEV_GPU_UTIL";

function target(host: string, node: string | null = host): ScrapeTarget {
  return {
    url: `http://user:secret@${host}:9400/metrics?token=1`,
    node,
    auth: { kind: "none" },
    caFile: null,
    insecureSkipVerify: false,
  };
}

/** What a server answers: a body, or nothing. */
type Answer = { readonly ok: true; readonly bytes: Buffer } | GetFailure;

function failure(code: GetErrorCode, message = "broken"): GetFailure {
  return { ok: false, code, message, status: null, skipped: false, failures: 1, retryAt: 0 };
}

/** A world with a settable clock, timers that run by hand, and answers per URL. */
function createWorld(first: readonly ScrapeTarget[], intervalSeconds = 30) {
  const answers = new Map<string, Answer>();
  const asked: string[] = [];
  const timers: { at: number; run: () => void }[] = [];
  const world = { now: 1_760_000_000, targets: first, closed: false };
  const pool: GetPool = {
    get: async ({ url }, consume) => {
      asked.push(url);
      const answer = answers.get(url) ?? failure("refused");
      return answer.ok ? { ok: true, value: consume(answer.bytes) } : answer;
    },
    retain: (urls) => {
      for (const url of answers.keys()) if (!urls.has(url)) answers.delete(url);
    },
    close: async () => {
      world.closed = true;
    },
  };
  const source = createDcgmSource({
    targets: () => world.targets,
    pool,
    intervalSeconds,
    now: () => world.now,
    schedule: (seconds, run) => {
      const timer = { at: world.now + seconds, run };
      timers.push(timer);
      return () => timers.splice(timers.indexOf(timer), 1);
    },
  });
  const pass = async (seconds: number): Promise<void> => {
    const end = world.now + seconds;
    for (let next = timers[0]; next !== undefined && next.at <= end; next = timers[0]) {
      timers.shift();
      world.now = next.at;
      next.run();
      await new Promise((resolve) => setImmediate(resolve));
    }
    world.now = end;
  };
  return { answers, asked, world, source, pass, timers };
}

function good(...lines: readonly string[]): Answer {
  return { ok: true, bytes: pageOf(...lines) };
}

const nodes = (source: DcgmSource) => source.read().pages.map(({ node }) => node);

describe("one round", () => {
  test("keeps each target's page for its own node", async () => {
    const { answers, source, world } = createWorld([target("a"), target("b")]);
    for (const one of world.targets) answers.set(one.url, good(sample(util, 0, 5, { Hostname: "pretender" })));
    await source.scrapeOnce(world.now);
    expect(source.read()).toMatchObject({ targets: 2, targetsUp: 2, pages: [{ node: "a" }, { node: "b" }] });
    expect(source.problems()).toEqual([]);
    expect(source.freshness()).toEqual([
      { part: "http://a:9400/metrics", ageSeconds: 0, fresh: true },
      { part: "http://b:9400/metrics", ageSeconds: 0, fresh: true },
    ]);
  });

  test("a target without a node may hold many", async () => {
    const { answers, source, world } = createWorld([target("prometheus", null)]);
    answers.set(target("prometheus").url, good(sample(util, 0, 5), sample(util, 1, 5, { Hostname: "node-b" })));
    await source.scrapeOnce(world.now);
    expect(nodes(source)).toEqual(["node-a", "node-b"]);
  });

  test("no target at all is a problem", () => {
    expect(createWorld([]).source.problems()).toMatchObject([{ code: "no-targets" }]);
  });
});

describe("a target that fails", () => {
  test("its last page is used up to the age limit, and the problem says since when and what to do", async () => {
    const { answers, source, world } = createWorld([target("a")]);
    const { url } = target("a");
    answers.set(url, good(sample(util, 0, 5)));
    await source.scrapeOnce(world.now);
    answers.set(url, failure("timeout", "no complete answer within 10 s"));
    world.now += 30;
    await source.scrapeOnce(world.now);
    expect(source.read()).toMatchObject({ targets: 1, targetsUp: 0, pages: [{ node: "a" }] });
    expect(source.problems()).toEqual([
      {
        source: "dcgm",
        code: "target-timeout",
        severity: "warning",
        subject: "a",
        message:
          "http://a:9400/metrics (node a): no complete answer within 10 s; failing since 2025-10-09T08:53:50.000Z; its page of 30 s ago is still used",
        nextStep: expect.stringContaining("dcgm.timeoutSeconds"),
      },
    ]);
    world.now += 61;
    await source.scrapeOnce(world.now);
    expect(source.read().pages).toEqual([]);
    expect(source.freshness()).toMatchObject([{ ageSeconds: 91, fresh: false }]);
    expect(source.problems()).toMatchObject([
      { severity: "error", message: expect.stringContaining("since 2025-10-09T08:53:50") },
    ]);
    answers.set(url, good(sample(util, 0, 6)));
    await source.scrapeOnce(world.now);
    expect(nodes(source)).toEqual(["a"]);
    expect(source.problems()).toEqual([]);
  });

  test("with a short interval a page is still good for 60 s: the exporter itself may lag that much", async () => {
    const { answers, source, world } = createWorld([target("a")], 5);
    answers.set(target("a").url, good(sample(util, 0, 5)));
    await source.scrapeOnce(world.now);
    world.now += 60;
    expect(nodes(source)).toEqual(["a"]);
    world.now += 1;
    expect(nodes(source)).toEqual([]);
  });

  test("an empty page is no data: the last good one stays", async () => {
    const { answers, source, world } = createWorld([target("a")]);
    answers.set(target("a").url, good(sample(util, 0, 5)));
    await source.scrapeOnce(world.now);
    answers.set(target("a").url, { ok: true, bytes: Buffer.alloc(0) });
    await source.scrapeOnce(world.now);
    expect(source.read()).toMatchObject({ targetsUp: 0, pages: [{ devices: [{ gpuUtil: 0.05 }] }] });
    expect(source.problems()).toMatchObject([{ code: "target-empty-page" }]);
  });

  test("twenty are listed, the others are one line", async () => {
    const { source, world } = createWorld(Array.from({ length: 30 }, (_unused, index) => target(`n${index}`)));
    await source.scrapeOnce(world.now);
    expect(source.problems()).toHaveLength(21);
    expect(source.problems()[20]).toMatchObject({
      code: "targets-failing",
      message: expect.stringContaining("30 of 30"),
    });
    expect(JSON.stringify(source.problems())).not.toContain("secret");
  });
});

describe("targets that come and go", () => {
  test("a removed target is forgotten at once", async () => {
    const { answers, source, world } = createWorld([target("a"), target("b")]);
    for (const one of world.targets) answers.set(one.url, good(sample(util, 0, 5)));
    await source.scrapeOnce(world.now);
    world.targets = [target("b")];
    await source.scrapeOnce(world.now);
    expect(nodes(source)).toEqual(["b"]);
    expect(source.read().targets).toBe(1);
    expect([...answers.keys()]).toEqual([target("b").url]);
  });

  test("an address that now belongs to another node inherits no page", async () => {
    const { answers, source, world } = createWorld([target("a", "old")]);
    answers.set(target("a").url, good(sample(util, 0, 5)));
    await source.scrapeOnce(world.now);
    world.targets = [target("a", "new")];
    answers.set(target("a").url, failure("refused"));
    await source.scrapeOnce(world.now);
    expect(source.read().pages).toEqual([]);
  });
});

describe("on its own clock", () => {
  test("asks every target once per interval, spread over it, and stops", async () => {
    const { answers, asked, source, world, pass, timers } = createWorld(
      Array.from({ length: 40 }, (_unused, index) => target(`n${index}`)),
    );
    for (const one of world.targets) answers.set(one.url, good(sample(util, 0, 5)));
    await source.start();
    expect(asked).toHaveLength(40);
    expect(source.read().targetsUp).toBe(40);
    asked.length = 0;
    const perSlice: number[] = [];
    for (let slice = 0; slice < 20; slice += 1) {
      const before = asked.length;
      await pass(1.5);
      perSlice.push(asked.length - before);
    }
    expect(new Set(asked).size).toBe(40);
    expect(asked).toHaveLength(40);
    expect(Math.max(...perSlice)).toBeLessThan(10);
    await source.stop();
    expect([world.closed, timers.length]).toEqual([true, 0]);
  });

  test("a new target is asked within an interval", async () => {
    const { answers, source, world, pass } = createWorld([target("a")]);
    await source.start();
    world.targets = [target("a"), target("b")];
    answers.set(target("b").url, good(sample(util, 0, 5)));
    await pass(31.5);
    expect(nodes(source)).toEqual(["b"]);
    await source.stop();
  });
});
