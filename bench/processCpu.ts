import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { clockTicksPerSecond } from "./machine.ts";

/**
 * CPU seconds of another process so far, user and system, all threads (`/proc/PID/stat`, proc(5)). They are counted in ticks of
 * 10 ms, so only work that takes at least a few hundred milliseconds can be measured. The result is 0 once the process is gone.
 */
export function cpuSecondsOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command may contain blanks and brackets, so fields are counted from its closing bracket.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / clockTicksPerSecond;
  } catch {
    return 0;
  }
}

/**
 * CPU seconds of the main thread of this process. If other threads were included, what they collect and compile after each
 * change would be counted for a short piece of work.
 */
export function mainThreadSeconds(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1e6;
}

/** CPU seconds of the children of this process that have ended (`cutime` and `cstime` of proc(5)). */
export function endedChildrenCpuSeconds(): number {
  const stat = readFileSync("/proc/self/stat", "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) / clockTicksPerSecond;
}

/** Resident bytes of a process at present; 0 once it is gone. */
export function residentBytesOf(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** CPU seconds of a process by its scheduler statistics, which are exact but contain only threads that still exist. */
export function exactCpuSecondsOf(pid: number): number {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
  }
  return nanoseconds / 1e9;
}

/** Waits until a process has done almost nothing for a second, but at most for this many seconds. */
export async function untilIdle(pid: number, mostSeconds: number): Promise<void> {
  for (let waited = 0; waited < mostSeconds; waited += 1) {
    const before = exactCpuSecondsOf(pid);
    await wait(1000);
    if (exactCpuSecondsOf(pid) - before < 0.02) return;
  }
}
