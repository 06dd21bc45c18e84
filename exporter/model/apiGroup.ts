/** Returns the group of an `apiVersion`: `apps` for `apps/v1`; empty for the core group and for an empty text. */
export function apiGroup(apiVersion: string): string {
  return apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
}
