import express from "express";
import { describe, expect, test } from "vitest";
import { openWebConfig } from "../../../exporter/config/webConfig.ts";
import { noAdvice } from "../../../exporter/model/recommendation.ts";
import type { Finished } from "../../../exporter/publish/front/finished.ts";
import { createFront } from "../../../exporter/publish/front/front.ts";
import { sourceState } from "../../../exporter/publish/health.ts";
import { startServer } from "../../../exporter/publish/http/server.ts";
import type { StartPageInput } from "../../../exporter/publish/pages/startPage.ts";
import { elementsOf, type PageElement, readHtml, textOf } from "../../review/readHtml.ts";
import { at, health, hostileNames } from "../moment.ts";
import { queueMoment } from "../queueMoment.ts";
import { severalAdvice } from "../severalAdvice.ts";
import { manyNeeds, manyProblems, manyTeams } from "./largeMoment.ts";
import { wholeStartPage } from "./wholeStartPage.ts";

const input = (values: Partial<StartPageInput> = {}): StartPageInput => ({
  health: health(),
  analysis: queueMoment,
  at,
  advice: noAdvice,
  problems: [],
  telemetryPath: "/metrics",
  ...values,
});

const elements = (page: string): readonly PageElement[] => [...elementsOf(readHtml(page))];

/** The cells of the rows of a section's table, the heading first. */
function cellsOf(page: string, section: string): readonly (readonly string[])[] {
  const found = elements(page).find(({ attributes }) => attributes.get("id") === section);
  if (found === undefined) throw new Error(`no section ${section}`);
  return [...elementsOf(found)]
    .filter(({ name }) => name === "tr")
    .map((row) =>
      [...elementsOf(row)].filter(({ name }) => name === "th" || name === "td").map((one) => textOf(one).trim()),
    );
}

describe("the start page", () => {
  test("says who holds what, is entitled to what and waits for what, who holds the most first", () => {
    const rows = cellsOf(wholeStartPage(input()), "teams");
    expect(rows[0]).toEqual(["team (GPUs)", "entitled", "allocated", "active", "idle", "use", "deviation", "waiting"]);
    // The terminal's numbers of the same moment (test/publish/queueOutputs.test.ts), cell by cell.
    expect(rows[1]).toEqual(["ads", "24.0", "40.0", "40.0", "0.0", "100 %", "+16.0", "8.0+? for 10 min"]);
    expect(rows[2]).toEqual(["search", "51.0", "35.0", "35.0", "0.0", "100 %", "-16.0", "16.0 for 42 min"]);
    expect(rows[3]).toEqual(["vision", "16.0", "16.0", "16.0", "0.0", "100 %", "0.0", "8.0 (paused)"]);
    // Of work without a queue nothing is known but what it holds.
    expect(rows.find(([team]) => team === "bulk")).toEqual(["bulk", "–", "1.0", "1.0", "0.0", "100 %", "–", "-"]);
    const held = rows.slice(1, -1).reduce((sum, [, , allocated = ""]) => sum + Number(allocated), 0);
    expect(rows.at(-1)?.slice(0, 3)).toEqual(["all", "–", held.toFixed(1)]);
  });

  test("draws each pool as a bar whose parts add up, with the same in words", () => {
    const page = wholeStartPage(input());
    const bars = elements(page).filter(({ attributes }) => attributes.get("class") === "bar");
    expect(bars).toHaveLength(queueMoment.pools.length);
    for (const bar of bars) {
      const widths = [...elementsOf(bar)]
        .filter(({ name }) => name === "rect")
        .map(({ attributes }) => Number(attributes.get("width")));
      expect(widths.reduce((sum, width) => sum + width, 0)).toBeCloseTo(1000, 0);
      const name = bar.attributes.get("aria-label") ?? "";
      const pool = queueMoment.pools.find((one) => name.startsWith(`${one.pool}:`));
      const amounts = [...name.matchAll(/ (\d+\.\d+)/g)].map(([, amount]) => Number(amount));
      expect(amounts.reduce((sum, amount) => sum + amount, 0)).toBeCloseTo(pool?.physicalGpus ?? Number.NaN, 1);
    }
  });

  test("is below 200 KB with 100 teams, 100 open needs and 100 problems, and counts the teams beyond", () => {
    const page = wholeStartPage(
      input({ analysis: manyTeams(100), advice: manyNeeds(100), problems: manyProblems(100) }),
    );
    expect(Buffer.byteLength(page)).toBeLessThan(200_000);
    expect(cellsOf(page, "teams")).toHaveLength(1 + 100 + 1);
    expect(page).toContain("What to do first (100 open)");
    expect(wholeStartPage(input({ analysis: manyTeams(130) }))).toMatch(
      /<p>3\d more: <a href="\/teams">all teams<\/a><\/p>/,
    );
  });

  test("folds what is only good to know, and counts problems alone", () => {
    const [worse, remark] = manyProblems(2);
    if (worse === undefined || remark === undefined) throw new Error("no problems");
    const page = wholeStartPage(input({ problems: [{ ...remark, severity: "info" }, worse] }));
    expect(page).toContain("<h2>Problems (1)</h2>");
    expect(page).toContain('<details id="remarks"><summary>1 remark</summary>');
    const calm = wholeStartPage(input({ problems: [{ ...remark, severity: "info" }] }));
    expect(calm).toContain('<h2>Problems</h2>\n<p class="ok">None.</p><details id="remarks">');
    expect(wholeStartPage(input())).not.toContain("<details");
  });

  test("shows hostile names of teams as text, each with a link that names it", () => {
    for (const name of hostileNames) {
      const analysis = { ...queueMoment, teams: queueMoment.teams.map((one) => ({ ...one, team: name })) };
      const links = elements(wholeStartPage(input({ analysis })))
        .filter(({ name: tag }) => tag === "a")
        .flatMap(({ attributes }) => attributes.get("href") ?? []);
      const encoded = encodeURIComponent(name.toWellFormed());
      expect(links).toContain(name === "" ? "/teams?name=" : `/teams/${encoded}`);
    }
  });

  test("says of a source of which a part is missing that it is up partly", () => {
    const source = (fresh: readonly boolean[], required: readonly string[] = []) => ({
      source: "dcgm",
      parts: fresh.map((isFresh, i) => ({ part: `n${i}`, ageSeconds: 1, fresh: isFresh })),
      required,
      telemetry: true,
    });
    expect(sourceState(source([true, true]))).toBe("up");
    expect(sourceState(source([true, false]))).toBe("partly");
    expect(sourceState(source([false, false]))).toBe("down");
    expect(sourceState(source([true, false], ["n1"]))).toBe("down");
    expect(sourceState(source([true, false], ["n0"]))).toBe("partly");
    const parts = { ...health(), sources: [source([...Array<boolean>(23).fill(true), false])] };
    expect(wholeStartPage(input({ health: parts }))).toContain(
      '<th scope="row">dcgm</th><td class="warning">partly</td><td>23 of 24</td>',
    );
  });

  test("names the advice that is worth most, with what it asks for", () => {
    const page = wholeStartPage(input({ advice: severalAdvice }));
    const links = elements(page).filter(({ attributes }) => attributes.get("href")?.startsWith("/recommendations/"));
    expect(links).toHaveLength(3);
    expect(page).toContain("to do: ");
  });
});

describe("the start page of a running exporter", () => {
  async function ask(finished: Partial<Finished>, path = "/"): Promise<Response> {
    const never = express().use(() => undefined);
    const started = await startServer({
      handler: createFront({
        finished: {
          page: () => null,
          start: () => null,
          probe: () => ({ startedAt: 0, lastCycleAt: 100, intervalSeconds: 30, missing: ["pods not read yet"] }),
          now: () => 101,
          ...finished,
        },
        answers: never,
        telemetryPath: "/metrics",
        users: {},
        hosts: null,
      }),
      listenAddress: "127.0.0.1:0",
      web: openWebConfig,
      onProblem: (message) => expect.fail(message),
    });
    if (!started.ok) throw new Error(started.error);
    try {
      const response = await fetch(`${started.server.url}${path}`);
      return new Response(await response.text(), response);
    } finally {
      await started.server.close();
    }
  }

  test("is there at once, whatever the thread that computes is doing", async () => {
    const start = () => ({ at: 100, before: "<p>be", after: "fore</p>" });
    expect(await (await ask({ start })).text()).toBe("<p>before</p>");
    // Nobody answers here: what is missing is known all the same.
    const early = await ask({});
    expect(early.status).toBe(200);
    expect(await early.text()).toContain("No answers yet: pods not read yet.");
  });

  test("says how old it is after three intervals, and not before", async () => {
    const start = () => ({ at: 100, before: "<main>", after: "</main>" });
    expect(await (await ask({ start, now: () => 190 })).text()).toBe("<main></main>");
    expect(await (await ask({ start, now: () => 191 })).text()).toContain(
      '<main><p class="error">These numbers are 91 s old.',
    );
    const unknown = () => ({ at: null, before: "<main>", after: "</main>" });
    expect(await (await ask({ start: unknown, now: () => 1000 })).text()).toBe("<main></main>");
  });
});
