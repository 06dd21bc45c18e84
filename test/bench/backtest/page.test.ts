import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { backtestFiles } from "../../../bench/backtest/page.ts";

const docs = fileURLToPath(new URL("../../../docs", import.meta.url));

describe("docs/backtest.md", () => {
  it.each(Object.entries(backtestFiles(docs)))(
    "%s is what the kept results say (else: npm run backtest)",
    (path, text) => {
      expect(readFileSync(`${docs}/${path}`, "utf8")).toBe(text);
    },
  );
});
