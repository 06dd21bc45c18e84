#!/usr/bin/env -S node --max-semi-space-size=8
// This is what the package's command runs: plain JavaScript that an old Node.js understands, so that it can report what is
// missing.
const needed = 24;
if (Number(process.versions.node.split(".")[0]) < needed) {
  process.stderr.write(
    `fairlead: Node.js ${needed} or newer is needed, and this is ${process.versions.node}\nNext step: npx --package=node@${needed} --package=fairlead fairlead\n`,
  );
  process.exitCode = 1;
} else {
  await import("../cli/main.js");
}
