/** Steps and model requests, as events of the page's model loop. */
import { attemptOf } from '../../core/context/summary.ts';
import type { ThreadEvent } from '../../core/event/thread-event.ts';
import type { ProviderUsage } from '../../core/message/provider.ts';
import { usageOf } from '../../core/thread/producer.ts';
import { findRequest } from '../trace/trace-state.ts';
import { llmStream, type RunEventDraft, shortText } from './run-event.ts';
import type { Fields, RunHandlers, RunTransition } from './run-handler.ts';
import { toManifest } from './run-manifest.ts';
import type { OpenRun } from './run-state.ts';

function toMetrics(usage: ProviderUsage | null | undefined, cost: number | null, latencyMs: number | null) {
  return {
    input_tokens: usage?.promptTokens ?? null,
    output_tokens: usage?.completionTokens ?? null,
    total_tokens: usage?.totalTokens ?? null,
    cost,
    latency_ms: latencyMs,
  };
}

function summarise(usage: ProviderUsage | null | undefined): string {
  return usage ? `${usage.promptTokens} + ${usage.completionTokens} tokens` : 'No usage was reported';
}

/** Emits the last answer as final, of the run or of a turn in it, if no call followed it. */
export function emitFinalAnswer(run: OpenRun): readonly [OpenRun, readonly RunEventDraft[]] {
  const { answer } = run;
  if (!answer) return [run, []];
  const content = answer.content ?? '';
  const summary = shortText(content);
  const artifact = { id: answer.messageId, kind: 'result', parts: [{ type: 'text', content }] };
  return [
    { ...run, answer: null, artifacts: [...run.artifacts, artifact] },
    [
      llmStream('llm_action', { step: answer.step, action: { type: 'final', content } }, { summary }),
      llmStream('llm_final', { step: answer.step, content }, { summary }),
      { type: 'task.artifact', payload: { artifact }, summary },
    ],
  ];
}

export const MODEL_HANDLERS: RunHandlers = {
  'step.started': (run, { step, data: { depth, prompt, side } }) => {
    const [settled, before] = depth === undefined ? emitFinalAnswer(run) : [run, []];
    const within = { ...(depth === undefined ? {} : { depth, prompt }), ...(side ? { side } : {}) };
    return [settled, [...before, llmStream('llm_step', { step, ...within }, { summary: `Step ${step}` })]];
  },
  'step.retried': (run, { step, data: { reason: message, handedOver, cause } }) => {
    // Older rows have no cause.
    const reason = cause ?? (handedOver ? 'worker_shutdown' : 'worker_lost');
    return [run, [llmStream('llm_retry', { step, reason, message }, RETRIES[reason])]];
  },
  'step.failed': (run, { data: { code, message } }) => [
    run,
    [
      {
        type: 'task.error',
        payload: { error_code: code, error_message: message, recoverable: false },
        severity: 'error',
        summary: shortText(message),
      },
    ],
  ],
  'context.trimmed': (run, { data }) => [run, [llmStream('context_trimmed', data)]],
  'model.called': (run, event) => {
    const { model, modelId, call, purpose } = event.data;
    return [
      run,
      [
        {
          type: 'llm.call.started',
          payload: {
            model,
            model_id: modelId,
            attempt: attemptOf(call),
            worker_attempt: event.attempt ?? 1,
            ...(purpose && { purpose }),
          },
          summary: `Asking ${model}`,
        },
      ],
    ];
  },
  // Exactly one event per row, whatever it holds, because a removed row counts as one.
  'model.chunk': (run, { step, data: { delta, call, depth } }) => [
    run,
    delta === ''
      ? []
      : [llmStream('llm_chunk', { step, attempt: call, content: delta, ...(depth ? { depth } : {}) })],
  ],
  'model.answered': (run, event) => {
    const { call, usage, cost } = event.data;
    const open = findRequest(run.spans, event, call);
    const latency = open ? (event.at - open.startedAt) / 1000 : null;
    const metrics = toMetrics(usage, cost, latency);
    const summary = summarise(usage);
    return [
      run,
      [
        llmStream('llm_call_metrics', { step: event.step, metrics }, { summary }),
        {
          type: 'llm.call.completed',
          payload: { attempts: attemptOf(call), latency_ms: latency, metrics },
          summary: 'The model has answered',
        },
      ],
    ];
  },
  // Code of another process has asked a model itself, and reports the usage.
  'produced.line': (run, { data }) => {
    if (data.type !== 'llm_call') return [run, []];
    const { calls: _, cost = null, ...usage } = usageOf([data]);
    const metrics = toMetrics(usage, cost, null);
    return [run, [llmStream('llm_call_metrics', { metrics }, { summary: summarise(usage) })]];
  },
  'model.failed': (run, { step, data }) => {
    const again = data.retryInMs !== undefined || data.plain === true;
    const { code, message, call, ...more } = data;
    const payload = { step, attempt: attemptOf(call), reason: code ?? 'unknown', message, ...more };
    const kind = again ? 'llm_retry' : 'llm_error';
    return [
      run,
      [
        llmStream(kind, payload, {
          severity: again ? 'warning' : 'error',
          summary: shortText(message ?? kind),
        }),
      ],
    ];
  },
  'model.waiting': (run, { step, data: { call, depth } }) => [
    run,
    [llmStream('llm_waiting', { step, attempt: call, ...(depth ? { depth } : {}) }, WAITING)],
  ],
  'attempt.discarded': (run, { step, data: { attempt, call, reason, depth } }) => [
    run,
    [
      llmStream(
        'llm_discarded',
        { step, attempt: call, worker_attempt: attempt, reason, ...(depth ? { depth } : {}) },
        DISCARDED,
      ),
    ],
  ],
  'step.committed': (run, { step = null, data }) => {
    const { messageId, model, finishReason, depth } = data;
    const content = run.said?.id === messageId ? run.said.content : null;
    const said = { step, model, finish_reason: finishReason, message_id: messageId, content };
    const responseEvent = llmStream(
      'llm_response',
      { ...said, ...(depth ? { depth } : {}) },
      answerSummary(content),
    );
    return [depth ? run : { ...run, answer: { messageId, content, step } }, [responseEvent]];
  },
};

/** Rows about the context of a request. `context.prepared` exists only if a context, policy or budget is in use. */
export const CONTEXT_HANDLERS: Readonly<
  Record<string, (run: OpenRun, data: Fields, event: ThreadEvent) => RunTransition>
> = {
  'context.prepared': (run, data, { step, at }) => {
    const manifest = toManifest(run, data, at);
    const summary = `About ${data.totalEstimatedTokens} tokens`;
    return [
      run,
      [
        { type: 'context.prepared', payload: { manifest }, summary },
        llmStream('llm_context', { step, manifest }),
      ],
    ];
  },
  'context.compacted': (run, data) => [run, [llmStream('context_compacted', data)]],
};

const RETRIES = {
  worker_lost: { severity: 'warning', summary: 'Another attempt: the worker was lost' },
  worker_shutdown: { summary: 'Another attempt: the worker has shut down' },
  budget: { summary: 'Another attempt: the wait for the budget is over' },
} as const;
const WAITING = { summary: 'No answer has begun yet' } as const;
const DISCARDED = { severity: 'warning', summary: 'The streamed text is void' } as const;
const answerSummary = (content: string | null) => (content ? { summary: shortText(content) } : {});
