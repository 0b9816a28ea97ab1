/** Chats of the AI SDK's `useChat`: a chat is a thread under the chat's id, and its first message creates it. */
import { randomUUID } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { nullIfThreadNotFound } from '../../../client/make-thread.ts';
import type { RuntimeClient } from '../../../client/runtime-client.ts';
import type { Supersede } from '../../../client/supersede.ts';
import { endAtWait } from '../../../projections/ai-sdk/chat-end.ts';
import { projectChat } from '../../../projections/ai-sdk/chat-projection.ts';
import { beginChat, type ChatReading } from '../../../projections/ai-sdk/chat-state.ts';
import type { UiChunk, UiDialect } from '../../../projections/ai-sdk/ui-chunk.ts';
import { requireThreadOf } from '../agent-thread.ts';
import { ownFiles } from '../conversation/own-files.ts';
import type { ApiHost } from '../host.ts';
import { readIdempotencyKey } from '../idempotency-key.ts';
import { jsonResponse, SAFE_HEADERS } from '../problem.ts';
import { type ApiRoute, route } from '../route.ts';
import { fileAddresses } from '../signed-address.ts';
import { type OpenStream, openStream, openStreamFor, streamResponse, toSse } from '../stream.ts';
import { beginBehind, fateHeaders, findCurrentBegin, type ResponseBegin } from '../turn/begin.ts';
import { isAtRest, type ResponseReader, responsePages } from '../turn/reading.ts';
import { findOwnThread, takeTurn } from '../turn/turn.ts';
import { chatMessages, readChatPage } from './chat-messages.ts';
import { type ChatTurn, chatBody, readChatTurn } from './chat-request.ts';

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
      const { id: threadId, arguments: given } = body;
      const asked = await readChatTurn(body, ownFiles(host.client, caller, threadId));
      const { message, before, answers } = asked;
      const found = await findOwnThread(host, caller, { agent, threadId });
      const again = found && (await findAgain(host.client, threadId, asked));
      const [stream, begin] = await openStreamFor(host, threadId, request, async () => {
        if (again) {
          const requestId = readIdempotencyKey(request.headers)?.id;
          const { cancel, acknowledge } = body;
          return beginBehind(
            await host.client.supersede(threadId, { ...again, requestId, cancel, acknowledge }),
          );
        }
        const turn = { agent, threadId, found, given, before, answers };
        const sent = message && { id: randomUUID(), ...message };
        const taken = await takeTurn(host, caller, { ...turn, message: sent });
        return taken.begin ?? findCurrentBegin(host.client, threadId);
      });
      return respond(host, stream, { threadId, dialect: query.ui, begin });
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
      const found = await findOwnThread(host, caller, { agent, threadId: chatId }).catch(
        nullIfThreadNotFound,
      );
      const atRest = !found || (found.status !== 'waiting' && (await isAtRest(host.client, chatId)));
      if (atRest) return new Response(null, { status: 204, headers: SAFE_HEADERS });
      const stream = openStream(host, chatId, request.signal);
      return respond(host, stream, { threadId: chatId, dialect: query.ui, begin });
    },
  }),
  route({
    method: 'get',
    path: '/v1/agents/{agent}/chat/{chatId}/messages',
    id: 'listChatMessages',
    scope: 'read',
    tag,
    summary:
      'Read the messages of a chat as its page keeps them; without the current response, which has its stream',
    params: chatParams,
    query: z.object({
      ui,
      limit: z.coerce
        .number()
        .int()
        .min(1)
        .max(100)
        .default(20)
        .meta({ description: 'Number of responses, the newest if there are more' }),
      before: z
        .string()
        .max(200)
        .optional()
        .meta({ description: 'The `before` of a page: reads the one before it' }),
    }),
    answer: chatMessages,
    async handle({ params: { agent, chatId: threadId }, query, request, caller, host }) {
      // A page requests this when it opens, also for a chat without messages; one out of its reach looks the same.
      const found = await findOwnThread(host, caller, { agent, threadId }).catch(nullIfThreadNotFound);
      if (!found) return { messages: [], before: null };
      const { ui: dialect, ...page } = query;
      const address = fileAddresses(host.client, request, threadId);
      return readChatPage(host.client.store, { ...page, threadId, dialect, address });
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

/**
 * What is to be superseded; undefined for an ordinary turn. A message that the thread does not have, or that is still in line,
 * is sent as a new one; an edit to the text that it has is the same request again.
 */
async function findAgain(
  client: RuntimeClient,
  threadId: string,
  { again, message }: ChatTurn,
): Promise<Pick<Supersede, 'messageId' | 'message'> | undefined> {
  if (!again) return undefined;
  const { messageId, edits } = again;
  if (!edits) return { messageId };
  const known = messageId === undefined ? null : await client.getMessage(threadId, messageId);
  if (!message || known === null || known.status === 'pending') return undefined;
  const { content, metadata, attachments } = message;
  const isSame = content === known.content && !attachments?.length && !known.attachments?.length;
  return isSame ? undefined : { messageId, message: { content, metadata, attachments } };
}

interface RespondInput {
  readonly threadId: string;
  readonly dialect: UiDialect;
  readonly begin: ResponseBegin;
}

/** The response in the AI SDK's own form of server-sent events. It ends with `[DONE]` unless it was cut off. */
function respond(host: ApiHost, stream: OpenStream, { threadId, dialect, begin }: RespondInput): Response {
  const { signal } = stream;
  return streamResponse(stream, {
    headers: { ...fateHeaders(begin), 'x-vercel-ai-ui-message-stream': 'v1' },
    pages: responsePages(host.client, chatReader(dialect), { threadId, begin, signal }),
    toText: (page) => page.map((chunk) => toSse(chunk)).join(''),
    last: (isCut) => (isCut ? '' : 'data: [DONE]\n\n'),
  });
}

/** Converts a response to UI chunks of the AI SDK. */
function chatReader(dialect: UiDialect): ResponseReader<ChatReading, UiChunk> {
  return {
    begin: beginChat(dialect),
    project: projectChat,
    openOf: ({ response }) => response,
    enter(reading, { seq }, joins) {
      const { messageId = '' } = reading.response ?? {};
      return [reading, [{ type: 'start', messageId: joins ? `${messageId}.${seq}` : messageId }]];
    },
    atWait: ({ response }) => (response ? endAtWait(response) : []),
    failed: ({ message }) => [
      { type: 'error', errorText: message },
      { type: 'finish', finishReason: 'error' },
    ],
    terminated: [{ type: 'abort', reason: 'terminated' }],
  };
}
