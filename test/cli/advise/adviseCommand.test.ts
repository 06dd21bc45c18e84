import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { noAdvice } from "../../../exporter/model/recommendation.ts";
import { recommendation, withheldAdvice } from "../../../exporter/publish/document/recommendationSchema.ts";
import { hostileAdvice } from "../../publish/hostileAdvice.ts";
import { hostileNames } from "../../publish/moment.ts";
import { severalAdvice } from "../../publish/severalAdvice.ts";
import { reclaimAdvice } from "../../publish/someAdvice.ts";
import { adviseAgainst, fairlead } from "../adviseAgainst.ts";
import { dcgmPage, fragmentedDump } from "../fragmentedDump.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "fairlead-advise-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const document = z.strictObject({ recommendations: z.array(recommendation), withheld: z.array(withheldAdvice) });

const longestLine = (text: string) => Math.max(...text.split("\n").map((line) => line.length));

describe("fairlead advise", () => {
  test("lists what to do, most worth first, what became of the rest, and how much is not recommended", async () => {
    const { code, out, err } = await adviseAgainst(severalAdvice);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.split("\n").slice(0, 8)).toEqual([
      "Advice as of 2026-11-21 04:00:00 UTC",
      "TO DO NOW (3), the most worth first",
      "   1  give search 16 H100 back: suspend ads/embed-v3 (8) and ads/crawl-42 (8)",
      "      16.0 GPUs start for who is entitled to them (search/rank-7, search/rank-8 start); 2 pods stop,",
      "      3.1 GPU-hours lost (ads)",
      "      reclaim, confidence high, r-4f2a91c07d",
      "   2  move vision/eval-7 (1) and vision/eval-9 (1): then vision/train-9 (8) fits",
      "      8.0 GPUs become usable (vision/train-9 starts); 2 pods stop, at most 0.4 GPU-hours lost",
    ]);
    // What is to be asked or watched is not counted as to be done; the numbers go on.
    expect(out).toMatch(
      /\n\nTO ASK THE OWNER \((\d)\)(?:, the most worth first)?\n {3}4 {2}ask team ads about 8 idle H100/,
    );
    expect(out).toContain(
      "CLOSED LATELY\n  r-5d5d5d5d5d  move vision/eval-2 (1): then search/rank-5 (4) fits: taken 1 h 30 min",
    );
    expect(out).toContain("Looked at and not recommended: 30 (6 guard, 6 worth, 6 no-plan, 6 standing, 6 excluded)");
    expect(out).toMatch(/^Steps and effects of one: fairlead advise --url=http:\S+ --what-if ID$/m);
    expect(longestLine(out)).toBeLessThanOrEqual(100);
    expect(out).not.toContain("\u001b");
  });

  test("where there is nothing to do says so", async () => {
    const { code, out } = await adviseAgainst(noAdvice);
    expect(code).toBe(0);
    expect(out).toContain("Nothing is recommended.\n\nNothing else was found that could be better.\n");
    expect((await adviseAgainst(noAdvice, ["-o", "markdown"])).out).toBe("Nothing is recommended.\n");
  });

  test("as JSON and as YAML is the API's own records", async () => {
    const json = document.parse(JSON.parse((await adviseAgainst(severalAdvice, ["-o", "json"])).out));
    expect(json.recommendations.map(({ id }) => id)).toEqual(severalAdvice.recommendations.map(({ id }) => id));
    expect(json.withheld).toEqual(severalAdvice.withheld.map((one) => ({ id: null, ...one })));
    const yaml = (await adviseAgainst(severalAdvice, ["-o", "yaml"])).out;
    expect(document.parse(parse(yaml))).toEqual(json);
    expect(yaml).not.toMatch(/^\s*\S+: [&*]/m);
    const hostile = hostileAdvice(`${hostileNames[2]}\n- *a\n{{ }}: "`);
    const both = await Promise.all(["json", "yaml"].map((form) => adviseAgainst(hostile, ["-o", form])));
    expect(document.parse(parse(both[1]?.out ?? ""))).toEqual(document.parse(JSON.parse(both[0]?.out ?? "")));
  });

  test("--what-if shows one in full: before and after, cost, conditions and commands", async () => {
    const { code, out } = await adviseAgainst(severalAdvice, ["--what-if", reclaimAdvice.id]);
    expect(code).toBe(0);
    const lines = out.split("\n");
    const command = reclaimAdvice.steps[0]?.command ?? "";
    expect(lines[0]).toBe(`r-4f2a91c07d  reclaim  ${reclaimAdvice.title}`);
    expect(lines.slice(3)).toEqual([
      "open, first seen 10 min ago",
      "",
      "WHAT IT CHANGES (simulated)",
      "                                           now  after, packed  after, spread",
      "  GPUs that wait                          16.0            0.0            0.0",
      "  GPUs above entitlement: ads (H100)     +16.0            0.0            0.0",
      "  GPUs above entitlement: search (H100)  -16.0            0.0            0.0",
      "  gain        16.0 GPUs start for who is entitled to them (search/rank-7, search/rank-8 start)",
      "  cost        2 pods stop, 3.1 GPU-hours lost (ads)",
      "  act         to do: every guard that was asked lets it pass",
      "  confidence  high: both placement rules agree; checkpoints are known",
      "  not instead ads/serving: PodDisruptionBudget ads/serving allows 0 disruptions",
      "",
      "STEPS",
      "  1. deactivate the Workload of ads/embed-v3",
      "     only if it is still the Workload with uid 5c5e1f0e-0000-4000-8000-000000000001",
      `     first   ${command} --dry-run=server`,
      `     then    ${command}`,
      "     wait    until: its pods are gone",
      "",
    ]);
    const taken = (await adviseAgainst(severalAdvice, ["--what-if", "r-5d5d5d5d5d"])).out;
    expect(taken).toContain("\ntaken 1 h 30 min ago: pod vision/eval-2 has left its node\n");
    expect(taken).toContain("  measured: 8.0 GPUs of 8.0 predicted, 0.3 of 0.4 GPU-hours lost\n");
  });

  test.each(severalAdvice.recommendations.map(({ id }) => id))(
    "--what-if %s fits 100 columns but for commands",
    async (id) => {
      const { out } = await adviseAgainst(severalAdvice, ["--what-if", id]);
      const prose = out.split("\n").filter((line) => !/^ {5}(?:first|then) {3}/.test(line));
      expect(longestLine(prose.join("\n"))).toBeLessThanOrEqual(100);
      const json = (await adviseAgainst(severalAdvice, ["--what-if", id, "-o", "json"])).out;
      expect(recommendation.parse(JSON.parse(json))).toMatchObject({ id });
      expect((await adviseAgainst(severalAdvice, ["--what-if", id, "-o", "markdown"])).out).toContain(`, ${id}\n`);
    },
  );

  test("--what-if of an id that there is not names the next step", async () => {
    const { code, out, err } = await adviseAgainst(severalAdvice, ["--what-if", "r-0"]);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toBe(
      "fairlead: there is no recommendation r-0\nNext step: fairlead advise lists them with their ids.\n",
    );
  });
});

describe("a dump", () => {
  let dump = "";
  beforeAll(() => {
    dump = mkdtempSync(path.join(folder, "dump-"));
    writeFileSync(path.join(dump, "objects.json"), fragmentedDump);
    writeFileSync(path.join(dump, "gpu-a.prom"), dcgmPage("gpu-a", "eval-0", 1));
    writeFileSync(path.join(dump, "gpu-b.prom"), dcgmPage("gpu-b", "serve-0", 4));
  });

  test("is advised on at once: nothing has to last before it is shown", async () => {
    const { code, out, err } = await fairlead("advise", "--dump", dump);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("Advice as of 2026-11-21 11:40:00 UTC\nTO DO NOW (1)\n");
    expect(out).toContain("move vision/eval-0 (1 GPU) from gpu-a to gpu-b: then vision/train (8 GPUs) fits");
    const json = document.parse(JSON.parse((await fairlead("advise", "--dump", dump, "-o", "json")).out));
    const full = await fairlead("advise", "--dump", dump, "--what-if", json.recommendations[0]?.id ?? "");
    expect(full.out).toContain("GPUs that wait                                    8.0            0.0            0.0");
    expect(full.out).toContain("kubectl create --raw /api/v1/namespaces/vision/pods/eval-0/eviction");
  });

  test("is advised on as its configuration says", async () => {
    const configFile = path.join(folder, "fairlead.yaml");
    writeFileSync(configFile, "advice: {disabledKinds: [defragment]}\n");
    const { code, out } = await fairlead("advise", "--dump", dump, "--config.file", configFile, "-o", "json");
    expect(code).toBe(0);
    expect(document.parse(JSON.parse(out)).recommendations).toEqual([]);
    writeFileSync(configFile, "advice: {disabledKinds: [everything]}\n");
    const wrong = await fairlead("advise", "--dump", dump, "--config.file", configFile);
    expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining("advice.disabledKinds[0]") });
  });

  test("shows its advice in the overview of inspect, and in its document", async () => {
    const { code, out } = await fairlead("inspect", dump);
    expect(code).toBe(0);
    expect(out).toContain("ADVICE (1)\n   1  move vision/eval-0 (1 GPU) from gpu-a");
    expect(out).toContain(`advise --dump=${dump} --what-if ID`);
    expect(longestLine(out)).toBeLessThanOrEqual(100);
    const inspected: unknown = JSON.parse((await fairlead("inspect", dump, "-o", "json")).out);
    expect(inspected).toMatchObject({ recommendations: [{ kind: "defragment", pool: "H100-80GB-HBM3" }] });
  });

  test("that is not there is said", async () => {
    const { code, err } = await fairlead("advise", "--dump", path.join(folder, "none"));
    expect(code).toBe(1);
    expect(err).toContain("does not exist or cannot be read\nNext step: ");
  });

  test("and formats that there are not", async () => {
    const { code, err } = await fairlead("advise", "-o", "xml");
    expect(code).toBe(2);
    expect(err).toContain("table, json, yaml, markdown");
  });
});
