/** AG-UI: an agent behind one route. A conversation is the thread with its id, and its first message creates it. */
import { z } from '@hono/zod-openapi';
import { storeOf } from '../../../client/client-store.ts';
import { RuntimeError } from '../../../core/value/error.ts';
import type { AgUiEvent } from '../../../projections/ag-ui/ag-ui-event.ts';
import type { ThreadRecord } from '../../../store/thread/thread-record.ts';
import {
  type AgUiTurn,
  agUiBody,
  type GivenResume,
  readAgUiRun,
  toWaitAnswer,
} from '../ag-ui/ag-ui-request.ts';
import { agUiReader, agUiResponse } from '../ag-ui/ag-ui-response.ts';
import { toAgUiItemId } from '../ag-ui/given-ids.ts';
import { type Caller, requireScope } from '../caller.ts';
import { type ChatBegin, fateHeaders, findAnswerBegin, findCurrentBegin } from '../chat/chat-begin.ts';
import { isAtRest, responsePages } from '../chat/response-reading.ts';
import { findChat, sendChatMessage } from '../chat/send-chat-message.ts';
import { type GiveResult, giveResults } from '../conversation/client-results.ts';
import type { Conversation } from '../conversation/conversation.ts';
import { ownFiles } from '../conversation/own-files.ts';
import type { ApiHost } from '../host.ts';
import { refuseRequest } from '../problem.ts';
import { type ApiRoute, route } from '../route.ts';
import { fileAddresses } from '../signed-address.ts';
import { enterStream, KEEP_ALIVE_MS } from '../stream-place.ts';

export const agUiRoutes: readonly ApiRoute[] = [
  route({
    method: 'post',
    path: '/ag-ui/{agent}',
    id: 'runAgUi',
    scope: 'write',
    tag: 'AG-UI',
    summary: 'Run an agent: send a message or answers to interrupts, or only read what it is doing',
    params: z.object({ agent: z.string() }),
    body: agUiBody,
    answer: ['text/event-stream'],
    async handle({ params: { agent }, body, request, caller, host }) {
      const { threadId, runId } = body;
      const turn = await readAgUiRun(body, ownFiles(host.client, caller, threadId));
      const found = await findChat(host, caller, { agent, threadId });
      const place = enterStream(host.streams, threadId);
      const running = await beginRun(host, caller, { agent, threadId, found, turn }).catch((error) => {
        place.leave();
        throw error;
      });
      const signal = AbortSignal.any([place.signal, request.signal]);
      const reading = { threadId, signal };
      const findQueued = () => findInLine(host, threadId, turn.fresh);
      return agUiResponse({
        client: host.client,
        threadId,
        runId,
        nameOf: turn.said.nameOf,
        ids: turn.ids,
        address: fileAddresses(host.client, request, threadId),
        pages: running
          ? responsePages(host.client, agUiReader(threadId, { give: running.give, findQueued }), {
              ...reading,
              begin: running.begin,
            })
          : pagesAtRest(),
        signal,
        onClose: place.leave,
        keepAliveMs: KEEP_ALIVE_MS,
        headers: fateHeaders(running?.begin ?? {}),
      });
    },
  }),
];

/** Pages for a thread at rest: a snapshot of its messages, then the end of the run. */
async function* pagesAtRest(): AsyncGenerator<readonly AgUiEvent[]> {
  yield [
    { type: 'MESSAGES_SNAPSHOT', upTo: Number.MAX_SAFE_INTEGER },
    { type: 'RUN_FINISHED', outcome: { type: 'success' }, usage: [] },
  ];
}

interface RunInput {
  readonly agent: string;
  readonly threadId: string;
  readonly found: ThreadRecord | null;
  readonly turn: AgUiTurn;
}

interface BegunRun {
  readonly begin: ChatBegin;
  /** Answers further calls of the client's own tools, as they are asked. */
  readonly give?: GiveResult;
}

/** Returns where the run begins; null if there is nothing to run. */
async function beginRun(host: ApiHost, caller: Caller, running: RunInput): Promise<BegunRun | null> {
  const { agent, threadId, found, turn } = running;
  const { said, resume, given } = turn;
  const message = said.message && { ...said.message, id: said.message.id ?? '' };
  const isNew =
    message !== null && (resume.length === 0 || !(found && (await isStored(host, threadId, message.id))));
  const answered = resume.length > 0 ? await answerWaits(host, caller, { threadId, found, resume }) : null;
  const results = found && said.results.size > 0 ? await giveClientResults(host, caller, found, said) : null;
  const sent = isNew
    ? await sendChatMessage(host, caller, { agent, given, before: said.before, found, threadId, message })
    : null;
  const begin = answered ?? sent ?? results?.begin;
  if (begin) return { begin, ...(results && { give: results.give }) };
  if (!found)
    return refuseRequest('messages: the thread does not exist yet, so the last message must be a user’s.');
  const current = await findCurrentBegin(host.client, threadId);
  const rests = found.status !== 'waiting' && (await isAtRest(host.client, threadId));
  return rests ? null : { begin: current };
}

/** Ignores results of calls that are not the client's own: the thread has them. */
async function giveClientResults(
  { client }: ApiHost,
  caller: Caller,
  found: ThreadRecord,
  { results, last }: Conversation,
): Promise<{ readonly give: GiveResult; readonly begin: ChatBegin | null }> {
  const { give, waits, repeated } = await giveResults(client, caller, found, results);
  const ids = waits.map(({ waitId }) => waitId);
  if (last !== 'tool' || ids.length === 0) return { give, begin: null };
  const begin = await findAnswerBegin(client, found, ids);
  return { give, begin: { ...begin, ...(repeated && { repeated }) } };
}

/** Messages that were accepted, and that the thread has not read yet. */
async function findInLine(
  { client }: ApiHost,
  threadId: string,
  fresh: AgUiTurn['fresh'],
): Promise<AgUiTurn['fresh']> {
  const { messages, queue } = storeOf(client);
  const inLine = await Promise.all(
    fresh.map(async ({ id: given }) => {
      const id = toAgUiItemId(given);
      const stored = await messages.get(threadId, id);
      return (
        (stored?.status ?? 'pending') === 'pending' && (await queue.readDelivery(threadId, id)) !== 'unknown'
      );
    }),
  );
  return fresh.filter((_, n) => inLine[n]);
}

async function isStored({ client }: ApiHost, threadId: string, messageId: string): Promise<boolean> {
  return (await storeOf(client).messages.get(threadId, messageId)) !== null;
}

interface ResumeInput {
  readonly threadId: string;
  readonly found: ThreadRecord | null;
  readonly resume: readonly GivenResume[];
}

/** Throws `WaitNotFound`, also for a wait of another family, before any wait is answered. */
async function answerWaits(
  { client }: ApiHost,
  caller: Caller,
  { threadId, found, resume }: ResumeInput,
): Promise<ChatBegin> {
  requireScope(caller, 'answer');
  if (!found) throw new RuntimeError('ThreadNotFound', `There is no thread "${threadId}".`);
  const given = await Promise.all(
    resume.map(async (each) => {
      const wait = await client.getWait(each.interruptId);
      if (wait.threadId !== threadId && (await client.getThread(wait.threadId)).rootId !== found.rootId)
        throw new RuntimeError('WaitNotFound', `Thread "${threadId}" has no wait "${wait.id}".`);
      return { id: wait.id, answer: toWaitAnswer(wait, each) };
    }),
  );
  const by = caller.name === null ? {} : { by: caller.name };
  for (const each of given) await client.answerWait(each.id, { ...each.answer, ...by });
  return findAnswerBegin(
    client,
    found,
    given.map(({ id }) => id),
  );
}
