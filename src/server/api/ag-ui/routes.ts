/** AG-UI: an agent behind one route. A conversation is the thread with its id, and its first message creates it. */
import { z } from '@hono/zod-openapi';
import type { AgUiEvent } from '../../../projections/ag-ui/ag-ui-event.ts';
import type { ThreadRecord } from '../../../store/thread/thread-record.ts';
import type { Caller } from '../caller.ts';
import { ownFiles } from '../conversation/own-files.ts';
import type { ApiHost } from '../host.ts';
import { refuseRequest } from '../problem.ts';
import { type ApiRoute, route } from '../route.ts';
import { fileAddresses } from '../signed-address.ts';
import { openStreamFor } from '../stream.ts';
import { fateHeaders, findCurrentBegin } from '../turn/begin.ts';
import { isAtRest, responsePages } from '../turn/reading.ts';
import { type BegunTurn, findOwnThread, takeTurn } from '../turn/turn.ts';
import { type AgUiTurn, agUiBody, readAgUiRun, toWaitAnswer } from './ag-ui-request.ts';
import { agUiReader, agUiResponse } from './ag-ui-response.ts';
import { toAgUiItemId } from './given-ids.ts';

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
      const found = await findOwnThread(host, caller, { agent, threadId });
      const running = { agent, threadId, found, turn };
      const [stream, { begin, give }] = await openStreamFor(host, threadId, request, () =>
        beginRun(host, caller, running),
      );
      const { signal } = stream;
      const findQueued = () => findInLine(host, threadId, turn.fresh);
      return agUiResponse(stream, {
        client: host.client,
        threadId,
        runId,
        nameOf: turn.said.nameOf,
        ids: turn.ids,
        address: fileAddresses(host.client, request, threadId),
        pages: begin
          ? responsePages(host.client, agUiReader(threadId, { give, findQueued }), {
              threadId,
              begin,
              signal,
            })
          : pagesAtRest(),
        headers: fateHeaders(begin ?? {}),
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

/** Begins at what the thread is doing if the request has nothing new; `begin` is null if it rests. */
async function beginRun(host: ApiHost, caller: Caller, running: RunInput): Promise<BegunTurn> {
  const { agent, threadId, found, turn } = running;
  const { said, resume, given } = turn;
  const { message, before, results } = said;
  const id = message?.id ?? '';
  // With answers, the conversation ends with the message that the agent was answering when it asked.
  const isOld = resume.length > 0 && found && (await host.client.store.messages.get(threadId, id)) !== null;
  const begun = await takeTurn(host, caller, {
    agent,
    threadId,
    found,
    given,
    before,
    results,
    message: message && !isOld ? { ...message, id } : null,
    answers: resume.map((each) => ({
      waitId: each.interruptId,
      toAnswer: (wait) => toWaitAnswer(wait, each),
    })),
  });
  if (begun.begin) return begun;
  if (!found)
    return refuseRequest('messages: the thread does not exist yet, so the last message must be a user’s.');
  const begin = await findCurrentBegin(host.client, threadId);
  const rests = found.status !== 'waiting' && (await isAtRest(host.client, threadId));
  return rests ? { begin: null } : { begin };
}

/** Messages that were accepted, and that the thread has not read yet. */
async function findInLine(
  { client }: ApiHost,
  threadId: string,
  fresh: AgUiTurn['fresh'],
): Promise<AgUiTurn['fresh']> {
  const { messages, queue } = client.store;
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
