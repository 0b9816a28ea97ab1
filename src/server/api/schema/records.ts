/** Schemas of the client's records, with the same names and units: microseconds since 1970, for files milliseconds. */
import { z } from '@hono/zod-openapi';
import { ACTION_STATES } from '../../../core/governance/agent-policy.ts';
import { LINE_LIMITS } from '../../../core/governance/budget-line.ts';
import { TASK_STATES } from '../../../core/task/control.ts';
import { GRANT_COVERS } from '../../../core/wait/answer.ts';
import { WAIT_KINDS, WAIT_STATES } from '../../../core/wait/wait.ts';
import { RUN_STATES, type RunRecordState } from '../../../store/execution/execution-record.ts';

const micros = z.int().meta({ description: 'Microseconds since 1970' });
const millis = z.int().meta({ description: 'Milliseconds since 1970' });
const json = z.unknown().meta({ description: 'JSON' });
const text = z.string().nullable();
const object = z.record(z.string(), z.unknown());
const runState = z.enum(RUN_STATES as [RunRecordState, ...RunRecordState[]]);

export const THREAD_STATUSES = ['idle', 'running', 'waiting', 'stopped', 'failed', 'terminated'] as const;

export const threadSchema = z
  .looseObject({
    id: z.string(),
    agent: z.string(),
    name: text,
    userId: text,
    organizationId: z.string().optional(),
    arguments: object,
    tags: z.array(z.string()),
    status: z.enum(THREAD_STATUSES),
    stopReason: text,
    lastError: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
    session: z
      .looseObject({ side: z.enum(['a', 'b']), turns: z.int() })
      .meta({ description: 'Meaningless for an agent with one AI side' }),
    parentId: text,
    rootId: z.string(),
    forkedFrom: z
      .looseObject({ threadId: z.string(), step: z.int() })
      .optional()
      .meta({ description: 'Of a fork: its source, and the last step that was copied' }),
    createdAt: micros,
    updatedAt: micros,
    terminatedAt: micros.nullable(),
    lastStep: z.int(),
    childCount: z.int(),
    messageCount: z.int(),
    lastSeq: z.int(),
    costUsd: z
      .number()
      .meta({ description: 'US dollars for its calls of models, without those of subagents' }),
    inputTokens: z.int(),
    outputTokens: z.int(),
    waitingFor: z
      .looseObject({
        kind: z.enum([...WAIT_KINDS, 'model']),
        since: micros,
        name: z.string().meta({ description: 'The tool, the question or the model' }),
        waitId: z.string().optional(),
      })
      .nullable(),
    failedCode: text,
    firstWords: text.meta({ description: 'The beginning of the first message of its user' }),
    output: z.record(z.string(), z.unknown()).optional().meta({
      description: 'The typed answer of its newest execution; absent if there is none, and in lists',
    }),
    lastWords: text.meta({ description: 'The beginning of the newest message of its user or model' }),
    listed: z
      .looseObject({ costUsd: z.number(), tokens: z.int() })
      .meta({ description: 'The figures by which lists are sorted: up to a second old while it runs' }),
    budgeted: z.literal(true).optional(),
    compacted: z.literal(true).optional(),
    deletedAt: micros.optional(),
  })
  .openapi('Thread');

/** Set on messages from a subagent, and on results of its calls. */
const subagentFields = {
  subagent_id: z.string().optional(),
  subagent_name: z.string().optional(),
  subagent_title: text.optional(),
  subagent_description: z.string().optional(),
  subagent_status: z.string().optional(),
  subagent_resumable: z.boolean().optional(),
  subagent_blocking: z.boolean().optional(),
  subagent_thread_name: text.optional(),
  subagent_spawn_group_id: text.optional(),
};

export const messageSchema = z
  .looseObject({
    id: z.string(),
    role: z.enum(['system', 'user', 'assistant', 'tool']),
    content: text,
    name: text,
    tool_calls: text.meta({ description: 'JSON text of the calls' }),
    tool_call_id: text,
    created_at: micros,
    parent_id: text,
    depth: z.int(),
    silent: z.boolean(),
    metadata: object,
    attachments: z
      .array(
        z.looseObject({
          id: z.string(),
          type: z.literal('file'),
          path: z.string(),
          name: z.string(),
          mimeType: z.string(),
          size: z.int().meta({ description: 'Bytes' }),
          width: z.int().optional(),
          height: z.int().optional(),
          description: z.string().optional(),
        }),
      )
      .nullable(),
    status: z.enum(['pending', 'completed', 'failed', 'superseded']),
    tool_status: z.enum(['success', 'error']).nullable(),
    ...subagentFields,
  })
  .openapi('Message');

export const eventSchema = z
  .looseObject({ seq: z.int(), at: micros, type: z.string(), data: object })
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
    fingerprint: text,
    executionId: text,
    toolCallId: text,
    blocks: z.boolean(),
    state: z.enum(WAIT_STATES),
    answer: json,
    reason: text,
    openedAt: micros,
    expiresAt: micros.nullable(),
    endedAt: micros.nullable(),
  })
  .openapi('Wait');

export const runSchema = z
  .looseObject({
    id: z.string(),
    threadId: z.string(),
    runId: z.string(),
    sessionId: text,
    traceId: text,
    agent: z.string(),
    state: runState,
    reason: text,
    startedAt: micros,
    endedAt: micros.nullable(),
    firstSeq: z.int().nullable(),
  })
  .openapi('Run');

export const listedExecutionSchema = z
  .looseObject({
    id: z.string(),
    agent: z.string(),
    status: runState,
    reason: text,
    startedAt: micros,
    endedAt: micros.nullable(),
    firstSeq: z
      .int()
      .nullable()
      .meta({ description: 'Number of its first event; null if it is older than this field' }),
  })
  .openapi('ListedExecution');

export const taskSchema = z
  .looseObject({
    id: z.string(),
    threadId: z.string(),
    name: z.string(),
    spec: json,
    scenarioId: text,
    manifest: text,
    userId: text,
    parentId: text,
    status: z.enum(TASK_STATES),
    verdict: json,
    requirements: json,
    answers: object,
    preflight: z.enum(['due', 'asked', 'over']),
    steps: z.number().int(),
    spentCostUsd: z.number(),
    wallMs: z.number(),
    errors: json,
    records: json,
    createdAt: micros,
    endedAt: micros.nullable(),
  })
  .openapi('Task');

export const taskStepSchema = z.looseObject({
  step: z.number().int(),
  state: json,
  evals: json,
  score: z.number().nullable(),
  decision: json,
  act: z.enum(['scheduled', 'started', 'over']).nullable(),
  outcome: json,
  costUsd: z.number(),
  startedAt: micros,
  endedAt: micros.nullable(),
});

export const executionSchema = z
  .looseObject({
    id: z.string(),
    threadId: z.string(),
    agent: z.string(),
    state: runState,
    startedAt: micros,
    endedAt: micros.nullable(),
    stopReason: text,
    firstSeq: z.int().nullable(),
    context: json,
    contextGiven: z.boolean(),
    canceled: z.looseObject({ reason: text, by: text, at: micros }).nullable(),
  })
  .openapi('Execution');

export const actionSchema = z
  .looseObject({
    id: z.string(),
    kind: z.string(),
    name: z.string(),
    callId: z.string().optional(),
    capabilities: z.array(z.string()),
    fingerprint: z.string(),
    description: z.string().optional(),
    threadId: z.string(),
    step: z.int().nullable(),
    executionId: text,
    artifacts: json,
    decision: json,
    state: z.enum(ACTION_STATES),
    denied: json,
    error: z.string().optional(),
    reconciliation: json,
    requestedAt: micros,
    startedAt: micros.nullable(),
    endedAt: micros.nullable(),
  })
  .openapi('Action');

export const grantSchema = z
  .looseObject({
    id: z.string(),
    scope: z.enum(['execution', 'thread', 'always']),
    covers: z.enum(GRANT_COVERS),
    threadId: text,
    executionId: text,
    userId: text,
    organizationId: text,
    agent: z.string(),
    tool: z.string(),
    capabilities: z.array(z.string()),
    grantedBy: text,
    grantedAt: micros,
    expiresAt: micros.nullable(),
    revokedAt: micros.nullable(),
    revokedBy: text,
  })
  .openapi('Grant');

const childSchema = z.looseObject({
  parentId: z.string(),
  threadId: z.string(),
  agent: z.string(),
  name: text,
  title: text,
  description: z.string(),
  resumable: z.boolean(),
  blocking: z.boolean(),
  explicit: z.boolean(),
  hears: z.enum(['a', 'b']),
  status: z.string(),
  madeStep: z.int().nullable(),
  createdAt: micros,
  terminatedAt: micros.nullable(),
});

export const memberSchema = z.looseObject({
  thread: threadSchema,
  child: childSchema.nullable(),
  depth: z.int(),
});

export const budgetLineSchema = z.looseObject({
  threadId: z.string(),
  executionId: z.string(),
  family: z.enum(['only', 'too']).optional(),
  limit: z.enum(LINE_LIMITS),
  max: z.number(),
  used: z.number(),
  reserved: z.number(),
  estimated: z.number(),
  warnAt: z.number(),
  warned: z.boolean(),
  running: z.looseObject({ since: z.number(), threads: z.array(z.string()) }).optional(),
});

export const reportSchema = z.looseObject({
  version: z.string(),
  context: object.nullable(),
  context_manifests: z.array(object),
  events: json,
  actions: z.array(object),
  approvals: json,
  artifacts: z.array(json),
  metrics: z.array(object),
  final_task: object.nullable(),
  metadata: object,
  created_at: text,
});

export const effectSchema = z
  .object({ id: z.string(), name: z.string(), args: object, scheduledAt: micros, createdAt: micros })
  .openapi('Effect');

export const fileSchema = z
  .looseObject({
    path: z.string(),
    name: z.string(),
    mimeType: z.string(),
    storage: z.enum(['local', 'url', 's3', 'r2']),
    location: z.string().optional(),
    size: z.int().meta({ description: 'Bytes' }),
    metadata: object.nullable(),
    isDirectory: z.boolean(),
    createdAt: millis,
    updatedAt: millis,
    width: z.int().optional(),
    height: z.int().optional(),
    isChunked: z.boolean().optional(),
    chunkCount: z.int().optional(),
  })
  .openapi('File');

export const logSchema = z
  .looseObject({
    id: z.string(),
    type: z.string(),
    data: object,
    metadata: z.looseObject({ status_kind: z.string() }).optional(),
    created_at: micros,
    parent_id: text,
  })
  .openapi('Log');

export const modelCallSchema = z
  .looseObject({
    id: z.string().meta({ description: 'step.attempt.call' }),
    step: z.int(),
    attempt: z.int(),
    call: z.int(),
    kind: z.enum(['step', 'sub_prompt', 'summary', 'bootstrap']),
    side: z.enum(['a', 'b']),
    prompt: text,
    messages: z.int().nullable(),
    bytes: z.int().nullable(),
    provider: text,
    model: z.string(),
    modelId: z.string(),
    status: z.enum(['started', 'ok', 'error', 'lost']),
    startedAt: micros,
    firstTokenAt: micros.nullable(),
    endedAt: micros.nullable(),
    usage: json,
    cost: z.number().nullable().meta({ description: 'US dollars' }),
    error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
    request: z.enum(['kept', 'open', 'lost', 'removed', 'off']),
  })
  .openapi('ModelCall');

export const requestSchema = z
  .looseObject({
    id: z.string(),
    request: object,
    gaps: z.array(z.looseObject({ position: z.int(), reason: z.enum(['deleted', 'edited']) })),
    sizes: z
      .looseObject({ system: z.int(), tools: z.int(), messages: z.int(), options: z.int() })
      .meta({ description: 'Bytes as JSON' }),
    changedFrom: text.meta({ description: 'The call with the previous request of the same conversation' }),
    diff: z.array(
      z.looseObject({
        position: z.int().meta({ description: 'In the previous request, if the message was removed' }),
        change: z.enum(['added', 'removed', 'changed']),
      }),
    ),
  })
  .openapi('ModelRequest');

export const tokenSchema = z
  .object({
    id: z.string(),
    name: text,
    scopes: z.array(z.string()),
    userId: text,
    organizationId: text,
    createdAt: micros,
    expiresAt: micros.nullable(),
    revokedAt: micros.nullable(),
  })
  .openapi('Token');

/** Names of what a fork tells; the first 100. */
const names = z.array(z.string()).optional();

/** A fork, and what it has of its source. */
export const forkedThread = z
  .looseObject({
    threadId: z.string().meta({ description: 'Id of the fork' }),
    from: z.string(),
    at: z.int().meta({ description: 'The last step that was copied; 0 if there was none' }),
    asked: z.int().optional().meta({ description: 'The step that was asked for, which had not settled' }),
    agent: z.string(),
    state: z.enum(['head', 'current', 'none']).meta({
      description:
        'Whether values, files and variables are those of the step, those of now, or have not been copied',
    }),
    messages: z.int().meta({ description: 'Number of copied messages' }),
    effects: z
      .array(
        z.looseObject({
          step: z.int(),
          callId: z.string(),
          name: z.string(),
          outcome: z.enum(['success', 'error', 'unknown']),
        }),
      )
      .meta({ description: 'The copied calls of tools that are not idempotent; the newest 100' }),
    moreEffects: z.int().optional(),
    changed: z.looseObject({ values: names, files: names, variables: names }).optional(),
    messageId: z.string().optional().meta({ description: 'Id of its first message' }),
    withheld: names.meta({ description: 'Names of secrets that stay with the owner of the source' }),
  })
  .openapi('ForkedThread');
