import { expect, it } from "vitest";
import type { ScrapeTarget } from "../../../exporter/sources/dcgm/discover.ts";
import { createPodProcessSource } from "../../../exporter/sources/dcgm/podProcessSource.ts";
import type { GetPool } from "../../../exporter/sources/http/getPool.ts";

const target = (url: string, node: string | null): ScrapeTarget => ({
  url,
  node,
  auth: { kind: "none" },
  caFile: null,
  insecureSkipVerify: false,
});

const good = 'gpu_fractioning_gpu_sm_utilization_percent{gpu_uuid="GPU-1",namespace="ml",pod="a",pod_uuid="u"} 40\n';

/** Answers each address with a text; none: it cannot be reached. */
function poolOf(pages: Map<string, string>): GetPool {
  return {
    get: async ({ url }, read) => {
      const text = pages.get(url);
      return text === undefined
        ? {
            ok: false,
            code: "refused",
            message: "connection refused",
            status: null,
            skipped: false,
            failures: 1,
            retryAt: 0,
          }
        : { ok: true, value: read(Buffer.from(text)) };
    },
    retain: () => {},
    close: async () => {},
  };
}

it("keeps a node's last good page for three intervals, and says which exporter fails", async () => {
  const pages = new Map([["http://a", good]]);
  let at = 1000;
  const source = createPodProcessSource({
    targets: () => [target("http://a", "n"), target("http://listed", null)],
    pool: poolOf(pages),
    intervalSeconds: 30,
    now: () => at,
    schedule: () => () => {},
  });
  await source.scrapeOnce(at);
  expect(source.read()).toMatchObject([{ node: "n", pods: [{ pod: "a", util: 0.4 }] }]);
  expect(source.problems()).toEqual([]);
  pages.set("http://a", "up 1\n");
  at += 60;
  await source.scrapeOnce(at);
  expect(source.read()).toHaveLength(1);
  expect(source.problems()).toMatchObject([{ code: "pod-processes-unread", subject: "n" }]);
  pages.clear();
  at += 31;
  await source.scrapeOnce(at);
  expect(source.read()).toEqual([]);
  expect(source.problems()[0]?.message).toContain("connection refused");
});
