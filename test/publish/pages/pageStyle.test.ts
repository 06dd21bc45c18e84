import { createHash } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import type { RunningServer } from "../../../exporter/publish/http/server.ts";
import { nowStyle } from "../../../exporter/publish/pages/nowStyle.ts";
import { pageStyle } from "../../../exporter/publish/pages/pageStyle.ts";
import { adviceStyle } from "../../../exporter/publish/pages/recommendationsPage.ts";
import { asKim, scriptedAdviser, startAdvised } from "../adviceServer.ts";

const running: RunningServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

describe("style", () => {
  test("the Content-Security-Policy allows exactly the page's own style sheets", async () => {
    const server = await startAdvised(scriptedAdviser().adviser);
    running.push(server);
    for (const path of ["/recommendations", "/"]) {
      const response = await fetch(`${server.url}${path}`, { headers: asKim });
      const policy = response.headers.get("content-security-policy") ?? "";
      const sheets = [...(await response.text()).matchAll(/<style>([^<]*)<\/style>/g)].map(([, sheet = ""]) => sheet);
      expect(sheets.length).toBeGreaterThan(0);
      for (const sheet of sheets)
        expect(policy).toContain(`'sha256-${createHash("sha256").update(sheet).digest("base64")}'`);
      expect(policy).not.toContain("unsafe");
    }
  });

  test("no text has less contrast than 4.5:1 with its background, light or dark", () => {
    const [light = "", dark = ""] = [...pageStyle.matchAll(/:root \{([^}]*)\}/g)].map(([, body = ""]) => body);
    for (const colours of [light, dark].map(coloursOf)) {
      const back = colours.get("back");
      const names = ["text", "quiet", "link", "error", "warning", "ok"];
      for (const name of names) expect(contrast(colours.get(name) ?? "", back ?? ""), name).toBeGreaterThanOrEqual(4.5);
    }
    // Every colour is one of these variables.
    const used = [
      ...`${pageStyle}${nowStyle}${adviceStyle}`.replaceAll(/:root \{[^}]*\}/g, "").matchAll(/color: ([^;}]*)/g),
    ];
    expect(used.length).toBeGreaterThan(10);
    for (const [, value] of used) expect(value?.trim()).toMatch(/^var\(--(?:text|quiet|link|error|warning|ok|line)\)$/);
  });
});

function coloursOf(body: string): ReadonlyMap<string, string> {
  return new Map([...body.matchAll(/--(\w+): (#[0-9a-f]{6})/g)].map(([, name = "", value = ""]) => [name, value]));
}

/** Contrast ratio of WCAG 2.2. */
function contrast(one: string, other: string): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function luminance(colour: string): number {
  expect(colour).toMatch(/^#[0-9a-f]{6}$/);
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((from) => Number.parseInt(colour.slice(from, from + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
