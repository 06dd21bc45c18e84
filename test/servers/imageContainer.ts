import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, chownSync, copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** User and group of distroless' `nonroot`. */
export const nonroot = 65_532;

/** What a program of the container wrote and how it ended. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A program that runs in the container. */
export interface Running {
  /** Everything it wrote so far, both streams. */
  output(): string;
  readonly ended: Promise<Ended>;
  terminate(): void;
}

/** The final stage's files with a Node and the libraries that it is linked to, and no shell. */
export interface Container {
  /** Whether a program is process 1 of this root as user 65532; else it runs beside it, as the one who runs the tests. */
  readonly isConfined: boolean;
  readonly root: string;
  /** A path of the container, as its programs say it. */
  path(inside: string): string;
  /** Puts a file into it, owned by root. */
  write(inside: string, text: string): void;
  start(command: readonly string[]): Running;
}

/** Makes a container of a root folder that holds `/app`. It is left alone where the machine allows no namespaces. */
export function createContainer(root: string, environment: Readonly<Record<string, string>>): Container {
  for (const folder of ["etc/fairlead", "var/lib/fairlead", "proc", "tmp"])
    mkdirSync(join(root, folder), { recursive: true });
  copyNode(root);
  const isConfined = mayConfine(root);
  if (isConfined) {
    chownSync(join(root, "var/lib/fairlead"), nonroot, nonroot);
    chmodSync(join(root, "tmp"), 0o1777);
  }
  const path = (inside: string): string => (isConfined ? inside : join(root, inside));
  return {
    isConfined,
    root,
    path,
    write: (inside, text) => writeFileSync(join(root, inside), text),
    start(command) {
      const words = isConfined ? command : command.map((word) => insideOf(root, word));
      const [program = "", ...rest] = isConfined ? ["unshare", ...confinement(root), ...words] : words;
      return follow(spawn(program, rest, { env: environment, stdio: ["ignore", "pipe", "pipe"] }), isConfined);
    },
  };
}

/** Namespaces of its own for mounts and processes, this root, this user, and no capability to gain. */
const confinement = (root: string): readonly string[] => [
  "--mount",
  "--pid",
  "--fork",
  "--kill-child",
  "--mount-proc",
  `--root=${root}`,
  `--setuid=${nonroot}`,
  `--setgid=${nonroot}`,
  "--",
];

/** A word of a command line, with the path in it, if it has one, as seen from outside. */
const insideOf = (root: string, word: string): string =>
  word.includes(root) ? word : word.replace(/^(--[\w.]+=)?(?=\/)/, `$1${root}`);

function mayConfine(root: string): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  try {
    execFileSync("unshare", [...confinement(root), "/nodejs/bin/node", "--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Puts the Node that the tests run on where the base image has its own, with the libraries that it is linked to. */
export function copyNode(root: string): void {
  mkdirSync(join(root, "nodejs/bin"), { recursive: true });
  copyFileSync(process.execPath, join(root, "nodejs/bin/node"));
  if (process.platform !== "linux") return;
  const linked = execFileSync("ldd", [process.execPath], { encoding: "utf8" });
  for (const [library] of linked.matchAll(/(?<=\s)\/\S+/g)) {
    mkdirSync(dirname(join(root, library)), { recursive: true });
    copyFileSync(library, join(root, library)); // links are followed
  }
}

function follow(child: ChildProcess, isConfined: boolean): Running {
  let out = "";
  let err = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (err += text));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, out, err }));
  });
  return {
    output: () => out + err,
    ended,
    // `unshare` itself ignores the signal, which is meant for process 1 of the container.
    terminate: () => {
      const target = isConfined ? childOf(child.pid ?? 0) : (child.pid ?? 0);
      if (target > 0) process.kill(target, "SIGTERM");
    },
  };
}

const childOf = (pid: number): number => Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim());

/** One file or folder below a root. */
export interface TreeEntry {
  readonly path: string;
  readonly kind: "file" | "folder" | "other";
}

/** Everything below a folder, sorted. */
export function listTree(folder: string): readonly TreeEntry[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => ({
      path: join(entry.parentPath, entry.name),
      kind: entry.isFile() ? ("file" as const) : entry.isDirectory() ? ("folder" as const) : ("other" as const),
    }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}
