import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readVersion } from "../../cli/version.ts";
import { chartFiles } from "../../deploy/output/chart.ts";
import { deployParts } from "../../deploy/output/deployFiles.ts";
import type { Files } from "../../deploy/output/files.ts";
import { type InstalledObject, installedObjects, valuesWith } from "../../deploy/output/installation.ts";
import type { GivenValues } from "../../deploy/values/schema.ts";
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
  /** What the model itself says that Helm makes of the chart. */
  expected(values: GivenValues, release: Release): readonly InstalledObject[];
  stop(): Promise<void>;
}

/** Objects and contents of the chart, of the version that is here. */
export const parts = deployParts(readVersion());

/** Writes files below a folder. */
export async function writeFiles(folder: string, files: Files): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

/** Writes the chart and finds Helm. */
export async function startHelm(): Promise<Helm> {
  const program = join(await installed("install-kubectl.sh"), "helm");
  const folder = await mkdtemp(join(tmpdir(), "fairlead-helm-"));
  const chart = join(folder, "fairlead");
  await writeFiles(chart, chartFiles(parts.chart, parts.manifests, parts.contents));
  const run = (args: readonly string[], input = ""): Promise<Said> => runProgram(program, args, input);
  const ownVersions = await versionsOfKubernetes(folder, run);
  return {
    chart,
    folder,
    run,
    template: (values, { name, namespace, apiVersions }) =>
      run(
        [
          ...["template", name, chart, `--namespace=${namespace}`, "--values=-"],
          ...apiVersions.map((version) => `--api-versions=${version}`),
        ],
        JSON.stringify(values),
      ),
    expected: (values, { name, namespace, apiVersions }) =>
      installedObjects({
        ...parts,
        values: valuesWith(values),
        release: { name, namespace, service: "Helm" },
        apiGroups: [...ownVersions, ...apiVersions].map((version) => version.replace(/\/.*$/, "")),
      }),
    stop: async () => await rm(folder, { recursive: true, force: true }),
  };
}

/** The API versions that Helm takes a cluster to have when it is not asked. */
async function versionsOfKubernetes(
  folder: string,
  run: (args: readonly string[]) => Promise<Said>,
): Promise<readonly string[]> {
  const chart = join(folder, "versions");
  await writeFiles(chart, {
    "Chart.yaml": "apiVersion: v2\nname: versions\nversion: 1.0.0\n",
    "templates/versions.yaml": 'versions: {{ join "," .Capabilities.APIVersions }}\n',
  });
  const { stdout, stderr } = await run(["template", "versions", chart]);
  const versions = /^versions: (.*)$/m.exec(stdout)?.[1];
  if (versions === undefined) throw new Error(stderr);
  return versions.split(",");
}
