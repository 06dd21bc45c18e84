import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { activitySignals } from "../../exporter/model/activitySignals.ts";
import { adviceActs } from "../../exporter/model/adviceAct.ts";
import { aftermathOutcomes } from "../../exporter/model/aftermath.ts";
import { blockers } from "../../exporter/model/blockers.ts";
import { chargeBases } from "../../exporter/model/charge.ts";
import { strandedReasons } from "../../exporter/model/fragmentation.ts";
import { gapReasons } from "../../exporter/model/gapReasons.ts";
import { gpuStates } from "../../exporter/model/gpuStates.ts";
import { idleKinds } from "../../exporter/model/idleKinds.ts";
import { priceBases, priceSources } from "../../exporter/model/prices.ts";
import { severities } from "../../exporter/model/problem.ts";
import { adviceKinds, adviceStates, withheldReasons } from "../../exporter/model/recommendation.ts";
import { absentOwners, shortfallCauses } from "../../exporter/model/shortfall.ts";
import { waitCauses } from "../../exporter/model/waitCauses.ts";

const glossary = readFileSync(new URL("../../docs/glossary.md", import.meta.url), "utf8");

test.each([
  ...activitySignals,
  ...adviceActs,
  ...adviceKinds,
  ...adviceStates,
  ...aftermathOutcomes,
  ...gpuStates,
  ...chargeBases,
  ...gapReasons,
  ...idleKinds,
  ...priceBases,
  ...priceSources,
  ...severities,
  ...shortfallCauses,
  ...absentOwners,
  ...strandedReasons,
  ...waitCauses,
  ...withheldReasons,
  ...blockers,
])("the glossary explains %s", (word) => {
  expect(glossary).toContain(`\`${word}\``);
});
