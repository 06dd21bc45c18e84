import { afterEach, describe, expect, test } from "vitest";
import { files, outcome, pool, request, serve, serveTls, settings, tearDown } from "./poolFixture.ts";
import { selfSigned } from "./selfSigned.ts";

afterEach(tearDown);

describe("TLS", () => {
  test("a certificate of an unknown CA is refused, one of the given CA file is taken", async () => {
    const url = await serveTls();
    files.set("/ca.pem", selfSigned.cert);
    const one = pool({ backOff: { firstSeconds: 0, maxSeconds: 0 } });
    expect(await one.get(request(url))).toMatchObject({ code: "tls", message: expect.stringContaining("self-signed") });
    expect(outcome(await one.get(request(url, { caFile: "/ca.pem" })))).toBe("secure");
    expect(outcome(await one.get(request(url)))).toBe("tls");
  });

  test("verification is skipped only when asked", async () => {
    expect(outcome(await pool().get(request(await serveTls(), { insecureSkipVerify: true })))).toBe("secure");
  });

  test("plain HTTP on a TLS port's URL", async () => {
    const url = await serve((_request, response) => response.end("x"));
    expect(outcome(await pool().get(request(url.replace("http:", "https:"))))).toBe("tls");
  });

  test("a CA file that cannot be read", async () => {
    const result = await pool().get(request(await serveTls(), { caFile: "/missing.pem" }));
    expect(result).toMatchObject({ code: "credentials", message: expect.stringContaining("/missing.pem") });
  });
});

describe("credentials", () => {
  test("bearer and basic, from files that are read again", async () => {
    const seen: (string | undefined)[] = [];
    const url = await serve((incoming, response) => {
      seen.push(incoming.headers.authorization);
      response.end("x");
    });
    files.set("/token", "one\n");
    files.set("/password", "p:ä");
    const one = pool();
    const bearer = request(url, { auth: { kind: "bearer", tokenFile: "/token" } });
    await one.get(bearer);
    files.set("/token", "two");
    settings.clock += 60;
    await one.get(bearer);
    await one.get(request(url, { auth: { kind: "basic", username: "u", passwordFile: "/password" } }));
    await one.get(request(url));
    expect(seen).toEqual(["Bearer one", "Bearer two", `Basic ${Buffer.from("u:p:ä").toString("base64")}`, undefined]);
  });

  test("a 401 makes the next attempt read the file at once", async () => {
    const seen: (string | undefined)[] = [];
    const url = await serve((incoming, response) => {
      seen.push(incoming.headers.authorization);
      response.writeHead(401).end();
    });
    files.set("/token", "old");
    const one = pool({ backOff: { firstSeconds: 0, maxSeconds: 0 } });
    const bearer = request(url, { auth: { kind: "bearer", tokenFile: "/token" } });
    await one.get(bearer);
    files.set("/token", "new");
    await one.get(bearer);
    expect(seen).toEqual(["Bearer old", "Bearer new"]);
  });

  test.each([
    ["missing", undefined],
    ["empty", "\n"],
    ["of two lines", "a\r\nx-evil: b"],
  ])("a file that is %s: nothing is sent, and the message holds no secret", async (_case, text) => {
    let requests = 0;
    const url = await serve((_request, response) => {
      requests += 1;
      response.end("x");
    });
    if (text !== undefined) files.set("/token", text);
    const result = await pool().get(request(url, { auth: { kind: "bearer", tokenFile: "/token" } }));
    expect(result).toMatchObject({ code: "credentials", message: "the file /token cannot be used as credentials" });
    expect(requests).toBe(0);
  });
});
