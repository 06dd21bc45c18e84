import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";

export const repository = fileURLToPath(new URL("../..", import.meta.url));

/** The folders with the code of the command line, as in the image. */
const codeFolders = ["alerts", "cli", "dashboards", "exporter", "review", "simulator"];
/** The files that the code reads at run time. */
const dataFiles = /^(?:cli\/demo\/past\/.*\.br|alerts\/runbooks\/.*\.md|exporter\/.*\.json)$/;

const ownPackage = z.looseObject({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  license: z.string(),
  type: z.string(),
  engines: z.record(z.string(), z.string()),
  dependencies: z.record(z.string(), z.string()),
});

/** Reads the repository's package.json. */
export function readOwnPackage() {
  return ownPackage.parse(JSON.parse(readFileSync(join(repository, "package.json"), "utf8")));
}

/**
 * Writes the folder from which `npm pack` makes the package: compiled JavaScript (Node.js strips no types below node_modules),
 * the files that it reads, and a package.json of its own. The package.json of the repository stays private: what is published
 * is only made here.
 */
export function writePackageFolder(folder: string): void {
  execFileSync(join(repository, "node_modules/.bin/tsc"), ["-b", "cli"], { cwd: repository, stdio: "inherit" });
  rmSync(folder, { recursive: true, force: true });
  const files = execFileSync("git", ["ls-files", ...codeFolders], { cwd: repository, encoding: "utf8" }).split("\n");
  for (const file of files) {
    // Only files that have a source now are copied: the folder of compiled files may contain older ones. Some sources belong to
    // no program.
    const compiled = file.replace(/\.ts$/, ".js");
    if (file.endsWith(".ts") && existsSync(join(repository, "dist", compiled)))
      copy(join("dist", compiled), join(folder, compiled));
    else if (dataFiles.test(file)) copy(file, join(folder, file));
  }
  copy("deploy/release/launcher.mjs", join(folder, "bin/fairlead.mjs"));
  for (const file of ["LICENSE", "README.md", "CHANGELOG.md"]) copy(file, join(folder, file));
  const { name, version, description, license, type, engines, dependencies } = readOwnPackage();
  const manifest = {
    name,
    version,
    description,
    license,
    type,
    engines,
    bin: { fairlead: "bin/fairlead.mjs" },
    dependencies,
  };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(join(repository, from), to);
}

/** Packs the package into a folder; returns the path of the file. */
export function packPackage(output: string): string {
  const folder = join(output, "package");
  mkdirSync(output, { recursive: true });
  writePackageFolder(folder);
  const packed = execFileSync("npm", ["pack", folder, "--pack-destination", output, "--json"], { encoding: "utf8" });
  rmSync(folder, { recursive: true, force: true });
  const [made] = z.tuple([z.looseObject({ filename: z.string() })]).parse(JSON.parse(packed));
  return join(output, made.filename);
}
