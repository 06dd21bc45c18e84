import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { fairnessMetrics } from "../../exporter/catalogue/fairness.ts";
import { waitingMetrics } from "../../exporter/catalogue/waiting.ts";
import { buildFamilies } from "../../exporter/publish/families.ts";
import { renderPage } from "../../exporter/publish/prometheus/render.ts";
import { buildHealthPage, buildPublication, createProcessMetrics } from "../../exporter/publish/publication.ts";
import { health, smallMoment } from "./moment.ts";
import { queueMoment, queueTotals } from "./queueMoment.ts";
import { runningTotals } from "./runningTotals.ts";

const limits = { teams: 1000, series: 50_000 };
const withoutVersion = (page: string) => page.replace(/node_version="[^"]*"/, 'node_version="NODE"');
const promtool = spawnSync("promtool", ["--version"]).error === undefined;

/** What `promtool check metrics` says about a page: parse errors and breaches of naming rules. */
function complaints(page: Buffer): string[] {
  const { stdout, stderr, error } = spawnSync("promtool", ["check", "metrics"], { input: page, encoding: "utf8" });
  if (error !== undefined) throw error;
  return `${stdout}${stderr}`.split("\n").filter((line) => line.trim() !== "");
}

/** The one exception to base units: people speak of idle node-hours. */
const inHours = ['fairlead_idle_node_hours use base unit "seconds" instead of "hours"'];

describe("whole pages", () => {
  test("of a small moment", async () => {
    const page = renderPage(
      buildFamilies({ analysis: smallMoment, health: health(), limits, accounts: runningTotals(smallMoment) }).families,
    ).toString("utf8");
    await expect(withoutVersion(page)).toMatchFileSnapshot("../golden/small-moment.prom");
  });

  test("of a moment with queues", async () => {
    const { families } = buildFamilies({ analysis: queueMoment, health: health(), limits, accounts: queueTotals() });
    const own = families.filter(({ name }) => name in fairnessMetrics || name in waitingMetrics);
    await expect(renderPage(own).toString("utf8")).toMatchFileSnapshot("../golden/queue-moment.prom");
  });

  test("of health alone", async () => {
    const stopped = health({
      lastCycleAt: null,
      stageSeconds: {},
      cycles: { ok: 0, failed: 0 },
      sources: [],
      problems: [],
    });
    const page = renderPage(buildFamilies({ analysis: null, health: stopped, limits }).families).toString("utf8");
    await expect(withoutVersion(page)).toMatchFileSnapshot("../golden/health-only.prom");
  });

  test.skipIf(!promtool)("have nothing that promtool complains about", () => {
    expect(complaints(Buffer.from("# TYPE bad_total gauge\nbad_total 1\n"))).not.toEqual([]);
    expect(
      complaints(
        buildPublication({ analysis: smallMoment, health: health(), limits, accounts: runningTotals(smallMoment) }, "")
          .page,
      ),
    ).toEqual(inHours);
    expect(
      complaints(
        buildPublication({ analysis: queueMoment, health: health(), limits, accounts: queueTotals() }, "").page,
      ),
    ).toEqual(inHours);
    expect(complaints(buildHealthPage(health(), limits, ""))).toEqual([]);
  });

  test.skipIf(!promtool)(
    "with process metrics can be parsed; only names of Node.js's own metrics are complained about",
    async () => {
      const processMetrics = await createProcessMetrics("harbor")();
      const found = complaints(
        buildPublication({ analysis: smallMoment, health: health(), limits }, processMetrics).page,
      );
      expect(found.filter((line) => !/^(nodejs_|process_)/.test(line))).toEqual([]);
      expect(processMetrics).toContain('process_cpu_seconds_total{cluster="harbor"}');
    },
  );

  if (!promtool) process.stderr.write("skipped: promtool is not installed (Debian package prometheus)\n");
});
