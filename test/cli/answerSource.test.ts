import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { sourceText } from "../../cli/answerSource.ts";
import { terminalOf } from "../../cli/terminalOf.ts";
import { temporaryFolder } from "../accounts/ledger/temporaryFolder.ts";

const url = "http://127.0.0.1:10836";

describe("the flags that a named command repeats", () => {
  test("are those that were given, each one word of a shell", () => {
    expect(sourceText({ url })).toBe("");
    expect(sourceText({ url, demo: true })).toBe(" --demo");
    expect(sourceText({ url, dump: ["a b", "it's"], at: "2026-11-20T14:00:00Z" })).toBe(
      " --dump='a b' --dump='it'\\''s' --at=2026-11-20T14:00:00Z",
    );
    expect(sourceText({ url: "https://f.example", username: "u", passwordFile: "p", caFile: "c" })).toBe(
      " --url=https://f.example --username=u --password-file=p --ca-file=c",
    );
  });
});

describe("the terminal", () => {
  const script = "/usr/local/bin/fairlead";
  const hasColours = () => true;

  test("of a pipe has 100 columns and no colours, whatever it could", () => {
    expect(terminalOf({ columns: 150, hasColors: hasColours }, script, undefined)).toEqual({
      columns: 100,
      hasColours: false,
      program: "fairlead",
      source: "",
    });
  });

  test.each([
    [60, 80],
    [143, 143],
    [400, 200],
  ])("of %d columns gets texts of %d", (columns, expected) => {
    expect(terminalOf({ isTTY: true, columns, hasColors: hasColours }, script, undefined)).toMatchObject({
      columns: expected,
      hasColours: true,
    });
  });

  test("in a clone and under npx, commands are typed with npx", () => {
    expect(terminalOf({}, "/clone/cli/main.ts", "run-script").program).toBe("npx fairlead");
    expect(terminalOf({}, script, "exec").program).toBe("npx fairlead");
  });
});

describe("a shell completes", () => {
  /** What the shell's script asks for. */
  const completed = (...words: readonly string[]): readonly string[] => {
    const { stdout } = spawnSync(process.execPath, ["cli/main.ts", "complete", "--", ...words], { encoding: "utf8" });
    return stdout.split("\n").map((line) => line.split("\t")[0] ?? "");
  };

  test("commands, choices and options", () => {
    expect(completed("")).toEqual(expect.arrayContaining(["serve", "demo", "explain", "ledger"]));
    expect(completed("explain", "")).toEqual(expect.arrayContaining(["team", "queue", "pod", "node"]));
    expect(completed("advise", "--output", "")).toEqual(expect.arrayContaining(["table", "markdown"]));
    expect(completed("ledger", "export", "--")).toContain("--granularity");
  });

  test.each(["bash", "zsh", "fish"])("by a script for %s", (shell) => {
    const { stdout, status } = spawnSync(process.execPath, ["cli/main.ts", "complete", shell], { encoding: "utf8" });
    expect(status).toBe(0);
    expect(stdout).toContain("fairlead complete --");
    const file = path.join(temporaryFolder(), `complete.${shell}`);
    writeFileSync(file, stdout);
    const checked = spawnSync(shell, ["-n", file]);
    // Where the shell is not installed, its script is not checked.
    if (checked.error === undefined) expect(checked.status).toBe(0);
  });
});
