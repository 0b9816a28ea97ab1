/** Chats of the AI SDK's `useChat`: a chat is a thread under the chat's id, and its first message creates it. */
import { randomUUID } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { nullIfThreadNotFound } from '../../../client/make-thread.ts';
import { RuntimeError } from '../../../core/value/error.ts';
import type { UiDialect } from '../../../projections/ai-sdk/ui-chunk.ts';
import type { ThreadRecord } from '../../../store/thread/thread-record.ts';
import { requireThreadOf } from '../agent-thread.ts';
import { type Caller, requireScope } from '../caller.ts';
import { type ChatBegin, fateHeaders, findAnswerBegin, findCurrentBegin } from '../chat/chat-begin.ts';
import { chatReader } from '../chat/chat-reader.ts';
import { type ChatTurn, chatBody, readChatTurn } from '../chat/chat-request.ts';
import { chatResponse } from '../chat/chat-response.ts';
import { isAtRest, responsePages } from '../chat/response-reading.ts';
import { findChat, sendChatMessage } from '../chat/send-chat-message.ts';
import { ownFiles } from '../conversation/own-files.ts';
import type { ApiHost } from '../host.ts';
import { jsonResponse, SAFE_HEADERS } from '../problem.ts';
import { type ApiRoute, route } from '../route.ts';
import { enterStream, KEEP_ALIVE_MS } from '../stream-place.ts';

const tag = 'Chat';
const params = z.object({ agent: z.string() });
const chatParams = params.extend({ chatId: z.string().min(1).max(200) });
const ui = z
  .enum(['5', '6', '7'])
  .default('6')
  .transform((text) => Number(text) as UiDialect)
  .meta({ description: 'Major version of the package `ai` that reads the response' });

export const chatRoutes: readonly ApiRoute[] = [
  route({
    method: 'post',
    path: '/v1/agents/{agent}/chat',
    id: 'chat',
    scope: 'write',
    tag,
    summary: 'Send the last message of a chat, or answers to its approvals, and read the response',
    params,
    query: z.object({ ui }),
    body: chatBody,
    answer: ['text/event-stream'],
    async handle({ params: { agent }, query, body, request, caller, host }) {
      const turn = await readChatTurn(body, ownFiles(host.client, caller, body.id));
      const found = await findChat(host, caller, { agent, threadId: body.id });
      const begin =
        turn.kind === 'message'
          ? await sendChatMessage(host, caller, {
              agent,
              found,
              threadId: body.id,
              given: body.arguments,
              before: turn.before,
              message: { id: randomUUID(), ...turn.message },
            })
          : await answerApprovals(host, caller, { found, threadId: body.id, turn });
      return respond(host, { threadId: body.id, dialect: query.ui, begin, request });
    },
  }),
  route({
    method: 'get',
    path: '/v1/agents/{agent}/chat/{chatId}/stream',
    id: 'resumeChat',
    scope: 'read',
    tag,
    summary: 'Read the current response from its beginning; 204 if the chat is at rest',
    params: chatParams,
    query: z.object({ ui }),
    answer: ['text/event-stream'],
    async handle({ params: { agent, chatId }, query, request, caller, host }) {
      const begin = await findCurrentBegin(host.client, chatId);
      // A page requests this on mount, also for a chat without messages; one out of its reach looks the same.
      const found = await findChat(host, caller, { agent, threadId: chatId }).catch(nullIfThreadNotFound);
      const atRest = !found || (found.status !== 'waiting' && (await isAtRest(host.client, chatId)));
      if (atRest) return new Response(null, { status: 204, headers: SAFE_HEADERS });
      return respond(host, { threadId: chatId, dialect: query.ui, begin, request });
    },
  }),
  route({
    method: 'post',
    path: '/v1/agents/{agent}/chat/{chatId}/stop',
    id: 'stopChat',
    scope: 'write',
    tag,
    summary: 'Stop what a chat does now; closing its stream does not stop it',
    params: chatParams,
    status: 202,
    answer: z.object({ threadId: z.string() }),
    async handle({ params: { agent, chatId }, caller, host }) {
      await requireThreadOf(host.client, caller, { agent, threadId: chatId });
      await host.client.stop(chatId);
      return jsonResponse({ threadId: chatId }, 202);
    },
  }),
];

interface ApprovalAnswers {
  readonly found: ThreadRecord | null;
  readonly threadId: string;
  readonly turn: Extract<ChatTurn, { kind: 'approvals' }>;
}

/** Throws `WaitNotFound`, also for a wait of another thread. */
async function answerApprovals(
  { client }: ApiHost,
  caller: Caller,
  { found, threadId, turn: { approvals } }: ApprovalAnswers,
): Promise<ChatBegin> {
  requireScope(caller, 'answer');
  if (!found) throw new RuntimeError('ThreadNotFound', `There is no thread "${threadId}".`);
  for (const { id } of approvals)
    if ((await client.getWait(id)).threadId !== threadId)
      throw new RuntimeError('WaitNotFound', `Thread "${threadId}" has no wait "${id}".`);
  for (const { id, approved, reason } of approvals)
    await client.answerWait(id, {
      approved,
      ...(reason === undefined ? {} : { reason }),
      ...(caller.name === null ? {} : { by: caller.name }),
    });
  return findAnswerBegin(
    client,
    found,
    approvals.map(({ id }) => id),
  );
}

interface RespondInput {
  readonly threadId: string;
  readonly dialect: UiDialect;
  readonly begin: ChatBegin;
  readonly request: Request;
}

function respond(
  { client, streams }: ApiHost,
  { threadId, dialect, begin, request }: RespondInput,
): Response {
  const place = enterStream(streams, threadId);
  const signal = AbortSignal.any([place.signal, request.signal]);
  return chatResponse({
    pages: responsePages(client, chatReader(dialect), { threadId, begin, signal }),
    signal,
    onClose: place.leave,
    keepAliveMs: KEEP_ALIVE_MS,
    headers: fateHeaders(begin),
  });
}
