/**
 * What happens at once when a signal, update or query arrives. Handlers are synchronous, except that the update may wait for
 * the opening. Those of signals never throw: a bad payload must not fail a workflow task.
 * H1. Handlers get letters (letter.ts), several in a batch where they came together, and read them within bounds.
 * H2. Bounds that early versions did not have are enforced behind `patched`.
 */
import {
  ApplicationFailure,
  condition,
  defineSignal,
  defineUpdate,
  patched,
  setDefaultSignalHandler,
  setHandler,
} from '@temporalio/workflow';
import { type CancelVerdict, readCancelRequest, refuseCancel } from '../core/governance/cancellation.ts';
import {
  type IncomingItem,
  type Parsed,
  parseMessagePayload,
  parseToolPayload,
} from '../core/thread/item.ts';
import { isThreadId } from '../core/thread/start-input.ts';
import { isTaskThread } from '../core/thread/task-start.ts';
import { LIMITS } from '../core/value/limit.ts';
import type { WaitVerdict } from '../core/wait/wait.ts';
import { hearAnswer, judgeLetter, readAnswer } from './answer-letter.ts';
import { hasContext, TAKES_CONTEXTS } from './known-context.ts';
import { type Batch, type Letter, readLetter } from './letter.ts';
import type { Take } from './mailbox.ts';
import {
  answerWait,
  type CanceledView,
  cancelExecution,
  queueMessage,
  queueTool,
  sendMessage,
  status,
  stop,
  terminate,
  UPDATE_NAMES,
  wakeForEffects,
  wakeForMessages,
} from './messages.ts';
import { toStatusView } from './presence.ts';
import type { ThreadRun } from './thread-run.ts';

/** H1. The update as it arrives. */
const SEND_LETTER = defineUpdate<Answered, [Letter]>(sendMessage.name);

type Answered = { id: string } | WaitVerdict | CanceledView;

export function registerHandlers(run: ThreadRun): void {
  const takes = takesOf(run);
  const receive = (batch: unknown) => {
    const { letters, budget } = batch as Batch;
    for (const letter of letters) {
      const take = takes.get(letter.name ?? '');
      if (letter.name === terminate.name) take?.(letter);
      else
        run.mailbox.receive(letter, budget, take ?? (({ name = '' }) => run.refusals.addUnknownSignal(name)));
    }
    run.presence.refresh();
  };
  for (const [name, description] of Object.entries(DESCRIPTIONS)) {
    setHandler(defineSignal<[unknown]>(name), receive, { description });
  }
  setHandler(SEND_LETTER, (letter) => answerUpdate(run, letter), {
    description: 'Queue a message and get its id back, or a refusal with a code.',
    validator: (letter) => validateUpdate(run, letter),
  });
  setHandler(status, () => toStatusView(run), { description: 'What the thread is doing now.' });
  // Last: what came before the start is taken name by name, in the order above.
  setDefaultSignalHandler((_name, batch) => receive(batch));
}

function takesOf(run: ThreadRun): ReadonlyMap<string, Take> {
  return new Map<string, Take>([
    [queueMessage.name, (letter) => run.acceptOrDrop(parseItem(letter, parseMessage))],
    [queueTool.name, (letter) => run.acceptOrDrop(parseItem(letter, parseToolPayload))],
    [stop.name, (letter) => run.requestStop({ reason: readReason(letter) })],
    [terminate.name, (letter) => run.requestTerminate({ reason: readReason(letter) })],
    [wakeForEffects.name, (letter) => run.effects.lookIn(readDelay(letter))],
    [wakeForMessages.name, (letter) => hearFamily(run, letter)],
    [answerWait.name, (letter) => hearAnswer(run, letter)],
    [cancelExecution.name, (letter) => askCancel(run, letter)],
  ]);
}

/** Signals that came before the start are taken name by name, in this order. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  [queueMessage.name]:
    'Queue a message: {"content": "…", "id"?: "…", "role"?: "user" | "assistant"}. Durable, in order.',
  [queueTool.name]:
    'Queue a tool call: {"name": "…", "arguments": {…}, "id"?: "…"}. The model sees its result.',
  [stop.name]:
    'End the current execution. What is queued stays until the next user message. {"reason"?: "…"}',
  [terminate.name]: 'End the thread for ever. Its history stays readable. {"reason"?: "…"}',
  [wakeForEffects.name]:
    'Look for effects in so many milliseconds: {"inMs"?: 0}. Sent when one was scheduled outside the thread.',
  [answerWait.name]:
    'Answer a wait: {"id": "…", "answer"?: {"approved": true} or {"value": …}}. Without an answer: look into the store for it.',
  [wakeForMessages.name]:
    'Look into the store: another thread of the family has left a message, a report or a child to start there.',
  [cancelExecution.name]:
    'Cancel an execution, the one that runs where none is named: {"executionId"?: "…", "reason"?: "…", "by"?: "…"}.',
};

type Parse = (payload: unknown, maxDepth?: number) => Parsed<IncomingItem>;

const parseMessage: Parse = (payload, maxDepth) => parseMessagePayload(payload, undefined, maxDepth);

/** H2: bounds behind `patched`. */
function parseItem(letter: Letter, parse: Parse): Parsed<IncomingItem> {
  const parseKnown: Parse = (payload, maxDepth) => parse(withKnownContext(payload), maxDepth);
  const parsed = parseWithin(letter, parseKnown, LIMITS.payloadBytes);
  if (parsed.ok || !parsed.beyond || patched('bounds-what-it-reads')) return parsed;
  return parseWithin(letter, parse, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
}

/** H2: early versions took no notice of the field, whatever it said. */
function withKnownContext(payload: unknown): unknown {
  if (!hasContext(payload) || patched(TAKES_CONTEXTS)) return payload;
  const { context: _, ...known } = payload;
  return known;
}

function parseWithin(
  letter: Letter,
  parse: Parse,
  maxBytes: number,
  maxDepth?: number,
): Parsed<IncomingItem> {
  const read = readLetter(letter, maxBytes);
  return read.ok ? parse(read.value, maxDepth) : read;
}

/** Updates of all names arrive as this one (interceptors.ts, D3). */
function answerUpdate(run: ThreadRun, letter: Letter): Promise<Answered> {
  if (letter.name === answerWait.name) return judgeLetter(run, letter);
  return letter.name === cancelExecution.name ? answerCancel(run, letter) : answerMessage(run, letter);
}

/** Accepted at once, so that order holds; answered once it is known that the thread lives. */
async function answerMessage(run: ThreadRun, letter: Letter): Promise<{ id: string }> {
  // Letters that wait came before this one.
  if (!run.mailbox.empty) await condition(() => run.mailbox.empty);
  const parsed = parseItem(letter, parseMessage);
  if (!parsed.ok) throw toFailure(parsed);
  const accepted = run.inbox.accept(parsed.value);
  run.presence.refresh();
  if (run.settings === undefined) await condition(() => run.phase.kind !== 'opening');
  if (run.ended) throw terminated(run);
  return accepted;
}

/** Early versions did not know the signal. */
function askCancel(run: ThreadRun, letter: Letter): void {
  if (!patched('cancels-executions')) run.refusals.addUnknownSignal(cancelExecution.name);
  else if (!run.ending) run.requests.askCancel(readCancelRequest(readFields(letter)));
}

async function answerCancel(run: ThreadRun, letter: Letter): Promise<CanceledView> {
  const asked = run.requests.askCancel(readCancelRequest(readFields(letter)));
  await condition(() => asked.verdict !== undefined || run.ending);
  const { request, verdict } = asked;
  if (!verdict) throw terminated(run);
  const refusal = refuseCancel(run.threadId, request, verdict);
  if (refusal) throw ApplicationFailure.nonRetryable(refusal.message, refusal.code);
  const { executionId, cancellation } = verdict as Extract<CancelVerdict, { kind: 'canceling' }>;
  return { executionId, reason: cancellation.reason, by: cancellation.by };
}

/** Changes nothing: a refused update leaves no trace in history. */
function validateUpdate(run: ThreadRun, letter: Letter): void {
  const { name = '' } = letter;
  if (!UPDATE_NAMES.includes(name)) throw unknownUpdate(name);
  if (run.ending) throw terminated(run);
  // Any payload of it is a request.
  if (name === cancelExecution.name) return;
  if (name === answerWait.name) {
    const { ok, refusal } = readAnswer(letter);
    if (!ok) throw toFailure({ ok, refusal });
    return;
  }
  const parsed = parseWithin(letter, parseMessage, LIMITS.payloadBytes);
  if (!parsed.ok) throw toFailure(parsed);
}

function toFailure({ refusal }: Extract<Parsed<IncomingItem>, { ok: false }>): ApplicationFailure {
  return ApplicationFailure.nonRetryable(refusal.reason, refusal.code);
}

function unknownUpdate(name: string): ApplicationFailure {
  const message = `There is no update ${JSON.stringify(name)}; a thread knows ${UPDATE_NAMES.join(', ')}.`;
  return ApplicationFailure.nonRetryable(message, 'InvalidMessage');
}

function terminated(run: ThreadRun): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    `Thread "${run.threadId}" is terminated; start a new one.`,
    'ThreadTerminated',
  );
}

/** Requests count whatever their payload: one that cannot be read is taken as empty. */
function readFields(letter: Letter): Readonly<Record<string, unknown>> {
  const read = readLetter(letter, LIMITS.controlPayloadBytes);
  return ((read.ok ? read.value : undefined) ?? {}) as Record<string, unknown>;
}

/** What cannot be understood means 0: a look in vain does no harm. */
function readDelay(letter: Letter): number {
  const { inMs } = readFields(letter);
  return typeof inMs === 'number' && Number.isFinite(inMs) ? inMs : 0;
}

/** A child is a thread, or a task. */
function isOfChild(id: unknown): id is string {
  return isThreadId(id) || (typeof id === 'string' && isTaskThread(id));
}

/** What cannot be understood means: look into the queue. */
function hearFamily(run: ThreadRun, letter: Letter): void {
  const { reportOf, waitOf, boot, speaks, settled, unprompted } = readFields(letter);
  if (settled === true) {
    run.budget.hear();
    return;
  }
  // Early versions took it for something in the queue.
  if (isOfChild(waitOf) && patched('shows-waits-of-children')) {
    run.family.hear({ waitOf });
    return;
  }
  run.family.hear({ ...(isOfChild(reportOf) ? { reportOf } : {}), boot: boot === true });
  if (boot !== true) run.inbox.wake();
  if (speaks !== true) return;
  run.inbox.hearRelative();
  // Early versions took no notice of the field.
  if (unprompted === true && patched('goes-on-unprompted')) run.goOnUnprompted();
}

function readReason(letter: Letter): string | undefined {
  const { reason } = readFields(letter);
  return typeof reason === 'string' && reason.length > 0 ? reason.slice(0, 500) : undefined;
}
