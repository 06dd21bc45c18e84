/**
 * Measures what clients with bad intentions can do to a `fairlead serve` that is started for this, on a fleet on loopback, with
 * the heap that a container of the chart's size gives it. Arguments: the numbers of nodes, by default 1,500 and 10,000;
 * `--write` writes docs/attack.md.
 */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { hashSync } from "bcryptjs";
import { startFleet } from "../fleet/fleet.ts";
import { serveCommand, untilReady } from "../serve.ts";
import type { Attack } from "./attackers.ts";
import { type Measured, reportOf } from "./report.ts";
import { perform, type Served } from "./victims.ts";

const port = 19_836;
const probePort = 19_837;
const attackSeconds = 90;
const quietSeconds = 20;

const password = "correct horse";
const loginUsers = Array.from({ length: 200 }, (_, index) => `user${index}`);
const credentialsOf = (name: string): string => `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;

/** The memory limits of docs/operations.md, in mebibytes; Node's heap is half of its container. */
const limitOf = (nodes: number): number => (nodes <= 2500 ? 1024 : nodes <= 5000 ? 1536 : 2048);

async function measure(nodes: number): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "fairlead-attack-"));
  const fleet = await startFleet(nodes);
  const limitMiB = limitOf(nodes);
  const started = startServe(folder, fleet.apiUrl, limitMiB);
  try {
    await untilReady(started, probePort);
    const pid = started.pid ?? 0;
    const quiet = await serveFor(quietSeconds, null, started);
    const attack: Attack = {
      port,
      authorization: credentialsOf("scraper"),
      stalledReaders: 1000,
      idleConnections: 1000,
      wrongLoginsPerSecond: 100,
      questionsAtOnce: 60,
      questions: ["/review", "/api/v1/explain?kind=team&name=team-001"],
    };
    const attacked = await serveFor(attackSeconds, attack, started);
    const peakMiB = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
    return { nodes, limitMiB, peakMiB, hasLived: started.exitCode === null, quiet: quiet.served, ...attacked };
  } finally {
    started.kill();
    fleet.stop();
    if (started.exitCode === null && started.signalCode === null) await once(started, "exit");
    rmSync(folder, { recursive: true, force: true });
  }
}

function startServe(folder: string, apiUrl: string, limitMiB: number): ChildProcess {
  const web = join(folder, "web.yml");
  const hash = hashSync(password, 10);
  const users = ["scraper", "ada", ...loginUsers].map((name) => `  ${name}: ${hash}\n`);
  writeFileSync(web, `basic_auth_users:\n${users.join("")}`);
  const container = enterContainer(limitMiB);
  const words = serveCommand({
    folder,
    apiUrl,
    port,
    probePort,
    config: `ledger: { path: ${join(folder, "ledger.db")} }\n`,
    nodeFlags: container === "" ? [`--max-old-space-size=${limitMiB / 2}`] : [],
    flags: [`--web.config.file=${web}`],
  });
  const child = spawn("sh", ["-c", `${container}exec "$@"`, "sh", ...words], { stdio: ["ignore", "ignore", "pipe"] });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    if (text.includes("ending")) process.stderr.write(text);
  });
  return child;
}

/**
 * Makes control groups with the memory limit, and with the CPU weight that a container gets whose request is a quarter of a
 * core, on a machine where 15 others want each core. Returns shell words that enter them; empty if this user may not make such
 * groups.
 */
function enterContainer(limitMiB: number): string {
  const groups = { memory: "/sys/fs/cgroup/memory/fairlead-attack", cpu: "/sys/fs/cgroup/cpu/fairlead-attack" };
  try {
    for (const group of Object.values(groups)) mkdirSync(group, { recursive: true });
    writeFileSync(join(groups.memory, "memory.limit_in_bytes"), `${limitMiB * 1024 * 1024}`);
    writeFileSync(join(groups.cpu, "cpu.shares"), "4096");
    return Object.values(groups)
      .map((group) => `echo $$ > ${group}/cgroup.procs && `)
      .join("");
  } catch {
    return "";
  }
}

/** Performs all duties that must go on, with or without an attack, for some seconds. */
async function serveFor(
  seconds: number,
  attack: Attack | null,
  started: ChildProcess,
): Promise<{ readonly served: readonly Served[]; readonly counts: Readonly<Record<string, number>> }> {
  const attackers =
    attack === null
      ? null
      : fork(fileURLToPath(new URL("attackers.ts", import.meta.url)), [JSON.stringify(attack)], { execArgv: [] });
  const over = new AbortController();
  started.once("exit", () => over.abort());
  const open = (): string => "";
  const scraper = (): string => credentialsOf("scraper");
  const newcomer = (): string => credentialsOf(loginUsers.shift() ?? "ada");
  const duties = [
    { what: "/livez, port of the probes", port: probePort, path: "/livez", every: 250, credentials: open, patience: 0 },
    { what: "/livez, port of everybody", port, path: "/livez", every: 250, credentials: open, patience: 0 },
    { what: "/metrics", port, path: "/metrics", every: 1000, credentials: scraper, patience: 0 },
    { what: "first login of a user", port, path: "/metrics", every: 2000, credentials: newcomer, patience: 10_000 },
    { what: "/api/v1/teams", port, path: "/api/v1/teams", every: 2000, credentials: scraper, patience: 0 },
  ];
  const all = Promise.all(duties.map((duty) => perform(duty, over.signal)));
  await Promise.race([wait(seconds * 1000), once(started, "exit")]);
  over.abort();
  const served = await all;
  let counts: Record<string, number> = {};
  if (attackers !== null) {
    attackers.send("counts");
    [counts] = await once(attackers, "message");
    attackers.kill();
  }
  return { served, counts };
}

const sizes = process.argv
  .slice(2)
  .filter((word) => /^\d+$/.test(word))
  .map(Number);
const measured: Measured[] = [];
for (const nodes of sizes.length === 0 ? [1500, 10_000] : sizes) measured.push(await measure(nodes));
const report = reportOf(measured, { attackSeconds });
process.stdout.write(report);
if (process.argv.includes("--write"))
  writeFileSync(fileURLToPath(new URL("../../docs/attack.md", import.meta.url)), report);
process.exit(measured.every(({ hasLived }) => hasLived) ? 0 : 1);
