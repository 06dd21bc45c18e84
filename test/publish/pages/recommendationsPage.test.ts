import { afterEach, describe, expect, test } from "vitest";
import { type Advice, noAdvice, type Recommendation } from "../../../exporter/model/recommendation.ts";
import type { Outputs } from "../../../exporter/publish/http/outputs.ts";
import type { RunningServer } from "../../../exporter/publish/http/server.ts";
import { renderRecommendation, renderRecommendations } from "../../../exporter/publish/pages/recommendationsPage.ts";
import { asKim, asLee, scriptedAdviser, startAdvised } from "../adviceServer.ts";
import { hostileAdvice } from "../hostileAdvice.ts";
import { at, health, hostileNames, smallMoment } from "../moment.ts";
import { severalAdvice } from "../severalAdvice.ts";
import { reclaimAdvice, someAdvice } from "../someAdvice.ts";
import { wholeStartPage } from "./wholeStartPage.ts";

const running: RunningServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function start(given: Advice = someAdvice, outputs: Partial<Outputs> = {}) {
  const scripted = scriptedAdviser(given);
  const server = await startAdvised(scripted.adviser, outputs);
  running.push(server);
  return { ...scripted, url: server.url };
}

async function pageOf(url: string, headers: Record<string, string> = asKim): Promise<string> {
  const response = await fetch(url, { headers });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
  return response.text();
}

/** The page's text as a reader has it. */
const textOf = (page: string) =>
  page
    .replace(/<style>[^<]*<\/style>|<script[\s\S]*?<\/script>/g, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ");

const tokenOf = (page: string) => /name="token" value="([^"]+)"/.exec(page)?.[1] ?? "";

function dismiss(url: string, fields: Record<string, string>, headers: Record<string, string> = asKim) {
  const path = `${url}/recommendations/${reclaimAdvice.id}/dismiss`;
  return fetch(path, { method: "POST", body: new URLSearchParams(fields), headers, redirect: "manual" });
}

describe("/recommendations", () => {
  test("says what to do, why, what it gains and costs, the commands, and what is not recommended", async () => {
    const { url } = await start(severalAdvice);
    const page = await pageOf(`${url}/recommendations`);
    const text = textOf(page);
    expect(text).toContain("Do now (3)");
    expect(text).toContain("give search 16 H100 back: suspend ads/embed-v3 (8) and ads/crawl-42 (8)");
    expect(text).toContain("gain 16.0 GPUs start for who is entitled to them (search/rank-7, search/rank-8 start)");
    expect(text).toContain("cost 2 pods stop, 3.1 GPU-hours lost (ads)");
    expect(text).toContain("saves $ 10,380 a week");
    expect(text).toContain("act to ask the owner: it has been watched for 3 d 2 h");
    expect(text).toContain("Questions (1) team ads: Does Notebook ads/notebook-big still need its 8 H100?");
    expect(text).toContain("release_idle, to ask the owner: 12 of 14 right; 2 came back, 85.3 GPU-hours for nothing");
    expect(text).toContain("wrong: the work came back by itself 22 h 13 min ago");
    expect(text).toContain("Alerts about it: GpuIdleAllocated (firing)");
    expect(text).toContain("GPUs above entitlement: ads (H100) +16.0 0.0 0.0");
    expect(text).toContain("kubectl cordon a100-11 --dry-run=server");
    expect(text).toContain("Not recommended (30)");
    expect(text).toContain("vision/train-0 guard moving vision/serve would go against PodDisruptionBudget");
    expect(text).toContain("Taken, expired or dismissed lately (2)");
    expect(text).toContain("taken 1 h 30 min ago: pod vision/eval-2 has left its node");
    expect(text).toContain("measured: 8.0 GPUs of 8.0 predicted, 0.3 of 0.4 GPU-hours lost");
    expect(page).not.toContain("<script");
  });

  test("has a page for each, with its details open; for others there is none", async () => {
    const { url } = await start(severalAdvice);
    const page = await pageOf(`${url}/recommendations/${reclaimAdvice.id}`);
    expect(page.match(/<article /g)).toHaveLength(1);
    expect(page).not.toContain("<details>");
    expect((await fetch(`${url}/recommendations/r-0`, { headers: asKim })).status).toBe(404);
  });

  test("where nothing is recommended says so, with the reasons below; and that no cycle is complete yet", async () => {
    const { url } = await start({ ...someAdvice, recommendations: [] });
    const text = textOf(await pageOf(`${url}/recommendations`));
    expect(text).toContain("Do now (0) Nothing is recommended. What was looked at is below.");
    expect(text).toContain("Not recommended (1)");
    expect(text).toContain("allows 0 disruptions");
    const { url: early } = await start(noAdvice, { latest: () => null });
    const earlyText = textOf(await pageOf(`${early}/recommendations`));
    expect(earlyText).toContain("No answers yet: the first cycle is not complete.");
    expect(earlyText).toContain("Nothing is recommended yet.");
    expect(earlyText).toContain("Nothing else was found that could be better.");
  });

  test("of answers that are too old says how old, and not to act on them", async () => {
    const { url } = await start(someAdvice, { now: () => at + 400 });
    const text = textOf(await pageOf(`${url}/recommendations`));
    expect(text).toContain("This is 400 s old: the last cycles did not complete. Do not act on it");
    const { url: fresh } = await start();
    expect(textOf(await pageOf(`${fresh}/recommendations`))).not.toContain("Do not act on it");
  });

  test.each(["&", '"', "<", "'"])("is below 200 KB with 100 open needs whose names are full of %s", (character) => {
    const name = character.repeat(253);
    const recommendations = Array.from({ length: 100 }, (_, index) => ({
      ...reclaimAdvice,
      id: `r-${index}`,
      title: `give ${name} back what ${name} borrows: suspend ${name}/${name} and ${name}/${name}`,
      reason: name.repeat(6),
      fromTeam: name,
      forTeam: name,
      queue: name,
      pool: name,
    }));
    const page = renderRecommendations({
      cluster: "harbor",
      advice: { ...noAdvice, recommendations },
      ...{ at, now: at, isTooOld: false, token: null },
    });
    expect(page.match(/<details class="need">/g)).toHaveLength(100);
    expect(Buffer.byteLength(page)).toBeLessThan(200_000);
  });

  test("shows 100 open ones in at most 200 KB, ten that ended, and counts the rest", async () => {
    const copies = (state: Recommendation["state"], count: number) =>
      Array.from({ length: count }, (_, index) => ({ ...reclaimAdvice, state, id: `r-${state}-${index}` }));
    const [withheld = { kind: "reclaim", subject: "", why: "worth", reason: "" }] = someAdvice.withheld;
    const page = renderRecommendations({
      cluster: "harbor",
      advice: {
        ...noAdvice,
        recommendations: [...copies("open", 120), ...copies("expired", 100)],
        withheld: Array.from({ length: 1000 }, () => withheld),
      },
      ...{ at, now: at, isTooOld: false, token: null },
    });
    const text = textOf(page);
    expect(page.match(/<details class="need">/g)).toHaveLength(100);
    expect(Buffer.byteLength(page)).toBeLessThan(200_000);
    for (const words of [
      "Do now (120)",
      "20 more: /api/v1/recommendations?state=open",
      "Not recommended (1000)",
      "950 more: /api/v1/withheld",
      "lately (100)",
      "90 more: /api/v1/recommendations",
    ])
      expect(text).toContain(words);
  });
});

describe("advice that took the place of other advice", () => {
  const newer: Recommendation = { ...reclaimAdvice, id: "r-newer", replaces: ["r-older"], openings: 2 };
  const older: Recommendation = {
    ...{ ...reclaimAdvice, id: "r-older", state: "expired", closedAt: at, replacedBy: "r-newer" },
    closedBecause: "replaced by r-newer",
  };
  const before: Recommendation = { ...newer, state: "taken", firstSeenAt: at - 9000, closedAt: at - 5000 };
  const input = {
    ...{ cluster: "harbor", at, now: at, isTooOld: false, token: null },
    advice: { ...noAdvice, recommendations: [newer, older, before] },
  };

  test("says so, with links both ways", () => {
    const page = renderRecommendations(input);
    expect(page).toContain('replaces <a class="id" href="/recommendations/r-older">r-older</a>');
    expect(page).toContain('replaced by <a class="id" href="/recommendations/r-newer">r-newer</a>');
    expect(textOf(page)).toContain("open again for 10 min");
  });

  test("has on its own page what became of its need before", () => {
    const page = renderRecommendation(input, "r-newer") ?? "";
    expect(page.match(/<article /g)).toHaveLength(2);
    expect(textOf(page)).toContain("Before (1)");
    expect(renderRecommendation(input, "r-older")).not.toContain("Before");
  });
});

describe("names that someone made to do harm", () => {
  test.each(["", `/${encodeURIComponent(hostileAdvice("").recommendations[0]?.id ?? "")}`])(
    "become no markup, are bounded, and keep the page in order: /recommendations%s",
    async (path) => {
      for (const name of hostileNames) {
        const { url } = await start(hostileAdvice(`${name}"'><img src=x onerror=alert(1)>`));
        const page = await pageOf(`${url}/recommendations${path}`);
        for (const forbidden of ["<script", "<img", 'onerror=alert(1)>"', "\u0000", "\u001b", "\u202e"])
          expect(page).not.toContain(forbidden);
        const tags = [...page.matchAll(/<(\/?)([a-z][a-z0-9]*)/g)].map(([, slash, tag]) => `${slash}${tag}`);
        const { url: plainUrl } = await start(hostileAdvice("plain"));
        const plain = await pageOf(`${plainUrl}/recommendations${path}`);
        const expected = [...plain.matchAll(/<(\/?)([a-z][a-z0-9]*)/g)].map(([, slash, tag]) => `${slash}${tag}`);
        const withoutCommands = (all: readonly string[]) => all.filter((tag) => !/^\/?(?:pre|p)$/.test(tag));
        expect(withoutCommands(tags)).toEqual(withoutCommands(expected));
      }
    },
  );

  test("of 10 kB each are cut", async () => {
    const { url } = await start(hostileAdvice("x".repeat(10_000)));
    const page = await pageOf(`${url}/recommendations`);
    const beside = textOf(page.replaceAll(/<pre>[^<]*<\/pre>/g, ""));
    expect(Math.max(...beside.split(" ").map((word) => word.length))).toBeLessThanOrEqual(2001);
    expect(page.length).toBeLessThan(100_000);
  });

  test("never make a command that does not look like what it does", async () => {
    for (const hidden of ["\u001b[8m; rm -rf /", "\n; rm -rf /", "\u202e/ fr- mr", "x".repeat(30_000)]) {
      const [step] = reclaimAdvice.steps;
      if (step === undefined) throw new Error("no step");
      const steps = [{ ...step, command: `kubectl get pods ${hidden}`, dryRun: null }];
      const { url } = await start({ ...noAdvice, recommendations: [{ ...reclaimAdvice, steps }] });
      const page = await pageOf(`${url}/recommendations`);
      expect(page).not.toContain("<pre>");
      expect(page).toContain("This command is not shown");
    }
  });
});

describe("the form that dismisses", () => {
  test("takes a reason, by whom the password says, and leads back", async () => {
    const { url, dismissed } = await start();
    const page = await pageOf(`${url}/recommendations`);
    expect(page).toContain(`<form method="post" action="/recommendations/${reclaimAdvice.id}/dismiss">`);
    const token = tokenOf(page);
    expect(token).toMatch(/^[\w-]{43}$/);
    const done = await dismiss(url, { token, reason: " ads has a deadline " });
    expect([done.status, done.headers.get("location")]).toEqual([303, "/recommendations"]);
    expect(dismissed).toEqual([[reclaimAdvice.id, "kim", "ads has a deadline"]]);
    const after = await pageOf(`${url}/recommendations`);
    expect(textOf(after)).toContain("dismissed 0 s ago: kim: ads has a deadline");
    expect(tokenOf(after)).toBe("");
    expect((await dismiss(url, { token, reason: "again" })).status).toBe(404);
  });

  test("has one beside it that says it is done, once, and not without its token", async () => {
    const { url, taken } = await start();
    const page = await pageOf(`${url}/recommendations`);
    const take = (token: string) =>
      fetch(`${url}/recommendations/${reclaimAdvice.id}/take`, {
        ...{ method: "POST", body: new URLSearchParams({ token }), headers: asKim, redirect: "manual" },
      });
    expect((await take("")).status).toBe(403);
    expect(taken).toEqual([]);
    expect((await take(tokenOf(page))).status).toBe(303);
    expect(taken).toEqual([[reclaimAdvice.id, "kim"]]);
    expect((await take(tokenOf(page))).status).toBe(404);
  });

  test("is refused without its token, with a wrong one, with another user's, and with one of another process", async () => {
    const { url, dismissed } = await start();
    const { url: other } = await start();
    const reason = "x";
    const token = tokenOf(await pageOf(`${url}/recommendations`));
    const ofLee = tokenOf(await pageOf(`${url}/recommendations`, asLee));
    const ofOther = tokenOf(await pageOf(`${other}/recommendations`));
    expect(new Set([token, ofLee, ofOther]).size).toBe(3);
    const wrong: readonly Record<string, string>[] = [
      { reason },
      { reason, token: "" },
      { reason, token: `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}` },
      { reason, token: `${token}A` },
      { reason, token: ofLee },
      { reason, token: ofOther },
      { reason, "token[]": token },
    ];
    for (const fields of wrong) expect((await dismiss(url, fields)).status).toBe(403);
    expect((await dismiss(url, { reason, token }, asLee)).status).toBe(403);
    expect((await dismiss(url, { reason, token }, {})).status).toBe(401);
    expect(dismissed).toEqual([]);
    expect((await dismiss(url, { reason, token: ofLee }, asLee)).status).toBe(303);
    expect(dismissed).toEqual([[reclaimAdvice.id, "lee", "x"]]);
  });

  test("needs a reason of some length, and no more fields or bytes than it has", async () => {
    const { url, dismissed } = await start();
    const token = tokenOf(await pageOf(`${url}/recommendations`));
    expect((await dismiss(url, { token })).status).toBe(400);
    expect((await dismiss(url, { token, reason: "  " })).status).toBe(400);
    expect((await dismiss(url, { token, reason: "x".repeat(501) })).status).toBe(400);
    expect((await dismiss(url, { token, reason: "x".repeat(20_000) })).status).toBe(413);
    expect(dismissed).toEqual([]);
    expect((await dismiss(url, { token, reason: "x".repeat(500) })).status).toBe(303);
  });

  test("is not there where no users are configured; a line says what to do", async () => {
    const { url, dismissed } = await start(someAdvice, { users: {} });
    const page = await pageOf(`${url}/recommendations`, {});
    expect(page).not.toContain("<form");
    expect(textOf(page)).toContain('To say "I did it" or "Not now" here, configure basic_auth_users');
    expect((await dismiss(url, { reason: "x" }, {})).status).toBe(403);
    expect(dismissed).toEqual([]);
  });
});

describe("the start page", () => {
  const page = (advice: Advice) =>
    wholeStartPage({
      health: health(),
      analysis: smallMoment,
      ...{ at, advice, problems: [], telemetryPath: "/metrics" },
    });

  test("names the three that are worth most, and how many there are", () => {
    const text = textOf(page(severalAdvice));
    expect(text).toContain("What to do first (5 open) reclaim : give search 16 H100 back");
    expect(text).toContain("8.0 GPUs become usable (vision/train-9 starts); 2 pods stop");
    expect(text).toContain("All 5 recommendations");
    expect(text).not.toContain("take 3 idle nodes");
    expect(page(severalAdvice)).toContain(`<a href="/recommendations/${reclaimAdvice.id}">`);
    expect(textOf(page(noAdvice))).toContain("What to do first Nothing is recommended.");
  });

  test("shows hostile names as text", () => {
    for (const name of hostileNames) {
      const shown = page(hostileAdvice(`${name}"'><img src=x onerror=alert(1)>`));
      expect(shown.match(/<script/g)).toHaveLength(1);
      for (const forbidden of ["<script>", "<img", "\u0000", "\u001b"]) expect(shown).not.toContain(forbidden);
    }
  });

  test("is of the adviser's latest: what was dismissed is gone", async () => {
    const { url, adviser } = await start();
    expect(textOf(await pageOf(`${url}/`))).toContain("What to do first (1 open)");
    adviser.dismiss(reclaimAdvice.id, "kim", "x");
    expect(textOf(await pageOf(`${url}/`))).not.toContain("(1 open)");
  });
});
