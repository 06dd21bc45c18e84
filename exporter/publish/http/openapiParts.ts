/** The schema of that id among the components of openapi.json. */
export const reference = (id: string) => ({ $ref: `#/components/schemas/${id}` });

/** A body of JSON. */
export const json = (schema: object) => ({ "application/json": { schema } });

/** A response with a body of JSON. */
export const answer = (description: string, schema: object) => ({ description, content: json(schema) });
