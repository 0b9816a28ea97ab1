/**
 * Streams a run of AG-UI as server-sent events.
 * R1. The first event is sent at acceptance, and the last one says how the run has ended. A stream without a last event
 *     was cut off.
 */
import { endAtWait } from '../../../projections/ag-ui/ag-ui-end.ts';
import type { AgUiEvent, SentMessage } from '../../../projections/ag-ui/ag-ui-event.ts';
import { enterRun, projectAgUi } from '../../../projections/ag-ui/ag-ui-projection.ts';
import { type AgUiReading, beginAgUi } from '../../../projections/ag-ui/ag-ui-state.ts';
import type { ResponseReader } from '../chat/response-reading.ts';
import type { GiveResult } from '../conversation/client-results.ts';
import { toPullStream, withPulse } from '../stream.ts';
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
  readonly signal: AbortSignal;
  readonly onClose: () => void;
  readonly keepAliveMs: number;
  readonly headers: Readonly<Record<string, string>>;
}

export function agUiResponse(run: AgUiRun): Response {
  return new Response(toPullStream(toFrames(run), run.onClose), {
    headers: {
      ...run.headers,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    },
  });
}

async function* toFrames(run: AgUiRun): AsyncGenerator<string> {
  const { threadId, runId, pages, signal, keepAliveMs } = run;
  // R1: at acceptance.
  yield frame({ type: 'RUN_STARTED', threadId, runId, protocolVersion: '1.0' });
  for await (const page of withPulse(pages, keepAliveMs, signal)) {
    if (page === 'pulse') yield ': keep-alive\n\n';
    else if (page.length > 0)
      yield (await Promise.all(withoutRepeated(page).map((event) => toFrame(run, event)))).join('');
  }
  if (!signal.aborted) return;
  const message = 'The run continues, but this stream of it has ended: run the agent again to read on.';
  yield frame({ type: 'RUN_ERROR', code: 'Timeout', message });
}

/** Drops a snapshot that is directly followed by another one. */
function withoutRepeated(page: readonly AgUiEvent[]): readonly AgUiEvent[] {
  const isSnapshot = (event: AgUiEvent | undefined) => event?.type === 'MESSAGES_SNAPSHOT';
  return page.filter((event, n) => !(isSnapshot(event) && isSnapshot(page[n + 1])));
}

async function toFrame(run: AgUiRun, event: AgUiEvent): Promise<string> {
  const { threadId, runId, nameOf, ids } = run;
  if (event.type === 'MESSAGES_SNAPSHOT')
    return frame({
      type: event.type,
      messages: [...(await messagesUpTo(run, event.upTo)), ...(event.queued ?? [])],
    });
  if (event.type === 'TOOL_CALL_START') return frame({ ...event, toolCallName: nameOf(event.toolCallName) });
  if (event.type === 'TOOL_CALL_RESULT')
    return frame({ ...event, messageId: ids.ofResult(event.messageId, event.toolCallId) });
  return frame(event.type === 'RUN_FINISHED' ? { ...event, threadId, runId } : event);
}

function frame(event: object): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}
