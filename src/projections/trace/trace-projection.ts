/**
 * Projects a thread's log to OpenTelemetry's spans: `invoke_agent` for an execution, and within it `chat` for each
 * request to a model and `execute_tool` for each body of a call.
 * - A span is given when its end is a row, with the times of the rows. None is open anywhere: work of a process that
 *   died ends with the row that says so.
 * - The same rows give the same spans, ids included.
 */
import type { EventData, EventKind, ThreadEventOf } from '../../core/event/thread-event.ts';
import { GEN_AI, OWN, providerName, type SpanAttributes } from './conventions.ts';
import {
  executionKey,
  type OpenCall,
  type OpenExecution,
  type SpanPlace,
  type TraceRow,
  type TraceSpan,
  type TraceState,
  toolKey,
  traceOf,
} from './trace-state.ts';

/** `factoryOf`: the name of the factory of a model's provider. */
export interface TraceProject {
  factoryOf(model: string): string | undefined;
}

type Transition = readonly [OpenExecution | null, readonly TraceSpan[]];

type Handlers = {
  readonly [Kind in EventKind]?: (
    execution: OpenExecution,
    event: ThreadEventOf<Kind>,
    more: TraceRow & { readonly threadId: string; readonly project: TraceProject },
  ) => Transition;
};

export function projectSpans(
  state: TraceState,
  row: TraceRow,
  project: TraceProject,
): readonly [TraceState, readonly TraceSpan[]] {
  const { event } = row;
  const { threadId, execution } = state;
  if (event.type === 'execution.started')
    return [{ threadId, execution: beginExecution(threadId, event, row) }, []];
  const handler = HANDLERS[event.type] as Handlers['tool.started'] | undefined;
  if (!execution || !handler) return [state, []];
  const [next, spans] = handler(execution, event as never, { ...row, threadId, project });
  return [{ threadId, execution: next }, spans];
}

/** Kinds of rows after which a span may be given. */
export const ENDING_KINDS: ReadonlySet<EventKind> = new Set<EventKind>([
  'step.committed',
  'step.failed',
  'step.retried',
  'model.failed',
  'tool.result',
  'tool.unknown',
  'execution.ended',
  'thread.terminated',
]);

function beginExecution(
  threadId: string,
  { at, data: { executionId } }: ThreadEventOf<'execution.started'>,
  { execution: known }: TraceRow,
): OpenExecution {
  const { agent = 'unknown', traceId, sessionId, userId, calledBy } = known ?? {};
  const caller = calledBy && { trace: calledBy.trace, key: toolKey(calledBy) };
  const joins = calledBy?.blocking === true;
  const trace = joins ? calledBy.trace : traceOf(threadId, executionId, traceId);
  return {
    id: executionId,
    agent,
    place: { trace, key: executionKey(threadId, executionId) },
    parent: joins && caller ? caller : null,
    links: caller && !joins ? [caller] : [],
    startedAt: at,
    shared: {
      [GEN_AI.conversation]: threadId,
      [GEN_AI.agent]: agent,
      [OWN.execution]: executionId,
      ...(sessionId ? { [GEN_AI.session]: sessionId } : {}),
      ...(userId ? { [GEN_AI.user]: userId } : {}),
    },
    input: 0,
    output: 0,
    open: {},
    around: {},
    begun: {},
    compacted: [],
  };
}

const HANDLERS: Handlers = {
  'step.started': (run, { step, data: { parentStep, callId } }, { threadId }) => {
    if (step === undefined || parentStep === undefined || callId === undefined) return [run, []];
    const base = toolKey({ threadId, executionId: run.id, step: parentStep, callId }, 0);
    const attempt = run.begun[base] ?? 1;
    const key = toolKey({ threadId, executionId: run.id, step: parentStep, callId }, attempt);
    return [{ ...run, around: { ...run.around, [step]: { trace: run.place.trace, key } } }, []];
  },
  'context.compacted': (run, { step }) => [
    step === undefined ? run : { ...run, compacted: [...run.compacted, step] },
    [],
  ],
  'model.called': (run, { at, step = 0, attempt = 0, data }, { threadId, project }) => {
    const { model, modelId, call } = data;
    const key = modelKey(threadId, run, { step, attempt, call });
    const factory = project.factoryOf(model);
    return [
      setOpen(run, key, {
        place: { trace: run.place.trace, key },
        parent: parentOf(run, step),
        name: `chat ${modelId}`,
        startedAt: at,
        attributes: {
          ...run.shared,
          [GEN_AI.operation]: 'chat',
          [GEN_AI.requestModel]: modelId,
          [GEN_AI.provider]: providerName(factory ?? ''),
          [OWN.step]: step,
          [OWN.attempt]: attempt,
          ...(run.compacted.includes(step) ? { [GEN_AI.compacted]: true } : {}),
        },
      }),
      [],
    ];
  },
  'model.answered': (run, { at, step = 0, attempt = 0, data }, { threadId, firstChunk }) => {
    const key = modelKey(threadId, run, { step, attempt, call: data.call });
    const open = run.open[key];
    if (!open) return [run, []];
    const answered = { at, attributes: answerAttributes(data, firstChunk) };
    const { promptTokens = 0, completionTokens = 0 } = data.usage ?? {};
    const sums = { input: run.input + promptTokens, output: run.output + completionTokens };
    return [{ ...setOpen(run, key, { ...open, answered }), ...sums }, []];
  },
  'model.failed': (run, { at, step = 0, attempt = 0, data }, { threadId }) =>
    end(run, [modelKey(threadId, run, { step, attempt, call: data.call })], {
      at,
      error: data.code ?? 'unknown',
    }),
  'step.committed': (run, { at, step = 0, data: { finishReason } }, { threadId }) =>
    end(run, requestsOf(threadId, run, step), { at, finishReason, error: 'WorkerLost' }),
  'step.failed': (run, { at, step = 0, data: { code } }, { threadId }) =>
    end(run, requestsOf(threadId, run, step), { at, error: code ?? 'unknown' }),
  'step.retried': (run, { at, step = 0, data: { handedOver } }, { threadId }) =>
    end(run, requestsOf(threadId, run, step), { at, error: handedOver ? 'WorkerShutdown' : 'WorkerLost' }),
  'tool.started': (run, { at, step = 0, data: { name, callId } }, { threadId }) => {
    const call = { threadId, executionId: run.id, step, callId };
    const base = toolKey(call, 0);
    const before = run.begun[base] ?? 0;
    // A body that begins again: the worker of the one before was lost, or the body had asked and got its answer.
    const [left, spans] = end(run, [toolKey(call, before)], { at, error: 'WorkerLost' });
    const rest = left ?? run;
    const key = toolKey(call, before + 1);
    const open: OpenCall = {
      place: { trace: run.place.trace, key },
      parent: parentOf(run, step),
      name: `execute_tool ${name}`,
      startedAt: at,
      attributes: {
        ...run.shared,
        [GEN_AI.operation]: 'execute_tool',
        [GEN_AI.toolName]: name,
        [GEN_AI.toolType]: 'function',
        [GEN_AI.toolCall]: callId,
        [OWN.step]: step,
        ...(before > 0 ? { [OWN.attempt]: before + 1 } : {}),
      },
    };
    return [setOpen({ ...rest, begun: { ...rest.begun, [base]: before + 1 } }, key, open), spans];
  },
  'tool.result': (run, { at, step = 0, data: { callId, status } }, { threadId }) =>
    endTool(
      run,
      { threadId, executionId: run.id, step, callId },
      at,
      status === 'error' ? 'ToolError' : undefined,
    ),
  'tool.unknown': (run, { at, step = 0, data: { callId } }, { threadId }) =>
    endTool(run, { threadId, executionId: run.id, step, callId }, at, 'WorkerLost'),
  'execution.ended': (run, { at, data: { reason, status, error } }) =>
    endExecution(run, at, { reason, ...(status === 'failed' ? { error: error?.code ?? reason } : {}) }),
  'thread.terminated': (run, { at }) => endExecution(run, at, { reason: 'terminated' }),
};

function endTool(
  run: OpenExecution,
  call: Parameters<typeof toolKey>[0],
  at: number,
  error: string | undefined,
): Transition {
  return end(run, [toolKey(call, run.begun[toolKey(call, 0)] ?? 1)], { at, ...(error ? { error } : {}) });
}

function endExecution(
  run: OpenExecution,
  at: number,
  { reason, error }: { readonly reason: string; readonly error?: string },
): Transition {
  const [, spans] = end(run, Object.keys(run.open), { at, error: error ?? reason });
  const whole: TraceSpan = {
    ...run.place,
    parent: run.parent,
    links: run.links,
    name: `invoke_agent ${run.agent}`,
    kind: 'internal',
    startedAt: run.startedAt,
    endedAt: Math.max(run.startedAt, at),
    attributes: {
      ...run.shared,
      [GEN_AI.operation]: 'invoke_agent',
      [GEN_AI.inputTokens]: run.input,
      [GEN_AI.outputTokens]: run.output,
      [OWN.stopReason]: reason,
      ...(error ? { [GEN_AI.error]: error } : {}),
    },
    ...(error ? { error } : {}),
  };
  return [null, [...spans, whole]];
}

interface CallEnd {
  readonly at: number;
  /** The one of the step's answer. */
  readonly finishReason?: string;
  /** What ended the work, unless it has its answer. */
  readonly error?: string;
}

/** Ends the open requests and calls of these keys. */
function end(run: OpenExecution, keys: readonly string[], ended: CallEnd): Transition {
  const found = keys.filter((key) => run.open[key]);
  if (found.length === 0) return [run, []];
  const open = Object.fromEntries(Object.entries(run.open).filter(([key]) => !found.includes(key)));
  // Only the last request of a step gave its answer.
  const spans = found.map((key, n) => toSpan(run.open[key] as OpenCall, ended, n === found.length - 1));
  return [{ ...run, open }, spans];
}

function toSpan(
  { place, parent, name, startedAt, attributes, answered }: OpenCall,
  { at, finishReason, error }: CallEnd,
  last: boolean,
): TraceSpan {
  const failure = answered ? undefined : error;
  return {
    ...place,
    parent,
    links: [],
    name,
    kind: name.startsWith('chat ') ? 'client' : 'internal',
    startedAt,
    endedAt: Math.max(startedAt, answered?.at ?? at),
    attributes: {
      ...attributes,
      ...answered?.attributes,
      ...(answered && finishReason && last ? { [GEN_AI.finishReasons]: [finishReason] } : {}),
      ...(failure ? { [GEN_AI.error]: failure } : {}),
    },
    ...(failure ? { error: failure } : {}),
  };
}

function answerAttributes(
  { usage, cost }: EventData['model.answered'],
  firstChunk: number | undefined,
): SpanAttributes {
  const parts: Readonly<Record<string, number | null | undefined>> = {
    [GEN_AI.inputTokens]: usage?.promptTokens,
    [GEN_AI.outputTokens]: usage?.completionTokens,
    [GEN_AI.cacheRead]: usage?.cachedTokens,
    [GEN_AI.cacheWrite]: usage?.cacheWriteTokens,
    [GEN_AI.reasoning]: usage?.reasoningTokens,
    [GEN_AI.firstChunk]: firstChunk,
    [OWN.cost]: cost,
  };
  return Object.fromEntries(
    Object.entries(parts).flatMap(([name, value]) => (typeof value === 'number' ? [[name, value]] : [])),
  );
}

const setOpen = (run: OpenExecution, key: string, call: OpenCall): OpenExecution => ({
  ...run,
  open: { ...run.open, [key]: call },
});

/** What a step belongs to: the call around it, else the execution. */
const parentOf = (run: OpenExecution, step: number): SpanPlace => run.around[step] ?? run.place;

const modelKey = (
  threadId: string,
  { id }: OpenExecution,
  { step, attempt, call }: { readonly step: number; readonly attempt: number; readonly call: number },
): string => JSON.stringify([threadId, id, step, attempt, call]);

/** Keys of the open requests of a step, in their order. */
function requestsOf(threadId: string, run: OpenExecution, step: number): readonly string[] {
  const begin = `${JSON.stringify([threadId, run.id, step]).slice(0, -1)},`;
  return Object.keys(run.open).filter((key) => key.startsWith(begin) && !key.startsWith(`${begin}"`));
}
