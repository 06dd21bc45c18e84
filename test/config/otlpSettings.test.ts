import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig, parseConfig } from "../../exporter/config/load.ts";

const errorsOf = (text: string): string[] => {
  const result = parseConfig(text);
  return result.ok ? [] : result.errors.map((error) => `${error.path}: ${error.message}`);
};

describe("settings otlp", () => {
  test("need an endpoint and nothing else", () => {
    const result = parseConfig("otlp: { endpoint: http://collector:4318 }");
    expect(result).toMatchObject({
      ok: true,
      value: { otlp: { endpoint: "http://collector:4318", headers: {}, metrics: true, traces: true } },
    });
    expect(errorsOf("otlp: {}")[0]).toContain("otlp.endpoint");
  });

  test.each([
    ["otlp: { endpoint: collector:4317 }", "otlp.endpoint"],
    ["otlp: { endpoint: http://c, headers: { 'two words': x } }", "otlp.headers"],
    ['otlp: { endpoint: http://c, headers: { x: "a\\nb" } }', "otlp.headers.x"],
    ["otlp: { endpoint: http://c, intervalSeconds: 0 }", "otlp.intervalSeconds"],
    ["otlp: { endpoint: http://c, protocol: grpc }", "otlp.protocol"],
  ])("%s says where it is wrong", (text, place) => {
    expect(errorsOf(text)).toHaveLength(1);
    expect(errorsOf(text)[0]).toContain(place);
  });

  test("name a file of headers relative to the configuration, which must be there", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "fairlead-otlp-"));
    try {
      const file = path.join(folder, "fairlead.yaml");
      await writeFile(file, "otlp: { endpoint: http://c, headersFile: headers }\n");
      const missing = await loadConfig(file);
      expect(missing.ok ? [] : missing.errors).toMatchObject([{ path: "otlp.headersFile" }]);
      await writeFile(path.join(folder, "headers"), "X-A: b\n");
      expect(await loadConfig(file)).toMatchObject({
        ok: true,
        value: { otlp: { headersFile: path.join(folder, "headers") } },
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
