import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { nameRefusal } from "../../../exporter/accounts/ledger/ledgerPlace.ts";
import { openSqliteLedger } from "../../../exporter/accounts/ledger/sqliteLedger.ts";
import { keepAll, start } from "./entries.ts";
import { openLedger, temporaryFile, temporaryFolder } from "./temporaryFolder.ts";

const children: ChildProcess[] = [];
const mounted: string[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "close");
  }
  for (const place of mounted.splice(0)) execFileSync("umount", [place]);
});

/** Another process that writes the ledger on and on. */
async function writtenElsewhere(file: string): Promise<void> {
  const child = spawn(process.execPath, [
    fileURLToPath(new URL("crashChild.ts", import.meta.url)),
    file,
    "0",
    String(start),
  ]);
  children.push(child);
  let text = "";
  await new Promise<void>((resolve) => {
    child.stdout.on("data", (part: Buffer) => {
      text += part.toString();
      if (text.includes("done 3 ")) resolve();
    });
  });
}

/** The code and message with which a second writer is refused; "opened" if it is not. */
async function secondWriter(file: string): Promise<string> {
  const opened = await openSqliteLedger({ file, retention: keepAll });
  if (opened.ok) {
    await opened.ledger.close();
    return "opened";
  }
  return `${opened.problem.code}: ${opened.problem.message}`;
}

test("a symbolic link is no second ledger", async () => {
  const file = temporaryFile();
  await writtenElsewhere(file);
  const link = path.join(temporaryFolder(), "ledger.db");
  symlinkSync(file, link);
  expect(await secondWriter(link)).toMatch(/^ledger-locked: .*is being written by another process/);
});

test("nor is the folder by a symbolic link", async () => {
  const file = temporaryFile();
  await writtenElsewhere(file);
  const link = path.join(temporaryFolder(), "folder");
  symlinkSync(path.dirname(file), link);
  expect(await secondWriter(path.join(link, "ledger.db"))).toMatch(/^ledger-locked/);
});

test("a hard link is refused, whether or not its other name is written", async () => {
  const file = temporaryFile();
  await writtenElsewhere(file);
  const link = path.join(temporaryFolder(), "ledger.db");
  linkSync(file, link);
  expect(await secondWriter(link)).toMatch(/^ledger-linked: .*has 2 names \(hard links\)/);
  expect(await secondWriter(file)).toMatch(/^ledger-linked/);
});

test("a ledger that was moved away while it is written cannot be written under its new name too", async () => {
  const file = temporaryFile();
  await writtenElsewhere(file);
  const moved = path.join(temporaryFolder(), "moved.db");
  linkSync(file, moved);
  rmSync(file);
  expect(await secondWriter(moved)).toMatch(/^ledger-locked: .*is open in another process/);
});

test("one that was moved in peace goes on under its new name, and a name it had before does not matter", async () => {
  const file = temporaryFile();
  await (await openLedger(file)).close();
  const moved = path.join(temporaryFolder(), "moved.db");
  renameSync(file, moved);
  expect(await secondWriter(moved)).toBe("opened");
  renameSync(moved, file);
  expect(await secondWriter(file)).toBe("opened");
});

test("a mount of the file alone is refused: its log would lie outside of the volume", async () => {
  const file = temporaryFile();
  writeFileSync(file, "");
  const table = (place: string) => `36 35 98:0 /vol/ledger.db ${place} rw,noatime - ext4 /dev/root rw\n`;
  expect(nameRefusal(file, () => table(file))).toMatchObject({ code: "ledger-linked", subject: file });
  expect(nameRefusal(file, () => table(path.dirname(file)))).toBeNull();
  const blank = "/data/my ledger.db";
  expect(nameRefusal(blank, () => table("/data/my\\040ledger.db"))).toMatchObject({ code: "ledger-linked" });
});

test("real bind mounts: of the file, and of its folder", async (context) => {
  const file = temporaryFile();
  await writtenElsewhere(file);
  const folder = temporaryFolder();
  const alone = path.join(folder, "alone.db");
  const whole = path.join(folder, "whole");
  writeFileSync(alone, "");
  mkdirSync(whole);
  try {
    execFileSync("mount", ["--bind", file, alone], { stdio: "ignore" });
    mounted.push(alone);
    execFileSync("mount", ["--bind", path.dirname(file), whole], { stdio: "ignore" });
    mounted.push(whole);
  } catch {
    return context.skip("this user may not mount");
  }
  expect(await secondWriter(alone)).toMatch(/^ledger-linked: .*mount of one file/);
  expect(await secondWriter(path.join(whole, "ledger.db"))).toMatch(/^ledger-locked/);
});
