import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PlayedPrometheus, startPlayedPrometheus } from "../../../cli/demo/backfill/playedPrometheus.ts";
import { createLedgerReader, type LedgerReader } from "../../../exporter/accounts/ledger/ledgerReader.ts";
import { createLedgerHistory } from "../../../exporter/history/ledgerHistory.ts";
import { createPrometheusHistory } from "../../../exporter/history/prometheusHistory.ts";
import { buildReview } from "../../../review/build/buildReview.ts";
import type { ReviewQuestion } from "../../../review/build/source.ts";
import type { Review } from "../../../review/document/review.ts";
import { parseWindow } from "../../../review/window.ts";
import { clientOf } from "../../history/contract/client.ts";
import { flatten } from "../../review/flatten.ts";
import { hasPrometheus } from "../scrapedByPrometheus.ts";

const isThere = hasPrometheus();

/** Sections and columns that no counter has: advice, lists of single jobs, waits (other buckets), evictions, estimated splits. */
const unknownOfServers =
  /^(demand|waits|idleNodes|fragmentation|jobs|runway|actions|lastActions|lastActionsLeftOut|notAdvised|notAdvisedLeftOut|trackRecords|prices|estimatedGpuHours|notes|source|topology|startTimes)\b|^teams\[.*\]\.(waits|evictions|lostToEvictions|lostToFailures|jobs)\b|strandedGpuHours$|^coverage\.gaps/;

/**
 * What a series counted before its first scrape no server can see. The window that is compared is a whole day that begins hours
 * after the first scrape and ends hours before the last, so that nothing is left out of it and 1 % is all that is allowed;
 * only a budget's month, which begins with the first scrape, has an end in it.
 */
const allowed = 0.01;

describe.skipIf(!isThere)("a review from a ledger and from the Prometheus that scraped the same cluster", () => {
  let played: PlayedPrometheus;
  let reader: LedgerReader;

  beforeAll(async () => {
    played = await startPlayedPrometheus({ days: 1.5 });
    reader = createLedgerReader(played.ledgerFile);
  });
  afterAll(async () => {
    await reader.close();
    await played.stop();
  });

  async function review(from: "ledger" | "server", team: string | null): Promise<Review> {
    const now = played.to;
    const parsed = parseWindow({ week: null, month: null, from: "2026-11-15", to: "2026-11-16" }, now);
    if (!parsed.ok) throw new Error(parsed.error);
    const scope = { cluster: "harbor", matchers: {} };
    const source: Pick<ReviewQuestion, "history" | "accounts"> =
      from === "ledger"
        ? { history: createLedgerHistory("ledger.db", reader.query), accounts: reader }
        : { history: createPrometheusHistory({ client: clientOf(played.url), scope, now: () => now }), accounts: null };
    const budgets = [{ team: "ads", perMonth: 90_000, currency: "USD" }];
    const question = { cluster: "harbor", days: parsed.days, compare: 1, team, now, budgets, notCharged: [] };
    const built = await buildReview({ ...question, ...source });
    if (!built.ok) throw new Error(`${built.error} ${built.nextStep}`);
    return built.review;
  }

  it.each([null, "ads"])("of team %j: each number that both know agrees within 1 %", async (team) => {
    const [ledger, server] = [flatten(await review("ledger", team)), flatten(await review("server", team))];
    const compared: string[] = [];
    const different: string[] = [];
    for (const [place, wanted] of ledger) {
      const found = server.get(place) ?? null;
      if (unknownOfServers.test(place) || typeof wanted !== "number") continue;
      const isUnpricedOfTeam = team !== null && place === "unpricedGpuHours";
      if (isUnpricedOfTeam) expect(found).toBeNull();
      else if (found === null || typeof found !== "number" || !isNear(place, found, wanted))
        different.push(`${place}: ${found} of the server, ${wanted} of the ledger`);
      else compared.push(place);
    }
    expect(different).toEqual([]);
    expect(compared.length).toBeGreaterThan(team === null ? 150 : 50);
  });

  /** A change is a part of something itself. */
  const isNear = (place: string, found: number, wanted: number): boolean =>
    Math.abs(found - wanted) <= allowed * (place.endsWith(".change") ? 1 : Math.abs(wanted));

  it("knows the entitlement of each team and the work that waits, and leaves out what no counter has", async () => {
    const [ledger, server] = [await review("ledger", null), await review("server", null)];
    expect(server.teams.map(({ team }) => team)).toEqual(ledger.teams.map(({ team }) => team));
    const entitled = server.teams.filter((team) => team.entitled !== null);
    expect(entitled.length).toBeGreaterThan(3);
    expect(entitled.some(({ shortByOthers }) => (shortByOthers ?? 0) > 1)).toBe(true);
    expect(server.terms.schedulingEfficiency).toBeGreaterThan(0.5);
    expect(server.terms.schedulingEfficiency).toBeLessThan(1);
    for (const { waits, evictions, jobs } of server.teams) expect([waits, evictions, jobs]).toEqual([null, null, null]);
    expect([server.demand, server.waits, server.jobs, server.idleNodes, server.actions]).toEqual(Array(5).fill(null));
  });
});
