import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Folder -> folders that it may import. Project references check the same; this test says it in one place, type-only imports included. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  "exporter/kernel": [],
  "exporter/catalogue": ["exporter/model"],
  "exporter/model": ["exporter/kernel"],
  "exporter/config": ["exporter/catalogue", "exporter/model", "exporter/kernel"],
  "exporter/sources": ["exporter/config", "exporter/model", "exporter/kernel"],
  "exporter/join": ["exporter/config", "exporter/model", "exporter/kernel"],
  "exporter/analysis": ["exporter/config", "exporter/join", "exporter/model", "exporter/kernel"],
  "exporter/accounts": ["exporter/config", "exporter/analysis", "exporter/join", "exporter/model", "exporter/kernel"],
  "exporter/advice": ["exporter/config", "exporter/analysis", "exporter/join", "exporter/model", "exporter/kernel"],
  "exporter/history": [
    "exporter/config",
    "exporter/catalogue",
    "exporter/sources",
    "exporter/analysis",
    "exporter/accounts",
    "exporter/model",
    "exporter/kernel",
  ],
  "exporter/publish": [
    "exporter/config",
    "exporter/history",
    "exporter/catalogue",
    "exporter/analysis",
    "exporter/accounts",
    "exporter/join",
    "exporter/model",
    "exporter/kernel",
  ],
  simulator: ["exporter/model", "exporter/kernel"],
  alerts: ["exporter/catalogue", "exporter/model"],
  dashboards: ["alerts", "exporter/catalogue", "exporter/model"],
  deploy: [
    "alerts",
    "dashboards",
    "exporter/config",
    // What is read of the cluster.
    "exporter/sources",
  ],
  review: [
    "exporter/config",
    "exporter/history",
    "exporter/publish",
    "exporter/catalogue",
    "exporter/analysis",
    "exporter/accounts",
    "exporter/model",
    "exporter/kernel",
  ],
};

/** Programs of their own, with packages of their own; nothing imports them. */
const workspaces = ["dashboards/preview"];

function filesBelow(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !workspaces.some((one) => join(folder, name).startsWith(`${one}/`)))
    .map((name) => join(folder, name));
}

function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((match) =>
    relative(root, resolve(root, dirname(file), match[1] ?? "")),
  );
}

const folderOf = (file: string): string =>
  Object.keys(mayImport).find((folder) => file.startsWith(`${folder}/`)) ?? dirname(file).split("/")[0] ?? "";

describe("the import rule", () => {
  it.each(Object.entries(mayImport))("%s imports only what it may", (folder, allowed) => {
    const forbidden = filesBelow(folder).flatMap((file) =>
      importsOf(file)
        .filter((target) => folderOf(target) !== folder && !allowed.includes(folderOf(target)))
        .map((target) => `${file} -> ${target}`),
    );
    expect(forbidden).toEqual([]);
  });

  it("no source imports another source", () => {
    const shared = new Set(["http", "port.ts"]);
    const sourceOf = (file: string): string => file.split("/")[2] ?? "";
    const forbidden = filesBelow("exporter/sources").flatMap((file) =>
      importsOf(file)
        .filter(
          (target) =>
            target.startsWith("exporter/sources/") &&
            sourceOf(target) !== sourceOf(file) &&
            !shared.has(sourceOf(target)),
        )
        .map((target) => `${file} -> ${target}`),
    );
    expect(forbidden).toEqual([]);
  });

  it("sees a forbidden import when there is one", () => {
    expect(importsOf("exporter/join/join.ts")).toContain("exporter/model/cluster.ts");
    expect(mayImport["exporter/kernel"]).not.toContain(folderOf("exporter/model/cluster.ts"));
  });

  it("pure folders read no clock, environment, random number or log", () => {
    const folders = [
      "exporter/join",
      "exporter/analysis",
      "exporter/accounts",
      "exporter/advice",
      "exporter/model",
      "exporter/catalogue",
      "alerts",
      "dashboards",
      "deploy",
    ];
    const impure = folders.flatMap((folder) =>
      filesBelow(folder).filter(
        (file) =>
          !file.startsWith("exporter/accounts/ledger/") &&
          /Date\.now|new Date\(\)|process\.|Math\.random|console\./.test(readFileSync(join(root, file), "utf8")),
      ),
    );
    expect(impure).toEqual([]);
  });

  it("no hand-written file has more than 300 lines", () => {
    const folders = [...Object.keys(mayImport), "cli", "scripts"];
    const long = folders
      .flatMap(filesBelow)
      .filter((file) => readFileSync(join(root, file), "utf8").split("\n").length > 301);
    expect(long).toEqual([]);
  });
});
