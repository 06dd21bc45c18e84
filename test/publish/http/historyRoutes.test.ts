import { describe, expect, it } from "vitest";
import type { History, TotalsQuestion, TotalsResult } from "../../../exporter/history/history.ts";
import {
  budgetsSchema,
  costsSchema,
  historySchema,
  waterfallSchema,
} from "../../../exporter/publish/history/schema.ts";
import { buildOpenApi } from "../../../exporter/publish/http/openapi.ts";
import type { Outputs } from "../../../exporter/publish/http/outputs.ts";
import { askApp } from "../askApp.ts";
import { knownBudgets } from "../knownBudgets.ts";

const get = (path: string, outputs: Partial<Outputs> = {}) => askApp(`/api/v1${path}`, outputs);

/** Team `a` was active, team `b` idle, the rest free; whatever the question is grouped by. */
const truth = [
  { team: "a", state: "active", gpuSeconds: 7200, costs: { USD: 8 }, unpricedGpuSeconds: 0 },
  { team: "b", state: "idle", gpuSeconds: 3600, costs: { USD: 2 }, unpricedGpuSeconds: 0 },
  { team: "", state: "free", gpuSeconds: 3600, costs: { USD: 5 }, unpricedGpuSeconds: 0 },
];

function past(answer: ((question: TotalsQuestion) => TotalsResult) | null = null) {
  const asked: TotalsQuestion[] = [];
  const history: History = {
    name: "http://prometheus:9090",
    kind: "prometheus",
    async totals(question) {
      asked.push(question);
      if (answer !== null) return answer(question);
      const rows = truth.map(({ team, state, ...sums }) => ({
        values: question.by.map((name) => (name === "team" ? team : name === "state" ? state : "x")),
        ...sums,
      }));
      const { from, to } = question;
      return { ok: true, answer: { rows, coveredSeconds: (to - from) / 2, from, to } };
    },
  };
  return { asked, past: { history, notCharged: ["unavailable"] } };
}

const day = "from=2026-11-19&to=2026-11-20";

describe("/api/v1/history", () => {
  it("passes the question on, and gives the largest groups first", async () => {
    const { asked, past: known } = past();
    const { status, body } = await get(`/history?${day}&by=day,team&pool=h100&pool=a100&queue=&limit=2`, {
      past: known,
    });
    expect(status).toBe(200);
    expect(asked).toMatchObject([{ by: ["day", "team"], where: { pool: ["h100", "a100"], queue: [""] } }]);
    expect(historySchema.safeParse(body).error).toBeUndefined();
    expect(body).toMatchObject({
      total: 3,
      source: { name: "http://prometheus:9090", kind: "prometheus" },
      coverage: { ratio: 0.5 },
      items: [{ day: "x", team: "a", gpuSeconds: 7200 }, { team: "b" }],
    });
  });

  it.each([
    ["/history?by=nothing", "cannot group by"],
    ["/history?node=a", "cannot choose by"],
    ["/history?state=running", "there is no state"],
    ["/history?from=soon", "not a time"],
    ["/history?limit=0", "limit"],
    ["/history?from=1d&from=2d", "given twice"],
    [`/history?${Array.from({ length: 120 }, () => "pool=a").join("&")}`, "too many parameters"],
    ["/waterfall?by=team", "always by state"],
    ["/costs?by=state", "not kept by that"],
    ["/costs?charge=everything", "no basis"],
    ["/costs?shareUnallocated=even", "no way to share"],
    ["/costs?team=a", "part of the holders"],
  ])("refuses %s with a next step", async (path, error) => {
    const { status, body } = await get(path, { past: past().past });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: expect.stringContaining(error), nextStep: expect.stringMatching(/\.$/) });
  });

  it.each([
    [{ isRefused: true } as const, 400],
    [{ isEmpty: true } as const, 404],
    [{}, 503],
  ])("says what the history says: %j is %i", async (kind, wanted) => {
    const failure: TotalsResult = { ok: false, error: "no", nextStep: "Look.", ...kind };
    for (const path of ["/history", "/waterfall", "/costs"]) {
      const { status, body } = await get(path, { past: past(() => failure).past });
      expect([status, body]).toEqual([wanted, { error: "no", nextStep: "Look." }]);
    }
  });

  it("says that nothing keeps the past", async () => {
    for (const path of ["/history", "/waterfall", "/costs", "/budgets"]) expect((await get(path)).status).toBe(404);
  });
});

describe("/api/v1/waterfall", () => {
  it("closes from capacity to active", async () => {
    const { body } = await get(`/waterfall?${day}`, { past: past().past });
    expect(waterfallSchema.safeParse(body).error).toBeUndefined();
    const { stages } = waterfallSchema.parse(body);
    expect(stages.map(({ gpuSeconds }) => gpuSeconds)).toEqual([14_400, 14_400, 10_800, 10_800, 7200]);
    expect(stages.map(({ costs }) => costs.USD)).toEqual([15, 15, 10, 10, 8]);
  });
});

describe("/api/v1/costs", () => {
  it("charges what was allocated, and leaves the rest with the platform", async () => {
    const { asked, past: known } = past();
    const { body } = await get(`/costs?${day}`, { past: known });
    expect(asked[0]?.by).toEqual(["team", "state"]);
    expect(costsSchema.safeParse(body).error).toBeUndefined();
    expect(body).toMatchObject({
      items: [
        { team: "a", costs: { USD: { charged: 8, platform: 0, shared: 0 } } },
        { team: "b", costs: { USD: { charged: 2, platform: 0, shared: 0 } } },
      ],
      unallocated: { USD: 5 },
      bill: { USD: 15 },
    });
  });

  it("shares what nobody held, and charges by use", async () => {
    const { body } = await get(`/costs?${day}&charge=use&shareUnallocated=allocation`, { past: past().past });
    expect(body).toMatchObject({
      charge: "use",
      items: [
        { team: "a", costs: { USD: { charged: 8, platform: 0, shared: 4 } } },
        { team: "b", costs: { USD: { charged: 0, platform: 2, shared: 1 } } },
      ],
      unallocated: { USD: 0 },
    });
  });
});

describe("/api/v1/budgets", () => {
  it("gives every budget as it is known", async () => {
    const { status, body } = await get("/budgets", { budgets: () => knownBudgets });
    expect(status).toBe(200);
    expect(budgetsSchema.safeParse(body).error).toBeUndefined();
    expect(body).toMatchObject({
      at: "2026-11-21T04:00:00Z",
      total: 2,
      items: [
        { team: "ads", spent: 48_000 },
        { team: "search", spent: null },
      ],
    });
  });
});

it("openapi.json has all of them", () => {
  const text = JSON.stringify(buildOpenApi());
  for (const name of ["history", "waterfall", "costs", "budgets"]) expect(text).toContain(`"/api/v1/${name}"`);
  for (const schema of ["HistoryAnswer", "Waterfall", "Costs", "Budgets"]) expect(text).toContain(`schemas/${schema}"`);
});
