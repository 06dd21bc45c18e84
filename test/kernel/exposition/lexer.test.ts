import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lexPage } from "../../../exporter/kernel/exposition/lexer.ts";
import { labelRoles } from "../../../exporter/sources/dcgm/dialects.ts";
import type { RowLabels } from "../../../exporter/sources/dcgm/labelBlock.ts";
import { exporterPages } from "../../../exporter/sources/dcgm/pageRows.ts";
import type { KnownMetric } from "../../../exporter/sources/dcgm/vocabulary.ts";
import { type NaivePage, naiveRead } from "../../sources/dcgm/naiveReader.ts";

interface Lexed {
  readonly samples: readonly { metric: string; labels: Record<string, string>; value: number }[];
  readonly malformed: number;
}

function lex(bytes: Buffer, acceptsCutLine = false): Lexed {
  const samples: { metric: string; labels: Record<string, string>; value: number }[] = [];
  let malformed = 0;
  lexPage<Record<string, string>, KnownMetric, RowLabels>(
    bytes,
    exporterPages,
    { acceptsCutLine },
    {
      row: present,
      sample: (metric, labels, value) => samples.push({ metric: metric.name, labels, value }),
      malformed: () => {
        malformed += 1;
      },
    },
  );
  return { samples, malformed };
}

function present(labels: RowLabels): Record<string, string> {
  const found: Record<string, string> = {};
  for (const role of labelRoles) if (labels[role] !== null) found[role] = labels[role];
  return found;
}

const util = "DCGM_FI_DEV_GPU_UTIL";

describe("lines that real pages have", () => {
  test.each([
    ["plain", `${util}{UUID="GPU-1"} 91`, 91],
    ["a blank after the comma", `${util}{gpu="0", UUID="GPU-1"} 91`, 91],
    ["a missing comma", `${util}{gpu="0"UUID="GPU-1"} 91`, 91],
    ["a comma at the end", `${util}{UUID="GPU-1",} 91`, 91],
    ["a blank before the labels", `${util} {UUID="GPU-1"} 91`, 91],
    ["a carriage return at the end", `${util}{UUID="GPU-1"} 91\r`, 91],
    ["a time stamp", `${util}{UUID="GPU-1"} 91 1772476205739`, 91],
    ["an exemplar", `${util}{UUID="GPU-1"} 91 # {trace="x"} 1`, 91],
    ["an exponent", `${util}{UUID="GPU-1"} 1.2e+01`, 12],
    ["a sign", `${util}{UUID="GPU-1"} +9.1E1`, 91],
    ["six decimals", `${util}{UUID="GPU-1"} 0.156205`, 0.156205],
    ["more digits than a double holds", `${util}{UUID="GPU-1"} 9223372036854775794`, 2 ** 63],
    ["a leading blank", ` ${util}{UUID="GPU-1"} 91`, 91],
  ])("%s", (_case, line, value) => {
    expect(lex(Buffer.from(`${line}\n`))).toMatchObject({
      samples: [{ labels: { uuid: "GPU-1" }, value }],
      malformed: 0,
    });
  });

  test("a label value holds braces, commas, quotes, line breaks and markup as text", () => {
    const page = Buffer.from(`${util}{modelName="a} 7\\n\\\\ \\"b\\", <b>",UUID="GPU-1"} 91\n`);
    expect(lex(page).samples[0]).toEqual({
      metric: util,
      labels: { modelName: 'a} 7\n\\ "b", <b>', uuid: "GPU-1" },
      value: 91,
    });
  });

  test("an unknown escape keeps its backslash, as in pages that do not escape", () => {
    expect(lex(Buffer.from(`${util}{UUID="C:\\dir"} 1\n`)).samples[0]?.labels.uuid).toBe("C:\\dir");
  });

  test("a text for a value is a sample without a number", () => {
    const page = Buffer.from(`${util}{UUID="GPU-1"} ERROR - FAILED TO CONVERT TO STRING\n${util}{UUID="GPU-1"} NaN\n`);
    expect(lex(page).samples.map(({ value }) => value)).toEqual([Number.NaN, Number.NaN]);
  });

  test.each([
    ["three dots", "..."],
    ["markup", "<html><body>Sign in</body></html>"],
    ["an open label block", `${util}{UUID="GPU-1"`],
    ["an open label value", `${util}{UUID="GPU-1} 91`],
    ["no value", `${util}{UUID="GPU-1"}`],
    ["a label without a value", `${util}{UUID} 91`],
    ["two commas", `${util}{UUID="GPU-1",,gpu="0"} 91`],
    ["something after the time stamp", `${util}{UUID="GPU-1"} 91 17 x`],
    ["a label value beyond the cap", `${util}{UUID="${"x".repeat(4097)}"} 91`],
    ["a line beyond the cap", `${util}{UUID="GPU-1"} 91${" ".repeat(65_536)}`],
  ])("malformed, and counted: %s", (_case, line) => {
    expect(lex(Buffer.from(`${line}\n${util}{UUID="GPU-2"} 5\n`))).toMatchObject({
      samples: [{ labels: { uuid: "GPU-2" }, value: 5 }],
      malformed: 1,
    });
  });

  test("a last line without its newline may be cut: it counts only where that is expected", () => {
    const page = Buffer.from(`${util}{UUID="GPU-1"} 5\n${util}{UUID="GPU-2"} 63.3`);
    expect(lex(page)).toMatchObject({ samples: [{ value: 5 }], malformed: 1 });
    expect(lex(page, true)).toMatchObject({ samples: [{ value: 5 }, { value: 63.3 }], malformed: 0 });
  });

  test("a line beyond the cap is malformed also where its labels are those of the line before", () => {
    const padding = Array.from({ length: 16 }, () => `l="${"x".repeat(4080)}"`).join(",");
    const rest = "y".repeat(65_520 - `${util}{UUID="GPU-1",${padding},l=""} 5`.length);
    const line = `${util}{UUID="GPU-1",${padding},l="${rest}"} 5`;
    const page = Buffer.from(`${line}\n${line}\n${line}${" ".repeat(65_537 - line.length)}\n`);
    expect(lex(page)).toMatchObject({ samples: [{ value: 5 }, { value: 5 }], malformed: 1 });
  });

  test("no label name reaches an object's prototype", () => {
    const page = Buffer.from(`${util}{__proto__="x",constructor="y",toString="z",UUID="GPU-1"} 1\n`);
    expect(Object.keys(lex(page).samples[0]?.labels ?? {})).toEqual(["uuid"]);
  });

  test("of a repeated label, the device keeps its own and the mapping to a pod comes last", () => {
    const page = Buffer.from(`${util}{UUID="GPU-1",UUID="GPU-2",pod="label",uuid="GPU-3",pod="real"} 1\n`);
    expect(lex(page).samples[0]?.labels).toEqual({ uuid: "GPU-1", pod: "real" });
  });
});

const names = fc.constantFrom(util, "DCGM_FI_DEV_FB_USED", "dcgm_power_usage", "DCGM_FI_DEV_SM_CLOCK", "up", "HELP");
const labelNames = fc.constantFrom("UUID", "gpu", "pod", "vgpu", "Hostname", "hostname", "exported_pod", "err_msg");
const labelValues = fc.oneof(
  fc.constantFrom("", "GPU-1", "GPU-2", "a} 1", 'say \\"hi\\"', "line\\nbreak", "back\\\\slash", "é漢", "<b>", "C:\\x"),
  fc.stringMatching(/^[a-z0-9.-]{1,12}$/),
);
const separators = fc.constantFrom(",", ", ", "", " ,");
const values = fc.oneof(
  fc.double({ noNaN: true }).map(String),
  fc.nat().map(String),
  fc.constantFrom(
    "NaN",
    "+Inf",
    "1.2e+07",
    "0.156205",
    ".5",
    "5.",
    "0x10",
    "",
    "9223372036854775794",
    "ERROR - FAILED",
  ),
);
const tails = fc.constantFrom("", "", "", " 1772476205739", "\r", " ", " # x", " 1 2", " x");
const lines = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(names, fc.array(fc.tuple(labelNames, labelValues, separators), { maxLength: 5 }), values, tails)
      .map(
        ([name, labels, value, tail]) =>
          `${name}{${labels.map(([label, text, separator]) => `${label}="${text}"${separator}`).join("")}} ${value}${tail}`,
      ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom("", "# HELP x y", `# TYPE ${util} gauge`, "...", `${util} 5`, "<html>", `${util}{`),
  },
);

function expectSame(fast: Lexed, naive: NaivePage): void {
  expect(fast.samples).toEqual(naive.samples);
  expect(fast.malformed).toBe(naive.malformed);
}

describe("against the naive reader", () => {
  test("generated pages read the same", () => {
    fc.assert(
      fc.property(
        fc.array(lines, { maxLength: 30 }),
        fc.boolean(),
        fc.constantFrom("\n", "\r\n"),
        (all, isCut, end) => {
          const page = Buffer.from(all.join(end) + (isCut ? "" : end), "utf8");
          expectSame(lex(page), naiveRead(page, false));
          expectSame(lex(page, true), naiveRead(page, true));
        },
      ),
      { seed: 1, numRuns: 500 },
    );
  });

  test("pages with damaged bytes read the same", () => {
    fc.assert(
      fc.property(
        fc.array(lines, { minLength: 1, maxLength: 8 }),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 6 }),
        (all, damage) => {
          const page = Buffer.from(`${all.join("\n")}\n`, "utf8");
          for (const [at, value] of damage) page[at % page.length] = value;
          expectSame(lex(page), naiveRead(page, false));
        },
      ),
      { seed: 2, numRuns: 500 },
    );
  });

  test("any bytes at all are read without a throw", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        const page = Buffer.from(bytes);
        expectSame(lex(page), naiveRead(page, false));
      }),
      { seed: 3, numRuns: 500 },
    );
  });
});
