import { describe, expect, test } from "vitest";
import { hostileAdvice } from "../../publish/hostileAdvice.ts";
import { hostileNames } from "../../publish/moment.ts";
import { adviseAgainst } from "../adviseAgainst.ts";

describe("names that someone made to do harm", () => {
  test("reach no terminal as they are, and break no line", async () => {
    const calm = (await adviseAgainst(hostileAdvice("plain"))).out.split("\n").length;
    for (const name of hostileNames.filter((one) => one.length < 100)) {
      const hostile = hostileAdvice(`${name}\u001b[2J\u202e`);
      const table = (await adviseAgainst(hostile)).out;
      expect(table.split("\n").length).toBeLessThanOrEqual(calm + 12);
      const [one] = hostile.recommendations;
      const full = (await adviseAgainst(hostile, ["--what-if", one?.id ?? ""])).out;
      for (const text of [table, full]) {
        expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
        expect(text).not.toMatch(/^fairlead_forged/m);
      }
      expect(full).toContain("     then    # This command is not shown");
    }
  });

  const attacks = [
    "[click](https://evil.example) ![x](https://evil.example/x.png) <img src=x>",
    "https://evil.example/a www.evil.example kim@evil.example",
    "@kim @org/team #12 GH~~x~~",
    "x\n\n# heading\n\n- item\n```\n~~~",
    "``` ```` ~~~~",
    "| a | b |\n|---|---|",
    "- item",
    "1. item",
    "=====",
    "$a$ &lt;script&gt; <!-- ",
    "\\",
  ];

  test.each(attacks)("make no markup, link or mention in a ticket: %j", async (name) => {
    const { out } = await adviseAgainst(hostileAdvice(name), ["-o", "markdown"]);
    const calm = (await adviseAgainst(hostileAdvice("plain"), ["-o", "markdown"])).out;
    const lines = out.split("\n");
    expect(lines).toHaveLength(calm.split("\n").length);
    const fences = lines.filter((line) => /^ {0,3}(?:`{3,}|~{3,})/.test(line));
    expect(fences).toHaveLength(2);
    const [opening = "", closing = ""] = fences;
    expect(opening.trim()).toBe(`${closing.trim()}sh`);
    const from = lines.indexOf(opening);
    const to = lines.lastIndexOf(closing);
    for (const line of lines.slice(from + 1, to)) expect(line).not.toContain(closing.trim());
    const prose = [...lines.slice(0, from), ...lines.slice(to + 1)];
    const listItem = /^\d+\. /;
    const ours = [listItem, /^## /, /^- (?:gain|cost|saves|act|ask|confidence|kind and id): /, /^\| /, /^ {3}/];
    for (const line of prose.filter((one) => one !== "|---|---:|---:|---:|")) {
      const own = ours.find((one) => one.test(line));
      const after = own === undefined ? line : line.replace(own, "");
      const rest = line.startsWith("|") ? after.replaceAll(/ \| | \|$/g, " ") : after;
      // What is left has no mark that begins or ends markup without a backslash before it.
      const bare = rest.replaceAll(/\\[^\w\s]/g, "x");
      expect(bare).not.toMatch(/[[\]<>*`~|!#]|(?<!\w)_|_(?!\w)/);
      if (own === undefined || own === listItem) expect(bare).not.toMatch(/^\s*[-+=]|^\s*\d+[.)](?:\s|$)/);
      expect(rest).not.toMatch(/:\/\/|www\.|@\w|#\w/);
    }
  });
});
