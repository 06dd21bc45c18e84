import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { readOwnPackage, repository } from "../../deploy/release/packageFiles.ts";
import { checkVersions, releaseSteps } from "../../deploy/release/steps.ts";
import { startCluster } from "../cli/capture/capturedCluster.ts";
import { installed } from "./program.ts";

const folder = mkdtempSync(join(tmpdir(), "fairlead-release-"));
const output = join(folder, "release");
const { version } = readOwnPackage();
const workflow = join(repository, ".github/workflows/release.yml");
/** What is said by a dry run of the whole release. */
let said: readonly string[];
let lint: string;
let kubeconfig: string;

beforeAll(async () => {
  lint = await installed("install-release-lint.sh");
  ({ kubeconfig } = await startCluster());
  const helm = join(await installed("install-helm.sh"), "helm");
  said = node("scripts/release.ts", "--dry-run", "--output", output, "--helm", helm).trim().split("\n");
}, 600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function node(...args: readonly string[]): string {
  return execFileSync(process.execPath, [...args], {
    cwd: repository,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
}

/** What a command prints; rejects where the command fails. The simulated cluster, in this process, answers meanwhile. */
async function answerOf(program: string, ...args: readonly string[]): Promise<string> {
  const env = { ...process.env, PATH: `${join(repository, "node_modules/node/bin")}:${process.env.PATH}` };
  return (await promisify(execFile)(program, [...args], { cwd: folder, env, maxBuffer: 1 << 26 })).stdout;
}

describe("the workflow of a release", () => {
  it("is accepted by actionlint, which would refuse a wrong one", async () => {
    expect(await answerOf(join(lint, "actionlint"), workflow)).toBe("");
    const wrong = join(folder, "wrong.yml");
    writeFileSync(wrong, readFileSync(workflow, "utf8").replace("env.OUTPUT", "env.OUT.PUT["));
    await expect(answerOf(join(lint, "actionlint"), wrong)).rejects.toThrow();
  });

  it("runs each step of the release once, in their order", () => {
    const jobs = z
      .object({
        jobs: z.object({ release: z.object({ steps: z.array(z.looseObject({ run: z.string().optional() })) }) }),
      })
      .parse(parse(readFileSync(workflow, "utf8")));
    const runs = jobs.jobs.release.steps.flatMap(({ run = "" }) =>
      [...run.matchAll(/scripts\/release\.ts ((?:[a-z]+ ?)+)/g)].flatMap(([, names = ""]) => names.trim().split(" ")),
    );
    expect(runs.toSorted()).toEqual(Object.keys(releaseSteps).toSorted());
    // What is signed and published is made before.
    expect(runs.slice(-2)).toEqual(["sign", "publish"]);
  });
});

describe("a release that publishes nothing", () => {
  it("only says what would leave this machine", () => {
    expect(
      said.map((line) =>
        line
          .split(" ")
          .slice(0, 2)
          .join(" ")
          .replace(/^.*helm /, "helm "),
      ),
    ).toEqual(["docker buildx", "cosign sign", "cosign sign-blob", "npm publish", "helm push", "gh release"]);
    expect(said[0]).toContain("--platform linux/amd64,linux/arm64");
    expect(said[0]).toContain("--sbom=true --provenance=mode=max");
  });

  it("has checksums of all files, and a bill of materials", () => {
    execFileSync("sha256sum", ["--check", "--strict", "--quiet", "checksums.txt"], { cwd: output });
    expect(readFileSync(join(output, "checksums.txt"), "utf8").split("\n")).toHaveLength(6);
    const bill: unknown = JSON.parse(readFileSync(join(output, "fairlead.cdx.json"), "utf8"));
    const { bomFormat, components } = z
      .looseObject({ bomFormat: z.string(), components: z.array(z.looseObject({ name: z.string() })) })
      .parse(bill);
    expect(bomFormat).toBe("CycloneDX");
    expect(components.map(({ name }) => name)).toEqual(expect.arrayContaining(["express", "undici", "marked"]));
    expect(components.map(({ name }) => name)).not.toContain("vitest");
  });

  it("refuses a tag of another version", () => {
    expect(() => checkVersions("v9.9.9")).toThrow(`the tag is v9.9.9, and package.json has version ${version}`);
    expect(() => checkVersions(`v${version}`)).not.toThrow();
  });
});

describe("the npm package", () => {
  it("is small, and has compiled code alone", () => {
    const archive = join(output, `fairlead-${version}.tgz`);
    const names = execFileSync("tar", ["-tzf", archive], { encoding: "utf8" }).trim().split("\n");
    expect(
      names.filter((name) =>
        /\.ts$|test|\.map$/.test(name.replace(/^package\/exporter\/sources\/kubernetes\/latest/, "")),
      ),
    ).toEqual([]);
    expect(names).toEqual(
      expect.arrayContaining(["package/bin/fairlead.mjs", "package/alerts/runbooks/gputeamstarved.md"]),
    );
    expect(readFileSync(archive).length).toBeLessThan(4 * 1024 * 1024);
  });

  it("runs in a clean folder: demo, inspect, now", async () => {
    writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
    await answerOf(
      "npm",
      "install",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      join(output, `fairlead-${version}.tgz`),
    );
    const fairlead = (...args: readonly string[]) => answerOf("npx", "--no-install", "fairlead", ...args);
    expect(await fairlead("--version")).toBe(`${version}\n`);
    expect(await fairlead("demo", "--once")).toContain("WHO HOLDS WHAT");
    expect(await fairlead("inspect", join(repository, "test/captured/queues/kueue-0.19"))).toContain("WHO HOLDS WHAT");
    expect(await fairlead("now", "--kubeconfig", kubeconfig)).toContain("176 GPUs");
  });
});

describe("the plugin for kubectl", () => {
  it("has a manifest that krew accepts", async () => {
    const check = join(lint, "validate-krew-manifest");
    const manifest = join(output, "fairlead.yaml");
    await answerOf(check, "-manifest", manifest, "-skip-install");
    const wrong = join(folder, "fairlead.yaml");
    writeFileSync(wrong, readFileSync(manifest, "utf8").replace("os: linux", "system: linux"));
    await expect(answerOf(check, "-manifest", wrong, "-skip-install")).rejects.toThrow();
    const { spec } = z
      .object({ spec: z.looseObject({ shortDescription: z.string() }) })
      .parse(parse(readFileSync(manifest, "utf8")));
    // As krew's guide asks.
    expect(spec.shortDescription.length).toBeLessThanOrEqual(50);
  });

  it("runs behind a link, as krew makes it", async () => {
    const place = mkdtempSync(join(folder, "plugin-"));
    execFileSync("tar", ["-xzf", join(output, `kubectl-fairlead-${version}.tar.gz`), "-C", place]);
    symlinkSync(join(place, "kubectl-fairlead"), join(folder, "kubectl-fairlead"));
    expect(await answerOf(join(folder, "kubectl-fairlead"), "now", "--kubeconfig", kubeconfig)).toContain("176 GPUs");
  });
});
