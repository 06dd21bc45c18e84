import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { basename, join } from "node:path";
import {
  buildStages,
  finalWords,
  ownPackage,
  readImageFile,
  repository,
  type Stage,
  stagesOf,
} from "../servers/imageBuild.ts";
import { copyNode, nonroot } from "../servers/imageContainer.ts";
import { writeOciArchive } from "./ociArchive.ts";

/** The registry that the README and the operations guide name. Nothing is pulled from it: the image is there already. */
export const guideRegistry = "registry.example.org/team";

/** Names under which charts, manifests and guides ask for Fairlead's image. */
const fairleadNames = [
  `docker.io/library/fairlead:${ownPackage.version}`,
  `${guideRegistry}/fairlead:${ownPackage.version}`,
  "registry.example.org/platform/fairlead:v1",
];

/** The name of the image of an older commit. */
export const olderImage = { registry: "older.example.org", tag: "older" };

/** Writes the images of what the node itself needs: `folder` gets an archive for each, whose paths come back. */
export async function writeNodeImages(programs: string, folder: string): Promise<readonly string[]> {
  const work = await mkdtemp(join(tmpdir(), "fairlead-images-"));
  try {
    const withProgram = (name: string, program: string, ...otherNames: readonly string[]): string => {
      const root = join(work, name);
      mkdirSync(root);
      copyFileSync(join(programs, program), join(root, program));
      const archive = join(folder, `${name}.tar`);
      writeOciArchive(archive, [`fairlead.test/${name}:1`, ...otherNames], root, { entrypoint: [`/${program}`] });
      return archive;
    };
    return [
      // It does for the proxy of the chart's value set with a container of the user's own.
      withProgram("pause", "pause", "registry.example.org/proxy:1"),
      withProgram("coredns", "coredns"),
      withProgram("local-path-provisioner", "local-path-provisioner"),
      withProgram("fake-gpu", "fake-gpu"),
      writeBusybox(work, folder),
    ];
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Debian's busybox under all its names: a shell for pods that hold GPUs, and for the provisioner's. */
function writeBusybox(work: string, folder: string): string {
  const root = join(work, "busybox");
  mkdirSync(join(root, "bin"), { recursive: true });
  mkdirSync(join(root, "etc"));
  writeFileSync(join(root, "etc/passwd"), "root:x:0:0::/:/bin/sh\n");
  const busybox = execFileSync("sh", ["-c", "command -v busybox"], { encoding: "utf8" }).trim();
  copyFileSync(busybox, join(root, "bin/busybox"));
  for (const applet of execFileSync(busybox, ["--list"], { encoding: "utf8" }).split("\n"))
    if (applet !== "" && applet !== "busybox") symlinkSync("busybox", join(root, "bin", applet));
  const archive = join(folder, "busybox.tar");
  writeOciArchive(archive, ["fairlead.test/busybox:1"], root, { command: ["sh"] });
  return archive;
}

/**
 * Makes Fairlead's image by carrying out the container file of the working tree, and writes it to `archive`; `tools` is what
 * install-dockerfile-lint.sh printed. In place of the base image are Node, what it is linked to, and the name of the user.
 */
export async function writeFairleadImage(tools: string, archive: string): Promise<void> {
  await writeImage(tools, archive, repository, fairleadNames);
}

/**
 * The archive with the image of an older commit of this repository, made once and kept in the cache; `null` where the commit
 * is not there, as in a shallow clone.
 */
export async function olderFairleadImage(tools: string, commit: string): Promise<string | null> {
  if (!hasCommit(commit)) return null;
  const cache =
    process.env.FAIRLEAD_TEST_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "fairlead");
  const archive = join(cache, `older-image-${commit}-node-${process.version}`, "fairlead.tar");
  if (existsSync(archive)) return archive;
  const work = await mkdtemp(join(tmpdir(), "fairlead-older-"));
  try {
    const checkout = join(work, "checkout");
    checkOut(commit, checkout);
    const made = join(work, basename(archive));
    await writeImage(tools, made, checkout, [`${olderImage.registry}/fairlead:${olderImage.tag}`]);
    mkdirSync(join(archive, ".."), { recursive: true });
    cpSync(made, `${archive}.${process.pid}`);
    renameSync(`${archive}.${process.pid}`, archive); // whole, or not there
    return archive;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

function hasCommit(commit: string): boolean {
  try {
    execFileSync("git", ["cat-file", "-e", `${commit}^{commit}`], { cwd: repository, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Puts the files of a commit into a new folder. */
export function checkOut(commit: string, folder: string): void {
  execFileSync("git", ["clone", "--quiet", "--shared", "--no-checkout", repository, folder], { stdio: "ignore" });
  execFileSync("git", ["checkout", "--quiet", commit], { cwd: folder, stdio: "ignore" });
}

async function writeImage(tools: string, archive: string, checkout: string, names: readonly string[]): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), "fairlead-image-"));
  try {
    const report = readImageFile(tools, checkout);
    const stages = stagesOf(report.instructions);
    const built = await buildStages(stages, report.context, work, {
      checkout,
      packages: checkout === repository ? join(repository, "node_modules") : null,
    });
    const root = built.get("") ?? "";
    addBase(root);
    const pairs = (words: readonly string[]) =>
      words.flatMap((word, i) => (i % 3 === 0 ? [[word, words[i + 1] ?? ""]] : []));
    writeOciArchive(archive, names, root, {
      user: finalWords(stages, "USER")[0] ?? "",
      folder: workdirOf(stages),
      environment: pairs(finalWords(stages, "ENV")).map(([name, value]) => `${name}=${value}`),
      entrypoint: finalWords(stages, "ENTRYPOINT"),
      command: finalWords(stages, "CMD"),
    });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

const workdirOf = (stages: readonly Stage[]): string => finalWords(stages, "WORKDIR")[0] ?? "/";

/** What distroless brings, as far as it is used: Node, its libraries, a user without a shell, an order of looking up names. */
function addBase(root: string): void {
  copyNode(root);
  for (const folder of ["etc", "tmp", "proc", "dev", "sys"]) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(
    join(root, "etc/passwd"),
    `root:x:0:0::/root:/sbin/nologin\nnonroot:x:${nonroot}:${nonroot}::/home/nonroot:/sbin/nologin\n`,
  );
  writeFileSync(join(root, "etc/group"), `root:x:0:\nnonroot:x:${nonroot}:\n`);
  writeFileSync(join(root, "etc/nsswitch.conf"), "hosts: files dns\n");
  execFileSync("chmod", ["1777", join(root, "tmp")]);
}
