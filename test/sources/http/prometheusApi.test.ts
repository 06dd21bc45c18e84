import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readEnvelope } from "../../../exporter/sources/http/prometheusApi.ts";

describe("the envelope of an answer", () => {
  test.each([
    ["", { kind: "not-json", found: "empty" }],
    [" <!doctype html>", { kind: "not-json", found: "html" }],
    ["upstream timed out", { kind: "not-json", found: "other" }],
    ["[]", { kind: "odd", finding: "the answer is no JSON object" }],
    ["null", { kind: "odd", finding: "the answer is no JSON object" }],
    ['{"status":"success"}', { kind: "odd", finding: "the answer has no status or no data" }],
    ['{"__proto__":{"status":"success","data":{}}}', { kind: "odd", finding: "the answer has no status or no data" }],
    [
      '{"status":"error","errorType":"bad_data","error":"parse error"}',
      { kind: "refused", reason: "bad_data: parse error" },
    ],
    ['{"status":"error","errorType":"","error":7}', { kind: "refused", reason: "it gives no reason" }],
    ['{"status":"success","data":{"result":[]},"isPartial":true}', { kind: "success", data: { result: [] } }],
  ])("%s", (text, expected) => {
    expect(readEnvelope(text)).toMatchObject(expected);
    expect(readEnvelope(Buffer.from(text))).toEqual(readEnvelope(text));
  });

  test("of any text is reported without throwing", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(["success", "refused", "not-json", "odd"]).toContain(readEnvelope(text).kind);
      }),
      { seed: 20_261_121 },
    );
  });
});
