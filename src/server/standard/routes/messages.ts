/** Messages of Standard Agents: read, sent, removed. */
import { randomUUID } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import type { Message } from '../../../core/message/message.ts';
import { RuntimeError } from '../../../core/value/error.ts';
import { toStandardRow } from '../../../projections/standard/standard-frame.ts';
import { jsonResponse, refuseRequest } from '../../api/problem.ts';
import {
  countOf,
  readBody,
  type StandardHost,
  type StandardRoute,
  standardRoute,
} from '../standard-route.ts';

const DEFAULT_PAGE_SIZE = 100;
const MAX_PAGE_SIZE = 1000;
/** Maximum number of ids in a query. */
const MAX_IDS = 200;

const sent = z.object({
  role: z.enum(['user', 'assistant', 'system']).default('user'),
  content: z.string().nullish(),
  attachments: z
    .array(z.object({ name: z.string(), mimeType: z.string(), data: z.string() }))
    .max(20)
    .optional(),
  silent: z.boolean().optional(),
});

async function listMessages(host: StandardHost, threadId: string, query: URLSearchParams): Promise<Response> {
  const ids = query.get('ids');
  if (ids !== null) return jsonResponse(await namedMessages(host, threadId, ids));
  const order = query.get('order') ?? 'asc';
  if (order !== 'asc' && order !== 'desc') refuseRequest('"order" must be "asc" or "desc".');
  const { messages, total, hasMore } = await host.client.getMessages(threadId, {
    limit: countOf(query, 'limit', { usual: DEFAULT_PAGE_SIZE, least: 1, most: MAX_PAGE_SIZE }),
    offset: countOf(query, 'offset', { usual: 0, least: 0 }),
    order,
    includeSilent: query.get('includeSilent') === 'true',
    maxDepth: countOf(query, 'depth', { usual: 0, least: 0 }),
  });
  return jsonResponse({ messages: messages.map(toStandardRow), total, hasMore });
}

/** Returns messages in the order of the ids; unknown ids are left out. */
async function namedMessages({ client }: StandardHost, threadId: string, list: string) {
  const ids = [...new Set(list.split(',').filter((id) => id !== ''))];
  if (ids.length > MAX_IDS) refuseRequest(`"ids" can name at most ${MAX_IDS} messages, not ${ids.length}.`);
  const found = await Promise.all(ids.map((id) => client.getMessage(threadId, id)));
  const messages = found.filter((message) => message !== null).map(toStandardRow);
  return { messages, total: messages.length, hasMore: false };
}

async function send(
  { client, live }: StandardHost,
  threadId: string,
  { role, content, attachments = [], silent }: z.infer<typeof sent>,
): Promise<Response> {
  const text = content ?? '';
  if (text === '' && attachments.length === 0) refuseRequest('The message has neither text nor attachments.');
  const id = randomUUID();
  if (role === 'system') {
    if (attachments.length > 0) refuseRequest('A system message cannot have attachments.');
    // It starts no work, and gets no answer.
    const message = { id, role, content: text, silent, executionId: null };
    live.tell(threadId, await client.store.messages.inject(threadId, message));
  } else {
    await client.queueMessage(threadId, { id, role, content: text, attachments, silent });
    const waiting = (await client.getMessage(threadId, id)) ?? toPendingMessage({ id, role, text, silent });
    live.tell(threadId, waiting);
  }
  return jsonResponse({ status: 'queued', queueId: id, messageId: id, message: 'Message queued' }, 202);
}

/** Returns a message as it is before a worker has put it in line. */
function toPendingMessage({
  id,
  role,
  text,
  silent = false,
}: {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly silent: boolean | undefined;
}): Message {
  return {
    id,
    role,
    content: text,
    name: null,
    tool_calls: null,
    tool_call_id: null,
    created_at: Date.now() * 1000,
    parent_id: null,
    depth: 0,
    silent,
    metadata: { queued: true },
    attachments: null,
    status: 'pending',
    tool_status: null,
  };
}

export const messageRoutes: readonly StandardRoute[] = [
  standardRoute('GET', '/api/threads/:threadId/messages', 'read', ({ thread, query, host }) =>
    listMessages(host, thread.id, query),
  ),
  standardRoute('POST', '/api/threads/:threadId/messages', 'write', async ({ thread, request, host }) =>
    send(host, thread.id, await readBody(request, sent)),
  ),
  standardRoute(
    'DELETE',
    '/api/threads/:threadId/messages/:messageId',
    'write',
    async ({ thread, params: { messageId = '' }, host }) => {
      if (await host.client.store.messages.delete(thread.id, messageId))
        return jsonResponse({ success: true });
      throw new RuntimeError(
        'MessageNotFound',
        `There is no message "${messageId}" in thread "${thread.id}".`,
      );
    },
  ),
];
