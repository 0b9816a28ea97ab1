/** Schemas of requests. Input for a thread is checked further by the client, with the usual error codes. */
import { z } from '@hono/zod-openapi';
import { THREAD_SORTS } from '../../../core/author/read-options.ts';
import { GRANT_COVERS, WAIT_SCOPES } from '../../../core/wait/answer.ts';
import { THREAD_STATUSES } from './records.ts';

export const threadParams = z.object({
  threadId: z.string().min(1).max(200).meta({ description: 'Id of a thread' }),
});

/** Size of a page; at most 1,000, so that an answer is bounded. */
export const limit = z.coerce.number().int().min(1).max(1000).optional();
export const order = z.enum(['asc', 'desc']).optional();
/** A boolean in a query: `true` or `false`. */
export const flag = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .optional();

const context = z
  .record(z.string(), z.unknown())
  .meta({ description: 'A run context (docs/governance.md); it can only add restrictions' });

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

const outputType = z.record(z.string(), z.unknown()).meta({
  description:
    'JSON schema of an object: the type of the last answer of the execution that the message begins, whose value is `output` of the thread',
});

export const outgoingMessage = z
  .strictObject({
    id: z
      .string()
      .optional()
      .meta({ description: 'Makes sending idempotent: a message with the same id is stored once' }),
    role: z.enum(['user', 'assistant']).optional(),
    content: z.string(),
    silent: z.boolean().optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
    attachments: z.array(attachment).optional(),
    context: context.optional(),
    executionId: z.string().optional(),
    output: outputType.optional(),
  })
  .openapi('OutgoingMessage');

export const supersede = z
  .strictObject({
    messageId: z.string().max(200).optional().meta({
      description:
        'The message of the user to answer again, an answer, or the id of an execution; the newest of the user if absent',
    }),
    message: outgoingMessage
      .pick({ content: true, metadata: true, attachments: true })
      .optional()
      .meta({ description: 'The edited message' }),
    output: outputType
      .nullable()
      .optional()
      .meta({ description: 'The type of the new answer; null: none. Absent: that of the superseded answer' }),
    cancel: z.boolean().optional().meta({ description: 'Stops first what the thread does' }),
    tail: z.enum(['end', 'keep']).optional().meta({
      description: 'What becomes of the effects and subagents of the superseded part; default `end`',
    }),
    acknowledge: z
      .boolean()
      .optional()
      .meta({ description: 'Goes on although the outcome of an action is unknown' }),
  })
  .openapi('Supersede');

const startMessage = outgoingMessage
  .extend({
    role: z.enum(['user', 'assistant', 'tool']).optional(),
    toolCalls: z
      .array(z.object({ id: z.string(), name: z.string(), arguments: z.string() }))
      .optional()
      .meta({ description: 'Calls that an earlier message of the assistant has made' }),
    toolCallId: z.string().optional().meta({ description: 'The call that a result answers' }),
    toolName: z.string().optional(),
    failed: z.boolean().optional(),
  })
  .openapi('StartMessage');

const tags = z
  .array(z.string())
  .meta({ description: 'Tags for searching: at most 50, of at most 100 characters each' });

/** A variable of a thread; a plain string becomes a secret. */
const variable = z.union([
  z.string(),
  z.object({ value: z.string(), type: z.enum(['secret', 'text']).optional() }),
]);

export const startThread = z
  .strictObject({
    agent: z.string(),
    threadId: z.string().optional(),
    userId: z.string().optional(),
    arguments: z.record(z.string(), z.unknown()).optional(),
    tags: tags.optional(),
    env: z.record(z.string(), variable).optional(),
    messages: z.array(startMessage).optional(),
    context: context.optional(),
  })
  .openapi('StartThread');

export const forkThread = z
  .strictObject({
    at: z.int().optional().meta({
      description: 'The step to fork after, the newest unless given; if it has not settled, the one before',
    }),
    threadId: z
      .string()
      .optional()
      .meta({ description: 'Id of the fork: the same request under it changes nothing' }),
    agent: z.string().optional(),
    message: outgoingMessage.optional(),
    state: z.literal('current').optional().meta({
      description: 'After an earlier step: copy values, files and variables as they are now',
    }),
    userId: z.string().optional(),
  })
  .openapi('ForkThread');

export const threadUpdates = z
  .strictObject({
    tags: tags.optional().meta({ description: 'Replaces all tags' }),
    env: z
      .record(z.string(), variable.nullable())
      .optional()
      .meta({ description: 'Variables to set; null removes one' }),
  })
  .openapi('ThreadUpdates');

export const messageUpdates = z
  .strictObject({
    content: z.string().optional(),
    silent: z.boolean().optional(),
    metadata: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'Merged into the existing metadata; null removes a key' }),
  })
  .openapi('MessageUpdates');

const time = z.coerce
  .number()
  .int()
  .min(0)
  .optional()
  .meta({ description: 'Microseconds since 1970, exclusive' });

/** Filters of a list of threads. */
export const threadFilters = z.object({
  status: z.enum(THREAD_STATUSES).optional(),
  agent: z.string().optional(),
  userId: z.string().optional(),
  organizationId: z.string().optional(),
  parentId: z.string().optional().meta({ description: 'Subagents of this thread' }),
  rootsOnly: flag.meta({ description: '`true`: no subagents' }),
  tag: z.string().optional().meta({ description: 'With a tag, threads are listed by creation time' }),
  createdAfter: time,
  createdBefore: time,
  updatedAfter: time,
  updatedBefore: time,
});

export const threadSort = z.enum(THREAD_SORTS).optional().meta({
  description:
    'Last changed first (default), last created first, the largest cost or most tokens first (without threads that have none), or threads that wait, the longest first',
});

export const reasonBody = z.strictObject({ reason: z.string().optional() });

export const cancelBody = z.strictObject({
  executionId: z.string().optional(),
  reason: z.string().optional(),
  by: z.string().optional(),
});

export const reconciliationBody = z
  .strictObject({
    completed: z.boolean().meta({ description: 'True if the action has taken effect' }),
    note: z.string().optional(),
    by: z.string().optional(),
  })
  .openapi('Reconciliation');

export const answerBody = z
  .union([
    z.strictObject({
      approved: z.boolean(),
      reason: z.string().optional(),
      scope: z.enum(WAIT_SCOPES).optional(),
      covers: z.enum(GRANT_COVERS).optional().meta({
        description:
          'With a wider scope than `once`: calls with the same arguments, or every call of the tool',
      }),
      until: z
        .int()
        .optional()
        .meta({ description: 'With a wider scope than `once`: microseconds since 1970' }),
      by: z.string().optional(),
      arguments: z.record(z.string(), z.unknown()).optional().meta({
        description:
          'With an approval: what the call runs with, in place of all its arguments; at most 64 KiB',
      }),
      fingerprint: z.string().optional(),
    }),
    z.strictObject({ value: z.unknown(), by: z.string().optional(), fingerprint: z.string().optional() }),
  ])
  .openapi('WaitAnswer');
