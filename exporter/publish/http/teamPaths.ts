import { listsByTeam } from "./lists.ts";

/** What users with teams may ask for: answers that are made for their teams alone, and what describes them. */
export const pathsByTeam: readonly string[] = ["", "/openapi.json", "/budgets", "/history", "/ledger"]
  .concat(listsByTeam().map((name) => `/${name}`))
  .map((path) => `/api/v1${path}`);
