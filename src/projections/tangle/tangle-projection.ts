/**
 * Projects the log as events of Tangle's agent-runtime. It may begin at the start of any execution.
 * - An execution begins with `execution.started` and ends with `execution.completed` or `execution.failed`.
 * - Nothing that happens between executions is emitted.
 * - An execution whose turn had to be kept, and was not, has failed for its readers.
 * - Lines of code that produces an execution are emitted unchanged, between its first and its last event.
 * - The pieces after the last `message.started` or `message.discarded` are exactly the stored answer.
 */
import type { EventData } from '../../core/event/event-data.ts';
import type { EventKind, ThreadEvent, ThreadEventOf } from '../../core/event/thread-event.ts';
import { TURN_BEGUN, TURN_KEPT } from '../../core/thread/turn-mark.ts';
import { parseRecord } from '../../core/value/record.ts';
import type { Projection } from '../projection.ts';
import { argumentsOf, toRowMessage } from '../row-message.ts';
import type { TangleEvent } from './tangle-event.ts';
import { type OpenExecution, openExecution, type TangleReading } from './tangle-state.ts';

type ExecutionTransition = readonly [OpenExecution, readonly TangleEvent[]];

type Handlers = {
  readonly [Kind in EventKind]?: (open: OpenExecution, event: ThreadEventOf<Kind>) => ExecutionTransition;
};

const HANDLERS: Handlers = {
  'step.started': (open, { data: { depth } }) => {
    if (depth !== undefined) return [open, []];
    const round = open.round + 1;
    return [{ ...open, round, text: '' }, [{ type: 'message.started', data: { round } }]];
  },
  // Text of a sub-prompt is no answer to the user.
  'model.chunk': (open, { data: { delta, depth } }) =>
    depth === undefined && delta !== ''
      ? [{ ...open, text: open.text + delta }, [textDelta(delta)]]
      : [open, []],
  'attempt.discarded': (open, { data: { reason, depth } }) =>
    depth === undefined
      ? [{ ...open, text: '' }, [{ type: 'message.discarded', data: { reason } }]]
      : [open, []],
  'step.committed': (open, { data: { messageId, depth } }) => {
    if (depth !== undefined) return [open, []];
    const content = (open.said?.id === messageId ? open.said.content : null) ?? '';
    return [{ ...open, text: '', answer: content || open.answer }, missingText(open.text, content)];
  },
  'model.called': (open, { data: { model } }) => {
    const { model: before, failure } = open;
    const next = { ...open, model, failure: null };
    if (before === null || failure === null || before === model) return [next, []];
    return [next, [{ type: 'model.fallback', data: { fromModel: before, toModel: model, reason: failure } }]];
  },
  'model.failed': (open, { data: { message, code, statusCode } }) => [
    { ...open, failure: message ?? code ?? String(statusCode ?? 'failed') },
    [],
  ],
  'model.answered': (open, { data: { usage, cost } }) => [
    { ...open, failure: null },
    [{ type: 'llm_call', data: { model: open.model ?? '', ...toLedger(usage, cost) } }],
  ],
  'tool.called': (open, { data: { name, callId } }) => {
    const { [callId]: given = '{}', ...left } = open.arguments;
    const next = { ...open, arguments: left, calls: { ...open.calls, [callId]: name } };
    const args = parseRecord(given) ?? {};
    return [next, [{ type: 'tool_call', data: { toolName: name, toolCallId: callId, args } }]];
  },
  'tool.result': (open, { data: { callId, status } }) => finishCall(open, callId, status === 'error'),
  'tool.unknown': (open, { data: { callId } }) => finishCall(open, callId, true),
  'tool.removed': (open, { data: { callId } }) => [removeCall(open, callId), []],
  'file.created': (open, { data }) => [open, [toArtifactEvent(data)]],
  'file.updated': (open, { data }) => [open, [toArtifactEvent(data)]],
  'wait.opened': (open, { data: { waitId, kind, name, summary: question, callId } }) => [
    { ...open, waits: [...open.waits, waitId] },
    [
      {
        type: 'input.required',
        data: { waitId, kind, name, question, ...(callId === undefined ? {} : { toolCallId: callId }) },
      },
    ],
  ],
  'wait.answered': (open, { data: { waitId } }) => closeWait(open, waitId),
  'wait.closed': (open, { data: { waitId } }) => closeWait(open, waitId),
  'value.changed': (open, { data: { key } }) => {
    if (key === TURN_BEGUN) return [{ ...open, keeping: 'begun', notKept: null }, []];
    return [key === TURN_KEPT ? { ...open, keeping: 'kept' } : open, []];
  },
  'hook.failed': (open, { data: { hook, error } }) => [
    hook === 'on_agent_end' && open.keeping === 'begun' ? { ...open, notKept: error } : open,
    [],
  ],
};

export const projectTangle: Projection<TangleReading, TangleEvent> = (reading, row) => {
  const { event, message } = row;
  const { open, sessionId } = reading;
  if (event.type === 'execution.started') {
    const { executionId, produced } = event.data;
    const began = { type: 'execution.started', data: { executionId, sessionId } } as const;
    return [{ ...reading, open: openExecution(executionId, produced) }, [began]];
  }
  if (!open) return [reading, []];
  if (event.type === 'execution.ended') return [{ ...reading, open: null }, endOf(open, event.data)];
  if (event.type === 'thread.terminated')
    return [
      { ...reading, open: null },
      endOf(open, {
        executionId: open.executionId,
        reason: event.data.reason ?? 'terminated',
        status: 'stopped',
      }),
    ];
  if (event.type === 'message.created') {
    const said = toRowMessage(event.data.messageId, message);
    const known = { ...open, said, arguments: { ...open.arguments, ...argumentsOf(message) } };
    return [{ ...reading, open: known }, []];
  }
  const [next, events] = open.produced ? handleProduced(open, event) : handle(open, event);
  return [{ ...reading, open: next }, events];
};

/** Emits only the producer's lines, unchanged; the producer alone is responsible for their content. */
function handleProduced(open: OpenExecution, event: ThreadEvent): ExecutionTransition {
  if (event.type === 'produced.line') return [open, [event.data as TangleEvent]];
  const [next] = handle(open, event);
  return [next, []];
}

function handle(open: OpenExecution, event: ThreadEvent): ExecutionTransition {
  // The handler is looked up by the type of the event, so the cast is safe.
  const handler = HANDLERS[event.type] as
    | ((open: OpenExecution, event: ThreadEvent) => ExecutionTransition)
    | undefined;
  return handler ? handler(open, event) : [open, []];
}

/** The last events. T3: a turn that was not kept has failed. */
function endOf(open: OpenExecution, end: EventData['execution.ended']): readonly TangleEvent[] {
  const { executionId, keeping, notKept, answer, produced } = open;
  const { status = 'idle', reason, error, cancelReason } = end;
  if (status === 'idle' && keeping === 'begun')
    return failureEvents(executionId, 'failed', notKept ?? 'The turn could not be stored.', 'TurnNotKept');
  // The result is one of the producer's lines.
  if (status === 'idle' && produced) return [{ type: 'execution.completed', data: { executionId } }];
  if (status === 'idle')
    return [
      { type: 'result', data: { finalText: answer } },
      { type: 'execution.completed', data: { executionId } },
    ];
  const message = error?.message ?? cancelReason ?? reason;
  return failureEvents(
    executionId,
    status === 'failed' ? 'failed' : 'stopped',
    message,
    error?.code ?? reason,
  );
}

function failureEvents(
  executionId: string,
  status: 'failed' | 'stopped',
  message: string,
  code: string,
): readonly TangleEvent[] {
  return [
    { type: 'error', data: { message, code } },
    { type: 'execution.failed', data: { executionId, message, status } },
  ];
}

function textDelta(delta: string): TangleEvent {
  return { type: 'message.part.updated', data: { delta, part: { type: 'text' } } };
}

/**
 * Emits the missing rest of the text, or all of it if the stored text differs from the streamed one. That is so if
 * the model does not stream, if a piece was lost, if an attempt has answered although it was discarded, or if a hook
 * has changed the answer.
 */
function missingText(streamed: string, stored: string): readonly TangleEvent[] {
  if (stored === streamed) return [];
  if (stored.startsWith(streamed)) return [textDelta(stored.slice(streamed.length))];
  const discarded = { type: 'message.discarded', data: { reason: 'Replaced' } } as const;
  return stored === '' ? [discarded] : [discarded, textDelta(stored)];
}

function finishCall(open: OpenExecution, callId: string, isError: boolean): ExecutionTransition {
  const toolName = open.calls[callId];
  if (toolName === undefined) return [open, []];
  const data = { toolName, toolCallId: callId, result: open.said?.content ?? '', isError };
  return [removeCall(open, callId), [{ type: 'tool_result', data }]];
}

function removeCall(open: OpenExecution, callId: string): OpenExecution {
  const { [callId]: _, ...calls } = open.calls;
  return { ...open, calls };
}

function closeWait(open: OpenExecution, waitId: string): ExecutionTransition {
  if (!open.waits.includes(waitId)) return [open, []];
  const waits = open.waits.filter((id) => id !== waitId);
  return [{ ...open, waits }, [{ type: 'input.closed', data: { waitId } }]];
}

function toArtifactEvent({ path, mimeType, size }: EventData['file.created']): TangleEvent {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return { type: 'artifact', data: { artifactId: path, name, mimeType, size } };
}

function toLedger(usage: EventData['model.answered']['usage'], cost: number | null) {
  return {
    ...(usage && { tokensIn: usage.promptTokens, tokensOut: usage.completionTokens }),
    ...(cost === null ? {} : { costUsd: cost }),
  };
}
