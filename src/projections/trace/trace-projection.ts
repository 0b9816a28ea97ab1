/**
 * Projects a thread's log to OpenTelemetry's spans: `invoke_agent` for an execution, and within it `chat` for each
 * request to a model and `execute_tool` for each body of a call.
 * - A span is given when its end is a row, with the times of the rows. None is open anywhere: work of a process that
 *   died ends with the row that says so.
 * - The same rows give the same spans, ids included.
 */
import type { EventData, EventKind, ThreadEvent, ThreadEventOf } from '../../core/event/thread-event.ts';
import { TRACE_PART, type TracedRow } from '../../core/event/traced-row.ts';
import { GEN_AI, OWN, providerName, type SpanAttributes } from './conventions.ts';
import {
  bodyKey,
  executionKey,
  type OpenCall,
  type OpenExecution,
  partKey,
  placeElsewhere,
  requestKey,
  type SpanPlace,
  type TraceSpan,
  type TraceState,
  toolKey,
  traceOf,
} from './trace-state.ts';

/** `factoryOf`: the name of the factory of a model's provider. `isMcp`: true for the tool of an MCP server. */
export interface TraceProject {
  factoryOf(model: string): string | undefined;
  isMcp?(tool: string): boolean;
}

type Transition<Next = OpenExecution> = readonly [Next, readonly TraceSpan[]];

type Handlers = {
  readonly [Kind in EventKind]?: (
    run: OpenExecution,
    event: ThreadEventOf<Kind>,
    more: TraceProject & Pick<TracedRow, 'firstChunk' | 'links'>,
  ) => Transition<OpenExecution | null>;
};

export function projectSpans(
  { threadId, execution }: TraceState,
  row: TracedRow,
  project: TraceProject,
): Transition<TraceState> {
  const { event, firstChunk, links } = row;
  if (event.type === 'execution.started')
    return [{ threadId, execution: beginExecution(threadId, event, row) }, []];
  // Streamed text may be removed: it must not count.
  if (!execution || event.type === 'model.chunk') return [{ threadId, execution }, []];
  const [run, ended] = isPartOver(execution, event) ? endPart(execution, event.at) : [execution, []];
  const handler = HANDLERS[event.type] as Handlers['tool.started'] | undefined;
  const [next, spans] = handler ? handler(run, event as never, { ...project, firstChunk, links }) : [run, []];
  const lastAt = Math.max(run.lastAt, event.at);
  return [
    { threadId, execution: next && { ...next, given: next.given + spans.length, lastAt } },
    [...ended, ...spans],
  ];
}

/** A part ends while nothing runs, before the row with which the work goes on. */
function isPartOver({ parts, open, given, lastAt }: OpenExecution, { at, type }: ThreadEvent): boolean {
  if (!parts || type === 'execution.ended' || type === 'thread.terminated') return false;
  const isDue = at - lastAt > TRACE_PART.waitUs || given >= TRACE_PART.spans;
  return isDue && Object.keys(open).length === 0;
}

/** Ends a part with the newest row before; the next one is a trace of its own. Each is linked to the other. */
function endPart(run: OpenExecution, at: number): Transition {
  const part = run.part + 1;
  const key = partKey(run, part);
  const place = { trace: key, key };
  const next = { ...run, part, place, parent: null, links: [run.place], startedAt: at };
  const whole = wholeSpan({ ...run, links: [...run.links, place] }, run.lastAt, { [OWN.part]: run.part });
  return [{ ...next, given: 0, input: 0, output: 0, around: {} }, [whole]];
}

/** Kinds of rows after which a span may be given. */
export const ENDING_KINDS: ReadonlySet<EventKind> = new Set<EventKind>([
  'step.committed',
  'output.rejected',
  'step.failed',
  'step.retried',
  'model.failed',
  'wait.opened',
  'tool.result',
  'tool.unknown',
  'execution.ended',
  'thread.terminated',
]);

function beginExecution(
  threadId: string,
  { at, data: { executionId } }: ThreadEventOf<'execution.started'>,
  { execution: known }: TracedRow,
): OpenExecution {
  const { agent = 'unknown', traceId, traceparent, sessionId, userId, calledBy } = known ?? {};
  const caller = calledBy && { trace: calledBy.trace ?? traceOf(calledBy.root), key: toolKey(calledBy) };
  const joins = calledBy?.blocking === true;
  const trace = joins && caller ? caller.trace : traceOf({ threadId, executionId, traceId, traceparent });
  const elsewhere = traceparent === undefined ? undefined : placeElsewhere(traceparent);
  return {
    threadId,
    executionId,
    agent,
    place: { trace, key: executionKey(threadId, executionId) },
    parent: joins && caller ? caller : (elsewhere ?? null),
    links: caller && !joins ? [caller] : [],
    startedAt: at,
    parts: known?.parts ?? true,
    part: 1,
    given: 0,
    lastAt: at,
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
    asked: {},
    compacted: [],
  };
}

const HANDLERS: Handlers = {
  'message.created': (run, { data: { messageId } }) => [{ ...run, said: messageId }, []],
  'tool.called': (run, { data: { callId } }) =>
    run.said === undefined ? [run, []] : [{ ...run, asked: { ...run.asked, [callId]: run.said } }, []],
  'step.started': (run, { step, data: { parentStep, callId } }) =>
    step === undefined || parentStep === undefined || callId === undefined
      ? [run, []]
      : [{ ...run, around: { ...run.around, [step]: bodyKey(run, parentStep, callId) } }, []],
  'context.compacted': (run, { step }) => [
    step === undefined ? run : { ...run, compacted: [...run.compacted, step] },
    [],
  ],
  'model.called': (run, { at, step = 0, attempt = 0, data: { model, modelId, call } }, { factoryOf }) => [
    begin(run, requestKey(run, { step, attempt, call }), {
      step,
      kind: 'client',
      name: `chat ${modelId}`,
      startedAt: at,
      attributes: {
        [GEN_AI.operation]: 'chat',
        [GEN_AI.requestModel]: modelId,
        [GEN_AI.provider]: providerName(factoryOf(model) ?? ''),
        [OWN.attempt]: attempt,
        ...(run.compacted.includes(step) ? { [GEN_AI.compacted]: true } : {}),
      },
      content: { threadId: run.threadId, request: `${step}.${attempt}.${call}` },
    }),
    [],
  ],
  'model.answered': (run, { at, step = 0, attempt = 0, data }, { firstChunk }) => {
    const key = requestKey(run, { step, attempt, call: data.call });
    const open = run.open[key];
    if (!open) return [run, []];
    const answered = { at, attributes: answerAttributes(data, firstChunk) };
    const { promptTokens = 0, completionTokens = 0 } = data.usage ?? {};
    const sums = { input: run.input + promptTokens, output: run.output + completionTokens };
    return [{ ...run, ...sums, open: { ...run.open, [key]: { ...open, answered } } }, []];
  },
  'model.failed': (run, { at, step = 0, attempt = 0, data: { call, code } }) =>
    end(run, [requestKey(run, { step, attempt, call })], { at, error: code ?? 'unknown' }),
  'step.committed': (run, { at, step = 0, data: { finishReason, messageId: answer } }) =>
    end(run, requestsOf(run, step), { at, finishReason, answer, error: 'WorkerLost' }),
  'output.rejected': (run, { at, step = 0, data: { finishReason } }) =>
    end(run, requestsOf(run, step), { at, finishReason, error: 'WorkerLost' }),
  'step.failed': (run, { at, step = 0, data: { code } }) =>
    end(run, requestsOf(run, step), { at, error: code ?? 'unknown' }),
  'step.retried': (run, { at, step = 0, data: { handedOver } }) =>
    end(run, requestsOf(run, step), { at, error: handedOver ? 'WorkerShutdown' : 'WorkerLost' }),
  'tool.started': (run, { at, step = 0, data: { name, callId } }, { isMcp }) => {
    // A body that begins again, and had asked nothing: the worker of the one before was lost.
    const [rest, spans] = end(run, [bodyKey(run, step, callId)], { at, error: 'WorkerLost' });
    const call = { ...run, step, callId };
    const any = toolKey(call, 0);
    const attempt = (run.begun[any] ?? 0) + 1;
    const open = begin(rest, toolKey(call, attempt), {
      step,
      kind: 'internal',
      name: `execute_tool ${name}`,
      startedAt: at,
      attributes: {
        [GEN_AI.operation]: 'execute_tool',
        [GEN_AI.toolName]: name,
        [GEN_AI.toolType]: 'function',
        [GEN_AI.toolCall]: callId,
        ...(isMcp?.(name) ? { [GEN_AI.mcpMethod]: 'tools/call' } : {}),
        ...(attempt > 1 ? { [OWN.attempt]: attempt } : {}),
      },
      content: { threadId: run.threadId, callId, asked: run.asked[callId] },
    });
    return [{ ...open, begun: { ...open.begun, [any]: attempt } }, spans];
  },
  // A body that asks ends; with the answer, another one begins.
  'wait.opened': (run, { at, step = 0, data: { callId, threadId } }) =>
    callId === undefined || threadId !== undefined
      ? [run, []]
      : end(run, [bodyKey(run, step, callId)], { at }),
  'tool.result': (run, { at, step = 0, data: { callId, status, endedAt = at } }) => {
    const { [callId]: _, ...asked } = run.asked;
    const error = status === 'error' ? 'ToolError' : undefined;
    return end({ ...run, asked }, [bodyKey(run, step, callId)], { at: endedAt, answer: run.said, error });
  },
  'tool.unknown': (run, { at, step = 0, data: { callId } }) =>
    end(run, [bodyKey(run, step, callId)], { at, error: 'WorkerLost' }),
  'execution.ended': (run, { at, data: { reason, status, error } }, { links = [] }) =>
    endExecution(withLinks(run, links), at, {
      reason,
      error: status === 'failed' ? (error?.code ?? reason) : undefined,
    }),
  'thread.terminated': (run, { at }) => endExecution(run, at, { reason: 'terminated' }),
};

function withLinks(run: OpenExecution, links: readonly string[]): OpenExecution {
  const places = links.flatMap((each) => placeElsewhere(each) ?? []);
  return { ...run, links: [...run.links, ...places] };
}

function endExecution(
  run: OpenExecution,
  at: number,
  { reason, error }: { readonly reason: string; readonly error?: string | undefined },
): Transition<null> {
  const [, spans] = end(run, Object.keys(run.open), { at, error: error ?? reason });
  const attributes = {
    [OWN.stopReason]: reason,
    ...(run.part > 1 ? { [OWN.part]: run.part } : {}),
    ...(error ? { [GEN_AI.error]: error } : {}),
  };
  return [null, [...spans, { ...wholeSpan(run, at, attributes), ...(error ? { error } : {}) }]];
}

/** The span of an execution, or of a part of it. */
function wholeSpan(run: OpenExecution, at: number, attributes: SpanAttributes): TraceSpan {
  return {
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
      ...attributes,
    },
  };
}

function begin(
  run: OpenExecution,
  key: string,
  { attributes, ...call }: Omit<OpenCall, 'parent'>,
): OpenExecution {
  const { step } = call;
  const open: OpenCall = {
    ...call,
    parent: run.around[step] ?? run.place.key,
    attributes: { ...run.shared, ...attributes, [OWN.step]: step },
  };
  return { ...run, open: { ...run.open, [key]: open } };
}

interface CallEnd {
  readonly at: number;
  /** The one of the step's answer. */
  readonly finishReason?: string | undefined;
  /** The message of the step's answer, or of the call's result. */
  readonly answer?: string | undefined;
  /** What ended the work, unless it has its answer. */
  readonly error?: string | undefined;
}

/** Ends the open requests and calls of these keys. */
function end(run: OpenExecution, keys: readonly string[], ended: CallEnd): Transition {
  const found = Object.entries(run.open).filter(([key]) => keys.includes(key));
  if (found.length === 0) return [run, []];
  const open = Object.fromEntries(Object.entries(run.open).filter(([key]) => !keys.includes(key)));
  // Only the last request of a step gave its answer.
  const spans = found.map(([key, call], n) => {
    const last = n === found.length - 1;
    const given = last ? ended : { ...ended, finishReason: undefined, answer: undefined };
    return toSpan({ trace: run.place.trace, key }, call, given);
  });
  return [{ ...run, open }, spans];
}

function toSpan(
  place: SpanPlace,
  { parent, name, kind, startedAt, attributes, content, answered }: OpenCall,
  { at, finishReason, answer, error }: CallEnd,
): TraceSpan {
  const failure = answered ? undefined : error;
  return {
    ...place,
    parent: { trace: place.trace, key: parent },
    links: [],
    name,
    kind,
    startedAt,
    endedAt: Math.max(startedAt, answered?.at ?? at),
    content: { ...content, answer, finishReason },
    attributes: {
      ...attributes,
      ...answered?.attributes,
      ...(answered && finishReason ? { [GEN_AI.finishReasons]: [finishReason] } : {}),
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

/**
 * The span that a row is about: of the request or the call that it names, or of the step's open one that it ends; else of the
 * execution. `run` is the state before the row.
 */
export function spanOf(run: OpenExecution, { type, step = 0, attempt = 0, data }: ThreadEvent): SpanKeys {
  const whole = { key: run.place.key, parent: run.parent?.key };
  const around = run.around[step] ?? run.place.key;
  const { callId } = data as { readonly callId?: string };
  if (callId !== undefined && type.startsWith('tool.'))
    return { key: bodyKey(run, step, callId), parent: around };
  if (!OF_REQUEST.has(type)) return whole;
  const { call, attempt: of = attempt } = data as { readonly call?: number; readonly attempt?: number };
  const key =
    call === undefined ? requestsOf(run, step).at(-1) : requestKey(run, { step, attempt: of, call });
  return key === undefined ? whole : { key, parent: around };
}

interface SpanKeys {
  readonly key: string;
  readonly parent: string | undefined;
}

/** Rows about a request to a model. */
const OF_REQUEST: ReadonlySet<EventKind> = new Set<EventKind>([
  'model.called',
  'model.chunk',
  'model.waiting',
  'model.answered',
  'model.failed',
  'attempt.discarded',
  'step.retried',
  'step.failed',
  'step.committed',
  'output.rejected',
]);

/** Keys of the open requests of a step, in their order. */
function requestsOf({ open }: OpenExecution, step: number): readonly string[] {
  return Object.keys(open).filter((key) => open[key]?.kind === 'client' && open[key]?.step === step);
}
