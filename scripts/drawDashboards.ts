import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { startPlayedPrometheus } from "../cli/demo/backfill/playedPrometheus.ts";
import { installPreview, previewRoot } from "../cli/demo/boards/preview.ts";
import { drawReview } from "./drawReview.ts";

// Draws the dashboards and the capacity review into docs/images: plays two weeks of a simulated cluster into a real Prometheus
// and a ledger, draws the answers of the server with Grafana's UI library (dashboards/preview), and those of the ledger as a
// page. Takes about five minutes, and one more the first time, to install packages.

const root = path.join(import.meta.dirname, "..");
/** Number of days that are played. They begin on the first of the month, so that the month to date is complete. */
const days = 15 + 8 / 24;
/**
 * The teams of the dashboard of one team, as for a reader who answers for two teams: one that waits, and one that has
 * recommendations.
 */
const chosen = ["vision", "notebooks"].flatMap((team) => ["--variable", `fairlead-team:var-team=${team}`]);

const say = (line: string): void => console.error(`fairlead: ${line}`);

function run(command: string, args: readonly string[], folder: string): void {
  const { status, error } = spawnSync(command, args, { cwd: folder, stdio: ["ignore", "inherit", "inherit"] });
  if (error !== undefined) throw new Error(`${command} could not be started: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ${args[0] ?? ""} failed; its output above says why`);
}

function isThere(command: string): boolean {
  return spawnSync(command, ["--version"], { stdio: "ignore" }).error === undefined;
}

const { values } = parseArgs({
  options: {
    out: { type: "string", default: path.join(root, "docs", "images") },
    widths: { type: "string", default: "1440" },
    // The address of a Prometheus that is already running; it is queried as of now.
    prometheus: { type: "string" },
    now: { type: "string" },
    scrape: { type: "string", default: "60" },
    days: { type: "string", default: String(days) },
    rows: { type: "string", default: "as-they-are" },
  },
});
const missing = ["chromium", "prometheus", "promtool"].filter((command) => !isThere(command));
if (missing.length > 0) {
  say(`not installed: ${missing.join(", ")}. Next step: install them (Debian: apt-get install chromium prometheus).`);
  process.exit(1);
}
await installPreview(say);
const played =
  values.prometheus === undefined ? await startPlayedPrometheus({ days: Number(values.days), onProgress: say }) : null;
const shots = mkdtempSync(path.join(tmpdir(), "fairlead-shots-"));
try {
  const asked = played === null ? (values.prometheus ?? "") : played.url;
  const now = values.now ?? String(played?.to ?? Math.floor(Date.now() / 1000));
  const scrape = played === null ? values.scrape : String(played.stepSeconds);
  say("drawing the dashboards ...");
  const from = ["--prometheus", asked, "--now", now, "--scrape", scrape, "--out", shots];
  run(
    process.execPath,
    ["screenshots.ts", ...from, "--widths", values.widths, "--rows", values.rows, ...chosen],
    previewRoot,
  );
  mkdirSync(values.out, { recursive: true });
  for (const name of readdirSync(shots).filter((one) => one.endsWith(".png"))) {
    const kept = values.widths === "1440" ? name.replace("-1440.png", ".png") : name;
    copyFileSync(path.join(shots, name), path.join(values.out, kept));
    say(`wrote ${path.relative(root, path.join(values.out, kept))}`);
  }
  if (played !== null) {
    say("drawing the review ...");
    const { ledgerFile, to } = played;
    for (const file of await drawReview({ cluster: "harbor", ledgerFile, now: to }, values.out))
      say(`wrote ${path.relative(root, file)}`);
  }
} finally {
  rmSync(shots, { recursive: true, force: true });
  await played?.stop();
}
