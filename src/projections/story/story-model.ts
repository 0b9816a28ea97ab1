/** Steps, their requests to models, and what became of the history on the way. */
import type { EventData, EventKind, ThreadEventOf } from '../../core/event/thread-event.ts';
import type { ProviderUsage } from '../../core/message/provider.ts';
import { escapeControls } from '../../core/value/shown-text.ts';
import { type StoryHandlers, type StoryTransition, type Told, tell } from './story-handler.ts';
import { type OpenStep, type Story, without } from './story-state.ts';
import {
  because,
  count,
  counted,
  cut,
  dollars,
  duration,
  elapsed,
  queued,
  quote,
  stepName,
} from './words.ts';

type ModelKind = Extract<
  EventKind,
  | `step.${string}`
  | 'output.rejected'
  | `context.${string}`
  | `model.${string}`
  | 'attempt.discarded'
  | 'execution.aborted'
>;

export const MODEL_STORY: StoryHandlers<ModelKind> = {
  'step.started': beginStep,
  'step.retried': (story, event) => [story, [toRetry(event)]],
  'step.committed': finishStep,
  'output.rejected': tell('retry', ({ problems, last }, { step }) => {
    const then = last ? 'It is not asked for again.' : 'It is asked for again.';
    return `The answer of step ${step} does not fit its type: ${cut(problems, 300)}. ${then}`;
  }),
  'step.failed': (story, { step, data: { code, message } }) => [
    forget(story, step),
    [{ kind: 'error', line: `${stepName(step)} failed (${code})${because(message)}` }],
  ],
  'execution.aborted': (story, { step, data: { keptText } }) => [
    forget(story, step),
    [
      {
        kind: 'step',
        line: `${stepName(step)} was stopped; ${keptText ? 'its text so far is kept' : 'it has no answer'}.`,
      },
    ],
  ],

  'context.trimmed': tell('trim', ({ messages, room, assumed, model }, { step }) => {
    const left = `${counted(messages, 'older message')} ${messages === 1 ? 'was' : 'were'} left out of the request of step ${step}`;
    if (model !== undefined) return `${left}: the window of ${quote(model)} has no room for more.`;
    if (room === undefined) return `${left}: the window of the model has no room for more.`;
    const tokens = `about ${count(room)} tokens`;
    return assumed
      ? `${left}: no model declares its window (maxContextTokens), so ${tokens} are assumed.`
      : `${left}: the window of the model has room for ${tokens} of messages.`;
  }),
  'context.undercounted': tell(
    'trim',
    ({ model, estimated, counted: seen }) =>
      `The provider of ${quote(model)} counted ${count(seen)} tokens of a request of about ${count(estimated)}: it may leave out a part of long requests.`,
  ),
  'context.compacted': tell('compaction', (data) => {
    const snippet = data.fallback
      ? ` It is an excerpt: ${data.because ? SNIPPETS[data.because] : 'no model has written it'}.`
      : '';
    return `A summary replaces ${counted(data.messages, 'older message')}: ${excessOf(data)}.${snippet}`;
  }),
  'context.prepared': null,

  'model.called': askModel,
  'model.chunk': (story, { step, data: { delta, call, depth } }) => {
    // Sub-prompts answer a call: their text is its result.
    if (delta === '' || depth) return [story, []];
    const { side } = open(story, step);
    return [story, [{ kind: 'text', line: escapeControls(delta), data: { call, ...(side && { side }) } }]];
  },
  'model.answered': (story, { step, at, data: { usage, cost } }) => {
    const answered = { at, usage, cost };
    return [note(story, step, { answered }), []];
  },
  'model.failed': (story, { step, data }) => [story, [toFailure(data, open(story, step).model)]],
  'model.waiting': (story, { step, data: { afterMs } }) => {
    const model = open(story, step).model;
    const after = afterMs === undefined ? 'yet' : `after ${duration(afterMs)}`;
    return [
      story,
      [
        {
          kind: 'wait',
          line: `${model === undefined ? 'The model' : quote(model)} has not begun to answer ${after}.`,
        },
      ],
    ];
  },
  'model.held': tell('limit', ({ model, retryInMs, refusals, by }) => {
    const why =
      by === 'concurrency'
        ? 'as many requests as its definition allows are running (concurrency)'
        : `its provider is busy${refusals > 0 ? ` and has refused ${counted(refusals, 'request')} of this step` : ''}`;
    return `${quote(model)} takes no request for now: ${why}. It is asked again in ${duration(retryInMs)}.`;
  }),
  'attempt.discarded': tell('retry', ({ reason, depth }, { step }) => {
    if (depth) return undefined;
    return reason === 'Removed'
      ? `The text of step ${step} follows again, as a whole.`
      : `What step ${step} has written so far is discarded: ${DISCARDS[reason] ?? `the request failed (${cut(reason, 64)})`}.`;
  }),
};

function open(story: Story, step: number | undefined): OpenStep {
  return (step === undefined ? undefined : story.steps[step]) ?? {};
}

function note(story: Story, step: number | undefined, more: OpenStep): Story {
  if (step === undefined) return story;
  return { ...story, steps: { ...story.steps, [step]: { ...open(story, step), ...more } } };
}

function forget(story: Story, step: number | undefined): Story {
  return step === undefined ? story : { ...story, steps: without(story.steps, step) };
}

function beginStep(story: Story, { step, data }: ThreadEventOf<'step.started'>): StoryTransition {
  const { side, prompt, parentStep, queuedMs } = data;
  const next = side === undefined ? story : note(story, step, { side });
  if (prompt !== undefined) {
    const line = `${stepName(step)} begins the sub-prompt ${quote(prompt)}, for a call of step ${parentStep}.`;
    return [next, [{ kind: 'step', line }]];
  }
  if (queuedMs === undefined) return [next, []];
  return [
    next,
    [{ kind: 'wait', line: `${stepName(step)} waited ${duration(queuedMs)} for a free worker.` }],
  ];
}

function toRetry({ step, attempt, data }: ThreadEventOf<'step.retried'>): Told {
  const { reason, cause, handedOver, queuedMs } = data;
  const begins = `${stepName(step)} begins again (attempt ${attempt})`;
  if (cause === 'budget') return { kind: 'budget', line: `${begins}: ${reason}.${queued(queuedMs)}` };
  const lost = handedOver
    ? 'its worker has shut down, and another one goes on'
    : 'its worker was lost. What was stored is kept, and an answer that was not complete is asked for again';
  return { kind: 'lost', line: `${begins}: ${lost}.${queued(queuedMs)}` };
}

function askModel(story: Story, { step, at, data }: ThreadEventOf<'model.called'>): StoryTransition {
  const { model, purpose, insteadOf, heldMs } = data;
  if (purpose !== undefined)
    return [
      story,
      [
        {
          kind: 'compaction',
          line: `${stepName(step)} asks the model ${quote(model)} for a summary of older messages.`,
        },
      ],
    ];
  const held = heldMs === undefined ? '' : `, after ${duration(heldMs)} in its line`;
  const asks = `${stepName(step)} asks the model ${quote(model)}`;
  const instead =
    insteadOf && ` instead of ${quote(insteadOf.model)}${insteadOf.code ? ` (${insteadOf.code})` : ''}`;
  const kind = insteadOf ? 'fallback' : heldMs === undefined ? 'step' : 'limit';
  return [note(story, step, { model, askedAt: at }), [{ kind, line: `${asks}${instead ?? ''}${held}.` }]];
}

function finishStep(story: Story, { step, data }: ThreadEventOf<'step.committed'>): StoryTransition {
  const { model, finishReason, droppedCalls } = data;
  const answered = `${toAnswer(stepName(step), data, open(story, step))}.${FINISHES[finishReason] ?? ''}`;
  const told: Told[] = [{ kind: 'step', line: answered }];
  if (droppedCalls !== undefined) {
    const dropped = `${counted(droppedCalls, 'call')} without a name ${droppedCalls === 1 ? 'was' : 'were'} dropped`;
    told.push({ kind: 'repair', line: `${dropped} from the answer of ${quote(model)}.` });
  }
  return [forget(story, step), told];
}

function toAnswer(
  step: string,
  { model, finishReason, usage }: EventData['step.committed'],
  { askedAt, answered }: OpenStep,
): string {
  if (finishReason === 'hook_blocked') return `${step} was blocked: a hook refused its request to the model`;
  if (finishReason === 'produced') return `${step} has the answer of code of another process`;
  const took = askedAt !== undefined && answered ? ` after ${elapsed(askedAt, answered.at)}` : '';
  const tokens = answered?.usage ?? usage;
  const cost = answered?.cost == null ? [] : [dollars(answered.cost)];
  const spent = [...(tokens ? [tokensOf(tokens)] : []), ...cost].join(', ');
  return `${step} is answered by ${quote(model)}${took}${spent === '' ? '' : `: ${spent}`}`;
}

function tokensOf({ promptTokens, completionTokens, cachedTokens = 0, estimated }: ProviderUsage): string {
  const cached = cachedTokens > 0 ? ` (${count(cachedTokens)} cached)` : '';
  return `${estimated ? 'about ' : ''}${count(promptTokens)} tokens in${cached}, ${count(completionTokens)} out`;
}

const DISCARDS: Readonly<Record<string, string>> = {
  WorkerLost: 'its worker was lost',
  WorkerShutdown: 'its worker has shut down',
  OutputRejected: 'the answer does not fit its type',
};

const FINISHES: Readonly<Record<string, string>> = {
  length: ' The answer was cut at its greatest length.',
  content_filter: ' A filter of the provider has cut the answer.',
};

function toFailure(data: EventData['model.failed'], model: string | undefined): Told {
  const { code, message, statusCode, fallback } = data;
  const what = [
    ...(code === undefined ? [] : [code]),
    ...(statusCode === undefined ? [] : [`HTTP ${statusCode}`]),
  ];
  const failed = `${model === undefined ? 'The model' : quote(model)} failed${what.length > 0 ? ` (${what.join(', ')})` : ''}`;
  const next = nextOf(data);
  const kind = fallback ? 'fallback' : next === undefined ? 'error' : 'retry';
  return { kind, line: `${failed}${because(message)}${next ?? ''}` };
}

/** Undefined if nothing more is tried. */
function nextOf(data: EventData['model.failed']): string | undefined {
  const { retryInMs, plain, withoutMetadata, withoutTool, withoutFormat, smaller, fallback } = data;
  if (smaller) return ' The request is sent again with less in it.';
  if (plain) return ' It is asked again at once, without streaming.';
  if (withoutTool !== undefined)
    return ` It is asked again without the tool ${quote(withoutTool)}, for the rest of the turn.`;
  if (withoutFormat)
    return ' It is asked for its tools and for the format of the answer apart, for the rest of the turn.';
  if (withoutMetadata) return ' It is asked again without the data that its provider had wanted back.';
  if (fallback) return ' The next model is asked.';
  if (retryInMs === undefined) return undefined;
  return retryInMs > 0 ? ` It is asked again in ${duration(retryInMs)}.` : ' It is asked again at once.';
}

const SNIPPETS: Readonly<Record<NonNullable<EventData['context.compacted']['because']>, string>> = {
  failed: 'the model that was asked for it failed',
  empty: 'the model that was asked for it returned no text',
  budget: 'the budget has no room for the request that would write it',
  edited: 'messages were changed while a model wrote it',
};

function excessOf({ reason, size, limit }: EventData['context.compacted']): string {
  if (reason === 'budget') return 'the policy of the budget asked for a shorter request';
  if (size === undefined || limit === undefined || size <= limit)
    return reason === 'window'
      ? 'not all of them fit the window of the model'
      : `there were too many ${reason}`;
  if (reason === 'window')
    return `the messages take about ${count(size)} tokens, and the window of the model has room for ${count(limit)}`;
  const unit = reason === 'chars' ? 'characters' : 'messages';
  return `there were ${count(size)} ${unit}, more than ${count(limit)}`;
}
