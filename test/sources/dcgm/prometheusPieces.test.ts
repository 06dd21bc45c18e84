import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inOneStep } from "../../../exporter/kernel/steps.ts";
import { parseAnswer, parseAnswerInSteps } from "../../../exporter/sources/dcgm/prometheusAnswer.ts";
import { readVectorInPieces } from "../../../exporter/sources/dcgm/prometheusPieces.ts";

const inPieces = (bytes: Buffer, least: number) => inOneStep(parseAnswerInSteps(bytes, least));
const answerOf = (result: readonly unknown[], rest: object = {}): Buffer =>
  Buffer.from(JSON.stringify({ status: "success", data: { resultType: "vector", result }, ...rest }));

/** Texts in which the seams of an answer stand, as they may in a label. */
const awkward = fc.oneof(
  fc.string(),
  fc.constantFrom(']},{"metric":{', "]}]", '"resultType":"vector","result":[', "\\", '"', "é]}]", "__proto__"),
);
const entry = fc.oneof(
  { weight: 5, arbitrary: fc.record({ metric: fc.dictionary(awkward, awkward), value: fc.tuple(fc.nat(), awkward) }) },
  fc.jsonValue(),
  fc.record({
    metric: fc.record({ a: fc.array(fc.record({ metric: fc.record({ b: awkward }), value: fc.array(fc.nat()) })) }),
  }),
);

describe("an answer read in pieces is the answer read at once", () => {
  test("whatever its series are, and wherever it is cut", () => {
    fc.assert(
      fc.property(fc.array(entry), fc.nat(200), fc.array(awkward), (result, least, warnings) => {
        const bytes = answerOf(result, warnings.length === 0 ? {} : { warnings });
        expect(inPieces(bytes, least)).toEqual(parseAnswer(bytes));
      }),
      { seed: 20260711, numRuns: 500 },
    );
  });

  test("also when bytes of it are lost or changed", () => {
    const bytes = answerOf(Array.from({ length: 20 }, (_, i) => ({ metric: { UUID: `GPU-${i}` }, value: [i, "1"] })));
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(bytes.length), fc.nat(255), fc.nat(300), (at, end, byte, least) => {
        const broken = Buffer.from(bytes.subarray(0, Math.max(end, at + 1)));
        broken[at] = byte;
        expect(inPieces(broken, least)).toEqual(parseAnswer(broken));
      }),
      { seed: 20260712, numRuns: 1000 },
    );
  });

  test("of a real server, which is really cut", () => {
    const bytes = readFileSync(join(import.meta.dirname, "recorded/two-jobs.json"));
    const compact = Buffer.from(JSON.stringify(JSON.parse(bytes.toString("utf8"))));
    expect(inPieces(compact, 500)).toEqual(parseAnswer(bytes));
    const steps = readVectorInPieces(compact, 500);
    expect(steps.next().done).toBe(false);
    expect(inOneStep(readVectorInPieces(compact, 500))).not.toBeNull();
  });

  test("a second vector elsewhere in the answer is not taken for it", () => {
    const vector = { resultType: "vector", result: [{ metric: { a: "1" }, value: [1, "1"] }] };
    const other = Buffer.from(JSON.stringify({ infos: vector, status: "success", data: { ...vector, result: [] } }));
    expect(inPieces(other, 0)).toEqual({ ok: true, result: [], warnings: [] });
  });
});
