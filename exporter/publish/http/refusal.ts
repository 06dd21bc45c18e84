import type { Response } from "express";

/** Why an answer is refused. */
export interface Refusal {
  readonly ok: false;
  readonly status: number;
  readonly error: string;
  readonly nextStep: string;
}

/** Makes a refusal; without a status, it refuses a question that is wrong (400). */
export function refusal(error: string, nextStep: string, status = 400): Refusal {
  return { ok: false, status, error, nextStep };
}

/** Answers with a refusal. */
export function sendRefusal(response: Response, { status, error, nextStep }: Refusal): void {
  response.status(status).json({ error, nextStep });
}
