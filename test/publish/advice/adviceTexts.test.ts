import { describe, expect, test } from "vitest";
import { recommendationOf } from "../../../cli/advise/adviseCommand.ts";
import { type Advice, noAdvice, type Recommendation } from "../../../exporter/model/recommendation.ts";
import { adviceMarkdown } from "../../../exporter/publish/advice/adviceMarkdown.ts";
import { gainText, lossText, searchText } from "../../../exporter/publish/advice/adviceWords.ts";
import { effectRows } from "../../../exporter/publish/advice/effectRows.ts";
import { buildDocument } from "../../../exporter/publish/document/buildDocument.ts";
import { recommendationRecord } from "../../../exporter/publish/document/recommendationRecords.ts";
import { recommendation } from "../../../exporter/publish/document/recommendationSchema.ts";
import { documentSchema } from "../../../exporter/publish/document/schema.ts";
import { adviceText } from "../../../exporter/publish/terminal/adviceLines.ts";
import { overview } from "../../../exporter/publish/terminal/overview.ts";
import { whatIfText } from "../../../exporter/publish/terminal/whatIfText.ts";
import { hostileAdvice } from "../hostileAdvice.ts";
import { at, hostileNames, smallMoment } from "../moment.ts";
import { severalAdvice } from "../severalAdvice.ts";
import { reclaimAdvice, someAdvice } from "../someAdvice.ts";

const overviewOf = (advice: Advice) => overview(smallMoment, smallMoment.snapshot.problems, advice);

describe("the overview", () => {
  test("has the three pieces of advice that are worth most", () => {
    const text = overviewOf(severalAdvice);
    const from = text.indexOf("ADVICE");
    expect(text.slice(from, text.indexOf("\n\n", from)).split("\n")).toEqual([
      "ADVICE (3 of 5)",
      "   1  give search 16 H100 back: suspend ads/embed-v3 (8) and ads/crawl-42 (8)",
      "      16.0 GPUs start for who is entitled to them (search/rank-7, search/rank-8 start); 2 pods stop,",
      "      3.1 GPU-hours lost (ads)",
      "      reclaim, confidence high, r-4f2a91c07d",
      "   2  ask team ads about 8 idle H100 of ads/notebook-big: nothing ran since 2026-11-21 00:50 UTC",
      "      8.0 idle GPUs become free, for 5.2 h more as expected; if its owner agrees 1 pod stops, at",
      "      most 41.3 GPU-hours lost (ads)",
      "      to ask the owner: it has been watched for 3 d 2 h: its habit is known after 7 days",
      "      release_idle, confidence low, r-77b0c1d2e3",
      "   3  move vision/eval-7 (1) and vision/eval-9 (1): then vision/train-9 (8) fits",
      "      8.0 GPUs become usable (vision/train-9 starts); 2 pods stop, at most 0.4 GPU-hours lost",
      "      (vision)",
      "      defragment, confidence medium, r-19e0aa54bc",
      "  -> all of it: fairlead advise",
      "  -> steps and effects: fairlead advise --what-if ID",
    ]);
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
  });

  test("is between where the GPUs are and the problems; without advice it is as it was", () => {
    const text = overviewOf(someAdvice);
    const places = ["WHERE THE GPUS ARE", "ADVICE (1)\n", "problems:"];
    const found = places.map((place) => text.indexOf(place));
    expect(found).not.toContain(-1);
    expect(found).toEqual([...found].sort((a, b) => a - b));
    const isClosed = { ...reclaimAdvice, state: "expired", closedAt: at, closedBecause: "x" } as const;
    for (const nothing of [noAdvice, { ...someAdvice, recommendations: [isClosed] }])
      expect(overviewOf(nothing)).toBe(overview(smallMoment));
  });
});

describe("the document", () => {
  test("has recommendations and what is withheld, as its schema says, also after a round trip as JSON", () => {
    for (const advice of [someAdvice, severalAdvice, ...hostileNames.map(hostileAdvice)]) {
      const document = buildDocument(smallMoment, [], advice);
      const read = documentSchema.parse(JSON.parse(JSON.stringify(document)));
      expect(read).toEqual(document);
      expect(read.recommendations.map(({ id }) => id)).toEqual(advice.recommendations.map(({ id }) => id));
      expect(read.withheld).toEqual(advice.withheld.map((one) => ({ id: null, ...one })));
    }
  });

  test("writes times as UTC, and names that are empty as null", () => {
    const [one, , , , fixSource] = buildDocument(smallMoment, [], severalAdvice).recommendations;
    expect(one).toMatchObject({
      firstSeen: "2026-11-21T03:50:00.000Z",
      computed: "2026-11-21T04:00:00.000Z",
      validUntil: "2026-11-21T04:01:00.000Z",
      closed: null,
      fromTeam: "ads",
      queue: "search",
    });
    expect(fixSource).toMatchObject({ fromTeam: null, forTeam: null, queue: null, pool: "A100" });
  });
});

describe("a recommendation of the API", () => {
  const all: readonly Recommendation[] = [
    ...severalAdvice.recommendations,
    ...hostileNames.flatMap((name) => hostileAdvice(name).recommendations),
  ];
  const travelled = (one: Recommendation) =>
    recommendationOf(recommendation.parse(JSON.parse(JSON.stringify(recommendationRecord(one)))));

  test("is the same again where it is read, and says the same in every form", () => {
    for (const one of all) {
      const again = travelled(one);
      expect(again).toEqual(one);
      expect(whatIfText(again, at)).toBe(whatIfText(one, at));
    }
    const again = { ...severalAdvice, recommendations: severalAdvice.recommendations.map(travelled) };
    expect(adviceText(again, at)).toBe(adviceText(severalAdvice, at));
    expect(adviceMarkdown(again)).toBe(adviceMarkdown(severalAdvice));
    expect(overviewOf(again)).toBe(overviewOf(severalAdvice));
  });
});

describe("that nothing is recommended", () => {
  const none = { ...severalAdvice, recommendations: [] };

  test("is said with the moment that was searched while a search goes on or plans hold no more", () => {
    const search = { at: at - 120, isGoingOn: true, waiting: 2 };
    expect(adviceText({ ...none, search }, at)).toMatch(
      /Nothing is recommended\. This is as of \S+; the search\s+of a later moment is still going\s+on; 2 plans hold no more and are\s+searched for again then\./,
    );
    expect(searchText({ search: { ...search, isGoingOn: false, waiting: 1 } })).toMatch(
      / 1 plan holds no more and is /,
    );
  });

  test("is said without it where the present moment was searched", () => {
    expect(searchText({ search: { at, isGoingOn: false, waiting: 0 } })).toBe("");
    expect(adviceText({ ...none, search: { at, isGoingOn: false, waiting: 0 } }, at)).toBe(adviceText(none, at));
  });
});

describe("Markdown", () => {
  test("is what a ticket shows: numbers and names as they are, commands in a block", () => {
    const text = adviceMarkdown({ recommendations: [reclaimAdvice] });
    const command = reclaimAdvice.steps[0]?.command ?? "";
    expect(text.split("\n")).toEqual([
      "## give search 16 H100 back: suspend ads/embed-v3 (8) and ads/crawl-42 (8)",
      "",
      reclaimAdvice.reason,
      "",
      "- gain: 16.0 GPUs start for who is entitled to them (search/rank-7, search/rank-8 start)",
      "- cost: 2 pods stop, 3.1 GPU-hours lost (ads)",
      "- act: to do: every guard that was asked lets it pass",
      "- confidence: high: both placement rules agree; checkpoints are known",
      "- kind and id: reclaim, r-4f2a91c07d",
      "",
      "| simulated | now | after, packed | after, spread |",
      "|---|---:|---:|---:|",
      "| GPUs that wait | 16.0 | 0.0 | 0.0 |",
      "| GPUs above entitlement: ads (H100) | +16.0 | 0.0 | 0.0 |",
      "| GPUs above entitlement: search (H100) | -16.0 | 0.0 | 0.0 |",
      "",
      "1. deactivate the Workload of ads/embed-v3",
      "",
      "   Only if: it is still the Workload with uid 5c5e1f0e-0000-4000-8000-000000000001",
      "",
      "   ```sh",
      `   ${command} --dry-run=server`,
      `   ${command}`,
      "   ```",
      "",
      "   Then wait until: its pods are gone",
      "",
    ]);
  });
});

describe("words", () => {
  const { effect, cost } = reclaimAdvice;

  test("a gain has a range where the placement rules differ", () => {
    const gained = (worst: number, best: number, starts: readonly string[]) =>
      gainText({ ...reclaimAdvice, kind: "defragment", effect: { ...effect, gainedGpus: { worst, best }, starts } });
    expect(gained(8, 8, [])).toBe("8.0 GPUs become usable");
    expect(gained(8, 16, ["a/b"])).toBe("8.0 to 16.0 GPUs become usable (a/b starts)");
    expect(gained(8, 8.01, ["a/b", "a/c"])).toBe("8.0 GPUs become usable (a/b, a/c start)");
  });

  test("the gain of a drain is what can be repaired, and that of a question to the owner of its work is that work", () => {
    const drain = { ...reclaimAdvice, kind: "drain_node", effect: { ...effect, starts: [] } } as const;
    expect(gainText({ ...drain, act: "do" })).toMatch(/ GPUs with a fault can be repaired$/);
    expect(gainText({ ...drain, act: "ask" })).toMatch(/ GPUs compute without a fault$/);
  });

  test("a loss says whose it is, and where it is an upper bound", () => {
    const lost = (values: Partial<Recommendation["cost"]>) =>
      lossText({ ...reclaimAdvice, cost: { ...cost, ...values } });
    expect(lost({})).toBe("2 pods stop, 3.1 GPU-hours lost (ads)");
    expect(lost({ pods: 1, gangs: 1, isUpperBound: true })).toBe(
      "1 pod in 1 gang stops, at most 3.1 GPU-hours lost (ads)",
    );
    expect(lost({ pods: 16, gangs: 2, teams: [] })).toBe("16 pods in 2 gangs stop, 3.1 GPU-hours lost");
    expect(lost({ pods: 0 })).toBe("nobody is disturbed");
  });

  test("an effect has the rows that change under one rule at least, and no others", () => {
    const { before } = effect;
    const rows = effectRows({
      ...effect,
      before,
      after: { mostAllocated: { ...before, wholeFreeNodes: 1 }, leastAllocated: { ...before, deviations: [] } },
    });
    expect(rows).toEqual([
      { name: "whole free nodes", before: "0", mostAllocated: "1", leastAllocated: "0" },
      { name: "GPUs above entitlement: ads (H100)", before: "+16.0", mostAllocated: "+16.0", leastAllocated: "–" },
      { name: "GPUs above entitlement: search (H100)", before: "-16.0", mostAllocated: "-16.0", leastAllocated: "–" },
    ]);
    expect(effectRows({ ...effect, before, after: { mostAllocated: before, leastAllocated: before } })).toEqual([]);
  });
});
