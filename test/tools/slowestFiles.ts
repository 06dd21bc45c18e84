import { relative } from "node:path";
import type { Reporter } from "vitest/node";

const shown = 10;

/** Ends a run with its ten slowest files: seconds of their imports, hooks and tests. */
export const slowestFiles: Reporter = {
  onTestRunEnd(modules) {
    const files = modules.map((module) => {
      const { duration, collectDuration } = module.diagnostic();
      return { name: relative(process.cwd(), module.moduleId), seconds: (duration + collectDuration) / 1000 };
    });
    const slowest = files.sort((a, b) => b.seconds - a.seconds).slice(0, shown);
    if (slowest.length < 2) return;
    const lines = slowest.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(8)} s  ${name}`);
    process.stdout.write(`\n Slowest files\n${lines.join("\n")}\n`);
  },
};
