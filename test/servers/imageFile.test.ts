import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { defaultListenAddress } from "../../exporter/publish/http/listenAddress.ts";
import {
  type ContainerFileReport,
  containerFile,
  finalWords,
  type Instruction,
  ownPackage,
  readContainerFile,
  readImageFile,
  type Stage,
  stagesOf,
} from "./imageBuild.ts";
import { nonroot } from "./imageContainer.ts";
import { installed } from "./program.ts";

let tools: string;
let report: ContainerFileReport;
let stages: readonly Stage[];
let folder: string;

beforeAll(async () => {
  tools = await installed("install-dockerfile-lint.sh");
  report = readImageFile(tools);
  stages = stagesOf(report.instructions);
  folder = await mkdtemp(join(tmpdir(), "fairlead-image-file-"));
}, 600_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

const wordsOf = (name: string): readonly string[] => finalWords(stages, name);
const instructionsOfFinal = (): readonly Instruction[] => stages.at(-1)?.instructions ?? [];

describe("the container file", () => {
  it("leaves BuildKit's own linter and hadolint nothing to find", () => {
    expect(report.findings).toEqual([]);
    expect(hadolint(containerFile)).toEqual([]);
  });

  it("would be found fault with if it were bad", () => {
    const bad = join(folder, "bad");
    writeFileSync(bad, "FROM node AS Build\nWORKDIR app\nENV API_TOKEN=x\nCMD node main.js\n");
    const rules = readContainerFile(join(tools, "dockerfile-check"), bad, []).findings.map(({ rule }) => rule);
    expect(rules).toEqual(
      expect.arrayContaining([
        "StageNameCasing",
        "WorkdirRelativePath",
        "SecretsUsedInArgOrEnv",
        "JSONArgsRecommended",
      ]),
    );
    expect(hadolint(bad)).toEqual(expect.arrayContaining(["DL3006", "DL3000", "DL3025"]));
  });

  it("pins every image by digest, and builds on the machine's own platform for all of them", () => {
    const names = new Set(stages.map(({ name }) => name));
    const foreign = stages.filter(({ base }) => !names.has(base));
    expect(foreign.map(({ base }) => base.replace(/@sha256:[0-9a-f]{64}$/, "@digest"))).toEqual([
      `docker.io/library/node:${ownPackage.devDependencies.node}-trixie-slim@digest`,
      "gcr.io/distroless/nodejs24-debian13:nonroot@digest",
    ]);
    expect(foreign.map(({ from }) => from.flags)).toEqual([["--platform=$BUILDPLATFORM"], []]);
  });

  it("says what it is: version, licence, base, user, port, and what is started", () => {
    const labels = new Map(wordsOf("LABEL").flatMap((word, i, words) => (i % 3 === 0 ? [[word, words[i + 1]]] : [])));
    const [base, digest] = (stages.at(-1)?.base ?? "").split("@");
    expect(labels.get("org.opencontainers.image.base.name")).toBe(`"${base}"`);
    expect(labels.get("org.opencontainers.image.base.digest")).toBe(`"${digest}"`);
    expect(labels.get("org.opencontainers.image.licenses")).toBe('"Apache-2.0"');
    for (const name of ["version", "revision", "source"])
      expect(labels.get(`org.opencontainers.image.${name}`)).toBe(`"$${name.toUpperCase()}"`);
    const given = instructionsOfFinal().flatMap((one) => (one.name === "ARG" ? one.arguments : []));
    expect(given).toContain(`VERSION=${ownPackage.version}`);
    expect(wordsOf("USER")).toEqual([`${nonroot}:${nonroot}`]);
    expect(wordsOf("EXPOSE")).toEqual([defaultListenAddress.replace(/^.*:/, "")]);
    expect(wordsOf("ENTRYPOINT")).toEqual(["/nodejs/bin/node", "--max-semi-space-size=8", "/app/cli/main.js"]);
    expect(instructionsOfFinal().filter(({ name }) => name === "RUN")).toEqual([]);
  });

  it("sends the builder sources only", () => {
    expect(report.context).toContain("cli/main.ts");
    expect(report.context.filter((path) => /node_modules|(^|\/)dist\/|^test\/|^\./.test(path))).toEqual([]);
    const offered = readContainerFile(join(tools, "dockerfile-check"), containerFile, [
      "cli/node_modules/a.js",
      ".env",
    ]);
    expect(offered.context).toEqual([]);
  });
});

/** Rules that hadolint finds broken. */
function hadolint(file: string): readonly string[] {
  const flags = ["--no-fail", "--format", "json", file];
  const output = execFileSync(join(tools, "hadolint"), flags, { encoding: "utf8" });
  return z
    .array(z.object({ code: z.string() }))
    .parse(JSON.parse(output))
    .map(({ code }) => code);
}
