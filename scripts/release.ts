import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import { releaseSteps } from "../deploy/release/steps.ts";

// Runs steps of a release: node scripts/release.ts STEP... [--dry-run] [--output DIR] [--source URL] [--image NAME] [--helm PROGRAM]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    "dry-run": { type: "boolean", default: false },
    output: { type: "string", default: "dist/release" },
    source: { type: "string", default: "https://github.com/OWNER/fairlead" },
    image: { type: "string", default: "ghcr.io/OWNER/fairlead" },
    helm: { type: "string", default: "helm" },
  },
});

const settings = {
  ...values,
  tag: process.env.RELEASE_TAG ?? null,
  revision: process.env.GITHUB_SHA ?? "unknown",
  run(program: string, args: readonly string[]): void {
    if (values["dry-run"]) console.log([program, ...args].join(" "));
    else execFileSync(program, [...args], { stdio: "inherit" });
  },
};

const names = positionals.length > 0 ? positionals : Object.keys(releaseSteps);
const unknown = names.find((name) => !Object.hasOwn(releaseSteps, name));
if (unknown !== undefined) {
  console.error(`there is no step ${unknown}\nNext step: name some of: ${Object.keys(releaseSteps).join(", ")}.`);
  process.exit(2);
}
try {
  for (const name of names) {
    console.error(`release: ${name}`);
    releaseSteps[name]?.(settings);
  }
} catch (error) {
  console.error(`release: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
