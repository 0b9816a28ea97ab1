/** Fields of requests as clients of other vendors send them. */
import { z } from '@hono/zod-openapi';

/** A field that a client of another vendor may leave out or send as null: many serialise all fields of their types. */
export const optionalField = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined);

export const optionalText = optionalField(z.string());
