import { describe, expect, it } from "vitest";
import { matchesLabels, parseLabelSelector } from "../../../exporter/sources/kubernetes/labelSelector.ts";

describe("a label selector", () => {
  it.each([
    ["app=a", { app: "a" }, true],
    ["app==a", { app: "b" }, false],
    ["app!=a", {}, true],
    ["app!=a", { app: "a" }, false],
    ["app in (a, b),tier notin (x)", { app: "b" }, true],
    ["app in (a, b),tier notin (x)", { app: "b", tier: "x" }, false],
    ["app", { app: "" }, true],
    ["!app", { app: "" }, false],
    ["!app, example.com/tier = x", { "example.com/tier": "x" }, true],
    ["constructor", {}, false],
  ])("%s on %j is %s", (text, labels, expected) => {
    const selector = parseLabelSelector(text);
    if (selector === null) throw new Error("it was not read");
    expect(matchesLabels(selector, labels)).toBe(expected);
  });

  it.each(["", " ", "app=a,", "=a", "app in a", "app=a b", "a=b=c", "app in (a"])("%j is none", (text) => {
    expect(parseLabelSelector(text)).toBeNull();
  });
});
