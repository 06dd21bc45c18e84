import { expect } from "vitest";
import type { MemoryPlay } from "../../../cli/demo/playInMemory.ts";
import type { JsonValue, Recommendation } from "../../../exporter/model/recommendation.ts";
import { isObject, toJson } from "../../../simulator/json.ts";
import { pathOf } from "./stopWork.ts";

const neverWatched = (): never => {
  throw new Error("a get is no watch");
};

/** An object of the API of a played cluster. */
export function objectAt(play: MemoryPlay, path: string): { readonly [key: string]: JsonValue } {
  const reply = play.cluster.api.read({ path, accept: "application/json" }, neverWatched);
  expect(reply?.code, path).toBe(200);
  const object = toJson(JSON.parse(String(reply?.body)));
  if (!isObject(object)) throw new Error(`${path} is no object`);
  return object;
}

/** Remembers the objects that advice will change, by its steps or its owner; the result puts them back to what they were. */
export function createUndo(play: MemoryPlay, { steps, targets }: Recommendation): () => Promise<void> {
  const changed = steps.filter(({ request }) => request.verb === "PATCH" || request.verb === "PUT");
  const byOwner = steps.length > 0 ? [] : targets.flatMap((target) => pathOf(target) ?? []);
  const bySteps = changed.map(({ request }) => request.path.replace(/\?.*$/, "").replace(/\/scale$/, ""));
  const paths = new Set([...bySteps, ...byOwner]);
  const before = new Map([...paths].map((path) => [path, objectAt(play, path)] as const));
  return async () => {
    for (const [path, object] of before) {
      const { metadata } = object;
      const { resourceVersion: _, ...kept } = isObject(metadata) ? metadata : {};
      const body = { ...object, metadata: kept };
      const answer = await play.write({ verb: "PUT", path, contentType: "application/json", body });
      expect(answer.code, `${path}: ${answer.message}`).toBe(200);
    }
  };
}
