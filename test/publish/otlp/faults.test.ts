import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createMetricExporter } from "../../../exporter/publish/otlp/exporters.ts";
import { createExportTally } from "../../../exporter/publish/otlp/exportTally.ts";
import { createMetricProducer, type ExportRound } from "../../../exporter/publish/otlp/metricProducer.ts";
import { connectionFault, readable, statusFault } from "../../../exporter/publish/otlp/postResult.ts";
import { at } from "../moment.ts";
import { exportOnce, published, start, wide } from "./publishing.ts";
import { accept, partialSuccess, type Receiver, startReceiver } from "./receiver.ts";

let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await receiver.close();
});

const points = published()
  .latest()
  ?.families.reduce((sum, family) => sum + family.series.length, 0);
const manyPoints = wide(9000);
const many = { published: published({ latest: () => manyPoints }) };
const manyCount = manyPoints.families.reduce((sum, family) => sum + family.series.length, 0);

describe("an endpoint that takes everything", () => {
  test("is no problem, and every point and span is counted", async () => {
    const { otlp, tally } = start(receiver.url);
    await otlp.tracing?.runCycle(async () => {});
    await otlp.stop();
    expect(tally.counts()).toEqual({
      point: { sent: points, rejected: 0, failed: 0 },
      span: { sent: 1, rejected: 0, failed: 0 },
    });
    expect(tally.problems()).toEqual([]);
  });
});

describe("an endpoint that refuses", () => {
  test.each([
    [400, "log"],
    [401, "otlp.headersFile"],
    [404, "otlp.traces"],
    [413, "limit"],
    [429, "otlp.intervalSeconds"],
    [503, "log"],
  ])("with %i is one problem that says what to do", async (status, nextStep) => {
    receiver.answer((response) => response.writeHead(status).end("the queue is full"));
    const { otlp, tally } = start(receiver.url);
    await otlp.tracing?.runCycle(async () => {});
    await otlp.stop();
    expect(tally.counts()).toMatchObject({ point: { sent: 0, failed: points }, span: { sent: 0, failed: 1 } });
    const [problem, ...rest] = tally.problems();
    expect(rest).toEqual([]);
    expect(problem).toMatchObject({ code: "otlp-export-failed", source: "otlp", subject: receiver.url });
    expect(problem?.message).toContain(`HTTP ${status}`);
    expect(problem?.message).toContain("the queue is full");
    expect(problem?.message).toContain("metrics: ");
    expect(problem?.message).toContain("traces: ");
    expect(problem?.nextStep).toContain(nextStep);
  });

  test("some points has them counted, and says why", async () => {
    receiver.answer((response) => response.end(partialSuccess(3, "out of order")));
    const tally = await exportOnce(receiver.url, { traces: false });
    expect(tally.counts().point).toEqual({ sent: (points ?? 0) - 3, rejected: 3, failed: 0 });
    expect(tally.problems()[0]?.message).toContain(`3 of ${points} were refused: out of order`);
  });

  test("one request of a round still gets the others", async () => {
    let answered = 0;
    receiver.answer((response) => {
      answered += 1;
      if (answered === 2) response.writeHead(400).end("a point is bad");
      else accept(response);
    });
    const tally = await exportOnce(receiver.url, { traces: false }, many);
    expect(receiver.requests).toHaveLength(Math.ceil(manyCount / 2000));
    expect(tally.counts().point).toEqual({ sent: manyCount - 2000, rejected: 0, failed: 2000 });
    expect(tally.problems()[0]?.message).toContain("a point is bad");
  });

  test("everything is asked once in a round", async () => {
    receiver.answer((response) => response.writeHead(503).end());
    const tally = await exportOnce(receiver.url, { traces: false }, many);
    expect(receiver.requests).toHaveLength(1);
    expect(tally.counts().point.failed).toBe(manyCount);
  });

  test("with an answer that is no OTLP has taken it all the same", async () => {
    receiver.answer((response) => response.end("OK, thank you"));
    const tally = await exportOnce(receiver.url, { traces: false });
    expect(tally.counts().point.sent).toBe(points);
    expect(tally.problems()).toEqual([]);
  });
});

describe("an endpoint that is not there", () => {
  test("is one problem, and ending does not wait for it", async () => {
    await receiver.close();
    const tally = await exportOnce(receiver.url, { traces: false });
    expect(tally.problems()[0]?.message).toContain("ECONNREFUSED");
    expect(tally.counts().point.failed).toBe(points);
    receiver = await startReceiver();
  });

  test("or never answers does not keep Fairlead from ending", async () => {
    receiver.answer(() => {});
    const tally = await exportOnce(receiver.url, { traces: false }, { shutdownSeconds: 0.2 });
    await expect.poll(() => tally.counts().point.failed, { timeout: 60_000 }).toBe(points);
    expect(tally.problems()[0]?.message).toContain("Fairlead is ending");
  });

  test("or never answers is given up after the deadline", async () => {
    receiver.answer(() => {});
    const tally = await exportOnce(receiver.url, { traces: false, intervalSeconds: 1 });
    await expect.poll(() => tally.problems()[0]?.message, { timeout: 60_000 }).toContain("no answer within 0.9 s");
  });

  test("or closes a kept connection is asked once more", async () => {
    receiver.answer((response) => {
      if (receiver.requests.length === 2) response.destroy();
      else accept(response);
    });
    const tally = await exportOnce(receiver.url, { traces: false }, many);
    expect(receiver.requests).toHaveLength(Math.ceil(manyCount / 2000) + 1);
    expect(tally.counts().point).toEqual({ sent: manyCount, rejected: 0, failed: 0 });
  });

  test("or cuts the connection is a problem", async () => {
    receiver.answer((response) => response.destroy());
    const tally = await exportOnce(receiver.url, { traces: false });
    expect(tally.counts().point.failed).toBe(points);
  });
});

/** A metric exporter without the SDK around it, whose rounds and clock the test has in its hands. */
function byHand(now: () => number) {
  const tally = createExportTally("test");
  let round: ExportRound | null = null;
  const posts: number[] = [];
  const answers: { status: number; retryAfter: string | null }[] = [];
  const exporter = createMetricExporter(
    {
      tally,
      now,
      post: async (body) => {
        posts.push(body.length);
        const answer = answers.shift();
        if (answer === undefined) return { ok: true, body: new Uint8Array() };
        return statusFault(answer.status, "", new Uint8Array(), answer.retryAfter);
      },
    },
    () => round,
  );
  const producer = createMetricProducer(published(), { name: "fairlead", version: "1" }, (begun) => {
    round = begun;
  });
  const run = async () => {
    const { resourceMetrics } = await producer.collect();
    await new Promise<void>((resolve) => exporter.export(resourceMetrics, () => resolve()));
  };
  return { run, tally, posts, answers };
}

describe("recovery", () => {
  test("ends the problem with the first round that went through", async () => {
    const { run, tally, answers } = byHand(() => at);
    answers.push({ status: 500, retryAfter: null });
    await run();
    expect(tally.problems()).toHaveLength(1);
    await run();
    expect(tally.problems()).toEqual([]);
    expect(tally.counts().point).toEqual({ sent: points, rejected: 0, failed: points });
  });

  test("waits as long as the endpoint asked", async () => {
    let now = at;
    const { run, tally, answers, posts } = byHand(() => now);
    answers.push({ status: 429, retryAfter: "20" });
    await run();
    now += 19;
    await run();
    expect(posts).toHaveLength(1);
    now += 1;
    await run();
    expect(posts).toHaveLength(2);
    expect(tally.counts().point).toEqual({ sent: points, rejected: 0, failed: 2 * (points ?? 0) });
  });

  test("what became too old while the endpoint was slow is not sent", async () => {
    const { run, tally, posts } = byHand(() => at + 91);
    await run();
    expect(posts).toEqual([]);
    expect(tally.problems()[0]?.message).toContain("too old");
  });
});

describe("headers from a file", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "fairlead-otlp-"));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  test("are sent, and win over the configuration's", async () => {
    const headersFile = path.join(folder, "headers");
    await writeFile(headersFile, "# comment\nAuthorization: Bearer abc:def\n\nX-Scope-OrgID: gpu\n");
    await exportOnce(receiver.url, { traces: false, headersFile, headers: { "x-scope-orgid": "other" } });
    expect(receiver.requests[0]?.headers).toMatchObject({ authorization: "Bearer abc:def", "x-scope-orgid": "gpu" });
  });

  test.each([
    ["secret without a colon", "line 1 of"],
    ["X-Ok: fine\nsecret name: x", "line 2 of"],
    ["X-Bad: secret\u0001", "line 1 of"],
  ])("that are none are a problem that does not quote them: %j", async (text, said) => {
    const headersFile = path.join(folder, "headers");
    await writeFile(headersFile, text);
    const tally = await exportOnce(receiver.url, { traces: false, headersFile });
    const [problem] = tally.problems();
    expect(problem?.message).toContain(said);
    expect(problem?.message).not.toContain("secret");
    expect(problem?.nextStep).toContain("otlp.headersFile");
    expect(receiver.requests).toEqual([]);
  });

  test("that is gone is a problem", async () => {
    const tally = await exportOnce(receiver.url, { traces: false, headersFile: path.join(folder, "gone") });
    expect(tally.problems()[0]?.message).toContain("ENOENT");
  });
});

describe("what an endpoint says", () => {
  test("is cut and has no control characters", () => {
    expect(readable(Buffer.from("\u0008\u0003\u0012\u0005wrong\u001b[31m"))).toBe("wrong [31m");
    expect(readable(Buffer.from("x".repeat(5000)))).toHaveLength(200);
    expect(readable(Buffer.from([0xff, 0xfe, 0x41]))).toBe("A");
  });

  test("of a connection names the code once", () => {
    const error = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), { code: "ECONNREFUSED" });
    expect(connectionFault(error).fault.message).toBe("connect ECONNREFUSED 127.0.0.1:1 (ECONNREFUSED)");
  });
});
