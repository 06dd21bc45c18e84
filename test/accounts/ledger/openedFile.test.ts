import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { filesAt, setAsideLog } from "../../../exporter/accounts/ledger/openedFile.ts";
import { temporaryFile } from "./temporaryFolder.ts";

test("each log that is set aside has a name of its own: none of an earlier ledger is lost", () => {
  const file = temporaryFile();
  for (const round of [1, 2, 3]) {
    writeFileSync(file, `ledger ${round}`);
    writeFileSync(`${file}-wal`, `log ${round}`);
    const opened = filesAt(file);
    writeFileSync(`${file}.copy`, "another");
    renameSync(`${file}.copy`, file);
    expect(setAsideLog(file, opened)).toBe(`${file}.replaced-${round}-wal`);
  }
  for (const round of [1, 2, 3]) expect(readFileSync(`${file}.replaced-${round}-wal`, "utf8")).toBe(`log ${round}`);
});
