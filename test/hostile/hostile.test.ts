import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { run } from "../../cli/run.ts";
import { plainTerminal } from "../../exporter/publish/terminal/layout.ts";
import { commandTables, dumpTables } from "./cases.ts";
import type { DumpCase } from "./hostileCase.ts";

const documentSchema = z.object({
  devices: z.array(z.object({ activity: z.number().nullable() })),
  problems: z.array(z.object({ message: z.string().min(1), nextStep: z.string().min(1) })),
});

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs one command line on files in a folder of its own; `DIR` is that folder, in the arguments and in the answer. */
async function runOn(files: Readonly<Record<string, string | Uint8Array>>, args: readonly string[]): Promise<Ended> {
  const folder = await mkdtemp(join(tmpdir(), "hostile-"));
  try {
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
    const written = { out: "", err: "" };
    const code = await run(
      args.map((arg) => arg.replace("DIR", folder)),
      {
        out: (text) => {
          written.out += text;
        },
        err: (text) => {
          written.err += text;
        },
        isTerminal: false,
        terminal: plainTerminal,
        interrupted: Promise.resolve(),
      },
    );
    return { code, out: written.out.replaceAll(folder, "DIR"), err: written.err.replaceAll(folder, "DIR") };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The table folds long lines at blanks. */
const collapse = (text: string): string => text.replace(/\s+/g, " ");

function expectPrintable({ out, err }: Ended): void {
  expect(`${out}${err}`.match(/[^\P{Cc}\n]/u)).toBeNull();
}

/** A dump in which no GPU is left ends with a fault and says so; all others are read, whatever else is in them. */
function expectEnd({ devices }: DumpCase, { code, err }: Ended): void {
  if (devices === 0) expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("no GPU was found") });
  else expect({ code, err }).toEqual({ code: 0, err: "" });
}

describe.each(Object.entries(dumpTables))("inspect of hostile %s", (_, cases) => {
  test.each(cases)("$name: JSON document", async (hostile) => {
    const ended = await runOn(hostile.files, ["inspect", "--output", "json", "--at", "2026-11-20T12:00:00Z", "DIR"]);
    expectPrintable(ended);
    expectEnd(hostile, ended);
    const { devices, problems } = documentSchema.parse(JSON.parse(ended.out));
    for (const { message, nextStep } of hostile.findings) {
      expect(problems).toContainEqual({ message: expect.stringContaining(message), nextStep });
    }
    if (hostile.devices !== undefined) expect(devices).toHaveLength(hostile.devices);
    if (hostile.activity !== undefined) expect(devices[0]?.activity).toBe(hostile.activity);
    for (const text of hostile.absent ?? []) expect(ended.out).not.toContain(text);
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });

  test.each(cases)("$name: table", async (hostile) => {
    const ended = await runOn(hostile.files, ["inspect", "--at", "2026-11-20T12:00:00Z", "DIR"]);
    expectPrintable(ended);
    expectEnd(hostile, ended);
    const table = collapse(ended.out);
    for (const { message, nextStep } of hostile.findings) {
      expect(table).toContain(collapse(message));
      expect(table).toContain(collapse(`-> ${nextStep}`));
    }
    for (const text of hostile.shows ?? []) expect(table).toContain(text);
    for (const text of hostile.absent ?? []) expect(table).not.toContain(text);
    expect(table).toContain("WHERE THE GPUS ARE");
  });
});

describe.each(Object.entries(commandTables))("hostile %s", (_, cases) => {
  test.each(cases)("$name", async ({ files = {}, args, code, says }) => {
    const ended = await runOn(files, args);
    expectPrintable(ended);
    expect(ended.code).toBe(code);
    const shown = collapse(code === 0 ? ended.out : ended.err);
    let from = 0;
    for (const line of says) {
      expect(shown.slice(from)).toContain(collapse(line));
      from = shown.indexOf(collapse(line), from) + collapse(line).length;
    }
    if (code !== 0) expect(ended.out).toBe("");
    expect(shown).not.toContain("this is a fault in Fairlead");
    expect(shown).not.toContain("hunter");
  });
});

test("the table is as long as it claims", () => {
  const count = [...Object.values(dumpTables), ...Object.values(commandTables)].reduce((sum, t) => sum + t.length, 0);
  expect(count).toBeGreaterThanOrEqual(44);
});
