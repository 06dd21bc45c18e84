/**
 * Asks for a URL again and again over a few kept connections. Arguments: the URL, the number of requests, and the number of
 * connections. Sends to its parent how many milliseconds each request took that was answered with 200: until its first byte
 * (`first`) and until its last byte (`last`).
 */
import { Agent, get } from "node:http";

const [, , url = "", requests = "0", connections = "1"] = process.argv;
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) });
const times: { readonly first: number[]; readonly last: number[] } = { first: [], last: [] };

function ask(): Promise<void> {
  return new Promise((resolve, reject) => {
    const from = performance.now();
    get(url, { agent }, (response) => {
      const first = performance.now() - from;
      response.on("data", () => undefined);
      response.on("error", reject);
      response.on("end", () => {
        if (response.statusCode === 200) {
          times.first.push(first);
          times.last.push(performance.now() - from);
        }
        resolve();
      });
    }).on("error", reject);
  });
}

async function scraper(share: number): Promise<void> {
  for (let done = 0; done < share; done += 1) await ask();
}

const share = Math.ceil(Number(requests) / Number(connections));
await Promise.all(Array.from({ length: Number(connections) }, () => scraper(share)));
process.send?.(times, () => process.exit(0));
