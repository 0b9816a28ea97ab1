/**
 * Executions by an id that their sender chose (docs/tangle.md): started, attached to while they
 * run, replayed afterwards. The log is read from the reader's cursor, so a reader may reconnect to any process.
 */
import { randomUUID } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { nullIfThreadNotFound } from '../../../client/make-thread.ts';
import {
  beginExecution,
  executionPages,
  executionPagesUntilWait,
  findNamedExecution,
} from '../../../client/named-execution.ts';
import { deriveExecutionId, isExecutionId, itemIdOf } from '../../../core/thread/execution-id.ts';
import { isRuntimeError, RuntimeError } from '../../../core/value/error.ts';
import type { ExecutionEvent } from '../../../projections/log-form.ts';
import { type Projected, readCursor } from '../../../projections/projection.ts';
import { requireThreadOf } from '../agent-thread.ts';
import { type Caller, callerContext, requireReachable, requireScope } from '../caller.ts';
import type { ApiHost } from '../host.ts';
import { requireAgent } from '../known-agent.ts';
import { NDJSON_TYPE, toJsonLine } from '../log-stream.ts';
import { jsonResponse, refuseRequest, toProblem } from '../problem.ts';
import { type ApiRoute, route } from '../route.ts';
import { type OpenStream, openStream, openStreamFor, streamResponse, toSse } from '../stream.ts';

const chatMessage = z.looseObject({ role: z.string(), content: z.string() });
const body = z
  .looseObject({
    agent: z.string().optional().meta({ description: 'Agent of a new session' }),
    sessionId: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .meta({ description: 'Id of the thread; default: derived from the execution’s id' }),
    message: z
      .string()
      .optional()
      .meta({ description: 'What to do; without a message, the request attaches to an existing execution' }),
    messages: z
      .array(chatMessage)
      .optional()
      .meta({ description: 'Instead of `message`: the last message of a user is used' }),
    executionId: z.string().optional().meta({ description: 'Instead of the header `X-Execution-ID`' }),
    projectId: z
      .string()
      .optional()
      .meta({ description: 'With `sessionId` and `turnIndex`: the execution’s id is derived from them' }),
    turnIndex: z.int().min(0).optional(),
    arguments: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'Arguments of a new session' }),
    metadata: z.record(z.string(), z.unknown()).optional().meta({ description: 'Metadata of the message' }),
    endAtWait: z
      .boolean()
      .optional()
      .meta({ description: 'End the stream when the execution waits for a person' }),
  })
  .openapi('AgentRun');

type Body = z.infer<typeof body>;

export const agentRunRoutes: readonly ApiRoute[] = [
  route({
    method: 'post',
    path: '/agents/run/stream',
    id: 'runAgent',
    scope: 'read',
    tag: 'Executions',
    summary:
      'Begin an execution with an id (`X-Execution-ID`; scope `write`), or attach to it; read its events after `Last-Event-ID`',
    body,
    bodyOptional: true,
    answer: ['text/event-stream', 'application/x-ndjson'],
    async handle({ body: given, request, caller, host }) {
      const executionId = executionIdOf(given, request.headers.get('x-execution-id'));
      const after = request.headers.get('last-event-id') ?? undefined;
      if (after !== undefined) readCursor(after);
      const content = given.message ?? lastUserMessage(given);
      const asked = { caller, request, executionId: executionId ?? randomUUID(), given };
      if (content === undefined && executionId === null)
        refuseRequest('There is nothing to do: give a "message", or the header X-Execution-ID to attach.');
      const place = await (content === undefined
        ? attach(host, asked)
        : beginRun(host, asked, content)
      ).catch((error: unknown) => {
        if (isRuntimeError(error, 'ExecutionNotFound')) return notFound(error, asked.executionId);
        throw error;
      });
      if (place instanceof Response) return place;
      const { stream, ...at } = place;
      const reading = { ...at, executionId: asked.executionId, after, signal: stream.signal };
      const isNdjson = request.headers.get('accept')?.includes('application/x-ndjson') === true;
      return streamResponse(stream, {
        headers: { 'x-execution-id': asked.executionId },
        pages: (given.endAtWait ? executionPagesUntilWait : executionPages)(host.client, reading),
        ...(isNdjson ? NDJSON : SSE),
      });
    },
  }),
];

type ExecutionEvents = readonly Projected<ExecutionEvent>[];

/** Each event is `{ type, data }`, with its cursor as `id`. The last one says how the execution has ended. */
const SSE = {
  toText: (page: ExecutionEvents) => page.map(({ cursor, event }) => toSse(event, cursor)).join(''),
};
const NDJSON = {
  type: NDJSON_TYPE,
  first: '\n',
  keepAlive: () => '\n',
  toText: (page: ExecutionEvents) =>
    page.map(({ cursor, event }) => toJsonLine({ ...event, id: cursor })).join(''),
};

/** Null if no id is given. Throws `InvalidRequest`, or `InvalidValue` if an id cannot be derived from its parts. */
function executionIdOf({ executionId, projectId, sessionId, turnIndex }: Body, header: string | null) {
  const given = header ?? executionId;
  if (given !== undefined && given !== null) {
    if (isExecutionId(given)) return given;
    refuseRequest('The id of an execution must be 1 to 200 visible ASCII characters.');
  }
  if (projectId === undefined || sessionId === undefined || turnIndex === undefined) return null;
  return deriveExecutionId({ projectId, sessionId, turnIndex });
}

function lastUserMessage({ messages }: Body): string | undefined {
  if (messages === undefined) return undefined;
  const last = messages.findLast(({ role }) => role === 'user')?.content;
  return last ?? refuseRequest('None of the messages has the role "user".');
}

interface RunInput {
  readonly caller: Caller;
  readonly request: Request;
  readonly executionId: string;
  readonly given: Body;
}

interface Place {
  readonly stream: OpenStream;
  readonly threadId: string;
  readonly since?: number;
}

async function beginRun(
  host: ApiHost,
  { caller, request, executionId, given }: RunInput,
  content: string,
): Promise<Place> {
  requireScope(caller, 'write');
  const { client } = host;
  const { agent, sessionId: threadId = sessionOf(executionId, caller), arguments: args, metadata } = given;
  const found = await client.getThread(threadId).catch(nullIfThreadNotFound);
  if (found) await requireThreadOf(client, caller, { threadId, agent: agent ?? found.agent });
  else requireNamedAgent(host, agent, threadId);
  const begin = {
    executionId,
    threadId,
    content,
    agent,
    metadata,
    arguments: args,
    userId: caller.userId ?? undefined,
    context: callerContext(caller),
  };
  const [stream] = await openStreamFor(host, threadId, request, () => beginExecution(client, begin));
  return { stream, threadId, since: found?.lastSeq ?? 0 };
}

/** Returns the session of a request that names none: separate for each user and organisation, like execution ids. */
function sessionOf(executionId: string, { userId, organizationId = null }: Caller): string {
  const isAnybody = userId === null && organizationId === null;
  const owner = isAnybody ? '' : `${encodeURIComponent(JSON.stringify([organizationId, userId]))} `;
  return itemIdOf(`${owner}${executionId}`);
}

/** Throws `ThreadNotFound`, `AgentNotFound`. */
function requireNamedAgent(host: ApiHost, agent: string | undefined, threadId: string): void {
  if (agent === undefined)
    throw new RuntimeError(
      'ThreadNotFound',
      `There is no session "${threadId}": give an "agent" to begin it.`,
    );
  requireAgent(host, agent);
}

/** Throws `ExecutionNotFound`, also for an execution that the caller may not reach. */
async function attach(host: ApiHost, { caller, request, executionId, given }: RunInput): Promise<Place> {
  const { client } = host;
  for (const threadId of await findNamedExecution(client.store, executionId)) {
    if (given.sessionId !== undefined && given.sessionId !== threadId) continue;
    const thread = await requireReachable(client, caller, threadId).catch(nullIfThreadNotFound);
    if (thread) return { stream: openStream(host, threadId, request.signal), threadId };
  }
  throw new RuntimeError(
    'ExecutionNotFound',
    `There is no execution "${executionId}": give a "message" to begin it.`,
  );
}

/** A problem with the additional fields that clients of this route expect. */
function notFound(error: unknown, executionId: string): Response {
  const problem = { ...toProblem(error), error: 'execution_not_found', executionId };
  return jsonResponse(problem, problem.status, { 'content-type': 'application/problem+json' });
}
