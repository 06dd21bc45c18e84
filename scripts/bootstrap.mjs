// Does all the set-up that a command needs on a bare clone, then runs it under the Node that package.json pins. It is plain
// JavaScript without dependencies, so that any Node from 20 on can start it.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const pinnedNode = join(root, "node_modules", ".bin", process.platform === "win32" ? "node.cmd" : "node");
const say = (text) => process.stderr.write(`fairlead: ${text}\n`);

function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, stdio: "inherit", ...options });
  if (result.error) {
    say(`${command} could not be started: ${result.error.message}`);
    return 1;
  }
  return result.status ?? 1;
}

/** Installs the packages of the lock file, once, and again when the lock file has changed. */
function installPackages() {
  const installed = join(root, "node_modules", ".package-lock.json");
  const fresh =
    existsSync(installed) &&
    existsSync(pinnedNode) &&
    statSync(installed).mtimeMs >= statSync(join(root, "package-lock.json")).mtimeMs;
  if (fresh) return;
  say("installing packages (once, about a minute) ...");
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  const options = { stdio: ["ignore", "ignore", "inherit"] };
  // No package runs a script of its own, except for the one that fetches the pinned Node.
  let status = run("npm", ["ci", "--ignore-scripts", ...quiet], options);
  if (status === 0) status = run("npm", ["rebuild", "node", "--ignore-scripts=false", ...quiet], options);
  if (status !== 0) {
    say(
      "npm failed; its output above says why. Next step: check the network or proxy settings of npm, then run the same command again.",
    );
    process.exit(status);
  }
}

/** Debian packages of servers that tests use, with a program of each. */
const servers = [
  ["prometheus", "promtool"],
  ["prometheus-alertmanager", "prometheus-alertmanager"],
  ["victoria-metrics", "victoria-metrics"],
];
/** The same packages, with those that a real node needs of its system. */
const nodeTools = [
  ["prometheus", "promtool"],
  ["runc", "runc"],
  ["containernetworking-plugins", "/usr/lib/cni/ptp"],
  ["nftables", "nft"],
  ["busybox-static", "busybox"],
  ["iproute2", "ip"],
  ["openssl", "openssl"],
];

/** On Debian as root, installs the packages that the test commands need; elsewhere it reports what is missing. */
function installDebianPackages(wanted) {
  const missing = wanted
    .filter(([, binary]) => run("sh", ["-c", `command -v ${binary}`], { stdio: "ignore" }) !== 0)
    .map(([name]) => name);
  if (missing.length === 0) return;
  const debian =
    existsSync("/etc/os-release") && /^(ID|ID_LIKE)=.*debian/m.test(readFileSync("/etc/os-release", "utf8"));
  if (!debian || process.getuid?.() !== 0) {
    say(
      `not installed: ${missing.join(", ")}. Tests that need it are skipped and say so. Next step: install it (Debian: apt-get install ${missing.join(" ")}).`,
    );
    return;
  }
  say(`installing ${missing.join(", ")} from Debian's packages (once) ...`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const quiet = { stdio: ["ignore", "ignore", "inherit"], env };
  const status = withoutServices(() => {
    // A program that builds servers beside the tests may be installing packages, too.
    const patient = ["-qq", "-o", "DPkg::Lock::Timeout=300"];
    const updated = run("apt-get", ["update", ...patient], quiet);
    return updated === 0
      ? run("apt-get", ["install", "-y", "--no-install-recommends", ...patient, ...missing], quiet)
      : updated;
  });
  if (status !== 0) say(`apt-get could not install ${missing.join(", ")}; tests that need it are skipped and say so.`);
  // Tests start the servers that they need; the machine must not start them, now or when it boots.
  else if (existsSync("/run/systemd/system")) run("systemctl", ["disable", "--quiet", ...missing], { stdio: "ignore" });
}

/** Installs without starting the services of the packages: Debian's `policy-rc.d` forbids that while `install` runs. */
function withoutServices(install) {
  const policy = "/usr/sbin/policy-rc.d";
  if (existsSync(policy)) return install();
  const goOn = () => {};
  // An interruption of apt-get must not leave the policy behind.
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, goOn);
  writeFileSync(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    return install();
  } finally {
    rmSync(policy, { force: true });
    for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, goOn);
  }
}

const inNode = (args) =>
  run(pinnedNode, args, { env: { ...process.env, PATH: `${dirname(pinnedNode)}:${process.env.PATH ?? ""}` } });
// Most objects that a cycle allocates live until the next one, so a larger young generation than 8 MiB is not worth its memory
// (5,000 nodes: 520 instead of 657 MiB resident, the same CPU time; docs/performance.md).
const smallYoungHeap = "--max-semi-space-size=8";
const vitest = join("node_modules", "vitest", "vitest.mjs");

const [mode, ...rest] = process.argv.slice(2);
installPackages();
let status = 1;
if (mode === "demo") status = inNode(["cli/main.ts", "demo", ...rest]);
else if (mode === "cli") status = inNode([smallYoungHeap, "cli/main.ts", ...rest]);
else if (mode === "test") {
  installDebianPackages(servers);
  status = inNode([join("node_modules", "@biomejs", "biome", "bin", "biome"), "check", "."]);
  if (status === 0) status = inNode([join("node_modules", "typescript", "bin", "tsc"), "-b"]);
  if (status === 0) status = inNode([vitest, "run", ...rest]);
} else if (mode === "test-servers") {
  installDebianPackages(servers);
  status = inNode([vitest, "run", "--config", "vitest.servers.config.ts", ...rest]);
} else if (mode === "test-node") {
  installDebianPackages(nodeTools);
  status = inNode([join("test", "node", "main.ts"), ...rest]);
} else if (mode === "bench") {
  installDebianPackages(servers);
  status = inNode([join("bench", "main.ts"), ...rest]);
} else if (mode === "soak" && rest[0] === "ends")
  status = inNode([join("test", "soak", "processEnds.ts"), ...rest.slice(1)]);
else if (mode === "soak")
  status = inNode(["--expose-gc", smallYoungHeap, "--max-old-space-size=640", join("bench", "soak.ts"), ...rest]);
else if (mode === "week") status = inNode([smallYoungHeap, join("scripts", "adviceWeek.ts"), ...rest]);
else if (mode === "past") status = inNode([smallYoungHeap, join("scripts", "demoPast.ts"), ...rest]);
else if (mode === "burst") status = inNode([join("scripts", "burstFigures.ts"), ...rest]);
else if (mode === "activity") status = inNode([smallYoungHeap, join("scripts", "activity.ts"), ...rest]);
else if (mode === "backtest") status = inNode([join("bench", "backtest", "main.ts"), ...rest]);
else if (mode === "screenshots") {
  installDebianPackages(servers);
  status = inNode([smallYoungHeap, join("scripts", "drawDashboards.ts"), ...rest]);
} else say(`unknown mode ${mode}; it is called by the scripts in package.json`);
process.exit(status);
