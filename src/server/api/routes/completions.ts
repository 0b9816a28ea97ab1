/** OpenAI's Chat Completions: an agent is a model. */
import { z } from '@hono/zod-openapi';
import { isAlreadyCreated } from '../../../client/make-thread.ts';
import { CLIENT_TOOLS, type ClientTool } from '../../../core/project/client-tool.ts';
import { RuntimeError } from '../../../core/value/error.ts';
import type { Caller } from '../caller.ts';
import type { ChatBegin } from '../chat/chat-begin.ts';
import { responsePages } from '../chat/response-reading.ts';
import { type ChatMessageInput, sendChatMessage } from '../chat/send-chat-message.ts';
import { type TakenResults, takeResults } from '../completions/completion-calls.ts';
import { completionError } from '../completions/completion-error.ts';
import { type CompletionPlace, findPlace, newPlace } from '../completions/completion-place.ts';
import { completionReader } from '../completions/completion-reader.ts';
import {
  type CompletionRequest,
  type CompletionTurn,
  completionBody,
  readCompletion,
  readResults,
  readTools,
} from '../completions/completion-request.ts';
import {
  type CompletionAnswer,
  streamCompletion,
  wholeCompletion,
} from '../completions/completion-response.ts';
import type { ApiAgent, ApiHost } from '../host.ts';
import { jsonResponse } from '../problem.ts';
import { type ApiRoute, route } from '../route.ts';
import { enterStream, KEEP_ALIVE_MS } from '../stream-place.ts';

const tag = 'OpenAI';

const model = z
  .object({ id: z.string(), object: z.literal('model'), created: z.int(), owned_by: z.string() })
  .openapi('Model');

/** `created` is 0: the time at which an agent was created is not known. */
const toModel = ({ name }: ApiAgent) => ({ id: name, object: 'model', created: 0, owned_by: 'everthread' });

export const completionRoutes: readonly ApiRoute[] = [
  route({
    method: 'post',
    path: '/v1/chat/completions',
    id: 'createCompletion',
    scope: 'write',
    tag,
    summary:
      'Send the last message of a conversation to an agent, and read its answer, complete or as a stream',
    body: completionBody,
    answer: z.looseObject({ id: z.string(), object: z.literal('chat.completion') }),
    fails: completionError,
    async handle({ body, request, caller, host }) {
      const { place, threadId, repeatable, begin, give } = await accept(host, caller, { request, body });
      const signal = AbortSignal.any([place.signal, request.signal]);
      const reader = completionReader({ model: body.model, whole: !body.stream, threadId, give });
      const answer: CompletionAnswer = {
        threadId,
        pages: responsePages(host.client, reader, { threadId, begin, signal }),
        signal,
        onClose: place.leave,
        repeatable,
      };
      if (!body.stream) return wholeCompletion(answer);
      const includeUsage = body.stream_options?.include_usage ?? false;
      return streamCompletion({ ...answer, includeUsage, keepAliveMs: KEEP_ALIVE_MS });
    },
  }),
  route({
    method: 'get',
    path: '/v1/models',
    id: 'listModels',
    scope: 'read',
    tag,
    summary: 'List the agents of the project as models',
    answer: z.object({ object: z.literal('list'), data: z.array(model) }),
    fails: completionError,
    handle: ({ host }) => jsonResponse({ object: 'list', data: (host.agents?.() ?? []).map(toModel) }),
  }),
  route({
    method: 'get',
    path: '/v1/models/{model}',
    id: 'getModel',
    scope: 'read',
    tag,
    summary: 'Read an agent as a model',
    params: z.object({ model: z.string() }),
    answer: model,
    fails: completionError,
    handle({ params: { model: name }, host }) {
      const found = host.agents?.().find((agent) => agent.name === name);
      if (found) return jsonResponse(toModel(found));
      throw new RuntimeError('AgentNotFound', `There is no agent "${name}": /v1/models lists the agents.`);
    },
  }),
];

type AcceptInput = Pick<SendInput, 'request' | 'body'>;

interface Accepted {
  readonly place: ReturnType<typeof enterStream>;
  readonly threadId: string;
  readonly repeatable: boolean;
  readonly begin: ChatBegin;
  readonly give?: TakenResults['give'];
}

/** Accepts a message, or results of the client's own calls. */
async function accept(host: ApiHost, caller: Caller, { request, body }: AcceptInput): Promise<Accepted> {
  const results = readResults(body);
  if (results.size > 0) {
    const given = await takeResults(host.client, caller, results);
    return { ...given, repeatable: true, place: enterStream(host.streams, given.threadId) };
  }
  const turn = readCompletion(body);
  const tools = readTools(body);
  const first = await findPlace(host, caller, { request, body, turn });
  // Before the message is accepted: after a later refusal the client would send it again.
  const place = enterStream(host.streams, first.threadId);
  const sent = await send(host, caller, { request, body, turn, tools, place: first }).catch((error) => {
    place.leave();
    throw error;
  });
  const { threadId, repeatable, begin } = sent;
  return { threadId, repeatable, begin, place };
}

interface SendInput {
  readonly request: Request;
  readonly body: CompletionRequest;
  readonly turn: CompletionTurn;
  readonly tools: readonly ClientTool[];
  readonly place: CompletionPlace;
}

async function send(
  host: ApiHost,
  caller: Caller,
  sending: SendInput,
): Promise<CompletionPlace & { begin: ChatBegin }> {
  const { request, body, turn, tools, place } = sending;
  const { threadId, messageId, found, alone = false } = place;
  const saying: ChatMessageInput = {
    agent: body.model,
    userId: body.user ?? undefined,
    before: turn.before.map((each, n) => ({ ...each, id: `${messageId.slice(0, 56)}-${n}` })),
    found,
    threadId,
    message: {
      ...turn.message,
      id: messageId,
      ...(tools.length > 0 ? { metadata: { [CLIENT_TOOLS]: tools } } : {}),
    },
    alone,
  };
  try {
    return { ...place, begin: await sendChatMessage(host, caller, saying) };
  } catch (error) {
    // If this client has left, the thread was created by its own retry, which is answered instead.
    if (!alone || !isAlreadyCreated(error) || request.signal.aborted) throw error;
    return send(host, caller, { ...sending, place: { ...newPlace(place, body.model), alone: false } });
  }
}
