import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Files } from "../../deploy/output/files.ts";
import { chartFolder } from "../../deploy/output/helm.ts";
import { type InstalledObject, objectsIn } from "../../deploy/output/installedObject.ts";
import { installed } from "./program.ts";

/** What a program said. */
export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end; what it was given on standard input is `input`. */
export function runProgram(program: string, args: readonly string[], input = ""): Promise<Said> {
  return new Promise((resolve) => {
    const child = execFile(program, args, { encoding: "utf8", maxBuffer: 1 << 27 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1) || 1, stdout, stderr }),
    );
    child.stdin?.on("error", () => {}); // it may end before it has read everything
    child.stdin?.end(input);
  });
}

/** Name and namespace of a release, and API versions that the cluster has beside those of Kubernetes itself. */
export interface Release {
  readonly name: string;
  readonly namespace: string;
  readonly apiVersions: readonly string[];
}

/** The chart in a folder, and a real Helm. */
export interface Helm {
  /** Where the chart is. */
  readonly chart: string;
  /** A folder for other files of a test. */
  readonly folder: string;
  run(args: readonly string[], input?: string): Promise<Said>;
  /** `helm template`; `values` may be anything. */
  template(values: unknown, release: Release): Promise<Said>;
  /** The objects that Helm makes of values; throws what it says where it refuses them. */
  objects(values: unknown, release: Release): Promise<readonly InstalledObject[]>;
  stop(): Promise<void>;
}

/** Writes files below a folder. */
export async function writeFiles(folder: string, files: Files): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

/** Copies the chart and finds Helm. */
export async function startHelm(): Promise<Helm> {
  const program = join(await installed("install-helm.sh"), "helm");
  const folder = await mkdtemp(join(tmpdir(), "fairlead-helm-"));
  const chart = join(folder, "fairlead");
  await cp(chartFolder, chart, { recursive: true });
  const run = (args: readonly string[], input = ""): Promise<Said> => runProgram(program, args, input);
  const template = (values: unknown, { name, namespace, apiVersions }: Release): Promise<Said> =>
    run(
      [
        "template",
        name,
        chart,
        `--namespace=${namespace}`,
        "--values=-",
        ...apiVersions.map((version) => `--api-versions=${version}`),
      ],
      JSON.stringify(values),
    );
  return {
    chart,
    folder,
    run,
    template,
    objects: async (values, release) => {
      const { code, stdout, stderr } = await template(values, release);
      if (code !== 0) throw new Error(stderr);
      return objectsIn(stdout);
    },
    stop: async () => await rm(folder, { recursive: true, force: true }),
  };
}
