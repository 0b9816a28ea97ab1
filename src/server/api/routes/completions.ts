/** OpenAI's Chat Completions: an agent is a model. */
import { z } from '@hono/zod-openapi';
import { storeOf } from '../../../client/client-store.ts';
import { isAlreadyCreated, nullIfThreadNotFound } from '../../../client/make-thread.ts';
import { RuntimeError } from '../../../core/value/error.ts';
import type { ThreadRecord } from '../../../store/thread/thread-record.ts';
import type { Caller } from '../caller.ts';
import type { ChatBegin } from '../chat/chat-begin.ts';
import { responsePages } from '../chat/response-reading.ts';
import { type ChatMessageInput, sendChatMessage } from '../chat/send-chat-message.ts';
import { type TakenResults, takeResults, unwantedResults } from '../completions/completion-calls.ts';
import { completionError } from '../completions/completion-error.ts';
import {
  type CompletionPlace,
  findContinued,
  findPlace,
  namedThread,
  newPlace,
} from '../completions/completion-place.ts';
import { completionReader } from '../completions/completion-reader.ts';
import { type CompletionRequest, completionBody, readCompletion } from '../completions/completion-request.ts';
import {
  type CompletionAnswer,
  streamCompletion,
  wholeCompletion,
} from '../completions/completion-response.ts';
import type { Conversation } from '../conversation/conversation.ts';
import { ownFiles } from '../conversation/own-files.ts';
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
      const accepted = await accept(host, caller, { request, body });
      const { place, threadId, found, repeatable, begin, give, nameOf } = accepted;
      let isWhole = true;
      const signal = AbortSignal.any([place.signal, request.signal]);
      const reader = completionReader({
        model: found?.agent ?? body.model,
        whole: !body.stream,
        threadId,
        nameOf,
        give,
        onWait() {
          isWhole = false;
        },
      });
      const answer: CompletionAnswer = {
        threadId,
        pages: responsePages(host.client, reader, { threadId, begin, signal }),
        signal,
        onClose: place.leave,
        repeatable,
        fate: begin,
        async onDelivered() {
          const { counted } = accepted;
          if (counted !== undefined && isWhole)
            await storeOf(host.client).queue.markDelivered(threadId, counted);
        },
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

interface AcceptInput {
  readonly request: Request;
  readonly body: CompletionRequest;
}

interface Accepted {
  readonly place: ReturnType<typeof enterStream>;
  readonly threadId: string;
  /** Null if the message has created the thread. */
  readonly found: ThreadRecord | null;
  readonly repeatable: boolean;
  readonly begin: ChatBegin;
  /** Id of the message, if the same words get another one once their answer was delivered. */
  readonly counted?: string | undefined;
  readonly nameOf: Conversation['nameOf'];
  readonly give: TakenResults['give'] | undefined;
}

/** Accepts results of the client's own calls, and a message. */
async function accept(host: ApiHost, caller: Caller, { request, body }: AcceptInput): Promise<Accepted> {
  const named = namedThread(request, body);
  const copy = ownFiles(host.client, caller, named);
  const said = await readCompletion(body, { threadId: named, copy });
  const { message, results, nameOf } = said;
  const taken = await takeResults(host.client, caller, { agent: body.model, results, threadId: named }).catch(
    (error) => {
      if (message) return nullIfThreadNotFound(error);
      throw error;
    },
  );
  if (!message) {
    if (!taken?.begin) throw unwantedResults(taken);
    const { begin } = taken;
    const counted = named === undefined ? undefined : await findContinued(host, body, named);
    const place = enterStream(host.streams, taken.threadId);
    return { ...taken, begin, repeatable: true, nameOf, counted, place };
  }
  const threadId = named ?? taken?.threadId;
  const first = await findPlace(host, caller, { request, body, threadId });
  // Before the message is accepted: after a later refusal the client would send it again.
  const place = enterStream(host.streams, first.threadId);
  const sent = await send(host, caller, {
    ...{ request, body, place: first, before: said.before },
    message: { ...message, id: first.messageId },
  }).catch((error) => {
    place.leave();
    throw error;
  });
  const counted = first.counted ? { counted: first.messageId } : {};
  return { ...sent, ...counted, place, nameOf, give: taken?.give };
}

interface SendInput extends AcceptInput {
  readonly message: ChatMessageInput['message'];
  readonly before: Conversation['before'];
  readonly place: CompletionPlace;
}

async function send(
  host: ApiHost,
  caller: Caller,
  sending: SendInput,
): Promise<Omit<Accepted, 'place' | 'give' | 'nameOf'>> {
  const { request, body, message, before, place } = sending;
  const { threadId, repeatable, found, alone = false } = place;
  const userId = body.user ?? undefined;
  const saying = { agent: body.model, userId, before, found, threadId, message, alone };
  try {
    return { threadId, found, repeatable, begin: await sendChatMessage(host, caller, saying) };
  } catch (error) {
    // If this client has left, the thread was created by its own retry, which is answered instead.
    if (!alone || !isAlreadyCreated(error) || request.signal.aborted) throw error;
    return send(host, caller, { ...sending, place: { ...newPlace(place, body.model), alone: false } });
  }
}
