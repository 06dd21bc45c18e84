import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { isDispensable, neededServers } from "../servers/neededServers.ts";

const folder = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));
const scripts = readdirSync(folder("tools")).filter((name) => name.startsWith("install-"));
const needed = readdirSync(folder("servers"))
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => [name, neededServers(join(folder("servers"), name))] as const);

it("each server that tests talk to is obtained in the order that is written down, and none that no test needs", () => {
  const cache = mkdtempSync(join(tmpdir(), "fairlead-no-servers-"));
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, FAIRLEAD_TEST_CACHE: cache };
  const output = execFileSync("bash", [join(folder("tools"), "obtain-servers.sh"), "--missing"], {
    encoding: "utf8",
    env,
  });
  rmSync(cache, { recursive: true });
  const ordered = output.trim().split("\n");
  expect(ordered.map((name) => `install-${name}.sh`).toSorted()).toEqual(scripts.toSorted());
  const ofNode = neededServers(join(folder("node"), "preparedNode.ts"));
  expect([...new Set([...needed.flatMap(([, names]) => names), ...ofNode])].toSorted()).toEqual(scripts.toSorted());
  const dispensable = ordered.map((name) => isDispensable(`install-${name}.sh`));
  expect(dispensable).toEqual(dispensable.toSorted((a, b) => Number(a) - Number(b)));
});

it("what a test file needs is found where it is named: in the file itself, and in what it imports", () => {
  const of = new Map(needed);
  expect(of.get("thanosClusters.test.ts")).toEqual(["install-thanos.sh"]);
  expect(of.get("kubernetesExpired.test.ts")).toEqual(["install-kube-servers.sh"]);
  expect(of.get("kai.test.ts")).toContain("install-kai.sh");
  expect(of.get("simulatedMonth.test.ts")).toEqual([]);
});
