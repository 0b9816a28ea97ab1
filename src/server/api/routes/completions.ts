/** OpenAI's Chat Completions: an agent is a model. */
import { z } from '@hono/zod-openapi';
import { isMade } from '../../../client/make-thread.ts';
import { RuntimeError } from '../../../core/value/error.ts';
import type { Caller } from '../caller.ts';
import type { ChatBegin } from '../chat/chat-begin.ts';
import { type Saying, say } from '../chat/chat-say.ts';
import { responsePages } from '../chat/response-reading.ts';
import { completionError } from '../completions/completion-error.ts';
import { type CompletionPlace, findPlace, newPlace } from '../completions/completion-place.ts';
import { completionReader } from '../completions/completion-reader.ts';
import {
  type CompletionRequest,
  type CompletionTurn,
  completionBody,
  readCompletion,
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

/** Agents are not made at any time that is known. */
const toModel = ({ name }: ApiAgent) => ({ id: name, object: 'model', created: 0, owned_by: 'everthread' });

export const completionRoutes: readonly ApiRoute[] = [
  route({
    method: 'post',
    path: '/v1/chat/completions',
    id: 'createCompletion',
    scope: 'write',
    tag,
    summary: 'Send the last message of a conversation to an agent, and read its answer, whole or as it comes',
    body: completionBody,
    answer: z.looseObject({ id: z.string(), object: z.literal('chat.completion') }),
    fails: completionError,
    async handle({ body, request, caller, host }) {
      const turn = readCompletion(body);
      const first = await findPlace(host, caller, { request, body, turn });
      // Before anything is accepted: what is refused afterwards would be sent again.
      const place = enterStream(host.streams, first.threadId);
      const { threadId, repeatable, begin } = await send(host, caller, {
        request,
        body,
        turn,
        place: first,
      }).catch((error) => {
        place.leave();
        throw error;
      });
      const signal = AbortSignal.any([place.signal, request.signal]);
      const reader = completionReader(body.model, !body.stream);
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
      throw new RuntimeError(
        'AgentNotFound',
        `There is no agent "${name}": /v1/models lists those there are.`,
      );
    },
  }),
];

interface Sending {
  readonly request: Request;
  readonly body: CompletionRequest;
  readonly turn: CompletionTurn;
  readonly place: CompletionPlace;
}

async function send(
  host: ApiHost,
  caller: Caller,
  sending: Sending,
): Promise<CompletionPlace & { begin: ChatBegin }> {
  const { request, body, turn, place } = sending;
  const { threadId, messageId, found, alone = false } = place;
  const saying: Saying = {
    agent: body.model,
    userId: body.user ?? undefined,
    before: turn.before.map((each, n) => ({ ...each, id: `${messageId.slice(0, 56)}-${n}` })),
    found,
    threadId,
    message: { ...turn.message, id: messageId },
    alone,
  };
  try {
    return { ...place, begin: await say(host, caller, saying) };
  } catch (error) {
    // One that nobody reads any more was sent again meanwhile, and that one is answered.
    if (!alone || !isMade(error) || request.signal.aborted) throw error;
    return send(host, caller, { ...sending, place: { ...newPlace(place), alone: false } });
  }
}
