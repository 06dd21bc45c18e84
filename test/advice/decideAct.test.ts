import { expect, it } from "vitest";
import { decideAct } from "../../exporter/advice/decideAct.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { type AdviceKind, adviceKinds } from "../../exporter/model/recommendation.ts";

const settings = configSchema.parse({ cluster: "c" }).advice;
const actOf = (kind: AdviceKind) => decideAct({ kind, idle: null, gainedGpuHours: 24, lostGpuHours: 0 }, settings).act;

it("asks the owner before what work asks for is changed, and does what guards let pass of everything else", () => {
  const asked = adviceKinds.filter((kind) => actOf(kind) === "ask");
  expect(asked.toSorted()).toEqual(["right_size", "share_gpu"]);
  expect(actOf("fix_source")).toBe("watch");
  expect(actOf("reclaim")).toBe("do");
});
