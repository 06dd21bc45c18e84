import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createReviewOutput } from "../../../cli/review/reviewOutput.ts";
import { defaultConfig } from "../../../exporter/config/defaults.ts";
import { createLedgerHistory } from "../../../exporter/history/ledgerHistory.ts";
import { noAdvice } from "../../../exporter/model/recommendation.ts";
import { reviewSchema } from "../../../review/document/review.ts";
import { scriptedAdviser, startAdvised } from "../../publish/adviceServer.ts";
import { filledLedger } from "../../review/filledLedger.ts";
import { filled } from "../../review/filler.ts";
import { accountsOf } from "../../review/reviewOf.ts";
import { fairlead } from "../adviseAgainst.ts";

const folder = mkdtempSync(path.join(tmpdir(), "fairlead-review-cli-"));
const file = (name: string): string => path.join(folder, name);
const ledger = file("ledger.db");
const closing: (() => Promise<unknown>)[] = [];
let db: DatabaseSync;

beforeAll(async () => {
  db = await filledLedger(ledger, 1, [{ seed: 1, prefix: "", currencies: ["USD"], hasLateWorkloads: false }]);
});
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});
afterAll(() => {
  db.close();
  rmSync(folder, { recursive: true, force: true });
});

/** `fairlead review` of the ledger, compared with nothing unless that is said. */
const review = (...args: readonly string[]) =>
  fairlead("review", "--ledger", ledger, "--cluster", "harbor", "--compare", "0", ...args);
const week = ["--week", "2026-W44"] as const;

const windowOf = (text: string) => reviewSchema.parse(JSON.parse(text)).window;

describe("the window of fairlead review", () => {
  it.each([
    [[...week], "2026-W44", "2026-10-26", "2026-11-02"],
    [["--month", "2026-10"], "2026-10", "2026-10-01", "2026-11-01"],
    [["--from", "2026-10-27", "--to", "2026-10-29"], "2026-10-27 to 2026-10-28", "2026-10-27", "2026-10-29"],
    [["--to", "2026-10-20"], "2026-10-13 to 2026-10-19", "2026-10-13", "2026-10-20"],
  ])("%j", async (args, label, from, to) => {
    const { code, out } = await review(...args, "--compare", "1", "--format", "json");
    expect(code).toBe(0);
    expect(windowOf(out)).toMatchObject({ label, from: `${from}T00:00:00Z`, to: `${to}T00:00:00Z` });
  });

  it.each([
    [["--week", "2026-W54"], '"2026-W54" is no week', "Write it as 2026-W46"],
    [["--week", "2199-W01"], "2199-W01 begins in the future", "Ask for one that has begun."],
    [["--month", "2026-13"], '"2026-13" is no month', "Write it as 2026-10"],
    [["--from", "yesterday"], '"yesterday" is no day', "whole days (UTC)"],
    [["--from", "2026-10-05", "--to", "2026-10-05"], "before it begins", "Give a later end."],
    [["--from", "2020-01-01", "--to", "2026-10-05"], "longer than 366 days", "Ask for a shorter one."],
    [[...week, "--month", "2026-10"], "there are several windows", "Give one of --week, --month"],
    [["--week", "2026-W10"], "nothing of 2026-W10 is recorded in ", "fairlead ledger query"],
    [[...week, "--team", "nobody"], undefined, undefined],
  ])("%j", async (args, error, nextStep) => {
    const { code, out, err } = await review(...args);
    if (error === undefined) {
      // A team that held nothing in covered time has a review of nothing.
      expect([code, out.includes("nobody")]).toEqual([0, true]);
      return;
    }
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain(error);
    expect(err).toContain(`Next step: `);
    expect(err).toContain(nextStep);
  });

  it.each([["27"], ["-1"], ["four"]])("compares with %s windows: refuses", async (windows) => {
    const { code, err } = await review(...week, "--compare", windows);
    expect(code).not.toBe(0);
    expect(err).toContain("Expected a whole number from 0 to 26.");
  });
});

describe("what fairlead review writes", () => {
  it.each([
    ["html", /^<!doctype html>/i],
    ["markdown", /^# /],
    ["json", /^\{\n {2}"schemaVersion": 1,/],
    ["csv", /^[\w"]+,/],
  ])("as %s, with its progress on stderr alone", async (format, begin) => {
    const { code, out, err } = await review(...week, "--format", format, "--compare", "4");
    expect(code).toBe(0);
    expect(out).toMatch(begin);
    expect(out).toContain("harbor");
    const lines = err.trimEnd().split("\n");
    expect(lines.every((line) => line.startsWith("fairlead: "))).toBe(true);
    expect(lines[0]).toBe("fairlead: GPU time of 2026-W40");
    expect(lines.at(-1)).toBe("fairlead: done: compared with 4 windows before");
  });

  it("refuses another format", async () => {
    const { code, err } = await review(...week, "--format", "pdf");
    expect(code).not.toBe(0);
    expect(err).toContain("html, markdown, json, csv");
  });

  it("of one team is of that team alone", async () => {
    const { out } = await review(...week, "--team", "search", "--format", "json");
    const { team, teams, demand } = reviewSchema.parse(JSON.parse(out));
    expect([team, teams.map((row) => row.team), demand]).toEqual(["search", ["search"], null]);
  });

  it("goes to a file as a whole, or not at all", async () => {
    const target = file("review.html");
    const { code, out, err } = await review(...week, "--format", "html", "--output", target);
    expect([code, out]).toEqual([0, ""]);
    expect(err).toContain(`fairlead: wrote ${target}\n`);
    expect(readFileSync(target, "utf8")).toMatch(/<\/html>\s*$/);
    const nowhere = await review(...week, "--output", file("no/such/folder/review.md"));
    expect([nowhere.code, nowhere.out]).toEqual([1, ""]);
    expect(nowhere.err).toContain("Next step: ");
  });
});

describe("where fairlead review takes its numbers from", () => {
  it.each([
    [[], "say where the review comes from, in one way"],
    [["--ledger", ledger, "--merge", "a.json"], "in one way"],
    [["--url", "http://127.0.0.1:1", "--ledger", ledger], "in one way"],
    [["--ledger", ledger, "--prometheus", "http://127.0.0.1:1"], "there are several places to ask"],
    [["--ledger", "/does/not/exist.db"], "/does/not/exist.db"],
    [["--prometheus", "ftp://server"], "not the address of a server"],
    [["--prometheus", "http://127.0.0.1:1"], "127.0.0.1:1"],
    [["--url", "http://127.0.0.1:1"], "http://127.0.0.1:1"],
  ])("%j: refuses with a next step", async (args, error) => {
    const { code, out, err } = await fairlead("review", ...args, ...week);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain(error);
    expect(err).toContain("Next step: ");
  });

  it("the configuration names the ledger, the cluster, budgets and what nobody pays for", async () => {
    const config = file("fairlead.yaml");
    const money = "cost: { notCharged: [starting], budgets: [{ team: ads, perMonth: 40000, currency: USD }] }";
    writeFileSync(config, `cluster: fjord\nledger: { path: ${JSON.stringify(ledger)} }\n${money}\n`);
    const { code, out, err } = await fairlead("review", "--config.file", config, ...week, "--format", "json");
    expect([code, code === 0 ? "" : err]).toEqual([0, ""]);
    const { clusters, teams } = reviewSchema.parse(JSON.parse(out));
    expect(clusters).toEqual(["fjord"]);
    expect(teams.find(({ team }) => team === "ads")?.budgets).toMatchObject([{ cluster: "fjord", perMonth: 40_000 }]);
    writeFileSync(config, "cluster: fjord\n");
    const missing = await fairlead("review", "--config.file", file("none.yaml"), ...week);
    expect(missing).toMatchObject({ code: 1, out: "", err: expect.stringContaining("none.yaml") });
    const nothing = await fairlead("review", "--config.file", config, ...week);
    expect(nothing).toMatchObject({ code: 1, err: expect.stringContaining("neither history.prometheus nor a ledger") });
  });

  it("a running exporter writes it as of its own clock, with its own ledger", async () => {
    const accounts = accountsOf(db);
    const history = createLedgerHistory("ledger.db", accounts.query);
    const source = { cluster: "harbor", history, accounts, ...defaultConfig.cost };
    const output = createReviewOutput(source, () => filled.now);
    const server = await startAdvised(scriptedAdviser(noAdvice).adviser, { users: {}, review: output });
    closing.push(() => server.close());
    const ask = (...args: readonly string[]) => fairlead("review", "--url", server.url, ...args, "--format", "json");
    const [asked, own] = [
      await ask(...week, "--compare", "2"),
      await review(...week, "--compare", "2", "--format", "json"),
    ];
    expect(asked.code).toBe(0);
    const [one, other] = [asked, own].map(({ out }) => ({ ...reviewSchema.parse(JSON.parse(out)), writtenAt: "" }));
    expect(one).toEqual(other);
    // Without a window, the last week that is over; its page has the one that goes on.
    expect(windowOf((await ask()).out).label).toBe("2026-W44");
    expect(windowOf((await ask("--week", "current")).out)).toMatchObject({ label: "2026-W45", isOver: false });
    const refused = await ask("--week", "2026-W60");
    expect(refused).toMatchObject({ code: 1, out: "", err: expect.stringContaining('"2026-W60" is no week') });
    expect((await ask("--week", "2026-W10")).err).toContain("that is no data, not idle GPUs");
  });

  it("a past that begins after the window is an answer: since when, and when there will be a review", async () => {
    const history = createLedgerHistory("http://a and http://b", accountsOf(db).query);
    const source = { cluster: "harbor", history, accounts: accountsOf(db), ...defaultConfig.cost };
    const output = createReviewOutput(source, () => filled.from + 5 * 3600);
    const server = await startAdvised(scriptedAdviser(noAdvice).adviser, { users: {}, review: output });
    closing.push(() => server.close());
    const asked = async (...args: readonly string[]) => await fairlead("review", "--url", server.url, ...args);
    const day = new Date(filled.from * 1000).toISOString().slice(0, 10);
    const week = await asked("--week", "last");
    expect(week).toMatchObject({ code: 0, out: "" });
    expect(week.err).toContain(` yet: data is recorded since ${day} in http://a and http://b\n`);
    expect(week.err).toMatch(/Next step: The first review will be of 2026-W\d\d, and can be written from Monday 2026-/);
    expect((await asked("--month")).err).toContain(`The first review will be of ${day.slice(0, 7)}, when that month`);
    // Nobody can wait for a review of a window that was long ago.
    expect(await asked("--week", "2025-W10")).toMatchObject({ code: 1, out: "" });
  });

  it("an exporter that keeps no past says so", async () => {
    const server = await startAdvised(scriptedAdviser(noAdvice).adviser, { users: {} });
    closing.push(() => server.close());
    const { code, err } = await fairlead("review", "--url", server.url, ...week);
    expect(code).toBe(1);
    expect(err).toContain("There is no review: nothing keeps the past.");
    expect(err).toContain("Set ledger.path");
  });
});

describe("fairlead review --merge", () => {
  const write = async (cluster: string, name: string, ...args: readonly string[]): Promise<string> => {
    const target = file(name);
    const { code, err } = await fairlead(
      "review",
      "--ledger",
      ledger,
      "--cluster",
      cluster,
      ...args,
      "--format",
      "json",
      "--output",
      target,
    );
    expect([code, code === 0 ? "" : err]).toEqual([0, ""]);
    return target;
  };
  let harbor = "";
  let fjord = "";
  beforeAll(async () => {
    harbor = await write("harbor", "harbor.json", ...week, "--compare", "1");
    fjord = await write("fjord", "fjord.json", ...week, "--compare", "1");
  });

  it("makes one review of those of several clusters", async () => {
    const { code, out, err } = await fairlead("review", "--merge", harbor, fjord, "--format", "json");
    expect([code, err]).toEqual([0, ""]);
    const merged = reviewSchema.parse(JSON.parse(out));
    const one = reviewSchema.parse(JSON.parse(readFileSync(harbor, "utf8")));
    expect(merged).toMatchObject({ clusters: ["fjord", "harbor"], source: "merged" });
    expect(merged.periods[0]?.capacity).toBeCloseTo(2 * (one.periods[0]?.capacity ?? 0), 5);
    const html = await fairlead("review", "--merge", harbor, fjord, "--format", "html");
    expect(html).toMatchObject({ code: 0, out: expect.stringContaining("fjord") });
  });

  it("refuses files that are no reviews, and says where", async () => {
    const broken = file("broken.json");
    const refused = async (text: string, ...wanted: readonly string[]) => {
      writeFileSync(broken, text);
      const { code, out, err } = await fairlead("review", "--merge", harbor, broken);
      expect([code, out]).toEqual([1, ""]);
      for (const part of [`${broken} is no review that can be merged`, "Next step: ", ...wanted])
        expect(err).toContain(part);
    };
    await refused("", "text that is no JSON");
    await refused("[]", "a list of 0");
    await refused('{"schemaVersion": 7}', "schemaVersion: found 7, expected 1");
    const text = readFileSync(fjord, "utf8");
    await refused(text.replace(/"capacity": [\d.]+/, '"capacity": "much"'), 'capacity: found "much"');
    const missing = await fairlead("review", "--merge", harbor, file("none.json"));
    expect(missing).toMatchObject({ code: 1, err: expect.stringContaining("none.json") });
  });

  it("refuses the same cluster twice, and other windows", async () => {
    const twice = await fairlead("review", "--merge", harbor, harbor);
    expect(twice).toMatchObject({ code: 1, err: expect.stringContaining('cluster "harbor" is in two of the reviews') });
    const other = await write("delta", "delta.json", "--week", "2026-W43", "--compare", "0");
    const windows = await fairlead("review", "--merge", harbor, other);
    expect(windows).toMatchObject({ code: 1, out: "", err: expect.stringContaining("different windows") });
  });
});
