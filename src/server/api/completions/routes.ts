/** OpenAI's Chat Completions: an agent is a model. */
import { z } from '@hono/zod-openapi';
import { isAlreadyCreated, nullIfThreadNotFound } from '../../../client/make-thread.ts';
import { RuntimeError } from '../../../core/value/error.ts';
import type { Caller } from '../caller.ts';
import type { Conversation } from '../conversation/conversation.ts';
import { ownFiles } from '../conversation/own-files.ts';
import type { ApiAgent, ApiHost } from '../host.ts';
import { jsonResponse } from '../problem.ts';
import { type ApiRoute, route } from '../route.ts';
import { type OpenStream, openStreamFor } from '../stream.ts';
import { beginBehind, type ResponseBegin } from '../turn/begin.ts';
import { responsePages } from '../turn/reading.ts';
import { type BegunTurn, type ClientTurn, takeTurn } from '../turn/turn.ts';
import { completionError } from './completion-error.ts';
import {
  type CompletionPlace,
  findAsking,
  findContinued,
  findPlace,
  namedThread,
  newPlace,
} from './completion-place.ts';
import { completionReader } from './completion-reader.ts';
import {
  type CompletionRequest,
  completionBody,
  isTyped,
  readCompletion,
  readFormat,
} from './completion-request.ts';
import { type CompletionAnswer, streamCompletion, wholeCompletion } from './completion-response.ts';

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
      const { stream, place, begin, give, nameOf } = accepted;
      const { threadId, found, repeatable } = place;
      const { signal } = stream;
      let isWhole = true;
      const reader = completionReader({
        model: found?.agent ?? body.model,
        whole: !body.stream,
        parsed: isTyped(body),
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
        repeatable,
        fate: begin,
        async onDelivered() {
          const { counted } = accepted;
          if (counted !== undefined && isWhole)
            await host.client.store.queue.markDelivered(threadId, counted);
        },
      };
      if (!body.stream) return wholeCompletion(stream, answer);
      return streamCompletion(stream, answer, body.stream_options?.include_usage ?? false);
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

interface Accepted extends Pick<BegunTurn, 'give'> {
  readonly stream: OpenStream;
  /** `found` is null if the message has created the thread. */
  readonly place: Pick<CompletionPlace, 'threadId' | 'found' | 'repeatable'>;
  readonly begin: ResponseBegin;
  /** Id of the message, if the same words get another one once their answer was delivered. */
  readonly counted?: string | undefined;
  readonly nameOf: Conversation['nameOf'];
}

/** Accepts results of the client's own calls, and a message. */
async function accept(host: ApiHost, caller: Caller, { request, body }: AcceptInput): Promise<Accepted> {
  const { model: agent, user } = body;
  const named = namedThread(request, body);
  const output = readFormat(body);
  const said = await readCompletion(body, { threadId: named, copy: ownFiles(host.client, caller, named) });
  const { message, before, results, nameOf } = said;
  const asking = await findAsking(host, caller, { agent, results, named }).catch((error) => {
    if (message) return nullIfThreadNotFound(error);
    throw error;
  });
  if (!message) {
    if (!asking) throw new RuntimeError('WaitNotFound', `No thread has asked for ${UNWANTED}`);
    const { id: threadId } = asking;
    const [stream, taken] = await openStreamFor(host, threadId, request, async () => {
      const turn = { agent, threadId, found: asking, results, message };
      const { begin, give } = await takeTurn(host, caller, turn);
      if (!begin)
        throw new RuntimeError('WaitNotFound', `Thread "${threadId}" is not waiting for ${UNWANTED}`);
      const counted = named === undefined ? undefined : await findContinued(host, body, named);
      return { begin, give, counted };
    });
    return { place: { threadId, found: asking, repeatable: true }, ...taken, stream, nameOf };
  }
  const first = await findPlace(host, caller, { request, body, threadId: named ?? asking?.id });
  const turn = { agent, userId: user ?? undefined, before, results };
  const own = { ...message, id: first.messageId, ...(output && { output }) };
  const sending = { request, turn, place: first, message: own };
  const [stream, sent] = await openStreamFor(host, first.threadId, request, () =>
    send(host, caller, sending),
  );
  return { ...sent, ...(first.counted && { counted: first.messageId }), stream, nameOf };
}

const UNWANTED = 'a result of these calls: send a message of the user.';

interface SendInput {
  readonly request: Request;
  readonly message: NonNullable<ClientTurn['message']>;
  readonly turn: Omit<ClientTurn, 'message' | 'threadId' | 'found'>;
  readonly place: CompletionPlace;
}

async function send(
  host: ApiHost,
  caller: Caller,
  sending: SendInput,
): Promise<Pick<Accepted, 'place' | 'begin' | 'give'>> {
  const { request, message, turn, place } = sending;
  const { threadId, found, alone = false, again } = place;
  if (again) {
    const { messageId, edits, requestId } = again;
    const { content, metadata, attachments, output = null } = message;
    const edited = edits ? { message: { content, metadata, attachments } } : {};
    // Its client has no other way to stop what the thread does.
    const asked = { messageId, ...edited, output, requestId, cancel: true };
    return { place, begin: beginBehind(await host.client.supersede(threadId, asked)) };
  }
  try {
    return { place, ...(await takeTurn(host, caller, { ...turn, threadId, found, alone, message })) };
  } catch (error) {
    // If this client has left, the thread was created by its own retry, which is answered instead.
    if (!alone || !isAlreadyCreated(error) || request.signal.aborted) throw error;
    return send(host, caller, { ...sending, place: { ...newPlace(place, turn.agent), alone: false } });
  }
}
