import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A folder with a trace of twelve nodes with four GPUs each, written by hand: jobs of one GPU get scattered, so that jobs of four
 * GPUs wait although four GPUs are free.
 */
export function smallTraceFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "backtest-"));
  const nodes = Array.from({ length: 12 }, (_, i) => `node-${i},32000,131072,4,T4`);
  const job = (name: string, gpus: number, milli: number, qos: string, phase: string) =>
    `${name},2000,4096,${gpus},${milli},,${qos},${phase},0,7200,${phase === "Pending" ? "" : "0"}`;
  const jobs = [
    ...Array.from({ length: 5 }, (_, i) => job(`one-${i}`, 1, 1000, "LS", "Running")),
    ...Array.from({ length: 12 }, (_, i) => job(`four-${i}`, 4, 1000, "LS", i < 8 ? "Running" : "Pending")),
    job("half", 1, 500, "BE", "Running"),
    job("plain", 0, 0, "BE", "Succeeded"),
  ];
  const head =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time";
  writeFileSync(
    join(folder, "openb_node_list_gpu_node.csv"),
    `sn,cpu_milli,memory_mib,gpu,model\n${nodes.join("\n")}\n`,
  );
  writeFileSync(join(folder, "openb_pod_list_default.csv"), `${head}\n${jobs.join("\n")}\n`);
  return folder;
}
