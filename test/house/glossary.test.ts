import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  absentCapacityOwners,
  activitySignals,
  adviceActLabels,
  adviceKindLabels,
  adviceStateLabels,
  aftermathLabels,
  allGpuStates,
  chargeLabels,
  gapReasons,
  idleKindLabels,
  priceBasisLabels,
  priceSourceLabels,
  severities,
  shortfallCauses,
  strandedReasons,
  waitCauses,
  withheldReasonLabels,
  workBlockers,
} from "../../exporter/catalogue/labels.ts";

const glossary = readFileSync(new URL("../../docs/glossary.md", import.meta.url), "utf8");

test.each([
  ...activitySignals,
  ...adviceActLabels,
  ...adviceKindLabels,
  ...adviceStateLabels,
  ...aftermathLabels,
  ...allGpuStates,
  ...chargeLabels,
  ...gapReasons,
  ...idleKindLabels,
  ...priceBasisLabels,
  ...priceSourceLabels,
  ...severities,
  ...shortfallCauses,
  ...absentCapacityOwners,
  ...strandedReasons,
  ...waitCauses,
  ...withheldReasonLabels,
  ...workBlockers,
])("the glossary explains %s", (word) => {
  expect(glossary).toContain(`\`${word}\``);
});
