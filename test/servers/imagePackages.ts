import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { listTree } from "./imageContainer.ts";

/** How the packages of an image compare with its bill of materials, and with what their authors published. */
export interface PackageComparison {
  /** In the bill of materials and not in the image. */
  readonly missing: readonly string[];
  /** In the image and not in the bill of materials. */
  readonly unlisted: readonly string[];
  /** Files that a package offers to importers and that pruning took away. */
  readonly lost: readonly string[];
  /** Files that packages offer to importers, in all. */
  readonly offers: number;
}

const manifestSchema = z.object({
  name: z.string(),
  version: z.string(),
  main: z.unknown().optional(), // some say `false`
  bin: z.unknown().optional(),
  exports: z.unknown().optional(),
});

const billSchema = z.object({
  bomFormat: z.literal("CycloneDX"),
  components: z.array(z.object({ "bom-ref": z.string() })),
});

/** Compares `app`, the image's folder, with its bill of materials and with the packages installed in `published`. */
export function prunedTargets(app: string, published: string): PackageComparison {
  const bill = billSchema.parse(JSON.parse(readFileSync(join(app, "sbom.cdx.json"), "utf8")));
  const listed = new Set(bill.components.map((component) => component["bom-ref"]));
  const found = new Set<string>();
  const lost: string[] = [];
  let offers = 0;
  for (const folder of packageFolders("node_modules", app)) {
    const manifest = manifestOf(join(app, folder));
    if (manifest === null) continue;
    found.add(`${manifest.name}@${manifest.version}`);
    const original = manifestOf(join(published, folder));
    if (original?.name !== manifest.name || original.version !== manifest.version) continue;
    for (const target of targetsOf(manifest)) {
      if (!existsSync(join(published, folder, target))) continue;
      offers++;
      if (!existsSync(join(app, folder, target))) lost.push(join(folder, target));
    }
  }
  return {
    missing: [...listed].filter((name) => !found.has(name)),
    unlisted: [...found].filter((name) => !listed.has(name)),
    lost,
    offers,
  };
}

/** Folders of packages below a `node_modules`, also nested ones. */
function packageFolders(modules: string, root: string): readonly string[] {
  if (!existsSync(join(root, modules))) return [];
  const names = readdirSync(join(root, modules)).flatMap((name) =>
    name.startsWith("@") ? readdirSync(join(root, modules, name)).map((inner) => join(name, inner)) : [name],
  );
  return names.flatMap((name) => {
    const folder = join(modules, name);
    return [folder, ...packageFolders(join(folder, "node_modules"), root)];
  });
}

function manifestOf(folder: string): z.infer<typeof manifestSchema> | null {
  const file = join(folder, "package.json");
  if (!existsSync(file)) return null;
  const parsed = manifestSchema.safeParse(JSON.parse(readFileSync(file, "utf8")));
  return parsed.success ? parsed.data : null;
}

/** Files that importers may name; those for type checkers and patterns are left out. */
function targetsOf({ main, bin, exports }: z.infer<typeof manifestSchema>): readonly string[] {
  const mains = typeof main !== "string" ? ["index.js"] : [main, `${main}.js`, join(main, "index.js")];
  const all = [...mains, ...leavesOf(bin), ...leavesOf(exports)];
  return all.filter((target) => !target.includes("*") && !/\.[cm]?ts$/.test(target));
}

function leavesOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leavesOf) : [];
}

const importing = /^(?:import|export)\b[^;"]*?from "([^"]+)"|^import "([^"]+)"|\bimport\("([^"]+)"\)/gm;

/** Imports of the program's own modules in `app`, also dynamic ones, and those that lead nowhere. */
export function unresolvedImports(app: string): { readonly imports: number; readonly unresolved: readonly string[] } {
  const unresolved: string[] = [];
  let imports = 0;
  const files = listTree(app).map(({ path }) => path);
  for (const file of files.filter((path) => path.endsWith(".js") && !path.includes("/node_modules/"))) {
    for (const [, ...names] of readFileSync(file, "utf8").matchAll(importing)) {
      const name = names.find((one) => one !== undefined) ?? "";
      if (name.startsWith("node:")) continue;
      imports++;
      const folder = name.split("/", name.startsWith("@") ? 2 : 1).join("/");
      const target = name.startsWith(".") ? join(dirname(file), name) : join(app, "node_modules", folder);
      if (!existsSync(target)) unresolved.push(`${file}: ${name}`);
    }
  }
  return { imports, unresolved };
}
