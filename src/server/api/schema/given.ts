/** What requests carry. What is sent to a thread is checked further by the client, with the same codes as everywhere. */
import { z } from '@hono/zod-openapi';
import { WAIT_SCOPES } from '../../../core/wait/answer.ts';

export const threadParams = z.object({
  threadId: z.string().min(1).max(200).meta({ description: 'Id of a thread' }),
});

/** At most 1,000, so that an answer is bounded. */
export const limit = z.coerce.number().int().min(1).max(1000).optional();
/** In a query: `true` or `false`. */
export const flag = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .optional();

const context = z
  .record(z.string(), z.unknown())
  .meta({ description: 'A run context (docs/governance.md): it can only narrow' });

const attachment = z.union([
  z.string().meta({ description: 'Path of a file of the thread' }),
  z.object({
    name: z.string(),
    mimeType: z.string(),
    data: z.base64().meta({ description: 'Base64' }),
    description: z.string().optional(),
    width: z.int().optional(),
    height: z.int().optional(),
  }),
]);

export const outgoingMessage = z
  .strictObject({
    id: z.string().optional().meta({ description: 'Makes sending idempotent: the same id is stored once' }),
    role: z.enum(['user', 'assistant']).optional(),
    content: z.string(),
    silent: z.boolean().optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
    attachments: z.array(attachment).optional(),
    context: context.optional(),
    executionId: z.string().optional(),
  })
  .openapi('OutgoingMessage');

export const startThread = z
  .strictObject({
    agent: z.string(),
    threadId: z.string().optional(),
    userId: z.string().optional(),
    arguments: z.record(z.string(), z.unknown()).optional(),
    env: z
      .record(
        z.string(),
        z.union([z.string(), z.object({ value: z.string(), type: z.enum(['secret', 'text']).optional() })]),
      )
      .optional(),
    messages: z.array(outgoingMessage).optional(),
    context: context.optional(),
  })
  .openapi('StartThread');

export const reasonBody = z.strictObject({ reason: z.string().optional() });

export const cancelBody = z.strictObject({
  executionId: z.string().optional(),
  reason: z.string().optional(),
  by: z.string().optional(),
});

export const answerBody = z
  .union([
    z.strictObject({
      approved: z.boolean(),
      reason: z.string().optional(),
      scope: z.enum(WAIT_SCOPES).optional(),
      by: z.string().optional(),
      fingerprint: z.string().optional(),
    }),
    z.strictObject({ value: z.unknown(), by: z.string().optional(), fingerprint: z.string().optional() }),
  ])
  .openapi('WaitAnswer');
