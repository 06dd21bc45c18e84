import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** Folder of the program that draws dashboards. It is in a clone, and neither in the image nor in a package. */
export const previewRoot = fileURLToPath(new URL("../../../dashboards/preview", import.meta.url));

/**
 * Installs the program that draws dashboards, unless that is done already. It has an install of its own, because Grafana's
 * libraries are large, and nothing else needs them. Rejects, with the next step, where that is not possible.
 */
export async function installPreview(say: (line: string) => void): Promise<void> {
  const [installed, locked] = ["node_modules/.package-lock.json", "package-lock.json"].map((name) =>
    path.join(previewRoot, name),
  );
  if (installed === undefined || locked === undefined || !existsSync(locked))
    throw new Error("what draws dashboards is not part of this installation. Next step: run the demo in a clone.");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(locked).mtimeMs) return;
  say("installing Grafana's UI library to draw dashboards with (once, about a minute, 320 MB) ...");
  await runIn(previewRoot, "npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
}

/**
 * Installs the program that draws dashboards, and bundles its page into a folder. Rejects, with the next step, where that is
 * not possible.
 */
export async function preparePreview(folder: string, say: (line: string) => void): Promise<void> {
  await installPreview(say);
  await runIn(previewRoot, process.execPath, ["buildPage.ts", folder]);
}

async function runIn(folder: string, command: string, args: readonly string[]): Promise<void> {
  const child = spawn(command, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  const [code] = await once(child, "exit");
  if (code !== 0)
    throw new Error(`${command} ${args[0] ?? ""} failed. Next step: its output above says why; run the demo again.`);
}
