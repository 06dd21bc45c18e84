/** A reference to the schema with this id among the components of openapi.json. */
export const reference = (id: string) => ({ $ref: `#/components/schemas/${id}` });

/** Describes a body of JSON. */
const json = (schema: object) => ({ "application/json": { schema } });

/** Describes a response with a body of JSON. */
export const answer = (description: string, schema: object) => ({ description, content: json(schema) });

const id = {
  name: "id",
  in: "path",
  required: true,
  description: "The recommendation's id.",
  schema: { type: "string" },
};

const unknownId = answer("There is no recommendation of that id, open or closed lately.", reference("Error"));

/** The answers that every POST may get before its body is looked at. */
const refusals = {
  "401": { description: "Name and password are missing or wrong." },
  "403": answer("Nobody may write: no users are configured.", reference("Error")),
  "413": answer("The body is larger than 1 MB.", reference("Error")),
  "415": answer("The body is not sent as application/json.", reference("Error")),
};

/** Only users may write: nothing is accepted without a name and password. */
const security = [{ basic: [] }];

/** The paths of recommendations and alerts besides their lists, for the OpenAPI document. */
export const adviceOperations = {
  "/api/v1/recommendations/{id}": {
    get: {
      operationId: "recommendation",
      summary: "One recommendation, open or closed lately.",
      parameters: [id],
      responses: {
        "200": answer("The recommendation, as of now.", reference("Recommendation")),
        "401": refusals["401"],
        "404": unknownId,
      },
    },
  },
  "/api/v1/recommendations/{id}/dismiss": {
    post: {
      operationId: "dismissRecommendation",
      summary: "Closes an open recommendation, with the reason why it is not done.",
      description: "It does not come back for advice.dismissedDays (14). Who dismissed it is the user of the request.",
      security,
      parameters: [id],
      requestBody: { required: true, content: json(reference("Dismissal")) },
      responses: {
        ...refusals,
        "200": answer("It is dismissed.", reference("Recommendation")),
        "400": answer("The reason is missing or too long.", reference("Error")),
        "404": unknownId,
        "409": answer("It is not open any more.", reference("Error")),
      },
    },
  },
  "/api/v1/recommendations/{id}/take": {
    post: {
      operationId: "takeRecommendation",
      summary: "Closes an open recommendation that a person has carried out.",
      description:
        "Its gain is measured from then on, as of one that the cluster itself shows to be taken. Who says so is the user of the request.",
      security,
      parameters: [id],
      requestBody: { required: true, content: json(reference("Taking")) },
      responses: {
        ...refusals,
        "200": answer("It is taken.", reference("Recommendation")),
        "400": answer("The body has fields.", reference("Error")),
        "404": unknownId,
        "409": answer("It is not open any more.", reference("Error")),
      },
    },
  },
  "/api/v1/alerts": {
    post: {
      operationId: "alerts",
      summary: "Takes the webhook of Alertmanager, version 4.",
      description:
        "An alert that fires gives its subject (labels team, queue, pool) a fresh plan, after the answer, and is shown beside it. The same alert twice is one. Unknown fields are passed over.",
      security,
      requestBody: { required: true, content: json(reference("AlertmanagerWebhook")) },
      responses: {
        ...refusals,
        "200": answer("The alerts were received.", reference("AlertsReceived")),
        "400": answer("It is not a call of Alertmanager's webhook.", reference("Error")),
      },
    },
  },
} as const;
