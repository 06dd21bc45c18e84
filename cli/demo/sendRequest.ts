import { z } from "zod";
import { parseJson } from "../../exporter/kernel/parseJson.ts";
import type { ApiRequest } from "../../exporter/model/recommendation.ts";

/** How an API answered a write. */
export interface RequestAnswer {
  /** HTTP status. */
  readonly code: number;
  /** The API's message about the write; empty where there is none. */
  readonly message: string;
}

const answered = z.looseObject({ message: z.string().default("") });

/** Sends a request of a recommendation to an API without credentials, byte for byte as it is written there. */
export async function sendRequest(apiUrl: string, request: ApiRequest): Promise<RequestAnswer> {
  const { verb, path, contentType, body } = request;
  const response = await fetch(`${apiUrl}${path}`, {
    method: verb,
    ...(contentType === null ? {} : { headers: { "content-type": contentType }, body: JSON.stringify(body) }),
  });
  return { code: response.status, message: answerText(await response.text()) };
}

/** The message in an answer's body; empty where there is none. */
export function answerText(body: string): string {
  const said = answered.safeParse(parseJson(body));
  return said.success ? said.data.message : "";
}
