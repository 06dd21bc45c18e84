import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { countPackages } from "../../../deploy/output/packageCounts.ts";

test("packages are counted once in each place, and those that are shared belong to nobody alone", () => {
  const counts = countPackages({
    lockfileVersion: 3,
    packages: {
      "": { dependencies: { one: "1", two: "1" }, devDependencies: { tests: "1" } },
      "node_modules/one": { dependencies: { shared: "1", inner: "1" } },
      "node_modules/one/node_modules/inner": { dependencies: { deep: "1" } },
      "node_modules/one/node_modules/inner/node_modules/deep": { dependencies: { shared: "1" } },
      "node_modules/two": { dependencies: { shared: "2" }, peerDependencies: { tests: "1" } },
      "node_modules/two/node_modules/shared": {},
      "node_modules/shared": {},
      "node_modules/tests": {},
    },
  });
  expect(counts).toEqual({
    total: 7,
    direct: [
      { name: "one", all: 4, alone: 4 },
      { name: "two", all: 3, alone: 3 },
    ],
  });
});

test("what is marked as needed at run time by npm itself is what is counted", () => {
  const lock = JSON.parse(readFileSync(new URL("../../../package-lock.json", import.meta.url), "utf8"));
  const byNpm = Object.entries<{ dev?: boolean }>(lock.packages).filter(
    ([place, { dev }]) => place !== "" && dev !== true,
  );
  expect(countPackages(lock).total).toBe(byNpm.length);
});

test("a lock file of another kind is refused", () => {
  expect(() => countPackages({ dependencies: {} })).toThrow("packages");
});
