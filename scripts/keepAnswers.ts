import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type MemoryPlay, playInMemory } from "../cli/demo/playInMemory.ts";
import type { Io } from "../cli/io.ts";
import { run } from "../cli/run.ts";
import { type Config, configSchema } from "../exporter/config/schema.ts";
import { type ExplainedKind, explainedKinds } from "../exporter/publish/explain/kinds.ts";
import { plainTerminal } from "../exporter/publish/terminal/layout.ts";
import type { Scenario } from "../simulator/scenario.ts";
import { demoScenario } from "../simulator/scenarios/demo.ts";
import { playMonth } from "../test/cli/demo/simulatedMonth.ts";
import { generatedScenario } from "../test/simulator/scenarios/generated.ts";

// Writes Fairlead's answers into a folder: every captured dump through `inspect`, the demo and fifty generated clusters as
// documents, pages of metrics, recommendations and explanations, and the review of a simulated day. If it is run before and
// after a change that must not change a number, the two folders can be compared with `diff -r`. Takes some minutes.

const [folder, ...rest] = process.argv.slice(2);
if (folder === undefined || rest.length > 0) {
  console.error("usage: node scripts/keepAnswers.ts FOLDER");
  process.exit(2);
}
const repository = path.join(import.meta.dirname, "..");
const startAt = Date.parse("2026-11-16T13:00:00Z") / 1000;
/** The series about the process itself, which differ from run to run. */
const ofTheProcess = /^(# (HELP|TYPE) )?(fairlead_(cycle_duration|cycle_stage|stage|build)|nodejs_|process_)/;

function keep(file: string, text: string): void {
  const target = path.join(folder ?? "", file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, text);
}

async function commandLine(args: readonly string[]): Promise<string> {
  const parts: string[] = [];
  const io: Io = {
    out: (text) => void parts.push(text),
    err: (text) => void parts.push(text),
    isTerminal: false,
    terminal: plainTerminal,
    interrupted: new Promise<void>(() => {}),
  };
  const code = await run(args, io);
  return `${parts.join("").replaceAll(repository, "")}\nexit ${code}\n`;
}

async function keepDumps(): Promise<void> {
  const captured = path.join(repository, "test/captured");
  const dumps = readdirSync(captured, { withFileTypes: true, recursive: true }).filter((entry) => entry.isDirectory());
  for (const entry of dumps) {
    const dump = path.join(entry.parentPath, entry.name);
    const name = path.relative(captured, dump).replaceAll(path.sep, "-");
    keep(`dumps/${name}.json`, await commandLine(["inspect", dump, "--output", "json"]));
    keep(`dumps/${name}.txt`, await commandLine(["inspect", dump]));
    keep(`dumps/${name}.advice.txt`, await commandLine(["advise", "--dump", dump]));
  }
}

async function get(play: MemoryPlay, address: string): Promise<string> {
  const server = play.stack.app.listen(0, "127.0.0.1");
  try {
    await new Promise((resolve) => server.once("listening", resolve));
    const bound = server.address();
    if (bound === null || typeof bound === "string") throw new Error("no port was bound");
    return await (await fetch(`http://127.0.0.1:${bound.port}${address}`)).text();
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/**
 * For each kind that can be explained, the list of the document that names its objects, and the field of a record with the
 * name.
 */
const namesIn: Readonly<Partial<Record<ExplainedKind, { readonly list: string; readonly field: string }>>> = {
  team: { list: "teams", field: "team" },
  queue: { list: "queues", field: "name" },
  node: { list: "nodes", field: "name" },
};

async function keepPlay(name: string, scenario: Scenario, config: Config, seed: number, steps: readonly number[]) {
  const play = await playInMemory({ scenario, seed, startAt, config });
  for (const seconds of steps) await play.step(seconds);
  const document = await get(play, "/api/v1/snapshot");
  keep(`${name}/snapshot.json`, `${JSON.stringify(JSON.parse(document), null, 1)}\n`);
  keep(`${name}/recommendations.json`, await get(play, "/api/v1/recommendations"));
  const page = await get(play, "/metrics");
  const lines = page.split("\n").filter((line) => !ofTheProcess.test(line));
  keep(`${name}/metrics.prom`, lines.join("\n"));
  const parsed: Readonly<Record<string, unknown>> = JSON.parse(document);
  for (const kind of explainedKinds) {
    const { list = "", field = "" } = namesIn[kind] ?? {};
    const records = parsed[list];
    if (!Array.isArray(records)) continue;
    const names = [...new Set(records.map((record) => String(record[field])))].slice(0, 12);
    const texts = names.map((one) => get(play, `/api/v1/explain?kind=${kind}&name=${encodeURIComponent(one)}`));
    keep(`${name}/explain-${kind}.txt`, (await Promise.all(texts)).join("\n"));
  }
  await play.stop();
}

async function keepReview(): Promise<void> {
  const temporary = mkdtempSync(path.join(tmpdir(), "fairlead-answers-"));
  const ledgerPath = path.join(temporary, "ledger.db");
  await playMonth({ seed: 7, from: Date.UTC(2026, 9, 1) / 1000, days: 1, ledgerPath });
  for (const format of ["json", "markdown", "html", "csv"])
    keep(
      `review.${format}`,
      await commandLine([
        "review",
        "--ledger",
        ledgerPath,
        "--from",
        "2026-10-01",
        "--to",
        "2026-10-02",
        "--format",
        format,
      ]),
    );
  if (existsSync(temporary)) rmSync(temporary, { recursive: true });
}

await keepDumps();
console.error("dumps are kept");
const harbor = configSchema.parse({ cluster: "harbor", teams: [{ from: "namespace-label", key: "team" }] });
const cycles = (count: number): readonly number[] => [0, ...Array.from({ length: count }, () => harbor.interval)];
await keepPlay("demo", demoScenario(), harbor, 1, cycles(120));
console.error("the demo is kept");
for (let seed = 1; seed <= 50; seed++)
  await keepPlay(`generated-${seed}`, generatedScenario(seed, 6), harbor, seed, cycles(50));
console.error("generated clusters are kept");
await keepReview();
console.error("the review is kept");
