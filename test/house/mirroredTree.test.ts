import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .trim()
  .split("\n")
  .filter((file) => existsSync(join(root, file)));

/** Folders of tests that mirror nothing, and why. A name without a slash counts wherever the folder is. */
const mirrorNothing: Readonly<Record<string, string>> = {
  "test/e2e": "A whole simulated cluster, with servers and a browser, is no module.",
  "test/servers": "They ask real servers, most of them about several modules.",
  "test/node": "They ask an installation on a real node.",
  "test/hostile": "They give hostile inputs to the whole program.",
  "test/house": "They check the repository itself.",
  contract: "One suite is run by every implementation of a port.",
};

/** The folder without `exporter/`, which tests leave out. */
const mirrored = (folder: string): string => folder.replace(/^exporter(?:\/|$)/, "");

const production = files.filter((file) => !file.startsWith("test/"));
const modules = production.filter((file) => file.endsWith(".ts"));
/** Every folder that has a file, and the folders above it. */
const folders: ReadonlySet<string> = new Set(
  production.flatMap((file) => {
    const parts = dirname(file).split("/");
    return parts.map((_, i) => mirrored(parts.slice(0, i + 1).join("/")));
  }),
);
const foldersOf = new Map<string, readonly string[]>();
for (const file of modules) {
  const name = basename(file, ".ts");
  foldersOf.set(name, [...(foldersOf.get(name) ?? []), mirrored(dirname(file))]);
}

const tests = files.filter((file) => /^test\/.*\.test(?:-d)?\.ts$/.test(file));
const mirrorsNothing = (file: string): string | undefined =>
  Object.keys(mirrorNothing).find((name) =>
    name.includes("/") ? file.startsWith(`${name}/`) : dirname(file).split("/").includes(name),
  );
const unitTests = tests
  .filter((file) => mirrorsNothing(file) === undefined)
  .map((file) => ({
    file,
    name: basename(file).replace(/\.test(?:-d)?\.ts$/, ""),
    folder: dirname(file).replace(/^test(?:\/|$)/, ""),
  }));

describe("a unit test", () => {
  it("is in the folder under test/ that has the path of a folder of the code, without exporter/", () => {
    expect(unitTests.length).toBeGreaterThan(400);
    expect(unitTests.filter(({ folder }) => !folders.has(folder)).map(({ file }) => file)).toEqual([]);
  });

  it("with the name of a module of its layer is in the folder of that module", () => {
    const misplaced = unitTests.flatMap(({ file, name, folder }) => {
      const [layer] = folder.split("/");
      const there = (foldersOf.get(name) ?? []).filter((of) => of.split("/")[0] === layer);
      return there.length === 0 || there.includes(folder) ? [] : [`${file} belongs to test/${there.join(" or test/")}`];
    });
    expect(misplaced).toEqual([]);
  });
});

it("each folder that mirrors nothing has tests", () => {
  const used = new Set(tests.map(mirrorsNothing));
  expect(Object.keys(mirrorNothing).filter((name) => !used.has(name))).toEqual([]);
});
