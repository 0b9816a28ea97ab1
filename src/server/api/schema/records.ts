/** Schemas of the client's records, with the same names and units: microseconds since 1970, for files milliseconds. */
import { z } from '@hono/zod-openapi';
import { TASK_STATES } from '../../../core/task/control.ts';
import { WAIT_KINDS, WAIT_STATES } from '../../../core/wait/wait.ts';
import { RUN_STATES, type RunRecordState } from '../../../store/execution/execution-record.ts';

const micros = z.int().meta({ description: 'Microseconds since 1970' });
const json = z.unknown().meta({ description: 'JSON' });

export const THREAD_STATUSES = ['idle', 'running', 'waiting', 'stopped', 'failed', 'terminated'] as const;

export const threadSchema = z
  .looseObject({
    id: z.string(),
    agent: z.string(),
    name: z.string().nullable(),
    userId: z.string().nullable(),
    organizationId: z.string().optional(),
    arguments: z.record(z.string(), z.unknown()),
    tags: z.array(z.string()),
    status: z.enum(THREAD_STATUSES),
    stopReason: z.string().nullable(),
    lastError: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
    parentId: z.string().nullable(),
    rootId: z.string(),
    createdAt: micros,
    updatedAt: micros,
    terminatedAt: micros.nullable(),
    lastStep: z.int(),
    messageCount: z.int(),
    lastSeq: z.int(),
  })
  .openapi('Thread');

export const messageSchema = z
  .looseObject({
    id: z.string(),
    role: z.enum(['system', 'user', 'assistant', 'tool']),
    content: z.string().nullable(),
    name: z.string().nullable(),
    tool_calls: z.string().nullable().meta({ description: 'JSON text of the calls' }),
    tool_call_id: z.string().nullable(),
    created_at: micros,
    depth: z.int(),
    silent: z.boolean(),
    metadata: z.record(z.string(), z.unknown()),
    attachments: z
      .array(z.looseObject({ path: z.string(), name: z.string(), mimeType: z.string() }))
      .nullable(),
    status: z.enum(['pending', 'completed', 'failed']),
    tool_status: z.enum(['success', 'error']).nullable(),
  })
  .openapi('Message');

export const eventSchema = z
  .looseObject({ seq: z.int(), at: micros, type: z.string(), data: z.record(z.string(), z.unknown()) })
  .openapi('Event');

export const waitSchema = z
  .looseObject({
    id: z.string(),
    threadId: z.string(),
    rootId: z.string(),
    kind: z.enum(WAIT_KINDS),
    name: z.string(),
    summary: z.string(),
    data: json,
    state: z.enum(WAIT_STATES),
    openedAt: micros,
    expiresAt: micros.nullable(),
  })
  .openapi('Wait');

export const runSchema = z
  .looseObject({
    id: z.string(),
    threadId: z.string(),
    runId: z.string(),
    agent: z.string(),
    state: z.enum(RUN_STATES as [RunRecordState, ...RunRecordState[]]),
    reason: z.string().nullable(),
    startedAt: micros,
    endedAt: micros.nullable(),
  })
  .openapi('Run');

export const taskSchema = z
  .looseObject({
    id: z.string(),
    threadId: z.string(),
    name: z.string(),
    status: z.enum(TASK_STATES),
    steps: z.number().int(),
    spentCostUsd: z.number(),
    createdAt: micros,
    endedAt: micros.nullable(),
  })
  .openapi('Task');

export const executionSchema = z
  .looseObject({
    id: z.string(),
    threadId: z.string(),
    startedAt: micros,
    endedAt: micros.nullable(),
    stopReason: z.string().nullable(),
  })
  .openapi('Execution');

export const actionSchema = z
  .looseObject({ id: z.string(), threadId: z.string(), name: z.string(), state: z.string() })
  .openapi('Action');

export const effectSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    args: z.record(z.string(), z.unknown()),
    scheduledAt: micros,
    createdAt: micros,
  })
  .openapi('Effect');

export const fileSchema = z
  .looseObject({
    path: z.string(),
    name: z.string(),
    mimeType: z.string(),
    size: z.int().meta({ description: 'Bytes' }),
    isDirectory: z.boolean(),
    createdAt: z.int().meta({ description: 'Milliseconds since 1970' }),
    updatedAt: z.int().meta({ description: 'Milliseconds since 1970' }),
  })
  .openapi('File');

export const logSchema = z
  .looseObject({
    id: z.string(),
    type: z.string(),
    data: z.record(z.string(), z.unknown()),
    created_at: micros,
  })
  .openapi('Log');

export const tokenSchema = z
  .object({
    id: z.string(),
    name: z.string().nullable(),
    scopes: z.array(z.string()),
    userId: z.string().nullable(),
    organizationId: z.string().nullable(),
    createdAt: micros,
    expiresAt: micros.nullable(),
    revokedAt: micros.nullable(),
  })
  .openapi('Token');
