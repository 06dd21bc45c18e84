import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";

// util-linux's script gives a program a terminal of its own.
const hasScript = spawnSync("script", ["--version"]).status === 0;
const leave = "\u001b[?1049l";

/** Runs a command on a terminal, presses a key whenever a text has appeared, and answers what was drawn. */
async function onTerminal(command: string, turns: readonly (readonly [awaited: string, key: string])[]) {
  const child = spawn("script", ["-qfec", `stty rows 30 cols 100; ${command}`, "/dev/null"], {
    env: { ...process.env, TERM: "xterm-256color" },
  });
  const left = [...turns];
  let [drawn, seen] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    drawn += text;
    seen += text;
    const [next] = left;
    if (next === undefined || !seen.includes(next[0])) return;
    left.shift();
    seen = "";
    child.stdin.write(next[1]);
  });
  const [code] = await once(child, "exit");
  return { code, drawn };
}

describe.skipIf(!hasScript)("the live demo on a terminal", () => {
  test("is a screen of its own that keys change, and gives the terminal back", async () => {
    const command = `${process.execPath} cli/main.ts demo --web.listen-address 127.0.0.1:0 2>/dev/null`;
    const { code, drawn } = await onTerminal(command, [
      ["WHERE THE GPUS ARE", "a"],
      ["[a advice]", "q"],
    ]);
    expect(code).toBe(0);
    expect(drawn).toContain("WHO HOLDS WHAT");
    expect(drawn).toContain("ADVICE");
    expect(drawn.trimEnd().endsWith(leave)).toBe(true);
  });
});

test("top without a terminal says what else there is", () => {
  const { status, stderr } = spawnSync(process.execPath, ["cli/main.ts", "top", "--url", "http://127.0.0.1:1"], {
    encoding: "utf8",
  });
  expect(status).toBe(1);
  expect(stderr).toContain("Next step:");
});
