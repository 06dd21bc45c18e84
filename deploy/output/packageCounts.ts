import { z } from "zod";

const names = z.record(z.string(), z.string());

/**
 * The part of `package-lock.json`, version 3, that is read: https://docs.npmjs.com/cli/v11/configuring-npm/package-lock-json.
 */
const lockFile = z.object({
  packages: z.record(
    z.string(),
    z.object({
      dependencies: names.optional(),
      optionalDependencies: names.optional(),
      peerDependencies: names.optional(),
      peerDependenciesMeta: z.record(z.string(), z.object({ optional: z.boolean().optional() })).optional(),
    }),
  ),
});

type Packages = z.infer<typeof lockFile>["packages"];

/** The numbers of packages that one direct dependency of the running program brings, including itself. */
export interface PackageCount {
  readonly name: string;
  readonly all: number;
  /** Number of those packages that no other direct dependency brings. */
  readonly alone: number;
}

export interface PackageCounts {
  /** Number of all packages; each version in each place counts once. */
  readonly total: number;
  readonly direct: readonly PackageCount[];
}

/**
 * Counts the packages that the production dependencies bring, by the lock file. Throws where it is not a lock file of npm's
 * version 3.
 */
export function countPackages(lock: unknown): PackageCounts {
  const { packages } = lockFile.parse(lock);
  const direct = Object.keys(packages[""]?.dependencies ?? {}).sort();
  const brought = new Map(direct.map((name) => [name, broughtBy(packages, [name])]));
  const total = broughtBy(packages, direct).size;
  return {
    total,
    direct: direct.map((name) => ({
      name,
      all: brought.get(name)?.size ?? 0,
      alone:
        total -
        broughtBy(
          packages,
          direct.filter((other) => other !== name),
        ).size,
    })),
  };
}

/**
 * The dependencies that bring other packages, as a table of Markdown; those that bring only themselves are counted below it.
 */
export function packageTable({ total, direct }: PackageCounts): string {
  const shown = direct.filter(({ all }) => all > 1).sort((a, b) => b.alone - a.alone || b.all - a.all);
  return [
    `${total} packages for ${direct.length} direct ones, each version in each place counted once.`,
    "",
    "| package | packages that it brings | that only it brings |",
    "|---|---|---|",
    ...shown.map(({ name, all, alone }) => `| \`${name}\` | ${all} | ${alone} |`),
    "",
    `The other ${direct.length - shown.length} bring nothing but themselves.`,
  ].join("\n");
}

function broughtBy(packages: Packages, roots: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const waiting = roots.map((name) => placeOf(packages, "", name));
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    const found = place === null ? undefined : packages[place];
    if (place === null || found === undefined || seen.has(place)) continue;
    seen.add(place);
    const from = place;
    const optional = found.peerDependenciesMeta ?? {};
    const peers = Object.keys(found.peerDependencies ?? {}).filter((name) => optional[name]?.optional !== true);
    const needed = [...Object.keys({ ...found.dependencies, ...found.optionalDependencies }), ...peers];
    waiting.push(...needed.map((name) => placeOf(packages, from, name)));
  }
  return seen;
}

/**
 * The place where Node finds a package from another's folder: in its own node_modules first, then further up; `null` if the
 * package is not installed.
 */
function placeOf(packages: Packages, from: string, name: string): string | null {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("node_modules/") - 1))) {
    const place = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    if (Object.hasOwn(packages, place)) return place;
    if (folder === "") return null;
  }
}
