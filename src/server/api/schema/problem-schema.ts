/** The problem document (RFC 9457) as a schema. */
import { z } from '@hono/zod-openapi';

export const problemSchema = z
  .object({
    type: z
      .string()
      .meta({ description: 'Names the kind of problem', example: 'urn:everthread:error:ThreadNotFound' }),
    title: z.string(),
    status: z.int(),
    code: z.string().meta({ description: 'One of the codes of docs/http.md', example: 'ThreadNotFound' }),
    detail: z.string().meta({ description: 'What happened, to which id, and what to do next' }),
  })
  .openapi('Problem');
