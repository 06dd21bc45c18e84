import type { IncomingMessage } from "node:http";

/** The largest body that the API server takes, bytes (apiserver `--max-request-bytes`: 3 MiB). */
export const bodyLimit = 3_145_728;

/**
 * Reads a request's body; `null` when it is too large or breaks off. The rest of a body that is too large is read and thrown
 * away.
 */
export async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request) {
      const bytes = Buffer.from(chunk);
      size += bytes.length;
      if (size <= bodyLimit) chunks.push(bytes);
    }
  } catch {
    return null;
  }
  return size > bodyLimit ? null : Buffer.concat(chunks).toString();
}
