import { parentPort } from "node:worker_threads";
import { compareSync } from "bcryptjs";
import type { HashQuestion } from "./passwords.ts";

// This thread compares passwords with their hashes, which is slow on purpose.
const port = parentPort;
if (port === null) throw new Error("passwords are compared in a thread of their own");
port.on("message", ({ password, hash }: HashQuestion) => port.postMessage(compareSync(password, hash)));
