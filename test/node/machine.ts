import { execFileSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";

/** Programs that a node needs of the system, and the Debian packages that have them. */
const needed: readonly (readonly [program: string, debian: string])[] = [
  ["runc", "runc"],
  ["/usr/lib/cni/ptp", "containernetworking-plugins"],
  ["nft", "nftables"],
  ["busybox", "busybox-static"],
  ["ip", "iproute2"],
  ["openssl", "openssl"],
  ["unshare", "util-linux"],
];

/** Why this machine cannot hold a node, with the next step; `null` where it can. */
export function whyNoNode(): string | null {
  if (process.platform !== "linux") return "a node needs Linux. Next step: run it in a virtual machine with Linux";
  if (process.getuid?.() !== 0) return "a node needs root. Next step: run the same command as root";
  const missing = needed.filter(([program]) => !isThere(program)).map(([, debian]) => debian);
  if (missing.length > 0)
    return `programs are missing. Next step: install them (Debian: apt-get install ${missing.join(" ")})`;
  if (!runs("unshare", ["--pid", "--fork", "--mount-proc", "--mount", "--net", "--uts", "--ipc", "true"]))
    return "namespaces may not be made. Next step: run it on a machine, or in a container, that may (CAP_SYS_ADMIN)";
  if (!writable("/sys/fs/cgroup/memory") && !existsSync("/sys/fs/cgroup/cgroup.controllers"))
    return "there are no control groups. Next step: mount /sys/fs/cgroup";
  if (existsSync("/sys/fs/cgroup/cgroup.controllers") && !writable("/sys/fs/cgroup/cgroup.subtree_control"))
    return "control groups may not be written. Next step: mount /sys/fs/cgroup writable";
  return null;
}

const isThere = (program: string): boolean => runs("sh", ["-c", `command -v ${program}`]);

function runs(program: string, words: readonly string[]): boolean {
  try {
    execFileSync(program, words, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function writable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
