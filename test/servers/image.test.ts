import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { demoScenario } from "../../simulator/scenarios/demo.ts";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { buildStages, finalWords, ownPackage, readImageFile, repository, stagesOf } from "./imageBuild.ts";
import {
  type Container,
  createContainer,
  type Ended,
  listTree,
  nonroot,
  type Running,
  type TreeEntry,
} from "./imageContainer.ts";
import { prunedTargets, unresolvedImports } from "./imagePackages.ts";
import { until } from "./kubernetesAdmin.ts";
import { freePort, installed } from "./program.ts";

/** Bytes of `/app`, unpacked and as `tar | gzip`: a tenth above what was measured (deploy/image/README.md). */
const budget = { unpacked: 48_000_000, packed: 6_800_000 };

let folder: string;
let wordsOf: (name: string) => readonly string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fairlead-image-"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe("the image", () => {
  let container: Container;
  let simulator: Simulator;
  let collector: Server;
  const collected = new Set<string>();
  let before: readonly string[];
  const app = (): string => join(container.root, "app");

  beforeAll(async () => {
    const report = readImageFile(await installed("install-dockerfile-lint.sh"));
    const stages = stagesOf(report.instructions);
    wordsOf = (name) => finalWords(stages, name);
    const built = await buildStages(stages, report.context, folder);
    const environment = { NODE_ENV: wordsOf("ENV")[1] ?? "", PATH: "/usr/local/bin:/usr/bin:/bin" };
    container = createContainer(built.get("") ?? "", environment);
    simulator = await startSimulator({ scenario: demoScenario(), seed: 1, startAt: Math.floor(Date.now() / 1000) });
    collector = createServer((request, response) => {
      collected.add(request.url ?? "");
      request.resume().on("end", () => response.end());
    });
    await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
    container.write("etc/fairlead/kubeconfig.yaml", simulator.kubeconfig());
    container.write("etc/fairlead/fairlead.yaml", configuration(container, collector));
    before = stateOf(container.root);
  }, 600_000);

  afterAll(async () => {
    collector?.close();
    await simulator?.stop();
  });

  /** Runs one command line after the image's entry point, to its end. */
  const fairlead = async (...words: readonly string[]): Promise<Ended> =>
    await container.start([...wordsOf("ENTRYPOINT"), ...words]).ended;

  it("serves a cluster with the command that the image starts by itself, and leaves a sound ledger", async () => {
    const port = await freePort();
    const address = `127.0.0.1:${port}`;
    const listen = `--web.listen-address=${address}`;
    const served = container.start([...wordsOf("ENTRYPOINT"), ...wordsOf("CMD"), listen]);
    try {
      await ready(address, served);
      const truth = simulator.truth();
      const metrics = async () => await (await fetch(`http://${address}/metrics`)).text();
      await until("telemetry is in", async () => sumOf(await metrics(), "fairlead_covered_seconds_total") > 3);
      const page = await metrics();
      const physical = truth.nodes.reduce((sum, node) => sum + node.physicalGpus, 0);
      expect(physical).toBeGreaterThan(100);
      expect(sumOf(page, "fairlead_gpus")).toBeCloseTo(physical, 6);
      for (const { team, allocated } of truth.teams.filter((one) => one.team !== null))
        expect(sumOf(page, "fairlead_team_gpus", `team="${team}"`), `GPUs allocated to ${team}`).toBeCloseTo(
          allocated,
          6,
        );
      expect(page).toContain(`version="${ownPackage.version}"`);
      expect((await fetch(`http://${address}/`)).status).toBe(200);
      const running = await fairlead("review", "--url", `http://${address}`, ...today(), "--format", "json");
      expect({ ...running, out: "" }).toEqual({ code: 0, out: "", err: "" });
      expect(JSON.parse(running.out)).toHaveProperty("window");
    } finally {
      served.terminate();
    }
    const { code, err } = await served.ended;
    expect(code).toBe(0);
    expect(frightening(err)).toEqual([]);
    expect([...collected], "OpenTelemetry's packages are whole").toContain("/v1/metrics");
    const checked = await fairlead("ledger", "check", container.path("/var/lib/fairlead/ledger.db"));
    expect(checked).toMatchObject({ code: 0, err: "" });
    expect(checked.out).toContain("sound, and the accounts close");
    const reviewed = await fairlead("review", "--ledger", container.path("/var/lib/fairlead/ledger.db"), ...today());
    expect(reviewed.code, reviewed.err).toBe(0);
    expect(frightening(reviewed.err)).toEqual([]);
    expect(reviewed.out).toContain("# GPU capacity review");
  });

  it("runs the commands that need no cluster, and says nothing that would frighten", async () => {
    const config = container.path("/etc/fairlead/fairlead.yaml");
    const output = container.path("/tmp/written");
    expect(await fairlead("--version")).toEqual({ code: 0, out: `${ownPackage.version}\n`, err: "" });
    expect(await fairlead("check-config", config)).toMatchObject({ code: 0, err: "" });
    for (const command of ["alerts", "dashboards"]) {
      const ended = await fairlead(command, "--output", join(output, command));
      expect(ended.code, ended.err).toBe(0);
      expect(frightening(ended.err)).toEqual([]);
    }
    const priced = await fairlead("price", "p5.48xlarge");
    expect(priced, "the built-in price table is in the image").toMatchObject({ code: 0, err: "" });
    const written = listTree(join(container.root, "tmp/written")).filter(({ kind }) => kind === "file");
    expect(written.length).toBeGreaterThan(10);
  });

  it("may write nowhere but where a volume will be, and did not", async () => {
    expect(stateOf(container.root)).toEqual(before);
    if (!container.isConfined) return;
    const attempt = `try { require("node:fs").writeFileSync("/app/x", ""); } catch (error) { console.log(error.code); }
      console.log(process.pid, process.getuid(), process.getgid());`;
    const tried = await container.start(["/nodejs/bin/node", "-e", attempt]).ended;
    expect(tried.out).toBe(`EACCES\n1 ${nonroot} ${nonroot}\n`);
  });

  it("lacks no file that any of its modules imports, also those that are loaded late", () => {
    const { imports, unresolved } = unresolvedImports(app());
    expect(unresolved).toEqual([]);
    expect(imports).toBeGreaterThan(1000);
  });

  it("holds files that everyone may read and no one but root may change, and no link", () => {
    const entries = listTree(app());
    expect(entries.filter(({ kind }) => kind === "other")).toEqual([]);
    const isOpen = ({ path, kind }: TreeEntry): boolean => {
      const needed = kind === "folder" ? 0o055 : 0o044;
      return (statSync(path).mode & (needed | 0o022)) === needed;
    };
    expect(entries.filter((entry) => !isOpen(entry))).toEqual([]);
  });

  it("holds nothing that belongs to a platform", () => {
    const files = listTree(app()).filter(({ kind }) => kind === "file");
    const native = files.filter(({ path }) => /\.(node|so|bare|dylib|dll)$/.test(path) || isNative(path));
    expect(native).toEqual([]);
    expect(isNative(process.execPath), "would be seen").toBe(true);
  });

  it("holds the packages of the bill of materials, none that only developers need, and all that each offers", () => {
    const { missing, unlisted, lost, offers } = prunedTargets(app(), repository);
    expect(unlisted).toEqual([]);
    // Declarations of types: nothing is left of them.
    expect(missing.filter((name) => !name.startsWith("@types/"))).toEqual([]);
    expect(lost).toEqual([]);
    expect(offers).toBeGreaterThan(200);
    const present = listTree(join(app(), "node_modules")).map(({ path }) => path.slice(app().length + 14));
    const developers = ["typescript", "vitest", "@biomejs", "fast-check", "node", ".bin"];
    expect(present.filter((path) => developers.includes(path))).toEqual([]);
    const folders = ["alerts", "cli", "dashboards", "exporter", "review", "simulator"];
    expect(readdirSync(app()).sort()).toEqual(
      ["LICENSE", ...folders, "node_modules", "package.json", "sbom.cdx.json"].sort(),
    );
  });

  it("keeps within its budget", () => {
    const files = listTree(app()).filter(({ kind }) => kind === "file");
    const unpacked = files.reduce((sum, { path }) => sum + statSync(path).size, 0);
    const packing = "tar --sort=name --mtime=@0 --owner=0 --group=0 -c . | gzip -6 | wc -c";
    const packed = Number(execFileSync("sh", ["-c", packing], { cwd: app(), encoding: "utf8" }));
    process.stderr.write(`image: /app holds ${files.length} files, ${unpacked} bytes, ${packed} packed\n`);
    expect(unpacked).toBeLessThan(budget.unpacked);
    expect(packed).toBeLessThan(budget.packed);
  });
});

function configuration(container: Container, collector: Server): string {
  const { port } = z.object({ port: z.number() }).parse(collector.address());
  return [
    "cluster: harbor",
    "interval: 1",
    `kubernetes: { kubeconfig: ${container.path("/etc/fairlead/kubeconfig.yaml")} }`,
    "teams: [{ from: namespace-label, key: team }]",
    `ledger: { path: ${container.path("/var/lib/fairlead/ledger.db")} }`,
    `otlp: { endpoint: "http://127.0.0.1:${port}" }`,
    "",
  ].join("\n");
}

/** Waits until it answers that it is ready; says what it wrote where it does not. */
async function ready(address: string, served: Running): Promise<void> {
  const isReady = async () => (await fetch(`http://${address}/readyz`).catch(() => null))?.status === 200;
  await until("ready", isReady).catch((error: unknown) => {
    throw new Error(`it never was ready; it wrote:\n${served.output()}`, { cause: error });
  });
}

/** Options of a review of this day, which is not over. */
function today(): readonly string[] {
  const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
  return ["--from", day(0), "--to", day(1), "--compare", "0"];
}

/** Lines that a user would take for a fault: Node's warnings, and errors in the log. */
const frightening = (text: string): readonly string[] =>
  text.split("\n").filter((line) => /warning|deprecat|experimental|"level":(5|6)0|\bError\b/i.test(line));

/** Path, size and time of everything but what volumes will hold. */
function stateOf(root: string): readonly string[] {
  const volumes = ["var/lib/fairlead/", "tmp/"].map((path) => join(root, path));
  return listTree(root)
    .filter(({ path }) => !volumes.some((volume) => path.startsWith(volume)))
    .map(({ path, kind }) => (kind === "file" ? `${path} ${statSync(path).size} ${statSync(path).mtimeMs}` : path));
}

/** ELF, Mach-O (both orders, and universal), PE. */
const isNative = (path: string): boolean =>
  /^(7f454c46|feedfac[ef]|c[ef]faedfe|cafebabe|4d5a)/.test(readFileSync(path).subarray(0, 4).toString("hex"));

function sumOf(metrics: string, name: string, label = ""): number {
  return metrics
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`) && line.includes(label))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}
