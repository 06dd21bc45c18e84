import { request } from "undici";

const timeoutMilliseconds = 15_000;

/** Sends a text to a webhook as `{"text": ...}`, the form that Slack, Mattermost and others take; `null`, or what went wrong. */
export async function postSummary(url: string, text: string): Promise<string | null> {
  try {
    const response = await request(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ text }),
      headersTimeout: timeoutMilliseconds,
      bodyTimeout: timeoutMilliseconds,
    });
    await response.body.dump();
    // An address of a webhook is a secret: it is in no message.
    return response.statusCode < 300 ? null : `the webhook answered with status ${response.statusCode}`;
  } catch (error) {
    const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "no answer";
    return `the webhook could not be reached (${code})`;
  }
}
