import { expect, it } from "vitest";
import { createKubernetesLog } from "../../cli/kubernetesLog.ts";

it("reports what is listed again, and at level debug watches that are only opened again", () => {
  const lines: string[] = [];
  const write = (level: string) => (_fields: object, message: string) => void lines.push(`${level} ${message}`);
  const log = createKubernetesLog({ debug: write("debug"), info: write("info"), warn: write("warn") });
  log.onStateChange({ kind: "pods", from: "synced", to: "failing", message: "cut" });
  log.onRestart({ kind: "pods", reason: "broken", message: "cut" });
  log.onStateChange({ kind: "pods", from: "failing", to: "synced", message: "" });
  log.onRestart({ kind: "pods", reason: "expired", message: "too old" });
  log.onRestart({ kind: "pods", reason: "token-expired", message: "too old" });
  expect(lines).toEqual([
    "warn pods: synced -> failing",
    "debug pods: the watch begins again (broken)",
    "info pods: failing -> synced",
    "info pods: listed again (expired)",
    "debug pods: the list begins again (token-expired)",
  ]);
});
