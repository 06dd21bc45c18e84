import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { z } from "zod";

/** Whether a Chromium is installed (Debian package chromium). */
export const hasChromium = spawnSync("chromium", ["--version"]).error === undefined;

/** How a page is looked at. */
export interface Viewport {
  readonly width: number;
  readonly height: number;
  readonly scheme: "light" | "dark";
  /** Of every request, such as a name and password. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A tab of a headless browser. */
export interface BrowserPage {
  /** Loads an address and waits until it is complete. */
  goto(url: string): Promise<void>;
  /** The value of an expression in the page, as JSON. */
  evaluate(expression: string): Promise<unknown>;
  /** Presses a key as a person would: `Tab`, `Enter`, ` ` or a character. */
  press(key: string): Promise<void>;
  /** Waits until the next load is complete. */
  loaded(): Promise<void>;
  /** The whole page, also where it is higher than its window: the window grows. */
  screenshot(): Promise<Buffer>;
  /** The page as it is printed on paper of so many inches. */
  pdf(paper: { readonly width: number; readonly height: number }): Promise<Buffer>;
  /** Addresses that it asked for, and what it complained about. */
  readonly requests: readonly string[];
  readonly complaints: readonly string[];
}

export interface Browser {
  open(viewport: Viewport): Promise<BrowserPage>;
  close(): Promise<void>;
}

const message = z.looseObject({
  id: z.number().optional(),
  method: z.string().optional(),
  sessionId: z.string().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.looseObject({ message: z.string() }).optional(),
});
type Message = z.infer<typeof message>;
type Values = Readonly<Record<string, unknown>>;
type Send = (method: string, params?: Values, sessionId?: string) => Promise<Values>;
type Listener = (message: Message) => void;

/** Starts a headless Chromium and speaks the DevTools protocol with it. */
export async function startChromium(): Promise<Browser> {
  const profile = mkdtempSync(path.join(tmpdir(), "fairlead-chromium-"));
  const quiet = ["--no-first-run", "--disable-background-networking", "--disable-gpu", "--disable-dev-shm-usage"];
  // Its sandbox needs rights that a container does not have; it is shown nothing but our own pages.
  const flags = ["--headless=new", "--no-sandbox", ...quiet, "--remote-debugging-port=0", `--user-data-dir=${profile}`];
  const child = spawn("chromium", [...flags, "about:blank"], { stdio: ["ignore", "ignore", "pipe"] });
  const socket = new WebSocket(await debuggingAddress(child));
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve, { once: true });
    socket.addEventListener("error", () => reject(new Error("Chromium does not answer")), { once: true });
  });
  const { send, listeners } = speak(socket);
  return {
    open: (viewport) => openPage(send, listeners, viewport),
    async close() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      await Promise.race([send("Browser.close"), ended]);
      await ended;
      socket.close();
      rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

function debuggingAddress(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      said = `${said}${chunk.toString()}`.slice(-10_000);
      const address = /DevTools listening on (ws:\S+)/.exec(said)?.[1];
      if (address !== undefined) resolve(address);
    });
    child.once("exit", () => reject(new Error(`Chromium ended: ${said}`)));
    child.once("error", reject);
  });
}

function speak(socket: WebSocket): { send: Send; listeners: Set<Listener> } {
  const listeners = new Set<Listener>();
  const waiting = new Map<number, (answer: Message) => void>();
  let last = 0;
  socket.addEventListener("message", ({ data }) => {
    const received = message.parse(JSON.parse(String(data)));
    if (received.id === undefined) for (const listener of listeners) listener(received);
    else waiting.get(received.id)?.(received);
  });
  const send: Send = async (method, params = {}, sessionId) => {
    last += 1;
    const id = last;
    const answered = new Promise<Message>((resolve) => waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
    const { result = {}, error } = await answered;
    waiting.delete(id);
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  return { send, listeners };
}

const text = z.string();
const request = z.looseObject({ request: z.looseObject({ url: z.string() }) });
const layoutMetrics = z.looseObject({ cssContentSize: z.looseObject({ height: z.number() }) });
const evaluated = z.looseObject({
  result: z.looseObject({ value: z.unknown().optional() }),
  exceptionDetails: z.unknown().optional(),
});

async function openPage(send: Send, listeners: Set<Listener>, viewport: Viewport): Promise<BrowserPage> {
  const { browserContextId } = await send("Target.createBrowserContext");
  const { targetId } = await send("Target.createTarget", { url: "about:blank", browserContextId });
  const attached = await send("Target.attachToTarget", { targetId, flatten: true });
  const sessionId = text.parse(attached.sessionId);
  const report = (method: string, params: Values = {}) => send(method, params, sessionId);
  const requests: string[] = [];
  const complaints: string[] = [];
  listeners.add(({ sessionId: of, method, params }) => {
    if (of !== sessionId) return;
    if (method === "Network.requestWillBeSent") requests.push(request.parse(params).request.url);
    // What the page's own scripts say, and what the browser says: blocked styles, failed requests, faults.
    if (method === "Runtime.consoleAPICalled" || method === "Runtime.exceptionThrown" || method === "Log.entryAdded")
      complaints.push(JSON.stringify(params));
  });
  const loaded = () =>
    new Promise<void>((resolve) => {
      const listener: Listener = ({ sessionId: of, method }) => {
        if (of !== sessionId || method !== "Page.loadEventFired") return;
        listeners.delete(listener);
        resolve();
      };
      listeners.add(listener);
    });
  for (const domain of ["Page", "Runtime", "Network", "Log"]) await report(`${domain}.enable`);
  const { width, height, scheme, headers } = viewport;
  const resize = (to: number) =>
    report("Emulation.setDeviceMetricsOverride", { width, height: to, deviceScaleFactor: 1, mobile: width < 700 });
  await resize(height);
  await report("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
  await report("Network.setExtraHTTPHeaders", { headers });
  return {
    async goto(url) {
      const complete = loaded();
      const { errorText } = await report("Page.navigate", { url });
      if (errorText !== undefined) throw new Error(`${url}: ${String(errorText)}`);
      await complete;
    },
    async evaluate(expression) {
      const answer = await report("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
      const { result, exceptionDetails } = evaluated.parse(answer);
      if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
      return result.value;
    },
    async press(key) {
      const characters = key === "Enter" ? "\r" : key.length === 1 ? key : undefined;
      const codes: Readonly<Record<string, number>> = { Tab: 9, Enter: 13, " ": 32 };
      const code = codes[key];
      const event = {
        key,
        ...(code === undefined ? {} : { windowsVirtualKeyCode: code, code: key === " " ? "Space" : key }),
      };
      await report("Input.dispatchKeyEvent", {
        ...event,
        type: characters === undefined ? "rawKeyDown" : "keyDown",
        ...(characters === undefined ? {} : { text: characters }),
      });
      await report("Input.dispatchKeyEvent", { ...event, type: "keyUp" });
    },
    loaded,
    async screenshot() {
      // Not `captureBeyondViewport`: it resizes the window meanwhile, to another width too, and the page lays itself out for that.
      const { cssContentSize } = layoutMetrics.parse(await report("Page.getLayoutMetrics"));
      if (cssContentSize.height > height) await resize(Math.ceil(cssContentSize.height));
      const { data } = await report("Page.captureScreenshot");
      return Buffer.from(text.parse(data), "base64");
    },
    async pdf({ width, height }) {
      const paper = { paperWidth: width, paperHeight: height, printBackground: true, preferCSSPageSize: true };
      const { data } = await report("Page.printToPDF", paper);
      return Buffer.from(text.parse(data), "base64");
    },
    requests,
    complaints,
  };
}
