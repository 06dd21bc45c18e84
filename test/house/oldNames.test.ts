import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Files in which an old name is meant: the table itself, and what opens ledgers that were written before. */
const mayNameThem: ReadonlySet<string> = new Set([
  "CHANGELOG.md",
  "exporter/accounts/ledger/schema.ts",
  "test/accounts/ledger/allocatedNames.test.ts",
  "test/accounts/ledger/queuesKept.test.ts",
  "test/accounts/ledger/version1.sql",
  "test/cli/ledger/ledger.test.ts",
  "test/publish/http/ledgerRoute.test.ts",
  "test/house/oldNames.test.ts",
]);
/** Common words, which are also names: nothing but the documents can be searched for them. */
const commonWords: ReadonlySet<string> = new Set(["held", "heard", "cards"]);

const rows = readFileSync(`${root}CHANGELOG.md`, "utf8")
  .split("\n")
  .filter((line) => /^\| .* \| `/.test(line));
const oldNames = rows.flatMap((row) =>
  [...(row.split(" | ")[1] ?? "").matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name),
);

test("the changelog has a table of new names", () => {
  expect(oldNames).toContain("fairlead_queue_held_gpus");
});

test("none of them is in a file any more", () => {
  const names = oldNames.filter((name) => !commonWords.has(name));
  const found = linesWith(`(^|[^A-Za-z0-9_-])(${names.join("|")})([^A-Za-z0-9_-]|$)`);
  expect(found.filter((line) => !mayNameThem.has(line.slice(0, line.indexOf(":"))))).toEqual([]);
});

test("those that are common words are no keys, and no values in quotation marks", () => {
  const folders = ["docs", "alerts", "dashboards", "review", "exporter/publish", "exporter/catalogue"];
  expect(linesWith(`["\`](${[...commonWords].join("|")})["\`]`, ...folders)).toEqual([]);
});

/** `FILE:LINE` of tracked files. */
function linesWith(pattern: string, ...folders: readonly string[]): readonly string[] {
  try {
    const listed = execFileSync("git", ["grep", "-E", "-e", pattern, "--", ...folders], {
      cwd: root,
      encoding: "utf8",
    });
    return listed.trim().split("\n");
  } catch {
    // git grep ends with 1 where it finds nothing.
    return [];
  }
}
