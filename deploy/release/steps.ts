import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { krewManifest } from "./krewManifest.ts";
import { packPackage, readOwnPackage, repository } from "./packageFiles.ts";

/** The settings of a release, which each step gets. */
export interface ReleaseSettings {
  /** Folder of all files of the release. */
  readonly output: string;
  /** The address at which the repository is published, such as `https://github.com/OWNER/fairlead`. */
  readonly source: string;
  /** The name of the image without a tag, such as `ghcr.io/OWNER/fairlead`. */
  readonly image: string;
  /** Runs a command; in a dry run it is printed instead. */
  readonly run: (program: string, args: readonly string[]) => void;
  readonly helm: string;
  /** The tag that is released; `null` if there is none and the release is only tried. */
  readonly tag: string | null;
  /** The commit that is released. */
  readonly revision: string;
}

type Step = (settings: ReleaseSettings) => void;

/** The steps of a release, in their order. Those that publish or sign only run commands, which a dry run prints. */
export const releaseSteps: Readonly<Record<string, Step>> = {
  check: ({ tag }) => checkVersions(tag),
  package: ({ output }) => void packPackage(output),
  plugin: (settings) => writePlugin(settings),
  chart: ({ output, helm }) => {
    mkdirSync(output, { recursive: true });
    execFileSync(helm, ["package", join(repository, "deploy/helm/fairlead"), "--destination", output]);
  },
  sbom: ({ output }) => {
    const args = ["sbom", "--package-lock-only", "--omit=dev", "--sbom-format=cyclonedx", "--sbom-type=application"];
    writeFileSync(
      join(output, "fairlead.cdx.json"),
      execFileSync("npm", args, { cwd: repository, maxBuffer: 1 << 28 }),
    );
  },
  krew: ({ output, source }) => {
    const { version, description } = readOwnPackage();
    const sha256 = sha256Of(join(output, pluginFile(version)));
    writeFileSync(
      join(output, "fairlead.yaml"),
      krewManifest({ version, description, source, sha256, file: pluginFile(version) }),
    );
  },
  checksums: ({ output }) => {
    const names = readdirSync(output).filter((name) => name !== "checksums.txt");
    const lines = names.sort().map((name) => `${sha256Of(join(output, name))}  ${name}\n`);
    writeFileSync(join(output, "checksums.txt"), lines.join(""));
  },
  image: ({ image, source, revision, output, run }) => {
    const { version } = readOwnPackage();
    run("docker", [
      ...["buildx", "build", "--platform", "linux/amd64,linux/arm64", "--file", "deploy/image/Containerfile"],
      ...["--build-arg", `VERSION=${version}`, "--build-arg", `REVISION=${revision}`],
      ...["--build-arg", `SOURCE=${source}`, "--sbom=true", "--provenance=mode=max"],
      ...["--metadata-file", join(output, "image.json"), "--tag", `${image}:${version}`, "--push", repository],
    ]);
  },
  sign: ({ image, output, run }) => {
    const { version } = readOwnPackage();
    run("cosign", ["sign", "--yes", `${image}:${version}`]);
    run("cosign", [
      "sign-blob",
      "--yes",
      "--bundle",
      join(output, "checksums.txt.sigstore.json"),
      join(output, "checksums.txt"),
    ]);
  },
  publish: ({ image, output, run, helm }) => {
    const { version } = readOwnPackage();
    run("npm", ["publish", join(output, `fairlead-${version}.tgz`), "--provenance", "--access", "public"]);
    run(helm, ["push", join(output, chartFile()), `oci://${image.replace(/\/[^/]*$/, "")}/charts`]);
    run("gh", [
      "release",
      "create",
      `v${version}`,
      "--verify-tag",
      "--notes-file",
      "CHANGELOG.md",
      ...releaseFiles(output),
    ]);
  },
};

/** Refuses a tag that differs from the version of the package, and a chart that installs another version. */
export function checkVersions(tag: string | null): void {
  const { version } = readOwnPackage();
  const appVersion = chartValue("appVersion");
  if (tag !== null && tag !== `v${version}`)
    throw new Error(`the tag is ${tag}, and package.json has version ${version}: expected v${version}`);
  if (appVersion !== version)
    throw new Error(`the chart has appVersion ${appVersion}, and package.json has version ${version}`);
}

const pluginFile = (version: string): string => `kubectl-fairlead-${version}.tar.gz`;
const chartFile = (): string => `fairlead-${chartValue("version")}.tgz`;

function chartValue(name: "version" | "appVersion"): string {
  const text = readFileSync(join(repository, "deploy/helm/fairlead/Chart.yaml"), "utf8");
  return new RegExp(`^${name}: (\\S+)$`, "m").exec(text)?.[1] ?? "";
}

/** Writes the plugin for kubectl: the package with its dependencies, and a command that finds it behind krew's link. */
function writePlugin({ output }: ReleaseSettings): void {
  const { version } = readOwnPackage();
  const folder = join(output, "plugin");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}\n");
  const archive = join(output, `fairlead-${version}.tgz`);
  // The versions of the lock file are used because those were tested.
  copyFileSync(join(repository, "package-lock.json"), join(folder, "package-lock.json"));
  execFileSync("tar", ["-xzf", archive, "-C", folder, "--strip-components=1"]);
  execFileSync("npm", ["ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: folder,
    stdio: "ignore",
  });
  cpSync(join(repository, "deploy/release/kubectl-fairlead.sh"), join(folder, "kubectl-fairlead"));
  const options = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0", "--mode=u=rwX,go=rX"];
  execFileSync("tar", ["-czf", join(output, pluginFile(version)), ...options, "-C", folder, "."]);
  rmSync(folder, { recursive: true });
}

function releaseFiles(output: string): readonly string[] {
  return readdirSync(output).map((name) => join(output, name));
}

function sha256Of(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}
