/**
 * Clients with bad intentions, in a process of their own, each kind with an address of its own: readers that accept no data,
 * connections without a request, wrong passwords, and many questions at once whose answers take long. A client that is sent
 * away comes back. Argument: an `Attack` as JSON. The parent asks what happened and gets the counts.
 */
import { request } from "node:http";
import { connect } from "node:net";

/** What is attacked, and how hard. */
export interface Attack {
  readonly port: number;
  /** Credentials of a user who is allowed to ask: the value of the Authorization header. */
  readonly authorization: string;
  readonly stalledReaders: number;
  readonly idleConnections: number;
  readonly wrongLoginsPerSecond: number;
  readonly questionsAtOnce: number;
  /** Paths whose answers take long. */
  readonly questions: readonly string[];
}

const attack: Attack = JSON.parse(process.argv[2] ?? "");
const { port, authorization } = attack;
const counts: Record<string, number> = {};
const count = (what: string): void => {
  counts[what] = (counts[what] ?? 0) + 1;
};
const comeBackMilliseconds = 1000;

/**
 * The server sends a reader that accepts nothing away after about this long. The reader cannot notice it, and therefore closes
 * its connection after a similar time.
 */
const holdMilliseconds = 15_000;

/** Opens a connection that sends one request and never reads the answer. */
function hold(localAddress: string, text: string, what: string): void {
  const socket = connect({ port, host: "127.0.0.1", localAddress }, () => {
    socket.pause();
    socket.write(text);
    count(what);
  });
  socket.on("error", () => {});
  setTimeout(() => socket.destroy(), holdMilliseconds * (0.5 + Math.random()));
  socket.on("close", () => setTimeout(() => hold(localAddress, text, what), comeBackMilliseconds));
}

function ask(localAddress: string, path: string, credentials: string, done: (status: string) => void): void {
  const headers = { authorization: credentials };
  const asked = request({ port, host: "127.0.0.1", localAddress, path, headers, agent: false }, (response) => {
    response.resume();
    response.on("close", () => done(`${response.statusCode}`));
  });
  asked.on("error", () => done("broken"));
  asked.end();
}

function askOn(path: string): void {
  ask("127.0.0.5", path, authorization, (status) => {
    count(`question ${status}`);
    setTimeout(() => askOn(path), status === "200" ? 0 : comeBackMilliseconds);
  });
}

const reading = `GET /api/v1/snapshot HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`;
for (let at = 0; at < attack.stalledReaders; at += 1) hold("127.0.0.2", reading, "stalled reader");
const nothing = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
for (let at = 0; at < attack.idleConnections; at += 1) hold("127.0.0.3", nothing, "idle connection");
for (let at = 0; at < attack.questionsAtOnce; at += 1) askOn(attack.questions[at % attack.questions.length] ?? "/");
let guesses = 0;
if (attack.wrongLoginsPerSecond > 0)
  setInterval(() => {
    guesses += 1;
    const guess = Buffer.from(`ada:guess ${guesses}`).toString("base64");
    ask("127.0.0.4", "/metrics", `Basic ${guess}`, (status) => count(`wrong login ${status}`));
  }, 1000 / attack.wrongLoginsPerSecond);

process.on("message", () => process.send?.(counts));
process.on("disconnect", () => process.exit(0));
