import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { z } from "zod";

/** The repository's folder. */
export const repository = fileURLToPath(new URL("../..", import.meta.url));

/** The repository's package.json. */
export const ownPackage = z
  .object({ version: z.string(), devDependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(repository, "package.json"), "utf8")));

const reportSchema = z.object({
  findings: z.array(z.object({ rule: z.string(), line: z.number(), detail: z.string() })),
  instructions: z.array(
    z.object({
      name: z.string(),
      line: z.number(),
      flags: z.array(z.string()),
      arguments: z.array(z.string()),
      isJson: z.boolean(),
    }),
  ),
  context: z.array(z.string()),
});

/** One instruction, as BuildKit's parser reads it. */
export type Instruction = z.infer<typeof reportSchema>["instructions"][number];

/** What BuildKit's linter and parser say about a container file, and which of the given paths its ignore file lets through. */
export type ContainerFileReport = z.infer<typeof reportSchema>;

/** A `FROM` and what follows it. */
export interface Stage {
  readonly name: string;
  readonly base: string;
  readonly from: Instruction;
  readonly instructions: readonly Instruction[];
}

/** Asks the program of test/tools/dockerfile-check; `ignore` is the file that says what is not sent to the builder. */
export function readContainerFile(
  program: string,
  file: string,
  paths: readonly string[],
  ignore = `${containerFile}.dockerignore`,
): ContainerFileReport {
  const output = execFileSync(program, [file, ignore], {
    input: paths.join("\n"),
    encoding: "utf8",
    maxBuffer: 1 << 24,
  });
  return reportSchema.parse(JSON.parse(output));
}

const imageFile = "deploy/image/Containerfile";

/** The image's container file. */
export const containerFile = join(repository, imageFile);

/**
 * What the container file of a checkout says, and what is sent to the builder; `tools` is what install-dockerfile-lint.sh
 * printed.
 */
export function readImageFile(tools: string, checkout = repository): ContainerFileReport {
  const file = join(checkout, imageFile);
  return readContainerFile(join(tools, "dockerfile-check"), file, filesOf(checkout), `${file}.dockerignore`);
}

/** Every file of a checkout that git tracks or would track. */
function filesOf(checkout: string): readonly string[] {
  const flags = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
  const listed = execFileSync("git", flags, { cwd: checkout, encoding: "utf8", maxBuffer: 1 << 24 }).split("\0");
  return listed.filter((path) => path !== "" && statSync(join(checkout, path), { throwIfNoEntry: false })?.isFile());
}

/** The stages, in the order of the file. */
export function stagesOf(instructions: readonly Instruction[]): readonly Stage[] {
  const stages: { name: string; base: string; from: Instruction; instructions: Instruction[] }[] = [];
  for (const instruction of instructions) {
    if (instruction.name === "FROM") {
      const [base = "", , name = ""] = instruction.arguments;
      stages.push({ name, base, from: instruction, instructions: [] });
    } else stages.at(-1)?.instructions.push(instruction);
  }
  return stages;
}

/** The words of the last stage's last instruction of this name; none where it has none. */
export function finalWords(stages: readonly Stage[], name: string): readonly string[] {
  return stages.at(-1)?.instructions.findLast((instruction) => instruction.name === name)?.arguments ?? [];
}

/** Folders of the stages, each as its root would be but for what the base image brings, by name. */
export type BuiltStages = ReadonlyMap<string, string>;

/** Files that are sent to the builder, the folder that they are in, and what is known of it. */
interface Context {
  readonly files: readonly string[];
  readonly checkout: string;
  readonly packages: string | null;
}

/** What installs all packages of the lock file, those of developers included. */
const installsAll = "npm ci --ignore-scripts --no-audit --no-fund";

/**
 * Carries out what the file of a checkout says, with this machine's shell, npm and find, under the Node that the tests run
 * on. Where `packages` names a folder with all packages of the lock file, it takes the place of installing them again.
 */
export async function buildStages(
  stages: readonly Stage[],
  files: readonly string[],
  folder: string,
  { checkout = repository, packages = null }: { checkout?: string; packages?: string | null } = {},
) {
  const context = { files, checkout, packages };
  const built = new Map<string, string>();
  for (const stage of stages) {
    const isEmptyBase = stages.some(({ name, instructions }) => name === stage.base && instructions.length === 0);
    if (!isEmptyBase && stages.some(({ name }) => name === stage.base))
      throw new Error(`stage ${stage.name}: a base that holds files is more than this test can build`);
    const root = join(folder, stage.name === "" ? "final" : stage.name);
    mkdirSync(root);
    await buildStage(stage, root, context, built);
    built.set(stage.name, root);
  }
  return built;
}

/** Instructions that say how the image is run, and put no file into it. */
const describing = new Set(["ARG", "LABEL", "ENV", "USER", "EXPOSE", "ENTRYPOINT", "CMD"]);

async function buildStage(stage: Stage, root: string, context: Context, built: BuiltStages): Promise<void> {
  let folder = "/";
  for (const instruction of stage.instructions) {
    const [first = ""] = instruction.arguments;
    if (instruction.name === "WORKDIR") {
      folder = posix.resolve(folder, first);
      mkdirSync(join(root, folder), { recursive: true });
    } else if (instruction.name === "COPY") copyFiles(instruction, root, folder, context, built);
    else if (instruction.name === "RUN" && first === installsAll && context.packages !== null)
      symlinkSync(context.packages, join(root, folder, "node_modules"));
    else if (instruction.name === "RUN") await runCommand(first, join(root, folder));
    else if (!describing.has(instruction.name))
      throw new Error(`line ${instruction.line}: ${instruction.name} is not known to this test`);
  }
}

function copyFiles(
  { arguments: words, flags, line }: Instruction,
  root: string,
  folder: string,
  context: Context,
  built: BuiltStages,
): void {
  const given = words.at(-1) ?? "";
  const target = join(root, posix.resolve(folder, given));
  const from = flags.find((flag) => flag.startsWith("--from="))?.slice("--from=".length);
  if (flags.length > (from === undefined ? 0 : 1))
    throw new Error(`line ${line}: a flag that is not known to this test`);
  for (const source of words.slice(0, -1)) {
    if (from === undefined) copyFromContext(context, source, given, target);
    else copyTree(join(built.get(from) ?? "", source), target);
  }
}

function copyFromContext({ files, checkout }: Context, source: string, given: string, target: string): void {
  const isInFolder = given.endsWith("/");
  const found = files.filter((path) => path === source || path.startsWith(`${source}/`));
  if (found.length === 0) throw new Error(`COPY ${source}: the build context has nothing of this name`);
  for (const path of found) {
    const rest = path === source ? (isInFolder ? posix.basename(path) : "") : path.slice(source.length + 1);
    mkdirSync(dirname(join(target, rest)), { recursive: true });
    cpSync(join(checkout, path), join(target, rest));
  }
}

function copyTree(source: string, target: string): void {
  cpSync(source, target, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
}

/** Runs a command of the file as the builder would: with `sh -c`, and nothing of this process' surroundings but the way to the registry. */
async function runCommand(command: string, folder: string): Promise<void> {
  const kept = /^(npm_config_.*|(https?|no|all)_proxy|NODE_EXTRA_CA_CERTS|HOME|LANG)$/i;
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => kept.test(name)));
  const others = (process.env.PATH ?? "").split(":").filter((path) => !path.includes("node_modules"));
  const path = [dirname(process.execPath), ...others].join(":");
  try {
    await promisify(execFile)("sh", ["-c", command], {
      cwd: folder,
      env: { ...environment, PATH: path, npm_config_prefer_offline: "true" },
      maxBuffer: 1 << 24,
    });
  } catch (error) {
    const { stdout } = z
      .object({ stdout: z.string().catch("") })
      .catch({ stdout: "" })
      .parse(error);
    throw new Error(`RUN ${command}\n${error instanceof Error ? error.message : String(error)}\n${stdout}`);
  }
}
