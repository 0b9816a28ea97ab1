/**
 * Streams a run of AG-UI as server-sent events.
 * - The first event is sent at acceptance, and the last one says how the run has ended. A stream without a last event
 *   was cut off.
 */
import { endAtWait } from '../../../projections/ag-ui/ag-ui-end.ts';
import type { AgUiEvent, SentMessage } from '../../../projections/ag-ui/ag-ui-event.ts';
import { enterRun, projectAgUi } from '../../../projections/ag-ui/ag-ui-projection.ts';
import { type AgUiReading, beginAgUi } from '../../../projections/ag-ui/ag-ui-state.ts';
import { type OpenStream, streamResponse, toSse } from '../stream.ts';
import type { ResponseReader } from '../turn/reading.ts';
import type { GiveResult } from '../turn/turn.ts';
import { messagesUpTo, type SnapshotTerms } from './ag-ui-messages.ts';

export interface ReadingTerms {
  readonly give?: GiveResult | undefined;
  /** Messages of the request that are in line: they come behind the wait at which the thread is. */
  readonly findQueued: () => Promise<readonly SentMessage[]>;
}

export function agUiReader(
  threadId: string,
  { give, findQueued }: ReadingTerms,
): ResponseReader<AgUiReading, AgUiEvent> {
  return {
    begin: beginAgUi(threadId),
    project: projectAgUi,
    openOf: ({ open }) => open,
    enter: enterRun,
    async atWait(reading, isTold) {
      for (const [waitId, callId] of Object.entries(reading.open?.clientWaits ?? {}))
        if (await give?.(waitId, callId)) return [];
      if (isTold) return reading.open ? endAtWait(reading.open) : [];
      const [{ open, upTo }] = enterRun(reading);
      if (!open) return [];
      const queued = await findQueued();
      return [
        { type: 'MESSAGES_SNAPSHOT', upTo, queued },
        ...queued.map(
          ({ id: messageId }) => ({ type: 'CUSTOM', name: QUEUED, value: { messageId } }) as const,
        ),
        ...endAtWait(open),
      ];
    },
    failed: ({ code, message }) => [{ type: 'RUN_ERROR', code, message, usage: [] }],
    terminated: [
      { type: 'RUN_ERROR', code: 'ThreadTerminated', message: 'The thread was terminated.', usage: [] },
    ],
  };
}

/** Tells that a message is kept, but has not been read yet. */
const QUEUED = 'everthread.message.queued';

export interface AgUiRun extends SnapshotTerms {
  readonly runId: string;
  readonly pages: AsyncIterable<readonly AgUiEvent[]>;
  readonly headers: Readonly<Record<string, string>>;
}

export function agUiResponse(stream: OpenStream, run: AgUiRun): Response {
  const { threadId, runId, pages, headers } = run;
  const message = 'The run continues, but this stream of it has ended: run the agent again to read on.';
  return streamResponse(stream, {
    headers,
    first: toSse({ type: 'RUN_STARTED', threadId, runId, protocolVersion: '1.0' }),
    pages,
    toText: async (page) =>
      (await Promise.all(withoutRepeated(page).map(async (event) => toSse(await toFrame(run, event))))).join(
        '',
      ),
    last: (isCut) => (isCut ? toSse({ type: 'RUN_ERROR', code: 'Timeout', message }) : ''),
  });
}

/** Drops a snapshot that is directly followed by another one. */
function withoutRepeated(page: readonly AgUiEvent[]): readonly AgUiEvent[] {
  const isSnapshot = (event: AgUiEvent | undefined) => event?.type === 'MESSAGES_SNAPSHOT';
  return page.filter((event, n) => !(isSnapshot(event) && isSnapshot(page[n + 1])));
}

async function toFrame(run: AgUiRun, event: AgUiEvent): Promise<object> {
  const { threadId, runId, nameOf, ids } = run;
  switch (event.type) {
    case 'MESSAGES_SNAPSHOT': {
      const stored = await messagesUpTo(run, event.upTo);
      return { type: event.type, messages: [...stored, ...(event.queued ?? [])] };
    }
    case 'TOOL_CALL_START':
      return { ...event, toolCallName: nameOf(event.toolCallName) };
    case 'TOOL_CALL_RESULT':
      return { ...event, messageId: ids.ofResult(event.messageId, event.toolCallId) };
    case 'RUN_FINISHED':
      return { ...event, threadId, runId };
    default:
      return event;
  }
}
