import { expect, it } from "vitest";
import { returnAfterStart } from "../../../exporter/advice/steps/workloadSteps.ts";
import type { AdviceStep } from "../../../exporter/model/recommendation.ts";

const step = (title: string, waitFor: string | null): AdviceStep => ({
  title,
  request: { verb: "PATCH", path: "/api/v1/nodes/n", contentType: "application/merge-patch+json", body: {} },
  precondition: "",
  command: "",
  dryRun: null,
  waitFor,
});

it("lets those who left wait again only when who gains has started", () => {
  const steps = returnAfterStart(
    [step("stop a", "Its pods are gone."), step("stop b", "Its pods are gone.")],
    [step("start a", null), step("start b", null)],
    ["search/rank", "search/query"],
  );
  expect(steps.map(({ title, waitFor }) => [title, waitFor])).toEqual([
    ["stop a", "Its pods are gone."],
    ["stop b", "Its pods are gone. Then search/rank and search/query have started."],
    ["start a", null],
    ["start b", null],
  ]);
});

it("has nothing to wait for where nobody leaves", () => {
  expect(returnAfterStart([], [step("start a", null)], ["search/rank"])).toEqual([step("start a", null)]);
});
